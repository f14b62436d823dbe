/* SPDX-License-Identifier: MIT */
/* Kerr's benchmark: the table of operations, the matrices and measures of error, the algorithms and
 * their phases on the host executor and on the GPU. */
#include "tests/algorithms/factor_test.h"

#include "factor/papers/kerr.h"
#include "factor/papers/kerr_balance.h"
#include "factor/validation/fixture.h"
#include "factor/validation/papers/kerr_protocol.h"

/* ---- Table 1 ---- */

struct workload {
	int64_t m;
	double phase[5], total; /* Gflop: house, panel update, WY, apply to A, apply to Q */
};

static const struct workload table_1[] = {{512, {0.000196, 0.00463, 0.00656, 0.0518, 0.211}, 0.275},
        {1024, {0.000786, 0.0184, 0.0257, 0.433, 1.66}, 2.14},
        {1536, {0.00177, 0.0413, 0.0571, 1.48, 5.55}, 7.14},
        {2048, {0.00314, 0.0734, 0.102, 3.54, 13.1}, 16.8},
        {2560, {0.00491, 0.115, 0.158, 6.94, 25.6}, 32.8},
        {3072, {0.00708, 0.165, 0.228, 12.0, 44.1}, 56.5},
        {3584, {0.00963, 0.224, 0.310, 19.1, 70.0}, 89.7},
        {4096, {0.0126, 0.293, 0.404, 28.6, 104}, 134},
        {4608, {0.0159, 0.371, 0.511, 40.7, 149}, 190},
        {5120, {0.0197, 0.458, 0.631, 55.9, 204}, 261},
        {6656, {0.0332, 0.773, 1.65, 123, 447}, 572}, {8192, {0.0503, 1.17, 25.0, 230, 833}, 1090}};

/* The last two WY entries are misprints. */
enum { GOOD_WY = ARRAY_LEN(table_1) - 2 };

/* Printed with three digits, whether rounded or cut. */
static bool printed(double flops, double gflop)
{
	double unit = pow(10, floor(log10(gflop)) - 2);

	return fabs(flops * 1e-9 - gflop) <= 1.001 * unit;
}

static void test_table(void)
{
	static const enum kerr_phase phases[] = {
	        KERR_HOUSE, KERR_UPDATE, KERR_WY, KERR_APPLY_A, KERR_APPLY_Q};
	double counted[KERR_PHASES], total = 0;

	for (size_t i = 0; i < ARRAY_LEN(table_1); i++) {
		const struct workload *w = &table_1[i];
		int64_t m = w->m;
		bool right = true;
		total = kerr_count(m, m / 2, KERR_TABLE_R, counted);
		for (size_t p = 0; p < ARRAY_LEN(phases); p++) {
			double got = counted[phases[p]];
			bool same =
			        phases[p] == KERR_WY
			                ? i >= GOOD_WY || fabs(got * 1e-9 / w->phase[p] - 1) < 0.006
			                : printed(got, w->phase[p]);
			if (!same)
				diag("m = %d, %s: %.6g Gflop, printed %g", (int)m,
				        kerr_phase_name[phases[p]], got * 1e-9, w->phase[p]);
			right = right && same;
		}
		ok(right && (i >= GOOD_WY || printed(total, w->total)),
		        "Table 1 at m = %d follows from the formulas", (int)m);
	}
	is_real(total / 7.629 * 1e-9, 139.7, 5e-4, "8192 x 4096 in 7.629 s is 139.7 Gflop/s");
	double sum = kerr_count(100, 70, 32, counted);
	ok(sum > 0 && counted[KERR_APPLY_A] == 129.0 * (100 * 38 + 68 * 6),
	        "a last block that is narrower: applied to A 129 (100 38 + 68 6) operations");
}

/* ---- matrices ---- */

/* A^T A, which no rotation of rows changes. */
static double gram(const double *a, int64_t m, int64_t i, int64_t j)
{
	return cblas_ddot((blasint)m, a + i * m, 1, a + j * m, 1);
}

