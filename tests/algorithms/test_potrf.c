/* SPDX-License-Identifier: MIT */
/* The blocked Cholesky factorization on the host executor and on the GPU: every kind of plan, both
 * triangles, against LAPACK's measures and LAPACK's results. */
#include "spd_matrices.h"
#include "factor_promises.h"
#include "tests/executors/split_test.h"

#include "factor/validation/check.h"
#include "factor/algorithms/potrf.h"

static const struct plan plans[] = {
        {false, NULL, by_8, 1, 8, 0, .lookahead = 0},
        {false, NULL, by_8, 1, 64, 0, .lookahead = 1},
        {false, NULL, by_16, 1, 4, 0, .lookahead = 0},
        {false, NULL, by_16, 1, 4, 4, .lookahead = 1},
        {false, NULL, by_16, 1, 16, 4, .lookahead = 0},
        {false, NULL, by_32, 1, 8, 16, .lookahead = 1},
        {false, NULL, uneven, 4, 6, 3, .lookahead = 1},
        {false, NULL, by_1, 1, 1, 1, .lookahead = 1},
        {true, NULL, by_8, 1, 8, 0, .lookahead = 0},
        {true, NULL, by_16, 1, 8, 0, .lookahead = 1},
        {true, NULL, by_16, 1, 8, 5, .lookahead = 0},
        {true, NULL, uneven, 4, 8, 16, .lookahead = 1},
        {true, NULL, by_8, 1, 8, 0, 1, .coarse = 4, .copies_wait = true},
        {true, NULL, uneven, 4, 8, 5, 0, .coarse = 2},
        {false, NULL, by_8, 1, 8, 0, 1, .coarse = 4},
        {false, NULL, by_8, 1, 4, 4, 1, .coarse = 2},
};

static const struct shape shapes[] = {{0, 0, 1}, {1, 1, 1}, {1, 1, 3}, {2, 2, 2}, {7, 7, 9},
        {8, 8, 8}, {9, 9, 9}, {15, 15, 15}, {16, 16, 20}, {17, 17, 17}, {31, 31, 33}, {33, 33, 33},
        {50, 50, 50}, {71, 71, 75}};

/* ---- the measures ---- */

/* The leading k x k triangle as the lower one in doubles, zeros above. */
static double *lower(const struct problem *p, const void *x, int64_t k)
{
	double *out = xcalloc((size_t)(k * k + 1), sizeof *out);

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = j; i < k; i++)
			out[i + j * k] = get(x,
			        p->uplo == LOWER ? i + j * p->shape.lda : j + i * p->shape.lda,
			        p->precision);
	return out;
}

struct measures {
	double ratio;    /* spot01: norm1(L L^T - A) / (k norm1(A) eps) */
	double backward; /* norm_F(L L^T - A) / (norm_F(A) eps) */
};

/* A -= L L^T in extended precision. */
static void subtract_square(int64_t k, const double *l, double *a)
{
	double *u = xmalloc((size_t)(k * k) * sizeof *u);

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < k; i++)
			u[i + j * k] = l[j + i * k];
	subtract_product(k, k, k, l, u, a);
	free(u);
}

/* Of the leading k x k matrix. */
static struct measures measure(const struct problem *p, int64_t k)
{
	double eps = unit_roundoff(p->precision);
	double *a = lower(p, p->before, k), *l = lower(p, p->after, k);

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < j; i++)
			a[i + j * k] = a[j + i * k];
	/* both by powers of two: L by half of A's exponent */
	int exponent = 0;
	frexp(norm_max(a, k * k), &exponent);
	exponent -= exponent % 2;
	for (int64_t i = 0; i < k * k; i++) {
		a[i] = ldexp(a[i], -exponent);
		l[i] = ldexp(l[i], -exponent / 2);
	}
	double norm = norm_one(a, k, k), frobenius = norm_frobenius(a, k * k);
	if (p->precision == DOUBLE && k > 256)
		subtract_square(k, l, a);
	else
		multiply(CblasNoTrans, CblasTrans, k, k, k, -1, l, l, 1, a);
	struct measures r = {test_ratio(norm_one(a, k, k), k, norm, eps),
	        test_ratio(norm_frobenius(a, k * k), 1, frobenius, eps)};
	free(a);
	free(l);
	return r;
}

/* By the definition, in double: the first pivot that is not positive. */
static int expected_info(const struct problem *p)
{
	int64_t n = p->shape.n;
	double *l = lower(p, p->before, n);
	int info = 0;

	for (int64_t j = 0; j < n && !info; j++) {
		if (!(l[j + j * n] > 0))
			info = (int)(j + 1);
		double pivot = sqrt(l[j + j * n]);
		for (int64_t i = j; i < n; i++)
			l[i + j * n] /= pivot;
		for (int64_t c = j + 1; c < n; c++)
			for (int64_t i = c; i < n; i++)
				l[i + c * n] -= l[i + j * n] * l[c + j * n];
	}
	free(l);
	return info;
}

