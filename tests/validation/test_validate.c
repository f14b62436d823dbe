/* SPDX-License-Identifier: MIT */
/* Validation's statistics on tables made by hand, and the files they come from. */
#include "tests/tap.h"

#include "factor/validation/errors_tables.h"
#include "compared_tables.h"

#include <unistd.h>

static const double us = 1e-6;

static struct result row_of(const char *variant, int64_t m, double value, double low, double high)
{
	struct result row = result_new("panel_getrf", variant, "cuda", SINGLE, m, 48);

	strcpy(row.regime, "hardware");
	row.seconds = (struct estimate){value * us, low * us, high * us, 9};
	return row;
}

static void add(struct results *list, const char *variant, int64_t m, double value, double half)
{
	struct result row = row_of(variant, m, value, value * (1 - half), value * (1 + half));
	results_add(list, &row);
}

/* Without a time, for that reason. */
static void add_noted(struct results *list, const char *variant, int64_t m, const char *note)
{
	struct result row = row_of(variant, m, NAN, NAN, NAN);

	strcpy(row.note, note);
	results_add(list, &row);
}

/* A case predicted to a tenth and measured to a hundredth, in microseconds. */
static void add_pair(
        struct tables *t, const char *variant, int64_t m, double predicted, double measured)
{
	add(t->p, variant, m, predicted, 0.1);
	add(t->q, variant, m, measured, 0.01);
}

/* A case's kind is the one that the model has used. */
static void test_kinds(void)
{
	static const struct {
		const char *variant, *executor, *regime;
		int level;
		enum interval_kind kind;
	} cases[] = {{"gpu", "cuda", "calibrated", LEVEL_FULL, INTERVAL_CALIBRATED},
	        {"hybrid", "cuda", "calibrated", LEVEL_FULL, INTERVAL_WITH_HOST},
	        {"blas", "host", "calibrated", LEVEL_FULL, INTERVAL_WITH_HOST},
	        {"hybrid", "cuda", "library", LEVEL_FULL, INTERVAL_LIBRARY},
	        {"gpu", "cuda", "hardware", LEVEL_FULL, INTERVAL_HARDWARE},
	        {"gpu", "cuda", "hardware", LEVEL_HARDWARE, INTERVAL_ALONE}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct result p = row_of(cases[i].variant, 100, 1, 1, 1);
		strcpy(p.executor, cases[i].executor);
		strcpy(p.regime, cases[i].regime);
		const struct comparison row = {.predicted = &p, .level = cases[i].level};
		is_text(interval_kind_name[errors_interval_kind(&row)],
		        interval_kind_name[cases[i].kind], "the kind of an interval");
	}
}

/* Five sizes measured at 100 us each, predicted with errors 0, +4 %, -8 %, +29 %, -19 % and
 * intervals of 10 %. */
static void test_summary(void)
{
	static const double predicted[5] = {100, 104, 92, 129, 81};
	static const enum verdict want[5] = {
	        VERDICT_OK, VERDICT_OK, VERDICT_OK, VERDICT_OVER, VERDICT_UNDER};
	struct tables t = tables_new();

	for (int i = 0; i < 5; i++) {
		add(t.p, "blas", 100 * (i + 1), predicted[i], 0.10);
		add(t.q, "blas", 100 * (i + 1), 100, 0.005);
	}
	compare(&t);
	ok(t.count == 5, "one comparison per prediction");
	for (size_t i = 0; i < t.count; i++)
		is_text(verdict_name[t.rows[i].verdict], verdict_name[want[i]], "verdict by hand");
	struct error_summary s =
	        errors_summary(t.rows, t.count, &(struct errors_filter){.level = 2});
	ok(s.cases == 5 && s.skipped == 0, "five cases, none skipped");
	is_real(s.median_abs, 0.08, 1e-9, "median |error|");
	is_real(s.p90_abs, 0.25, 1e-9, "90 % quantile of |error|, interpolated");
	is_real(s.worst, 0.29, 1e-9, "worst error keeps its sign");
	is_real(s.bias, 0, 1e-9, "bias is the median of the signed errors");
	for (int b = 0; b < 4; b++)
		is_real(s.within[b], 0.4 + 0.2 * b, 1e-9, "within 5, 10, 20, 30 %");
	is_real(s.coverage, 0.6, 1e-9,
	        "coverage: the measured median inside the prediction's interval");
	is_real(s.half_width, 0.10, 1e-9, "median relative half-width");
	s = errors_summary(
	        t.rows, t.count, &(struct errors_filter){.level = 2, .executor = "host"});
	ok(s.cases == 0 && isnan(s.median_abs), "an empty selection has no numbers");
	tables_free(&t);
}

