#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad input to every program, without a GPU: one sentence on stderr that names the program, what was wrong and what to do; the
# documented exit code; no crash.
. "$(dirname "$0")/../tap.sh"
export CUDA_VISIBLE_DEVICES=
unset MACHINE FATHOM_DATA FATHOM_HOME
needs probe predict measure validate advise rules report compare trace machine list fit host_parallel
make_scratch
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
cd "$root" || exit 1
recorded=data/nvidia-h200

# What a reader can do: give, run, choose, leave out, look up.
todo='give \|run \|write \|leave out\|did you mean\|see --help\|--help \|names \|fathom [a-z]*\|--output\|say what\|goes with\|takes '

# bad STATUS WORDS PROGRAM...: WORDS are a pattern of what was wrong
bad() {
	want=$1 words=$2 called=$bin/$3
	shift 3
	"$called" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	grep -v ': warning: ' "$scratch/err" >"$scratch/said"
	why=
	[ $status -eq "$want" ] || why="exit status $status, want $want"
	[ "$(wc -l <"$scratch/said")" -eq 1 ] || why="$why; not one line"
	grep -q "^\(fathom-\)*[a-z_]*: [^ ]" "$scratch/said" || why="$why; no program's name"
	grep -q -e "$words" "$scratch/said" || why="$why; want '$words'"
	grep -q -e "$todo" "$scratch/said" || why="$why; nothing to do"
	[ ! -s "$scratch/out" ] || why="$why; something on stdout"
	[ -z "$why" ]
	result $? "$(echo "${called##*/} $*" | sed "s,$scratch/,,g"): $words"
	[ -z "$why" ] || echo "# $why: $(head -n 3 "$scratch/err")" >&2
}

# ---- every program: options and values
for path in "$bin"/*; do
	program=${path##*/}
	bad 2 "'--nonsense'" "$program" --nonsense
	bad 2 "99999999999999999999" "$program" --seed 99999999999999999999
	bad 2 "'--device'\|--device" "$program" --device
	bad 2 "out of range" "$program" --sms=-5
done
"$bin/advise" "--$(printf 'a\n\033[31mb')" >"$scratch/out" 2>"$scratch/err" </dev/null
[ $? -eq 2 ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] && ! grep -q "$(printf '\033')" "$scratch/err"
result $? "a user's control characters: one line, and none of them on a terminal"

# ---- sizes and names
for size in 0 -1 1e30 99999999999999999999 nan; do
	bad 2 "'$size'\|$size" advise getrf --m "$size" --n 512 --machine nvidia-h200
	bad 2 "'$size'\|--n COLUMNS" trace getrf --n "$size" --machine nvidia-h200
done
bad 2 'm = 100, nb = 2000' advise panel --m 100 --nb 2000 --machine nvidia-h200
bad 2 'what advice' advise
bad 2 'what advice' advise nothing
bad 2 "'nothing'" trace nothing --n 512 --machine nvidia-h200
bad 2 "gpu.nothing" advise panel --m 512 --nb 32 --machine nvidia-h200 --set gpu.nothing=1
bad 2 "'nan'" advise panel --m 512 --nb 32 --machine nvidia-h200 --set gpu.launch.enqueue=nan
bad 2 "zzz" list parameters 'zzz*' --machine nvidia-h200
bad 2 "'nothing'\|machines, probes" list nothing
bad 2 "nothing" probe nothing
bad 2 "--seconds" host_parallel --seconds 1e300
bad 2 "--processes" host_parallel --processes 100000000
bad 2 "--budget" measure --budget nan
bad 2 "magic" measure --bench --only magic
bad 2 "--update" validate --update
bad 2 'folders' compare
for program in 'advise panel --m 512 --nb 32' 'trace getrf --n 512' 'list parameters' rules report; do
	# shellcheck disable=SC2086 # words
	bad 2 "no recorded machine 'nowhere'" $program --machine nowhere
	# shellcheck disable=SC2086 # words
	[ "${program%% *}" = report ] || bad 2 'both name' $program --machine nvidia-h200 --output "$scratch"
