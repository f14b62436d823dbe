/* SPDX-License-Identifier: MIT */
/* The blocked QR factorization on the host executor and on the GPU: every kind of plan against
 * LAPACK's measures and LAPACK's results. */
#include "factor_promises.h"
#include "tests/executors/split_test.h"

#include "factor/validation/check.h"
#include "factor/algorithms/geqrf.h"

#include <lapacke.h>

static const struct plan plans[] = {
        {false, NULL, by_8, 1, 8, 0, .lookahead = 0},
        {false, NULL, by_8, 1, 64, 0, .lookahead = 1},
        {false, NULL, by_16, 1, 4, 0, .lookahead = 1},
        {false, NULL, by_32, 1, 5, 0, .lookahead = 0},
        {false, NULL, uneven, 4, 6, 0, .lookahead = 1},
        {false, NULL, by_1, 1, 1, 0, .lookahead = 1},
        {true, NULL, by_8, 1, 8, 0, .lookahead = 0},
        {true, NULL, by_16, 1, 4, 0, .lookahead = 1},
        {true, NULL, uneven, 4, 9, 0, .lookahead = 1},
        {true, NULL, by_32, 1, 32, 0, .lookahead = 0},
};

enum { FEW_ROWS = 16 };

/* ---- the measures ---- */

struct measures {
	bool finite;
	double ratio;         /* norm1(Q R - A) / (m norm1(A) eps) */
	double orthogonality; /* sqrt01: norm1(I - Q^T Q) / (m eps) */
	double backward;      /* norm_F(Q R - A) / (norm_F(A) eps) */
};

/* C (m x n) := Q C in double precision. */
static void apply_q(const double *qr, const double *tau, int64_t m, int64_t k, double *c, int64_t n)
{
	const lapack_int rows = (lapack_int)m, columns = (lapack_int)n,
	                 room = 64 * columns + 65 * 64;
	double *work = xmalloc((size_t)room * sizeof *work);

	if (m && n && k)
		LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'N', rows, columns, (lapack_int)k, qr,
		        rows, tau, c, rows, work, room);
	free(work);
}

static double orthogonality(const double *qr, const double *tau, int64_t m, int64_t k, double eps)
{
	double *q = xcalloc((size_t)(m * m + 1), sizeof *q);
	double *error = xcalloc((size_t)(m * m + 1), sizeof *error);

	for (int64_t i = 0; i < m; i++)
		q[i + i * m] = error[i + i * m] = 1;
	apply_q(qr, tau, m, k, q, m);
	multiply(CblasTrans, CblasNoTrans, m, m, m, -1, q, q, 1, error);
	double norm = norm_one(error, m, m);
	free(q);
	free(error);
	return test_ratio(norm, m, 1, eps);
}

static struct measures measure(const struct problem *p)
{
	const struct shape *s = &p->shape;
	int64_t k = steps(p), count = s->m * s->n;
	double *a = to_doubles(p->before, s->lda, s->m, s->n, p->precision);
	double eps = roundoff_at(norm_max(a, count), p->precision);
	double *qr = to_doubles(p->after, s->lda, s->m, s->n, p->precision);
	double *tau = to_doubles(p->tau, k, k, 1, p->precision);
	double *r = xcalloc((size_t)(count + 1), sizeof *r);
	struct measures result = {.finite = !any_not_finite(qr, count)};

	for (int64_t j = 0; j < s->n; j++)
		memcpy(r + j * s->m, qr + j * s->m,
		        (size_t)(j + 1 < s->m ? j + 1 : s->m) * sizeof *r);
	rescale(r, count, a, count);
	rescale(a, count, a, count);
	double norm = norm_one(a, s->m, s->n), frobenius = norm_frobenius(a, count);
	apply_q(qr, tau, s->m, k, r, s->n);
	for (int64_t i = 0; i < count; i++)
		r[i] -= a[i];
	result.ratio = test_ratio(norm_one(r, s->m, s->n), s->m, norm, eps);
	result.backward = test_ratio(norm_frobenius(r, count), 1, frobenius, eps);
	result.orthogonality = orthogonality(qr, tau, s->m, k, unit_roundoff(p->precision));
	free(a);
	free(qr);
	free(tau);
	free(r);
	return result;
}

