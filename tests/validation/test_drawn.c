/* SPDX-License-Identifier: MIT */
/* Errors of drawn shapes: apart from fixed ones, of several seeds, and beside interpolation. */
#include "tests/tap.h"

#include "factor/validation/errors_tables.h"
#include "compared_tables.h"

static const double us = 1e-6;

/* A square by the model's plan or one of width 64, drawn by a seed (NULL: fixed). */
static void add_drawn(struct tables *t, int64_t n, const char *seed, bool model, bool by_rule,
        double predicted, double measured)
{
	struct result row = result_new("getrf", "gpu", "cuda", SINGLE, n, n);

	row.seconds =
	        (struct estimate){predicted * us, 0.9 * predicted * us, 1.1 * predicted * us, 0};
	row.nb = 64;
	if (model)
		results_option_add(row.options, "plan", "model");
	if (seed)
		results_option_add(row.options, "seed", seed);
	if (by_rule)
		results_by_rule_set(&row);
	results_add(t->p, &row);
	row.note[0] = 0;
	row.seconds =
	        (struct estimate){measured * us, 0.99 * measured * us, 1.01 * measured * us, 9};
	results_add(t->q, &row);
}

static struct error_summary summary_of(const struct tables *t, enum shapes shapes)
{
	return errors_summary(
	        t->rows, t->count, &(struct errors_filter){.level = 2, .shapes = shapes});
}

static struct regret regret_by(const struct tables *t, enum choice choice)
{
	return errors_regret(t->rows, t->count,
	        &(struct errors_filter){
	                .level = 2, .executor = "cuda", .operation = "getrf", .choice = choice});
}

/* One seed: two problems with a choice, by the model and by a rule, and a disturbed case. */
static struct tables seed_one(void)
{
	struct tables t = tables_new();

	add_drawn(&t, 1001, "1", true, false, 100, 104);
	add_drawn(&t, 1001, "1", false, false, 103, 100);
	add_drawn(&t, 1003, "1", true, true, 100, 110);
	add_drawn(&t, 1003, "1", false, false, 100, 100);
	add_drawn(&t, 1005, "1", true, false, 100, 300);
	results_disturbed_set(&t.q->row[t.q->count - 1], "by others");
	add_drawn(&t, 1001, NULL, true, false, 150, 100);
	compare(&t);
	return t;
}

static void test_drawn(void)
{
	struct tables t = seed_one();
	const struct error_summary drawn = summary_of(&t, SHAPES_DRAWN),
	                           fixed = summary_of(&t, SHAPES_FIXED);

	ok(drawn.cases == 4 && fixed.cases == 1, "drawn and fixed shapes count apart");
	ok(drawn.disturbed == 1 && fabs(drawn.worst) < 0.1, "a disturbed case is no verdict");
	is_real(fixed.worst, 0.5, 1e-9, "a fixed one is none on drawn shapes");
	ok(regret_by(&t, CHOICE_ANY).shapes == 2, "of two problems a plan was chosen");
	const struct regret model = regret_by(&t, CHOICE_MODEL), rule = regret_by(&t, CHOICE_RULE);
	ok(model.shapes == 1 && rule.shapes == 1, "by the model, and by a rule");
	is_real(model.worst, 0.04, 1e-9, "the model's regret");
	is_real(rule.worst, 0.10, 1e-9, "the rule's");
	tables_free(&t);
}

/* The errors of seed 1, read while seed 2 is judged. */
static void test_accumulated(void)
{
	struct tables one = seed_one(), two = tables_new(), again = tables_new();
	struct table *errors = errors_row_table(one.rows, one.count);

	add_drawn(&two, 2001, "2", true, false, 120, 100);
	errors_earlier(errors, 2, two.p, two.q);
	compare(&two);
	const struct error_summary drawn = summary_of(&two, SHAPES_DRAWN);
	ok(drawn.cases == 5 && drawn.disturbed == 1 && two.count == 6,
	        "two seeds count together, without fixed shapes");
	is_real(drawn.worst, 0.2, 1e-9, "with the errors of both");
	is_real(regret_by(&two, CHOICE_RULE).worst, 0.10, 1e-9, "and who chose");
	errors_earlier(errors, 1, again.p, again.q);
	ok(again.p->count == 0, "the seed that is judged is not read");
	FILE *out = tmpfile();
	char line[200] = "";
	errors_print(two.rows, two.count, 20, out);
	rewind(out);
	ok(fgets(line, sizeof line, out) && strstr(line, "drawn shapes: 2 seeds, 5 cases"),
	        "the verdict says so: %.39s", line);
	fclose(out);
	table_free(errors);
	compare(&again);
	tables_free(&again);
	tables_free(&two);
	tables_free(&one);
}

/* What the hardware alone says of the case listed last. */
static void add_hardware(struct tables *t, double seconds)
{
	struct result row = t->p->row[t->p->count - 1];

	row.seconds = (struct estimate){seconds * us, NAN, NAN, 0};
	strcpy(row.regime, "hardware");
	results_option_add(row.options, "level", "hardware");
	results_add(t->p, &row);
}

static void test_hardware(void)
{
	struct tables one = tables_new(), two = tables_new();

	add_drawn(&one, 1001, "1", true, false, 104, 100);
	add_hardware(&one, 60);
	add_drawn(&one, 1003, "1", true, false, 104, 100);
	compare(&one);
	is_real(one.rows[0].of_measured, 0.6, 1e-9, "the hardware's time over the measured one");
	ok(isnan(one.rows[2].of_measured), "of cases that have it");
	is_real(summary_of(&one, SHAPES_DRAWN).of_measured, 0.6, 1e-9, "their median");
	struct table *errors = errors_row_table(one.rows, one.count);
	errors_earlier(errors, 2, two.p, two.q);
	compare(&two);
	is_real(summary_of(&two, SHAPES_DRAWN).of_measured, 0.6, 1e-9, "an earlier seed keeps it");
	ok(errors_summary(two.rows, two.count, &(struct errors_filter){.level = LEVEL_HARDWARE})
	                        .cases == 1,
	        "and the hardware's own errors");
	table_free(errors);
	tables_free(&two);
	tables_free(&one);
}

/* Benched at 1024 and 2048 in 100 and 800 us: sqrt(2) times the size takes 2^1.5 times as long. */
static void test_interpolated(void)
{
	struct tables t = tables_new(), bench = tables_new();

	add_drawn(&bench, 1024, NULL, true, false, 1, 100);
	add_drawn(&bench, 1024, NULL, false, false, 1, 130);
	add_drawn(&bench, 2048, NULL, true, false, 1, 800);
	add_drawn(&t, 1448, "1", true, false, 250, 100);
	add_drawn(&t, 1448, "1", false, false, 250, 100);
	add_drawn(&t, 3001, "1", true, false, 250, 100);
	compare(&t);
	errors_baseline_interpolated(t.rows, t.count, bench.q);
	is_real(t.rows[0].interpolated_error, 1.828, 2e-3, "between powers of two, log-log");
	ok(isnan(t.rows[1].interpolated_error), "for the model's plan alone");
	ok(isnan(t.rows[2].interpolated_error), "not beyond what is benched");
	compare(&bench);
	tables_free(&bench);
	tables_free(&t);
}

int main(void)
{
	test_drawn();
	test_accumulated();
	test_hardware();
	test_interpolated();
	return finish();
}
