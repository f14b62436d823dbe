/* SPDX-License-Identifier: MIT */
/* A block of w columns costs its panel, a chain of w dependent steps whose total length does not
 * depend on the division into blocks, and an update of rank w. At small w the update is bound by
 * memory traffic: w should be large. But a panel should end before the update beside it, which gets
 * shorter from block to block, and work inside a block runs in narrow pieces: w should be a small
 * part of the columns left. That part is larger for Cholesky, whose panels are cheap, and smaller
 * where updates are by split operands, which end sooner, or panels on the host CPU, which take
 * longer.
 *
 * Solves are by trsm; on the host's path by inverses; Cholesky's leaves solve for the rows below
 * them. Figures: docs/experiments/default-plan.md. */
#include "plan_default.h"

#include "potrf.h"
#include "factor/kernels/lu/panel_geometry.h"
#include "lib/base/architecture.h"

#include <math.h>

enum {
	STEP = 64,
	LEAF_FUSED = 16 /* every column sweeps over the whole leaf: a narrow one */
};

static const struct width_rule *rule_of(const struct width_rules *rules, enum operation operation)
{
	return operation == GETRF   ? &rules->getrf
	       : operation == GEQRF ? &rules->geqrf
	                            : &rules->potrf;
}

/* Blocks of tall matrices are wider: their updates have fewer columns. */
static int64_t next_width(const struct width_rule *rule, int64_t rows, int64_t columns)
{
	const double side = sqrt((double)rows * (double)columns);
	int64_t width = rule->narrowest;

	for (int i = 0; i < TUNING_DOUBLINGS && rule->from[i] && side > (double)rule->from[i]; i++)
		width *= 2;
	return width;
}

/* Tensor cores cut the sums of split operands again and again while these are as large as the
 * matrix. Where a few columns hold nearly all of it, as in Gram matrices of few columns, LU's later
 * sums are small after a narrow first block: a quarter of the usual one, at least half a STEP
 * (whose product is in fp32) and at most a STEP (docs/experiments/truncation.md). */
int64_t plan_first_most(const struct executor *e, enum operation operation, int64_t m, int64_t n,
        enum precision precision)
{
	const struct split_limits *least = &e->tuning.split;
	const int64_t usual = next_width(&e->tuning.plan.by_splits.getrf, m, n);
	const bool split = precision == SINGLE && e->math != MATH_FP32 &&
	                   min_int64(m, n) >= least->use &&
	                   2.0 * (double)m * (double)n * (double)usual >= least->flops;

	return operation == GETRF && split ? max_int64(STEP / 2, min_int64(usual / 4, STEP))
	                                   : INT64_MAX;
}

/* Least and most width of a block, most of the first: powers of two times the narrowest. In
 * matrices of very many columns all blocks have one width, but perhaps the first. */
struct bounds {
	int64_t least, most, first;
};

static int64_t divide(
        const struct width_rule *rule, struct bounds bounds, int64_t m, int64_t n, int64_t *widths)
{
	const int64_t steps = min_int64(m, n);
	int64_t count = 0, j = 0;

	do {
		const int64_t width = next_width(rule, m - j, n - j);
		widths[count] = min_int64(max_int64(width, bounds.least), bounds.most);
		if (count == 0)
			widths[0] = min_int64(widths[0], bounds.first);
		j += widths[count++];
	} while (j < steps && count < DEFAULT_WIDTHS);
	return j < steps ? 1 + (widths[1] > widths[0]) : count;
}

/* Rows of a panel that one cluster holds; 0 on devices without clusters for such panels. */
static int64_t cluster_rows(const struct executor *e, int64_t columns, int64_t word)
{
	return e->tuning.device.max_cluster < PANEL_CLUSTER ? 0 : panel_cluster_rows(columns, word);
}

/* The same of the kernel on many multiprocessors, which needs code for 9.0. */
static int64_t grid_rows(const struct executor *e, int64_t columns, int64_t word)
{
	return e->tuning.device.code < 90
	               ? 0
	               : panel_grid_rows(columns, word, e->tuning.device.sm_count);
}

