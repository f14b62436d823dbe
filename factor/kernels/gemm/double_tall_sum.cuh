/* SPDX-License-Identifier: MIT */
/* The sum of the teams' sums of V^T C, always in the same order. 16 warps of a block share the
 * teams of 32 elements. Its launch is prepared while the product runs. */
#pragma once

#include "double_tall.h"
#include "lib/device/early_launch.cuh"

namespace
{

const int SUM_ROWS = DOUBLE_TALL_SUM_ROWS, SUM_SHARES = DOUBLE_TALL_SUM_THREADS / SUM_ROWS;

struct team_sums {
	const double *sums;     /* of the first team */
	int64_t ld, distance;   /* from team to team */
	int teams, rows, tiles; /* tiles: of SUM_ROWS rows */
	double *p;
	int64_t ldp;
};

__global__ void __launch_bounds__(SUM_ROWS *SUM_SHARES) team_sum_kernel(const struct team_sums g)
{
	__shared__ double shares[SUM_SHARES][SUM_ROWS];
	const int lane = threadIdx.x % SUM_ROWS, share = threadIdx.x / SUM_ROWS;
	const int row = (int)blockIdx.x % g.tiles * SUM_ROWS + lane;
	const int64_t column = (int)blockIdx.x / g.tiles;
	const int end = g.teams * (share + 1) / SUM_SHARES;
	const double *from = g.sums + row + column * g.ld;
	double sum = 0;

	early_wait();
#pragma unroll 8
	for (int i = g.teams * share / SUM_SHARES; row < g.rows && i < end; i++)
		sum += from[i * g.distance];
	shares[share][lane] = sum;
	__syncthreads();
	if (share > 0 || row >= g.rows)
		return;
#pragma unroll
	for (int i = 1; i < SUM_SHARES; i++)
		sum += shares[i][lane];
	g.p[row + column * g.ldp] = sum;
}

} // namespace
