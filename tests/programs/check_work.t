#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-work without a GPU: its points have a stated work, the comparison tells what holds, what is small and what is off, and a
# profiler gets one point of a probe.
. "$(dirname "$0")/../tap.sh"
needs ../tests/work/check_work host_gram
make_scratch
check=$bin/../tests/work/check_work
points=$root/tests/work/points.txt

# counters LAUNCHES READ WRITTEN L2-SECTORS-READ L2-SECTORS-WRITTEN FFMA WAVEFRONTS: as ncu writes them
counters() {
	cat <<-'S'
		"ID","Kernel Name","launch__grid_size","launch__block_size","launch__registers_per_thread","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_sectors_op_read.sum","lts__t_sectors_op_write.sum","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum","l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
		"","","","","register/thread","byte","byte","sector","sector","inst",""
	S
	for launch in $(seq "$1"); do
		echo "\"$launch\",\"k\",\"256\",\"256\",\"64\",\"$2\",\"$3\",\"$4\",\"$5\",\"$6\",\"$7\""
	done
}

# compared STATUS PATTERN WHAT COUNTER...: a point of 8192 x 8192, cold (268435456 bytes, 67108864 multiply-adds)
echo 'gpu.own_gemv.s.n gemv_rate own_gemv_n_s m=8192,n=8192,cold=1' >"$scratch/one.txt"
mkdir "$scratch/counters" "$scratch/data"
cp "$recorded/profile.tsv" "$scratch/data"
compared() {
	status=$1 line=$2 what=$3
	shift 3
	counters "$@" >"$scratch/counters/own_gemv_n_s,m=8192,n=8192,cold=1.csv"
	expect "$status" "$line" "$what" "$check" "$scratch/one.txt" "$scratch/counters" --output "$scratch/data"
}

compared 0 '^0 of ' "counters like the stated work" 1 268600000 40000 8391000 2000 67108864 0
compared 0 'dram_read .* holds$' "an amount within 5 % holds" 1 260000000 40000 8391000 2000 67108864 0
compared 0 'dram_written .* small$' "bytes that do not matter are small" 1 268600000 4000000 8391000 2000 67108864 0
compared 0 'fp32_flops .* small$' "so are flops that take no time" 1 268600000 40000 8391000 2000 80000000 0
compared 1 'dram_read .* off$' "a tenth more bytes are off" 1 298600000 40000 9330000 2000 67108864 0
compared 1 'shared_passes .* off$' "and passes of shared memory that no one stated" 1 268600000 40000 8391000 2000 67108864 100000000
compared 1 'launches .* off$' "and a second launch" 2 134300000 20000 4195500 1000 33554432 0
expect 0 '	dram_read	' "the table is kept" cat "$scratch/data/work.tsv"

# Every line of the list: a work is stated, so that only counters are missing.
grep -v '^#' "$points" | while read -r surface _ _ point; do
	echo "$surface x x $point" >"$scratch/line.txt"
	counters 1 1 1 1 1 1 0 >"$scratch/counters/x,$point.csv"
	"$check" "$scratch/line.txt" "$scratch/counters" --output "$scratch/data" >"$scratch/said" 2>&1
	[ $? -le 1 ] && grep -q '^[0-9]* of [1-9]' "$scratch/said" || echo "$surface[$point]"
done >"$scratch/without"
[ ! -s "$scratch/without" ]
result $? "each point of the list has a stated work"
cat "$scratch/without" >&2
shapes=$(grep -v '^#' "$points" | awk '{ n[$1]++ } END { for (s in n) if (n[s] < 3) print s }')
[ -z "$shapes" ]
result $? "and three shapes a kernel $shapes"

expect 2 'no work is stated' "a surface without a work" sh -c \
	"echo 'gpu.unknown x x m=1' >$scratch/line.txt; $check $scratch/line.txt $scratch/counters --output $scratch/data"
