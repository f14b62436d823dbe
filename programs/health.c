/* SPDX-License-Identifier: MIT */
/* Question: is one of several GPUs, links or hosts slower than the others? Method:
 * scripts/health.sh measures this machine, or under mpirun or srun each host, into folders; the
 * folders' rows of each GPU, pair and host stand in one table, and the odd ones are named. */
#include "lib/base/cli.h"
#include "lib/base/home.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/profile/profile_odd.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KINDS = 16 };

/* The rows of folders whose GPU is of one kind, which alone are compared. */
struct kind {
	char *gpu; /* its name */
	struct profile *rows;
};

static const char *const columns[] = {
        "host", "gpu", "part", "parameter", "value", "unit", "low", "high", "others", "verdict"};

static struct kind *kind_of(struct kind *kind, const struct profile *profile)
{
	const char *name = profile->source ? table_meta(profile->source, "gpu") : NULL;
	const char *gpu = name ? name : "unknown";
	size_t k = 0;

	while (k < MOST_KINDS && kind[k].gpu && strcmp(kind[k].gpu, gpu) != 0)
		k++;
	if (k == MOST_KINDS)
		msg_die(EXIT_BAD_USAGE, "GPUs of more than %d kinds: give fewer folders",
		        MOST_KINDS);
	if (!kind[k].gpu)
		kind[k] = (struct kind){xstrdup(gpu), profile_new()};
	return &kind[k];
}

/* The rows of a folder that are compared, with the folder's number as their first argument. */
static void add_folder(struct kind *kind, const char *folder, size_t number)
{
	struct profile *profile = profile_open(folder);
	struct profile *all = kind_of(kind, profile)->rows;

	profile_warn_sms(profile);
	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		struct arg args[PROFILE_ARGS] = {{"host", (double)number}};
		const struct parameter_spec spec = {
		        row->name, row->unit, row->method, row->regime, 0, 0};
		if (!profile_is_compared(row) || row->arg_count + 1 > PROFILE_ARGS)
			continue;
		for (size_t a = 0; a < row->arg_count; a++)
			args[a + 1] = (struct arg){row->arg_name[a], row->arg[a]};
		profile_add(all, &spec, args, row->arg_count + 1, row->estimate,
		        strcmp(row->status, "noisy") == 0);
	}
	profile_free(profile);
}

static const char *name_of(const char *folder)
{
	const char *slash = strrchr(folder, '/');

	return slash && slash[1] ? slash + 1 : folder;
}

/* Adds a line; returns whether the row is odd. */
static bool add_line(struct table *table, const struct kind *kind, const struct parameter *row,
        char *const *folder)
{
	const char *host = name_of(folder[(size_t)row->arg[0]]);
	const double others = profile_others(kind->rows, row);
	const bool odd = profile_is_odd(row, others);
	const size_t r = table_add_row(table);
	char part[64];

	table_set_text(table, r, "host", host);
	table_set_text(table, r, "gpu", kind->gpu);
	table_set_text(table, r, "part", profile_odd_part(row, part, sizeof part));
	table_set_text(table, r, "parameter", row->name);
	table_set_real(table, r, "value", row->estimate.value);
	table_set_text(table, r, "unit", row->unit);
	table_set_real(table, r, "low", row->estimate.low);
	table_set_real(table, r, "high", row->estimate.high);
	table_set_real(table, r, "others", others);
	table_set_text(table, r, "verdict", odd ? "odd" : others > 0 ? "ok" : "alone");
	if (odd)
		profile_warn_odd(row, others, host);
	return odd;
}

static void print(const struct table *table)
{
	int width = (int)strlen("host");

	for (size_t r = 0; r < table->row_count; r++)
		width = (int)max_int64(width, (int64_t)strlen(table_text(table, r, "host")));
	printf("%-*s  %-16s %-22s %12s %12s  %s\n", width, "host", "part", "parameter", "value",
	        "others", "verdict");
	for (size_t r = 0; r < table->row_count; r++) {
		const char *unit = table_text(table, r, "unit");
		const double others = table_real(table, r, "others");
		char value[40], median[40] = "-";
		cli_format_quantity(value, sizeof value, table_real(table, r, "value"), unit);
		if (others > 0)
			cli_format_quantity(median, sizeof median, others, unit);
		printf("%-*s  %-16s %-22s %12s %12s  %s\n", width, table_text(table, r, "host"),
		        table_text(table, r, "part"), table_text(table, r, "parameter"), value,
		        median, table_text(table, r, "verdict"));
	}
}

/* A line where GPUs of several kinds were given. */
static void print_kinds(const struct kind *kind)
{
	char *line = xasprintf(
	        "The GPUs are of different kinds, each compared with its own: %s", kind[0].gpu);

	for (size_t k = 1; k < MOST_KINDS && kind[k].gpu; k++)
		xappend(&line, ", %s", kind[k].gpu);
	if (kind[1].gpu)
		wrap_print(stdout, "", "    ", line);
	free(line);
}

static int judge(const struct cli_common *common, char *const *folder)
{
	struct kind kind[MOST_KINDS] = {{NULL, NULL}};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	size_t odd = 0, folders = 0;

	for (; folder[folders]; folders++)
		add_folder(kind, folder[folders], folders);
	for (size_t k = 0; k < MOST_KINDS && kind[k].gpu; k++)
		for (size_t i = 0; i < kind[k].rows->count; i++)
			odd += add_line(table, &kind[k], &kind[k].rows->row[i], folder);
	if (table->row_count == 0)
		msg_die(EXIT_MEASURE_FAILED, "no folder has measurements of a GPU");
	if (common->json) {
		cli_write_json(table, "health");
	} else {
		print(table);
		print_kinds(kind);
		printf("%zu of %zu values are odd, on %zu host%s\n", odd, table->row_count, folders,
		        folders == 1 ? "" : "s");
	}
	table_free(table);
	for (size_t k = 0; k < MOST_KINDS && kind[k].gpu; k++) {
		profile_free(kind[k].rows);
		free(kind[k].gpu);
	}
	return odd ? EXIT_MEASURE_FAILED : EXIT_DONE;
}

int main(int argc, char **argv)
{
	struct cli_common common = {0};
	char **folder;
	const struct cli_program program = {
	        .name = "fathom-health",
	        .summary = "Tells whether one of several GPUs, links or hosts is slower.",
	        .operands = "[FOLDER]...",
	        .examples = "fathom health --quick\n"
	                    "fathom health data/nvidia-h200-x2\n",
	        .details =
	                "Without a folder it measures the GPUs and links of this host; under "
	                "mpirun "
	                "or srun those of all hosts, with one process a host (mpirun --map-by "
	                "ppr:1:node) and an OUTPUT that all hosts share. With folders it compares "
	                "what they hold. Odd is what is over 5 % slower than the median of the "
	                "others of the same kind of GPU, which its interval does not reach: a line "
	                "names "
	                "it, and the exit "
	                "code is 1.",
	};

	cli_parse(argc, argv, &program, &common, &folder);
	if (folder[0]) {
		cli_refuse_sms(false);
		return judge(&common, folder);
	}
	char *bin = home_programs();
	const char *const words[] = {
	        bin, common.output, common.json ? "--json" : "", common.quick ? "--quick" : ""};
	home_run_script("scripts/health.sh", words, ARRAY_LEN(words));
}
