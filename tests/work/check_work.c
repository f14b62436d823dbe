/* SPDX-License-Identifier: MIT */
/* Question: do our kernels do the work that they state?
 *
 * Method: the work behind a point of a surface (factor/model/efficiency/surface_work.h), summed
 * over its launches, against the counters of one call as ncu wrote them: launches, bytes, flops by
 * pipe, passes of shared memory. A launch is exact, the rest holds within 5 %.
 *
 * What can fool it: bytes of a set that L2 holds come from DRAM in the profiler's first pass, so
 * those count as L2's alone; differences too small to matter, which are shown as small: alone they
 * would take less than 5 % of the call's time by the hardware law; lines that were dirty before the
 * call, so DRAM counts as written what the call writes to L2, at most. */
#include "factor/model/cost/cost.h"
#include "factor/model/efficiency/surface_work.h"
#include "factor/model/law/law.h"
#include "factor/programs/kernel_counters.h"
#include "factor/programs/profile_context.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double tolerance = 0.05;

enum amount {
	LAUNCHES,
	DRAM_READ,
	DRAM_WRITTEN,
	L2_READ, /* with DRAM's, which pass L2 */
	L2_WRITTEN,
	SHARED,
	FIRST_PIPE,
	AMOUNTS = FIRST_PIPE + PIPE_COUNT
};

static const char *const amount_name[AMOUNTS] = {"launches", "dram_read", "dram_written", "l2_read",
        "l2_written", "shared_passes", [FIRST_PIPE + PIPE_FP32] = "fp32_flops",
        [FIRST_PIPE + PIPE_FP64] = "fp64_flops", [FIRST_PIPE + PIPE_FP16] = "fp16_flops",
        [FIRST_PIPE + PIPE_BF16] = "bf16_flops", [FIRST_PIPE + PIPE_TENSOR_FP64] = "mma_fp64",
        [FIRST_PIPE + PIPE_TENSOR_TF32] = "mma_tf32", [FIRST_PIPE + PIPE_TENSOR_FP16] = "mma_16",
        [FIRST_PIPE + PIPE_SPECIAL] = "special"};

/* As `lacking` names what counts it. */
static const char *const counter_name[AMOUNTS] = {"launches", "DRAM read", "DRAM written",
        "L2 read", "L2 written", "shared accesses", [FIRST_PIPE + PIPE_FP32] = "fp32",
        [FIRST_PIPE + PIPE_FP64] = "fp64", [FIRST_PIPE + PIPE_TENSOR_FP64] = "tensor fp64",
        [FIRST_PIPE + PIPE_TENSOR_TF32] = "tensor tf32",
        [FIRST_PIPE + PIPE_TENSOR_FP16] = "tensor fp16",
        [FIRST_PIPE + PIPE_SPECIAL] = "special functions"};

/* Pipes that ncu counts as one, or that the law has as one: both formats of 16 bits. */
static const enum work_pipe counted_as[PIPE_COUNT] = {[PIPE_FP32] = PIPE_FP32,
        [PIPE_FP64] = PIPE_FP64,
        [PIPE_FP16] = PIPE_FP16,
        [PIPE_BF16] = PIPE_BF16,
        [PIPE_TENSOR_FP64] = PIPE_TENSOR_FP64,
        [PIPE_TENSOR_FP64_LARGE] = PIPE_TENSOR_FP64,
        [PIPE_TENSOR_TF32] = PIPE_TENSOR_TF32,
        [PIPE_GROUP_TF32] = PIPE_TENSOR_TF32,
        [PIPE_TENSOR_BF16] = PIPE_TENSOR_FP16,
        [PIPE_GROUP_BF16] = PIPE_TENSOR_FP16,
        [PIPE_TENSOR_FP16] = PIPE_TENSOR_FP16,
        [PIPE_SPECIAL] = PIPE_SPECIAL,
        [PIPE_INTEGER] = PIPE_INTEGER};

enum verdict { HOLDS, SMALL, OFF, UNCOUNTED, VERDICTS };
static const char *const verdict_name[] = {"holds", "small", "off", "uncounted"};

struct checked {
	size_t amounts[VERDICTS], points;
	char *without; /* a line a point that was not profiled */
	size_t without_count;
};

struct works {
	struct kernel_work *work;
	size_t count;
	double listed[AMOUNTS]; /* the works' sum */
	double total[AMOUNTS];  /* the same, but for bytes that the counters tell better */
	double unlisted;        /* launches that may be a memset, which ncu does not list */
	char lacking[256];      /* counters */
	double seconds;         /* by the hardware law */
};

static void sum_up(struct works *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct kernel_work *k = &w->work[i];
		const double n = k->launches;
		double *const total = w->listed;
		/* a phase with other registers is another kernel, whose start the row states */
		total[LAUNCHES] += k->phase > 0 && k->registers == w->work[i - 1].registers ? 0 : n;
		w->unlisted += k->registers > 0 ? 0 : n;
		total[DRAM_READ] += n * k->dram.read;
		total[DRAM_WRITTEN] += n * k->dram.written;
		total[L2_READ] += n * (k->l2.read + k->dram.read);
		total[L2_WRITTEN] += n * (k->l2.written + k->dram.written);
		total[SHARED] += n * k->wavefronts * fmax(1, k->ways);
		for (int p = 0; p < PIPE_COUNT; p++)
			total[FIRST_PIPE + counted_as[p]] += n * k->operations[p];
	}
	memcpy(w->total, w->listed, sizeof w->total);
}

