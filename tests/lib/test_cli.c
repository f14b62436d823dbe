/* SPDX-License-Identifier: MIT */
/* Numbers, quantities and options of the command line. What ends a program is tried by cli.t. */
#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

static void test_integers(void)
{
	static const struct {
		const char *text;
		int64_t value;
	} right[] = {{"0", 0}, {"-17", -17}, {"+4", 4}, {"2k", 2000}, {"2K", 2048}, {"3m", 3000000},
	        {"3Mi", 3 << 20}, {"1G", 1 << 30}, {"1g", 1000000000},
	        {"9223372036854775807", INT64_MAX}};
	static const char *const broken[] = {"", "-", "x", "1x", "1.5", "1 ", " 1", "1kk", "0x10",
	        "1KiB", "9223372036854775808", "9223372036854775807k", "99999999999999999999",
	        "--1"};
	int64_t got = -12345;

	for (size_t i = 0; i < ARRAY_LEN(right); i++)
		if (!ok(cli_parse_int(right[i].text, &got) && got == right[i].value, "'%s' is %lld",
		            right[i].text, (long long)right[i].value))
			diag("got %lld", (long long)got);
	for (size_t i = 0; i < ARRAY_LEN(broken); i++)
		ok(!cli_parse_int(broken[i], &got), "'%s' is no integer", broken[i]);
}

static void test_quantities(void)
{
	static const struct {
		const char *text;
		double value;
		const char *unit;
	} right[] = {{"1.0us", 1e-6, "s"}, {"2.5 ms", 2.5e-3, "s"}, {"-3ns", -3e-9, "s"},
	        {"4", 4, ""}, {"1.5e-6", 1.5e-6, ""}, {"64KiB", 65536, "B"}, {"1 GB", 1e9, "B"},
	        {"4.1TB/s", 4.1e12, "B/s"}, {"1980MHz", 1.98e9, "Hz"},
	        {"60 Tflop/s", 6e13, "flop/s"}, {"700W", 700, "W"}};
	static const char *const broken[] = {
	        "", "us", "1.0 xs", "1e400", "nan", "inf", "1.0us ", "1  s"};
	double got = NAN;
	const char *unit = "";

	for (size_t i = 0; i < ARRAY_LEN(right); i++) {
		ok(cli_parse_quantity(right[i].text, &got, &unit), "'%s' is a quantity",
		        right[i].text);
		is_real(got, right[i].value, 1e-15, "  of the right size");
		is_text(unit, right[i].unit, "  in its base unit");
	}
	for (size_t i = 0; i < ARRAY_LEN(broken); i++)
		ok(!cli_parse_quantity(broken[i], &got, &unit), "'%s' is no quantity", broken[i]);
}

static void test_printing(void)
{
	static const struct {
		double value;
		const char *unit, *text;
	} printed[] = {{3.21e-6, "s", "3.21 us"}, {9.996e-7, "s", "1 us"},
	        {1.5e-10, "s", "0.15 ns"}, {7200, "s", "7200 s"}, {0, "s", "0 s"},
	        {-4.5e-3, "s", "-4.5 ms"}, {4.23e12, "B/s", "4.23 TB/s"},
	        {1.98e9, "Hz", "1.98 GHz"}, {375000, "B", "375 kB"}, {12, "B", "12 B"},
	        {132, "count", "132"}, {0.123456, "ratio", "0.1235"}, {NAN, "s", "nan"}};
	char text[32];

	for (size_t i = 0; i < ARRAY_LEN(printed); i++)
		is_text(cli_format_quantity(text, sizeof text, printed[i].value, printed[i].unit),
		        printed[i].text, printed[i].text);
	is_text(cli_format_quantity(text, 4, 3.21e-6, "s"), "3.2", "a short buffer truncates");
}

static void test_parse(void)
{
	int64_t count = 3;
	double share = 0.5;
	const char *name = NULL;
	struct cli_list set = {0};
	const struct cli_option options[] = {
	        {"count", 'c', CLI_INT, &count, "N", "a count", 1, 1e6},
	        {"share", 0, CLI_REAL, &share, "X", "a share", 0, 1},
	        {"name", 'n', CLI_TEXT, &name, "TEXT", "a name", 0, 0},
	        {"set", 0, CLI_LIST, &set, "NAME=VALUE", "assignments", 0, 0},
	};
	const struct cli_program program = {.name = "test",
	        .summary = "A test.",
	        .operands = "[WORD]...",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};
	char *argv[] = {"test", "one", "--count=4K", "-q", "--share", "0.25", "two", "--set=a=1",
	        "--set", "b=2", "-nx", "--seed=7", "--device=mig-77000000-aaaa", "--", "--three",
	        NULL};
	struct cli_common common = {0};
	char **operands;

	cli_parse(ARRAY_LEN(argv) - 1, argv, &program, &common, &operands);
	ok(count == 4096, "an integer with a suffix");
	is_real(share, 0.25, 0, "a real");
	is_text(name, "x", "a text behind its letter");
	ok(set.count == 2 && !strcmp(set.item[0], "a=1") && !strcmp(set.item[1], "b=2"), "a list");
	ok(common.quick && !common.json && !common.verbose, "common flags");
	ok(common.seed == 7, "a common number");
	is_text(common.device, "mig-77000000-aaaa", "a device by the UUID of a slice (MIG)");
	is_text(common.output, "data/local", "probes write to data/local");
	ok(operands[0] && operands[1] && operands[2] && !operands[3], "three operands");
	is_text(operands[0], "one", "operands and options mix");
	is_text(operands[2], "--three", "what follows -- is an operand");
	ok(cli_given("count") && cli_given("quick") && !cli_given("verbose") && !cli_given("sms"),
	        "which options were given");
	ok(!strncmp(cli_version(), "fathom ", 7), "version: %s", cli_version());
}

/* ---- host memory ---- */

static void take(void *bytes)
{
	free(xmalloc(*(size_t *)bytes));
}

static void take_guarded(void *context)
{
	struct fault fault;
	size_t much = SIZE_MAX / 4;

	*(bool *)context = msg_guard_memory(take, &much, &fault);
}

static void test_guard(void)
{
	struct fault fault = {.text = ""};
	size_t little = 1000, much = SIZE_MAX / 4;
	bool inner = true;

	ok(msg_guard_memory(take, &little, &fault), "guarded: enough memory");
	ok(!msg_guard_memory(take, &much, &fault) && strstr(fault.text, "out of host memory"),
	        "guarded: too little memory is a fault, and the program continues");
	ok(msg_guard_memory(take_guarded, &inner, &fault) && !inner, "a guard within a guard");
}

int main(void)
{
	test_integers();
	test_quantities();
	test_printing();
	test_parse();
	test_guard();
	return finish();
}
