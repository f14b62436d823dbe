#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes build/version.c: the release and the commit; and the model's version, a checksum of the sources that predictions and the
# predicted code are made from. The commit is the last one that changed what measures: documents, data, tests and the report's
# figures leave it as it is, and a run that began before them goes on. In an archive of a checkout it is the archived commit.
# --release: prints the release alone. --abi: that of libfathom, 0.1 for 0.1.x: before 1.0 a minor release may change what functions mean.
release=0.1.0
case ${1-} in
--release)
	echo $release
	exit
	;;
--abi)
	case $release in 0.*) echo ${release%.*} ;; *) echo ${release%%.*} ;; esac
	exit
	;;
esac
# shellcheck disable=SC2016
archived='$Format:%h$' # git archive writes the commit here
root=$(cd "$(dirname "$0")/.." && pwd -P) || exit 1

commit=
case $archived in
'$'*)
	# Unpacked inside another repository, git would name that one's commit.
	if [ "$(git -C "$root" rev-parse --show-toplevel 2>/dev/null)" = "$root" ]; then
		commit=$(git -C "$root" rev-parse --short=9 HEAD 2>/dev/null) || commit=
	fi
	set -- Makefile factor lib probes programs scripts ':!*.md'
	if [ -n "$commit" ]; then
		changed=$(git -C "$root" log -1 --format=%h --abbrev=9 -- "$@" 2>/dev/null)
		commit=${changed:-$commit}
		[ -z "$(git -C "$root" status --porcelain --untracked-files=no -- "$@" 2>/dev/null)" ] || commit=$commit+dirty
	fi
	;;
*) commit=$archived ;;
esac
model=$(cd "$root" && find factor/algorithms factor/executors factor/kernels factor/model factor/papers factor/tuning lib/profile \
	lib/stats -type f ! -name '*.md' | LC_ALL=C sort | xargs cat | sha256sum) || exit 1
cat <<C
const char *fathom_model_text(void);
const char *fathom_model_text(void)
{
	return "$(printf '%.12s' "$model")";
}

const char *fathom_version_text(void);
const char *fathom_version_text(void)
{
	return "$release${commit:+ ($commit)}";
}
C
