/* SPDX-License-Identifier: MIT */
/* Split operands of products (split.h): pieces of at most TF32_PIECE of the inner dimension, in the
 * kept stack or at a byte of the room. */
#pragma once

#include "executor.h"

/* Whether the math is 3xFP16, where all operands are pairs; the form of an operand. */
bool split_in_halves(const struct executor *);
enum split_form split_kind_of(const struct executor *, enum split_form stack);

/* Inner dimension of op(a). */
int64_t split_depth(struct matrix a, enum trans trans);

/* Room for a piece of n columns. */
int64_t split_piece_bytes(enum split_form stack, int64_t n);

/* Whether op(a) is part of the kept operand, with all of its rows, and the kept stack has the
 * needed form. */
bool split_is_kept(
        const struct executor *, struct matrix a, enum trans trans, enum split_form stack);

/* The stack of op(a)'s piece from k on: part of the kept stack, or at a byte of the room. A split
 * that is missing is put off into `off`; split_make makes it. */
bool split_operand(struct executor *, struct matrix a, enum trans trans, enum split_form stack,
        int64_t k, int64_t byte, struct splits *off, struct matrix *out);

/* split_make makes the splits put off; split_make_kept puts off the whole kept stack unless it
 * exists. */
bool split_make(struct executor *, struct splits *off);
bool split_make_kept(struct executor *, struct splits *off);
