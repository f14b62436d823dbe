/* SPDX-License-Identifier: MIT */
/* Every panel variant on the host executor against LAPACKE, over shapes, precisions and matrices.
 */
#include "tests/tap.h"

#include "factor/validation/check.h"
#include "tests/algorithms/matrix_kinds.h"
#include "factor/algorithms/panel_getrf.h"
#include "lib/base/msg.h"

#include <float.h>
#include <lapacke.h>

struct shape {
	int64_t m, n, lda;
};

/* m = 1, n = 1, square, around warps and blocks, tall, both sides of the host search's threshold,
 * with and without padding, with columns that can be aligned (lda a multiple of 128 bytes) and that
 * can't */
static const struct shape shapes[] = {{1, 1, 1}, {1, 1, 5}, {9, 1, 9}, {5, 5, 5}, {7, 3, 8},
        {33, 32, 64}, {64, 64, 64}, {65, 17, 67}, {129, 65, 192}, {257, 100, 300}, {1000, 7, 1003},
        {4103, 6, 4128}};

struct panel {
	struct executor *executor;
	struct shape shape;
	enum precision precision;
	void *before, *after, *lapack; /* whole columns with padding */
	int *ipiv, *lapack_ipiv;
	int info, lapack_info;
};

static size_t panel_bytes(const struct panel *p)
{
	return (size_t)(p->shape.lda * p->shape.n * precision_bytes(p->precision));
}

static void panel_open(struct panel *p, enum matrix_kind kind)
{
	size_t bytes = panel_bytes(p), n = (size_t)p->shape.n;
	lapack_int m32 = (lapack_int)p->shape.m, n32 = (lapack_int)n, ld = (lapack_int)p->shape.lda;

	p->before = xmalloc(bytes);
	p->after = xmalloc(bytes);
	p->lapack = xmalloc(bytes);
	p->ipiv = xmalloc(n * sizeof *p->ipiv);
	p->lapack_ipiv = xmalloc(n * sizeof *p->ipiv);
	matrix_fill(p->before, p->shape.lda, p->shape.m, p->shape.n, p->precision, kind, 7);
	memcpy(p->lapack, p->before, bytes);
	p->lapack_info = p->precision == SINGLE ? LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, m32, n32,
	                                                  p->lapack, ld, p->lapack_ipiv)
	                                        : LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m32, n32,
	                                                  p->lapack, ld, p->lapack_ipiv);
}

static void panel_close(struct panel *p)
{
	free(p->before);
	free(p->after);
	free(p->lapack);
	free(p->ipiv);
	free(p->lapack_ipiv);
}

/* Runs a variant from `before` to `after`. */
static bool panel_run(struct panel *p, const char *variant)
{
	struct executor *e = p->executor;
	const struct executor_ops *ops = e->ops;
	int64_t lda = p->shape.lda, n = p->shape.n;
	struct matrix whole = {NULL, 0, lda, n, lda, p->precision};
	struct pivots pivots = {NULL, n};
	void *integers = NULL, *work = NULL;
	bool ok = ops->alloc(e, (int64_t)panel_bytes(p), &whole.data) &&
	          ops->alloc(e, (n + 1) * (int64_t)sizeof(int), &integers) &&
	          ops->upload(e, p->before, lda, whole);
	pivots.data = integers;
	struct matrix a = matrix_view(whole, 0, 0, p->shape.m, n);
	int64_t work_bytes = panel_getrf_work(e, variant, a);

	ok = ok && work_bytes >= 0 && ops->alloc(e, work_bytes, &work) &&
	     panel_getrf(e, variant, a, work, pivots) && ops->sync(e) &&
	     ops->download(e, whole, p->after, lda) &&
	     ops->read_pivots(e, pivots, p->ipiv, &p->info);
	ops->release(e, work);
	ops->release(e, integers);
	ops->release(e, whole.data);
	if (!ok)
		diag("%s", e->fault.text);
	return ok;
}

static double element(const struct panel *p, const void *a, int64_t i, int64_t j)
{
	return get(a, i + j * p->shape.lda, p->precision);
}

static bool any_nan(const struct panel *p)
{
	for (int64_t j = 0; j < p->shape.n; j++)
		for (int64_t i = 0; i < p->shape.m; i++)
			if (isnan(element(p, p->after, i, j)))
				return true;
	return false;
}

