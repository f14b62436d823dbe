/* SPDX-License-Identifier: MIT */
/* The kernels of Kerr, Campbell and Richards (QR decomposition on GPUs, 2009, section 4), for
 * comparison. The paper prints the plain product (Listing 1) and describes
 * the others. Its kernels assume multiples of 64; these have guards for any size. Launchers put one
 * kernel into the stream (a cudaStream_t) and return a cudaError_t as an int. All operands are in
 * device memory and of one precision. */
#pragma once

#include "factor/kernels/gemv/gemv.h"
#include "kerr_work.h"
#include "lib/base/matrix.h"

C_BEGIN

/* y = alpha op(A) x + beta y: BLAS arguments as in gemv.h. Plain: 64 threads a block, one thread a
 * row, 64 elements of x at a time in shared memory. Transposed: a block of 64 threads a column. */
int kerr_gemv(const struct gemv_call *call, void *stream);

/* The same products as QR needs them, with a factor in device memory, tau (1 x 1).
 * kerr_project: row = tau A^T v; an empty tau counts as 1. A m x n, v m x 1, row 1 x n.
 * kerr_extend: z = -tau (v + W row^T). W m x n (n may be 0), row 1 x n, v and z m x 1. */
int kerr_project(
        struct matrix tau, struct matrix a, struct matrix v, struct matrix row, void *stream);
int kerr_extend(struct matrix tau, struct matrix w, struct matrix row, struct matrix v,
        struct matrix z, void *stream);

/* Column j of the block a (m x n): the Householder vector v = x + sign(x1) norm(x) e1 of the part x
 * from row j on into y's column j, zeros above it, and tau(j) = 1 / (norm (norm + |x1|)), 0 for
 * norm 0. squares (n x 1) holds the squares of the norms of the block's columns from before their
 * first reflection, which keeps them: norm^2 is squares(j) less the squares of a's j elements above
 * x. Where that cancels more than three quarters, the kernel adds up x itself; the paper does not
 * say whether its kernel does. */
int kerr_house(struct matrix a, int64_t j, struct matrix squares, struct matrix y,
        struct matrix tau, void *stream);

C_END
