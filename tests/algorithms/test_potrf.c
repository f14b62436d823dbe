/* SPDX-License-Identifier: MIT */
/* The blocked Cholesky factorization on the host executor and on the GPU: every kind of plan, both
 * triangles, against LAPACK's measures and LAPACKE's answer. */
#include "spd_matrices.h"

#include "factor/validation/check.h"
#include "factor/algorithms/potrf.h"

#include <lapacke.h>

static const int64_t by_1[] = {1}, by_8[] = {8}, by_16[] = {16}, by_32[] = {32},
                     uneven[] = {24, 7, 16, 9};

static const struct plan plans[] = {
        {false, NULL, by_8, 1, 8, 0, 0},
        {false, NULL, by_8, 1, 64, 0, 1},
        {false, NULL, by_16, 1, 4, 0, 0},
        {false, NULL, by_16, 1, 4, 4, 1},
        {false, NULL, by_16, 1, 16, 4, 0},
        {false, NULL, by_32, 1, 8, 16, 1},
        {false, NULL, uneven, 4, 6, 3, 1},
        {false, NULL, by_1, 1, 1, 1, 1},
        {true, NULL, by_8, 1, 8, 0, 0},
        {true, NULL, by_16, 1, 8, 0, 1},
        {true, NULL, by_16, 1, 8, 5, 0},
        {true, NULL, uneven, 4, 8, 16, 1},
};

static const struct {
	int64_t n, lda;
} sizes[] = {{0, 1}, {1, 1}, {1, 3}, {2, 2}, {7, 9}, {8, 8}, {9, 9}, {15, 15}, {16, 20}, {17, 17},
        {31, 33}, {33, 33}, {50, 50}, {71, 75}};

/* ---- runs ---- */

struct problem {
	enum uplo uplo;
	int64_t n, lda;
	enum precision precision;
	void *before, *after;
	int info;
};

static void problem_open(struct problem *p, int kind)
{
	p->before = spd_matrix(p->uplo, p->n, p->lda, p->precision, kind);
	p->after = test_copy(p->before, p->lda, p->n, p->precision);
	p->info = -1;
}

static void problem_close(struct problem *p)
{
	free(p->before);
	free(p->after);
}

/* Factorizes `before` into `after` with a workspace full of `fill`. */
static bool run(struct executor *e, const struct plan *plan, struct problem *p, int fill)
{
	struct matrix whole = {NULL, 0, p->lda, p->n, p->lda, p->precision};
	struct test_memory a = {0}, info = {0}, work = {0};
	int none;
	int64_t bytes = potrf_work(e, plan, p->uplo, matrix_view(whole, 0, 0, p->n, p->n));
	bool good = bytes >= 0 &&
	            test_open(e, &a, p->lda * p->n * precision_bytes(p->precision), fill) &&
	            test_open(e, &info, sizeof(int), fill) && test_open(e, &work, bytes, fill);
	struct matrix matrix = matrix_view(whole, 0, 0, p->n, p->n);

	whole.data = matrix.data = a.data;
	good = good && e->ops->upload(e, p->before, p->lda, whole) &&
	       potrf(e, plan, p->uplo, matrix, work.data, info.data) && e->ops->sync(e) &&
	       e->ops->download(e, whole, p->after, p->lda) &&
	       e->ops->read_pivots(e, (struct pivots){info.data, 0}, &none, &p->info);
	if (!good)
		diag("%s", e->fault.text);
	good = test_close(e, &a) && good;
	good = test_close(e, &info) && good;
	return test_close(e, &work) && good;
}

static void lapack(struct problem *p)
{
	char uplo = p->uplo == LOWER ? 'L' : 'U';
	lapack_int n = (lapack_int)p->n, lda = (lapack_int)p->lda;

	memcpy(p->after, p->before, (size_t)(p->lda * p->n * precision_bytes(p->precision)));
	if (p->n)
		p->info = p->precision == SINGLE
		                  ? LAPACKE_spotrf_work(LAPACK_COL_MAJOR, uplo, n, p->after, lda)
		                  : LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, uplo, n, p->after, lda);
}

/* ---- the measures ---- */

