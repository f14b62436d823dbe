/* SPDX-License-Identifier: MIT */
/* Question: which operation of a factorization runs when, and which phase limits each moment?
 * Method: simulates the algorithm with the costs of the machine's profile, by the given plan or by
 * the model's. Then runs the same plan on the GPU with every operation recorded, in turns with runs
 * without records; without a GPU it takes such a run from the data folder. Prints both as tables,
 * step by step, and with --svg as one drawing. Error sources: the cost of the records (the time
 * without records is printed, too); a GPU that is not the profile's. Unit: microseconds. */
#include "lib/base/cli.h"
#include "lib/device/gpu.h"
#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/profile/profile.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/algorithms/panel_getrf.h"
#include "profile_context.h"
#include "trace_result.h"
#include "factor/validation/trace_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	struct plan_fixed fixed;
	int64_t ahead; /* as given */
	const char *precision, *math, *panels, *uplo, *plan;
	bool simulate; /* and nothing else */
	int64_t gpus, lines;
	struct trace_output to;
};

/* Limit of the smaller side: simulating its plans takes about a minute. */
enum { MOST_STEPS = 131072 };

/* ---- the command line ---- */

static void check_options(const struct request *r, const char *operation)
{
	enum { LU = 1, QR = 2, CHOLESKY = 4 };
	static const struct cli_use uses[] = {{"panel", LU, "getrf"}, {"uplo", CHOLESKY, "potrf"}};
	const unsigned question = strcmp(operation, "getrf") == 0   ? LU
	                          : strcmp(operation, "geqrf") == 0 ? QR
	                                                            : CHOLESKY;
	char asked[32];

	snprintf(asked, sizeof asked, "trace %s", operation);
	cli_check_uses(uses, ARRAY_LEN(uses), question, asked);
	if (r->simulate || r->gpus > 1)
		cli_refuse_sms(true);
	if (!r->to.svg && (cli_given("from") || cli_given("to")))
		msg_die(EXIT_BAD_USAGE, "--from and --to are for a drawing: give --svg FILE, too");
	if (r->to.to > 0 && r->to.to <= r->to.from)
		msg_die(EXIT_BAD_USAGE,
		        "--from %.15g --to %.15g draws nothing: give a --to behind --from",
		        r->to.from, r->to.to);
}

/* Checks words as in "leaf=64 inverse=0 lookahead=2 panel=persistent widths=128x28,64". */
static void check_plan_text(const struct request *r)
{
	static const char *const words[] = {
	        "leaf=", "inverse=", "lookahead=", "panel=", "widths=", NULL};
	const char *word = r->plan ? r->plan + strspn(r->plan, " ") : NULL;

	if (word && (r->fixed.leaf || r->fixed.inverse >= 0 || r->fixed.lookahead >= 0 ||
	                    r->fixed.panel))
		msg_die(EXIT_BAD_USAGE, "--plan is complete: leave --leaf, --inverse, --lookahead "
		                        "and --panel out");
	if (word && r->fixed.nb && strstr(word, "widths="))
		msg_die(EXIT_BAD_USAGE, "--plan has the widths of its blocks: leave --nb out");
	for (; word && *word; word += strspn(word, " ")) {
		const char *const *known = words;
		while (*known && strncmp(word, *known, strlen(*known)) != 0)
			known++;
		if (!*known)
			msg_die(EXIT_BAD_USAGE,
			        "plan '%s': write it as bench.tsv does, leaf=64 inverse=0 "
			        "lookahead=1 widths=256x8,128",
			        r->plan);
		word += strcspn(word, " ");
	}
}

