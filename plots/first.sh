# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2317 # sourced by report.sh, which calls sections by name
# The report's first screen, as markup.

title() {
	if [ -n "$gpu" ] && [ "$gpu" != "$own" ]; then
		line H1 '' "fathom report: this CPU, $(name_of "$own"); GPU answers from the recorded $(name_of "$gpu")"
	else
		line H1 '' "fathom report: $(name_of "$own")${MACHINE:+ (recorded machine $MACHINE, chosen by MACHINE)}"
	fi
	[ -z "$reason" ] || line NOTE "Data of $own: $reason."
	if [ -z "$gpu" ]; then
		line NOTE 'No GPU was measured and there is no recorded machine: questions on the GPU have no answer.'
	elif [ "$gpu" != "$own" ]; then
		line NOTE "No GPU was measured in $own: the recorded machine $gpu answers questions on the GPU, with the times of its own host."
	fi
}
# The numbers that first.awk reads, of the other recorded machines: whole ones, not parts of a GPU.
others_of() { # folder
	for file in "$data"/*/profile.tsv; do
		other=$(dirname "$file")
		if [ "$other" = "$1" ] || [ "$other" = "$output" ] || meta "$other" gpu | grep -q ' of [0-9]* SMs'; then
			continue
		fi
		mkdir -p "$work/others/$(basename "$other")"
		grep -E '^(#|parameter|gpu\.(launch\.dependent|barrier\.counter|dram\.copy|shared\.read|sm\.count|clock\.sm|gemm\.[sd]\.peak|w?g?mma\.bf16\.rate)|link\.h2d\.pinned\.beta|host\.(parallel|exchange\.latency|l[23]\.latency|memory\.copy\.peak|gemm\.[sd]\[))' \
			"$file" >"$work/others/$(basename "$other")/profile.tsv"
		echo "$work/others/$(basename "$other")"
	done
}
machine() { # folder, more options
	described=$1
	shift
	markup "$described" machine -v folder="$described" -v host="$(uname -n)" -v driver="$driver" -v now="$(date +%s)" \
		-v id="$(kind_of "$described")-facts" "$@"
}
# What a machine is, what to do on it, how far to trust it.
column() { # folder, gpu or host, its lean folder
	kind=$(kind_of "$1")
	line DIV 'part machine'
	line H2 "$kind-machine" "$(if [ "$kind" != own ]; then echo "The recorded $(name_of "$1")"; elif [ -n "$gpu" ] && [ "$gpu" != "$own" ]; then echo 'This machine'; else echo 'The machine'; fi)"
	machine "$1" -v card=yes
	line ENDDIV
	line DIV 'part numbers'
	line H2 "$kind-numbers" 'Numbers that matter'
	markup "$3" first -v part=numbers -v kind="$2" -v others="$(others_of "$1")"
	line P 'A bar ends at what this machine reaches of the limit; marks are the recorded machines, an arrow one beyond the limit.'
	line ENDDIV
	line DIV 'part do'
	line H2 "$kind-do" "What to do on $([ "$kind" = own ] && echo this || echo the recorded) machine"
	markup "$3" first -v part=rules -v rules="$work/rules.$2.tsv" -v most=10
	line LI "All $(grep -c '^LI' "$work/rules.$2") rules" '#rules' 'with the parameters behind them'
	line ENDDIV
	line DIV 'part trust'
	line H2 "$kind-trust" 'How far to trust it'
	markup "$1" first -v part=trust
	chain_of "$1"
	line ENDDIV
}
first() {
	title
	if [ -n "$gpu" ] && [ "$gpu" != "$own" ]; then
		line DIV two
		line DIV column
		column "$own" host "$lean_own"
		line ENDDIV
		line DIV column
		column "$gpu" gpu "$lean_gpu"
	else
		line DIV one
		line DIV column
		column "$own" "$([ -n "$gpu" ] && echo gpu || echo host)" "$lean_own"
	fi
	line ENDDIV
	line ENDDIV
}
# Whether predictions and measurements belong to the profile that is here.
chain_of() { # folder
	made=$(sed -n 's/^# profile_sha256: //p' "$1/predictions.tsv" 2>/dev/null | head -n 1)
	here=$(sha256sum "$1/profile.tsv" 2>/dev/null | cut -d' ' -f1)
	[ -z "$made" ] || [ "$made" = "$here" ] ||
		line NOTE "Stale: the predictions in $1 were made from another profile than the one here: run fathom validate."
}
