/* SPDX-License-Identifier: MIT */
#include "trace_record.h"

#include "lib/base/msg.h"
#include "factor/validation/trace_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *triangle(enum uplo uplo)
{
	return uplo == UPPER ? "upper" : "lower";
}

static const char *place(const struct plan *plan)
{
	return plan->hybrid ? "host" : "device";
}

void trace_record_describe(struct table *table, const struct whole *whole, const struct plan *plan)
{
	char text[WHOLE_PLAN_TEXT];

	table_meta_set(table, "uplo", "%s", triangle(whole->uplo));
	if (whole->math != MATH_FP32)
		table_meta_set(table, "math", "%s", math_name[whole->math]);
	if (whole_plan_text(whole, plan, text))
		table_meta_set(table, "plan", "%s", text);
	table_meta_set(table, "nb", "%" PRId64, plan->widths[0]);
	table_meta_set(table, "panels", "%s", place(plan));
}

static bool is(const struct table *table, const char *key, const char *value)
{
	const char *recorded = table_meta(table, key);

	return recorded && strcmp(recorded, value) == 0;
}

/* Of a record that names none it is fp32. */
static bool same_math(const struct table *table, enum math math)
{
	return table_meta(table, "math") ? is(table, "math", math_name[math]) : math == MATH_FP32;
}

struct table *trace_record_find(
        const char *folder, const struct factor_question *asked, struct fault *fault)
{
	char *path =
	        trace_file_path(folder, asked->operation, asked->precision, asked->m, asked->n);
	bool there = access(path, F_OK) == 0;
	struct table *table = there ? table_read(path, fault) : NULL;

	if (!there)
		fault_set(fault, "no run of it is recorded in %s", folder);
	if (table && (!is(table, "uplo", triangle(asked->uplo)) || !same_math(table, asked->math) ||
	                     !table_meta(table, "plan"))) {
		fault_set(fault, "%s is of another triangle, math or plan", path);
		table_free(table);
		table = NULL;
	}
	free(path);
	return table;
}

void trace_record_plan(const struct table *record, struct whole_plan *plan)
{
	const char *nb = table_meta(record, "nb");

	whole_plan_parse(table_meta(record, "plan"), is(record, "panels", "host"),
	        nb ? strtoll(nb, NULL, 10) : 0, plan);
}

bool trace_record_is_of(
        const struct table *record, const struct whole *whole, const struct plan *plan)
{
	char text[WHOLE_PLAN_TEXT], nb[32];

	snprintf(nb, sizeof nb, "%" PRId64, plan->widths[0]);
	return whole_plan_text(whole, plan, text) && is(record, "plan", text) &&
	       is(record, "nb", nb) && is(record, "panels", place(plan));
}
