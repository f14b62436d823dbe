/* SPDX-License-Identifier: MIT */
/* The blocked LU factorization on the host executor and on the GPU: every kind of plan against
 * LAPACK's measures and LAPACK's results. */
#include "factor_promises.h"
#include "tests/executors/split_test.h"

#include "factor/validation/check.h"
#include "factor/algorithms/getrf.h"

static const int64_t growing[] = {4, 16, 32}, by_513[] = {513};

/* Both places of the panel, all look-aheads, both kinds of solve, leaves that are wider than, as
 * wide as, and narrower than the blocks. */
static const struct plan plans[] = {
        {false, "persistent", by_8, 1, 8, 0, .lookahead = 0},
        {false, "persistent", by_8, 1, 64, 0, .lookahead = 1},
        {false, "persistent", by_8, 1, 64, 0, .lookahead = 2},
        {false, "persistent", by_16, 1, 4, 0, .lookahead = 0},
        {false, "persistent", by_16, 1, 4, 4, .lookahead = 2},
        {false, "persistent", by_16, 1, 16, 4, .lookahead = 0},
        {false, "persistent", by_32, 1, 8, 16, .lookahead = 1},
        {false, "persistent", uneven, 4, 5, 5, .lookahead = 1},
        {false, "persistent", uneven, 4, 6, 0, .lookahead = 2},
        {false, "persistent", growing, 3, 8, 0, .lookahead = 2},
        {false, "persistent", by_1, 1, 1, 1, .lookahead = 1},
        {false, "fused", by_16, 1, 8, 0, .lookahead = 1},
        {false, "blas", by_16, 1, 8, 8, .lookahead = 1},
        {false, "optimized", by_16, 1, 8, 0, .lookahead = 0},
        {false, "host", by_16, 1, 16, 16, .lookahead = 1},
        {true, NULL, by_8, 1, 8, 0, .lookahead = 0},
        {true, NULL, by_16, 1, 8, 0, .lookahead = 1},
        {true, NULL, by_16, 1, 8, 4, .lookahead = 0},
        {true, NULL, uneven, 4, 8, 16, .lookahead = 1},
        {true, NULL, growing, 3, 8, 7, .lookahead = 1},
        /* LAWN 202's, and with each part of it elsewhere */
        {true, NULL, by_8, 1, 8, 8, 1, .coarse = 4, .row_major = true},
        {true, NULL, by_8, 1, 8, 0, 1, .coarse = 2, .row_major = true},
        {true, NULL, by_16, 1, 16, 16, 0, .coarse = 2, .row_major = true},
        {true, NULL, uneven, 4, 8, 4, 1, .row_major = true, .single_swaps = true},
        {true, NULL, by_8, 1, 8, 8, 1, .coarse = 4, .single_swaps = true},
        {true, NULL, by_8, 1, 8, 8, 1, .coarse = 4, .row_major = true, .copies_wait = true},
        {true, NULL, growing, 3, 8, 0, 0, .coarse = 2, .copies_wait = true},
        {false, "persistent", by_8, 1, 4, 0, 2, .coarse = 4},
        {false, "persistent", uneven, 4, 8, 8, 1, .coarse = 2, .row_major = true},
        {false, "persistent", by_8, 1, 8, 4, 0, .coarse = 6},
};

/* Up to this size no rounding error decides a pivot in these matrices. */
enum { SMALL = 33 };

/* ---- the measures ---- */

struct measures {
	bool pivots_valid, finite;
	double ratio;    /* LAPACK's sget01 */
	double max_l;    /* at most 1 */
	double backward; /* norm_F(P A - L U) / (norm_F(A) eps) */
	double growing;  /* largest element of |P A - L U| over |L| |U| and k eps, k steps; NAN for
	                    more than FEW */
};

enum { FEW = 65 };

static bool valid_pivots(const struct problem *p)
{
	for (int64_t j = 0; j < steps(p); j++)
		if (p->ipiv[j] <= j || p->ipiv[j] > p->shape.m)
			return false;
	return true;
}

static void swap_rows(const struct problem *p, double *a)
{
	for (int64_t i = 0; i < steps(p); i++)
		cblas_dswap((blasint)p->shape.n, a + i, (blasint)p->shape.m, a + p->ipiv[i] - 1,
		        (blasint)p->shape.m);
}

