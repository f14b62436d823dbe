/* SPDX-License-Identifier: MIT */
/* Question: how long does every case of the hold-out lists, fixed and drawn by a seed that is new
 * in every run, take on the machine of the profile? Method: the algorithms run on the model
 * executor, with costs from profile.tsv alone, at three levels (0: bound, 1: alpha-beta sums, 2:
 * full model, the prediction), and phase by phase for a few shapes. Nothing is measured. Unit:
 * seconds per operation. With an operation: its time over several GPUs alone (predict_several.c).
 */
#include "lib/base/cli.h"
#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"
#include "profile_context.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/gram_kernels.h"
#include "factor/validation/papers/kerr_cases.h"
#include "predict.h"
#include "factor/validation/seeds.h"
#include "factor/validation/products.h"
#include "factor/validation/update_cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct target {
	const char *executor, *parameters;
} targets[] = {{"cuda", "gpu."}, {"host", "host."}};
enum { CUDA, HOST };

/* Adds the predictions of one target, at fixed shapes (draw NULL) or drawn ones; returns how many
 * cases were refused. */
static size_t add_target(struct results *results, const struct profile_context *c, int target,
        const struct draw *draw)
{
	const struct profile *profile = c->profile;
	const bool quick = c->common.quick;

	msg_progress("%s", targets[target].executor);
	const size_t first = results->count;
	size_t refused = predict_panels(results, profile, targets[target].executor, quick, draw);
	refused += target == HOST ? predict_gram_host(results, profile, quick, draw)
	                          : predict_products(results, profile, quick, draw) +
	                                    predict_gram_kernels(results, profile, quick, draw) +
	                                    predict_gram(results, profile, "cuda", quick, draw) +
	                                    predict_kerr(results, profile, quick, draw) +
	                                    predict_whole(results, profile, quick, draw);
	if (draw)
		draw_mark(draw, results, first);
	msg_progress_end();
	return refused;
}

static void stamp_changes(struct table *table, const char *option, const struct cli_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		char key[32];
		snprintf(key, sizeof key, "%s_%zu", option, i + 1);
		table_meta_set(table, key, "%s", list->item[i]);
	}
}

static void stamp(struct table *table, const struct profile_context *c)
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
	if (c->recorded)
		profile_context_stamp(table, c);
	if (c->tuning[0])
		table_meta_set(table, "tuning", "%s", c->tuning);
	if (c->calibration)
		table_meta_set(table, "calibration", "%s", c->calibration);
	stamp_changes(table, "set", &c->set);
	stamp_changes(table, "scale", &c->scale);
}

/* The tables of the report on where time goes, the crossover with the host, bounds, and several
 * GPUs. */
static void write_whole(const struct profile_context *c)
{
	static const struct {
		const char *name;
		struct table *(*predict)(const struct profile *, bool quick);
	} tables[] = {{"breakdown", predict_breakdown}, {"bounds", predict_bounds},
	        {"scaling", predict_scaling}, {"lawn", predict_lawn}};

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		struct table *table = tables[i].predict(c->profile, c->common.quick);
		stamp(table, c);
		if (table->row_count)
			table_save(table, "%s/%s.tsv", c->common.output, tables[i].name);
		table_free(table);
	}
}

