#!/bin/sh
# SPDX-License-Identifier: MIT
# make noise: quick runs of the host's probes, and on a machine with a GPU 12 of a fixed set of its probes, while a load takes a
# resource from them. Three runs without a load stand before them, one after every tenth, and one behind them. Each parameter of a disturbed run
# lies within the interval of the runs without a load (or 5 %, whichever is larger), or its own interval holds their value, or its
# status is not ok: else it is silently wrong.
# Usage: noise.sh BIN FOLDER [RUNS (50; 0: the GPU's probes alone)]. All rows: FOLDER/noise.tsv. After an interruption the same call goes
# on, until the machine starts again or the programs change. Exit status: 0 none was silently wrong, 1 one was, or a run has no profile or
# its load ended early. The reference needs a quiet machine.
set -u
LC_ALL=C
export LC_ALL
bin=$1 folder=$2 runs=${3:-50}

host_probes='host_chase host_exchange host_gram host_memory host_parallel host_rate'
# Launches, caches and translation, device memory, multiprocessors, queues, copy engines and link.
gpu_probes='launch pointer_chase copy instruction concurrency transfer'
gpu_runs=12

load=
missing=0
trap stop_load EXIT
# shellcheck source=scripts/attend.sh
. "$(dirname "$0")/attend.sh"

stop_load() {
	# shellcheck disable=SC2086 # numbers
	[ -z "$load" ] || { kill $load && wait $load; } 2>/dev/null
	load=
}
on_every_core() { # COMMAND...
	cores=$(nproc)
	while [ "$cores" -gt 0 ]; do
		"$@" >/dev/null 2>&1 &
		load="$load $!"
		cores=$((cores - 1))
	done
}
spin() { while :; do :; done; }
start_load() {
	case $1 in
	none) ;;
	cores) on_every_core spin ;;
	memory) on_every_core dd if=/dev/zero of=/dev/null bs=256M ;;
	gpu) # quick: without rests
		"$bin/gemm_rate" --quick --processes 900 --seconds 60 --output "$folder/load" >/dev/null 2>&1 &
		load=$!
		;;
	copies) # all sizes, again and again
		"$bin/transfer" --processes 900 --seconds 4 --output "$folder/load" >/dev/null 2>&1 &
		load=$!
		;;
	esac
	case $1 in
	none) ;;
	cores | memory) sleep 0.3 ;;
	*) sleep 1.5 ;; # a process on the GPU takes a second to begin
	esac
}
load_runs() {
	# shellcheck disable=SC2086 # numbers
	[ -z "$load" ] || kill -0 $load 2>/dev/null
}

# measure GROUP LOAD NUMBER PROBE...: a quick run's profile as rows "group load number parameter value low high status", unless they are there
measure() {
	group=$1 kind=$2 index=$3
	shift 3
	! grep -q "^$group	$kind	$index	" "$folder/rows" || return
	rm -rf "$folder/run"
	mkdir -p "$folder/run" || exit 1
	start_load "$kind"
	attend "$bin/probe" --quick --output "$folder/run" "$@" >"$folder/said" 2>&1
	if ! load_runs; then
		stop_load
		echo "noise: run $index ($group): its load, $kind, ended early" >&2
		missing=$((missing + 1))
		return
	fi
	stop_load
	"$bin/machine" --output "$folder/run" >/dev/null 2>&1
	"$bin/fit" --output "$folder/run" >>"$folder/said" 2>&1
	if [ ! -s "$folder/run/profile.tsv" ]; then
		echo "noise: run $index ($group, $kind) has no profile: $(tail -n 1 "$folder/said")" >&2
		[ "$kind" != none ] || exit 1
		missing=$((missing + 1))
		return
	fi
	awk -F '\t' -v OFS='\t' -v group="$group" -v kind="$kind" -v index_="$index" \
		'/^#/ || $1 == "parameter" { next } { print group, kind, index_, $1, $2, $4, $5, $NF }' "$folder/run/profile.tsv" >>"$folder/rows"
	[ ! -t 2 ] || printf '\r%s %s %s   ' "$group" "$index" "$kind" >&2
}

# measure_all GROUP RUNS "LOADS" PROBE...
measure_all() {
	group=$1 count=$2 kinds=$3
	shift 3
	run=0
	# shellcheck disable=SC2086 # words
	while [ "$run" -lt "$count" ]; do
		[ $((run % 10)) -ne 0 ] || measure "$group" none "$run" "$@"
		kind=$(echo $kinds | cut -d ' ' -f $((run % $(echo $kinds | wc -w) + 1)))
		run=$((run + 1))
		measure "$group" "$kind" "$run" "$@"
	done
	measure "$group" none "$run" "$@"
}

