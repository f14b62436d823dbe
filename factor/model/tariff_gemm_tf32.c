/* SPDX-License-Identifier: MIT */
/* Updates by 3xTF32: the library's products on tensor cores, and several squares of one call, alone
 * or on the multiprocessors that a panel beside them does not get, for which the executor has it
 * choose other kernels (lib/tf32.h); the rows that it leaves over; and our own V^T C of long
 * columns (lib/tf32_tall.h). */
#include "../../lib/tf32_tall.h"
#include "price_products.h"

#include <math.h>

/* Whether a product leaves multiprocessors to a panel beside it, where the profile has that. */
static bool leaves_some(struct price_reader *r, const char *shared, int64_t rows)
{
	return r->shares && price_known(r, shared) &&
	       tf32_kept(rows, (int)price_scalar(r, "gpu.sm.count")) > 0;
}

/* Squares in one call, a profile without which has one product of as many columns stand for them.
 * Beside a panel they take longer as that does. */
static double squares_time(struct price_reader *r, struct matrix c, double k, double product)
{
	const char *squares = "gpu.gemm_batched.tf32";

	return price_known(r, squares) ? product_time(r, squares, c, k) * product /
	                                         product_time(r, "gpu.gemm.tf32", c, k)
	                               : product;
}

static struct price tf32_library(struct price_reader *r, struct matrix c, int64_t k, bool together)
{
	const char *alone = "gpu.gemm.tf32", *shared = "gpu.gemm_shared.tf32";
	const bool beside = leaves_some(r, shared, c.m);
	const double product = product_time(r, beside ? shared : alone, c, (double)k);
	struct price price = price_library(
	        r, together ? squares_time(r, c, (double)k, product) : product, TERM_ARITHMETIC);

	price.enqueue = product_enqueue(r, false, TRANSPOSED);
	price.share = price_share(
	        r, beside ? price_scalar(r, "gpu.sm.count") - TF32_KEPT : price_tiles(c.m, c.n));
	price.block = INFINITY; /* the library's blocks for wide units stay until the end */
	return price;
}

/* Rows that the library leaves over read the right operand once more. */
static struct price rows_left(struct price_reader *r, struct matrix c, int64_t k)
{
	return price_sweep(r, "gpu.copy.time", (double)(k * c.n * precision_bytes(c.precision)));
}

struct price price_gemm_tf32(struct price_reader *r, struct matrix c, int64_t k, bool together)
{
	const int64_t rest = c.m % TF32_ROWS, whole = c.m - rest;

	if (whole == 0)
		return rows_left(r, matrix_view(c, 0, 0, rest, c.n), k);
	struct price price = tf32_library(r, matrix_view(c, 0, 0, whole, c.n), k, together);
	if (rest == 0)
		return price;
	const double share = price.share; /* the rows left over are too short to count */
	price.first = price.enqueue;
	price = price_both(price, rows_left(r, matrix_view(c, whole, 0, rest, c.n), k));
	price.share = share;
	return price;
}

/* As many blocks as it is given multiprocessors, which stay until the end, and a kernel that adds
 * up what they have. A profile without it has the library's. */
struct price price_gemm_tall(struct price_reader *r, struct matrix c, int64_t k)
{
	const char *shared = "gpu.tf32_tall_shared.s", *alone = "gpu.tf32_tall.s";
	const bool beside = leaves_some(r, shared, k);

	if (!price_known(r, alone))
		return price_gemm(r, TRANSPOSED, PLAIN, c, k);
	const double seconds = product_time(r, beside ? shared : alone, c, (double)k);
	struct price price = price_kernel(r);
	price.first = price.enqueue;
	price.enqueue *= 2;
	price.further = 1;
	price.term[TERM_ARITHMETIC] = fmax(0, seconds - price.term[TERM_LAUNCH]);
	price.share = beside ? price_share(r, price_scalar(r, "gpu.sm.count") - TF32_KEPT) : 1;
	price.block = INFINITY;
	return price;
}
