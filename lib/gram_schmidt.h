/* SPDX-License-Identifier: MIT */
/* Launchers of the kernels of the Gram-Schmidt process (T. Brandes, A. Arnold, T. Soddemann, D.
 * Reith, "CPU vs. GPU - performance comparison for the Gram-Schmidt algorithm", 2012: dot products
 * and orthogonalization). Column-major device memory; each returns a cudaError_t as an int. None
 * allocates or waits. */
#ifndef FATHOM_LIB_GRAM_SCHMIDT_H
#define FATHOM_LIB_GRAM_SCHMIDT_H

#include "matrix.h"

/* The columns of a (m x n), from left to right, on their way to orthonormal ones, a := Q with a0 =
 * Q R (Gram-Schmidt). A column whose squared norm has fallen to `dependent` times what it was,
 * norms (n x 1), depends on those before it: its q and its row of R become zero, and info, unless
 * it names an earlier one, its 1-based number, a's first column being number first + 1. */
struct gram_schmidt {
	struct matrix a, r, norms; /* r: the upper triangle of n x n */
	double dependent;
	int64_t first;
	int *info;
	void *work;
};

#ifdef __cplusplus
extern "C" {
#endif

/* What one pass over the columns from j on does. */
enum gram_step {
	GRAM_DOTS,   /* the dot products of column j with itself and those right of it */
	GRAM_UPDATE, /* with these: q_j, row j of R, the rank-1 update of the columns right of it */
	GRAM_FUSED   /* GRAM_UPDATE of column j and GRAM_DOTS of column j + 1 */
};

/* Bytes of g->work for an m x n matrix, aligned to 16 bytes. */
int64_t gram_schmidt_bytes(enum precision precision, int64_t m, int64_t n);

/* One pass; multiprocessors: how many the device has. Columns j, j+1 ... of one matrix follow one
 * another with one work. */
int gram_schmidt_pass(enum gram_step step, const struct gram_schmidt *g, int64_t j,
        int multiprocessors, void *stream);

enum { GRAM_RESIDENT_COLUMNS = 64 };

/* All columns in one kernel, with the panel in registers (gram_schmidt_resident.cu): at most
 * GRAM_RESIDENT_COLUMNS columns, and the rows that the device holds. Bytes of g->work, aligned to
 * 16, or -1 when it does not fit. Should blocks wait for each other longer than a second, R's
 * diagonal becomes NaN. */
int64_t gram_schmidt_resident_bytes(enum precision precision, int64_t m, int64_t n);
int gram_schmidt_resident(const struct gram_schmidt *g, void *stream);

/* Takes the orthonormal columns of q, one after another, out of each column of a, which may have
 * gram_schmidt_apply_rows rows at most; r (q.n x a.n): how much of them it had. */
enum { GRAM_APPLY_COLUMNS = 4 }; /* that a block of threads takes at a time */
int64_t gram_schmidt_apply_rows(enum precision precision);
int gram_schmidt_apply(struct matrix q, struct matrix r, struct matrix a, void *stream);

/* norms(k) = sum of squares of column k of a. */
int gram_schmidt_norms(struct matrix a, struct matrix norms, void *stream);

#ifdef __cplusplus
}
#endif
#endif
