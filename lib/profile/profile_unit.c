/* SPDX-License-Identifier: MIT */
/* Which unit a parameter has by its name, and which values a unit allows. */
#include "profile_row.h"

#include <string.h>

/* Names that end, or begin, with a word of one meaning. */
static const struct {
	const char *word, *unit;
} last_word[] = {{".latency", "s"}, {".alpha", "s"}, {".time", "s"}, {".issue", "s"},
        {".enqueue", "s"}, {".sync", "s"}, {".beta", "B/s"}, {".rate", "flop/s"}, {".size", "B"},
        {".line", "B"}, {".stated", "B"}, {".clock", "Hz"}, {".entries", "count"},
        {"gpu.dram.read", "B/s"}, {"gpu.dram.write", "B/s"}, {"gpu.dram.copy", "B/s"},
        {"gpu.l2.read", "B/s"}, {"gpu.l2.write", "B/s"}, {"gpu.l2.copy", "B/s"},
        {"gpu.clock.sm", "Hz"}, {"gpu.sm.count", "count"}},
  first_word[] = {{"gpu.launch.", "s"}, {"gpu.barrier.", "s"}, {"gpu.exchange.", "s"},
          {"gpu.cublas.", "s"}, {"host.fma.", "flop/s"}};

static bool ends_in(const char *name, const char *word)
{
	const size_t length = strlen(name), last = strlen(word);

	return length >= last && strcmp(name + length - last, word) == 0;
}

const char *profile_unit_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(last_word); i++)
		if (ends_in(name, last_word[i].word))
			return last_word[i].unit;
	for (size_t i = 0; i < ARRAY_LEN(first_word); i++)
		if (strncmp(name, first_word[i].word, strlen(first_word[i].word)) == 0)
			return first_word[i].unit;
	return NULL;
}

bool profile_unit_is_amount(const char *unit)
{
	static const char *const amounts[] = {"s", "B", "B/s", "Hz", "flop/s", "W", "count"};

	return profile_word_in(unit, amounts, ARRAY_LEN(amounts));
}

bool profile_unit_excludes_zero(const char *unit)
{
	static const char *const divisors[] = {"B/s", "Hz", "flop/s", "count"};

	return profile_word_in(unit, divisors, ARRAY_LEN(divisors));
}

const char *profile_unit_example(const char *unit)
{
	static const struct {
		const char *unit, *example;
	} known[] = {{"s", "1.5us"}, {"B", "64KiB"}, {"B/s", "4TB/s"}, {"Hz", "1.8GHz"},
	        {"flop/s", "60Tflop/s"}, {"W", "700W"}};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(unit, known[i].unit) == 0)
			return known[i].example;
	return "2";
}
