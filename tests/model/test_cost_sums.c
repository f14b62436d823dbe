/* SPDX-License-Identifier: MIT */
/* The cost of updates that leave the next panel's Gram matrix, and of panels behind them, on a
 * recorded machine; and where the model has them in a factorization. */
#include "cost_lines.h"

#include "factor/model/predictions/model_factor.h"

enum { ROWS = 1000000, COLUMNS = 64 };

static struct matrix tall(int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, m, DOUBLE};
}

static bool begins(struct executor *e, int64_t m, int64_t k, int64_t n)
{
	return ex_updates_panel(e, tall(m, k), tall(m, n), tall(m - k, min_int64(n, COLUMNS)));
}

/* Microseconds of a panel with V and T, or without. */
static double panel_us(struct executor *e, bool reflects)
{
	const struct matrix panel = tall(ROWS, COLUMNS), w = tall(COLUMNS, COLUMNS), none = {0};

	executor_model_restart(e, false);
	ex_panel_reflectors(e, panel, tall(COLUMNS, 1), reflects ? panel : none,
	        reflects ? w : none, false, NULL);
	return us(e);
}

/* Microseconds of the update and the panel behind it. */
static double both(struct executor *e, bool summed)
{
	const struct matrix v = tall(ROWS, COLUMNS), w = tall(COLUMNS, COLUMNS),
	                    panel = tall(ROWS - COLUMNS, COLUMNS);

	executor_model_restart(e, false);
	if (summed)
		ex_update_panel(e, -1, v, w, v, panel, NULL);
	else
		ex_gemm(e, PLAIN, PLAIN, -1, v, w, 1, v);
	ex_panel_reflectors(e, panel, tall(COLUMNS, 1), panel, w, summed, NULL);
	return us(e);
}

static void test_costs(struct executor *e)
{
	const double bytes = (double)ROWS * COLUMNS * sizeof(double);

	e->gram_double = true;
	ok(begins(e, ROWS, 64, 64) && begins(e, ROWS, 64, 66) && begins(e, ROWS, 128, 64),
	        "updates of one tile of columns begin the panel");
	ok(!begins(e, ROWS, 128, 128) && !begins(e, ROWS, 64, 192) && !begins(e, 8192, 64, 64),
	        "not wide ones, and not those that the library takes");
	const double less = (both(e, false) - both(e, true)) * 1e-6;
	if (!ok(less > bytes / 6e12 && less < bytes / 2e12,
	            "the panel is read once less, at 2 to 6 TB/s"))
		diag("%g s", less);
	const double stored = (panel_us(e, true) - panel_us(e, false)) * 1e-6;
	if (!ok(stored > bytes / 6e12 && stored < bytes / 1.5e12,
	            "a last panel's V is not stored, at 1.5 to 6 TB/s"))
		diag("%g s", stored);
	e->shares = true;
	ok(!begins(e, ROWS, 64, 64), "not beside a panel");
	e->shares = false;
	e->gram_double = false;
	ok(!begins(e, ROWS, 64, 64), "and not before a panel of another form");
}

/* Operations of that name in the model's run. */
static int count(struct executor *e, const char *operation)
{
	const struct simulated *s = model_self(e);
	int found = 0;

	for (size_t i = 0; i < s->count; i++)
		found += strcmp(s->charged[i].operation, operation) == 0;
	return found;
}

static void test_factorization(
        const struct profile *p, int64_t n, int64_t width, int lookahead, int panels, int begun)
{
	const struct plan plan = {.panel = PLAN_GRAM,
	        .widths = &width,
	        .count = 1,
	        .leaf = COLUMNS,
	        .lookahead = lookahead};
	const struct factor_question asked = {.operation = "geqrf",
	        .plan = &plan,
	        .m = ROWS,
	        .n = n,
	        .precision = DOUBLE,
	        .uplo = LOWER};
	struct executor *e = model_factor_executor(p, MODEL_CUDA, &asked, 2);

	const bool ran = model_factor_run(e, &asked);
	if (!ok(ran && count(e, "panel_reflectors") == panels && count(e, "update_panel") == begun,
	            "%d columns in blocks of %d: %d panels, %d begun by updates", (int)n,
	            (int)width, panels, begun))
		diag("%d and %d", count(e, "panel_reflectors"), count(e, "update_panel"));
	executor_free(e);
}

int main(void)
{
	struct profile *p = profile_open(RECORDED);
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	test_costs(e);
	executor_free(e);
	test_factorization(p, 128, 128, 0, 2, 1);
	test_factorization(p, 256, 256, 0, 4, 2);
	test_factorization(p, 130, 130, 0, 2, 1); /* two columns have another form */
	test_factorization(p, 192, 64, 1, 3, 2);
	profile_free(p);
	return finish();
}
