#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws the figures, then writes OUTPUT/report/report.html (one file, nothing from the network) and
# report.txt, and prints the text. Every number comes from the data files.
# Usage: sh plots/report.sh OUTPUT      MACHINE=name reads data/name instead of OUTPUT
# Exit 1 when no figure could be drawn (the text is written all the same) or there is no data at all.
set -u
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=plots/sources.sh
. "$scripts/sources.sh"

mkdir -p "$report" || exit 1
figures=$report/figures
mkdir -p "$figures" || exit 1
rm -f "$figures"/*.svg
status=0
sh "$scripts/plots.sh" "$output" >/dev/null || status=1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; rm -f "$report"/*.new "$report"/figures/*.new' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

markup() { # awk arguments after the shared part
	awk -f "$scripts/common.awk" "$@"
}
drawn() {
	if [ -s "$figures/$1.svg" ]; then echo yes; else echo no; fi
}
folders() { # own, and gpu where it is another
	echo "$own"
	[ -z "$gpu" ] || [ "$gpu" = "$own" ] || echo "$gpu"
}
kind_of() {
	if [ "$1" = "$own" ]; then echo own; else echo recorded; fi
}
machine_name() { # folder: its GPU's name, else its processor's
	sed -n -e '/^#/!q' -e 's/^# gpu: //p' -e 's/^# cpu: //p' "$1/profile.tsv" 2>/dev/null | grep -v '^none$' | tail -n 1
}

title() {
	name=$(machine_name "$own")
	printf 'H1\t\tfathom report: %s\n' "${name:-a machine without a profile}"
}
# Of the factorizations, in a line each.
short_lines() {
	[ -n "$gpu" ] || return 0
	markup -v data="$gpu" -v short=yes -f "$scripts/bench.awk" -f "$scripts/vendor.awk"
	markup -v data="$gpu" -v short=yes -f "$scripts/accuracy.awk"
	markup -v data="$gpu" -v short=yes -f "$scripts/update.awk"
}
probe_sections() {
	printf 'H2\tprobes\tWhat the probes measured\n'
	taken=
	for probe in $probes; do
		taken="$taken $(about "$probe" Parameters)"
	done
	for probe in $probes; do
		folder=$(source_of "$probe")
		recorded_one=no
		[ "$folder" = "$own" ] || recorded_one=yes
		markup -v folder="$folder" -v probe="$probe" -v title="$(about "$probe" Title)" \
			-v question="$(about "$probe" Question)" -v legend="$(about "$probe" Figure)" \
			-v names="$(about "$probe" Parameters)" -v drawn="$(drawn "$probe")" -v recorded=$recorded_one \
			-v taken="$taken" -f "$scripts/parameters.awk"
	done
}
memory_section() {
	[ "$(drawn memory_system)" = yes ] || return 0
	printf 'H2\tmemory\tThe memory system\n'
	printf 'P\tThe counterpart of Figure 2 of LAPACK Working Note 202 for this machine.\n'
	[ "$(kind_of "$gpu")" = own ] || printf 'NOTE\tThe figure is of the recorded machine %s.\n' "$gpu"
	printf 'FIG\tmemory_system\tThe areas of the on-chip memories are to one scale; DRAM is not. What the probes did not'
	printf ' resolve is left out.\n'
}
panel_section() {
	printf 'H2\tpanel\tThe LU panel: rates against m\n'
	printf 'P\tThe counterpart of Figure 3 of LAPACK Working Note 202 for this machine. Rates use the operation count of'
	printf ' LAPACK Working Note 41.\n'
	for executor in cuda host; do
		folder=$own where="the host's own panels"
		[ $executor = host ] || folder=$gpu where="the GPU's panels"
		if [ -n "$folder" ] && [ "$(drawn panel_$executor)" = yes ]; then
			[ "$(kind_of "$folder")" = own ] || printf 'NOTE\tThe figure on %s is of the recorded machine %s.\n' "$where" "$folder"
			printf 'FIG\tpanel_%s\tPoints: measured. Dashed: predicted before the run from the profile alone, with its' $executor
			printf ' interval as a band.'
			[ $executor = host ] || printf ' Grey: eq. (2) of LAWN 202, calls x start-up + traffic / gpu.copy.beta, with start-up%s' \
				' gpu.launch.stream (launches) and gpu.barrier.counter over the grid (barriers).'
			printf '\n'
		fi
		[ -z "$folder" ] || markup -v data="$folder" -v executor=$executor -v table=yes -f "$scripts/panel.awk"
	done
}
factor_section() {
	[ -n "$gpu" ] || return 0
	{
		markup -v data="$gpu" -v table=yes -f "$scripts/bench.awk" -f "$scripts/vendor.awk"
		markup -v data="$gpu" -f "$scripts/bench.awk" -f "$scripts/bounds.awk"
		markup -v data="$gpu" -f "$scripts/bench.awk" -f "$scripts/travel.awk"
	} >"$work/factor"
	[ -s "$work/factor" ] || [ "$(drawn factor_s)$(drawn factor_d)" != nono ] || return 0
	printf 'H2\tfactor\tWhole factorizations: rates against n\n'
	printf 'P\tThe counterpart of Figures 7 and 8 of LAPACK Working Note 202 for this machine. Rates use the operation'
	printf ' count of LAPACK Working Note 41; of several block widths and algorithms the fastest is shown.\n'
	[ "$(kind_of "$gpu")" = own ] || printf 'NOTE\tThis is the recorded machine %s.\n' "$gpu"
	for precision in s d; do
		[ "$(drawn factor_$precision)" != yes ] ||
			printf 'FIG\tfactor_%s\tLines: make bench. Dashed and +: the plan that the model chose at held-out sizes, predicted and measured.\n' \
				$precision
	done
	[ "$(drawn vendor)" != yes ] || printf 'FIG\tvendor\tSame process, interleaved, the whole call, medians (make bench).\n'
	cat "$work/factor"
}
trace_section() {
	traced=
	for file in ${gpu:+"$gpu"/trace_*.tsv}; do
		id=$(basename "$file" .tsv)
		tables=$(markup -v file="$file" -v table="$id" -f "$scripts/trace.awk" 2>/dev/null)
		[ -n "$tables" ] || continue
		[ -n "$traced" ] || printf 'H2\ttrace\tTimelines: simulated above measured\n'
		traced=yes
		printf 'H3\t%s\t%s\n' "$id" "$(sed -n -e '/^#/!q' -e 's/^# title: simulated //p' "$file")"
		[ "$(kind_of "$gpu")" = own ] || printf 'NOTE\tThe timelines are of the recorded machine %s.\n' "$gpu"
		made=$(sed -n 's/^# profile_sha256: //p' "$file" | head -n 1)
		[ "$made" = "$(sha256sum "$gpu/profile.tsv" | cut -d' ' -f1)" ] ||
			printf 'NOTE\tSimulated from another profile than the one in %s: fathom trace --tsv records it again.\n' "$gpu"
		[ "$(drawn "$id")" != yes ] ||
			printf 'FIG\t%s\tEvery operation where and when it ran; what is shorter than 1/2000 of the whole %s\n' "$id" \
				'is left out of the upper part.'
		printf '%s\n' "$tables"
	done
}
kerr_section() {
	[ -n "$gpu" ] && [ -s "$gpu/kerr.tsv" ] || return 0
	printf 'H2\tkerr\tQR with the whole Q, as Kerr measured it\n'
	printf 'P\tThe counterpart of Tables 1 and 2 and Figures 2 to 6 of Kerr, Campbell and Richards (2009) for this machine.'
	printf ' Rates use the operations of their Table 1, which ours does not all need.\n'
	[ "$(kind_of "$gpu")" = own ] || printf 'NOTE\tThis is the recorded machine %s.\n' "$gpu"
	[ "$(drawn kerr)" != yes ] || printf 'FIG\tkerr\tDashed: predicted. The paper: the runs of its Table 2, and its best rate of gemv.\n'
	markup -v data="$gpu" -v table=yes -f "$scripts/kerr.awk"
}
update_section() {
	[ -n "$gpu" ] || return 0
	markup -v data="$gpu" -v table=yes -f "$scripts/update.awk" >"$work/update"
	[ -s "$work/update" ] || return 0
	printf 'H2\tupdate\tUpdate or refactor?\n'
	printf 'P\tA QR factorization is there, and rows or columns of A come or go: change it, or begin again? The counterpart of'
	printf ' Figures 6 to 14 of Andrew and Dingle (2014) for this machine in single precision, all to the least-squares solution. Resident, or'
	printf ' from the host as they count time: Q where it is kept, R, Q^T b and what is added, or the changed matrix, are copied to the GPU first.\n'
	[ "$(kind_of "$gpu")" = own ] || printf 'NOTE\tThis is the recorded machine %s.\n' "$gpu"
	[ "$(drawn update)" != yes ] ||
		printf 'FIG\tupdate\tTimes as fast as beginning again: with ours, which makes as much of Q as is kept (colour, first number), %s\n' \
			'and as cuSOLVER'"'"'s geqrf, ormqr and trsm, which make none of it (second number). Orange: it does not pay. Black line: where the model, ahead of the runs, sees both alike.'
	cat "$work/update"
	markup -v data="$gpu" -f "$scripts/update_paper.awk" >"$work/update_paper"
	[ -s "$work/update_paper" ] || return 0
	printf 'H3\tupdate-paper\tAs Andrew and Dingle make them\n'
	printf 'P\tTheir Tables 1 and 2 for this machine: reflectors column by column, whose norms go by way of the host, T by gemv, Givens'
	printf ' rotations a wavefront and kernel at a time. On their Tesla M2050 blocks of 50 to 100 columns were fastest.\n'
	cat "$work/update_paper"
}
gram_section() {
	[ -n "$gpu" ] || return 0
	markup -v data="$gpu" -v papers="$home/data/papers" -v table=yes -f "$scripts/gram_schmidt.awk" >"$work/gram"
	[ -s "$work/gram" ] || return 0
	printf 'H2\tgram\tGram-Schmidt: GPU against CPU\n'
	printf 'P\tThe counterpart of Figures 6 to 10 of Brandes, Arnold, Soddemann and Reith (2012) for this machine. Rates use their'
	printf ' 2mn^2 operations, passes the bytes that have to move.\n'
	[ "$(kind_of "$gpu")" = own ] || printf 'NOTE\tThis is the recorded machine %s.\n' "$gpu"
	[ "$(drawn gram_schmidt)" != yes ] ||
		printf 'FIG\tgram_schmidt\tDashed: predicted. direct, shared and wide are the paper'"'"'s kernels; kernels and fused are passes of ours; %s\n' \
			'blocked holds columns in registers; block and twice take blocks out by products.'
	cat "$work/gram"
}
gram_host_section() {
	[ -s "$own/gram_host.tsv" ] || return 0
	printf 'H2\tgram-host\tGram-Schmidt on the host\n'
	printf 'P\tThe counterpart of Table 1 and Figures 2 and 4 of Brandes, Arnold, Soddemann and Reith (2012) for this machine.'
	printf ' Of matrices that the last cache does not hold some columns are done; rates count their operations alone.\n'
	[ "$(drawn gram_host)" != yes ] || printf 'FIG\tgram_host\tDashed: predicted before the run.\n'
	markup -v data="$own" -v papers="$home/data/papers" -v table=yes -f "$scripts/gram_host.awk"
}
lawn_section() {
	[ -n "$gpu" ] || return 0
	markup -v data="$gpu" -v papers="$home/data/papers/volkov2008.tsv" -f "$scripts/bench.awk" -f "$scripts/lawn.awk" >"$work/lawn"
	markup -v data="$gpu" -v papers="$home/data/papers/volkov2008.tsv" -v table=yes -f "$scripts/lawn_products.awk" >"$work/products"
	[ -s "$work/lawn" ] || [ -s "$work/products" ] || [ "$(drawn breakdown)" = yes ] || return 0
	printf 'H2\tlawn\tLAPACK Working Note 202 beside this machine\n'
	[ "$(kind_of "$gpu")" = own ] || printf 'NOTE\tThis is of the recorded machine %s.\n' "$gpu"
	cat "$work/lawn" "$work/products"
	[ "$(drawn small_gemm)" != yes ] ||
		printf 'FIG\tsmall_gemm\tThe counterpart of Figure 5. Two stages: the fastest of 2, 4, 8 and 16 parts of k.\n'
	[ "$(drawn thin_gemm)" != yes ] ||
		printf 'FIG\tthin_gemm\tThe counterpart of Figure 6. The host: square products alone, from the probe of its rates.\n'
	[ "$(drawn breakdown)" != yes ] ||
		printf 'FIG\tbreakdown\tThe counterpart of Figures 10 and 11. Shares are what each phase costs when every moment is owed to%s\n' \
			' one of the operations under way; hidden are panels and transfers beside other work. Slowdowns are measured.'
}
# Whether predictions and measurements belong to the profile that is here.
chain_of() { # folder
	made=$(sed -n 's/^# profile_sha256: //p' "$1/predictions.tsv" 2>/dev/null | head -n 1)
	here=$(sha256sum "$1/profile.tsv" 2>/dev/null | cut -d' ' -f1)
	if [ -n "$made" ] && [ "$made" != "$here" ]; then
		echo "Stale: the predictions in $1 were made from another profile than the one here: run make validate."
	fi
}
accuracy_sections() {
	printf 'H2\taccuracy\tModel against measurement\n'
	folders | while read -r folder; do
		[ "$(kind_of "$folder")" = own ] || printf 'H3\trecorded-accuracy\tThe recorded machine %s\n' "$folder"
		markup -v data="$folder" -v id="$(kind_of "$folder")-" -v most=20 -v chain="$(chain_of "$folder")" \
			-f "$scripts/accuracy.awk"
	done
}
rule_sections() {
	printf 'H2\trules\tDesign rules\n'
	for part in gpu host; do
		folder=$own
		[ $part = host ] || folder=$gpu
		if [ -z "$folder" ]; then
			printf 'P\tFor the GPU: not measured here.\n'
			continue
		fi
		[ "$(kind_of "$folder")" = own ] || printf 'NOTE\tThese rules are for the recorded machine %s.\n' "$folder"
		width=$(markup -v data="$folder" -v executor=cuda -f "$scripts/panel.awk")
		markup -v data="$folder" -v parts=$part -v nb="${width:-0}" -f "$scripts/rules_chip.awk" -f "$scripts/rules.awk"
		[ $part = gpu ] || continue
		for rule in bounds travel lawn_products; do
			markup -v data="$folder" -v rule=yes -f "$scripts/bench.awk" -f "$scripts/$rule.awk"
		done
	done
}
method_sections() {
	printf 'H2\tmethod\tHow it was measured\n'
	while read -r line; do
		printf 'LI\t%s\n' "$line"
	done <<-TEXT
		Every probe runs in several fresh processes; a value is the median of theirs, its interval spans them (95 %).
		Samples whose clocks disagree, or that ran throttled or on a core that others used, are discarded and counted below; points that saw another user are busy.
		Noisy: a half-width over 20 % or a busy device; bounded: only a limit is known; failed: outside what physics allows.
		Predictions come from the profile alone, before the runs; profile, predictions, measurements are chained by checksum.
		Copies count bytes read plus bytes written; transfers count payload. GB is 10^9 bytes, KiB, MiB, GiB are powers of two.
		Vendor libraries (cuSOLVER) are a reference, never an ingredient.
	TEXT
	folders | while read -r folder; do
		[ "$(kind_of "$folder")" = own ] || printf 'H3\trecorded-method\tThe recorded machine %s\n' "$folder"
		set --
		for probe in $probes; do
			[ ! -s "$folder/$probe.tsv" ] || set -- "$@" "$folder/$probe.tsv"
		done
		[ $# -eq 0 ] || markup -v id="$(kind_of "$folder")" -f "$scripts/method.awk" "$@"
	done
}
raw_sections() { # for the page alone
	printf 'H2\traw\tRaw tables\n'
	folders | while read -r folder; do
		for file in "$folder"/*.tsv; do
			case $file in
			*/trace_*) continue ;; # thousands of rows, drawn above
			esac
			printf 'RAW\traw-%s-%s\t%s\n' "$(kind_of "$folder")" "$(basename "$file")" "$file"
		done
	done
}
navigation() {
	printf 'NAV\tshort\tIn short\tmachine\tMachine\tprobes\tProbes'
	[ "$(drawn memory_system)" != yes ] || printf '\tmemory\tMemory system'
	printf '\tpanel\tPanel'
	! grep -q '^H2	factor	' "$work/markup" || printf '\tfactor\tFactorizations'
	! grep -q '^H2	trace	' "$work/markup" || printf '\ttrace\tTimelines'
	[ -z "$gpu" ] || [ ! -s "$gpu/kerr.tsv" ] || printf '\tkerr\tQR with Q'
	! grep -q '^H2	update	' "$work/markup" || printf '\tupdate\tUpdate or refactor?'
	! grep -q '^H2	gram	' "$work/markup" || printf '\tgram\tGram-Schmidt'
	! grep -q '^H2	gram-host	' "$work/markup" || printf '\tgram-host\tGram-Schmidt, host'
	! grep -q '^H2	lawn	' "$work/markup" || printf '\tlawn\tLAWN 202'
	printf '\taccuracy\tModel against measurement'
	printf '\trules\tDesign rules\tmethod\tMethod\traw\tRaw tables\n'
}

driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
{
	title
	short_lines >"$work/short"
	markup -v own="$own" -v gpu="$gpu" -v reason="$reason" -v more="$work/short" -v host="$(uname -n)" -v driver="$driver" \
		-v now="$(date +%s)" -f "$scripts/machine.awk"
	probe_sections
	memory_section
	panel_section
	factor_section
	trace_section
	kerr_section
	update_section
	gram_section
	gram_host_section
	lawn_section
	accuracy_sections
	rule_sections
	method_sections
} >"$work/markup" || exit 1

awk -f "$scripts/text.awk" "$work/markup" >"$report/report.txt.new" || exit 1
mv "$report/report.txt.new" "$report/report.txt"
{
	cat <<-HTML
		<!DOCTYPE html>
		<html lang="en">
		<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width, initial-scale=1">
		<title>fathom report</title>
		<style>
	HTML
	cat "$scripts/report.css"
	printf '</style>\n</head>\n<body>\n'
	{ sed 1q "$work/markup"; navigation; sed 1d "$work/markup"; raw_sections; } |
		awk -v figures="$figures" -f "$scripts/html.awk"
	printf '<footer>Written %s from %s.</footer>\n</body>\n</html>\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
		"$(folders | paste -s -d ' ' -)"
} >"$report/report.html.new" || exit 1
mv "$report/report.html.new" "$report/report.html"

cat "$report/report.txt"
echo
echo "$report/report.html"
exit $status
