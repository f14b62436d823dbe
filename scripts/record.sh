#!/bin/sh
# SPDX-License-Identifier: MIT
# make record MACHINE=name: replaces data/name by a complete run from OUTPUT (`make measure-all`): of one machine and one version, the
# benchmarks and papers' tables also of other machines of its kind. It refuses, and names, what is missing or of another version.
# PARTS=yes records it so: studies that OUTPUT lacks stay as recorded before, and the report's head names those of other versions.
# CURVES=no leaves the probes' curves, studies and timelines out: the profile, the predictions, their validation and the log of seeds
# are kept. Seeds of earlier records stay in the log. Of errors.tsv the cases by the full model
# and the bounds of factorizations are kept, which figures read; validation.tsv has the errors of the other levels.
set -u
LC_ALL=C
export LC_ALL

refuse() {
	echo "record: $*" >&2
	exit "$code"
}

code=2
[ $# -eq 2 ] || refuse "usage: record.sh OUTPUT MACHINE"
output=${1%/}
machine=$2
case $machine in
'') refuse "which name? run make record MACHINE=name" ;;
local | papers) refuse "'$machine' is not a machine's name: data/$machine has another use" ;;
[!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) refuse "'$machine' is not a machine's name: use letters, digits and . _ -" ;;
esac

case ${CURVES:-yes} in
yes | no) ;;
*) refuse "CURVES is yes or no, not '$CURVES'" ;;
esac
case ${PARTS:-no} in
yes | no) ;;
*) refuse "PARTS is yes or no, not '$PARTS'" ;;
esac

code=1
[ -d "$output" ] || refuse "there is no $output: run make probe validate first"
for name in machine profile; do
	[ -s "$output/$name.tsv" ] || refuse "$output/$name.tsv is missing: run make probe first"
done
for name in probe validate; do
	[ ! -e "$output/$name.unfinished" ] || refuse "the last run of $name did not end: run make $name again"
done
validated=
for name in predictions measurements validation; do
	[ ! -s "$output/$name.tsv" ] || validated=yes
done
for name in predictions measurements validation; do
	[ -z "$validated" ] || [ -s "$output/$name.tsv" ] || refuse "$output/$name.tsv is missing: run make validate first"
done

profile=$(sha256sum "$output/profile.tsv")
profile=${profile%% *}

# The value of a key in the first lines of the file.
said() {
	sed -n -e '/^#/!q' -e "s/^# $1: //p" "$file"
}

# Whether a file is a study, measured by other machines of the kind, too.
is_study() {
	case ${1##*/} in
	bench.tsv | breakdown_measured.tsv | kerr.tsv | gram_host.tsv | update_paper.tsv | several_gpus.tsv | foreign_kernels.tsv | work.tsv) ;;
	*) return 1 ;;
	esac
}

