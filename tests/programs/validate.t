#!/bin/sh
# SPDX-License-Identifier: MIT
# predict, measure and validate on the host of this machine with a made-up profile: the chain of files holds,
# and a broken one is refused.

. "$(dirname "$0")/../tap.sh"
export CUDA_VISIBLE_DEVICES=
needs predict measure validate
make_scratch
. "$(dirname "$0")/../fixture.sh"
data=$scratch/data
mkdir "$data"

expect 1 'profile.tsv' "predict without a profile" "$bin/predict" --output "$data"
fixture_profile host | grep -v '^host' >"$data/profile.tsv"
expect 1 'no usable' "predict with a profile of nothing" "$bin/predict" --output "$data"
fixture_profile host >"$data/profile.tsv"
expect 1 'predict first' "measure before predict" "$bin/measure" --output "$data"
expect 1 'predictions.tsv' "validate before predict" "$bin/validate" --recorded --output "$data"

expect 0 '^host: [0-9]* predictions, 0 cases not predicted' "predict the host's cases" \
	"$bin/predict" --quick --output "$data"
! grep -q '	cuda	' "$data/predictions.tsv"
result $? "no prediction for a GPU that the profile does not hold"
# A few cases suffice below: one panel of each variant, one Gram-Schmidt factorization.
awk '/^#/ || /^operation/ || /^panel_getrf.*\t750\t/ || (/^gramschmidt\tblocked/ && n++ < 3)' "$data/predictions.tsv" >"$scratch/few"
mv "$scratch/few" "$data/predictions.tsv"
expect 1 'measurements.tsv' "validate before measure" "$bin/validate" --recorded --output "$data"
expect 0 ' 0 failed' "measure them" "$bin/measure" --quick --output "$data"
rows() { # file
	grep -v "^#" "$1" | sort
}
before=$(rows "$data/measurements.tsv" | cut -f 1-16)
cp "$data/measurements.tsv" "$scratch/measured"
expect 0 ' 0 failed' "measure once more" "$bin/measure" --quick --output "$data"
cmp -s "$data/measurements.tsv" "$scratch/measured"
result $? "what is there is kept"
expect 0 ' 0 failed' "measure --again" "$bin/measure" --quick --again --output "$data"
[ "$before" != "$(rows "$data/measurements.tsv" | cut -f 1-16)" ]
result $? "--again measures it anew"
sed -i 's/^# predictions_sha256: ./&0/' "$data/measurements.tsv"
expect 0 'starting afresh: .*predictions' "measurements of other predictions are not gone on with" \
	"$bin/measure" --quick --output "$data"
expect 0 'panel_getrf/blas/s' "validate: families are printed" "$bin/validate" --recorded --output "$data"
expect 0 '^gramschmidt	blocked	s	' "validate: Gram-Schmidt on the host is among the cases" cat "$data/errors.tsv"
expect 0 '"rows": \[' "validate --json" "$bin/validate" --recorded --json --output "$data"
shared() {
	cp "$data/measurements.tsv" "$scratch/measurements.tsv"
	sed "s/^# shared_cores: .*/# shared_cores: $1/" "$scratch/measurements.tsv" >"$data/measurements.tsv"
	"$bin/validate" --recorded --output "$data" | grep -c "that others used while measuring.*$2"
	mv "$scratch/measurements.tsv" "$data/measurements.tsv"
}
[ "$(shared '3 (0.61)' ': 3 (0.61)')" -eq 1 ] && [ "$(shared none '')" -eq 0 ]
result $? "validate names cores that others used, where some did"
rows=$(grep -c -v '^#' "$data/predictions.tsv")
[ "$(grep -c -v '^#' "$data/errors.tsv")" -eq "$rows" ]
result $? "errors.tsv has a row for every prediction"
expect 0 "$(grep '^# profile_machine: ' "$data/predictions.tsv")" "it says which machine it is of, as it may be made on another" \
	cat "$data/errors.tsv"

expect 1 'predict --update first' "measure --update before predict --update" "$bin/measure" --update --output "$data"
expect 0 'update_predictions.tsv: [0-9]* predictions' "predict --update" \
	"$bin/predict" --update --quick --output "$data"
expect 1 'update.tsv' "validate --update before measure --update" "$bin/validate" --recorded --update --output "$data"

cp -r "$data" "$scratch/later"
"$bin/predict" --quick --output "$scratch/later" --set host.blas.level1=1us >/dev/null
expect 1 'measurements.tsv is made from another predictions.tsv' "predictions newer than the measurements" \
	"$bin/validate" --recorded --output "$scratch/later"
cp -r "$data" "$scratch/changed"
sed -i 's/made up/made over/' "$scratch/changed/profile.tsv"
expect 1 'predictions.tsv is made from another profile.tsv' "a profile newer than the predictions" \
	"$bin/validate" --recorded --output "$scratch/changed"
