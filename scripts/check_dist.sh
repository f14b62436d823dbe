#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-dist: the packed sources build and pass their tests where there is no git, and so does what they install, which is then
# removed again.   check_dist.sh ARCHIVE
set -eu
MAKE=${MAKE:-make}
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD OUTPUT MACHINE DESTDIR LIBDIR
case $1 in /*) archive=$1 ;; *) archive=$PWD/$1 ;; esac
name=$(basename "$archive" .tar.gz)
work=
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
work=$(mktemp -d)
mkdir "$work/bin"
printf '#!/bin/sh\necho "git is not here" >&2\nexit 127\n' >"$work/bin/git"
chmod +x "$work/bin/git"
PATH=$work/bin:$PATH
tar -xzf "$archive" -C "$work"
cd "$work/$name"
$MAKE test
$MAKE install PREFIX="$work/usr"
"$work/usr/bin/fathom" --version
$MAKE installcheck PREFIX="$work/usr"
$MAKE uninstall PREFIX="$work/usr"
left=$(find "$work/usr" ! -type d)
if [ -n "$left" ]; then
	echo "check-dist: uninstall left $left" >&2
	exit 1
fi
echo "check-dist: $name builds, passes its tests and installs without git"
