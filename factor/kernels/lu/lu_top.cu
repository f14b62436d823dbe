/* SPDX-License-Identifier: MIT */
/* Row swaps and solve of the top rows in the columns right of an LU panel. A product must update
 * the rows below.
 *
 * Cost: per column 2 k contiguous words and as many sectors of 32 bytes elsewhere, as for row
 * swaps; per block a chain of k/2 steps of two shuffles and three FMAs. */
#include "lib/base/base.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "lib/device/early_launch.cuh"
#include "lu_solve.cuh"

namespace
{

template <typename T, int WIDTH>
__global__ void __launch_bounds__(THREADS) top_kernel(const columns<T> g)
{
	extern __shared__ __align__(16) unsigned char bytes[];
	top<T, WIDTH> &s = *(top<T, WIDTH> *)bytes;
	__shared__ int moved[WIDTH]; /* top rows that move to the places below, or -1 */
	const int column = (int)blockIdx.x * COLUMNS;

	early_begin();
	fetch_old(g, s, column);
	fetch_triangle(g, s);
	read_pivots(g, s);
	copy_wait<0>();
	__syncthreads();
	find_origins(g, s, [&](int exchange, int row) { moved[exchange] = row; });
	__syncthreads();
	solve_top(g, s, column, [] {});
	__syncthreads(); /* all rows below have been read */
	store_top(g, s, column);
	const int i = (int)threadIdx.x % WIDTH;
#pragma unroll
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		if (moved[i] >= 0 && column + j < g.n)
			g.c[s.pivot[i] + (column + j) * g.ldc] = s.old[j][moved[i]];
}

template <typename T, int WIDTH>
int launch(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	const columns<T> g = {(const T *)matrix_address(a), a.ld, (T *)matrix_address(c), c.ld,
	        (int)c.m, (int)p.n, (int)c.n, 0, p.data};
	return (int)early_launch(top_kernel<T, WIDTH>, (c.n + COLUMNS - 1) / COLUMNS, THREADS,
	        block_lu_top_bytes(c.precision, WIDTH), g, stream);
}

template <typename T>
int launch_any(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	return p.n <= 64 ? launch<T, 64>(a, p, c, stream) : launch<T, 128>(a, p, c, stream);
}

} // namespace

extern "C" int64_t block_lu_top_bytes(enum precision precision, int64_t k)
{
	if (precision == SINGLE)
		return k <= 64 ? sizeof(top<float, 64>) : sizeof(top<float, 128>);
	return k <= 64 ? sizeof(top<double, 64>) : sizeof(top<double, 128>);
}

extern "C" int block_lu_top(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	if (c.n == 0)
		return (int)cudaSuccess;
	return c.precision == SINGLE ? launch_any<float>(a, p, c, stream)
	                             : launch_any<double>(a, p, c, stream);
}
