/* SPDX-License-Identifier: MIT */
/* V^T C by 3xTF32 with few columns of V and many rows of both. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/matrix.h"

C_BEGIN

/* Most columns of V, and columns of C, in a tile of the result. NARROW tiles are used for few
 * columns of C where they waste fewer. */
enum { TF32_TALL_SIDE = 128, TF32_TALL_ACROSS = 192, TF32_TALL_NARROW = 128 };

/* Columns of V in a tile (TF32_TALL_SIDE or half of it) and of C (width); tiles of the result along
 * V's columns (groups) and along C's; teams of one block per group, which take equal shares of the
 * rows of all tiles of C, one after the other. */
struct tf32_tall_plan {
	int side, width, groups, across, pinned_sets;
};

/* For V of k columns and C of n columns, with `rows` rows each. */
struct tf32_tall_plan tf32_tall_plan_make(int64_t k, int64_t n, int64_t rows, int multiprocessors);

/* Most scratch memory of a plan in bytes. */
enum { TF32_TALL_SCRATCH = 27 << 20 };

/* p = V^T C on the device, single precision, at least one row. v, c and their columns start at
 * multiples of 16 bytes. stream is a cudaStream_t. Returns a cudaError_t. */
int tf32_tall(const struct tf32_tall_plan *plan, struct matrix v, struct matrix c, struct matrix p,
        void *scratch, void *stream);

C_END
