#!/bin/sh
# SPDX-License-Identifier: MIT
# --json of every program keeps to docs/json.schema.json: by jq, and by python3's jsonschema where it is. Its text has lines of at
# most 100 columns, numbers with units. Without a GPU.
. "$(dirname "$0")/../tap.sh"
export CUDA_VISIBLE_DEVICES=
needs advise compare fit list machine measure predict rules trace validate host_parallel
command -v jq >/dev/null || skip_all 'no jq here (make setup-develop)'
make_scratch
unset MACHINE FATHOM_DATA
. "$root/tests/fixture.sh"
schema=$root/docs/json.schema.json
python3 -c 'import jsonschema' 2>/dev/null && by_python=yes || by_python=
cat >"$scratch/check.py" <<-'PYTHON'
	import json, sys
	import jsonschema
	judge = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))
	for name in sys.argv[2:]:
	    for error in judge.iter_errors(json.load(open(name))):
	        print(name, error.message)
PYTHON

# keeps KIND PROGRAM WORD...: its output is JSON of this kind, and nothing else; one row of each shape stays in $shapes
shapes=$scratch/shapes
mkdir "$shapes"
keeps() {
	kind=$1
	shift
	if [ "$kind" != side_by_side ]; then # width.t has its text
		"$bin/$@" >"$scratch/text" 2>/dev/null </dev/null
		readable "$scratch/text"
		result $? "lines of at most 100 columns, numbers with units: $*"
	fi
	"$bin/$@" --json >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	kept=$shapes/$(echo "$*" | tr -c 'A-Za-z0-9_\n' _)
	jq --slurpfile schema "$schema" -f "$root/tests/programs/json_shapes.jq" "$scratch/out" 2>"$scratch/wrong" >"$kept"
	jq -r --arg want "$kind" --slurpfile schema "$schema" -f "$root/tests/programs/json.jq" "$kept" >>"$scratch/wrong" 2>&1
	[ -s "$kept" ] && [ ! -s "$scratch/wrong" ] && [ $status -le 1 ]
	result $? "$kind: $*"
	head -n 3 "$scratch/wrong" | sed 's/^/# /' >&2
}

machine="--machine ${recorded##*/}"
# shellcheck disable=SC2086 # two words
{
	keeps facts machine --output "$scratch/machine"
	keeps machines list
	keeps probes list probes
	keeps parameters list parameters 'gpu.tlb.*' $machine
	keeps parameters host_parallel --quick --output "$scratch/machine"
	keeps parameters fit --output "$scratch/machine"
	keeps health health "$recorded"
	keeps rules rules $machine
	keeps side_by_side compare "${other_recorded##*/}" "${recorded##*/}"
	keeps comparison compare "$recorded" "$recorded"
	keeps panel advise panel --m 8192 --nb 64 $machine
	keeps ways advise getrf --m 4096 --n 4096 $machine
	keeps ways advise gemm --m 4096 --n 4096 --k 64 $machine
	keeps what_if advise machine --scale 'gpu.dram.*=2' $machine
	keeps update advise update --m 4096 --n 512 --p 16 $machine
	keeps kernel advise kernel --blocks 132 --threads 256 --launches 10 --l2 1MB $machine
	keeps efficiency advise efficiency 'gpu.trsm*' $machine
	keeps timeline trace getrf --n 512 --simulate $machine
	keeps timeline trace getrf --n 1024 --gpus 2 $machine
	keeps several predict getrf --n 4096 --gpus 4 --hosts 2 $machine
}
data=$scratch/data
mkdir "$data"
fixture_profile host >"$data/profile.tsv"
keeps results predict --quick --output "$data"
awk '/^#/ || /^operation/ || (/^panel_getrf.*\t750\t/ && n++ < 4)' "$data/predictions.tsv" >"$scratch/few"
mv "$scratch/few" "$data/predictions.tsv"
keeps results measure --quick --output "$data"
keeps validation validate --recorded --output "$data"
keeps results predict --update --quick --output "$data"
recorded=$root/data/nvidia-h100 # whose changes were predicted from its profile
cp "$recorded/"*profile.tsv "$recorded/update"*.tsv "$data"
if [ -s "$data/update_predictions.tsv" ]; then
	cp "$recorded/profile.tsv" "$data"
	keeps choices validate --recorded --update --output "$data"
fi

if [ "$by_python" ]; then
	python3 "$scratch/check.py" "$schema" "$shapes"/* >"$scratch/wrong" 2>&1 && [ ! -s "$scratch/wrong" ]
	result $? 'all of them by jsonschema'
	head -n 3 "$scratch/wrong" | sed 's/^/# /' >&2
fi

# ---- the check can fail
"$bin/list" --json >"$scratch/good"
wrong() { # jq's change of good JSON, what is then said
	jq "$1" "$scratch/good" | jq -r --arg want machines --slurpfile schema "$schema" -f "$root/tests/programs/json.jq" >"$scratch/wrong"
	grep -q "$2" "$scratch/wrong"
	result $? "found: $2"
}
wrong '.rows[0].speed = 3' 'row 0: speed is not in the schema'
wrong 'del(.rows[0].machine)' 'row 0: machine is missing'
wrong '.rows[0].parameters = "many"' 'row 0: parameters is "many"'
wrong '.meta.kind = "rules"' 'kind rules, not machines'
wrong '.extra = 1' 'top: extra is not in the schema'
wrong '.rows = []' 'no row'
jq '.rows += [.rows[0] + {parameters: 0.5}, .rows[0] + {parameters: 7}]' "$scratch/good" |
	jq --slurpfile schema "$schema" -f "$root/tests/programs/json_shapes.jq" >"$scratch/bad"
[ "$(jq '.rows | length' "$scratch/bad")" -gt "$(jq --slurpfile schema "$schema" -f "$root/tests/programs/json_shapes.jq" "$scratch/good" | jq '.rows | length')" ]
result $? 'a row of another shape stays beside its like'

# ---- docs/json.md names every kind of the schema
jq -r '."$defs" | keys[] | select(. != "number" and . != "count" and . != "text")' "$schema" >"$scratch/kinds"
while read -r name; do
	grep -q "| \`$name\` |" "$root/docs/json.md"
	result $? "docs/json.md has $name"
done <"$scratch/kinds"
echo "1..$number"
