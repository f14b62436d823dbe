/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt as several compilers make it: the loops of our forms, and the paper's own code. */
#pragma once

#include "factor/kernels/gram_schmidt/gram_loops.h"

/* NULL-terminated: gcc (the project's own), and those of compilers.mk. */
extern const char *const gram_compilers[];

/* The loops by one of them. NULL if the compiler was missing at build time, or if this processor
 * cannot run its code. Fortran: single precision alone. */
const struct gram_loops *gram_loops_by(const char *compiler);

/* The matrix of GRAM_FIXED^2 whose sizes the compiler knows; its columns are GRAM_FIXED_LD apart.
 */
enum { GRAM_FIXED = 1024, GRAM_FIXED_LD = 1056 };

/* Listing 1 of Brandes et al. (2012) in the usual way of a language: one thread, column by column,
 * single precision. */
struct gram_plain {
	/* C: linear indices; Fortran: arrays whose sizes are arguments. q: m x n, r: n x n */
	void (*sized)(int64_t m, int64_t n, float *q, int64_t ldq, float *r, int64_t ldr);
	/* C: arrays of fixed sizes; NULL in Fortran */
	void (*fixed)(float (*q)[GRAM_FIXED_LD], float (*r)[GRAM_FIXED]);
};
const struct gram_plain *gram_plain_by(const char *compiler);
