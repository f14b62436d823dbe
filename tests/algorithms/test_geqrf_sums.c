/* SPDX-License-Identifier: MIT */
/* QR whose updates leave the next panel's Gram matrix: an executor that has this operation, made
 * from the host's. A panel that takes the matrix must be the one that the last update was for, and
 * its Gram matrix now must have the bits that this update left. The factors have the bits of the
 * host executor's. */
#include "factor_test.h"

#include "factor/algorithms/geqrf.h"
#include "factor/kernels/gemm/double_tall.h"

enum { MOST_COLUMNS = 64, SQUARES = MOST_COLUMNS * MOST_COLUMNS * (int)sizeof(double) };

/* The host executor's operations, and what the ones below have seen. */
static const struct executor_ops *inner;
static struct {
	struct matrix panel; /* of the last update; no columns: none, or taken */
	void *work;
	int panels, summed, alone; /* all; with a Gram matrix; without V and T */
	bool wrong;
} seen;

/* A^T A, by columns. */
static void squares(struct matrix a, double *to)
{
	const double *x = matrix_address(a);

	for (int64_t j = 0; j < a.n; j++)
		for (int64_t i = 0; i < a.n; i++) {
			double sum = 0;
			for (int64_t r = 0; r < a.m; r++)
				sum += x[r + i * a.ld] * x[r + j * a.ld];
			to[i + j * a.n] = sum;
		}
}

static int64_t more_work(struct executor *e, struct matrix a)
{
	return SQUARES + inner->geqrf_work(e, a);
}

static bool reflects(struct executor *e, struct matrix a)
{
	(void)e;
	return a.n <= MOST_COLUMNS;
}

static bool updates(struct executor *e, struct matrix v, struct matrix c, struct matrix panel)
{
	(void)e;
	return panel.n <= MOST_COLUMNS && double_tall_gram_takes(v.n, c.n, c.m - panel.m, true);
}

static bool update(struct executor *e, double alpha, struct matrix v, struct matrix w,
        struct matrix c, struct matrix panel, void *work)
{
	const bool ok = inner->gemm(e, PLAIN, PLAIN, alpha, v, w, 1, c);

	seen.panel = panel;
	seen.work = work;
	squares(panel, work);
	return ok;
}

static bool reflectors(struct executor *e, struct matrix a, struct matrix tau, struct matrix v,
        struct matrix t, bool summed, void *work)
{
	static double now[MOST_COLUMNS * MOST_COLUMNS];
	const struct matrix of = seen.panel;

	squares(a, now);
	seen.panels++;
	seen.summed += summed;
	if (summed &&
	        (work != seen.work || matrix_address(a) != matrix_address(of) || a.m != of.m ||
	                a.n != of.n || memcmp(now, work, (size_t)(a.n * a.n) * sizeof *now) != 0))
		seen.wrong = true;
	seen.wrong = seen.wrong || (!summed && of.n > 0); /* a Gram matrix that nobody takes */
	seen.panel.n = 0;
	seen.alone += v.n == 0;
	return inner->panel_geqrf(e, a, tau, (char *)work + SQUARES) &&
	       (v.n == 0 || (inner->explicit_v(e, a, v) && inner->larft(e, v, tau, t)));
}

struct factors {
	double *a, *tau;
	bool ran;
};

static struct factors factorize(
        struct executor *e, const struct plan *plan, int64_t m, int64_t n, int64_t ld)
{
	const int64_t k = m < n ? m : n;
	struct factors f = {xcalloc((size_t)(ld * n), sizeof(double)),
	        xcalloc((size_t)k, sizeof(double)), false};
	const struct matrix a = {f.a, 0, m, n, ld, DOUBLE}, tau = {f.tau, 0, k, 1, k, DOUBLE};
	void *work = NULL;

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			f.a[i + j * ld] = test_random(3 + (uint64_t)j, i);
	const int64_t bytes = geqrf_work(e, plan, a);
	f.ran = bytes >= 0 && e->ops->alloc(e, bytes, &work) && geqrf(e, plan, a, tau, work);
	e->ops->release(e, work);
	return f;
}

