#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures and the report: their numbers come from the data, with any awk, locale and folder; missing data is named.

. "$(dirname "$0")/../tap.sh"

plots=$root/plots
make_scratch
unset MACHINE FATHOM_DATA
FATHOM_HOME=$scratch
export FATHOM_HOME
. "$root/tests/fixture.sh"
. "$root/tests/report/page.sh"

written() { # output folder; report: without the papers
	sh "$plots/report.sh" "$@"
}

# ---- a made-up machine with a GPU, and one without
curve() { # gpu|host, argument columns, rows "series args seconds"
	printf '# probe: made-up\n# machine: made-up\n# date: 2026-01-02T03:04:05Z\n'
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
results() { # seconds factor, metadata: panels
	echo "# $2: 0"
	printf 'operation\tvariant\tprecision\tmath\tm\tn\tk\tp\tnb\toptions\texecutor\tplan\tseconds\tlow\thigh\trepeats\tgflops\tresidual\torthogonality\tregime\tnote\n'
	awk -v OFS='\t' -v f="$1" 'BEGIN {
		for (m = 750; m <= 12000; m *= 4)
			for (v = 1; v <= 3; v++) {
				t = f * (v == 1 ? 2e-3 + m * 1e-9 : v == 2 ? 6e-5 + m * 2e-9 : 1e-5 + m * 5e-8)
				print "panel_getrf", v == 1 ? "blas" : v == 2 ? "persistent" : "host", "s", "fp32", m, 48, "nan", "nan", 48, \
					"l2=warm", "cuda", "nb=48", t, t * 0.95, t * 1.05, 9, "nan", "nan", "nan", "hardware", "nan"
			}
	}'
}
errors() {
	printf '# program: validate\noperation\tvariant\tprecision\tm\tn\toptions\texecutor\tregime\tlevel\tpredicted\tmeasured\thardware\thardware_over_measured\terror\tverdict\treason\n'
	awk -v OFS='\t' '{ print $1, $2, "s", $3, $4, $5, "cuda", "calibrated", $6, $7, $8, $8 / 4, 0.25, $7 / $8 - 1, $9, $10 == "" ? "nan" : "disturbed: " $10 }' <<-ROWS
		panel_getrf host 750 48 l2=warm 2 3e-3 2e-3 DISTURBED host.getrf.s[m=512,n=64]
		panel_getrf blas 750 48 l2=warm 2 1.5e-3 2e-3 UNDER
		panel_getrf fused 750 48 l2=warm 2 1.9e-3 1.9e-3 OK
		panel_getrf blas 750 48 l2=warm,phase=search 2 5e-4 9e-4 UNDER
		getrf gpu 1000 1000 l2=warm,plan=model 0 1e-3 2e-3 OK
		getrf hybrid 1000 1000 l2=warm,plan=model 2 4e-3 5e-3 OK
		potrf gpu 3000 3000 l2=warm,uplo=l,plan=model 2 1e-3 1e-3 OK
		potrf gpu 3000 3000 l2=warm,uplo=l,plan=model,from=host 2 3e-3 4e-3 UNDER
	ROWS
}
validation() {
	printf 'family\texecutor\tshapes\tregime\tlevel\tcases\tmedian_abs_error\tp90_abs_error\tworst_error\tbias\twithin5\twithin10\twithin20\twithin30\tcoverage\tregret\tregret_rule\tbaseline_peak\tbaseline_scaled\tbaseline_interpolated\thalf_width\thardware_over_measured\tskipped\n'
	printf 'panel_getrf/blas/s\tcuda\tfixed\thardware\t2\t1\t0.25\t0.25\t-0.25\t-0.25\t0\t0\t0\t1\t0\tnan\tnan\t0.9\tnan\tnan\t0.07\t0.42\t0\n'
}
bench() { # operation variant m n k options executor plan seconds gflops
	printf '# program: measure\n# fathom: 0.0.9\n# tuning: tuned for one GPU; this GPU is another%s\n# rows_of_another_run: 2 rows (gemm) by 0.0.9, 2026-01-01\n' " $hostile"
	printf 'operation\tvariant\tprecision\tmath\tm\tn\tk\tp\tnb\toptions\texecutor\tplan\tseconds\tlow\thigh\trepeats\tgflops\tresidual\torthogonality\tregime\tnote\n'
	awk -v OFS='\t' '{ print $1, $2, "s", "fp32", $3, $4, $5, "nan", 64, $6, $7, $8, $9, $9, $9, 9, $10, 1, "nan", "nan", "nan" }' <<-ROWS
		gemm volkov 4096 4096 4096 l2=warm,trans=nn cuda calls=1 5e-3 25000
		gemm volkov 4096 4096 4096 l2=warm,trans=nn model limit=shared 5e-3 26600
		syrk volkov 4096 4096 64 l2=warm,blocks=folded cuda calls=1 1e-4 10741
		syrk volkov 4096 4096 64 l2=warm,blocks=exit cuda calls=1 1.25e-4 8593
		small_gemm volkov 64 64 1024 l2=warm,splits=1 cuda calls=1 5e-5 168
		small_gemm volkov 64 64 1024 l2=warm,splits=16 cuda calls=1 1e-5 839
		thin_gemm cublas 4096 4096 4096 l2=warm cuda calls=1 3e-3 45813
		thin_gemm cublas 4096 4096 64 l2=warm cuda calls=1 1e-4 21475
		thin_gemm openblas 4096 4096 64 cache=warm host calls=1 2e-3 1074
		scopy cublas 262144 8 nan l2=warm cuda calls=9 1e-5 nan
		getrf gpu 256 256 nan l2=warm cuda leaf=64 1e-4 100
		getrf gpu 1024 1024 nan l2=warm cuda leaf=64 1e-4 8000
		getrf gpu 1024 1024 nan l2=warm,without=lookahead cuda leaf=64 1.5e-4 5333
		getrf lawn 1024 1024 nan l2=warm cuda leaf=64 4e-4 1790
		getrf lawn 1024 1024 nan l2=warm,without=batches cuda leaf=64 1e-3 716
		getrf lawn 1024 1024 nan l2=warm,from=host cuda leaf=64 5e-4 1430
		potrf gpu 1024 1024 nan l2=warm,uplo=l cuda leaf=64 2e-4 1800
		potrf gpu 1024 1024 nan l2=warm,uplo=l,plan=default cuda leaf=128 2.5e-4 1440
		potrf cusolver 1024 1024 nan l2=warm,uplo=l,alg=plain cuda nan 3e-4 1200
		getrf openblas 256 256 nan cache=warm host nan 5e-5 200
		getrf openblas 1024 1024 nan cache=warm host nan 2e-4 2000
		gramschmidt cublas 1024 1024 nan l2=warm cuda nan 1e-2 200
		gramschmidt block 1024 1024 nan l2=warm cuda nan 1e-3 2000
		gramschmidt openblas 1024 1024 nan cache=warm host nan 2e-2 100
	ROWS
}
lawn() {
	printf 'operation\tvariant\tprecision\tn\tnb\toptions\tplan\tseconds\tgflops\n'
	printf 'getrf\tlawn\ts\t1024\t64\t%s\tleaf=64\t%s\n' l2=warm '5e-4	1431' l2=warm,from=host '6e-4	1190' \
		l2=warm,without=batches '1.5e-3	477' l2=warm,without=rows '7e-4	1022'
}
hostile='<script>alert(1)</script> & "Co"' # in texts that the page shows
gpu=$scratch/data/box
mkdir -p "$gpu" "$scratch/data/papers" "$scratch/host" "$scratch/empty"
cp "$root/data/papers/"*.tsv "$scratch/data/papers"
fixture_profile >"$gpu/profile.tsv"
printf 'gpu.launch.pdl\t9\ts\t8\t10\t3\tmade up %s\thardware\tfailed\n' "$hostile" >>"$gpu/profile.tsv"
awk '{ print $1 "\t" $2 "\tB/s\t" $3 "\t" $4 "\t9\tmade up\thardware\tok" }' <<-ROWS >>"$gpu/profile.tsv"
	gpu.copy.width[width=4] 3e12 2.9e12 3.1e12
	gpu.copy.width[width=16] 4e12 3.9e12 4.1e12
	gpu.copy.misaligned[offset=4] 3e12 2.0e12 4.0e12
	gpu.copy.misaligned[offset=64] 4e12 3.9e12 4.1e12
