/* SPDX-License-Identifier: MIT */
/* The rows of the machine profile: names and additions. Rows are found by profile_index.c, the file
 * format is in profile_file.c, values are looked up in profile_lookup.c, what-ifs are in
 * profile_change.c. */
#include "profile.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"
#include "profile_row.h"

struct profile *profile_new(void)
{
	return xcalloc(1, sizeof(struct profile));
}

void profile_clear_row(struct parameter *row)
{
	free(row->name);
	for (size_t i = 0; i < row->arg_count; i++)
		free(row->arg_name[i]);
	free(row->method);
	free(row->regime);
	free(row->status);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->count; i++)
		profile_clear_row(&profile->row[i]);
	profile_view_free(profile);
	table_free(profile->source);
	profile_free(profile->by_hardware);
	free(profile);
}

void profile_append(struct profile *profile, const struct parameter *from)
{
	struct parameter row = *from;

	row.name = xstrdup(from->name);
	row.name_key = profile_name_key(row.name);
	for (size_t i = 0; i < row.arg_count; i++)
		row.arg_name[i] = xstrdup(from->arg_name[i]);
	row.method = xstrdup(from->method);
	row.regime = xstrdup(from->regime);
	row.status = xstrdup(from->status);
	profile_put(profile, &row);
}

/* ---- names ---- */

/* Length of the word of name characters at text. */
static size_t word(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || (text[n] && strchr("._-", text[n])))
		n++;
	return n;
}

static bool same_arguments(const struct parameter *a, const struct parameter *b)
{
	if (a->arg_count != b->arg_count)
		return false;
	for (size_t i = 0; i < a->arg_count; i++)
		if (strcmp(a->arg_name[i], b->arg_name[i]) != 0 || a->arg[i] != b->arg[i])
			return false;
	return true;
}

const char *profile_parse_name(char *text, struct parameter *row)
{
	size_t n = word(text);
	char *c = text + n;

	row->name = text;
	row->arg_count = 0;
	if (n == 0)
		return "a name starts with a letter, digit, '.', '_' or '-'";
	if (*c == '\0')
		return NULL;
	if (*c != '[')
		return "only letters, digits, '.', '_' and '-' stand in a name";
	do {
		*c++ = '\0';
		if (row->arg_count == PROFILE_ARGS)
			return "too many arguments";
		n = word(c);
		if (n == 0 || c[n] != '=')
			return "an argument is written name=value";
		row->arg_name[row->arg_count] = c;
		c[n] = '\0';
		c += n + 1;
		char *end;
		row->arg[row->arg_count] = strtod(c, &end);
		if (end == c || !isfinite(row->arg[row->arg_count]))
			return "the value of an argument is not a number";
		for (size_t i = 0; i < row->arg_count; i++)
			if (strcmp(row->arg_name[i], row->arg_name[row->arg_count]) == 0)
				return "an argument stands twice";
		row->arg_count++;
		c = end;
	} while (*c == ',');
	return c[0] == ']' && c[1] == '\0' ? NULL : "the brackets do not end with ']'";
}

char *profile_row_name(const struct parameter *row)
{
	char *text = xstrdup(row->name);

	for (size_t i = 0; i < row->arg_count; i++) {
		double value = row->arg[i];
		bool whole = value == nearbyint(value) && fabs(value) < 0x1p53;
		xappend(&text, "%c%s=%.*g", i ? ',' : '[', row->arg_name[i], whole ? 17 : 9, value);
	}
	if (row->arg_count > 0)
		xappend(&text, "]");
	return text;
}

struct parameter *profile_find_row(const struct profile *profile, const struct parameter *like)
{
	EACH_ROW (i, profile, like->name)
		if (same_arguments(&profile->row[i], like))
			return &profile->row[i];
	return NULL;
}

/* ---- adding ---- */

