/* SPDX-License-Identifier: MIT */
/* The update of a few columns right of a QR panel by its block reflector, C - V T^T V^T C, in one
 * kernel: the next panel waits for these columns. Three products would be three launches and a sum
 * over parts of the rows.
 *
 * A cluster of blocks has COLUMNS columns of C. Each block keeps a part of the rows of V and C in
 * shared memory. Every block adds up the parts of V^T C from the others' shared memory, in the
 * order of the blocks; all other work stays within a block. Clusters of 16 blocks are used only for
 * many rows, because too few of them fit on the device at once.
 *
 * Cost: the transfer of V and C, 4 m k COLUMNS operations on a cluster, two cluster barriers.
 * Experiments: docs/experiments/qr-panel.md. */
#include "lib/base/base.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "lib/device/cluster.cuh"
#include "lib/device/early_launch.cuh"
#include "factor/kernels/gemm/gemm_copy.cuh"
#include "lib/device/resident.h"
#include "qr_columns_plan.h"

namespace
{

enum {
	WARPS = QR_COLUMNS_WARPS,
	THREADS = 32 * WARPS,
	DEPTH = BLOCK_QR_COLUMNS_MAX, /* columns of V */
	COLUMNS = QR_COLUMNS_EACH,    /* columns of a cluster */
	WORDS = DEPTH * COLUMNS,
	PAD = 4, /* rows between columns: no bank conflicts */
	T_PITCH = DEPTH + 4,
	MOST_ROWS = QR_COLUMNS_HALF_ROWS /* of a block */
};
static_assert((int)CLUSTER_MAX == (int)QR_COLUMNS_MOST, "blocks of the largest cluster");

struct columns {
	const float *v;
	int64_t ldv;
	const float *t;
	int64_t ldt;
	float *c;
	int64_t ldc;
	int m, k, n, share; /* V m x k, C m x n; share: rows of a block, at most */
};

struct memory {
	float t[DEPTH * T_PITCH];
	float part[WARPS][WORDS]; /* V^T C of the warps' rows: [column of V][column of C] */
	float block[WORDS], all[WORDS], scaled[WORDS];
	alignas(16) float slab[1]; /* V, then C: [column][share + PAD] */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

__device__ __forceinline__ float fetch_float(uint32_t address)
{
	float value;
	asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
	return value;
}

/* Columns from the block's first row on, with zeros beyond the matrix. */
template <int BYTES>
__device__ __forceinline__ void fetch_by(
        const float *a, int64_t ld, int rows, int columns, int share, int most, float *to)
{
	const int words = BYTES / 4;
	for (int column = (int)threadIdx.x / 32; column < most; column += WARPS)
		for (int row = (int)threadIdx.x % 32 * words; row < share; row += 32 * words) {
			const int valid =
			        column < columns ? max(0, min(BYTES, 4 * (rows - row))) : 0;
			copy_start<BYTES>(to + column * (share + PAD) + row,
			        valid ? a + row + column * ld : a, valid);
		}
}

__device__ __forceinline__ void fetch(
        const float *a, int64_t ld, int rows, int columns, int share, int most, float *to)
{
	if ((uint64_t)a % 16 == 0 && ld % 4 == 0)
		fetch_by<16>(a, ld, rows, columns, share, most, to);
	else
		fetch_by<4>(a, ld, rows, columns, share, most, to);
}

__device__ __forceinline__ void fetch_t(const struct columns &g, struct memory &s)
{
	for (int e = (int)threadIdx.x; e < DEPTH * DEPTH; e += THREADS) {
		const int row = e % DEPTH, column = e / DEPTH;
		s.t[row * T_PITCH + column] =
		        row < g.k && column < g.k ? g.t[row + column * g.ldt] : 0;
	}
}

/* V^T C for a warp's rows: a lane has four columns of each. */
__device__ __forceinline__ void multiply_rows(struct memory &s, const float *c, int share)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int pitch = share + PAD, rows = share / WARPS;
	const float *left = s.slab + lane % 16 * pitch + warp * rows;
	const float *right = c + lane / 16 * 4 * pitch + warp * rows;
	float sum[4][4] = {};

	for (int row = 0; row < rows; row += 4) {
		float4 x[4], y[4];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			x[i] = *(const float4 *)(left + 16 * i * pitch + row);
			y[i] = *(const float4 *)(right + i * pitch + row);
		}
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int j = 0; j < 4; j++) {
				sum[i][j] = fmaf(x[i].x, y[j].x, sum[i][j]);
				sum[i][j] = fmaf(x[i].y, y[j].y, sum[i][j]);
				sum[i][j] = fmaf(x[i].z, y[j].z, sum[i][j]);
				sum[i][j] = fmaf(x[i].w, y[j].w, sum[i][j]);
			}
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 4; j++)
			s.part[warp][(lane % 16 + 16 * i) * COLUMNS + lane / 16 * 4 + j] =
			        sum[i][j];
	__syncthreads();
}

