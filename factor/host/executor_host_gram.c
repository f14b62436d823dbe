/* SPDX-License-Identifier: MIT */
/* Brandes, Arnold, Soddemann and Reith's parallelization (2012): columns right of column j are
 * independent of one another. What a thread does with one is a loop over contiguous elements
 * without aliases, in as many SIMD widths as processors have: C then loses nothing to Fortran. */
#include "executor_host_gram.h"

#include <math.h>
#include <string.h>

/* Elements of work below which waking the other threads does not pay. */
enum { PARALLEL_ELEMENTS = 1 << 17 };

/* Elements of a sum that are added up by themselves. */
enum { PIECE = 256 };

/* Columns that gram_apply takes the q out of at a time: each element of a q that is loaded serves
 * all of them. */
enum { TOGETHER = 4 };

#if defined(__x86_64__)
#define ALL_WIDTHS __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define ALL_WIDTHS
#endif

static bool worth_threads(int64_t m, int64_t n)
{
	return m * n >= PARALLEL_ELEMENTS;
}

#define REAL float
#define NAME(x) x##_s
#define ROOT sqrtf
#include "executor_host_gram_template.h"

#define REAL double
#define NAME(x) x##_d
#define ROOT sqrt
#include "executor_host_gram_template.h"

/* Calls an operation in the precision of a matrix. */
#define CALL(a, name, ...) ((a).precision == SINGLE ? name##_s(__VA_ARGS__) : name##_d(__VA_ARGS__))

bool host_column_norms(struct executor *e, struct matrix a, struct matrix norms)
{
	(void)e;
	CALL(a, column_norms, a, norms);
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
	(void)e;
	CALL(g->a, gram_dots, g, j);
	return true;
}

bool host_gram_update(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	(void)e;
	CALL(g->a, gram_update, g, j);
	return true;
}

bool host_gram_fused(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	(void)e;
	CALL(g->a, gram_fused, g, j);
	return true;
}

bool host_gram_panel(struct executor *e, const struct gram_schmidt *g)
{
	return gram_panel_by_passes(e, g);
}

bool host_gram_apply(
        struct executor *e, struct matrix q, struct matrix r, struct matrix a, bool single)
{
	(void)e;
	(void)single;
	CALL(a, gram_apply, q, r, a);
	return true;
}