static void read_request(struct request *r, struct factor_question *asked, char **operands)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	static const char *const precisions[] = {"s", "d"};
	static const char *const places[] = {"device", "host"};
	static const char *const triangles[] = {"lower", "upper"};

	if (!operands[0] || operands[1])
		msg_die(EXIT_BAD_USAGE, "say what to trace: trace getrf --n 8192");
	asked->operation =
	        operations[profile_context_word(operands[0], operations, 3, "operation")];
	check_options(r, asked->operation);
	if (asked->n == 0)
		msg_die(EXIT_BAD_USAGE, "give the size of the matrix: --n COLUMNS");
	if (asked->m == 0)
		asked->m = asked->n;
	if (strcmp(asked->operation, "potrf") == 0 && asked->m != asked->n)
		msg_die(EXIT_BAD_USAGE, "a matrix for Cholesky is square: leave --m out");
	if (asked->m > MOST_STEPS && asked->n > MOST_STEPS)
		msg_die(EXIT_BAD_USAGE,
		        "%" PRId64 " x %" PRId64 ": up to %d rows or columns are simulated",
		        asked->m, asked->n, MOST_STEPS);
	asked->precision =
	        profile_context_word(r->precision, precisions, 2, "precision") ? DOUBLE : SINGLE;
	if (!math_find(r->math, &asked->math))
		msg_die(EXIT_BAD_USAGE, "math '%s': fp32, 3xtf32, 3xfp16 are known", r->math);
	asked->uplo = profile_context_word(r->uplo, triangles, 2, "triangle") ? UPPER : LOWER;
	r->fixed.lookahead = (int)r->ahead;
	if (r->fixed.panel) {
		r->fixed.panel = panel_getrf_variants[profile_context_word(
		        r->fixed.panel, panel_getrf_variants, SIZE_MAX, "variant of panels")];
		r->fixed.hybrid = 0;
	}
	if (r->panels)
		r->fixed.hybrid =
		        (int)profile_context_word(r->panels, places, 2, "place of panels");
	check_plan_text(r);
}

/* Over several GPUs, with the plan of a block's panel that the algorithm chooses for itself. */
static struct several_question several_of(const struct request *r, const struct factor_question *q)
{
	enum { PARTS = 16384 };
	const int64_t nb = r->fixed.nb ? r->fixed.nb : 256;

	if (r->plan || r->panels || r->ahead >= 0 || r->fixed.leaf || r->fixed.inverse >= 0 ||
	        r->fixed.panel || q->uplo == UPPER)
		msg_die(EXIT_BAD_USAGE, "over several GPUs --nb is the whole plan, and potrf has "
		                        "the lower triangle");
	if (min_int64(q->m, q->n) / nb * r->gpus > PARTS)
		msg_die(EXIT_BAD_USAGE, "up to %d blocks times GPUs are drawn: give a larger --nb",
		        PARTS);
	return (struct several_question){.operation = q->operation,
	        .m = q->m,
	        .n = q->n,
	        .nb = nb,
	        .precision = q->precision,
	        .math = q->math,
	        .gpus = (int)r->gpus,
	        .hosts = 1};
}

/* ---- the measurement, new or recorded ---- */

static char *title_of(const struct trace_result *a, const char *how, const char *where)
{
	return xasprintf("%s %c%s %" PRId64 " x %" PRId64 "%s%s%s", how, (char)a->asked.precision,
	        a->asked.operation, a->asked.m, a->asked.n, math_title[a->asked.math],
	        where ? " on " : "", where ? where : "");
}

