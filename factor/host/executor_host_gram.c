/* SPDX-License-Identifier: MIT */
/* Brandes, Arnold, Soddemann and Reith's parallelization (2012): columns right of column j are
 * independent of one another. What a thread does with one is gram_loops.h's. */
#include "executor_host_gram.h"

#include "executor_host_blocks.h"

#include "../../lib/msg.h"
#include "../schedule.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static bool worth_threads(int64_t m, int64_t n)
{
	return m * n >= GRAM_PARALLEL;
}

/* How loops over columns are divided from now on: as before, so that a thread finds its columns in
 * its cache, where that holds them; else as threads come, which are not always equally fast. */
static void divide(const struct executor *e, struct matrix a)
{
	const int64_t held = ((const struct host_executor *)e)->l2_bytes * omp_get_max_threads();
	const bool keep = a.m * a.n * precision_bytes(a.precision) <= held;

	omp_set_schedule(keep ? omp_sched_static : omp_sched_dynamic, keep ? 0 : GRAM_TOGETHER);
}

#define REAL float
#define NAME(x) x##_s
#define ROOT sqrtf
#define LOOPS gram_loops_s
#include "executor_host_gram_template.h"

#define REAL double
#define NAME(x) x##_d
#define ROOT sqrt
#define LOOPS gram_loops_d
#include "executor_host_gram_template.h"

/* Calls an operation in the precision of a matrix. */
#define CALL(e, a, name, ...)                                                                      \
	((a).precision == SINGLE ? name##_s(&loops_of(e)->s, __VA_ARGS__)                          \
	                         : name##_d(&loops_of(e)->d, __VA_ARGS__))

static const struct gram_loops *loops_of(const struct executor *e)
{
	const struct gram_loops *chosen = ((const struct host_executor *)e)->gram;

	return chosen ? chosen : gram_loops();
}

void host_gram_use(struct executor *e, const struct gram_loops *loops)
{
	((struct host_executor *)e)->gram = loops;
}

bool host_column_norms(struct executor *e, struct matrix a, struct matrix norms)
{
	divide(e, a);
	CALL(e, a, column_norms, a, norms);
	return true;
}

/* The dot products of the current column. */
int64_t host_gram_work(struct executor *e, struct matrix a)
{
	(void)e;
	return a.n * precision_bytes(a.precision);
}

bool host_gram_dots(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	divide(e, g->a);
	CALL(e, g->a, gram_dots, g, j);
	return true;
}

bool host_gram_update(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	divide(e, g->a);
	CALL(e, g->a, gram_update, g, j);
	return true;
}

bool host_gram_fused(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	divide(e, g->a);
	CALL(e, g->a, gram_fused, g, j);
	return true;
}

bool host_gram_panel(struct executor *e, const struct gram_schmidt *g)
{
	return gram_by_passes(e, g, g->a.n);
}

bool host_gram_apply(
        struct executor *e, struct matrix q, struct matrix r, struct matrix a, bool single)
{
	(void)single;
	CALL(e, a, gram_apply, q, r, a);
	return true;
}
