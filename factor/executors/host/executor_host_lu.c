/* SPDX-License-Identifier: MIT */
/* The host executor's operations on pivots and info, and the combined operations of an LU. */
#include "executor_host.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void exchange_columns(struct matrix a, int64_t i, int64_t j)
{
	char *x = matrix_address(matrix_view(a, 0, i, a.m, 1));
	char *y = matrix_address(matrix_view(a, 0, j, a.m, 1));

	for (int64_t k = 0; k < a.m * precision_bytes(a.precision); k++) {
		char kept = x[k];
		x[k] = y[k];
		y[k] = kept;
	}
}

bool host_lu_rows(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	for (int64_t i = 0; i < p.n; i++)
		if (p.data[i] > i && p.data[i] <= c.n)
			exchange_columns(c, i, p.data[i] - 1);
	return a.n == 0 ||
	       host_trsm(e, RIGHT, LOWER, TRANSPOSED, UNIT, 1, a, matrix_view(c, 0, 0, c.m, a.n));
}

bool host_record_swaps(
        struct executor *e, struct deferred_swaps t, struct pivots p, int64_t first, int64_t block)
{
	int *origin = t.data + deferred_swaps_origin(t),
	    *place = t.data + deferred_swaps_place(t, block);

	(void)e;
	for (int64_t i = 0; i < t.m && block == 0; i++)
		origin[i] = (int)i;
	for (int64_t i = 0; i < p.n; i++) {
		int64_t own = first + i, other = first + p.data[i] - 1;
		if (other > own && other < t.m) {
			int kept = origin[own];
			origin[own] = origin[other];
			origin[other] = kept;
		}
		t.data[own] = (int)block;
		t.data[t.columns + own] = (int)(first + p.n);
	}
	for (int64_t i = 0; i < t.m; i++)
		place[origin[i]] = (int)i;
	return true;
}

bool host_apply_swaps(struct executor *e, struct deferred_swaps t, struct matrix a)
{
	const int *origin = t.data + deferred_swaps_origin(t);
	const int64_t word = precision_bytes(a.precision);
	char *held = xmalloc((size_t)(a.m * word));

	(void)e;
	for (int64_t j = 0; j < a.n; j++) {
		char *column = (char *)matrix_address(a) + j * a.ld * word;
		const int *place = t.data + deferred_swaps_place(t, t.data[j]);
		memcpy(held, column, (size_t)(a.m * word));
		for (int64_t i = t.data[t.columns + j]; i < a.m; i++)
			memcpy(column + i * word, held + place[origin[i]] * word, (size_t)word);
	}
	free(held);
	return true;
}

bool host_offset_pivots(struct executor *e, struct pivots panel, int64_t first, struct pivots all)
{
	(void)e;
	for (int64_t i = 0; i < panel.n; i++)
		all.data[first + i] = panel.data[i] + (int)first;
	host_store_info(&all.data[all.n], panel.data[panel.n], first);
	return true;
}

bool host_join_halves(struct executor *e, struct matrix beside, struct pivots half, int64_t first,
        struct pivots all)
{
	all.data[all.n] = all.data[first];
	return ex_laswp(e, beside, half, false) && host_offset_pivots(e, half, first, all);
}

bool host_clear_info(struct executor *e, int *info)
{
	(void)e;
	*info = 0;
	return true;
}

bool host_check_triangle(
        struct executor *e, struct matrix a, struct matrix b, int *info, int *doubtful)
{
	const double tiny = diagonal_tiny(a);
	double least = INFINITY, most = 0, value;

	for (int64_t j = 0; j < a.n && e->ops->get(e, matrix_view(a, j, j, 1, 1), &value); j++) {
		least = fabs(value) < least ? fabs(value) : least;
		most = isnan(most) || fabs(value) <= most ? most : fabs(value);
	}
	if (doubtful && isfinite(most) && least <= diagonal_limit(a) * most)
		*doubtful = 1;
	if (most > 0 && most < tiny) {
		const double up = ldexp(1, ilogb(tiny) - ilogb(most));
		for (int64_t j = 0; j < a.n; j++)
			e->ops->scal(e, up, matrix_view(a, 0, j, j + 1, 1));
		for (int64_t j = 0; j < b.n; j++)
			e->ops->scal(e, up, matrix_view(b, 0, j, a.n, 1));
	}
	return e->ops->zero_pivot(e, a, info);
}
