/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <string.h>

bool plan_check(struct executor *e, const struct plan *plan)
{
	for (int64_t i = 0; i < plan->count; i++)
		if (plan->widths[i] < 1)
			return fault_refuse(&e->fault,
			        "a block of %" PRId64 " columns: widths start at 1",
			        plan->widths[i]);
	if (plan->count < 1)
		return fault_refuse(&e->fault, "a plan without widths of blocks");
	if (plan->leaf < 1)
		return fault_refuse(
		        &e->fault, "a leaf of %" PRId64 " columns: leaves start at 1", plan->leaf);
	if (plan->inverse < 0 || plan->inverse > PLAN_INVERSE_MAX)
		return fault_refuse(&e->fault,
		        "inverses of %" PRId64 " columns: 0 (none) to %d are possible",
		        plan->inverse, PLAN_INVERSE_MAX);
	if (plan->lookahead < 0 || plan->lookahead > PLAN_LOOKAHEAD_MAX)
		return fault_refuse(&e->fault, "look-ahead %d: 0 to %d are possible",
		        plan->lookahead, PLAN_LOOKAHEAD_MAX);
	if (plan->coarse < 0 || plan->coarse % 2)
		return fault_refuse(&e->fault,
		        "coarse blocks of %" PRId64
		        " blocks: 0 (none) and even numbers are possible",
		        plan->coarse);
	if (plan->coarse && e->math != MATH_FP32)
		return fault_refuse(&e->fault, "two levels of blocks are for products in fp32");
	if (plan->stop < 0)
		return fault_refuse(&e->fault, "a stop before column %" PRId64, plan->stop);
	if (plan->in_place && (!plan->hybrid || plan->inverse))
		return fault_refuse(
		        &e->fault, "panels in place are on the host, whole and without inverses");
	if (plan->single_swaps && !plan->hybrid)
		return fault_refuse(&e->fault, "single row swaps need panels on the host");
	return true;
}

bool plan_by_gram(const struct plan *plan)
{
	return plan->panel && strcmp(plan->panel, PLAN_GRAM) == 0;
}

bool matrix_check(struct executor *e, struct matrix a)
{
	if (a.m < 0 || a.n < 0)
		return fault_refuse(&e->fault, "a matrix of %" PRId64 " x %" PRId64, a.m, a.n);
	if (a.ld < a.m || a.ld < 1)
		return fault_refuse(&e->fault,
		        "leading dimension %" PRId64 " is smaller than the %" PRId64 " rows", a.ld,
		        a.m);
	return true;
}

int64_t plan_width(const struct plan *plan, int64_t index, int64_t left)
{
	int64_t width = plan->widths[index < plan->count ? index : plan->count - 1];

	return width < left ? width : left;
}

int64_t plan_blocks(const struct plan *plan, int64_t columns)
{
	int64_t blocks = 0;

	for (int64_t j = 0; j < columns; blocks++)
		j += plan_width(plan, blocks, columns - j);
	return blocks;
}

int64_t plan_widest(const struct plan *plan, int64_t columns)
{
	int64_t widest = 0, width;

	for (int64_t j = 0, k = 0; j < columns; j += width, k++) {
		width = plan_width(plan, k, columns - j);
		widest = width > widest ? width : widest;
	}
	return widest;
}

int64_t plan_left_half(const struct plan *plan, int64_t width)
{
	int64_t leaves = (width + plan->leaf - 1) / plan->leaf;

	return (leaves + 1) / 2 * plan->leaf;
}