/* c over |L| |U|, element by element: the largest quotient. */
static double over_product(int64_t m, int64_t n, int64_t k, double *l, double *u, const double *c)
{
	double *product = xcalloc((size_t)(m * n + 1), sizeof *product), largest = 0;

	for (int64_t i = 0; i < m * k; i++)
		l[i] = fabs(l[i]);
	for (int64_t i = 0; i < k * n; i++)
		u[i] = fabs(u[i]);
	multiply(CblasNoTrans, CblasNoTrans, m, n, k, 1, l, u, 0, product);
	for (int64_t i = 0; i < m * n; i++)
		largest = worse(largest, c[i] == 0 ? 0 : fabs(c[i]) / product[i]);
	free(product);
	return largest;
}

static struct measures measure(const struct problem *p)
{
	const struct shape *s = &p->shape;
	int64_t k = steps(p);
	double *a = to_doubles(p->before, s->lda, s->m, s->n, p->precision);
	double eps = roundoff_at(norm_max(a, s->m * s->n), p->precision);
	double *lu = to_doubles(p->after, s->lda, s->m, s->n, p->precision);
	double *l = xcalloc((size_t)(s->m * k + 1), sizeof *l);
	double *u = xcalloc((size_t)(k * s->n + 1), sizeof *u);
	struct measures r = {
	        .pivots_valid = valid_pivots(p), .ratio = NAN, .backward = NAN, .growing = NAN};

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = j; i < s->m; i++) {
			l[i + j * s->m] = i == j ? 1 : lu[i + j * s->m];
			r.max_l = worse(r.max_l, fabs(l[i + j * s->m]));
		}
	for (int64_t j = 0; j < s->n; j++)
		for (int64_t i = 0; i <= j && i < k; i++)
			u[i + j * k] = lu[i + j * s->m];
	r.finite = !any_not_finite(lu, s->m * s->n);
	if (r.pivots_valid) {
		swap_rows(p, a);
		rescale(u, k * s->n, a, s->m * s->n);
		rescale(a, s->m * s->n, a, s->m * s->n);
		double norm = norm_one(a, s->m, s->n), frobenius = norm_frobenius(a, s->m * s->n);
		if (p->precision == DOUBLE && k > 256)
			subtract_product(s->m, s->n, k, l, u, a);
		else
			multiply(CblasNoTrans, CblasNoTrans, s->m, s->n, k, -1, l, u, 1, a);
		r.ratio = test_ratio(norm_one(a, s->m, s->n), s->n, norm, eps);
		r.backward = test_ratio(norm_frobenius(a, s->m * s->n), 1, frobenius, eps);
		if (k <= FEW)
			r.growing =
			        over_product(s->m, s->n, k, l, u, a) / (fmax((double)k, 1) * eps);
	}
	free(a);
	free(lu);
	free(l);
	free(u);
	return r;
}

static bool pivots_unique(int kind)
{
	return kind < MATRIX_KINDS
	               ? matrix_pivots_unique((enum matrix_kind)kind)
	               : kind == TEST_IDENTITY || kind == TEST_ZERO || kind == TEST_LAST_HALF_ZERO;
}

/* Times LAPACK's backward error: LAWN 202's inverses are wider than getrf's own, and less accurate
 * above all in matrices with more columns than rows. */
static double bound(const struct plan *plan)
{
	return plan->row_major && plan->inverse > 32 ? 4 : 2;
}

