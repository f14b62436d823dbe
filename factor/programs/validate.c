/* SPDX-License-Identifier: MIT */
/* Question: how accurate are the predictions?
 * Method: predictions.tsv, written before the runs, against measurements.tsv; checksums must link
 * both to the profile. Unless --recorded, scripts/validate.sh predicts and measures first. */
#include "lib/base/cli.h"
#include "lib/base/home.h"
#include "lib/base/wrap.h"
#include "lib/device/gpu.h"
#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"
#include "factor/model/predictions/intervals.h"
#include "factor/validation/draw.h"
#include "factor/validation/seeds.h"
#include "factor/validation/update_or_refactor.h"
#include "factor/validation/errors_tables.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/kerr_cases.h"
#include "predict.h"
#include "validate_intervals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct validation {
	struct cli_common common;
	struct profile *profile;
	struct results *predictions, *measurements;
	size_t predicted, measured; /* of this run: earlier seeds follow */
	char profile_sha[65], predictions_sha[65], measurements_sha[65];
	struct seed_key key;
	bool seen; /* another model or profile was judged by the seed, or intervals come from it */
	int argc;
	char **argv;
};

/* ---- reading, and the chain of checksums ---- */

static char *checked_path(
        const struct validation *v, const char *name, const char *remedy, char sha[65])
{
	struct fault fault;
	char *path = xasprintf("%s/%s", v->common.output, name);

	if (!table_sha256(path, sha, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s: %s", fault.text, remedy);
	return path;
}

static struct results *read_results(
        struct validation *v, const char *name, const char *remedy, char sha[65])
{
	struct fault fault;
	char *path = checked_path(v, name, remedy, sha);
	struct results *results = results_read(path, &fault);

	if (!results)
		msg_die(EXIT_MEASURE_FAILED, "%s: %s", fault.text, remedy);
	free(path);
	return results;
}

static void require_link(const struct results *made, const char *made_name, const char *key,
        const char *source_name, const char *sha, const char *remedy)
{
	const char *recorded = table_meta(made->table, key);

	if (!recorded)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s does not say by checksum which %s it is made from: %s", made_name,
		        source_name, remedy);
	if (strcmp(recorded, sha) != 0)
		msg_die(EXIT_MEASURE_FAILED, "%s is made from another %s than the one here: %s",
		        made_name, source_name, remedy);
}

/* The profile's checksum, and both files of results, which it must link to. */
static void read_chain(struct validation *v, const char *predictions, const char *measurements,
        const char *predict_again, const char *measure_again)
{
	free(checked_path(v, "profile.tsv", "run fathom probe", v->profile_sha));
	v->predictions = read_results(v, predictions, predict_again, v->predictions_sha);
	require_link(v->predictions, predictions, "profile_sha256", "profile.tsv", v->profile_sha,
	        predict_again);
	v->measurements = read_results(v, measurements, measure_again, v->measurements_sha);
	require_link(v->measurements, measurements, "predictions_sha256", predictions,
	        v->predictions_sha, measure_again);
}

/* ---- seeds ---- */

static bool is_of_key(const struct validation *v, const struct table *table)
{
	const char *profile = table_meta(table, "profile_sha256"),
	           *model = table_meta(table, "model");

	return profile && model && strcmp(profile, v->key.profile) == 0 &&
	       strcmp(model, v->key.model) == 0;
}

/* Adds the cases of earlier seeds, from the errors of the last validation of the same profile and
 * model. Predictions of an earlier version have no seed. */
static void add_earlier(struct validation *v)
{
	const char *seed = table_meta(v->predictions->table, "seed"),
	           *model = table_meta(v->predictions->table, "model");
	char *path = xasprintf("%s/errors.tsv", v->common.output);
	struct fault fault;

	v->key = (struct seed_key){
	        seed && model ? atoll(seed) : NOT_DRAWN, v->profile_sha, model ? model : ""};
	v->predicted = v->predictions->count;
	v->measured = v->measurements->count;
	struct table *earlier = access(path, F_OK) == 0 ? table_read(path, &fault) : NULL;
	if (earlier && is_of_key(v, earlier))
		errors_earlier(earlier, v->key.seed, v->predictions, v->measurements);
	table_free(earlier);
	free(path);
}

/* The cases of a seed alone. The caller frees them. */
static size_t cases_of(
        const struct comparison *rows, size_t count, int64_t seed, struct comparison **cases)
{
	size_t n = 0;

	*cases = xcalloc(count + 1, sizeof **cases);
	for (size_t i = 0; i < count; i++)
		if (rows[i].level == 2 && result_seed(rows[i].predicted) == seed)
			(*cases)[n++] = rows[i];
	return n;
}

/* "getrf=0.021 potrf=0.034": median absolute errors by operation. */
static char *medians_of(const struct comparison *cases, size_t count)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < count; i++) {
		const char *operation = cases[i].predicted->operation;
		bool seen = false;
		for (size_t j = 0; j < i && !seen; j++)
			seen = strcmp(cases[j].predicted->operation, operation) == 0;
		const struct error_summary s = errors_summary(cases, seen ? 0 : count,
		        &(struct errors_filter){.operation = operation, .level = 2});
		if (s.cases)
			xappend(&text, "%s%s=%.3f", text[0] ? " " : "", operation, s.median_abs);
	}
	return text;
}

