/* SPDX-License-Identifier: MIT */
/* Launchers of the kernels of the Gram-Schmidt process (T. Brandes, A. Arnold, T. Soddemann, D.
 * Reith, "CPU vs. GPU - performance comparison for the Gram-Schmidt algorithm", 2012: dot products
 * and orthogonalization). Column-major device memory; each returns a cudaError_t as an int. None
 * allocates or waits. */
#pragma once

#include "lib/base/matrix.h"

struct gpu;

/* The paper's kernels by their block of nx x ny threads: nx threads, a power of two from 32 on,
 * work on each of ny columns; at most 1024 threads. */
enum gram_access {
	GRAM_OWN,    /* the project's own */
	GRAM_DIRECT, /* each thread reads its operands from memory */
	GRAM_SHARED, /* the projected column goes through shared memory */
	GRAM_WIDE,   /* direct, 16 bytes an access where columns are aligned */
	GRAM_ATOMIC  /* direct; the threads of a column add their sums to one word of shared memory
	                by atomic additions, in place of a tree */
};
struct gram_shape {
	enum gram_access access;
	int nx, ny;
};

/* Accesses in flight a thread (direct and wide); most threads of a block. */
enum { SHAPED_UNROLL = 4, SHAPED_THREADS = 1024 };

static inline bool gram_shape_allowed(struct gram_shape s)
{
	const bool power = s.nx > 0 && (s.nx & (s.nx - 1)) == 0;

	return power && s.nx >= 32 && s.ny >= 1 && s.ny <= SHAPED_THREADS / s.nx;
}

/* Orthonormalizes the columns of a (m x n) from left to right: a := Q with a0 = Q R
 * (Gram-Schmidt). A column is dependent if its squared norm falls to `dependent` times its first
 * value in norms (n x 1). Its q and its row of R become zero. info becomes its 1-based number,
 * unless info names an earlier column; column 0 of a has number first + 1. */
struct gram_schmidt {
	struct matrix a, r, norms; /* r: the upper triangle of n x n */
	double dependent;
	int64_t first;
	int *info;
	void *work;
	struct gram_shape shape; /* of the passes' kernels */
};

C_BEGIN

/* The work of one pass over the columns from j on. */
enum gram_step {
	GRAM_DOTS,   /* the dot products of column j with itself and those right of it */
	GRAM_UPDATE, /* from these: q_j, row j of R, the rank-1 update of the columns right of j */
	GRAM_FUSED,  /* GRAM_UPDATE of column j and GRAM_DOTS of column j + 1 */
	GRAM_SCALE   /* the paper's scaling between GRAM_DOTS and GRAM_UPDATE */
};

/* Bytes of g->work for an m x n matrix, aligned to 16 bytes. */
int64_t gram_schmidt_bytes(enum precision precision, int64_t m, int64_t n);

/* One pass. Passes of j, j+1, ... over one matrix use one work. */
int gram_schmidt_pass(enum gram_step step, const struct gram_schmidt *g, int64_t j,
        const struct gpu *gpu, void *stream);

/* The same by the paper's kernels (gram_schmidt_shaped.cu) of g->shape. GRAM_DOTS leaves the dot
 * products and the norm in row j of r, GRAM_SCALE divides q_j and the row by the norm,
 * GRAM_UPDATE is the rank-1 update alone. g->work is not used. */
int gram_schmidt_shaped(enum gram_step step, const struct gram_schmidt *g, int64_t j, void *stream);

enum { GRAM_RESIDENT_COLUMNS = 64 };

/* All columns in one kernel, with the panel in registers (gram_schmidt_resident.cu): at most
 * GRAM_RESIDENT_COLUMNS columns, and as many rows as the device holds. Bytes of g->work, aligned
 * to 16, or -1 if the panel does not fit. If blocks wait for each other longer than a second,
 * R's diagonal becomes NaN. */
int64_t gram_schmidt_resident_bytes(enum precision precision, int64_t m, int64_t n);
int gram_schmidt_resident(const struct gram_schmidt *g, void *stream);

/* Projects the orthonormal columns of q, one after another, out of each column of a, which has
 * at most GRAM_APPLY_BYTES bytes; r (q.n x a.n) gets the coefficients. A block of threads
 * processes GRAM_APPLY_COLUMNS columns of a at a time, or one as in the paper (single). */
enum { GRAM_APPLY_COLUMNS = 4, GRAM_APPLY_BYTES = 32768 };
int gram_schmidt_apply(
        struct matrix q, struct matrix r, struct matrix a, bool single, void *stream);

/* norms(k) = sum of squares of column k of a. */
int gram_schmidt_norms(struct matrix a, struct matrix norms, void *stream);

C_END
