/* SPDX-License-Identifier: MIT */
/* One kernel for all of a sweep down a triangle (factor/algorithms/sweep.h): a block of threads makes one
 * window's reflectors after the other, the others follow with what is right of it, with the
 * right-hand sides and with Q. Column-major device memory. */
#ifndef FATHOM_SWEEP_KERNEL_H
#define FATHOM_SWEEP_KERNEL_H

#include "lib/base/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Row i of r, row i of d and column i of q belong together: what is applied to two of the rows of
 * the one is applied to the others. d.n = 0, q.m = 0: there is none. */
struct system {
	struct matrix r, d, q;
};

/* r becomes upper triangular from column k on: column j >= k has elements down to row j + p, or
 * (added) down to row j and in all p rows of `added`, whose columns are those of r and become
 * anything. */
struct band {
	struct system of;
	const struct system *added; /* NULL: none */
	int64_t k, p;
};

/* Columns of a window, and of R, or rows of Q, of a tile that a block applies it to. */
enum { SWEEP_KERNEL_COLUMNS = 32 };

/* Rows below a window's columns for which there is a kernel: at least p, 0 when there is none. */
static inline int64_t sweep_kernel_rows(enum precision precision, int64_t p)
{
	const int64_t most = precision == SINGLE ? 256 : 128;
	int64_t rows = 16;

	while (rows < p)
		rows *= 2;
	return rows <= most ? rows : 0;
}

/* Whether the current device has the kernel for p rows; 0 <= p. */
bool sweep_kernel_fits(enum precision precision, int64_t p);

/* Bytes of device memory, aligned to 16 bytes, that it works with. */
int64_t sweep_kernel_work(const struct band *);

/* Returns a cudaError_t as an int; stream is a cudaStream_t. When its blocks waited too long for
 * each other, r's element (k,k) is NaN. */
int sweep_kernel(const struct band *, void *work, void *stream);

#ifdef __cplusplus
}
#endif
#endif
