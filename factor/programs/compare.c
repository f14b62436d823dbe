/* SPDX-License-Identifier: MIT */
/* Question: do two runs of the probes give the same parameters of one machine? How do two machines
 * differ?
 *
 * Method: of one machine, both profiles, parameter by parameter. Latencies, sizes and counts should
 * repeat within 2 %, rates within 3 %. Parameters that are noisy in either run are counted
 * separately; at most five may be. Changes that both intervals explain still count; changes beyond
 * the intervals are named real. Surfaces (times of whole calls and kernels) are counted without a
 * limit. Two machines, or one before and after a change of its driver: compare_machines.h.
 *
 * What can fool it: profiles of two versions of the probes (warned, not refused).
 *
 * Unit: fractions of the other run's value. */
#include "compare_machines.h"
#include "lib/base/cli.h"
#include "lib/base/home.h"
#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/profile/profile_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Warns of differences between the runs' versions. */
static void warn_of_differences(const struct profile *before, const struct profile *now)
{
	static const char *const key[] = {"fathom", "quick"};

	for (size_t i = 0; i < ARRAY_LEN(key); i++) {
		const char *a = table_meta(before->source, key[i]);
		const char *b = table_meta(now->source, key[i]);
		if (a && b && strcmp(a, b) != 0)
			msg_warn("the runs differ in %s: %s and %s", key[i], a, b);
	}
}

/* Whether both are runs of one machine in one state. */
static bool is_repeat(const struct profile *before, const struct profile *now)
{
	static const char *const key[] = {"machine", "driver", "cuda"};

	for (size_t i = 0; i < ARRAY_LEN(key); i++) {
		const char *a = before->source ? table_meta(before->source, key[i]) : NULL;
		const char *b = now->source ? table_meta(now->source, key[i]) : NULL;
		if (a && b && !(i == 0 ? machine_same(a, b) : strcmp(a, b) == 0))
			return false;
	}
	return true;
}

static void set_percent(struct table *table, size_t row, const char *column, double fraction)
{
	char text[32] = "nan";

	if (!isnan(fraction))
		snprintf(text, sizeof text, "%.2f", 100 * fraction);
	table_set_text(table, row, column, text);
}

static const char *verdict_of(const struct family_change *change)
{
	if (change->kind == CHANGE_SURFACE)
		return "no bar";
	return change_repeats(change) ? "repeats" : "beyond";
}

static void list(struct table *table, const struct family_change *change, const char *family)
{
	const size_t row = table_add_row(table);
	const int part = (int)strcspn(change->name, ".");
	char *worst = change->worst ? profile_row_name(change->worst) : xstrdup("none");
	char *group = xasprintf("%.*s %s", part, change->name, change_kind_name[change->kind]);

	table_set_text(table, row, "group", group);
	table_set_text(table, row, "family", family);
	set_percent(table, row, "allowed_percent", change->allowed);
	table_set_int(table, row, "compared", (int64_t)change->compared);
	table_set_int(table, row, "beyond", (int64_t)change->beyond);
	table_set_int(table, row, "real", (int64_t)change->real);
	table_set_int(table, row, "noisy", (int64_t)change->noisy);
	set_percent(table, row, "median_percent", change->median);
	set_percent(table, row, "worst_percent", change->worst ? change->worst_change : NAN);
	table_set_text(table, row, "verdict", verdict_of(change));
	table_set_text(table, row, "worst", worst);
	free(worst);
	free(group);
}

/* As text: without the parameter that changed most, whose name is long. */
static const char *const shown_columns[] = {"group", "family", "allowed_percent", "compared",
        "beyond", "median_percent", "worst_percent", "verdict"};

/* Families, then their groups. */
static struct table *list_changes(const struct profile_changes *changes, bool all)
{
	static const char *const columns[] = {"group", "family", "allowed_percent", "compared",
	        "beyond", "real", "noisy", "median_percent", "worst_percent", "verdict", "worst"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < changes->count; i++)
		if (all || changes->family[i].beyond > 0)
			list(table, &changes->family[i], changes->family[i].name);
	for (size_t i = 0; i < changes->group_count; i++)
		list(table, &changes->group[i], "all");
	return table;
}

static void print_totals(const struct profile_changes *changes)
{
	printf("%zu parameters compared, %zu changed by more than allowed (surfaces count, too),\n"
	       "%zu of them by more than both intervals explain; %zu are in one run only\n",
	        changes->compared, changes->beyond, changes->real, changes->missing);
	printf("noisy: %zu before, %zu now; at most %zu allowed in a run\n", changes->noisy_before,
	        changes->noisy_now, most_noisy);
}

/* The verdict: a word for programs, a sentence for people. Exit code 0 with the first one alone. */
struct verdict {
	const char *word, *sentence;
};

