/* SPDX-License-Identifier: MIT */
/* V^T C by 3xTF32 with few columns in V, many rows in both. */
#ifndef FATHOM_TF32_TALL_H
#define FATHOM_TF32_TALL_H

#include "lib/base/base.h"
#include "lib/base/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of V, at most, and of C that make a tile of the result; of few columns of C narrow tiles
 * where these leave less of them empty. */
enum { TF32_TALL_SIDE = 128, TF32_TALL_ACROSS = 192, TF32_TALL_NARROW = 128 };

/* Whether the current device has it: compute capability 9.0, in a build for it. */
bool tf32_tall_built(void);

/* Columns of V in a tile, TF32_TALL_SIDE or half of that, and of C (width); tiles of the result
 * beside each other in V's columns (groups) and in C's; teams of one block a group, which take
 * equal shares of all rows of all of C's tiles, one after the other. */
struct tf32_tall_plan {
	int side, width, groups, across, pinned_sets;
};

/* For V of k columns and C of n, `rows` rows each, on so many multiprocessors. */
struct tf32_tall_plan tf32_tall_plan_make(int64_t k, int64_t n, int64_t rows, int multiprocessors);

/* Bytes of scratch memory that a plan needs at most. */
enum { TF32_TALL_SCRATCH = 27 << 20 };

/* p = V^T C; on the device, in single precision, of at least one row; v and c begin at 16 bytes,
 * and so do their columns. stream is a cudaStream_t, what returns a cudaError_t. */
int tf32_tall(const struct tf32_tall_plan *plan, struct matrix v, struct matrix c, struct matrix p,
        void *scratch, void *stream);

#ifdef __cplusplus
}
#endif
#endif
