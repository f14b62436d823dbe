/* SPDX-License-Identifier: MIT */
/* Split operands of products (split.h): pieces of at most TF32_PIECE of the inner dimension, in
 * what is kept or at a byte of the room. */
#ifndef FATHOM_SPLIT_OPERANDS_H
#define FATHOM_SPLIT_OPERANDS_H

#include "executor.h"

/* By 3xFP16, where all operands are pairs; else the kind is the stack. */
bool split_in_halves(const struct executor *);
enum split_form split_kind_of(const struct executor *, enum split_form stack);

/* Of op(a), the inner dimension. */
int64_t split_depth(struct matrix a, enum trans trans);

/* Room for a piece of n columns. */
int64_t split_piece_bytes(enum split_form stack, int64_t n);

/* Whether op(a) is a part of what is kept, with all of its rows, and stacked for that. */
bool split_is_kept(
        const struct executor *, struct matrix a, enum trans trans, enum split_form stack);

/* The stack of op(a)'s piece from k on, at that byte of the room unless there is one, which is made
 * at the latest with what is put off. */
bool split_operand(struct executor *, struct matrix a, enum trans trans, enum split_form stack,
        int64_t k, int64_t byte, struct splits *off, struct matrix *out);

/* Makes what was put off, or puts off all of what is kept unless it is there. */
bool split_make(struct executor *, struct splits *off);
bool split_make_kept(struct executor *, struct splits *off);

#endif
