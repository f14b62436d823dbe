/* SPDX-License-Identifier: MIT */
/* The host executor's Gram-Schmidt in one precision. Included once with REAL float and once with
 * REAL double; NAME(x) gives the names of that precision, ROOT its square root. */

static REAL *NAME(column)(struct matrix a, int64_t j)
{
	return (REAL *)a.data + a.offset + j * a.ld;
}

/* ---- columns: sums by pieces, so that their errors don't grow with the rows ---- */

ALL_WIDTHS static REAL NAME(dot)(int64_t m, const REAL *restrict x, const REAL *restrict y)
{
	REAL sum = 0;

	for (int64_t begin = 0; begin < m; begin += PIECE) {
		int64_t end = begin + PIECE < m ? begin + PIECE : m;
		REAL part = 0;
#pragma omp simd reduction(+ : part)
		for (int64_t i = begin; i < end; i++)
			part += x[i] * y[i];
		sum += part;
	}
	return sum;
}

/* x -= factor v */
ALL_WIDTHS static void NAME(subtract)(
        int64_t m, REAL factor, const REAL *restrict v, REAL *restrict x)
{
#pragma omp simd
	for (int64_t i = 0; i < m; i++)
		x[i] -= factor * v[i];
}

/* x -= factor v; returns w^T x */
ALL_WIDTHS static REAL NAME(subtract_dot)(
        int64_t m, REAL factor, const REAL *restrict v, const REAL *restrict w, REAL *restrict x)
{
	REAL sum = 0;

	for (int64_t begin = 0; begin < m; begin += PIECE) {
		int64_t end = begin + PIECE < m ? begin + PIECE : m;
		REAL part = 0;
#pragma omp simd reduction(+ : part)
		for (int64_t i = begin; i < end; i++) {
			x[i] -= factor * v[i];
			part += w[i] * x[i];
		}
		sum += part;
	}
	return sum;
}

/* The same for TOGETHER columns; sums: the factors before, the dot products after. */
ALL_WIDTHS static void NAME(subtract_dots)(int64_t m, const REAL *restrict v,
        const REAL *restrict w, REAL *restrict x0, REAL *restrict x1, REAL *restrict x2,
        REAL *restrict x3, REAL *restrict sums)
{
	const REAL f0 = sums[0], f1 = sums[1], f2 = sums[2], f3 = sums[3];
	REAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;

	for (int64_t begin = 0; begin < m; begin += PIECE) {
		int64_t end = begin + PIECE < m ? begin + PIECE : m;
		REAL p0 = 0, p1 = 0, p2 = 0, p3 = 0;
#pragma omp simd reduction(+ : p0, p1, p2, p3)
		for (int64_t i = begin; i < end; i++) {
			x0[i] -= f0 * v[i];
			p0 += w[i] * x0[i];
			x1[i] -= f1 * v[i];
			p1 += w[i] * x1[i];
			x2[i] -= f2 * v[i];
			p2 += w[i] * x2[i];
			x3[i] -= f3 * v[i];
			p3 += w[i] * x3[i];
		}
		s0 += p0;
		s1 += p1;
		s2 += p2;
		s3 += p3;
	}
	sums[0] = s0;
	sums[1] = s1;
	sums[2] = s2;
	sums[3] = s3;
}

/* ---- passes ---- */

static void NAME(column_norms)(struct matrix a, struct matrix norms)
{
	REAL *out = NAME(column)(norms, 0);

#pragma omp parallel for if (worth_threads(a.m, a.n)) schedule(static)
	for (int64_t k = 0; k < a.n; k++)
		out[k] = NAME(dot)(a.m, NAME(column)(a, k), NAME(column)(a, k));
}

static void NAME(gram_dots)(const struct gram_schmidt *g, int64_t j)
{
	const struct matrix a = g->a;
	REAL *sums = g->work;

#pragma omp parallel for if (worth_threads(a.m, a.n - j)) schedule(static)
	for (int64_t k = j; k < a.n; k++)
		sums[k] = NAME(dot)(a.m, NAME(column)(a, j), NAME(column)(a, k));
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
	REAL *q = NAME(column)(g->a, j);

	for (int64_t i = 0; i < g->a.m; i++)
		q[i] = norm == 0 ? 0 : q[i] / norm;
}

static void NAME(gram_update)(const struct gram_schmidt *g, int64_t j)
{
	const struct matrix a = g->a;
	const REAL *factor = g->work;
	REAL norm = NAME(settle)(g, j);

#pragma omp parallel for if (worth_threads(a.m, a.n - j)) schedule(static)
	for (int64_t k = j + 1; k < a.n; k++)
		NAME(subtract)(a.m, factor[k], NAME(column)(a, j), NAME(column)(a, k));
	NAME(normalize)(g, j, norm);
}

static void NAME(gram_fused)(const struct gram_schmidt *g, int64_t j)
{
	const struct matrix a = g->a;
	REAL *sums = g->work, norm = NAME(settle)(g, j);
	const REAL *v = NAME(column)(a, j);
	REAL *w = NAME(column)(a, j + 1);

	NAME(subtract)(a.m, sums[j + 1], v, w);
	sums[j + 1] = NAME(dot)(a.m, w, w);
#pragma omp parallel for if (worth_threads(a.m, a.n - j)) schedule(static)
	for (int64_t k = j + 2; k < a.n; k++)
		sums[k] = NAME(subtract_dot)(a.m, sums[k], v, w, NAME(column)(a, k));
	NAME(normalize)(g, j, norm);
}

/* ---- blocks ---- */

/* Takes q's columns out of TOGETHER columns of a from k on, and leaves what was in r. */
static void NAME(apply_together)(struct matrix q, struct matrix r, struct matrix a, int64_t k)
{
	REAL *x[TOGETHER], sums[TOGETHER];

	for (int c = 0; c < TOGETHER; c++) {
		x[c] = NAME(column)(a, k + c);
		sums[c] = NAME(dot)(a.m, NAME(column)(q, 0), x[c]);
	}
	for (int64_t i = 0; i < q.n; i++) {
		for (int c = 0; c < TOGETHER; c++)
			*(NAME(column)(r, k + c) + i) = sums[c];
		/* the last one's dot products are not used */
		NAME(subtract_dots)
		(a.m, NAME(column)(q, i), NAME(column)(q, i + 1 < q.n ? i + 1 : i), x[0], x[1],
		        x[2], x[3], sums);
	}
}

static void NAME(apply_one)(struct matrix q, struct matrix r, struct matrix a, int64_t k)
{
	REAL *x = NAME(column)(a, k), sum = NAME(dot)(a.m, NAME(column)(q, 0), x);

	for (int64_t i = 0; i < q.n; i++) {
		*(NAME(column)(r, k) + i) = sum;
		sum = NAME(subtract_dot)(
		        a.m, sum, NAME(column)(q, i), NAME(column)(q, i + 1 < q.n ? i + 1 : i), x);
	}
}

static void NAME(gram_apply)(struct matrix q, struct matrix r, struct matrix a)
{
	const int64_t fours = a.n / TOGETHER;

#pragma omp parallel for if (worth_threads(a.m, a.n * q.n)) schedule(static)
	for (int64_t f = 0; f < fours; f++)
		NAME(apply_together)(q, r, a, f * TOGETHER);
	for (int64_t k = fours * TOGETHER; k < a.n; k++)
		NAME(apply_one)(q, r, a, k);
}

#undef REAL
#undef NAME
#undef ROOT
