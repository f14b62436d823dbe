/* SPDX-License-Identifier: MIT */
/* Householder panel of any height, three kernels a column: the update by the last reflector and the
 * largest magnitude of the next column; the sums of that column, scaled by a power of two, times
 * all columns right of it; the reflector out of these. A block has its own rows in all kernels;
 * partial results are added in the order of the blocks.
 *
 * Cost of column j: 3 launches, 3 (m - j)(n - j) words to or from memory. */
#include "panel_geqrf.h"
#include "reflector.cuh"
#include "reduce.cuh"

namespace
{

const int THREADS = 256, MOST_BLOCKS = 264;
const int64_t FEWEST_ROWS = 256;

template <typename real> struct partials {
	real from, below; /* largest magnitudes, diagonal included and not */
	real sums[PANEL_GEQRF_COLUMNS];
};

/* The work area. */
template <typename real> struct state {
	real beta, divide, scale;
	real times[PANEL_GEQRF_COLUMNS]; /* what multiplies v in the update */
	struct partials<real> block[MOST_BLOCKS];
};

template <typename real> struct panel {
	real *a;
	int64_t lda, m, rows_per_block;
	int n, blocks;
	real *tau;
	struct state<real> *state;
	const int *done;
};

/* The block's larger ones of both magnitudes, in thread 0. */
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

/* Reflector j - 1, if there is one, applied to columns j and up and stored; column j, if there is
 * one, searched. */
template <typename real>
__global__ void __launch_bounds__(THREADS) update_kernel(const struct panel<real> g, int j)
{
	const int64_t first = blockIdx.x * g.rows_per_block;
	const int64_t end = min(first + g.rows_per_block, g.m);
	real from = real(0), below = real(0);

	if (g.done && *g.done)
		return;
	for (int64_t i = first + threadIdx.x; i < end; i += THREADS) {
		real *row = g.a + i;
		if (j > 0 && i >= j - 1) {
			real *x = row + (j - 1) * g.lda;
			const real v = i == j - 1 ? real(1) : *x * g.state->scale * g.state->divide;
			*x = i == j - 1 ? g.state->beta : v;
			for (int k = j; k < g.n; k++)
				row[k * g.lda] -= v * g.state->times[k];
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
		g.state->block[blockIdx.x].from = from;
		g.state->block[blockIdx.x].below = below;
	}
}

/* A warp takes whole columns of the block's rows. */
template <typename real>
__global__ void __launch_bounds__(THREADS) sums_kernel(const struct panel<real> g, int j)
{
	__shared__ real scale;
	real from = real(0), below = real(0);
	if (g.done && *g.done)
		return;
	for (int b = (int)threadIdx.x; b < g.blocks; b += THREADS) {
		from = larger_of(from, g.state->block[b].from);
		below = larger_of(below, g.state->block[b].below);
	}
	block_largest(&from, &below);
	if (threadIdx.x == 0) {
		scale = below == real(0) ? real(0) : scale_for(from);
		if (blockIdx.x == 0)
			g.state->scale = scale;
	}
	__syncthreads();

	const int64_t first = max(blockIdx.x * g.rows_per_block, (int64_t)j + 1);
	const int64_t end = min((blockIdx.x + 1) * g.rows_per_block, g.m);
	for (int k = j + (int)threadIdx.x / 32; k < g.n; k += THREADS / 32) {
		real sum = real(0);
		for (int64_t i = first + threadIdx.x % 32; i < end; i += 32) {
			const real x = g.a[i + j * g.lda] * scale;
			sum += x * (k == j ? x : g.a[i + k * g.lda]);
		}
		sum = warp_sum(sum);
		if (threadIdx.x % 32 == 0)
			g.state->block[blockIdx.x].sums[k] = sum;
	}
}

/* One block, a thread for every column. */
template <typename real>
__global__ void __launch_bounds__(PANEL_GEQRF_COLUMNS)
        reflector_kernel(const struct panel<real> g, int j)
{
	__shared__ struct reflector<real> h;
	const int k = j + (int)threadIdx.x;
	if (g.done && *g.done)
		return;
	const real scale = g.state->scale;
	real sum = real(0), top = real(0);
	if (k < g.n) {
		for (int b = 0; b < g.blocks; b++)
			sum += g.state->block[b].sums[k];
		top = g.a[j + k * g.lda];
	}
	if (threadIdx.x == 0) {
		h = scale == real(0) ? reflector_none(top) : reflector_of(top * scale, sum);
		g.state->beta = scale == real(0) ? top : h.beta / scale;
		g.state->divide = h.divide;
		g.tau[j] = h.tau;
	}
	__syncthreads();
	if (k < g.n)
		g.state->times[k] = scale == real(0) ? real(0) : h.tau * (top + h.divide * sum);
}

int64_t rows_of_block(int64_t m)
{
	const int64_t rows = (m + MOST_BLOCKS - 1) / MOST_BLOCKS;
	return rows < FEWEST_ROWS ? FEWEST_ROWS : (rows + 31) / 32 * 32;
}

template <typename real>
int run(void *a, int64_t lda, int64_t m, int64_t n, void *tau, const int *done, void *work,
        cudaStream_t stream)
{
	const int64_t rows = rows_of_block(m);
	const unsigned blocks = (unsigned)((m + rows - 1) / rows);
	const struct panel<real> g = {
		(real *)a, lda, m, rows, (int)n, (int)blocks, (real *)tau,
		        (struct state<real> *)work, done
	};
	for (int j = 0; j < g.n; j++) {
		update_kernel<<<blocks, THREADS, 0, stream>>>(g, j);
		sums_kernel<<<blocks, THREADS, 0, stream>>>(g, j);
		reflector_kernel<<<1, PANEL_GEQRF_COLUMNS, 0, stream>>>(g, j);
	}
	update_kernel<<<blocks, THREADS, 0, stream>>>(g, g.n);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int64_t panel_geqrf_columns_work(enum precision precision, int64_t m, int64_t n)
{
	(void)m;
	(void)n;
	return precision == SINGLE ? (int64_t)sizeof(struct state<float>)
	                           : (int64_t)sizeof(struct state<double>);
}

extern "C" int panel_geqrf_columns_unless(const int *done, enum precision precision, void *a,
        int64_t lda, int64_t m, int64_t n, void *tau, void *work, void *stream)
{
	const cudaStream_t queue = (cudaStream_t)stream;
	return precision == SINGLE ? run<float>(a, lda, m, n, tau, done, work, queue)
	                           : run<double>(a, lda, m, n, tau, done, work, queue);
}

extern "C" int panel_geqrf_columns(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, void *work, void *stream)
{
	return panel_geqrf_columns_unless(NULL, precision, a, lda, m, n, tau, work, stream);
}
