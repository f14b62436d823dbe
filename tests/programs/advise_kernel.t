#!/bin/sh
# SPDX-License-Identifier: MIT
# advise kernel: a kernel by options, by a file and by counters; what-if, other machines, and what it refuses.

. "$(dirname "$0")/../tap.sh"

# kernel STATUS PATTERN WHAT ARGUMENT...: expect, of advise kernel on a recorded machine
kernel() {
	status=$1 line=$2 what=$3
	shift 3
	expect "$status" "$line" "$what" "$bin/advise" kernel --output "$recorded" "$@"
}

needs advise
make_scratch
grid="--blocks 1056 --threads 256"
stream="$grid --in-flight 64 --dram 1GB:1GB"
panel="--blocks 16 --threads 256 --barriers grid:40 --exchange cluster:128x64 --chain search:64,fma:1000"

# seconds ARGUMENT...: of the form as it is described
seconds() {
	"$bin/advise" kernel --output "$recorded" --json "$@" 2>/dev/null | tr -d '\n' | tr '{' '\n' |
		sed -n '/"described": 1/s/.*"seconds": \([0-9.e+-]*\),.*/\1/p'
}

# ratio WHAT LOW HIGH NUMERATOR DENOMINATOR
ratio() {
	awk -v x="$4" -v y="$5" -v low="$2" -v high="$3" 'BEGIN { exit !(x > low * y && x < high * y) }'
	result $? "$1 ($4 and $5)"
}

