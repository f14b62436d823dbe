/* SPDX-License-Identifier: MIT */
/* Kernels whose blocks work on something of their own: softmax of a row, LU of a small matrix, and
 * forces on bodies from tiles of all others. */
#include "foreign.h"

#include "lib/device/gpu.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>

enum { WARP = 32 };
static const unsigned everyone = 0xffffffffu;

/* ---- softmax ---- */

enum { SOFT_ROWS = 16384, SOFT_COLUMNS = 4096, SOFT_THREADS = 256, SOFT_LOADS = 4 };

/* The largest or the sum over a block, known to all of it. */
template <bool LARGEST> static __device__ float over_block(float x, float *shared)
{
	for (int step = WARP / 2; step > 0; step /= 2) {
		const float other = __shfl_xor_sync(everyone, x, step);
		x = LARGEST ? fmaxf(x, other) : x + other;
	}
	if (threadIdx.x % WARP == 0)
		shared[threadIdx.x / WARP] = x;
	__syncthreads();
	x = shared[0];
	for (int i = 1; i < SOFT_THREADS / WARP; i++)
		x = LARGEST ? fmaxf(x, shared[i]) : x + shared[i];
	__syncthreads();
	return x;
}

static __global__ void __launch_bounds__(SOFT_THREADS)
        softmax_kernel(const float4 *__restrict__ in, float4 *__restrict__ out)
{
	__shared__ float shared[SOFT_THREADS / WARP];
	const int64_t row = (int64_t)blockIdx.x * (SOFT_COLUMNS / 4);
	float4 v[SOFT_LOADS];
	float largest = -INFINITY, sum = 0;

#pragma unroll
	for (int i = 0; i < SOFT_LOADS; i++)
		v[i] = in[row + i * SOFT_THREADS + threadIdx.x];
#pragma unroll
	for (int i = 0; i < SOFT_LOADS; i++)
		largest = fmaxf(largest, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
	largest = over_block<true>(largest, shared);
#pragma unroll
	for (int i = 0; i < SOFT_LOADS; i++) {
		v[i] = make_float4(expf(v[i].x - largest), expf(v[i].y - largest),
		        expf(v[i].z - largest), expf(v[i].w - largest));
		sum += v[i].x + v[i].y + v[i].z + v[i].w;
	}
	const float scale = 1 / over_block<false>(sum, shared);
#pragma unroll
	for (int i = 0; i < SOFT_LOADS; i++)
		out[row + i * SOFT_THREADS + threadIdx.x] =
		        make_float4(v[i].x * scale, v[i].y * scale, v[i].z * scale, v[i].w * scale);
}

static int softmax(void *const *piece, void *stream)
{
	softmax_kernel<<<SOFT_ROWS, SOFT_THREADS, 0, (cudaStream_t)stream>>>(
	        (const float4 *)piece[0], (float4 *)piece[1]);
	return cudaGetLastError();
}

static void fill_rows(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], (int64_t)SOFT_ROWS * SOFT_COLUMNS, seed, stream);
}

static bool is_softmax(void *const *piece)
{
	double worst = 0;

	for (int64_t row = 0; row < SOFT_ROWS; row += 37) {
		const float *in = (const float *)piece[0] + row * SOFT_COLUMNS,
		            *out = (const float *)piece[1] + row * SOFT_COLUMNS;
		double sum = 0;
		for (int j = 0; j < SOFT_COLUMNS; j++)
			sum += exp((double)in[j]);
		for (int j = 0; j < SOFT_COLUMNS; j++) {
			const double off = fabs(out[j] * sum / exp((double)in[j]) - 1);
			worst = foreign_worse(worst, off);
		}
	}
	return worst < 1e-5;
}

/* ---- LU of small matrices ---- */

enum { BATCH = 65536, ORDER = 32, LU_THREADS = 128, LU_WARPS = LU_THREADS / WARP };

/* A matrix a block, by rows, with partial pivoting: P A = L U, the rows of P behind the matrices.
 */
static __global__ void __launch_bounds__(LU_THREADS)
        lu_kernel(const float *__restrict__ in, float *__restrict__ out, int *__restrict__ pivots)
{
	__shared__ float a[ORDER][ORDER + 1];
	__shared__ int chosen;
	const int64_t matrix = (int64_t)blockIdx.x * ORDER * ORDER;
	const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

	for (int i = warp; i < ORDER; i += LU_WARPS)
		a[i][lane] = in[matrix + i * ORDER + lane];
	__syncthreads();
	for (int k = 0; k < ORDER; k++) {
		if (warp == 0) {
			float best = lane < k ? -1 : fabsf(a[lane][k]);
			int place = lane;
			for (int step = WARP / 2; step > 0; step /= 2) {
				const float other = __shfl_xor_sync(everyone, best, step);
				const int there = __shfl_xor_sync(everyone, place, step);
				if (other > best || (other == best && there < place)) {
					best = other;
					place = there;
				}
			}
			if (lane == 0)
				pivots[blockIdx.x * ORDER + k] = chosen = place;
		}
		__syncthreads();
		const int p = chosen;
		if (warp == 0 && p != k) {
			const float upper = a[k][lane];
			a[k][lane] = a[p][lane];
			a[p][lane] = upper;
		}
		__syncthreads();
		if (warp == 0 && lane > k)
			a[lane][k] /= a[k][k];
		__syncthreads();
		if (lane > k)
			for (int i = k + 1 + warp; i < ORDER; i += LU_WARPS)
				a[i][lane] -= a[i][k] * a[k][lane];
		__syncthreads();
	}
	for (int i = warp; i < ORDER; i += LU_WARPS)
		out[matrix + i * ORDER + lane] = a[i][lane];
}

