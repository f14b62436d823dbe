/* SPDX-License-Identifier: MIT */
/* What the tests of whole factorizations share: test matrices beyond factor/validation/matrices.h,
 * matrices in executor memory between poisoned margins, and arithmetic in double for the checks. */
#ifndef FATHOM_FACTOR_TEST_H
#define FATHOM_FACTOR_TEST_H

#include "tests/tap.h"

#include "factor/executors/executor.h"
#include "factor/validation/matrices.h"
#include "factor/algorithms/plan.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <float.h>

/* Continues the kinds of factor/validation/matrices.h. */
enum test_kind {
	TEST_LAST_HALF_ZERO = MATRIX_KINDS, /* the last n/2 columns */
	TEST_CONDITION_2,                   /* random singular vectors, geometric singular values */
	TEST_CONDITION_ROOT,                /* condition sqrt(0.1/eps) */
	TEST_CONDITION_BAD,                 /* condition 0.1/eps */
	TEST_NEAR_UNDERFLOW,                /* LAPACK's types 10 and 11 */
	TEST_NEAR_OVERFLOW,
	TEST_WILKINSON, /* grows to 2^(n-1) under partial pivoting */
	TEST_KAHAN,
	TEST_ZERO,
	TEST_IDENTITY,
	TEST_INF_FIRST,
	TEST_INF_MIDDLE,
	TEST_INF_LAST,
	TEST_ALL_NAN,
	TEST_KINDS
};

static inline const char *test_kind_name(int kind)
{
	static const char *const names[] = {"last-half-zero", "condition-2", "condition-root",
	        "condition-bad", "near-underflow", "near-overflow", "wilkinson", "kahan", "zero",
	        "identity", "inf-first", "inf-middle", "inf-last", "all-nan"};

	return kind < MATRIX_KINDS ? matrix_kind_name[kind] : names[kind - MATRIX_KINDS];
}

static inline bool test_kind_finite(int kind)
{
	return kind < MATRIX_KINDS ? !matrix_has_nan((enum matrix_kind)kind)
	                           : kind < TEST_INF_FIRST;
}

/* Backward errors, in eps, that are luck and not compared with LAPACK's: to round every element
 * of both factors once may cost as much (condition-bad 400 x 400, LU in blocks of 64 columns: 1.4,
 * LAPACK's 0.5 where OpenBLAS has AVX-512). Kernels of the GPU multiply by reciprocals and
 * reciprocal roots, which round once more each: in the smallest matrices nothing averages that
 * out. */
#define TEST_ROUNDING 2.0
#define TEST_ROUNDINGS_GPU 8.0

static bool test_on_gpu;         /* the executor that is tested now */
static double test_leniency = 1; /* what test_backward_fine's bound is multiplied by */

/* Whether a backward error is at most `times` LAPACK's, or luck. */
static inline bool test_backward_fine(double ours, double theirs, double times, double luck)
{
	if (ours <= fmax(test_leniency * times * theirs,
	                    test_on_gpu ? fmax(luck, TEST_ROUNDINGS_GPU) : luck))
		return true;
	diag("backward error %.3g eps, LAPACK's %.3g", ours, theirs);
	return false;
}

/* LAPACK's epsilon: half of the distance from 1 to the next number. */
static inline double unit_roundoff(enum precision precision)
{
	return (precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
}

static inline double get(const void *a, int64_t at, enum precision precision)
{
	return precision == SINGLE ? (double)((const float *)a)[at] : ((const double *)a)[at];
}

static inline void put(void *a, int64_t at, enum precision precision, double x)
{
	if (precision == SINGLE)
		((float *)a)[at] = (float)x;
	else
		((double *)a)[at] = x;
}

/* In (-1, 1), the same for the same arguments. */
static inline double test_random(uint64_t seed, int64_t i)
{
	uint64_t z = (seed * 1000003 + (uint64_t)i + 1) * 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-52 - 1;
}

/* (I - 2 u u^T) D (I - 2 v v^T), D diagonal from 1 down to 1/condition: dense, with exactly these
 * singular values; u = v for the symmetric one with these eigenvalues. */
static inline double *test_singular_valued(int64_t m, int64_t n, double condition, bool symmetric)
{
	const int64_t k = m < n ? m : n;
	double *d = xmalloc((size_t)(k + m + n + 1) * sizeof *d), *u = d + k, *v = u + m;
	double *a = xmalloc((size_t)(m * n + 1) * sizeof *a), uu = 0, vv = 0;

	for (int64_t l = 0; l < m; l++) {
		u[l] = test_random(1, l);
		uu += u[l] * u[l];
	}
	for (int64_t l = 0; l < n; l++) {
		v[l] = test_random(symmetric ? 1 : 2, l);
		vv += v[l] * v[l];
	}
	for (int64_t l = 0; l < k; l++)
		d[l] = k > 1 ? pow(condition, -(double)l / (double)(k - 1)) : 1;
#pragma omp parallel for schedule(dynamic, 8)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double sum = 0;
			for (int64_t l = 0; l < k; l++)
				sum += ((i == l) - 2 * u[i] * u[l] / uu) * d[l] *
				       ((j == l) - 2 * v[j] * v[l] / vv);
			a[i + j * m] = sum;
		}
	free(d);
	return a;
}

