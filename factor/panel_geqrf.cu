/* SPDX-License-Identifier: MIT */
/* Householder QR of a panel: one cooperative kernel, every block holds its rows in shared memory,
 * one exchange a column.
 *
 * With u the part of column j below the diagonal, not yet scaled, all that column j needs from
 * other blocks are the sums u^T a_k for the columns k >= j (the first is the norm's square) and row
 * j. So the sums of column j + 1 are taken in the sweep that applies reflector j, and a column
 * costs one exchange: every block publishes its partial sums, everybody adds all of them up in the
 * same order. An exchanged word carries its round's tag (lib/exchange.cuh), so that no barrier is
 * needed; two sets of slots suffice, as a block publishes round t + 2 only after it has read round
 * t + 1 of all others, which they published after reading round t.
 *
 * Cost: load and store of m n words; per column a trip through L2 of blocks x (n - j) words for
 * each block, and 2 (n - j) FMAs and loads from shared memory for each of its rows. */
#include "panel_geqrf.h"
#include "../lib/spin.cuh"

#include <cuda_runtime.h>
#include <math.h>

namespace
{

const int THREADS = 512, WARPS = THREADS / 32;
const int GROUP = 4; /* columns that a warp sweeps together */
const int BATCH = 8; /* slots that a thread has under way */
const int LEAST_ROWS = 64;

template <typename T> struct panel {
	T *a;
	int64_t lda;
	int m, n, rows_per_block, pitch;
	T *tau;
	uint64_t *slots; /* [2][blocks + 1][n][words]; the last record is a row of the matrix */
	uint32_t *error;
};

/* A block's shared memory and its place. */
template <typename T> struct block {
	T *a, *u[2], *partial, *sum, *row;
	int *exponent;
	int row0, rows, columns; /* columns: n rounded up to a power of two, at least 32 */
};

template <typename T> __device__ struct block<T> block_of(const struct panel<T> &g, void *memory) {
	struct block<T> b;
	b.columns = g.n <= 32 ? 32 : g.n <= 64 ? 64 : 128;
	b.row0 = blockIdx.x * g.rows_per_block;
	b.rows = max(0, min(g.rows_per_block, g.m - b.row0));
	b.a = (T *)memory;
	b.u[0] = b.a + g.n * g.pitch;
	b.u[1] = b.u[0] + g.rows_per_block;
	b.partial = b.u[1] + g.rows_per_block;
	b.sum = b.partial + THREADS;
	b.row = b.sum + b.columns;
	b.exponent = (int *)(b.row + b.columns);
	return b;
}

/* ---- slots ---- */

__device__ __forceinline__ void
put_word(uint64_t *slot, uint32_t bits, uint32_t tag)
{
	const uint64_t word = (uint64_t)tag << 32 | bits;
	asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(slot), "l"(word) : "memory");
}

__device__ __forceinline__ uint64_t get_word(const uint64_t *slot)
{
	uint64_t word;
	asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
	return word;
}

__device__ __forceinline__ void put_value(uint64_t *slot, float x, uint32_t tag)
{
	put_word(slot, __float_as_uint(x), tag);
}

__device__ __forceinline__ void put_value(uint64_t *slot, double x, uint32_t tag)
{
	const uint64_t bits = (uint64_t)__double_as_longlong(x);
	put_word(slot, (uint32_t)bits, tag);
	put_word(slot + 1, (uint32_t)(bits >> 32), tag);
}

/* False when the slot is not of this round yet. */
__device__ __forceinline__ bool get_value(const uint64_t *slot, uint32_t tag, float *x)
{
	const uint64_t word = get_word(slot);
	*x = __uint_as_float((uint32_t)word);
	return (uint32_t)(word >> 32) == tag;
}

__device__ __forceinline__ bool get_value(const uint64_t *slot, uint32_t tag, double *x)
{
	const uint64_t low = get_word(slot), high = get_word(slot + 1);
	*x = __longlong_as_double((long long)(high << 32 | (uint32_t)low));
	return (uint32_t)(low >> 32) == tag && (uint32_t)(high >> 32) == tag;
}

