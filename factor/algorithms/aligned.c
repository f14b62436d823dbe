/* SPDX-License-Identifier: MIT */
#include "aligned.h"

static bool copied(const struct executor *e, struct matrix a, int64_t bytes)
{
	const bool split = a.precision == SINGLE && e->math != MATH_FP32;

	return e->aligned_from && min_int64(a.m, a.n) >= e->aligned_from / (split ? 2 : 1) &&
	       a.ld * precision_bytes(a.precision) % bytes != 0;
}

struct matrix aligned_workspace(
        const struct executor *e, struct workspace *workspace, struct matrix a, int64_t bytes)
{
	return copied(e, a, bytes) ? workspace_matrix(workspace, a.m, a.n, a.precision) : a;
}

bool aligned_copy(struct executor *e, enum uplo uplo, struct matrix from, struct matrix to)
{
	e->queue = e->home;
	return from.ld == to.ld || ex_copy(e, uplo, from, to);
}
