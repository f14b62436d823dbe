/* SPDX-License-Identifier: MIT */
/* What a thread of Gram-Schmidt does with columns of its own: loops over contiguous elements
 * without aliases. They are compiled by every compiler that is here, for comparison (Table 1 of
 * Brandes et al., 2012); the project's own is what runs. The widest SIMD unit that the processor
 * has is used.
 *
 * m: elements; columns are contiguous and don't overlap, but v and w may be the same. Sums are
 * formed by pieces, so that their errors don't grow with the rows. */
#ifndef FATHOM_GRAM_LOOPS_H
#define FATHOM_GRAM_LOOPS_H

#include <stdint.h>

/* Columns of a and of q that subtract_dots takes at a time: an element of either that is loaded
 * serves all of the other. */
enum { GRAM_TOGETHER = 4, GRAM_PAIR = 2 };

/* Elements that a pass over columns has at least where it pays to wake other threads: 14 of a
 * server take 6 us to begin, as long as one takes for as many in its second cache. */
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

/* The project's own compiler's. */
const struct gram_loops *gram_loops(void);

#endif