template <typename T>
__device__ __forceinline__ uint64_t *slot_of(
        const struct panel<T> &g, uint32_t tag, int record, int k)
{
	const int words = sizeof(T) / 4;
	return g.slots + (((int64_t)(tag & 1) * (gridDim.x + 1) + record) * g.n + k) * words;
}

template <typename T> __device__ __forceinline__ T larger(T a, T b)
{
	return a > b || a != a ? a : b; /* NaN is the largest */
}

/* ---- the exchange ---- */

/* Adds up (or takes the largest of) what all blocks published for the columns from `first` on into
 * b.sum, and fetches the published row into b.row. False when a block was not heard of. */
template <typename T, bool largest>
__device__ bool gather(const struct panel<T> &g, const struct block<T> &b, uint32_t tag, int first)
{
	const int k = threadIdx.x % b.columns, part = threadIdx.x / b.columns;
	const int parts = THREADS / b.columns, records = gridDim.x;
	struct spin spin = {0, 0};
	bool good = true;
	T total = T(0), row = T(0);

	if (k >= first && k < g.n) {
		for (int base = part; good && base < records; base += BATCH * parts) {
			T value[BATCH];
			bool ready = false;
			while (good && !ready) {
				ready = true;
#pragma unroll
				for (int i = 0; i < BATCH; i++) {
					const int record = min(base + i * parts, records - 1);
					ready = get_value(slot_of(g, tag, record, k), tag,
					                &value[i]) &&
					        ready;
				}
				if (!ready)
					good = spin_again(&spin, g.error);
			}
#pragma unroll
			for (int i = 0; i < BATCH; i++)
				if (base + i * parts < records)
					total = largest ? larger(total, value[i])
					                : total + value[i];
		}
		if (!largest && part == 0)
			while (good && !get_value(slot_of(g, tag, records, k), tag, &row))
				good = spin_again(&spin, g.error);
	}
	b.partial[threadIdx.x] = total;
	if (!__syncthreads_and(good)) /* from here on nobody reads the last round's sums */
		return false;
	if (part == 0) {
		for (int p = 1; p < parts; p++) {
			const T other = b.partial[p * b.columns + k];
			total = largest ? larger(total, other) : total + other;
		}
		b.sum[k] = total;
		b.row[k] = row;
	}
	__syncthreads();
	return true;
}

template <typename T> __device__ __forceinline__ T warp_sum(T x)
{
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, step);
	return x;
}

/* ---- scaling ---- */

/* Squares of elements of columns whose largest magnitude is within these bounds stay in range. */
__device__ __forceinline__ bool in_range(float x)
{
	return x == 0 || (x > 0x1p-40f && x < 0x1p40f) || !isfinite(x);
}

__device__ __forceinline__ bool in_range(double x)
{
	return x == 0 || (x > 0x1p-400 && x < 0x1p400) || !isfinite(x);
}

/* b.exponent[k]: column k is divided by 2 to this, which commutes with the factorization. */
template <typename T>
__device__ bool scale_columns(const struct panel<T> &g, const struct block<T> &b, uint32_t tag)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int k = warp; k < g.n; k += WARPS) {
		T most = T(0);
		for (int r = lane; r < b.rows; r += 32)
			most = larger(most, (T)fabs(b.a[k * g.pitch + r]));
#pragma unroll
		for (int step = 16; step > 0; step /= 2)
			most = larger(most, __shfl_xor_sync(0xffffffffu, most, step));
		if (lane == 0)
			put_value(slot_of(g, tag, blockIdx.x, k), most, tag);
	}
	if (!gather<T, true>(g, b, tag, 0))
		return false;
	for (int k = threadIdx.x; k < g.n; k += THREADS)
		b.exponent[k] = in_range(b.sum[k]) ? 0 : ilogb(b.sum[k]);
	__syncthreads();
	for (int k = warp; k < g.n; k += WARPS)
		for (int r = lane; b.exponent[k] != 0 && r < b.rows; r += 32)
			b.a[k * g.pitch + r] = scalbn(b.a[k * g.pitch + r], -b.exponent[k]);
	__syncthreads();
	return true;
}

