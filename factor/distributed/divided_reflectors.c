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

struct matrix divided_product(struct divided_work work, int row, int64_t n, int64_t columns)
{
	struct matrix product = room_for(work.products, n, columns);

	product.offset = row * product.ld * columns;
	return product;
}

bool divided_products(struct executor *e, const struct grid *grid, struct matrix v, struct matrix c,
        struct divided_work work, int64_t block)
{
	const int rows = grid_rows(grid);
	const struct matrix own = divided_product(work, grid_my_row(grid), v.n, c.n);
	struct comm_piece *pieces = xcalloc((size_t)rows, sizeof *pieces);

	for (int row = 0; row < rows; row++) {
		const struct matrix product = divided_product(work, row, v.n, c.n);
		pieces[row] = (struct comm_piece){matrix_address(product),
		        product.ld * c.n * precision_bytes(product.precision), row};
	}
	bool ok = (c.m > 0 ? ex_gemm(e, TRANSPOSED, PLAIN, 1, v, c, 0, own)
	                   : ex_fill(e, WHOLE, 0, 0, own)) &&
	          comm_exchange(grid->column, e, pieces, rows, "products of block", block);
	free(pieces);
	return ok;
}

bool divided_apply(struct executor *e, const struct grid *grid, enum trans trans,
        struct reflectors r, struct divided_work work, struct matrix c, int64_t block)
{
	const int64_t n = r.v.n;
	const struct matrix scaled = room_for(work.scaled, n, c.n);

	if (n == 0 || c.n == 0)
		return true;
	bool ok = divided_products(e, grid, r.v, c, work, block);
	for (int row = 0; ok && row < grid_rows(grid); row++)
		ok = ex_gemm(e, trans, PLAIN, 1, r.t, divided_product(work, row, n, c.n), row > 0,
		        scaled);
	return ok && (c.m == 0 || ex_gemm(e, PLAIN, PLAIN, -1, r.v, scaled, 1, c));
}
