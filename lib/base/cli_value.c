/* SPDX-License-Identifier: MIT */
/* Numbers with suffixes and quantities with units, as typed and as printed. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_parse_int(const char *text, int64_t *value)
{
	static const struct {
		const char *text;
		int64_t factor;
	} suffix[] = {{"", 1}, {"k", 1000}, {"m", 1000000}, {"g", 1000000000}, {"K", 1 << 10},
	        {"M", 1 << 20}, {"G", 1 << 30}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}};
	const char *digits = text + (*text == '-' || *text == '+');
	const char *end = digits + strspn(digits, "0123456789");
	int64_t number = 0;

	if (end == digits)
		return false;
	for (const char *digit = digits; digit < end; digit++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		        __builtin_add_overflow(number, *digit - '0', &number))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(suffix); i++) {
		if (strcmp(end, suffix[i].text) != 0)
			continue;
		if (__builtin_mul_overflow(number, suffix[i].factor, &number))
			return false;
		*value = *text == '-' ? -number : number;
		return true;
	}
	return false;
}

bool cli_parse_quantity(const char *text, double *value, const char **unit)
{
	static const struct {
		const char *text;
		double factor;
		const char *base;
	} known[] = {{"", 1, ""}, {"s", 1, "s"}, {"ms", 1e-3, "s"}, {"us", 1e-6, "s"},
	        {"ns", 1e-9, "s"}, {"B", 1, "B"}, {"kB", 1e3, "B"}, {"MB", 1e6, "B"},
	        {"GB", 1e9, "B"}, {"KiB", 1024.0, "B"}, {"MiB", 1048576.0, "B"},
	        {"GiB", 1073741824.0, "B"}, {"B/s", 1, "B/s"}, {"kB/s", 1e3, "B/s"},
	        {"MB/s", 1e6, "B/s"}, {"GB/s", 1e9, "B/s"}, {"TB/s", 1e12, "B/s"}, {"Hz", 1, "Hz"},
	        {"kHz", 1e3, "Hz"}, {"MHz", 1e6, "Hz"}, {"GHz", 1e9, "Hz"}, {"flop/s", 1, "flop/s"},
	        {"Mflop/s", 1e6, "flop/s"}, {"Gflop/s", 1e9, "flop/s"}, {"Tflop/s", 1e12, "flop/s"},
	        {"W", 1, "W"}};
	char *end;
	double number = strtod(text, &end);

	if (end == text || !isfinite(number))
		return false;
	end += *end == ' ';
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(end, known[i].text) == 0) {
			*value = number * known[i].factor;
			*unit = known[i].base;
			return true;
		}
	}
	return false;
}

char *cli_format_quantity(char *text, size_t size, double value, const char *unit)
{
	static const struct {
		const char *prefix;
		double factor;
	} scale[] = {{"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"", 1}, {"k", 1e3}, {"M", 1e6},
	        {"G", 1e9}, {"T", 1e12}};
	enum { NANO = 0, ONE = 3, TERA = 7 };
	bool time = strcmp(unit, "s") == 0;
	bool plain = strcmp(unit, "count") == 0 || strcmp(unit, "ratio") == 0 || !*unit;

	if (plain || !isfinite(value)) {
		snprintf(text, size, "%.4g", value);
		return text;
	}
	/* 999.5 is where three digits would round to 1000 of the smaller unit */
	int i = time ? NANO : ONE, last = time ? ONE : TERA;
	while (i < last && fabs(value) >= 999.5 * scale[i].factor)
		i++;
	double scaled = value / scale[i].factor;
	if (value == 0)
		snprintf(text, size, "0 %s", unit);
	else if (fabs(scaled) >= 999.5)
		snprintf(text, size, "%.0f %s%s", scaled, scale[i].prefix, unit);
	else
		snprintf(text, size, "%.3g %s%s", scaled, scale[i].prefix, unit);
	return text;
}
