#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-debian: builds the Debian source package and its binary packages from the packed sources, and judges both by lintian,
# whose errors fail.   check_debian.sh ARCHIVE
set -eu
for tool in dpkg-buildpackage dh lintian; do
	command -v $tool >/dev/null || {
		echo "check-debian: there is no $tool here: install devscripts, debhelper and lintian" >&2
		exit 77
	}
done
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD OUTPUT MACHINE DESTDIR LIBDIR
case $1 in /*) archive=$1 ;; *) archive=$PWD/$1 ;; esac
name=$(basename "$archive" .tar.gz)
work=${archive%/*}/debian
rm -rf "$work"
mkdir "$work"
cp "$archive" "$work/$(echo "$name" | tr - _).orig.tar.gz"
tar -xzf "$archive" -C "$work"
(cd "$work/$name" && dpkg-buildpackage -us -uc)
lintian --fail-on error --display-level '>=warning' "$work"/*.changes
rm -rf "${work:?}/$name"
ls "$work"
