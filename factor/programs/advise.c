/* SPDX-License-Identifier: MIT */
/* Question: which variant of an operation is the fastest on this machine, and why?
 * Method: every variant on the model executor, with costs from the machine's profile; the
 * parameters behind the choice are scaled until it changes. Nothing is measured. */
#include "lib/base/cli.h"
#include "lib/device/gpu.h"
#include "lib/device/machine.h"
#include "lib/profile/model.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/profile/profile.h"
#include "factor/model/cost/cost.h"
#include "factor/model/predictions/advice.h"
#include "advise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
	struct question panel;
	struct update_question update;
	struct kernel_request kernel;
	struct way_question way;
	struct profile_context context;
	const char *precision, *from, *q, *change; /* as given */
	bool transposed;
};

/* ---- answering ---- */

static struct table *answer_table(
        const struct question *question, const struct answer *answer, size_t count)
{
	static const char *const first[] = {"variant", "executor", "seconds", "low", "high",
	        "gflops", "regime", "chosen", "limiter"};
	const char *columns[ARRAY_LEN(first) + TERM_COUNT + 1];
	size_t width = 0;

	for (size_t c = 0; c < ARRAY_LEN(first); c++)
		columns[width++] = first[c];
	for (int t = 0; t < TERM_COUNT; t++)
		columns[width++] = term_name[t];
	columns[width++] = "reason";
	struct table *table = table_new(columns, width);
	for (size_t i = 0; i < count; i++) {
		const struct prediction *p = &answer[i].prediction;
		double flops = model_flops_getrf((double)question->m, (double)question->n);
		size_t r = table_add_row(table);
		table_set_text(table, r, "variant", answer[i].variant);
		table_set_text(
		        table, r, "executor", answer[i].target == MODEL_CUDA ? "cuda" : "host");
		if (!answer[i].possible) {
			table_set_text(table, r, "reason", p->fault.text);
			continue;
		}
		table_set_real(table, r, "seconds", p->seconds);
		table_set_real(table, r, "low", p->low);
		table_set_real(table, r, "high", p->high);
		table_set_real(table, r, "gflops", flops / p->seconds / 1e9);
		table_set_text(table, r, "regime", regime_of_both(p->model.regime, NULL));
		char simpler[512];
		model_simpler_text(&p->model, simpler, sizeof simpler);
		table_set_text(table, r, "reason", simpler);
		table_set_int(table, r, "chosen", i == 0);
		table_set_text(table, r, "limiter", term_name[p->parts.limiter]);
		for (int t = 0; t < TERM_COUNT; t++)
			table_set_real(table, r, term_name[t], p->parts.term[t]);
	}
	return table;
}

/* The table in microseconds; refused variants come last, with their reasons. */
static void print_answers(
        const struct question *question, const struct answer *answer, size_t count, FILE *out)
{
	double flops = model_flops_getrf((double)question->m, (double)question->n);

	fprintf(out, "  %-12s %-4s %10s  %-21s %9s  %s\n", "variant", "on", "us", "95 % interval",
	        "Gflop/s", "regime");
	for (size_t i = 0; i < count; i++) {
		const struct prediction *p = &answer[i].prediction;
		const char *on = answer[i].target == MODEL_CUDA ? "cuda" : "host";
		if (!answer[i].possible) {
			fprintf(out, "  %-12s %-4s refused: %s\n", answer[i].variant, on,
			        p->fault.text);
			continue;
		}
		char interval[48], simpler[512];
		snprintf(interval, sizeof interval, "%.1f .. %.1f", p->low * 1e6, p->high * 1e6);
		fprintf(out, "%c %-12s %-4s %10.1f  %-21s %9.1f  %s\n", i ? ' ' : '*',
		        answer[i].variant, on, p->seconds * 1e6, interval, flops / p->seconds / 1e9,
		        regime_of_both(p->model.regime, NULL));
		model_simpler_text(&p->model, simpler, sizeof simpler);
		if (simpler[0])
			fprintf(out, "    %s\n", simpler);
	}
}

/* Which part of the time is spent on what. */
static void print_terms(const struct answer *answer, size_t count, FILE *out)
{
	fprintf(out, "\n  %-12s", "us");
	for (int t = 0; t < TERM_COUNT; t++)
		fprintf(out, " %10s", term_name[t]);
	fputc('\n', out);
	for (size_t i = 0; i < count && answer[i].possible; i++) {
		fprintf(out, "  %-12s", answer[i].variant);
		for (int t = 0; t < TERM_COUNT; t++)
			fprintf(out, " %10.1f", answer[i].prediction.parts.term[t] * 1e6);
		fputc('\n', out);
	}
}

