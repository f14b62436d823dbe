/* SPDX-License-Identifier: MIT */
/* The kernels of one block that make a panel's small matrices in double precision
 * (factor/kernels/qr/panel_geqrf_gram_double.cu). */
#pragma once

#include "panel_geqrf_gram_factor.cuh"
#include "panel_geqrf_gram_kernels.cuh"

namespace
{

/* With R1^-1 and R1 (of order 64, by rows, with zeros), whether Q1 needs a refinement, and whether
 * there is no Q1, because the columns of A are nearly orthogonal. */
struct scaled_panel : panel<double> {
	double *inverse, *factor;
	int *refine, *once;
};

/* From A^T A: the panel's Y, V1 and R, if they will do. */
__global__ void __launch_bounds__(SIDE *SIDE) once_kernel(const struct scaled_panel g)
{
	extern __shared__ double memory[];
	struct steps &s = *(struct steps *)memory;
	__shared__ double squares[ORDER];

	early_begin();
	const bool bounded = reflect_panel(g, s, squares),
	           once = is_near_one(s, g.n, squares) && bounded;
	if (threadIdx.x == 0) {
		*g.once = once;
		*g.done = once;
	}
	if (once)
		store_steps(g, s, true);
}

/* From A^T A: R1, its inverse, and whether they will do. */
__global__ void __launch_bounds__(SIDE *SIDE) factor_kernel(const struct scaled_panel g)
{
	extern __shared__ double memory[];
	struct factors &s = *(struct factors *)memory;
	quarter gram;
	const int t = (int)threadIdx.x;

	early_begin();
	if (*g.once)
		return;
	take_gram(g, 1, s.squares, gram, [](int, int, int, int, bool) {});
	__syncthreads();
	bool fine = factorize(s, g.n, gram), refine = false;
	if (fine) {
		invert(s.r);
		fine = is_bounded(s, &refine);
	}
	if (t == 0) {
		*g.done = fine;
		*g.refine = refine;
	}
	for (int e = t; fine && e < ORDER * ORDER; e += SIDE * SIDE) {
		g.inverse[e] = s.r.inverse[e / ORDER][e % ORDER];
		g.factor[e] = s.r.of[e / ORDER][e % ORDER];
	}
}

/* The steps on Q1, and both triangles in one square: R1 from its diagonal on, below it R1^-1
 * transposed. */
struct steps_memory {
	struct steps steps;
	double triangles[ORDER + 1][ORDER + 1];
};

/* R1^-1 and R1, or where Q1 replaces A the identity instead of R1^-1. */
__device__ __forceinline__ void take_triangles(const struct scaled_panel &g, struct steps_memory &s)
{
	const bool refined = *g.refine;

#pragma unroll 4
	for (int e = (int)threadIdx.x; e < ORDER * ORDER; e += SIDE * SIDE) {
		const int row = e / ORDER, column = e % ORDER;
		if (row > column)
			continue;
		s.triangles[row][column] = g.factor[e];
		s.triangles[column + 1][row] = refined ? row == column : g.inverse[e];
	}
}

/* The products of upper triangles R2 R1 and R1^-1 Y, a quarter of each in every thread. */
__device__ __forceinline__ void multiply_triangles(
        const struct steps_memory &s, int n, quarter &upper, quarter &vectors)
{
#pragma unroll
	for (int stripe = 0; stripe < STRIPES; stripe++)
#pragma unroll 2
		for (int k = stripe * SIDE; k < (stripe + 1) * SIDE; k++) {
			double left[STRIPES], inverse[STRIPES];
#pragma unroll
			for (int i = 0; i <= stripe; i++) {
				const int row = at_row(i);
				left[i] = k < row ? 0 : result_of<double>(s.steps, row, k);
				inverse[i] = k < row ? 0 : s.triangles[k + 1][row];
			}
#pragma unroll
			for (int j = stripe; j < STRIPES; j++) {
				const int column = at_column(j);
				const double factor = k > column ? 0 : s.triangles[k][column],
				             made = made_of(s.steps, n, k, column);
#pragma unroll
				for (int i = 0; i <= stripe; i++) {
					upper[i][j] = fma(left[i], factor, upper[i][j]);
					vectors[i][j] = fma(inverse[i], made, vectors[i][j]);
				}
			}
		}
}

/* From Q1^T Q1: what V is made by, and V1 and R for the panel. */
__global__ void __launch_bounds__(SIDE *SIDE) steps_kernel(const struct scaled_panel g)
{
	extern __shared__ double memory[];
	struct steps_memory &s = *(struct steps_memory *)memory;
	__shared__ double squares[ORDER];
	quarter upper = {}, vectors = {};

	early_begin();
	if (*g.once || !*g.done)
		return;
	take_triangles(g, s);
	reflect_panel(g, s.steps, squares);
	multiply_triangles(s, g.n, upper, vectors);
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			g.y[row * ORDER + column] = vectors[i][j];
			if (row < g.n && column < g.n)
				g.a[row + column * g.lda] =
				        row > column ? result_of<double>(s.steps, row, column)
				                     : upper[i][j];
		}
}

} // namespace
