/* SPDX-License-Identifier: MIT */
/* How lu_rows.cu solves in double precision for the rows of a block's columns that are in shared
 * memory: on the tensor cores, TALL rows at a time, less what the rows above, which are solved,
 * take from them; then STEP of them times the inverse of their diagonal block, and the others less
 * what these take, and so on. A warp's columns are its own from the first row to the last; the
 * triangle comes to shared memory in chunks, for all of them. */
#ifndef FATHOM_LU_ROWS_DOUBLE_CUH
#define FATHOM_LU_ROWS_DOUBLE_CUH

#include "factor/kernels/gemm/gemm_mma.cuh"
#include "lu_rows_solve.cuh"

namespace
{

/* Of the triangle, as many rows and columns. */
const int TALL = 32, DEPTH = 32;
typedef double chunk[DEPTH][TALL];

template <int BLOCKS> struct room<double, BLOCKS, 8> {
	static const int WARPS = BLOCKS > 8 ? 2 : BLOCKS > 4 ? 8 : 4, THREADS = 32 * WARPS;
	static const int RESIDENT = sm_blocks(THREADS, BLOCKS > 4 ? 1 : BLOCKS > 2 ? 3 : 4);
	static const int SIDE = 8 * WARPS; /* of a warp, the columns of an instruction */
	static const int ROWS = 32 * BLOCKS, STEPS = 2 * BLOCKS;
	static const int PIECE = 2;        /* elements of a copy */
	static const int PITCH = SIDE + 4; /* no bank conflicts where a warp reads 4 x 8 */
	static const int STAGES = BLOCKS > 4 ? 3 : 2; /* of chunks */

	__align__(16) double tile[ROWS][PITCH];
	__align__(16) double inverse[STEPS][STEP][STEP]; /* by columns */
	__align__(16) chunk chunks[STAGES];
	bool grown[STEPS];
	struct moves<ROWS> moves;

	/* Where a column has a row: no bank conflicts where a warp reads pairs of rows of four
	 * columns. */
	static __device__ __forceinline__ int place(int column, int row)
	{
		return row ^ column % 4 * 4;
	}
};

/* The triangle's chunks in the order of their use: what is left of TALL rows, then their triangle.
 */
struct cursor {
	int row, k, stage;
};

template <class R> __device__ __forceinline__ void advance(struct cursor &at)
{
	at.stage = at.stage + 1 < R::STAGES ? at.stage + 1 : 0;
	at.k += DEPTH;
	if (at.k > at.row) {
		at.row += TALL;
		at.k = 0;
	}
}

/* Starts a chunk on its way, a pair of rows a thread at a time; rows and columns that the triangle
 * has not are zero. */
template <class R>
__device__ __forceinline__ void fetch_chunk(
        R *s, const struct rows_call<double> &call, struct cursor &at)
{
	const int pairs = TALL / 2, step = R::THREADS / pairs;
	const int r = (int)threadIdx.x % pairs * 2, first = (int)threadIdx.x / pairs;
	const int left = call.w - at.row - r; /* rows of the triangle */
	const double *from = call.l + at.row + r + (at.k + first) * call.ldl;
#pragma unroll
	for (int k = first; k < DEPTH; k += step, from += step * call.ldl) {
		double *to = &s->chunks[at.stage][k][R::place(k, r)];
		const int there = at.k + k < call.w ? min(max(left, 0), 2) : 0;
		if (call.aligned) {
			copy_start<16>(to, there ? from : call.l, there * (int)sizeof(double));
			continue;
		}
		to[0] = there > 0 ? from[0] : 0;
		to[1] = there > 1 ? from[1] : 0;
	}
	copy_commit();
	advance<R>(at);
}

/* Until the top is there, the first chunks on their way behind it. */
template <int BLOCKS>
__device__ __forceinline__ void begin_solve(
        struct room<double, BLOCKS, 8> *s, const struct rows_call<double> &call)
{
	typedef struct room<double, BLOCKS, 8> R;
	struct cursor at = {0, 0, 0};
	for (int stage = 0; stage < R::STAGES - 1; stage++)
		fetch_chunk(s, call, at);
	invert(s, call);
	copy_wait<R::STAGES - 1>();
}

/* An instruction has 16 rows, eight columns and a depth of 16. Of lane (g, t), g = lane / 4 and
 * t = lane % 4: rows 2 g and 2 g + 1, which lie together in columns of the triangle, stand for the
 * instruction's rows g and g + 8. */
struct lane_at {
	int g, t;
};

__device__ __forceinline__ struct lane_at this_lane(void)
{
	return {(int)threadIdx.x % 32 / 4, (int)threadIdx.x % 4};
}

template <class R> __device__ __forceinline__ double2 *pair_at(R *s, int row, int column, int half)
{
	const struct lane_at at = this_lane();
	return (double2 *)&s->tile[row + 2 * at.g + half][column + 2 * at.t];
}

/* sum += STEP rows of as many columns at `left`, from the row `first` on, times the tile's from
 * `row` on. */
template <class R, int HEIGHT>
__device__ __forceinline__ void multiply_step(
        double (&sum)[4], const double (*left)[HEIGHT], int first, const R *s, int row, int column)
{
	const struct lane_at at = this_lane();
	double a[8], b[4];
#pragma unroll
	for (int q = 0; q < 4; q++) {
		const int k = 4 * q + at.t;
		const double2 x = *(const double2 *)&left[k][R::place(k, first + 2 * at.g)];
		a[2 * q] = x.x;
		a[2 * q + 1] = x.y;
		b[q] = s->tile[row + k][column + at.g];
	}
	mma_double(sum, a, b);
}

/* The next chunk: where it is, when it is there and no thread is behind; the one at `at` is on its
 * way then. */
template <class R>
__device__ __forceinline__ const chunk *next_chunk(
        R *s, const struct rows_call<double> &call, struct cursor &at)
{
	const int stage = at.stage + 1 < R::STAGES ? at.stage + 1 : 0; /* fetched longest ago */
	copy_wait<R::STAGES - 2>();
	__syncthreads();
	fetch_chunk(s, call, at);
	return &s->chunks[stage];
}

/* Minus STEP rows of the tile. */
template <class R>
__device__ __forceinline__ void begin_sum(double (&sum)[4], R *s, int row, int column)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		const double2 c = *pair_at(s, row, column, half);
		sum[2 * half] = -c.x;
		sum[2 * half + 1] = -c.y;
	}
}

