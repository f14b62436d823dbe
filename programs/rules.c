/* SPDX-License-Identifier: MIT */
/* The design rules that a machine's parameters give, by plots/rules.sh. */
#include "lib/base/cli.h"
#include "lib/base/home.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/device/machine.h"
#include "lib/profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds the rules of a folder, of "gpu", "host" or both. */
static void add_rules(struct table *rules, const char *folder, const char *parts)
{
	char path[] = "/tmp/fathom-rules-XXXXXX";
	const int file = mkstemp(path);
	const char *words[] = {folder, parts, "table", path};
	struct fault fault;

	if (file < 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot write to /tmp");
	close(file);
	const int status = home_script("plots/rules.sh", words, ARRAY_LEN(words));
	struct table *found = status == 0 ? table_read(path, &fault) : NULL;
	unlink(path);
	if (!found)
		msg_die(EXIT_MEASURE_FAILED, "no rules of %s: %s", folder,
		        status ? "plots/rules.sh failed" : fault.text);
	for (size_t r = 0; r < found->row_count; r++) {
		table_copy_row(rules, found, r);
		table_set_text(rules, rules->row_count - 1, "data", folder);
	}
	table_free(found);
}

/* Where a folder that nobody named has no GPU, the recorded machine answers for one. */
static struct table *rules_of(const char *folder, bool named)
{
	static const char *const columns[] = {"data", "part", "rule", "value", "low", "high",
	        "unit", "gain", "gain_low", "gain_high", "text", "parameters"};
	struct table *rules = table_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_open(folder);
	char choice[MACHINE_CHOICE], *own = xstrdup(folder);

	profile_warn_sms(profile);
	if (profile_has(profile, "gpu.")) {
		add_rules(rules, own, "gpu host");
	} else if (named) {
		add_rules(rules, own, "host");
	} else {
		const char *recorded = machine_data_recorded(choice);
		msg_warn("the profile in %s has no GPU: rules of a GPU are those of %s", own,
		        recorded);
		add_rules(rules, recorded, "gpu");
		add_rules(rules, own, "host");
	}
	profile_free(profile);
	free(own);
	return rules;
}

/* ---- the strongest ---- */

struct place {
	size_t row;
	double gain;
};

static int by_gain(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->gain != other->gain)
		return one->gain < other->gain ? 1 : -1;
	return one->row < other->row ? -1 : 1;
}

/* Those whose gain is certainly over 1, the largest lower end first. */
static struct table *strongest(const struct table *rules, size_t most)
{
	struct table *best = table_new((const char *const *)rules->column, rules->column_count);
	struct place *place = xcalloc(rules->row_count + 1, sizeof *place);
	size_t count = 0;

	for (size_t r = 0; r < rules->row_count; r++) {
		const double gain = table_real(rules, r, "gain_low");
		if (gain > 1)
			place[count++] = (struct place){r, gain};
	}
	qsort(place, count, sizeof *place, by_gain);
	for (size_t i = 0; i < count && i < most; i++)
		table_copy_row(best, rules, place[i].row);
	free(place);
	return best;
}

/* ---- text ---- */

static void print_rules(const struct table *rules, bool by_part)
{
	const char *data = "", *part = "";

	for (size_t r = 0; r < rules->row_count; r++) {
		const char *parameters = table_text(rules, r, "parameters");
		const double gain = table_real(rules, r, "gain_low");
		if (strcmp(data, table_text(rules, r, "data")) != 0)
			printf("%sDesign rules of %s\n", r ? "\n" : "",
			        table_text(rules, r, "data"));
		if (r == 0 || (by_part && strcmp(part, table_text(rules, r, "part")) != 0))
			putchar('\n');
		data = table_text(rules, r, "data");
		part = table_text(rules, r, "part");
		char *text = xasprintf(
		        "%s: %s", table_text(rules, r, "rule"), table_text(rules, r, "text"));
		if (gain > 1)
			xappend(&text, " Gain: at least %.3g times.", gain);
		if (strcmp(parameters, "nan") != 0)
			xappend(&text, " [%s]", parameters);
		wrap_print(stdout, "- ", "  ", text);
		free(text);
	}
}

int main(int argc, char **argv)
{
	const char *preset = machine_data_folder(), *machine = NULL;
	int64_t most = 0;
	const struct cli_option options[] = {
	        {"machine", 0, CLI_TEXT, &machine, "NAME", "a recorded machine in data/", 0, 0},
	        {"strongest", 0, CLI_INT, &most, "N", "only the N rules that gain most; 0: all", 0,
	                1e6}};
	const struct cli_program program = {.name = "fathom-rules",
	        .summary = "States the design rules that a machine's parameters give.",
	        .examples = "fathom rules\n"
	                    "fathom rules --machine nvidia-h200 --strongest 10\n"
	                    "fathom rules --json | jq -r '.rows[].text'\n",
	        .details = "Each rule names the parameters that it rests on, and the interval of "
	                   "its first number. Its gain is the factor in time between following it "
	                   "and not. A rule that the intervals do not allow is left out.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	struct cli_common common = {.output = preset};

	cli_parse(argc, argv, &program, &common, NULL);
	cli_refuse_sms(false);
	char *folder = xstrdup(machine_data_asked(machine, common.output, preset, NULL));
	const bool named = common.output != preset || machine_data_given();
	struct table *rules = rules_of(folder, named);
	if (most > 0) {
		struct table *all = rules;
		rules = strongest(all, (size_t)most);
		table_free(all);
	}
	if (common.json)
		cli_write_json(rules, "rules");
	else
		print_rules(rules, most == 0);
	table_free(rules);
	free(folder);
	return EXIT_DONE;
}
