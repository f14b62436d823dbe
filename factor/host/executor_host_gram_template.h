/* SPDX-License-Identifier: MIT */
/* The host executor's Gram-Schmidt in one precision. Included once with REAL float and once with
 * REAL double; NAME(x) gives the names of that precision, ROOT its square root, LOOPS its loops
 * over a column. */

static REAL *NAME(column)(struct matrix a, int64_t j)
{
	return (REAL *)a.data + a.offset + j * a.ld;
}

/* ---- passes ---- */

static void NAME(column_norms)(const struct LOOPS *loops, struct matrix a, struct matrix norms)
{
	REAL *out = NAME(column)(norms, 0);

#pragma omp parallel for if (worth_threads(a.m, a.n)) schedule(static)
	for (int64_t k = 0; k < a.n; k++)
		out[k] = loops->dot(a.m, NAME(column)(a, k), NAME(column)(a, k));
}

static void NAME(gram_dots)(const struct LOOPS *loops, const struct gram_schmidt *g, int64_t j)
{
	const struct matrix a = g->a;
	REAL *sums = g->work;

#pragma omp parallel for if (worth_threads(a.m, a.n - j)) schedule(static)
	for (int64_t k = j; k < a.n; k++)
		sums[k] = loops->dot(a.m, NAME(column)(a, j), NAME(column)(a, k));
}

/* From the dot products in the workspace: |v|, 0 for a dependent column; row j of R; the multiples
 * of v that are to be taken out of the columns right of it. */
static REAL NAME(settle)(const struct gram_schmidt *g, int64_t j)
{
	REAL *sums = g->work, square = sums[j];
	REAL before = NAME(column)(g->norms, 0)[j];
	bool dependent = (double)square <= g->dependent * (double)before && !isinf(square);
	REAL norm = dependent ? 0 : ROOT(square);
	int number = (int)(g->first + j + 1);

	*(NAME(column)(g->r, j) + j) = norm;
	for (int64_t k = j + 1; k < g->a.n; k++) {
		sums[k] = dependent ? 0 : sums[k] / square;
		*(NAME(column)(g->r, k) + j) = sums[k] * norm;
	}
	if (dependent && (*g->info == 0 || *g->info > number))
		*g->info = number;
	return norm;
}

static void NAME(normalize)(const struct gram_schmidt *g, int64_t j, REAL norm)
{
	REAL *restrict q = NAME(column)(g->a, j);

	if (norm == 0) {
		memset(q, 0, (size_t)g->a.m * sizeof *q);
		return;
	}
#pragma omp simd
	for (int64_t i = 0; i < g->a.m; i++)
		q[i] /= norm;
}

static void NAME(gram_update)(const struct LOOPS *loops, const struct gram_schmidt *g, int64_t j)
{
	const struct matrix a = g->a;
	const REAL *factor = g->work;
	REAL norm = NAME(settle)(g, j);

#pragma omp parallel for if (worth_threads(a.m, a.n - j)) schedule(static)
	for (int64_t k = j + 1; k < a.n; k++)
		loops->subtract(a.m, factor[k], NAME(column)(a, j), NAME(column)(a, k));
	NAME(normalize)(g, j, norm);
}

static void NAME(gram_fused)(const struct LOOPS *loops, const struct gram_schmidt *g, int64_t j)
{
	const struct matrix a = g->a;
	REAL *sums = g->work, norm = NAME(settle)(g, j);
	const REAL *v = NAME(column)(a, j);
	REAL *w = NAME(column)(a, j + 1);

	loops->subtract(a.m, sums[j + 1], v, w);
	sums[j + 1] = loops->dot(a.m, w, w);
#pragma omp parallel for if (worth_threads(a.m, a.n - j)) schedule(static)
	for (int64_t k = j + 2; k < a.n; k++)
		sums[k] = loops->subtract_dot(a.m, sums[k], v, w, NAME(column)(a, k));
	NAME(normalize)(g, j, norm);
}

/* ---- blocks ---- */

/* Takes q's columns out of `count` columns of a from k on, and leaves what was in r. The last one's
 * dot products are not used. */
static void NAME(apply_group)(const struct LOOPS *loops, struct matrix q, struct matrix r,
        struct matrix a, int64_t k, int count)
{
	REAL *x[GRAM_TOGETHER], sums[GRAM_TOGETHER];

	for (int c = 0; c < count; c++) {
		x[c] = NAME(column)(a, k + c);
		sums[c] = loops->dot(a.m, NAME(column)(q, 0), x[c]);
	}
	for (int64_t i = 0; i < q.n; i++) {
		const REAL *v = NAME(column)(q, i), *w = NAME(column)(q, i + 1 < q.n ? i + 1 : i);
		for (int c = 0; c < count; c++)
			*(NAME(column)(r, k + c) + i) = sums[c];
		if (count == GRAM_TOGETHER)
			loops->subtract_dots(a.m, v, w, x, sums);
		else
			for (int c = 0; c < count; c++)
				sums[c] = loops->subtract_dot(a.m, sums[c], v, w, x[c]);
	}
}

static void NAME(gram_apply)(
        const struct LOOPS *loops, struct matrix q, struct matrix r, struct matrix a)
{
#pragma omp parallel for if (worth_threads(a.m, a.n * q.n)) schedule(static)
	for (int64_t k = 0; k < a.n; k += GRAM_TOGETHER)
		NAME(apply_group)
	(loops, q, r, a, k, (int)smaller(a.n - k, GRAM_TOGETHER));
}

#undef REAL
#undef NAME
#undef ROOT
#undef LOOPS