/* STEP rows of the tile become two sums. False in all lanes where one of the warp's elements is not
 * finite then. */
template <class R>
__device__ __forceinline__ bool put_sum(
        R *s, int row, int column, const double (&sum)[4], const double (&other)[4])
{
	bool finite = true;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		const double2 x = {
		        sum[2 * half] + other[2 * half], sum[2 * half + 1] + other[2 * half + 1]};
		*pair_at(s, row, column, half) = x;
		finite = finite && isfinite(x.x) && isfinite(x.y);
	}
	return __all_sync(0xffffffff, finite);
}

/* Of minus the right-hand side. */
template <class R> __device__ __forceinline__ void multiply_inverse(R *s, int row, int column)
{
	double sum[4] = {};
	multiply_step<R>(sum, s->inverse[row / STEP], 0, s, row, column);
	__syncwarp(); /* all have read */
#pragma unroll
	for (int half = 0; half < 2; half++)
		*pair_at(s, row, column, half) = make_double2(-sum[2 * half], -sum[2 * half + 1]);
}

/* The same where an inverse has grown, or would take NaN to rows above: a column a lane. */
template <class R>
__device__ __noinline__ void substitute(
        R *s, const struct rows_call<double> &call, int row, int column)
{
	const int j = column + (int)threadIdx.x % 8, end = min(row + STEP, call.w);
	if (threadIdx.x % 32 < 8)
		for (int i = row; i < end; i++) {
			double sum = -s->tile[i][j];
			for (int k = row; k < i; k++)
				sum -= call.l[i + k * call.ldl] * s->tile[k][j];
			s->tile[i][j] = sum;
		}
}

/* STEP rows, minus which, less all that those above take, is in the tile. */
template <class R>
__device__ __forceinline__ void solve_step(
        R *s, const struct rows_call<double> &call, int row, int column, bool finite)
{
	__syncwarp();
	if (finite && !s->grown[row / STEP])
		multiply_inverse(s, row, column);
	else
		substitute(s, call, row, column);
	__syncwarp();
}

/* TALL rows. */
template <class R>
__device__ __forceinline__ void solve_rows(
        R *s, const struct rows_call<double> &call, int row, int column, struct cursor &at)
{
	double upper[DEPTH / STEP][4] = {}, lower[DEPTH / STEP][4] = {};
	const chunk *l;
	begin_sum(upper[0], s, row, column);
	begin_sum(lower[0], s, row + STEP, column);
#pragma unroll 1
	for (int k = 0; k < row; k += DEPTH) {
		l = next_chunk(s, call, at);
#pragma unroll
		for (int q = 0; q < DEPTH; q += STEP) {
			multiply_step<R>(upper[q / STEP], *l + q, 0, s, k + q, column);
			multiply_step<R>(lower[q / STEP], *l + q, STEP, s, k + q, column);
		}
	}
	l = next_chunk(s, call, at);
	const bool finite = put_sum(s, row, column, upper[0], upper[1]);
	solve_step(s, call, row, column, finite);
	multiply_step<R>(lower[1], *l, STEP, s, row, column);
	solve_step(s, call, row + STEP, column, put_sum(s, row + STEP, column, lower[0], lower[1]));
}

/* The solution from the tile to memory. Rows that the last step has beyond the triangle's are zero.
 */
template <int BLOCKS>
__device__ __forceinline__ void solve_tile(struct room<double, BLOCKS, 8> *s,
        const struct rows_call<double> &call, double *c, int columns)
{
	typedef struct room<double, BLOCKS, 8> R;
	const int column = (int)threadIdx.x / 32 * 8, end = (call.w + TALL - 1) / TALL * TALL;
	struct cursor at = {0, 0, 0};
	for (int stage = 0; stage < R::STAGES - 1; stage++)
		advance<R>(at);
	for (int i = threadIdx.x; i < (end - call.w) * R::SIDE; i += R::THREADS)
		s->tile[call.w + i / R::SIDE][i % R::SIDE] = 0;
	__syncthreads();
#pragma unroll 1
	for (int row = 0; row < end; row += TALL)
		solve_rows(s, call, row, column, at);
	__syncthreads();
	store_top(s, call, c, columns);
}

} // namespace

#endif
