/* SPDX-License-Identifier: MIT */
#include "cli_help.h"

#include "msg.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>

/* "fathom advise" for "fathom-advise". */
static char *command_of(const struct cli_program *program)
{
	char *command = xstrdup(program->name);

	if (strncmp(command, "fathom-", 7) == 0)
		command[6] = ' ';
	return command;
}

static void print_examples(const char *text, FILE *out)
{
	for (; *text; text += strcspn(text, "\n") + 1)
		fprintf(out, "  %.*s\n", (int)strcspn(text, "\n"), text);
}

/* "--name=ARGUMENT", behind a letter where it has one. */
static char *name_of(const struct cli_option *option)
{
	char *name = option->letter ? xasprintf("-%c, ", option->letter) : xstrdup("");

	xappend(&name, "--%s%s%s", option->name, option->argument ? "=" : "",
	        option->argument ? option->argument : "");
	return name;
}

static char *default_of(const struct cli_help *help, size_t i)
{
	return help->initial[i][0] ? xasprintf(" (default: %s)", help->initial[i]) : xstrdup("");
}

static void print_option(const struct cli_help *help, size_t i, FILE *out)
{
	const struct cli_option *option = &help->option[i];
	char *name = name_of(option), *initial = default_of(help, i);
	char *first = xasprintf("  %-23s ", name), *text = xasprintf("%s%s", option->help, initial);

	wrap_print(out, first, "                          ", text);
	free(text);
	free(first);
	free(initial);
	free(name);
}

static void print_options(const struct cli_help *help, size_t from, size_t to, FILE *out)
{
	if (from < to)
		fputs("\nOptions:\n", out);
	for (size_t i = from; i < to; i++)
		print_option(help, i, out);
}

/* One paragraph. */
static void print_common(const struct cli_help *help, FILE *out)
{
	char *text = xstrdup("");

	for (size_t i = help->program->option_count; i < help->count; i++) {
		char *name = name_of(&help->option[i]), *initial = default_of(help, i);
		xappend(&text, "%s%s %s%s", *text ? "; " : " ", name, help->option[i].help,
		        initial);
		free(initial);
		free(name);
	}
	wrap_print(out, "\nOf every program:", "  ", text);
	wrap_print(out, "", "  ",
	        "Whole numbers may end in k, m, g (1000s) or K, M, G, Ki, Mi, Gi (1024s). Exit "
	        "status: 0 done, 1 a measurement failed, 2 bad usage, 77 not possible here, 130 "
	        "interrupted.");
	free(text);
}

void cli_help_print(const struct cli_help *help, FILE *out)
{
	const struct cli_program *program = help->program;
	const size_t own = program->option_count,
	             first = program->topic ? program->topic_first : own;
	char *command = command_of(program);
	char *usage = xasprintf("%s [OPTION]...%s%s", command, program->operands ? " " : "",
	        program->operands ? program->operands : "");

	wrap_print(out, "Usage:", "  ", usage);
	wrap_print(out, "", "", program->summary);
	if (program->examples && !help->topic) {
		fputs("\nExamples:\n", out);
		print_examples(program->examples, out);
	}
	if (program->details && !help->topic) {
		fputc('\n', out);
		wrap_lines(out, program->details);
	}
	print_options(help, help->topic ? first : 0, help->topic ? own : first, out);
	if (program->topic && !help->topic)
		fprintf(out, "%s %s --help explains %zu more.\n", command, program->topic,
		        own - first);
	if (!help->topic)
		print_common(help, out);
	free(usage);
	free(command);
}
