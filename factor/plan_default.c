/* SPDX-License-Identifier: MIT */
/* The reasoning. A block of w columns costs its panel, a chain of w dependent steps that is as long
 * however the columns are divided into blocks, and an update of rank w, which at small w is bound
 * by the traffic to and from the matrix: w should be large. But a panel should be over before the
 * update beside it is, which gets shorter from block to block, and work inside a block runs in
 * narrow pieces: w should be a small part of the columns that are left. That part is larger for
 * Cholesky, whose panels are cheap, and smaller where updates are by split operands, which are over
 * sooner, or panels on the host CPU, which take longer. Triangles are solved by trsm, or on the
 * host's way by inverses, but Cholesky's leaves solve for what is below them. Where exactly so many
 * are left the narrower one is taken. H100, Cholesky with wider blocks of which 8, 7 and 6 are
 * left, us: 2500 547 538 525, 3000 707 696 687, 4096 1204 1211 1171, 5555 2287 2265 2287, 6500 3248
 * 3233 3327, 8192 5536 5610 5513, 10007 9420 9360 9308; by 3xFP16, 8 and 6: 2500 517 503, 3000 660
 * 641, 4096 1009 996, 5555 1719 1690, 8192 3598 3612. LU by 3xFP16 and 3xTF32 with blocks of 128
 * until 32 and until 27 are left, ms: 4096 4.01 3.90, 4.04 3.96, 4500 4.72 4.60, 4.76 4.75, 5555
 * 6.48 6.36, 6.81 6.64, 8192 12.00 11.84, 13.34 13.22; by 3xFP16 3700 3.41 3.41, 6500 8.40 8.33,
 * 10007 18.54 18.36, 16384 47.7 47.7, but of 256 until 28 instead of 32 are left 10007 18.73, 16384
 * 47.9.
 *
 * Measured on an H200, 38 squares and precisions take 0.3 % longer by these plans in the mean than
 * by those that the model chooses, 3.8 % at worst (LU of 32768 in fp64). Simulated, one width
 * throughout, a 64th of the columns (Cholesky a 16th), costs squares of 256 to 32768 columns 1 to
 * 12 % in the mean by operation and mode, 24 % at worst. */
#include "plan_default.h"

#include "potrf.h"
#include "schedule.h"
#include "../lib/panel_geometry.h"

#include <math.h>

enum {
	STEP = 64,
	BESIDE = 2000,
	FEW_PANELS = 14000,
	QR_LEAF_BYTES = 16 << 20, /* half of what the registers of a large GPU hold */
	LEAF_FUSED = 16 /* every column sweeps over the whole leaf, so it should be narrow */
};

/* A block has a power of two times the narrowest width, at most the widest, of which what is left
 * has more than so many, were it a square of as many elements: blocks of tall matrices are wider,
 * whose updates are of fewer columns. Of the widest ones `widest_blocks` must be left, where that
 * is not 0. */
struct rule {
	int64_t narrowest, blocks, widest, widest_blocks;
};

static const struct rule on_device[] = {
        [GETRF] = {64, 24, 512}, [GEQRF] = {64, 28, 512}, [POTRF] = {128, 6, 2048}};
static const struct rule by_splits[] = {
        [GETRF] = {64, 27, 256, 32}, [GEQRF] = {64, 36, 256}, [POTRF] = {128, 6, 256}};
static const struct rule on_host[] = {
        [GETRF] = {64, 256, 512}, [GEQRF] = {32, 256, 512}, [POTRF] = {128, 24, 512}};

static int64_t blocks_left(const struct rule *rule, int64_t width)
{
	return width == rule->widest && rule->widest_blocks ? rule->widest_blocks : rule->blocks;
}

static int64_t next_width(const struct rule *rule, int64_t rows, int64_t columns)
{
	const double side = sqrt((double)rows * (double)columns);
	int64_t width = rule->narrowest;

	while (width < rule->widest && (double)(2 * width * blocks_left(rule, 2 * width)) < side)
		width *= 2;
	return width;
}

/* Of very many columns all blocks are as wide as the first. */
static int64_t divide(const struct rule *rule, int64_t m, int64_t n, int64_t *widths)
{
	const int64_t steps = smaller(m, n);
	int64_t count = 0, j = 0;

	do {
		widths[count] = next_width(rule, m - j, n - j);
		j += widths[count++];
	} while (j < steps && count < DEFAULT_WIDTHS);
	return j < steps ? 1 : count;
}

/* In single precision twice as wide where all panels are longer than what one cluster holds by STEP
 * columns, and blocks no narrower: in panels of many multiprocessors the exchange takes as long
 * however wide a row is. In double precision half as wide where a third of them is, but not all:
 * one cluster holds twice as many rows then (H100, 8192, 16384, 32768 columns: by the model's
 * plans, which have such leaves and wider blocks, 5 to 10 % less). */
