/* SPDX-License-Identifier: MIT */
/* A matrix whose columns do not all begin where vectors of 16 bytes do is slow in every product:
 * where that costs more than two copies of it, it is factorized in a copy. By its leading dimension
 * alone, which is all that is known when a workspace is asked for. Of half as many columns where
 * products are of split operands, which take no C that is not aligned (H100, by 3xFP16, without and
 * with a copy, ms: LU of 1111 and 1777 columns 0.960 0.927 and 1.55 1.51, of 5001 x 1333 1.78 1.69;
 * QR 1.08 1.06 and 1.75 1.73, of 20001 x 1333 4.45 3.57; Cholesky 0.211 0.217 and 0.383 0.378).
 *
 * Log (H200, n = lda = 5555, ms). Floor of the two copies: 0.12. LU 8.80 -> 8.38, by 3xTF32, whose
 * products are fp32's where C is not aligned, 8.86 -> 7.61, in fp64 11.4 -> 10.6; QR 12.0 -> 11.8,
 * 12.2 -> 9.4 and 18.4 -> 17.7. Cholesky, a triangle of the copies, n = lda = 10007: 1.00 times as
 * fast as cuSOLVER (H200) -> 1.19 (H100), by 3xTF32 0.87 -> 1.09, in fp64 1.17 -> 1.30.
 * Columns that begin at 16 bytes, but not where sectors of 32 do, cost LU and QR less than the
 * copies (1 to 3 %), Cholesky in fp64 more (H200, n = lda = 2018, 3002, 4066, 6498, 8162, and with
 * lda a multiple of 4: 0.526 0.475, 0.946 0.873, 1.55 1.38, 3.92 3.44, 6.59 5.73; with a copy the
 * last three 1.53 -> 1.44, 3.92 -> 3.57, 6.57 -> 5.97). */
#ifndef FATHOM_ALIGNED_H
#define FATHOM_ALIGNED_H

#include "factor/executors/executor.h"
#include "plan.h"

/* Where columns are to begin: at vectors, or at sectors of memory. */
enum { ALIGNED_VECTOR = 16, ALIGNED_SECTOR = 32 };

/* The matrix itself, or room for its copy where its leading dimension is no multiple of so many
 * bytes. */
struct matrix aligned_workspace(
        const struct executor *, struct workspace *, struct matrix a, int64_t bytes);

/* The copy there and back of a triangle or all of it, in QUEUE_MAIN; nothing when the two are one.
 */
bool aligned_copy(struct executor *, enum uplo uplo, struct matrix from, struct matrix to);

#endif
