/* SPDX-License-Identifier: MIT */
/* Where the rows of a name are: a hash table of names, open addressing, and from row to row of one
 * name the position of the next. */
#include "profile_row.h"

#include <stdlib.h>

#include "lib/base/msg.h"

/* The first and the last row of a name, counted from 1 on; first 0: free. */
struct profile_name {
	uint32_t first, last;
};

/* Eight characters at a time. */
uint32_t profile_name_key(const char *name)
{
	uint64_t hash = 0, word = 0;
	size_t length = strlen(name);

	for (; length > sizeof word; name += sizeof word, length -= sizeof word) {
		memcpy(&word, name, sizeof word);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	}
	for (word = 0; *name; name++)
		word = word << 8 | (unsigned char)*name;
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return (uint32_t)(hash >> 32);
}

/* The name's slot, or the free one that it would take; the table has slots, some of them free. */
static struct profile_name *slot_of(const struct profile *profile, uint32_t key, const char *name)
{
	const size_t last = profile->slots - 1;

	for (size_t at = key & last;; at = (at + 1) & last) {
		struct profile_name *slot = &profile->name[at];
		const struct parameter *row = slot->first ? &profile->row[slot->first - 1] : NULL;
		if (!row || (row->name_key == key && strcmp(row->name, name) == 0))
			return slot;
	}
}

size_t profile_first(const struct profile *profile, const char *name)
{
	if (profile->count == 0)
		return 0;
	const struct profile_name *slot = slot_of(profile, profile_name_key(name), name);
	return slot->first ? slot->first - 1 : profile->count;
}

/* Puts the last row of the profile, or the i-th while the table is built, behind those of its name.
 */
static void enter(struct profile *profile, size_t i)
{
	struct parameter *row = &profile->row[i];
	struct profile_name *slot = slot_of(profile, row->name_key, row->name);

	row->next = 0;
	if (slot->first)
		profile->row[slot->last - 1].next = (uint32_t)i;
	else
		profile->names++;
	slot->last = (uint32_t)i + 1;
	if (!slot->first)
		slot->first = slot->last;
}

static void build(struct profile *profile, size_t slots)
{
	free(profile->name);
	profile->name = xcalloc(slots, sizeof *profile->name);
	profile->slots = slots;
	profile->names = 0;
	for (size_t i = 0; i < profile->count; i++)
		enter(profile, i);
}

void profile_put(struct profile *profile, const struct parameter *row)
{
	const size_t n = profile->count;

	/* Both arrays double when they are full; half of the names' stays free. */
	if ((n & (n - 1)) == 0)
		profile->row = xrealloc(profile->row, (n ? 2 * n : 1) * sizeof *profile->row);
	profile->row[profile->count++] = *row;
	if (2 * profile->names >= profile->slots)
		build(profile, profile->slots ? 2 * profile->slots : 16);
	else
		enter(profile, n);
}

void profile_remove_if(struct profile *profile,
        bool (*which)(const struct parameter *, const void *), const void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->count; i++) {
		if (which(&profile->row[i], context))
			profile_clear_row(&profile->row[i]);
		else
			profile->row[kept++] = profile->row[i];
	}
	profile->count = kept;
	if (profile->slots)
		build(profile, profile->slots);
}

struct profile profile_view(const struct profile *profile)
{
	struct profile view = *profile;

	view.row = xmalloc((view.count + 1) * sizeof *view.row);
	view.name = xmalloc((view.slots + 1) * sizeof *view.name);
	if (view.count) {
		memcpy(view.row, profile->row, view.count * sizeof *view.row);
		memcpy(view.name, profile->name, view.slots * sizeof *view.name);
	}
	return view;
}

void profile_view_free(struct profile *view)
{
	free(view->row);
	free(view->name);
}
