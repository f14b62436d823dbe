/* SPDX-License-Identifier: MIT */
/* Estimates of the vector-thread matrix product from the instructions of its inner loop, as in
 * LAPACK Working Note 202, section 4.4: by the paper's law for its GPUs, and for today's GPUs from
 * rates in the profile. */
#pragma once

#include "lib/profile/model.h"
#include "factor/papers/gemm_volkov_work.h"

/* The block of C that a vector thread holds. */
enum { VECTOR_ROWS = 64, VECTOR_COLUMNS = 16 };

/* The factor by which blocks of rows x columns of C reduce the words fetched:
 * 2 / (1/rows + 1/columns). */
double vector_reduction(double rows, double columns);

/* ---- the paper's law: a core issues instructions one after the other ---- */

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

/* ---- today's GPUs: the issue of instructions, the path to shared memory and L1, and L2 work at
 * the same time; the slowest decides ---- */

struct vector_estimate {
	double issue, shared, l2; /* flop/s that each permits; infinite where it has no work */
	double rate;              /* the least of them */
};

/* The estimate for the kernels in factor/papers/gemm_volkov.cu; NaN, with model->missing, where the
 * profile does not suffice. Latencies count as hidden, so without prefetches it is an upper bound.
 */
struct vector_estimate vector_estimate(struct model *model, bool tb, enum volkov_without without);
