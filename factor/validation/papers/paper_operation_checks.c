/* SPDX-License-Identifier: MIT */
/* Whether the result of one of the paper's operations is right, at places chosen at random. */
#include "lib/base/msg.h"
#include "factor/validation/fixture.h"
#include "paper_operations.h"

#include <math.h>
#include <stdlib.h>

struct look {
	struct executor *executor;
	const struct paper_op_data *data;
	uint64_t *state;
};

/* A row or column as doubles; the caller frees it. NULL with the executor's fault. */
static double *line_of(struct look *s, struct matrix line)
{
	double *to = xmalloc((size_t)(line.m * line.n) * sizeof *to);

	if (fixture_line(s->executor, line, to))
		return to;
	free(to);
	return NULL;
}

static double *row_of(struct look *s, struct matrix a, int64_t i)
{
	return line_of(s, matrix_view(a, i, 0, 1, a.n));
}

static double *column_of(struct look *s, struct matrix a, int64_t j)
{
	return line_of(s, matrix_view(a, 0, j, a.m, 1));
}

/* Deviations are in units of the rounding of the terms' magnitudes. */
static const double eps = 0x1p-24;

/* Element (i, j) of alpha a b + beta C, where a and b are lines of k elements, which are freed. */
static double sum_ratio(struct look *s, double *a, double *b, double beta, int64_t i, int64_t j)
{
	const struct paper_op_data *d = s->data;
	double *before = column_of(s, d->original, j), *after = column_of(s, d->result, j);
	double sum = 0, magnitude = 0, ratio = NAN;

	if (a && b && before && after) {
		for (int64_t l = 0; l < d->problem.k; l++) {
			sum += a[l] * b[l];
			magnitude += fabs(a[l] * b[l]);
		}
		const double old = beta * before[i], off = after[i] - (old + PAPER_OP_ALPHA * sum);
		ratio = fabs(off) / eps / (fabs(old) + PAPER_OP_ALPHA * magnitude);
	}
	free(a);
	free(b);
	free(before);
	free(after);
	return ratio;
}

static double gemm_ratio(struct look *s, bool transposed)
{
	const struct paper_op_data *d = s->data;
	const int64_t i = fixture_random(s->state, d->problem.m);
	const int64_t j = fixture_random(s->state, d->problem.n);

	return sum_ratio(s, row_of(s, d->x, i),
	        transposed ? row_of(s, d->y, j) : column_of(s, d->y, j), 1, i, j);
}

/* Moved words, not computed: infinite when one differs. Frees both. */
static double same_words(double *got, double *want, int64_t count)
{
	double ratio = got && want ? 0 : NAN;

	for (int64_t i = 0; i < count && ratio == 0; i++)
		ratio = got[i] == want[i] ? 0 : INFINITY;
	free(got);
	free(want);
	return ratio;
}

static double transpose_ratio(struct look *s)
{
	const struct paper_op_data *d = s->data;
	const int64_t j = fixture_random(s->state, d->result.n);

	return same_words(column_of(s, d->result, j), row_of(s, d->x, j), d->result.m);
}

static double laswp_ratio(struct look *s, bool by_row)
{
	const struct paper_op_data *d = s->data;
	const int64_t i = fixture_random(s->state, by_row ? d->result.m : d->result.n);
	double *want = by_row ? row_of(s, d->original, i) : column_of(s, d->original, i);
	double *got = by_row ? row_of(s, d->result, i) : column_of(s, d->result, i);

	for (int e = 0; e < PAPER_OP_EXCHANGES && want; e++) {
		const double kept = want[e];
		want[e] = want[d->ipiv[e] - 1];
		want[d->ipiv[e] - 1] = kept;
	}
	return same_words(got, want, by_row ? d->result.n : d->result.m);
}

/* L x against the right-hand side, the largest ratio of a column. */
static double trsm_ratio(struct look *s)
{
	const struct paper_op_data *d = s->data;
	const int64_t m = d->problem.m, j = fixture_random(s->state, d->problem.n);
	struct executor *e = s->executor;
	float *l = xmalloc((size_t)(m * m) * sizeof *l);
	double *b = column_of(s, d->original, j), *x = column_of(s, d->result, j), worst = NAN;

	if (b && x && e->ops->download(e, matrix_view(d->x, 0, 0, m, m), l, m)) {
		worst = 0;
		for (int64_t i = 0; i < m; i++) {
			double sum = x[i], magnitude = fabs(x[i]) + fabs(b[i]);
			for (int64_t q = 0; q < i; q++) {
				sum += (double)l[i + q * m] * x[q];
				magnitude += fabs((double)l[i + q * m] * x[q]);
			}
			worst = fixture_worse(worst, fabs(sum - b[i]) / eps / magnitude);
		}
	}
	free(l);
	free(b);
	free(x);
	return worst;
}

/* An element of the triangle, or one above it, which only the full product may change. */
static double syrk_ratio(struct look *s, bool full)
{
	const struct paper_op_data *d = s->data;
	const int64_t x = fixture_random(s->state, d->problem.m);
	const int64_t y = fixture_random(s->state, d->problem.m);
	const int64_t i = full && x < y ? y : x, j = full && x < y ? x : y;

	if (i >= j)
		return sum_ratio(s, row_of(s, d->x, i), row_of(s, d->x, j), 1, i, j);
	return same_words(line_of(s, matrix_view(d->result, i, j, 1, 1)),
	        line_of(s, matrix_view(d->original, i, j, 1, 1)), 1);
}

static double trmm_ratio(struct look *s, const struct paper_op_way *way)
{
	const struct paper_op_data *d = s->data;
	const struct matrix triangle = paper_op_triangle(way, d);
	const bool left = paper_op_has(way, "side", "l");
	const int64_t i = fixture_random(s->state, d->problem.m);
	const int64_t j = fixture_random(s->state, d->problem.n);

	return sum_ratio(s, row_of(s, left ? triangle : d->y, i),
	        column_of(s, left ? d->y : triangle, j), 0, i, j);
}

double paper_op_ratio(struct executor *executor, const struct paper_op_way *way,
        const struct paper_op_data *data, uint64_t *state)
{
	struct look look = {executor, data, state};

	switch (way->part) {
	case PAPER_OP_GEMM:
	case PAPER_OP_SMALL_GEMM:
	case PAPER_OP_THIN_GEMM:
		return gemm_ratio(&look, paper_op_has(way, "trans", "nt"));
	case PAPER_OP_SYRK:
		return syrk_ratio(&look, paper_op_has(way, "blocks", "full"));
	case PAPER_OP_TRMM:
		return trmm_ratio(&look, way);
	case PAPER_OP_TRANSPOSE:
		return transpose_ratio(&look);
	case PAPER_OP_LASWP:
		return laswp_ratio(&look, paper_op_has(way, "layout", "row"));
	default:
		return trsm_ratio(&look);
	}
}
