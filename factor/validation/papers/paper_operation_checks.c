/* SPDX-License-Identifier: MIT */
/* Whether a part's result is right, at places chosen at random. */
#include "lib/base/msg.h"
#include "paper_operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct look {
	struct executor *executor;
	const struct paper_op_data *data;
	uint64_t *state;
	struct fault *fault;
};

static int64_t choose(struct look *s, int64_t below)
{
	*s->state = *s->state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((*s->state >> 33) % (uint64_t)below);
}

/* Row i, or column j when i < 0, of a matrix; the caller frees it. NULL with a fault. */
static float *line_of(struct look *s, struct matrix a, int64_t i, int64_t j)
{
	struct executor *e = s->executor;
	const bool row = i >= 0;
	struct matrix line = row ? matrix_view(a, i, 0, 1, a.n) : matrix_view(a, 0, j, a.m, 1);
	float *to = xmalloc((size_t)(row ? a.n : a.m) * sizeof *to);

	if (timing_lift(e, e->ops->download(e, line, to, row ? 1 : a.m), s->fault))
		return to;
	free(to);
	return NULL;
}

/* Deviations are in units of the rounding of the terms' magnitudes. */
static const double eps = 0x1p-24;

/* Element (i, j) of alpha times the sum of the products of two lines of k, which are freed, + beta
 * C. */
static double sum_ratio(struct look *s, float *a, float *b, double beta, int64_t i, int64_t j)
{
	const struct paper_op_data *d = s->data;
	float *before = line_of(s, d->original, -1, j);
	float *after = line_of(s, d->result, -1, j);
	double sum = 0, magnitude = 0, ratio = NAN;

	if (a && b && before && after) {
		for (int64_t l = 0; l < d->problem.k; l++) {
			sum += (double)a[l] * (double)b[l];
			magnitude += fabs((double)a[l] * (double)b[l]);
		}
		const double old = beta * (double)before[i],
		             off = (double)after[i] - (old + PAPER_OP_ALPHA * sum);
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
	const int64_t i = choose(s, d->problem.m), j = choose(s, d->problem.n);

	return sum_ratio(s, line_of(s, d->x, i, 0),
	        transposed ? line_of(s, d->y, j, 0) : line_of(s, d->y, -1, j), 1, i, j);
}

/* Columns are moved, not computed: infinite when one word is another. */
static double same_words(const float *got, const float *want, int64_t count)
{
	if (!got || !want)
		return NAN;
	return memcmp(got, want, (size_t)count * sizeof *got) == 0 ? 0 : INFINITY;
}

static double transpose_ratio(struct look *s)
{
	const struct paper_op_data *d = s->data;
	const int64_t j = choose(s, d->result.n);
	float *want = line_of(s, d->x, j, 0), *got = line_of(s, d->result, -1, j);
	const double ratio = same_words(got, want, d->result.m);

	free(want);
	free(got);
	return ratio;
}

static double laswp_ratio(struct look *s, bool by_row)
{
	const struct paper_op_data *d = s->data;
	const int64_t line = choose(s, by_row ? d->result.m : d->result.n);
	const int64_t i = by_row ? line : -1;
	float *want = line_of(s, d->original, i, line);
	float *got = line_of(s, d->result, i, line);

	for (int e = 0; e < PAPER_OP_EXCHANGES && want; e++) {
		const float kept = want[e];
		want[e] = want[d->ipiv[e] - 1];
		want[d->ipiv[e] - 1] = kept;
	}
	const double ratio = same_words(got, want, by_row ? d->result.n : d->result.m);
	free(want);
	free(got);
	return ratio;
}

/* L x against the right-hand side, the largest of a column. */
static double trsm_ratio(struct look *s)
{
	const struct paper_op_data *d = s->data;
	const int64_t m = d->problem.m, j = choose(s, d->problem.n);
	struct executor *e = s->executor;
	float *l = xmalloc((size_t)(m * m) * sizeof *l);
	float *b = line_of(s, d->original, -1, j), *x = line_of(s, d->result, -1, j);
	double worst = NAN;

	if (b && x &&
	        timing_lift(
	                e, e->ops->download(e, matrix_view(d->x, 0, 0, m, m), l, m), s->fault)) {
		worst = 0;
		for (int64_t i = 0; i < m; i++) {
			double sum = x[i], magnitude = fabs((double)x[i]) + fabs((double)b[i]);
			for (int64_t q = 0; q < i; q++) {
				sum += (double)l[i + q * m] * (double)x[q];
				magnitude += fabs((double)l[i + q * m] * (double)x[q]);
			}
			const double ratio = fabs(sum - (double)b[i]) / eps / magnitude;
			worst = ratio <= worst ? worst : ratio; /* NaN, too */
		}
	}
	free(l);
	free(b);
	free(x);
	return worst;
}

/* An element of the triangle, or one above it as it was, which the full product alone may change.
 */
static double syrk_ratio(struct look *s, bool full)
{
	const struct paper_op_data *d = s->data;
	const int64_t x = choose(s, d->problem.m), y = choose(s, d->problem.m);
	const int64_t i = full && x < y ? y : x, j = full && x < y ? x : y;

	if (i >= j)
		return sum_ratio(s, line_of(s, d->x, i, 0), line_of(s, d->x, j, 0), 1, i, j);
	float *before = line_of(s, d->original, -1, j), *after = line_of(s, d->result, -1, j);
	const double ratio = before && after ? same_words(after + i, before + i, 1) : NAN;
	free(before);
	free(after);
	return ratio;
}

static double trmm_ratio(struct look *s, const struct paper_op_way *way)
{
	const struct paper_op_data *d = s->data;
	const struct matrix triangle = paper_op_triangle(way, d);
	const bool left = paper_op_has(way, "side", "l");
	const int64_t i = choose(s, d->problem.m), j = choose(s, d->problem.n);

	return sum_ratio(s, line_of(s, left ? triangle : d->y, i, 0),
	        line_of(s, left ? d->y : triangle, -1, j), 0, i, j);
}

double paper_op_ratio(struct executor *executor, const struct paper_op_way *way,
        const struct paper_op_data *data, uint64_t *state, struct fault *fault)
{
	struct look look = {executor, data, state, fault};

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
