/* SPDX-License-Identifier: MIT */
/* Question: how long do kernels take that are not this project's, and what does the hardware law
 * say from their descriptions?
 *
 * Method: the law's answers come first, from NAME.work by hand, and with --ncu from NAME.csv as the
 * profiler wrote it, at the default efficiencies of their classes. Then each kernel runs once on
 * fresh random data, its result is checked on the host, and its time is taken from start to start,
 * warm.
 *
 * What can fool it: descriptions that know the time (they are never changed after the first one).
 */
#include "foreign_time.h"

#include "factor/model/efficiency/efficiency_class.h"
#include "factor/programs/kernel_counters.h"
#include "factor/programs/kernel_input.h"
#include "factor/programs/profile_context.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct foreign_kernel *const lists[] = {
        foreign_cub, foreign_moves, foreign_stencils, foreign_blocks};

enum { MOST = 32 };

/* With the default efficiencies of the kernels' classes. */
struct answer {
	struct law_answer law;
	double hardware; /* seconds at efficiency 1 */
	enum efficiency_class class;
};

struct result {
	const struct foreign_kernel *kernel;
	struct answer by_hand, by_ncu;
	struct estimate measured;
	char sha256[65]; /* of the description by hand */
	bool fits, correct;
};

struct request {
	struct profile_context context;
	struct efficiency_classes classes;
	const char *folder, *ncu, *profile;
	char **wanted;
	FILE *out; /* the table for readers */
};

/* ---- the law ---- */

static struct answer answer(const struct request *r, struct kernel_work *work, size_t count)
{
	struct cost_reader *reader = xmalloc(sizeof *reader);
	const enum law_form form = law_own_form(&work[0]);
	struct answer a;
	struct fault fault;