/* ---- a column ---- */

/* Reflector j: H = I - tau v v^T, v = (1, u inverse), beta its result on the diagonal. */
template <typename T> struct reflector {
	T beta, tau, inverse;
};

template <typename T>
__device__ __forceinline__ struct reflector<T> reflector_of(const struct block<T> &b, int j) {
	const T alpha = b.row[j], square = b.sum[j];
	if (square == T(0))
		return {alpha, T(0), T(0)};
	const T beta = -copysign(sqrt(alpha * alpha + square), alpha);
	return {beta, (beta - alpha) / beta, T(1) / (alpha - beta)};
}

/* Of row j in column k, what reflector j takes away; times v of a row, of that row. */
template <typename T>
__device__ __forceinline__ T factor_of(
        const struct block<T> &b, const struct reflector<T> &h, int k)
{
	return h.tau * (b.row[k] + b.sum[k] * h.inverse);
}

/* Column j gets its final form, and column j + 1 is updated alone: the others need it whole. */
template <typename T>
__device__ void finish_column(
        const struct panel<T> &g, const struct block<T> &b, const struct reflector<T> &h, int j)
{
	const T *u = b.u[j & 1];
	T *next = b.u[(j + 1) & 1], *here = b.a + j * g.pitch, *right = here + g.pitch;
	const T f = j >= 0 && j + 1 < g.n ? factor_of(b, h, j + 1) : T(0), f_below = f * h.inverse;
	for (int r = threadIdx.x; r < b.rows; r += THREADS) {
		const int i = b.row0 + r;
		if (j >= 0 && i >= j)
			here[r] = i == j ? h.beta : u[r] * h.inverse;
		if (j + 1 == g.n)
			continue;
		T x = right[r];
		if (j >= 0 && i >= j) {
			x -= i == j ? f : u[r] * f_below;
			right[r] = x;
		}
		next[r] = i > j + 1 ? x : T(0);
	}
}

/* Applies reflector j to the columns behind the next, takes their products and the next column's
 * own with it, and publishes these and row j + 1. */
template <typename T>
__device__ void sweep(const struct panel<T> &g, const struct block<T> &b,
        const struct reflector<T> &h, int j, uint32_t tag)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, c = j + 1;
	const T *u = b.u[j & 1], *next = b.u[c & 1];
	const int from = max(0, j - b.row0) / 32 * 32; /* rows above are finished */
	for (int k0 = c + GROUP * warp; k0 < g.n; k0 += GROUP * WARPS) {
		T sum[GROUP], f[GROUP], f_below[GROUP];
#pragma unroll
		for (int q = 0; q < GROUP; q++) {
			sum[q] = T(0);
			const int k = k0 + q;
			f[q] = j >= 0 && k > c && k < g.n ? factor_of(b, h, k) : T(0);
			f_below[q] = f[q] * h.inverse;
		}
		for (int r = from + lane; r < b.rows; r += 32) {
			const int i = b.row0 + r;
			const T v = j >= 0 ? u[r] : T(0), w = next[r];
			if (i < j)
				continue;
#pragma unroll
			for (int q = 0; q < GROUP; q++) {
				const int k = k0 + q;
				if (k >= g.n)
					break;
				T x = b.a[k * g.pitch + r];
				if (j >= 0 && k > c) {
					x -= i == j ? f[q] : v * f_below[q];
					b.a[k * g.pitch + r] = x;
				}
				if (i > c)
					sum[q] += w * x;
				else if (i == c)
					put_value(slot_of(g, tag, gridDim.x, k), x, tag);
			}
		}
#pragma unroll
		for (int q = 0; q < GROUP; q++) {
			const T total = warp_sum(sum[q]);
			if (lane == q && k0 + q < g.n)
				put_value(slot_of(g, tag, blockIdx.x, k0 + q), total, tag);
		}
	}
}

