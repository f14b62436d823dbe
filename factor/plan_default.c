/* SPDX-License-Identifier: MIT */
/* The reasoning. A block of w columns costs its panel, which is a chain of w dependent steps
 * however the columns are divided into blocks, and an update of rank w, which at small w is bound
 * by the traffic to and from the matrix. So w should be large: but the first panel runs alone, and
 * what is narrow within a block (and, in QR, making and applying T) grows as w/n. A sixteenth of
 * the columns keeps that part small; from 512 on (QR: 256) the update gains nothing more. */
#include "plan_default.h"

#include "schedule.h"

enum {
	BLOCKS = 16, /* that a matrix of middling size is divided into */
	NARROWEST = 64,
	WIDEST = 512,
	WIDEST_QR = 256, /* where T and V cost as much as they save */
	LEAF_FUSED = 16, /* every column sweeps over the whole leaf, so it should be narrow */
	LEAF_QR = 32,    /* reflectors are applied one after the other within a leaf */
	LEAF_CHOLESKY = 128
};

/* A multiple of the narrowest. */
static int64_t block_width(enum operation operation, int64_t columns)
{
	int64_t width = columns / BLOCKS / NARROWEST * NARROWEST;
	int64_t widest = operation == OPERATION_QR ? WIDEST_QR : WIDEST;

	return larger(NARROWEST, smaller(width, widest));
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

/* Inverses turn the solves into gemm: as wide as leaves allow. On the host CPU the panel's own
 * solve is part of the panel, but for Cholesky, where the device solves and only diagonal blocks
 * travel. */
void plan_default(struct executor *e, enum operation operation, int64_t m, int64_t n,
        enum precision precision, bool hybrid, struct default_plan *out)
{
	int64_t columns = smaller(m, n);
	struct plan *plan = &out->plan;

	out->width = block_width(operation, columns);
	*plan = (struct plan){.hybrid = hybrid,
	        .widths = &out->width,
	        .count = 1,
	        .leaf = operation == OPERATION_QR ? LEAF_QR : LEAF_CHOLESKY,
	        .inverse = PLAN_INVERSE_MAX,
	        .lookahead = out->width < n};
	if (operation == OPERATION_LU && !hybrid)
		choose_lu_panel(e, m, columns, precision, plan);
}