/* Measures here. False with a fault when there is no GPU; a run that fails ends the program. */
static bool measure(struct trace_result *a, struct fault *fault)
{
	const struct factor_question *asked = &a->asked;
	const struct cli_common *common = &a->context.common;
	struct executor *e = NULL;

	if (!gpu_open(&a->gpu, common->device, fault) ||
	        !(e = executor_cuda_new(common->device, fault)))
		return false;
	a->names[1] = title_of(a, "measured", a->gpu.name);
	if (!trace_run(e, &a->whole, &a->plan->plan, asked->precision, asked->m, asked->n,
	            common->quick, a->names[1], &a->run, fault))
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

/* The plan of a text, blocks of nb where it names no widths. */
static void take_plan(struct trace_result *a, const char *text, bool hybrid, int64_t nb)
{
	struct whole_plan *plan = xcalloc(1, sizeof *plan);

	whole_plan_parse(text, hybrid, nb, plan);
	memcpy(a->plan->widths, plan->widths, sizeof plan->widths);
	a->plan->plan = plan->plan;
	a->plan->plan.widths = a->plan->widths;
	free(plan);
}

static void take_given_plan(const struct request *r, struct trace_result *a)
{
	struct executor *e = model_factor_executor(a->context.profile, MODEL_CUDA, &a->asked, 2);
	const struct plan *plan = &a->plan->plan;

	take_plan(a, r->plan, r->fixed.hybrid == 1, r->fixed.nb ? r->fixed.nb : 128);
	if (!plan_check(e, plan))
		msg_die(EXIT_BAD_USAGE, "plan '%s': %s", r->plan, e->fault.text);
	if (a->whole.operation == GETRF && !plan->hybrid && !plan->panel)
		msg_die(EXIT_BAD_USAGE,
		        "plan '%s': say which panels on the device, panel=persistent", r->plan);
	executor_free(e);
}

/* ---- a recorded run ---- */

/* Whether a record's metadata describes this factorization; with its plan. */
static bool is_of(const struct table *record, const struct trace_result *a, bool plan)
{
	static const char *const key[] = {"uplo", "math", "plan", "nb", "panels"};
	struct table *wanted = trace_table_new();
	bool same = true;

	trace_result_describe(a, plan, wanted);
	for (size_t i = 0; i < (plan ? ARRAY_LEN(key) : 2); i++) {
		const char *x = table_meta(record, key[i]), *y = table_meta(wanted, key[i]);
		same = same && (x && y ? strcmp(x, y) == 0 : x == y);
	}
	table_free(wanted);
	return same;
}

/* The folder's file of this factorization, by any plan. NULL with a fault when there is none, or
 * its metadata has no plan. */
static struct table *find_record(const struct trace_result *a, struct fault *fault)
{
	const struct factor_question *asked = &a->asked;
	char *path = trace_file_path(
	        a->context.folder, asked->operation, asked->precision, asked->m, asked->n);
	const bool there = access(path, F_OK) == 0;
	struct table *record = there ? table_read(path, fault) : NULL;

	if (!there)
		fault_set(fault, "no run of it is recorded in %s", a->context.folder);
	if (record && (!is_of(record, a, false) || !table_meta(record, "plan"))) {
		fault_set(fault, "%s is of another triangle, math or plan", path);
		table_free(record);
		record = NULL;
	}
	free(path);
	return record;
}

static void take_recorded_plan(const struct table *record, struct trace_result *a)
{
	const char *nb = table_meta(record, "nb"), *panels = table_meta(record, "panels");

	take_plan(a, table_meta(record, "plan"), panels && strcmp(panels, "host") == 0,
	        nb ? strtoll(nb, NULL, 10) : 0);
}

/* Takes the record's measurement if it is of the answer's plan. */
static bool take_record(struct table *record, struct trace_result *a, struct fault *fault)
{
	const char *gpu = table_meta(record, "gpu"), *date = table_meta(record, "date");

	if (!is_of(record, a, true))
		return fault_set(
		        fault, "the plan recorded in %s is another one", a->context.folder);
	char *where = xasprintf("%s, %s", gpu ? gpu : "a GPU", date ? date : "some time ago");
	a->names[1] = title_of(a, "measured", where);
	free(where);
	a->measured = trace_table_timeline(record, "measured", a->names[1], fault);
	a->recorded = record;
	if (!a->measured || a->measured->count)
		return a->measured;
	timeline_free(a->measured);
	a->measured = NULL;
	return fault_set(fault, "no run is recorded in %s", a->context.folder);
}

/* ---- the answer ---- */

/* An impossible plan is bad usage when the caller fixed any part of it. */
static void refuse(const struct request *r, const struct fault *fault)
{
	msg_die(r->plan || anything_fixed(&r->fixed) ? EXIT_BAD_USAGE : EXIT_MEASURE_FAILED, "%s",
	        fault->text);
}

/* recorded: the timeline has the recorder's cost. The predicted seconds do not. */
static void simulate(const struct request *r, struct trace_result *a, bool recorded)
{
	struct factor_question asked = a->asked;

	asked.plan = &a->plan->plan;
	struct executor *e = model_factor_executor(a->context.profile, MODEL_CUDA, &asked, 2);
	if (!model_factor_run(e, &asked))
		refuse(r, &e->fault);
	a->seconds = executor_model_result(e).seconds;
	a->marks = 0;
	if (recorded) {
		executor_model_restart(e, false);
		executor_model_record(e, true);
		model_factor_run(e, &asked);
		a->marks = executor_model_result(e).seconds - a->seconds;
	}
	timeline_free(a->simulated);
	free(a->names[0]);
	a->names[0] = title_of(a, "simulated", NULL);
	a->simulated = executor_model_timeline(e, a->names[0]);
	executor_free(e);
}

/* The plan, then the simulation, then the run that it predicts. */
static void find_answer(const struct request *r, struct trace_result *a)
{
	struct fault none = {.text = ""}, fault = {.text = ""};
	struct gpu gpu;
	bool here = !r->simulate && gpu_open(&gpu, a->context.common.device, &none);
	struct table *record = r->simulate || here ? NULL : find_record(a, &fault);

	if (r->plan)
		take_given_plan(r, a);
	else if (record && !anything_fixed(&r->fixed))
		take_recorded_plan(record, a);
	else if (!plan_choose(a->context.profile, &a->asked, &r->fixed, a->plan))
		refuse(r, &a->plan->fault);
	simulate(r, a, !r->simulate);
	if (r->simulate)
		return;
	if (record ? !take_record(record, a, &fault) : !measure(a, &none)) {
		simulate(r, a, false);
		msg_warn(
		        "simulated only: %s%s%s", none.text, fault.text[0] ? "; " : "", fault.text);
	}
	if (!a->recorded)
		table_free(record);
	const char *stale = here ? machine_stale(a->context.profile->source, &gpu) : NULL;
	if (stale)
		msg_warn("simulated from a profile of another machine or time: %s", stale);
}

static void answer(const struct request *r, struct trace_result *a)
{
	find_answer(r, a);
	const struct timeline *const both[] = {a->simulated, a->measured};
	const size_t count = a->measured ? 2 : 1;

	trace_check_window(&r->to, both, count);
	struct table *table = a->context.common.json || r->to.tsv ? trace_result_table(a) : NULL;

	if (a->context.common.json) {
		profile_context_stamp(table, &a->context);
		cli_write_json(table, "timeline");
	} else {
		FILE *out = wrap_open();
		trace_result_print(a, r->to.lines, out);
		wrap_close(out, stdout);
	}
	if (r->to.tsv)
		table_save(table, "%s", r->to.tsv);
	trace_draw(&r->to, both, count);
	table_free(table);
}

int main(int argc, char **argv)
{
	struct request r = {.fixed = plan_free,
	        .ahead = -1,
	        .gpus = 1,
	        .lines = 40,
	        .precision = "s",
	        .math = "fp32",
	        .uplo = "lower"};
	const char *preset = machine_data_folder();
	struct trace_result a = {.context = {.common = {.output = preset},
	                                 .preset = preset,
	                                 .argc = argc,
	                                 .argv = argv},
	        .plan = xcalloc(1, sizeof *a.plan)};
	const struct cli_option options[] = {
	        {"m", 'm', CLI_INT, &a.asked.m, "N", "rows (as many as columns)", 1, 1e9},
	        {"n", 'n', CLI_INT, &a.asked.n, "N", "columns (needed)", 1, 1e9},
	        {"precision", 0, CLI_TEXT, &r.precision, "s|d", "single or double", 0, 0},
	        {"math", 0, CLI_TEXT, &r.math, "fp32|3xtf32|3xfp16",
	                "of updates in single precision", 0, 0},
	        {"uplo", 0, CLI_TEXT, &r.uplo, "lower|upper", "triangle, for potrf", 0, 0},
	        {"nb", 0, CLI_INT, &r.fixed.nb, "N",
	                "block size (0: the model's sequence; several GPUs: 256)", 0, 1e6},
	        {"panels", 0, CLI_TEXT, &r.panels, "device|host",
	                "where panels are factorized (the model's choice)", 0, 0},
	        {"panel", 0, CLI_TEXT, &r.fixed.panel, "VARIANT",
	                "of LU's panels on the device (the model's choice)", 0, 0},
	        {"lookahead", 0, CLI_INT, &r.ahead, "0|1|2", "-1: the model's choice", -1,
	                PLAN_LOOKAHEAD_MAX},
	        {"leaf", 0, CLI_INT, &r.fixed.leaf, "N",
	                "widest panel factorized in one call (0: the model's choice)", 0, 1e6},
	        {"inverse", 0, CLI_INT, &r.fixed.inverse, "N",
	                "triangles inverted (0: none, -1: the model's choice)", -1, 1e6},
	        {"plan", 0, CLI_TEXT, &r.plan, "TEXT",
	                "the whole plan, as in the column plan of bench.tsv", 0, 0},
	        {"machine", 0, CLI_TEXT, &a.context.machine, "NAME", "a recorded machine in data/",
	                0, 0},
	        PROFILE_WHAT_IFS(a.context),
	        {"gpus", 0, CLI_INT, &r.gpus, "N", "simulated, over so many GPUs of a host", 1,
	                4096},
	        {"simulate", 0, CLI_FLAG, &r.simulate, NULL, "run nothing, even with a GPU", 0, 0},
	        {"lines", 0, CLI_INT, &r.lines, "N", "lines of the table", 0, 1e9},
	        {"svg", 0, CLI_TEXT, &r.to.svg, "FILE", "draw it into this file", 0, 0},
	        {"tsv", 0, CLI_TEXT, &r.to.tsv, "FILE",
	                "keep both; a data folder's trace_sgetrf_8192.tsv stands for a run", 0, 0},
	        {"from", 0, CLI_REAL, &r.to.from, "US", "first microsecond drawn", 0, 1e12},
	        {"to", 0, CLI_REAL, &r.to.to, "US", "last microsecond drawn (0: all)", 0, 1e12}};
	const struct cli_program program = {.name = "fathom-trace",
	        .summary = "Shows the timeline of an LU, QR or Cholesky, simulated and measured.",
	        .operands = "getrf|geqrf|potrf",
	        .examples = "fathom trace getrf --n 8192 --svg lu.svg\n"
	                    "fathom trace potrf --n 16384 --gpus 2 --machine nvidia-h200-x2\n",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	char **operands;

	cli_parse(argc, argv, &program, &a.context.common, &operands);
	read_request(&r, &a.asked, operands);
	r.to.lines = (size_t)r.lines;
	struct several_question several = {.gpus = 1};
	if (r.gpus > 1) {
		several = several_of(&r, &a.asked);
		a.context.assume = model_several_assume;
	}
	a.whole = (struct whole){.uplo = a.asked.uplo, .math = a.asked.math};
	operation_find(a.asked.operation, &a.whole.operation);
	profile_context_open(&a.context, true);
	if (several.gpus > 1)
		trace_several(&several, &r.to, &a.context);
	else
		answer(&r, &a);
	trace_result_free(&a);
	return EXIT_DONE;
}
