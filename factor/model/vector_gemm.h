/* SPDX-License-Identifier: MIT */
/* Estimates of the vector-thread matrix product from the instructions of its inner loop, as LAPACK
 * Working Note 202, section 4.4, makes them: with the paper's law for its GPUs, and for today's
 * from rates in the profile. */
#ifndef FATHOM_VECTOR_GEMM_H
#define FATHOM_VECTOR_GEMM_H

#include "lib/profile/model.h"
#include "factor/papers/gemm_volkov.h"

/* The block of C that a vector thread holds. */
enum { VECTOR_ROWS = 64, VECTOR_COLUMNS = 16 };

/* How many times fewer words a product by blocks of rows x columns of C fetches than one without:
 * 2 / (1/rows + 1/columns). */
double vector_reduction(double rows, double columns);

/* ---- the paper's law: instructions are issued one after the other, by a core */

/* A warp's instructions in one turn of the inner loop, and the cycles they take. */
struct vector_loop {
	double instructions, fma, half_width;
};
struct vector_cycles {
	double fma, half_width, rest;
};

double vector_loop_cycles(const struct vector_loop *loop, const struct vector_cycles *cycles);

/* flop/s of all cores: every multiply-and-add of a warp is 64 operations. */
double vector_loop_rate(const struct vector_loop *loop, double cycles, double cores, double hz);

/* ---- today's: the instructions' issue, the path to shared memory and L1, and L2 work side by
 * side; the slowest decides */

struct vector_estimate {
	double issue, shared, l2; /* flop/s that each would permit; infinite where it has no work */
	double rate;              /* the least of them */
};

/* Of the kernels in cuda/gemm_volkov.cu; NaN, with model->missing, where the profile does not
 * suffice. Latencies count as hidden: without prefetches the estimate is an upper bound. */
struct vector_estimate vector_estimate(struct model *model, bool tb, enum volkov_without without);

#endif
