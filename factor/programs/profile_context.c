/* SPDX-License-Identifier: MIT */
#include "profile_context.h"

#include "lib/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool profile_context_set_gpu(const struct cli_list *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (strncmp(set->item[i], "gpu.", 4) == 0 || strncmp(set->item[i], "link.", 5) == 0)
			return true;
	return false;
}

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
	msg_die(EXIT_BAD_USAGE, "%s '%s': %s are known", what, text, known);
}

/* Whether the user has named the folder. */
static bool choose_folder(
        const struct profile_context_question *q, struct profile_context_source *source)
{
	if (q->machine && q->given != q->preset)
		msg_die(EXIT_BAD_USAGE, "--machine and --output both name a data folder: give one");
	if (q->given != q->preset) {
		snprintf(source->choice, sizeof source->choice, "data: %.160s (given by --output)",
		        q->given);
		source->folder = xstrdup(q->given);
		return true;
	}
	if (q->own) {
		snprintf(source->choice, sizeof source->choice, "data: %.160s (measured here)",
		        q->own);
		source->folder = xstrdup(q->own);
		return false;
	}
	if (q->machine) {
		if (!q->machine[0] || strchr(q->machine, '/'))
			msg_die(EXIT_BAD_USAGE, "--machine takes the name of a folder in data/");
		unsetenv("FATHOM_DATA");
		setenv("MACHINE", q->machine, 1);
	}
	source->folder = xstrdup(machine_data_choose(source->choice));
	return machine_data_given();
}

static struct profile *ask_recorded(struct profile *local, struct profile_context_source *source)
{
	char *without = source->folder;

	profile_free(local);
	source->recorded = true;
	source->folder = xstrdup(machine_data_recorded(source->choice));
	msg_warn("the profile in %s has no GPU: the answer is for the recorded machine in %s; "
	         "--machine names another",
	        without, source->folder);
	free(without);
	return profile_open(source->folder);
}

struct profile *profile_context_open(
        const struct profile_context_question *q, struct profile_context_source *source)
{
	struct fault fault;

	*source = (struct profile_context_source){.recorded = false};
	const bool named = choose_folder(q, source);
	struct profile *profile = profile_open(source->folder);
	if (!named && q->about_gpu && !profile_has(profile, "gpu."))
		profile = ask_recorded(profile, source);
	for (size_t i = 0; i < q->set->count; i++)
		if (!profile_set(profile, q->set->item[i], &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	return profile;
}

void profile_context_stamp(struct table *table, const struct profile_context_source *source)
{
	table_meta_set(table, "profile", "%s", source->choice);
	if (source->recorded)
		table_meta_set(table, "recorded_machine", "%s", source->folder);
}
