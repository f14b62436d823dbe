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

/* Columns that dots takes at a time: each element of v and w that is loaded serves all of them. */
enum { GRAM_TOGETHER = 4 };

struct gram_loops_s {
	float (*dot)(int64_t m, const float *x, const float *y);
	/* x -= factor v */
	void (*subtract)(int64_t m, float factor, const float *v, float *x);
	/* x -= factor v; returns w^T x */
	float (*subtract_dot)(int64_t m, float factor, const float *v, const float *w, float *x);
	/* the same for GRAM_TOGETHER columns; sums: the factors before, the dot products after */
	void (*subtract_dots)(
	        int64_t m, const float *v, const float *w, float *const x[], float *sums);
};

struct gram_loops_d {
	double (*dot)(int64_t m, const double *x, const double *y);
	void (*subtract)(int64_t m, double factor, const double *v, double *x);
	double (*subtract_dot)(
	        int64_t m, double factor, const double *v, const double *w, double *x);
	void (*subtract_dots)(
	        int64_t m, const double *v, const double *w, double *const x[], double *sums);
};

struct gram_loops {
	const char *compiler; /* and its version */
	struct gram_loops_s s;
	struct gram_loops_d d;
};

/* The project's own compiler's. */
const struct gram_loops *gram_loops(void);

/* By gcc (the project's own), clang or gfortran (single precision); NULL where it was not there
 * when this was built, or made code that this processor does not have. */
const struct gram_loops *gram_loops_by(const char *compiler);
extern const char *const gram_compilers[]; /* NULL-terminated */

#endif
