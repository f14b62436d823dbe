/* SPDX-License-Identifier: MIT */
/* The passes of gram_threads.h in one precision. Included once with REAL float and once with REAL
 * double; NAME(x) gives the names of that precision, ROOT its square root, LOOPS its loops over a
 * column. */

static REAL *NAME(column)(struct matrix a, int64_t j)
{
	return (REAL *)a.data + a.offset + j * a.ld;
}

/* Columns of a that a thread's cache holds. */
static int64_t NAME(held)(const struct gram_threads *pinned, struct matrix a)
{
	return pinned->held / (a.m * (int64_t)sizeof(REAL));
}

/* ---- passes ---- */

static void NAME(norms)(const struct LOOPS *loops, const struct gram_threads *pinned,
        struct matrix a, struct matrix norms)
{
	REAL *out = NAME(column)(norms, 0);
	struct turns turns;

	turns_in_rows(&turns, pinned->threads, 0, a.n, NAME(held)(pinned, a));
#pragma omp parallel num_threads(turns.threads)
	{
		const int thread = omp_get_thread_num();
		for (int64_t k; (k = turns_take(&turns, thread)) >= 0;)
			out[k] = loops->dot(a.m, NAME(column)(a, k), NAME(column)(a, k));
	}
}

static void NAME(dots)(const struct LOOPS *loops, const struct gram_threads *pinned,
        const struct gram_schmidt *g, int64_t j)
{
	const REAL *v = NAME(column)(g->a, j);
	REAL *sums = g->work;
	struct turns turns;

	turns_in_rows(&turns, pinned->threads, j, g->a.n, NAME(held)(pinned, g->a));
#pragma omp parallel num_threads(turns.threads)
	{
		const int thread = omp_get_thread_num();
		for (int64_t k; (k = turns_take(&turns, thread)) >= 0;)
			sums[k] = loops->dot(g->a.m, v, NAME(column)(g->a, k));
	}
}

struct NAME(settled) {
	REAL square, norm; /* of v; 0 when it is dependent */
};

static struct NAME(settled) NAME(settle)(const struct gram_schmidt *g, int64_t j)
{
	const REAL *sums = g->work;
	const REAL square = sums[j], before = NAME(column)(g->norms, 0)[j];
	const bool dependent = (double)square <= g->dependent * (double)before && !isinf(square);
	const int number = (int)(g->first + j + 1);
	const struct NAME(settled) v = {dependent ? 0 : square, dependent ? 0 : ROOT(square)};

	NAME(column)(g->r, j)[j] = v.norm;
	if (dependent && (*g->info == 0 || *g->info > number))
		*g->info = number;
	return v;
}

/* The multiple of v to project out of column k. It is stored in row j of R by the thread of the
 * column, since each element of the row is in a cache line of its own. */
static REAL NAME(part)(const struct gram_schmidt *g, int64_t j, int64_t k, struct NAME(settled) v)
{
	const REAL *sums = g->work;
	const REAL factor = v.norm == 0 ? 0 : sums[k] / v.square;

	NAME(column)(g->r, k)[j] = factor * v.norm;
	return factor;
}

static void NAME(normalize)(struct matrix a, int64_t j, REAL norm)
{
	REAL *restrict q = NAME(column)(a, j);
	const REAL scale = 1 / norm;

	if (norm == 0) {
		memset(q, 0, (size_t)a.m * sizeof *q);
		return;
	}
#pragma omp simd
	for (int64_t i = 0; i < a.m; i++)
		q[i] *= scale;
}

static void NAME(update)(const struct LOOPS *loops, const struct gram_threads *pinned,
        const struct gram_schmidt *g, int64_t j)
{
	const struct NAME(settled) settled = NAME(settle)(g, j);
	const REAL *v = NAME(column)(g->a, j);
	struct turns turns;

	turns_in_rows(&turns, pinned->threads, j + 1, g->a.n, NAME(held)(pinned, g->a));
#pragma omp parallel num_threads(turns.threads)
	{
		const int thread = omp_get_thread_num();
		for (int64_t k; (k = turns_take(&turns, thread)) >= 0;)
			loops->subtract(
			        g->a.m, NAME(part)(g, j, k, settled), v, NAME(column)(g->a, k));
	}
	NAME(normalize)(g->a, j, settled.norm);
}

static void NAME(fused)(const struct LOOPS *loops, const struct gram_threads *pinned,
        const struct gram_schmidt *g, int64_t j)
{
	const struct NAME(settled) settled = NAME(settle)(g, j);
	const REAL *v = NAME(column)(g->a, j);
	REAL *sums = g->work, *w = NAME(column)(g->a, j + 1);
	struct turns turns;

	loops->subtract(g->a.m, NAME(part)(g, j, j + 1, settled), v, w);
	sums[j + 1] = loops->dot(g->a.m, w, w);
	turns_in_rows(&turns, pinned->threads, j + 2, g->a.n, NAME(held)(pinned, g->a));
#pragma omp parallel num_threads(turns.threads)
	{
		const int thread = omp_get_thread_num();
		for (int64_t k; (k = turns_take(&turns, thread)) >= 0;)
			sums[k] = loops->subtract_dot(
			        g->a.m, NAME(part)(g, j, k, settled), v, w, NAME(column)(g->a, k));
	}
	NAME(normalize)(g->a, j, settled.norm);
}

