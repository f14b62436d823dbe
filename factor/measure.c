/* SPDX-License-Identifier: MIT */
/* Question: how long do the predicted operations really take here?
 * Method: every case of predictions.tsv on a fresh random panel, restored by a copy before each
 * run; the variants of a shape in turns, the shapes in random order; host clock from call to
 * completion; median with its 95 % interval. What can fool it: clocks that still rise (warm-up by
 * time), other users of the device (recorded), a wrong result (checked: then there is no number).
 * Unit: seconds per operation. */
#include "../lib/cli.h"
#include "../lib/clock.h"
#include "../lib/gpu.h"
#include "../lib/machine.h"
#include "../lib/msg.h"
#include "bench.h"
#include "cases.h"
#include "results.h"
#include "timing.h"
#include "vendor.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTENDERS = 40, EXECUTORS = 2 };

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
	(void)signal_number;
	stopped = 1;
}

struct measure {
	struct cli_common common;
	struct gpu gpu;
	bool has_gpu;
	struct executor *executor[EXECUTORS]; /* cuda, host; NULL where not possible */
	struct vendor *vendor;                /* NULL where not possible */
	struct timing_plan plan;
	size_t failed, refused;
	double wanted_hz; /* host clock of the profile behind the predictions; 0: unknown */
	size_t off_clock; /* shapes measured at another one */
};

/* The host's clock moves with what else runs on it; a shape waits this long for the profile's. */
static const double clock_patience = 1.5, clock_tolerance = 0.04;

static const char *const executor_names[EXECUTORS] = {"cuda", "host"};

/* ---- the machine ---- */

static void open_machine(struct measure *measure)
{
	struct fault fault = {""};

	measure->has_gpu = gpu_open(&measure->gpu, measure->common.device, &fault);
	if (measure->has_gpu) {
		measure->executor[0] = executor_cuda_new(measure->common.device, &fault);
	}
	if (!measure->executor[0])
		msg_warn("no GPU is measured, host cases only: %s", fault.text);
	else if (!(measure->vendor = vendor_new(&fault)))
		msg_warn("no cuSOLVER reference: %s", fault.text);
	if (!(measure->executor[1] = executor_host_new(&fault)))
		msg_warn("no host executor: %s", fault.text);
	if (!measure->executor[0] && !measure->executor[1])
		msg_die(EXIT_NOT_POSSIBLE, "nothing can be measured here: %s", fault.text);
}

static void close_machine(struct measure *measure)
{
	vendor_free(measure->vendor);
	for (int e = 0; e < EXECUTORS; e++)
		executor_free(measure->executor[e]);
}

static void stamp(struct measure *measure, struct table *table, int argc, char **argv)
{
	const struct gpu *gpu = measure->has_gpu ? &measure->gpu : NULL;

	machine_stamp(table, "measure", gpu, argc, argv);
	table_meta_set(table, "seed", "%" PRId64, measure->common.seed);
	if (gpu)
		table_meta_set(table, "other_users", "%d", gpu_other_users(gpu));
}

/* Waits until the host's clock is the profile's, or patience ends; returns it. */
static double settle(struct measure *measure)
{
	double start = clock_now(), hz;
	bool off;

	do {
		hz = clock_core_hz();
		off = measure->wanted_hz > 0 && fabs(hz / measure->wanted_hz - 1) > clock_tolerance;
	} while (off && !stopped && clock_now() - start < clock_patience);
	measure->off_clock += off;
	return hz;
}

/* ---- contenders ---- */

static bool vendor_ready(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	return vendor_prepare(contender->context, problem->a, fault);
}

static bool vendor_run(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	return vendor_getrf(contender->context, problem->a, problem->pivots, fault);
}

static struct contender contender_for(
        struct measure *measure, struct executor *executor, const struct result *row)
{
	char phase[16];
	unsigned skip = 0;

	if (strcmp(row->variant, "cusolver") == 0)
		return (struct contender){.variant = "cusolver",
		        .run = vendor_run,
		        .prepare = vendor_ready,
		        .context = measure->vendor};
	if (strcmp(row->operation, "ger") == 0)
		return contender_ger(executor);
	if (results_option(row->options, "phase", phase, sizeof phase))
		for (unsigned p = 0; p < PHASE_COUNT; p++)
			if (strcmp(phase_name[p], phase) != 0)
				skip |= 1u << p;
	return contender_panel(executor, row->variant, skip);
}

