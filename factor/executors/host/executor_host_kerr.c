/* SPDX-License-Identifier: MIT */
/* Kerr's kernels on the host, from the host executor's other operations. */
#include "executor_host.h"

#include <math.h>

/* The square of a column's norm. */
static bool square_of(struct executor *e, struct matrix x, double *square)
{
	double norm;

	if (!host_nrm2(e, x, &norm))
		return false;
	*square = norm * norm;
	return true;
}

bool host_kerr_house(struct executor *e, struct matrix a, int64_t j, struct matrix squares,
        struct matrix y, struct matrix tau)
{
	const struct matrix x = matrix_view(a, j, j, a.m - j, 1);
	double whole, above = 0, first;

	if (!host_get(e, matrix_view(squares, j, 0, 1, 1), &whole) ||
	        !host_get(e, matrix_view(x, 0, 0, 1, 1), &first) ||
	        (j > 0 && (!square_of(e, matrix_view(a, 0, j, j, 1), &above) ||
	                          !host_fill(e, WHOLE, 0, 0, matrix_view(y, 0, j, j, 1)))))
		return false;
	double rest = whole - above;
	if (!(rest > whole / 4) && !square_of(e, x, &rest))
		return false;
	const double norm = sqrt(rest), factor = norm == 0 ? 0 : 1 / (norm * (norm + fabs(first))),
	             head = first + copysign(norm, first);
	return host_copy(e, WHOLE, x, matrix_view(y, j, j, x.m, 1)) &&
	       host_fill(e, WHOLE, head, head, matrix_view(y, j, j, 1, 1)) &&
	       host_fill(e, WHOLE, factor, factor, matrix_view(tau, j, 0, 1, 1));
}

bool host_kerr_project(
        struct executor *e, struct matrix tau, struct matrix a, struct matrix v, struct matrix row)
{
	double factor = 1;

	return (tau.n == 0 || host_get(e, tau, &factor)) &&
	       host_gemv(e, TRANSPOSED, factor, a, v, 0, row);
}

bool host_kerr_extend(struct executor *e, struct matrix tau, struct matrix w, struct matrix row,
        struct matrix v, struct matrix z)
{
	double factor;

	if (!host_get(e, tau, &factor) || !host_copy(e, WHOLE, v, z))
		return false;
	return w.n == 0 ? host_scal(e, -factor, z)
	                : host_gemv(e, PLAIN, -factor, w, row, -factor, z);
}