done

# ---- folders: missing, not writable, not a folder
readers='predict|measure|validate --recorded|fit|advise panel --m 512 --nb 32|trace getrf --n 512|list parameters|rules'
each() { # STATUS WORDS FOLDER: every reader
	echo "$readers" | tr '|' '\n' >"$scratch/readers"
	while read -r program; do
		# shellcheck disable=SC2086 # words
		bad "$1" "$2" $program --output "$3"
	done <"$scratch/readers"
}
each 1 "$scratch/missing" "$scratch/missing"
bad 1 "$scratch/missing" validate --output "$scratch/missing"
bad 1 "$scratch/missing" compare "$scratch/missing" "$recorded"
touch "$scratch/file"
for folder in "$scratch/file/below" /proc/none; do # nobody can make these, root neither
	bad 1 "create the folder $folder" machine --output "$folder"
	bad 1 "create the folder $folder" host_parallel --quick --seconds 0.01 --output "$folder"
	bad 1 "folder $folder" report --machine nvidia-h200 --output "$folder"
done
mkdir "$scratch/locked"
cp "$recorded/profile.tsv" "$scratch/locked"
if chmod 555 "$scratch/locked" && ! touch "$scratch/locked/x" 2>/dev/null; then
	bad 1 'Permission denied' host_parallel --quick --seconds 0.01 --output "$scratch/locked"
	bad 1 'Permission denied' machine --output "$scratch/locked"
	bad 1 "$scratch/locked" report --output "$scratch/locked"
else # root: a folder that is not even root's
	bad 1 '/sys/' machine --output /sys/kernel
	bad 1 '/sys/' host_parallel --quick --seconds 0.01 --output /sys/kernel
fi

# ---- broken files: where, and what
damaged() { # NAME WORDS: a profile, $scratch/made
	mkdir "$scratch/$1"
	cp "$recorded/machine.tsv" "$recorded/launch.tsv" "$scratch/$1"
	mv "$scratch/made" "$scratch/$1/profile.tsv"
	for program in 'predict --quick' 'validate --recorded' 'advise panel --m 512 --nb 32' 'trace getrf --n 512' 'list parameters' rules report; do
		# shellcheck disable=SC2086 # words
		bad 1 "$2" $program --output "$scratch/$1"
	done
	bad 1 "$2" compare "$scratch/$1" "$recorded"
}
tab=$(printf '\t')
: >"$scratch/made"
damaged empty 'profile.tsv:0: the file is empty'
printf '\001\002\177ELF\n' >"$scratch/made"
damaged binary 'profile.tsv:1: a control character'
grep -v '^parameter' "$recorded/profile.tsv" >"$scratch/made"
damaged headless 'profile.tsv.*no column parameter'
sed "40s/${tab}[^$tab]*\$//" "$recorded/profile.tsv" >"$scratch/made"
damaged short 'profile.tsv:40: fewer cells'
sed "40s/^\([^$tab]*$tab\)[^$tab]*/\1nan/" "$recorded/profile.tsv" >"$scratch/made"
damaged notnumber 'profile.tsv:40: .*not a number'
head -c 50000 "$recorded/profile.tsv" >"$scratch/made"
damaged cut 'profile.tsv:[0-9]*: .*truncated'
mkdir "$scratch/curve"
sed '30s/[0-9]/x/g' "$recorded/host_parallel.tsv" | head -c 3000 >"$scratch/curve/host_parallel.tsv"
bad 1 'host_parallel.tsv:[0-9]*:' fit --output "$scratch/curve"
mkdir "$scratch/chain"
cp "$recorded/profile.tsv" "$scratch/chain"
sed '$ s/	[^	]*$//' "$recorded/predictions.tsv" >"$scratch/chain/predictions.tsv"
bad 1 'predictions.tsv:[0-9]*: fewer cells' measure --output "$scratch/chain"
bad 1 'predictions.tsv:[0-9]*: fewer cells' validate --recorded --output "$scratch/chain"
echo "1..$number"
