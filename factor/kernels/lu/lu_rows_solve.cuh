/* SPDX-License-Identifier: MIT */
/* The solve of lu_rows.cu for the rows of a block's columns in shared memory, while the triangle
 * arrives. */
#pragma once

#include "lu_rows_swaps.cuh"

namespace
{

/* An inverse with larger elements is not used. After partial pivoting elements are usually below
 * 4. */
const float LARGEST = 16;

/* By half a warp each, one column per thread. */
template <class R, typename T> DEVICE void invert(R *s, const rows_call<T> &call)
{
	const int lane = threadIdx.x % STEP;
	for (int b = threadIdx.x / STEP; b < R::STEPS; b += R::THREADS / STEP) {
		T(*tile)[STEP] = s->inverse[b], x[STEP];
		T largest = 0;
#pragma unroll
		for (int k = 0; k < STEP; k++) {
			const int i = b * STEP + lane, j = b * STEP + k;
			tile[k][lane] = lane > k && i < call.w ? call.l[i + j * call.ldl] : T(0);
		}
		__syncwarp();
#pragma unroll
		for (int i = 0; i < STEP; i++) {
			T sum = i == lane ? T(1) : T(0);
#pragma unroll
			for (int k = 0; k < i; k++)
				sum -= tile[k][i] * x[k];
			x[i] = sum;
			largest = fabs(sum) <= largest ? largest : fabs(sum); /* keeps NaN */
		}
		__syncwarp();
#pragma unroll
		for (int i = 0; i < STEP; i++)
			tile[lane][R::place(lane, i)] = x[i];
#pragma unroll
		for (int d = STEP / 2; d > 0; d /= 2) {
			const T y = __shfl_xor_sync(0xffffffff, largest, d);
			largest = y <= largest ? largest : y;
		}
		if (lane == 0)
			s->grown[b] = !(largest <= T(LARGEST));
	}
}

template <class R, typename T> DEVICE T *columns_at(R *s, int step)
{
	const int place = step % R::STAGES;
	return place < R::OWN ? &s->own[place * STEP][0] : &s->later[place - R::OWN][0][0];
}

/* Copies BYTES at a time from the step's first row on; zeros past the last row and column. */
template <int BYTES, class R, typename T>
DEVICE void fetch_by(T *to, const rows_call<T> &call, int first)
{
	const int each = BYTES / (int)sizeof(T), k = threadIdx.x / 32;
	const T *from = call.l + (first + k) * call.ldl;
	to += k * R::ROWS;
#pragma unroll
	for (int q = 0; q < STEP / R::WARPS; q++) {
		const bool column = first + k + q * R::WARPS < call.w;
		for (int i = first + threadIdx.x % 32 * each; i < R::ROWS; i += 32 * each) {
			const int some = column ? min(max(call.w - i, 0), each) : 0;
			copy_start<BYTES>(to + i, some ? from + i : call.l, some * (int)sizeof(T));
		}
		from += R::WARPS * call.ldl;
		to += R::WARPS * R::ROWS;
	}
}

template <class R, typename T> DEVICE void fetch(R *s, const rows_call<T> &call, int step)
{
	if (step < R::STEPS) {
		T *to = columns_at<R, T>(s, step);
		if (call.aligned)
			fetch_by<16, R>(to, call, step * STEP);
		else
			fetch_by<sizeof(T), R>(to, call, step * STEP);
	}
	copy_commit();
}

/* Waits for the top, with the first columns of the triangle in flight behind it. */
template <typename T, int BLOCKS, int COLUMNS>
DEVICE void begin_solve(room<T, BLOCKS, COLUMNS> *s, const rows_call<T> &call)
{
	typedef room<T, BLOCKS, COLUMNS> R;
	for (int step = 0; step < R::OWN; step++)
		fetch(s, call, step);
	invert(s, call);
	copy_wait<R::OWN>();
}

/* y -= t x for rows of a column of the triangle; x holds the values of its row. */
template <typename T, int COLUMNS> DEVICE void take(T (&y)[COLUMNS], T t, const T (&x)[COLUMNS])
{
#pragma unroll
	for (int c = 0; c < COLUMNS; c++)
		y[c] -= t * x[c];
}

template <typename T, int COLUMNS> DEVICE void get(T (&x)[COLUMNS], const T *from)
{
#pragma unroll
	for (int c = 0; c < COLUMNS; c++)
		x[c] = from[c];
}

template <typename T, int COLUMNS> DEVICE void put(T *to, const T (&x)[COLUMNS])
{
#pragma unroll
	for (int q = 0; q < COLUMNS; q++)
		to[q] = x[q];
}

/* Solves for rows `half` of the block x, into `solved`, by the inverse: each half of the warp takes
 * half of the columns. l: columns of the triangle, from the block's row on. */
template <class R, typename T, int COLUMNS>
DEVICE void solve(
        const T (*inverse)[STEP], bool grown, const T *l, int half, T (&x)[COLUMNS], T *solved)
{
	const int HALF = COLUMNS / 2;
	const int lane = threadIdx.x % 32, row = lane % STEP, side = lane / STEP;
	const bool mine = side == half;
	if (grown) {
#pragma unroll 1
		for (int k = 0; k < STEP - 1; k++) {
			const T t = l[k * R::ROWS + lane];
#pragma unroll
			for (int c = 0; c < COLUMNS; c++) {
				const T y = __shfl_sync(0xffffffff, x[c], half * STEP + k);
				if (mine && row > k)
					x[c] -= t * y;
			}
		}
	}
	if (mine)
		put(solved + row * COLUMNS, x);
	__syncwarp();
	if (grown)
		return;
	T sum[HALF] = {};
#pragma unroll
	for (int k = 0; k < STEP; k++) {
		T y[HALF];
		const T t = inverse[k][row];
		get(y, solved + k * COLUMNS + side * HALF);
#pragma unroll
		for (int c = 0; c < HALF; c++)
			sum[c] = row >= k ? sum[c] + t * y[c] : sum[c]; /* avoids 0 times NaN */
	}
	__syncwarp();
	put(solved + row * COLUMNS + side * HALF, sum);
	__syncwarp();
}

/* Subtracts STEP solved rows from the first `left` <= D blocks of x. l: their columns of the
 * triangle, from the lane's row of the first block on. */
template <class R, typename T, int D, int BLOCKS, int COLUMNS>
DEVICE void take_out(int left, const T *l, const T *solved, T (&x)[BLOCKS][COLUMNS])
{
	if (left == D) {
#pragma unroll 2
		for (int k = 0; k < STEP; k++) {
			T y[COLUMNS];
			get(y, solved + k * COLUMNS);
#pragma unroll
			for (int d = 0; d < D; d++)
				take(x[d], l[k * R::ROWS + 32 * d], y);
		}
	} else if constexpr (D > 1) {
		take_out<R, T, D - 1>(left, l, solved, x);
	}
}

/* Writes 32 solved rows, from `row` on. */
template <class R, typename T, int COLUMNS>
DEVICE void store_solved(R *s, const rows_call<T> &call, T *c, int columns, int row)
{
#pragma unroll
	for (int i = threadIdx.x; i < 32 * (R::SIDE / R::PIECE); i += R::THREADS) {
		const piece<R> p = piece_of<R>(i, columns);
		const T *from = s->solved[p.first / COLUMNS] + p.row * COLUMNS + p.first % COLUMNS;
		if (row + p.row < call.w)
			copy_piece<R>(
			        c + (row + p.row) * call.ldc + p.first, from, p.count, call.vector);
	}
}

/* Solves for the tile and writes the solution to memory; the first columns of the triangle are in
 * flight. The first block of x is the one being solved; later blocks move up, so one short code
 * serves all. */
template <typename T, int BLOCKS, int COLUMNS>
DEVICE void solve_tile(room<T, BLOCKS, COLUMNS> *s, const rows_call<T> &call, T *c, int columns)
{
	typedef room<T, BLOCKS, COLUMNS> R;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	T x[BLOCKS][COLUMNS];
#pragma unroll
	for (int b = 0; b < BLOCKS; b++)
		get(x[b], &s->tile[32 * b + lane][warp * COLUMNS]);
	__syncthreads();
#pragma unroll 1
	for (int step = R::OWN; step < R::STAGES - 1; step++)
		fetch(s, call, step);
#pragma unroll 1
	for (int step = 0; step < R::STEPS; step++) {
		const int b = step / 2, half = step % 2;
		const T *l = columns_at<R, T>(s, step) + 32 * b;
		copy_wait<R::STAGES - 2>();
		__syncthreads(); /* the step's columns have arrived, and all threads are here */
		fetch(s, call, step + R::STAGES - 1);
		T *solved = s->solved[warp] + half * STEP * COLUMNS;
		solve<R>(s->inverse[step], s->grown[step], l, half, x[0], solved);
		take_out<R, T, BLOCKS>(BLOCKS - b, l + lane, solved, x);
		if (half == 0)
			continue;
		__syncthreads();
		store_solved<R, T, COLUMNS>(s, call, c, columns, 32 * b);
#pragma unroll
		for (int d = 0; d + 1 < BLOCKS; d++)
#pragma unroll
			for (int q = 0; q < COLUMNS; q++)
				x[d][q] = x[d + 1][q];
	}
}

} // namespace
