#!/bin/sh
# SPDX-License-Identifier: MIT
# make install, make uninstall: the front command goes to PREFIX/bin, the programs it runs to
# PREFIX/libexec/fathom, recorded machines and plot scripts to PREFIX/share/fathom.
#   install.sh PREFIX PROGRAM...      install.sh --remove PREFIX
set -eu

usage() {
	echo "usage: install.sh PREFIX PROGRAM... | install.sh --remove PREFIX" >&2
	exit 2
}

remove=
if [ "${1-}" = --remove ]; then
	remove=yes
	shift
fi
[ -n "${1-}" ] || usage
prefix=$1
shift
[ -n "$remove" ] || [ $# -gt 0 ] || usage

rm -rf "$prefix/libexec/fathom" "$prefix/share/fathom"
rm -f "$prefix/bin/fathom"
if [ -n "$remove" ]; then
	echo "uninstall: removed fathom from $prefix"
	exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
share=$prefix/share/fathom
mkdir -p "$prefix/bin" "$prefix/libexec/fathom" "$share/data"
install -m 755 "$@" "$prefix/libexec/fathom"
install -m 755 "$root/fathom" "$prefix/bin"
cp -R "$root/plots" "$share"
for machine in "$root"/data/*/; do
	case $machine in
	*/local/) ;;
	*) cp -R "${machine%/}" "$share/data" ;;
	esac
done
echo "install: $prefix/bin/fathom"