static void test_verdicts(void)
{
	struct tables t = tables_new();

	add(t.p, "blas", 100, 111, 0.1);
	add(t.q, "blas", 100, 100, 0.05);
	add(t.p, "blas", 200, 111, 0.1);
	add_noted(t.p, "blas", 300, "panel too tall");
	add(t.q, "blas", 300, 100, 0.01);
	add(t.p, "blas", 400, 111, 0.1);
	add_noted(t.q, "blas", 400, "failed: residual ratio 99");
	add(t.p, "blas", 500, 111, 0.1);
	add(t.q, "blas", 500, 100, 0.3);
	add_pair(&t, "blas", 600, 111, 200);
	results_disturbed_set(&t.q->row[t.q->count - 1], "by others");

	compare(&t);
	is_text(verdict_name[t.rows[0].verdict], "AMBIGUOUS",
	        "an interval across the limit is ambiguous");
	is_text(verdict_name[t.rows[1].verdict], "SKIPPED", "not measured is skipped");
	is_text(t.rows[1].reason, "not measured", "and says so");
	is_text(t.rows[2].reason, "panel too tall", "a refused prediction keeps its reason");
	is_text(t.rows[3].reason, "failed: residual ratio 99", "a failed run keeps its reason");
	ok(t.rows[4].verdict == VERDICT_SKIPPED && strstr(t.rows[4].reason, "too noisily"),
	        "a noisy measurement is skipped: %s", t.rows[4].reason);
	ok(t.rows[5].verdict == VERDICT_DISTURBED && strstr(t.rows[5].reason, "by others"),
	        "a disturbed one says how: %s", t.rows[5].reason);
	is_real(t.rows[5].error, -0.445, 1e-9, "and keeps its error");
	ok(isnan(t.rows[3].error), "and has no error");
	struct table *table = errors_row_table(t.rows, 4);
	is_text(table_text(table, 3, "reason"), "failed: residual ratio 99",
	        "errors.tsv has the skipped rows");
	table_free(table);
	tables_free(&t);
}

/* Panel 100: measured a 100, b 150, c 500; predicted a 120, b 110, c 700. Panel 200: a 100, b 190;
 * predicted in order. */
static void test_choices(void)
{
	struct tables t = tables_new();

	add_pair(&t, "blas", 100, 120, 100);
	add_pair(&t, "fused", 100, 110, 150);
	add_pair(&t, "host", 100, 700, 500);
	add_pair(&t, "blas", 200, 100, 100);
	add_pair(&t, "fused", 200, 120, 190);
	compare(&t);
	struct ranking ranking = errors_ranking(
	        t.rows, t.count, &(struct errors_filter){.executor = "cuda", .level = 2});
	ok(ranking.pairs == 2, "pairs more than 2x apart do not count (%zu)", ranking.pairs);
	ok(ranking.right == 1, "one of two pairs ranked right (%zu)", ranking.right);
	struct regret regret = errors_regret(
	        t.rows, t.count, &(struct errors_filter){.executor = "cuda", .level = 2});
	ok(regret.shapes == 2, "two panels");
	is_real(regret.worst, 0.5, 1e-9, "fused was chosen at 150 us, blas takes 100");
	is_real(regret.median, 0.25, 1e-9, "the other panel has no regret");
	regret = errors_regret(t.rows, t.count,
	        &(struct errors_filter){
	                .family = "panel_getrf/fused/s", .executor = "cuda", .level = 2});
	ok(regret.shapes == 1, "a family answers for the panels where it was chosen");
	is_real(regret.worst, 0.5, 1e-9, "and for their regret");
	regret = errors_regret(t.rows, t.count,
	        &(struct errors_filter){
	                .family = "panel_getrf/host/s", .executor = "cuda", .level = 2});
	ok(regret.shapes == 0 && isnan(regret.median), "never chosen: no regret");
	tables_free(&t);
}

