/* SPDX-License-Identifier: MIT */
/* Held-out shapes drawn by a seed that is new in every run: sizes log-uniform within limits, tall
 * and square, at least half of them odd, with leading dimensions of several kinds. One seed gives
 * the same shapes wherever memory and rates are the same. Drawn rows have the option seed=N. */
#pragma once

#include "lib/profile/profile.h"
#include "results.h"

struct draw {
	int64_t seed;
	bool quick;      /* a few shapes an operation */
	double bytes;    /* of a matrix on the GPU, at most */
	double flops[2]; /* of a run on the GPU, at most, in single and double precision */
};

/* From the time and the system's random numbers. */
int64_t draw_new_seed(void);

/* memory: of the GPU, bytes; 0: unknown. */
struct draw draw_of(int64_t seed, bool quick, const struct profile *profile, double memory);

enum { DRAW_SHAPES = 16, DRAW_LEAST = 12 };
struct drawn_shape {
	int64_t m, n, k; /* k: of gemm, else 0 */
};

/* The shapes of an operation on an executor, all different: at least DRAW_LEAST, quick fewer; 0 for
 * unknown names. */
size_t draw_shapes(const struct draw *draw, const char *operation, const char *executor,
        enum precision precision, struct drawn_shape shape[DRAW_SHAPES]);

/* At most `count` different orders, log-uniform from low to high, every second one odd. Returns
 * their number. */
size_t draw_orders(int64_t seed, int64_t low, int64_t high, int64_t *order, size_t count);

/* Further numbers of a shape: one below `most`, the `which`-th; an odd block width; the leading
 * dimension: m, a multiple of 32, a little above m, or far above it. */
int64_t draw_index(const struct draw *draw, int64_t m, int64_t n, int64_t which, int64_t most);
int64_t draw_width(const struct draw *draw, int64_t m, int64_t n);
int64_t draw_lda(const struct draw *draw, int64_t m, int64_t n);

/* Marks a row, or the rows from `first` on, as drawn (seed=N), with the leading dimension that they
 * are measured with (lda=N). Kernels of Gram-Schmidt have none of their own. Marked rows stay. */
void draw_mark_row(const struct draw *draw, struct result *row);
void draw_mark(const struct draw *draw, struct results *results, size_t first);

/* The seed of a row. Its leading dimension; 0: the usual one. */
enum { NOT_DRAWN = -1 };
int64_t result_seed(const struct result *row);
int64_t result_lda(const struct result *row);
