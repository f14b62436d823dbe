/* SPDX-License-Identifier: MIT */
/* Question: what runs when in this factorization, and which phase is each moment owed to?
 * Method: the algorithm on the model executor, priced from the machine's profile, with the plan
 * given or the one that the model finds fastest; the timeline as a table and, with --svg, as a
 * drawing. Nothing is run. Unit: microseconds. */
#include "../lib/cli.h"
#include "../lib/machine.h"
#include "../lib/msg.h"
#include "../lib/profile.h"
#include "model/plan_choice.h"
#include "model/timeline.h"
#include "runs/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4096 };

struct request {
	struct factor_question asked;
	struct plan_fixed fixed;
	int64_t nb, leaf, inverse, ahead; /* as given */
	const char *precision, *panels, *uplo, *svg, *machine;
	int64_t lines;
	double from, to; /* microseconds */
	struct cli_list set;
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

/* ---- the answer ---- */

static void print_plan(const struct plan_choice *choice, FILE *out)
{
	const struct plan *plan = &choice->plan;
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

static void print_steps(const struct timeline *timeline, FILE *out)
{
	struct step *step = xmalloc(STEPS * sizeof *step);
	size_t count = timeline_steps(timeline, step, STEPS), limited[PHASE_COUNT] = {0};

	for (size_t i = 0; i < count; i++)
		limited[step[i].limiter]++;
	fprintf(out, "\n%zu steps, limited by", count);
	for (int p = 0; p < PHASE_COUNT; p++)
		if (limited[p])
			fprintf(out, " %s %zu", phase_name[p], limited[p]);
	fputc('\n', out);
	free(step);
}

static void draw(const struct timeline *timeline, const struct request *r)
{
	const struct timeline *const all[] = {timeline};
	FILE *out = fopen(r->svg, "w");

	if (!out)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", r->svg);
	timeline_draw(all, ARRAY_LEN(all), r->from * 1e-6, r->to * 1e-6, out);
	if (fclose(out) != 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot write %s", r->svg);
}

static struct table *entry_table(const struct timeline *timeline)
{
	static const char *const columns[] = {
	        "lane", "engine", "phase", "operation", "m", "n", "k", "begin_s", "end_s"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_entry *e = &timeline->entry[i];
		size_t row = table_add_row(table);
		table_set_text(table, row, "lane", lane_name[e->lane]);
		table_set_text(table, row, "engine", lane_name[e->engine]);
		table_set_text(table, row, "phase", phase_name[e->phase]);
		table_set_text(table, row, "operation", e->operation);
		table_set_int(table, row, "m", e->m);
		table_set_int(table, row, "n", e->n);
		table_set_int(table, row, "k", e->k);
		table_set_real(table, row, "begin_s", e->begin);
		table_set_real(table, row, "end_s", e->end);
	}
	return table;
}

static void answer(struct profile *profile, struct request *r, const char *choice, bool json)
{
	struct plan_choice *plan = xmalloc(sizeof *plan);

	if (!plan_choose(profile, &r->asked, &r->fixed, plan))
		msg_die(EXIT_MEASURE_FAILED, "%s", plan->fault.text);
	r->asked.plan = &plan->plan;
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &r->asked, 2);
	model_factor_run(e, &r->asked);
	double seconds = executor_model_result(e).seconds;
	double flops =
	        model_factor_flops(r->asked.operation, (double)r->asked.m, (double)r->asked.n);
	char *title = xasprintf("simulated %s%s %" PRId64 " x %" PRId64, r->precision,
	        r->asked.operation, r->asked.m, r->asked.n);
	struct timeline *timeline = executor_model_timeline(e, title);

	if (json) {
		struct table *table = entry_table(timeline);
		table_meta_set(table, "profile", "%s", choice);
		table_meta_set(table, "title", "%s", title);
		table_meta_set(table, "seconds", "%.9g", seconds);
		table_write_json(table, stdout);
		table_free(table);
	} else {
		printf("%s\n", choice);
		print_plan(plan, stdout);
		timeline_print(timeline, (size_t)r->lines, stdout);
		print_steps(timeline, stdout);
		printf("%.1f us to the host's knowledge of the end, %.2f Tflop/s\n", seconds * 1e6,
		        flops / seconds / 1e12);
	}
	if (r->svg)
		draw(timeline, r);
	timeline_free(timeline);
	executor_free(e);
	free(title);
	free(plan);
}

int main(int argc, char **argv)
{
	struct request r = {.fixed = plan_free,
	        .inverse = -1,
	        .ahead = -1,
	        .lines = 40,
	        .precision = "s",
	        .uplo = "lower"};
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
	        {"lines", 0, CLI_INT, &r.lines, "N", "lines of the table", 0, 1e9},
	        {"svg", 0, CLI_TEXT, &r.svg, "FILE", "draw it into this file", 0, 0},
	        {"from", 0, CLI_REAL, &r.from, "US", "first microsecond drawn", 0, 1e12},
	        {"to", 0, CLI_REAL, &r.to, "US", "last microsecond drawn (0: all)", 0, 1e12}};
	const struct cli_program program = {.name = "fathom-trace",
	        .summary = "Shows what runs when in a factorization, as the model simulates it.",
	        .operands = "getrf|geqrf|potrf",
	        .details = "getrf: LU with partial pivoting; geqrf: QR; potrf: Cholesky.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	const char *preset = machine_data_folder();
	struct cli_common common = {.output = preset};
	char choice[MACHINE_CHOICE], **operands;

	cli_parse(argc, argv, &program, &common, &operands);
	read_request(&r, operands);
	struct profile *profile =
	        answers_profile(answers_folder(r.machine, common.output, preset, choice), &r.set);
	answer(profile, &r, choice, common.json);
	profile_free(profile);
	return EXIT_DONE;
}