static void add_row(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t arg_count, struct estimate estimate, const char *status)
{
	struct parameter row = {.estimate = estimate, .arg_count = arg_count};
	char *name = xstrdup(spec->name);

	if (arg_count > PROFILE_ARGS || strlen(spec->unit) >= sizeof row.unit)
		msg_die(EXIT_MEASURE_FAILED, "bug: %s has too many arguments or too long a unit",
		        name);
	const char *wrong = profile_parse_name(name, &row);
	if (wrong || row.arg_count)
		msg_die(EXIT_MEASURE_FAILED,
		        "a curve has a series for %s, which is no parameter (%s): measure it again "
		        "with fathom probe",
		        spec->name, wrong ? wrong : "its arguments are given apart");
	row.arg_count = arg_count;
	for (size_t i = 0; i < arg_count; i++) {
		row.arg_name[i] = (char *)args[i].name;
		row.arg[i] = args[i].value;
	}
	char *whole = profile_row_name(&row);
	for (size_t i = 0; i < arg_count; i++)
		if (!isfinite(row.arg[i]))
			msg_die(EXIT_MEASURE_FAILED,
			        "a curve has a row for %s without %s: measure it again with fathom "
			        "probe",
			        whole, row.arg_name[i]);
	if (profile_find_row(profile, &row))
		msg_die(EXIT_MEASURE_FAILED,
		        "the curves have two points for %s: measure them again with fathom probe",
		        whole);
	free(whole);
	strcpy(row.unit, spec->unit);
	row.method = (char *)(spec->method ? spec->method : "");
	row.regime = (char *)(spec->regime ? spec->regime : "hardware");
	row.status = (char *)status;
	profile_append(profile, &row);
	free(name);
}

static const char *judge(const struct parameter_spec *spec, struct estimate estimate, bool busy)
{
	bool bounded = spec->low != 0 || spec->high != 0;
	const double value = estimate.value;

	if (estimate.samples == 0 || !isfinite(value))
		return "failed";
	if (estimate.high < 0 && profile_unit_is_amount(spec->unit))
		return "failed";
	if (bounded && (value < spec->low || value > spec->high)) {
		const bool may_be = estimate.low <= spec->high && estimate.high >= spec->low;
		return may_be && stats_noisy(&estimate) ? "noisy" : "failed";
	}
	return busy || stats_noisy(&estimate) ? "noisy" : "ok";
}

void profile_add(struct profile *profile, const struct parameter_spec *spec, const struct arg *args,
        size_t arg_count, struct estimate estimate, bool busy)
{
	add_row(profile, spec, args, arg_count, estimate, judge(spec, estimate, busy));
}

void profile_add_bounded(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t arg_count, double low, double high, size_t samples)
{
	add_row(profile, spec, args, arg_count, (struct estimate){NAN, low, high, samples},
	        "bounded");
}

/* ---- changed copies ---- */

struct profile *profile_copy(const struct profile *profile)
{
	struct profile *copy = profile_new();

	copy->hardware_alone = profile->hardware_alone;
	for (size_t i = 0; i < profile->count; i++)
		profile_append(copy, &profile->row[i]);
	if (profile->source) {
		copy->source = table_new(NULL, 0);
		table_meta_add(copy->source, profile->source);
	}
	return copy;
}

/* One end of a row's interval with its spread, NaN where there is none. */
static double end_of(const struct parameter *row, int side)
{
	const double value = row->estimate.value,
	             end = side > 0 ? row->estimate.high : row->estimate.low,
	             spread = row->spread * fmax(0, value - row->start);

	return row->spread > 0
	               ? fmax(fmin(value, row->start),
	                         value + side * hypot(isfinite(end) ? end - value : 0, spread))
	               : end;
}

bool profile_move_rows(
        struct profile *shifted, const struct profile *profile, const char *name, int side)
{
	bool moved = false;

	EACH_ROW (i, profile, name) {
		const struct parameter *row = &profile->row[i];
		const double value = row->estimate.value, end = end_of(row, side);
		shifted->row[i].estimate.value = side && isfinite(end) ? end : value;
		moved = moved || (side && isfinite(end) && end != value);
	}
	return moved;
}

struct profile *profile_shifted(const struct profile *profile, const char *name, int side)
{
	struct profile *shifted = profile_copy(profile);

	profile_move_rows(shifted, profile, name, side);
	return shifted;
}