/* The first reason why the factors are wrong, or NULL. */
static const char *verdict(const struct problem *p, int kind)
{
	const struct shape *s = &p->shape;
	struct measures ours = measure(p);

	if (!matrix_padding_intact(p->after, s->lda, s->m, s->n, p->precision))
		return "the padding was written";
	if (!ours.pivots_valid)
		return "invalid pivots";
	if (!test_kind_finite(kind))
		return steps(p) == 0 || !ours.finite ? NULL : "the NaN or Inf is gone";
	struct problem reference = problem_by_lapack(p);
	struct measures theirs = measure(&reference);
	bool same = memcmp(p->ipiv, reference.ipiv, (size_t)steps(p) * sizeof *p->ipiv) == 0;
	bool same_info = steps(p) == 0 ? p->info == 0 : p->info == reference.info;
	problem_close(&reference);

	/* OpenBLAS, which factorizes panels on the host, takes reciprocals of subnormal pivots */
	if (kind == TEST_SUBNORMAL && isnan(theirs.ratio))
		return p->plan->hybrid || strcmp(p->plan->panel, "host") == 0 ||
		                       (ours.ratio < CHECK_THRESHOLD && ours.max_l <= 1)
		               ? NULL
		               : "subnormal numbers were lost";
	/* growth belongs to partial pivoting, and some libraries lose subnormal pivots: then only
	 * LAPACK's error counts */
	bool excused = kind == TEST_WILKINSON || !(theirs.ratio < CHECK_THRESHOLD);
	if (!(ours.ratio < CHECK_THRESHOLD) && !excused)
		return "residual too large";
	if (!(ours.max_l <= 1) && !(ours.max_l <= theirs.max_l))
		return "multipliers larger than 1";
	/* In Wilkinson's matrix the order of the sums decides which rounding errors of its largest
	 * elements are left. In any order each element's error is at most k eps of |L| |U| (Higham,
	 * Accuracy and Stability of Numerical Algorithms, 2nd edition, theorem 9.3), and the check
	 * in double precision adds as much. The rounding error of an inverse grows with everything.
	 */
	if (kind == TEST_WILKINSON) {
		if (p->plan->inverse == 0 && !(ours.growing <= 2))
			return "an error of an element above twice its bound";
	} else if (!test_backward_fine(
	                   ours.backward, theirs.backward, bound(p->plan), TEST_ROUNDING)) {
		return "backward error too large for LAPACK's";
	}
	if (!pivots_unique(kind) || steps(p) > SMALL)
		return NULL;
	return !same ? "not LAPACK's pivots" : !same_info ? "not LAPACK's info" : NULL;
}

/* ---- the factorization ---- */

/* A search that is left out leaves no row for the fused steps. */
static bool phase_needed(const struct plan *plan, int phase)
{
	return phase == PHASE_SEARCH && plan->panel && strcmp(plan->panel, "fused") == 0;
}

/* ---- further cases ---- */

static const struct plan wide[] = {{false, "persistent", by_64, 1, 64, 64, .lookahead = 1},
        {false, "persistent", by_300, 1, 64, 0, .lookahead = 2},
        {false, "persistent", by_128, 1, 32, 0, .lookahead = 2},
        {false, "persistent", by_256, 1, 64, 128, .lookahead = 2},
        {false, "persistent", by_128, 1, 128, 128, .lookahead = 0},
        {false, "fused", by_128, 1, 64, 64, .lookahead = 0},
        {true, NULL, by_64, 1, 64, 64, .lookahead = 1},
        {true, NULL, by_128, 1, 64, 0, .lookahead = 0},
        {false, "persistent", falling, 4, 64, 32, .lookahead = 1},
        {true, NULL, falling, 4, 128, 0, .lookahead = 1},
        {true, NULL, by_64, 1, 64, 64, 1, .coarse = 4, .row_major = true},
        {true, NULL, by_64, 1, 64, 32, 1, .coarse = 2},
        {false, "persistent", by_64, 1, 64, 0, 2, .coarse = 4}};
static const struct shape large[] = {{513, 513, 520}, {1000, 300, 1001}, {300, 1000, 300}};

static const struct refusal refusals[] = {
        {{false, "persistent", by_0, 1, 8, 0, .lookahead = 0}, 9, 9, 9, "widths start at 1"},
        {{false, "persistent", by_8, 0, 8, 0, .lookahead = 0}, 9, 9, 9, "without widths"},
        {{false, "persistent", by_8, 1, 0, 0, .lookahead = 0}, 9, 9, 9, "leaves start at 1"},
        {{false, "persistent", by_8, 1, 8, 129, .lookahead = 0}, 9, 9, 9, "inverses of 129"},
        {{true, NULL, by_8, 1, 8, INT64_MAX, .lookahead = 0}, 9, 9, 9, "inverses of 9223"},
        {{false, "persistent", by_8, 1, 8, 3, .lookahead = 0}, 9, 9, 9, "no multiple"},
        {{false, "persistent", by_8, 1, 8, 0, .lookahead = 3}, 9, 9, 9, "look-ahead 3"},
        {{false, "persistent", by_8, 1, 8, 0, 0, .coarse = 3}, 9, 9, 9, "even numbers"},
        {{false, "persistent", by_8, 1, 8, 0, 0, .single_swaps = true}, 9, 9, 9,
                "panels on the host"},
        {{true, NULL, by_8, 1, 8, 0, 0, .in_place = true}, 9, 9, 9, "not in place"},
        {{true, NULL, by_513, 1, 8, 0, 0, .row_major = true}, 999, 999, 999, "at most"},
        {{false, NULL, by_8, 1, 8, 0, .lookahead = 0}, 9, 9, 9, "without a panel variant"},
        {{false, "magic", by_8, 1, 8, 0, .lookahead = 0}, 9, 9, 9, "unknown panel variant"},
        {{false, "persistent", by_8, 1, 8, 0, .lookahead = 0}, 9, 9, 8, "leading dimension"},
        {{false, "persistent", by_8, 1, 8, 0, .lookahead = 0}, -1, 9, 8, "-1 x 9"}};

