/* SPDX-License-Identifier: MIT */
#include "advise.h"

#include "factor/model/efficiency/efficiency.h"
#include "factor/model/efficiency/efficiency_class.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"
#include "lib/stats/stats.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
        "surface", "rows", "seconds", "start", "hardware", "efficiency", "lowest", "highest"};

static const char *const by_surface[] = {"surface", "rows", "efficiency", "lowest", "highest"},
                         *const by_row[] = {
                                 "surface", "seconds", "start", "hardware", "efficiency"};

/* Rows of one surface, or one row. */
struct surface_sum {
	char *name;
	size_t rows;
	struct efficiency last;
	double seconds; /* of the last row */
	double efficiency[512];
};

static void put(struct table *table, struct surface_sum *s)
{
	if (s->rows == 0)
		return;
	const size_t r = table_add_row(table);
	const double median = stats_quantile(s->efficiency, s->rows, 0.5);
	table_set_text(table, r, "surface", s->name);
	table_set_int(table, r, "rows", (int64_t)s->rows);
	table_set_real(table, r, "efficiency", median);
	table_set_real(table, r, "lowest", stats_quantile(s->efficiency, s->rows, 0));
	table_set_real(table, r, "highest", stats_quantile(s->efficiency, s->rows, 1));
	if (s->rows == 1) {
		table_set_real(table, r, "seconds", s->seconds);
		table_set_real(table, r, "start", s->last.start);
		table_set_real(table, r, "hardware", s->last.hardware);
	}
	free(s->name);
	s->name = NULL;
	s->rows = 0;
}

static struct table *efficiencies(
        const struct profile *profile, const char *pattern, bool each, size_t *unknown)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	struct efficiency_reader *reader = efficiency_reader_new(profile);
	struct surface_sum sum = {0};

	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		if (!efficiency_has(row) || (pattern && fnmatch(pattern, row->name, 0) != 0))
			continue;
		const struct efficiency e = efficiency_of(reader, row);
		if (isnan(e.efficiency)) {
			++*unknown;
			continue;
		}
		char *name = each ? profile_row_name(row) : xstrdup(row->name);
		if (sum.rows == ARRAY_LEN(sum.efficiency) ||
		        (sum.rows && strcmp(name, sum.name) != 0))
			put(table, &sum);
		free(sum.name);
		sum.name = name;
		sum.efficiency[sum.rows++] = e.efficiency;
		sum.last = e;
		sum.seconds = row->estimate.value;
	}
	put(table, &sum);
	efficiency_reader_free(reader);
	return table;
}

/* What unknown kernels take. */
static void print_classes(const struct profile *profile)
{
	const struct efficiency_classes classes = efficiency_classes_of(profile);

	printf("\nDefaults of unknown kernels, by what limits them:\n");
	for (int c = 0; c < CLASSES; c++) {
		const struct class_default *d = &classes.of[c];
		printf("  %-22s %.2f  (median of %zu points%s, 95 %% of them %.2f to %.2f)\n",
		        efficiency_class_name[c], d->efficiency, d->points,
		        d->of_all ? " of all classes" : "", d->low, d->high);
	}
}

void advise_efficiency(const char *pattern, const struct profile_context *context)
{
	size_t unknown = 0;
	const bool each = context->common.verbose;
	struct table *table = efficiencies(context->profile, pattern, each, &unknown);

	if (table->row_count == 0)
		msg_die(EXIT_MEASURE_FAILED,
		        "the profile has no timings of known work whose names match %s",
		        pattern ? pattern : "*");
	if (context->common.json) {
		profile_context_stamp(table, context);
		cli_write_json(table, "efficiency");
	} else {
		FILE *out = wrap_open();
		advise_describe(context, out);
		wrap_close(out, stdout);
		printf("Efficiency: seconds by the hardware law over measured seconds beyond the "
		       "start\n\n");
		table_print(table, each ? by_row : by_surface,
		        each ? ARRAY_LEN(by_row) : ARRAY_LEN(by_surface), stdout);
		if (unknown)
			printf("\n%zu timings have no known work, or hardware rows are missing\n",
			        unknown);
		if (!pattern)
			print_classes(context->measured);
	}
	table_free(table);
}
