/* SPDX-License-Identifier: MIT */
/* Question: how much faster are several GPUs than one (LAWN 202, Figure 9)? Method: LU, Cholesky
 * and QR of squares on 1, 2, 4 .. and all GPUs, on random matrices made in place; on one GPU by the
 * algorithms for one with their default plans, on several by the calls of fathom_mg.h. The first
 * call, which loads code and reserves memory, does not count, unless it takes seconds. Of the last
 * run's factors a solve is checked. Last comes a matrix that one GPU cannot hold. Error sources:
 * the host's clock around a call that waits. Without a GPU: the host, up to 2048 columns. Unit:
 * seconds. */
#include "measure_several.h"

#include "factor/model/predictions/model_several.h"
#include "factor/validation/draw.h"
#include "factor/validation/print_number.h"
#include "lib/base/msg.h"
#include "lib/stats/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_LARGEST = 2048, ALIGNED = 32 /* columns begin at multiples, for split operands */ };

static const int64_t sizes[] = {1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const char *const operations[] = {"getrf", "potrf", "geqrf"};

/* ---- groups ---- */

static struct fathom_mg *open_host(struct fault *fault)
{
	struct mg_member *m = xcalloc(1, sizeof *m);

	*m = (struct mg_member){.e = executor_host_new(fault), .comm = comm_self_new(fault)};
	if (m->e && m->comm)
		return mg_group(m, 1, NULL);
	free(m);
	return NULL;
}

/* The measured GPU first. */
static void list_devices(const struct measure *measure, int gpus, int devices[SEVERAL_MOST])
{
	devices[0] = measure->gpu.device;
	for (int device = 0, i = 1; i < gpus; device++)
		if (device != measure->gpu.device)
			devices[i++] = device;
}

/* NULL with a fault. */
static struct fathom_mg *open_group(const struct measure *measure, int gpus, struct fault *fault)
{
	if (!measure->executor[0])
		return open_host(fault);
#ifdef FATHOM_CUDA
	int devices[SEVERAL_MOST];
	struct fathom_mg *group;

	list_devices(measure, gpus, devices);
	if (fathom_mg_create(&group, gpus, devices) == FATHOM_OK)
		return group;
#endif
	fault_refuse(fault, "%d GPUs: %s", gpus, fathom_mg_error(NULL));
	return NULL;
}

/* ---- cases ---- */

static bool is_vendors(const struct result *row)
{
	return strcmp(row->variant, "cusolvermg") == 0;
}

static bool run(struct several *s, struct result *row)
{
	int devices[SEVERAL_MOST];

	if (!is_vendors(row))
		return fathom_mg_set_math(s->group, (enum fathom_math)row->math) == FATHOM_OK
		               ? several_run(s, row)
		               : several_fault(s, &s->group->fault);
	list_devices(s->measure, s->gpus, devices);
	return several_run_vendor(s, devices, row);
}

static void measure_case(struct several *s, struct result *row)
{
	struct measure *m = s->measure;

	if (results_find(m->results, row) || !measure_in_time(m))
		return;
	const char *by = is_vendors(row)          ? " by cuSOLVERMg"
	                 : row->math != MATH_FP32 ? math_title[row->math]
	                                          : "";
	msg_progress("%s of %" PRId64 "%s on %d", row->operation, row->n, by, s->gpus);
	s->desc = (struct fathom_mg_matrix){.m = row->n,
	        .n = row->n,
	        .nb = row->nb,
	        .lld = (row->n + ALIGNED - 1) / ALIGNED * ALIGNED};
	if (!run(s, row)) {
		m->refused += m->fault.refused;
		m->failed += !m->fault.refused;
		msg_warn("%s of %" PRId64 "%s on %d: %s", row->operation, row->n, by, s->gpus,
		        m->fault.text);
		return;
	}
	results_add(m->results, row);
	measure_save(m);
}

/* The same by cuSOLVERMg, which has no QR and one math mode a precision. */
static void measure_vendor(struct several *s, const struct result *ours)
{
	static const int64_t widths[] = {256, 512};

	if (!s->measure->executor[0] || s->gpus == 1 || ours->math != MATH_FP32 ||
	        strcmp(ours->operation, "geqrf") == 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		struct result row = *ours;
		if (row.n % (s->gpus * widths[i]) != 0)
			continue;
		snprintf(row.variant, sizeof row.variant, "cusolvermg");
		row.nb = widths[i];
		measure_case(s, &row);
	}
}

/* The width of blocks that the model takes for fast, and its time as a row of executor model;
 * without a profile a usual width. */
static void plan_case(struct several *s, struct result *row)
{
	const struct several_question asked = {.operation = row->operation,
	        .m = row->m,
	        .n = row->n,
	        .precision = row->precision,
	        .math = row->math,
	        .gpus = s->gpus,
	        .hosts = 1};
	struct several_prediction predicted;
	struct measure *m = s->measure;

	row->nb = row->n < 32768 ? 256 : 512;
	if (!m->executor[0] || !m->profile ||
	        !model_several_predict(m->profile, &asked, false, &predicted))
		return;
	if (predicted.nb)
		row->nb = predicted.nb;
	struct result model = *row;
	snprintf(model.executor, sizeof model.executor, "model");
	const double seconds = predicted.whole.seconds;
	model.seconds = (struct estimate){seconds, seconds, seconds, 1};
	if (!results_find(m->results, &model))
		results_add(m->results, &model);
}

/* A math mode that the GPUs lack is refused where it is asked for, else left out. */
static bool wanted(const struct several *s, const char *operation, int math)
{
	const struct bench_request *request = &s->measure->request;

	if (request->only[0] && strcmp(request->only, operation) != 0)
		return false;
	if (math == MATHS)
		return true;
	if (double_alone(request))
		return false;
	return request->math[0] ? strcmp(request->math, math_name[math]) == 0
	                        : math_possible(s->group->members[0].e, (enum math)math);
}

/* Of an order, by all factorizations and math modes; MATHS stands for double precision. */
static void measure_size(struct several *s, int64_t n, int from_math)
{
	const char *executor = s->group->members[0].e->name;
	char gpus[16], seed[24];

	snprintf(gpus, sizeof gpus, "%d", s->gpus);
	snprintf(seed, sizeof seed, "%" PRId64, s->measure->common.seed);
	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int math = from_math; math <= MATHS; math++) {
			struct result row = result_new(operations[o], "gpu", executor,
			        math == MATHS ? DOUBLE : SINGLE, n, n);
			row.math = math == MATHS ? MATH_FP32 : (enum math)math;
			results_option_add(row.options, "gpus", gpus);
			if (s->measure->request.drawn)
				results_option_add(row.options, "seed", seed);
			if (!wanted(s, operations[o], math))
				continue;
			const struct result asked = row;
			plan_case(s, &row);
			measure_case(s, &row);
			measure_vendor(s, &asked);
		}
}

