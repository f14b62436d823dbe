/* SPDX-License-Identifier: MIT */
/* Products of split operands, by 3xTF32 (factor/kernels/gemm/tf32.h) or 3xFP16 (factor/kernels/gemm/half_pair.h): which, and how
 * they are put together from an executor's split, gemm_tf32 and half_update. Sums of more than
 * TF32_PIECE products are made piece by piece, in the fp32 of C. They need a workspace, which is
 * QUEUE_MAIN's alone. */
#ifndef FATHOM_SPLIT_H
#define FATHOM_SPLIT_H

#include "executor.h"
#include "factor/algorithms/plan.h"

/* Room for products into any part of an m x n matrix, and for the stack of one operand (kept) that
 * several share, as op(kept) with the inner dimension down its columns; nothing when the
 * executor's math is fp32. `stack` is what 3xTF32 needs; 3xFP16 has pairs. */
struct split_room split_workspace(const struct executor *, struct workspace *, int64_t m, int64_t n,
        struct matrix kept, enum trans trans, enum split_form stack);

/* Smaller products are over before their operands are split, QR's V^T C reads a stack of C for a
 * few rows only, and those into a C that is not aligned are slow (H200). */
extern const struct split_limits split_limits_cuda;

/* The same with half_update. */
extern const struct split_limits split_limits_cuda_half;

/* False with the executor's fault when it cannot do the math it is set to. */
bool split_check(struct executor *);

/* The products that follow in QUEUE_MAIN and read parts of a, all of its inner dimension, share one
 * stack of it: it stays as it is until the next call. */
void split_keep(struct executor *, struct matrix a);

/* What is kept from now on lies the other way: op and stack as for split_workspace, in whose room for
 * the transpose it finds its own. */
void split_turn(struct executor *, enum trans trans, enum split_form stack);

/* Whether p = v^T c is made by gemm_tall. */
bool split_wanted_tall(const struct executor *, struct matrix v, struct matrix c, struct matrix p);

/* Whether a product into c is made of split operands; and it. */
bool split_wanted(const struct executor *, enum trans ta, enum trans tb, struct matrix a,
        struct matrix b, double beta, struct matrix c);
bool split_gemm(struct executor *, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c);

/* Makes the stacks of split_gemm's operands, or of the first of their pieces, where the product is
 * made so: the next product is that one, and its operands stay as they are until then. */
bool split_ready(struct executor *, enum trans ta, enum trans tb, struct matrix a, struct matrix b,
        struct matrix c);

/* What is kept, ready for a symmetric update of c by a, where that is made so. */
bool split_prepare(struct executor *, enum trans trans, struct matrix a, struct matrix c);

/* The same of one triangle of C += alpha op(A) op(A)^T and what is behind it, with op(A) among what
 * is kept as a left and as a right operand: in one kernel by 3xFP16; by 3xTF32 as products of whole
 * blocks but for the triangles on the diagonal, which are made aside. */
bool split_wanted_syrk(const struct executor *, enum trans trans, struct matrix a, struct matrix c);
bool split_syrk(struct executor *, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        struct matrix c);

#endif
