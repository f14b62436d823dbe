/* SPDX-License-Identifier: MIT */
/* Shared by the files of the gemm_rate probe. */
#pragma once

#include "lib/base/base.h"
#include "factor/kernels/gemm/blas_double.h"
#include "factor/calibration/blas_rate.h"
#include "gemm_rate.h"

/* Updates C -= A B; symmetric updates of the lower triangle; solves with a unit lower triangle on
 * the left (LU's), or transposed on the right (Cholesky's). OWN: our own kernels. In fp64 the
 * library is called as by the cuda executor (factor/kernels/gemm/blas_double.h).
 * *_TN: V^T C, our own with splits of k. *_EDGE: the ends of C cut tiles off. *_SHARED: as beside a
 * panel, our own with a block a tile, the library's on the multiprocessors that the panel leaves.
 * TRSM_FEW: few right-hand sides, with a diagonal. GEMM_ODD: an odd number of rows, for which the
 * library has other kernels; GEMM_TN_ODD: of an odd k; *_UNALIGNED: the leading dimensions of A and
 * C are odd, too. GEMM_NT: A B^T. GEMM_BATCHED: squares of order m on the diagonal, of n in all, in
 * one call. TALL: V^T C by 3xTF32 without stacks. HALF: B^T B of pairs by 3xFP16.
 * DOUBLE_TALL: V^T C and C += V W of tall matrices in fp64. */
enum kind {
	GEMM,
	GEMM_TN,
	TRSM,
	TRSM_RIGHT,
	TRSM_FEW,
	SYRK,
	GEMM_ODD,
	GEMM_TN_ODD,
	GEMM_UNALIGNED,
	GEMM_NT,
	GEMM_SHARED,
	GEMM_BATCHED,
	OWN_GEMM,
	OWN_GEMM_TN,
	OWN_SYRK,
	OWN_SYRK_UNALIGNED,
	DOUBLE_TALL,
	DOUBLE_TALL_UPDATE,
	OWN_GEMM_EDGE,
	OWN_GEMM_SHARED,
	OWN_SYRK_SHARED,
	OWN_GEMM_EDGE_SHARED,
	TALL,
	TALL_SHARED,
	HALF_SYRK,
	HALF_SYRK_SHARED,
	HALF_GEMM,
	HALF_GEMM_SHARED,
	KINDS
};
enum math { FP32, TF32, FP64 };

static inline enum precision precision_of(enum math math)
{
	return math == FP64 ? DOUBLE : SINGLE;
}

extern const char *const gemm_rate_kind_name[], *const gemm_rate_math_name[];

enum { GEMM_RATE_TRIANGLE = 4096 }; /* largest order of the triangle */

/* Of the updates C += alpha A B: small, so that repeated ones stay finite. */
static const double gemm_rate_alpha = -1e-3;

struct bench {
	struct blas_rate rate;
	struct blas_double doubles;
	void *scratch;              /* of tall products */
	void *a, *b, *c, *triangle; /* on the device; a, b and c of `elements` doubles each */
	int64_t elements;
	double best; /* highest flop/s seen of this kind and math */
};

/* m x n is the result (trsm: the right-hand sides, which are n x m when the triangle, of order m,
 * is on the right), k the inner dimension. */
struct product {
	struct bench *bench;
	enum kind kind;
	enum math math;
	int m, n, k;
};

/* Buffers for matrices of up to largest^2 elements, fewer when there is little memory. */
void gemm_rate_open(struct bench *bench, struct probe_run *run, int64_t largest);
void gemm_rate_close(struct bench *bench);

/* Random data for one math. */
void gemm_rate_fill(const struct bench *bench, enum math math);

/* The lower triangle of order m, next to the identity. */
void gemm_rate_fill_triangle(const struct product *p);

/* The pair of B, of k rows and n columns, in place of A. */
void gemm_rate_fill_pair(const struct product *p);

bool gemm_rate_is_transposed(const struct product *p);
bool gemm_rate_has(const struct bench *bench, enum kind kind, enum math math);
bool gemm_rate_is_solve(enum kind kind);
bool gemm_rate_is_symmetric(enum kind kind);
bool gemm_rate_is_tall(enum kind kind);
bool gemm_rate_is_half(enum kind kind);

/* Puts the call of a struct product into the stream. */
void gemm_rate_put(void *product);

/* Products under lasting load, at the end of the sweep (gemm_rate_lasting.c). */
void gemm_rate_lasting(struct bench *bench);

/* All kinds in one math against the host's result; `report` gives a line for each. */
bool gemm_rate_verify(struct bench *bench, enum math math, bool report);

/* --check: all kinds in every math. */
bool gemm_rate_check(struct probe_run *run);
