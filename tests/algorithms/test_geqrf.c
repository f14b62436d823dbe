/* SPDX-License-Identifier: MIT */
/* The blocked QR factorization on the host executor and on the GPU: every kind of plan against
 * LAPACK's measures and LAPACKE's answer. */
#include "factor_test.h"

#include "factor/validation/check.h"
#include "factor/algorithms/geqrf.h"

#include <lapacke.h>

static const int64_t by_1[] = {1}, by_8[] = {8}, by_16[] = {16}, by_32[] = {32},
                     uneven[] = {24, 7, 16, 9};

static const struct plan plans[] = {
        {false, NULL, by_8, 1, 8, 0, 0},
        {false, NULL, by_8, 1, 64, 0, 1},
        {false, NULL, by_16, 1, 4, 0, 1},
        {false, NULL, by_32, 1, 5, 0, 0},
        {false, NULL, uneven, 4, 6, 0, 1},
        {false, NULL, by_1, 1, 1, 0, 1},
        {true, NULL, by_8, 1, 8, 0, 0},
        {true, NULL, by_16, 1, 4, 0, 1},
        {true, NULL, uneven, 4, 9, 0, 1},
        {true, NULL, by_32, 1, 32, 0, 0},
};

struct shape {
	int64_t m, n, lda;
};

/* Nothing, one, two, around the blocks' edges, tall and wide, with padding and without. */
static const struct shape shapes[] = {{0, 0, 1}, {0, 3, 1}, {3, 0, 3}, {1, 1, 1}, {1, 4, 3},
        {2, 2, 2}, {7, 7, 9}, {8, 8, 8}, {9, 9, 11}, {15, 17, 15}, {17, 15, 20}, {16, 16, 16},
        {33, 33, 40}, {70, 20, 71}, {20, 70, 20}, {63, 64, 65}, {65, 65, 65}};

struct problem {
	struct shape shape;
	enum precision precision;
	void *before, *after, *tau;
};

static int64_t steps(const struct problem *p)
{
	return p->shape.m < p->shape.n ? p->shape.m : p->shape.n;
}

static void problem_open(struct problem *p, int kind)
{
	const struct shape *s = &p->shape;

	p->before = test_matrix(s->lda, s->m, s->n, p->precision, kind);
	p->after = test_copy(p->before, s->lda, s->n, p->precision);
	p->tau = xcalloc((size_t)steps(p) + 1, sizeof(double));
}

static void problem_close(struct problem *p)
{
	free(p->before);
	free(p->after);
	free(p->tau);
}

/* Factorizes `before` into `after` with a workspace full of `fill`. */
static bool run(struct executor *e, const struct plan *plan, struct problem *p, int fill)
{
	const struct shape *s = &p->shape;
	int64_t word = precision_bytes(p->precision), k = steps(p);
	struct matrix whole = {NULL, 0, s->lda, s->n, s->lda, p->precision};
	struct matrix tau = {NULL, 0, k, 1, k ? k : 1, p->precision};
	struct test_memory a = {0}, scalars = {0}, work = {0};
	int64_t bytes = geqrf_work(e, plan, matrix_view(whole, 0, 0, s->m, s->n));
	bool good = bytes >= 0 && test_open(e, &a, s->lda * s->n * word, fill) &&
	            test_open(e, &scalars, k * word, fill) && test_open(e, &work, bytes, fill);

	whole.data = a.data;
	tau.data = scalars.data;
	good = good && e->ops->upload(e, p->before, s->lda, whole) &&
	       geqrf(e, plan, matrix_view(whole, 0, 0, s->m, s->n), tau, work.data) &&
	       e->ops->sync(e) && e->ops->download(e, whole, p->after, s->lda) &&
	       e->ops->download(e, tau, p->tau, k);
	if (!good)
		diag("%s", e->fault.text);
	good = test_close(e, &a) && good;
	good = test_close(e, &scalars) && good;
	return test_close(e, &work) && good;
}

