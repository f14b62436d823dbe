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

/* How passes over columns are divided from now on. Where the threads' caches hold them, in turns,
 * so that a thread finds the columns that it had before; else as threads come, which are not always
 * equally fast. */
static void divide(const struct executor *e, struct matrix a)
{
	const int64_t held = ((const struct host_executor *)e)->l2_bytes * omp_get_max_threads();
	const bool keep = a.m * a.n * precision_bytes(a.precision) <= held;

	omp_set_schedule(keep ? omp_sched_static : omp_sched_dynamic, keep ? 1 : GRAM_TOGETHER);
}

static bool in_turns(void)
{
	omp_sched_t kind;
	int chunk;

	omp_get_schedule(&kind, &chunk);
	return kind == omp_sched_static;
}

/* Where a loop from column j on begins, for every column to go to the thread that it always goes
 * to: at the column of a's memory at which the threads' last turn began. */
static int64_t turn_of(struct matrix a, int64_t j)
{
	return in_turns() ? j - (a.offset / a.ld + j) % omp_get_max_threads() : j;
}

/* Of a cache, in bytes. */
enum { LINE = 64 };

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
	return a.n * LINE;
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
