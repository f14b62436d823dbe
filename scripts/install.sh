#!/bin/sh
# SPDX-License-Identifier: MIT
# make install, make uninstall. The front command goes to PREFIX/bin, its programs to PREFIX/libexec/fathom, recorded machines and
# scripts to PREFIX/share/fathom, man pages and completion to PREFIX/share; libfathom to LIBDIR with its pkg-config file, CMake
# package and client library for cuSOLVER's users, its header to PREFIX/include. Nothing that is installed holds PREFIX: the tree may be moved.
#   install.sh PREFIX PROGRAM...      install.sh --remove PREFIX
# DESTDIR goes before PREFIX in every path. LIBDIR is PREFIX/lib unless given. LIBRARY is the folder with the built library, empty
# without one.
set -eu
LC_ALL=C
export LC_ALL
umask 022 # everyone may read the installed files

refuse() {
	echo "install: $*" >&2
	exit 2
}

remove=
if [ "${1-}" = --remove ]; then
	remove=yes
	shift
fi
[ -n "${1-}" ] || refuse "usage: install.sh PREFIX PROGRAM... | install.sh --remove PREFIX"
final=${1%/}
shift
[ -n "$remove" ] || [ $# -gt 0 ] || refuse "usage: install.sh PREFIX PROGRAM..."
libdir=${LIBDIR:-$final/lib}
library=${libdir#"$final"/} # from PREFIX
[ "$library" != "$libdir" ] || refuse "LIBDIR=$libdir is not in PREFIX=$final"

root=$(cd "$(dirname "$0")/.." && pwd)
prefix=${DESTDIR-}$final
share=$prefix/share/fathom
libexec=$prefix/libexec/fathom
man=$prefix/share/man/man1
libdir=$prefix/$library
bash=$prefix/share/bash-completion/completions
zsh=$prefix/share/zsh/site-functions

# What an earlier install put there.
for program in "$libexec"/*; do
	rm -f "$man/fathom-${program##*/}.1"
done
rm -f "$man/fathom.1" "$bash/fathom" "$zsh/_fathom" "$prefix/bin/fathom" "$prefix/include/fathom.h" "$prefix/include/fathom_mg.h" \
	"$libdir/libfathom.a" "$libdir/libfathom.so" "$libdir"/libfathom.so.[0-9]* "$libdir/pkgconfig/fathom.pc" \
	"$libdir/libfathom_cusolver.so"
rm -rf "$libexec" "$share" "$libdir/cmake/fathom" "$libdir/fathom-cusolver"
if [ -n "$remove" ]; then
	echo "uninstall: removed fathom from $prefix"
	exit 0
fi

mkdir -p "$prefix/bin" "$libexec" "$share/data" "$man" "$bash" "$zsh"
install -m 755 "$@" "$libexec"
install -m 755 "$root/fathom" "$prefix/bin"
cp -R "$root/plots" "$share"
mkdir "$share/scripts" # those that programs run
cp "$root/scripts/attend.sh" "$root/scripts/probe.sh" "$root/scripts/health.sh" "$root/scripts/validate.sh" \
	"$root/scripts/complete.sh" "$share/scripts"
for machine in "$root"/data/*/; do
	[ "$machine" = "$root/data/local/" ] || cp -R "${machine%/}" "$share/data"
done
chmod -R u+rw,go=rX "$share"
find "$share" -name '*.sh' -exec grep -q '^#!' {} \; -exec chmod 755 {} \;
sh "$root/scripts/man.sh" "$prefix/bin/fathom" "$man"
install -m 644 "$root/scripts/completion.bash" "$bash/fathom"
install -m 644 "$root/scripts/completion.zsh" "$zsh/_fathom"
echo "install: $prefix/bin/fathom"
[ -n "${LIBRARY-}" ] || exit 0

# ---- the library
mkdir -p "$libdir/pkgconfig" "$libdir/cmake/fathom" "$prefix/include"
release=$(sh "$root/scripts/version.sh" --release)
abi=$(sh "$root/scripts/version.sh" --abi)
install -m 644 "$LIBRARY/libfathom.a" "$libdir"
install -m 644 "$LIBRARY/libfathom.so" "$libdir/libfathom.so.$release"
ln -sf "libfathom.so.$release" "$libdir/libfathom.so.$abi"
ln -sf "libfathom.so.$abi" "$libdir/libfathom.so"
install -m 644 "$LIBRARY/libfathom_cusolver.so" "$libdir"
if [ -d "$LIBRARY/fathom-cusolver" ]; then
	mkdir -p "$libdir/fathom-cusolver"
	install -m 644 "$LIBRARY"/fathom-cusolver/libcusolver.so.* "$libdir/fathom-cusolver"
fi
install -m 644 "$root/factor/library/fathom.h" "$root/factor/library/fathom_mg.h" "$prefix/include"

# From a folder pkgconfig or cmake to PREFIX. pkg-config does not quote all characters of the folder that it found a file in.
up=../$(echo "$library" | sed 's|[^/][^/]*|..|g')
case $final in
*[!A-Za-z0-9_./@%+\ -]*) base=$(printf '%s\n' "$final" | sed 's/[^A-Za-z0-9_./@%+-]/\\&/g') ;;
*) base="\${pcfiledir}/$up" ;;
esac
cat >"$libdir/pkgconfig/fathom.pc" <<PC
prefix=$base
libdir=\${prefix}/$library
includedir=\${prefix}/include

Name: fathom
Description: LU, QR and Cholesky factorizations and solves on an NVIDIA GPU
Version: $release
Cflags: -I\${includedir}
Libs: -L\${libdir} -lfathom
Libs.private: $(cat "$LIBRARY/libfathom.needs")
PC
cat >"$libdir/cmake/fathom/fathomConfig.cmake" <<CMAKE
# find_package(fathom): the target fathom::fathom is libfathom.so with its header.
if(NOT TARGET fathom::fathom)
  get_filename_component(_fathom_prefix "\${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(_fathom_prefix "\${_fathom_prefix}/../$up" ABSOLUTE)
  add_library(fathom::fathom SHARED IMPORTED)
  set_target_properties(fathom::fathom PROPERTIES
    IMPORTED_LOCATION "\${_fathom_prefix}/$library/libfathom.so.$release"
    IMPORTED_SONAME "libfathom.so.$abi"
    INTERFACE_INCLUDE_DIRECTORIES "\${_fathom_prefix}/include")
  unset(_fathom_prefix)
endif()
CMAKE
cat >"$libdir/cmake/fathom/fathomConfigVersion.cmake" <<CMAKE
set(PACKAGE_VERSION "$release")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION VERSION_EQUAL "$release")
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(NOT PACKAGE_FIND_VERSION VERSION_LESS "$abi" AND NOT PACKAGE_FIND_VERSION VERSION_GREATER "$release")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
CMAKE
echo "install: $libdir/libfathom.so"