/* The order of a matrix in double precision that needs 1.6 times the memory of one GPU. */
static int64_t beyond_one(const struct measure *m)
{
	enum { MULTIPLE = 1024 };

	return (int64_t)sqrt(1.6 * (double)m->gpu.memory_bytes / sizeof(double)) / MULTIPLE *
	       MULTIPLE;
}

/* ---- all ---- */

/* The orders to measure, which one GPU can hold. Returns their number. */
static size_t list_orders(const struct measure *m, int64_t order[SEVERAL_DRAWN])
{
	const struct bench_request *request = &m->request;
	const int64_t most = m->executor[0] ? sizes[ARRAY_LEN(sizes) - 1] : HOST_LARGEST,
	              largest = min_int64(request->largest, most);
	size_t count = 0;

	if (request->drawn)
		return draw_orders(m->common.seed,
		        request->smallest > 1 ? request->smallest : min_int64(sizes[0], largest),
		        largest, order, (size_t)request->drawn);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		if (sizes[i] >= request->smallest && sizes[i] <= largest)
			order[count++] = sizes[i];
	return count;
}

void measure_several(struct measure *measure)
{
	const struct bench_request *request = &measure->request;
	int64_t order[SEVERAL_DRAWN];
	const size_t orders = list_orders(measure, order);
	const int visible = measure->executor[0] ? measure->gpu.visible : 1;
	const int most = visible < SEVERAL_MOST ? visible : SEVERAL_MOST;

	/* each GPU has a thread, and NCCL has more */
	if (measure->topology)
		core_noise_leave(&measure->noise);
	for (int gpus = 1; gpus <= most; gpus = gpus < most && 2 * gpus > most ? most : 2 * gpus) {
		struct several s = {.measure = measure, .gpus = gpus};
		s.group = open_group(measure, gpus, &measure->fault);
		if (!s.group) {
			msg_warn("%s", measure->fault.text);
			measure->refused++;
			break;
		}
		if (fathom_mg_note(s.group)[0])
			msg_warn("%s", fathom_mg_note(s.group));
		for (size_t i = 0; i < orders; i++)
			measure_size(&s, order[i], 0);
		if (gpus > 1 && !request->drawn && beyond_one(measure) >= request->smallest &&
		        beyond_one(measure) <= request->largest)
			measure_size(&s, beyond_one(measure), MATHS);
		fathom_mg_destroy(s.group);
	}
	if (measure->topology)
		core_noise_return(&measure->noise);
}

