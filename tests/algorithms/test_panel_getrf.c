/* SPDX-License-Identifier: MIT */
/* Every panel variant on the host executor and on the GPU against LAPACKE, over shapes, precisions
 * and matrices; and the check of panels. */
#include "factor_promises.h"

#include "factor/validation/check.h"
#include "factor/algorithms/panel_getrf.h"

static const struct plan plans[] = {{false, "fused", by_1, 1, 1, 0, .lookahead = 0},
        {false, "persistent", by_1, 1, 1, 0, .lookahead = 0},
        {false, "blas", by_1, 1, 1, 0, .lookahead = 0},
        {false, "optimized", by_1, 1, 1, 0, .lookahead = 0},
        {false, "host", by_1, 1, 1, 0, .lookahead = 0}};

/* m = 1, n = 1, square, around warps and blocks, tall, both sides of the host search's threshold,
 * with and without padding, with columns that can be aligned (lda a multiple of 128 bytes) and that
 * can't */
static const struct shape shapes[] = {{1, 1, 1}, {1, 1, 5}, {9, 1, 9}, {5, 5, 5}, {7, 3, 8},
        {33, 32, 64}, {64, 64, 64}, {65, 17, 67}, {129, 65, 192}, {257, 100, 300}, {1000, 7, 1003},
        {4103, 6, 4128}},
                          tall[] = {{2049, 64, 2080}, {4096, 64, 4128}, {5000, 128, 5003},
                                  {20000, 48, 20001}, {4000000, 64, 4000000}};

static double element(const struct problem *p, int64_t i, int64_t j)
{
	return get(p->after, i + j * p->shape.lda, p->precision);
}

/* The kinds whose pivots the GPU's order of sums cannot change. */
static bool pivots_are_certain(int kind)
{
	return !test_on_gpu || kind == MATRIX_RANDOM || kind == MATRIX_DIAGONAL ||
	       kind == MATRIX_UPPER || kind == MATRIX_GRADED_COLUMNS;
}

/* The first reason why the factors are wrong, or NULL. */
static const char *verdict(const struct problem *p, int kind)
{
	struct panel_check check;
	const struct shape *s = &p->shape;

	check_panel(p->before, s->lda, p->after, s->lda, s->m, s->n, p->ipiv, p->precision, &check);
	if (!matrix_padding_intact(p->after, s->lda, s->m, s->n, p->precision))
		return "the padding was written";
	if (!check.pivots_valid)
		return "invalid pivots";
	if (matrix_has_nan((enum matrix_kind)kind))
		return any_nan(p->after, s->lda, s->m, s->n, p->precision) ? NULL
		                                                           : "the NaN is gone";
	if (!check.passed)
		return "residual or multipliers too large";
	struct problem reference = problem_by_lapack(p);
	const bool unique = matrix_pivots_unique((enum matrix_kind)kind);
	const size_t count = unique ? (size_t)s->n : 1;
	bool same = memcmp(p->ipiv, reference.ipiv, count * sizeof *p->ipiv) == 0;
	bool same_info = p->info == reference.info;
	problem_close(&reference);
	if (!same && pivots_are_certain(kind))
		return "not LAPACK's pivots";
	return same_info || !unique ? NULL : "not LAPACK's info";
}

/* ---- the factorization ---- */

static int64_t work(struct executor *e, const struct plan *plan, struct matrix a)
{
	return panel_getrf_work(e, plan->panel, a);
}

static bool factorize(struct executor *e, const struct plan *plan, const struct run_memory *r)
{
	return panel_getrf(e, plan->panel, r->a, r->work, r->pivots);
}

/* A search that is left out leaves no pivot for the fused steps. */
static bool phase_needed(const struct plan *plan, int phase)
{
	return phase == PHASE_SEARCH && strcmp(plan->panel, "fused") == 0;
}

static const struct refusal refusals[] = {{{.panel = "blas"}, 4, 0, 4, "m >= n >= 1"},
        {{.panel = "fused"}, 3, 4, 3, "m >= n >= 1"},
        {{.panel = "host"}, 5, 2, 4, "leading dimension"},
        {{.panel = "magic"}, 4, 2, 4, "unknown panel variant"},
        {{.panel = "blas"}, -1, -2, 4, "m >= n >= 1"},
        {{.panel = "blas"}, 4, 2, (int64_t)1 << 31, "32-bit"}};

static const struct factorization panel = {.name = "panel",
        TABLE(plans),
        TABLE(shapes),
        TABLE(refusals),
        .again = {300, 40, 301},
        .kinds = MATRIX_KINDS,
        .uplos = 1,
        .random_kind = MATRIX_RANDOM,
        .has_pivots = true,
        .work = work,
        .run = factorize,
        .verdict = verdict,
        .phase_needed = phase_needed};

