/* SPDX-License-Identifier: MIT */
/* What costs of products and of symmetric updates share (cost_gemm.c, cost_gemm_own.c,
 * cost_gemm_tf32.c, cost_syrk.c). */
#ifndef FATHOM_COST_PRODUCTS_H
#define FATHOM_COST_PRODUCTS_H

#include "factor/kernels/gemm/gemm.h"
#include "cost_blocks.h"

enum { TILE = 128 }; /* rows and columns of a large one */

/* How fast the library's tiles are computed, and how many at a time on a multiprocessor. */
struct tile_rate {
	const char *peak;
	int at_once;
};

/* Of A B, which is plain, and of others. */
const struct tile_rate *tiles_of_product(enum precision precision, bool plain);

double cost_tiles(int64_t m, int64_t n);

/* So many tiles, each with an inner dimension of k. */
void cost_occupy(struct cost_reader *r, struct cost *cost, double count, int64_t k,
        const struct tile_rate *rate);

/* Seconds by a surface over m, n, k (product_axes). */
extern const char *const product_axes[3];
double product_time(struct cost_reader *r, const char *name, struct matrix c, double k);

/* Of A B by the library. With an odd number of rows in double precision, which are measured at few
 * sizes, by as much longer there as at the sizes around it. */
double library_time(struct cost_reader *r, struct matrix c, double k);

/* The host's part of a product; a profile without any has the library's level 2 stand for them. */
double product_enqueue(struct cost_reader *r, bool own, enum trans ta);

/* Seconds of our own products, by theirs; and of A^T B with splits of k, where that is ahead and
 * known. turned: the surface is taken for the product's transpose. */
double own_time(struct cost_reader *r, struct matrix c, int64_t k);
bool is_own_tall(struct cost_reader *r, const struct gemm_problem *p);
double own_tall_time(
        struct cost_reader *r, const struct gemm_problem *p, struct matrix c, bool transposed);

#endif