static const struct wrong wrong[] = {
        {"one wrong multiplier", IN_MATRIX, 30 + 20 * 33, 1, 0.01, 0, 0},
        {"one wrong pivot", IN_PIVOTS, 10, 1, -1, 0, 0}, {"a wrong info", IN_INFO, 0, 1, 3, 0, 0}};

static const struct factorization lu = {.name = "getrf",
        .operation = GETRF,
        TABLE(plans),
        .shapes = general_shapes,
        .shapes_count = ARRAY_LEN(general_shapes),
        TABLE(wide),
        TABLE(large),
        .largest = 4096,
        .large_kind = MATRIX_RANDOM,
        TABLE(refusals),
        TABLE(wrong),
        .wrong_plan = 3,
        .wrong_shape = {33, 33, 33},
        .wrong_kind = MATRIX_RANDOM,
        .again = {150, 140, 152},
        .kinds = TEST_KINDS,
        .uplos = 1,
        .random_kind = MATRIX_RANDOM,
        .has_pivots = true,
        .verdict = verdict,
        .phase_needed = phase_needed};

static const struct plan split_plans[] = {{false, "persistent", by_64, 1, 64, 0, .lookahead = 1},
        {false, "persistent", by_128, 1, 64, 32, .lookahead = 0},
        {true, NULL, by_128, 1, 64, 0, .lookahead = 1},
        {false, "persistent", by_512, 1, 64, 0, .lookahead = 2}};

/* A = [L, L X] with a random unit lower L of magnitudes below 1, whose inverse is huge: a solve by
 * the inverse without a check of its size loses all digits. */
static void test_inverse_growth(struct executor *e)
{
	static const struct plan both[] = {
	        {false, "persistent", by_128, 1, 128, 128, .lookahead = 1},
	        {true, NULL, by_128, 1, 128, 128, .lookahead = 1}};
	struct problem p = {.of = &lu, .shape = {128, 256, 128}, .precision = SINGLE};

	problem_open(&p, TEST_IDENTITY);
	float *a = p.before;
	for (int64_t j = 0; j < 128; j++)
		for (int64_t i = j + 1; i < 128; i++)
			a[i + j * 128] = (float)(0.999 * test_random(5 + (uint64_t)j, i));
	for (int64_t j = 128; j < 256; j++)
		for (int64_t i = 0; i < 128; i++) {
			double sum = 0;
			for (int64_t k = 0; k <= i; k++)
				sum += (double)a[i + k * 128] * test_random(5 + (uint64_t)j, k);
			a[i + j * 128] = (float)sum;
		}
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		if (is_off_chip(e, &both[i], &p)) {
			skip("a huge inverse is not used, panels on the device", e->fault.text);
			continue;
		}
		bool good = run(e, &both[i], &p, 0xff);
		double ratio = measure(&p).backward;
		ok(good && ratio < 30,
		        "a huge inverse is not used, panels on the %s: backward error %.3g eps",
		        both[i].hybrid ? "host" : "device", ratio);
	}
	problem_close(&p);
}

/* ---- modes of the executor ---- */

static bool can_go_row_major(const struct executor *e, const struct plan *plan)
{
	(void)e;
	return !plan->hybrid && !plan->inverse && !plan->coarse;
}

static bool can_defer(const struct executor *e, const struct plan *plan)
{
	return plan->count > 1 || (!e->row_major && plan->lookahead > 1);
}

/* What every mode is tested for, with all plans (wanted: NULL) or some. */
static void test_mode(struct executor *e,
        bool (*wanted)(const struct executor *, const struct plan *), size_t times)
{
	test_plans(e, &lu, wanted, times);
	test_large(e, &lu, wanted != NULL);
	test_splits(e, &lu, split_plans, wanted != NULL);
	test_ends(e, &lu);
}