/* Times `count` cases of one shape and appends their rows. False when stopped or impossible. */
static bool measure_shape(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct contender contender[CONTENDERS];
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		contender[i] = contender_for(measure, executor, &row[i]);
	measure->plan.seed += 1000;
	if (!timing_run(executor, row->precision, row->m, row->n, &measure->plan, contender, count,
	            &fault)) {
		if (!stopped)
			msg_warn("%" PRId64 " x %" PRId64 " on %s: %s", row->m, row->n,
			        row->executor, fault.text);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		row[i].seconds = contender[i].seconds;
		row[i].residual = contender[i].residual;
		row[i].regime[0] = 0;
		snprintf(row[i].note, sizeof row[i].note, "%s", contender[i].note);
		snprintf(row[i].plan, sizeof row[i].plan, "nb=%" PRId64 " lda=%" PRId64, row->n,
		        measure->plan.ld);
		results_add(out, &row[i]);
		measure->failed += contender[i].failed;
		measure->refused += contender[i].refused;
		if (contender[i].failed)
			msg_warn("%s %s %" PRId64 " x %" PRId64 ": %s", row[i].executor,
			        row[i].variant, row->m, row->n, contender[i].note);
	}
	return true;
}

/* ---- the predicted cases ---- */

static bool same_shape(const struct result *a, const struct result *b)
{
	return a->m == b->m && a->n == b->n && a->precision == b->precision &&
	       strcmp(a->executor, b->executor) == 0;
}

static struct executor *executor_of(const struct measure *measure, const struct result *row)
{
	for (int e = 0; e < EXECUTORS; e++)
		if (strcmp(row->executor, executor_names[e]) == 0)
			return measure->executor[e];
	return NULL;
}

/* The first prediction of every shape that can run here, in random order. */
static size_t list_shapes(const struct measure *measure, const struct results *predictions,
        const struct result **shape)
{
	size_t count = 0;
	uint64_t state = (uint64_t)measure->common.seed;

	for (size_t i = 0; i < predictions->count; i++) {
		const struct result *row = &predictions->row[i];
		bool seen = !executor_of(measure, row);
		for (size_t s = 0; s < count && !seen; s++)
			seen = same_shape(shape[s], row);
		if (!seen)
			shape[count++] = row;
	}
	for (size_t i = count; i > 1; i--) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		size_t j = (size_t)(state >> 33) % i;
		const struct result *swap = shape[i - 1];
		shape[i - 1] = shape[j];
		shape[j] = swap;
	}
	return count;
}

/* The cases of one shape that have no row in `done` yet; on the GPU also cuSOLVER's, which nobody
 * predicts. */
static size_t list_cases(const struct measure *measure, const struct results *predictions,
        const struct result *shape, const struct results *done, struct result *row)
{
	size_t count = 0;

	for (size_t i = 0; i < predictions->count && count < CONTENDERS - 1; i++) {
		const struct result *predicted = &predictions->row[i];
		if (same_shape(predicted, shape) && results_level(predicted) == 2 &&
		        !results_find(done, predicted))
			row[count++] = *predicted;
	}
	if (measure->vendor && strcmp(shape->executor, "cuda") == 0) {
		struct result vendor = *shape;
		strcpy(vendor.operation, "panel_getrf");
		strcpy(vendor.variant, "cusolver");
		results_options(vendor.options, "cuda", NULL, 2);
		if (!results_find(done, &vendor))
			row[count++] = vendor;
	}
	return count;
}

static struct results *start_results(const char *path, const char *predictions_sha, bool resume)
{
	struct fault fault = {""};
	struct results *old = resume ? results_read(path, &fault) : NULL;
	const char *sha = old ? table_meta(old->table, "predictions_sha256") : NULL;

	if (sha && strcmp(sha, predictions_sha) == 0)
		return old;
	if (resume)
		msg_warn("starting afresh: %s",
		        old ? "the measurements are of other predictions" : fault.text);
	results_free(old);
	return results_new();
}

