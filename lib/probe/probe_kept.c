/* SPDX-License-Identifier: MIT */
#include "probe_kept.h"

#include "lib/base/home.h"
#include "lib/base/msg.h"
#include "lib/device/machine.h"
#include "lib/profile/profile_row.h"

#include <stdlib.h>
#include <string.h>

static const char *said(const struct table *table, const char *key)
{
	const char *value = table_meta(table, key);

	return value ? value : "";
}

static bool is_among(
        const char *name, size_t length, const char *const *measured, size_t measured_count)
{
	for (size_t i = 0; i < measured_count; i++)
		if (strlen(measured[i]) == length && strncmp(measured[i], name, length) == 0)
			return true;
	return false;
}

struct probe_kept probe_kept_read(
        const char *folder, const char *const *measured, size_t measured_count)
{
	struct probe_kept kept = {.probes = xstrdup("")};
	struct fault fault;
	char *path = xasprintf("%s/profile.tsv", folder);

	kept.old = home_holds(folder, "profile.tsv") ? profile_read(path, &fault) : NULL;
	free(path);
	if (!kept.old)
		return kept;
	for (const char *name = said(kept.old->source, "probes"); *name;) {
		const size_t length = strcspn(name, " ");
		if (!is_among(name, length, measured, measured_count))
			xappend(&kept.probes, "%s%.*s", kept.probes[0] ? " " : "", (int)length,
			        name);
		name += length;
		name += strspn(name, " ");
	}
	return kept;
}

void probe_kept_add(
        struct profile *profile, struct probe_kept *kept, const char *machine, const char *folder)
{
	if (!kept->probes[0])
		return;
	const char *old = said(kept->old->source, "machine");
	if (machine && old[0] && !machine_same(old, machine)) {
		msg_warn("the curves of %s are not in %s, and its profile is of another machine: "
		         "their parameters are left out",
		        kept->probes, folder);
		return;
	}
	struct profile *fitted = profile_copy(profile);
	for (size_t i = 0; i < kept->old->count; i++) {
		const struct parameter *row = &kept->old->row[i];
		if (profile_first(fitted, row->name) < fitted->count)
			continue;
		profile_append(profile, row);
		kept->rows++;
	}
	profile_free(fitted);
	if (kept->rows)
		msg_warn("the curves of %s are not in %s: their %zu parameters keep their values",
		        kept->probes, folder, kept->rows);
}

void probe_kept_note(struct table *table, const struct probe_kept *kept)
{
	if (!kept->rows)
		return;
	const struct table *old = kept->old->source;
	if (strcmp(said(old, "date"), said(table, "date")) > 0)
		table_meta_set(table, "date", "%s", said(old, "date"));
	if (strcmp(said(old, "measured_from"), said(table, "measured_from")) < 0)
		table_meta_set(table, "measured_from", "%s", said(old, "measured_from"));
	if (strcmp(said(old, "quick"), "yes") == 0)
		table_meta_set(table, "quick", "yes");
	if (strchr(said(old, "machine"), '-')) /* of host and GPU */
		table_meta_set(table, "machine", "%s", said(old, "machine"));
	char *probes = xasprintf("%s %s", said(table, "probes"), kept->probes);
	table_meta_set(table, "probes", "%s", probes);
	free(probes);
	table_meta_add(table, old);
}

void probe_kept_free(struct probe_kept *kept)
{
	profile_free(kept->old);
	free(kept->probes);
}
