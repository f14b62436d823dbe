#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints one line "md5 kernel" for the machine code of every kernel in the given files, sorted. Two
# versions of a file give the same lines when a change touched no machine code.
#
#   scripts/kernel_code.sh ARCH FILE.cu...
#
# ARCH is an architecture as nvcc names it. For example, in two checkouts:
#
#   scripts/kernel_code.sh 90a factor/kernels/gemm/gemm.cu > /tmp/before
#   scripts/kernel_code.sh 90a factor/kernels/gemm/gemm.cu > /tmp/after
#   diff /tmp/before /tmp/after
#
# Where a change renames kernels, compare the first column alone. NVCC and NVCC_FLAGS override the
# compiler and its flags. Needs readelf and c++filt. Exit status 1: a file does not compile.
if [ $# -lt 2 ]; then
	echo "usage: kernel_code.sh ARCH FILE.cu..." >&2
	exit 2
fi
LC_ALL=C
export LC_ALL
arch=$1
shift
nvcc=${NVCC:-${CUDA_HOME:-/usr/local/cuda}/bin/nvcc}
work=
trap 'rm -rf "$work"' EXIT
work=$(mktemp -d) || exit 1
trap 'exit 1' HUP INT TERM

# Instructions are a multiple of 16 bytes, and code starts at one.
unit=16
for file; do
	# shellcheck disable=SC2086 # NVCC_FLAGS holds several words
	"$nvcc" ${NVCC_FLAGS:--std=c++17 -O3 -lineinfo} -gencode "arch=compute_$arch,code=sm_$arch" \
		-cubin "$file" -o "$work/cubin" || exit 1
	readelf -SW "$work/cubin" 2>/dev/null |
		sed -n 's/^.* \.text\.\([^ ]*\) *PROGBITS *[^ ]* *\([^ ]*\) *\([^ ]*\) .*$/\1 \2 \3/p' |
	while read -r kernel offset size; do
		sum=$(dd if="$work/cubin" bs=$unit skip=$((0x$offset / unit)) \
			count=$((0x$size / unit)) 2>/dev/null | md5sum)
		# The compiler's name of the anonymous namespace holds a hash of the file's path.
		echo "${sum%% *} $(c++filt "$kernel" | sed 's/_GLOBAL__N__[0-9a-z_]*:://g')"
	done
done >"$work/lines" || exit 1
sort "$work/lines"
