/* SPDX-License-Identifier: MIT */
/* Our own product by 3xTF32 on the device: C = alpha op(A) op(B) + beta C in single precision,
 * operands as they are. */
#ifndef FATHOM_TF32_GEMM_H
#define FATHOM_TF32_GEMM_H

#include "gemm.h"
#include "matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

int tf32_gemm(enum gemm_part part, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c, void *stream);

#ifdef __cplusplus
}
#endif
#endif
