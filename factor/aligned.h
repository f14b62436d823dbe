/* SPDX-License-Identifier: MIT */
/* A matrix whose columns do not all begin where vectors of 16 bytes do is slow in every product:
 * where that costs more than two copies of it, it is factorized in a copy. By its leading dimension
 * alone, which is all that is known when a workspace is asked for. Of half as many columns where
 * products are of split operands, which take no C that is not aligned: by the floors, not measured,
 * LU of 65536 x 1024 has copies of 0.36 ms and products of 0.7 then, in fp32 of 1.5; with 512
 * columns the two are even.
 *
 * Log (H200, n = lda = 5555, ms). Floor of the two copies: 0.12. LU 8.80 -> 8.38, by 3xTF32, whose
 * products are fp32's where C is not aligned, 8.86 -> 7.61, in fp64 11.4 -> 10.6; QR 12.0 -> 11.8,
 * 12.2 -> 9.4 and 18.4 -> 17.7. Cholesky, a triangle of the copies, n = lda = 10007: 1.00 times as
 * fast as cuSOLVER (H200) -> 1.19 (H100), by 3xTF32 0.87 -> 1.09, in fp64 1.17 -> 1.30. */
#ifndef FATHOM_ALIGNED_H
#define FATHOM_ALIGNED_H

#include "executor.h"
#include "plan.h"

/* The matrix itself, or room for its copy. */
struct matrix aligned_carve(const struct executor *, struct carver *, struct matrix a);

/* The copy there and back of a triangle or all of it, in QUEUE_MAIN; nothing when the two are one.
 */
bool aligned_copy(struct executor *, enum uplo uplo, struct matrix from, struct matrix to);

#endif