/* Panels of 300 columns, on the transpose where lu_rows takes 300. */
static void test_widest(struct executor *e)
{
	static const struct plan plan = {false, "persistent", by_300, 1, 64, 0, .lookahead = 1};
	const struct matrix a = {NULL, 0, 1000, 1000, 1000, SINGLE};
	int64_t most = e->rows_most[0], rows = e->row_major,
	        transposed = 1000 * 1000 * (int64_t)sizeof(float);

	e->row_major = 0;
	int64_t plain = getrf_work(e, &plan, a);
	e->row_major = 1;
	e->rows_most[0] = EXECUTOR_LU_ROWS;
	ok(getrf_work(e, &plan, a) >= plain + transposed, "%s: panels of 300 columns by rows",
	        e->name);
	e->rows_most[0] = 256;
	ok(getrf_work(e, &plan, a) == plain, "%s: not where 256 are the most", e->name);
	e->rows_most[0] = most;
	e->row_major = rows;
}

/* 3xFP16 keeps more of numbers near underflow than 3xTF32: on the transpose, and when the last
 * columns are factorized by columns. */
static void test_math_row_major(struct executor *e)
{
	static const struct split_limits small = {
	        .side = 8, .depth = 4, .alignment = 16, .use = 8, .half = true};
	const struct plan plan = {false, "persistent", by_16, 1, 8, 0, .lookahead = 1};
	const struct split_limits *kept = e->splits;
	const int64_t n = test_at_most(201, 101);

	if (!math_possible(e, MATH_3XFP16)) {
		skip("3xFP16 by rows", "not on this device");
		return;
	}
	e->splits = &small;
	for (e->column_major = 0; e->column_major <= 120; e->column_major += 60)
		test_split(e, &lu, MATH_3XFP16, &plan, LOWER, MATRIX_TINY, n, n);
	e->splits = kept;
}

/* Deferred row swaps: left of the panels rows are exchanged at the end, of the last columns of
 * transposed matrices or of all. */
static void test_deferred_swaps(struct executor *e)
{
	const int64_t from = e->deferred_from, most[] = {e->deferred_most[0], e->deferred_most[1]};

	e->deferred_from = 1;
	e->deferred_most[0] = e->deferred_most[1] = 5000;
	test_plans(e, &lu, can_defer, 1);
	e->row_major = 0;
	test_plans(e, &lu, can_defer, 1);
	test_large(e, &lu, true);
	test_any_phase_left_out(e, &lu);
	e->deferred_from = from;
	memcpy(e->deferred_most, most, sizeof most);
}

/* A leaf of any width is one panel. */
static void test_wide_leaf(struct executor *e)
{
	const struct matrix a = {NULL, 0, 40, 40, 40, SINGLE};
	const struct plan one = {false, "blas", by_8, 1, 8, 0, .lookahead = 0},
	                  beyond = {false, "blas", by_8, 1, INT64_MAX, 0, .lookahead = 0};
	const int64_t bytes = getrf_work(e, &one, a);

	ok(bytes > 0 && getrf_work(e, &beyond, a) == bytes,
	        "%s: leaves beyond the blocks need no more workspace", e->name);
}

static void test_all(struct executor *e)
{
	int64_t rows = e->row_major, columns = e->column_major;

	test_verdict(e, &lu);
	test_mode(e, NULL, 2);
	e->row_major = 1; /* matrices of these sizes on their transposes, */
	e->column_major = 0;
	test_mode(e, can_go_row_major, 1);
	e->column_major = 30; /* but for the last columns */
	test_mode(e, can_go_row_major, 1);
	test_math_row_major(e);
	test_deferred_swaps(e);
	e->row_major = rows;
	e->column_major = columns;
	for (size_t i = 0; i < 2 * ARRAY_LEN(plans); i++)
		if (test_turn(i, 9))
			test_kind(e, &lu, &plans[i / 2], LOWER, i % 2 ? DOUBLE : SINGLE,
			        TEST_SUBNORMAL);
	test_copied(e, &lu);
	test_inverse_growth(e);
	test_widest(e);
	test_refused(e, &lu);
	test_wide_leaf(e);
}

int main(void)
{
	return test_on_executors(test_all);
}