static int64_t widest_lu_leaf(int64_t m, int64_t columns, enum precision precision)
{
	const int64_t word = precision_bytes(precision), held = panel_cluster_rows(STEP, word);
	const bool all_longer = m - columns >= held;

	if (precision == DOUBLE)
		return !all_longer && m > held + held / 2 ? STEP / 2 : STEP;
	return all_longer && m <= panel_grid_rows(DEFAULT_LU_LEAF, word, PANEL_GRID_MOST)
	               ? DEFAULT_LU_LEAF
	               : STEP;
}

/* A matrix of STEP columns, with no updates beside, that is longer than what one cluster holds, but
 * not than what it holds of half as many columns: two panels of one cluster each take less time
 * than one of many multiprocessors (H100, us, leaves of 64 and 32: 10240 and 16384 rows 108 95, 111
 * 98, in fp64 6144 and 8192 129 104, 134 118). */
static bool halved(int64_t m, int64_t columns, enum precision precision)
{
	const int64_t word = precision_bytes(precision);

	return columns <= STEP && m > panel_cluster_rows(STEP, word) &&
	       m <= panel_cluster_rows(STEP / 2, word);
}

/* The persistent kernel touches memory once however wide the leaf, so the widest leaf that stays on
 * chip is best; panels too tall for any take two kernels a column. */
static void choose_lu_panel(
        struct executor *e, int64_t m, int64_t columns, enum precision precision, struct plan *plan)
{
	struct fault kept = e->fault; /* a panel that does not fit is no failure */

	plan->panel = "persistent";
	plan->leaf =
	        halved(m, columns, precision) ? STEP / 2 : widest_lu_leaf(m, columns, precision);
	for (; plan->leaf >= LEAF_FUSED; plan->leaf /= 2) {
		int64_t n = smaller(plan->leaf, larger(columns, 1));
		struct matrix tallest = {NULL, 0, larger(m, n), n, larger(m, n), precision};
		if (e->ops->resident_fits(e, tallest))
			return;
		e->fault = kept;
	}
	plan->panel = "fused";
	plan->leaf = LEAF_FUSED;
}

/* Wide leaves leave less to narrow products between leaves, as long as a leaf stays in registers:
 * 64 columns took 4 to 28 % less of the whole factorization than 32, and less than 128 beyond n =
 * 1000. In single precision they go by the Gram matrix, however tall they are. In double precision
 * half as wide where by STEP columns most of them are longer than what one cluster holds, and by
 * half as many few are (H100, 8192 and 10007 columns: 7 to 9 % less by the model's plans). */
static int64_t qr_leaf(int64_t m, enum precision precision)
{
	const int64_t word = precision_bytes(precision), held = panel_cluster_rows(STEP, word);
	const int64_t held_half = panel_cluster_rows(STEP / 2, word);
	const bool between = 5 * m > 8 * held && 2 * m <= 3 * held_half;

	if (precision == SINGLE || (m <= QR_LEAF_BYTES / (STEP * word) && !between))
		return STEP;
	return STEP / 2;
}

/* Below BESIDE columns (Cholesky half as many) an update is over before a panel is, and look-ahead,
 * or more of it in LU, only costs events and room; in LU by split operands until it goes by rows
 * (H200, by 3xFP16 and 3xTF32, with more and without, ms: 4096 3.88 3.82, 3.95 3.89;
 * 5555 6.24 6.16, 6.68 6.48; 8192 11.17 11.28, 12.13 12.36). From FEW_PANELS on Cholesky's panels
 * by 3xFP16 are so small a part that products beside them lose more (H100, without and with it, ms:
 * 8192 3.71 3.64, 10007 5.86 5.76, 16384 17.95 18.26, 32768 119 126). */
static int look_ahead(enum operation operation, enum math math, bool hybrid, int64_t columns)
{
	const int64_t more = math == MATH_FP32 ? BESIDE : EXECUTOR_BY_ROWS;

	if (hybrid)
		return 1;
	if (operation == POTRF)
		return columns >= BESIDE / 2 && !(math == MATH_3XFP16 && columns >= FEW_PANELS);
	return operation == GETRF && columns >= more ? PLAN_LOOKAHEAD_MAX : 1;
}

void plan_default(struct executor *e, enum operation operation, int64_t m, int64_t n,
        enum precision precision, bool hybrid, struct default_plan *out)
{
	const bool split = precision == SINGLE && e->math != MATH_FP32;
	struct rule rule = (hybrid ? on_host : split ? by_splits : on_device)[operation];
	int64_t columns = smaller(m, n);
	struct plan *plan = &out->plan;

	if (operation == GETRF && !hybrid)
		rule.narrowest = widest_lu_leaf(m, columns, precision);
	*plan = (struct plan){.hybrid = hybrid,
	        .widths = out->widths,
	        .count = divide(&rule, m, n, out->widths),
	        .leaf = operation == GEQRF ? qr_leaf(m, precision)
	                                   : smaller(out->widths[0], POTRF_WHOLE_LEAF),
	        .inverse = hybrid && operation == POTRF ? PLAN_INVERSE_MAX : 0,
	        .lookahead = out->widths[0] < n ? look_ahead(operation, split ? e->math : MATH_FP32,
	                                                  hybrid, columns)
	                                        : 0};
	if (operation == GETRF && !hybrid)
		choose_lu_panel(e, m, columns, precision, plan);
}