/* ---- further promises ---- */

/* Panels of which the last does not fit on a chip; it is not run. A small run has this one alone.
 */
static void test_tall(struct executor *e)
{
	for (size_t i = 0; i < ARRAY_LEN(plans) * ARRAY_LEN(tall) * 2; i++) {
		const struct plan *plan = &plans[i / 2 % ARRAY_LEN(plans)];
		struct problem p = {.of = &panel,
		        .shape = tall[i / 2 / ARRAY_LEN(plans)],
		        .precision = i % 2 ? DOUBLE : SINGLE};
		const struct shape *s = &p.shape;
		const struct matrix a = {NULL, 0, s->m, s->n, s->lda, p.precision};
		if (s->m < 1000000 && !test_fits(s->m, s->n))
			continue;
		const bool fits = panel_getrf_work(e, plan->panel, a) >= 0;
		const char *wrong = NULL;
		if (!fits) {
			wrong = strstr(e->fault.text, "does not fit") ? NULL : e->fault.text;
		} else if (s->m < 1000000) {
			wrong = test_one(e, plan, p, MATRIX_RANDOM);
		} else if (strcmp(plan->panel, "persistent") == 0) {
			wrong = "not refused";
		}
		ok(!wrong, "%s %c %d x %d %s: %s", plan->panel, p.precision, (int)s->m, (int)s->n,
		        fits ? "runs" : "is refused with the reason", wrong ? wrong : "right");
	}
}

/* Our own kernels take a NaN for the pivot, so that everything after it is NaN. */
static void test_nan_wins(struct executor *e, const struct plan *plan)
{
	struct problem p = {.of = &panel, .shape = {50, 8, 50}, .precision = DOUBLE};
	const int64_t first = p.shape.n / 2;

	problem_open(&p, MATRIX_NAN_MIDDLE);
	bool good = run(e, plan, &p, 0xff) && isnan(element(&p, first, first));
	for (int64_t j = first + 1; j < p.shape.n; j++)
		for (int64_t i = j; i < p.shape.m; i++)
			good = good && isnan(element(&p, i, j));
	ok(good, "%s: a NaN is taken as pivot and reaches all that follows", plan->panel);
	problem_close(&p);
}

/* Same rules, same order of operations: bit for bit. */
static void test_references_agree(struct executor *e)
{
	struct problem fused = {.of = &panel, .shape = {300, 40, 301}, .precision = SINGLE},
	               persistent = fused;

	problem_open(&fused, MATRIX_RANDOM);
	problem_open(&persistent, MATRIX_RANDOM);
	ok(run(e, &plans[0], &fused, 0xff) && run(e, &plans[1], &persistent, 0xff) &&
	                memcmp(fused.after, persistent.after, problem_bytes(&fused)) == 0,
	        "fused and persistent agree bitwise");
	problem_close(&fused);
	problem_close(&persistent);
}

/* The reciprocals of these pivots overflow: columns have to be divided by the pivots. */
static void test_subnormal_pivot(
        struct executor *e, const struct plan *plan, enum precision precision)
{
	struct problem p = {.of = &panel, .shape = {3, 1, 3}, .precision = precision};
	const double smallest = precision == SINGLE ? (double)FLT_MIN : DBL_MIN;

	problem_open(&p, MATRIX_RANDOM);
	put(p.before, 0, precision, smallest / 16);
	put(p.before, 1, precision, smallest / 8);
	put(p.before, 2, precision, 0);
	ok(run(e, plan, &p, 0xff) && element(&p, 1, 0) == 0.5 && p.ipiv[0] == 2,
	        "%s: subnormal pivot, %c", plan->panel, precision);
	problem_close(&p);
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

static void test_all(struct executor *e)
{
	test_plans(e, &panel, NULL, ARRAY_LEN(plans)); /* all plans with all kinds */
	test_ends(e, &panel);
	test_refused(e, &panel);
	if (test_on_gpu) {
		test_tall(e);
		return;
	}
	test_nan_wins(e, &plans[0]);
	test_nan_wins(e, &plans[1]);
	test_references_agree(e);
	for (size_t i = 0; i + 1 < ARRAY_LEN(plans); i++) { /* but for LAPACK's */
		test_subnormal_pivot(e, &plans[i], SINGLE);
		test_subnormal_pivot(e, &plans[i], DOUBLE);
	}
}

int main(void)
{
	test_check();
	return test_on_executors(test_all);
}
