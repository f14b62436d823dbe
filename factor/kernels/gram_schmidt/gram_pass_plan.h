/* SPDX-License-Identifier: MIT */
/* How a pass of gram_schmidt_pass.cuh divides its work: for its launch, and for the model. */
#pragma once

#include "gram_schmidt_kernels.h"

/* Threads of a block; its columns, at most. */
enum { GRAM_PASS_THREADS = 256, GRAM_PASS_COLUMNS = 256 };

/* Blocks of a multiprocessor, and the columns that a block has in flight (both: dot products and
 * update): limited by registers. */
#define GRAM_PASS_BLOCKS(vector, unroll) ((vector) > 1 && (unroll) == 1 ? 4 : 2)
#define GRAM_PASS_AT_ONCE(unroll, both) ((unroll) == 1 ? 4 : ((both) ? 8 : 16) / (unroll))

/* A thread has `vector` neighbouring rows `unroll` times. */
struct gram_pass_plan {
	int vector, unroll;
	int64_t chunks; /* blocks that share the rows */
	int each;       /* neighbouring columns of a block; 0: every groups-th column */
	int groups;     /* blocks that share the columns */
};

C_BEGIN

/* Of a pass over `columns` columns of m rows, aligned: all of them to 16 bytes. */
struct gram_pass_plan gram_pass_plan(enum gram_step step, enum precision precision, int64_t m,
        int64_t columns, bool aligned, int64_t l2_bytes, int multiprocessors);

/* Blocks that share the rows, for threads of so many rows. */
int64_t gram_pass_chunks(int64_t m, int vector, int unroll);

C_END
