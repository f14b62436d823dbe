/* SPDX-License-Identifier: MIT */
/* Question: how much faster are several GPUs than one (LAWN 202, Figure 9)? Method: LU, Cholesky
 * and QR of squares on 1, 2, 4 .. and all GPUs, on random matrices made in place; on one GPU by the
 * algorithms for one with their default plans, on several by the calls of fathom_mg.h. The first
 * call, which loads code and reserves memory, does not count. Error sources: the host's clock
 * around a call that waits. Without a GPU: the host, up to 2048 columns. Unit: seconds. */
#include "measure.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/potrf.h"
#include "factor/library/fathom_mg_group.h"
#include "lib/base/msg.h"
#include "lib/host/clock.h"
#ifdef FATHOM_CUDA
#include "factor/executors/cuda/executor_cuda.h"
#endif

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, MOST_GPUS = 16, HOST_LARGEST = 2048 };

static const int64_t sizes[] = {1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const char *const operations[] = {"getrf", "potrf", "geqrf"};

struct several {
	struct measure *measure;
	struct fathom_mg *group;
	int gpus;
	struct fathom_mg_matrix desc;
	void *a[MOST_GPUS], *tau[MOST_GPUS];
	int *ipiv;
	void *work, *integers; /* of one GPU */
};

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

/* The measured GPU first. NULL with a fault. */
static struct fathom_mg *open_group(const struct measure *measure, int gpus, struct fault *fault)
{
	if (!measure->executor[0])
		return open_host(fault);
#ifdef FATHOM_CUDA
	int devices[MOST_GPUS] = {measure->gpu.device};
	struct fathom_mg *group;

	for (int device = 0, i = 1; i < gpus; device++)
		if (device != measure->gpu.device)
			devices[i++] = device;
	if (fathom_mg_create(&group, gpus, devices) == FATHOM_OK)
		return group;
#endif
	fault_refuse(fault, "%d GPUs: %s", gpus, fathom_mg_error(NULL));
	return NULL;
}

/* ---- matrices ---- */

static bool enter(const struct several *s, int rank)
{
	return !s->group->enter || s->group->enter(&s->group->members[rank]);
}

static bool reserve(struct several *s, enum precision precision)
{
	const int64_t word = precision_bytes(precision);
	bool ok = true;

	for (int i = 0; ok && i < s->gpus; i++) {
		struct executor *e = s->group->members[i].e;
		const int64_t columns = fathom_mg_columns(s->group, &s->desc, i);
		ok = enter(s, i) && e->ops->alloc(e, columns * s->desc.lld * word, &s->a[i]) &&
		     e->ops->alloc(e, columns * word, &s->tau[i]);
		if (!ok)
			s->measure->fault = e->fault;
	}
	return ok;
}

static void release(struct several *s)
{
	for (int i = 0; i < s->gpus; i++) {
		struct executor *e = s->group->members[i].e;
		if (enter(s, i) && s->a[i])
			e->ops->release(e, s->a[i]);
		if (s->tau[i])
			e->ops->release(e, s->tau[i]);
		s->a[i] = s->tau[i] = NULL;
	}
	struct executor *first = s->group->members[0].e;
	if (enter(s, 0) && s->work)
		first->ops->release(first, s->work);
	if (s->integers)
		first->ops->release(first, s->integers);
	s->work = s->integers = NULL;
}

/* Random elements in [-1, 1]. */
static bool fill_random(struct executor *e, struct matrix a, uint64_t seed)
{
	const int64_t count = a.ld * a.n;

	if (!e->on_host) {
#ifdef FATHOM_CUDA
		if (a.precision == SINGLE)
			gpu_fill_float(a.data, count, seed, stream(e));
		else
			gpu_fill_double(a.data, count, seed, stream(e));
#endif
		return e->ops->sync(e);
	}
	for (int64_t i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		const double x = (double)(seed >> 40) / (1 << 23) - 1;
		if (a.precision == SINGLE)
			((float *)a.data)[i] = (float)x;
		else
			((double *)a.data)[i] = x;
	}
	return true;
}

/* For Cholesky the diagonal dominates. */
static bool fill(struct several *s, enum precision precision, bool definite)
{
	bool ok = true;

	for (int i = 0; ok && i < s->gpus; i++) {
		struct mg_member *m = &s->group->members[i];
		const struct distributed a = {m->grid,
		        {.m = s->desc.m, .n = s->desc.n, .nb = s->desc.nb},
		        {s->a[i], 0, s->desc.m, fathom_mg_columns(s->group, &s->desc, i),
		                s->desc.lld, precision}};
		m->e->queue = QUEUE_MAIN;
		ok = enter(s, i) && fill_random(m->e, a.local, 1 + (uint64_t)i);
		for (int64_t j = 0; ok && definite && j < s->desc.n; j += s->desc.nb) {
			struct matrix row =
			        distributed_columns(&a, j, j, min_int64(s->desc.nb, s->desc.n - j));
			row.m = 1;
			row.ld++;
			ok = ex_fill(m->e, WHOLE, (double)s->desc.n, (double)s->desc.n, row);
		}
		ok = ok && m->e->ops->sync(m->e);
	}
	return ok && enter(s, 0);
}

/* ---- one GPU ---- */

static struct matrix alone_matrix(const struct several *s, enum precision precision)
{
	return (struct matrix){s->a[0], 0, s->desc.m, s->desc.n, s->desc.lld, precision};
}

static enum operation operation_of(const struct result *row)
{
	if (strcmp(row->operation, "potrf") == 0)
		return POTRF;
	return strcmp(row->operation, "geqrf") == 0 ? GEQRF : GETRF;
}

/* The default plan, and its workspace. */
static bool reserve_alone(struct several *s, const struct result *row, struct default_plan *chosen)
{
	struct executor *e = s->group->members[0].e;
	const struct matrix a = alone_matrix(s, row->precision);
	const enum operation operation = operation_of(row);

	plan_default(e, operation, a.m, a.n, a.precision, false, chosen);
	const int64_t bytes = operation == POTRF   ? potrf_work(e, &chosen->plan, LOWER, a)
	                      : operation == GEQRF ? geqrf_work(e, &chosen->plan, a)
	                                           : getrf_work(e, &chosen->plan, a);
	return bytes >= 0 && e->ops->alloc(e, bytes, &s->work) &&
	       e->ops->alloc(e, (a.n + 1) * (int64_t)sizeof(int), &s->integers);
}

static bool run_alone(
        const struct several *s, const struct result *row, const struct default_plan *chosen)
{
	struct executor *e = s->group->members[0].e;
	const struct matrix a = alone_matrix(s, row->precision);
	const struct matrix tau = {s->tau[0], 0, a.n, 1, a.n, a.precision};
	const enum operation operation = operation_of(row);

	return (operation == POTRF ? potrf(e, &chosen->plan, LOWER, a, s->work, s->integers)
	               : operation == GEQRF ? geqrf(e, &chosen->plan, a, tau, s->work)
	                                    : getrf(e, &chosen->plan, a, s->work,
	                                              (struct pivots){s->integers, a.n})) &&
	       e->ops->sync(e);
}

/* ---- one case ---- */

static enum fathom_status call(struct several *s, const struct result *row)
{
	const enum operation operation = operation_of(row);
	int info;

#define CALL(letter, type)                                                                         \
	(operation == POTRF ? fathom_mg_##letter##potrf(                                           \
	                              s->group, 'L', &s->desc, (type *const *)s->a, &info)         \
	        : operation == GEQRF ? fathom_mg_##letter##geqrf(s->group, &s->desc,               \
	                                       (type *const *)s->a, (type *const *)s->tau)         \
	                             : fathom_mg_##letter##getrf(s->group, &s->desc,               \
	                                       (type *const *)s->a, s->ipiv, &info))
	return row->precision == SINGLE ? CALL(s, float) : CALL(d, double);
