/* SPDX-License-Identifier: MIT */
#include "breakdown.h"

#include "lib/base/msg.h"
#include "factor/validation/papers/lawn_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const breakdown_variant[PLACE_COUNT] = {"gpu", "hybrid", LAWN_VARIANT, "host"};

enum { HOST_WIDTH = 64 };

static bool on_host(const struct factor_question *asked, struct plan_choice *choice)
{
	choice->widths[0] = asked->n < HOST_WIDTH ? asked->n : HOST_WIDTH;
	choice->plan = (struct plan){.hybrid = true,
	        .panel = "persistent",
	        .widths = choice->widths,
	        .count = 1,
	        .leaf = choice->widths[0],
	        .lookahead = 0};
	return true;
}

static bool by_lawn(const struct profile *profile, const struct factor_question *asked,
        struct plan_choice *choice)
{
	const struct bench_shape shape = {
	        asked->operation, asked->precision, asked->m, asked->n, asked->ld};
	struct whole_plan *own = xmalloc(sizeof *own);
	enum operation operation;
	const bool has = lawn_plan_has(&shape) && operation_find(asked->operation, &operation);

	if (has) {
		lawn_plan_make(profile, &shape, operation, own);
		choice->plan = own->plan;
		choice->plan.widths = choice->widths;
		memcpy(choice->widths, own->widths,
		        (size_t)own->plan.count * sizeof *choice->widths);
	}
	free(own);
	return has;
}

bool breakdown_choose(const struct profile *profile, const struct factor_question *asked,
        enum breakdown_place place, struct plan_choice *choice)
{
	struct plan_fixed fixed = plan_free;

	fixed.hybrid = place == PLACE_HYBRID;
	return place == PLACE_HOST   ? on_host(asked, choice)
	       : place == PLACE_LAWN ? by_lawn(profile, asked, choice)
	                             : plan_choose(profile, asked, &fixed, choice);
}

/* ---- rows ---- */

struct table *breakdown_table(void)
{
	static const char *const columns[] = {
	        "operation", "variant", "precision", "n", "nb", "phase", "busy_s", "critical_s"};

	return table_new(columns, ARRAY_LEN(columns));
}

static void add_row(struct table *table, const struct factor_question *asked,
        enum breakdown_place place, const char *phase, double busy, double critical)
{
	const char precision[] = {(char)asked->precision, 0};
	size_t r = table_add_row(table);

	table_set_text(table, r, "operation", asked->operation);
	table_set_text(table, r, "variant", breakdown_variant[place]);
	table_set_text(table, r, "precision", precision);
	table_set_int(table, r, "n", asked->n);
	table_set_int(table, r, "nb", asked->plan->widths[0]);
	table_set_text(table, r, "phase", phase);
	table_set_real(table, r, "busy_s", busy);
	table_set_real(table, r, "critical_s", critical);
}

void breakdown_add(struct table *table, const struct factor_question *asked,
        enum breakdown_place place, const struct timeline *timeline, double plain, double seconds)
{
	const struct exposure exposure = timeline_expose(timeline);
	double busy[PHASE_COUNT];

	timeline_busy(timeline, busy);
	for (int p = 0; p < PHASE_COUNT; p++)
		if (busy[p] > 0 || exposure.critical[p] > 0)
			add_row(table, asked, place, phase_name[p], busy[p], exposure.critical[p]);
	add_row(table, asked, place, "idle", NAN,
	        exposure.critical[CRITICAL_QUEUEING] + exposure.critical[CRITICAL_IDLE]);
	if (plain > 0)
		add_row(table, asked, place, "plain", NAN, plain);
	add_row(table, asked, place, "all", NAN, seconds);
}

static bool is(const struct table *table, size_t row, const char *column, const char *text)
{
	return strcmp(table_text(table, row, column), text) == 0;
}

bool breakdown_has(
        const struct table *table, const struct factor_question *asked, enum breakdown_place place)
{
	for (size_t r = 0; r < table->row_count; r++)
		if (is(table, r, "operation", asked->operation) &&
		        is(table, r, "variant", breakdown_variant[place]) &&
		        table_text(table, r, "precision")[0] == (char)asked->precision &&
		        table_real(table, r, "n") == (double)asked->n)
			return true;
	return false;
}

/* ---- text ---- */

/* The rows of one run, from `first` to the row "all". */
static void print_run(const struct table *table, size_t first, size_t all, FILE *out)
{
	double seconds = table_real(table, all, "critical_s");

	fprintf(out, "%-6s %s %6s %-7s nb %-5s %9.1f us:", table_text(table, all, "operation"),
	        table_text(table, all, "precision"), table_text(table, all, "n"),
	        table_text(table, all, "variant"), table_text(table, all, "nb"), seconds * 1e6);
	for (size_t r = first; r < all; r++)
		if (!is(table, r, "phase", "plain"))
			fprintf(out, " %s %.1f %%", table_text(table, r, "phase"),
			        100 * table_real(table, r, "critical_s") / seconds);
	fputc('\n', out);
}

void breakdown_print(const struct table *table, FILE *out)
{
	size_t first = 0;

	for (size_t r = 0; r < table->row_count; r++)
		if (is(table, r, "phase", "all")) {
			print_run(table, first, r, out);
			first = r + 1;
		}
}