static void test_matrix_of(int64_t m, int64_t n)
{
	double *a = xmalloc((size_t)(m * n) * 8), *b = xmalloc((size_t)(m * n) * 8), worst = 0;
	double *start = xcalloc((size_t)(m * n), 8);
	float *single = xmalloc((size_t)(m * n) * 4);
	int64_t zeros = 0, different = 0;

	kerr_matrix(a, m, n, DOUBLE, 5);
	kerr_matrix(b, m, n, DOUBLE, 5);
	kerr_matrix(single, m, n, SINGLE, 5);
	ok(memcmp(a, b, (size_t)(m * n) * 8) == 0, "%d x %d: the same seed gives the same matrix",
	        (int)m, (int)n);
	for (int64_t i = 0; i < m * n; i++) {
		different += single[i] != (float)a[i];
		zeros += a[i] == 0;
	}
	ok(different == 0 && (zeros == 0 || m < 2),
	        "the matrix is the same in single precision, and dense");
	kerr_matrix(b, m, n, DOUBLE, 6);
	ok(m < 2 || memcmp(a, b, (size_t)(m * n) * 8) != 0, "another seed, another matrix");
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j; i < m; i++)
			start[i + j * m] = i > j ? matrix_uniform(5, i, j) : 1;
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i <= j; i++) {
			double scale = sqrt(gram(start, m, i, i) * gram(start, m, j, j));
			worst = fmax(worst, fabs(gram(a, m, i, j) - gram(start, m, i, j)) / scale);
		}
	ok(worst < 1e-13, "the matrix has the singular values of its triangle");
	free(a);
	free(b);
	free(start);
	free(single);
}

/* ---- errors ---- */

/* Q = (1 + stretch) I, R = 2 I, A = R but `below` at (5, 1). */
static struct kerr_errors errors_of(
        struct executor *e, enum precision precision, double stretch, double below)
{
	enum { M = 6, N = 4 };
	double a[M * N], q[M * M];
	struct matrix am = {a, 0, M, N, M, precision}, qm = {q, 0, M, M, M, precision};
	struct kerr_errors errors = {.residual = NAN, .orthogonality = NAN, .triangularity = NAN};
	struct timing_fixture memory = {.executor = e};
	struct kerr_room room;
	double r[M * N];
	struct matrix rm = {r, 0, M, N, M, precision};

	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			put(r, i + j * M, precision, i < j ? 0 : i == j ? 2 : 17);
			put(a, i + j * M, precision, i == j ? 2 : i == 5 && j == 1 ? below : 0);
		}
	for (int i = 0; i < M * M; i++)
		put(q, i, precision, i % (M + 1) == 0 ? 1 + stretch : 0);
	if (!kerr_room_take(&memory, M, N, &room) || !kerr_errors(e, am, rm, qm, &room, &errors))
		diag("%s", e->fault.text);
	fixture_close(&memory);
	return errors;
}

static void test_errors(struct executor *e, enum precision precision)
{
	struct kerr_errors x = errors_of(e, precision, 0, 0);

	ok(x.residual == 0 && x.orthogonality == 0 && x.triangularity == 0 && x.passed,
	        "exact factors have no error");
	is_real(x.limit, 6.0 / 8388608, 1e-15, "the limit is m 2^-23");
	x = errors_of(e, precision, 0, 2);
	is_real(x.residual, 2 / sqrt(8), 1e-12, "residual: norm(A - Q R) / norm(A)");
	is_real(x.triangularity, 2, 1e-14,
	        "triangularity: the largest element of Q^T A below its diagonal");
	ok(x.orthogonality == 0 && !x.passed, "a wrong R leaves Q orthogonal, and does not pass");
	x = errors_of(e, precision, 0.5, 0);
	is_real(x.orthogonality, 1.25, 1e-14,
	        "orthogonality: norm(Q^T Q - I) of a Q that is too long");
	is_real(x.residual, 0.5, 1e-14, "residual of a Q that is too long");
	ok(!errors_of(e, precision, NAN, 0).passed && !errors_of(e, precision, 0, NAN).passed,
	        "NaN passes no criterion");
}

/* ---- the algorithms ---- */

struct run {
	struct kerr_errors errors;
	double phase[KERR_PHASES], whole;
	bool good;
};

