/* SPDX-License-Identifier: MIT */
/* Shared memory of half_update.cu's block, and the ring that brings operands. */
#pragma once

#include "half_update_tiles.cuh"
#include "warpgroup_products.cuh"

namespace
{

const int SLAB = SLAB_BYTES / 2; /* inner dimension of a stage */
const int BOX = 64;              /* columns of a pair per copy */
const int STAGES = 4;
const int GROUPS = 2; /* warpgroups that multiply; one more copies: its first warp brings operands,
                         one warp per group carries C, and one the factors */
const int THREADS = 128 * (GROUPS + 1);
const int STAGE_BYTES = (ROWS + COLUMNS) * SLAB_BYTES;
const int C_BOX = 32; /* rows and columns of C per copy */
const int C_BOX_BYTES = C_BOX * C_BOX * 4, C_BOXES = ROWS / GROUPS / C_BOX;
const int C_SLOTS = 4; /* for a group's rows of C, C_BOX columns each */
const int C_SLOT_BYTES = C_BOXES * C_BOX_BYTES;
const int C_ALIGNED = 16; /* its columns, in bytes */
const int SHARED_BYTES = STAGES * STAGE_BYTES + GROUPS * C_SLOTS * C_SLOT_BYTES + ALIGNED;

/* The rows of C that fill pieces of C_ALIGNED bytes, which copies can store. */
__host__ DEVICE int whole_rows(const struct update &u)
{
	return u.m / (C_ALIGNED / 4) * (C_ALIGNED / 4);
}

/* Tensor maps of both pairs (a copy takes SLAB elements of one part and BOX columns) and of C, for
 * reading and, in whole rows, for storing; the factors and the distances between them. */
struct operands {
	CUtensorMap left, right, c, stored;
	const float *left_factor, *right_factor;
	int64_t left_step, right_step;
	int left_count, right_count;
};

static_assert(COLUMNS == WIDE, "as the units take them at once");

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

const int A_BYTES = ROWS * SLAB_BYTES;
const int C_PARTS = COLUMNS / C_BOX; /* of a group's rows of a tile, more than slots */
const int SUMS = COLUMNS / 2;        /* per thread */

struct ring {
	uint64_t full[STAGES], empty[STAGES];
	uint64_t c_full[GROUPS][C_SLOTS], c_empty[GROUPS][C_SLOTS];
	uint64_t factors_full, factors_empty;
	float factors[ROWS + COLUMNS]; /* for a tile's rows and columns */
};

DEVICE void copy_box(
        uint32_t to, const CUtensorMap *map, int k, int part, int column, uint32_t full)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
	             "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
	             "l"(map), "r"(k), "r"(part), "r"(column), "r"(full)
	             : "memory");
}

/* Copies one part of both operands, high (0) or low (1). */
DEVICE void copy_stage(
        uint32_t to, const struct operands &o, int k, int part, const int2 tile, uint32_t full)
{
	arrivals_expect(full, STAGE_BYTES);
#pragma unroll
	for (int x = 0; x < ROWS; x += BOX)
		copy_box(to + x * SLAB_BYTES, &o.left, k, part, tile.x + x, full);
#pragma unroll
	for (int x = 0; x < COLUMNS; x += BOX)
		copy_box(to + A_BYTES + x * SLAB_BYTES, &o.right, k, part, tile.y + x, full);
}

/* The factor of one of a tile's rows or columns; 0 past the pairs. */
DEVICE float factor_of(const struct operands &o, const int2 tile, int which)
{
	const bool left = which < ROWS;
	const int at = left ? tile.x + which : tile.y + which - ROWS;
	if (at >= (left ? o.left_count : o.right_count))
		return 0;
	return left ? o.left_factor[at * o.left_step] : o.right_factor[at * o.right_step];
}

#endif

} // namespace
