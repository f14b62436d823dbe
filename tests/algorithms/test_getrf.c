/* SPDX-License-Identifier: MIT */
/* The blocked LU factorization on the host executor and on the GPU: every kind of plan against
 * LAPACK's measures and LAPACKE's answer. */
#include "factor_test.h"

#include "factor/validation/check.h"
#include "factor/algorithms/getrf.h"

#include <lapacke.h>

static const int64_t by_1[] = {1}, by_8[] = {8}, by_16[] = {16}, by_32[] = {32},
                     uneven[] = {24, 7, 16, 9}, growing[] = {4, 16, 32};

/* Both places of the panel, all look-aheads, both kinds of solve, leaves that are wider than, as
 * wide as, and narrower than the blocks. */
static const struct plan plans[] = {
        {false, "persistent", by_8, 1, 8, 0, 0},
        {false, "persistent", by_8, 1, 64, 0, 1},
        {false, "persistent", by_8, 1, 64, 0, 2},
        {false, "persistent", by_16, 1, 4, 0, 0},
        {false, "persistent", by_16, 1, 4, 4, 2},
        {false, "persistent", by_16, 1, 16, 4, 0},
        {false, "persistent", by_32, 1, 8, 16, 1},
        {false, "persistent", uneven, 4, 5, 5, 1},
        {false, "persistent", uneven, 4, 6, 0, 2},
        {false, "persistent", growing, 3, 8, 0, 2},
        {false, "persistent", by_1, 1, 1, 1, 1},
        {false, "fused", by_16, 1, 8, 0, 1},
        {false, "blas", by_16, 1, 8, 8, 1},
        {false, "optimized", by_16, 1, 8, 0, 0},
        {false, "host", by_16, 1, 16, 16, 1},
        {true, NULL, by_8, 1, 8, 0, 0},
        {true, NULL, by_16, 1, 8, 0, 1},
        {true, NULL, by_16, 1, 8, 4, 0},
        {true, NULL, uneven, 4, 8, 16, 1},
        {true, NULL, growing, 3, 8, 7, 1},
};

struct shape {
	int64_t m, n, lda;
};

/* Nothing, one, two, around the blocks' edges, tall and wide, with padding and without. */
static const struct shape shapes[] = {{0, 0, 1}, {0, 3, 1}, {3, 0, 3}, {1, 1, 1}, {1, 4, 3},
        {2, 2, 2}, {7, 7, 9}, {8, 8, 8}, {9, 9, 11}, {15, 17, 15}, {17, 15, 20}, {16, 16, 16},
        {31, 31, 31}, {33, 33, 40}, {70, 20, 71}, {20, 70, 20}, {63, 64, 65}, {65, 65, 65}};

/* Up to this size no rounding error decides a pivot in these matrices. */
enum { SMALL = 33 };

struct problem {
	struct shape shape;
	enum precision precision;
	void *before, *after;
	int *ipiv, info;
	int64_t inverse; /* of the plan that ran */
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
	p->ipiv = xcalloc((size_t)steps(p) + 1, sizeof *p->ipiv);
}

static void problem_close(struct problem *p)
{
	free(p->before);
	free(p->after);
	free(p->ipiv);
}

/* Factorizes `before` into `after` with a workspace full of `fill`. */
static bool run(struct executor *e, const struct plan *plan, struct problem *p, int fill)
{
	const struct shape *s = &p->shape;
	int64_t word = precision_bytes(p->precision), k = steps(p);
	struct matrix whole = {NULL, 0, s->lda, s->n, s->lda, p->precision};
	struct test_memory a = {0}, integers = {0}, work = {0};
	int64_t bytes = getrf_work(e, plan, matrix_view(whole, 0, 0, s->m, s->n));
	bool good = bytes >= 0 && test_open(e, &a, s->lda * s->n * word, fill) &&
	            test_open(e, &integers, (k + 1) * (int64_t)sizeof(int), fill) &&
	            test_open(e, &work, bytes, fill);

	p->inverse = plan->inverse;
	whole.data = a.data;
	struct pivots pivots = {integers.data, k};
	good = good && e->ops->upload(e, p->before, s->lda, whole) &&
	       getrf(e, plan, matrix_view(whole, 0, 0, s->m, s->n), work.data, pivots) &&
	       e->ops->sync(e) && e->ops->download(e, whole, p->after, s->lda) &&
	       e->ops->read_pivots(e, pivots, p->ipiv, &p->info);
	if (!good)
		diag("%s", e->fault.text);
	good = test_close(e, &a) && good;
	good = test_close(e, &integers) && good;
	return test_close(e, &work) && good;
}

