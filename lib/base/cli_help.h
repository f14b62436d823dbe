/* SPDX-License-Identifier: MIT */
/* The text of --help: how to call the program, examples, its options, and those of every program.
 */
#pragma once

#include "cli.h"

struct cli_help {
	const struct cli_program *program;
	const struct cli_option *option; /* its own, then the common ones */
	const char *const *initial;      /* their defaults as text, "" without one */
	size_t count;
	bool topic; /* only the options of program->topic */
};

void cli_help_print(const struct cli_help *help, FILE *out);
