#!/bin/sh
# SPDX-License-Identifier: MIT
# The probes that `make probe` runs, by the number of GPUs, with stand-ins for the programs.

. "$(dirname "$0")/../tap.sh"

script=$root/scripts/probe.sh
make_scratch
mkdir "$scratch/bin" "$scratch/out"

program() { # name, what it does
	printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
	chmod +x "$scratch/bin/$1"
}

facts() { # lines of key and value
	program machine "printf '$1' >'$scratch/out/machine.tsv'"
}

program probe "echo \"probes \$*\" >&2"
program fit 'case $* in *--json*) echo "{}" ;; esac'
json=
run() { sh "$script" "$scratch/bin" "$scratch/out" 0 "$json" "collective copy host_chase peer transfer" "gemm_rate host_rate" --quick; }

facts 'key\tvalue\ngpu.name\tMade Up\ngpu.visible\t1\n'
expect 0 'probes .* copy host_chase transfer gemm_rate host_rate$' 'one visible GPU: links between GPUs are left out' run
expect 0 'one visible GPU' 'which is said' run
facts 'key\tvalue\ngpu.name\tMade Up\ngpu.visible\t2\n'
expect 0 'probes .* collective copy host_chase peer transfer gemm_rate host_rate$' 'two: all probes run' run
expect 0 '^hardware: collective copy host_chase peer transfer$' 'the hardware is named first' run
expect 0 '^libraries and our own kernels: gemm_rate host_rate$' 'then what is timed of libraries and kernels' run
expect 0 'probes --quick collective' 'options go to the probes' run
program probe "kill \$PPID" # an interruption
run >"$scratch/said" 2>&1
sleep 1.1
printf '# quick: yes\n' >"$scratch/out/copy.tsv"
printf '# quick: no\n' >"$scratch/out/peer.tsv"
program probe "echo \"probes \$*\" >&2"
expect 0 'probes --quick collective host_chase peer transfer gemm_rate' 'an interrupted run goes on; a curve of another extent is none of it' run
json=--json
run 2>/dev/null >"$scratch/json"
expect 0 '^1 {}$' 'with --json the profile alone is on stdout' sh -c 'echo $(wc -l <"$1") $(cat "$1")' sh "$scratch/json"
json=
facts 'key\tvalue\ngpu.name\tnone\ngpu.reason\tno GPU: not found\n'
expect 0 'probes .* host_chase host_rate$' 'none: those of the host' run
expect 0 'no GPU: not found; GPU questions use' 'with the reason' run
facts 'key\tvalue\ngpu.name\tMade Up\ngpu.visible\t2\n'
program probe 'exit 1'
expect 1 'a probe' 'a failed probe is reported' run
program machine 'exit 1'
expect 1 'nothing was measured' 'without a description of the machine nothing is measured' run
unruly=$(grep -rl 'needs_gpu = true' "$root/probes" "$root/factor" | grep '/host_')
report "$([ -z "$unruly" ] && echo ok || echo 'not ok')" "host_ probes need no GPU $unruly"
echo "1..$number"