# The reference of a parameter: the median of its values without a load, and the hull of their intervals, and of values that are
# noisy. Bounds are no values. A parameter that most runs without a load do not know has no reference.
judge() {
	awk -F '\t' -v OFS='\t' -v table="$folder/noise.tsv" '
function is_number(x) { return x != "nan" && x != "inf" && x != "-inf" }
function median(list, n, i, j, t, x) {
	n = split(list, x, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && x[j - 1] + 0 > x[j] + 0; j--) {
			t = x[j]; x[j] = x[j - 1]; x[j - 1] = t
		}
	return n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
}
$2 == "none" && FNR == NR {
	key = $1 OFS $4
	quiet_rows++
	if (!(($1, $3) in met)) {
		met[$1, $3]
		references[$1]++
	}
	unquiet += $8 == "noisy"
	if (is_number($5) && (!(key in lowest) || $5 + 0 < lowest[key])) lowest[key] = $5 + 0
	if (is_number($5) && (!(key in highest) || $5 + 0 > highest[key])) highest[key] = $5 + 0
	if ($8 != "ok" || !is_number($5)) next
	values[key] = values[key] " " $5
	known[key]++
	if (is_number($6) && (!(key in lowest) || $6 + 0 < lowest[key])) lowest[key] = $6 + 0
	if (is_number($7) && (!(key in highest) || $7 + 0 > highest[key])) highest[key] = $7 + 0
	next
}
FNR == NR || $2 == "none" { next }
!headed++ {
	print "group", "load", "run", "parameter", "quiet", "quiet_low", "quiet_high", "value", "low", "high", "status", "verdict" >table
}
{
	key = $1 OFS $4
	if (2 * known[key] < references[$1]) {
		without[key]
		next
	}
	quiet = median(substr(values[key], 2))
	margin = 0.05 * (quiet < 0 ? -quiet : quiet)
	low = key in lowest && lowest[key] < quiet - margin ? lowest[key] : quiet - margin
	high = key in highest && highest[key] > quiet + margin ? highest[key] : quiet + margin
	if ($8 == "bounded")
		verdict = (is_number($6) && $6 > high) || (is_number($7) && $7 < low) ? "SILENT" : "within"
	else if ($8 != "ok")
		verdict = "flagged"
	else if ($5 >= low && $5 <= high)
		verdict = "within"
	else
		verdict = is_number($6) && is_number($7) && quiet >= $6 && quiet <= $7 ? "within" : "SILENT"
	print $1, $2, $3, $4, quiet, low, high, $5, $6, $7, $8, verdict >table
	name = $4 OFS $2
	count[name, verdict]++
	total[verdict]++
	judged++
	runs += !(($1, $3) in counted)
	counted[$1, $3]
	away = quiet ? $5 / quiet - 1 : 0
	away = away < 0 ? -away : away
	if (verdict != "flagged" && is_number($5) && (!(name in worst) || away > far[name])) {
		worst[name] = $5
		far[name] = away
	}
	if (!(name in seen)) {
		seen[name]
		order[++names] = name
	}
	q[name] = quiet; l[name] = low; h[name] = high
}
END {
	printf "%-58s %-7s %11s %23s %11s %6s %7s %6s\n", "parameter", "load", "quiet", "interval or 5 %", "farthest", "within", "flagged", "silent"
	for (pass = 0; pass < 2; pass++)
		for (i = 1; i <= names; i++) {
			name = order[i]
			silent = count[name, "SILENT"] + 0
			if ((silent > 0) == pass)
				continue
			split(name, part, OFS)
			printf "%-58s %-7s %11.4g %11.4g %11.4g %11s %6d %7d %6d\n", part[1], part[2], q[name], l[name], h[name],
				name in worst ? sprintf("%.4g", worst[name]) : "-", count[name, "within"], count[name, "flagged"], silent
		}
	for (key in without) unknown++
	printf "without a load: %d rows, %d of them noisy%s\n", quiet_rows, unquiet,
		(unquiet * 20 > quiet_rows) ? ": the machine is not quiet, and this is no record" : ""
	if (unknown)
		printf "%d parameters have no value in most runs without a load, and are not judged\n", unknown
	printf "under load: %d runs, %d rows, %d within, %d flagged, %d silently wrong\n", runs, judged, total["within"], total["flagged"], total["SILENT"]
	exit total["SILENT"] > 0 || !judged
}' "$folder/rows" "$folder/rows"
}

if [ "$runs" = --judge ]; then # the rows that are there
	judge
	exit
fi
mkdir -p "$folder" || exit 1
programs="$(cat /proc/sys/kernel/random/boot_id 2>/dev/null) $(sha256sum <"$bin/probe")"
if [ "$(cat "$folder/unfinished" 2>/dev/null)" != "$programs" ]; then
	: >"$folder/rows"
	echo "$programs" >"$folder/unfinished"
fi
# shellcheck disable=SC2086 # words
{
	if [ "$runs" -gt 0 ]; then
		for first in 1 2 3; do measure host none "-$first" $host_probes; done
		measure_all host "$runs" 'cores memory' $host_probes
	fi
	if [ -x "$bin/launch" ] && "$bin/machine" --output "$folder/run" 2>/dev/null | grep -q '^gpu.name' &&
		! grep -q "^gpu.name	none" "$folder/run/machine.tsv"; then
		for first in 1 2 3; do measure gpu none "-$first" $gpu_probes; done
		measure_all gpu "$gpu_runs" 'gpu copies cores memory' $gpu_probes
	else
		echo 'noise: no GPU: its probes were not run'
	fi
}
[ ! -t 2 ] || echo >&2
judge
status=$?
if [ "$missing" -gt 0 ]; then # the same call makes them again
	echo "noise: $missing runs under load are missing" >&2
	exit 1
fi
rm -f "$folder/unfinished"
[ "$status" -eq 0 ]