static void lapack(struct problem *p)
{
	const struct shape *s = &p->shape;
	lapack_int m = (lapack_int)s->m, n = (lapack_int)s->n, lda = (lapack_int)s->lda;

	memcpy(p->after, p->before, (size_t)(s->lda * s->n * precision_bytes(p->precision)));
	if (steps(p) && p->precision == SINGLE)
		LAPACKE_sgeqrf(LAPACK_COL_MAJOR, m, n, p->after, lda, p->tau);
	else if (steps(p))
		LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, p->after, lda, p->tau);
}

/* ---- the measures ---- */

struct measures {
	bool finite;
	double ratio;         /* norm1(Q R - A) / (m norm1(A) eps) */
	double orthogonality; /* sqrt01: norm1(I - Q^T Q) / (m eps) */
	double backward;      /* norm_F(Q R - A) / (norm_F(A) eps) */
};

/* Smaller ones are over before many threads of a busy machine have begun. */
enum { TOGETHER = 4, WORTH_THREADS = 1 << 20 };

/* Of so many columns, whose sums do not wait for each other. */
static inline void apply_to(
        const double *qr, const double *tau, int64_t m, int64_t k, double *x, int columns)
{
	for (int64_t i = k - 1; i >= 0; i--) {
		const double *v = qr + i * m;
		double sum[TOGETHER];
		for (int c = 0; c < columns; c++)
			sum[c] = x[i + c * m];
		for (int64_t r = i + 1; r < m; r++)
#pragma GCC unroll 4
			for (int c = 0; c < columns; c++)
				sum[c] += v[r] * x[r + c * m];
		for (int c = 0; c < columns; c++) {
			sum[c] *= tau[i];
			x[i + c * m] -= sum[c];
			for (int64_t r = i + 1; r < m; r++)
				x[r + c * m] -= sum[c] * v[r];
		}
	}
}

/* C (m x n) := Q C by the reflectors one at a time. */
static void apply_q(const double *qr, const double *tau, int64_t m, int64_t k, double *c, int64_t n)
{
	int64_t whole = n - n % TOGETHER;

#pragma omp parallel for schedule(dynamic) if (m * k * n > WORTH_THREADS)
	for (int64_t j = 0; j < whole; j += TOGETHER)
		apply_to(qr, tau, m, k, c + j * m, TOGETHER);
	for (int64_t j = whole; j < n; j++)
		apply_to(qr, tau, m, k, c + j * m, 1);
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
	double eps = unit_roundoff(p->precision);
	double *a = to_doubles(p->before, s->lda, s->m, s->n, p->precision);
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
	result.orthogonality = orthogonality(qr, tau, s->m, k, eps);
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

/* Where the factors are so well conditioned that LAPACK's can be asked for, not only a Q and an R.
 */
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

	struct problem reference = *p;
	reference.after = test_copy(p->before, s->lda, s->n, p->precision);
	reference.tau = xcalloc((size_t)steps(p) + 1, sizeof(double));
	lapack(&reference);
	struct measures theirs = measure(&reference);
	double apart = difference(p, &reference);
	free(reference.after);
	free(reference.tau);
	/* among equal elements rounding errors do not average out: the order of the sums decides */
	if (kind != TEST_WILKINSON &&
	        !test_backward_fine(ours.backward, theirs.backward, 2, TEST_ROUNDING))
		return "backward error more than twice LAPACK's";
	return apart <= allowed_difference(kind) ? NULL : "not LAPACK's factors";
}

static void test_plan(struct executor *e, const struct plan *plan, enum precision precision)
{
	for (int kind = 0; kind < TEST_KINDS; kind++) {
		bool good = true;
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
			struct problem p = {.shape = shapes[i], .precision = precision};
			problem_open(&p, kind);
			const char *wrong = run(e, plan, &p, 0xff) ? verdict(&p, kind) : "refused";
			if (wrong)
				diag("%d x %d, lda %d: %s", (int)shapes[i].m, (int)shapes[i].n,
				        (int)shapes[i].lda, wrong);
			good = good && !wrong;
			problem_close(&p);
		}
		ok(good, "%s %cgeqrf %s nb %d%s leaf %d look-ahead %d: %s", e->name, precision,
		        plan->hybrid ? "hybrid" : "device", (int)plan->widths[0],
		        plan->count > 1 ? ".." : "", (int)plan->leaf, plan->lookahead,
		        test_kind_name(kind));
	}
}

