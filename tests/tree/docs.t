#!/bin/sh
# SPDX-License-Identifier: MIT
# Every command that README, docs and man pages show works on a machine without a GPU after `make probe`. Commands of fathom and of
# the shell run as they stand, in a copy of the data folder with a quick profile of this host. Commands of make name targets that
# exist (`make -n`); the build and the tests themselves run them. Examples of man pages are those of --help.
. "$(dirname "$0")/../tap.sh"
case ${FATHOM_BIN:=$root/build/bin} in /*) ;; *) FATHOM_BIN=$PWD/$FATHOM_BIN ;; esac
make_scratch
CUDA_VISIBLE_DEVICES=
FATHOM_HOME=$scratch
export FATHOM_BIN FATHOM_HOME CUDA_VISIBLE_DEVICES
unset MACHINE MAKEFLAGS MFLAGS MAKELEVEL BUILD
mkdir "$scratch/data"
ln -s "$root"/data/nvidia-* "$root/data/papers" "$scratch/data"
rm "$scratch/data/nvidia-h200" # an example writes there
cp -R "$root/data/nvidia-h200" "$scratch/data"
ln -s "$root/fathom" "$root/scripts" "$root/plots" "$root/factor" "$scratch"
cd "$scratch" || exit 1

# A quick profile of this host, and in `start` the same with a few predictions and their measurements. A busy host may disturb a
# probe or all runs of a case: three tries.
measured='host_chase host_memory host_parallel host_gram host_rate'
prepare() {
	rm -rf data/local start checked
	# shellcheck disable=SC2086 # words
	"$FATHOM_BIN/probe" --quick --processes 3 --output data/local $measured
	"$FATHOM_BIN/machine" --output data/local && "$FATHOM_BIN/fit" --output data/local && cp -R data/local start || return
	"$FATHOM_BIN/predict" --quick --output start && awk '/^#/ || /^operation/ || (/^panel_getrf.*\t750\t/ && n++ < 4)' start/predictions.tsv >few &&
		mv few start/predictions.tsv && "$FATHOM_BIN/measure" --quick --output start &&
		cp -R start checked && "$FATHOM_BIN/validate" --recorded --output checked
}
tries=1
until prepare >prepared 2>&1 || [ $((tries += 1)) -gt 3 ]; do :; done
[ $tries -le 3 ]
result $? "the profile is assembled; a few cases are predicted and measured: $(grep fathom- prepared | tail -n 1)"

# commands FILE: the lines of its code blocks that are commands, without comments and with continued lines joined
commands() {
	awk '/^```/ { inside = !inside && $0 == "```"; next } inside' "$1" | sed -e 's/  *#.*//' |
		awk '{ if (sub(/\\$/, "")) { held = held $0; next } print held $0; held = "" }' |
		grep -E '^(make|sh|awk|grep|\./fathom) '
}
for page in $(cd "$root" && ls README.md docs/*.md probes/README.md factor/README.md factor/library/README.md data/README.md); do
	commands "$root/$page" >"$scratch/commands"
	while IFS= read -r command; do
		case $command in
		make*) expect 0 '' "$page: $command" make -C "$root" -n $(echo "$command" | cut -d' ' -f2-) ;;
		'./fathom launch '*) # a probe of the GPU
			if [ -x "$FATHOM_BIN/launch" ]; then
				expect 0 '' "$page: $command" sh -c "$command"
			else
				report ok "$page: $command # SKIP built without the CUDA Toolkit"
			fi
			;;
		*kernel_code.sh*) expect 0 '' "$page: $command" ls "$root/scripts/kernel_code.sh" ;;
		*) expect 0 '' "$page: $command" sh -c "$command" ;;
		esac
	done <"$scratch/commands"
done

# ---- examples: each in the data folder as it was at the start; ended after two seconds
cp -R start data/before
PATH=$scratch:$PATH
for name in $(fathom --list-programs); do
	case " $measured " in *" $name "*) continue ;; esac
	"$FATHOM_BIN/$name" --help | sed -n '/^Examples:/,/^$/s/^  //p' >"$scratch/commands"
	[ -s "$scratch/commands" ]
	result $? "$name --help has examples"
	while IFS= read -r command; do
		case $command in
		*'| jq '*) needed=jq ;;
		'fathom probe '*) needed=$FATHOM_BIN/launch ;;
		*) needed=sh ;;
		esac
		if ! command -v "$needed" >/dev/null; then
			report ok "$command # SKIP no ${needed##*/}"
			continue
		fi
		rm -rf data/local
		cp -R start data/local
		timeout -k 9 2 sh -c "trap : TERM; $command" >"$scratch/said" 2>&1 </dev/null # no process outlives it
		status=$?
		case $status:$command in
		0:* | 77:* | 124:* | 1:'fathom compare '*) report ok "$command" ;;
		*)
			report 'not ok' "$command"
			echo "# exit status $status: $(tail -n 2 "$scratch/said")" >&2
			;;
		esac
	done <"$scratch/commands"
done
echo "1..$number"
