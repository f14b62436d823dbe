/* SPDX-License-Identifier: MIT */
/* Allocation of pieces of a workspace that the caller provides. */
#pragma once

#include "lib/base/matrix.h"

/* Allocates pieces of a workspace. With base NULL it only counts, and the pieces' data are NULL:
 * the same code gives the size. */
struct workspace {
	char *base;
	int64_t used; /* bytes */
};
struct matrix workspace_matrix(struct workspace *, int64_t m, int64_t n, enum precision precision);

/* Room for any matrix up to m x n or n x m, and a matrix in such room. */
struct matrix workspace_room(struct workspace *, int64_t m, int64_t n, enum precision precision);
struct matrix room_for(struct matrix room, int64_t m, int64_t n);
int *workspace_integers(struct workspace *, int64_t count);
void *workspace_bytes(struct workspace *, int64_t bytes);

/* Element `index` of integers in executor memory, which are NULL for the model. */
static inline int *integer_at(int *integers, int64_t index)
{
	return integers ? integers + index : NULL;
}
