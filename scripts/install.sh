#!/bin/sh
# SPDX-License-Identifier: MIT
# make install, make uninstall. The front command goes to PREFIX/bin, its programs to PREFIX/libexec/fathom,
# recorded machines and scripts to PREFIX/share/fathom, the library with its header and pkg-config file to PREFIX/lib and
# PREFIX/include.
#   install.sh PREFIX PROGRAM...      install.sh --remove PREFIX
# DESTDIR goes before PREFIX in every path. LIBRARY is the folder with the built library, empty without one.
set -eu
LC_ALL=C
export LC_ALL
umask 022 # everyone may read the installed files

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

final=$prefix
prefix=${DESTDIR-}$prefix
rm -rf "$prefix/libexec/fathom" "$prefix/share/fathom"
rm -f "$prefix/bin/fathom" "$prefix/include/fathom.h" "$prefix/include/fathom_mg.h" "$prefix/lib/libfathom.a" \
	"$prefix/lib/libfathom.so" "$prefix"/lib/libfathom.so.[0-9]* "$prefix/lib/pkgconfig/fathom.pc"
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
mkdir "$share/scripts" # those that programs run
cp "$root/scripts/attend.sh" "$root/scripts/probe.sh" "$root/scripts/validate.sh" "$share/scripts"
for machine in "$root"/data/*/; do
	[ "$machine" = "$root/data/local/" ] || cp -R "${machine%/}" "$share/data"
done
chmod -R u+rw,go=rX "$share"
echo "install: $prefix/bin/fathom"
[ -n "${LIBRARY-}" ] || exit 0

mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
release=$(sed -n 's/^release=//p' "$root/scripts/version.sh")
install -m 644 "$LIBRARY/libfathom.a" "$prefix/lib"
install -m 644 "$LIBRARY/libfathom.so" "$prefix/lib/libfathom.so.$release"
case $release in 0.*) soname=libfathom.so.${release%.*} ;; *) soname=libfathom.so.${release%%.*} ;; esac
ln -sf "libfathom.so.$release" "$prefix/lib/$soname"
ln -sf "$soname" "$prefix/lib/libfathom.so"
install -m 644 "$root/factor/library/fathom.h" "$root/factor/library/fathom_mg.h" "$prefix/include"
quoted=$(printf '%s\n' "$final" | sed 's/[^A-Za-z0-9_./@%+-]/\\&/g') # for pkg-config
cat >"$prefix/lib/pkgconfig/fathom.pc" <<PC
prefix=$quoted
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: fathom
Description: LU, QR and Cholesky factorizations and solves on an NVIDIA GPU
Version: $release
Cflags: -I\${includedir}
Libs: -L\${libdir} -lfathom
Libs.private: $(cat "$LIBRARY/libfathom.needs")
PC
echo "install: $prefix/lib/libfathom.so"
