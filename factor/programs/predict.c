/* SPDX-License-Identifier: MIT */
/* Question: how long does every case of the hold-out list take on the machine of the profile?
 * Method: the algorithms run on the model executor, with costs from profile.tsv alone, at three
 * levels (0: bound, 1: alpha-beta sums, 2: full model, the prediction), and phase by phase for a
 * few shapes. Nothing is measured. Unit: seconds per operation. */
#include "lib/base/cli.h"
#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"
#include "profile_context.h"
#include "factor/validation/cases.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/predicted.h"
#include "factor/validation/papers/gram_kernels.h"
#include "factor/model/simulation/executor_model.h"
#include "predict_bounds.h"
#include "predict_breakdown.h"
#include "predict_whole.h"
#include "factor/validation/products.h"
#include "factor/validation/results.h"
#include "factor/validation/update_cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call of the program. */
struct call {
	struct profile *profile;
	struct profile_context_source source;
	char sha[65]; /* of the profile's file */
	struct cli_list set;
	struct cli_common common;
	int argc;
	char **argv;
};

static const struct target {
	const char *executor, *parameters;
	enum model_target model;
} targets[] = {{"cuda", "gpu.", MODEL_CUDA}, {"host", "host.", MODEL_HOST}};

/* One case at one level; phase PHASE_COUNT means all of them. */
static struct result predict_case(const struct profile *profile, const struct target *target,
        const struct panel_case *asked, int level, enum phase phase)
{
	const char *only = phase < PHASE_COUNT ? phase_name[phase] : NULL;
	const char *variant = strcmp(asked->operation, "ger") == 0 ? "ger" : asked->variant;
	unsigned skip = only ? ((1u << PHASE_COUNT) - 1) & ~(1u << phase) : 0;
	struct result row = {.precision = asked->precision,
	        .m = asked->m,
	        .n = asked->n,
	        .residual = NAN,
	        .orthogonality = NAN};
	struct prediction prediction;

	snprintf(row.operation, sizeof row.operation, "%s", asked->operation);
	snprintf(row.variant, sizeof row.variant, "%s", asked->variant);
	snprintf(row.executor, sizeof row.executor, "%s", asked->executor);
	if (strcmp(asked->operation, "ger") == 0)
		row.k = 1;
	else
		row.nb = asked->n;
	results_options(row.options, asked->executor, only, level);
	bool ok = model_predict_without(profile, target->model, variant, asked->m, asked->n,
	        asked->precision, level, skip, &prediction);
	predicted_fill(&row, &prediction, ok);
	return row;
}

/* The phases that a variant has, when it has more than one. */
static void add_phases(struct results *results, const struct profile *profile,
        const struct target *target, const struct panel_case *asked)
{
	struct prediction whole;
	int phases = 0;

	if (!model_predict(profile, target->model, asked->variant, asked->m, asked->n,
	            asked->precision, 2, &whole))
		return;
	for (int p = 0; p < PHASE_COUNT; p++)
		phases += whole.parts.phase[p] > 0;
	for (int p = 0; p < PHASE_COUNT && phases > 1; p++) {
		if (!(whole.parts.phase[p] > 0))
			continue;
		struct result row = predict_case(profile, target, asked, 2, (enum phase)p);
		results_add(results, &row);
	}
}

/* All levels, and phase by phase where that is asked for; returns whether the case was refused. */
static bool add_case(struct results *results, const struct profile *profile,
        const struct target *target, const struct panel_case *asked)
{
	bool refused = false;

	for (int level = 2; level >= 0; level--) {
		struct result row = predict_case(profile, target, asked, level, PHASE_COUNT);
		results_add(results, &row);
		refused = refused || (level == 2 && row.note[0]);
	}
	if (asked->phases)
		add_phases(results, profile, target, asked);
	return refused;
}

/* Adds the predictions of one target; returns how many cases were refused. */
static size_t add_target(struct results *results, const struct profile *profile,
        const struct target *target, bool quick)
{
	struct panel_case *cases;
	size_t count = cases_holdout(target->executor, quick, &cases), refused = 0;

	msg_progress("%s: %zu cases", target->executor, count);
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : refused)
	for (size_t i = 0; i < count; i++) {
		struct results *one = results_new();
		refused += add_case(one, profile, target, &cases[i]);
#pragma omp ordered
		results_append(results, one);
		results_free(one);
	}
	if (target->model == MODEL_HOST)
		refused += predict_gram_host(results, profile, quick);
	if (target->model == MODEL_CUDA)
		refused += predict_products(results, profile, quick) +
		           predict_gram_kernels(results, profile, quick) +
		           predict_gram(results, profile, "cuda", quick) +
		           predict_whole(results, profile, quick);
	msg_progress_end();
	free(cases);
	return refused;
}