# shellcheck disable=SC2086 # lists of options
{
	kernel 0 '^  launches .* dram .*(as described)$' "a kernel by options: time, interval, limiter" $stream
	kernel 0 '^1 launch of 1056 blocks of 256 threads, 8 resident on a multiprocessor, 1 round$' "where its blocks go" $stream
	kernel 0 'each as if alone: launch .* dram .* (.*%)' "the share of each term" $stream
	kernel 0 '^The hardware alone: [0-9.]* us. With the efficiency 0.[0-9]* of its class (dram: median of [0-9]* points of our kernels, 95 %' \
		"what the hardware says, and with the efficiency of its class" $stream
	kernel 0 'of its class (multiprocessors, brief: median' "a brief kernel: another class" $grid --flops 1e8
	kernel 0 'No default efficiency' "no calibration: the hardware alone" $stream --calibration none
	ratio "which is faster" 1.005 1.5 "$(seconds $stream)" "$(seconds $stream --calibration none)"
	ratio "efficiencies of another machine" 0.9 1.1 "$(seconds $stream)" "$(seconds $stream --calibration "${other_recorded##*/}")"
	mkdir "$scratch/few"
	grep -v '^gpu.*[[:space:]]calibrated[[:space:]]' "$recorded/profile.tsv" >"$scratch/few/profile.tsv"
	grep '^gpu.gram_panel' "$recorded/profile.tsv" >>"$scratch/few/profile.tsv"
	cp "$recorded/machine.tsv" "$scratch/few"
	expect 0 'dram: median of [0-9]* points of our kernels of all classes, since its own has too few' "too few kernels of the class" \
		"$bin/advise" kernel --output "$scratch/few" $stream
	kernel 0 '^\* cluster ' "16 blocks that exchange: one cluster" $panel
	kernel 0 '^Next best: .* times as long' "and the next best form" $panel
	kernel 0 'tips to .* when gpu\..* times what was measured' "and what makes that one win" $panel
	kernel 0 '^\* graph ' "what if waits of other blocks cost 10 us: launches of a graph" $panel \
		--set gpu.barrier.cluster=10us --set gpu.barrier.grid=10us --set gpu.exchange.cluster=10us --set gpu.exchange.grid=10us
	ratio "what if DRAM were half as fast: twice the time" 1.9 2.05 \
		"$(seconds $stream --set gpu.dram.copy=2.13TB/s)" "$(seconds $stream)"
	ratio "a machine with slower DRAM: longer" 1.3 1.6 \
		"$("$bin/advise" kernel --output "$other_recorded" --json $stream 2>/dev/null | tr -d '\n' | tr '{' '\n' |
			sed -n '/"described": 1/s/.*"seconds": \([0-9.e+-]*\),.*/\1/p')" "$(seconds $stream)"
	ratio "random words of 4 bytes: far slower" 5 40 "$(seconds $stream --pattern random:4)" "$(seconds $stream)"
	ratio "tensor cores are faster than FMA" 3 20 "$(seconds $grid --flops 1e13)" "$(seconds $grid --tensor tf32:1e13)"
	ratio "conflicts of 32 banks: 32 times the accesses" 31 33 \
		"$(seconds $grid --wavefronts 1e12:32)" "$(seconds $grid --wavefronts 1e12)"
	ratio "hits of a set in L2 are quicker than DRAM" 0.3 0.9 \
		"$(seconds $grid --launches 100 --dram 30MB --working-set 30MB)" "$(seconds $grid --launches 100 --dram 30MB)"
	kernel 0 'refused: .* do not fit into the registers and shared memory' "a state too large for the chip" \
		$grid --launches 10 --state 1GB
	kernel 0 '"limiter": "dram"' "--json" $stream --json
	kernel 1 'does not fit into a multiprocessor' "a block that no multiprocessor holds" $grid --shared 300KiB

	printf '# a copy\nblocks 1056\nthreads = 256\n\nin-flight\t64 # bytes\ndram 1GB:1GB\n' >"$scratch/copy"
	ratio "the same kernel by a file" 0.9999 1.0001 "$(seconds --file "$scratch/copy")" "$(seconds $stream)"
	ratio "options change the file's" 1.9 2.1 "$(seconds --file "$scratch/copy" --dram 2GB:2GB)" "$(seconds $stream)"

	{ echo 'kernel first' && cat "$scratch/copy" && echo 'kernel second' && cat "$scratch/copy"; } >"$scratch/two"
	ratio "two kernels of a file: twice as long" 1.999 2.001 "$(seconds --file "$scratch/two")" "$(seconds $stream)"
	kernel 0 'and 1 more kernel or grid$' "and it says so" --file "$scratch/two"

	ncu=$root/tests/programs/kernel_counters.csv
	kernel 0 '^smooth_rows(.*): 2 launches of 8192 blocks of 256 threads, .*; and 1 more kernel or grid$' "counters of ncu" --ncu "$ncu"
	kernel 0 '^Measured by ncu, compute capability 9.0, at 1.73 GHz: 439.53 us without launches; .* law for this machine: [0-9.]* us' \
		"with the time that another machine took" --ncu "$ncu"
	kernel 0 'no counters of these, which count as none: instructions, atomics, tensor tf32' "and what the file does not say" --ncu "$ncu"
	ratio "its bytes by DRAM's bandwidth: 1.07 GB read, 0.52 written" 0.95 1.1 "$(seconds --ncu "$ncu")" 3.2e-4
	kernel 0 'exchanges' "options add what counters do not tell" --ncu "$ncu" --exchange grid:128x1000 --blocks 132

	# what is refused, by one sentence and exit code 2
	refuses() { kernel 2 "$@"; }
	refuses "give the kernel's grid" "no grid" --dram 1GB
	refuses 'blocks: -3 is not between' "a negative number" --blocks -3 --threads 256
	refuses 'threads: 5000 is not between' "too many threads" --blocks 3 --threads 5000
	refuses 'blocks: 3g is not between 1 and 2147483647$' "too many blocks, limits in whole numbers" --blocks 3g --threads 256
	refuses 'blocks: 1.5 is not a whole number' "half a block" --blocks 1.5 --threads 256
	refuses "dram: 'nan' is not a number" "NaN" $grid --dram nan
	refuses 'dram: 1e40 is not between' "an absurd amount" $grid --dram 1e40
	refuses "dram: '1GB ' is not a number" "a number and more" $grid --dram '1GB :2'
	refuses "dram: '5us' is in s: give bytes" "a time for bytes" $grid --dram 5us
	refuses "dram: '3MHz' is in Hz" "a clock for bytes written" $grid --dram 5:3MHz
	refuses "state: '1s' is in s" "a time for a state" $grid --state 1s
	refuses "exchange: '3ns' is in s" "a time for an exchange" $grid --exchange grid:3nsx4
	refuses "flops: '1GB' is in B: give a number without a unit" "bytes for flops" $grid --flops 1GB
	refuses "integer: '1GB' is in B" "bytes for operations" $grid --integer 1GB
	refuses "threads: '256B' is in B" "bytes for threads" --blocks 132 --threads 256B
	refuses 'flops: s stands twice' "a type twice" $grid --flops s:1G,s:1G
	refuses 'flops: s stands twice' "and without its name" $grid --flops 1G,s:1G
	refuses 'barriers: grid stands twice' "a barrier twice" $grid --barriers grid:3,block:1,grid:4
	refuses 'clusters of at most 16' "a cluster that no GPU has" --blocks 128 --threads 256 --cluster 32
	refuses 'clusters of 5 do not divide 132 blocks' "one that does not divide the blocks" --blocks 132 --threads 256 --cluster 5
	kernel 0 'launches' "a cluster of bytes and types" $grid --cluster 16 --flops s:1G,d:1G --exchange cluster:128Bx2 --atomics 5:4B
	refuses "chain: 'tape': dram, l2" "an unknown link" $grid --chain tape:3
	refuses "barriers: 'grid': write SCOPE:N" "no count" $grid --barriers grid
	refuses 'write BYTESxCOUNT' "an exchange without count" $grid --exchange grid:128
	refuses 'pattern: stride needs its step' "a pattern without its step" $grid --pattern stride
	refuses 'give one' "two descriptions" --file "$scratch/copy" --ncu "$ncu"
	printf 'blocks 3\nwarps 8\n' >"$scratch/unknown"
	refuses "unknown:2: unknown key 'warps'" "an unknown key of a file" --file "$scratch/unknown"
	printf 'blocks 3 4\n' >"$scratch/line"
	refuses 'line:1: a line is' "a line that is none" --file "$scratch/line"
	refuses 'No such file' "no file" --file "$scratch/none"
	: >"$scratch/empty"
	refuses 'describes no kernel' "an empty file" --file "$scratch/empty"
	sed 's/.*/kernel x/' "$root/tests/programs/advise_kernel.t" >"$scratch/many"
	refuses 'many:17: more than 16 kernels' "too many kernels" --file "$scratch/many"
	refuses 'Is a directory' "a folder" --file "$scratch"
	refuses 'No such file' "no counters" --ncu "$scratch/none"
	refuses 'has no launch' "a file that ncu did not write" --ncu "$scratch/copy"
	printf '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","k","launch__grid_size","","8"\n' >"$scratch/long.csv"
	refuses 'has no column launch__grid_size' "its other format" --ncu "$scratch/long.csv"
	head -n 4 "$ncu" >"$scratch/head.csv"
	refuses 'has no launch' "a head alone" --ncu "$scratch/head.csv"
	sed 's/"1,024"/"1,024/' "$ncu" >"$scratch/quote.csv"
	refuses 'quote.csv:8: 0 fields' "a quote without end" --ncu "$scratch/quote.csv"
	sed '6s/,"32","0"/,"32"/' "$ncu" >"$scratch/short.csv"
	refuses 'short.csv:6: 32 fields below a head of 33' "a short row" --ncu "$scratch/short.csv"
	for bad in nan -268.44 inf many; do
		sed "6s/268.44/$bad/" "$ncu" >"$scratch/bad.csv"
		refuses "bad.csv:6: dram__bytes_read.sum is '$bad'" "bytes that are '$bad'" --ncu "$scratch/bad.csv"
	done
	sed '5s/Mbyte/Furlong/' "$ncu" >"$scratch/unit.csv"
	refuses "unknown unit 'Furlong' of dram__bytes_read.sum" "an unknown unit" --ncu "$scratch/unit.csv"
}
echo "1..$number"
