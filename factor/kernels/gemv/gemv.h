/* SPDX-License-Identifier: MIT */
/* y = alpha op(A) x + beta y on the GPU: the choice of kernel and grid (host code, no GPU needed),
 * and the launchers.
 *
 * Cost: a launch, 2 dependent accesses, and the larger of m n words of A through DRAM (or L2) and 2
 * m n flops. Partial sums of `splits` blocks are combined in the same launch. */
#pragma once

#include "factor/tuning/tuning.h"
#include "lib/base/base.h"
#include "lib/base/precision.h"

C_BEGIN

/* BLAS arguments. Column-major device memory: A is m x n, lda >= max(1, m), incx, incy >= 1. beta =
 * 0 overwrites y whatever it holds; alpha = 0 leaves A and x unread; m = 0 or n = 0 leaves y as it
 * is. precision tells whether pointers are to float or double. */
struct gemv_call {
	enum precision precision;
	bool transposed;
	int64_t m, n;
	double alpha;
	const void *a;
	int64_t lda;
	const void *x;
	int64_t incx;
	double beta;
	void *y;
	int64_t incy;
};

/* How the tuned kernels divide the work. A block of GEMV_THREADS threads computes `width` elements
 * of y. `splits` blocks share these elements, each with a part of the sum; the last block to finish
 * adds up. */
enum {
	GEMV_THREADS = 256,
	GEMV_RESIDENT = 4, /* blocks of a multiprocessor with 64 bytes in flight a thread */
	GEMV_MAX_SPLIT_TILES = 1024
};
struct gemv_plan {
	int vector;  /* elements of A per load: 16 bytes where alignment permits */
	int lanes;   /* N: threads of a warp along the rows; T: warps of a block along the rows */
	int columns; /* T: columns that a thread has at a time */
	int unroll;  /* loads of a thread in flight: N `unroll` columns, T unroll * columns */
	int width;
	int64_t tiles; /* tiles of y; N: with the rows that shift puts before it */
	int splits;    /* 1 when tiles > GEMV_MAX_SPLIT_TILES */
	bool early; /* the launch does not wait for the end of the kernel before it; the blocks wait
	             */
};

/* Elements between the 16-byte boundary before A and A: the tuned kernels count rows from the
 * boundary. 0 when A is not read. */
int gemv_shift(const struct gemv_call *call, int vector);

/* The kernel and grid for a shape, from m, n and alignment. */
struct gemv_plan gemv_plan(const struct gemv_call *call, const struct tuning *tuning);

/* Bytes of workspace of a plan, 0 when no tile is split. The first GEMV_COUNTERS bytes must be zero
 * before the first call; every call leaves them zero. One stream at a time may use the
 * workspace. */
enum { GEMV_COUNTERS = GEMV_MAX_SPLIT_TILES * 4 };
int64_t gemv_work(const struct gemv_plan *plan, enum precision precision);

/* Puts the call into the stream (a cudaStream_t). Returns a cudaError_t as an int. */
int gemv_tuned(
        const struct gemv_call *call, const struct gemv_plan *plan, void *work, void *stream);

C_END
