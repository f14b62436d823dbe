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
 * 47.9. LU with blocks of 512 until 18 to 21 and until 24 are left, H200 and H100: 16384 75.3 77.0,
 * 76.0 76.9, in fp64 77.4 80.2, 80.1 83.3, 20000 131.5 133.5, 132.3 133.6; 10007, which is none of
 * 512 so, would take 2 % longer with two of them, as simulated. Cholesky in fp64 with blocks of 128
 * from 2300 left on instead of 1536: 2048 0.439 0.460, 0.441 0.467, 3000 0.828 0.835, 5555 2.81
 * 2.84 (H200).
 *
 * Measured on an H200, the 120 squares, tall matrices and modes of the benchmark took as long in
 * the mean as by the plans that the model chose, 5 % more at worst (LU of 32768 columns in fp64; QR
 * there 3, all others 2); on an H100 before 0.3 and 10 %, where the logs here have the chosen ones
 * from which what differs now was taken. Simulated, one width throughout, a 64th of the columns
 * (Cholesky a 16th), costs squares of 256 to 32768 columns 1 to 12 % in the mean by operation and
 * mode, 24 % at worst. */
#include "plan_default.h"

#include "potrf.h"
#include "schedule.h"
#include "factor/kernels/lu/panel_geometry.h"

#include <math.h>

enum {
	STEP = 64,
	BESIDE = 2000,
	TALL = 128, /* times as many rows as columns */
	FEW_PANELS = 14000,
	SHORT_CORNERS = 10000,    /* rows */
	WAITING = 12000,          /* rows */
	QR_LEAF_BYTES = 16 << 20, /* half of what the registers of a large GPU hold */
	LEAF_FUSED = 16 /* every column sweeps over the whole leaf, so it should be narrow */
};

/* A block is the narrowest, twice as wide for each of these sides that what is left is longer than,
 * were it a square of as many elements: blocks of tall matrices are wider, whose updates are of
 * fewer columns. */
enum { DOUBLINGS = 4 };

struct rule {
	int64_t narrowest, from[DOUBLINGS];
};

static const struct rule in_single[] = {[GETRF] = {64, {3072, 6144, 10240}},
        [GEQRF] = {64, {3584, 7168, 14336}},
        [POTRF] = {128, {1536, 3072, 6144, 12288}}};
static const struct rule in_double[] = {[GETRF] = {32, {1536, 3072, 6144, 10240}},
        [GEQRF] = {64, {3584, 7168, 14336}},
        [POTRF] = {128, {2304, 3072, 6144, 8192}}};
static const struct rule by_splits[] = {
        [GETRF] = {64, {3456, 8192}}, [GEQRF] = {64, {4608, 9216}}, [POTRF] = {128, {1536}}};
static const struct rule on_host[] = {[GETRF] = {64, {32768, 65536, 131072}},
        [GEQRF] = {32, {16384, 32768, 65536, 131072}},
        [POTRF] = {128, {6144, 12288}}};

static int64_t next_width(const struct rule *rule, int64_t rows, int64_t columns)
{
	const double side = sqrt((double)rows * (double)columns);
	int64_t width = rule->narrowest;

	for (int i = 0; i < DOUBLINGS && rule->from[i] && side > (double)rule->from[i]; i++)
		width *= 2;
	return width;
}

/* All blocks at least so wide and at most, which are powers of two times the narrowest. Of very
 * many columns all are as wide as the first. */
struct bounds {
	int64_t least, most;
};

static int64_t divide(
        const struct rule *rule, struct bounds bounds, int64_t m, int64_t n, int64_t *widths)
{
	const int64_t steps = smaller(m, n);
	int64_t count = 0, j = 0;

	do {
		const int64_t width = next_width(rule, m - j, n - j);
		widths[count] = smaller(larger(width, bounds.least), bounds.most);
		j += widths[count++];
	} while (j < steps && count < DEFAULT_WIDTHS);
	return j < steps ? 1 : count;
}

/* In single precision twice as wide where all panels are longer than what one cluster holds by STEP
 * columns, and blocks no narrower: in panels of many multiprocessors the exchange takes as long
 * however wide a row is. In double precision half as wide where a fifth of them is, but not all:
 * one cluster holds twice as many rows then (H100, 8192, 16384, 32768 columns: by the model's
 * plans, which have such leaves and wider blocks, 5 to 10 % less; H200, 5555 columns 9.63 ms
 * instead of 9.94; simulated, 4500 and 4800 columns the same within 2 %, 5200 2 to 3 % less). */
