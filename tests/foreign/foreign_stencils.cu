/* SPDX-License-Identifier: MIT */
/* Stencils: one step of seven points in three dimensions, a thread a point; and Jacobi's iteration
 * in two dimensions as one cooperative kernel, with a barrier of the grid after each sweep. */
#include "foreign.h"

#include "lib/device/gpu.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- seven points ---- */

enum { CUBE = 512, WIDE = 32, HIGH = 8 };

static __global__ void __launch_bounds__(WIDE *HIGH)
        stencil_kernel(const float *__restrict__ in, float *__restrict__ out)
{
	const int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y,
	          z = blockIdx.z;
	const int at = (z * CUBE + y) * CUBE + x;

	if (x == 0 || y == 0 || z == 0 || x == CUBE - 1 || y == CUBE - 1 || z == CUBE - 1) {
		out[at] = in[at];
		return;
	}
	const float sum = in[at - 1] + in[at + 1] + in[at - CUBE] + in[at + CUBE] +
	                  in[at - CUBE * CUBE] + in[at + CUBE * CUBE];
	out[at] = 0.4f * in[at] + 0.1f * sum;
}

static int stencil(void *const *piece, void *stream)
{
	stencil_kernel<<<dim3(CUBE / WIDE, CUBE / HIGH, CUBE), dim3(WIDE, HIGH), 0,
	        (cudaStream_t)stream>>>((const float *)piece[0], (float *)piece[1]);
	return cudaGetLastError();
}

static void fill_cube(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], (int64_t)CUBE * CUBE * CUBE, seed, stream);
}

static bool is_stencil(void *const *piece)
{
	const float *in = (const float *)piece[0], *out = (const float *)piece[1];
	const int plane = CUBE * CUBE;
	double worst = 0;

	for (int z = 1; z < CUBE - 1; z++)
		for (int y = 1; y < CUBE - 1; y++)
			for (int x = 1; x < CUBE - 1; x++) {
				const float *p = &in[z * plane + y * CUBE + x];
				const double sum = (double)p[-1] + p[1] + p[-CUBE] + p[CUBE] +
				                   p[-plane] + p[plane],
				             off = fabs(out[p - in] - (0.4 * p[0] + 0.1 * sum));
				worst = foreign_worse(worst, off);
			}
	return worst < 1e-6 && out[0] == in[0];
}

/* ---- Jacobi ---- */

enum { GRID = 2048, SWEEPS = 100, JACOBI_BLOCKS = 256, JACOBI_THREADS = 512 };

/* A block has GRID / JACOBI_BLOCKS whole rows. The border stays. */
static __global__ void __launch_bounds__(JACOBI_THREADS, 2)
        jacobi_kernel(const float *start, float *a, float *b)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	const int rows = GRID / JACOBI_BLOCKS, first = blockIdx.x * rows;
	const float *from = start;
	float *to = a;

	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		for (int row = first; row < first + rows; row++) {
#pragma unroll
			for (int c = 0; c < GRID; c += JACOBI_THREADS) {
				const int column = c + threadIdx.x, at = row * GRID + column;
				const bool border = row == 0 || row == GRID - 1 || column == 0 ||
				                    column == GRID - 1;
				to[at] =
				        border ? from[at]
				               : 0.25f * (from[at - 1] + from[at + 1] +
				                                 from[at - GRID] + from[at + GRID]);
			}
		}
		grid.sync();
		from = to;
		to = to == a ? b : a;
	}
}

static int jacobi(void *const *piece, void *stream)
{
	const void *start = piece[0];
	void *a = piece[1], *b = (char *)piece[1] + sizeof(float) * GRID * GRID;
	void *arguments[] = {&start, &a, &b};

	return cudaLaunchCooperativeKernel((const void *)jacobi_kernel, JACOBI_BLOCKS,
	        JACOBI_THREADS, arguments, 0, (cudaStream_t)stream);
}

static void fill_grid(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], (int64_t)GRID * GRID, seed, stream);
}

static bool is_relaxed(void *const *piece)
{
	const size_t count = (size_t)GRID * GRID;
	const float *out = (const float *)piece[1] + count; /* after an even number of sweeps */
	float *from = (float *)malloc(count * sizeof *from),
	      *to = (float *)malloc(count * sizeof *to);
	double worst = from && to ? 0 : INFINITY;

	if (from && to) {
		memcpy(from, piece[0], count * sizeof *from);
		memcpy(to, piece[0], count * sizeof *to);
		for (int sweep = 0; sweep < SWEEPS; sweep++) {
			for (int i = 1; i < GRID - 1; i++)
				for (int j = 1; j < GRID - 1; j++) {
					const float *p = &from[i * GRID + j];
					to[i * GRID + j] =
					        0.25f * (p[-1] + p[1] + p[-GRID] + p[GRID]);
				}
			float *other = from;
			from = to;
			to = other;
		}
		for (size_t i = 0; i < count; i++) {
			const double off = fabs((double)from[i] - out[i]);
			worst = foreign_worse(worst, off);
		}
	}
	free(from);
	free(to);
	return worst < 1e-5;
}

static const size_t cube_bytes = sizeof(float) * CUBE * CUBE * CUBE,
                    grid_bytes = sizeof(float) * GRID * GRID;

extern "C" const struct foreign_kernel foreign_stencils[] = {
        {"stencil", "seven points of 512^3, one step", {cube_bytes, cube_bytes, 0}, fill_cube,
                stencil, is_stencil},
        {"jacobi", "100 sweeps over 2048^2 in one cooperative kernel",
                {grid_bytes, 2 * grid_bytes, 0}, fill_grid, jacobi, is_relaxed},
        {NULL, NULL, {0, 0, 0}, NULL, NULL, NULL}};
