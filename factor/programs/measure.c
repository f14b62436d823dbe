/* SPDX-License-Identifier: MIT */
/* Question: how long do the predicted operations take on this machine?
 * Method: times every case of predictions.tsv on a random matrix, restored by a copy before each
 * run. The variants of a shape run in turns. Shapes come in random order, but those predicted to
 * take more than their share of the budget at the end. Disturbed cases, then cases known to worse
 * than 1 %, are measured again at the end. The time is the host's, from call to completion: a
 * median with its 95 % interval. Error sources: clocks that still rise (warm-up by time), other
 * users of the device (recorded) and of the host (runs discarded, or noted in the row), a wrong
 * result (checked: then there is no number). Unit: seconds per operation. */
#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "factor/validation/cases.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/gram_kernels.h"
#include "measure.h"
#include "factor/validation/products.h"
#include "remeasured.h"
#include "shapes.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
	(void)signal_number;
	stopped = 1;
}

/* The host's clock varies with its load: a shape waits this long for the profile's clock. */
static const double clock_patience = 0.25, clock_tolerance = 0.04;

/* Changes to another core when the current one is shared, then waits for the profile's host clock,
 * at most clock_patience; returns the clock. */
static double wait_for_clock(struct measure *measure)
{
	double start = clock_now(), hz;
	bool off;

	if (measure->topology)
		core_noise_refresh(&measure->noise);
	do {
		hz = clock_core_hz();
		off = measure->wanted_hz > 0 && fabs(hz / measure->wanted_hz - 1) > clock_tolerance;
	} while (off && !stopped && clock_now() - start < clock_patience);
	measure->off_clock += off;
	return hz;
}

static struct executor *executor_of(const struct measure *measure, const struct result *row)
{
	return measure_executor(measure, row->executor);
}

/* Every shape that can run here, in the order of measuring. */
static size_t list_shapes(
        const struct measure *measure, const struct results *predictions, struct shape *shape)
{
	size_t count = 0;

	for (size_t i = 0; i < predictions->count; i++)
		if (executor_of(measure, &predictions->row[i]))
			count = shapes_add(shape, count, &predictions->row[i]);
	shapes_order(shape, count, (uint64_t)measure->common.seed, measure->budget);
	return count;
}

/* The first pass measures cases without a row, the second disturbed ones, the third unsure ones. */
enum repeat { REPEAT_FIRST, REPEAT_DISTURBED, REPEAT_UNSURE };

static bool is_wanted(const struct measure *measure, const struct results *done,
        const struct result *row, enum repeat repeat)
{
	if (repeat == REPEAT_FIRST)
		return !results_find(done, row);
	return remeasure_wanted(done, measure->kept, row,
	        repeat == REPEAT_DISTURBED ? INFINITY : measure->plan.target);
}

/* The cases of one shape for a pass; on the GPU also cuSOLVER's, which are not predicted. */
static size_t list_cases(const struct measure *measure, const struct results *predictions,
        const struct result *shape, const struct results *done, enum repeat repeat,
        struct result *row)
{
	size_t count = 0;

	for (size_t i = 0; i < predictions->count && count < MEASURE_CANDIDATES - 1; i++) {
		const struct result *predicted = &predictions->row[i];
		if (shapes_same(predicted, shape) && results_level(predicted) == 2 &&
		        is_wanted(measure, done, predicted, repeat))
			row[count++] = *predicted;
	}
	if (measure->vendor && results_is_lu_panel(shape) && strcmp(shape->executor, "cuda") == 0) {
		struct result vendor = result_new(
		        "panel_getrf", "cusolver", "cuda", shape->precision, shape->m, shape->n);
		vendor.nb = vendor.n;
		if (is_wanted(measure, done, &vendor, repeat))
			row[count++] = vendor;
	}
	return count;
}

static measure_cases *cases_of(const struct result *shape)
{
	return results_is_lu_panel(shape)      ? measure_panel
	       : results_is_product(shape)     ? measure_product
	       : results_is_gram_kernel(shape) ? measure_gram_kernel
	       : results_is_host_gram(shape)   ? measure_gram_host
	       : results_is_gram(shape)        ? measure_gram
	                                       : measure_whole;
}

struct run {
	struct measure *measure;
	const struct results *predictions;
	struct results *results;
	struct shape *shape;
	size_t shapes;
	const char *path;
	double *hz; /* of the host, by shape */
	double end; /* no shape starts after this time */
};