/* In single precision twice as wide where all panels are longer than one cluster holds at STEP
 * columns: in panels of many multiprocessors the exchange does not depend on the width of a row. In
 * double precision half as wide where some panels are longer, but not all: one cluster then holds
 * twice as many rows. */
static int64_t widest_lu_leaf(
        const struct executor *e, int64_t m, int64_t columns, enum precision precision)
{
	const int64_t word = precision_bytes(precision), held = cluster_rows(e, STEP, word);
	const bool all_longer = m - columns >= held;

	if (precision == DOUBLE)
		return !all_longer && m > held + held / 4 ? STEP / 2 : STEP;
	return all_longer && m <= grid_rows(e, DEFAULT_LU_LEAF, word) ? DEFAULT_LU_LEAF : STEP;
}

/* A lone panel of STEP columns, longer than one cluster holds but not than it holds at half the
 * columns: two panels of one cluster each are faster than one of many multiprocessors. */
static bool halved(const struct executor *e, int64_t m, int64_t columns, enum precision precision)
{
	const int64_t word = precision_bytes(precision);

	return columns <= STEP && m > cluster_rows(e, STEP, word) &&
	       m <= cluster_rows(e, STEP / 2, word);
}

/* Beside products by 3xTF32 every kernel of a panel waits for multiprocessors (3xFP16 leaves some):
 * in matrices of many rows fewer kernels are better. */
static bool waits_beside(const struct executor *e, int64_t m, enum precision precision)
{
	return precision == SINGLE && e->math == MATH_3XTF32 && m >= e->tuning.plan.waiting;
}

/* The persistent kernel touches memory once for any width of the leaf: the widest leaf that stays
 * on chip is best. Panels too tall for any take two kernels a column. */
static void choose_lu_panel(
        struct executor *e, int64_t m, int64_t columns, enum precision precision, struct plan *plan)
{
	struct fault kept = e->fault; /* a panel that does not fit is no failure */

	plan->panel = "persistent";
	plan->leaf = halved(e, m, columns, precision) ? STEP / 2
	             : waits_beside(e, m, precision)  ? DEFAULT_LU_LEAF
	                                              : widest_lu_leaf(e, m, columns, precision);
	for (; plan->leaf >= LEAF_FUSED; plan->leaf /= 2) {
		int64_t n = min_int64(plan->leaf, max_int64(columns, 1));
		struct matrix tallest = {NULL, 0, max_int64(m, n), n, max_int64(m, n), precision};
		if (e->ops->resident_fits(e, tallest))
			return;
		e->fault = kept;
	}
	plan->panel = "fused";
	plan->leaf = LEAF_FUSED;
}

/* By the Gram matrix; in double precision, where it takes more than twice the operations, on tensor
 * cores of that precision, by code for 8.0. */
static bool by_gram(const struct executor *e, int64_t m, enum precision precision)
{
	const struct tuning_device *device = &e->tuning.device;

	return precision == SINGLE || (panel_gram_takes(DOUBLE, m, STEP) && device->code >= 80 &&
	                                      architecture_of(device->capability)->fp64_tensor > 0);
}

/* Wide leaves leave less to narrow products between leaves, as long as a leaf stays in registers.
 * Panels by the Gram matrix may have any height. Other leaves in double precision are half as wide
 * where most panels are longer than one cluster holds at STEP columns, and few at half as many. */
static int64_t qr_leaf(const struct executor *e, int64_t m, enum precision precision)
{
	const int64_t word = precision_bytes(precision), held = cluster_rows(e, STEP, word);
	const int64_t held_half = cluster_rows(e, STEP / 2, word);
	const bool between = 2 * m > 3 * held && 2 * m <= 3 * held_half;

	if (by_gram(e, m, precision) ||
	        (m <= e->tuning.plan.qr_leaf_bytes / (STEP * word) && !between))
		return STEP;
	return STEP / 2;
}

/* LU's blocks are at least as wide as its leaves. In single precision QR's panels are passes over
 * the panel by all multiprocessors, and products of a wider block are no faster: at least four
 * blocks. */