static int64_t widest_lu_leaf(int64_t m, int64_t columns, enum precision precision)
{
	const int64_t word = precision_bytes(precision), held = panel_cluster_rows(STEP, word);
	const bool all_longer = m - columns >= held;

	if (precision == DOUBLE)
		return !all_longer && m > held + held / 4 ? STEP / 2 : STEP;
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

/* Beside products by 3xTF32 every kernel of a panel waits for places (3xFP16's leave some): of many
 * rows fewer kernels are better (H200, 3xTF32, ms, leaves of 64 and 128: 10007 columns 19.3 19.4,
 * 16384 55.1 53.2). */
static bool waits_beside(const struct executor *e, int64_t m, enum precision precision)
{
	return precision == SINGLE && e->math == MATH_3XTF32 && m >= WAITING;
}

/* The persistent kernel touches memory once however wide the leaf, so the widest leaf that stays on
 * chip is best; panels too tall for any take two kernels a column. */
static void choose_lu_panel(
        struct executor *e, int64_t m, int64_t columns, enum precision precision, struct plan *plan)
{
	struct fault kept = e->fault; /* a panel that does not fit is no failure */

	plan->panel = "persistent";
	plan->leaf = halved(m, columns, precision)   ? STEP / 2
	             : waits_beside(e, m, precision) ? DEFAULT_LU_LEAF
	                                             : widest_lu_leaf(m, columns, precision);
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
 * half as many few are (H100, 8192 and 10007 columns: 7 to 9 % less by the model's plans; H200, ms,
 * by 64 and 32: 5555 17.3 20.0, 6000 19.2 19.7, 6500 22.6 21.9). */
static int64_t qr_leaf(int64_t m, enum precision precision)
{
	const int64_t word = precision_bytes(precision), held = panel_cluster_rows(STEP, word);
	const int64_t held_half = panel_cluster_rows(STEP / 2, word);
	const bool between = 2 * m > 3 * held && 2 * m <= 3 * held_half;

	if (precision == SINGLE || (m <= QR_LEAF_BYTES / (STEP * word) && !between))
		return STEP;
	return STEP / 2;
}

/* LU's blocks are no narrower than its leaves. Panels of QR in single precision, by the Gram
 * matrix, are passes over the panel by all multiprocessors, and products of a wider block no
 * better: at least four blocks (ms, of 64 and more columns, H200 and H100: 65536 x 256 0.625 0.688,
 * 0.654 0.720; of 128 and more 131072 x 512 2.77 2.85, 2.91 2.98; H100 30000 x 500 1.32 1.34,
 * 100000 x 200 0.78 0.81). */
static struct bounds bounds_of(
        enum operation operation, enum precision precision, int64_t m, int64_t columns)
{
	struct bounds bounds = {0, INT64_MAX};

	if (operation == GETRF)
		bounds.least = widest_lu_leaf(m, columns, precision);
	if (operation == GEQRF && precision == SINGLE)
		for (bounds.most = STEP; 8 * bounds.most <= columns;)
			bounds.most *= 2;
	return bounds;
}

/* Cholesky's in double precision are half as wide from SHORT_CORNERS rows on (H200, H100, ms, with
 * wider first blocks: 16384 32.6 33.5, 31.5 32.7; H100 10007 10.5 10.9; by the model half of that
 * is the leaves'). */
static int64_t leaf_of(
        enum operation operation, enum precision precision, bool hybrid, int64_t m, int64_t widest)
{
	const bool large = !hybrid && precision == DOUBLE && m >= SHORT_CORNERS;

	return operation == GEQRF
	               ? qr_leaf(m, precision)
	               : smaller(widest, large ? POTRF_WHOLE_LEAF / 2 : POTRF_WHOLE_LEAF);
}

/* Of TALL matrices panels have all of the device (H200, H100, ms, without and with look-ahead and
 * blocks of several widths: LU of 65536 x 256 0.638 0.658, 0.646 0.664, in fp64 1.103 1.105, 1.129
 * 1.142; QR in fp64 2.08 2.14, 2.16 2.22; H100, of 100000 x 200 0.759 0.777). Below BESIDE columns
 * (Cholesky half as many) an update is over before a panel is, and look-ahead, or more of it in LU,
 * only costs events and room; in LU by split operands until it goes by rows (H200, by 3xFP16 and
 * 3xTF32, with more and without, ms: 4096 3.88 3.82, 3.95 3.89; 5555 6.24 6.16, 6.68 6.48; 8192
 * 11.17 11.28, 12.13 12.36). From FEW_PANELS on Cholesky's panels by 3xFP16 are so small a part
 * that products beside them lose more (H100, without and with it, ms: 8192 3.71 3.64, 10007 5.86
 * 5.76, 16384 17.95 18.26, 32768 119 126). */
static int look_ahead(
        enum operation operation, enum math math, bool hybrid, int64_t m, int64_t columns)
{
	const int64_t more = math == MATH_FP32 ? BESIDE : EXECUTOR_ROW_MAJOR;

	if (hybrid)
		return 1;
	if (m >= TALL * columns)
		return 0;
	if (operation == POTRF)
		return columns >= BESIDE / 2 && !(math == MATH_3XFP16 && columns >= FEW_PANELS);
	return operation == GETRF && columns >= more ? PLAN_LOOKAHEAD_MAX : 1;
}

void plan_default(struct executor *e, enum operation operation, int64_t m, int64_t n,
        enum precision precision, bool hybrid, struct default_plan *out)
{
	const bool split = precision == SINGLE && e->math != MATH_FP32;
	const struct rule *rules = hybrid                ? on_host
	                           : split               ? by_splits
	                           : precision == DOUBLE ? in_double
	                                                 : in_single;
	const int64_t columns = smaller(m, n);
	const struct bounds bounds = hybrid ? (struct bounds){0, INT64_MAX}
	                                    : bounds_of(operation, precision, m, columns);
	struct plan *plan = &out->plan;

	*plan = (struct plan){.hybrid = hybrid,
	        .widths = out->widths,
	        .count = divide(&rules[operation], bounds, m, n, out->widths),
	        .leaf = leaf_of(operation, precision, hybrid, m, out->widths[0]),
	        .inverse = hybrid && operation == POTRF ? PLAN_INVERSE_MAX : 0,
	        .lookahead = out->widths[0] < n ? look_ahead(operation, split ? e->math : MATH_FP32,
	                                                  hybrid, m, columns)
	                                        : 0};
	if (operation == GETRF && !hybrid)
		choose_lu_panel(e, m, columns, precision, plan);
}
