/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "../../lib/msg.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

enum { ABLATION_SMALLEST = 1024, ABLATION_LARGEST = 16384 };

/* The fastest of a variant in its trial, resident and in fp32; NULL: there is none. */
static const struct result *fastest(const struct result *row, size_t count, const char *variant)
{
	const struct result *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (strcmp(row[i].variant, variant) == 0 && row[i].math == MATH_FP32 &&
		        !results_option(row[i].options, "from", NULL, 0) &&
		        (!best || row[i].seconds.value < best->seconds.value))
			best = &row[i];
	return best;
}

/* The same plan without look-ahead, or with triangular solves in place of inverses, where it has
 * them. */
static bool leave_out(const struct result *from, bool lookahead, struct result *row)
{
	struct whole_plan *plan = xmalloc(sizeof *plan);
	struct whole whole = {.uplo = LOWER};

	whole_plan_parse(from->plan, strcmp(from->variant, "hybrid") == 0, from->nb, plan);
	bool has = lookahead ? plan->plan.lookahead != 0 : plan->plan.inverse != 0;
	*row = *from;
	operation_find(row->operation, &whole.operation);
	/* QR solves no triangles. */
	has = has && (lookahead || whole.operation != GEQRF);
	if (lookahead)
		plan->plan.lookahead = 0;
	else
		plan->plan.inverse = 0;
	whole_plan_text(&whole, &plan->plan, row->plan);
	results_option_add(row->options, "without", lookahead ? "lookahead" : "inverse");
	free(plan);
	return has;
}

size_t measure_without(const struct results *done, struct result *row, size_t count)
{
	const struct result *best[2] = {fastest(row, count, "gpu"), fastest(row, count, "hybrid")};

	if (count == 0 || row->m != row->n || row->precision != SINGLE ||
	        row->n < ABLATION_SMALLEST || row->n > ABLATION_LARGEST)
		return count;
	for (int v = 0; v < 2; v++)
		for (int lookahead = 0; lookahead < 2 && best[v]; lookahead++)
			if (leave_out(best[v], lookahead, &row[count]) &&
			        !results_find(done, &row[count]))
				count++;
	return count;
}