/* The first reason why the factors are wrong, or NULL. */
static const char *verdict(const struct panel *p, enum matrix_kind kind)
{
	struct panel_check check;
	const struct shape *s = &p->shape;

	check_panel(p->before, s->lda, p->after, s->lda, s->m, s->n, p->ipiv, p->precision, &check);
	if (!matrix_padding_intact(p->after, s->lda, s->m, s->n, p->precision))
		return "the padding was written";
	if (!check.pivots_valid)
		return "invalid pivots";
	if (matrix_has_nan(kind))
		return any_nan(p) ? NULL : "the NaN is gone";
	if (!check.passed)
		return "residual or multipliers too large";
	if (!matrix_pivots_unique(kind))
		return p->ipiv[0] == p->lapack_ipiv[0] ? NULL : "not LAPACK's first pivot";
	if (memcmp(p->ipiv, p->lapack_ipiv, (size_t)s->n * sizeof *p->ipiv) != 0)
		return "not LAPACK's pivots";
	return p->info == p->lapack_info ? NULL : "not LAPACK's info";
}

static void test_kind(
        struct executor *e, enum precision precision, enum matrix_kind kind, const char *variant)
{
	bool good = true;

	for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
		struct panel p = {.executor = e, .shape = shapes[s], .precision = precision};
		panel_open(&p, kind);
		const char *wrong = panel_run(&p, variant) ? verdict(&p, kind) : "refused";
		if (wrong) {
			diag("%s, m %d n %d lda %d: info %d, LAPACK's %d", wrong, (int)p.shape.m,
			        (int)p.shape.n, (int)p.shape.lda, p.info, p.lapack_info);
			good = false;
		}
		panel_close(&p);
	}
	ok(good, "%s %cgetrf %s", variant, precision, matrix_kind_name[kind]);
}

static void test_all(struct executor *e)
{
	for (const char *const *v = panel_getrf_variants; *v; v++)
		for (int precision = 0; precision < 2; precision++)
			for (int kind = 0; kind < MATRIX_KINDS; kind++)
				test_kind(
				        e, precision ? DOUBLE : SINGLE, (enum matrix_kind)kind, *v);
}