/* Largest difference of the factors (R, vectors and taus), over the largest element and eps. */
static double difference(const struct problem *p, const struct problem *q)
{
	const struct shape *s = &p->shape;
	int64_t count = s->m * s->n, k = steps(p);
	double *x = to_doubles(p->after, s->lda, s->m, s->n, p->precision);
	double *y = to_doubles(q->after, s->lda, s->m, s->n, p->precision);
	double largest = norm_max(y, count), apart = 0, tau = 0;

	for (int64_t i = 0; i < count; i++)
		apart = worse(apart, fabs(x[i] - y[i]));
	for (int64_t i = 0; i < k; i++)
		tau = worse(tau, fabs(get(p->tau, i, p->precision) - get(q->tau, i, p->precision)));
	free(x);
	free(y);
	return ((largest > 0 ? apart / largest : apart) + tau) / unit_roundoff(p->precision);
}

/* Finite where the factors are so well conditioned that they have to be LAPACK's. */
static double allowed_difference(int kind)
{
	switch (kind) {
	case TEST_ZERO:
	case TEST_IDENTITY:
		return 0;
	case TEST_CONDITION_2:
		return 1000;
	default:
		return INFINITY;
	}
}

/* The first reason why the factors are wrong, or NULL. */
static const char *verdict(const struct problem *p, int kind)
{
	const struct shape *s = &p->shape;
	struct measures ours = measure(p);

	if (!matrix_padding_intact(p->after, s->lda, s->m, s->n, p->precision))
		return "the padding was written";
	if (!test_kind_finite(kind))
		return steps(p) == 0 || !ours.finite ? NULL : "the NaN or Inf is gone";
	if (!(ours.ratio < CHECK_THRESHOLD))
		return "residual too large";
	if (!(ours.orthogonality < CHECK_THRESHOLD))
		return "not orthogonal";
	struct problem reference = problem_by_lapack(p);
	struct measures theirs = measure(&reference);
	double apart = difference(p, &reference);
	problem_close(&reference);
	/* Among equal elements, and among few, rounding errors do not average out: the order of the
	 * sums decides (docs/experiments/test-bounds.md). */
	const double luck = s->m <= FEW_ROWS ? 3 * TEST_ROUNDING : TEST_ROUNDING;
	if (kind != TEST_WILKINSON && !test_backward_fine(ours.backward, theirs.backward, 2, luck))
		return "backward error more than twice LAPACK's";
	return apart <= allowed_difference(kind) ? NULL : "not LAPACK's factors";
}

/* ---- the factorization ---- */

static const struct plan wide[] = {{false, NULL, by_64, 1, 64, 0, .lookahead = 0},
        {false, NULL, by_128, 1, 32, 0, .lookahead = 1},
        {false, NULL, by_256, 1, 64, 0, .lookahead = 1},
        {false, NULL, falling, 4, 64, 0, .lookahead = 1},
        {true, NULL, by_128, 1, 64, 0, .lookahead = 0},
        {true, NULL, falling, 4, 128, 0, .lookahead = 1}};
static const struct shape large[] = {{257, 257, 259}, {300, 129, 300}, {129, 300, 129}};

static const struct refusal refusals[] = {
        {{false, NULL, by_0, 1, 8, 0, .lookahead = 0}, 9, 9, 9, "widths start at 1"},
        {{false, NULL, by_8, 1, 129, 0, .lookahead = 0}, 9, 9, 9, "a leaf of 129"},
        {{true, NULL, by_8, 1, 8, 0, 0, .coarse = 2}, 9, 9, 9, "one level"},
        {{false, NULL, by_8, 1, 8, 0, .lookahead = 0}, 9, 9, 8, "leading dimension"},
        {{false, NULL, by_8, 1, 8, 0, .lookahead = 0}, 9, -9, 9, "9 x -9"}};

static const struct wrong wrong[] = {
        {"one wrong element of a vector", IN_MATRIX, 30 + 20 * 40, 1, 0.01, 0, 0},
        {"one wrong tau", IN_TAU, 7, 1.001, 0, 0, 0},
        {"a row of R with the wrong sign", IN_MATRIX, 10 + 10 * 40, -1, 0, 23, 40}};

static const struct factorization qr = {.name = "geqrf",
        .operation = GEQRF,
        TABLE(plans),
        .shapes = general_shapes,
        .shapes_count = ARRAY_LEN(general_shapes),
        TABLE(wide),
        TABLE(large),
        .largest = 2048,
        .large_kind = MATRIX_RANDOM,
        TABLE(refusals),
        TABLE(wrong),
        .wrong_plan = 2,
        .wrong_shape = {40, 33, 40},
        .wrong_kind = TEST_CONDITION_2,
        .again = {150, 140, 152},
        .kinds = TEST_KINDS,
        .uplos = 1,
        .random_kind = MATRIX_RANDOM,
        .has_tau = true,
        .verdict = verdict};