/* An element of it; the last few matrices are kept. */
static inline double test_singular_element(
        int64_t i, int64_t j, int64_t m, int64_t n, double condition, bool symmetric)
{
	enum { KEPT = 24 };
	static struct kept_matrix {
		int64_t m, n;
		double condition, *a;
		bool symmetric;
	} kept[KEPT], *last = kept;
	static int next;
	bool found = false;

	for (int k = 0; k <= KEPT && !found; k++) {
		struct kept_matrix *it = k ? &kept[k - 1] : last;
		found = it->a && it->m == m && it->n == n && it->condition == condition &&
		        it->symmetric == symmetric;
		last = found ? it : last;
	}
	if (!found) {
		last = &kept[next++ % KEPT];
		free(last->a);
		*last = (struct kept_matrix){m, n, condition,
		        test_singular_valued(m, n, condition, symmetric), symmetric};
	}
	return last->a[i + j * m];
}

static inline double conditioned(int64_t i, int64_t j, int64_t m, int64_t n, double condition)
{
	return test_singular_element(i, j, m, n, condition, false);
}

static inline double test_element(
        int kind, int64_t i, int64_t j, int64_t m, int64_t n, enum precision precision)
{
	double eps = unit_roundoff(precision), random = test_random(3 + (uint64_t)j, i);
	double smallest = 0.25 * (precision == SINGLE ? (double)FLT_MIN : DBL_MIN) / eps;
	bool first = i == 0 && j == 0, middle = i == m / 2 && j == n / 2;
	bool last = i == m - 1 && j == n - 1;

	switch (kind) {
	case TEST_LAST_HALF_ZERO:
		return j >= n - n / 2 ? 0 : random;
	case TEST_CONDITION_2:
		return conditioned(i, j, m, n, 2);
	case TEST_CONDITION_ROOT:
		return conditioned(i, j, m, n, sqrt(0.1 / eps));
	case TEST_CONDITION_BAD:
		return conditioned(i, j, m, n, 0.1 / eps);
	case TEST_NEAR_UNDERFLOW:
		return smallest * conditioned(i, j, m, n, 2);
	case TEST_NEAR_OVERFLOW:
		return conditioned(i, j, m, n, 2) / smallest;
	case TEST_WILKINSON:
		return i == j || j == n - 1 ? 1 : i > j ? -1 : 0;
	case TEST_KAHAN:
		return pow(sin(1.2), (double)i) * (i == j ? 1 : i < j ? -cos(1.2) : 0);
	case TEST_IDENTITY:
		return i == j;
	case TEST_INF_FIRST:
		return first ? INFINITY : random;
	case TEST_INF_MIDDLE:
		return middle ? INFINITY : random;
	case TEST_INF_LAST:
		return last ? INFINITY : random;
	case TEST_ALL_NAN:
		return NAN;
	default:
		return 0;
	}
}

