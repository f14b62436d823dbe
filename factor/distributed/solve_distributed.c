/* SPDX-License-Identifier: MIT */
/* Solves with distributed factors: sweeps, and row swaps of right-hand sides. */
#include "row_swaps.h"
#include "sweep_distributed.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

/* -1 when one of the two is. */
static int64_t both(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : max_int64(a, b);
}

static bool square_check(struct executor *e, const struct distributed *a)
{
	return a->layout.m == a->layout.n ||
	       fault_refuse(&e->fault, "factors of %" PRId64 " x %" PRId64 " are not square",
	               a->layout.m, a->layout.n);
}

/* ---- row swaps of right-hand sides ---- */

static struct row_swaps swaps_workspace(struct executor *e, const struct distributed *lu,
        const struct distributed *b, struct workspace *workspace)
{
	const int64_t columns[QUEUE_COUNT] = {[QUEUE_MAIN] = b->local.n};

	return row_swaps_workspace(
	        e, b, workspace, min_int64(lu->layout.nb, lu->layout.m), columns);
}

/* On several process rows: block by block, in this order or the opposite one. */
static bool swap_divided(const struct distributed *lu, const int *ipiv, const struct distributed *b,
        bool backwards, struct row_swaps *swaps)
{
	const int64_t nb = lu->layout.nb, m = lu->layout.m, count = (m + nb - 1) / nb;
	const struct matrix none = {0};
	int *own = xmalloc((size_t)(min_int64(nb, m) + 1) * sizeof *own);
	struct matrix top;
	bool ok = true;

	for (int64_t i = 0; ok && i < count; i++) {
		const int64_t index = backwards ? count - 1 - i : i, j = index * nb;
		const struct block block = {index, j, min_int64(nb, m - j)};
		const int64_t at = distributed_rows_before(b, j);
		for (int64_t k = 0; k < block.w; k++)
			own[k] = ipiv[j + k] - (int)j;
		ok = row_swaps_know(swaps, block, own, backwards) &&
		     row_swaps_run(swaps, block, false,
		             matrix_view(b->local, at, 0, b->local.m - at, b->local.n), none, &top);
	}
	free(own);
	return ok;
}

static bool swap(struct executor *e, const struct distributed *lu, struct pivots pivots,
        const struct distributed *b, bool backwards, void *work)
{
	struct workspace workspace = {work, 0};
	int info, *ipiv;

	if (grid_rows(&lu->grid) == 1)
		return ex_laswp(e, b->local, pivots, backwards);
	ipiv = xmalloc((size_t)(pivots.n + 1) * sizeof *ipiv);
	struct row_swaps swaps = swaps_workspace(e, lu, b, &workspace);
	bool ok = grid_sync(&lu->grid, e) && e->ops->read_pivots(e, pivots, ipiv, &info) &&
	          swap_divided(lu, ipiv, b, backwards, &swaps);
	row_swaps_free(&swaps);
	free(ipiv);
	return ok;
}

/* ---- LU, Cholesky ---- */

int64_t getrs_distributed_work(
        struct executor *e, const struct distributed *lu, const struct distributed *b)
{
	struct workspace workspace = {NULL, 0};
	const int64_t bytes =
	        square_check(e, lu) && row_swaps_check(e, lu) ? sweep_triangle_work(e, lu, b) : -1;

	if (bytes >= 0 && grid_rows(&lu->grid) > 1)
		swaps_workspace(e, lu, b, &workspace);
	return both(bytes, workspace.used);
}

bool getrs_distributed(struct executor *e, enum trans trans, const struct distributed *lu,
        struct pivots pivots, const struct distributed *b, void *work)
{
	if (!square_check(e, lu) || !sweep_check(e, lu, b))
		return false;
	e->queue = QUEUE_MAIN;
	if (trans == PLAIN)
		return swap(e, lu, pivots, b, false, work) &&
		       sweep_triangle(e, LOWER, PLAIN, UNIT, lu, b, work) &&
		       sweep_triangle(e, UPPER, PLAIN, NON_UNIT, lu, b, work);
	return sweep_triangle(e, UPPER, TRANSPOSED, NON_UNIT, lu, b, work) &&
	       sweep_triangle(e, LOWER, TRANSPOSED, UNIT, lu, b, work) &&
	       swap(e, lu, pivots, b, true, work);
}

int64_t potrs_distributed_work(
        struct executor *e, const struct distributed *l, const struct distributed *b)
{
	return square_check(e, l) ? sweep_triangle_work(e, l, b) : -1;
}

bool potrs_distributed(
        struct executor *e, const struct distributed *l, const struct distributed *b, void *work)
{
	return square_check(e, l) && sweep_triangle(e, LOWER, PLAIN, NON_UNIT, l, b, work) &&
	       sweep_triangle(e, LOWER, TRANSPOSED, NON_UNIT, l, b, work);
}

int64_t gels_distributed_work(
        struct executor *e, const struct distributed *a, const struct distributed *b)
{
	if (a->layout.m < a->layout.n) {
		fault_refuse(&e->fault, "least squares over ranks need m >= n");
		return -1;
	}
	return both(geqrf_distributed_work(e, a),
	        both(ormqr_distributed_work(e, a, b), sweep_triangle_work(e, a, b)));
}

bool gels_distributed(struct executor *e, const struct distributed *a, struct matrix tau,
        const struct distributed *b, void *work)
{
	return gels_distributed_work(e, a, b) >= 0 && geqrf_distributed(e, a, tau, work) &&
	       ormqr_distributed(e, TRANSPOSED, a, tau, b, work) &&
	       sweep_triangle(e, UPPER, PLAIN, NON_UNIT, a, b, work);
}