/* The fastest of the same problem by a variant on that many GPUs of an executor, or NULL. */
static const struct result *fastest(const struct results *results, const struct result *row,
        const char *variant, const char *executor, const char *gpus)
{
	const struct result *best = NULL;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *other = &results->row[i];
		if (result_same_problem(row, other) && strcmp(other->variant, variant) == 0 &&
		        (other->math == row->math || is_vendors(other)) &&
		        strcmp(other->executor, executor) == 0 &&
		        result_has_value(other, "gpus", gpus) &&
		        (!best || other->seconds.value < best->seconds.value))
			best = other;
	}
	return best;
}

/* How often as long the other takes, or NaN. */
static double times(const struct result *other, const struct result *row)
{
	return other ? other->seconds.value / row->seconds.value : NAN;
}

static void print_case(
        const struct results *results, const struct result *row, const char *gpus, FILE *out)
{
	const struct result *one = fastest(results, row, "gpu", row->executor, "1"),
	                    *vendor = fastest(results, row, "cusolvermg", row->executor, gpus),
	                    *model = fastest(results, row, "gpu", "model", gpus);

	fprintf(out, "%-6s %c %-7s %6" PRId64 " %4s %5" PRId64 " %9.4f %8.0f", row->operation,
	        (char)row->precision, row->precision == DOUBLE ? "fp64" : math_name[row->math],
	        row->n, gpus, row->nb, row->seconds.value, results_gflops(row));
	print_number(times(one, row), 7, 2, out);
	print_number(times(vendor, row), 7, 2, out);
	print_number(model ? model->seconds.value : NAN, 9, 4, out);
	print_number(100 * (times(model, row) - 1), 7, 1, out);
	fprintf(out, " %8.2g\n", row->residual);
}

/* |Error| of the predictions for more than one GPU, of drawn orders or of the others. */
static void print_errors(const struct results *results, bool drawn, FILE *out)
{
	double *error = xcalloc(results->count + 1, sizeof *error), worst = 0;
	size_t count = 0;
	char gpus[16];

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i], *model = NULL;
		if (strcmp(row->executor, "model") != 0 && !is_vendors(row) &&
		        (result_seed(row) != NOT_DRAWN) == drawn &&
		        results_option(row->options, "gpus", gpus, sizeof gpus) && atoi(gpus) > 1)
			model = fastest(results, row, "gpu", "model", gpus);
		if (!model)
			continue;
		error[count] = fabs(model->seconds.value / row->seconds.value - 1);
		worst = fmax(worst, error[count++]);
	}
	if (count)
		fprintf(out,
		        "Predictions for several GPUs, %s orders: median |error| %.1f %%, worst "
		        "%.1f %%, "
		        "%zu times\n",
		        drawn ? "drawn" : "documented", 100 * stats_median(error, count),
		        100 * worst, count);
	free(error);
}

void several_print(const struct results *results, FILE *out)
{
	char gpus[16];

	fprintf(out,
	        "Speedups over one GPU and over cuSOLVERMg's faster block width; predicted "
	        "seconds\n%-6s %1s %-7s %6s %4s %5s %9s %8s %7s %7s %9s %7s %8s\n",
	        "", "", "math", "n", "GPUs", "nb", "seconds", "Gflop/s", "1 GPU", "Mg", "predicted",
	        "error %", "residual");
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (strcmp(row->executor, "model") != 0 && !is_vendors(row) &&
		        results_option(row->options, "gpus", gpus, sizeof gpus))
			print_case(results, row, gpus, out);
	}
	print_errors(results, false, out);
	print_errors(results, true, out);
}