template <typename T>
__global__ void __launch_bounds__(THREADS) panel_kernel(const struct panel<T> g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	const struct block<T> b = block_of(g, memory);
	struct reflector<T> h = {
		T(0), T(0), T(0)
	};

	for (int k = threadIdx.x / 32; k < g.n; k += WARPS)
		for (int r = threadIdx.x % 32; r < b.rows; r += 32)
			b.a[k * g.pitch + r] = g.a[b.row0 + r + k * g.lda];
	__syncthreads();
	bool good = scale_columns(g, b, 1);

	for (int j = -1; good && j < g.n; j++) {
		const uint32_t tag = (uint32_t)j + 3; /* of what is published for column j + 1 */
		if (j >= 0) {
			good = gather<T, false>(g, b, tag - 1, j);
			if (!good)
				break;
			h = reflector_of(b, j);
			if (blockIdx.x == 0 && threadIdx.x == 0)
				g.tau[j] = h.tau;
		}
		finish_column(g, b, h, j);
		__syncthreads();
		if (j + 1 < g.n)
			sweep(g, b, h, j, tag);
	}
	if (!good && threadIdx.x == 0)
		g.tau[0] = T(NAN);
	__syncthreads();

	for (int k = threadIdx.x / 32; k < g.n; k += WARPS)
		for (int r = threadIdx.x % 32; r < b.rows; r += 32) {
			const int i = b.row0 + r;
			T x = b.a[k * g.pitch + r];
			if (good && b.exponent[k] != 0 && i <= k)
				x = scalbn(x, b.exponent[k]);
			g.a[i + k * g.lda] = x;
		}
}

template <typename T>
int run(T *a, int64_t lda, int64_t m, int64_t n, T *tau,
        const struct panel_geqrf_geometry *geometry, void *work, cudaStream_t stream)
{
	struct panel<T> g = {
		a, lda, (int)m, (int)n, geometry->rows_per_block, geometry->rows_per_block + 1, tau,
		        (uint64_t *)work, NULL
	};
	g.error = (uint32_t *)((char *)work + geometry->work_bytes - 16);
	const void *kernel = (const void *)panel_kernel<T>;
	cudaError_t error = cudaFuncSetAttribute(
	        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)geometry->shared_bytes);
	if (error == cudaSuccess)
		error = cudaMemsetAsync(work, 0, (size_t)geometry->work_bytes, stream);
	if (error != cudaSuccess)
		return (int)error;
	void *arguments[] = {&g};
	return (int)cudaLaunchCooperativeKernel(kernel, dim3((unsigned)geometry->blocks),
	        dim3(THREADS), arguments, (size_t)geometry->shared_bytes, stream);
}

int64_t shared_bytes(int64_t rows, int64_t n, int64_t word)
{
	const int64_t columns = n <= 32 ? 32 : n <= 64 ? 64 : 128;
	return (n * (rows + 1) + 2 * rows + THREADS + 2 * columns) * word + columns * 4;
}

} // namespace

extern "C" struct panel_geqrf_geometry panel_geqrf_geometry(
        enum precision precision, int64_t m, int64_t n, int sm_count, int64_t shared_per_block)
{
	const int64_t word = precision_bytes(precision);
	struct panel_geqrf_geometry g = {0, 0, 0, 0};
	int64_t rows = (m + sm_count - 1) / sm_count;
	rows = rows < LEAST_ROWS ? LEAST_ROWS : (rows + 31) / 32 * 32;
	const int64_t shared = shared_bytes(rows, n, word);
	if (n < 1 || n > PANEL_GEQRF_COLUMNS || m < n || shared > shared_per_block)
		return g;
	g.blocks = (int)((m + rows - 1) / rows);
	g.rows_per_block = (int)rows;
	g.shared_bytes = shared;
	g.work_bytes = 2 * (int64_t)(g.blocks + 1) * n * 2 * word + 16;
	return g;
}

extern "C" int panel_geqrf(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, const struct panel_geqrf_geometry *geometry, void *work, void *stream)
{
	return precision == SINGLE ? run<float>((float *)a, lda, m, n, (float *)tau, geometry, work,
	                                     (cudaStream_t)stream)
	                           : run<double>((double *)a, lda, m, n, (double *)tau, geometry,
	                                     work, (cudaStream_t)stream);
}
