/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "cli_help.h"
#include "cli_uses.h"
#include "msg.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *fathom_version_text(void); /* build/version.c, written by scripts/version.sh */
const char *fathom_model_text(void);

const char *cli_version(void)
{
	static char text[64];

	snprintf(text, sizeof text, "fathom %s", fathom_version_text());
	return text;
}

const char *cli_model(void)
{
	return fathom_model_text();
}

/* === Results ================================================================================== */

static const char *output_of; /* the program's name, "fathom-NAME" */

void cli_write_json(struct table *table, const char *kind)
{
	const char *dash = strchr(output_of, '-');

	if (!table_meta(table, "program"))
		table_meta_set(table, "program", "%s", dash ? dash + 1 : output_of);
	if (!table_meta(table, "fathom"))
		table_meta_set(table, "fathom", "%s", fathom_version_text());
	table_meta_set(table, "kind", "%s", kind);
	table_write_json(table, stdout);
}

/* === The options of one program: its own, then the common ones ================================ */

enum { ALL_OPTIONS = 64, LONG_ONLY = 256 };

struct option_set {
	const struct cli_program *program;
	struct cli_option option[ALL_OPTIONS];
	char initial[ALL_OPTIONS][256]; /* the default, for --help: parsing overwrites the target */
	size_t count;
	bool help, version, list_options;
};

/* "" where there is none, or 0 stands for none. */
static void describe_default(const struct cli_option *option, char *text, size_t size)
{
	const char *word;

	*text = '\0';
	switch (option->type) {
	case CLI_FLAG:
	case CLI_LIST:
		return;
	case CLI_INT:
		if (*(int64_t *)option->target != 0)
			snprintf(text, size, "%lld", (long long)*(int64_t *)option->target);
		return;
	case CLI_REAL:
		if (*(double *)option->target != 0)
			snprintf(text, size, "%g", *(double *)option->target);
		return;
	case CLI_TEXT:
		word = *(const char **)option->target;
		snprintf(text, size, "%s", word ? word : "");
		return;
	}
}

static void add_option(struct option_set *set, const struct cli_option *option)
{
	describe_default(option, set->initial[set->count], sizeof set->initial[0]);
	set->option[set->count++] = *option;
}

static void gather(
        struct option_set *set, const struct cli_program *program, struct cli_common *common)
{
	const struct cli_option shared[] = {
	        {"device", 0, CLI_TEXT, &common->device, "ID", "GPU by number, UUID or PCI address",
	                0, 0},
	        {"sms", 0, CLI_INT, &common->sms, "N",
	                "multiprocessors that a measurement uses (0: all)", 0, 100000},
	        {"output", 0, CLI_TEXT, &common->output, "DIR", "data folder", 0, 0},
	        {"quick", 'q', CLI_FLAG, &common->quick, NULL, "measure less", 0, 0},
	        {"json", 0, CLI_FLAG, &common->json, NULL, "print JSON", 0, 0},
	        {"seed", 0, CLI_INT, &common->seed, "N", "of random data", 0, 1e15},
	        {"verbose", 'v', CLI_FLAG, &common->verbose, NULL, "say more", 0, 0},
	        {"help", 'h', CLI_FLAG, &set->help, NULL, "this text", 0, 0},
	        {"version", 0, CLI_FLAG, &set->version, NULL, "number", 0, 0},
	        {"list-options", 0, CLI_FLAG, &set->list_options, NULL, "names", 0, 0},
	};

	set->program = program;
	if (program->option_count + ARRAY_LEN(shared) > ALL_OPTIONS)
		msg_die(EXIT_BAD_USAGE, "more options than cli.c has room for: raise ALL_OPTIONS");
	for (size_t i = 0; i < program->option_count; i++)
		add_option(set, &program->options[i]);
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		add_option(set, &shared[i]);
}

static const struct cli_option *option_by_code(const struct option_set *set, int code)
{
	if (code >= LONG_ONLY)
		return &set->option[code - LONG_ONLY];
	for (size_t i = 0; code && i < set->count; i++)
		if (set->option[i].letter == code)
			return &set->option[i];
	return NULL;
}