static void test_baselines(void)
{
	struct tables t = tables_new();

	add_pair(&t, "blas", 1000, 100, 100);
	add_pair(&t, "blas", 2000, 100, 150);
	add_pair(&t, "fused", 2000, 100, 50);
	compare(&t);
	double flops = results_flops(&t.p->row[1]) / results_flops(&t.p->row[0]);
	is_real(t.rows[1].scaled_error, 100 * flops / 150 - 1, 1e-9,
	        "nearest measured size scaled by flops");
	ok(isnan(t.rows[2].scaled_error), "a family of one has nothing to scale from");
	errors_baseline_peak(t.rows, t.count, "cuda", 1e12);
	is_real(t.rows[0].peak_error, 2.0 * 1000 * 48 * 4 / 1e12 / (100 * us) - 1, 1e-9,
	        "the panel read and written once at the peak rate");
	errors_baseline_peak(t.rows, t.count, "host", 1e9);
	ok(t.rows[0].peak_error < 0, "another executor's rate is not used");
	tables_free(&t);
}

/* One shape of LU: widths 64 and 128 and the model's choice, measured 100, 80 and 90 us, predicted
 * 100, 105 and 110; and the same shape of Cholesky. */
static void test_whole(void)
{
	struct tables t = tables_new();
	static const double predicted[4] = {100, 105, 110, 50}, measured[4] = {100, 80, 90, 40};

	for (int i = 0; i < 4; i++) {
		struct result row = row_of("gpu", 3000, predicted[i], predicted[i], predicted[i]);
		strcpy(row.operation, i < 3 ? "getrf" : "potrf");
		row.n = 3000;
		row.nb = i == 1 ? 128 : 64;
		if (i == 2)
			results_option_add(row.options, "plan", "model");
		results_add(t.p, &row);
		row.seconds.value = row.seconds.low = row.seconds.high = measured[i] * us;
		results_add(t.q, &row);
	}
	add_pair(&t, "blas", 3000, 77, 77);
	compare(&t);
	for (size_t i = 0; i < t.count; i++)
		ok(t.rows[i].measured == &t.q->row[i], "row %zu meets its own measurement", i);
	struct regret regret = errors_regret(t.rows, t.count,
	        &(struct errors_filter){.operation = "getrf", .executor = "cuda", .level = 2});
	ok(regret.shapes == 1, "one problem, whatever the plan");
	is_real(regret.worst, 90.0 / 80 - 1, 1e-9,
	        "the choice, if estimated above others, against the best of the grid");
	regret = errors_regret(t.rows, t.count,
	        &(struct errors_filter){.operation = "potrf", .executor = "cuda", .level = 2});
	ok(regret.shapes == 0, "another operation is another problem, of one variant");
	struct ranking ranking = errors_ranking(t.rows, t.count,
	        &(struct errors_filter){.operation = "getrf", .executor = "cuda", .level = 2});
	ok(ranking.pairs == 3 && ranking.right == 1, "one of three pairs in order");
	ok(isnan(t.rows[0].scaled_error), "another plan at the same size is nothing to scale from");
	errors_baseline_rate(t.rows, t.count, "cuda", SINGLE, 1e15);
	is_real(t.rows[0].peak_error, results_flops(&t.p->row[0]) / 1e15 / (100 * us) - 1, 1e-9,
	        "all operations at the peak rate");
	ok(isnan(t.rows[4].peak_error), "panels have the baseline of their bytes");
	is_real(results_flops(&t.p->row[3]), 3000.0 * 3000 * 3000 / 3, 1e-3, "Cholesky's count");
	tables_free(&t);
}