/* The leading k x k triangle as the lower one in doubles, zeros above. */
static double *lower(const struct problem *p, const void *x, int64_t k)
{
	double *out = xcalloc((size_t)(k * k + 1), sizeof *out);

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = j; i < k; i++)
			out[i + j * k] = get(x, p->uplo == LOWER ? i + j * p->lda : j + i * p->lda,
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
	int64_t n = p->n;
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

/* What nobody asked to read is as it was. */
static bool rest_intact(const struct problem *p)
{
	static const unsigned char poison[8] = {255, 255, 255, 255, 255, 255, 255, 255};
	int64_t word = precision_bytes(p->precision);

	for (int64_t j = 0; j < p->n; j++)
		for (int64_t i = 0; i < p->lda; i++) {
			bool ours = i < p->n && (p->uplo == LOWER ? i >= j : i <= j);
			const char *at = (const char *)p->after + (i + j * p->lda) * word;
			if (!ours && memcmp(at, poison, (size_t)word) != 0)
				return false;
		}
	return true;
}

/* Rows of the blocks before the one with row `info`; all without info. */
static int64_t finished_rows(const struct plan *plan, const struct problem *p)
{
	int64_t j = 0, k = 0, w;

	for (; j < p->n; j += w, k++) {
		w = plan_width(plan, k, p->n - j);
		if (p->info && p->info <= j + w)
			return j;
	}
	return p->n;
}

static bool leaves_not_finite(const struct problem *p)
{
	double *l = lower(p, p->after, p->n);
	bool found = any_not_finite(l, p->n * p->n);

	free(l);
	return found;
}

/* The first reason why the factor is wrong, or NULL. */
static const char *verdict(const struct plan *plan, const struct problem *p, int kind)
{
	int64_t rows = finished_rows(plan, p);
	struct measures ours = measure(p, rows);
	bool infinite = kind == SPD_INF_MIDDLE || kind == SPD_INF_CORNER;

	if (!rest_intact(p))
		return "the other triangle or the padding was written";
	if (p->info != expected_info(p) && !(infinite && p->info > 0)) /* Inf times 0 is a NaN */
		return "wrong info";
	if (infinite && p->n && p->info == 0)
		return leaves_not_finite(p) ? NULL : "the Inf is gone";
	if (infinite)
		return NULL; /* the leading blocks contain the Inf or not */
	if (!(ours.ratio < CHECK_THRESHOLD))
		return "residual too large";
	if (p->info)
		return NULL;

	struct problem reference = *p;
	reference.after = test_copy(p->before, p->lda, p->n, p->precision);
	lapack(&reference);
	struct measures theirs = measure(&reference, p->n);
	free(reference.after);
	/* columns taken one by one round an element as many times as there are */
	double times = plan->widths[0] == 1 ? 3 : 2;
	return test_backward_fine(ours.backward, theirs.backward, times, 2 * TEST_ROUNDING)
	               ? NULL
	               : "backward error more than twice LAPACK's";
}

static void test_plan(
        struct executor *e, const struct plan *plan, enum uplo uplo, enum precision precision)
{
	for (int kind = 0; kind < SPD_KINDS; kind++) {
		bool good = true;
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			struct problem p = {.uplo = uplo,
			        .n = sizes[i].n,
			        .lda = sizes[i].lda,
			        .precision = precision};
			problem_open(&p, kind);
			const char *wrong =
			        run(e, plan, &p, 0xff) ? verdict(plan, &p, kind) : "refused";
			if (wrong)
				diag("n %d, lda %d: %s (info %d, expected %d)", (int)p.n,
				        (int)p.lda, wrong, p.info, expected_info(&p));
			good = good && !wrong;
			problem_close(&p);
		}
		ok(good, "%s %cpotrf %s %s nb %d%s leaf %d inverse %d look-ahead %d: %s", e->name,
		        precision, uplo == LOWER ? "lower" : "upper",
		        plan->hybrid ? "hybrid" : "device", (int)plan->widths[0],
		        plan->count > 1 ? ".." : "", (int)plan->leaf, (int)plan->inverse,
		        plan->lookahead, spd_name[kind]);
	}
}

