/* SPDX-License-Identifier: MIT */
/* The loops of one Gram-Schmidt thread over its columns: contiguous elements without aliases. Every
 * available compiler compiles them, for comparison (Table 1 of Brandes et al., 2012); the host
 * executor uses the project compiler's. They use the processor's widest SIMD unit.
 *
 * m: elements. Columns are contiguous and do not overlap, but v and w may be the same. Sums are
 * formed piece by piece, because the error of one long sum grows with the rows. */
#pragma once

#include <stdint.h>

/* Columns of a and of q that subtract_dots processes at a time: each loaded element of one serves
 * all columns of the other. */
enum { GRAM_TOGETHER = 4, GRAM_PAIR = 2 };

/* A pass of at least this many elements uses all threads: one thread needs as long for it as the
 * threads need to start. */
enum { GRAM_PARALLEL = 1 << 16 };

struct gram_loops_s {
	float (*dot)(int64_t m, const float *x, const float *y);
	/* x -= factor v */
	void (*subtract)(int64_t m, float factor, const float *v, float *x);
	/* x -= factor v; returns w^T x */
	float (*subtract_dot)(int64_t m, float factor, const float *v, const float *w, float *x);
	/* x[c] -= sums[c] v[0] + sums[GRAM_TOGETHER + c] v[1] of GRAM_TOGETHER columns; then
	 * sums[c] and sums[GRAM_TOGETHER + c] become w[0]^T x[c] and w[1]^T x[c] */
	void (*subtract_dots)(int64_t m, const float *const v[], const float *const w[],
	        float *const x[], float *sums);
};

struct gram_loops_d {
	double (*dot)(int64_t m, const double *x, const double *y);
	void (*subtract)(int64_t m, double factor, const double *v, double *x);
	double (*subtract_dot)(
	        int64_t m, double factor, const double *v, const double *w, double *x);
	void (*subtract_dots)(int64_t m, const double *const v[], const double *const w[],
	        double *const x[], double *sums);
};

struct gram_loops {
	const char *compiler; /* and its version */
	struct gram_loops_s s;
	struct gram_loops_d d;
};

/* The loops by the project's own compiler. */
const struct gram_loops *gram_loops(void);
