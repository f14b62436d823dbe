/* SPDX-License-Identifier: MIT */
#include "update_or_refactor.h"

#include "lib/base/msg.h"
#include "lib/base/table.h"
#include "update_cases.h"

#include <math.h>
#include <stdlib.h>

static const char *const columns[] = {"operation", "q", "from", "points", "even", "error_update",
        "error_refactor", "right", "cost", "cost_worst", "always", "always_worst", "never",
        "never_worst"};
enum { FIRST_VALUE = 5 };

/* ---- points ---- */

static double seconds_of(
        const struct results *results, const struct result *row, enum update_way way)
{
	struct update_question asked = update_question_of(row);
	struct result like = update_row(&asked, way, row->executor);
	const struct result *found = results_find(results, &like);

	return found ? found->seconds.value : NAN;
}

size_t update_choices_list(const struct results *predictions, const struct results *measurements,
        struct update_choice **list)
{
	size_t count = 0;

	*list = xmalloc((predictions->count + 1) * sizeof **list);
	for (size_t i = 0; i < predictions->count; i++) {
		const struct result *row = &predictions->row[i];
		if (!results_is_update(row) || update_way_of(row) != UPDATE_CHANGE)
			continue;
		struct update_choice d = {.row = row,
		        .update = seconds_of(measurements, row, UPDATE_CHANGE),
		        .refactor = seconds_of(measurements, row, UPDATE_REFACTOR),
		        .predicted_update = row->seconds.value,
		        .predicted_refactor = seconds_of(predictions, row, UPDATE_REFACTOR)};
		if (d.update > 0 && d.refactor > 0 && d.predicted_update > 0 &&
		        d.predicted_refactor > 0)
			(*list)[count++] = d;
	}
	return count;
}

/* ---- summaries ---- */

static void add_cost(double *mean, double *worst, double chosen, double better, size_t count)
{
	double cost = chosen / better - 1;

	*mean += cost / (double)count;
	*worst = fmax(*worst, cost);
}

struct update_choice_summary update_choices_summary(const struct update_choice *list, size_t count)
{
	struct update_choice_summary s = {
	        .points = count, .error_update = NAN, .error_refactor = NAN};
	double *update = xmalloc((count + 1) * sizeof *update);
	double *refactor = xmalloc((count + 1) * sizeof *refactor);

	for (size_t i = 0; i < count; i++) {
		const struct update_choice *d = &list[i];
		bool chosen = d->predicted_update <= d->predicted_refactor;
		double ratio = d->predicted_update / d->predicted_refactor;
		double better = fmin(d->update, d->refactor);
		s.even += ratio > 0.5 && ratio < 2;
		s.right += (chosen == (d->update <= d->refactor)) / (double)count;
		add_cost(&s.cost, &s.cost_worst, chosen ? d->update : d->refactor, better, count);
		add_cost(&s.always, &s.always_worst, d->update, better, count);
		add_cost(&s.never, &s.never_worst, d->refactor, better, count);
		update[i] = fabs(d->predicted_update / d->update - 1);
		refactor[i] = fabs(d->predicted_refactor / d->refactor - 1);
	}
	if (count) {
		s.error_update = stats_median(update, count);
		s.error_refactor = stats_median(refactor, count);
	}
	free(update);
	free(refactor);
	return s;
}

/* ---- the table ---- */

static void add_row(struct table *table, const char *operation, const char *q, const char *from,
        const struct update_choice *list, size_t count)
{
	const struct update_choice_summary s = update_choices_summary(list, count);
	const double values[] = {s.error_update, s.error_refactor, s.right, s.cost, s.cost_worst,
	        s.always, s.always_worst, s.never, s.never_worst};
	size_t r = table_add_row(table);

	table_set_text(table, r, "operation", operation);
	table_set_text(table, r, "q", q);
	table_set_text(table, r, "from", from);
	table_set_int(table, r, "points", (int64_t)s.points);
	table_set_int(table, r, "even", (int64_t)s.even);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		table_set_real(table, r, columns[FIRST_VALUE + i], values[i]);
}

/* One row for all changes of a kind. */
static void add_kind(struct table *table, const struct update_question *kind,
        const struct update_choice *list, size_t count)
{
	struct update_choice *some = xmalloc((count + 1) * sizeof *some);
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		struct update_question q = update_question_of(list[i].row);
		if (q.change == kind->change && q.kept == kind->kept &&
		        q.from_host == kind->from_host)
			some[found++] = list[i];
	}
	if (found)
		add_row(table, qr_change_name[kind->change], q_kept_name[kind->kept],
		        kind->from_host ? "host" : "device", some, found);
	free(some);
}

struct table *update_choices_table(const struct update_choice *list, size_t count)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (int host = 0; host < 2; host++)
		for (int change = 0; change <= QR_MODIFY; change++)
			for (int kept = Q_NONE; kept <= Q_FULL; kept++)
				add_kind(table,
				        &(struct update_question){.change = (enum qr_change)change,
				                .kept = (enum q_kept)kept,
				                .from_host = host},
				        list, count);
	if (count)
		add_row(table, "all", "all", "all", list, count);
	return table;
}

void update_choices_print(const struct table *table, FILE *out)
{
	static const char *const head[] = {
	        "update", "refac.", "right", "cost", "worst", "always", "worst", "never", "worst"};

	fprintf(out,
	        "Update or refactor? Choices of the model before the runs, in %%: median "
	        "|errors| of both\ntimes; right choices; time lost by them, by always and by never "
	        "updating\n"
	        "%-14s %-4s %-6s %5s %4s",
	        "change", "Q", "from", "cases", "even");
	for (size_t c = 0; c < ARRAY_LEN(head); c++)
		fprintf(out, " %6s", head[c]);
	fputc('\n', out);
	for (size_t r = 0; r < table->row_count; r++) {
		fprintf(out, "%-14s %-4s %-6s %5s %4s", table_text(table, r, "operation"),
		        table_text(table, r, "q"), table_text(table, r, "from"),
		        table_text(table, r, "points"), table_text(table, r, "even"));
		for (size_t c = FIRST_VALUE; c < ARRAY_LEN(columns); c++)
			fprintf(out, " %6.1f", 100 * table_real(table, r, columns[c]));
		fputc('\n', out);
	}
}