/* Blocks as wide as a factorization of some size has them. */
static void test_large(struct executor *e, enum uplo uplo, enum precision precision)
{
	static const int64_t by_128[] = {128}, by_300[] = {300};
	static const struct plan wide[] = {{false, NULL, by_300, 1, 300, 0, 1},
	        {false, NULL, by_300, 1, 64, 0, 0}, {false, NULL, by_300, 1, 128, 0, 1},
	        {false, NULL, by_128, 1, 128, 0, 0}, {false, NULL, by_300, 1, 64, 64, 1},
	        {false, NULL, by_128, 1, 128, 128, 1}, {true, NULL, by_300, 1, 64, 0, 1},
	        {true, NULL, by_300, 1, 64, 128, 1}};

	for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
		struct problem p = {.uplo = uplo, .n = 450, .lda = 453, .precision = precision};
		problem_open(&p, SPD_LARGE);
		const char *wrong =
		        run(e, &wide[i], &p, 0xff) ? verdict(&wide[i], &p, SPD_LARGE) : "refused";
		if (wrong)
			diag("%s (info %d)", wrong, p.info);
		ok(!wrong, "%s %cpotrf %s of %d, wide plan %zu", e->name, precision,
		        uplo == LOWER ? "lower" : "upper", (int)p.n, i);
		problem_close(&p);
	}
}

/* Updates of split operands, in matrices large enough for them, aligned: the same bounds, but other
 * bits. */
static void test_split(struct executor *e, enum math math, const struct plan *plan, enum uplo uplo,
        int kind, int64_t n)
{
	struct problem p = {.uplo = uplo, .n = n, .lda = n + 3, .precision = SINGLE}, strict = p;

	problem_open(&p, kind);
	problem_open(&strict, kind);
	bool good = run(e, plan, &strict, 0xff);
	e->math = math;
	const char *wrong = run(e, plan, &p, 0xff) ? verdict(plan, &p, kind) : "refused";
	e->math = MATH_FP32;
	if (wrong)
		diag("%s (info %d)", wrong, p.info);
	ok(good && !wrong && memcmp(p.after, strict.after, (size_t)(n * (n + 3)) * 4) != 0,
	        "%s%s, %s, nb %d, panels on the %s: kind %d", e->name, math_title[math],
	        uplo == LOWER ? "lower" : "upper", (int)plan->widths[0],
	        plan->hybrid ? "host" : "device", kind);
	problem_close(&p);
	problem_close(&strict);
}

static void test_splits(struct executor *e)
{
	const struct split_limits *kept = e->splits;
	struct split_limits small = {
	        .side = 64, .depth = 32, .alignment = 16, .use = 64, .half = kept && kept->half};
	static const int kinds[] = {SPD_LAWN, SPD_CONDITION_BAD, SPD_NEAR_UNDERFLOW,
	        SPD_NEAR_OVERFLOW, SPD_GRADED, SPD_NAN_CORNER, SPD_NEGATIVE_MIDDLE, SPD_INF_CORNER};
	static const int64_t by_64[] = {64}, by_128[] = {128}, by_300[] = {300};
	static const struct plan split[] = {{false, NULL, by_128, 1, 64, 0, 1},
	        {false, NULL, by_128, 1, 128, 128, 0}, {true, NULL, by_300, 1, 64, 0, 1},
	        {false, NULL, by_64, 1, 64, 64, 1}};

	if (!kept) {
		skip("3xTF32", "no TF32 units");
		return;
	}
	e->splits = &small;
	for (enum math math = MATH_3XTF32; math < MATHS && math_possible(e, math); math++) {
		small.together = 300; /* the blocks on the diagonal and squares as wide */
		for (size_t i = 0; i < 2 * ARRAY_LEN(kinds); i++)
			test_split(e, math, &split[i % ARRAY_LEN(split)], i % 2 ? UPPER : LOWER,
			        kinds[i / 2], 601);
		for (size_t i = 0; i < 4 * ARRAY_LEN(split); i++) {
			small.together = i % 4 < 2 ? 300 : 100;
			test_split(e, math, &split[i / 4], i % 2 ? UPPER : LOWER, SPD_LARGE, 1101);
		}
	}
	e->splits = kept;
}

/* The same bits whatever the workspace held. */
static void test_repeats(struct executor *e)
{
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		struct problem one = {
		        .uplo = i % 2 ? LOWER : UPPER, .n = 150, .lda = 152, .precision = SINGLE};
		struct problem two = one;
		problem_open(&one, SPD_LAWN);
		problem_open(&two, SPD_LAWN);
		bool good = run(e, &plans[i], &one, 0xff) && run(e, &plans[i], &two, 0x3f);
		ok(good && memcmp(one.after, two.after, 152 * 150 * sizeof(float)) == 0,
		        "plan %zu repeats bit for bit", i);
		problem_close(&one);
		problem_close(&two);
	}
}

