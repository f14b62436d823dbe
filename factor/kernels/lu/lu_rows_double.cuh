/* SPDX-License-Identifier: MIT */
/* The solve of lu_rows.cu in double precision on the tensor cores, for the rows of a block's
 * columns in shared memory. TALL rows at a time: subtract the solved rows above; then multiply STEP
 * rows by the inverse of their diagonal block and subtract them from the rest, and so on. A warp
 * keeps its columns from the first row to the last. All warps share the triangle, which arrives in
 * shared memory in chunks. */
#pragma once

#include "factor/kernels/gemm/gemm_mma.cuh"
#include "lu_rows_solve.cuh"

namespace
{

/* Rows and columns of a chunk of the triangle. */
const int TALL = 32, DEPTH = 32;
typedef double chunk[DEPTH][TALL];

template <int BLOCKS> struct room<double, BLOCKS, 8> {
	static const int WARPS = BLOCKS > 8 ? 2 : BLOCKS > 4 ? 8 : 4, THREADS = 32 * WARPS;
	static const int RESIDENT = sm_blocks(THREADS, BLOCKS > 4 ? 1 : BLOCKS > 2 ? 3 : 4);
	static const int SIDE = 8 * WARPS; /* the columns of an instruction, per warp */
	static const int ROWS = 32 * BLOCKS, STEPS = 2 * BLOCKS;
	static const int PIECE = 2;        /* elements of a copy */
	static const int PITCH = SIDE + 4; /* no bank conflicts when a warp reads 4 x 8 */
	static const int STAGES = BLOCKS > 4 ? 3 : 2; /* chunks in flight */

	__align__(16) double tile[ROWS][PITCH];
	__align__(16) double inverse[STEPS][STEP][STEP]; /* column-major */
	__align__(16) chunk chunks[STAGES];
	bool grown[STEPS];
	moves<ROWS> moves;

	/* Place of a row in a column: no bank conflicts when a warp reads pairs of rows of four
	 * columns. */
	static DEVICE int place(int column, int row)
	{
		return row ^ column % 4 * 4;
	}
};

/* The triangle's chunks in order of use: the part left of TALL rows, then their triangle. */
struct cursor {
	int row, k, stage;
};

template <class R> DEVICE void advance(struct cursor &at)
{
	at.stage = at.stage + 1 < R::STAGES ? at.stage + 1 : 0;
	at.k += DEPTH;
	if (at.k > at.row) {
		at.row += TALL;
		at.k = 0;
	}
}

/* Starts the copy of a chunk, a pair of rows per thread at a time. Rows and columns outside the
 * triangle become zero. */
template <class R> DEVICE void fetch_chunk(R *s, const rows_call<double> &call, struct cursor &at)
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

/* Waits for the top, with the first chunks in flight behind it. */
template <int BLOCKS>
DEVICE void begin_solve(room<double, BLOCKS, 8> *s, const rows_call<double> &call)
{
	typedef room<double, BLOCKS, 8> R;
	struct cursor at = {0, 0, 0};
	for (int stage = 0; stage < R::STAGES - 1; stage++)
		fetch_chunk(s, call, at);
	invert(s, call);
	copy_wait<R::STAGES - 1>();
}

/* An instruction has 16 rows, 8 columns and a depth of 16. Lane (g, t), g = lane / 4 and t = lane %
 * 4: rows 2 g and 2 g + 1, contiguous in columns of the triangle, serve as the instruction's rows g
 * and g + 8. */
struct lane_at {
	int g, t;
};

DEVICE struct lane_at this_lane(void)
{
	return {(int)threadIdx.x % 32 / 4, (int)threadIdx.x % 4};
}

template <class R> DEVICE double2 *pair_at(R *s, int row, int column, int half)
{
	const struct lane_at at = this_lane();
	return (double2 *)&s->tile[row + 2 * at.g + half][column + 2 * at.t];
}

/* sum += STEP rows of the triangle's columns at `left`, from row `first` on, times rows `row` and
 * up of the tile. */
template <class R, int HEIGHT>
DEVICE void multiply_step(
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

/* Waits for the next chunk and for all threads, and starts the copy of chunk `at`. Returns the next
 * chunk. */
template <class R>
DEVICE const chunk *next_chunk(R *s, const rows_call<double> &call, struct cursor &at)
{
	const int stage = at.stage + 1 < R::STAGES ? at.stage + 1 : 0; /* the oldest */
	copy_wait<R::STAGES - 2>();
	__syncthreads();
	fetch_chunk(s, call, at);
	return &s->chunks[stage];
}

template <class R> DEVICE void begin_sum(double (&sum)[4], R *s, int row, int column)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		const double2 c = *pair_at(s, row, column, half);
		sum[2 * half] = -c.x;
		sum[2 * half + 1] = -c.y;
	}
}

/* Writes two sums to STEP rows of the tile. False in all lanes if an element of the warp is not
 * finite. */
template <class R>
DEVICE bool put_sum(R *s, int row, int column, const double (&sum)[4], const double (&other)[4])
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

/* Multiplies minus the right-hand side by the inverse. */
template <class R> DEVICE void multiply_inverse(R *s, int row, int column)
{
	double sum[4] = {};
	multiply_step<R>(sum, s->inverse[row / STEP], 0, s, row, column);
	__syncwarp(); /* all lanes have read */
#pragma unroll
	for (int half = 0; half < 2; half++)
		*pair_at(s, row, column, half) = make_double2(-sum[2 * half], -sum[2 * half + 1]);
}

/* The same by substitution, one column per lane: where an inverse has grown or would spread NaN to
 * rows above. */
template <class R>
__device__ __noinline__ void substitute(R *s, const rows_call<double> &call, int row, int column)
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

/* Solves STEP rows. The tile holds minus these rows, with all rows above subtracted. */
template <class R>
DEVICE void solve_step(R *s, const rows_call<double> &call, int row, int column, bool finite)
{
	__syncwarp();
	if (finite && !s->grown[row / STEP])
		multiply_inverse(s, row, column);
	else
		substitute(s, call, row, column);
	__syncwarp();
}

template <class R>
DEVICE void solve_rows(R *s, const rows_call<double> &call, int row, int column, struct cursor &at)
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

/* Writes the solution from the tile to memory. Rows of the last step past the triangle are zero. */
template <int BLOCKS>
DEVICE void solve_tile(
        room<double, BLOCKS, 8> *s, const rows_call<double> &call, double *c, int columns)
{
	typedef room<double, BLOCKS, 8> R;
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
