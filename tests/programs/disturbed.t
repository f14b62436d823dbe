#!/bin/sh
# SPDX-License-Identifier: MIT
# A case is disturbed when the probe's time of a kernel that it rests on no longer holds, as far as that explains its error,
# and only then. Stand-in profiles and measurements: a made-up machine is as its profile says, and a second profile, whose
# probe was disturbed, has host times 1.5 times as long.

. "$(dirname "$0")/../tap.sh"
export CUDA_VISIBLE_DEVICES=
needs predict measure validate
make_scratch
. "$(dirname "$0")/../fixture.sh"
true=$scratch/true slow=$scratch/slow wrong=$scratch/wrong
mkdir "$true" "$slow" "$wrong"

# Some panels; what is predicted for the made-up machine is the time that they take there.
few() { # folder, options of predict
	folder=$1
	shift
	"$bin/predict" --quick --seed 5 --output "$folder" "$@" >/dev/null &&
		awk '/^#/ || /^operation/ || (/^panel_getrf/ && !/phase=/ && !/level=/)' "$folder/predictions.tsv" >"$scratch/few" &&
		mv "$scratch/few" "$folder/predictions.tsv"
}
fixture_profile host >"$true/profile.tsv"
cp "$true/profile.tsv" "$wrong/profile.tsv"
awk -F '\t' -v OFS='\t' '/^host\.(getrf|ger|iamax|scal|swap)\./ { $2 *= 1.5; $4 *= 1.5; $5 *= 1.5 } 1' "$true/profile.tsv" >"$slow/profile.tsv"
few "$true" && few "$slow" && few "$wrong" --scale 'host.getrf.*=1.5' --scale 'host.ger.*=1.5'
result $? "predictions"

# The references of real runs, with the times that the made-up machine takes.
expect 0 ' 0 failed' "measure" "$bin/measure" --quick --budget 20 --output "$true"
expect 0 '^reference	host.getrf.s	s	fp32	750	48	.*of=panel_getrf,row=[0-9]*x[0-9]*	host	' \
	"the kernel of LAPACK's panels is measured beside them" cat "$true/measurements.tsv"
expect 0 '^reference	host.ger.d	d	' "and that of panels by calls" cat "$true/measurements.tsv"
shapes=$(awk -F '\t' '!/^#/ && $1 == "reference" { print $2, $5, $6, $10 }' "$true/measurements.tsv" | sort | uniq -c | awk '$1 > 1' | wc -l)
[ "$shapes" -eq 0 ]
result $? "once for each shape"

# as FOLDER REFERENCES: its measurements as the made-up machine takes them, references times a factor
as() {
	sum=$(sha256sum <"$1/predictions.tsv" | cut -d ' ' -f 1)
	awk -F '\t' -v OFS='\t' -v factor="$2" -v sum="$sum" '
	FILENAME ~ /profile/ { time[$1] = $2; next }
	FILENAME ~ /predictions/ { if (!/^#/) taken[$1, $2, $3, $5, $6, $10] = $13; next }
	/^# predictions_sha256/ { print "# predictions_sha256: " sum; next }
	/^#/ || $1 == "operation" { print; next }
	{
		seconds = taken[$1, $2, $3, $5, $6, $10]
		if ($1 == "reference") {
			match($10, /row=[0-9]+x[0-9]+/)
			split(substr($10, RSTART + 4, RLENGTH - 4), size, "x")
			seconds = factor * time[$2 "[m=" size[1] ",n=" size[2] "]"]
		}
		$13 = seconds; $14 = 0.99 * seconds; $15 = 1.01 * seconds; $21 = "nan"
		print
	}' "$true/profile.tsv" "$true/predictions.tsv" "$scratch/measured" >"$1/measurements.tsv"
	"$bin/validate" --recorded --output "$1" >"$scratch/validated"
}
cp "$true/measurements.tsv" "$scratch/measured"
verdicts() { # folder: "12 DISTURBED"
	awk -F '\t' '!/^#/ && $1 == "panel_getrf" && $13 == 2 { print $28 }' "$1/errors.tsv" | sort | uniq -c | tr -s ' \n' ' '
}
as "$true" 1
case $(verdicts "$true") in *DISTURBED* | *OVER*) false ;; *OK*) true ;; *) false ;; esac
result $? "none is disturbed on the machine of the profile: $(verdicts "$true")"
cases=$(grep -c '^panel_getrf' "$true/measurements.tsv")
as "$slow" 1
[ "$(verdicts "$slow")" = " $cases DISTURBED " ]
result $? "all are, of a profile that was: $(verdicts "$slow")"
expect 0 '\+50[.0-9]* *disturbed:' "with their errors" cat "$scratch/validated"
expect 0 "host[.]getrf[.]s\[.*took 0.67 times the probe's" "and how" sh -c 'tr -s " \n" " " <"$1"' how "$scratch/validated"
expect 0 "^Disturbed cases, left out of errors, intervals and choices: $cases" "counted" cat "$scratch/validated"
expect 0 'drawn shapes: 0 seeds, 0 cases' "and no verdict" cat "$scratch/validated"
as "$slow" 1.5
case $(verdicts "$slow") in *DISTURBED*) false ;; *OVER*) true ;; *) false ;; esac
result $? "none is where the references agree: $(verdicts "$slow")"
as "$slow" 3
case $(verdicts "$slow") in *DISTURBED*) false ;; *OVER*) true ;; *) false ;; esac
result $? "nor where they are slower, and the cases quicker: $(verdicts "$slow")"
as "$slow" 1.3
case $(verdicts "$slow") in *DISTURBED*) false ;; *OVER*) true ;; *) false ;; esac
result $? "nor where they explain a part of the error: $(verdicts "$slow")"
as "$wrong" 1
case $(verdicts "$wrong") in *DISTURBED*) false ;; *OVER*) true ;; *) false ;; esac
result $? "nor where the model is wrong: $(verdicts "$wrong")"

# Another seed: the disturbed cases of the one before stay apart.
as "$slow" 1
before=$(verdicts "$slow")
few "$slow" --seed 6
sum=$(sha256sum <"$slow/predictions.tsv" | cut -d ' ' -f 1)
sed -i "s/^# predictions_sha256: .*/# predictions_sha256: $sum/" "$slow/measurements.tsv"
"$bin/validate" --recorded --output "$slow" >/dev/null
drawn=$(awk -F '\t' '!/^#/ && $9 ~ /seed=5/ && $13 == 2 { print $28 }' "$slow/errors.tsv" | sort | uniq -c | tr -s ' \n' ' ')
case $drawn in *" DISTURBED ") true ;; *) false ;; esac && [ "${drawn% DISTURBED *}" != "$drawn" ]
result $? "they stay so while another seed is judged:$drawn(before:$before)"
echo "1..$number"