/* No "-0.0". */
static double percent(double part)
{
	return fabs(part) < 0.0005 ? 0 : 100 * part;
}

static void print_choice(const struct profile *profile, const struct question *question,
        const struct answer *answer, size_t count, FILE *out)
{
	const struct prediction *p = &answer[0].prediction;
	double share = p->parts.term[p->parts.limiter] / p->seconds;

	fprintf(out, "\nChoice: %s on %s, limited by %s (%.0f %% of its time)%s.\n",
	        answer[0].variant, answer[0].target == MODEL_CUDA ? "cuda" : "host",
	        term_name[p->parts.limiter], 100 * share,
	        p->model.extrapolated ? "; some parameters are extrapolated" : "");
	if (count < 2 || !answer[1].possible)
		return;
	fprintf(out, "Next best: %s, %.2f times as long%s.\n", answer[1].variant,
	        answer[1].prediction.seconds / p->seconds,
	        answer[1].prediction.low <= p->high ? "; the intervals overlap" : "");
	struct sensitivity s = advice_sensitivity(profile, question, &answer[0], &answer[1]);
	if (s.name)
		fprintf(out,
		        "Most sensitive to: %s (%s10 %% more of it: %+.1f %% time, %+.1f %% lead "
		        "over %s).\n",
		        s.name, s.timing ? "a kernel's efficiency; " : "", percent(s.time),
		        percent(s.lead), answer[1].variant);
	if (s.tipping_name)
		fprintf(out, "The choice tips to %s when %s is %.2f times what was measured%s.\n",
		        answer[1].variant, s.tipping_name, s.tipping,
		        s.tipping_timing ? " (a kernel's efficiency)" : "");
	else
		fprintf(out, "No single parameter within a factor of 8 tips the choice.\n");
}

/* ---- the machine ---- */

void advise_describe(const struct profile_context *context, FILE *out)
{
	struct gpu gpu;
	struct fault fault;
	const struct table *source = context->profile->source;
	const char *name = source ? table_meta(source, "gpu") : NULL;
	const char *cpu = source ? table_meta(source, "cpu") : NULL;
	const char *date = source ? table_meta(source, "date") : NULL;
	bool has_gpu = gpu_open(&gpu, context->common.device, &fault);
	const char *stale = source ? machine_stale(source, has_gpu ? &gpu : NULL) : NULL;

	fprintf(out, "%s: GPU %s, CPU %s, measured %s\n", context->choice, name ? name : "unknown",
	        cpu ? cpu : "unknown", date ? date : "at an unknown date");
	if (stale)
		fprintf(out, "Recorded, not measured on this machine as it is now: %s\n", stale);
}

/* ---- the command line ---- */

static bool is_about(char **operands, const char *what)
{
	return operands[0] && strcmp(operands[0], what) == 0 && !operands[1];
}

/* Columns of the widest panel that is predicted. */
enum { WIDEST = 512 };

static void check_panel(const struct question *question)
{
	if (question->m == 0 || question->n == 0)
		msg_die(EXIT_BAD_USAGE, "give the panel's size: --m ROWS --nb COLUMNS");
	if (question->m < question->n)
		msg_die(EXIT_BAD_USAGE,
		        "give at least as many rows as columns: m = %" PRId64 ", nb = %" PRId64,
		        question->m, question->n);
	if (question->n > WIDEST)
		msg_die(EXIT_BAD_USAGE,
		        "a panel of %" PRId64
		        " columns: panels have at most %d; wider ones are factorized in blocks, of "
		        "which trace getrf --m ROWS --n COLUMNS tells",
		        question->n, WIDEST);
}

static void check_words(struct request *r)
{
	static const char *const precisions[] = {"s", "d"}, *const places[] = {"host", "device"};
	const bool wide = profile_context_word(r->precision, precisions, 2, "precision");

	r->panel.precision = r->update.precision = wide ? DOUBLE : SINGLE;
	r->update.m = r->way.m = r->panel.m;
	r->way.n = r->update.n;
	r->way.k = r->update.k;
	r->way.precision = r->panel.precision;
	r->update.from_host = r->way.from_host = r->from && strcmp(r->from, "host") == 0;
	r->way.trans = r->transposed ? TRANSPOSED : PLAIN;
	r->update.kept = (enum q_kept)profile_context_word(r->q, q_kept_name, Q_FULL + 1, "--q");
	if (r->from)
		profile_context_word(r->from, places, 2, "--from");
	if (r->change)
		profile_context_word(r->change, qr_change_name, UPDATE_CHANGES, "--change");
}