static struct law_answer ask_law(
        const struct profile *profile, const struct works *w, enum law_form form)
{
	struct cost_reader *reader = xmalloc(sizeof *reader);

	cost_reader_start(reader, profile);
	const struct law_answer answer = law_answer_in_form(reader, w->work, w->count, form);
	free(reader);
	if (isnan(answer.seconds))
		msg_die(EXIT_MEASURE_FAILED, "%s", answer.fault.text);
	return answer;
}

/* Seconds of that share of the works' amount, with nothing else to do. */
static double alone(const struct profile *profile, const struct works *w, int amount, double share)
{
	const enum law_term term = amount <= DRAM_WRITTEN ? LAW_DRAM
	                           : amount <= L2_WRITTEN ? LAW_L2
	                           : amount == SHARED     ? LAW_SHARED
	                                                  : LAW_ARITHMETIC;
	struct works only = {.work = xcalloc(w->count, sizeof *only.work), .count = w->count};

	for (size_t i = 0; i < w->count; i++) {
		const struct kernel_work *k = &w->work[i];
		struct kernel_work *o = &only.work[i];
		*o = (struct kernel_work){.launches = k->launches,
		        .phase = k->phase,
		        .blocks = k->blocks,
		        .threads = k->threads,
		        .registers = k->registers,
		        .shared = k->shared,
		        .chains = k->chains};
		o->dram.read = amount == DRAM_READ ? share * k->dram.read : 0;
		o->dram.written = amount == DRAM_WRITTEN ? share * k->dram.written : 0;
		o->l2.read = amount == L2_READ ? share * (k->l2.read + k->dram.read) : 0;
		o->l2.written =
		        amount == L2_WRITTEN ? share * (k->l2.written + k->dram.written) : 0;
		o->wavefronts = amount == SHARED ? share * k->wavefronts * fmax(1, k->ways) : 0;
		for (int p = 0; p < PIPE_COUNT; p++)
			if ((int)(FIRST_PIPE + counted_as[p]) == amount)
				o->operations[p] = share * k->operations[p];
	}
	const double seconds = ask_law(profile, &only, FORM_LAUNCHES).term[term];
	free(only.work);
	return seconds;
}

/* Whether what launches touch again is in L2, so that the profiler's passes see other bytes of
 * DRAM. */
static bool is_warm(const struct works *stated)
{
	for (size_t i = 0; i < stated->count; i++)
		if (stated->work[i].working_set > 0)
			return true;
	return stated->total[DRAM_READ] + stated->total[DRAM_WRITTEN] == 0;
}

static bool is_small(const struct profile *profile, const struct works *stated,
        const struct works *counted, int amount)
{
	const double s = stated->total[amount], c = counted->total[amount];
	const struct works *more = s > c ? stated : counted;

	return alone(profile, more, amount, fabs(s - c) / more->listed[amount]) <
	       tolerance * stated->seconds;
}

static enum verdict verdict(const struct profile *profile, const struct works *stated,
        const struct works *counted, int amount)
{
	const double s = stated->total[amount], c = counted->total[amount];

	if (counter_name[amount] && strstr(counted->lacking, counter_name[amount]))
		return UNCOUNTED;
	if (amount == LAUNCHES)
		return c <= s && c >= s - stated->unlisted ? HOLDS : OFF;
	return fabs(s - c) <= tolerance * c                 ? HOLDS
	       : is_small(profile, stated, counted, amount) ? SMALL
	                                                    : OFF;
}

/* ---- a point ---- */

static const char *const columns[] = {
        "surface", "point", "amount", "stated", "counted", "error", "verdict"};

/* Rows of amounts that either side has. */
static void compare(struct table *table, const struct profile *profile, const char *surface,
        const char *point, const struct works *stated, const struct works *counted,
        struct checked *checked)
{
	const bool warm = is_warm(stated);

	for (int a = 0; a < AMOUNTS; a++) {
		const double s = stated->total[a], c = counted->total[a];
		if (!amount_name[a] || (s == 0 && c == 0) ||
		        (warm && (a == DRAM_READ || a == DRAM_WRITTEN)))
			continue;
		const enum verdict v = verdict(profile, stated, counted, a);
		const size_t row = table_add_row(table);
		table_set_text(table, row, "surface", surface);
		table_set_text(table, row, "point", point);
		table_set_text(table, row, "amount", amount_name[a]);
		table_set_real(table, row, "stated", s);
		table_set_real(table, row, "counted", v == UNCOUNTED ? NAN : c);
		table_set_real(table, row, "error", v == UNCOUNTED ? NAN : s / c - 1);
		table_set_text(table, row, "verdict", verdict_name[v]);
		checked->amounts[v]++;
	}
}

