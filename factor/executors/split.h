/* SPDX-License-Identifier: MIT */
/* Products of split operands, by 3xTF32 (factor/kernels/gemm/tf32.h) or 3xFP16
 * (factor/kernels/gemm/half_pair.h): which products, and their composition from an executor's
 * split, gemm_tf32 and half_update. Sums of more than TF32_PIECE products are made piece by piece,
 * in the fp32 of C. Their workspace belongs to QUEUE_MAIN. */
#pragma once

#include "executor.h"
#include "workspace.h"

/* Room for products into any part of an m x n matrix, and for the stack of one operand (kept) that
 * several products share: op(kept) with the inner dimension down its columns. No room when the
 * executor's math is fp32. stack: the form for 3xTF32; 3xFP16 uses pairs. */
struct split_room split_workspace(const struct executor *, struct workspace *, int64_t m, int64_t n,
        struct matrix kept, enum trans trans, enum split_form stack);

/* False with the executor's fault when it cannot do its math. */
bool split_check(struct executor *);

/* Later products in QUEUE_MAIN that read parts of a, over all of its inner dimension, share one
 * stack of a; a must not change until the next call. */
void split_keep(struct executor *, struct matrix a);

/* From now on the kept operand is transposed: op and stack as for split_workspace. A transposed
 * kept operand fits in the same room. */
void split_turn(struct executor *, enum trans trans, enum split_form stack);

/* Whether gemm_tall makes p = v^T c. */
bool split_wanted_tall(const struct executor *, struct matrix v, struct matrix c, struct matrix p);

/* Whether a product into c uses split operands; and the product. */
bool split_wanted(const struct executor *, enum trans ta, enum trans tb, struct matrix a,
        struct matrix b, double beta, struct matrix c);
bool split_gemm(struct executor *, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c);

/* Makes the stacks of split_gemm's operands, or of their first piece, where the product uses
 * splits. This product must be the next one, and its operands must not change before it. */
bool split_ready(struct executor *, enum trans ta, enum trans tb, struct matrix a, struct matrix b,
        struct matrix c);

/* Makes the kept stack for a symmetric update of c by a, where the update uses splits. */
bool split_prepare(struct executor *, enum trans trans, struct matrix a, struct matrix c);

/* The same for syrk: one triangle of C += alpha op(A) op(A)^T and the rectangle behind it, where
 * op(A) is part of the kept operand. 3xFP16 uses one kernel; 3xTF32 products of whole blocks, with
 * the triangles on the diagonal made apart. */
bool split_wanted_syrk(const struct executor *, enum trans trans, struct matrix a, struct matrix c);
bool split_syrk(struct executor *, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        struct matrix c);

/* The same in stairs, by 3xFP16 alone, in one kernel: C += alpha A B^T, where A (as many rows as C)
 * is part of the kept operand, and B has the rows of A that belong to C's columns. */
bool split_wanted_stairs(
        const struct executor *, struct stairs stairs, struct matrix a, struct matrix c);
bool split_stairs(struct executor *, struct stairs stairs, double alpha, struct matrix a,
        struct matrix b, struct matrix c);