static void factors_free(struct factors *f)
{
	free(f->a);
	free(f->tau);
}

static const struct {
	int64_t m, n, ld, width, leaf;
	int lookahead;
	bool hybrid;
	int64_t stop;
	int panels, summed;
	const char *what;
} cases[] = {
        {300, 64, 300, 64, 32, 0, false, 0, 2, 1, "the second leaf"},
        {300, 128, 301, 128, 32, 1, false, 0, 4, 3, "all leaves but the first"},
        {400, 256, 403, 256, 64, 0, false, 0, 4, 2, "not after a wide update by a wide V"},
        {300, 130, 300, 130, 64, 0, false, 0, 3, 2, "a leaf and two columns"},
        {300, 48, 300, 48, 24, 0, false, 0, 2, 0, "rows of R that are no whole slabs"},
        {300, 128, 300, 64, 64, 0, false, 0, 2, 1, "the second block"},
        {300, 256, 300, 64, 64, 0, false, 0, 4, 2, "not in an update of many columns"},
        {300, 256, 305, 64, 64, 1, false, 0, 4, 3, "ahead of the other columns"},
        {300, 256, 305, 64, 32, 2, false, 0, 8, 7, "and in the blocks"},
        {100, 160, 100, 64, 64, 0, false, 0, 2, 1, "a last block beside the last rows"},
        {300, 192, 300, 64, 64, 0, false, 64, 1, 0, "no panel follows a stop"},
        {300, 128, 300, 64, 64, 1, true, 0, 0, 0, "panels on the host"},
};

static void check(struct executor *e, const struct executor_ops *ops, size_t i)
{
	const int64_t m = cases[i].m, n = cases[i].n, ld = cases[i].ld, width = cases[i].width;
	const struct plan plan = {.hybrid = cases[i].hybrid,
	        .panel = PLAN_GRAM,
	        .widths = &width,
	        .count = 1,
	        .leaf = cases[i].leaf,
	        .lookahead = cases[i].lookahead,
	        .stop = cases[i].stop};

	memset(&seen, 0, sizeof seen);
	e->ops = ops;
	struct factors f = factorize(e, &plan, m, n, ld);
	const int panels = seen.panels, summed = seen.summed, alone = seen.alone;
	const bool last = (cases[i].stop ? cases[i].stop : m < n ? m : n) == n;
	e->skip = 1u << PHASE_UPDATE;
	seen.summed = 0;
	seen.panel.n = 0;
	struct factors skipped = factorize(e, &plan, m, n, ld);
	const bool none = seen.summed == 0;
	e->skip = 0;
	e->ops = inner;
	struct factors plain = factorize(e, &plan, m, n, ld);
	const bool same = f.ran && plain.ran &&
	                  memcmp(f.a, plain.a, (size_t)(ld * n) * sizeof *f.a) == 0 &&
	                  memcmp(f.tau, plain.tau, (size_t)(m < n ? m : n) * sizeof *f.tau) == 0;

	if (!ok(same && !seen.wrong && panels == cases[i].panels && summed == cases[i].summed, "%s",
	            cases[i].what))
		diag("%d of %d panels; same bits %d, wrong panel %d", summed, panels, same,
		        seen.wrong);
	ok(skipped.ran && none, "none without the updates");
	ok(alone == (panels > 0 && last), "V and T of all panels that columns follow");
	factors_free(&f);
	factors_free(&plain);
	factors_free(&skipped);
}

int main(void)
{
	struct fault fault;
	struct executor *e = executor_host_new(&fault);
	struct executor_ops ops = *e->ops;

	inner = e->ops;
	ops.geqrf_work = more_work;
	ops.panel_reflects = reflects;
	ops.panel_reflectors = reflectors;
	ops.updates_panel = updates;
	ops.update_panel = update;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(e, &ops, i);
	executor_free(e);
	return finish();
}
