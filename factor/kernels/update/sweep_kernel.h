/* SPDX-License-Identifier: MIT */
/* One kernel for a whole sweep down a triangle (factor/algorithms/sweep.h). One block of threads
 * makes the reflectors of one window after the other. The other blocks apply them to the columns
 * right of the window, to the right-hand sides and to Q. Column-major device memory. */
#pragma once

#include "lib/base/matrix.h"

C_BEGIN

/* Row i of r, row i of d and column i of q correspond: a transformation of two rows of r is
 * applied to d and q, too. d.n = 0, q.m = 0: not present. */
struct system {
	struct matrix r, d, q;
};

/* r becomes upper triangular from column k on. Column j >= k has elements down to row j + p.
 * With `added`, column j has elements down to row j and in all p rows of `added`, which has r's
 * columns and is overwritten. */
struct band {
	struct system of;
	const struct system *added; /* NULL: the band slides */
	int64_t k, p;
};

/* Columns of a window, and columns of R (or rows of Q) in a tile. */
enum { SWEEP_KERNEL_COLUMNS = 32 };

/* The smallest number of rows below a window's columns, at least p, for which a kernel exists;
 * 0: none. */
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

/* Bytes of workspace in device memory, aligned to 16 bytes. */
int64_t sweep_kernel_work(const struct band *);

/* Returns a cudaError_t as an int; stream is a cudaStream_t. If blocks wait too long for each
 * other, r's element (k,k) becomes NaN. */
int sweep_kernel(const struct band *, void *work, void *stream);

C_END