ROWS
printf 'key\tvalue\nmachine\tmade-up\ngpu.name\tMade Up %s\ngpu.sms\t132\nhost.cpu\tProcessor %s\n' "$hostile" "$hostile" >"$gpu/machine.tsv"
curve gpu 'blocks	bytes' >"$gpu/launch.tsv" <<-ROWS
	enqueue nan nan 2e-6
	dependent nan nan 1.2e-6
	grid 132 nan 1.4e-6
	grid 8 nan 1.3e-6
	grid -1 nan 1.2e-6
	grid 1 nan 1.2e-6
ROWS
curve gpu 'bytes' >"$gpu/copy.tsv" <<-ROWS
	copy_cold 4096 2e-6
	copy_cold 1048576 3e-6
	copy_cold 1073741824 3e-4
ROWS
{
	printf '# shared_cores: 3 (0.61), 5 (0.90)\n'
	results 1 predictions_sha256
} >"$gpu/measurements.tsv"
results 0.9 profile_sha256 >"$gpu/predictions.tsv"
errors >"$gpu/errors.tsv"
validation >"$gpu/validation.tsv"
bench >"$gpu/bench.tsv"
lawn >"$gpu/lawn.tsv"
fixture_profile host >"$scratch/host/profile.tsv"
curve host 'threads' >"$scratch/host/host_parallel.tsv" <<-ROWS
	fork 1 3e-7
	fork 2 6e-7
