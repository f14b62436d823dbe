/* SPDX-License-Identifier: MIT */
/* Costs of updates by 3xTF32: the library's products on tensor cores, alone, several squares in one
 * call, or on the multiprocessors that a panel beside them leaves (factor/kernels/gemm/tf32.h has
 * the library choose other kernels there); the rows that the library leaves over; our own V^T C of
 * long columns (factor/kernels/gemm/tf32_tall.h). */
#include "factor/kernels/gemm/tf32_tall.h"
#include "cost_products.h"

#include <math.h>

/* Whether a product leaves multiprocessors to a panel beside it, and the profile has its time. */
static bool leaves_some(struct cost_reader *r, const char *shared, int64_t rows)
{
	return r->shares && cost_known(r, shared) &&
	       tf32_kept(rows, (int)cost_whole(r, "gpu.sm.count")) > 0;
}

/* Squares in one call. Beside a panel they slow down as one product does. A profile without them
 * uses one product of as many columns. */
static double squares_time(struct cost_reader *r, struct matrix c, double k, double product)
{
	const char *squares = "gpu.gemm_batched.tf32";

	return cost_known(r, squares) ? product_time(r, squares, c, k) * product /
	                                        product_time(r, "gpu.gemm.tf32", c, k)
	                              : product;
}

static struct cost tf32_library(struct cost_reader *r, struct matrix c, int64_t k, bool together)
{
	const char *alone = "gpu.gemm.tf32", *shared = "gpu.gemm_shared.tf32";
	const bool overlapped = leaves_some(r, shared, c.m);
	const double product = product_time(r, overlapped ? shared : alone, c, (double)k);
	struct cost cost = cost_library(
	        r, together ? squares_time(r, c, (double)k, product) : product, TERM_ARITHMETIC);

	cost.enqueue = product_enqueue(r, false, &(struct gemm_problem){SINGLE, .ta = true});
	cost.share = cost_share(
	        r, overlapped ? cost_scalar(r, "gpu.sm.count") - TF32_KEPT : cost_tiles(c.m, c.n));
	cost.block_lifetime = INFINITY; /* the library's blocks for wide units live until the end */
	return cost;
}

/* The rows that the library leaves over read the right operand once more. */
static struct cost rows_left(struct cost_reader *r, struct matrix c, int64_t k)
{
	return cost_sweep(r, "gpu.copy.time", (double)(k * c.n * precision_bytes(c.precision)));
}

struct cost cost_gemm_tf32(struct cost_reader *r, struct matrix c, int64_t k, bool together)
{
	const int64_t rest = c.m % TF32_ROWS, whole = c.m - rest;

	if (whole == 0)
		return rows_left(r, matrix_view(c, 0, 0, rest, c.n), k);
	struct cost cost = tf32_library(r, matrix_view(c, 0, 0, whole, c.n), k, together);
	if (rest == 0)
		return cost;
	const double share = cost.share; /* the rows left over are too short to count */
	cost.first = cost.enqueue;
	cost = cost_both(cost, rows_left(r, matrix_view(c, whole, 0, rest, c.n), k));
	cost.share = share;
	return cost;
}

/* One block a multiprocessor, which lives until the end, and a kernel that adds up their parts. A
 * profile without this kernel uses the library's product. */
struct cost cost_gemm_tall(struct cost_reader *r, struct matrix c, int64_t k)
{
	const char *shared = "gpu.tf32_tall_shared.s", *alone = "gpu.tf32_tall.s";
	const bool overlapped = leaves_some(r, shared, k);

	if (!cost_known(r, alone))
		return cost_gemm(r, TRANSPOSED, PLAIN, c, k, true, true);
	const double seconds = product_time(r, overlapped ? shared : alone, c, (double)k);
	struct cost cost = cost_kernel(r);
	cost.first = cost.enqueue;
	cost.enqueue *= 2;
	cost.further = 1;
	cost.term[TERM_ARITHMETIC] = fmax(0, seconds - cost.term[TERM_LAUNCH]);
	cost.share = overlapped ? cost_share(r, cost_scalar(r, "gpu.sm.count") - TF32_KEPT) : 1;
	cost.block_lifetime = INFINITY;
	return cost;
}