probes=0
host=
whole=
for file in "$output"/*.tsv; do
	! grep -q '^# probe: ' "$file" || probes=$((probes + 1))
	# A prediction belongs to the machine of its profile.
	id=$(said profile_machine)
	[ -n "$id" ] || id=$(said machine)
	of=$(said profile_sha256)
	[ "${of:=$profile}" = "$profile" ] || refuse "$file is of another profile: run make validate again"
	[ -n "$id" ] || refuse "$file does not say which machine it is of: measure again"
	# An id is HOST or HOST-GPU: files of host probes have no GPU.
	[ "${id%%-*}" = "${host:=${id%%-*}}" ] || refuse "$file is of host ${id%%-*}, other files of $host: run make probe validate again"
	case $id in
	*-*) is_study "$file" || [ "$id" = "${whole:=$id}" ] || refuse "$file is of machine $id, other files of $whole: run make probe validate again" ;;
	esac
done
[ $probes -gt 0 ] || refuse "$output holds no probe's curve: run make probe first"

# What a whole run has besides, by the version of its profile. A machine without a GPU has fewer studies.
file=$output/profile.tsv
version=$(said fathom)
parts=
[ -n "$validated" ] || parts=" predictions, measurements, validation (make validate);"
for name in bench update_paper gram_host ${whole:+kerr breakdown_measured update}; do
	file=$output/$name.tsv
	if [ ! -s "$file" ]; then
		parts="$parts $name.tsv is missing;"
	elif [ "$(said fathom)" != "$version" ]; then
		parts="$parts $name.tsv is by $(said fathom);"
	elif [ "$(said quick)" = yes ]; then
		parts="$parts $name.tsv is of a quick run;"
	fi
done
[ -z "$parts" ] || [ "${PARTS:-no}${CURVES:-yes}" != noyes ] ||
	refuse "not a whole run by $version:${parts%;} (make measure-all completes it; PARTS=yes records it so)"

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
target=$root/data/$machine
fresh=$root/data/.$machine.new
old=$root/data/.$machine.old
rm -rf "$fresh" "$old"
cleanup() { # data/MACHINE is always the old run or the new one
	rm -rf "$fresh"
	if [ -e "$old" ] && [ ! -e "$target" ]; then
		mv "$old" "$target"
	fi
	rm -rf "$old"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$fresh" || refuse "cannot write $fresh"
for file in "$output"/*.tsv; do
	case ${CURVES:-yes}/${file##*/} in
	*/errors.tsv)
		awk -F '\t' '/^#/ { print; next }
			!head++ { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
			$at["level"] == 2 || ($at["level"] == 0 && $at["operation"] ~ /^(getrf|geqrf|potrf)$/)' \
			"$file" >"$fresh/errors.tsv" || refuse "cannot write $fresh"
		;;
	yes/* | no/machine.tsv | no/profile.tsv | no/predictions.tsv | no/measurements.tsv | no/validation.tsv | no/seeds.tsv)
		cp "$file" "$fresh" || refuse "cannot write $fresh"
		;;
	esac
done
# Every seed ever drawn for this machine: rows of the earlier record that the new log lacks, by seed, profile and model.
if [ -e "$target/seeds.tsv" ] && [ -e "$fresh/seeds.tsv" ]; then
	awk -F '\t' 'NR == FNR { if (!/^#/) old[++n] = $0; next }
		/^#/ { print; next }
		!head++ { print; next }
		{ new[++m] = $0; known[$1, $4, $5] }
		END {
			for (i = 2; i <= n; i++) {
				split(old[i], cell, "\t")
				if (!((cell[1], cell[4], cell[5]) in known))
					print old[i]
			}
			for (i = 1; i <= m; i++)
				print new[i]
		}' "$target/seeds.tsv" "$output/seeds.tsv" >"$fresh/seeds.tsv" || refuse "cannot write $fresh"
elif [ -e "$target/seeds.tsv" ]; then
	cp "$target/seeds.tsv" "$fresh" || refuse "cannot write $fresh"
fi
for file in "$target"/*.tsv; do
	[ "${CURVES:-yes}" = no ] || ! is_study "$file" || [ -e "$fresh/${file##*/}" ] || cp "$file" "$fresh" || refuse "cannot write $fresh"
done
if [ -e "$output/topology.xml" ]; then
	cp "$output/topology.xml" "$fresh" || refuse "cannot write $fresh"
fi
for file in "$output"/trace_*.svg; do
	[ "${CURVES:-yes}" = no ] || [ ! -e "$file" ] || cp "$file" "$fresh" || refuse "cannot write $fresh"
done
# The figure that the README shows, when `make report` has drawn it.
figure=$output/report/figures/panel_cuda.svg
if [ -e "$figure" ] && [ "${CURVES:-yes}" = yes ]; then
	cp "$figure" "$fresh/panel.svg" || refuse "cannot write $fresh"
fi
if [ -e "$target" ]; then
	mv "$target" "$old" || refuse "cannot replace $target"
fi
mv "$fresh" "$target" || refuse "cannot write $target"
[ -n "$validated" ] || nothing=", no predictions (make validate makes and tests them)"
echo "record: data/$machine holds machine ${whole:-$host}, $probes probes${nothing-}"
