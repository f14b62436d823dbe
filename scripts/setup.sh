#!/bin/sh
# SPDX-License-Identifier: MIT
# make setup: checks that every tool and library that users need works, and installs the missing ones with apt.
# make setup-develop (setup.sh --develop): the same for tools of developers and CI. Uses no network when nothing is missing.
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
	folder=${CUDA_HOME-}
	for place in /usr/local/cuda-* /usr/local/cuda; do
		[ -n "${CUDA_HOME-}" ] || [ ! -e "$place" ] || folder=$place
	done
	if [ -z "$folder" ]; then
		command -v nvcc
	elif [ -x "$folder/bin/nvcc" ]; then
		echo "$folder/bin/nvcc"
	else
		return 1
	fi
}

usable() { # package: whether its tool or library works, however it was installed
	case $1 in
	gcc) for word in ${CC:-gcc}; do command -v "$word" || return; done ;;
	libc6-dev) echo 'int main(void) { return 0; }' | compiles ;;
	g++) command -v g++ ;;
	make | pkg-config | git) command -v "$1" ;;
	libhwloc-dev) pkg-config --exists 'hwloc >= 2' ;;
	libopenblas-dev) pkg-config --exists openblas ;;
	liblapacke-dev) compiles_lapack ;;
	clang | clang-format | clang-tidy | cppcheck | valgrind | shellcheck | jq | gawk | original-awk | busybox | gfortran | gcc-11 | cmake | zsh | tidy) command -v "$1" ;;
	gcc-aarch64-linux-gnu) command -v aarch64-linux-gnu-gcc ;;
	libomp-dev) for library in /usr/lib/llvm-*/lib/libarcher.so; do [ -e "$library" ] || return; done ;;
	qemu-user) command -v qemu-aarch64 ;;
	libc6-dev-arm64-cross) echo 'int main(void) { return 0; }' | CC=aarch64-linux-gnu-gcc compiles ;;
	locales) command -v localedef && [ -e /usr/share/i18n/locales/de_DE ] ;;
	man-db) command -v man ;;
	musl-tools) command -v musl-gcc ;;
	python3-jsonschema) python3 -c 'import jsonschema' ;;
	libopenmpi-dev) command -v mpicc ;;
	openmpi-bin) command -v mpirun ;;
	libqrupdate-dev) echo 'int main(void) { return 0; }' | compiles -lqrupdate ;;
	gnuplot-nox) command -v gnuplot ;;
	chromium-headless-shell) command -v chromium-headless-shell || command -v chromium || command -v google-chrome ;;
	perl) command -v prove ;;
	coreutils) command -v sha256sum ;;
	esac >/dev/null 2>&1
}

list_missing() { # packages...
	for package in "$@"; do
		usable "$package" || printf '%s ' "$package"
	done
}

optional=
case ${1-} in
--develop)
	goal=setup-develop
	packages='clang clang-format clang-tidy cppcheck shellcheck gawk busybox gfortran locales jq libopenmpi-dev openmpi-bin'
	# Tests that need one of these are skipped without it; not every distribution has them.
	optional='valgrind libomp-dev cmake man-db zsh tidy python3-jsonschema chromium-headless-shell original-awk musl-tools gcc-11 libqrupdate-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user'
	;;
'')
	goal=setup
	packages='gcc libc6-dev make pkg-config git coreutils libhwloc-dev libopenblas-dev liblapacke-dev gnuplot-nox perl'
	# Ranks of several GPUs or processes.
	if [ "$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')" -gt 1 ] || command -v mpicc >/dev/null; then
		packages="$packages libopenmpi-dev openmpi-bin"
	fi
	if nvcc=$(nvcc_path); then
		packages="$packages g++" # nvcc's host compiler
		release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
		case $release in
		9.* | 10.* | 11.* | 12.[0-3]) use=": too old (12.4 is needed): the GPU parts will not be built" ;;
		*) use= ;;
		esac
		echo "setup: CUDA Toolkit: $nvcc ($release)$use"
	else
		echo "setup: CUDA Toolkit: none found (CUDA_HOME, /usr/local/cuda*, PATH): the GPU parts will not be built"
	fi
	;;
*)
	echo "usage: setup.sh [--develop]" >&2
	exit 2
	;;
esac

# shellcheck disable=SC2086 # lists of packages
missing=$(list_missing $packages $optional)
if [ -z "$missing" ]; then
	echo "$goal: everything that is needed is here"
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "$goal: no apt-get here: install the contents of these Debian packages, then run make $goal again: $missing" >&2
	exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
	root=
elif command -v sudo >/dev/null; then
	root=sudo
else
	echo "$goal: neither root nor sudo: have these packages installed, then run make $goal again: $missing" >&2
	exit 1
fi

log=
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM
log=$(mktemp) || exit 1
apt() {
	$root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1
}
echo "$goal: installing $missing"
apt update || echo "$goal: apt-get update failed; trying with the package lists that are here" >&2
# All at once is fast. When that fails, one by one: one missing package does not stop the others.
# shellcheck disable=SC2086
apt install --no-install-recommends --yes $missing ||
	for package in $missing; do
		apt install --no-install-recommends --yes "$package"
	done

# shellcheck disable=SC2086
missing=$(list_missing $packages)
if [ -n "$missing" ]; then
	tail -n 5 "$log" >&2
	echo "$goal: could not install: $missing(apt's last words are above)" >&2
	exit 1
fi
# shellcheck disable=SC2086
missing=$(list_missing $optional)
[ -z "$missing" ] || echo "$goal: without $missing(not to be had here): tests that need them are skipped"
echo "$goal: everything that is needed is installed"
