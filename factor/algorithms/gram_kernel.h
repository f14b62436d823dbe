/* SPDX-License-Identifier: MIT */
/* One of Gram-Schmidt's kernels many times in a row: what T. Brandes, A. Arnold, T. Soddemann and
 * D. Reith (2012) measure for blocks of threads of different shapes (Figures 6 to 8), and the
 * blocked update of their section 4. */
#ifndef FATHOM_GRAM_KERNEL_H
#define FATHOM_GRAM_KERNEL_H

#include "factor/executors/executor.h"

/* A pass over n columns of m rows, the first of which is taken out of the others: by the paper's
 * kernels of a shape, or by ours. Or, with k, the blocked update: k columns out of n. */
struct gram_kernel {
	enum gram_step step;
	struct gram_shape shape;
	int64_t k;
	bool single; /* of the blocked update: a block of threads takes one column */
	enum precision precision;
	int64_t m, n, calls;
};

/* What it works on: a has the k columns of the blocked update ahead of the others. */
struct gram_kernel_data {
	struct matrix a, r, norms;
	void *work;
	int *info;
};

/* The shapes without memory; columns start aligned to lines of 128 bytes. */
struct gram_kernel_data gram_kernel_shapes(const struct gram_kernel *kernel);

/* Puts into the current queue what has to precede the kernel; `calls` of it; and what makes
 * columns orthogonal to the first one after the kernel was. None waits. */
bool gram_kernel_before(
        struct executor *e, const struct gram_kernel *kernel, const struct gram_kernel_data *data);
bool gram_kernel_run(struct executor *e, const struct gram_kernel *kernel,
        const struct gram_kernel_data *data, int64_t calls);
bool gram_kernel_after(
        struct executor *e, const struct gram_kernel *kernel, const struct gram_kernel_data *data);

/* Bytes that have to move between memory and the device's multiprocessors, and operations. */
double gram_kernel_bytes(const struct gram_kernel *kernel);
double gram_kernel_flops(const struct gram_kernel *kernel);

#endif
