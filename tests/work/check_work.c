/* SPDX-License-Identifier: MIT */
/* Question: do our kernels do the work that they state?
 *
 * Method: the work behind a point of a surface (factor/model/efficiency/surface_work.h), summed
 * over its launches, against the counters of one call as ncu wrote them: launches, bytes, flops by
 * pipe, passes of shared memory. A launch is exact, the rest holds within 5 %.
 *
 * What can fool it: bytes of a set that L2 holds come from DRAM in the profiler's first pass, so
 * those count as L2's alone; amounts too small to matter (bytes below 5 % of the level's; others
 * below 5 % of the call's time by the hardware law), which are shown as small. */
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
        [FIRST_PIPE + PIPE_TENSOR_TF32] = "mma_tf32", [FIRST_PIPE + PIPE_TENSOR_BF16] = "mma_bf16",
        [FIRST_PIPE + PIPE_TENSOR_FP16] = "mma_fp16", [FIRST_PIPE + PIPE_SPECIAL] = "special"};

/* Pipes that ncu counts as one. */
static const enum work_pipe counted_as[PIPE_COUNT] = {[PIPE_FP32] = PIPE_FP32,
        [PIPE_FP64] = PIPE_FP64,
        [PIPE_FP16] = PIPE_FP16,
        [PIPE_BF16] = PIPE_BF16,
        [PIPE_TENSOR_FP64] = PIPE_TENSOR_FP64,
        [PIPE_TENSOR_FP64_LARGE] = PIPE_TENSOR_FP64,
        [PIPE_TENSOR_TF32] = PIPE_TENSOR_TF32,
        [PIPE_GROUP_TF32] = PIPE_TENSOR_TF32,
        [PIPE_TENSOR_BF16] = PIPE_TENSOR_BF16,
        [PIPE_GROUP_BF16] = PIPE_TENSOR_BF16,
        [PIPE_TENSOR_FP16] = PIPE_TENSOR_FP16,
        [PIPE_SPECIAL] = PIPE_SPECIAL,
        [PIPE_INTEGER] = PIPE_INTEGER};

enum verdict { HOLDS, SMALL, OFF };
static const char *const verdict_name[] = {"holds", "small", "off"};

struct works {
	struct kernel_work *work;
	size_t count;
	double total[AMOUNTS];
	struct law_answer law;
};

static void sum_up(struct works *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct kernel_work *k = &w->work[i];
		const double n = k->launches;
		double *const total = w->total;
		total[LAUNCHES] += n;
		total[DRAM_READ] += n * k->dram.read;
		total[DRAM_WRITTEN] += n * k->dram.written;
		total[L2_READ] += n * (k->l2.read + k->dram.read);
		total[L2_WRITTEN] += n * (k->l2.written + k->dram.written);
		total[SHARED] += n * k->wavefronts * fmax(1, k->ways);
		for (int p = 0; p < PIPE_COUNT; p++)
			total[FIRST_PIPE + counted_as[p]] += n * k->operations[p];
	}
}

static void ask_law(struct works *w, const struct profile *profile)
{
	struct cost_reader *reader = xmalloc(sizeof *reader);

	cost_reader_start(reader, profile);
	w->law = law_answer_in_form(reader, w->work, w->count, law_own_form(&w->work[0]));
	free(reader);
	if (isnan(w->law.seconds))
		msg_die(EXIT_MEASURE_FAILED, "%s", w->law.fault.text);
}

/* Whether what launches touch again is in L2, so that the profiler's passes see other bytes of
 * DRAM. */
static bool is_warm(const struct works *stated)
{
	for (size_t i = 0; i < stated->count; i++)
		if (stated->work[i].working_set > 0)
			return true;
	return false;
}

static bool is_small(const struct works *stated, const struct works *counted, int amount)
{
	const double *const s = stated->total, *const c = counted->total;
	const int level = amount <= DRAM_WRITTEN ? DRAM_READ : L2_READ;
	const enum law_term term = amount == SHARED ? LAW_SHARED : LAW_ARITHMETIC;

	if (amount == LAUNCHES)
		return false;
	if (amount <= L2_WRITTEN)
		return fabs(s[amount] - c[amount]) <= tolerance * (c[level] + c[level + 1]);
	return fmax(stated->law.term[term], counted->law.term[term]) <
	       tolerance * stated->law.seconds;
}