static int lu(void *const *piece, void *stream)
{
	lu_kernel<<<BATCH, LU_THREADS, 0, (cudaStream_t)stream>>>(
	        (const float *)piece[0], (float *)piece[1], (int *)piece[2]);
	return cudaGetLastError();
}

static void fill_batch(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], (int64_t)BATCH * ORDER * ORDER, seed, stream);
}

/* The largest element of P A - L U; NaN when a row of P is none. */
static double lu_residual(const float *a, const float *lu_of, const int *pivots)
{
	double left[ORDER][ORDER], worst = 0;

	for (int i = 0; i < ORDER; i++)
		for (int j = 0; j < ORDER; j++)
			left[i][j] = a[i * ORDER + j];
	for (int k = 0; k < ORDER; k++) {
		if (pivots[k] < k || pivots[k] >= ORDER)
			return NAN;
		for (int j = 0; j < ORDER && pivots[k] != k; j++) {
			const double upper = left[k][j];
			left[k][j] = left[pivots[k]][j];
			left[pivots[k]][j] = upper;
		}
	}
	for (int i = 0; i < ORDER; i++)
		for (int j = 0; j < ORDER; j++) {
			double sum = i <= j ? lu_of[i * ORDER + j] : 0;
			for (int k = 0; k < i && k <= j; k++)
				sum += (double)lu_of[i * ORDER + k] * lu_of[k * ORDER + j];
			const double off = fabs(left[i][j] - sum);
			worst = foreign_worse(worst, off);
		}
	return worst;
}

static bool is_factored(void *const *piece)
{
	for (int64_t i = 0; i < BATCH; i += 97)
		if (!(lu_residual((const float *)piece[0] + i * ORDER * ORDER,
		              (const float *)piece[1] + i * ORDER * ORDER,
		              (const int *)piece[2] + i * ORDER) < 1e-4))
			return false;
	return true;
}

/* ---- bodies ---- */

enum { BODIES = 67584, BODY_THREADS = 256 }; /* two blocks for each of 132 multiprocessors */

static __global__ void __launch_bounds__(BODY_THREADS)
        bodies_kernel(const float4 *__restrict__ body, float4 *__restrict__ force)
{
	__shared__ float4 tile[BODY_THREADS];
	const int own = blockIdx.x * BODY_THREADS + threadIdx.x;
	const float4 at = body[own];
	float x = 0, y = 0, z = 0;

	for (int first = 0; first < BODIES; first += BODY_THREADS) {
		tile[threadIdx.x] = body[first + threadIdx.x];
		__syncthreads();
#pragma unroll 16
		for (int i = 0; i < BODY_THREADS; i++) {
			const float4 other = tile[i];
			const float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z,
			            near = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f),
			            scale = other.w * near * near * near;
			x += dx * scale;
			y += dy * scale;
			z += dz * scale;
		}
		__syncthreads();
	}
	force[own] = make_float4(x, y, z, 0);
}

static int bodies(void *const *piece, void *stream)
{
	bodies_kernel<<<BODIES / BODY_THREADS, BODY_THREADS, 0, (cudaStream_t)stream>>>(
	        (const float4 *)piece[0], (float4 *)piece[1]);
	return cudaGetLastError();
}

static void fill_bodies(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], 4 * BODIES, seed, stream);
}

static bool is_force(void *const *piece)
{
	const float *body = (const float *)piece[0], *force = (const float *)piece[1];
	double worst = 0;

	for (int i = 0; i < BODIES; i += 1021) {
		double sum[3] = {0}, size = 0;
		for (int j = 0; j < BODIES; j++) {
			double d[3], square = 0.01;
			for (int c = 0; c < 3; c++) {
				d[c] = (double)body[4 * j + c] - body[4 * i + c];
				square += d[c] * d[c];
			}
			const double scale = body[4 * j + 3] / (square * sqrt(square));
			for (int c = 0; c < 3; c++) {
				sum[c] += d[c] * scale;
				size += fabs(d[c] * scale);
			}
		}
		for (int c = 0; c < 3; c++) {
			const double off = fabs(force[4 * i + c] - sum[c]) / size;
			worst = foreign_worse(worst, off);
		}
	}
	return worst < 1e-4;
}

static const size_t soft_bytes = sizeof(float) * SOFT_ROWS * SOFT_COLUMNS,
                    batch_bytes = sizeof(float) * BATCH * ORDER * ORDER,
                    body_bytes = sizeof(float4) * BODIES;

extern "C" const struct foreign_kernel foreign_blocks[] = {
        {"softmax", "16384 rows of 4096, a block a row", {soft_bytes, soft_bytes, 0}, fill_rows,
                softmax, is_softmax},
        {"batched_lu", "65536 matrices of 32 x 32, a block a matrix",
                {batch_bytes, batch_bytes, sizeof(int) * BATCH *ORDER}, fill_batch, lu,
                is_factored},
        {"bodies", "forces between 67584 bodies", {body_bytes, body_bytes, 0}, fill_bodies, bodies,
                is_force},
        {NULL, NULL, {0, 0, 0}, NULL, NULL, NULL}};