/* The other triangle and the padding are unchanged. */
static bool rest_intact(const struct problem *p)
{
	static const unsigned char poison[8] = {255, 255, 255, 255, 255, 255, 255, 255};
	int64_t word = precision_bytes(p->precision);

	for (int64_t j = 0; j < p->shape.n; j++)
		for (int64_t i = 0; i < p->shape.lda; i++) {
			bool ours = i < p->shape.n && (p->uplo == LOWER ? i >= j : i <= j);
			const char *at = (const char *)p->after + (i + j * p->shape.lda) * word;
			if (!ours && memcmp(at, poison, (size_t)word) != 0)
				return false;
		}
	return true;
}

/* Rows of the blocks before the block with row `info`; all rows without info. */
static int64_t finished_rows(const struct problem *p)
{
	const int64_t n = p->shape.n;

	for (int64_t j = 0, k = 0, w; j < n; j += w, k++) {
		w = plan_width(p->plan, k, n - j);
		if (p->info && p->info <= j + w)
			return j;
	}
	return n;
}

static bool leaves_not_finite(const struct problem *p)
{
	const int64_t n = p->shape.n;
	double *l = lower(p, p->after, n);
	bool found = any_not_finite(l, n * n);

	free(l);
	return found;
}

/* The first reason why the factor is wrong, or NULL. */
static const char *verdict(const struct problem *p, int kind)
{
	struct measures ours = measure(p, finished_rows(p));
	bool infinite = kind == SPD_INF_MIDDLE || kind == SPD_INF_CORNER;

	if (!rest_intact(p))
		return "the other triangle or the padding was written";
	if (p->info != expected_info(p) && !(infinite && p->info > 0)) /* Inf times 0 is a NaN */
		return "wrong info";
	if (infinite && p->shape.n && p->info == 0)
		return leaves_not_finite(p) ? NULL : "the Inf is gone";
	if (infinite)
		return NULL; /* the leading blocks contain the Inf or not */
	if (!(ours.ratio < CHECK_THRESHOLD))
		return "residual too large";
	if (p->info)
		return NULL;
	struct problem reference = problem_by_lapack(p);
	struct measures theirs = measure(&reference, p->shape.n);
	problem_close(&reference);
	/* columns taken one by one round an element once per column */
	double times = p->plan->widths[0] == 1 ? 3 : 2;
	return test_backward_fine(ours.backward, theirs.backward, times, 2 * TEST_ROUNDING)
	               ? NULL
	               : "backward error more than twice LAPACK's";
}

/* ---- the factorization ---- */

static void *matrix(const struct problem *p, int kind)
{
	return spd_matrix(p->uplo, p->shape.n, p->shape.lda, p->precision, kind);
}

/* ---- further cases ---- */

static const struct plan wide[] = {{false, NULL, by_300, 1, 300, 0, .lookahead = 1},
        {false, NULL, by_300, 1, 64, 0, .lookahead = 0},
        {false, NULL, by_300, 1, 128, 0, .lookahead = 1},
        {false, NULL, by_128, 1, 128, 0, .lookahead = 0},
        {false, NULL, by_300, 1, 64, 64, .lookahead = 1},
        {false, NULL, by_128, 1, 128, 128, .lookahead = 1},
        {true, NULL, by_300, 1, 64, 0, .lookahead = 1},
        {true, NULL, by_300, 1, 64, 128, .lookahead = 1},
        {false, NULL, falling, 4, 64, 32, .lookahead = 1},
        {true, NULL, falling, 4, 128, 0, .lookahead = 1}};
static const struct shape large[] = {{450, 450, 453}};

static const struct refusal refusals[] = {
        {{true, NULL, by_8, 1, 8, 4, 0, .in_place = true}, 9, 9, 9, "without inverses"},
        {{false, NULL, by_0, 1, 8, 0, .lookahead = 0}, 9, 9, 9, "widths start at 1"},
        {{false, NULL, by_8, 1, 513, 0, .lookahead = 0}, 9, 9, 9, "a leaf of 513"},
        {{false, NULL, by_8, 1, 8, 3, .lookahead = 0}, 9, 9, 9, "no multiple"},
        {{false, NULL, by_8, 1, 8, 0, .lookahead = 0}, 9, 8, 9, "not square"},
        {{false, NULL, by_8, 1, 8, 0, .lookahead = 0}, 9, 9, 8, "leading dimension"}};