/* Changes of a QR factorization, in a file of their own: measure --update runs them. */
static void predict_changes(const struct profile_context *c)
{
	bool gpu = profile_has(c->profile, targets[CUDA].parameters);
	char *path = xasprintf("%s/update_predictions.tsv", c->common.output);
	struct results *results = results_new();
	struct fault fault;
	size_t refused = predict_updates(
	        results, c->profile, targets[gpu ? CUDA : HOST].executor, c->common.quick);

	stamp(results->table, c);
	if (!results_write(results, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	if (c->common.json)
		results_write_json(results);
	else
		printf("%s: %zu predictions,\n%zu cases not predicted (their rows say why)\n", path,
		        results->count, refused);
	results_free(results);
	free(path);
}

static void log_seed(const struct profile_context *c, const struct results *results)
{
	struct table *seeds = seeds_read(c->common.output);
	const struct seed_key key = {c->common.seed, c->sha, cli_model()};
	const char *machine = table_meta(results->table, "profile_machine");

	seeds_row(seeds, &key);
	machine_stamp(seeds, "predict", NULL, c->argc, c->argv);
	if (machine)
		table_meta_set(seeds, "profile_machine", "%s", machine);
	table_save(seeds, "%s/seeds.tsv", c->common.output);
	table_free(seeds);
}

static void predict_operations(const struct profile_context *c)
{
	const struct draw draw =
	        draw_of(c->common.seed, c->common.quick, c->profile, profile_context_memory(c));
	char *path = xasprintf("%s/predictions.tsv", c->common.output);
	FILE *report = c->common.json ? stderr : stdout;
	struct results *results = results_new();
	struct fault fault;
	size_t used = 0;

	stamp(results->table, c);
	table_meta_set(results->table, "seed", "%" PRId64, draw.seed);
	table_meta_set(results->table, "model", "%s", cli_model());
	for (int t = CUDA; t <= HOST; t++) {
		size_t before = results->count;
		if (!profile_has(c->profile, targets[t].parameters))
			continue;
		size_t refused = add_target(results, c, t, NULL) + add_target(results, c, t, &draw);
		fprintf(report,
		        "%s: %zu predictions, %zu cases not predicted (their rows say why)\n",
		        targets[t].executor, results->count - before, refused);
		used++;
	}
	if (used == 0)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s/profile.tsv has no usable gpu.* or host.* parameter: run fathom probe",
		        c->common.output);
	if (!results_write(results, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	log_seed(c, results);
	write_whole(c);
	if (c->common.json) {
		results_write_json(results);
	} else {
		printf("%s: shapes drawn by seed %" PRId64 ", and fixed ones\n", path, draw.seed);
	}
	results_free(results);
	free(path);
}

/* ---- which options belong to which question ---- */

enum { ASK_ALL = 1, ASK_ONE = 2, ASK_SEVERAL = 4 };

static void check_options(const struct several_request *several, const char *operation)
{
	enum { OPERATION = ASK_ONE | ASK_SEVERAL };
	static const char one[] = "an operation, as in predict getrf --n 65536 --gpus 8";
	static const struct cli_use uses[] = {{"m", OPERATION, one}, {"n", OPERATION, one},
	        {"nb", ASK_SEVERAL, "several GPUs"}, {"gpus", OPERATION, one},
	        {"hosts", OPERATION, one}, {"precision", OPERATION, one}, {"math", OPERATION, one},
	        {"machine", OPERATION, one}, {"update", ASK_ALL, "predict without an operation"}};
	const unsigned question = !operation ? ASK_ALL : several->gpus > 1 ? ASK_SEVERAL : ASK_ONE;
	char *asked = operation ? xasprintf("predict %s%s", operation,
	                                  several->gpus > 1 ? "" : " on one GPU")
	                        : xstrdup("predict without an operation");

	cli_refuse_sms(true);
	cli_check_uses(uses, ARRAY_LEN(uses), question, asked);
	free(asked);
}

int main(int argc, char **argv)
{
	static const char own[] = "data/local";
	struct profile_context call = {.common = {.output = own, .seed = draw_new_seed()},
	        .preset = own,
	        .own = true,
	        .argc = argc,
	        .argv = argv};
	struct several_request several = {.precision = "s", .math = "fp32", .gpus = 1, .hosts = 1};
	bool update = false;
	char **operands;
	const struct cli_option options[] = {
	        {"m", 'm', CLI_INT, &several.asked.m, "N", "rows (as many as columns)", 1, 1e9},
	        {"n", 'n', CLI_INT, &several.asked.n, "N", "columns", 1, 1e9},
	        {"nb", 0, CLI_INT, &several.asked.nb, "N",
	                "columns of a block over several GPUs (0: the fastest)", 0, 1e6},
	        {"gpus", 0, CLI_INT, &several.gpus, "N", "GPUs in all hosts", 1, 4096},
	        {"hosts", 0, CLI_INT, &several.hosts, "N", "with as many GPUs each", 1, 4096},
	        {"precision", 0, CLI_TEXT, &several.precision, "s|d", "single or double", 0, 0},
	        {"math", 0, CLI_TEXT, &several.math, "fp32|3xtf32|3xfp16",
	                "of updates in single precision", 0, 0},
	        {"machine", 0, CLI_TEXT, &call.machine, "NAME",
	                "of an operation: a recorded machine in data/", 0, 0},
	        PROFILE_WHAT_IFS(call),
	        {"update", 0, CLI_FLAG, &update, NULL,
	                "changes of a QR factorization alone, into update_predictions.tsv", 0, 0}};
	const struct cli_program program = {.name = "fathom-predict",
	        .summary = "Predicts the held-out operations from the machine profile alone.",
	        .operands = "[getrf|geqrf|potrf]",
	        .examples = "fathom predict\n"
	                    "fathom predict getrf --n 200000 --gpus 64 --hosts 8 --machine "
	                    "nvidia-h200\n"
	                    "fathom predict --quick --seed 7 --set gpu.launch.enqueue=1.0us\n",
	        .details =
	                "Reads profile.tsv, and writes into OUTPUT predictions.tsv, breakdown.tsv "
	                "(where the time of whole factorizations goes), bounds.tsv (its lower "
	                "bounds), scaling.tsv (over 1 to 64 GPUs) and lawn.tsv (LAWN 202's own "
	                "factorizations). Shapes are fixed ones and "
	                "ones drawn by the seed, which is new "
	                "in every run; seeds.tsv logs it. A --set or --scale of a GPU's parameter "
	                "where the profile has no GPU is answered for the recorded machine. "
	                "With an operation it writes nothing, and answers the time of that one "
	                "over several GPUs of this kind, also of machines not at hand: what was "
	                "not measured is named, and --set changes what is assumed.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};

	cli_parse(argc, argv, &program, &call.common, &operands);
	const bool one = operands[0] != NULL;
	check_options(&several, operands[0]);
	if (one)
		several_check(&several, operands);
	call.assume = one ? model_several_assume : NULL;
	call.own = !one;
	if (one && call.common.output == own)
		call.common.output = call.preset = machine_data_folder();
	profile_context_open(&call, one);
	call.profile->by_hardware = profile_context_hardware(call.profile);
	if (one)
		predict_several(&several, &call);
	else
		(update ? predict_changes : predict_operations)(&call);
	profile_context_close(&call);
	return EXIT_DONE;
}
