/* SPDX-License-Identifier: MIT */
/* Question: what runs when in this factorization, and which phase is each moment owed to?
 * Method: the algorithm on the model executor, priced from the machine's profile, with the plan
 * given or the one that the model finds fastest; then the same plan for real on the GPU, every
 * operation recorded, between runs that are not; without a GPU what the data folder has recorded of
 * the same plan. Both as tables, step by step, and with --svg as one drawing. What can fool it: the
 * records' own cost (the time without them stands beside), and on a GPU that is not the profile's
 * the difference between the two. Unit: microseconds. */
#include "../lib/cli.h"
#include "../lib/gpu.h"
#include "../lib/machine.h"
#include "../lib/msg.h"
#include "../lib/profile.h"
#include "model/plan_choice.h"
#include "model/timeline_compare.h"
#include "runs/answers.h"
#include "runs/trace_file.h"
#include "runs/trace_record.h"
#include "runs/trace_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations whose prices are furthest off. */
enum { OPERATIONS_SHOWN = 5 };

struct request {
	struct factor_question asked;
	struct plan_fixed fixed;
	int64_t nb, leaf, inverse, ahead; /* as given */
	const char *precision, *panels, *uplo, *svg, *tsv, *machine;
	const char *device;
	bool quick, simulate; /* simulate: and nothing else */
	int64_t lines;
	double from, to; /* microseconds */
	struct cli_list set;
	int argc;
	char **argv;
};

/* One answer: what the model says, and what was measured. */
struct answer {
	const char *folder;
	const char *choice; /* the folder, in a sentence */
	struct profile *profile;
	struct plan_choice *plan;
	struct whole whole;
	char *names[2]; /* titles of the timelines */
	struct timeline *simulated, *measured;
	struct trace_run run;
	struct table *recorded; /* where the measured timeline is from, NULL: from a run now */
	struct gpu gpu;         /* of the run */
};

/* ---- the command line ---- */

static const char *one_of(const char *text, const char *const *words, const char *what)
{
	for (const char *const *word = words; *word; word++)
		if (strcmp(text, *word) == 0)
			return *word;
	msg_die(EXIT_BAD_USAGE, "%s '%s': %s, %s%s%s are known", what, text, words[0], words[1],
	        words[2] ? ", " : "", words[2] ? words[2] : "");
}

static void read_request(struct request *r, char **operands)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf", NULL};
	static const char *const precisions[] = {"s", "d", NULL};
	static const char *const places[] = {"device", "host", NULL};
	static const char *const triangles[] = {"lower", "upper", NULL};
	struct factor_question *asked = &r->asked;

	if (!operands[0] || operands[1])
		msg_die(EXIT_BAD_USAGE, "say what to trace: trace getrf --n 8192");
	asked->operation = one_of(operands[0], operations, "operation");
	if (asked->n == 0)
		msg_die(EXIT_BAD_USAGE, "give the size of the matrix: --n COLUMNS");
	if (asked->m == 0)
		asked->m = asked->n;
	if (strcmp(asked->operation, "potrf") == 0 && asked->m != asked->n)
		msg_die(EXIT_BAD_USAGE, "a matrix for Cholesky is square: leave --m out");
	asked->precision =
	        one_of(r->precision, precisions, "precision") == precisions[0] ? SINGLE : DOUBLE;
	asked->uplo = one_of(r->uplo, triangles, "triangle") == triangles[0] ? LOWER : UPPER;
	r->fixed.nb = r->nb;
	r->fixed.leaf = r->leaf;
	r->fixed.inverse = r->inverse;
	r->fixed.lookahead = (int)r->ahead;
	if (r->panels)
		r->fixed.hybrid = one_of(r->panels, places, "place of panels") == places[1];
}

/* ---- what was measured, now or before ---- */

static char *title_of(const struct request *r, const char *how, const char *where)
{
	const struct factor_question *asked = &r->asked;

	return xasprintf("%s %s%s %" PRId64 " x %" PRId64 "%s%s", how, r->precision,
	        asked->operation, asked->m, asked->n, where ? " on " : "", where ? where : "");
}