static void save(struct results *results, const char *path)
{
	struct fault fault;

	if (!results_write(results, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
}

static int run_predicted(struct measure *measure, bool resume, double budget, int argc, char **argv)
{
	struct fault fault = {""};
	char sha[65], *source = xasprintf("%s/predictions.tsv", measure->common.output);
	char *path = xasprintf("%s/measurements.tsv", measure->common.output);
	struct results *predictions = results_read(source, &fault);

	if (!predictions || !table_sha256(source, sha, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s; run predict first", fault.text);
	open_machine(measure);
	struct results *results = start_results(path, sha, resume);
	stamp(measure, results->table, argc, argv);
	table_meta_set(results->table, "predictions_sha256", "%s", sha);

	const char *hz_text = table_meta(predictions->table, "host_clock_hz");
	measure->wanted_hz = hz_text ? atof(hz_text) : 0;
	const struct result **shape = xmalloc((predictions->count + 1) * sizeof *shape);
	double *hz = xmalloc((predictions->count + 1) * sizeof *hz);
	size_t shapes = list_shapes(measure, predictions, shape), s = 0;
	double start = clock_now();
	for (; s < shapes && !stopped && clock_now() - start < budget; s++) {
		struct result row[CONTENDERS];
		size_t count = list_cases(measure, predictions, shape[s], results, row);
		msg_progress("%zu of %zu shapes: %s %c %" PRId64 " x %" PRId64, s, shapes,
		        shape[s]->executor, (char)shape[s]->precision, shape[s]->m, shape[s]->n);
		/* Lines of 128 bytes stay aligned from column to column, and lda > m. */
		measure->plan.ld = (shape[s]->m + 31) / 32 * 32 + 32;
		hz[s] = settle(measure);
		if (count &&
		        measure_shape(measure, executor_of(measure, shape[s]), row, count, results))
			save(results, path);
	}
	msg_progress_end();
	table_meta_set(results->table, "host_clock_hz", "%.9g", stats_median(hz, s));
	table_meta_set(results->table, "off_clock", "%zu of %zu shapes", measure->off_clock, s);
	save(results, path);
	printf("%s: %zu rows, %zu of %zu shapes, %zu refused, %zu failed, %.0f s\n", path,
	        results->count, s, shapes, measure->refused, measure->failed, clock_now() - start);
	if (stopped)
		msg_warn("interrupted: what was measured so far is kept; --resume continues");
	else if (s < shapes)
		msg_warn("the time of %.0f s is spent: %zu shapes are not measured; --resume "
		         "continues",
		        budget, shapes - s);
	results_free(predictions);
	results_free(results);
	free(shape);
	free(hz);
	free(source);
	free(path);
	return measure->failed || stopped ? EXIT_MEASURE_FAILED : EXIT_DONE;
}

/* ---- the documented sizes ---- */

static int run_bench(struct measure *measure, int argc, char **argv)
{
	char *path = xasprintf("%s/bench.tsv", measure->common.output);
	struct results *results = results_new();

	open_machine(measure);
	int chosen = measure->executor[0] ? 0 : 1;
	stamp(measure, results->table, argc, argv);
	for (const struct bench_shape *shape = cases_bench; shape->m && !stopped; shape++) {
		struct result row[CONTENDERS] = {0};
		size_t count = 0;
		for (const char *const *v = bench_variants(executor_names[chosen]); *v; v++) {
			struct result *next = &row[count];
			if (strcmp(*v, "cusolver") == 0 && !measure->vendor)
				continue;
			next->precision = SINGLE;
			next->m = shape->m;
			next->n = shape->n;
			strcpy(next->operation, "panel_getrf");
			snprintf(next->variant, sizeof next->variant, "%s", *v);
			strcpy(next->executor, executor_names[chosen]);
			results_options(next->options, next->executor, NULL, 2);
			count++;
		}
		measure->plan.ld = shape->m; /* as in the table this is compared with */
		msg_progress("%" PRId64 " x %" PRId64, shape->m, shape->n);
		if (measure_shape(measure, measure->executor[chosen], row, count, results))
			save(results, path);
	}
	msg_progress_end();
	bench_print(results, stdout);
	printf("%s\n", path);
	results_free(results);
	free(path);
	return measure->failed || stopped ? EXIT_MEASURE_FAILED : EXIT_DONE;
}

int main(int argc, char **argv)
{
	bool bench = false, resume = false;
	double budget = 400;
	const struct cli_option options[] = {
	        {"bench", 0, CLI_FLAG, &bench, NULL,
	                "our panel against cuSOLVER and the host at the documented sizes", 0, 0},
	        {"resume", 0, CLI_FLAG, &resume, NULL, "keep what is measured already", 0, 0},
	        {"budget", 0, CLI_REAL, &budget, "SECONDS", "start no new shape after this time", 1,
	                1e6}};
	const struct cli_program program = {.name = "fathom-measure",
	        .summary = "Runs the predicted operations and measures their times.",
	        .details =
	                "Reads predictions.tsv and writes measurements.tsv in the output folder.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	struct measure measure = {0};

	cli_parse(argc, argv, &program, &measure.common, NULL);
	bool quick = measure.common.quick;
	measure.plan = (struct timing_plan){.warm_seconds = quick ? 0.005 : 0.03,
	        .max_seconds = quick ? 0.05 : 0.35,
	        .target = 0.01,
	        .seed = (uint64_t)measure.common.seed << 32,
	        .stop = &stopped};
	sigaction(SIGINT, &(struct sigaction){.sa_handler = stop}, NULL);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
	int code = bench ? run_bench(&measure, argc, argv)
	                 : run_predicted(&measure, resume, budget, argc, argv);
	close_machine(&measure);
	return code;
}
