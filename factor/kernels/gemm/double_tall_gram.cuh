/* SPDX-License-Identifier: MIT */
/* C^T C of 64 columns that an update has just changed, while they are in shared memory: the first
 * step of the next panel of QR (factor/kernels/qr/panel_geqrf_gram_double.cu), which then does not
 * read them for it. Tiles of 16 x 8 on and above the diagonal are numbered, and their words
 * ordered, as in panel_geqrf_gram_tiles.cuh. A warp has two or three of the 20 tiles, side by side,
 * such that each scheduler's two warps have five. */
#pragma once

#include "double_tall_slab.cuh"
#include "gemm_mma.cuh"

namespace
{

const int GRAM_TILES = 20, GRAM_OWN = 3, GRAM_WORDS = GRAM_TILES * 4 * 32;

typedef double gram_sums[GRAM_OWN][4];

/* A warp's tiles: their strip of 16 rows, first octet of columns, and number. */
struct gram_place {
	int strip, octet, count;

	DEVICE gram_place(void)
	{
		const int warp = threadIdx.x / 32;

		static_assert(TALL_WARPS == 8, "a digit each, the first warp's last");
		strip = 0x32201100 >> 4 * warp & 15;
		octet = 0x66465230 >> 4 * warp & 15;
		count = warp < 4 ? 3 : 2;
	}
};

/* Adds the DEPTH rows of C's slab, when it is complete. The slab has sums of its own first: chains
 * of roundings are as short as in the panel's pass. shift: of every eighth column from lane / 4 on.
 */
template <int DEPTH> DEVICE void gram_add(gram_sums &sum, const double *slab, int shift)
{
	const struct gram_place mine;
	const int lane = threadIdx.x % 32;
	const int turn = slab_turn(lane / 4), place = lane % 4 + shift;
	const double *from = slab + lane / 4 * DEPTH + place % 4;
	gram_sums part = {};

#pragma unroll
	for (int k = 0; k < DEPTH; k += 4) {
		const double *at = from + (((k + place / 4 * 4) & (DEPTH - 1)) ^ turn);
		const double *rows = at + 16 * mine.strip * DEPTH;
		const double *columns = at + 8 * mine.octet * DEPTH;
		const double left[2] = {rows[0], rows[8 * DEPTH]};
#pragma unroll
		for (int i = 0; i < GRAM_OWN; i++) {
			if (i >= mine.count)
				continue;
			const double right[1] = {columns[8 * i * DEPTH]};
			mma_double(part[i], left, right);
		}
	}
#pragma unroll
	for (int i = 0; i < GRAM_OWN * 4; i++)
		sum[i / 4][i % 4] += part[i / 4][i % 4];
}

/* The block's sums to `to`. */
DEVICE void gram_store(const gram_sums &sum, double *to)
{
	const struct gram_place mine;
	const int p = mine.strip, first = p * (9 - p) + mine.octet - 2 * p;

#pragma unroll
	for (int i = 0; i < GRAM_OWN * 4; i++)
		if (i / 4 < mine.count)
			to[(4 * first + i) * 32 + threadIdx.x % 32] = sum[i / 4][i % 4];
}

} // namespace
