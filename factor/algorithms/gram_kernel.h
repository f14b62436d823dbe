/* SPDX-License-Identifier: MIT */
/* One kernel of Gram-Schmidt many times in a row: the measurements of T. Brandes, A. Arnold, T.
 * Soddemann and D. Reith (2012) for blocks of threads of different shapes (Figures 6 to 8), and the
 * blocked update of their section 4. */
#pragma once

#include "factor/executors/executor.h"

/* A pass over n columns of m rows that subtracts the first column's part from the others, by the
 * paper's kernels of a shape or by ours. Or, with k > 0, the blocked update: k columns out of n. */
struct gram_kernel {
	enum gram_step step;
	struct gram_shape shape;
	int64_t k;
	bool single; /* blocked update: one block of threads a column */
	enum precision precision;
	int64_t m, n, calls;
};

/* The operands; in a the k columns of the blocked update come first. */
struct gram_kernel_data {
	struct matrix a, r, norms;
	void *work;
	int *info;
};

/* The shapes without memory; columns start aligned to lines of 128 bytes. */
struct gram_kernel_data gram_kernel_shapes(const struct gram_kernel *kernel);

/* Put into the current queue: the operations that precede the kernel; `calls` kernels; and the
 * operations after the last one, which leave columns orthogonal to the first one. None waits. */
bool gram_kernel_before(
        struct executor *e, const struct gram_kernel *kernel, const struct gram_kernel_data *data);
bool gram_kernel_run(struct executor *e, const struct gram_kernel *kernel,
        const struct gram_kernel_data *data, int64_t calls);
bool gram_kernel_after(
        struct executor *e, const struct gram_kernel *kernel, const struct gram_kernel_data *data);

/* Bytes between memory and the multiprocessors, and operations, of one call. */
double gram_kernel_bytes(const struct gram_kernel *kernel);
double gram_kernel_flops(const struct gram_kernel *kernel);
