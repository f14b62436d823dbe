/* SPDX-License-Identifier: MIT */
#include "profile_context.h"

#include "factor/model/efficiency/efficiency.h"

#include "factor/model/cost/cost.h"
#include "lib/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t profile_context_word(
        const char *text, const char *const *words, size_t count, const char *what)
{
	char known[128] = "";

	for (size_t i = 0; i < count && words[i]; i++) {
		if (strcmp(text, words[i]) == 0)
			return i;
		size_t used = strlen(known);
		snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", words[i]);
	}
	msg_die(EXIT_BAD_USAGE, "%s '%s' is not known: give one of %s", what, text, known);
}

static bool changes_gpu(const struct cli_list *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (strncmp(set->item[i], "gpu.", 4) == 0 || strncmp(set->item[i], "link.", 5) == 0)
			return true;
	return false;
}

/* Whether the user has named the folder. */
static bool choose_folder(struct profile_context *c)
{
	const char *given = c->common.output;
	const bool own = given == c->preset && c->own;

	if (own) {
		snprintf(c->choice, sizeof c->choice, "data: %.160s (measured here)", given);
		c->folder = xstrdup(given);
		return false;
	}
	c->folder = xstrdup(machine_data_asked(c->machine, given, c->preset, c->choice));
	if (given != c->preset)
		return true;
	return machine_data_given();
}

static void note_tuning(struct profile_context *c)
{
	const struct tuning_device device = cost_device(c->profile);

	if (profile_has(c->profile, "gpu.compute_capability") && tuning_note(&device, c->tuning))
		msg_warn("%s", c->tuning);
}

static void ask_recorded(struct profile_context *c)
{
	char *without = c->folder;

	profile_free(c->profile);
	c->recorded = true;
	c->folder = xstrdup(machine_data_recorded(c->choice));
	msg_warn("the profile in %s has no GPU: the answer is for the recorded machine in %s; "
	         "--machine names another",
	        without, c->folder);
	free(without);
	c->profile = profile_open(c->folder);
}

static bool take_hardware(struct profile *profile)
{
	struct profile *sizes = efficiency_any(profile) ? profile_copy(profile)
	                                                : profile_open(machine_data_recorded(NULL));
	const bool any = efficiency_by_hardware(profile, sizes) > 0;

	profile_free(sizes);
	return any;
}

struct profile *profile_context_hardware(const struct profile *profile)
{
	struct profile *alone = profile_copy(profile);

	if (!take_hardware(alone)) {
		profile_free(alone);
		return NULL;
	}
	efficiency_prepare(alone);
	return alone;
}

static bool take_efficiencies(struct profile *profile, const char *machine)
{
	struct profile *other = profile_open(machine_data_recorded_as(machine));
	const bool any = efficiency_take(profile, other) > 0;

	profile_free(other);
	return any;
}

/* Takes the efficiencies that the user chose. */
static void calibrate(struct profile_context *c)
{
	const bool none = strcmp(c->calibration, "none") == 0;

	if (!(none ? take_hardware(c->profile) : take_efficiencies(c->profile, c->calibration)))
		msg_die(EXIT_MEASURE_FAILED, "--calibration %s: no timing of known work there",
		        c->calibration);
}

void profile_context_open(struct profile_context *c, bool about_gpu)
{
	struct fault fault;
	const bool named = choose_folder(c);

	c->profile = profile_open(c->folder);
	profile_warn_sms(c->profile);
	if (!named && (about_gpu || changes_gpu(&c->set) || changes_gpu(&c->scale)) &&
	        !profile_has(c->profile, "gpu."))
		ask_recorded(c);
	char *path = xasprintf("%s/profile.tsv", c->folder);
	if (!table_sha256(path, c->sha, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	free(path);
	if (c->calibration)
		calibrate(c);
	if (c->assume)
		c->assume(c->profile);
	c->measured = c->profile;
	if (c->set.count + c->scale.count > 0) {
		c->measured = profile_copy(c->profile);
		efficiency_prepare(c->measured);
	}
	for (size_t i = 0; i < c->set.count; i++)
		if (!what_if_set(c->profile, c->set.item[i], &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	for (size_t i = 0; i < c->scale.count; i++)
		if (!what_if_scale(c->profile, c->scale.item[i], &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	efficiency_prepare(c->profile);
	note_tuning(c);
}

static void say_unread(
        const struct profile *profile, const char *option, const char *change, int number)
{
	const char *bracket = strchr(change, ']');
	const char *equals = strchr(bracket ? bracket : change, '=');

	if (!profile_change_is_read(profile, number))
		msg_warn("%s %s: nothing here reads %.*s", option, change, (int)(equals - change),
		        change);
}

void profile_context_close(struct profile_context *c)
{
	int number = 0;

	for (size_t i = 0; i < c->set.count; i++)
		say_unread(c->profile, "--set", c->set.item[i], number++);
	for (size_t i = 0; i < c->scale.count; i++)
		say_unread(c->profile, "--scale", c->scale.item[i], number++);
	if (c->measured != c->profile)
		profile_free(c->measured);
	profile_free(c->profile);
	free(c->folder);
}

void profile_context_stamp(struct table *table, const struct profile_context *c)
{
	table_meta_set(table, "profile", "%s", c->choice);
	if (c->calibration)
		table_meta_set(table, "calibration", "%s", c->calibration);
	if (c->recorded)
		table_meta_set(table, "recorded_machine", "%s", c->folder);
}

double profile_context_memory(const struct profile_context *c)
{
	struct fault fault;
	char *path = xasprintf("%s/machine.tsv", c->folder);
	struct table *machine = table_read(path, &fault);
	double bytes = 0;

	for (size_t r = 0; machine && r < machine->row_count; r++)
		if (strcmp(table_text(machine, r, "key"), "gpu.memory.bytes") == 0)
			bytes = table_real(machine, r, "value");
	table_free(machine);
	free(path);
	return bytes;
}
