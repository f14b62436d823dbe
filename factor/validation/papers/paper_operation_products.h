/* SPDX-License-Identifier: MIT */
/* The paper's operations that are matrix products: by the paper's kernels (gemm_volkov.h), by ours
 * (gemm.h) and by cuBLAS. Results are PAPER_OP_ALPHA times the product, plus C except for trmm. */
#pragma once

#include "paper_operations.h"

/* C += alpha A B, or A B^T by trans=nt; small: k may be split. */
paper_op_call gemm_paper, gemm_own, gemm_vendor;
paper_op_call small_paper, small_own;

/* The lower triangle of C += alpha A A^T; the paper's kernels with shape VOLKOV_FULL update all of
 * C. */
paper_op_call syrk_paper, syrk_own, syrk_vendor;

/* C = alpha times triangle and square in the order that side=l or r says. */
paper_op_call trmm_paper, trmm_vendor;