/* Everything starts poisoned. */
static struct run run_once(struct executor *e, enum kerr_variant variant, int64_t m, int64_t n,
        int64_t r, enum precision precision, const void *from)
{
	const int64_t ld = m + 3;
	struct timing_fixture memory = {.executor = e};
	struct run run = {.good = false};
	struct phase_timer phase_timer = {0};
	struct matrix a0, a, q, work;
	struct kerr_room room;

	run.good = fixture_matrix(&memory, &a0, m, n, ld, precision) &&
	           fixture_matrix(&memory, &a, m, n, ld, precision) &&
	           fixture_matrix(&memory, &q, m, m, ld, precision) &&
	           e->ops->upload(e, from, m, a0) && e->ops->upload(e, from, m, a);
	int64_t bytes = run.good ? kerr_work(e, variant, r, a, q) : -1, words = (bytes + 7) / 8;
	run.good = bytes >= 0 && fixture_matrix(&memory, &work, words, 1, words, DOUBLE) &&
	           ex_fill(e, WHOLE, NAN, NAN, q) && ex_fill(e, WHOLE, NAN, NAN, work) &&
	           kerr_qr(e, variant, r, a, q, work.data, &phase_timer) && e->ops->sync(e) &&
	           kerr_room_take(&memory, m, n, &room) &&
	           kerr_errors(e, a0, a, q, &room, &run.errors);
	if (run.good && phase_timer.count)
		run.good = phase_timer_read(e, &phase_timer, run.phase, KERR_PHASES) &&
		           e->ops->elapsed(e, 0, phase_timer.count, &run.whole);
	if (!run.good)
		diag("%s", e->fault.text);
	fixture_close(&memory);
	phase_timer_free(&phase_timer);
	return run;
}

/* In matrices of few rows roundings do not cancel: there the limit is too tight. */
static bool within(const struct kerr_errors *x, int64_t m)
{
	enum { FEW = 64, MORE = 4 };

	return m >= FEW ? x->passed
	                : fmax(x->residual, fmax(x->orthogonality, x->triangularity)) <
	                          MORE * x->limit;
}

static void test_algorithm(struct executor *e, enum kerr_variant variant, int64_t m, int64_t n,
        int64_t r, enum precision precision)
{
	void *a = xmalloc((size_t)(m * n) * 8);

	kerr_matrix(a, m, n, precision, 9);
	struct run run = run_once(e, variant, m, n, r, precision, a);
	ok(run.good && within(&run.errors, m),
	        "%s, %s %c %d x %d, blocks of %d: Kerr's three criteria", e->name,
	        kerr_variant_name[variant], (char)precision, (int)m, (int)n, (int)r);
	if (run.good && !within(&run.errors, m))
		diag("%g %g %g, limit %g", run.errors.residual, run.errors.orthogonality,
		        run.errors.triangularity, run.errors.limit);
	double sum = 0;
	for (int p = 0; p < KERR_PHASES; p++)
		sum += run.phase[p];
	if (variant != KERR_AHEAD)
		ok(sum > 0 && fabs(sum - run.whole) < 1e-6 + 1e-3 * run.whole,
		        "the phases sum up to the whole");
	free(a);
}

/* A small run has few columns, of which each is many launches. */
static bool runs(int64_t m)
{
	return !test_small() || (m >= 5 && m <= 64);
}

static void test_algorithms(struct executor *e)
{
	static const int64_t shapes[][3] = {{1, 1, 1}, {2, 1, 4}, {5, 5, 2}, {64, 32, 32},
	        {65, 33, 16}, {100, 50, 32}, {97, 96, 40}, {256, 128, 64}, {130, 65, 128}};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int v = 0; v < KERR_VARIANTS && runs(shapes[i][0]); v++)
			for (int p = 0; p < 2; p++)
				if (test_turn(i + (size_t)(v + p), 2))
					test_algorithm(e, (enum kerr_variant)v, shapes[i][0],
					        test_at_most(shapes[i][1], 12), shapes[i][2],
					        p ? DOUBLE : SINGLE);
}

/* ---- columns on the host ---- */

static bool balance_once(struct executor *e, int64_t m, int64_t n, int64_t r, int64_t share,
        enum precision precision, const void *from, struct kerr_errors *errors)
{
	struct timing_fixture memory = {.executor = e};
	struct matrix a0, a, q, work;
	struct kerr_room room;
	bool good = fixture_matrix(&memory, &a0, m, n, m, precision) &&
	            fixture_matrix(&memory, &a, m, n, m, precision) &&
	            fixture_matrix(&memory, &q, m, m, m, precision) &&
	            e->ops->upload(e, from, m, a0) && e->ops->upload(e, from, m, a);
	const int64_t bytes = good ? kerr_balance_work(e, r, share, a, q) : -1,
	              words = (bytes + 7) / 8;