static int lapack(struct problem *p)
{
	const struct shape *s = &p->shape;
	lapack_int m = (lapack_int)s->m, n = (lapack_int)s->n, lda = (lapack_int)s->lda;

	if (steps(p) == 0)
		return 0;
	memcpy(p->after, p->before, (size_t)(s->lda * s->n * precision_bytes(p->precision)));
	return p->precision == SINGLE
	               ? LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, m, n, p->after, lda, p->ipiv)
	               : LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, n, p->after, lda, p->ipiv);
}

/* ---- the measures ---- */

struct measures {
	bool pivots_valid, finite;
	double ratio;    /* sget01 */
	double max_l;    /* at most 1 */
	double backward; /* norm_F(P A - L U) / (norm_F(A) eps) */
};

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

static struct measures measure(const struct problem *p)
{
	const struct shape *s = &p->shape;
	int64_t k = steps(p);
	double eps = unit_roundoff(p->precision);
	double *a = to_doubles(p->before, s->lda, s->m, s->n, p->precision);
	double *lu = to_doubles(p->after, s->lda, s->m, s->n, p->precision);
	double *l = xcalloc((size_t)(s->m * k + 1), sizeof *l);
	double *u = xcalloc((size_t)(k * s->n + 1), sizeof *u);
	struct measures r = {.pivots_valid = valid_pivots(p), .ratio = NAN, .backward = NAN};

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

/* The first reason why the factors are wrong, or NULL. */
static const char *verdict(struct problem *p, int kind)
{
	const struct shape *s = &p->shape;
	struct measures ours = measure(p);

	if (!matrix_padding_intact(p->after, s->lda, s->m, s->n, p->precision))
		return "the padding was written";
	if (!ours.pivots_valid)
		return "invalid pivots";
	if (!test_kind_finite(kind))
		return steps(p) == 0 || !ours.finite ? NULL : "the NaN or Inf is gone";
	struct problem reference = *p;
	size_t count = (size_t)steps(p);
	reference.after = test_copy(p->before, s->lda, s->n, p->precision);
	reference.ipiv = xcalloc(count + 1, sizeof *reference.ipiv);
	int info = lapack(&reference);
	struct measures theirs = measure(&reference);
	bool same = memcmp(p->ipiv, reference.ipiv, count * sizeof *p->ipiv) == 0;
	free(reference.after);
	free(reference.ipiv);

	/* growth is partial pivoting's own, and some libraries lose subnormal pivots: then only
	 * LAPACK's error counts */
	bool excused = kind == TEST_WILKINSON || !(theirs.ratio < CHECK_THRESHOLD);
	if (!(ours.ratio < CHECK_THRESHOLD) && !excused)
		return "residual too large";
	if (!(ours.max_l <= 1) && !(ours.max_l <= theirs.max_l))
		return "multipliers larger than 1";
	/* Wilkinson's matrix is eliminated without a rounding error: one, of an inverse, grows with
	 * everything */
	bool grows = kind == TEST_WILKINSON && p->inverse > 0;
	if (!grows && !test_backward_fine(ours.backward, theirs.backward, 2, TEST_ROUNDING))
		return "backward error more than twice LAPACK's";
	if (!pivots_unique(kind) || steps(p) > SMALL)
		return NULL;
	return !same ? "not LAPACK's pivots" : p->info != info ? "not LAPACK's info" : NULL;
}

static void describe(const struct plan *plan, char *text, size_t size)
{
	snprintf(text, size, "%s nb %d%s leaf %d inverse %d look-ahead %d",
	        plan->hybrid ? "hybrid" : plan->panel, (int)plan->widths[0],
	        plan->count > 1 ? ".." : "", (int)plan->leaf, (int)plan->inverse, plan->lookahead);
}

static void test_plan(struct executor *e, const struct plan *plan, enum precision precision)
{
	char name[100];

	describe(plan, name, sizeof name);
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
		ok(good, "%s %cgetrf %s: %s", e->name, precision, name, test_kind_name(kind));
	}
}

/* Blocks as wide as a factorization of some size has them. */
static void test_large(struct executor *e, enum precision precision)
{
	static const int64_t by_64[] = {64}, by_128[] = {128}, by_256[] = {256}, by_300[] = {300};
	static const struct plan wide[] = {{false, "persistent", by_64, 1, 64, 64, 1},
	        {false, "persistent", by_300, 1, 64, 0, 2},
	        {false, "persistent", by_128, 1, 32, 0, 2},
	        {false, "persistent", by_256, 1, 64, 128, 2},
	        {false, "persistent", by_128, 1, 128, 128, 0},
	        {false, "fused", by_128, 1, 64, 64, 0}, {true, NULL, by_64, 1, 64, 64, 1},
	        {true, NULL, by_128, 1, 64, 0, 0}};
	static const struct shape large[] = {{513, 513, 520}, {1000, 300, 1001}, {300, 1000, 300}};

	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		for (size_t k = 0; k < ARRAY_LEN(large); k++) {
			struct problem p = {.shape = large[k], .precision = precision};
			char name[100];
			problem_open(&p, MATRIX_RANDOM);
			const char *wrong =
			        run(e, &wide[i], &p, 0xff) ? verdict(&p, MATRIX_RANDOM) : "refused";
			describe(&wide[i], name, sizeof name);
			ok(!wrong, "%s %cgetrf %s of %d x %d", e->name, precision, name,
			        (int)large[k].m, (int)large[k].n);
			if (wrong)
				diag("%s", wrong);
			problem_close(&p);
		}
}