ROWS

# ---- awk: some awks read more than others
cat "$plots"/*.awk >"$scratch/programs"
never "$scratch/programs" '\[=' 'no [= in brackets: elsewhere it begins a class of characters'
never "$scratch/programs" '^[[:space:]]*[a-z_]*\[[^]]*\]$' 'no reference as a statement: elsewhere it makes no element'

# ---- curves and formulas
mkdir "$scratch/it's a series" "$scratch/panel" "$scratch/open"
awk -v folder="$scratch/it's a series" -f "$plots/common.awk" -f "$plots/series.awk" "$gpu/launch.tsv"
says "$scratch/it's a series/grid.tsv" '^1	NaN	1.212e-06	1.188e-06	1.2362*[0-9]*e-06$' \
	'processes are combined: the median and the extremes'
[ "$(cut -f 1 "$scratch/it's a series/grid.tsv" | tr '\n' ' ')" = 'blocks -1 1 8 132 ' ]
result $? 'points are in the order of their arguments'
{
	printf 'series\tbytes\tprocess\tseconds\tlow_seconds\thigh_seconds\tsamples\n'
	printf 'even\t\t%s\t%s\tnan\t\t5\n' 0 4 1 1 2 3 3 2 4 ''
} >"$scratch/even.tsv"
awk -v folder="$scratch/panel" -f "$plots/common.awk" -f "$plots/series.awk" "$scratch/even.tsv"
says "$scratch/panel/even.tsv" '^NaN	2.5	1	4$' 'the median of an even count; an empty argument is NaN, a single sample its own interval'
expect 0 '^2$' 'a point without a time is left out' grep -c . "$scratch/panel/even.tsv"
expect 1 'is not a curve' 'another table is refused' awk -v folder="$scratch/panel" -f "$plots/common.awk" -f "$plots/series.awk" "$gpu/machine.tsv"
awk -F '\t' -v OFS='\t' '$2 == "persistent" && $5 == 3000 { $14 = 0 } { print }' "$gpu/predictions.tsv" >"$scratch/open/predictions.tsv"
cp "$gpu/measurements.tsv" "$scratch/open"
awk -v folder="$scratch/panel" -v data="$scratch/open" -v executor=cuda -f "$plots/common.awk" -f "$plots/panel.awk" >"$scratch/out"
says "$scratch/panel/predicted_persistent.tsv" '^3000	[0-9.]*	[0-9.]*	nan$' 'an interval from 0 on has no highest rate'
cat >"$scratch/golden.awk" <<-'AWK'
	function gflops(m, alpha) { return flops_getrf(m, 64) / panel_estimate(m, 64, alpha, 75e9) / 1e9 }
	BEGIN {
		printf "%.1f %.2f %.2f\n", gflops(20000, 5e-6), gflops(750, 1.4e-6), gflops(64, 1.4e-6) / gflops(64, 5e-6)
		print with_unit(9.9999e-7, "s"), with_unit(4e12, "B/s"), with_unit(1.5e-3, "s"), with_unit("nan", "s"), \
			with_unit(634908, "count"), significant(sprintf("%.6g", 1210.5), 3), argument("f[bytes=8,stride=512]", "stride")
		printf "%.6f %.6f %.6f %.6f\n", ln(1e-3), ln(12345), antilog(ln(0.02)), root(2)
	}
AWK
for awk in mawk gawk original-awk 'busybox awk'; do
	command -v ${awk%% *} >/dev/null || continue
	$awk -f "$plots/common.awk" -f "$scratch/golden.awk" >"$scratch/golden"
	expect 0 '^14.0 5.69 3.50$' "$awk: eq. (2) gives the paper's panel rates" cat "$scratch/golden"
	says "$scratch/golden" '^1 us 4 TB/s 1.5 ms - 634900 1210 512$' "$awk: units"
	says "$scratch/golden" '^-6.907755 9.421006 0.020000 1.414214$' "$awk: logarithms and roots"
	for program in "$plots"/*.awk; do
		case $program in
		*/common.awk | */bench.awk | */text.awk) $awk -f "$program" </dev/null ;;
		*) $awk -v data="$scratch" -v folder="$scratch" -v papers="$scratch" -v file="$scratch/none" -f "$plots/common.awk" -f "$plots/bench.awk" -f "$program" </dev/null ;;
		esac 2>&1 | grep -i 'syntax\|illegal'
	done >"$scratch/unread"
	never "$scratch/unread" . "$awk: reads every program"