/* Notes in the log of seeds what the seed of this run has shown. */
static void log_seed(struct validation *v, struct comparison *rows, size_t count)
{
	struct table *seeds = seeds_read(v->common.output);
	struct comparison *cases;

	if (v->key.seed == NOT_DRAWN) {
		table_free(seeds);
		return;
	}
	v->seen = seeds_seen(seeds, &v->key);
	for (size_t i = 0; i < count && v->seen; i++)
		rows[i].drawn = rows[i].drawn && result_seed(rows[i].predicted) != v->key.seed;
	const size_t n = cases_of(rows, count, v->key.seed, &cases),
	             row = seeds_row(seeds, &v->key);
	const struct error_summary all =
	        errors_summary(cases, n, &(struct errors_filter){.level = 2});
	char *medians = medians_of(cases, n);
	table_set_int(seeds, row, "cases", (int64_t)all.cases);
	table_set_text(seeds, row, "median_abs_errors", all.cases ? medians : "nan");
	table_save(seeds, "%s/seeds.tsv", v->common.output);
	free(medians);
	free(cases);
	table_free(seeds);
}

/* ---- judging ---- */

/* The bench of the same folder, where it was run. */
static void add_interpolation(const struct validation *v, struct comparison *rows, size_t count)
{
	char *path = xasprintf("%s/bench.tsv", v->common.output);
	struct fault fault;
	struct results *bench = access(path, F_OK) == 0 ? results_read(path, &fault) : NULL;

	if (bench)
		errors_baseline_interpolated(rows, count, bench);
	results_free(bench);
	free(path);
}

/* Of the cases that have references. */
static bool predict_again(const struct profile *profile, int level, struct result *row)
{
	return (results_is_lu_panel(row) ? panel_row_predict
	        : results_is_gram(row)   ? gram_row_predict
	        : results_is_kerr(row)   ? kerr_row_predict
	                                 : whole_row_predict)(profile, level, row);
}

/* Bandwidths; compute-bound operations at the highest rate of gemm. */
static void add_baselines(const struct validation *v, struct comparison *rows, size_t count)
{
	static const struct {
		const char *executor, *parameter;
		enum precision rate; /* 0: a bandwidth */
	} baselines[] = {{"cuda", "gpu.dram.copy", 0}, {"host", "host.memory.copy.peak", 0},
	        {"cuda", "gpu.gemm.s.peak", SINGLE}, {"cuda", "gpu.gemm.d.peak", DOUBLE}};

	for (size_t i = 0; i < ARRAY_LEN(baselines); i++) {
		const struct lookup peak = profile_get(v->profile, baselines[i].parameter, NULL, 0);
		if (peak.found && baselines[i].rate)
			errors_baseline_rate(rows, count, baselines[i].executor, baselines[i].rate,
			        peak.estimate.value);
		else if (peak.found)
			errors_baseline_peak(
			        rows, count, baselines[i].executor, peak.estimate.value);
	}
}

