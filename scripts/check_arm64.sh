#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-arm64: cross-compiles the host part for arm64 with warnings as errors, then runs its tests under qemu's user-mode
# emulation. Not run are tests that measure time, test scripts, and tests of programs that start themselves again: the kernel
# cannot start a program of another machine. What is missing is named, and the check is skipped.
# ARM64_CC: the cross compiler. ARM64_ROOT: a folder in which arm64 packages were unpacked; empty for installed ones.
# ARM64_FULL=1: also the tests that take minutes under emulation.
# Usage: sh scripts/check_arm64.sh BUILD
set -u
build=$1
cc=${ARM64_CC:-aarch64-linux-gnu-gcc}
root=${ARM64_ROOT-}
include=$root/usr/include
lib=$root/usr/lib/aarch64-linux-gnu
blas=openblas-pthread

skip() { # reason
	echo "check-arm64: skipped: $*" >&2
	exit 77
}

command -v "${cc##* }" >/dev/null || skip "no ${cc##* } (make setup-develop)"
command -v qemu-aarch64 >/dev/null || skip "no qemu-aarch64 (make setup-develop)"
for file in "$lib/libhwloc.so" "$lib/liblapacke.so" "$lib/$blas/libopenblas.so"; do
	[ -e "$file" ] || skip "no $file (see docs/portability.md, arm64)"
done

# All libraries are found by RPATH, also those that libraries need.
${MAKE:-make} --no-print-directory test-programs BUILD="$build" CC="$cc" CUDA_HOME=/none NVCC= WERROR=1 \
	HWLOC_CFLAGS="-isystem $include/aarch64-linux-gnu -idirafter $include" \
	BLAS_CFLAGS="-isystem $include/aarch64-linux-gnu/$blas" \
	LDFLAGS="-L$lib -L$lib/$blas -Wl,--disable-new-dtags,-rpath,$lib:$lib/$blas" || exit 1

# A program's stand-in starts it under qemu. The C library is the cross compiler's.
# shellcheck disable=SC2086 # a command of several words
loader=$($cc -print-file-name=ld-linux-aarch64.so.1)
here=$(cd "$build" && pwd) || exit 1
emulated=$build/emulated
rm -rf "$emulated"
emulate() { # program, stand-in, options of qemu
	mkdir -p "$emulated/$(dirname "$2")"
	cat >"$emulated/$2" <<-END
		#!/bin/sh
		exec qemu-aarch64 ${3-} -L '${loader%/lib/*}' '$here/$1' "\$@"
	END
	chmod +x "$emulated/$2"
}

# It starts itself again; it measures time.
left_out='test_probe test_sample'
# Under emulation these take a minute or more each.
[ -n "${ARM64_FULL-}" ] || left_out="$left_out test_schedule_host test_split test_blocks test_triangles test_curve_resample
	test_model_factor test_plan_choice test_kerr test_qr_update_paper test_host_chase_fit test_pointer_chase_fit
	test_pointer_chase_groups test_pointer_chase_random test_ablations test_cases test_check_whole test_recorder test_getrf
	test_geqrf test_gram_schmidt test_panel_getrf test_potrf test_qr_refactor test_qr_update"
left_out=$(echo "$left_out" | tr -s "\n\t" "  " | sed "s/ $//")
tests=
for test in tests/*/test_*.c; do
	test=${test%.c}
	case " $left_out " in *" ${test##*/} "*) continue ;; esac
	case $test in *_gpu) continue ;; esac
	emulate "$test.t" "$test.t"
	tests="$tests $emulated/$test.t"
done
for program in "$build"/bin/*; do
	emulate "bin/${program##*/}" "bin/${program##*/}"
done
# Kernels of Grace have pages of 64 KiB, others of 16.
for page in 16384 65536; do
	emulate tests/lib/test_topology.t "tests/lib/test_topology_$page.t" "-p $page"
	tests="$tests $emulated/tests/lib/test_topology_$page.t"
done
# Waiting threads sleep: under emulation they would take the time of those that work.
export OMP_WAIT_POLICY=passive
export OPENBLAS_CORETYPE=ARMV8
# shellcheck disable=SC2086 # a list
FATHOM_BIN="$emulated/bin" sh tests/run.sh $tests || exit 1
echo "check-arm64: built for $($cc -dumpmachine); not run: $left_out"