static const struct wrong wrong[] = {{"one wrong element", IN_MATRIX, 30 + 20 * 40, 1, 0.01, 0, 0},
        {"a write to the other triangle", IN_MATRIX, 20 + 30 * 40, 0, 0, 0, 0},
        {"a wrong info", IN_INFO, 0, 1, 3, 0, 0}};

static const struct factorization cholesky = {.name = "potrf",
        .operation = POTRF,
        TABLE(plans),
        TABLE(shapes),
        TABLE(wide),
        TABLE(large),
        .largest = 4096,
        .large_kind = SPD_LARGE,
        TABLE(refusals),
        TABLE(wrong),
        .wrong_plan = 3,
        .wrong_shape = {40, 40, 40},
        .wrong_kind = SPD_LAWN,
        .again = {150, 150, 152},
        .kinds = SPD_KINDS,
        .uplos = 2,
        .random_kind = SPD_LAWN,
        .kind_name = spd_kind_name,
        .matrix = matrix,
        .verdict = verdict};

static void test_split_updates(struct executor *e)
{
	const struct split_limits *kept = e->splits;
	struct split_limits small = {
	        .side = 64, .depth = 32, .alignment = 16, .use = 64, .half = kept && kept->half};
	static const int kinds[] = {SPD_LAWN, SPD_CONDITION_BAD, SPD_NEAR_UNDERFLOW,
	        SPD_NEAR_OVERFLOW, SPD_GRADED, SPD_NAN_CORNER, SPD_NEGATIVE_MIDDLE, SPD_INF_CORNER};
	static const struct plan split[] = {{false, NULL, by_128, 1, 64, 0, .lookahead = 1},
	        {false, NULL, by_128, 1, 128, 128, .lookahead = 0},
	        {true, NULL, by_300, 1, 64, 0, .lookahead = 1},
	        {false, NULL, by_64, 1, 64, 64, .lookahead = 1}};
	static const struct plan narrow = {false, NULL, by_32, 1, 32, 0, .lookahead = 1};

	const int64_t side = test_full() ? 601 : 401,
	              wider = test_full() ? 1101 : test_at_most(801, 401);

	if (!kept) {
		skip("3xTF32", "no TF32 units");
		return;
	}
	e->splits = &small;
	for (enum math math = MATH_3XTF32; math < MATHS && math_possible(e, math); math++) {
		small.together = 300; /* the blocks on the diagonal and squares as wide */
		for (size_t i = 0; i < 2 * ARRAY_LEN(kinds); i++)
			if (test_meets(i / 2, i % 2, 2, 1) && test_turn(i / 2, 3))
				test_split(e, &cholesky, math, &split[i % ARRAY_LEN(split)],
				        i % 2 ? UPPER : LOWER, kinds[i / 2], side, side);
		for (size_t i = 0; i < 4 * ARRAY_LEN(split); i++) {
			if (!test_meets(i / 4 + (size_t)math, i % 4, 4, 1) || !test_turn(i / 4, 3))
				continue;
			small.together = i % 4 < 2 ? 300 : 100;
			test_split(e, &cholesky, math, &split[i / 4], i % 2 ? UPPER : LOWER,
			        SPD_LARGE, wider, wider);
		}
		test_split(e, &cholesky, math, &narrow, LOWER, SPD_DOMINANT, wider, wider);
	}
	e->splits = kept;
}

/* In double precision columns that begin between sectors of memory are copied, too. */
static void test_sectors(struct executor *e)
{
	const int64_t from = e->aligned_from, bytes = 98 * 98 * (int64_t)sizeof(double);
	const struct matrix between = {NULL, 0, 98, 98, 98, DOUBLE},
	                    whole = {NULL, 0, 98, 98, 100, DOUBLE},
	                    single = {NULL, 0, 98, 98, 100, SINGLE};

	e->aligned_from = 1;
	const int64_t copied = potrf_work(e, &plans[0], UPPER, single);
	ok(potrf_work(e, &plans[0], UPPER, between) >
	                potrf_work(e, &plans[0], UPPER, whole) + bytes,
	        "%s: columns between sectors have a copy", e->name);
	e->aligned_from = 0;
	ok(potrf_work(e, &plans[0], UPPER, single) == copied, "%s: in single precision none",
	        e->name);
	e->aligned_from = from;
}

static void test_all(struct executor *e)
{
	test_verdict(e, &cholesky);
	test_sectors(e);
	test_plans(e, &cholesky, NULL, 2);
	test_large(e, &cholesky, false);
	test_copied(e, &cholesky);
	test_split_updates(e);
	test_ends(e, &cholesky);
	test_refused(e, &cholesky);
}

int main(void)
{
	return test_on_executors(test_all);
}