static void write_table(const struct validation *v, struct table *table, const char *name)
{
	const char *machine = table_meta(v->predictions->table, "profile_machine");

	machine_stamp(table, "validate", NULL, v->argc, v->argv);
	if (machine)
		table_meta_set(table, "profile_machine", "%s", machine);
	table_meta_set(table, "profile_sha256", "%s", v->profile_sha);
	table_meta_set(table, "predictions_sha256", "%s", v->predictions_sha);
	table_meta_set(table, "measurements_sha256", "%s", v->measurements_sha);
	if (v->key.model && v->key.model[0])
		table_meta_set(table, "model", "%s", v->key.model);
	table_save(table, "%s/%s", v->common.output, name);
}

static void say_whether_stale(const struct validation *v, FILE *out)
{
	struct gpu gpu;
	struct fault fault;
	bool has_gpu = gpu_open(&gpu, v->common.device, &fault);
	const char *stale = v->profile->source
	                            ? machine_stale(v->profile->source, has_gpu ? &gpu : NULL)
	                            : "the profile does not say which machine it is of";

	if (stale)
		fprintf(out, "Note: %s\n", stale);
}

/* Host times vary with the host's clock; the profile has one value. */
static void say_host_clock(const struct validation *v, FILE *out)
{
	const char *then = table_meta(v->predictions->table, "host_clock_hz");
	const char *now = table_meta(v->measurements->table, "host_clock_hz");
	const char *off = table_meta(v->measurements->table, "off_clock");

	if (then && now && off)
		fprintf(out,
		        "Host clock: %.2f GHz in the profile, %.2f GHz while measuring; %s ran at "
		        "a clock more than 4 %% off\n",
		        atof(then) * 1e-9, atof(now) * 1e-9, off);
}

/* Runs on a shared core take longer at times. */
static void say_shared_cores(const struct validation *v, FILE *out)
{
	const char *shared = table_meta(v->measurements->table, "shared_cores");
	const char *disturbed = table_meta(v->measurements->table, "disturbed");

	if (!shared || strcmp(shared, "none") == 0 || strcmp(shared, "unknown") == 0)
		return;
	fprintf(out, "Cores that others used while measuring, and the remaining share: %s\n",
	        shared);
	if (disturbed)
		fprintf(out, "Disturbed on the host: %s\n", disturbed);
}

static void print_report(const struct validation *v, const struct comparison *rows, size_t count)
{
	size_t most = v->common.verbose ? count : 20;
	FILE *out = wrap_open();

	fprintf(out, "Validation of %s: %zu predictions, %zu measurements (no fit used them)\n",
	        v->common.output, v->predicted, v->measured);
	if (v->seen)
		fprintf(out,
		        "Seed %" PRId64 " was judged before the last change of model or profile: "
		        "its shapes count as fixed ones\n",
		        v->key.seed);
	validate_intervals_say(rows, count, out);
	say_whether_stale(v, out);
	say_host_clock(v, out);
	say_shared_cores(v, out);
	fputc('\n', out);
	errors_print(rows, count, most, out);
	fprintf(out, "\n%s/validation.tsv (families), %s/errors.tsv (every case)\n",
	        v->common.output, v->common.output);
	wrap_close(out, stdout);
}

static bool any_measured(const struct comparison *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].level == 2 && rows[i].predicted->seconds.value > 0 &&
		        rows[i].measured && rows[i].measured->seconds.value > 0)
			return true;
	return false;
}

/* ---- update or refactor? ---- */

static int validate_updates(struct validation *v)
{
	struct update_choice *list;

	read_chain(v, "update_predictions.tsv", "update.tsv",
	        "run fathom predict --update, then measure --update, again",
	        "run fathom measure --update again");
	size_t count = update_choices_list(v->predictions, v->measurements, &list);
	if (count == 0)
		msg_die(EXIT_MEASURE_FAILED,
		        "no change is both predicted and measured: run fathom measure --update");
	struct table *table = update_choices_table(list, count);
	write_table(v, table, "decisions.tsv");
	if (v->common.json)
		cli_write_json(table, "choices");
	else
		update_choices_print(table, stdout);
	table_free(table);
	free(list);
	results_free(v->predictions);
	results_free(v->measurements);
	return EXIT_DONE;
}

