/* SPDX-License-Identifier: MIT */
/* Row swaps and the solve with a unit lower triangle, in one pass over the columns beside an LU
 * panel of a row-major matrix, passed as its transpose: swapped rows are contiguous then. A block
 * fetches the swapped rows of its columns into shared memory, whole lines at a time, and writes
 * displaced rows to their places. A warp then holds COLUMNS columns in registers, lane l rows l, 32
 * + l, ... Each step multiplies 16 rows by the inverse of their diagonal block (or substitutes if
 * the inverse has grown) and subtracts them from the rows below. The triangle's columns arrive in
 * shared memory, 16 at a time, several steps ahead.
 *
 * Cost of a column: 2 w words read and written, and the same for displaced rows, w^2/2
 * multiply-adds; per block w^2 comparisons of pivots and w/16 barriers.
 *
 * docs/experiments/lu-rows.md has measurements and rejected variants. */
#include "factor/kernels/blocks/block_kernels.h"
#include "lib/device/current.h"
#include "lu_rows_double.cuh"

#include <type_traits>

namespace
{

const int FEW = 4096; /* columns below which more blocks share them */

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
using room_of =
        std::conditional_t<SOLVES, room<T, BLOCKS, COLUMNS>, exchange_room<T, BLOCKS, COLUMNS>>;

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
__global__ void __launch_bounds__(room_of<T, BLOCKS, COLUMNS, SOLVES>::THREADS,
        room_of<T, BLOCKS, COLUMNS, SOLVES>::RESIDENT) lu_rows_kernel(const rows_call<T> call)
{
	typedef room_of<T, BLOCKS, COLUMNS, SOLVES> R;
	extern __shared__ __align__(16) unsigned char memory[];
	R *s = (R *)memory;
	const int64_t first = (int64_t)blockIdx.x * R::SIDE, left = call.columns - first;
	const int columns = left < R::SIDE ? (int)left : R::SIDE;
	const bool whole = call.vector && columns == R::SIDE;
	T *c = call.c + first;
	int4 held[HELD];

	compose(s, call);
	__syncthreads();
	fetch_top(s, call, c, columns);
	if (whole)
		displace_some(s, call, c, 0, false, held);
	if constexpr (SOLVES) {
		begin_solve(s, call);
	} else {
		copy_wait<0>();
	}
	__syncthreads();
	if (whole)
		displace_held(s, call, c, held);
	else
		displace(s, call, c, columns);
	if constexpr (SOLVES) {
		solve_tile(s, call, c, columns);
	} else {
		__syncthreads();
		store_top(s, call, c, columns);
	}
}

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
int start(const rows_call<T> &call, cudaStream_t stream)
{
	typedef room_of<T, BLOCKS, COLUMNS, SOLVES> R;
	const int64_t blocks = (call.columns + R::SIDE - 1) / R::SIDE;
	const auto kernel = lu_rows_kernel<T, BLOCKS, COLUMNS, SOLVES>;
	static_assert(sizeof(R) <= BLOCK_ROWS_BYTES(sizeof(T) == 4 ? SINGLE : DOUBLE, 32 * BLOCKS),
	        "as others know it");
	const int error = kernel_allow_shared((const void *)kernel);
	if (error)
		return error;
	kernel<<<(unsigned)blocks, R::THREADS, sizeof(R), stream>>>(call);
	return (int)cudaGetLastError();
}

template <typename T, int COLUMNS, bool SOLVES>
int start_width(const rows_call<T> &call, cudaStream_t stream)
{
	return call.w <= 64    ? start<T, 2, COLUMNS, SOLVES>(call, stream)
	       : call.w <= 128 ? start<T, 4, COLUMNS, SOLVES>(call, stream)
	                       : start<T, 8, COLUMNS, SOLVES>(call, stream);
}

/* For all widths but the largest a warp takes WIDE columns if there are many, else NARROW, to
 * occupy more multiprocessors. */
template <typename T, int WIDE, int NARROW, bool SOLVES>
int run(struct matrix a, struct pivots p, struct matrix c, cudaStream_t stream)
{
	const rows_call<T> call = {SOLVES ? (const T *)matrix_address(a) : NULL, a.ld,
	        (T *)matrix_address(c), c.ld, c.n, c.m, p.n ? p.data : NULL, (int)(p.n ? p.n : a.n),
	        matrix_is_aligned(c), SOLVES && matrix_is_aligned(a)};
	if (c.m == 0 || call.w == 0)
		return (int)cudaSuccess;
	if (call.w > 256)
		return start<T, 16, NARROW, SOLVES>(call, stream);
	return SOLVES && c.m <= FEW ? start_width<T, NARROW, SOLVES>(call, stream)
	                            : start_width<T, WIDE, SOLVES>(call, stream);
}

} // namespace

extern "C" int block_lu_rows(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	const cudaStream_t s = (cudaStream_t)stream;
	if (a.n == 0)
		return c.precision == SINGLE ? run<float, 8, 4, false>(a, p, c, s)
		                             : run<double, 4, 2, false>(a, p, c, s);
	return c.precision == SINGLE ? run<float, 8, 4, true>(a, p, c, s)
	                             : run<double, 8, 8, true>(a, p, c, s);
}