sh -c "sed 's/n=8192,cold/n=4096,cold/' $scratch/one.txt >$scratch/two.txt; cat $scratch/one.txt >>$scratch/two.txt"
counters 1 268600000 40000 8391000 2000 67108864 0 >"$scratch/counters/own_gemv_n_s,m=8192,n=8192,cold=1.csv"
expect 77 '^gpu.own_gemv.s.n.m=8192,n=4096,cold=1.$' "a point without counters is listed, the others are compared" \
	"$check" "$scratch/two.txt" "$scratch/counters" --output "$scratch/data"
expect 0 '	l2_read	.*	holds$' "and kept" cat "$scratch/data/work.tsv"
echo '==ERROR== LaunchFailed' >"$scratch/counters/own_gemv_n_s,m=8192,n=4096,cold=1.csv"
expect 77 'has no launch' "a profile that failed is none" "$check" "$scratch/two.txt" "$scratch/counters" --output "$scratch/data"
compared 1 'launches .* off$' "what is off decides the exit status" 2 134300000 20000 4195500 1000 33554432 0

# The script with a stand-in for ncu, which profiles points of program a only.
tree=$scratch/tree folder=$scratch/tree/folder
mkdir -p "$tree/scripts" "$tree/tests/work" "$tree/factor/programs" "$tree/build/bin" "$tree/build/tests/work"
cp "$root/scripts/check_work.sh" "$root/scripts/ncu.sh" "$tree/scripts"
ln -s "$(cd "$(dirname "$check")" && pwd)/check_work" "$tree/build/tests/work/check_work"
touch "$tree/factor/programs/kernel_counters.c" "$tree/build/bin/a" "$tree/build/bin/b"
for program in a b; do
	echo "gpu.own_gemv.s.n $program ${program}_s m=8192,n=8192,cold=1"
done >"$tree/tests/work/points.txt"
counters 1 268600000 40000 8391000 2000 67108864 0 >"$scratch/good.csv"
cat >"$scratch/ncu" <<S
#!/bin/sh
for a; do [ "\$before" != --log-file ] || file=\$a; before=\$a; done
case "\$*" in *bin/a*) echo "\$*" >>$scratch/profiled; cp $scratch/good.csv "\$file" ;; *) exit 1 ;; esac
S
chmod +x "$scratch/ncu"
work() {
	env NCU="$scratch/ncu" WORK_SECONDS="$seconds" sh "$tree/scripts/check_work.sh" "$tree/build" "$scratch/data" "$folder"
}
seconds=0
expect 77 '2 of 2 points are not profiled' "no time for a call: none is profiled" work
seconds=60
expect 77 '1 of 2 points are not profiled' "a point that cannot be profiled stops no other" work
expect 77 '^gpu.own_gemv.s.n.*dram_read .*holds$' "the next run compares all points again" work
[ "$(wc -l <"$scratch/profiled")" -eq 1 ]
result $? "but profiles none twice"
touch -d '+1 minute' "$tree/build/bin/a"
work >"$scratch/said" 2>&1
[ "$(wc -l <"$scratch/profiled")" -eq 2 ]
result $? "except with a newer program"

expect 2 'no such argument' "a profiled point with an argument that the curve has not" "$bin/host_gram" --profile 'x[unknown=1]'
expect 2 "do not end with ']'" "a profiled point that is none" "$bin/host_gram" --profile 'x[m=1'

# On a GPU: each point of the list is one that its program measures, and a point off the curve is not.
if [ -x "$bin/gemv_rate" ] && "$bin/gemv_rate" --check >/dev/null 2>&1; then
	grep -v '^#' "$points" | while read -r _ program series point; do
		"$bin/$program" --profile "${series}[$point]" >/dev/null 2>&1 </dev/null || echo "$program $series $point"
	done >"$scratch/refused"
	[ ! -s "$scratch/refused" ]
	result $? "each point of the list is run for a profiler"
	cat "$scratch/refused" >&2
	expect 2 'no such point' "and no other" "$bin/gemv_rate" --profile 'own_gemv_n_s[m=3,n=3,cold=0]'
else
	report ok "each point of the list is run for a profiler # SKIP no GPU"
fi
echo "1..$number"
