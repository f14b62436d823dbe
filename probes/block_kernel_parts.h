/* SPDX-License-Identifier: MIT */
/* The parts of the block_kernel probe. */
#ifndef FATHOM_BLOCK_KERNEL_PARTS_H
#define FATHOM_BLOCK_KERNEL_PARTS_H

#include "../lib/base.h"
#include "../lib/precision.h"
#include "blas_rate.h"

/* Our own products in a stream of low priority, with a block a tile, as updates run beside panels,
 * which go into one of high priority. */
struct beside {
	cudaStream_t low, high;
	cudaEvent_t going, over; /* the first product, the last one */
	float *a, *b, *c;
	int products; /* that cover a sample */
	int sm_count;
};

void beside_open(struct beside *beside, struct blas_rate *rate);
void beside_close(struct beside *beside);

/* Samples calls that `put` puts into beside->high, one behind the other, while products run, and
 * records the seconds of each. */
void beside_measure(struct beside *beside, struct blas_rate *rate, void (*put)(void *),
        void *context, const char *series, const struct arg *args, size_t arg_count);

/* Records Gram-Schmidt's panel in registers, every `step`-fold number of rows. */
void block_kernel_gram(struct blas_rate *rate, enum precision precision, int64_t step);

#endif
