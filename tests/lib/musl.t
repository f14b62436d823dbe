#!/bin/sh
# SPDX-License-Identifier: MIT
# What needs no GPU compiles with another C library than glibc. Headers of hwloc, OpenBLAS and OpenMP are the system's.

. "$(dirname "$0")/../tap.sh"

cd "$(dirname "$0")/../.." || exit 1
if ! command -v musl-gcc >/dev/null; then
	echo "1..0 # SKIP no musl-gcc (make setup-develop)"
	exit 0
fi
make_scratch
(cd probes && printf "PROBE(%s)\n" */ | tr -d /) >"$scratch/probe_list.h" # as the Makefile makes it
machine=/usr/include/$(uname -m)-linux-gnu
headers="$(pkg-config --cflags openblas | sed 's/-I/-idirafter /g') -idirafter $machine -idirafter /usr/include"
for part in lib/base lib/stats lib/host lib/profile lib/probe 'probes/host_*' factor/executors/host factor/algorithms; do
	# shellcheck disable=SC2086 # patterns and options
	if errors=$(musl-gcc -std=c11 -D_GNU_SOURCE -I. -I"$scratch" -fopenmp -fsyntax-only -Wall -Werror $headers $part/*.c 2>&1); then
		report ok "$part compiles with musl"
	else
		report 'not ok' "$part compiles with musl"
		echo "$errors" | head -n 5 | sed 's/^/# /' >&2
	fi
done
echo "1..$number"
