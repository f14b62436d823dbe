/* SPDX-License-Identifier: MIT */
/* The small matrices of lib/panel_geqrf_gram.cu: of order 64 in double precision, in one block of
 * 16 x 16 threads. Thread (x, y) holds rows y, y + 16, ... of columns x, x + 16, ... */
#ifndef FATHOM_PANEL_GEQRF_GRAM_CUH
#define FATHOM_PANEL_GEQRF_GRAM_CUH

#include "base.h"

namespace
{

enum { ORDER = 64, SIDE = 16, STRIPES = ORDER / SIDE };

typedef double square[ORDER][ORDER + 1];  /* in shared memory */
typedef double quarter[STRIPES][STRIPES]; /* a thread's elements of one */

struct small {
	square matrix[3];
	double column[2][2 * ORDER], row[2][ORDER]; /* of the pivot */
	double pivot[ORDER], scale[ORDER];
};

__device__ __forceinline__ int at_row(int i)
{
	return (int)threadIdx.x / SIDE + SIDE * i;
}

__device__ __forceinline__ int at_column(int j)
{
	return (int)threadIdx.x % SIDE + SIDE * j;
}

/* c = a b or a^T b. */
template <bool transposed>
__device__ __forceinline__ void multiply(const square &a, const square &b, quarter &c)
{
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++)
			c[i][j] = 0;
#pragma unroll 4
	for (int k = 0; k < ORDER; k++) {
		double left[STRIPES], right[STRIPES];
#pragma unroll
		for (int i = 0; i < STRIPES; i++) {
			left[i] = transposed ? a[k][at_row(i)] : a[at_row(i)][k];
			right[i] = b[k][at_column(i)];
		}
#pragma unroll
		for (int i = 0; i < STRIPES; i++)
#pragma unroll
			for (int j = 0; j < STRIPES; j++)
				c[i][j] += left[i] * right[j];
	}
}

/* Elimination without exchanges of `top` with `below` it: top = L U, L unit lower triangular and in
 * its place; below becomes below U^-1. upper: below has zeros under its diagonal. reflects: the
 * diagonal of a sign opposite to the pivot's is subtracted on the way, so that no pivot is smaller
 * than 1: top - S = L U. s.pivot: the pivots. Ends with a barrier. */
template <bool reflects, bool upper>
__device__ __forceinline__ void eliminate(struct small &s, quarter &top, quarter &below)
{
#pragma unroll
	for (int stripe = 0; stripe < STRIPES; stripe++)
#pragma unroll 1
		for (int k = stripe * SIDE; k < (stripe + 1) * SIDE; k++) {
			double(&column)[2 * ORDER] = s.column[k % 2], (&row)[ORDER] = s.row[k % 2];
#pragma unroll
			for (int i = 0; i < STRIPES; i++) {
				if (at_row(stripe) == k)
					row[at_column(i)] = top[stripe][i];
				if (at_column(stripe) == k) {
					column[at_row(i)] = top[i][stripe];
					column[ORDER + at_row(i)] = below[i][stripe];
				}
			}
			__syncthreads();
			double pivot = row[k];
			if (reflects)
				pivot += pivot < 0 ? -1.0 : 1.0;
			const double reciprocal = 1 / pivot;
			if (threadIdx.x == 0)
				s.pivot[k] = pivot;
			if (at_row(stripe) == k && at_column(stripe) == k)
				top[stripe][stripe] = pivot;
#pragma unroll
			for (int i = stripe; i < STRIPES; i++) {
				const bool under = at_row(i) > k;
				const double l = under ? column[at_row(i)] * reciprocal : 0;
#pragma unroll
				for (int j = stripe; j < STRIPES; j++)
					top[i][j] -= l * (at_column(j) > k ? row[at_column(j)] : 0);
				if (at_column(stripe) == k && under)
					top[i][stripe] = l;
			}
#pragma unroll
			for (int i = 0; i < (upper ? stripe + 1 : STRIPES); i++) {
				const double b = column[ORDER + at_row(i)] * reciprocal;
#pragma unroll
				for (int j = stripe; j < STRIPES; j++)
					below[i][j] -=
					        b * (at_column(j) > k ? row[at_column(j)] : 0);
				if (at_column(stripe) == k)
					below[i][stripe] = b;
			}
		}
	__syncthreads();
}

} // namespace

#endif