/* One pass over all shapes, saved after each; returns how many fitted into the budget. */
static size_t repeat_shapes(struct run *run, enum repeat repeat)
{
	const bool again = repeat != REPEAT_FIRST;
	struct measure *measure = run->measure;
	size_t s = 0;

	for (; s < run->shapes && !stopped && clock_now() < run->end; s++) {
		struct result row[MEASURE_CANDIDATES];
		const struct result *first = run->shape[s].row;
		struct results *found = results_new();
		size_t count =
		        list_cases(measure, run->predictions, first, run->results, repeat, row);
		msg_progress("%zu of %zu shapes%s: %s %s %c %" PRId64 " x %" PRId64, s, run->shapes,
		        again ? " again" : "", first->executor, first->operation,
		        (char)first->precision, first->m, first->n);
		/* Lines of 128 bytes stay aligned from column to column, and lda > m. */
		measure->plan.ld = (first->m + 31) / 32 * 32 + 32;
		if (!again || count > 0)
			run->hz[s] = wait_for_clock(measure);
		if (count &&
		        cases_of(first)(measure, executor_of(measure, first), row, count, found)) {
			if (again)
				measure->remeasured += remeasured_merge(run->results, found);
			else
				results_append(run->results, found);
			measure_save(run->results, run->path);
		}
		results_free(found);
	}
	msg_progress_end();
	return s;
}

