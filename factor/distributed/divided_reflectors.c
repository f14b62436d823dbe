/* SPDX-License-Identifier: MIT */
#include "divided_reflectors.h"

#include "lib/base/msg.h"

#include <stdlib.h>

struct divided_work divided_work_workspace(const struct grid *grid, struct workspace *workspace,
        int64_t n, int64_t columns, enum precision precision)
{
	const struct matrix products =
	        workspace_matrix(workspace, n, grid_rows(grid) * columns, precision);

	return (struct divided_work){products, workspace_matrix(workspace, n, columns, precision)};
}

/* V^T C of a process row. */
static struct matrix product_of(struct divided_work work, int row, int64_t n, int64_t columns)
{
	struct matrix product = room_for(work.products, n, columns);

	product.offset = row * product.ld * columns;
	return product;
}

static bool exchange(struct executor *e, const struct grid *grid, struct divided_work work,
        int64_t n, int64_t columns, int64_t block)
{
	const int rows = grid_rows(grid);
	struct comm_piece *pieces = xcalloc((size_t)rows, sizeof *pieces);

	for (int row = 0; row < rows; row++) {
		const struct matrix product = product_of(work, row, n, columns);
		pieces[row] = (struct comm_piece){matrix_address(product),
		        product.ld * columns * precision_bytes(product.precision), row};
	}
	bool ok = comm_exchange(grid->column, e, pieces, rows, "products of block", block);
	free(pieces);
	return ok;
}

bool divided_apply(struct executor *e, const struct grid *grid, enum trans trans,
        struct reflectors r, struct divided_work work, struct matrix c, int64_t block)
{
	const int64_t n = r.v.n;
	const struct matrix own = product_of(work, grid_my_row(grid), n, c.n);
	const struct matrix scaled = room_for(work.scaled, n, c.n);

	if (n == 0 || c.n == 0)
		return true;
	bool ok = (c.m > 0 ? ex_gemm(e, TRANSPOSED, PLAIN, 1, r.v, c, 0, own)
	                   : ex_fill(e, WHOLE, 0, 0, own)) &&
	          exchange(e, grid, work, n, c.n, block);
	for (int row = 0; ok && row < grid_rows(grid); row++)
		ok = ex_gemm(
		        e, trans, PLAIN, 1, r.t, product_of(work, row, n, c.n), row > 0, scaled);
	return ok && (c.m == 0 || ex_gemm(e, PLAIN, PLAIN, -1, r.v, scaled, 1, c));
}
