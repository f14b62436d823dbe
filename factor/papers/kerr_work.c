/* SPDX-License-Identifier: MIT */
#include "kerr_work.h"

#include <math.h>

/* As compiled for 9.0. */
enum { REGISTERS = 34 };

/* Rounds of loads of a thread, one after the other, in the machine code for 9.0: 15 of a plain
 * product's 64 columns, one of 4 columns beyond, one of 4 rows of a transposed product. */
static double rounds_of(bool transposed, double m, double n)
{
	enum { ROUNDS = 15 };
	const double whole = floor(n / KERR_BLOCK), rest = n - whole * KERR_BLOCK;

	return transposed ? ceil(m / (KERR_BLOCK * (double)KERR_UNROLL))
	                  : whole * ROUNDS + ceil(rest / KERR_UNROLL);
}

void kerr_gemv_work(
        enum precision precision, bool transposed, double m, double n, struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision), matrix = m * n * word,
	             blocks = transposed ? n : ceil(m / KERR_BLOCK), outputs = transposed ? n : m,
	             vector = (transposed ? m : n) * word;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = fmax(1, blocks),
	        .threads = KERR_BLOCK,
	        .registers = REGISTERS,
	        .shared = KERR_BLOCK * word,
	        .dram = {matrix + vector + outputs * word, outputs * word},
	        .l2 = {(blocks - 1) * vector, 0}, /* every block reads the whole vector */
	        .working_set = matrix + vector + 2 * outputs * word,
	        .in_flight = (transposed ? 2 : 1) * KERR_UNROLL * word};
	work->operations[work_fma_pipe(precision)] = 2 * m * n;
	work->link[LINK_DRAM] = rounds_of(transposed, m, n) + 1; /* the addend or the factor */
	if (transposed) {                                        /* the tree */
		work->link[LINK_SHARED] = log2(KERR_BLOCK);
		work->link[LINK_BLOCK] = 1 + log2(KERR_BLOCK);
	} else { /* part by part of the vector */
		work->link[LINK_L2] = ceil(n / KERR_BLOCK);
		work->link[LINK_SHARED] = ceil(n / KERR_BLOCK);
		work->link[LINK_BLOCK] = 2 * ceil(n / KERR_BLOCK);
		work->link[precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE] = n;
	}
}

void kerr_house_work(enum precision precision, double m, double j, struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision), blocks = ceil(m / KERR_HOUSE_ROWS);

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = KERR_HOUSE_BLOCK,
	        .registers = REGISTERS,
	        .dram = {m * word, m * word},
	        .l2 = {blocks * (j + 1) * word, 0},
	        .working_set = 2 * m * word,
	        .in_flight = KERR_HOUSE_ROWS / KERR_HOUSE_BLOCK * word};
	work->operations[work_fma_pipe(precision)] = 2 * blocks * j;
	/* the elements above, the norm and the diagonal; the block's rows */
	work->link[LINK_DRAM] = 2;
	work->link[LINK_REDUCE] = 1;
	work->link[LINK_SPECIAL] = 2; /* root, reciprocal */
}