static int run_predicted(struct measure *measure)
{
	struct fault fault = {""};
	char sha[65], *source = xasprintf("%s/predictions.tsv", measure->common.output);
	char *path = xasprintf("%s/measurements.tsv", measure->common.output);
	struct results *predictions = results_read(source, &fault);

	if (!predictions || !table_sha256(source, sha, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s; run predict first", fault.text);
	measure_open(measure);
	struct results *results = measure_start(measure, path, sha);

	const char *hz_text = table_meta(predictions->table, "host_clock_hz");
	measure->wanted_hz = hz_text ? atof(hz_text) : 0;
	struct run run = {.measure = measure,
	        .predictions = predictions,
	        .results = results,
	        .shape = xmalloc((predictions->count + 1) * sizeof *run.shape),
	        .path = path,
	        .hz = xmalloc((predictions->count + 1) * sizeof *run.hz)};
	run.shapes = list_shapes(measure, predictions, run.shape);
	const double start = clock_now();
	run.end = start + measure->budget;
	const size_t s = repeat_shapes(&run, REPEAT_FIRST);
	if (s == run.shapes && repeat_shapes(&run, REPEAT_DISTURBED) == s)
		repeat_shapes(&run, REPEAT_UNSURE);
	if (measure->runs > 0 || measure->kept == 0) {
		table_meta_set(results->table, "host_clock_hz", "%.9g", stats_median(run.hz, s));
		table_meta_set(
		        results->table, "off_clock", "%zu of %zu shapes", measure->off_clock, s);
		table_meta_set(results->table, "disturbed",
		        "%zu of %zu runs, discarded; %zu cases were disturbed throughout",
		        measure->discarded, measure->runs, results_count_disturbed(results));
		table_meta_set(results->table, "remeasured", "%zu cases", measure->remeasured);
		measure_save(results, path);
	}
	printf("%s: %zu rows, %zu of %zu shapes, %zu cases measured again, %zu disturbed, %zu "
	       "refused, %zu failed, %.0f s\n",
	        path, results->count, s, run.shapes, measure->remeasured,
	        results_count_disturbed(results), measure->refused, measure->failed,
	        clock_now() - start);
	if (stopped)
		msg_warn("interrupted: all rows so far are kept; the same command continues");
	else
		measure_say_late(measure, run.shapes - s, "shapes");
	results_free(predictions);
	results_free(results);
	free(run.shape);
	free(run.hz);
	free(source);
	free(path);
	return measure_code(measure);
}

static void check_only(const char *only, bool model_plans, bool bench, bool kerr)
{
	static const char *const of_bench[] = {"panel_getrf", "getrf", "geqrf", "potrf", "gemm",
	        "transpose", "laswp", "trsm", "syrk", "trmm", "small_gemm", "thin_gemm",
	        "lawn_errors", "kind_errors", "gramschmidt", "gram_kernels", "breakdown", NULL};
	static const char *const of_kerr[] = {"blas", "steps", "ahead", "gemv", "lapack", NULL};

	if (model_plans && !bench)
		msg_die(EXIT_BAD_USAGE, "--model-plans belongs to --bench");
	if (!only[0])
		return;
	if (bench == kerr)
		msg_die(EXIT_BAD_USAGE, "--only belongs to one of --bench and --kerr");
	for (const char *const *known = bench ? of_bench : of_kerr; *known; known++)
		if (strcmp(only, *known) == 0)
			return;
	msg_die(EXIT_BAD_USAGE, "--only=%s is none of those that --help names", only);
}

int main(int argc, char **argv)
{
	bool bench = false, kerr = false, gram = false, update = false, paper = false;
	struct bench_request request = {.only = "", .math = "", .smallest = 1, .largest = 1048576};
	enum math math;
	struct measure measure = {.budget = 0, .argc = argc, .argv = argv};
	const struct cli_option options[] = {
	        {"bench", 0, CLI_FLAG, &bench, NULL,
	                "ours against cuSOLVER and the host at the documented sizes", 0, 0},
	        {"kerr", 0, CLI_FLAG, &kerr, NULL,
	                "QR with the whole Q, phase by phase, as Kerr et al. measured it", 0, 0},
	        {"gram-host", 0, CLI_FLAG, &gram, NULL,
	                "Gram-Schmidt on the host by threads, widths of blocks and compilers", 0,
	                0},
	        {"update", 0, CLI_FLAG, &update, NULL,
	                "changes of a QR factorization against factorizing again, as predict "
	                "--update predicted them",
	                0, 0},
	        {"paper", 0, CLI_FLAG, &paper, NULL,
	                "changes of a QR factorization by Andrew and Dingle's algorithms: widths "
	                "of "
	                "blocks, stages",
	                0, 0},
	        {"again", 0, CLI_FLAG, &measure.again, NULL,
	                "measure again what the file has, instead of continuing it; --gram-host "
	                "and --paper always do",
	                0, 0},
	        {"only", 0, CLI_TEXT, &request.only, "OPERATION",
	                "with --bench: panel_getrf, getrf, geqrf, potrf, gemm, transpose, laswp, "
	                "trsm, syrk, trmm, small_gemm, thin_gemm, lawn_errors, kind_errors, "
	                "gramschmidt, gram_kernels or breakdown alone; with --kerr: blas, steps, "
	                "ahead, gemv or lapack",
	                0, 0},
	        {"model-plans", 0, CLI_FLAG, &request.model_plans, NULL,
	                "with --bench: only whole factorizations, the largest squares first; of "
	                "ours only the model's plans on the GPU, at 4096 and 8192 also from host "
	                "memory and without one optimization each; the host up to 4096 x 4096",
	                0, 0},
	        {"math", 0, CLI_TEXT, &request.math, "fp32|3xtf32|3xfp16",
	                "with --bench: ours in single precision by this math alone", 0, 0},
	        {"smallest", 0, CLI_INT, &request.smallest, "N",
	                "with --bench or --kerr: from this many rows on", 1, 1e9},
	        {"largest", 0, CLI_INT, &request.largest, "N",
	                "with --bench or --kerr: up to this many rows and columns", 1, 1e9},
	        {"budget", 0, CLI_REAL, &measure.budget, "SECONDS",
	                "start no new shape after this time (0: 400, with --bench 3600, --kerr "
	                "600)",
	                0, 1e6}};
	const struct cli_program program = {.name = "fathom-measure",
	        .summary = "Runs the predicted operations and measures their times.",
	        .details =
	                "Reads predictions.tsv and writes measurements.tsv in the output folder.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};

	cli_parse(argc, argv, &program, &measure.common, NULL);
	if (request.math[0] && !math_find(request.math, &math))
		msg_die(EXIT_BAD_USAGE, "--math %s: fp32, 3xtf32 and 3xfp16 are possible",
		        request.math);
	check_only(request.only, request.model_plans, bench, kerr);
	bool quick = measure.common.quick;
	measure.plan = (struct timing_plan){.warm_seconds = quick ? 0.005 : 0.03,
	        .max_seconds = quick ? 0.05 : 0.2,
	        .target = 0.01,
	        .seed = (uint64_t)measure.common.seed << 32,
	        .stop = &stopped};
	if (update) { /* many short cases */
		measure.plan.warm_seconds = 0.003;
		measure.plan.max_seconds = 0.02;
	}
	if (measure.budget <= 0)
		measure.budget = bench ? 3600 : kerr ? 600 : 400;
	sigaction(SIGINT, &(struct sigaction){.sa_handler = stop}, NULL);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
	int code = bench    ? measure_bench(&measure, &request)
	           : kerr   ? measure_kerr(&measure, &request)
	           : gram   ? measure_gram_sweep(&measure)
	           : update ? measure_update(&measure)
	           : paper  ? measure_update_paper(&measure)
	                    : run_predicted(&measure);
	measure_close(&measure);
	return code;
}
