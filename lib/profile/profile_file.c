/* SPDX-License-Identifier: MIT */
/* The profile as a table, and back; every defect of a table is named. */
#include "profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "profile_row.h"

static const char *const statuses[] = {"ok", "noisy", "bounded", "failed"};
const char *const regime_name[REGIMES] = {"hardware", "library", "calibrated"};
static const char *const units[] = {
        "s", "B", "B/s", "Hz", "flop/s", "W", "cycle", "count", "ratio", "unit"};
static const char *const columns[] = {
        "parameter", "value", "unit", "low", "high", "samples", "method", "regime", "status"};

struct table *profile_to_table(const struct profile *profile)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	if (profile->source)
		table_meta_add(table, profile->source);
	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		size_t r = table_add_row(table);
		char *name = profile_row_name(row);
		table_set_text(table, r, "parameter", name);
		table_set_real(table, r, "value", row->estimate.value);
		table_set_text(table, r, "unit", row->unit);
		table_set_real(table, r, "low", row->estimate.low);
		table_set_real(table, r, "high", row->estimate.high);
		table_set_int(table, r, "samples", (int64_t)row->estimate.samples);
		table_set_text(table, r, "method", row->method);
		table_set_text(table, r, "regime", row->regime);
		table_set_text(table, r, "status", row->status);
		free(name);
	}
	return table;
}

bool profile_word_in(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

/* The error of a unit, or NULL. */
static const char *wrong_unit(const struct profile *profile, const char *name, const char *unit)
{
	const size_t first = profile_first(profile, name);
	const char *known = profile_unit_of(name);

	if (!profile_word_in(unit, units, ARRAY_LEN(units)))
		return "the unit is none of s B B/s Hz flop/s W cycle count ratio unit";
	if (first < profile->count && strcmp(profile->row[first].unit, unit) != 0)
		return "the unit is another one than in the rows above";
	if (first == profile->count && known && strcmp(known, unit) != 0)
		return "the unit is another one than the model knows of this parameter";
	return NULL;
}

/* Whether a value, or all of its interval, is one that the unit does not have: below 0. A noisy
 * value may be below 0 where its interval reaches above. */
static bool is_impossible(const struct parameter *row, const char *unit)
{
	const bool ok = strcmp(row->status, "ok") == 0, failed = strcmp(row->status, "failed") == 0;

	return profile_unit_is_amount(unit) &&
	       ((ok && row->estimate.value < 0) || (!failed && row->estimate.high < 0));
}

/* Reads the fields after the name. Returns NULL, or the error. */
static const char *read_fields(
        const struct profile *profile, const struct table *table, size_t r, struct parameter *row)
{
	double samples = table_real(table, r, "samples");
	const char *unit = table_text(table, r, "unit");

	row->method = (char *)table_text(table, r, "method");
	row->regime = (char *)table_text(table, r, "regime");
	row->status = (char *)table_text(table, r, "status");
	row->estimate.value = table_real(table, r, "value");
	row->estimate.low = table_real(table, r, "low");
	row->estimate.high = table_real(table, r, "high");
	if (!profile_word_in(row->status, statuses, ARRAY_LEN(statuses)))
		return "the status is none of ok, noisy, bounded, failed";
	if (!profile_word_in(row->regime, regime_name, REGIMES))
		return "the regime is none of hardware, library, calibrated";
	const char *wrong = wrong_unit(profile, row->name, unit);
	if (wrong)
		return wrong;
	if (!(samples >= 0 && samples < 0x1p53))
		return "samples is not a count";
	if (row->estimate.low > row->estimate.high)
		return "low lies above high";
	if (row->estimate.value < row->estimate.low || row->estimate.value > row->estimate.high)
		return "the value does not lie between low and high";
	if (!isfinite(row->estimate.value) && strcmp(row->status, "failed") != 0 &&
	        strcmp(row->status, "bounded") != 0)
		return "the value is not a number, but the status is neither bounded nor failed";
	if (is_impossible(row, unit))
		return "the value is below 0, but the status is not failed";
	strcpy(row->unit, unit);
	row->estimate.samples = (size_t)samples;
	return NULL;
}

static bool read_row(
        struct profile *profile, const struct table *table, size_t r, struct fault *fault)
{
	const char *written = table_text(table, r, "parameter");
	char *name = xstrdup(written);
	struct parameter row = {0};

	const char *wrong = profile_parse_name(name, &row);
	if (!wrong && profile_find_row(profile, &row))
		wrong = "the parameter stands twice";
	if (!wrong)
		wrong = read_fields(profile, table, r, &row);
	if (wrong)
		table_fault(table, r, fault, "%.60s: %s", written, wrong);
	else
		profile_append(profile, &row);
	free(name);
	return !wrong;
}

struct profile *profile_from_table(struct table *table, struct fault *fault)
{
	struct profile *profile = profile_new();
	bool ok = true;

	profile->source = table;
	for (size_t i = 0; ok && i < ARRAY_LEN(columns); i++)
		if (table_column(table, columns[i]) < 0)
			ok = fault_set(fault, "%.300s has no column %s",
			        table->path ? table->path : "the profile", columns[i]);
	for (size_t r = 0; ok && r < table->row_count; r++)
		ok = read_row(profile, table, r, fault);
	if (ok)
		return profile;
	profile_free(profile);
	return NULL;
}

struct profile *profile_read(const char *path, struct fault *fault)
{
	struct table *table = table_read(path, fault);

	return table ? profile_from_table(table, fault) : NULL;
}

struct profile *profile_open(const char *folder)
{
	struct fault fault;
	char *path = xasprintf("%s/profile.tsv", folder);
	struct profile *profile = profile_read(path, &fault);

	if (!profile)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s; fathom probe measures one, fathom fit makes it again from its curves",
		        fault.text);
	free(path);
	return profile;
}

void profile_warn_sms(const struct profile *profile)
{
	const char *text = getenv("FATHOM_SMS");
	const size_t first = profile_first(profile, "gpu.sm.count");
	int64_t sms = 0;

	if (!text || !cli_parse_int(text, &sms) || sms < 1 || first == profile->count)
		return;
	const double count = profile->row[first].estimate.value;
	if ((double)sms != count)
		msg_warn("FATHOM_SMS=%" PRId64 " is for measuring, and this profile has %.0f "
		         "multiprocessors: ask a machine such as nvidia-h200-sms-16",
		        sms, count);
}