/* As matrix_fill, of all kinds. */
static inline void test_fill(
        void *a, int64_t lda, int64_t m, int64_t n, enum precision precision, int kind)
{
	enum matrix_kind base = kind < MATRIX_KINDS ? (enum matrix_kind)kind : MATRIX_RANDOM;

	matrix_fill(a, lda, m, n, precision, base, 7);
	for (int64_t j = 0; kind >= MATRIX_KINDS && j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(a, i + j * lda, precision, test_element(kind, i, j, m, n, precision));
}

static inline void *test_matrix(
        int64_t lda, int64_t m, int64_t n, enum precision precision, int kind)
{
	void *a = xmalloc((size_t)(lda * n * precision_bytes(precision)) + 1);

	test_fill(a, lda, m, n, precision, kind);
	return a;
}

static inline void *test_copy(const void *a, int64_t lda, int64_t n, enum precision precision)
{
	size_t bytes = (size_t)(lda * n * precision_bytes(precision));
	void *copy = xmalloc(bytes + 1);

	memcpy(copy, a, bytes);
	return copy;
}

/* ---- executor memory between margins that nothing may write ---- */

enum { MARGIN_BYTES = 256, MARGIN = 0xa5 };

struct test_memory {
	void *whole, *data;
	int64_t bytes;
};

static inline struct matrix test_words(const struct test_memory *memory)
{
	int64_t words = (memory->bytes + 2 * MARGIN_BYTES) / 4;

	return (struct matrix){memory->whole, 0, words, 1, words, SINGLE};
}

/* bytes (whole words) of executor memory, filled with `fill`. */
static inline bool test_open(
        struct executor *e, struct test_memory *memory, int64_t bytes, int fill)
{
	*memory = (struct test_memory){.bytes = (bytes + 3) / 4 * 4};
	if (bytes < 0 || !e->ops->alloc(e, memory->bytes + 2 * MARGIN_BYTES, &memory->whole))
		return false;
	char *content = xmalloc((size_t)memory->bytes + 2 * MARGIN_BYTES);
	memset(content, MARGIN, (size_t)memory->bytes + 2 * MARGIN_BYTES);
	memset(content + MARGIN_BYTES, fill, (size_t)memory->bytes);
	struct matrix words = test_words(memory);
	bool good = e->ops->upload(e, content, words.ld, words);
	free(content);
	memory->data = (char *)memory->whole + MARGIN_BYTES;
	return good;
}

/* False when a margin was written. Frees. */
static inline bool test_close(struct executor *e, struct test_memory *memory)
{
	if (!memory->whole)
		return false;
	unsigned char *content = xcalloc((size_t)memory->bytes + 2 * MARGIN_BYTES, 1);
	struct matrix words = test_words(memory);
	bool intact = e->ops->download(e, words, content, words.ld);

	for (int64_t i = 0; i < MARGIN_BYTES; i++)
		intact = intact && content[i] == MARGIN &&
		         content[MARGIN_BYTES + memory->bytes + i] == MARGIN;
	free(content);
	e->ops->release(e, memory->whole);
	return intact;
}

/* Runs a test on the host executor, unless FATHOM_TEST_ON=gpu says that somebody watches the GPU
 * alone, and, where there is one, on cuda. */
static inline int test_on_executors(void (*test)(struct executor *))
{
	struct fault fault;
	struct executor *host = executor_host_new(&fault), *cuda = executor_cuda_new("0", &fault);
	const char *on = getenv("FATHOM_TEST_ON");

	if (!on || strcmp(on, "gpu") != 0)
		test(host);
	test_on_gpu = true;
	if (cuda)
		test(cuda);
	else
		skip("the same on the GPU", fault.text);
	executor_free(cuda);
	executor_free(host);
	return finish();
}

/* ---- what every factorization is tested for ---- */

/* Any phase can be left out, which is how phases are timed: only the result is lost. run factorizes
 * a random matrix by the plan. */
static inline void test_any_phase_left_out(struct executor *e, const struct plan *plans,
        size_t count, bool (*run)(struct executor *, const struct plan *))
{
	for (size_t i = 0; i < count; i++) {
		bool good = true;
		for (int phase = 0; phase < PHASE_COUNT; phase++) {
			e->skip = 1u << phase;
			bool ran = run(e, &plans[i]);
			e->skip = 0;
			if (!ran)
				diag("without %s", phase_name[phase]);
			good = good && ran;
		}
		ok(good, "plan %zu runs with any phase left out", i);
	}
}

/* A plan and a shape that are refused by a sentence with this word in it. */
struct refusal {
	struct plan plan;
	int64_t m, n, ld;
	const char *word;
};

static inline void test_each_refused(struct executor *e, const struct refusal *cases, size_t count,
        int64_t (*work)(struct executor *, const struct plan *, struct matrix),
        bool (*run)(struct executor *, const struct plan *, struct matrix))
{
	for (size_t i = 0; i < count; i++) {
		struct matrix a = {NULL, 0, cases[i].m, cases[i].n, cases[i].ld, SINGLE};
		e->fault.text[0] = '\0';
		bool refused = work(e, &cases[i].plan, a) == -1;
		ok(refused && strstr(e->fault.text, cases[i].word) && !run(e, &cases[i].plan, a),
		        "refused: %s", e->fault.text);
	}
}

/* Matrices that are not aligned, in copies that are, by two plans. */
static inline void test_copied(struct executor *e, const struct plan *plans,
        int64_t (*work)(struct executor *, const struct plan *, struct matrix),
        void (*test_plan)(struct executor *, const struct plan *, enum precision))
{
	const int64_t from = e->aligned_from, bytes = 99 * 99 * (int64_t)sizeof(float);
	const struct matrix odd = {NULL, 0, 99, 99, 99, SINGLE},
	                    even = {NULL, 0, 99, 99, 100, SINGLE};

	e->aligned_from = 1;
	ok(work(e, &plans[0], odd) > work(e, &plans[0], even) + bytes,
	        "%s: a matrix that is not aligned has a copy, another has none", e->name);
	test_plan(e, &plans[0], SINGLE);
	test_plan(e, &plans[1], DOUBLE);
	e->aligned_from = 198;
	bool copied = work(e, &plans[0], odd) > work(e, &plans[0], even) + bytes;
	e->math = MATH_3XTF32;
	ok(!copied && work(e, &plans[0], odd) > work(e, &plans[0], even) + bytes,
	        "%s: of half as many columns where products are of split operands", e->name);
	e->math = MATH_FP32;
	e->aligned_from = from;
}

/* ---- double precision ---- */

/* Column-major with leading dimension m (at least 1). */
static inline double *to_doubles(
        const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision)
{
	double *out = xmalloc((size_t)(m * n + 1) * sizeof *out);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			out[i + j * m] = get(a, i + j * lda, precision);
	return out;
}

/* Larger, and NaN when any is NaN, which fmax would hide. */
static inline double worse(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

static inline double norm_max(const double *a, int64_t count)
{
	double norm = 0;

	for (int64_t i = 0; i < count; i++)
		norm = worse(norm, fabs(a[i]));
	return norm;
}

static inline double norm_one(const double *a, int64_t m, int64_t n)
{
	double norm = 0;

	for (int64_t j = 0; j < n; j++) {
		double sum = 0;
		for (int64_t i = 0; i < m; i++)
			sum += fabs(a[i + j * m]);
		norm = worse(norm, sum);
	}
	return norm;
}

static inline double norm_frobenius(const double *a, int64_t count)
{
	double sum = 0;

	for (int64_t i = 0; i < count; i++)
		sum += a[i] * a[i];
	return sqrt(sum);
}

static inline bool any_not_finite(const double *a, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(a[i]))
			return true;
	return false;
}

/* Multiplies by a power of two that makes norms of matrices near overflow possible; the exponent
 * comes from `like`. */
static inline void rescale(double *a, int64_t count, const double *like, int64_t like_count)
{
	double largest = norm_max(like, like_count);
	int exponent = 0;

	if (!isfinite(largest) || largest == 0)
		return;
	frexp(largest, &exponent);
	for (int64_t i = 0; i < count; i++)
		a[i] = ldexp(a[i], -exponent);
}

/* C = alpha op(A) op(B) + beta C; leading dimensions are the rows. */
static inline void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k,
        double alpha, const double *a, const double *b, double beta, double *c)
{
	int64_t lda = ta == CblasNoTrans ? m : k, ldb = tb == CblasNoTrans ? k : n;

	if (m && n)
		cblas_dgemm(CblasColMajor, ta, tb, (blasint)m, (blasint)n, (blasint)k, alpha, a,
		        (blasint)(lda ? lda : 1), b, (blasint)(ldb ? ldb : 1), beta, c, (blasint)m);
}