static const struct plan split_plans[] = {{false, NULL, by_64, 1, 64, 0, .lookahead = 1},
        {false, NULL, by_128, 1, 64, 0, .lookahead = 0},
        {true, NULL, by_128, 1, 64, 0, .lookahead = 1},
        {false, NULL, by_512, 1, 64, 0, .lookahead = 1}};

/* ---- nearly parallel columns ---- */

/* R's diagonal keeps the digits of what remains of a column's norm, which a norm that is kept up to
 * date by subtracting squares of R's elements, as LAPACK's column pivoting does, would lose. */
enum { PARALLEL_ROWS = 300, PARALLEL_COLUMNS = 40 };

static void test_partial_norms(struct executor *e, const struct plan *plan)
{
	const float apart = 1e-4f;
	struct problem p = {.of = &qr,
	        .shape = {PARALLEL_ROWS, PARALLEL_COLUMNS, PARALLEL_ROWS + 3},
	        .precision = SINGLE};
	const int64_t lda = p.shape.lda;
	double tau[PARALLEL_COLUMNS], worst = 0;

	problem_open(&p, MATRIX_RANDOM);
	float *a = p.before;
	for (int64_t j = 1; j < PARALLEL_COLUMNS; j++)
		for (int64_t i = 0; i < PARALLEL_ROWS; i++)
			a[i + j * lda] = a[i] + apart * a[i + j * lda];
	double *exact = to_doubles(a, lda, PARALLEL_ROWS, PARALLEL_COLUMNS, SINGLE);
	LAPACKE_dgeqrf(
	        LAPACK_COL_MAJOR, PARALLEL_ROWS, PARALLEL_COLUMNS, exact, PARALLEL_ROWS, tau);
	const bool good = run(e, plan, &p, 0xff);
	const float *r = p.after;
	for (int64_t j = 1; j < PARALLEL_COLUMNS; j++) {
		const double norm = fabs(exact[j + j * PARALLEL_ROWS]);
		worst = worse(worst, fabs(fabs((double)r[j + j * lda]) / norm - 1));
	}
	ok(good && worst < 0.05,
	        "%s nb %d, panels on the %s: norms of nearly parallel columns to %.2g", e->name,
	        (int)plan->widths[0], plan->hybrid ? "host" : "device", worst);
	free(exact);
	problem_close(&p);
}

/* A tall matrix in double precision with panels by the Gram matrix, where the executor has them:
 * R as LAPACK's but for rounding. */
static void test_gram(
        struct executor *e, int64_t rows, int64_t columns, int64_t width, int lookahead)
{
	enum { MOST_COLUMNS = 256, LEAF = 64 };
	const struct plan plan = {false, PLAN_GRAM, &width, 1, LEAF, 0, .lookahead = lookahead};
	struct problem p = {.of = &qr, .shape = {rows, columns, rows + 3}, .precision = DOUBLE};
	double tau[MOST_COLUMNS], worst = 0;

	problem_open(&p, MATRIX_RANDOM);
	double *exact = to_doubles(p.before, p.shape.lda, rows, columns, DOUBLE);
	const double size = norm_frobenius(exact, rows * columns);
	LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)rows, (lapack_int)columns, exact,
	        (lapack_int)rows, tau);
	const bool good = run(e, &plan, &p, 0xff);
	const double *r = p.after;
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i <= j; i++)
			worst = worse(
			        worst, fabs(r[i + j * p.shape.lda] - exact[i + j * rows]) / size);
	ok(good && worst < 100 * DBL_EPSILON && !e->gram_double,
	        "%s, panels of %d x %d by the Gram matrix: R to %.2g", e->name, (int)rows,
	        (int)columns, worst);
	free(exact);
	problem_close(&p);
}

static void test_all(struct executor *e)
{
	test_verdict(e, &qr);
	test_plans(e, &qr, NULL, 2);
	test_large(e, &qr, false);
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		if (test_turn(i, 3))
			test_partial_norms(e, &plans[i]);
	for (size_t i = 0; i < 2 * ARRAY_LEN(plans); i++)
		if (test_turn(i, 9))
			test_kind(e, &qr, &plans[i / 2], LOWER, i % 2 ? DOUBLE : SINGLE,
			        TEST_SUBNORMAL);
	test_copied(e, &qr);
	test_splits(e, &qr, split_plans, false);
	test_ends(e, &qr);
	test_refused(e, &qr);
	test_gram(e, 5003, 80, 64, 0); /* a last panel that is too narrow */
	/* updates that leave the next leaf's Gram matrix, in a block and between blocks */
	test_gram(e, 33001, 130, 130, 0);
	test_gram(e, 33002, 192, 64, 1);
}

int main(void)
{
	return test_on_executors(test_all);
}
