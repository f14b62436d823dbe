/* SPDX-License-Identifier: MIT */
/* Householder panel of any height in one cooperative kernel, with two grid barriers a column.
 * The first step applies the last reflector and finds the largest magnitude of the next column.
 * The second step sums the products of that column, scaled by a power of two, with all columns
 * right of it. Then every block computes the reflector itself. A block keeps its rows
 * throughout. Partial results are added in the order of the blocks.
 *
 * Cost of column j: 2 barriers, 3 (m - j)(n - j) words to or from memory. */
#include "lib/device/barrier.cuh"
#include "lib/device/current.h"
#include "panel_geqrf.h"
#include "panel_geqrf_plan.h"
#include "reflector.cuh"
#include "lib/device/reduce.cuh"
#include "lib/device/resident.h"

namespace
{

const int THREADS = COLUMNS_THREADS;

template <typename real> struct partials {
	real from, below; /* largest magnitudes, with and without the diagonal */
	real sums[PANEL_GEQRF_COLUMNS];
};

/* A block's copy of the last reflector. */
template <typename real> struct last {
	int scale; /* exponent of the column's, or ZERO_BELOW */
	struct reflector<real> h;
	real times[PANEL_GEQRF_COLUMNS]; /* multipliers of v in the update */
	real top[PANEL_GEQRF_COLUMNS];   /* row j */
	real part[THREADS];
};

template <typename real> struct panel {
	real *a;
	int64_t lda, m, rows_per_block;
	int n;
	real *tau;
	uint32_t *barrier;
	struct partials<real> *block;
	const int *done;
};

/* The block's maxima of both magnitudes, in thread 0. */
template <typename real> __device__ void block_largest(real *from, real *below)
{
	__shared__ real part[2][THREADS / 32];
	for (int step = 16; step > 0; step /= 2) {
		*from = larger_of(*from, __shfl_xor_sync(0xffffffffu, *from, step));
		*below = larger_of(*below, __shfl_xor_sync(0xffffffffu, *below, step));
	}
	if (threadIdx.x % 32 == 0) {
		part[0][threadIdx.x / 32] = *from;
		part[1][threadIdx.x / 32] = *below;
	}
	__syncthreads();
	for (int w = 0; w < THREADS / 32; w++) {
		*from = larger_of(*from, part[0][w]);
		*below = larger_of(*below, part[1][w]);
	}
}

/* Applies reflector j - 1, if it exists, to columns j and later, stores it, and searches column
 * j, if it exists. */
template <typename real>
__device__ void update(const struct panel<real> &g, const struct last<real> &last, int j)
{
	const int64_t first = blockIdx.x * g.rows_per_block;
	const int64_t end = min(first + g.rows_per_block, g.m);
	const int scale = last.scale == ZERO_BELOW ? 0 : last.scale;
	real from = real(0), below = real(0);

	for (int64_t i = first + threadIdx.x; i < end; i += THREADS) {
		real *row = g.a + i;
		if (j > 0 && i >= j - 1) {
			real *x = row + (j - 1) * g.lda;
			const real v = i == j - 1 ? real(1) : scaled(*x, scale) * last.h.divide;
			*x = i == j - 1 ? last.h.beta : v;
			for (int k = j; k < g.n; k++)
				row[k * g.lda] -= v * last.times[k];
		}
		if (j < g.n && i >= j) {
			const real size = fabs(row[j * g.lda]);
			from = larger_of(from, size);
			if (i > j)
				below = larger_of(below, size);
		}
	}
	block_largest(&from, &below);
	if (threadIdx.x == 0) {
		g.block[blockIdx.x].from = from;
		g.block[blockIdx.x].below = below;
	}
}

/* A warp takes whole columns of the block's rows. Row j is read here, because its block may
 * change it after the next barrier. */
template <typename real>
__device__ void sums(const struct panel<real> &g, struct last<real> &last, int j)
{
	real from = real(0), below = real(0);
	for (int b = (int)threadIdx.x; b < (int)gridDim.x; b += THREADS) {
		from = larger_of(from, g.block[b].from);
		below = larger_of(below, g.block[b].below);
	}
	block_largest(&from, &below);
	if (threadIdx.x == 0)
		last.scale = below == real(0) ? ZERO_BELOW : scale_for(from);
	if (j + (int)threadIdx.x < g.n)
		last.top[threadIdx.x] = g.a[j + (j + (int)threadIdx.x) * g.lda];
	__syncthreads();

	const int64_t first = max(blockIdx.x * g.rows_per_block, (int64_t)j + 1);
	const int64_t end = min((blockIdx.x + 1) * g.rows_per_block, g.m);
	const int scale = last.scale == ZERO_BELOW ? 0 : last.scale;
	for (int k = j + (int)threadIdx.x / 32; k < g.n; k += THREADS / 32) {
		real sum = real(0);
		for (int64_t i = first + threadIdx.x % 32; i < end; i += 32) {
			const real x = scaled(g.a[i + j * g.lda], scale);
			sum += x * (k == j ? x : g.a[i + k * g.lda]);
		}
		sum = warp_sum(sum);
		if (threadIdx.x % 32 == 0)
			g.block[blockIdx.x].sums[k] = sum;
	}
}

/* Each thread of a group has a column, each group some of the blocks. */
template <typename real>
__device__ void reflect(const struct panel<real> &g, struct last<real> &last, int j)
{
	const int width = g.n - j <= 32 ? 32 : g.n - j <= 64 ? 64 : PANEL_GEQRF_COLUMNS;
	const int group = (int)threadIdx.x / width, groups = THREADS / width;
	const int k = j + (int)threadIdx.x % width;
	real sum = real(0);
	if (k < g.n)
#pragma unroll 8
		for (int b = group; b < (int)gridDim.x; b += groups)
			sum += g.block[b].sums[k];
	last.part[threadIdx.x] = sum;
	__syncthreads();
	for (int i = 1; i < groups && group == 0; i++)
		sum += last.part[threadIdx.x + i * width];
	if (threadIdx.x == 0) {
		const bool none = last.scale == ZERO_BELOW;
		const real top = last.top[0];
		last.h = none ? reflector_none(top) : reflector_of(scaled(top, last.scale), sum);
		if (!none)
			last.h.beta = scaled(last.h.beta, -last.scale);
		if (blockIdx.x == 0)
			g.tau[j] = last.h.tau;
	}
	__syncthreads();
	if (group == 0 && k < g.n)
		last.times[k] = last.h.tau * (last.top[k - j] + last.h.divide * sum);
	__syncthreads();
}

template <typename real>
__global__ void __launch_bounds__(THREADS) columns_kernel(const struct panel<real> g)
{
	__shared__ struct last<real> last;
	struct grid_barrier barrier = barrier_start(g.barrier);
	bool good = true;

	if (g.done && *g.done)
		return;
	for (int j = 0; j < g.n && good; j++) {
		update(g, last, j);
		good = barrier_counter(&barrier);
		if (good) {
			sums(g, last, j);
			good = barrier_counter(&barrier);
		}
		if (good)
			reflect(g, last, j);
	}
	if (good)
		update(g, last, g.n);
	else if ((int)threadIdx.x < g.n)
		g.tau[threadIdx.x] = real(NAN);
}

int wanted_blocks(void)
{
	return COLUMNS_BLOCKS_PER_SM * gpu_current()->sm_count;
}

template <typename real> int most_blocks(void)
{
	const int resident = grid_resident((const void *)columns_kernel<real>, THREADS, 0);
	return resident < wanted_blocks() ? resident : wanted_blocks();
}

template <typename real>
int run(void *a, int64_t lda, int64_t m, int64_t n, void *tau, const int *done, void *work,
        cudaStream_t stream)
{
	const int most = most_blocks<real>();
	if (most == 0)
		return (int)cudaErrorNotSupported;
	const int64_t rows = columns_rows_of_block(m, most);
	const size_t words = barrier_bytes(wanted_blocks());
	struct panel<real> g = {
		(real *)a, lda, m, rows, (int)n, (real *)tau, (uint32_t *)work,
		        (struct partials<real> *)((char *)work + words), done
	};
	const cudaError_t error = cudaMemsetAsync(work, 0, words, stream);
	return error != cudaSuccess
	               ? (int)error
	               : resident_launch((const void *)columns_kernel<real>,
	                         (int)((m + rows - 1) / rows), 0, THREADS, 0, &g, stream);
}

} // namespace

extern "C" int64_t panel_geqrf_columns_work(enum precision precision, int64_t m, int64_t n)
{
	(void)m;
	(void)n;
	const size_t block = precision == SINGLE ? sizeof(struct partials<float>)
	                                         : sizeof(struct partials<double>);
	return (int64_t)(barrier_bytes(wanted_blocks()) + (size_t)wanted_blocks() * block);
}

extern "C" int panel_geqrf_columns_unless(const int *done, enum precision precision, void *a,
        int64_t lda, int64_t m, int64_t n, void *tau, void *work, void *stream)
{
	const cudaStream_t queue = (cudaStream_t)stream;
	return precision == SINGLE ? run<float>(a, lda, m, n, tau, done, work, queue)
	                           : run<double>(a, lda, m, n, tau, done, work, queue);
}
