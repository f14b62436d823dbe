/* SPDX-License-Identifier: MIT */
/* Products of tall matrices in double precision on the tensor cores of compute capability 9.0: P =
 * V^T C and C += alpha V W, where V and C have many rows and few columns. Both are steps of QR's
 * updates, and limited by memory up to about 100 columns of V. Columns may start anywhere. */
#pragma once

#include "gemm.h"
#include "lib/base/base.h"
#include "lib/base/matrix.h"

C_BEGIN

/* Most columns of V and of C in a tile of V^T C, and most columns of C for which a block updates
 * rows. Narrower kernels exist. */
enum { DOUBLE_TALL_SIDE = 128, DOUBLE_TALL_ACROSS = 128 };

/* Rows of a slab, which a block holds at once, and threads of a block; rows and threads of a block
 * that adds up the teams' sums. */
enum {
	DOUBLE_TALL_SLAB = 32,
	DOUBLE_TALL_THREADS = 256,
	DOUBLE_TALL_SUM_ROWS = 32,
	DOUBLE_TALL_SUM_THREADS = 512
};

/* V^T C: a block sums a tile of `side` columns of V by `width` columns of C over its team's share
 * of the rows. Tiles along V's columns (groups) and along C's (across); a team has one block per
 * tile. Blocks of a team run together, because they read the same rows.
 *
 * C += alpha V W: a block updates `width` columns of its team's share of the rows; side is at least
 * V's number of columns, and groups is 1. */
struct double_tall_plan {
	int side, width, groups, across, teams;
};

/* For V of k columns and C of n columns, with `rows` rows each. */
struct double_tall_plan double_tall_plan_make(
        int64_t k, int64_t n, int64_t rows, int multiprocessors);
struct double_tall_plan double_tall_update_plan_make(
        int64_t k, int64_t n, int64_t rows, int multiprocessors);

/* Whether the kernels run with code for compute capability `code` (10 x major + minor) and this
 * much shared memory per block. */
bool double_tall_has(int code, int64_t shared_per_block);

/* Whether the kernels are faster than the library for V^T C (A^T B) or C += alpha V W (A B), on a
 * device that has them. aligned: columns of all operands start at multiples of 16 bytes; without
 * that the library is slower. The update of a deep V takes several calls,
 * DOUBLE_TALL_SIDE columns each. docs/experiments/gemm.md has the measurements. */
bool double_tall_is_ahead(
        const struct tuning *tuning, const struct gemm_problem *problem, bool aligned);

/* Most scratch memory of a plan of V^T C in bytes: each team's sums. */
enum { DOUBLE_TALL_SCRATCH = 27 << 20 };

/* p = v^T c on the device. stream is a cudaStream_t. Returns a cudaError_t. */
int double_tall(const struct double_tall_plan *plan, struct matrix v, struct matrix c,
        struct matrix p, void *scratch, void *stream);

/* c += alpha v w on the device, for v of at most DOUBLE_TALL_SIDE columns. */
int double_tall_update(const struct double_tall_plan *plan, double alpha, struct matrix v,
        struct matrix w, struct matrix c, void *stream);

/* C += alpha V W that leaves the sums of C^T C, the first step of QR's next panel: of the first 64
 * columns, and without the first `skipped` rows, which are not the panel's. takes: whether kernels
 * exist for V of k columns and C of n columns, where all of C takes one tile of columns, and save
 * more than they cost. aligned: columns begin at multiples of 16 bytes. */
bool double_tall_gram_takes(int64_t k, int64_t n, int64_t skipped, bool aligned);

/* With as many teams as the panel's kernels have blocks. */
struct double_tall_plan double_tall_gram_plan_make(int64_t k, int64_t n, int blocks);

/* gram: each team's sums, in the order of the panel's blocks' sums
 * (factor/kernels/qr/panel_geqrf_gram_tiles.cuh). */
int double_tall_update_gram(const struct double_tall_plan *plan, double alpha, struct matrix v,
        struct matrix w, struct matrix c, int64_t skipped, double *gram, void *stream);

C_END
