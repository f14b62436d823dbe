/* SPDX-License-Identifier: MIT */
/* The number of threads for a host panel and for the BLAS's products and solves: one rule each for
 * the host_rate probe, the host executor and the model. */
#pragma once

#include <stdint.h>

/* A panel that fits in the cache of one core is factorized by one thread, because threads wait for
 * each other at every column. Larger panels use all threads and their caches. The crossover differs
 * little between processors with caches of 0.5 to 2 MiB. */
enum { HOST_PANEL_PARALLEL_BYTES = 4 << 20 };

static inline int host_panel_threads(int64_t bytes, int all_threads)
{
	return bytes < HOST_PANEL_PARALLEL_BYTES ? 1 : all_threads;
}

/* From so many floating-point operations on, threads are worth their start. */
enum { HOST_PARALLEL_FLOPS = 1 << 24 };

/* Of the triangular solve with the rows below the triangle of an m x n panel of Cholesky. */
static inline int host_solve_threads(double m, double n, int all_threads)
{
	return n * n * (m - n) < HOST_PARALLEL_FLOPS ? 1 : all_threads;
}
