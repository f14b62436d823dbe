/* SPDX-License-Identifier: MIT */
/* The work of a product whose blocks compute tiles of C, one after the other: what all kernels of
 * this kind share. */
#pragma once

#include "factor/kernels/kernel_work.h"

struct product_tiles {
	enum work_pipe pipe;
	double times;             /* products of each two elements: 3 of split operands */
	double word, operand;     /* bytes of an element of C, and of an operand */
	double m, n, k;           /* of C, and the inner dimension */
	double part;              /* of C: 1, or a triangle's share */
	bool old;                 /* C's elements are added to */
	double rows, columns;     /* of a tile */
	double depth;             /* inner dimension between two waits of a block */
	double unit;              /* of the inner dimension's part that is computed; 0: depth */
	double tiles, splits;     /* of C, and of the inner dimension */
	double threads, resident; /* of a block; blocks on a multiprocessor */
	double sms;               /* multiprocessors that the blocks may use */
	double blocks;            /* 0: as many as run at once, which stay to the end */
	double start, loads; /* accesses to L2 that a block waits for: of a tile; of each depth */
	double readers;      /* blocks that one read of an operand serves; 0: 1 */
	double wavefronts;   /* of a tile for each of the inner dimension */
	double passes;       /* of shared memory for a tile's C */
};

/* Splits write their sums of a tile to memory, where another kernel adds them up. */
void product_tiles_work(const struct product_tiles *t, struct kernel_work *work);

/* That kernel: one block for each `elements` of C. */
void product_sum_work(
        const struct product_tiles *t, double elements, double threads, struct kernel_work *work);