cp -r "$data" "$scratch/unsigned"
sed -i '/predictions_sha256/d' "$scratch/unsigned/measurements.tsv"
expect 1 'does not say by checksum' "measurements without a checksum" "$bin/validate" --recorded --output "$scratch/unsigned"
cp -r "$data" "$scratch/broken"
sed -i '$ s/	[^	]*$//' "$scratch/broken/predictions.tsv"
expect 1 'predictions.tsv' "a broken predictions file" "$bin/measure" --output "$scratch/broken"
# ---- seeds
seeds=$scratch/seeds
cp -r "$data" "$seeds"
drawn() { # seed: a few of its cases, predicted, measured and validated; its fixed cases are left out
	"$bin/predict" --quick --seed "$1" --output "$seeds" >/dev/null &&
		awk '/^#/ || /^operation/ || (/^panel_getrf/ && /seed=/ && ++n <= 6)' "$seeds/predictions.tsv" >"$scratch/few" &&
		mv "$scratch/few" "$seeds/predictions.tsv" && "$bin/measure" --quick --output "$seeds" >/dev/null 2>&1 &&
		"$bin/validate" --recorded --output "$seeds"
}
shapes() { # of predictions, without the seed
	grep "seed=" "$seeds/predictions.tsv" | sed 's/seed=[0-9]*//' | cut -f 1-6,10 | sort | cksum
}
judged() { # rows of drawn shapes with the full model in errors.tsv, by seed
	awk -F '\t' '!/^#/ && $11 == "drawn" && $13 == 2' "$seeds/errors.tsv" | grep -o 'seed=[0-9]*' | sort | uniq -c | tr -s ' \n' ' '
}
"$bin/predict" --quick --seed 5 --output "$seeds" >/dev/null
first=$(shapes)
"$bin/predict" --quick --seed 5 --output "$seeds" >/dev/null
[ "$first" = "$(shapes)" ]
result $? "a seed repeats its shapes"
"$bin/predict" --quick --output "$seeds" >/dev/null
[ "$first" != "$(shapes)" ]
result $? "without --seed they are new"
expect 0 '^# seed: [0-9]' "the seed is in the metadata" cat "$seeds/predictions.tsv"
expect 0 'drawn shapes: [01] seed' "a seed is judged" drawn 5
expect 0 . "and another one" drawn 6
[ "$(judged)" = " 2 seed=5 2 seed=6 " ]
result $? "errors of both count together: $(judged)"
expect 0 . "the same seed again" drawn 6
[ "$(judged)" = " 2 seed=5 2 seed=6 " ]
result $? "counts once: $(judged)"
[ "$(grep -c '^[56]	' "$seeds/seeds.tsv")" -eq 2 ]
result $? "seeds.tsv has a row for each"
sed -i 's/^\([56]	.*\)	[^	]*	[^	]*$/\1	2	panel_getrf=0.1/' "$seeds/seeds.tsv" # as if their cases were undisturbed
sed -i 's/made up/made new/' "$seeds/profile.tsv"
expect 0 'Seed 5 was judged before' "a seed that another profile was judged by judges nothing" drawn 5
[ "$(judged)" = "" ]
result $? "and errors of the other profile are gone: $(judged)"

