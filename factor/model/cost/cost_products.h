/* SPDX-License-Identifier: MIT */
/* What the costs of products and of symmetric updates share (cost_products.c, cost_gemm.c,
 * cost_gemm_elements.c, cost_gemm_own.c, cost_gemm_tf32.c, cost_syrk.c). */
#pragma once

#include "factor/kernels/gemm/gemm.h"
#include "cost_blocks.h"

enum { TILE = 128, SMALL_TILE = 32 }; /* rows and columns of the library's tiles */

/* The parameter with the rate of the library's tiles, and the tiles at a time on a multiprocessor.
 */
struct tile_rate {
	const char *peak;
	int at_once;
};

/* plain: A B, without transposed operands. */
const struct tile_rate *tiles_of_product(enum precision precision, bool plain);

double cost_tiles(int64_t m, int64_t n);

/* Sets the share and the block lifetime of `count` tiles with an inner dimension of k. */
void cost_occupy(struct cost_reader *r, struct cost *cost, double count, int64_t k,
        const struct tile_rate *rate);

/* Seconds by a surface over m, n, k (product_axes). */
extern const char *const product_axes[3];
double product_time(struct cost_reader *r, const char *name, struct matrix c, double k);

/* The largest value of argument i (of m, n, k) for which the surface has rows beside the others.
 * More rows than columns are measured for the few columns of tall products alone. */
double product_last_side(
        struct cost_reader *r, const char *name, const double *at, struct matrix c, size_t i);

/* Seconds of A B by the library. Odd numbers of rows in double precision are measured at few sizes;
 * their slowdown there holds for the sizes around. */
double library_time(struct cost_reader *r, struct matrix c, double k);

/* The same with operands off boundaries of 16 bytes. */
double library_unaligned_time(struct cost_reader *r, struct matrix c, int64_t k);

/* V^T C in double precision on the library's kernels for single elements: columns of V or C that
 * are no pairs of elements apart, or an odd last row that is not computed separately. Its seconds;
 * even: as of an even depth, which the time of depths beyond the measured ones does not fall below,
 * because the library splits them along k. */
bool is_by_elements(struct cost_reader *r, const struct gemm_problem *p, bool operands);
double elements_time(struct cost_reader *r, struct matrix c, double k, double even);

/* Host time to queue a product. A profile without that of double precision, or of its odd sizes,
 * uses the others, or the library's level 2. */
double product_enqueue(struct cost_reader *r, bool own, const struct gemm_problem *p);

/* Seconds of our own products from their surfaces; of A^T B with splits of k, and whether the
 * executor takes that kernel and the profile has it. transposed: the surface is read for the
 * transposed product. */
double own_time(struct cost_reader *r, struct matrix c, int64_t k);
bool is_own_tall(struct cost_reader *r, const struct gemm_problem *p);
double own_tall_time(
        struct cost_reader *r, const struct gemm_problem *p, struct matrix c, bool transposed);

/* Products of tall matrices in double precision: whether the executor takes their kernels, and the
 * cost. */
bool is_double_tall(
        struct cost_reader *r, const struct gemm_problem *p, struct matrix c, bool aligned);
struct cost cost_double_tall(struct cost_reader *r, const struct gemm_problem *p, struct matrix c);
