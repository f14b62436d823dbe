#!/bin/sh
# SPDX-License-Identifier: MIT
# Ctrl-C in long work ends it at once with 130, leaves no torn file and no process, and the same command goes on where it ended.
# Without a terminal nothing is said but a few plain lines; on one, a live line tells the seconds left.
. "$(dirname "$0")/../tap.sh"
export CUDA_VISIBLE_DEVICES=
unset MACHINE FATHOM_DATA
needs probe predict measure validate report fit machine
command -v perl >/dev/null || skip_all 'no perl here'
make_scratch
FATHOM_HOME=$root
TMPDIR=$scratch/tmp
export FATHOM_HOME TMPDIR
mkdir "$TMPDIR"
data=$scratch/data

# begin PROGRAM...: in a process group of its own, as a terminal would run it; $pid
begin() {
	rm -f "$scratch/begun"
	perl -e 'setpgrp; $SIG{INT} = "DEFAULT"; open F, ">", shift and print F 1 and close F; exec @ARGV' "$scratch/begun" "$@" \
		>"$scratch/out" 2>"$scratch/err" </dev/null &
	pid=$!
	await "$scratch/begun" # until then a signal would be ignored, as in all that runs behind a script
}
# A minute at most, until a file is there (or a text in what was said).
await() {
	tries=0
	until [ -s "$1" ] && grep -q -e "${2-}" "$1"; do
		if [ $((tries += 1)) -gt 600 ] || ! kill -0 "$pid" 2>/dev/null; then break; fi
		sleep 0.1
	done
}
# Whether a process of the group still runs. One that is dead and waits for init to collect it does not.
living() { ps -A -o pgid= -o stat= | awk -v group="$pid" '$1 == group && $2 !~ /^Z/ { n++ } END { exit !n }'; }
# interrupt WHOM WHAT: SIGINT to the group, or to the first process alone
interrupt() {
	from=$(date +%s)
	if [ "$1" = group ]; then kill -INT "-$pid"; else kill -INT "$pid"; fi
	wait "$pid"
	status=$?
	took=$(($(date +%s) - from))
	[ $status -eq 130 ] && [ $took -le 10 ]
	result $? "$2: exit status $status after $took s, SIGINT to the $1"
	tries=0
	while living && [ $((tries += 1)) -le 20 ]; do sleep 0.1; done
	! living
	result $? "$2: no process is left"
	find "$data" "$TMPDIR" -name '*.new' -o -path "$TMPDIR/*" >"$scratch/left"
	[ ! -s "$scratch/left" ]
	result $? "$2: no temporary file is left $(head -n 1 "$scratch/left")"
	! grep -q "$(printf '[\033\r]')" "$scratch/out" "$scratch/err" && [ "$(cat "$scratch/out" "$scratch/err" | wc -l)" -le 20 ]
	result $? "$2: a few plain lines without a terminal"
}

# ---- probes
begin "$bin/probe" --quick --output "$data"
await "$data/host_chase.tsv"
interrupt group 'probes'
[ -s "$data/host_chase.tsv" ] && [ ! -e "$data/profile.tsv" ]
result $? 'probes: the curve that was done is there, no profile'
before=$(cksum <"$data/host_chase.tsv")
begin "$bin/probe" --quick --output "$data"
await "$scratch/out" 'goes on with an interrupted run: [0-9]* probes'
sleep 0.5
interrupt process 'probes again'
expect 0 'goes on with an interrupted run' 'the same command goes on' "$bin/probe" --quick --output "$data"
[ "$before" = "$(cksum <"$data/host_chase.tsv")" ] && [ -s "$data/host_rate.tsv" ] && [ -s "$data/profile.tsv" ]
result $? 'with the curve that was there, to the profile'
[ ! -e "$data/probe.unfinished" ]
result $? 'and the next run is a new one'

# ---- validation
begin "$bin/validate" --quick --output "$data"
await "$data/measurements.tsv"
interrupt process 'validation'
predictions=$(cksum <"$data/predictions.tsv")
grep -v '^#' "$data/measurements.tsv" | cut -f 1-13 >"$scratch/before"
begin "$bin/validate" --quick --output "$data"
await "$scratch/err" 'rows kept'
sleep 1
interrupt group 'validation again'
grep -v '^#' "$data/measurements.tsv" | cut -f 1-13 >"$scratch/after"
[ "$predictions" = "$(cksum <"$data/predictions.tsv")" ] && grep -q 'goes on with an interrupted run' "$scratch/out" &&
	! grep -q -v -x -F -f "$scratch/after" "$scratch/before"
result $? 'the same command goes on, with the same predictions and all rows'
begin "$bin/validate" --quick --seed 5 --output "$data"
await "$data/predictions.tsv" '^# seed: 5$'
interrupt process 'validation of a given seed, which begins anew'
rm "$data/measurements.tsv"
begin "$bin/measure" --output "$data"
await "$data/measurements.tsv"
interrupt process 'measure alone'
begin "$bin/measure" --kerr --only kerr --smallest 2048 --largest 2048 --output "$data"
sleep 1
interrupt process 'measure --kerr'
! grep -q 'beyond the limit' "$data/kerr.tsv"
result $? 'an unmeasured time is no wrong result'
expect 0 'kerr.tsv$' 'the same command goes on' "$bin/measure" --kerr --only kerr --smallest 2048 --largest 2048 --budget 9 --output "$data"
! grep -q 'starting afresh' "$scratch/err" && ! grep -q 'beyond the limit' "$data/kerr.tsv"
result $? 'with the rows that were there, and a time for each'

# ---- the report
if command -v gnuplot >/dev/null; then
	begin "$bin/report" --machine nvidia-h200 --output "$data"
	await "$data/report/figures/start.svg"
	interrupt group 'report'
	begin "$bin/report" --machine nvidia-h200 --output "$data"
	sleep 0.5
	interrupt process 'report again'
else
	report ok 'report # SKIP no gnuplot here'
fi

# ---- on a terminal
if command -v script >/dev/null; then
	script -qec "exec '$bin/probe' --quick --output '$data' host_parallel host_chase" /dev/null </dev/null >"$scratch/screen"
	tr '\r' '\n' <"$scratch/screen" | grep -q '\[1 of 2, about [0-9]* s left\]  host_parallel: process 1 of 3'
	result $? 'a live line names the probe that runs, and the seconds left'
	if command -v gnuplot >/dev/null; then
		script -qec "exec '$bin/report' --output '$data'" /dev/null </dev/null >"$scratch/screen"
		tr '\r' '\n' <"$scratch/screen" | grep -q '\[about [0-9]* s left\]  [a-z_]*: [0-9]* of [0-9]*$'
		result $? 'so does the report'
	fi
else
	report ok 'a live line # SKIP no script here'
fi
echo "1..$number"