#undef CALL
}

/* RUNS after the first; false with the measure's fault. */
static bool time_calls(struct several *s, struct result *row)
{
	struct executor *e = s->group->members[0].e;
	struct default_plan chosen;
	double seconds[RUNS];

	if (s->gpus == 1 && !reserve_alone(s, row, &chosen))
		return fault_set(&s->measure->fault, "%s", e->fault.text);
	for (int run = -1; run < RUNS; run++) {
		if (!fill(s, row->precision, operation_of(row) == POTRF))
			return fault_set(&s->measure->fault, "a matrix cannot be made");
		const double start = clock_now();
		if (s->gpus == 1 ? !run_alone(s, row, &chosen) : call(s, row) != FATHOM_OK)
			return fault_set(&s->measure->fault, "%s",
			        s->gpus == 1 ? e->fault.text : fathom_mg_error(s->group));
		if (run >= 0)
			seconds[run] = clock_now() - start;
	}
	row->seconds = stats_median_interval(seconds, RUNS);
	return true;
}

static void measure_case(struct several *s, struct result *row)
{
	struct measure *m = s->measure;
	const bool split = row->math != MATH_FP32;

	if (results_find(m->results, row) || !measure_in_time(m))
		return;
	msg_progress("%s of %" PRId64 " on %d", row->operation, row->n, s->gpus);
	if (fathom_mg_set_math(s->group, (enum fathom_math)row->math) != FATHOM_OK)
		return;
	bool ok = reserve(s, row->precision) && time_calls(s, row);
	release(s);
	if (!ok) {
		m->refused++;
		msg_warn("%s of %" PRId64 "%s on %d: %s", row->operation, row->n,
		        split ? math_title[row->math] : "", s->gpus, m->fault.text);
		return;
	}
	results_add(m->results, row);
	measure_save(m);
}

