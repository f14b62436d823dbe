/* SPDX-License-Identifier: MIT */
/* What-ifs: rows that a user sets or scales. Rows that contain them follow (profile_parts.c). */
#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "profile_row.h"

#include <stdlib.h>
#include <string.h>

/* The bit of the next what-if, 0 with a fault when there are too many. */
static uint64_t next_change(struct profile *profile, struct fault *fault)
{
	if (profile->changes < PROFILE_CHANGES)
		return (uint64_t)1 << profile->changes++;
	fault_set(fault, "more than %d what-ifs at once", PROFILE_CHANGES);
	return 0;
}

bool profile_change_is_read(const struct profile *profile, int change)
{
	for (size_t i = 0; i < profile->count; i++)
		if (profile->row[i].read && profile->row[i].changed >> change & 1)
			return true;
	return false;
}

static bool has_name(const struct parameter *row, const void *name)
{
	return strcmp(row->name, name) == 0;
}

static void set_row(struct parameter *row, double value, uint64_t bit)
{
	row->changed |= bit;
	row->estimate = (struct estimate){value, value, value, 1};
	free(row->method);
	free(row->status);
	row->method = xstrdup("--set");
	row->status = xstrdup("ok");
}

/* A value as the user wrote it: its base unit is "" where none stands. */
struct quantity {
	double value;
	const char *unit;
};

/* Whether a row can have that value. */
static bool suits(const struct parameter *row, const struct quantity *given, const char *text,
        struct fault *fault)
{
	const char *example = profile_unit_example(row->unit);

	if (given->unit[0] && strcmp(given->unit, row->unit) != 0)
		return fault_set(fault, "--set %s: its unit is %s, not %s: give a value such as %s",
		        text, row->unit, given->unit, example);
	if (given->value < 0)
		return fault_set(fault, "--set %s: the value is below 0: give one such as %s", text,
		        example);
	if (given->value == 0 && profile_unit_excludes_zero(row->unit))
		return fault_set(fault,
		        "--set %s: a rate, a count or a clock is never 0: give one such as %s",
		        text, example);
	return true;
}

static bool set_named(struct profile *profile, char *name, const struct quantity *given,
        const char *text, uint64_t bit, struct fault *fault)
{
	struct parameter like = {0};
	const char *wrong = profile_parse_name(name, &like);
	struct parameter *row = wrong ? NULL : profile_find_row(profile, &like);

	if (wrong)
		return fault_set(fault, "--set %s: %s", text, wrong);
	const size_t first = row ? 0 : profile_first(profile, like.name);
	if (!row && like.arg_count == 0 && first < profile->count)
		row = &profile->row[first];
	if (!row)
		return fault_set(fault,
		        "--set %s: the profile has no such parameter (fathom list parameters names "
		        "them)",
		        text);
	if (!suits(row, given, text, fault))
		return false;
	if (like.arg_count) {
		set_row(row, given->value, bit);
		return true;
	}
	/* A name without brackets stands for all its rows: one constant replaces them. */
	struct profile one = {0};
	profile_append(&one, row);
	for (size_t i = 0; i < one.row->arg_count; i++)
		free(one.row->arg_name[i]);
	one.row->arg_count = 0;
	set_row(one.row, given->value, bit);
	profile_remove_if(profile, has_name, like.name);
	profile_append(profile, one.row);
	profile_clear_row(one.row);
	profile_view_free(&one);
	return true;
}

/* NAME=NUMBER, cut; the caller frees *name. False with a fault. */
static bool split_assignment(const char *option, const char *example, const char *assignment,
        char **name, struct quantity *given, struct fault *fault)
{
	const char *bracket = strchr(assignment, ']');
	const char *equals = strchr(bracket ? bracket : assignment, '=');

	if (!equals)
		return fault_set(fault, "%s %s: write %s", option, assignment, example);
	if (!cli_parse_quantity(equals + 1, &given->value, &given->unit))
		return fault_set(fault,
		        "%s %s: '%s' is not a number with a known unit: give one such as 1.5us",
		        option, assignment, equals + 1);
	*name = xstrdup(assignment);
	(*name)[equals - assignment] = '\0';
	return true;
}

bool profile_set(struct profile *profile, const char *assignment, struct fault *fault)
{
	double before[PROFILE_PARTS];
	struct quantity given;
	char *name;

	if (!split_assignment("--set", "NAME=VALUE, as in gpu.launch.enqueue=1.0us", assignment,
	            &name, &given, fault))
		return false;
	const uint64_t bit = next_change(profile, fault);
	profile_parts(profile, before);
	const bool ok = bit && set_named(profile, name, &given, assignment, bit, fault);
	if (ok)
		profile_follow(profile, before, bit, NULL, 0);
	free(name);
	return ok;
}

static void scale_row(struct parameter *row, double factor, uint64_t bit)
{
	row->estimate.value *= factor;
	row->estimate.low *= factor;
	row->estimate.high *= factor;
	row->changed |= bit;
}

/* Returns whether any row matches. */
static bool scale_matching(
        struct profile *profile, const char *pattern, double factor, uint64_t bit)
{
	double before[PROFILE_PARTS];
	bool any = false;

	profile_parts(profile, before);
	for (size_t i = 0; i < profile->count; i++) {
		if (!profile_name_matches(profile->row[i].name, pattern))
			continue;
		scale_row(&profile->row[i], factor, bit);
		any = true;
	}
	profile_follow(profile, before, bit, NULL, 0);
	return any;
}

bool profile_scale(struct profile *profile, const char *assignment, struct fault *fault)
{
	static const char example[] = "PATTERN=FACTOR, as in gpu.dram.*=2";
	struct quantity factor;
	char *pattern;

	if (!split_assignment("--scale", example, assignment, &pattern, &factor, fault))
		return false;
	const uint64_t bit = next_change(profile, fault);
	bool ok = bit != 0;
	if (ok && (!(factor.value > 0) || factor.unit[0]))
		ok = fault_set(fault, "--scale %s: the factor is not a number above 0: write %s",
		        assignment, example);
	if (ok && !scale_matching(profile, pattern, factor.value, bit))
		ok = fault_set(fault,
		        "--scale %s: the profile has no parameter of such a name (fathom list "
		        "parameters names them)",
		        assignment);
	free(pattern);
	return ok;
}

static const uint64_t trial = (uint64_t)1 << PROFILE_CHANGES;

void profile_scale_rows(struct profile *profile, const char *name, double factor)
{
	scale_matching(profile, name, factor, trial);
}

void profile_try(struct profile *view, const char *name, double factor, const char *const *names,
        size_t count)
{
	double before[PROFILE_PARTS];

	profile_parts(view, before);
	EACH_ROW (i, view, name)
		scale_row(&view->row[i], factor, trial);
	profile_follow(view, before, trial, names, count);
}

bool profile_is_tried(const struct profile *view, const char *name)
{
	EACH_ROW (i, view, name)
		if (view->row[i].changed & trial)
			return true;
	return false;
}
