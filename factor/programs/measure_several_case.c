/* SPDX-License-Identifier: MIT */
/* One case of `measure --several`: matrices in place, timed calls. */
#include "measure_several.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/potrf.h"
#include "factor/validation/vendor_mg.h"
#include "lib/host/clock.h"
#ifdef FATHOM_CUDA
#include "factor/executors/cuda/executor_cuda.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3 };

/* Seconds from which a run is not repeated, and counts though it is the first. */
static const double long_run = 5;

/* Right results stay below 0.5 up to 200,000 columns, wrong ones begin at 1 / (n eps): 250 there.
 */
static const double residual_most = 3;

/* ---- matrices ---- */

bool several_enter(const struct several *s, int rank)
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
		ok = several_enter(s, i) &&
		     e->ops->alloc(e, columns * s->desc.lld * word, &s->a[i]) &&
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
		if (several_enter(s, i) && s->a[i])
			e->ops->release(e, s->a[i]);
		if (s->tau[i])
			e->ops->release(e, s->tau[i]);
		s->a[i] = s->tau[i] = NULL;
	}
	struct executor *first = s->group->members[0].e;
	if (several_enter(s, 0) && s->work)
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

struct distributed several_columns(const struct several *s, int rank, enum precision precision)
{
	return (struct distributed){s->group->members[rank].grid,
	        {.m = s->desc.m, .n = s->desc.n, .nb = s->desc.nb},
	        {s->a[rank], 0, s->desc.m, fathom_mg_columns(s->group, &s->desc, rank), s->desc.lld,
	                precision}};
}

bool several_fill(struct several *s, enum precision precision, bool definite)
{
	const double diagonal = several_diagonal(s->desc.n);
	bool ok = true;

	for (int i = 0; ok && i < s->gpus; i++) {
		struct executor *e = s->group->members[i].e;
		const struct distributed a = several_columns(s, i, precision);
		e->queue = QUEUE_MAIN;
		ok = several_enter(s, i) && fill_random(e, a.local, 1 + (uint64_t)i);
		for (int64_t j = 0; ok && definite && j < s->desc.n; j += s->desc.nb) {
			struct matrix row =
			        distributed_columns(&a, j, j, min_int64(s->desc.nb, s->desc.n - j));
			row.m = 1;
			row.ld++;
			ok = ex_fill(e, WHOLE, diagonal, diagonal, row);
		}
		ok = ok && e->ops->sync(e);
	}
	if (!ok || !several_enter(s, 0))
		return fault_set(&s->measure->fault, "a matrix cannot be made");
	return true;
}

/* ---- one GPU ---- */

static struct matrix alone_matrix(const struct several *s, enum precision precision)
{
	return (struct matrix){s->a[0], 0, s->desc.m, s->desc.n, s->desc.lld, precision};
}

enum operation several_operation(const struct result *row)
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
	const enum operation operation = several_operation(row);

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
	const enum operation operation = several_operation(row);

	return (operation == POTRF ? potrf(e, &chosen->plan, LOWER, a, s->work, s->integers)
	               : operation == GEQRF ? geqrf(e, &chosen->plan, a, tau, s->work)
	                                    : getrf(e, &chosen->plan, a, s->work,
	                                              (struct pivots){s->integers, a.n})) &&
	       e->ops->sync(e);
}

/* ---- one case ---- */

static enum fathom_status call(struct several *s, const struct result *row)
{
	const enum operation operation = several_operation(row);
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

static bool run_once(struct several *s, const struct result *row, const struct default_plan *chosen)
{
	struct executor *e = s->group->members[0].e;
	int info;

	if (s->vendor)
		return vendor_mg_run(s->vendor, &s->measure->fault);
	if (s->gpus > 1)
		return call(s, row) == FATHOM_OK || several_fault(s, &s->group->fault);
	return (run_alone(s, row, chosen) &&
	               (several_operation(row) != GETRF ||
	                       e->ops->read_pivots(
	                               e, (struct pivots){s->integers, row->n}, s->ipiv, &info))) ||
	       several_fault(s, &e->fault);
}

/* RUNS after the first, or a long one; false with the measure's fault. */
static bool time_calls(struct several *s, struct result *row)
{
	struct default_plan chosen;
	double seconds[RUNS];
	int runs = 0;

	if (s->gpus == 1 && !reserve_alone(s, row, &chosen))
		return several_fault(s, &s->group->members[0].e->fault);
	for (int run = -1; run < RUNS; run++) {
		if (!several_fill(s, row->precision, several_operation(row) == POTRF))
			return false;
		const double start = clock_now();
		if (!run_once(s, row, &chosen))
			return false;
		const double taken = clock_now() - start;
		if (run >= 0 || taken >= long_run)
			seconds[runs++] = taken;
		if (taken >= long_run)
			break;
	}
	row->seconds = stats_median_interval(seconds, (size_t)runs);
	return true;
}

bool several_run_vendor(struct several *s, const int *devices, struct result *row)
{
	struct fault *fault = &s->measure->fault;
	bool ok = reserve(s, row->precision);

	if (ok)
		s->vendor = vendor_mg_new(several_operation(row), row->precision, s->gpus, devices,
		        row->n, row->nb, s->a, fault);
	ok = s->vendor && time_calls(s, row);
	vendor_mg_free(s->vendor);
	s->vendor = NULL;
	release(s);
	return ok;
}

bool several_run(struct several *s, struct result *row)
{
	s->ipiv = xmalloc((size_t)s->desc.n * sizeof *s->ipiv);
	const bool ok = reserve(s, row->precision) && time_calls(s, row) &&
	                several_residual(s, row, &row->residual);
	release(s);
	free(s->ipiv);
	if (ok && !(row->residual < residual_most))
		return fault_set(&s->measure->fault,
		        "the result is wrong: its residual is %.3g, right ones are below %g",
		        row->residual, residual_most);
	return ok;
}