done

# ---- compilers of Gram-Schmidt: every one that the file has, at its own size
mkdir "$scratch/gram"
{
	printf '# last_cache_bytes: 300000000\n# gcc: 12.2.0\n# icx: not there\n'
	printf 'operation\tvariant\tprecision\tm\tn\tk\tnb\toptions\texecutor\tseconds\tgflops\n'
	awk -v OFS='\t' '{ print "gramschmidt", $1, "s", $2, $2, "nan", "nan", "cache=warm,threads=" $3 ($4 == "-" ? "" : ",compiler=" $4), "host", 1, $5 }' <<-ROWS
		kernels 6256 1 gcc 6
		kernels 6256 4 gcc 20
		blocked 6256 4 gcc 80
		openblas 6256 1 - 12
		kernels 1024 1 gcc 9
		plain 1024 1 gcc 2
		fixed 1024 1 gcc 3
		plain 1024 1 gfortran 5
		openblas 1024 1 - 15
	ROWS
} >"$scratch/gram/gram_host.tsv"
awk -v data="$scratch/gram" -v papers="$root/data/papers" -v table=yes -f "$plots/common.awk" -f "$plots/gram_host.awk" |
	tr '\t\n' '  ' >"$scratch/gram/said"
for row in 'gcc 12.2.0 6 20 - 80 ROW' 'icx not there - - - - ROW' 'BLAS calls 12 - - - END' 'gcc linear indices 2 ROW' \
	'gcc arrays of fixed sizes 3 ROW' 'gcc our loops 9 ROW' 'gfortran arrays 5 ROW' 'BLAS calls - 15 END'; do
	says "$scratch/gram/said" "ROW  $row" "compilers: $row"