/* ---- predict, measure, then compare ---- */

NORETURN static void validate_anew(const struct cli_common *common, bool seed_given)
{
	char *seed = xasprintf("%" PRId64, common->seed);
	const char *words[] = {home_programs(), common->output, common->device, seed,
	        seed_given ? "given" : "drawn", common->quick ? "quick" : "full",
	        common->json ? "--json" : ""};

	home_run_script("scripts/validate.sh", words, ARRAY_LEN(words));
}

int main(int argc, char **argv)
{
	bool update = false, recorded = false;
	const char *intervals = NULL;
	char **folders = NULL;
	const struct cli_option options[] = {
	        {"recorded", 0, CLI_FLAG, &recorded, NULL,
	                "only compare what is recorded in OUTPUT", 0, 0},
	        {"update", 0, CLI_FLAG, &update, NULL,
	                "with --recorded: only changes of a QR factorization, "
	                "update_predictions.tsv and update.tsv, into decisions.tsv",
	                0, 0},
	        {"intervals", 0, CLI_TEXT, &intervals, "FILE",
	                "only factors of intervals, into FILE as C source: of these folders, each "
	                "with predictions by this build",
	                0, 0}};
	const struct cli_program program = {.name = "fathom-validate",
	        .summary = "Predicts, measures and compares, and judges the model.",
	        .operands = "[FOLDER...]",
	        .examples = "fathom validate\n"
	                    "fathom validate --quick --seed 7\n"
	                    "fathom validate --recorded\n",
	        .details =
	                "Predicts from OUTPUT/profile.tsv at shapes drawn by the seed, which is "
	                "new in every run, and at fixed ones; measures them, and compares: at most "
	                "ten minutes. --quick: fewer shapes, no changes of a QR factorization, no "
	                "timeline. Writes validation.tsv and errors.tsv, which keeps the cases of "
	                "earlier seeds of the same profile and model. Files whose checksums do not "
	                "match are refused. Large errors are a result: exit status 0.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	const int64_t drawn = draw_new_seed();
	struct validation v = {.common.seed = drawn, .argc = argc, .argv = argv};
	struct comparison *rows;

	cli_parse(argc, argv, &program, &v.common, &folders);
	if (!intervals != !(folders && *folders))
		msg_die(EXIT_BAD_USAGE,
		        "--intervals FILE needs folders, and nothing else takes them");
	if (intervals)
		return validate_intervals(intervals, folders, predict_again);
	if (update && !recorded)
		msg_die(EXIT_BAD_USAGE, "--update goes with --recorded");
	if (!recorded)
		validate_anew(&v.common, v.common.seed != drawn);
	if (update)
		return validate_updates(&v);
	v.profile = profile_open(v.common.output);
	read_chain(&v, "predictions.tsv", "measurements.tsv",
	        "run fathom predict, then measure, again", "run fathom measure again");
	add_earlier(&v);
	size_t count = errors_compare(v.predictions, v.measurements, &rows);
	errors_find_disturbed(rows, count, v.profile, v.measurements, predict_again);
	add_baselines(&v, rows, count);
	add_interpolation(&v, rows, count);
	if (!any_measured(rows, count))
		msg_die(EXIT_MEASURE_FAILED,
		        "no case is both predicted and measured: run fathom measure on the "
		        "machine that the predictions are for");

	log_seed(&v, rows, count);
	struct table *families = errors_family_table(rows, count);
	struct table *all = errors_row_table(rows, count);
	write_table(&v, families, "validation.tsv");
	write_table(&v, all, "errors.tsv");
	if (v.common.json)
		cli_write_json(families, "validation");
	else
		print_report(&v, rows, count);
	table_free(families);
	table_free(all);
	free(rows);
	results_free(v.predictions);
	results_free(v.measurements);
	profile_free(v.profile);
	return EXIT_DONE;
}