	for (size_t i = 0; i < count; i++)
		if (!kernel_complete(&work[i], &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	cost_reader_start(reader, r->context.profile);
	a.hardware = law_answer_in_form(reader, work, count, form).seconds;
	a.class = efficiency_class_set(reader, &r->classes, work, count, form);
	a.law = law_answer_in_form(reader, work, count, form);
	free(reader);
	if (isnan(a.law.seconds))
		msg_die(EXIT_MEASURE_FAILED, "%s", a.law.fault.text);
	return a;
}

static struct answer described(const struct request *r, const char *name, char sha256[65])
{
	struct kernel_work work[KERNELS_OF_A_FILE];
	struct fault fault;
	char *path = xasprintf("%s/%s.work", r->folder, name);
	const size_t count = kernel_read_file(work, path, &fault);

	if (count == 0 || !table_sha256(path, sha256, &fault))
		msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	free(path);
	return answer(r, work, count);
}

/* NaN without a file of that kernel. */
static struct answer counted(const struct request *r, const char *name)
{
	struct answer a = {.law = {.seconds = NAN}, .hardware = NAN};
	struct kernel_counters counters;
	struct fault fault;

	if (!r->ncu)
		return a;
	char *path = xasprintf("%s/%s.csv", r->ncu, name);
	if (access(path, R_OK) == 0) {
		if (!kernel_counters_read(path, true, &counters, &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
		a = answer(r, counters.work, counters.count);
		free(counters.work);
	}
	free(path);
	return a;
}

/* ---- output ---- */

static double error(const struct result *r, const struct answer *a)
{
	return a->law.seconds / r->measured.value - 1;
}

static void print_summary(const struct result *result, size_t count, bool by_ncu, FILE *out)
{
	double errors[MOST];
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		const struct answer *a = by_ncu ? &result[i].by_ncu : &result[i].by_hand;
		if (!isnan(error(&result[i], a)))
			errors[known++] = fabs(error(&result[i], a));
	}
	if (known > 0)
		fprintf(out, "%s: %zu kernels, median |error| %.1f %%, worst %.1f %%\n",
		        by_ncu ? "by ncu" : "by hand", known, 100 * stats_median(errors, known),
		        100 * stats_quantile(errors, known, 1));
}

static struct table *table_of(const struct result *result, size_t count)
{
	static const char *const columns[] = {"kernel", "seconds", "low", "high", "samples",
	        "by_hand", "by_hand_error", "by_hand_hardware", "by_hand_class", "by_ncu",
	        "by_ncu_error", "by_ncu_hardware", "by_ncu_class", "sha256"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++) {
		const struct result *r = &result[i];
		const size_t row = table_add_row(table);
		table_set_text(table, row, "kernel", r->kernel->name);
		table_set_real(table, row, "seconds", r->measured.value);
		table_set_real(table, row, "low", r->measured.low);
		table_set_real(table, row, "high", r->measured.high);
		table_set_int(table, row, "samples", (int64_t)r->measured.samples);
		table_set_real(table, row, "by_hand", r->by_hand.law.seconds);
		table_set_real(table, row, "by_hand_error", error(r, &r->by_hand));
		table_set_real(table, row, "by_hand_hardware", r->by_hand.hardware);
		table_set_text(
		        table, row, "by_hand_class", efficiency_class_name[r->by_hand.class]);
		table_set_real(table, row, "by_ncu", r->by_ncu.law.seconds);
		table_set_real(table, row, "by_ncu_error", error(r, &r->by_ncu));
		table_set_real(table, row, "by_ncu_hardware", r->by_ncu.hardware);
		if (!isnan(r->by_ncu.hardware))
			table_set_text(
			        table, row, "by_ncu_class", efficiency_class_name[r->by_ncu.class]);
		table_set_text(table, row, "sha256", r->sha256);
	}
	return table;
}

static void save(const struct request *r, const struct gpu *gpu, const struct result *result,
        size_t count, bool json)
{
	struct table *table = table_of(result, count);

	profile_context_stamp(table, &r->context);
	table_meta_set(table, "device", "%s", gpu->name);
	table_meta_set(table, "seed", "%lld", (long long)r->context.common.seed);
	table_save(table, "%s/foreign_kernels.tsv", r->context.common.output);
	if (json)
		table_write_json(table, stdout);
	table_free(table);
}

static void print_row(const struct result *r, FILE *out)
{
	const struct answer *a = &r->by_hand, *n = &r->by_ncu;

	if (!r->fits || !r->correct) {
		fprintf(out, "%-17s %s: no time\n", r->kernel->name,
		        r->fits ? "the result differs from the host's"
		                : "its blocks do not fit on this GPU at once");
		return;
	}
	fprintf(out, "%-17s %10.2f %10.2f %10.2f %+7.1f %%  %-15s", r->kernel->name,
	        r->measured.value * 1e6, a->hardware * 1e6, a->law.seconds * 1e6, 100 * error(r, a),
	        efficiency_class_name[a->class]);
	if (!isnan(n->law.seconds))
		fprintf(out, " %10.2f %+7.1f %%", n->law.seconds * 1e6, 100 * error(r, n));
	fputc('\n', out);
}

/* ---- the run ---- */

static size_t find(const char *name, struct result *result, size_t count)
{
	const size_t before = count;

	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (const struct foreign_kernel *k = lists[l]; k->name; k++)
			if ((!name || strcmp(name, k->name) == 0) && count < MOST)
				result[count++].kernel = k;
	if (count == before)
		msg_die(EXIT_BAD_USAGE, "no kernel has the name %s: --list tells the names", name);
	return count;
}

/* The kernels named, or all. */
static size_t choose(char *const *names, struct result *result)
{
	size_t count = 0;

	for (char *const *name = names; *name; name++)
		count = find(*name, result, count);
	return *names ? count : find(NULL, result, 0);
}

static void list(void)
{
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (const struct foreign_kernel *k = lists[l]; k->name; k++)
			printf("%s\t%s\n", k->name, k->what);
}

static void measure(struct foreign_run *run, struct result *r, int64_t seed)
{
	foreign_load(run, r->kernel, (uint64_t)seed);
	r->fits = foreign_fits(run);
	r->correct = !r->fits || foreign_is_correct(run);
	r->measured =
	        r->fits && r->correct ? foreign_seconds(run) : (struct estimate){NAN, NAN, NAN, 0};
	foreign_unload(run);
}

/* The law's answers, before any run. */
static void describe_all(const struct request *r, struct result *result, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		result[i].by_hand = described(r, result[i].kernel->name, result[i].sha256);
		result[i].by_ncu = counted(r, result[i].kernel->name);
		result[i].measured = (struct estimate){NAN, NAN, NAN, 0};
	}
}

static bool measure_all(
        const struct request *r, const struct gpu *gpu, struct result *result, size_t count)
{
	struct foreign_run run;
	bool correct = true;

	fprintf(r->out, "%s\n%-17s %10s %10s %10s %9s  %-15s%s\n", r->context.choice, "kernel",
	        "us", "hardware", "by hand", "error", "class",
	        r->ncu ? "     by ncu     error" : "");
	foreign_open(&run, gpu);
	gpu_warm(gpu, 0.5);
	for (size_t i = 0; i < count; i++) {
		measure(&run, &result[i], r->context.common.seed);
		print_row(&result[i], r->out);
		fflush(r->out);
		correct &= result[i].correct;
	}
	foreign_close(&run);
	print_summary(result, count, false, r->out);
	print_summary(result, count, true, r->out);
	return correct;
}

static int profile_one(const struct request *r, const struct gpu *gpu)
{
	struct result result[MOST];
	struct foreign_run run;

	find(r->profile, result, 0);
	foreign_open(&run, gpu);
	foreign_load(&run, result[0].kernel, (uint64_t)r->context.common.seed);
	const bool correct = foreign_is_correct(&run);
	foreign_profile(&run);
	foreign_unload(&run);
	foreign_close(&run);
	if (!correct)
		msg_die(EXIT_MEASURE_FAILED, "the result of %s differs from the host's",
		        r->profile);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	const char *preset = machine_data_folder();
	bool only_list = false;
	struct request r = {.folder = "tests/foreign",
	        .context = {.common = {.output = preset, .seed = (int64_t)time(NULL)},
	                .preset = preset}};
	const struct cli_option options[] = {
	        {"machine", 0, CLI_TEXT, &r.context.machine, "NAME",
	                "the profile of a recorded machine in data/", 0, 0},
	        PROFILE_WHAT_IFS(r.context),
	        {"descriptions", 0, CLI_TEXT, &r.folder, "FOLDER", "of NAME.work", 0, 0},
	        {"ncu", 0, CLI_TEXT, &r.ncu, "FOLDER", "of NAME.csv, as ncu wrote them", 0, 0},
	        {"profile", 0, CLI_TEXT, &r.profile, "NAME",
	                "one run of that kernel between a profiler's start and stop, and no time",
	                0, 0},
	        {"list", 0, CLI_FLAG, &only_list, NULL, "the kernels' names", 0, 0}};
	const struct cli_program program = {.name = "foreign-kernels",
	        .summary = "Times kernels that are not this project's, and compares with the "
	                   "hardware law's answers from their descriptions.",
	        .operands = "[KERNEL ...]",
	        .details = "Writes foreign_kernels.tsv into the folder that --output names.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	struct result result[MOST] = {{0}};
	struct fault fault;
	struct gpu gpu;

	cli_parse(argc, argv, &program, &r.context.common, &r.wanted);
	if (only_list) {
		list();
		return EXIT_DONE;
	}
	const size_t count = choose(r.wanted, result);
	if (!gpu_open(&gpu, r.context.common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	if (r.profile)
		return profile_one(&r, &gpu);
	profile_context_open(&r.context, true);
	r.out = r.context.common.json ? stderr : stdout;
	r.classes = efficiency_classes_of(r.context.measured);
	describe_all(&r, result, count);
	save(&r, &gpu, result, count, false);
	const bool correct = measure_all(&r, &gpu, result, count);
	save(&r, &gpu, result, count, r.context.common.json);
	profile_context_close(&r.context);
	return correct ? EXIT_DONE : EXIT_MEASURE_FAILED;
}