static void print_help(const struct option_set *set, char *const *operands)
{
	const char *initial[ALL_OPTIONS], *topic = set->program->topic;

	for (size_t i = 0; i < set->count; i++)
		initial[i] = set->initial[i];
	const struct cli_help help = {.program = set->program,
	        .option = set->option,
	        .initial = initial,
	        .count = set->count,
	        .topic = topic && operands[0] && strcmp(operands[0], topic) == 0};
	cli_help_print(&help, stdout);
}

static void answer_and_exit(const struct option_set *set, char *const *operands)
{
	if (set->help)
		print_help(set, operands);
	else if (set->version)
		printf("%s\n", cli_version());
	else
		for (size_t i = 0; i < set->count; i++)
			printf("--%s\n", set->option[i].name);
	exit(EXIT_DONE);
}

/* === Errors =================================================================================== */

/* Levenshtein's distance of a to b, over their first 63 characters. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64];
	size_t length = strnlen(b, ARRAY_LEN(row) - 1);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; i < ARRAY_LEN(row) && a[i - 1]; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[length];
}

static const char *nearest_option(const struct option_set *set, const char *name)
{
	const char *nearest = "help";
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < set->count; i++) {
		size_t distance = edit_distance(name, set->option[i].name);
		if (distance < least) {
			least = distance;
			nearest = set->option[i].name;
		}
	}
	return nearest;
}

_Noreturn static void reject_option(const struct option_set *set, const char *typed)
{
	const struct cli_option *known = option_by_code(set, optopt);

	if (known)
		msg_die(EXIT_BAD_USAGE, "option --%s takes no argument; leave out what follows '='",
		        known->name);
	if (optopt)
		msg_die(EXIT_BAD_USAGE,
		        "unknown option '-%c'; long options start with two dashes, --help lists "
		        "them",
		        optopt);
	const char *name = typed + strspn(typed, "-");
	int length = (int)strcspn(name, "=");
	char bare[64];
	snprintf(bare, sizeof bare, "%.*s", length, name);
	msg_die(EXIT_BAD_USAGE,
	        "unknown or ambiguous option '--%.*s'; did you mean '--%s'? (--help lists all)",
	        length, name, nearest_option(set, bare));
}

/* === Values =================================================================================== */

static void check_range(const struct cli_option *option, const char *text, double value)
{
	if (option->low < option->high && !(value >= option->low && value <= option->high))
		msg_die(EXIT_BAD_USAGE,
		        "--%s '%s' is out of range: give a value from %.15g to %.15g", option->name,
		        text, option->low, option->high);
}

static void set_value(const struct cli_option *option, const char *text)
{
	struct cli_list *list;
	double real;
	int64_t whole;
	char *end;

	switch (option->type) {
	case CLI_FLAG:
		*(bool *)option->target = true;
		return;
	case CLI_INT:
		if (!cli_parse_int(text, &whole))
			msg_die(EXIT_BAD_USAGE,
			        "--%s '%s' is not a whole number of 64 bits: give digits, perhaps "
			        "with k, m, g, Ki, Mi or Gi behind them",
			        option->name, text);
		check_range(option, text, (double)whole);
		*(int64_t *)option->target = whole;
		return;
	case CLI_REAL:
		real = strtod(text, &end);
		if (end == text || *end || !isfinite(real))
			msg_die(EXIT_BAD_USAGE, "--%s '%s' is not a number: give one such as 0.5",
			        option->name, text);
		check_range(option, text, real);
		*(double *)option->target = real;
		return;
	case CLI_TEXT:
		if (!*text)
			msg_die(EXIT_BAD_USAGE, "--%s is empty: give a %s", option->name,
			        option->argument);
		*(const char **)option->target = text;
		return;
	case CLI_LIST:
		list = option->target;
		if (list->count == ARRAY_LEN(list->item))
			msg_die(EXIT_BAD_USAGE, "--%s was given more than %zu times", option->name,
			        list->count);
		list->item[list->count++] = text;
		return;
	}
}

