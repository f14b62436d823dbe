/* SPDX-License-Identifier: MIT */
/* Question: is one of several GPUs, links or hosts slower than the others? Method:
 * scripts/health.sh measures this machine, or under mpirun or srun each host, into folders; the
 * folders' rows of each GPU, pair and host stand in one table, and the odd ones are named. */
#include "lib/base/cli.h"
#include "lib/base/home.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_odd.h"

#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
        "host", "part", "parameter", "value", "unit", "low", "high", "others", "verdict"};

/* The rows of a folder that are compared, with the folder's number as their first argument. */
static void add_folder(struct profile *all, const char *folder, size_t number)
{
	struct profile *profile = profile_open(folder);

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
static bool add_line(struct table *table, const struct profile *all, const struct parameter *row,
        char *const *folder)
{
	const char *host = name_of(folder[(size_t)row->arg[0]]);
	const double others = profile_others(all, row);
	const bool odd = profile_is_odd(row, others);
	const size_t r = table_add_row(table);
	char part[64];

	table_set_text(table, r, "host", host);
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
	printf("%-16s %-16s %-22s %14s %14s  %s\n", "host", "part", "parameter", "value", "others",
	        "verdict");
	for (size_t r = 0; r < table->row_count; r++) {
		const char *unit = table_text(table, r, "unit");
		const double others = table_real(table, r, "others");
		char value[40], median[40] = "-";
		cli_format_quantity(value, sizeof value, table_real(table, r, "value"), unit);
		if (others > 0)
			cli_format_quantity(median, sizeof median, others, unit);
		printf("%-16.16s %-16s %-22s %14s %14s  %s\n", table_text(table, r, "host"),
		        table_text(table, r, "part"), table_text(table, r, "parameter"), value,
		        median, table_text(table, r, "verdict"));
	}
}

static int judge(const struct cli_common *common, char *const *folder)
{
	struct profile *all = profile_new();
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	size_t odd = 0, folders = 0;

	for (; folder[folders]; folders++)
		add_folder(all, folder[folders], folders);
	for (size_t i = 0; i < all->count; i++)
		odd += add_line(table, all, &all->row[i], folder);
	if (all->count == 0)
		msg_die(EXIT_MEASURE_FAILED, "no folder has measurements of a GPU");
	if (common->json) {
		cli_write_json(table, "health");
	} else {
		print(table);
		printf("%zu of %zu values are odd, on %zu host%s\n", odd, all->count, folders,
		        folders == 1 ? "" : "s");
	}
	table_free(table);
	profile_free(all);
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
	                "others, which its interval does not reach: a line names it, and the exit "
	                "code is 1.",
	};

	cli_parse(argc, argv, &program, &common, &folder);
	if (folder[0])
		return judge(&common, folder);
	char *bin = home_programs();
	const char *const words[] = {
	        bin, common.output, common.json ? "--json" : "", common.quick ? "--quick" : ""};
	home_run_script("scripts/health.sh", words, ARRAY_LEN(words));
}