static void test_phases_and_levels(void)
{
	struct tables t = tables_new();
	struct result row = row_of("blas", 100, 50, 45, 55);

	add_pair(&t, "blas", 100, 100, 100);
	results_options(row.options, "cuda", NULL, 0);
	results_add(t.p, &row);
	results_options(row.options, "cuda", "swap", 2);
	results_add(t.p, &row);
	results_add(t.q, &row);
	compare(&t);
	is_real(t.rows[1].error, -0.5, 1e-9, "a level-0 prediction meets the same measurement");
	ok(t.rows[2].phase && t.rows[2].error == 0, "a phase meets its own");
	struct error_summary s =
	        errors_summary(t.rows, t.count, &(struct errors_filter){.level = 2});
	ok(s.cases == 1, "summaries hold neither phases nor other levels");
	struct table *table = errors_family_table(t.rows, t.count);
	ok(table->row_count == 6, "levels 2 and 0 of one family, all and hardware: %zu",
	        table->row_count);
	FILE *out = tmpfile();
	errors_print(t.rows, t.count, 20, out);
	ok(ftell(out) > 200, "the text is printed");
	fclose(out);
	table_free(table);
	tables_free(&t);
}

/* ---- files ---- */

static bool refused(const char *path, const char *edit, const char *word)
{
	struct fault fault = {.text = ""};
	char command[300];

	snprintf(command, sizeof command, "awk -F'\\t' -v OFS='\\t' '%s' %s > %s.bad", edit, path,
	        path);
	if (system(command) != 0)
		return false;
	snprintf(command, sizeof command, "%s.bad", path);
	struct results *read = results_read(command, &fault);
	results_free(read);
	if (read || !strstr(fault.text, word))
		diag("fault: '%s'", fault.text);
	return !read && strstr(fault.text, word);
}

static void test_files(void)
{
	static const char *const edits[][3] = {
	        {"{print} /blas/{print}", "same case", "a case that occurs twice"},
	        {"/blas/{$10=$10 sprintf(\",lda=%090d\", 1)} {print}", "longer",
	                "options of two cases that would be cut to one"},
	        {"/blas/{$13=-1} {print}", "positive", "a negative time"},
	        {"/blas/{$14=1} {print}", "interval", "an inverted interval"},
	        {"/blas/{$5=\"x\"} {print}", "whole numbers", "a size that is no number"},
	        {"/blas/{$3=\"h\"} {print}", "precision", "an unknown precision"},
	        {"{sub(\"executor\",\"runner\")} {print}", "no column", "a missing column"}};
	char folder[] = "/tmp/fathom-test-XXXXXX", path[64];
	struct fault fault = {.text = ""};
	struct results *list = results_new(), *read;

	if (!mkdtemp(folder)) {
		skip("result files", "no temporary folder");
		return;
	}
	snprintf(path, sizeof path, "%s/predictions.tsv", folder);
	table_meta_set(list->table, "profile_sha256", "%s", "abc");
	add(list, "blas", 100, 12.5, 0.1);
	add_noted(list, "host", 100, "no parameter");
	ok(results_write(list, path, &fault), "written: %s", fault.text);
	read = results_read(path, &fault);
	if (ok(read && read->count == 2, "read back: %s", fault.text)) {
		is_real(read->row[0].seconds.high, 13.75e-6, 1e-8, "interval kept");
		is_text(read->row[1].note, "no parameter", "note kept");
		ok(isnan(read->row[1].seconds.value), "no time is no time");
		is_text(table_meta(read->table, "profile_sha256"), "abc", "metadata kept");
	}
	for (size_t i = 0; i < ARRAY_LEN(edits); i++)
		ok(refused(path, edits[i][0], edits[i][1]), "refused: %s", edits[i][2]);
	results_free(read);
	results_free(list);
	snprintf(path, sizeof path, "rm -r %s", folder);
	ok(system(path) == 0, "temporary folder removed");
}

static void test_options(void)
{
	char options[RESULT_OPTIONS], value[16];

	results_options(options, "cuda", "swap", 1);
	is_text(options, "l2=warm,phase=swap,level=1", "options in their order");
	ok(results_option(options, "phase", value, sizeof value), "an option is found");
	is_text(value, "swap", "with its value");
	ok(!results_option(options, "has", NULL, 0), "half a name is not");
	results_options(options, "host", NULL, 2);
	is_text(options, "cache=warm", "the host has no L2 of the GPU");
	results_options(options, "cuda", NULL, 1);
	results_option_add(options, "seed", "7");
	is_text(options, "l2=warm,seed=7,level=1", "the level stays last");
}

int main(void)
{
	test_kinds();
	test_summary();
	test_verdicts();
	test_choices();
	test_baselines();
	test_whole();
	test_phases_and_levels();
	test_options();
	test_files();
	return finish();
}
