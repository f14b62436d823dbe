/* SPDX-License-Identifier: MIT */
#include "ablations.h"

#include "lib/base/msg.h"
#include "factor/algorithms/getrf.h"
#include "factor/validation/cases.h"
#include "factor/validation/papers/lawn_plan.h"
#include "factor/validation/whole.h"

#include <stdlib.h>
#include <string.h>

enum { ABLATION_SMALLEST = 1024, ABLATION_LARGEST = 16384, FROM_HOST_LARGEST = 16384 };

enum omission { INVERSE, LOOKAHEAD, ROWS, WIDTHS, TWO_LEVELS, TRANSFERS, BATCHES, OMISSIONS };
static const char *const omission_name[OMISSIONS] = {
        "inverse", "lookahead", "rows", "widths", "levels", "transfers", "batches"};

/* The fastest of a variant in the screening, resident, in fp32 and complete; NULL: none. */
static const struct result *fastest(const struct result *row, size_t count, const char *variant)
{
	const struct result *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (strcmp(row[i].variant, variant) == 0 && row[i].math == MATH_FP32 &&
		        !result_has(&row[i], "from") && !result_has(&row[i], "without") &&
		        (!best || row[i].seconds.value < best->seconds.value))
			best = &row[i];
	return best;
}

/* One width for all blocks; false where the plan has no sequence, or the width is unknown. */
static bool level_widths(const struct profile *profile, struct result *row, struct whole_plan *plan)
{
	const int64_t width =
	        plan->plan.count > 1 && profile ? cases_single_width(profile, row) : 0;

	plan->plan.count = 1;
	plan->widths[0] = row->nb = width;
	return width > 0;
}

/* Removes an optimization from the plan, or leaves that to the option (rows); false where the plan
 * does not have it. */
static bool leave_out(const struct executor *e, const struct profile *profile, enum omission what,
        enum operation operation, struct result *row, struct whole_plan *plan)
{
	const struct matrix a = {NULL, 0, row->m, row->n, row->m, row->precision};
	const struct plan before = plan->plan;
	const bool lawn = strcmp(row->variant, LAWN_VARIANT) == 0;

	switch (what) {
	case INVERSE:
		plan->plan.inverse = 0;
		return before.inverse != 0 && operation != GEQRF; /* QR solves no triangles */
	case LOOKAHEAD:
		plan->plan.lookahead = 0;
		return before.lookahead != 0;
	case ROWS:
		plan->plan.row_major = false;
		return operation == GETRF && getrf_row_major(e, &before, a);
	case TWO_LEVELS:
		plan->plan.coarse = 0;
		return before.coarse != 0;
	case TRANSFERS:
		plan->plan.copies_wait = true;
		return lawn;
	case BATCHES:
		plan->plan.single_swaps = true;
		return lawn && operation == GETRF;
	default:
		return level_widths(profile, row, plan);
	}
}

/* The row with one change; false where its plan does not have that. */
static bool vary(const struct executor *e, const struct profile *profile, const struct result *from,
        enum omission what, struct result *row)
{
	struct whole_plan *plan = xmalloc(sizeof *plan);
	struct whole whole = {.uplo = LOWER};

	*row = *from;
	operation_find(row->operation, &whole.operation);
	whole_plan_parse(from->plan, whole_panels_on_host(from->variant), from->nb, plan);
	bool has = leave_out(e, profile, what, whole.operation, row, plan);
	whole_plan_text(&whole, &plan->plan, row->plan);
	results_option_add(row->options, "without", omission_name[what]);
	free(plan);
	return has;
}

size_t ablations_without(const struct executor *e, const struct profile *profile,
        const struct results *done, struct result *row, size_t count)
{
	const struct result *best[] = {fastest(row, count, "gpu"), fastest(row, count, "hybrid"),
	        fastest(row, count, LAWN_VARIANT)};

	if (count == 0 || row->m != row->n || row->precision != SINGLE ||
	        row->n < ABLATION_SMALLEST || row->n > ABLATION_LARGEST)
		return count;
	for (size_t v = 0; v < ARRAY_LEN(best); v++)
		for (int what = 0; what < OMISSIONS && best[v]; what++)
			if (vary(e, profile, best[v], (enum omission)what, &row[count]) &&
			        !results_find(done, &row[count]))
				count++;
	return count;
}

size_t ablations_of(const struct executor *e, const struct profile *profile,
        const struct result *from, struct result *row)
{
	size_t count = 0;

	for (int what = 0; what < OMISSIONS; what++)
		count += vary(e, profile, from, (enum omission)what, &row[count]);
	return count;
}

size_t ablations_gram(struct result *row, size_t count)
{
	enum { TALL = 8 };
	const size_t plans = count;

	if (count == 0 || strcmp(row->operation, "geqrf") != 0 || row->precision != DOUBLE ||
	        row->m < TALL * row->n)
		return count;
	for (size_t i = 0; i < plans; i++) {
		struct whole_plan *plan = xmalloc(sizeof *plan);
		const struct whole whole = {.operation = GEQRF};
		if (strcmp(row[i].variant, "gpu") == 0) {
			row[count] = row[i];
			whole_plan_parse(row[i].plan, false, row[i].nb, plan);
			plan->plan.panel = PLAN_GRAM;
			whole_plan_text(&whole, &plan->plan, row[count].plan);
			results_option_add(row[count++].options, "panel", PLAN_GRAM);
		}
		free(plan);
	}
	return count;
}

size_t ablations_from_host(const struct profile *profile, struct result *row, size_t count)
{
	const struct bench_shape shape = {
	        row->operation, row->precision, row->m, row->n, result_lda(row)};
	const size_t plans = count;

	if (count == 0 || !cases_transfers(&shape) || row->n > FROM_HOST_LARGEST)
		return count;
	for (size_t i = 0; i < plans; i++)
		if (strcmp(row[i].variant, "gpu") == 0 || strcmp(row[i].variant, LAWN_VARIANT) == 0)
			row[count++] = cases_from_host(profile, &row[i]);
	return count;
}

size_t ablations_upper(const struct results *done, struct result *row, size_t count)
{
	const struct result *best = fastest(row, count, "gpu"),
	                    *hybrid = fastest(row, count, "hybrid");

	if (hybrid && (!best || hybrid->seconds.value < best->seconds.value))
		best = hybrid;
	if (!best || strcmp(best->operation, "potrf") != 0 || (best->n & (best->n - 1)) != 0)
		return count;
	row[count] = *best;
	char *triangle = strstr(row[count].options, "uplo=l");
	if (!triangle)
		return count;
	triangle[strlen("uplo=")] = 'u';
	return count + !results_find(done, &row[count]);
}
