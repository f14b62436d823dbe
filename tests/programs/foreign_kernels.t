#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernels that are not ours (tests/foreign), without a GPU: each has a description that the hardware law answers, a recorded time
# belongs to the description as it is, and the counters of a profiler are fetched, or their absence is told.
. "$(dirname "$0")/../tap.sh"
needs advise
make_scratch
foreign=$root/tests/foreign

names=$(sed -n 's/^        {"\([a-z_]*\)", ".*/\1/p' "$foreign"/*.cu)
[ "$(echo "$names" | wc -l)" -ge 10 ]
result $? "at least ten kernels"
for name in $names; do
	for machine in "$recorded" "$other_recorded"; do
		expect 0 '(as described)$' "$name: described, and answered for $(basename "$machine")" \
			"$bin/advise" kernel --file "$foreign/$name.work" --output "$machine"
	done
done
described=$(cd "$foreign" && ls -- *.work)
[ "$described" = "$(echo "$names" | sed 's/$/.work/' | LC_ALL=C sort)" ]
result $? "no description without its kernel"

for times in "$root"/data/*/foreign_kernels.tsv; do
	[ -f "$times" ] || continue
	grep -v '^#' "$times" | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["sha256"] "  " $at["kernel"] ".work" }' >"$scratch/sums"
	(cd "$foreign" && sha256sum --quiet -c "$scratch/sums" >&2)
	result $? "$(basename "$(dirname "$times")"): the times belong to these descriptions"
done

# ncu.sh with a stand-in for ncu.
standin() {
	printf '#!/bin/sh\nfor a; do [ "$before" != --log-file ] || file=$a; before=$a; done\n%s\n' "$1" >"$scratch/ncu"
	chmod +x "$scratch/ncu"
}
standin "[ \"\$1\" != --query-metrics ] || { echo 'dram__bytes_read  #'; exit; }
echo \"\$*\" >$scratch/arguments; cp $root/tests/programs/kernel_counters.csv \"\$file\""
NCU="$scratch/ncu" sh "$root/scripts/ncu.sh" "$scratch/a.csv" program argument
result $? "counters of a program"
expect 0 '^smooth_rows' "advise reads what it wrote" "$bin/advise" kernel --ncu "$scratch/a.csv" --output "$recorded"
expect 0 'launch__grid_size,.*dram__bytes_read.sum program argument' "asked for the counters that it knows" cat "$scratch/arguments"
! grep -q smsp__ "$scratch/arguments"
result $? "and for none that the device has not"
standin "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' >\"\$file\"; exit 1"
expect 77 'may not read' "no permission to read counters" env NCU="$scratch/ncu" sh "$root/scripts/ncu.sh" "$scratch/b.csv" program
standin "case \$* in --query-metrics*) exit 1 ;; *'--replay-mode application'*) cp $root/tests/programs/kernel_counters.csv \"\$file\" ;;
*) echo '==ERROR== LaunchFailed' >\"\$file\"; exit 9 ;; esac"
NCU="$scratch/ncu" sh "$root/scripts/ncu.sh" "$scratch/d.csv" program
result $? "a launch that cannot be repeated alone: the program runs again"
standin 'echo "==ERROR== something else"; exit 1'
expect 1 'something else' "another error of ncu" env NCU="$scratch/ncu" sh "$root/scripts/ncu.sh" "$scratch/c.csv" program
echo "1..$number"
