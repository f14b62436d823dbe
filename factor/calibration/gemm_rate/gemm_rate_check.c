/* SPDX-License-Identifier: MIT */
/* Whether the calls that gemm_rate times compute the right results. */
#include "gemm_rate_internal.h"

#include <stdlib.h>

enum { CHECKED = 96, MOST = CHECKED * CHECKED }; /* whole lines, but no whole tiles */

static double *fetch(const struct bench *bench, enum math math, const void *from)
{
	return blas_rate_fetch(&bench->rate, precision_of(math), from, MOST);
}

/* The right value of element (i, j) of c. For trsm the rows above i, or the columns left of j, hold
 * the solution already. */
static double expected_element(
        const struct product *p, const double *a, const double *b, const double *c, int i, int j)
{
	const int n = CHECKED;
	const bool solve = gemm_rate_is_solve(p->kind), right_side = p->kind == TRSM_RIGHT;
	double sum = 0;
	if (gemm_rate_is_symmetric(p->kind) && i < j)
		return c[i + j * n];
	if (i / p->m != j / p->m) /* beside the squares of one call */
		return c[i + j * n];
	for (int l = 0; l < (right_side ? j : solve ? i : n); l++) {
		const double left = gemm_rate_is_transposed(p) ? a[l + i * n]
		                    : right_side               ? a[j + l * n]
		                                               : a[i + l * n];
		const double right = right_side                        ? c[i + l * n]
		                     : solve                           ? c[l + j * n]
		                     : gemm_rate_is_half(p->kind)      ? b[l + j * n]
		                     : gemm_rate_is_symmetric(p->kind) ? a[j + l * n]
		                     : p->kind == GEMM_NT              ? b[j + l * n]
		                                                       : b[l + j * n];
		sum += left * right;
	}
	if (gemm_rate_is_tall(p->kind))
		return sum;
	return c[i + j * n] + (solve ? -1 : gemm_rate_alpha) * sum;
}

/* Compares with the host's result, on fresh data of elements below 1. The bounds are a rounding of
 * C, and more for V^T C and for the sums of a solve; tf32 operands have much larger errors. */
static bool is_correct(struct bench *bench, enum kind kind, enum math math)
{
	static const double bound[] = {[FP32] = 3e-7, [TF32] = 2e-5, [FP64] = 2e-15};
	const int m = kind == GEMM_BATCHED ? CHECKED / 2 : CHECKED;
	struct product p = {bench, kind, math, m, CHECKED, CHECKED};
	const bool solve = gemm_rate_is_solve(kind);
	gemm_rate_fill(bench, math);
	if (solve)
		gemm_rate_fill_triangle(&p);
	if (gemm_rate_is_half(kind))
		gemm_rate_fill_pair(&p);
	double *a = fetch(bench, math,
	        solve                     ? bench->triangle
	        : gemm_rate_is_half(kind) ? bench->b
	                                  : bench->a);
	double *b = fetch(bench, math, bench->b), *c = fetch(bench, math, bench->c);
	gemm_rate_put(&p);
	double *got = fetch(bench, math, bench->c), worst = 0;
	for (int j = 0; j < CHECKED; j++)
		for (int i = 0; i < CHECKED; i++) {
			const double want = expected_element(&p, a, b, c, i, j);
			const double off = fabs(got[i + j * CHECKED] - want);
			worst = isnan(off) ? INFINITY : fmax(worst, off);
			c[i + j * CHECKED] = want;
		}
	free(a);
	free(b);
	free(c);
	free(got);
	return worst <= bound[math] * (gemm_rate_is_tall(kind) || solve ? 20 : 1);
}

bool gemm_rate_verify(struct bench *bench, enum math math, bool report)
{
	bool correct = true;
	for (enum kind kind = GEMM; kind < KINDS; kind++) {
		if (!gemm_rate_has(bench, kind, math))
			continue;
		const bool right = is_correct(bench, kind, math);
		correct = correct && right;
		if (report || !right)
			fprintf(right ? stdout : stderr, "%s_%s: %s\n", gemm_rate_kind_name[kind],
			        gemm_rate_math_name[math],
			        right ? "correct" : "differs from the host's result");
	}
	return correct;
}

bool gemm_rate_check(struct probe_run *run)
{
	struct bench bench = {0};
	bool correct = true;
	gemm_rate_open(&bench, run, GEMM_RATE_TRIANGLE);
	for (enum math math = FP32; math <= FP64; math++)
		correct = gemm_rate_verify(&bench, math, true) && correct;
	gemm_rate_close(&bench);
	return correct;
}
