/* SPDX-License-Identifier: MIT */
/* Row exchanges and the solve with a unit lower triangle, in one pass over the columns beside an LU
 * panel of a matrix that lies by rows, as its transpose: what an exchange moves lies together then.
 * A block's columns come from where the exchanges take their rows from, whole lines at a time, into
 * shared memory, and what they displace goes where it belongs. A warp then has COLUMNS of them in
 * its registers, lane l rows l, 32 + l, ...: 16 rows at a time are multiplied by the inverse of
 * their diagonal block, or solved for by substitution where that has grown, and taken out of the
 * rows below; the triangle's columns arrive in shared memory, 16 at a time, several such steps
 * before they are worked with.
 *
 * Cost of a column: 2 w words read and written, and as many of displaced rows, w^2/2 multiply-adds;
 * of a block w^2 comparisons of pivots and w/16 barriers.
 *
 * Log (H200, fp32, us). By a warp for its own columns, rows 16 or 32 bytes at a time, each access a
 * line of its own, 256 exchanges alone took 31 in 64 columns and 97 in 16384, 0.7 TB/s, and the LU
 * of 16384 88.9 ms instead of 84.8. With all blocks of rows unrolled a kernel was 22500
 * instructions, which a block goes through once, and copies with a number of zeros that the
 * compiler does not know came in five kinds with branches between them. Rolled up, with copies of
 * one kind, exchanges composed from row to row instead of all of them by every thread, several
 * steps of the triangle on their way and displaced rows read beside the others: 128 rows of 7808
 * columns, cold, 35 -> 22, 256 of 16384 94 -> 78, 512 of 31232 728 -> 536, the exchanges alone of
 * that 213 -> 107. In fp64 those took 780, in 16 columns a block, which had memory for a solve; in
 * 32, without it, 220.
 *
 * In fp64 on the tensor cores (lu_rows_double.cuh), floor from bytes and operations 50 and 45,
 * measured: 128 rows of 30720 columns 145 -> 84, 256 of 16384 164 -> 114. With the triangle read
 * from the caches by every warp for itself the latter 217; in blocks of 32 columns, of which one
 * finds room on a multiprocessor, 222, of 64 122; with TALL = 32 rows at a time instead of 16 114.
 * A chunk takes 0.5 us then, half of it the units', TALL rows by themselves 2. Instructions of
 * twice the depth, eight displaced rows read at once, the next chunk asked for behind the products:
 * as long. */
#include "factor/kernels/blocks/block_kernels.h"
#include "lu_rows_double.cuh"

#include <type_traits>

namespace
{

const int FEW = 4096; /* columns that are shared out more finely */

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
using room_of =
        std::conditional_t<SOLVES, room<T, BLOCKS, COLUMNS>, exchange_room<T, BLOCKS, COLUMNS>>;

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
__global__ void __launch_bounds__(
        room_of<T, BLOCKS, COLUMNS, SOLVES>::THREADS, room_of<T, BLOCKS, COLUMNS, SOLVES>::RESIDENT)
        lu_rows_kernel(const struct rows_call<T> call)
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
int start(const struct rows_call<T> &call, cudaStream_t stream)
{
	typedef room_of<T, BLOCKS, COLUMNS, SOLVES> R;
	const int64_t blocks = (call.columns + R::SIDE - 1) / R::SIDE;
	const auto kernel = lu_rows_kernel<T, BLOCKS, COLUMNS, SOLVES>;
	static_assert(sizeof(R) <= BLOCK_ROWS_BYTES(sizeof(T) == 4 ? SINGLE : DOUBLE, 32 * BLOCKS),
	        "as others know it");
	const int error = cudaFuncSetAttribute(
	        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(R));
	if (error)
		return error;
	kernel<<<(unsigned)blocks, R::THREADS, sizeof(R), stream>>>(call);
	return (int)cudaGetLastError();
}

template <typename T, int COLUMNS, bool SOLVES>
int start_width(const struct rows_call<T> &call, cudaStream_t stream)
{
	return call.w <= 64    ? start<T, 2, COLUMNS, SOLVES>(call, stream)
	       : call.w <= 128 ? start<T, 4, COLUMNS, SOLVES>(call, stream)
	                       : start<T, 8, COLUMNS, SOLVES>(call, stream);
}

/* Of all widths but the largest a warp takes WIDE columns where there are many, else NARROW, for
 * which more multiprocessors work. */
template <typename T, int WIDE, int NARROW, bool SOLVES>
int run(struct matrix a, struct pivots p, struct matrix c, cudaStream_t stream)
{
	const struct rows_call<T> call = {
		SOLVES ? (const T *)a.data + a.offset : NULL, a.ld,
		        (T *)c.data + c.offset, c.ld, c.n, c.m, p.n ? p.data : NULL,
		        (int)(p.n ? p.n : a.n),
		        (uintptr_t)matrix_address(c) % 16 == 0 && c.ld * sizeof(T) % 16 == 0,
		        SOLVES &&
		                (uintptr_t)matrix_address(a) % 16 == 0 && a.ld * sizeof(T) % 16 == 0
	};
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