/* ---- blocks ---- */

/* Projects q's columns out of one column; r gets the coefficients. The last dot product is not
 * used. */
static void NAME(apply_one)(
        const struct LOOPS *loops, struct matrix q, REAL *restrict r, REAL *restrict x)
{
	REAL sum = loops->dot(q.m, NAME(column)(q, 0), x);

	for (int64_t i = 0; i < q.n; i++) {
		r[i] = sum;
		sum = loops->subtract_dot(
		        q.m, sum, NAME(column)(q, i), NAME(column)(q, i + 1 < q.n ? i + 1 : i), x);
	}
}

/* The same for GRAM_TOGETHER columns from k on, with q's columns in q.n / 2 pairs. The second
 * dot product of a pair uses the column before the first projection; `cross`, the product of the
 * pair, corrects it. */
static void NAME(apply_group)(const struct LOOPS *loops, struct matrix q, const REAL *cross,
        struct matrix r, struct matrix a, int64_t k)
{
	const REAL *v[GRAM_PAIR], *w[GRAM_PAIR];
	REAL *x[GRAM_TOGETHER], *out[GRAM_TOGETHER], sums[GRAM_PAIR * GRAM_TOGETHER];

	for (int p = 0; p < GRAM_PAIR; p++)
		w[p] = NAME(column)(q, p);
	for (int c = 0; c < GRAM_TOGETHER; c++) {
		x[c] = NAME(column)(a, k + c);
		out[c] = NAME(column)(r, k + c);
		for (int p = 0; p < GRAM_PAIR; p++)
			sums[p * GRAM_TOGETHER + c] = loops->dot(q.m, w[p], x[c]);
	}
	for (int64_t i = 0; i < q.n; i += GRAM_PAIR) {
		for (int p = 0; p < GRAM_PAIR; p++) {
			const int64_t next = i + GRAM_PAIR + p;
			v[p] = w[p];
			w[p] = NAME(column)(q, next < q.n ? next : q.n - 1);
		}
		for (int c = 0; c < GRAM_TOGETHER; c++) {
			sums[GRAM_TOGETHER + c] -= cross[i / GRAM_PAIR] * sums[c];
			out[c][i] = sums[c];
			out[c][i + 1] = sums[GRAM_TOGETHER + c];
		}
		loops->subtract_dots(q.m, v, w, x, sums);
	}
}

/* count: GRAM_TOGETHER columns, or fewer at the end. */
static void NAME(apply_columns)(const struct LOOPS *loops, struct matrix q, const REAL *cross,
        struct matrix r, struct matrix a, int64_t k, int64_t count)
{
	const int64_t paired = count == GRAM_TOGETHER ? q.n / GRAM_PAIR * GRAM_PAIR : 0;

	if (paired > 0)
		NAME(apply_group)(loops, matrix_view(q, 0, 0, q.m, paired), cross, r, a, k);
	for (int64_t c = k; c < k + count && paired < q.n; c++)
		NAME(apply_one)
	(loops, matrix_view(q, 0, paired, q.m, q.n - paired), NAME(column)(r, c) + paired,
	        NAME(column)(a, c));
}

/* Groups are numbered from the last: each group keeps its thread from block to block. */
static void NAME(apply)(const struct LOOPS *loops, const struct gram_threads *pinned,
        struct matrix q, struct matrix r, struct matrix a)
{
	const int64_t pairs = q.n / GRAM_PAIR, groups = (a.n + GRAM_TOGETHER - 1) / GRAM_TOGETHER;
	REAL *cross = xmalloc((size_t)(pairs + 1) * sizeof *cross);
	struct turns turns;

	turns_around(&turns, pinned->threads, groups);
#pragma omp parallel num_threads(turns.threads)
	{
		const int thread = omp_get_thread_num();
#pragma omp for schedule(static)
		for (int64_t p = 0; p < pairs; p++)
			cross[p] =
			        loops->dot(q.m, NAME(column)(q, 2 * p), NAME(column)(q, 2 * p + 1));
		for (int64_t g; (g = turns_take(&turns, thread)) >= 0;) {
			const int64_t k = (groups - 1 - g) * GRAM_TOGETHER, rest = a.n - k;
			NAME(apply_columns)
			(loops, q, cross, r, a, k, rest < GRAM_TOGETHER ? rest : GRAM_TOGETHER);
		}
	}
	free(cross);
}

#undef REAL
#undef NAME
#undef ROOT
#undef LOOPS
