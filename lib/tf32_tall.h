/* SPDX-License-Identifier: MIT */
/* V^T C by 3xTF32 with few columns in V, many rows in both. */
#ifndef FATHOM_TF32_TALL_H
#define FATHOM_TF32_TALL_H

#include "base.h"
#include "matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of V and of C that make a tile of the result; bytes of shared memory. */
enum { TF32_TALL_SIDE = 64, TF32_TALL_ACROSS = 256, TF32_TALL_SHARED = 172432 };

/* Whether a device has it, by its compute capability and the shared memory that a block may have.
 */
bool tf32_tall_fits(int major, int64_t shared_per_block);

/* Tiles of the result beside each other in V's columns (groups) and in C's; teams of one block a
 * group, which take equal shares of all rows of all of C's tiles, one after the other. */
struct tf32_tall_plan {
	int groups, across, teams;
};

/* For V of k columns and C of n, `rows` rows each, on so many multiprocessors. */
struct tf32_tall_plan tf32_tall_plan_make(int64_t k, int64_t n, int64_t rows, int multiprocessors);

/* Bytes of scratch memory that a plan needs at most; its counters are 4 bytes a tile, zero before
 * and after. */
enum { TF32_TALL_SCRATCH = 20 << 20 };

/* p = V^T C; on the device (compute capability 8.0 and newer), in single precision; v and c begin
 * at 16 bytes, and so do their columns. stream is a cudaStream_t, what returns a cudaError_t. */
int tf32_tall(const struct tf32_tall_plan *plan, struct matrix v, struct matrix c, struct matrix p,
        void *counters, void *scratch, void *stream);

#ifdef __cplusplus
}
#endif
#endif