static enum verdict verdict(const struct works *stated, const struct works *counted, int amount)
{
	const double s = stated->total[amount], c = counted->total[amount];
	const double allowed = amount == LAUNCHES ? 0 : tolerance * c;

	return fabs(s - c) <= allowed ? HOLDS : is_small(stated, counted, amount) ? SMALL : OFF;
}

/* ---- a point ---- */

static const char *const columns[] = {
        "surface", "point", "amount", "stated", "counted", "error", "verdict"};

/* Rows of amounts that either side has. The number that is off. */
static size_t compare(struct table *table, const char *surface, const char *point,
        const struct works *stated, const struct works *counted)
{
	const bool warm = is_warm(stated);
	size_t off = 0;

	for (int a = 0; a < AMOUNTS; a++) {
		const double s = stated->total[a], c = counted->total[a];
		if (!amount_name[a] || (s == 0 && c == 0) ||
		        (warm && (a == DRAM_READ || a == DRAM_WRITTEN)))
			continue;
		const enum verdict v = verdict(stated, counted, a);
		const size_t row = table_add_row(table);
		table_set_text(table, row, "surface", surface);
		table_set_text(table, row, "point", point);
		table_set_text(table, row, "amount", amount_name[a]);
		table_set_real(table, row, "stated", s);
		table_set_real(table, row, "counted", c);
		table_set_real(table, row, "error", s / c - 1);
		table_set_text(table, row, "verdict", verdict_name[v]);
		off += v == OFF;
	}
	return off;
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
	ask_law(&w, profile);
	return w;
}

static struct works counted_works(const struct profile *profile, const char *path)
{
	struct kernel_counters counters;
	struct fault fault;

	if (!kernel_counters_read(path, false, &counters, &fault))
		msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	struct works w = {.work = counters.work, .count = counters.count};
	sum_up(&w);
	ask_law(&w, profile);
	return w;
}

static size_t check_point(struct table *table, const struct profile *profile, const char *surface,
        const char *point, const char *path)
{
	struct works stated = stated_works(profile, surface, point),
	             counted = counted_works(profile, path);
	const size_t off = compare(table, surface, point, &stated, &counted);

	free(stated.work);
	free(counted.work);
	return off;
}

/* ---- all points ---- */

/* Lines of tests/work/points.txt; the counters of line i, from 1, are in FOLDER/i.csv. */
static size_t check_all(
        struct table *table, const struct profile *profile, const char *list, const char *folder)
{
	FILE *file = fopen(list, "r");
	char line[512], surface[128], point[128];
	size_t off = 0;

	if (!file)
		msg_die(EXIT_BAD_USAGE, "%s cannot be read", list);
	for (int number = 1; fgets(line, sizeof line, file); number++) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%127s %*s %*s %127s", surface, point) != 2)
			msg_die(EXIT_BAD_USAGE, "%s:%d: a line is SURFACE PROGRAM SERIES POINT",
			        list, number);
		char *path = xasprintf("%s/%d.csv", folder, number);
		off += check_point(table, profile, surface, point, path);
		free(path);
	}
	fclose(file);
	return off;
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
	                "LIST is tests/work/points.txt; FOLDER has ncu's counters of its line N in "
	                "N.csv. Writes work.tsv into the folder that --output names.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	char **operands;

	cli_parse(argc, argv, &program, &context.common, &operands);
	if (!operands[0] || !operands[1] || operands[2])
		msg_die(EXIT_BAD_USAGE, "name the list of points and the folder of counters");
	profile_context_open(&context, true);
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	const size_t off = check_all(table, context.profile, operands[0], operands[1]);
	profile_context_stamp(table, &context);
	table_save(table, "%s/work.tsv", context.common.output);
	if (context.common.json)
		table_write_json(table, stdout);
	else
		table_print(table, NULL, 0, stdout);
	fprintf(stderr, "%zu of %zu amounts are off by more than 5 %%\n", off, table->row_count);
	table_free(table);
	profile_context_close(&context);
	return off > 0 ? EXIT_MEASURE_FAILED : EXIT_DONE;
}