/* x^T y in extended precision; four sums, because each waits for its last addition. */
static inline long double extended_dot(int64_t n, const double *x, const double *y)
{
	long double sum[4] = {0};

	for (int64_t i = 0; i + 4 <= n; i += 4)
		for (int64_t l = 0; l < 4; l++)
			sum[l] += (long double)x[i + l] * y[i + l];
	for (int64_t i = n / 4 * 4; i < n; i++)
		sum[0] += (long double)x[i] * y[i];
	return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* C -= A B, A m x k lower, B k x n upper, in extended precision: a residual of doubles that is
 * computed in double looks smaller for factors that were made by the same multiplication. */
static inline void subtract_product(
        int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c)
{
	double *rows = xmalloc((size_t)(m * k + 1) * sizeof *rows);

	for (int64_t l = 0; l < k; l++)
		for (int64_t i = 0; i < m; i++)
			rows[l + i * k] = a[i + l * m];
#pragma omp parallel for schedule(dynamic, 16)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			int64_t terms = i < j ? i + 1 : j + 1;
			c[i + j * m] = (double)(c[i + j * m] - extended_dot(terms < k ? terms : k,
			                                               rows + i * k, b + j * k));
		}
	free(rows);
}

/* LAPACK's ratio: residual / (size norm eps), where a zero matrix allows nothing but zero. */
static inline double test_ratio(double residual, int64_t size, double norm, double eps)
{
	if (residual == 0)
		return 0;
	return norm == 0 ? 1 / eps : residual / ((double)size * norm * eps);
}

#endif
