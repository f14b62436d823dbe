/* SPDX-License-Identifier: MIT */
/* The option parser: a word a line, for a program with an option of every kind. */
#include "fuzz.h"

#include "factor/programs/kernel_input.h"
#include "lib/base/cli.h"

#include <getopt.h>
#include <string.h>

enum { MOST_WORDS = 24, MOST_BYTES = 4096 };

struct words {
	int count;
	char *word[MOST_WORDS + 2];
};

static void parse(void *context)
{
	struct words *words = context;
	struct kernel_texts texts = {{NULL}};
	struct cli_option option[KERNEL_KEYS + 5];
	struct cli_common common = {.device = NULL};
	struct kernel_work work = {.launches = 1};
	struct fault fault;
	bool flag = false;
	int64_t whole = 0;
	double real = 1;
	const char *text = "text";
	struct cli_list list = {.count = 0};
	char **operands;

	kernel_options(option, &texts);
	option[KERNEL_KEYS] =
	        (struct cli_option){"flag", 'f', CLI_FLAG, &flag, NULL, "a flag", 0, 0};
	option[KERNEL_KEYS + 1] =
	        (struct cli_option){"whole", 'n', CLI_INT, &whole, "N", "a number", -10, 1e12};
	option[KERNEL_KEYS + 2] =
	        (struct cli_option){"real", 'r', CLI_REAL, &real, "X", "a real", 0, 0};
	option[KERNEL_KEYS + 3] =
	        (struct cli_option){"text", 't', CLI_TEXT, &text, "TEXT", "a text", 0, 0};
	option[KERNEL_KEYS + 4] =
	        (struct cli_option){"set", 0, CLI_LIST, &list, "NAME=VALUE", "a list", 0, 0};
	const struct cli_program program = {.name = "fathom-fuzz",
	        .summary = "Is fuzzed.",
	        .operands = "WORD",
	        .options = option,
	        .option_count = ARRAY_LEN(option)};
	cli_parse(words->count, words->word, &program, &common, &operands);
	if (kernel_set_texts(&work, &texts, &fault))
		kernel_complete(&work, &fault);
}

static void quantities(const char *text)
{
	int64_t whole;
	double value;
	const char *unit;
	char printed[64];

	cli_parse_int(text, &whole);
	if (cli_parse_quantity(text, &value, &unit))
		cli_format_quantity(printed, sizeof printed, value, unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "fuzz", text[MOST_BYTES + 1];
	struct words words = {1, {name}};
	char *rest = NULL;

	if (size > MOST_BYTES)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (char *word = strtok_r(text, "\n", &rest); word && words.count <= MOST_WORDS;
	        word = strtok_r(NULL, "\n", &rest)) {
		quantities(word);
		words.word[words.count++] = word;
	}
	optind = 0; /* getopt begins anew */
	fuzz_guarded(parse, &words);
	return 0;
}
