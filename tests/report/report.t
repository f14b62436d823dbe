#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures and the report, on a small made-up machine: what they say, where the numbers come from, and
# what happens where data, a GPU or gnuplot is missing.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
LC_ALL=C
export LC_ALL
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset MACHINE
FATHOM_HOME=$scratch
export FATHOM_HOME
. "$root/tests/fixture.sh"
plots=$root/plots
number=0

result() { # status, what
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		[ -z "${3-}" ] || echo "# $3" >&2
	fi
}
# expect STATUS PATTERN WHAT COMMAND...: exit status, and a line of its output that matches
expect() {
	want=$1 pattern=$2 what=$3
	shift 3
	"$@" >"$scratch/out" 2>&1 </dev/null
	status=$?
	[ "$status" -eq "$want" ] && grep -q -e "$pattern" "$scratch/out"
	result $? "$what" "exit status $status, want $want; want '$pattern' in: $(tail -n 3 "$scratch/out" | tr '\n' ' ')"
}
says() { # FILE PATTERN WHAT
	grep -q -e "$2" "$1"
	result $? "$3" "no line of $1 matches '$2'"
}
never() {
	! grep -q -e "$2" "$1"
	result $? "$3" "a line of $1 matches '$2': $(grep -m 1 -e "$2" "$1" | cut -c 1-100)"
}
drawing() { # a test that needs gnuplot
	if command -v gnuplot >/dev/null; then
		"$@"
	else
		number=$((number + 1))
		echo "ok $number - figures # SKIP no gnuplot here"
		[ "$1" = says ] || { shift 4 && "$@" >"$scratch/out" 2>&1 </dev/null; } # the text is there all the same
	fi
}

# ---- awk: mawk reads more than others do