/* The measures must see a wrong answer. */
static void test_measures(struct executor *e)
{
	struct problem p = {.uplo = LOWER, .n = 40, .lda = 40, .precision = SINGLE};
	const struct plan *plan = &plans[3];

	problem_open(&p, SPD_LAWN);
	ok(run(e, plan, &p, 0xff) && !verdict(plan, &p, SPD_LAWN), "a right answer passes");
	float *x = p.after, kept = x[30 + 20 * 40];
	x[30 + 20 * 40] = kept + 0.01f;
	ok(verdict(plan, &p, SPD_LAWN), "one wrong element is found");
	x[30 + 20 * 40] = kept;
	x[20 + 30 * 40] = 0;
	ok(verdict(plan, &p, SPD_LAWN), "a write to the other triangle is found");
	memset(&x[20 + 30 * 40], 0xff, sizeof *x);
	p.info = 3;
	ok(verdict(plan, &p, SPD_LAWN), "a wrong info is found");
	problem_close(&p);
}

static bool run_random(struct executor *e, const struct plan *plan)
{
	struct problem p = {.n = 50, .lda = 51, .precision = SINGLE};

	problem_open(&p, SPD_LAWN);
	bool ran = run(e, plan, &p, 0xff);
	problem_close(&p);
	return ran;
}

static int64_t work_upper(struct executor *e, const struct plan *plan, struct matrix a)
{
	return potrf_work(e, plan, UPPER, a);
}

static bool run_nothing(struct executor *e, const struct plan *plan, struct matrix a)
{
	return potrf(e, plan, UPPER, a, NULL, NULL);
}

static void test_upper(struct executor *e, const struct plan *plan, enum precision precision)
{
	test_plan(e, plan, UPPER, precision);
}

static void test_refusals(struct executor *e)
{
	static const int64_t none[] = {0};
	static const struct refusal cases[] = {
	        {{false, NULL, none, 1, 8, 0, 0}, 9, 9, 9, "widths start at 1"},
	        {{false, NULL, by_8, 1, 513, 0, 0}, 9, 9, 9, "a leaf of 513"},
	        {{false, NULL, by_8, 1, 8, 3, 0}, 9, 9, 9, "no multiple"},
	        {{false, NULL, by_8, 1, 8, 0, 0}, 9, 8, 9, "not square"},
	        {{false, NULL, by_8, 1, 8, 0, 0}, 9, 9, 8, "leading dimension"}};

	test_each_refused(e, cases, ARRAY_LEN(cases), work_upper, run_nothing);
}

/* In double precision columns that begin between sectors of memory are copied, too. */
static void test_sectors(struct executor *e)
{
	const int64_t from = e->aligned_from, bytes = 98 * 98 * (int64_t)sizeof(double);
	const struct matrix between = {NULL, 0, 98, 98, 98, DOUBLE},
	                    whole = {NULL, 0, 98, 98, 100, DOUBLE},
	                    single = {NULL, 0, 98, 98, 100, SINGLE};

	e->aligned_from = 1;
	const int64_t copied = work_upper(e, &plans[0], single);
	ok(work_upper(e, &plans[0], between) > work_upper(e, &plans[0], whole) + bytes,
	        "%s: columns between sectors have a copy", e->name);
	e->aligned_from = 0;
	ok(work_upper(e, &plans[0], single) == copied, "%s: in single precision none", e->name);
	e->aligned_from = from;
}

static void test_all(struct executor *e)
{
	test_measures(e);
	test_sectors(e);
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		for (int uplo = LOWER; uplo <= UPPER; uplo++) {
			test_plan(e, &plans[i], (enum uplo)uplo, SINGLE);
			test_plan(e, &plans[i], (enum uplo)uplo, DOUBLE);
		}
	for (int uplo = LOWER; uplo <= UPPER; uplo++) {
		test_large(e, (enum uplo)uplo, SINGLE);
		test_large(e, (enum uplo)uplo, DOUBLE);
	}
	test_copied(e, plans, work_upper, test_upper);
	test_splits(e);
	test_repeats(e);
	test_any_phase_left_out(e, plans, ARRAY_LEN(plans), run_random);
	test_refusals(e);
}

int main(void)
{
	return test_on_executors(test_all);
}
