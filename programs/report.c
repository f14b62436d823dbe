/* SPDX-License-Identifier: MIT */
/* The report, by plots/report.sh. */
#include "lib/base/cli.h"
#include "lib/base/home.h"
#include "lib/base/msg.h"
#include "lib/device/machine.h"
#include "lib/profile/profile.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	const char *machine = NULL, *machines = NULL;
	const struct cli_option options[] = {
	        {"machine", 0, CLI_TEXT, &machine, "NAME",
	                "a recorded machine in data/ instead of OUTPUT", 0, 0},
	        {"machines", 0, CLI_TEXT, &machines, "\"NAME NAME\"",
	                "two machines in data/ side by side, in side_by_side.html alone", 0, 0}};
	const struct cli_program program = {.name = "fathom-report",
	        .summary = "Draws the figures and writes the report: one HTML file, and text.",
	        .examples = "fathom report\n"
	                    "fathom report --machine nvidia-h200\n"
	                    "fathom report --machines 'nvidia-h100 nvidia-h200'\n",
	        .details = "Reads the data files of OUTPUT, or of the recorded machine, and writes "
	                   "OUTPUT/report. Nothing is measured.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	struct cli_common common = {0};

	cli_parse(argc, argv, &program, &common, NULL);
	cli_refuse_sms(false);
	if (common.json)
		msg_die(EXIT_BAD_USAGE,
		        "a report is no table: `fathom rules --json` and `fathom list --json` are");
	if (machine && machines)
		msg_die(EXIT_BAD_USAGE, "give --machine or --machines, not both");
	if (machine) {
		machine_data_recorded_as(machine);
		setenv("MACHINE", machine, 1);
	}
	if (machines) {
		setenv("MACHINES", machines, 1);
		setenv("FATHOM_BIN", home_programs(), 1);
	} else {
		const char *chosen = getenv("MACHINE"),
		           *folder =
		                   chosen && chosen[0] ? machine_data_named(chosen) : common.output;
		if (home_holds(folder, "profile.tsv"))
			profile_free(
			        profile_open(folder)); /* a damaged one ends the program here */
	}
	home_run_script("plots/report.sh", &common.output, 1);
}
