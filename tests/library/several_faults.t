#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls of NCCL that fail, get lost, or report a dead rank, one by one, on all GPUs that are here; one alone uses NCCL, too. The
# factorization fails with one sentence within 30 s. A later call with the same group ends, too.
. "$(dirname "$0")/../tap.sh"
program=${bin%/bin}/tests/library/test_fathom_several_gpu.t
make_scratch
real=$(ldconfig -p 2>/dev/null | awk '/libnccl[.]so[.]2 / { print $NF; exit }')
[ -n "$real" ] || skip_all 'NCCL is not installed'
[ -x "$program" ] || skip_all "$program is not built"
mkdir "$scratch/faulty"
${CC:-cc} -shared -fPIC -o "$scratch/faulty/libnccl.so.2" "$root/tests/library/faulty_nccl.c" -ldl 2>/dev/null || skip_all 'no C compiler'

# with FAULT: the status, $scratch/out, seconds
with() {
	rm -f "$scratch/hit"
	began=$(date +%s)
	LD_LIBRARY_PATH=$scratch/faulty${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} REAL_NCCL=$real FAULT=$1 FAULT_LOG=$scratch/hit NCCL_NVLS_ENABLE=0 \
		timeout -s KILL 60 "$program" --with-faults >"$scratch/out" 2>&1 </dev/null
	status=$?
	seconds=$(($(date +%s) - began))
}

# What is wrong. These may go unnoticed: the end of a communicator, and a broadcast that nobody else waits for.
judge() {
	[ "$seconds" -le 30 ] || echo "$seconds s"
	if [ ! -e "$scratch/hit" ]; then
		[ "$status" -eq 0 ] || echo "exit status $status without the fault"
		return
	fi
	case $1:$status in
	*:3) [ "$(grep -v '^#' "$scratch/out" | grep -c .)" -eq 1 ] || echo 'not one sentence' ;;
	ncclCommDestroy:*:0 | ncclCommAbort:*:0) ;;
	lost:*:0) [ "$(grep -c . "$scratch/count")" -eq 1 ] || echo 'a lost broadcast was not missed' ;;
	*) echo "exit status $status" ;;
	esac
}

"$program" --with-faults >"$scratch/out" 2>&1 </dev/null
[ $? -ne 77 ] || skip_all "$(head -n 1 "$scratch/out")"
! grep -q 'SKIP' "$scratch/out" || skip_all 'no GPU'
nvidia-smi -L 2>/dev/null >"$scratch/count"
with none:1
[ "$status" -eq 0 ]
result $? 'a stand-in that fails nowhere changes nothing'
for fault in ncclGetVersion:1 ncclGetUniqueId:1 ncclCommInitRank:1 ncclCommInitAll:1 ncclCommDestroy:1 ncclGroupStart:1 ncclGroupStart:7 \
	ncclGroupEnd:1 ncclGroupEnd:7 ncclBroadcast:1 ncclBroadcast:7 ncclCommGetAsyncError:1 ncclCommGetAsyncError:7 state:1 state:7 lost:1 lost:7; do
	with "$fault"
	judge "$fault" >"$scratch/wrong"
	[ ! -s "$scratch/wrong" ]
	result $? "$fault$([ -e "$scratch/hit" ] || echo ': no such call')"
	cat "$scratch/wrong" "$scratch/out" 2>/dev/null | head -n 4 | sed 's/^/# /' >&2
done
echo "1..$number"