/* A matrix on the device needs one. */
static void check_place(const struct request *r)
{
	if (r->from && strcmp(r->from, "device") == 0 &&
	        !profile_has(r->context.profile, "gpu.launch."))
		msg_die(EXIT_MEASURE_FAILED,
		        "%s: its profile has no GPU: ask --from host, or another "
		        "--machine",
		        r->context.choice);
}

static void advise_panel(const struct request *r)
{
	const struct profile *profile = r->context.profile;
	const bool has_gpu = profile_has(profile, "gpu.launch.");
	struct question question = r->panel;
	struct answer answer[ADVICE_ANSWERS];

	check_place(r);
	question.from_host = r->from ? strcmp(r->from, "host") == 0 : !has_gpu;
	size_t count = advice_ask(profile, &question, has_gpu, answer);
	if (r->context.common.json) {
		struct table *table = answer_table(&question, answer, count);
		profile_context_stamp(table, &r->context);
		table_meta_set(table, "question", "panel %c %" PRId64 " x %" PRId64 " from %s",
		        r->precision[0], question.m, question.n,
		        question.from_host ? "host" : "device");
		cli_write_json(table, "panel");
		table_free(table);
	} else {
		FILE *out = wrap_open();
		fprintf(out, "LU panel %" PRId64 " x %" PRId64 ", %s precision, in %s memory\n",
		        question.m, question.n, question.precision == SINGLE ? "single" : "double",
		        question.from_host ? "host" : "device");
		advise_describe(&r->context, out);
		fputc('\n', out);
		print_answers(&question, answer, count, out);
		print_terms(answer, count, out);
		if (count && answer[0].possible)
			print_choice(profile, &question, answer, count, out);
		wrap_close(out, stdout);
	}
	if (!count || !answer[0].possible)
		msg_die(EXIT_MEASURE_FAILED, "no variant can be predicted here: %s",
		        answer[0].prediction.fault.text);
}

/* The question, a bit; 0: none. */
static unsigned question_of(char **operands)
{
	const enum way_operation operation = operation_named(operands[0]);

	if (operands[0] && strcmp(operands[0], "efficiency") == 0 && !(operands[1] && operands[2]))
		return ASK_EFFICIENCY;
	if (is_about(operands, "machine"))
		return ASK_MACHINE;
	if (is_about(operands, "kernel"))
		return ASK_KERNEL;
	if (is_about(operands, "update"))
		return ASK_UPDATE;
	if (is_about(operands, "panel"))
		return ASK_PANEL;
	return operation < WAY_OPERATIONS && !operands[1] ? ASK_OPERATION(operation) : 0;
}

/* Checks the question as far as no profile is needed. */
static unsigned check_question(struct request *r, char **operands)
{
	const unsigned question = question_of(operands);

	if (!question)
		msg_die(EXIT_BAD_USAGE,
		        "say what advice is about: getrf, geqrf, potrf, gemm, gemv, gramschmidt, "
		        "panel, update, kernel, efficiency or machine, as in advise getrf --m "
		        "8192 --n 8192");
	advise_check_options(question, operands[0]);
	check_words(r);
	r->way.operation = operation_named(operands[0]);
	if (question == ASK_KERNEL)
		kernel_describe(&r->kernel);
	else if (question == ASK_UPDATE)
		update_question_check(&r->update);
	else if (question == ASK_PANEL)
		check_panel(&r->panel);
	else if (question & ASK_OPERATIONS)
		operation_check(&r->way);
	return question;
}

