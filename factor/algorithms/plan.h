/* SPDX-License-Identifier: MIT */
/* How a blocked factorization runs: what the choice of block sizes decides and what the algorithms
 * in getrf.h, geqrf.h and potrf.h obey. And what they share: the division into blocks and the
 * division of a workspace that the caller hands in. */
#ifndef FATHOM_PLAN_H
#define FATHOM_PLAN_H

#include "factor/executors/executor.h"

struct plan {
	bool hybrid;           /* panels on the host CPU, by LAPACKE; else on the device */
	const char *panel;     /* LU on the device: the variant of panel_getrf for the leaves */
	const int64_t *widths; /* of the blocks from the left, columns; the last one repeats */
	int64_t count;         /* of widths, at least 1 */
	int64_t leaf;          /* widest panel that the device factorizes in one call; wider ones
	                          are split in halves */
	int64_t inverse;       /* widest triangle inverted to solve by gemm, at most
	                          PLAN_INVERSE_MAX, and LU's at most 32; 0: by trsm */
	int lookahead;         /* 1: a panel is factorized while the columns right of it are still
	                          updated; 2: and that update begins, where it has parts, beside
	                          that of the panel's own columns; 0: one after the other */
};

enum { PLAN_INVERSE_MAX = 128, PLAN_LOOKAHEAD_MAX = 2 };

/* False with the executor's fault when a field is out of its range; when a shape is impossible. */
bool plan_check(struct executor *, const struct plan *);
bool matrix_check(struct executor *, struct matrix a);

/* Width of block `index` when `left` columns are left: 0 when none are. */
int64_t plan_width(const struct plan *, int64_t index, int64_t left);

/* Of `columns` columns: how many blocks, and the widest. */
int64_t plan_blocks(const struct plan *, int64_t columns);
int64_t plan_widest(const struct plan *, int64_t columns);

/* Columns of the left half of a panel that is wider than a leaf: a multiple of the leaf, so that
 * only the last leaf is narrower. */
int64_t plan_left_half(const struct plan *, int64_t width);

/* Hands out a workspace piece by piece. With base NULL it only counts (and the pieces' data are
 * NULL), so that the same code gives the size. */
struct workspace {
	char *base;
	int64_t used; /* bytes */
};
struct matrix workspace_matrix(struct workspace *, int64_t m, int64_t n, enum precision precision);

/* Room for any matrix that is not larger than m x n or n x m, and such a matrix in it. */
struct matrix workspace_room(struct workspace *, int64_t m, int64_t n, enum precision precision);
struct matrix room_for(struct matrix room, int64_t m, int64_t n);
int *workspace_integers(struct workspace *, int64_t count);
void *workspace_bytes(struct workspace *, int64_t bytes);

/* Element `index` of integers in executor memory, which are NULL for the model. */
static inline int *integer_at(int *integers, int64_t index)
{
	return integers ? integers + index : NULL;
}

#endif
