/* SPDX-License-Identifier: MIT */
/* The reasoning. A block of w columns costs its panel, a chain of w dependent steps that is as long
 * however the columns are divided into blocks, and an update of rank w, which at small w is bound
 * by the traffic to and from the matrix: w should be large. But the first panel runs alone, and
 * work inside a block runs in narrow pieces whose share grows as w/n: w should be a small part of
 * n. That part is larger for Cholesky, whose panels are cheap. Triangles are solved by trsm, but
 * Cholesky's leaves solve for what is below them: on what was tried (H200, fp32, n = 1000 to 16384)
 * no plan with inverses was faster, and these widths were within 5 % of the best of a grid. */
#include "plan_default.h"

#include "potrf.h"
#include "schedule.h"

enum {
	STEP = 64,          /* widths are multiples of this */
	BLOCKS = 64,        /* that a large matrix is divided into */
	BLOCKS_SQUARE = 16, /* Cholesky's */
	WIDEST = 512,
	BESIDE = 2000,
	QR_LEAF_BYTES = 16 << 20, /* half of what the registers of a large GPU hold */
	LEAF_FUSED = 16 /* every column sweeps over the whole leaf, so it should be narrow */
};

static int64_t block_width(enum operation operation, int64_t columns)
{
	int64_t blocks = operation == OPERATION_CHOLESKY ? BLOCKS_SQUARE : BLOCKS;
	int64_t narrowest = operation == OPERATION_CHOLESKY ? 2 * STEP : STEP;

	return larger(narrowest, smaller(columns / blocks / STEP * STEP, WIDEST));
}

/* The persistent kernel touches memory once however wide the leaf, so the widest leaf that stays on
 * chip is best; panels too tall for any take two kernels a column. */
static void choose_lu_panel(
        struct executor *e, int64_t m, int64_t columns, enum precision precision, struct plan *plan)
{
	struct fault kept = e->fault; /* a panel that does not fit is no failure */

	plan->panel = "persistent";
	for (plan->leaf = DEFAULT_LU_LEAF; plan->leaf >= LEAF_FUSED; plan->leaf /= 2) {
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
 * 1000. */
static int64_t qr_leaf(int64_t m, enum precision precision)
{
	int64_t bytes = STEP * precision_bytes(precision);

	return m <= QR_LEAF_BYTES / bytes ? STEP : STEP / 2;
}

/* Cholesky's leaves solve for what is below them; in double precision narrower ones are quicker.
 * Below BESIDE columns an update is over before a panel is, and look-ahead, or more of it in LU,
 * only costs events and room. */
void plan_default(struct executor *e, enum operation operation, int64_t m, int64_t n,
        enum precision precision, bool hybrid, struct default_plan *out)
{
	int64_t columns = smaller(m, n);
	struct plan *plan = &out->plan;

	out->width = block_width(operation, columns);
	*plan = (struct plan){.hybrid = hybrid,
	        .widths = &out->width,
	        .count = 1,
	        .leaf = operation == OPERATION_QR
	                        ? qr_leaf(m, precision)
	                        : smaller(out->width,
	                                  precision == SINGLE ? POTRF_WHOLE_LEAF : STEP),
	        .lookahead = out->width < n &&
	                     (operation != OPERATION_CHOLESKY || hybrid || n >= BESIDE)};
	if (operation != OPERATION_LU || hybrid)
		return;
	choose_lu_panel(e, m, columns, precision, plan);
	if (plan->lookahead && columns >= BESIDE)
		plan->lookahead = PLAN_LOOKAHEAD_MAX;
}
