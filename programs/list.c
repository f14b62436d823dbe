/* SPDX-License-Identifier: MIT */
/* What can be named elsewhere: recorded machines, probes, parameters of a profile. */
#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "lib/device/machine.h"
#include "lib/probe/probe.h"
#include "lib/profile/profile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- machines ---- */

static void add_machine(struct table *table, const char *folder, const char *name)
{
	static const char *const key[] = {"gpu", "cpu", "date"};
	struct fault fault;
	char *path = xasprintf("%s/%s/profile.tsv", folder, name);
	struct table *profile = table_read(path, &fault);

	free(path);
	if (!profile)
		return;
	const size_t r = table_add_row(table);
	table_set_text(table, r, "machine", name);
	for (size_t k = 0; k < ARRAY_LEN(key); k++) {
		const char *value = table_meta(profile, key[k]);
		const int most =
		        value && strcmp(key[k], "date") == 0 ? machine_day_length(value) : 60;
		char *text = xasprintf("%.*s", most, value ? value : "unknown");
		table_set_text(table, r, key[k], text);
		free(text);
	}
	table_set_int(table, r, "parameters", (int64_t)profile->row_count);
	table_free(profile);
}

static void add_folder(struct table *table, const char *folder)
{
	struct dirent **entry;
	const int count = scandir(folder, &entry, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		if (entry[i]->d_name[0] != '.')
			add_machine(table, folder, entry[i]->d_name);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
}

static struct table *list_machines(void)
{
	static const char *const columns[] = {"machine", "gpu", "cpu", "date", "parameters"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	char *data = machine_data_root(), *papers = xasprintf("%s/papers", data);

	add_folder(table, data);
	add_folder(table, papers);
	free(papers);
	free(data);
	return table;
}

/* ---- probes ---- */

#define HARDWARE(name) extern const struct probe name##_probe;
#define CALIBRATION(name) HARDWARE(name)
#include "measured_list.h"
#undef HARDWARE
#undef CALIBRATION

static struct table *list_probes(void)
{
#define HARDWARE(name) {&name##_probe, "hardware"},
#define CALIBRATION(name) {&name##_probe, "calibration"},
	static const struct {
		const struct probe *probe;
		const char *kind;
	} list[] = {
#include "measured_list.h"
	};
	static const char *const columns[] = {"probe", "kind", "seconds", "question"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		const struct probe *probe = list[i].probe;
		const size_t r = table_add_row(table);
		table_set_text(table, r, "probe", probe->name);
		table_set_text(table, r, "kind", list[i].kind);
		table_set_real(table, r, "seconds", probe->seconds);
		table_set_text(table, r, "question", probe->question);
	}
	return table;
}

/* ---- parameters ---- */

/* Rows whose names, without brackets, match the pattern. */
static struct profile *matching(const struct profile *profile, const char *pattern)
{
	struct profile *part = xcalloc(1, sizeof *part);

	part->row = xcalloc(profile->count + 1, sizeof *part->row);
	for (size_t i = 0; i < profile->count; i++)
		if (!pattern || profile_name_matches(profile->row[i].name, pattern))
			part->row[part->count++] = profile->row[i];
	return part;
}

static void print_parameters(const struct cli_common *common, const char *pattern)
{
	struct profile *profile = profile_open(common->output);
	struct profile *part = matching(profile, pattern);
	struct table *table = profile_to_table(part);

	profile_warn_sms(profile);
	if (part->count == 0)
		msg_die(EXIT_BAD_USAGE,
		        "no parameter of %s matches '%s': give a name or a pattern such as "
		        "'gpu.l2.*'",
		        common->output, pattern ? pattern : "*");
	if (common->json)
		cli_write_json(table, "parameters");
	else
		profile_print(part, common->verbose || pattern, stdout);
	table_free(table);
	free(part->row);
	free(part);
	profile_free(profile);
}

/* ---- the command line ---- */

static void print_and_free(struct table *table, const char *kind, bool json)
{
	if (json)
		cli_write_json(table, kind);
	else
		table_print(table, NULL, 0, stdout);
	table_free(table);
}

int main(int argc, char **argv)
{
	const char *machine = NULL;
	const struct cli_option options[] = {{"machine", 0, CLI_TEXT, &machine, "NAME",
	        "parameters: of a recorded machine in data/", 0, 0}};
	const struct cli_program program = {.name = "fathom-list",
	        .summary =
	                "Lists the recorded machines, the probes, or the parameters of a profile.",
	        .operands = "[machines | probes | parameters [PATTERN]]",
	        .examples = "fathom list\n"
	                    "fathom list probes\n"
	                    "fathom list parameters 'gpu.l2.*' --machine nvidia-h200\n",
	        .details = "machines: those that --machine takes. parameters: value, interval and "
	                   "status, of all whose names match PATTERN; long functions are shortened "
	                   "without a pattern, unless --verbose.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	const char *preset = machine_data_folder();
	struct cli_common common = {.output = preset};
	char **operands;

	cli_parse(argc, argv, &program, &common, &operands);
	cli_refuse_sms(false);
	const char *what = operands[0] ? operands[0] : "machines";
	if (machine && strcmp(what, "parameters") != 0)
		msg_die(EXIT_BAD_USAGE, "--machine is for list parameters: leave it out of list %s",
		        what);
	if (strcmp(what, "parameters") == 0 && !(operands[1] && operands[2])) {
		common.output = machine_data_asked(machine, common.output, preset, NULL);
		print_parameters(&common, operands[1]);
	} else if (strcmp(what, "machines") == 0 && !(operands[0] && operands[1])) {
		print_and_free(list_machines(), "machines", common.json);
	} else if (strcmp(what, "probes") == 0 && !operands[1]) {
		print_and_free(list_probes(), "probes", common.json);
	} else {
		msg_die(EXIT_BAD_USAGE, "list takes machines, probes, or parameters [PATTERN]");
	}
	return EXIT_DONE;
}