static void read_profile(struct call *c, const struct profile_context_question *question)
{
	struct fault fault;

	c->profile = profile_context_open(question, &c->source);
	char *path = xasprintf("%s/profile.tsv", c->source.folder);
	if (!table_sha256(path, c->sha, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	free(path);
}

static void stamp(struct table *table, const struct call *c)
{
	const struct profile *profile = c->profile;
	struct lookup clock = profile_get(profile, "host.clock", NULL, 0);
	const char *machine = profile->source ? table_meta(profile->source, "machine") : NULL;

	machine_stamp(table, "predict", NULL, c->argc, c->argv);
	table_meta_set(table, "profile_sha256", "%s", c->sha);
	if (clock.found)
		table_meta_set(table, "host_clock_hz", "%.9g", clock.estimate.value);
	if (machine)
		table_meta_set(table, "profile_machine", "%s", machine);
	if (c->source.recorded)
		profile_context_stamp(table, &c->source);
	for (size_t i = 0; i < c->set.count; i++) {
		char key[32];
		snprintf(key, sizeof key, "set_%zu", i + 1);
		table_meta_set(table, key, "%s", c->set.item[i]);
	}
}

/* The tables of the report on where time goes, the crossover with the host, and bounds. */
static void write_whole(const struct call *c)
{
	static const struct {
		const char *name;
		struct table *(*predict)(const struct profile *, bool quick);
	} tables[] = {{"breakdown", predict_breakdown}, {"bounds", predict_bounds}};
	struct fault fault;

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char *path = xasprintf("%s/%s.tsv", c->common.output, tables[i].name);
		struct table *table = tables[i].predict(c->profile, c->common.quick);
		stamp(table, c);
		if (table->row_count && !table_write(table, path, &fault))
			msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
		table_free(table);
		free(path);
	}
}

/* Changes of a QR factorization, in a file of their own: measure --update runs them. */
static void predict_changes(const struct call *c)
{
	bool gpu = profile_has(c->profile, targets[0].parameters);
	char *path = xasprintf("%s/update_predictions.tsv", c->common.output);
	struct results *results = results_new();
	struct fault fault;
	size_t refused = predict_updates(
	        results, c->profile, targets[gpu ? 0 : 1].executor, c->common.quick);

	stamp(results->table, c);
	if (!results_write(results, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	printf("%s: %zu predictions, %zu cases not predicted (their rows say why)\n", path,
	        results->count, refused);
	results_free(results);
	free(path);
}

static void predict_operations(const struct call *c)
{
	char *path = xasprintf("%s/predictions.tsv", c->common.output);
	FILE *report = c->common.json ? stderr : stdout;
	struct results *results = results_new();
	struct fault fault;
	size_t used = 0;

	stamp(results->table, c);
	for (size_t t = 0; t < ARRAY_LEN(targets); t++) {
		size_t before = results->count;
		if (!profile_has(c->profile, targets[t].parameters))
			continue;
		size_t refused = add_target(results, c->profile, &targets[t], c->common.quick);
		fprintf(report,
		        "%s: %zu predictions, %zu cases not predicted (their rows say why)\n",
		        targets[t].executor, results->count - before, refused);
		used++;
	}
	if (used == 0)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s/profile.tsv has no usable gpu.* or host.* parameter: run make probe",
		        c->common.output);
	if (!results_write(results, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	write_whole(c);
	if (c->common.json) {
		struct table *table = table_read(path, &fault);
		if (table)
			table_write_json(table, stdout);
		table_free(table);
	} else {
		printf("%s\n", path);
	}
	results_free(results);
	free(path);
}

int main(int argc, char **argv)
{
	static const char own[] = "data/local";
	struct call call = {.common = {.output = own}, .argc = argc, .argv = argv};
	bool update = false;
	const struct cli_option options[] = {
	        {"set", 0, CLI_LIST, &call.set, "NAME=VALUE",
	                "what if: replace a parameter, as in gpu.launch.enqueue=1.0us (repeatable)",
	                0, 0},
	        {"update", 0, CLI_FLAG, &update, NULL,
	                "changes of a QR factorization alone, into update_predictions.tsv", 0, 0}};
	const struct cli_program program = {.name = "fathom-predict",
	        .summary = "Predicts the hold-out operations from the machine profile alone.",
	        .details = "Reads profile.tsv, and writes into the output folder predictions.tsv,\n"
	                   "breakdown.tsv (where the time of whole factorizations goes) and\n"
	                   "bounds.tsv (its lower bounds). A --set of a GPU's parameter where the\n"
	                   "profile has no GPU is answered for the recorded machine.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};

	cli_parse(argc, argv, &program, &call.common, NULL);
	const struct profile_context_question question = {.given = call.common.output,
	        .preset = own,
	        .own = own,
	        .set = &call.set,
	        .about_gpu = profile_context_set_gpu(&call.set)};
	read_profile(&call, &question);
	(update ? predict_changes : predict_operations)(&call);
	profile_free(call.profile);
	free(call.source.folder);
	return EXIT_DONE;
}