/* Runs it here. False with a fault when there is no GPU; a run that fails ends the program. */
static bool measure(const struct request *r, struct answer *a, struct fault *fault)
{
	const struct factor_question *asked = &r->asked;
	struct executor *e = NULL;

	if (!gpu_open(&a->gpu, r->device, fault) || !(e = executor_cuda_new(r->device, fault)))
		return false;
	a->names[1] = title_of(r, "measured", a->gpu.name);
	if (!trace_run(e, &a->whole, &a->plan->plan, asked->precision, asked->m, asked->n, r->quick,
	            a->names[1], &a->run, fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault->text);
	a->measured = a->run.timeline;
	executor_free(e);
	return true;
}

static bool anything_fixed(const struct plan_fixed *f)
{
	return f->nb || f->hybrid >= 0 || f->lookahead >= 0 || f->leaf || f->inverse >= 0 ||
	       f->panel;
}

/* The record's plan in place of the model's choice. */
static void take_plan(const struct table *record, struct answer *a)
{
	struct whole_plan *recorded = xcalloc(1, sizeof *recorded);

	trace_record_plan(record, recorded);
	memcpy(a->plan->widths, recorded->widths, sizeof recorded->widths);
	a->plan->plan = recorded->plan;
	a->plan->plan.widths = a->plan->widths;
	free(recorded);
}

/* Takes what the record measured, when it ran the answer's plan. */
static bool take_record(
        const struct request *r, struct table *record, struct answer *a, struct fault *fault)
{
	const char *gpu = table_meta(record, "gpu"), *date = table_meta(record, "date");

	if (!trace_record_is_of(record, &a->whole, &a->plan->plan))
		return fault_set(fault, "the plan recorded in %s is another one", a->folder);
	char *where = xasprintf("%s, %s", gpu ? gpu : "a GPU", date ? date : "some time ago");
	a->names[1] = title_of(r, "measured", where);
	free(where);
	a->measured = trace_table_timeline(record, "measured", a->names[1], fault);
	a->recorded = record;
	if (!a->measured || a->measured->count)
		return a->measured;
	timeline_free(a->measured);
	a->measured = NULL;
	return fault_set(fault, "no run is recorded in %s", a->folder);
}

/* ---- the answer ---- */

static void choose_plan(const struct request *r, struct answer *a)
{
	if (!plan_choose(a->profile, &r->asked, &r->fixed, a->plan))
		msg_die(EXIT_MEASURE_FAILED, "%s", a->plan->fault.text);
}

static double simulate(const struct request *r, struct answer *a)
{
	struct factor_question asked = r->asked;

	asked.plan = &a->plan->plan;
	struct executor *e = model_factor_executor(a->profile, MODEL_CUDA, &asked, 2);
	if (!model_factor_run(e, &asked))
		msg_die(EXIT_MEASURE_FAILED, "%s", e->fault.text);
	double seconds = executor_model_result(e).seconds;
	a->names[0] = title_of(r, "simulated", NULL);
	a->simulated = executor_model_timeline(e, a->names[0]);
	executor_free(e);
	return seconds;
}

static void write_table(const struct table *table, const char *path)
{
	struct fault fault;

	if (!table_write(table, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
}

static void print_plan(const struct plan *plan, FILE *out)
{
	int64_t same = 0;

	fprintf(out, "plan: panels on the %s, look-ahead %d, leaves of %" PRId64 ", ",
	        plan->hybrid ? "host" : "device", plan->lookahead, plan->leaf);
	if (plan->inverse)
		fprintf(out, "inverses of %" PRId64 ", blocks of", plan->inverse);
	else
		fprintf(out, "triangular solves, blocks of");
	for (int64_t i = 0; i < plan->count; i += same) {
		for (same = 1; i + same < plan->count; same++)
			if (plan->widths[i + same] != plan->widths[i])
				break;
		if (plan->count == 1)
			fprintf(out, " %" PRId64, plan->widths[i]);
		else
			fprintf(out, " %" PRId64 " x %" PRId64, same, plan->widths[i]);
	}
	fprintf(out, "\n\n");
}

static void print_limiters(const struct timeline *timeline, FILE *out)
{
	struct step *step = xmalloc(COMPARED_STEPS * sizeof *step);
	size_t count = timeline_steps(timeline, step, COMPARED_STEPS), limited[OWED_COUNT] = {0};

	for (size_t i = 0; i < count; i++)
		limited[step[i].limiter]++;
	fprintf(out, "\n%zu steps, limited by", count);
	for (int o = 0; o < OWED_COUNT; o++)
		if (limited[o])
			fprintf(out, " %s %zu", owed_name(o), limited[o]);
	fprintf(out, "\n\n");
	free(step);
}

static void print_run(const struct answer *a, FILE *out)
{
	const struct estimate *plain = &a->run.plain, *recorded = &a->run.recorded;

	if (a->recorded)
		return;
	fprintf(out,
	        "recorded run: %.1f us (median of %zu); not recorded %.1f us (%.1f .. %.1f, "
	        "median of %zu): the records cost %+.1f %%\n"
	        "clocks of host and GPU aligned to +- %.1f us; residual ratio %.3g\n",
	        recorded->value * 1e6, recorded->samples, plain->value * 1e6, plain->low * 1e6,
	        plain->high * 1e6, plain->samples, 100 * (recorded->value / plain->value - 1),
	        a->run.uncertainty * 1e6, a->run.residual);
}

static void print_answer(const struct request *r, const struct answer *a, double seconds, FILE *out)
{
	double flops =
	        model_factor_flops(r->asked.operation, (double)r->asked.m, (double)r->asked.n);

	fprintf(out, "%s\n", a->choice);
	print_plan(&a->plan->plan, out);
	timeline_print(a->simulated, (size_t)r->lines, out);
	print_limiters(a->simulated, out);
	fprintf(out, "%.1f us to the host's knowledge of the end, %.2f Tflop/s\n", seconds * 1e6,
	        flops / seconds / 1e12);
	if (!a->measured)
		return;
	fputc('\n', out);
	timeline_print(a->measured, (size_t)r->lines, out);
	print_limiters(a->measured, out);
	print_run(a, out);
	struct comparison *comparison = timeline_compare(a->simulated, a->measured);
	comparison_print(comparison, OPERATIONS_SHOWN, out);
	free(comparison);
}

static void describe_run(const struct request *r, const struct answer *a, struct table *table)
{
	const struct estimate *plain = &a->run.plain;
	const char *const at = "%.9g";

	machine_stamp(table, "trace", &a->gpu, r->argc, r->argv);
	table_meta_set(table, "plain_seconds", at, plain->value);
	table_meta_set(table, "plain_low", at, plain->low);
	table_meta_set(table, "plain_high", at, plain->high);
	table_meta_set(table, "recorded_seconds", at, a->run.recorded.value);
	table_meta_set(table, "clocks_seconds", at, a->run.uncertainty);
	table_meta_set(table, "residual", at, a->run.residual);
}

static void describe_comparison(const struct answer *a, struct table *table)
{
	struct comparison *c = timeline_compare(a->simulated, a->measured);

	table_meta_set(table, "same_limiter", "%zu of %zu", c->same, c->steps[1]);
	free(c);
}

/* Both timelines, as a file has them. */
static struct table *both(const struct request *r, const struct answer *a)
{
	struct table *table = trace_table_new();
	char sha[65];
	char *profile = xasprintf("%s/profile.tsv", a->folder);
	struct fault fault;

	if (a->recorded)
		table_meta_add(table, a->recorded);
	else if (a->measured)
		describe_run(r, a, table);
	table_meta_set(table, "title", "%s", a->names[0]);
	if (table_sha256(profile, sha, &fault))
		table_meta_set(table, "profile_sha256", "%s", sha);
	trace_record_describe(table, &a->whole, &a->plan->plan);
	table_meta_set(table, "simulated_seconds", "%.9g", a->simulated->seconds);
	trace_table_add(table, "simulated", a->simulated);
	if (a->measured) {
		table_meta_set(table, "measured_seconds", "%.9g", a->measured->seconds);
		describe_comparison(a, table);
		trace_table_add(table, "measured", a->measured);
	}
	free(profile);
	return table;
}

static void draw(const struct request *r, const struct answer *a)
{
	const struct timeline *const all[] = {a->simulated, a->measured};
	FILE *out = fopen(r->svg, "w");

	if (!out)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", r->svg);
	timeline_draw(all, a->measured ? 2 : 1, r->from * 1e-6, r->to * 1e-6, out);
	if (fclose(out) != 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", r->svg);
}

/* The plan, then the simulation before the run that it predicts. */
static double find_answer(const struct request *r, struct answer *a)
{
	struct fault none = {""}, fault = {""};
	struct gpu gpu;
	bool here = !r->simulate && gpu_open(&gpu, r->device, &none);
	struct table *record =
	        r->simulate || here ? NULL : trace_record_find(a->folder, &r->asked, &fault);

	if (record && !anything_fixed(&r->fixed))
		take_plan(record, a);
	else
		choose_plan(r, a);
	double seconds = simulate(r, a);
	if (r->simulate)
		return seconds;
	if (record ? !take_record(r, record, a, &fault) : !measure(r, a, &none))
		msg_warn(
		        "simulated only: %s%s%s", none.text, fault.text[0] ? "; " : "", fault.text);
	if (!a->recorded)
		table_free(record);
	const char *stale = here ? machine_stale(a->profile->source, &gpu) : NULL;
	if (stale)
		msg_warn("simulated from a profile of another machine or time: %s", stale);
	return seconds;
}

static void answer(struct request *r, struct answer *a, bool json)
{
	operation_find(r->asked.operation, &a->whole.operation);
	a->whole.uplo = r->asked.uplo;
	a->plan = xcalloc(1, sizeof *a->plan);
	double seconds = find_answer(r, a);
	struct table *table = json || r->tsv ? both(r, a) : NULL;

	if (json) {
		table_meta_set(table, "profile", "%s", a->choice);
		table_write_json(table, stdout);
	} else {
		print_answer(r, a, seconds, stdout);
	}
	if (r->tsv)
		write_table(table, r->tsv);
	if (r->svg)
		draw(r, a);
	table_free(table);
	timeline_free(a->simulated);
	timeline_free(a->measured);
	table_free(a->recorded);
	free(a->names[0]);
	free(a->names[1]);
	free(a->plan);
}

int main(int argc, char **argv)
{
	struct request r = {.fixed = plan_free,
	        .inverse = -1,
	        .ahead = -1,
	        .lines = 40,
	        .precision = "s",
	        .uplo = "lower",
	        .argc = argc,
	        .argv = argv};
	const struct cli_option options[] = {
	        {"m", 'm', CLI_INT, &r.asked.m, "N", "rows (as many as columns)", 1, 1e9},
	        {"n", 'n', CLI_INT, &r.asked.n, "N", "columns (needed)", 1, 1e9},
	        {"precision", 0, CLI_TEXT, &r.precision, "s|d", "single or double", 0, 0},
	        {"uplo", 0, CLI_TEXT, &r.uplo, "lower|upper", "triangle, for potrf", 0, 0},
	        {"nb", 0, CLI_INT, &r.nb, "N", "block size (0: the model's sequence)", 0, 1e6},
	        {"panels", 0, CLI_TEXT, &r.panels, "device|host",
	                "where panels are factorized (the model's choice)", 0, 0},
	        {"panel", 0, CLI_TEXT, &r.fixed.panel, "VARIANT",
	                "of LU's panels on the device (the model's choice)", 0, 0},
	        {"lookahead", 0, CLI_INT, &r.ahead, "0|1", "-1: the model's choice", -1, 1},
	        {"leaf", 0, CLI_INT, &r.leaf, "N",
	                "widest panel factorized in one call (0: the model's choice)", 0, 1e6},
	        {"inverse", 0, CLI_INT, &r.inverse, "N",
	                "triangles inverted to solve by gemm (0: none, -1: the model's choice)", -1,
	                1e6},
	        {"machine", 0, CLI_TEXT, &r.machine, "NAME", "a recorded machine in data/", 0, 0},
	        {"set", 0, CLI_LIST, &r.set, "NAME=VALUE",
	                "what if: replace a parameter, as in gpu.launch.enqueue=1.0us (repeatable)",
	                0, 0},
	        {"simulate", 0, CLI_FLAG, &r.simulate, NULL, "run nothing, though there is a GPU",
	                0, 0},
	        {"lines", 0, CLI_INT, &r.lines, "N", "lines of the table", 0, 1e9},
	        {"svg", 0, CLI_TEXT, &r.svg, "FILE", "draw it into this file", 0, 0},
	        {"tsv", 0, CLI_TEXT, &r.tsv, "FILE",
	                "keep both in this file; in a data folder, as trace_sgetrf_8192.tsv, it is "
	                "shown where there is no GPU",
	                0, 0},
	        {"from", 0, CLI_REAL, &r.from, "US", "first microsecond drawn", 0, 1e12},
	        {"to", 0, CLI_REAL, &r.to, "US", "last microsecond drawn (0: all)", 0, 1e12}};
	const struct cli_program program = {.name = "fathom-trace",
	        .summary = "Shows what runs when in a factorization, simulated and measured.",
	        .operands = "getrf|geqrf|potrf",
	        .details = "getrf: LU with partial pivoting; geqrf: QR; potrf: Cholesky.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	const char *preset = machine_data_folder();
	struct cli_common common = {.output = preset};
	char choice[MACHINE_CHOICE], **operands;

	cli_parse(argc, argv, &program, &common, &operands);
	read_request(&r, operands);
	r.device = common.device;
	r.quick = common.quick;
	struct answer a = {.choice = choice};
	char *folder = xstrdup(answers_folder(r.machine, common.output, preset, choice));
	a.folder = folder;
	a.profile = answers_profile(folder, &r.set);
	answer(&r, &a, common.json);
	profile_free(a.profile);
	free(folder);
	return EXIT_DONE;
}