#include "tests/executors/split_test.h"

static const int64_t split_64[] = {64}, split_128[] = {128}, split_512[] = {512};
static const struct plan split_plans[] = {{false, "persistent", split_64, 1, 64, 0, 1},
        {false, "persistent", split_128, 1, 64, 32, 0}, {true, NULL, split_128, 1, 64, 0, 1},
        {false, "persistent", split_512, 1, 64, 0, 2}};

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
		                memcmp(one.ipiv, two.ipiv, 140 * sizeof(int)) == 0,
		        "plan %zu repeats bit for bit", i);
		problem_close(&one);
		problem_close(&two);
	}
}

/* A = [L, L X] with a random unit lower L of magnitudes below 1, whose inverse is huge: solving by
 * it without the check loses all digits. */
static void test_inverse_growth(struct executor *e)
{
	static const int64_t widths[] = {128};
	const struct plan device = {false, "persistent", widths, 1, 128, 128, 1};
	const struct plan hybrid = {true, NULL, widths, 1, 128, 128, 1};
	struct problem p = {.shape = {128, 256, 128}, .precision = SINGLE};

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
	bool good = run(e, &device, &p, 0xff);
	double ratio = measure(&p).backward;
	ok(good && ratio < 30, "a huge inverse is not used (device): backward error %.3g eps",
	        ratio);
	good = run(e, &hybrid, &p, 0xff);
	ratio = measure(&p).backward;
	ok(good && ratio < 30, "a huge inverse is not used (hybrid): backward error %.3g eps",
	        ratio);
	problem_close(&p);
}

/* The measures must see a wrong answer. */
static void test_measures(struct executor *e)
{
	struct problem p = {.shape = {33, 33, 33}, .precision = SINGLE};

	problem_open(&p, MATRIX_RANDOM);
	ok(run(e, &plans[3], &p, 0xff) && !verdict(&p, MATRIX_RANDOM), "a right answer passes");
	float *x = p.after, kept = x[30 + 20 * 33];
	x[30 + 20 * 33] = kept + 0.01f;
	ok(verdict(&p, MATRIX_RANDOM), "one wrong multiplier is found");
	x[30 + 20 * 33] = kept;
	int pivot = p.ipiv[10];
	p.ipiv[10] = pivot == 33 ? 32 : 33;
	ok(verdict(&p, MATRIX_RANDOM), "one wrong pivot is found");
	p.ipiv[10] = pivot;
	p.info = 3;
	ok(verdict(&p, MATRIX_RANDOM), "a wrong info is found");
	problem_close(&p);
}

static bool run_random(struct executor *e, const struct plan *plan)
{
	struct problem p = {.shape = {60, 50, 61}, .precision = SINGLE};

	/* a search that is left out leaves no row for the fused steps */
	if (e->skip == 1u << PHASE_SEARCH && plan->panel && strcmp(plan->panel, "fused") == 0)
		return true;
	problem_open(&p, MATRIX_RANDOM);
	bool ran = run(e, plan, &p, 0xff);
	problem_close(&p);
	return ran;
}

static bool run_nothing(struct executor *e, const struct plan *plan, struct matrix a)
{
	return getrf(e, plan, a, NULL, (struct pivots){0});
}

static void test_refusals(struct executor *e)
{
	static const int64_t none[] = {0};
	static const struct refusal cases[] = {
	        {{false, "persistent", none, 1, 8, 0, 0}, 9, 9, 9, "widths start at 1"},
	        {{false, "persistent", by_8, 0, 8, 0, 0}, 9, 9, 9, "without widths"},
	        {{false, "persistent", by_8, 1, 0, 0, 0}, 9, 9, 9, "leaves start at 1"},
	        {{false, "persistent", by_8, 1, 8, 129, 0}, 9, 9, 9, "inverses of 129"},
	        {{false, "persistent", by_8, 1, 8, 3, 0}, 9, 9, 9, "no multiple"},
	        {{false, "persistent", by_8, 1, 8, 0, 3}, 9, 9, 9, "look-ahead 3"},
	        {{false, NULL, by_8, 1, 8, 0, 0}, 9, 9, 9, "without a panel variant"},
	        {{false, "magic", by_8, 1, 8, 0, 0}, 9, 9, 9, "unknown panel variant"},
	        {{false, "persistent", by_8, 1, 8, 0, 0}, 9, 9, 8, "leading dimension"},
	        {{false, "persistent", by_8, 1, 8, 0, 0}, -1, 9, 8, "-1 x 9"}};

	test_each_refused(e, cases, ARRAY_LEN(cases), getrf_work, run_nothing);
}

