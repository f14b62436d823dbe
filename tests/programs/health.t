#!/bin/sh
# SPDX-License-Identifier: MIT
# fathom health: one table of the GPUs, pairs and hosts in several folders, the odd one named; and the run over hosts, with stand-ins for the
# programs that measure.
. "$(dirname "$0")/../tap.sh"
needs health
make_scratch
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
unset MACHINE FATHOM_DATA

# profile FOLDER COPY0 COPY1 LINK: two GPUs' rates of copies, and one of the link between them, in GB/s
profile() {
	mkdir -p "$1"
	{
		printf '# program: fit\nparameter\tvalue\tunit\tlow\thigh\tsamples\tmethod\tregime\tstatus\n'
		row "gpu.each.copy[gpu=0]" "$2"
		row "gpu.each.copy[gpu=1]" "$3"
		row "link.peer.beta[from=0,to=1]" "$4"
		row gpu.dram.copy "$2"
	} >"$1/profile.tsv"
}
row() { # parameter, GB/s
	awk -v name="$1" -v x="$2" 'BEGIN { OFS = "\t"; print name, x * 1e9, "B/s", x * 0.99e9, x * 1.01e9, 9, "made up", "hardware", "ok" }'
}

profile "$scratch/a" 2400 2410 380
profile "$scratch/b" 2390 2400 381
expect 0 '0 of 8 values are odd, on 2 hosts' 'like hosts: none is odd' "$bin/health" "$scratch/a" "$scratch/b"
expect 0 'a *GPU 0 to GPU 1 *link.peer.beta' 'the table has each pair by host' "$bin/health" "$scratch/a" "$scratch/b"
expect 0 'gpu.dram.copy .*alone' 'of one host: alone' "$bin/health" "$scratch/a"
profile "$scratch/c" 2400 2100 380
expect 1 'c, GPU 1 is odd: gpu.each.copy is 2.1 TB/s, lower than the others. median of 2.4 TB/s' 'a slow GPU is named, exit code 1' \
	"$bin/health" "$scratch/a" "$scratch/b" "$scratch/c"
profile "$scratch/d" 2400 2400 190
expect 1 'd, GPU 0 to GPU 1 is odd: link.peer.beta' 'a slow link, too' "$bin/health" "$scratch/a" "$scratch/b" "$scratch/d"
expect 1 '^odd$' 'as JSON' sh -c '"$1" --json "$2" "$3" "$4" >"$5"; status=$?; sed -n "s/.*\"verdict\": *\"odd\".*/odd/p" "$5"; exit $status' sh \
	"$bin/health" "$scratch/a" "$scratch/b" "$scratch/d" "$scratch/json"
# hosts whose names differ late, and GPUs of two kinds
for node in node-of-rack-12-01 node-of-rack-12-02; do
	profile "$scratch/$node" 2400 2410 380
	expect 0 "^$node  *GPU 0 to GPU 1" "a long name: $node" "$bin/health" "$scratch/$node" "$scratch/a"
done
profile "$scratch/old" 1600 1610 380
for folder in a b old; do
	sed "1s/^/# gpu: $([ $folder = old ] && echo Old || echo New)\n/" "$scratch/$folder/profile.tsv" >"$scratch/new" && mv "$scratch/new" "$scratch/$folder/profile.tsv"
done
expect 0 'of different kinds, each compared with its own: New, Old' 'a slower kind of GPU is not odd' "$bin/health" "$scratch/a" "$scratch/b" "$scratch/old"
expect 0 '^old  .*gpu.dram.copy .*alone' 'it is compared with its own' "$bin/health" "$scratch/a" "$scratch/b" "$scratch/old"
for folder in a b; do
	grep -v '^# gpu' "$scratch/$folder/profile.tsv" >"$scratch/new" && mv "$scratch/new" "$scratch/$folder/profile.tsv"
done
mkdir "$scratch/empty"
expect 1 'profile' 'a folder without a profile is an error' "$bin/health" "$scratch/empty"

# ---- over hosts: stand-ins measure
mkdir "$scratch/bin"
program() { # name, what it does
	printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
	chmod +x "$scratch/bin/$1"
}
program machine 'printf "key\tvalue\ngpu.name\tMade Up\ngpu.visible\t2\n" >"$2/machine.tsv"'
program probe 'echo "probes $*" >&2'
program fit 'cp "$MADE" "$2/profile.tsv"; exit 1'
ln -s "$bin/health" "$scratch/bin/health"
host() { # rank, profile
	PMIX_NAMESPACE=$run OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=${size:-3} HEALTH_WAIT=${wait:-60} MADE=$scratch/$2/profile.tsv \
		sh "$root/scripts/health.sh" "$scratch/bin" "$scratch/the output" '' --quick
}
hosts() { # id of the run, profiles of the ranks
	run=$1
	shift
	host 2 "$3" &
	host 1 "$2" &
	host 0 "$1"
	status=$?
	wait
	return $status
}
expect 0 '0 of 12 values are odd, on 3 hosts' 'three processes: one table' hosts 1 a b a
expect 0 'probes --output .* --quick copy transfer peer collective' 'which measure each GPU and each pair' hosts 2 a b a
expect 1 "2-$(uname -n), GPU 0 to GPU 1 is odd" 'the odd host is named' hosts 3 a b d
program machine '[ "$OMPI_COMM_WORLD_RANK" != 1 ] && printf "key\tvalue\ngpu.name\tMade Up\ngpu.visible\t1\n" >"$2/machine.tsv" ||
	printf "key\tvalue\ngpu.name\tnone\ngpu.reason\tno GPU: not found\n" >"$2/machine.tsv"'
expect 1 'no GPU: not found' 'a host without a GPU is said, and the others are judged' hosts 4 a b a
expect 1 'one GPU: links between GPUs are not measured' 'one GPU: no links' hosts 5 a b a
size=4 wait=2
expect 1 '3 of 4 processes have ended after 2 s' 'a process that does not end is left out, exit code 1' hosts 9 a b a
echo "1..$number"