static void measure_size(struct several *s, int64_t n)
{
	const struct bench_request *request = &s->measure->request;
	const char *executor = s->group->members[0].e->name;
	char gpus[16];

	snprintf(gpus, sizeof gpus, "%d", s->gpus);
	s->desc = (struct fathom_mg_matrix){.m = n, .n = n, .nb = n < 32768 ? 256 : 512, .lld = n};
	s->ipiv = xmalloc((size_t)n * sizeof *s->ipiv);
	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int math = 0; math <= MATHS; math++) { /* MATHS: double precision */
			struct result row = result_new(operations[o], "gpu", executor,
			        math == MATHS ? DOUBLE : SINGLE, n, n);
			row.math = math == MATHS ? MATH_FP32 : (enum math)math;
			row.nb = s->desc.nb;
			results_option_add(row.options, "gpus", gpus);
			if ((!request->only[0] || strcmp(request->only, operations[o]) == 0) &&
			        (!request->math[0] || math == MATHS ||
			                strcmp(request->math, math_name[row.math]) == 0))
				measure_case(s, &row);
		}
	free(s->ipiv);
}

/* ---- all ---- */

void measure_several(struct measure *measure)
{
	const struct bench_request *request = &measure->request;
	const int64_t largest =
	        measure->executor[0] ? request->largest : min_int64(request->largest, HOST_LARGEST);
	const int visible = measure->executor[0] ? measure->gpu.visible : 1;
	const int most = visible < MOST_GPUS ? visible : MOST_GPUS;

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
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			if (sizes[i] >= request->smallest && sizes[i] <= largest)
				measure_size(&s, sizes[i]);
		fathom_mg_destroy(s.group);
	}
	if (measure->topology)
		core_noise_return(&measure->noise);
}

/* The same case on one GPU, or NULL. */
static const struct result *on_one(const struct results *results, const struct result *row)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result *other = &results->row[i];
		if (result_same_problem(row, other) && other->math == row->math &&
		        result_has_value(other, "gpus", "1"))
			return other;
	}
	return NULL;
}

void several_print(const struct results *results, FILE *out)
{
	char gpus[16];

	fprintf(out, "%-6s %1s %-7s %6s %5s %10s %10s %8s\n", "", "", "math", "n", "GPUs",
	        "seconds", "Gflop/s", "speedup");
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i], *one = on_one(results, row);
		if (!results_option(row->options, "gpus", gpus, sizeof gpus))
			continue;
		fprintf(out, "%-6s %c %-7s %6" PRId64 " %5s %10.4f %10.0f %8.2f\n", row->operation,
		        (char)row->precision,
		        row->precision == DOUBLE ? "fp64" : math_name[row->math], row->n, gpus,
		        row->seconds.value, results_gflops(row),
		        one ? one->seconds.value / row->seconds.value : NAN);
	}
}
