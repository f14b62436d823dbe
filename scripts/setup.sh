#!/bin/sh
# SPDX-License-Identifier: MIT
# make setup: checks that every tool and library is usable and installs the missing ones with apt. Uses no network when
# nothing is missing.
set -u
LC_ALL=C
export LC_ALL

compiles() { # libraries...: does the program on standard input compile and link?
	${CC:-gcc} -x c - -o /dev/null "$@" 2>/dev/null
}

compiles_lapack() {
	# shellcheck disable=SC2046 # several flags
	printf '#include <cblas.h>\n#include <lapacke.h>\nint main(void) { return LAPACKE_sgetrf(0, 0, 0, 0, 0, 0) != openblas_get_num_threads(); }\n' |
		compiles $(pkg-config --cflags openblas) -llapacke -lopenblas
}

nvcc_path() { # as the Makefile looks for it
	for nvcc in "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda-*/bin/nvcc; do
		if [ -x "$nvcc" ]; then
			echo "$nvcc"
			return 0
		fi
		[ -z "${CUDA_HOME-}" ] || return 1
	done
	command -v nvcc
}

usable() { # package: whether its tool or library works, however it was installed
	case $1 in
	gcc) command -v "${CC:-gcc}" ;;
	libc6-dev) echo 'int main(void) { return 0; }' | compiles ;;
	g++) command -v g++ ;;
	make | pkg-config | git) command -v "$1" ;;
	libhwloc-dev) pkg-config --exists 'hwloc >= 2' ;;
	libopenblas-dev) pkg-config --exists openblas ;;
	liblapacke-dev) compiles_lapack ;;
	libqrupdate-dev) echo 'int main(void) { return 0; }' | compiles -lqrupdate ;;
	gnuplot-nox) command -v gnuplot ;;
	perl) command -v prove ;;
	coreutils) command -v sha256sum ;;
	esac >/dev/null 2>&1
}

list_missing() {
	for package in $packages; do
		usable "$package" || printf '%s ' "$package"
	done
}

packages='gcc libc6-dev make pkg-config git coreutils libhwloc-dev libopenblas-dev liblapacke-dev libqrupdate-dev gnuplot-nox perl'
if nvcc=$(nvcc_path); then
	packages="$packages g++" # nvcc's host compiler
	echo "setup: CUDA Toolkit: $nvcc"
else
	echo "setup: CUDA Toolkit: none found (CUDA_HOME, /usr/local/cuda*, PATH): the GPU parts will not be built"
fi

missing=$(list_missing)
if [ -z "$missing" ]; then
	echo "setup: everything else that is needed is here"
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "setup: no apt-get here: install the contents of these Debian packages, then run make setup again: $missing" >&2
	exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
	root=
elif command -v sudo >/dev/null; then
	root=sudo
else
	echo "setup: neither root nor sudo: have these packages installed, then run make setup again: $missing" >&2
	exit 1
fi

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
apt() {
	$root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1
}
echo "setup: installing $missing"
apt update || echo "setup: apt-get update failed; trying with the package lists that are here" >&2
# All at once is fast. When that fails, one by one: one missing package does not stop the others.
# shellcheck disable=SC2086
apt install --no-install-recommends --yes $missing ||
	for package in $missing; do
		apt install --no-install-recommends --yes "$package"
	done

missing=$(list_missing)
if [ -n "$missing" ]; then
	tail -n 5 "$log" >&2
	echo "setup: could not install: $missing(apt's last words are above)" >&2
	exit 1
fi
echo "setup: everything that is needed is installed"