/* === Standard streams ========================================================================= */

/* Unwritten output is a failure, whatever the program's exit code. */
static void check_output(void)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return;
	fprintf(stderr, "%s: cannot write to standard output: %s\n", output_of,
	        errno ? strerror(errno) : "an earlier write failed");
	_exit(EXIT_MEASURE_FAILED);
}

/* The next opened file would get the number of a closed standard stream. Writing to a reopened
 * output stays an error. */
static void prepare_streams(const char *program)
{
	if (output_of)
		return;
	output_of = program;
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		if (fcntl(stream, F_GETFD) < 0 &&
		        open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR) != stream)
			_exit(EXIT_MEASURE_FAILED);
	atexit(check_output);
}

/* === Parsing ================================================================================== */

/* The tables of getopt_long; letters holds at most two characters an option. */
static void describe(const struct option_set *set, struct option *table, char *letters)
{
	*letters++ = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < set->count; i++) {
		const struct cli_option *option = &set->option[i];
		bool argument = option->type != CLI_FLAG;
		table[i] = (struct option){option->name, argument, NULL, LONG_ONLY + (int)i};
		if (option->letter)
			*letters++ = option->letter;
		if (option->letter && argument)
			*letters++ = ':';
	}
	table[set->count] = (struct option){0};
	*letters = '\0';
}

/* Whether a text is a number, the start of a UUID, or a PCI address. */
static bool names_device(const char *text)
{
	const size_t digits = strspn(text, "0123456789");

	return (digits > 0 && digits <= 4 && text[digits] == '\0') ||
	       strncasecmp(text, "GPU-", 4) == 0 || strncasecmp(text, "MIG-", 4) == 0 ||
	       (strchr(text, ':') && strspn(text, "0123456789abcdefABCDEF:.") == strlen(text));
}

void cli_parse(int argc, char **argv, const struct cli_program *program, struct cli_common *common,
        char ***operands)
{
	struct option_set set = {0};
	struct option table[ALL_OPTIONS + 1];
	char letters[2 * ALL_OPTIONS + 2];
	const char *output = common->output ? common->output : "data/local";
	const int64_t seed = common->seed ? common->seed : 1;
	int code;

	prepare_streams(program->name);
	msg_start(program->name, false);
	const bool new_seed = common->seed != 0;
	*common = (struct cli_common){.device = "0", .output = output, .seed = seed};
	gather(&set, program, common);
	for (size_t i = 0; new_seed && i < set.count; i++)
		if (set.option[i].target == &common->seed)
			snprintf(set.initial[i], sizeof set.initial[0], "a new one");
	describe(&set, table, letters);
	opterr = 0;
	cli_given_start();
	while ((code = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		if (code == '?')
			reject_option(&set, argv[optind - 1]);
		if (code == ':')
			msg_die(EXIT_BAD_USAGE, "option '%s' needs an argument; see --help",
			        argv[optind - 1]);
		const struct cli_option *option = option_by_code(&set, code);
		set_value(option, optarg);
		cli_given_note(option->name);
		if (set.help || set.version || set.list_options)
			answer_and_exit(&set, argv + 1);
	}
	if (!program->operands && optind < argc)
		msg_die(EXIT_BAD_USAGE, "'%s' is not understood: %s takes options only, see --help",
		        argv[optind], program->name);
	if (!names_device(common->device))
		msg_die(EXIT_BAD_USAGE,
		        "--device: '%s' is neither a number, a UUID (GPU-..., MIG-...) nor a PCI "
		        "address (0000:17:00.0)",
		        common->device);
	if (common->sms > 0) {
		char sms[24];
		snprintf(sms, sizeof sms, "%" PRId64, common->sms);
		setenv("FATHOM_SMS", sms, 1); /* for all that opens the device */
	}
	if (operands)
		*operands = argv + optind;
	msg_start(program->name, common->verbose);
}
