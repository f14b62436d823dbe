/* SPDX-License-Identifier: MIT */
/* LU of a matrix that lies by rows: the rows of a block right of its panel. */
#include "getrf_parts.h"

/* Rows of which one kernel solves for all; of more, pieces of so many, and products take the rest.
 */
enum { ROWS_AT_ONCE = 256 };

/* By rows, with what the exchanges have left: c := c triangle^-T. */
static bool solve_rows(struct executor *e, struct matrix triangle, struct matrix c)
{
	struct pivots none = {NULL, 0};
	int64_t n = triangle.n, h = n / 2;

	if (n <= ROWS_AT_ONCE)
		return ex_lu_rows(e, triangle, none, c);
	struct matrix first = matrix_view(c, 0, 0, c.m, h);
	struct matrix second = matrix_view(c, 0, h, c.m, n - h);
	return solve_rows(e, matrix_view(triangle, 0, 0, h, h), first) &&
	       ex_gemm(e, PLAIN, TRANSPOSED, -1, first, matrix_view(triangle, h, 0, n - h, h), 1,
	               second) &&
	       solve_rows(e, matrix_view(triangle, h, h, n - h, n - h), second);
}

bool lu_top_by_rows(struct executor *e, struct matrix triangle, struct pivots p, struct matrix c)
{
	struct matrix none = matrix_view(triangle, 0, 0, 0, 0);

	if (triangle.n <= ROWS_AT_ONCE)
		return ex_lu_rows(e, triangle, p, c);
	return ex_lu_rows(e, none, p, c) && solve_rows(e, triangle, c);
}