static struct verdict judge(const struct profile_changes *changes)
{
	bool repeat = true;

	for (size_t i = 0; i < changes->group_count; i++)
		repeat = repeat && change_repeats(&changes->group[i]);
	if (profile_changes_repeat(changes))
		return (struct verdict){"repeats", "the runs agree"};
	if (repeat)
		return (struct verdict){"noisy", "nothing changed by more than is allowed, but a "
		                                 "run has too many noisy parameters: measure it "
		                                 "again on a machine without other work"};
	return (struct verdict){"changed", "parameters changed by more than is allowed: the rows "
	                                   "that are beyond name them"};
}

/* The profile of a folder, or of a recorded machine. */
static struct profile *open_named(const char *name)
{
	const bool machine = !strchr(name, '/') && !home_holds(name, "profile.tsv");

	return profile_open(machine ? machine_data_named(name) : name);
}

static bool compare_repeats(
        const struct profile *before, const struct profile *now, const struct cli_common *common)
{
	struct profile_changes changes = profile_compare(before, now);
	struct table *table = list_changes(&changes, common->verbose || common->json);
	const struct verdict verdict = judge(&changes);

	if (common->json) {
		table_meta_set(table, "verdict", "%s", verdict.word);
		cli_write_json(table, "comparison");
	} else {
		table_print(table, shown_columns, ARRAY_LEN(shown_columns), stdout);
		print_totals(&changes);
		char *line = xasprintf("Verdict: %s.", verdict.sentence);
		wrap_print(stdout, "", "", line);
		free(line);
	}
	const bool same = profile_changes_repeat(&changes);
	table_free(table);
	profile_changes_free(&changes);
	return same;
}

/* A folder's own name. */
static const char *name_of(const char *folder)
{
	const char *slash = strrchr(folder, '/');

	return slash && slash[1] ? slash + 1 : folder;
}

int main(int argc, char **argv)
{
	bool side_by_side = false;
	double tolerance = 10;
	const struct cli_option options[] = {
	        {"side-by-side", 0, CLI_FLAG, &side_by_side, NULL,
	                "compare two runs of one machine as if they were machines", 0, 0},
	        {"tolerance", 0, CLI_REAL, &tolerance, "PERCENT",
	                "side by side: how much more time the second may take", 0, 1e6}};
	const struct cli_program program = {.name = "fathom-compare",
	        .summary = "Do two runs of the probes agree? How do two machines differ?",
	        .operands = "FOLDER|MACHINE [FOLDER|MACHINE]",
	        .examples = "fathom compare data/before\n"
	                    "fathom compare nvidia-h100 nvidia-h200\n"
	                    "fathom compare data/good data/node7 --tolerance 20 || echo slow\n",
	        .details =
	                "Compares the profile.tsv of the second folder (default: OUTPUT) with that "
	                "of the first.\n"
	                "Runs of one machine with one driver: latencies, sizes and counts should "
	                "repeat within 2 %, rates within 3 %, and at most five parameters may be "
	                "noisy. Shows the families with larger changes (all with --verbose), then "
	                "the kinds of parameters by part of the machine; surfaces have no limit.\n"
	                "Two machines, or two drivers: what each operation takes on both by "
	                "prediction, and the parameters that differ most (each with --verbose or "
	                "--json).\n"
	                "Exit status 1: a limit of repeats is exceeded; or an operation or a "
	                "family "
	                "of parameters takes longer by more than the tolerance, beyond the "
	                "intervals, where GPU and processor are of the same kind.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	struct cli_common common = {.output = machine_data_folder()};
	char **operands;

	cli_parse(argc, argv, &program, &common, &operands);
	cli_refuse_sms(false);
	if (!operands[0] || (operands[1] && operands[2]))
		msg_die(EXIT_BAD_USAGE, "give two folders to compare, or one to compare %s with",
		        common.output);
	struct machine_pair pair = {
	        .name = {name_of(operands[0]), name_of(operands[1] ? operands[1] : common.output)},
	        .profile = {open_named(operands[0]),
	                operands[1] ? open_named(operands[1]) : profile_open(common.output)},
	        .tolerance = tolerance / 100};
	profile_warn_sms(pair.profile[0]);
	profile_warn_sms(pair.profile[1]);
	warn_of_differences(pair.profile[0], pair.profile[1]);
	const bool same = side_by_side || !is_repeat(pair.profile[0], pair.profile[1])
	                          ? compare_machines(&pair, common.json, common.verbose)
	                          : compare_repeats(pair.profile[0], pair.profile[1], &common);
	profile_free(pair.profile[0]);
	profile_free(pair.profile[1]);
	return same ? EXIT_DONE : EXIT_MEASURE_FAILED;
}
