/* SPDX-License-Identifier: MIT */
/* The calls of potrf and potrs, of both precisions. */
#include "fathom_handle.h"

#include "factor/algorithms/potrf.h"
#include "factor/algorithms/solve.h"

static int64_t cholesky_set_up(struct fathom *h, char letter, struct matrix a, enum uplo *uplo,
        struct default_plan *chosen)
{
	if (!h || !call_uplo(h, letter, uplo) || !call_shape(h, "A", a))
		return -1;
	if (!call_enter(h))
		return -1;
	call_plan(h, POTRF, a, chosen);
	int64_t bytes = potrf_work(h->e, &chosen->plan, *uplo, a);
	call_leave(h);
	return bytes;
}

int64_t call_cholesky_work(struct fathom *h, char letter, struct matrix a)
{
	struct default_plan chosen;
	enum uplo uplo;

	return cholesky_set_up(h, letter, a, &uplo, &chosen);
}

enum fathom_status call_cholesky(
        struct fathom *h, char letter, struct matrix a, void *work, int64_t work_bytes, int *info)
{
	struct default_plan chosen;
	enum fathom_status status;
	enum uplo uplo;

	if (!call_work(h, work, work_bytes, cholesky_set_up(h, letter, a, &uplo, &chosen)) ||
	        !call_matrix_given(h, "A", a) || !call_given(h, "info", info, 1))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, potrf(h->e, &chosen.plan, uplo, a, work, info))
	                              : status;
}

enum fathom_status call_cholesky_solve(
        struct fathom *h, char letter, struct matrix a, struct matrix b)
{
	enum fathom_status status;
	enum uplo uplo;

	if (!h || !call_uplo(h, letter, &uplo) || !call_shape(h, "A", a) ||
	        !call_shape(h, "B", b) || !call_matrix_given(h, "A", a) ||
	        !call_matrix_given(h, "B", b))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, potrs(h->e, uplo, a, b)) : status;
}
