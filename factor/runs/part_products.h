/* SPDX-License-Identifier: MIT */
/* The calls of the parts that are matrix products: by the paper's kernels (gemm_volkov.h), by ours
 * (gemm.h) and by cuBLAS. Results are PART_ALPHA times the product, + C but for trmm. */
#ifndef FATHOM_PART_PRODUCTS_H
#define FATHOM_PART_PRODUCTS_H

#include "parts.h"

/* C += alpha A B, or A B^T by trans=nt; small: k may be split. */
part_call gemm_paper, gemm_own, gemm_vendor;
part_call small_paper, small_own;

/* The lower triangle of C += alpha A A^T; by the paper's kernels with shape VOLKOV_FULL all of C.
 */
part_call syrk_paper, syrk_own, syrk_vendor;

/* C = alpha times triangle and square in the order that side=l or r says. */
part_call trmm_paper, trmm_vendor;

#endif