static struct bounds bounds_of(const struct executor *e, enum operation operation,
        enum precision precision, int64_t m, int64_t columns)
{
	struct bounds bounds = {.most = INT64_MAX};

	if (operation == GETRF)
		bounds.least = widest_lu_leaf(e, m, columns, precision);
	if (operation == GEQRF && precision == SINGLE)
		for (bounds.most = STEP; 8 * bounds.most <= columns;)
			bounds.most *= 2;
	return bounds;
}

static int64_t leaf_of(const struct executor *e, enum operation operation, enum precision precision,
        bool hybrid, int64_t m, int64_t widest)
{
	const bool large = !hybrid && precision == DOUBLE && m >= e->tuning.plan.short_corners;

	return operation == GEQRF
	               ? qr_leaf(e, m, precision)
	               : min_int64(widest, large ? POTRF_WHOLE_LEAF / 2 : POTRF_WHOLE_LEAF);
}

/* Panels of tall matrices use the whole device. Below `beside` columns an update ends before a
 * panel does: look-ahead only costs events and room. The same holds for LU by split operands until
 * it is row-major. From `few_panels` columns on Cholesky's panels by 3xFP16 are so small a part
 * that products beside them lose more than look-ahead gains. */
static int look_ahead(const struct tuning *t, enum operation operation, enum math math, bool hybrid,
        int64_t m, int64_t columns)
{
	const int64_t more = math == MATH_FP32 ? t->plan.beside : t->layout.row_major;

	if (hybrid)
		return 1;
	if (m >= t->plan.tall * columns)
		return 0;
	if (operation == POTRF)
		return columns >= t->plan.beside / 2 &&
		       !(math == MATH_3XFP16 && columns >= t->plan.few_panels);
	return operation == GETRF && columns >= more ? PLAN_LOOKAHEAD_MAX : 1;
}

/* In tall matrices the update of a last narrow block takes as long as that of half a block, and it
 * waits for T of the whole block before. It joins that block (left_part in geqrf.c). */
static int64_t join_last(int64_t count, int64_t columns, int64_t *widths)
{
	int64_t rest = columns;

	for (int64_t i = 0; i < count - 1; i++)
		rest -= widths[i];
	if (count == 1 || 2 * rest > STEP || rest <= 0)
		return count;
	widths[count - 2] += rest;
	return count - 1;
}

void plan_default(struct executor *e, enum operation operation, int64_t m, int64_t n,
        enum precision precision, bool hybrid, struct default_plan *out)
{
	const bool split = precision == SINGLE && e->math != MATH_FP32;
	const struct plan_tuning *t = &e->tuning.plan;
	const struct width_rules *rules = hybrid                ? &t->on_host
	                                  : split               ? &t->by_splits
	                                  : precision == DOUBLE ? &t->in_double
	                                                        : &t->in_single;
	const int64_t columns = min_int64(m, n);
	struct bounds bounds = hybrid ? (struct bounds){.most = INT64_MAX}
	                              : bounds_of(e, operation, precision, m, columns);
	struct plan *plan = &out->plan;

	bounds.first = plan_first_most(e, operation, m, n, precision);
	*plan = (struct plan){.hybrid = hybrid,
	        .widths = out->widths,
	        .count = divide(rule_of(rules, operation), bounds, m, n, out->widths),
	        .leaf = leaf_of(e, operation, precision, hybrid, m, out->widths[0]),
	        .inverse = hybrid && operation == POTRF ? PLAN_INVERSE_MAX : 0,
	        .lookahead = out->widths[0] < n
	                             ? look_ahead(&e->tuning, operation,
	                                       split ? e->math : MATH_FP32, hybrid, m, columns)
	                             : 0};
	if (operation == GEQRF && !hybrid && m >= t->tall * columns)
		plan->count = join_last(plan->count, columns, out->widths);
	if (operation == GETRF && !hybrid)
		choose_lu_panel(e, m, columns, precision, plan);
	if (operation == GEQRF && !hybrid && precision == DOUBLE && by_gram(e, m, precision))
		plan->panel = PLAN_GRAM;
}
