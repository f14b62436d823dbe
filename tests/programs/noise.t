#!/bin/sh
# SPDX-License-Identifier: MIT
# What make noise makes of profiles: right, marked and silently wrong parameters; parameters and runs without a reference. Probe, fit
# and machine are our own: the profile depends on whether a load runs.
. "$(dirname "$0")/../tap.sh"
make_scratch
mkdir "$scratch/bin"
program() { # name, what it does with --output's folder $out
	printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" != --output ] || out=$2; shift; done\n%s\n' "$2" >"$scratch/bin/$1"
	chmod +x "$scratch/bin/$1"
}
program probe ': >"$out/probed"'
program machine ':'
# row NAME QUIET-VALUE LOW HIGH STATUS, the same under load
cat >"$scratch/fit" <<'S2'
echo run >>"$COUNT"
printf 'parameter\tvalue\tunit\tlow\thigh\tsamples\tmethod\tregime\tstatus\n' >"$out/profile.tsv"
case $(wc -l <"$COUNT") in [1-4] | 7) rows=$QUIET ;; *) rows=$LOADED ;; esac
echo "$rows" | while read -r name value low high status; do
	printf '%s\t%s\ts\t%s\t%s\t9\tmethod\thardware\t%s\n' "$name" "$value" "$low" "$high" "$status"
done >>"$out/profile.tsv"
S2
program fit "$(cat "$scratch/fit")"
# noise QUIET LOADED: of two runs under load
noise() {
	rm -f "$scratch/count"
	QUIET=$1 LOADED=$2 COUNT=$scratch/count sh "$root/scripts/noise.sh" "$scratch/bin" "$scratch/out" 2
}

quiet='a 1 0.98 1.02 ok
b 1 0.5 1.5 ok'
expect 0 '4 rows, 4 within, 0 flagged, 0 silently wrong' 'within 5 %, within the interval' noise "$quiet" 'a 1.04 1.03 1.05 ok
b 1.4 1.39 1.41 ok'
expect 1 '4 rows, 2 within, 0 flagged, 2 silently wrong' 'neither' noise "$quiet" 'a 1.06 1.055 1.065 ok
b 1 1 1 ok'
expect 1 '^a  *cores  *1  *0.95  *1.05  *1.06  *0  *0  *1$' 'a line for a load' noise "$quiet" 'a 1.06 1.055 1.065 ok
b 1 1 1 ok'
expect 0 '4 rows, 2 within, 2 flagged, 0 silently wrong' 'marked as noisy' noise "$quiet" 'a 9 8 10 noisy
b 1 1 1 ok'
expect 0 '4 within' 'an own interval that holds the reference' noise "$quiet" 'a 1.2 0.9 1.5 ok
b 1 1 1 ok'
expect 0 '4 within' 'bounds that hold it' noise "$quiet" 'a nan 0.9 nan bounded
b 1 1 1 ok'
expect 1 '2 silently wrong' 'bounds that do not' noise "$quiet" 'a nan 1.1 nan bounded
b 1 1 1 ok'
expect 0 '1 parameters have no value in most runs' 'noisy without a load: no reference' noise 'a 1 0.98 1.02 noisy
b 1 0.5 1.5 ok' 'a 5 5 5 ok
b 1 1 1 ok'
expect 0 'the machine is not quiet' 'which is said' noise 'a 1 0.98 1.02 noisy
b 1 0.5 1.5 ok' 'a 5 5 5 ok
b 1 1 1 ok'
rm -rf "$scratch/count" "$scratch/out"
COUNT=$scratch/count QUIET=$quiet LOADED=$quiet sh "$root/scripts/noise.sh" "$scratch/bin" "$scratch/out" 0 >"$scratch/said" 2>&1
[ ! -e "$scratch/count" ] && grep -q 'no GPU: its probes were not run' "$scratch/said"
result $? "none of the host's when 0 are asked for"

# Rows of runs that are done are kept until all are.
rm -rf "$scratch/out"
expect 0 'under load: 2 runs, 4 rows' 'all runs' noise "$quiet" "$quiet"
awk 'END { exit NR != 7 }' "$scratch/count"
result $? 'anew'
expect 0 'under load: 2 runs, 4 rows' 'and again' noise "$quiet" "$quiet"
awk 'END { exit NR != 7 }' "$scratch/count"
result $? 'anew, as the first call ended'
program probe 'if [ "$(cat "$COUNT" 2>/dev/null | wc -l)" -eq 5 ]; then kill -TERM $PPID; sleep 5; fi; : >"$out/probed"'
noise "$quiet" "$quiet" >/dev/null
result $(($? != 143)) 'an interrupted call'
program probe ': >"$out/probed"'
rm -f "$scratch/count"
noise "$quiet" "$quiet" >/dev/null
awk 'END { exit NR != 7 }' "$scratch/count"
result $? 'begins anew with another program'
program probe 'if [ "$(cat "$COUNT" 2>/dev/null | wc -l)" -eq 5 ] && [ ! -e "$COUNT.once" ]; then : >"$COUNT.once"; kill -TERM $PPID; sleep 5; fi; : >"$out/probed"'
noise "$quiet" "$quiet" >/dev/null
result $(($? != 143)) 'interrupted again'
expect 0 'under load: 2 runs, 4 rows, 4 within' 'the same call goes on' noise "$quiet" "$quiet"
awk 'END { exit NR != 2 }' "$scratch/count"
result $? 'with the runs that were not done'

# A load that does not last, and a run without a profile.
mkdir "$scratch/tools"
printf '#!/bin/sh\nexit 1\n' >"$scratch/tools/dd"
chmod +x "$scratch/tools/dd"
(PATH=$scratch/tools:$PATH && noise "$quiet" "$quiet") >"$scratch/said" 2>&1
[ $? -eq 1 ] && grep -q 'run 2 (host): its load, memory, ended early' "$scratch/said" && grep -q '1 runs under load are missing' "$scratch/said"
result $? 'a load that ends early'
expect 0 'under load: 2 runs, 4 rows' 'the next call makes that run' noise "$quiet" "$quiet"
awk 'END { exit NR != 1 }' "$scratch/count"
result $? 'alone'
echo "1..$number"