/* Where the machine's GPU cannot run the kernels. */
static void check_clusters(const struct request *r)
{
	const struct kernel_counters *d = &r->kernel.described;
	const int most = cost_device(r->context.profile).max_cluster;
	struct fault fault;

	for (size_t i = 0; i < d->count; i++)
		if (!kernel_fits(&d->work[i], most, &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
}

int main(int argc, char **argv)
{
	const char *preset = machine_data_folder();
	struct request r = {.update.sides = 1,
	        .q = "none",
	        .precision = "s",
	        .context = {.common = {.output = preset}, .preset = preset}};
	const struct cli_option own[] = {
	        {"m", 'm', CLI_INT, &r.panel.m, "N", "rows of a matrix or panel", 1, 1e9},
	        {"nb", 0, CLI_INT, &r.panel.n, "N", "panel: columns", 1, 1e6},
	        {"n", 'n', CLI_INT, &r.update.n, "N", "columns of a matrix", 1, 1e7},
	        {"p", 0, CLI_INT, &r.update.p, "N", "update: rows or columns that change", 1, 1e6},
	        {"k", 0, CLI_INT, &r.update.k, "N",
	                "gemm: inner dimension; update: position of the first, from 0 on", 0, 1e9},
	        {"transposed", 0, CLI_FLAG, &r.transposed, NULL, "gemv: y = A^T x", 0, 0},
	        {"q", 0, CLI_TEXT, &r.q, "full|thin|none", "update: the part of Q that is kept", 0,
	                0},
	        {"change", 0, CLI_TEXT, &r.change, "NAME",
	                "update: one of them, as add_rows; all when not given", 0, 0},
	        {"precision", 0, CLI_TEXT, &r.precision, "s|d", "single or double", 0, 0},
	        {"machine", 0, CLI_TEXT, &r.context.machine, "NAME", "a recorded machine in data/",
	                0, 0},
	        PROFILE_WHAT_IFS(r.context),
	        {"from", 0, CLI_TEXT, &r.from, "host|device",
	                "where the matrix is and goes back to (device when the machine has a GPU)",
	                0, 0},
	        {"file", 0, CLI_TEXT, &r.kernel.file, "FILE",
	                "lines `key value`, by the names of the options below; a line `kernel "
	                "NAME` "
	                "begins one that follows",
	                0, 0},
	        {"ncu", 0, CLI_TEXT, &r.kernel.ncu, "FILE",
	                "what ncu --csv --page raw wrote; options add to it", 0, 0}};
	struct cli_option options[ARRAY_LEN(own) + KERNEL_KEYS];
	const struct cli_program program = {.name = "fathom-advise",
	        .summary = "Tells which variant of an operation to use on a machine, and why.",
	        .operands = "OPERATION|panel|update|kernel|efficiency [PATTERN]|machine",
	        .examples =
	                "fathom advise getrf --m 8192 --n 8192\n"
	                "fathom advise panel --m 8192 --nb 64 --set gpu.launch.enqueue=1.0us\n"
	                "fathom advise kernel --blocks 132 --threads 256 --launches 100 --l2 1MB\n"
	                "fathom advise machine --scale 'gpu.dram.[rwc]*=2' --machine nvidia-h200\n",
	        .topic = "kernel",
	        .topic_first = ARRAY_LEN(own) - 2, /* --file */
	        .details = "OPERATION: getrf, geqrf, potrf, gemm, gemv or gramschmidt on the GPU: "
	                   "math, panels, kernel.\n"
	                   "panel: LU with partial pivoting of an m x nb panel.\n"
	                   "update: rows or columns of a matrix change: update its QR, or "
	                   "factorize again?\n"
	                   "kernel: any kernel, by grid, bytes, flops and waits: launches, graph, "
	                   "persistent?\n"
	                   "efficiency: what calibrated kernels take beyond the hardware law; -v: "
	                   "each row.\n"
	                   "machine: what a machine with other parts (--scale, --set) gains.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	char **operands;

	memcpy(options, own, sizeof own);
	kernel_options(options + ARRAY_LEN(own), &r.kernel.texts);
	cli_parse(argc, argv, &program, &r.context.common, &operands);
	const unsigned question = check_question(&r, operands);
	const bool about_host = question == ASK_PANEL || question == ASK_UPDATE;
	profile_context_open(&r.context, !about_host || (r.from && strcmp(r.from, "device") == 0));
	switch (question) {
	case ASK_PANEL:
		advise_panel(&r);
		break;
	case ASK_UPDATE:
		check_place(&r);
		advise_update(&r.update, r.change, &r.context);
		break;
	case ASK_KERNEL:
		check_clusters(&r);
		advise_kernel(&r.kernel, &r.context);
		break;
	case ASK_EFFICIENCY:
		advise_efficiency(operands[1], &r.context);
		break;
	case ASK_MACHINE:
		advise_machine(&r.context);
		break;
	default:
		advise_operation(&r.way, &r.context);
		break;
	}
	profile_context_close(&r.context);
	return EXIT_DONE;
}