/* By the plans of which `wanted` is true. */
static void test_plans(struct executor *e, bool (*wanted)(const struct plan *))
{
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		if (wanted(&plans[i])) {
			test_plan(e, &plans[i], SINGLE);
			test_plan(e, &plans[i], DOUBLE);
		}
	test_large(e, SINGLE);
	test_large(e, DOUBLE);
	test_splits(e, split_plans);
	test_repeats(e);
	test_any_phase_left_out(e, plans, ARRAY_LEN(plans), run_random);
}

static bool every(const struct plan *plan)
{
	return plan != NULL;
}

static bool can_go_row_major(const struct plan *plan)
{
	return !plan->hybrid && !plan->inverse;
}

/* Panels of 300 columns, on the transpose where lu_rows takes so many. */
static void test_widest(struct executor *e)
{
	static const int64_t by_300[] = {300};
	static const struct plan plan = {false, "persistent", by_300, 1, 64, 0, 1};
	const struct matrix a = {NULL, 0, 1000, 1000, 1000, SINGLE};
	int64_t most = e->rows_most[0], rows = e->row_major,
	        transposed = 1000 * 1000 * (int64_t)sizeof(float);

	e->row_major = 0;
	int64_t plain = getrf_work(e, &plan, a);
	e->row_major = 1;
	e->rows_most[0] = EXECUTOR_LU_ROWS;
	ok(getrf_work(e, &plan, a) >= plain + transposed, "%s: panels of 300 columns by rows", e->name);
	e->rows_most[0] = 256;
	ok(getrf_work(e, &plan, a) == plain, "%s: not where 256 are the most", e->name);
	e->rows_most[0] = most;
	e->row_major = rows;
}

/* Of numbers near underflow 3xFP16 keeps more than 3xTF32: on the transpose, and when the last
 * columns go by columns. */
static void test_math_row_major(struct executor *e)
{
	static const struct split_limits small = {
	        .side = 8, .depth = 4, .alignment = 16, .use = 8, .half = true};
	const struct plan plan = {false, "persistent", by_16, 1, 8, 0, 1};
	const struct split_limits *kept = e->splits;

	if (!math_possible(e, MATH_3XFP16)) {
		skip("3xFP16 by rows", "not on this device");
		return;
	}
	e->splits = &small;
	for (e->column_major = 0; e->column_major <= 120; e->column_major += 60)
		test_split(e, MATH_3XFP16, &plan, MATRIX_TINY, 201, 201);
	e->splits = kept;
}

/* By blocks of several widths, on the transpose or not, and with the most look-ahead. */
static void test_late_plans(struct executor *e)
{
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		if (plans[i].count > 1 || (!e->row_major && plans[i].lookahead > 1)) {
			test_plan(e, &plans[i], SINGLE);
			test_plan(e, &plans[i], DOUBLE);
		}
}

/* Columns left of the panels exchanged at the end: the last columns of matrices on their
 * transposes, and all. */
static void test_late(struct executor *e)
{
	const int64_t from = e->deferred_from, most[] = {e->deferred_most[0], e->deferred_most[1]};

	e->deferred_from = 1;
	e->deferred_most[0] = e->deferred_most[1] = 5000;
	test_late_plans(e);
	e->row_major = 0;
	test_late_plans(e);
	test_large(e, SINGLE);
	test_any_phase_left_out(e, plans, ARRAY_LEN(plans), run_random);
	e->deferred_from = from;
	memcpy(e->deferred_most, most, sizeof most);
}

static void test_all(struct executor *e)
{
	int64_t rows = e->row_major, columns = e->column_major;

	test_measures(e);
	test_plans(e, every);
	e->row_major = 1; /* matrices of these sizes on their transposes, */
	e->column_major = 0;
	test_plans(e, can_go_row_major);
	e->column_major = 30; /* the last columns not */
	test_plans(e, can_go_row_major);
	test_math_row_major(e);
	test_late(e);
	e->row_major = rows;
	e->column_major = columns;
	test_copied(e, plans, getrf_work, test_plan);
	test_inverse_growth(e);
	test_widest(e);
	test_refusals(e);
}

int main(void)
{
	return test_on_executors(test_all);
}