static struct works stated_works(
        const struct profile *profile, const char *surface, const char *point)
{
	const struct tuning tuning = tuning_for(cost_device(profile));
	char *text = xasprintf("%s[%s]", surface, point);
	struct works w = {.work = xcalloc(SURFACE_WORKS, sizeof *w.work)};
	struct parameter row;
	const char *wrong = profile_parse_name(text, &row);

	if (!wrong)
		w.count = surface_works(&tuning, &row, w.work);
	if (wrong || w.count == 0)
		msg_die(EXIT_BAD_USAGE, "%s[%s]: %s", surface, point,
		        wrong ? wrong : "no work is stated for it");
	free(text);
	sum_up(&w);
	w.seconds = ask_law(profile, &w, law_own_form(&w.work[0])).seconds;
	return w;
}

/* False where the point has no counters. */
static bool counted_works(const struct profile *profile, const char *path, struct works *w)
{
	struct kernel_counters counters;
	struct fault fault;

	if (access(path, R_OK) != 0)
		return false;
	if (!kernel_counters_read(path, false, &counters, &fault)) {
		msg_warn("%s", fault.text);
		return false;
	}
	*w = (struct works){.work = counters.work, .count = counters.count};
	snprintf(w->lacking, sizeof w->lacking, "%s", counters.lacking);
	sum_up(w);
	w->total[L2_READ] = counters.asked.read;
	w->total[L2_WRITTEN] = counters.asked.written;
	w->total[DRAM_WRITTEN] = fmin(w->total[DRAM_WRITTEN], counters.asked.written);
	return true;
}

static void check_point(struct table *table, const struct profile *profile, const char *surface,
        const char *point, const char *path, struct checked *checked)
{
	struct works stated = stated_works(profile, surface, point), counted;

	checked->points++;
	if (counted_works(profile, path, &counted)) {
		compare(table, profile, surface, point, &stated, &counted, checked);
		free(counted.work);
	} else {
		char *more = xasprintf("%s%s[%s]\n", checked->without, surface, point);
		free(checked->without);
		checked->without = more;
		checked->without_count++;
	}
	free(stated.work);
}

/* ---- all points ---- */

/* Lines of tests/work/points.txt; the counters of a line are in FOLDER/SERIES,POINT.csv. */
static void check_all(struct table *table, const struct profile *profile, const char *list,
        const char *folder, struct checked *checked)
{
	FILE *file = fopen(list, "r");
	char line[512], surface[128], series[128], point[128];

	if (!file)
		msg_die(EXIT_BAD_USAGE, "%s cannot be read", list);
	for (int number = 1; fgets(line, sizeof line, file); number++) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%127s %*s %127s %127s", surface, series, point) != 3)
			msg_die(EXIT_BAD_USAGE, "%s:%d: a line is SURFACE PROGRAM SERIES POINT",
			        list, number);
		char *path = xasprintf("%s/%s,%s.csv", folder, series, point);
		check_point(table, profile, surface, point, path, checked);
		free(path);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	const char *preset = machine_data_folder();
	struct profile_context context = {.common = {.output = preset}, .preset = preset};
	const struct cli_option options[] = {{"machine", 0, CLI_TEXT, &context.machine, "NAME",
	        "the profile of a recorded machine in data/", 0, 0}};
	const struct cli_program program = {.name = "check-work",
	        .summary =
	                "Compares the work that our kernels state with counters of the hardware.",
	        .operands = "LIST FOLDER",
	        .details =
	                "LIST is tests/work/points.txt; FOLDER has ncu's counters of its points in "
	                "SERIES,POINT.csv. Writes work.tsv into the folder that --output names. "
	                "Exit status: 1 amounts are off, 77 none is, but points were not profiled.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	char **operands;

	cli_parse(argc, argv, &program, &context.common, &operands);
	if (!operands[0] || !operands[1] || operands[2])
		msg_die(EXIT_BAD_USAGE, "name the list of points and the folder of counters");
	profile_context_open(&context, true);
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	struct checked checked = {.without = xstrdup("")};
	check_all(table, context.profile, operands[0], operands[1], &checked);
	profile_context_stamp(table, &context);
	table_save(table, "%s/work.tsv", context.common.output);
	if (context.common.json)
		table_write_json(table, stdout);
	else
		table_print(table, NULL, 0, stdout);
	fprintf(stderr, "%zu of %zu amounts are off by more than 5 %%\n", checked.amounts[OFF],
	        table->row_count - checked.amounts[UNCOUNTED]);
	if (checked.without_count > 0)
		fprintf(stderr, "%zu of %zu points are not profiled:\n%s", checked.without_count,
		        checked.points, checked.without);
	table_free(table);
	profile_context_close(&context);
	free(checked.without);
	return checked.amounts[OFF] > 0    ? EXIT_MEASURE_FAILED
	       : checked.without_count > 0 ? EXIT_NOT_POSSIBLE
	                                   : EXIT_DONE;
}
