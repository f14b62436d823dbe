/* SPDX-License-Identifier: MIT */
#include "trace_file.h"

#include "lib/base/msg.h"
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *trace_file_path(
        const char *folder, const char *operation, enum precision precision, int64_t m, int64_t n)
{
	char rows[32] = "";

	if (m != n)
		snprintf(rows, sizeof rows, "%" PRId64 "x", m);
	return xasprintf(
	        "%s/trace_%c%s_%s%" PRId64 ".tsv", folder, (char)precision, operation, rows, n);
}

struct table *trace_table_new(void)
{
	static const char *const columns[] = {"timeline", "lane", "engine", "phase", "operation",
	        "m", "n", "k", "block", "begin_s", "end_s", "critical_s"};

	return table_new(columns, ARRAY_LEN(columns));
}

#define MEMBER(kind, column, member) FIELD(struct timeline_entry, kind, column, member)

static const struct field fields[] = {MEMBER(FIELD_WHOLE, "m", m), MEMBER(FIELD_WHOLE, "n", n),
        MEMBER(FIELD_WHOLE, "k", k), MEMBER(FIELD_WHOLE, "block", block),
        MEMBER(FIELD_REAL, "begin_s", begin), MEMBER(FIELD_REAL, "end_s", end)};

void trace_table_add(struct table *table, const char *name, const struct timeline *t)
{
	double *critical = xmalloc((t->count + 1) * sizeof *critical);

	timeline_critical(t, critical);
	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_entry *e = &t->entry[i];
		size_t row = table_add_row(table);
		table_set_text(table, row, "timeline", name);
		table_set_text(table, row, "lane", lane_name[e->lane]);
		table_set_text(table, row, "engine", lane_name[e->engine]);
		table_set_text(table, row, "phase", phase_name[e->phase]);
		table_set_text(table, row, "operation", e->operation);
		fields_write(table, row, fields, ARRAY_LEN(fields), e);
		table_set_real(table, row, "critical_s", critical[i]);
	}
	free(critical);
}

/* ---- back ---- */

/* Index of the name, -1 when there is none. */
static int find(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static bool read_entry(const struct table *table, size_t row, struct timeline_entry *entry)
{
	int lane = find(lane_name, LANE_COUNT, table_text(table, row, "lane"));
	int engine = find(lane_name, LANE_COUNT, table_text(table, row, "engine"));
	int phase = find(phase_name, PHASE_COUNT, table_text(table, row, "phase"));
	const char *operation = table_text(table, row, "operation");

	*entry = (struct timeline_entry){.lane = (enum lane)lane,
	        .engine = (enum lane)engine,
	        .phase = (enum phase)phase,
	        .operation =
	                strcmp(operation, timeline_queueing) == 0 ? timeline_queueing : operation};
	return fields_read(table, row, fields, ARRAY_LEN(fields), entry) && lane >= 0 &&
	       engine >= 0 && phase >= 0 && isfinite(entry->begin) && isfinite(entry->end);
}

struct timeline *trace_table_timeline(
        const struct table *table, const char *name, const char *title, struct fault *fault)
{
	struct timeline *t = timeline_new(title);

	for (size_t row = 0; row < table->row_count; row++) {
		struct timeline_entry entry;
		if (strcmp(table_text(table, row, "timeline"), name) != 0)
			continue;
		if (!read_entry(table, row, &entry)) {
			table_fault(table, row, fault, "no step of a timeline: trace writes them");
			timeline_free(t);
			return NULL;
		}
		timeline_add(t, &entry);
	}
	return t;
}