	good = bytes >= 0 && fixture_matrix(&memory, &work, words, 1, words, DOUBLE) &&
	       ex_fill(e, WHOLE, NAN, NAN, q) && ex_fill(e, WHOLE, NAN, NAN, work) &&
	       kerr_balance(e, r, share, a, q, work.data) && e->ops->sync(e) &&
	       kerr_room_take(&memory, m, n, &room) && kerr_errors(e, a0, a, q, &room, errors);
	if (!good)
		diag("%s", e->fault.text);
	fixture_close(&memory);
	return good;
}

static void test_balance(struct executor *e)
{
	static const int64_t cases[][4] = {{64, 32, 8, 0}, {64, 32, 8, 7}, {100, 50, 16, 33},
	        {97, 97, 32, 96}, {256, 130, 128, 1}, {300, 200, 64, 128}};

	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		const int64_t *c = cases[i / 2];
		if (!runs(c[0]))
			continue;
		const enum precision precision = i % 2 ? DOUBLE : SINGLE;
		struct kerr_errors errors = {.limit = NAN};
		void *a = xmalloc((size_t)(c[0] * c[1]) * 8);
		kerr_matrix(a, c[0], c[1], precision, 5);
		ok(balance_once(e, c[0], c[1], c[2], c[3], precision, a, &errors) &&
		                within(&errors, c[0]),
		        "%s, %c %d x %d, blocks of %d, %d columns on the host", e->name,
		        (char)precision, (int)c[0], (int)c[1], (int)c[2], (int)c[3]);
		free(a);
	}
	struct kerr_errors errors = {.residual = 0};
	double nan[40 * 20];
	matrix_fill(nan, 40, 40, 20, DOUBLE, MATRIX_NAN_MIDDLE, 3);
	ok(balance_once(e, 40, 20, 4, 6, DOUBLE, nan, &errors) && isnan(errors.residual),
	        "%s: NaN stays on the host, too", e->name);
	struct matrix a = {NULL, 0, 40, 20, 40, SINGLE}, q = {NULL, 0, 40, 40, 40, SINGLE};
	ok(kerr_balance_work(e, 8, 20, a, q) == -1 && kerr_balance_work(e, 8, -1, a, q) == -1 &&
	                kerr_balance_work(e, 200, 0, a, q) == -1,
	        "all columns, fewer than none, and blocks that are too wide are refused");
}

/* ---- NaN, zero columns, refusals ---- */

static void test_odd(struct executor *e)
{
	enum { M = 40, N = 20 };
	double a[M * N];

	for (int v = 0; v < KERR_VARIANTS; v++) {
		enum kerr_variant variant = (enum kerr_variant)v;
		const char *name = kerr_variant_name[v];
		if (!test_turn((size_t)v, 3))
			continue;
		matrix_fill(a, M, M, N, DOUBLE, MATRIX_NAN_MIDDLE, 3);
		struct run run = run_once(e, variant, M, N, 8, DOUBLE, a);
		ok(run.good && isnan(run.errors.residual), "%s, %s: NaN stays, and the run ends",
		        e->name, name);
		matrix_fill(a, M, M, N, DOUBLE, MATRIX_ZERO_MIDDLE, 3);
		run = run_once(e, variant, M, N, 8, DOUBLE, a);
		ok(run.good && within(&run.errors, M), "a matrix with a zero column is factorized");
		struct matrix wide = {a, 0, N, M, N, DOUBLE}, q = {a, 0, N, N, N, DOUBLE};
		ok(kerr_work(e, variant, 8, wide, q) == -1, "more columns than rows are refused");
		struct matrix square = {a, 0, 300, 300, 300, DOUBLE};
		ok((kerr_work(e, variant, 256, square, square) > 0) == (variant != KERR_STEPS),
		        "wide blocks are possible unless a panel is one call per step");
		ok(kerr_work(e, variant, 0, (struct matrix){a, 0, M, N, M, DOUBLE},
		           (struct matrix){a, 0, M, M, M, DOUBLE}) == -1,
		        "blocks without columns are refused");
	}
}

static void test(struct executor *e)
{
	for (int p = 0; p < 2 && !test_on_gpu; p++)
		test_errors(e, p ? DOUBLE : SINGLE);
	test_algorithms(e);
	test_odd(e);
	test_balance(e);
}

int main(void)
{
	test_table();
	test_matrix_of(1, 1);
	test_matrix_of(33, 20);
	test_matrix_of(128, 64);
	return test_on_executors(test);
}
