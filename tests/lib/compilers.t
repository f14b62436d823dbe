#!/bin/sh
# SPDX-License-Identifier: MIT
# What needs no GPU compiles with other compilers, and with another C library than glibc. Headers of hwloc, OpenBLAS and OpenMP are
# the system's.

. "$(dirname "$0")/../tap.sh"

cd "$root" || exit 1
make_scratch
(cd probes && printf "PROBE(%s)\n" */ | tr -d /) >"$scratch/probe_list.h" # as the Makefile makes it
machine=/usr/include/$(uname -m)-linux-gnu
blas=$(pkg-config --cflags openblas)
for compiler in musl-gcc gcc-11 clang; do
	if ! command -v $compiler >/dev/null; then
		report ok "compiles with $compiler # SKIP there is none (make setup-develop)"
		continue
	fi
	case $compiler in
	musl-gcc) headers="$(echo "$blas" | sed 's/-I/-idirafter /g') -idirafter $machine -idirafter /usr/include" ;;
	*) headers=$blas ;;
	esac
	for part in lib/base lib/stats lib/host lib/profile lib/probe 'probes/host_*' factor/executors/host factor/algorithms; do
		# shellcheck disable=SC2086 # patterns and options
		errors=$($compiler -std=c11 -D_GNU_SOURCE -I. -I"$scratch" -fopenmp -fsyntax-only -Wall -Werror $headers $part/*.c 2>&1)
		result $? "$part compiles with $compiler"
		[ -z "$errors" ] || echo "$errors" | head -n 5 | sed 's/^/# /' >&2
	done
done
echo "1..$number"