done
says "$scratch/gram/said" 'at n = 1024, GNU.s Fortran is 2.5 times as fast as its C, and fixed sizes make C 1.5 times' 'beside the paper'

# ---- products and solves of recorded runs, over the operations of LU with panels on the CPU
mkdir "$scratch/alone" "$scratch/alone/series"
printf 'operation\tvariant\tprecision\tn\tnb\tphase\tbusy_s\tcritical_s\n' >"$scratch/alone/breakdown_measured.tsv"
printf 'getrf\t%s\ts\t1000\t64\t%s\t%s\t1\n' hybrid update 0.75e-3 hybrid solve 0.25e-3 hybrid panel 1e-3 gpu update 1e-4 >>"$scratch/alone/breakdown_measured.tsv"
awk -v folder="$scratch/alone/series" -v data="$scratch/alone" -v precision=s -f "$plots/common.awk" -f "$plots/bench.awk" -f "$plots/factor.awk" >"$scratch/out"
says "$scratch/alone/series/getrf_blas3run.tsv" '^1000	666.1[0-9]*$' 'products and solves alone, recorded'

# ---- several GPUs: the sizes that were measured, and predictions of those or of half of the largest
mkdir "$scratch/scaled" "$scratch/scaled/series"
{
	printf 'scaling\toperation\tprecision\tmath\tn\tnb\tgpus\thosts\tseconds\tgflops\n'
	printf '%s\tgetrf\ts\tfp32\t%s\t512\t%s\t1\t%s\t1000\n' strong 2048 1 1 strong 2048 2 2 weak 2048 1 1 weak 2560 2 2
} >"$scratch/scaled/scaling.tsv"
scaled() {
	rm -f "$scratch/scaled/series"/*
	awk -v folder="$scratch/scaled/series" -v data="$scratch/scaled" -f "$plots/common.awk" -f "$plots/bench.awk" -f "$plots/scaling.awk"
	(cd "$scratch/scaled/series" && echo *)
}
expect 0 '^getrf_strong_2048.tsv getrf_weak_2048.tsv$' 'without measurements: what is predicted' scaled
{
	printf 'operation\tvariant\tprecision\tmath\tm\tn\tk\tp\tnb\toptions\texecutor\tseconds\tgflops\n'
	awk -v OFS='\t' '{ print "getrf", $1, "s", $2, $3, $3, "nan", "nan", 256, "l2=warm,gpus=" $4, $5, $6, 1000 }' <<-ROWS
		gpu fp32 8192 1 cuda 1
		gpu fp32 8192 2 cuda 0.8
		gpu fp32 16384 1 cuda 8
		gpu fp32 16384 2 cuda 4
		gpu fp32 16384 1 model 8
		gpu fp32 16384 2 model 5
		gpu fp32 4096 2 cuda 1
		gpu 3xtf32 32768 1 cuda 9
		cusolvermg fp32 32768 1 cuda 9
	ROWS
} >"$scratch/scaled/several_gpus.tsv"
expect 0 '^getrf_measured_16384.tsv getrf_measured_8192.tsv getrf_strong_16384.tsv$' 'every measured size, no small predicted one' scaled
says "$scratch/scaled/series/getrf_measured_16384.tsv" '^2	2	0.5$' 'over one GPU'

# ---- errors beyond the figure's axis; marks of other machines beyond a bar's end
mkdir "$scratch/beyond"
echo 'gpu.sm.count	132' >"$scratch/beyond/profile.tsv"
errors | awk -F '\t' -v OFS='\t' '$15 == "OK" && $9 == 2 { $14 = ++k == 1 ? 0.5 : -0.6 } { print }' >"$scratch/beyond/errors.tsv"
drawing expect 0 'figures in .*errors' 'cases beyond the axis' sh "$plots/plots.sh" "$scratch/beyond" errors
drawing says "$scratch/beyond/report/figures/errors.svg" '[34] of [56]<' 'are counted in the figure'
printf 'BAR\tcopy\t3 TB/s\t\t0.9\t0.8 1.2\tlimit, 3.3 TB/s\n' | awk -f "$plots/html.awk" >"$scratch/bar"
says "$scratch/bar" '<s style="left:80.0%"></s><s class="beyond"></s>' 'a mark beyond a bar is an arrow'

# ---- the report of a machine with a GPU
drawing expect 0 "^$gpu/report/report.html\$" 'a report, and its path in the last line' written "$gpu"
text=$gpu/report/report.txt
page=$gpu/report/report.html
papers=$gpu/report/papers.txt
tr -s '\n ' ' ' <"$text" >"$scratch/joined"
says "$scratch/joined" 'bench.tsv, 2 rows (gemm) by 0.0.9' 'rows of another run are named'
says "$scratch/joined" 'Kernels and plans are tuned for one GPU; this GPU is another' 'sizes that follow by rule are named'
says "$text" 'start of a dependent kernel: 1.2 us' 'parameters come from the profile'
says "$text" 'gpu.launch.pdl .* FAILED$' 'a failed parameter is marked'
says "$text" '^programmatic dependent launch  *not measured here' 'and not used'
says "$text" 'lacks gpu.barrier.counter' 'a missing parameter is named'
says "$text" 'CPU panel, as measured: only below m = 3000' 'the choice between CPU and GPU'
says "$scratch/joined" 'Narrow accesses: threads that copy 4 bytes .* 75 (72 .. 78) % .*width=4. = 3 TB/s (2.9 .. 3.1)' 'a rule, its number and interval'
never "$text" 'Misaligned copies' 'no rule where the intervals overlap'
says "$text" '^cuda panel_getrf/blas/s  *750  *48 .* UNDER$' 'cases with large errors'
says "$text" '^Disturbed cases, left out: 1\. ' 'disturbed ones apart'
says "$page" '+50.0.*host.getrf.s.m=512,n=64' 'with their errors, and how'
says "$text" 'predictions in .* were made from another profile' 'predictions from another profile'
says "$papers" '^4096  *64  *10.7  *8.59 .* +25.0$' 'block triangles: early exit against the folded grid'
says "$text" '^Cholesky, single  *1.50$' 'speedup over cuSOLVER'
says "$text" '^Cholesky, single  *1.20$' 'and by default plans'
says "$papers" '^LU  .*  *406  *beyond 1024$' 'crossover with the host, in device memory and from host memory'
says "$papers" '^LU, device memory  *0.5  *4.0$' 'speedup over the host by n'
says "$papers" '^3.1  *a launch in a stream of launches  *us  *5  *2.2$' 'probes beside the paper'
says "$papers" '^LU  *GPU  *lookahead  *1.50  *1024' 'slowdown without an optimization'
says "$papers" '^4096  *64 .* 1.07$' 'a thin product on the host'
says "$papers" '^ *8  *260  *10$' 'copies with a stride'
says "$papers" '^LU, predicted  *1430$' "LAWN 202's own LU, predicted"
says "$papers" '^LU, host memory, measured  *1430$' 'and measured, from host memory'
says "$papers" '^LU, batched row swaps, predicted  *3.00$' 'a part left out, predicted'
says "$papers" '^LU, batched row swaps, measured  *2.50$' 'and measured'
says "$papers" '^LU, row-major layout, predicted  *1.40$' 'or predicted alone'
says "$text" '^Cholesky, single  *3000  *1 ms  *4 ms  *75  *3 ms  *-25.0$' 'matrices in host memory'
says "$scratch/joined" 'at n = 1024, .* (block) is 20 times as fast' 'Gram-Schmidt, GPU against CPU'
awk 'length > 100 { exit 1 }' "$text" "$papers"
result $? 'at most 100 columns'
LC_ALL=C awk '/[^ -~]/ { print "# " $0; bad = 1 } END { exit bad }' "$text" >&2
result $? 'the text is ASCII'
never "$text" 'nan' 'without a number that is none'
for kept in report papers; do
	page=$gpu/report/$kept.html
	never "$page" '<?xml\|<script [^>]*src\|<link\|<img\|<iframe\|@import\|url(\|fetch(\|XMLHttp\|href="https*:' "$kept.html loads nothing"
	[ -z "$(grep -o ' id=["'"'"'][^"'"'"']*["'"'"']' "$page" | sort | uniq -d)" ]
	result $? "ids of $kept.html are unique"
done
page=$gpu/report/report.html
# shellcheck disable=SC2013 # names are words
for name in $(grep -o 'href="#[^"]*"' "$page" | sed 's/href="#\(.*\)"/\1/' | sort -u); do
	grep -q "id=\"$name\"" "$page" || echo "$name"
done >"$scratch/dangling"
[ ! -s "$scratch/dangling" ]
result $? 'every link leads somewhere'
says "$page" 'Made Up &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;Co&quot;' 'texts are escaped'
never "$page" '<script>alert' 'all of them'
drawing says "$page" '<svg role="img"' 'figures are inline'
for files in 'bench errors profile' profile copy; do
	links=$(printf '<a href="../%s.tsv">%s.tsv</a>, ' $(for name in $files; do echo "$name $name"; done))
	drawing says "$page" "Data: ${links%, }[.]<" "a figure's data: $files"
done
drawing expect 0 '^breakdown copy errors factor_s gram gram_schmidt host inside launch lawn_own memory panel_cuda small_gemm start thin_gemm vendor $' 'each figure with data is drawn' \
	sh -c 'ls "$1" | sed "s/.svg//" | tr "\n" " "; echo' sh "$gpu/report/figures"

# ---- cuSOLVER by emulated products: a table of its own, and no part of the other speedups
mkdir "$scratch/emulated"
emulated() { # which precisions cuSOLVER emulates, extra row
	{
		printf '# cusolver_emulates: %s\noperation\tvariant\tprecision\tmath\tm\tn\toptions\texecutor\tseconds\tnote\n' "$1"
		printf 'getrf\t%s\ts\tfp32\t1024\t1024\tl2=warm\tcuda\t%s\tnan\n' gpu 1e-3 cusolver 2e-3 $2
	} >"$scratch/emulated/bench.tsv"
	awk -v data="$scratch/emulated" -v table=yes -f "$plots/common.awk" -f "$plots/bench.awk" -f "$plots/vendor.awk"
}
emulated single 'cusolver_emulated 1.6e-3' >"$scratch/modes"
says "$scratch/modes" '^ROW		LU, single, emulated	1.25$' 'cuSOLVER by emulated products: over its default mode'
says "$scratch/modes" '^ROW		LU, single	2.00$' 'ours: over the default mode'
emulated none '' >"$scratch/modes"
says "$scratch/modes" 'emulated modes .* change no bit' 'where it has none, that is said'

# ---- the same output from every awk, with a decimal comma, from folders with an apostrophe and a space
odd="$scratch/it's a copy"
mkdir -p "$odd/data" "$odd/t m'p" "$scratch/tools" "$scratch/locale"
cp -R "$plots" "$root/scripts" "$odd"
cp -R "$gpu" "$scratch/data/papers" "$odd/data"
rm -rf "$odd/data/box/report"
plain() { # page, folder: what has to be the same, without line breaks of the text
	sed "/^<footer>/d; s,$2,,g" "$1" | case $1 in *.txt) tr -s '=\n ' '\n' ;; *) cat ;; esac
}
same() { # what, command...: the pages and figures of the copy are the first ones
	what=$1
	shift
	"$@" sh "$odd/plots/report.sh" "$odd/data/box" >"$scratch/said" 2>&1
	for kept in report.txt report.html papers.txt papers.html; do
		plain "$gpu/report/$kept" "$scratch/data" >"$scratch/here"
		plain "$odd/data/box/report/$kept" "$odd/data" | diff "$scratch/here" -
	done >"$scratch/changes"
	diff -r "$gpu/report/figures" "$odd/data/box/report/figures" >>"$scratch/changes"
	[ ! -s "$scratch/changes" ]
	result $? "$what"
	head -n 3 "$scratch/changes" | sed 's/^/# /' >&2
}
FATHOM_HOME=$odd
if localedef -i de_DE -f ISO-8859-1 "$scratch/locale/de_DE" >/dev/null 2>&1; then
	comma=de_DE
else
	comma=C
	report ok 'a locale with a decimal comma # SKIP localedef cannot make one'
fi
same "a checkout, an output and a TMPDIR with an apostrophe and a space, locale $comma" env "TMPDIR=$odd/t m'p" LOCPATH="$scratch/locale" LC_ALL=$comma
for awk in mawk gawk original-awk 'busybox awk'; do
	if ! command -v ${awk%% *} >/dev/null; then
		report ok "$awk # SKIP not installed"
		continue
	elif [ "$(readlink -f "$(command -v "${awk%% *}")")" = "$(readlink -f "$(command -v awk)")" ]; then
		report ok "$awk: wrote the first report"
		continue
	fi
	printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v ${awk%% *})${awk#"${awk%% *}"}" >"$scratch/tools/awk"
	chmod +x "$scratch/tools/awk"
	same "$awk: the same report" env PATH="$scratch/tools:$PATH"
done
FATHOM_HOME=$scratch

# ---- other machines
drawing expect 0 . 'no GPU and no recorded machine' written "$scratch/host" report
says "$scratch/host/report/report.html" 'questions on the GPU have no answer' 'which is said'
mv "$gpu" "$scratch/data/nvidia-h200"
gpu=$scratch/data/nvidia-h200
rm -rf "$gpu/report"
drawing expect 0 . 'no GPU, but a recorded machine' written "$scratch/host" report
says "$scratch/host/report/report.html" 'answers questions on the GPU' 'which is said'
says "$scratch/host/report/report.txt" '^- Parallel regions on the host' 'rules of the own host stay'
says "$scratch/host/report/report.txt" '^fathom report: this CPU, .*; GPU answers from the recorded ' 'the title names both'
sed '/^The recorded /,$d' "$scratch/host/report/report.txt" >"$scratch/first"
never "$scratch/first" 'gpu[.]\|device memory' 'its column has no number of the other machine'
says "$scratch/first" '^How far to trust it$' 'though all of its parts'
drawing expect 0 . 'an empty folder' written "$scratch/empty" report
says "$scratch/empty/report/report.html" 'empty holds no measurements yet' 'is answered by the recorded machine'
MACHINE=nvidia-h200
export MACHINE
drawing expect 0 . 'MACHINE chooses a recorded machine' written "$scratch/local" report
[ "$(sed -n '1s/.*MACHINE.*/said/p' "$scratch/local/report/report.txt")" = said ]
result $? 'the first line says so'
[ ! -e "$gpu/report" ] && [ -s "$scratch/local/report/report.html" ]
result $? 'its folder stays unchanged'
MACHINE=nowhere
expect 1 'no recorded data in .*nowhere' 'an unknown machine is refused' written "$scratch/local"
unset MACHINE

# ---- without gnuplot
mkdir "$scratch/bin"
for tool in sh awk sed grep tr cut sort uniq mkdir mktemp rm mv cat date uname dirname basename head tail paste sha256sum; do
	ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
expect 1 'figures need gnuplot: make setup' 'without gnuplot: said' env PATH="$scratch/bin" sh "$plots/report.sh" "$gpu"
says "$gpu/report/report.txt" '^All design rules$' 'and the text is written'
rm -rf "$gpu"
expect 1 'nothing to show: .*run fathom probe' 'without any data: what to do' written "$scratch/empty"
echo "1..$number"
