/* SPDX-License-Identifier: MIT */
/* Factors of intervals from made-up measurements: on other measurements of the same kind they cover
 * as many as they should. */
#include "tests/tap.h"

#include "compared_tables.h"
#include "factor/validation/interval_fit.h"
#include "lib/base/random.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 2000 };

static uint64_t state;

static double uniform(void)
{
	return random_unit(&state);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979 * uniform());
}

/* Spreads from 1 to 10 %, and errors of 1.5 spreads; or, at the level of the hardware, efficiencies
 * from 0.4 to 1. Predictions have the intervals of `table`. */
static struct tables made_up(
        uint64_t seed, const struct interval_table *table, const char *regime, bool hardware)
{
	const enum interval_kind kind = hardware ? INTERVAL_ALONE : INTERVAL_CALIBRATED;
	struct tables t = tables_new();

	state = seed;
	for (int i = 0; i < CASES; i++) {
		struct result p = result_new("getrf", "gpu", "cuda", SINGLE, 100 + i, 48), q;
		const double s = 0.01 * pow(10, uniform()),
		             measured = hardware ? 1 / (0.4 + 0.6 * uniform())
		                                 : 1 + 1.5 * s * normal();
		const struct spread spread = {s * s, s * s};
		strcpy(p.regime, regime);
		results_option_add(p.options, "seed", "7");
		q = p;
		q.seconds = (struct estimate){measured, measured, measured, 9};
		if (hardware)
			results_option_add(p.options, "level", results_level_name(LEVEL_HARDWARE));
		p.seconds.value = 1;
		interval_ends(&table->of[kind], hardware ? &(struct spread){0, 0} : &spread, 1,
		        &p.seconds.low, &p.seconds.high);
		results_add(t.p, &p);
		results_add(t.q, &q);
	}
	compare(&t);
	return t;
}

static double coverage(const struct tables *t, int level)
{
	return errors_summary(t->rows, t->count, &(struct errors_filter){.level = level}).coverage;
}

static void test_kind(bool hardware)
{
	static const struct interval_table plain = {
	        .of = {{1, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 0}, {2, 0.9, 1.1, 0}}};
	const char *regime = hardware ? "hardware" : "calibrated";
	const int level = hardware ? LEVEL_HARDWARE : LEVEL_FULL;
	struct interval_fit *fit = interval_fit_new(), *again = interval_fit_new();
	struct tables t = made_up(1, &plain, regime, hardware);

	ok(coverage(&t, level) < 0.8, "%s: plain spreads cover %.1f %%", regime,
	        100 * coverage(&t, level));
	interval_fit_add(fit, "made-up", t.rows, t.count, &plain);
	const struct interval_table table = interval_fit_table(fit, &plain);
	tables_free(&t);
	t = made_up(2, &table, regime, hardware);
	const double got = coverage(&t, level);
	ok(got > 0.93 && got < 0.97, "%s: calibrated factors cover %.1f %% of other cases", regime,
	        100 * got);
	interval_fit_add(again, "made-up", t.rows, t.count, &table);
	const struct interval_table second = interval_fit_table(again, &table);
	const enum interval_kind kind = hardware ? INTERVAL_ALONE : INTERVAL_CALIBRATED;
	is_real(second.of[kind].spreads, table.of[kind].spreads, 0.1,
	        "calibrated again from its own intervals it stays");
	ok(table.of[kind].cases == CASES, "its number of cases");
	is_real(table.of[INTERVAL_LIBRARY].spreads, 1, 1e-12, "a kind without cases stays");
	ok(interval_saw(&table, 7), "the seed is noted");
	if (hardware)
		is_real(table.of[kind].most, 1, 1e-12, "no efficiency above 1, no time below");
	tables_free(&t);
	interval_fit_free(fit);
	interval_fit_free(again);
}

/* A prediction without a width, of which no factor makes an interval. */
static void test_no_width(void)
{
	static const struct interval_table plain = {
	        .of = {{1, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 0}}};
	struct interval_fit *fit = interval_fit_new();
	struct tables t = made_up(3, &plain, "calibrated", false);

	free(t.rows);
	for (int i = 0; i < CASES / 10; i++) {
		struct estimate *e = &t.p->row[i].seconds;
		e->low = e->high = e->value;
	}
	compare(&t);
	interval_fit_add(fit, "made-up", t.rows, t.count, &plain);
	const struct interval_factor made = interval_fit_table(fit, &plain).of[INTERVAL_CALIBRATED];
	ok(isfinite(made.spreads) && made.cases == CASES - CASES / 10,
	        "of %d cases a tenth has no width: %zu make the factor %g", CASES, made.cases,
	        made.spreads);
	tables_free(&t);
	interval_fit_free(fit);
}

int main(void)
{
	test_kind(false);
	test_kind(true);
	test_no_width();
	return finish();
}
