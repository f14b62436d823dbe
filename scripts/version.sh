#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes build/version.c: the release and, in a checkout, the commit it was built from.
release=0.1.0
commit=$(git rev-parse --short=9 HEAD 2>/dev/null) || commit=
if [ -n "$commit" ] && [ -n "$(git status --porcelain --untracked-files=no -- . ':!data' 2>/dev/null)" ]; then
	commit="$commit+dirty"
fi
cat <<C
const char *fathom_version_text(void);
const char *fathom_version_text(void)
{
	return "$release${commit:+ ($commit)}";
}
C