#include "tests/executors/split_test.h"
#include "partial_norms_test.h"

static const int64_t split_64[] = {64}, split_128[] = {128}, split_512[] = {512};
static const struct plan split_plans[] = {{false, NULL, split_64, 1, 64, 0, 1},
        {false, NULL, split_128, 1, 64, 0, 0}, {true, NULL, split_128, 1, 64, 0, 1},
        {false, NULL, split_512, 1, 64, 0, 1}};

/* The same bits whatever the workspace held. */
static void test_repeats(struct executor *e)
{
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		struct problem one = {.shape = {150, 140, 152}, .precision = SINGLE}, two = one;
		problem_open(&one, MATRIX_RANDOM);
		problem_open(&two, MATRIX_RANDOM);
		bool good = run(e, &plans[i], &one, 0xff) && run(e, &plans[i], &two, 0x3f);
		size_t bytes = (size_t)(one.shape.lda * one.shape.n) * sizeof(float);
		ok(good && memcmp(one.after, two.after, bytes) == 0 &&
		                memcmp(one.tau, two.tau, 140 * sizeof(float)) == 0,
		        "plan %zu repeats bit for bit", i);
		problem_close(&one);
		problem_close(&two);
	}
}

/* The measures must see a wrong answer. */
static void test_measures(struct executor *e)
{
	struct problem p = {.shape = {40, 33, 40}, .precision = SINGLE};

	problem_open(&p, TEST_CONDITION_2);
	ok(run(e, &plans[2], &p, 0xff) && !verdict(&p, TEST_CONDITION_2), "a right answer passes");
	float *x = p.after, *tau = p.tau, kept = x[30 + 20 * 40];
	x[30 + 20 * 40] = kept + 0.01f;
	ok(verdict(&p, TEST_CONDITION_2), "one wrong element of a vector is found");
	x[30 + 20 * 40] = kept;
	kept = tau[7];
	tau[7] *= 1.001f;
	ok(verdict(&p, TEST_CONDITION_2), "one wrong tau is found");
	tau[7] = kept;
	for (int j = 10; j < 33; j++)
		x[10 + j * 40] = -x[10 + j * 40];
	ok(verdict(&p, TEST_CONDITION_2), "a row of R with the wrong sign is found");
	problem_close(&p);
}

static bool run_random(struct executor *e, const struct plan *plan)
{
	struct problem p = {.shape = {60, 50, 61}, .precision = SINGLE};

	problem_open(&p, MATRIX_RANDOM);
	bool ran = run(e, plan, &p, 0xff);
	problem_close(&p);
	return ran;
}

static bool run_nothing(struct executor *e, const struct plan *plan, struct matrix a)
{
	return geqrf(e, plan, a, a, NULL);
}

static void test_refusals(struct executor *e)
{
	static const int64_t none[] = {0};
	static const struct refusal cases[] = {
	        {{false, NULL, none, 1, 8, 0, 0}, 9, 9, 9, "widths start at 1"},
	        {{false, NULL, by_8, 1, 129, 0, 0}, 9, 9, 9, "a leaf of 129"},
	        {{false, NULL, by_8, 1, 8, 0, 0}, 9, 9, 8, "leading dimension"},
	        {{false, NULL, by_8, 1, 8, 0, 0}, 9, -9, 9, "9 x -9"}};

	test_each_refused(e, cases, ARRAY_LEN(cases), geqrf_work, run_nothing);
}

static void test_all(struct executor *e)
{
	test_measures(e);
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		test_plan(e, &plans[i], SINGLE);
		test_plan(e, &plans[i], DOUBLE);
	}
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		test_partial_norms(e, &plans[i]);
	test_copied(e, plans, geqrf_work, test_plan);
	test_splits(e, split_plans);
	test_repeats(e);
	test_any_phase_left_out(e, plans, ARRAY_LEN(plans), run_random);
	test_refusals(e);
}

int main(void)
{
	return test_on_executors(test_all);
}
