/* SPDX-License-Identifier: MIT */
/* A panel by its Gram matrix: its data for all kernels, and the steps on its first rows and A^T A
 * in one block, in both precisions (factor/kernels/qr/panel_geqrf_gram.cu). */
#pragma once

#include "panel_geqrf_gram.cuh"
#include "panel_geqrf_gram_halves.cuh"

namespace
{

template <typename T> struct panel : panel_rows<T> {
	T *tau;
	int *done;
	double *sums, *y; /* of order 64, by rows */
	double *partial;  /* [blocks][TILE_WORDS] */
	int blocks, ring; /* ring: slabs in each pair's */
	T *v, *t;         /* NULL or the place of V and T */
	int64_t ldv, ldt;
	const int *idle; /* NULL, or a word: sum_kernel does nothing if it is not 0 */
};

/* A^T A and the columns' squared norms. beyond: the diagonal behind the n columns. Calls
 * more(i, j, row, column, inside) for each element of a thread. */
template <typename T, typename function>
__device__ __forceinline__ void take_gram(const struct panel<T> &g, double beyond, double *squares,
        quarter &gram, const function &more)
{
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			const bool inside = row < g.n && column < g.n;
			more(i, j, row, column, inside);
			gram[i][j] = inside          ? g.sums[row * ORDER + column]
			             : row == column ? beyond
			                             : 0;
			if (row == column)
				squares[row] = gram[i][j];
		}
}

/* The steps on A^T A and the first rows, with the columns' first squares. Returns whether Y is
 * bounded. */
template <typename T>
__device__ __forceinline__ bool reflect_panel(
        const struct panel<T> &g, struct steps &s, double *squares)
{
	quarter gram, top, made;

	take_gram(g, 0, squares, gram, [&](int i, int j, int row, int column, bool inside) {
		made[i][j] = row == column;
		top[i][j] = inside ? g.a[row + column * g.lda] : 0;
	});
	reflect(s, g.n, gram, top, made);
	return settle(s, g.n, squares);
}

/* Y, and V1 and R for the panel if they are `fine`. */
template <typename T>
__device__ __forceinline__ void store_steps(
        const struct panel<T> &g, const struct steps &s, bool fine)
{
	const int t = (int)threadIdx.x;

	for (int e = t; e < ORDER * ORDER; e += SIDE * SIDE)
		g.y[e] = made_of(s, g.n, e / ORDER, e % ORDER);
	for (int e = t; fine && e < ORDER * g.n; e += SIDE * SIDE)
		if (e % ORDER < g.n)
			g.a[e % ORDER + e / ORDER * g.lda] = result_of<T>(s, e % ORDER, e / ORDER);
}

} // namespace