# ---- measurements of earlier seeds, by stand-ins of the programs
mkdir "$scratch/stand" "$scratch/kept"
cat >"$scratch/stand/predict" <<'P'
#!/bin/sh
# --quick --seed SEED --output FOLDER
printf '# seed: %s\n# profile_sha256: %s\n' "$3" "$(sha256sum "$5/profile.tsv" | cut -d ' ' -f 1)" >"$5/predictions.tsv"
P
cat >"$scratch/stand/measure" <<'M'
#!/bin/sh
# --device ID --output FOLDER --budget SECONDS
printf '# predictions_sha256: %s\n' "$(sha256sum "$4/predictions.tsv" | cut -d ' ' -f 1)" >"$4/measurements.tsv"
M
printf '#!/bin/sh\n' | tee "$scratch/stand/validate" >"$scratch/stand/machine"
chmod +x "$scratch"/stand/*
echo one >"$scratch/kept/profile.tsv"
by_seed() { # SEED: names of the measurements after it
	sh "$root/scripts/validate.sh" "$scratch/stand" "$scratch/kept" 0 "$1" given quick '' >/dev/null &&
		(cd "$scratch/kept" && echo measurements*)
}
expect 0 '^measurements.tsv$' 'the first seed' by_seed 1
expect 0 '^measurements-1.tsv measurements.tsv$' 'measurements of an earlier seed stay' by_seed 2
expect 0 '^measurements-1.tsv measurements-2.tsv measurements.tsv$' 'of all earlier ones' by_seed 3
echo two >"$scratch/kept/profile.tsv"
expect 0 '^measurements.tsv$' 'with another profile they go' by_seed 4

# ---- factors of intervals
tree=$(dirname "$0")/../..
seed=$(sed -n -e '/^#/!q' -e 's/^# seed: //p' "$recorded/predictions.tsv")
if grep -q "\"$(basename "$recorded")\", $seed}" "$tree/factor/model/predictions/interval_table.c"; then
	cp -r "$recorded" "$scratch/known"
	expect 0 "Intervals were calibrated on seeds* .*$seed.*: .* judges nothing" "a seed of theirs judges no intervals" \
		"$bin/validate" --recorded --output "$scratch/known"
	expect 0 'Verdict, drawn shapes: [1-9] seed' "its times count" "$bin/validate" --recorded --output "$scratch/known"
fi
expect 0 '^library: [1-9][0-9]* cases' "factors from a folder" "$bin/validate" --intervals "$scratch/table.c" "$data"
expect 0 'INTERVAL_LIBRARY\] = {[0-9.]*, 1, 1, [1-9]' "as C source" cat "$scratch/table.c"
expect 2 'folders' "not from none" "$bin/validate" --intervals "$scratch/table.c"

mkdir "$scratch/bench"
expect 0 'potrf  s     256' "measure --bench: the small whole factorizations" \
	"$bin/measure" --bench --quick --smallest 256 --largest 256 --output "$scratch/bench"
expect 0 'potrf	hybrid	d	fp64	256	256	.*uplo=u	host' "and Cholesky of the upper triangle" cat "$scratch/bench/bench.tsv"
before=$(rows "$scratch/bench/bench.tsv")
breakdown() { "$bin/measure" --bench --only breakdown --quick --largest 512 --output "$scratch/bench"; }
expect 0 'fathom probe writes it' "a breakdown without a profile" breakdown
fixture_profile host >"$scratch/bench/profile.tsv"
expect 0 '^getrf  s  *512 host  *nb 64 .* panel [0-9.]* %' "measure --bench --only breakdown" breakdown
expect 0 'breakdown_measured.tsv: [1-9][0-9]* rows kept' "and again" breakdown
expect 0 '^potrf	host	s	512	64	all	' "a row for the whole time" cat "$scratch/bench/breakdown_measured.tsv"
expect 0 'rows kept' "measure --bench again" \
	"$bin/measure" --bench --quick --smallest 256 --largest 256 --output "$scratch/bench"
[ "$before" = "$(rows "$scratch/bench/bench.tsv")" ]
result $? "keeps what was there"
expect 0 'error_potrf	openblas	s	fp32	256	256	.*uplo=l	host' "errors as LAWN 202 measures them" cat "$scratch/bench/bench.tsv"
expect 1 'budget of 0 s is spent: 1 shapes' "measure --paper on the host, too" "$bin/measure" --paper --quick --budget 1e-9 --output "$scratch/bench"
expect 0 'error_getrf	hybrid	s	fp32	256	256	.*with=inverse	host	leaf=64 inverse=64 .*	nan	[1-9][0-9.]*	' "and of LU with inverses" cat "$scratch/bench/bench.tsv"
expect 0 'error_getrf	lawn	s	fp32	256	256	.*without=inverse	host	leaf=64 inverse=0 .*	nan	[1-9][0-9.]*	' "and of LAWN 202's own plan" cat "$scratch/bench/bench.tsv"
grep -v '^operation\|^error_\|^stage_\|^widths_geqrf	stages' "$scratch/bench/bench.tsv" | awk -F '\t' '!/^#/ && !($18 < 30) { bad = 1 } END { exit bad }'
result $? "every row has a residual"
grep '^error_' "$scratch/bench/bench.tsv" | awk -F '\t' '!($18 > 0.1 && $18 < 1000) || $13 != "nan" { bad = 1 } END { exit bad || NR != 11 }'
result $? "ours and LAPACK's, and no times"
expect 2 'belongs to --bench' "--model-plans alone" "$bin/measure" --model-plans --output "$scratch/bench"
mkdir "$scratch/squares"
expect 0 'getrf  s     512' "measure --bench --model-plans: squares" \
	"$bin/measure" --bench --model-plans --quick --smallest 512 --largest 512 --output "$scratch/squares"
expect 0 '^potrf	hybrid	d' "in both precisions" cat "$scratch/squares/bench.tsv"
kerr() { "$bin/measure" --kerr --quick --largest 512 --budget 60 --output "$scratch/kerr"; }
mkdir "$scratch/kerr"
expect 0 '^   512    256 .*[0-9]$' "measure --kerr: the smallest of the paper's sizes" kerr
before=$(rows "$scratch/kerr/kerr.tsv" | cut -f 1-11)
expect 0 'rows kept' "measure --kerr again" kerr
[ "$before" = "$(rows "$scratch/kerr/kerr.tsv" | cut -f 1-11)" ]
result $? "keeps what was there"
rows "$scratch/kerr/kerr.tsv" | awk -F '\t' '$1 != "variant" && $2 != "gemv" && !($14 < $17 && $15 < $17 && $16 < $17) { bad = 1 } END { exit bad }'
result $? "every row has errors below the limit"
expect 2 'none of those' "measure --bench --only what is none" "$bin/measure" --bench --only magic
expect 2 'belongs to' "--only without --bench" "$bin/measure" --only gemm
expect 2 'no JSON' "measure --kerr --json, which would have no rows" "$bin/measure" --kerr --json --largest 512 --output "$scratch/kerr"
expect 2 'budget' "a budget that is no number" "$bin/measure" --budget soon
echo "1..$number"
