#!/bin/sh
# SPDX-License-Identifier: MIT
# Drivers that are missing, too old or do not start: the program goes on without a GPU and says what to do. A stand-in takes
# the place of the driver's library, so this needs a build with the CUDA Toolkit, but no GPU.

. "$(dirname "$0")/../tap.sh"

needs launch machine
make_scratch
if ! ${CC:-cc} -shared -fPIC -o "$scratch/libcuda.so.1" "$(dirname "$0")/driver_standin.c" 2>"$scratch/said"; then
	skip_all "no C compiler"
fi
unset CUDA_VISIBLE_DEVICES

# standin VARIABLES COMMAND...: with the stand-in as the driver
standin() {
	variables=$1
	shift
	# shellcheck disable=SC2086 # several variables
	env LD_LIBRARY_PATH="$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $variables "$@"
}

# refused VARIABLES REASON WHAT
refused() {
	expect 0 "^gpu.reason  *no GPU: $2" "$3" standin "$1" "$bin/machine" --output "$scratch"
}

refused STANDIN_VERSION=11080 'the driver is for CUDA 11.8, this build for CUDA [0-9.]*: install a' 'an old driver'
refused STANDIN_VERSION=0 'no NVIDIA driver is found: install it' 'no driver'
refused STANDIN_ERROR=100 'the driver sees none: look whether nvidia-smi -L lists one' 'a driver without a GPU'
refused 'STANDIN_ERROR=100 CUDA_VISIBLE_DEVICES=' 'CUDA_VISIBLE_DEVICES is empty' 'GPUs hidden by an empty list'
refused 'STANDIN_ERROR=100 CUDA_VISIBLE_DEVICES=-1' 'CUDA_VISIBLE_DEVICES=-1 shows none' 'GPUs hidden by -1'
refused 'STANDIN_ERROR=100 CUDA_VISIBLE_DEVICES=7' 'CUDA_VISIBLE_DEVICES=7 shows none' 'a number that no GPU has'
refused 'STANDIN_ERROR=100 CUDA_VISIBLE_DEVICES=GPU-12ab' 'CUDA_VISIBLE_DEVICES=GPU-12ab shows none' 'a UUID that no GPU has'
refused STANDIN_ERROR=34 "the toolkit's stub" "the toolkit's stub"
refused STANDIN_ERROR=802 'the links between the GPUs are not ready' 'links that are not ready'
refused STANDIN_ERROR=803 "the driver's kernel module and its library" 'a driver half updated'
refused STANDIN_ERROR=804 'the package cuda-compat' 'cuda-compat on a GPU for games'
refused STANDIN_ERROR=805 'the MPS server does not answer' 'an MPS server that is gone'
refused STANDIN_ERROR=999 "CUDA says 'unknown error': look whether nvidia-smi works" 'another error'
expect 0 'no GPU: CUDA finds no slice MIG-12ab' 'a slice that is not there' \
	standin STANDIN_ERROR=100 "$bin/machine" --device MIG-12ab --output "$scratch"
expect 77 'the MPS server does not answer' 'a GPU probe is not possible' \
	standin STANDIN_ERROR=805 "$bin/launch" --quick --output "$scratch"
expect 0 '^host.cores  *[1-9]' 'the host is described all the same' \
	standin STANDIN_ERROR=805 "$bin/machine" --output "$scratch"
echo "1..$number"
