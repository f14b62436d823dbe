/* SPDX-License-Identifier: MIT */
/* Question: do two runs of the probes say the same of one machine?
 *
 * Method: both profiles, parameter by parameter: a latency, a size or a count should come out again
 * within 2 %, a rate within 3 %. What is noisy in either is counted apart. A change that both
 * intervals explain is still beyond the bar; one that they do not is named real.
 *
 * What can fool it: profiles of two machines, or of two versions of the probes (said, not refused).
 *
 * Unit: fractions of the other run's value. */
#include "../lib/base.h"
#include "../lib/cli.h"
#include "../lib/machine.h"
#include "../lib/msg.h"
#include "../lib/profile_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct profile *read_profile(const char *folder)
{
	struct fault fault;
	char *path = xasprintf("%s/profile.tsv", folder);
	struct profile *profile = profile_read(path, &fault);

	if (!profile)
		msg_die(EXIT_MEASURE_FAILED, "%s: `make probe` writes it", fault.text);
	free(path);
	return profile;
}

/* What makes two runs differ for other reasons than chance. */
static void warn_of_differences(const struct profile *before, const struct profile *now)
{
	static const char *const key[] = {"machine", "driver", "cuda", "fathom", "quick"};

	for (size_t i = 0; i < ARRAY_LEN(key); i++) {
		const char *a = table_meta(before->source, key[i]);
		const char *b = table_meta(now->source, key[i]);
		if (a && b && strcmp(a, b) != 0)
			msg_warn("the runs differ in %s: %s and %s", key[i], a, b);
	}
}

static void set_percent(struct table *table, size_t row, const char *column, double fraction)
{
	char text[32] = "nan";

	if (!isnan(fraction))
		snprintf(text, sizeof text, "%.2f", 100 * fraction);
	table_set_text(table, row, column, text);
}

static struct table *list_families(const struct profile_changes *changes, bool all)
{
	static const char *const columns[] = {"family", "compared", "beyond", "real", "noisy",
	        "median_percent", "worst_percent", "worst"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < changes->count; i++) {
		const struct family_change *family = &changes->family[i];
		if (!all && family->beyond == 0)
			continue;
		const size_t row = table_add_row(table);
		char *worst = family->worst ? profile_row_name(family->worst) : xstrdup("none");
		table_set_text(table, row, "family", family->name);
		table_set_int(table, row, "compared", (int64_t)family->compared);
		table_set_int(table, row, "beyond", (int64_t)family->beyond);
		table_set_int(table, row, "real", (int64_t)family->real);
		table_set_int(table, row, "noisy", (int64_t)family->noisy);
		set_percent(table, row, "median_percent", family->median);
		set_percent(
		        table, row, "worst_percent", family->worst ? family->worst_change : NAN);
		table_set_text(table, row, "worst", worst);
		free(worst);
	}
	return table;
}

int main(int argc, char **argv)
{
	const struct cli_program program = {
	        .name = "fathom-compare",
	        .summary = "Do two runs of the probes say the same of one machine?",
	        .operands = "FOLDER",
	        .details =
	                "Compares OUTPUT/profile.tsv with FOLDER/profile.tsv: latencies, sizes\n"
	                "and counts within 2 %, rates within 3 %. Families with parameters beyond\n"
	                "are shown; all with --verbose. Exit code 1 when there are any.",
	};
	struct cli_common common = {.output = machine_data_folder()};
	char **operands;

	cli_parse(argc, argv, &program, &common, &operands);
	if (!operands[0] || operands[1])
		msg_die(EXIT_BAD_USAGE, "give one folder to compare %s with", common.output);
	struct profile *before = read_profile(operands[0]), *now = read_profile(common.output);
	warn_of_differences(before, now);
	struct profile_changes changes = profile_compare(before, now);
	struct table *table = list_families(&changes, common.verbose || common.json);
	if (common.json)
		table_write_json(table, stdout);
	else if (table->row_count > 0)
		table_print(table, NULL, 0, stdout);
	if (!common.json)
		printf("%zu parameters compared, %zu beyond the bar (%zu of them by more than both "
		       "intervals explain), %zu noisy, %zu in one run only\n",
		        changes.compared, changes.beyond, changes.real, changes.noisy,
		        changes.missing);
	const bool same = changes.beyond == 0;
	table_free(table);
	profile_changes_free(&changes);
	profile_free(before);
	profile_free(now);
	return same ? EXIT_DONE : EXIT_MEASURE_FAILED;
}