cat "$plots"/*.awk >"$scratch/programs"
never "$scratch/programs" '\[=' 'no [= in brackets, which begins a class of characters elsewhere'
never "$scratch/programs" '^[[:space:]]*[a-z_]*\[[^]]*\]$' 'no reference as a statement, which makes no element elsewhere'

# ---- a made-up machine with a GPU, and one without
curve() { # gpu|host, argument columns, rows "series args seconds"
	echo "# machine: made-up"
	echo "# date: 2026-01-02T03:04:05Z"
	[ "$1" = host ] || printf '# gpu_uuid: GPU-0\n# processes: 3\n'
	printf 'series\t%s\tprocess\tseconds\tlow_seconds\thigh_seconds\tsamples\tdiscarded\tsm_hz\tbusy\n' "$2"
	awk -v OFS='\t' '{
		for (p = 0; p < 3; p++) {
			line = $1
			for (i = 2; i < NF; i++)
				line = line OFS $i
			t = $NF * (1 + 0.01 * p)
			print line, p, t, t * 0.99, t * 1.01, 20, 1, 1.7e9, 0
		}
	}'
}
results() { # seconds factor, metadata: cases of one panel width, and more of other matrices
	echo "# $2: 0"
	printf 'operation\tvariant\tprecision\tmath\tm\tn\tk\tp\tnb\toptions\texecutor\tplan\tseconds\tlow\thigh\trepeats\tgflops\tresidual\torthogonality\tregime\tnote\n'
	for m in 750 3000 12000; do
		for variant in blas persistent host; do
			awk -v OFS='\t' -v m=$m -v v=$variant -v f="$1" 'BEGIN {
				t = f * (v == "blas" ? 2e-3 + m * 1e-9 : v == "host" ? 1e-5 + m * 5e-8 : 6e-5 + m * 2e-9)
				print "panel_getrf", v, "s", "fp32", m, 48, "nan", "nan", 48, "l2=warm", "cuda", "nb=48", t, t * 0.95, \
					t * 1.05, 9, "nan", "nan", "nan", "hardware", "nan"
			}'
		done
	done
	for n in 1 2 3 4 5 6 7 8 9 10; do
		printf 'geqrf\tgpu\ts\tfp32\t%s\t60\tnan\tnan\t%s\tl2=warm\tcuda\tnan\t1e-2\t9e-3\t1.1e-2\t9\tnan\tnan\tnan\tsurface\tnan\n' 600 $n
	done
}
errors() {
	echo "# program: validate"
	printf 'operation\tvariant\tprecision\tm\tn\toptions\texecutor\tregime\tlevel\tpredicted\tpredicted_low\tpredicted_high\tmeasured\tmeasured_low\tmeasured_high\terror\tcovered\tbaseline_peak\tbaseline_scaled\tverdict\treason\n'
	printf 'panel_getrf\tblas\ts\t750\t48\tl2=warm\tcuda\thardware\t2\t1.5e-3\t1.4e-3\t1.6e-3\t2e-3\t1.9e-3\t2.1e-3\t-0.25\t0\t-0.9\tnan\tUNDER\tnan\n'
	printf 'panel_getrf\tfused\ts\t750\t48\tl2=warm\tcuda\thardware\t2\t1.9e-3\t1.8e-3\t2e-3\t1.9e-3\t1.8e-3\t2e-3\t0\t1\t-0.9\tnan\tOK\tnan\n'
	for row in 'gpu 0 l2=warm,plan=model 1e-3 2e-3' 'hybrid 2 l2=warm,plan=model 4e-3 5e-3'; do
		# shellcheck disable=SC2086 # fields
		set -- $row
		printf 'getrf\t%s\ts\t1000\t1000\t%s\tcuda\tsurface\t%s\t%s\tnan\tnan\t%s\tnan\tnan\t0\t1\tnan\tnan\tOK\tnan\n' \
			"$1" "$3" "$2" "$4" "$5"
	done
	for row in ',plan=model 1e-3' ',plan=model,from=host,piece=256 4e-3' ' 5e-4'; do
		printf 'potrf\tgpu\ts\t3000\t3000\tl2=warm,uplo=l%s\tcuda\tsurface\t2\t3e-3\tnan\tnan\t%s\tnan\tnan\t-0.25\t1\tnan\tnan\tUNDER\tnan\n' \
			"${row% *}" "${row#* }"
	done
	printf 'panel_getrf\tblas\ts\t750\t48\tl2=warm,phase=search\tcuda\thardware\t2\t5e-4\t4e-4\t6e-4\t9e-4\t8e-4\t1e-3\t-0.444\t0\tnan\tnan\tUNDER\tnan\n'
	printf 'panel_getrf\tblas\ts\t750\t48\tl2=warm,phase=swap\tcuda\thardware\t2\t5e-4\t4e-4\t6e-4\t5e-4\t4e-4\t6e-4\t0\t1\tnan\tnan\tOK\tnan\n'
}
validation() {
	printf 'family\texecutor\tregime\tlevel\tcases\tmedian_abs_error\tp90_abs_error\tworst_error\tbias\twithin5\twithin10\twithin20\twithin30\tcoverage\tregret\tbaseline_peak\tbaseline_scaled\thalf_width\tskipped\n'
	printf 'panel_getrf/blas/s\tcuda\thardware\t2\t1\t0.25\t0.25\t-0.25\t-0.25\t0\t0\t0\t1\t0\tnan\t0.9\tnan\t0.07\t0\n'
	printf 'all\tcuda\tany\t2\t2\t0.125\t0.25\t-0.25\t-0.125\t0.5\t0.5\t0.5\t1\t0.5\t0\t0.9\tnan\t0.06\t0\n'
}
# operation variant m n k options executor plan seconds gflops
bench() {
	echo "# program: measure"
	printf 'operation\tvariant\tprecision\tmath\tm\tn\tk\tp\tnb\toptions\texecutor\tplan\tseconds\tlow\thigh\trepeats\tgflops\tresidual\torthogonality\tregime\tnote\n'
	awk -v OFS='\t' '{ print $1, $2, "s", "fp32", $3, $4, $5, "nan", $1 ~ /^gram/ ? "nan" : 64, $6, $7, $8, $9, $9, $9, 9, $10, 1, "nan", "nan", "nan" }' <<-ROWS
		gemm volkov 4096 4096 4096 l2=warm,trans=nn cuda calls=1 5e-3 25000
		gemm volkov 4096 4096 4096 l2=warm,trans=nn model limit=shared 5e-3 26600
		gemm volkov 1024 1024 1024 l2=warm,trans=nn cuda calls=1 5e-3 20000
		gemm volkov 4096 4096 4096 l2=warm,trans=nn,without=fetch cuda calls=1 5e-3 30000
		gemm cublas 4096 4096 4096 l2=warm,trans=nn cuda calls=1 5e-3 51000
		transpose own 1024 1024 nan l2=warm cuda calls=1 4e-6 nan
		transpose own 4096 4096 nan l2=warm cuda calls=1 4e-5 nan
		laswp volkov 4096 4096 64 l2=warm,layout=row cuda calls=1 4e-5 nan
		trsm cublas 64 4096 nan l2=warm cuda calls=1 1e-5 1700
		syrk volkov 4096 4096 64 l2=warm,blocks=folded cuda calls=1 1e-4 10741
		syrk volkov 4096 4096 64 l2=warm,blocks=exit cuda calls=1 1.25e-4 8593
		syrk own 4096 4096 64 l2=warm cuda calls=1 5e-5 21480
		syrk volkov 1024 1024 1024 l2=warm,blocks=folded cuda calls=1 1e-4 20000
		syrk volkov 1024 1024 1024 l2=warm,blocks=exit cuda calls=1 1.1e-4 18000
		trmm volkov 1024 1024 1024 l2=warm,side=l,uplo=l cuda calls=1 1e-4 10700
		trmm volkov 1024 1024 1024 l2=warm,side=l,uplo=l,blocks=full cuda calls=1 1.5e-4 7133
		trmm cublas 1024 1024 1024 l2=warm,side=r,uplo=u cuda calls=1 1.2e-4 8950
		small_gemm volkov 64 64 1024 l2=warm,splits=1 cuda calls=1 5e-5 168
		small_gemm volkov 64 64 1024 l2=warm,splits=2 cuda calls=1 3e-5 280
		small_gemm volkov 64 64 1024 l2=warm,splits=16 cuda calls=1 1e-5 839
		small_gemm cublas 64 64 1024 l2=warm cuda calls=1 2e-5 419
		small_gemm volkov 1024 1024 1024 l2=warm,splits=1 cuda calls=1 1e-4 21475
		small_gemm volkov 1024 1024 1024 l2=warm,splits=2 cuda calls=1 1.2e-4 17895
		thin_gemm cublas 4096 4096 4096 l2=warm cuda calls=1 3e-3 45813
		thin_gemm cublas 4096 4096 64 l2=warm cuda calls=1 1e-4 21475
		thin_gemm volkov 4096 4096 64 l2=warm cuda calls=1 2e-4 10737
		getrf gpu 256 256 nan l2=warm cuda leaf=64 1e-4 100
		getrf gpu 1024 1024 nan l2=warm cuda leaf=64 1e-4 8000
		getrf gpu 1024 1024 nan l2=warm,without=lookahead cuda leaf=64 1.5e-4 5333
		getrf gpu 1024 1024 nan l2=warm,without=rows cuda leaf=64 1.25e-4 6400
		potrf gpu 1024 1024 nan l2=warm,uplo=l cuda leaf=64 2e-4 1800
		potrf gpu 1024 1024 nan l2=warm,uplo=l,plan=default cuda leaf=128 2.5e-4 1440
		potrf gpu 1024 1024 nan l2=warm,uplo=u cuda leaf=64 2.1e-4 1700
		potrf cusolver 1024 1024 nan l2=warm,uplo=l,alg=plain cuda nan 3e-4 1200
		potrf cusolver 1024 1024 nan l2=warm,uplo=u,alg=plain cuda nan 6e-4 600
		error_potrf gpu 8192 8192 nan l2=warm,uplo=l cuda leaf=64 nan nan
		getrf openblas 256 256 nan cache=warm host nan 5e-5 200
		getrf openblas 1024 1024 nan cache=warm host nan 2e-4 2000
		gram_update wide 1024 1024 nan l2=warm,shape=64x8 cuda calls=2 4e-6 500
		gram_update wide 1024 1024 nan l2=warm,shape=64x8,on=cuda model calls=2 3e-6 500
		gram_update wide 1024 1024 nan l2=warm,shape=128x4 cuda calls=2 2e-6 1000
		gram_update wide 1024 1024 nan l2=warm,shape=128x4,on=cuda model calls=2 5e-6 500
		gram_update wide 1024 64 nan l2=warm,shape=128x4 cuda calls=2 1e-6 500
		gramschmidt cublas 1024 1024 nan l2=warm cuda nan 1e-2 200
		gramschmidt block 1024 1024 nan l2=warm cuda nan 1e-3 2000
		gramschmidt openblas 1024 1024 nan cache=warm host nan 2e-2 100
		gramschmidt blocked 1024 1024 nan cache=warm host nan 5e-3 400
	ROWS
}
breakdown() {
	printf 'operation\tvariant\tprecision\tn\tnb\tphase\tbusy_s\towed_s\n'
	for n in 256 512 1024; do
		awk -v OFS='\t' -v n=$n 'BEGIN {
			print "getrf", "gpu", "s", n, 64, "update", 6e-5, 6e-5
			print "getrf", "gpu", "s", n, 64, "panel", 6e-5, 4e-5
			print "getrf", "gpu", "s", n, 64, "all", "nan", 1e-4
			print "getrf", "host", "s", n, 64, "all", "nan", 1e-4 * n / 512
		}'
	done
}
bounds() {
	printf 'operation\tprecision\tmath\tm\tn\tseconds\tbound_s\tdefault_s\tpanels_s\tupdates_s\tothers_s\twithout_panels_s\twithout_updates_s\twithout_others_s\n'
	printf 'getrf\ts\tfp32\t%s\t%s\t1e-3\t%s\t1.02e-3\t7.5e-4\t5e-4\t1e-5\t4e-4\t8e-4\t9e-4\n' 512 512 1e-4 1024 1024 5e-4 5555 5555 2e-4 4096 512 2e-4
	printf 'geqrf\ts\t3xfp16\t1024\t1024\t2e-3\t1e-3\t2e-3\t1e-3\t1e-3\t1e-5\tnan\t8e-4\t9e-4\n'
}
breakdown_measured() { # with every operation recorded
	breakdown | awk -F '\t' -v OFS='\t' '{ print } $2 == "gpu" && $6 == "panel" { $6 = "plain"; $7 = "nan"; $8 = 8e-5; print }' |
		sed 's/\tupdate\t6e-05\t6e-05/\tupdate\t6e-05\t5e-05/'
}
# Removing columns from 4800 x 600: right to update, right to begin again.
updates() { # seconds of updating at n/4 and at n/8, of beginning again; variants
	echo "# program: measure"
	printf 'operation\tvariant\tprecision\tmath\tm\tn\tk\tp\tnb\toptions\texecutor\tplan\tseconds\tlow\thigh\trepeats\tgflops\tresidual\torthogonality\tregime\tnote\n'
	for row in "update 600 $1" "update 300 $2" "refactor nan $3" "cusolver nan 8e-3"; do
		# shellcheck disable=SC2086 # fields
		set -- $row
		printf 'remove_columns\t%s\ts\tfp32\t19200\t2400\t%s\t150\tnan\tl2=warm,q=none\tcuda\tnan\t%s\tnan\tnan\t3\tnan\t1\tnan\tnan\tnan\n' "$1" "$2" "$3"
	done
}
# Their two tables, from a study of five widths and one of its stages.
paper() {
	echo "# program: measure"
	printf 'operation\tvariant\tprecision\tmath\tm\tn\tk\tp\tnb\toptions\texecutor\tplan\tseconds\tlow\thigh\trepeats\tgflops\tresidual\torthogonality\tregime\tnote\n'
	awk -v OFS='\t' '{ print $1, $2, "s", "fp32", $3, 1000, "nan", 100, $4, "l2=warm,q=none" ($5 == "_" ? "" : $5), $6, "nan", $7, $7, $7, 3, "nan", 1, "nan", "nan", "nan" }' <<-ROWS
		add_rows paper 2000 10 _ cuda 8e-2
		add_rows paper 2000 10 _ model 7e-2
		add_rows paper 2000 20 _ cuda 7e-2
		add_rows paper 2000 50 _ cuda 6e-2
		add_rows paper 2000 75 _ cuda 6.1e-2
		add_rows paper 2000 100 _ cuda 6.2e-2
		add_rows update 2000 nan _ cuda 2e-3
		remove_columns paper 4000 50 _ cuda 3e-2
		remove_columns paper 4000 50 _ model 2e-2
		remove_columns paper 4000 50 ,phase=house cuda 2.5e-2
		remove_columns paper 4000 50 ,phase=house model 2.4e-2
		remove_columns paper 4000 50 ,phase=apply_r cuda 3e-3
		remove_columns paper 4000 50 ,phase=apply_d cuda 1e-3
		remove_columns update 4000 nan _ cuda 1e-3
	ROWS
}
decisions() {
	printf 'operation\tq\tfrom\tpoints\teven\terror_update\terror_refactor\tright\tcost\tcost_worst\talways\talways_worst\tnever\tnever_worst\n'
	for row in remove_columns all; do
		printf '%s\tnone\tdevice\t2\t1\t0.1\t0.05\t1\t0.01\t0.02\t0.5\t1\t0.6\t2\n' $row
	done
}
gpu=$scratch/data/box
mkdir -p "$scratch/data/papers"
cp "$root/data/papers/volkov2008.tsv" "$root/data/papers/brandes2012.tsv" "$scratch/data/papers"
mkdir -p "$gpu" "$scratch/host" "$scratch/empty"
fixture_profile >"$gpu/profile.tsv"
printf 'gpu.launch.pdl\t9\ts\t8\t10\t3\tmade up\thardware\tfailed\n' >>"$gpu/profile.tsv"
printf 'key\tvalue\nmachine\tmade-up\ngpu.name\tMade Up <1> & Co\ngpu.sms\t132\nhost.cpu\tMade Up Processor\n' >"$gpu/machine.tsv"
curve gpu 'blocks	bytes' >"$gpu/launch.tsv" <<-ROWS
	enqueue nan nan 2e-6
	dependent nan nan 1.2e-6
	grid 1 nan 1.2e-6
	grid 132 nan 1.4e-6
ROWS
curve gpu 'bytes' >"$gpu/copy.tsv" <<-ROWS
	copy_cold 4096 2e-6
	copy_cold 1048576 3e-6
	copy_cold 1073741824 3e-4
ROWS
timelines() { # two blocks: the second panel beside the first update, twice as long when measured
	printf '# title: simulated sgetrf 100 x 100\n# nb: 50\n# plan: leaf=50\n# panels: device\n# same_limiter: 1 of 2\n'
	printf '# plain_seconds: 1.25e-3\n# recorded_seconds: 1.3e-3\n# clocks_seconds: 2e-6\n'
	printf 'timeline\tlane\tengine\tphase\toperation\tm\tn\tk\tblock\tbegin_s\tend_s\towed_s\n'
	for line in 'simulated 1' 'measured 2'; do
		awk -v OFS='\t' -v s="${line% *}" -v f="${line#* }" 'BEGIN {
			print s, "host", "host", "panel", "queueing", 0, 0, 0, 0, 0, 1e-4, 1e-4
			print s, "panel", "panel", "panel", "resident_panel", 100, 50, 0, 0, 1e-4, 2e-4, 1e-4
			print s, "panel", "panel", "panel", "resident_panel", 50, 50, 0, 1, 2e-4, 2e-4 + f * 5e-4, f * 5e-4 - 4e-4
			print s, "main", "main", "update", "gemm", 50, 50, 50, 0, 2e-4, 6e-4, 4e-4
		}'
	done
}
timelines >"$gpu/trace_sgetrf_100.tsv"
{
	printf '# shared_cores: 3 (0.61), 5 (0.90)\n# disturbed: 4 of 70 runs, discarded\n'
	results 1 predictions_sha256
} >"$gpu/measurements.tsv"
results 0.9 profile_sha256 >"$gpu/predictions.tsv"
errors >"$gpu/errors.tsv"
validation >"$gpu/validation.tsv"
{
	printf '# machine: another\n# fathom: 0.0.9 (older)\n# date: 2026-01-01T00:00:00Z\n'
	printf 'variant\tphase\tm\tn\tr\tthreads\tflops\tseconds\tlow\thigh\trepeats\tgflops\tpredicted\tresidual\torthogonality\ttriangularity\tlimit\tnote\n'
	for r in 32 64; do
		for row in 'blas house 1e6 4e-3 5e-3' 'blas total 1e9 2e-2 3e-2' 'steps panel 1e7 2e-3 1e-3' 'ahead total 1e9 1e-2 2e-2'; do
			# shellcheck disable=SC2086 # fields
			set -- $row
			printf '%s\t%s\t512\t256\t%s\t0\t%s\t%s\t%s\t%s\t5\t50\t%s\t1e-6\t2e-6\t3e-5\t6e-5\tnan\n' \
				"$1" "$2" $r "$3" "$4" "$4" "$4" "$5"
		done
	done
	printf 'lapack\ttotal\t512\t256\t0\t2\t1e9\t4e-2\t4e-2\t4e-2\t5\t25\tnan\t1e-6\t2e-6\t3e-5\t6e-5\tnan\n'
} >"$gpu/kerr.tsv"
updates 1e-3 8e-3 4e-3 >"$gpu/update.tsv"
updates 1.1e-3 7e-3 4e-3 >"$gpu/update_predictions.tsv"
decisions >"$gpu/update_or_refactor.tsv"
paper >"$gpu/update_paper.tsv"
bench >"$gpu/bench.tsv"
bounds >"$gpu/bounds.tsv"
breakdown >"$gpu/breakdown.tsv"
breakdown_measured >"$gpu/breakdown_measured.tsv"
fixture_profile host >"$scratch/host/profile.tsv"
curve host 'threads' >"$scratch/host/host_parallel.tsv" <<-ROWS
	fork 1 3e-7
	fork 2 6e-7
	barrier 1 2e-7
	barrier 2 3e-7
ROWS

# ---- curves and formulas
mkdir "$scratch/series"
awk -v folder="$scratch/series" -f "$plots/series.awk" "$gpu/launch.tsv"
says "$scratch/series/grid.tsv" '^1	NaN	1.212e-06	1.188e-06	1.2362*[0-9]*e-06$' \
	'processes are combined: the median and the extremes'
{
	printf 'series\tprocess\tseconds\tlow_seconds\thigh_seconds\tsamples\n'
	printf 'even\t%d\t%d\tnan\tnan\t5\n' 0 4 1 1 2 3 3 2
} >"$scratch/even.tsv"
awk -v folder="$scratch/series" -f "$plots/series.awk" "$scratch/even.tsv"
says "$scratch/series/even.tsv" '^2.5	1	4$' 'the median of an even count is the mean of the middle two'
expect 1 'is no curve' 'what is no curve is refused' \
	awk -v folder="$scratch/series" -f "$plots/series.awk" "$gpu/machine.tsv"
mkdir "$scratch/rates" "$scratch/products"
bench >"$scratch/products/bench.tsv"
printf 'parameter\tvalue\ngpu.gemm.s[m=512,n=512,k=512]\t1e-5\ngpu.gemm.s[m=512,n=512,k=64]\t1e-6\ngpu.gemm.d[m=512,n=512,k=512]\t1e-4\n' \
	>"$scratch/products/profile.tsv"
errors >"$scratch/products/errors.tsv"
awk -v folder="$scratch/rates" -v data="$scratch/products" -v precision=s -f "$plots/common.awk" -f "$plots/bench.awk" \
	-f "$plots/factor.awk" >"$scratch/out"
says "$scratch/rates/gemm.tsv" '^512	26843.5$' "beside factorizations: the library's square products alone, of their precision"
says "$scratch/rates/getrf_bound.tsv" '^1000	666[0-9.]*$' 'and the bound, which is level 0 of the predictions'
says "$scratch/rates/getrf_checked_hybrid.tsv" '^1000	133[0-9.]*$' 'what was measured at held-out sizes alone'
mkdir "$scratch/panel" "$scratch/open"
results 1 predictions | awk -F '\t' -v OFS='\t' '$2 == "persistent" && $5 == 3000 { $14 = 0 } { print }' >"$scratch/open/predictions.tsv"
cp "$gpu/measurements.tsv" "$scratch/open"
awk -v folder="$scratch/panel" -v data="$scratch/open" -v executor=cuda -f "$plots/common.awk" -f "$plots/panel.awk" >"$scratch/out"
says "$scratch/panel/predicted_persistent.tsv" '^3000	[0-9.]*	[0-9.]*	nan$' 'an interval from 0 on has no highest rate'
says "$scratch/panel/predicted_persistent.tsv" '^750	[0-9.]*	[0-9.]*	[0-9.]*$' 'but the others have'
cat >"$scratch/golden.awk" <<-'AWK'
	function gflops(m, alpha) { return flops_getrf(m, 64) / panel_estimate(m, 64, alpha, 75e9) / 1e9 }
	BEGIN { printf "%.1f %.2f %.2f\n", gflops(20000, 5e-6), gflops(750, 1.4e-6), gflops(64, 1.4e-6) / gflops(64, 5e-6) }
AWK
expect 0 '^14.0 5.69 3.50$' "eq. (2) gives the paper's panel rates" awk -f "$plots/common.awk" -f "$scratch/golden.awk"
cat >"$scratch/units.awk" <<-'AWK'
	BEGIN { print with_unit(9.9999e-7, "s"), with_unit(4e12, "B/s"), with_unit(1.5e-3, "s"), with_unit("nan", "s"), \
		with_unit(634908, "count"), with_unit(1021, "count"), argument("f[bytes=8,stride=512]", "stride") }
AWK
expect 0 '^1 us 4 TB/s 1.5 ms - 634900 1021 512$' 'units' awk -f "$plots/common.awk" -f "$scratch/units.awk"

# ---- the report of a machine with a GPU
report() { # output folder
	sh "$plots/report.sh" "$1"
}
drawing expect 0 "^$gpu/report/report.html\$" 'a report, and where it is' report "$gpu"
report "$gpu" >"$scratch/out" 2>/dev/null
text=$gpu/report/report.txt
page=$gpu/report/report.html
says "$text" 'Measured by other runs than the profile: kerr.tsv 2026-01-01' 'what another run measured is named'
says "$text" ' another[.]$' 'with its version and machine, and nothing else'
says "$text" 'one dependent launch, device: 1.2 us' 'parameters come from the profile'
says "$text" 'gpu.launch.pdl .* FAILED$' 'a failed parameter is marked'
says "$text" '^programmatic dependent launch  *not measured here' 'and never used'
says "$text" 'n_half = 4.8 MB' 'rules are computed from the profile'
says "$text" '^- What a grid barrier is worth: not measured here (lacks gpu.barrier.counter)' 'a missing parameter is said'
says "$text" '^m x 48 on the GPU: ' 'the panels of the width with most of them, whatever else was measured'
says "$text" '^ *3000 .*(0*[0-9.]*)' 'the panel table'
says "$text" 'CPU panel, as measured: only below m = 3000' 'the choice between CPU and GPU'
says "$text" '^cuda panel_getrf/blas/s  *750  *48 .* UNDER$' 'bad cases'
says "$text" '^Others used 2 cores of the host while this was measured' 'and who else was at work'
says "$text" '750 x 48 is off by -25.0 % (-' 'how much a panel is off'
says "$text" 'furthest off search by -' 'and which phase most'
says "$text" 'of 1 pair of variants .*, 0 (0 %) are ranked right' 'the ranking'
says "$text" '^512 *5 / 4 .* 30 / 20$' 'Kerr: phases and the total, predicted and measured'
says "$text" '^512 *0.017 *0.033 *0.5 *-' 'and his three measures of errors'
says "$text" 'predictions in .* were made from another profile' 'a broken chain is said'
says "$text" '^Simulated 700 us, measured 1.2 ms (-41.7 %); the same limiter in 1 of 2 steps' 'timelines'
says "$text" '^panel  *85.7 .* 91.7 .* 28.6 .* 58.3 .* -29.8$' 'what each phase costs'
says "$text" '^resident_panel  panel .* 2 .* 600 .* 1100 .* -500$' 'and which costs are off'
says "$text" 'Simulated from another profile' 'of another profile, which is said'
says "$text" '^8800GTX  *A B  *Gflop/s  *128  *202  *206  *210  *186' "LAWN 202's Table 2"
says "$text" '^this GPU  *A B  *Tflop/s  *51.0  *26.6  *25.0  *30.0 ' 'with the best of this GPU below it'
says "$text" '^transposition, n x n  *GB/s  *25 .. 45  *2100 .. 3360$' 'rates of operations by themselves'
says "$text" '^64 interchanges, row-major, theirs  *GB/s  *7 .. 17  *105$' 'interchanges count four words a column'
says "$text" '^4096  *64  *10.7  *8.59  *-  *21.5  *-  *+25.0$' 'block triangles: folded beside early exit'
tr '\n' ' ' <"$text" | tr -s ' ' >"$scratch/line"
says "$scratch/line" 'best rate is 10.0 % lower, and at most it takes 25.0 % more time (n = 4096, k = 64); .* 10 % and about 30 %' \
	'what the exit costs, and cost the paper'
says "$text" '^1024  *lower A  *10.7  *7.13  *-  *1.50$' 'triangular A, start-up adjusted'
says "$text" '^1024  *upper B  *-  *-  *8.95  *-$' 'and B'
says "$text" '^ *64  *4  *50  *10  *16  *-  *-  *20$' 'small C: the fastest number of parts of k'
says "$text" '^4096  *64  *10.7  *-  *21.5  *-$' 'thin products'
says "$text" '^- Block triangles: .* up to 25 % ' 'a rule for block triangles'
says "$scratch/line" 'parts .* pay up to 4 blocks of 64 x 16 .*with 4 they are 5.0 times as fast (16 parts)' 'for small C'
says "$scratch/line" 'Thin products: .* cuBLAS 47 % (n = 4096)' 'and for thin products'
says "$text" '^LU  *179  *7.7  *3.0  *8.0  *2.00  *4.0$' 'Table 3: best rates and the best speedup'
says "$text" '^LU  *200 .. 400  *500 .. 700  *512  *406$' 'crossover with the host, predicted and measured'
awk '/^What bounds them/ { on = 1 } on && /^Panels by themselves/ { on = 0 } on' "$text" >"$scratch/bounds"
says "$scratch/bounds" '^LU, single  *10  *50$' 'what bounds squares of powers of two, as far as the profile costs it'
never "$scratch/bounds" 'QR' 'and nothing else'
says "$text" '^LU, single  *75/2.50  *75/2.50$' 'panels by themselves, and the rest without them'
says "$text" '^LU, single  *50/1.25  *50/1.25$' 'and updates'
says "$text" '^LU, single  *2.0  *2.0$' "the library's own plans"
says "$text" '^- Panels or products: .* LU, single: panels up' 'which of them to make faster'
says "$text" '^Cholesky, single  *3000  *1 ms  *4 ms  *75  *3 ms  *-25.0$' 'from host memory, beside the resident one by the same plan'
tr -s '\n ' ' ' <"$text" >"$scratch/joined"
says "$scratch/joined" 'A matrix in host memory: .* Cholesky 75 % of n = 3000\.' 'and what the way there and back is of it'
says "$text" '^Cholesky, single  *1.50$' 'times as fast as cuSOLVER, by the fastest plan'
says "$text" '^Cholesky, single  *1.20$' 'and by that of the library'
says "$text" '^LU  *GPU  *lookahead  *1.50  *1024' 'slowdown without an optimization'
says "$text" '^LU  *GPU  *row-major layout  *1.25  *1024  *2' 'and the one that the paper counts on'
says "$text" '^Cholesky  *8192  *1  *-  *-  *-  *-  *-  *17$' "errors by LAWN 202's measure"
never "$page" 'No run without it' 'of which there is a run'
says "$text" '^Cholesky, single  *1.50$' 'beside cuSOLVER the faster triangle counts on both sides'
says "$scratch/joined" 'factorizations of squares in single precision: .*Cholesky [0-9.]* Tflop/s at n = [0-9]*, 1.50 to 1.50 times cuSOLVER' \
	'the same in short, over all sizes'
says "$text" '^single  *1.05$' 'and the triangles are compared'
says "$text" '^GPU  *512  *60/50  *0/0  *0/0  *40/40  *0/0  *0/0  *100 us / 80 us  *+25$' 'where the time goes, predicted and measured'
says "$text" '^update  wide  *128x4  *4190 .* 64x8 .* 100.0 %' "Gram-Schmidt: the best block shape, and the regret of the model's"
says "$text" '^1024  block .* 10 ' 'its forms'
says "$text" '^remove columns, R and d  *0.5  *0.5  *4.0  *1.0  *1.0  *8.0$' 'updating: how many times as fast'
says "$text" '^remove columns  *none  *device  *2  *1  *10.0  *100.0  *1.0  *2.0  *50  *60$' 'and whether the choice was right'
says "$text" 'right at 100.0 % of 2 points' 'in short'
says "$text" '^  *10  *70.0 / 80.0$' 'their widths of blocks'
says "$text" '^4000 1000 100 0  *none  *50  *24.0 / 25.0  *-  *- / 4.00  *-  *20.0 / 30.0$' 'and stages'
awk '/^Gram-Schmidt/ { on = 1 } on' "$text" | tr '\n' ' ' | tr -s ' ' >"$scratch/gram"
says "$scratch/gram" 'at n = 1024, .* (block) is 5 times as fast .* (blocked)' 'GPU against CPU'
says "$scratch/gram" 'GTX 580) was 1.5 times .* 4 times faster than its unblocked form' 'then and now'
drawing says "$gpu/report/figures/breakdown.svg" '</svg>' 'the figure of the breakdown'
awk 'length > 100 { exit 1 }' "$text"
result $? 'at most 100 columns'
[ "$(tail -n 1 "$scratch/out")" = "$page" ]
result $? "the last line is the page's path"
never "$text" '[^ -~]' 'the text is ASCII'
never "$page" '<?xml\|<script\|<link\|<img\|@import\|url(' 'the page loads nothing'
[ -z "$(grep -o ' id=["'"'"'][^"'"'"']*["'"'"']' "$page" | sort | uniq -d)" ]
result $? 'ids are unique' "$(grep -o ' id=["'"'"'][^"'"'"']*["'"'"']' "$page" | sort | uniq -d | head -n 2 | tr '\n' ' ')"
# shellcheck disable=SC2013 # names are words
for name in $(grep -o 'href="#[^"]*"' "$page" | sed 's/href="#\(.*\)"/\1/' | sort -u); do
	grep -q "id=\"$name\"" "$page" || echo "$name"
done >"$scratch/dangling"
[ ! -s "$scratch/dangling" ]
result $? 'every link leads somewhere' "$(head -n 3 "$scratch/dangling")"
says "$page" 'Made Up &lt;1&gt; &amp; Co' 'texts are escaped'
drawing says "$page" '<svg role="img"' 'figures are inline'
drawing says "$gpu/report/figures/factor_s.svg" 'panels on CPU' 'what was measured at held-out sizes alone has its name in the figure'
drawing says "$gpu/report/figures/panel_cuda.svg" '</svg>' 'the panel figure'
drawing expect 0 'launch copy panel_cuda factor_s vendor trace_sgetrf_100 kerr update gram_schmidt small_gemm thin_gemm breakdown$' 'figures alone, of what there is' sh "$plots/plots.sh" "$gpu"
drawing expect 0 '^same$' 'figures are the same every time' sh -c "cp '$gpu/report/figures/copy.svg' '$scratch' &&
	sh '$plots/plots.sh' '$gpu' >/dev/null && cmp '$gpu/report/figures/copy.svg' '$scratch/copy.svg' && echo same"
rm -rf "$gpu/report"

# ---- other machines
drawing expect 0 . 'no GPU and no recorded machine' report "$scratch/host"
says "$scratch/host/report/report.html" 'GPU questions are open' 'which is said'
mv "$gpu" "$scratch/data/nvidia-h200"
gpu=$scratch/data/nvidia-h200
drawing expect 0 . 'no GPU, but a recorded machine' report "$scratch/host"
says "$scratch/host/report/report.html" 'are answered by the recorded machine' 'which answers, and it is said'
says "$scratch/host/report/report.txt" '^- Parallel regions on the host' 'rules of the own host stay'
drawing expect 0 . 'an empty folder' report "$scratch/empty"
says "$scratch/empty/report/report.html" 'nothing is measured in .*empty' 'has the recorded machine throughout'
MACHINE=nvidia-h200
export MACHINE
drawing expect 0 . 'MACHINE chooses a recorded machine' report "$scratch/local"
says "$scratch/local/report/report.html" 'asked for by MACHINE=nvidia-h200' 'and it is said'
[ ! -e "$gpu/report" ] && [ -s "$scratch/local/report/report.html" ]
result $? 'whose folder stays clean'
MACHINE=nowhere
expect 1 'no recorded data in .*nowhere' 'an unknown machine is refused' report "$scratch/local"
unset MACHINE

# ---- the recorded machine, with everything there is
outside() { # texts of the figures beyond an edge
	awk '
		match($0, /viewBox="0 0 [0-9]+ [0-9]+"/) { split(substr($0, RSTART, RLENGTH), box, /[ "]/) }
		match($0, /<g transform="translate[(][-0-9.]+,[-0-9.]+/) { split(substr($0, RSTART, RLENGTH), at, /[(,]/) }
		/<text>/ && (at[2] < 0 || at[2] + 0 > box[4] + 0 || at[3] < 8 || at[3] + 0 > box[5] - 2)'
}
mkdir "$scratch/recorded"
cp "$root"/data/nvidia-h200/*.tsv "$scratch/recorded"
printf '1.5e9\t1\ts\t1\t1\t3\tdamaged\thardware\tok\n\t2\ts\t1\t1\t3\tdamaged\thardware\tok\n' >>"$scratch/recorded/profile.tsv"
drawing expect 0 'pointer_chase .*factor_s .*vendor ' 'figures of the recorded machine, damaged rows or not' sh "$plots/plots.sh" "$scratch/recorded"
cat "$scratch"/recorded/report/figures/*.svg 2>/dev/null | outside >"$scratch/beyond"
drawing never "$scratch/beyond" . 'none of their texts is beyond an edge'

# ---- without gnuplot
mkdir "$scratch/bin"
for tool in sh awk sed grep tr cut sort uniq mkdir mktemp rm mv cat date uname dirname basename head tail paste sha256sum; do
	ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
expect 1 'figures need gnuplot: make setup' 'without gnuplot it says so' env PATH="$scratch/bin" sh "$plots/report.sh" "$gpu"
says "$gpu/report/report.txt" '^Design rules$' 'and the text is written'
says "$gpu/report/report.txt" '^Cholesky, single  *1.50$' 'with the tables of what is drawn elsewhere'
rm -rf "$gpu"
expect 1 'nothing to show: .*run make probe' 'with nothing at all it says what to do' report "$scratch/empty"
echo "1..$number"