/* s.all: V^T C of all rows. */
__device__ __forceinline__ void add_parts(struct memory &s)
{
	const int blocks = (int)cluster_blocks();

	for (int e = (int)threadIdx.x; e < WORDS; e += THREADS) {
		float sum = s.part[0][e];
#pragma unroll
		for (int w = 1; w < WARPS; w++)
			sum += s.part[w][e];
		s.block[e] = sum;
	}
	cluster_barrier();
	for (int e = (int)threadIdx.x; e < WORDS; e += THREADS) {
		float of[CLUSTER_MAX], sum = 0;
#pragma unroll
		for (int b = 0; b < CLUSTER_MAX; b++)
			of[b] = b < blocks ? fetch_float(cluster_address(
			                             shared_address(&s.block[e]), (uint32_t)b))
			                   : 0;
#pragma unroll
		for (int b = 0; b < CLUSTER_MAX; b++)
			sum += of[b];
		s.all[e] = sum;
	}
	__syncthreads();
}

/* s.scaled = T^T s.all */
__device__ __forceinline__ void scale(struct memory &s)
{
#pragma unroll
	for (int i = 0; i < WORDS / THREADS; i++) {
		const int e = (int)threadIdx.x + i * THREADS, row = e / COLUMNS,
		          column = e % COLUMNS;
		float sum = 0;
#pragma unroll 16
		for (int q = 0; q < DEPTH; q++)
			sum = fmaf(s.t[q * T_PITCH + row], s.all[q * COLUMNS + column], sum);
		s.scaled[e] = sum;
	}
	__syncthreads();
}

/* C - V s.scaled, a row a thread. */
__device__ __forceinline__ void subtract(const struct columns &g, const struct memory &s,
        const float *from, int rows, int n, float *c)
{
	const int pitch = g.share + PAD;

	for (int row = (int)threadIdx.x; row < rows; row += THREADS) {
		float value[COLUMNS];
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			value[j] = from[j * pitch + row];
#pragma unroll 8
		for (int q = 0; q < DEPTH; q++) {
			const float x = s.slab[q * pitch + row];
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				value[j] = fmaf(-x, s.scaled[q * COLUMNS + j], value[j]);
		}
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			if (j < n)
				c[row + j * g.ldc] = value[j];
	}
}

#endif

__global__ void __launch_bounds__(THREADS, 1) qr_columns_kernel(const struct columns g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	extern __shared__ __align__(16) unsigned char bytes[];
	struct memory &s = *(struct memory *)bytes;
	const int first = (int)cluster_rank() * g.share;
	const int rows = max(0, min(g.share, g.m - first));
	const int column = (int)(blockIdx.x / cluster_blocks()) * COLUMNS;
	const int n = min(g.n - column, (int)COLUMNS);
	float *c = g.c + (rows ? first : 0) + column * g.ldc;
	float *slab = s.slab + DEPTH * (g.share + PAD);

	early_begin();
	fetch(g.v + (rows ? first : 0), g.ldv, rows, g.k, g.share, DEPTH, s.slab);
	fetch(c, g.ldc, rows, n, g.share, COLUMNS, slab);
	copy_commit();
	fetch_t(g, s);
	copy_wait<0>();
	__syncthreads();
	multiply_rows(s, slab, g.share);
	add_parts(s);
	scale(s);
	subtract(g, s, slab, rows, n, c);
	cluster_barrier(); /* other blocks may still read this block's sums */
#endif
}

/* ---- launch ---- */

int64_t bytes_of(int64_t share)
{
	return (int64_t)sizeof(struct memory) +
	       (DEPTH + COLUMNS) * (share + PAD) * (int64_t)sizeof(float);
}

/* Whether the current device takes the largest cluster with the most rows. */
bool launchable(void)
{
	static thread_local struct cluster_answer last;
	return cluster_takes(&last, (const void *)qr_columns_kernel, CLUSTER_MAX, THREADS,
	        (size_t)bytes_of(MOST_ROWS));
}

} // namespace

extern "C" bool block_qr_columns_fits(enum precision precision, int64_t m, int64_t k)
{
	return precision == SINGLE && k <= DEPTH && m <= BLOCK_QR_COLUMNS_ROWS && launchable();
}

extern "C" int block_qr_columns(struct matrix v, struct matrix t, struct matrix c, void *stream)
{
	const struct qr_columns_plan plan = qr_columns_plan_of(c.m, c.n);
	struct columns g = {(const float *)matrix_address(v), v.ld,
	        (const float *)matrix_address(t), t.ld, (float *)matrix_address(c), c.ld, (int)c.m,
	        (int)v.n, (int)c.n, (int)plan.share};
	if (c.m == 0 || c.n == 0)
		return (int)cudaSuccess;
	return early_cluster_launch((const void *)qr_columns_kernel,
	        (int)(plan.clusters * plan.blocks), (int)plan.blocks, THREADS,
	        (size_t)bytes_of(plan.share), &g, stream);
}