static void test_zero_columns(struct executor *e)
{
	static const struct {
		enum matrix_kind kind;
		int info;
	} cases[] = {{MATRIX_ZERO_FIRST, 1}, {MATRIX_ZERO_MIDDLE, 5}, {MATRIX_ZERO_LAST, 9}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (const char *const *v = panel_getrf_variants; *v; v++) {
			struct panel p = {.executor = e, .shape = {40, 9, 41}, .precision = SINGLE};
			panel_open(&p, cases[i].kind);
			ok(panel_run(&p, *v) && p.info == cases[i].info &&
			                p.lapack_info == cases[i].info,
			        "%s: info of %s", *v, matrix_kind_name[cases[i].kind]);
			panel_close(&p);
		}
}

/* Our own kernels take a NaN for the pivot, so that everything after it is NaN. */
static void test_nan_wins(struct executor *e)
{
	static const char *const own[] = {"fused", "persistent"};

	for (size_t v = 0; v < ARRAY_LEN(own); v++) {
		struct panel p = {.executor = e, .shape = {50, 8, 50}, .precision = DOUBLE};
		panel_open(&p, MATRIX_NAN_MIDDLE);
		bool good = panel_run(&p, own[v]);
		int64_t pivot_column = p.shape.n / 2;
		good = good && isnan(element(&p, p.after, pivot_column, pivot_column));
		for (int64_t j = pivot_column + 1; j < p.shape.n; j++)
			for (int64_t i = j; i < p.shape.m; i++)
				good = good && isnan(element(&p, p.after, i, j));
		ok(good, "%s: a NaN is taken as pivot and reaches all that follows", own[v]);
		panel_close(&p);
	}
}

/* Same rules, same order of operations: bit for bit. */
static void test_references_agree(struct executor *e)
{
	struct panel p = {.executor = e, .shape = {300, 40, 301}, .precision = SINGLE};
	void *fused = xmalloc(panel_bytes(&p));

	panel_open(&p, MATRIX_RANDOM);
	bool good = panel_run(&p, "fused");
	memcpy(fused, p.after, panel_bytes(&p));
	good = good && panel_run(&p, "persistent");
	ok(good && memcmp(fused, p.after, panel_bytes(&p)) == 0,
	        "fused and persistent agree bitwise");
	free(fused);
	panel_close(&p);
}

/* The reciprocals of these pivots overflow: columns have to be divided by the pivots. */
static void test_subnormal_pivot(struct executor *e)
{
	static const char *const ours[] = {"blas", "optimized", "fused", "persistent"};

	for (size_t v = 0; v < ARRAY_LEN(ours); v++) {
		struct panel s = {.executor = e, .shape = {3, 1, 3}, .precision = SINGLE};
		struct panel d = {.executor = e, .shape = {3, 1, 3}, .precision = DOUBLE};
		panel_open(&s, MATRIX_RANDOM);
		panel_open(&d, MATRIX_RANDOM);
		memcpy(s.before, (float[]){FLT_MIN / 16, FLT_MIN / 8, 0}, 3 * sizeof(float));
		memcpy(d.before, (double[]){DBL_MIN / 16, DBL_MIN / 8, 0}, 3 * sizeof(double));
		ok(panel_run(&s, ours[v]) && element(&s, s.after, 1, 0) == 0.5 && s.ipiv[0] == 2,
		        "%s: subnormal pivot in single precision", ours[v]);
		ok(panel_run(&d, ours[v]) && element(&d, d.after, 1, 0) == 0.5 && d.ipiv[0] == 2,
		        "%s: subnormal pivot in double precision", ours[v]);
		panel_close(&s);
		panel_close(&d);
	}
}

static void test_refusals(struct executor *e)
{
	static const struct {
		const char *variant, *word;
		int64_t m, n, ld;
	} cases[] = {{"blas", "m >= n >= 1", 4, 0, 4}, {"fused", "m >= n >= 1", 3, 4, 3},
	        {"host", "leading dimension", 5, 2, 4}, {"magic", "unknown panel variant", 4, 2, 4},
	        {"blas", "m >= n >= 1", -1, -2, 4}, {"blas", "32-bit", 4, 2, (int64_t)1 << 31}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct matrix a = {NULL, 0, cases[i].m, cases[i].n, cases[i].ld, SINGLE};
		struct pivots none = {NULL, 0};
		e->fault.text[0] = '\0';
		bool refused = panel_getrf_work(e, cases[i].variant, a) == -1 &&
		               strstr(e->fault.text, cases[i].word);
		ok(refused && !panel_getrf(e, cases[i].variant, a, NULL, none), "refused: %s",
		        e->fault.text);
	}
}

/* A phase that is left out must not stop the sequence. */
static void test_skip(struct executor *e)
{
	for (const char *const *v = panel_getrf_variants; *v; v++) {
		bool good = true;
		for (int phase = 0; phase < PHASE_COUNT; phase++) {
			struct panel p = {.executor = e, .shape = {40, 9, 41}, .precision = SINGLE};
			panel_open(&p, MATRIX_RANDOM);
			/* a search that is left out leaves no pivot for the fused steps */
			if (strcmp(*v, "fused") == 0 && phase == PHASE_SEARCH) {
				panel_close(&p);
				continue;
			}
			e->skip = 1u << phase;
			good = panel_run(&p, *v) && good;
			e->skip = 0;
			panel_close(&p);
		}
		ok(good, "%s runs with any phase left out", *v);
	}
}

static void test_check(void)
{
	/* P A = L U of [0 2; 1 4; 0.5 3] with rows 1 and 2 exchanged */
	const double a[] = {0, 1, 0.5, 2, 4, 3}, lu[] = {1, 0, 0.5, 4, 2, 0.5};
	double wrong[6], nan[6];
	const int ipiv[] = {2, 2}, invalid[] = {2, 1};
	struct panel_check c;

	check_panel(a, 3, lu, 3, 3, 2, ipiv, DOUBLE, &c);
	ok(c.passed && c.ratio == 0 && c.max_l == 0.5 && c.pivots_valid,
	        "check: exact factors pass");
	memcpy(wrong, lu, sizeof wrong);
	wrong[5] += 1e-6;
	check_panel(a, 3, wrong, 3, 3, 2, ipiv, DOUBLE, &c);
	/* the error times U(2,2), over n norm1(A) eps */
	is_real(c.ratio, 2e-6 / (2 * 9 * DBL_EPSILON / 2), 1e-6, "check: ratio by hand");
	ok(!c.passed, "check: wrong factors fail");
	check_panel(a, 3, lu, 3, 3, 2, invalid, DOUBLE, &c);
	ok(!c.pivots_valid && !c.passed && isnan(c.ratio), "check: invalid pivots fail");
	memcpy(nan, lu, sizeof nan);
	nan[2] = NAN;
	check_panel(a, 3, nan, 3, 3, 2, ipiv, DOUBLE, &c);
	ok(!c.passed && isnan(c.ratio) && isnan(c.max_l), "check: NaN fails");
}

int main(void)
{
	struct fault fault;
	struct executor *host = executor_host_new(&fault);

	test_check();
	test_all(host);
	test_zero_columns(host);
	test_nan_wins(host);
	test_references_agree(host);
	test_subnormal_pivot(host);
	test_refusals(host);
	test_skip(host);
	executor_free(host);
	return finish();
}
