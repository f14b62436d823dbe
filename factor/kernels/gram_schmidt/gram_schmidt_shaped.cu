/* SPDX-License-Identifier: MIT */
/* The kernels of Brandes, Arnold, Soddemann and Reith (2012, Listings 4 to 7): blocks of NX x NY
 * threads, of which NX threads process each of NY columns. direct: every thread reads its
 * elements of q itself; shared: the first NX threads copy them to shared memory for all NY
 * columns; wide: direct with 16 bytes an access. The norm goes with the dot products, and both
 * scalings are one kernel. Dot products end in Listing 6's tree, with shuffles within a warp;
 * atomic: direct with the atomic additions that the paper rejects for the tree.
 *
 * The paper's shared memory is written again while other threads may still read it; here it has
 * two halves. Each thread of direct and wide has SHAPED_UNROLL accesses in flight, because one
 * access a thread does not saturate memory.
 *
 * Cost: dot products read m words a column; the update reads and writes m. q comes from L2 once
 * a block, or from L1. */
#include "lib/base/base.h"
#include "gram_schmidt_kernels.h"
#include "gram_schmidt_finish.cuh"
#include "lib/device/launch_bounds.cuh"
#include "lib/device/reduce.cuh"

#include <cuda_runtime.h>

namespace
{

const int SCALE_THREADS = 256, WARP = 32;

/* Iterations of a thread in one partial sum: one long sum would lose more accuracy than the
 * other forms. */
const int TURNS = 8;

template <typename T> struct shaped {
	T *a, *r;
	const T *norms;
	int64_t m, n, lda, ldr, j;
	double dependent;
	int64_t first;
	int *info;
};

template <typename T, int V> struct alignas(sizeof(T) * V) words {
	T v[V];
};

/* A thread's part of a column from row `at` on, in steps; with EDGE, zeros from `whole` on. */
template <typename T, int V, bool EDGE> struct strip {
	words<T, V> x[SHAPED_UNROLL];

	__device__ __forceinline__ void load(
	        const T *column, int64_t at, int64_t step, int64_t whole)
	{
#pragma unroll
		for (int u = 0; u < SHAPED_UNROLL; u++)
			x[u] = !EDGE || at + u * step < whole
			               ? *(const words<T, V> *)(column + at + u * step)
			               : words<T, V>{};
	}

	__device__ __forceinline__ void store(
	        T *column, int64_t at, int64_t step, int64_t whole) const
	{
#pragma unroll
		for (int u = 0; u < SHAPED_UNROLL; u++)
			if (!EDGE || at + u * step < whole)
				*(words<T, V> *)(column + at + u * step) = x[u];
	}

	__device__ __forceinline__ T dot(const strip &q) const
	{
		T sum = T(0);
#pragma unroll
		for (int u = 0; u < SHAPED_UNROLL; u++)
#pragma unroll
			for (int i = 0; i < V; i++)
				sum += x[u].v[i] * q.x[u].v[i];
		return sum;
	}

	__device__ __forceinline__ void subtract(T factor, const strip &q)
	{
#pragma unroll
		for (int u = 0; u < SHAPED_UNROLL; u++)
#pragma unroll
			for (int i = 0; i < V; i++)
				x[u].v[i] -= factor * q.x[u].v[i];
	}
};

/* ---- dot products ---- */

template <typename T, int V, bool EDGE>
static __device__ __forceinline__ T dot_strip(
        const T *q, const T *column, int64_t at, int64_t step, int64_t whole)
{
	strip<T, V, EDGE> x, y;
	x.load(column, at, step, whole);
	y.load(q, at, step, whole);
	return x.dot(y);
}

/* kept: the thread's own word of shared memory, which costs no register. Steps are powers of two.
 */
template <typename T, int V>
static __device__ __forceinline__ T dot_direct(const T *q, const T *column, int64_t m, T *kept)
{
	const int64_t whole = m / V * V, step = (int64_t)blockDim.x * V;
	const int64_t turn = SHAPED_UNROLL * step;
	int64_t at = (int64_t)threadIdx.x * V;
	T sum = T(0);
	*kept = T(0);
	for (; at + (SHAPED_UNROLL - 1) * step < whole; at += turn) {
		if (((uint32_t)at & (TURNS * (uint32_t)turn - 1)) < (uint32_t)turn) {
			*kept += sum;
			sum = T(0);
		}
		sum += dot_strip<T, V, false>(q, column, at, step, whole);
	}
	if (at < whole)
		sum += dot_strip<T, V, true>(q, column, at, step, whole);
	for (at = whole + threadIdx.x; V > 1 && at < m; at += blockDim.x)
		sum += column[at] * q[at];
	return *kept + sum;
}

/* piece: two of blockDim.x words */
template <typename T>
static __device__ __forceinline__ T dot_shared(
        const T *q, const T *column, int64_t m, bool mine, T *piece)
{
	const int64_t nx = blockDim.x;
	T sum = T(0), all = T(0);
	for (int64_t base = 0, turn = 1; base < m; base += nx, turn++) {
		const int64_t row = base + threadIdx.x;
		T *half = piece + (turn % 2) * nx + threadIdx.x;
		if (threadIdx.y == 0 && row < m)
			*half = q[row];
		__syncthreads();
		if (mine && row < m)
			sum += *half * column[row];
		if (turn % (SHAPED_UNROLL * TURNS) == 0) {
			all += sum;
			sum = T(0);
		}
	}
	return all + sum;
}

/* The sum over a column's threads, in the first of them; at: the thread's word of shared memory. */
template <typename T> static __device__ __forceinline__ T column_sum(T mine, T *at)
{
	*at = mine;
	for (unsigned half = blockDim.x / 2; half >= WARP; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			*at += at[half];
	}
	return threadIdx.x < WARP ? warp_sum(*at) : T(0);
}

/* The same by atomic additions to the word of the column's first thread, `first`. */
template <typename T> static __device__ __forceinline__ T column_added(T mine, T *first)
{
	if (threadIdx.x == 0)
		*first = mine;
	__syncthreads();
	if (threadIdx.x > 0)
		atomicAdd(first, mine);
	__syncthreads();
	return *first;
}

template <typename T> static __device__ T norm_of(const struct shaped<T> &p, T square)
{
	if (!is_dependent(square, p.norms[p.j], p.dependent))
		return sqrt(square);
	note_dependent(p.info, (int)(p.first + p.j + 1));
	return T(0);
}

template <typename T, int V, bool SHARED, bool ATOMIC>
__global__ void __launch_bounds__(SHAPED_THREADS, sm_blocks(SHAPED_THREADS, V == 1 ? 2 : 1))
        dots_kernel(const struct shaped<T> p)
{
	extern __shared__ __align__(16) unsigned char memory[];
	T *sums = (T *)memory, *piece = sums + blockDim.x * blockDim.y;
	T *own = sums + threadIdx.y * blockDim.x + threadIdx.x;
	const int64_t k = p.j + (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
	const T *q = p.a + p.j * p.lda, *column = p.a + k * p.lda;
	T sum = T(0);
	if (SHARED)
		sum = dot_shared(q, column, p.m, k < p.n, piece);
	else if (k < p.n)
		sum = dot_direct<T, V>(q, column, p.m, own);
	sum = ATOMIC ? column_added(sum, own - threadIdx.x) : column_sum(sum, own);
	if (threadIdx.x == 0 && k < p.n)
		p.r[p.j + k * p.ldr] = k == p.j ? norm_of(p, sum) : sum;
}

/* ---- scalings ---- */

template <typename T>
__global__ void __launch_bounds__(SCALE_THREADS) scale_kernel(const struct shaped<T> p)
{
	const int64_t i = (int64_t)blockIdx.x * SCALE_THREADS + threadIdx.x, k = p.j + 1 + i;
	const T norm = p.r[p.j + p.j * p.ldr];
	T *element = p.a + i + p.j * p.lda, *factor = p.r + p.j + k * p.ldr;
	if (i < p.m)
		*element = norm == T(0) ? T(0) : *element / norm;
	if (k < p.n)
		*factor = norm == T(0) ? T(0) : *factor / norm;
}

/* ---- orthogonalization ---- */

template <typename T, int V>
static __device__ __forceinline__ void update_direct(const T *q, T *column, int64_t m, T factor)
{
	const int64_t whole = m / V * V, step = (int64_t)blockDim.x * V;
	int64_t at = (int64_t)threadIdx.x * V;
	/* EDGE for all rows: the compiler then issues more loads ahead of their use */
	for (; at < whole; at += SHAPED_UNROLL * step) {
		strip<T, V, true> x, y;
		x.load(column, at, step, whole);
		y.load(q, at, step, whole);
		x.subtract(factor, y);
		x.store(column, at, step, whole);
	}
	for (at = whole + threadIdx.x; V > 1 && at < m; at += blockDim.x)
		column[at] -= factor * q[at];
}

/* factor: blockDim.y words; piece: two of blockDim.x */
template <typename T>
static __device__ __forceinline__ void update_shared(
        const T *q, T *column, int64_t m, bool mine, const T *factor, T *piece)
{
	const int64_t nx = blockDim.x;
	for (int64_t base = 0, turn = 0; base < m; base += nx, turn ^= 1) {
		const int64_t row = base + threadIdx.x;
		if (threadIdx.y == 0 && row < m)
			piece[turn * nx + threadIdx.x] = q[row];
		__syncthreads();
		if (mine && row < m)
			column[row] -= factor[threadIdx.y] * piece[turn * nx + threadIdx.x];
	}
}

template <typename T, int V, bool SHARED>
__global__ void __launch_bounds__(SHAPED_THREADS, sm_blocks(SHAPED_THREADS, V == 1 ? 2 : 1))
        update_kernel(const struct shaped<T> p)
{
	extern __shared__ __align__(16) unsigned char memory[];
	T *factor = (T *)memory, *piece = factor + blockDim.y;
	const int64_t k = p.j + 1 + (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
	const T *q = p.a + p.j * p.lda;
	T *column = p.a + k * p.lda;
	if (!SHARED) {
		if (k < p.n)
			update_direct<T, V>(q, column, p.m, p.r[p.j + k * p.ldr]);
		return;
	}
	if (threadIdx.x == 0 && k < p.n)
		factor[threadIdx.y] = p.r[p.j + k * p.ldr];
	update_shared(q, column, p.m, k < p.n, factor, piece);
}

/* ---- launches ---- */

template <typename T>
void launch_dots(const struct shaped<T> &p, struct gram_shape s, bool wide, cudaStream_t stream)
{
	const dim3 block((unsigned)s.nx, (unsigned)s.ny);
	const unsigned grid = (unsigned)((p.n - p.j + s.ny - 1) / s.ny);
	const size_t words = (size_t)s.nx * s.ny + (s.access == GRAM_SHARED ? 2 * s.nx : 0);
	if (s.access == GRAM_SHARED)
		dots_kernel<T, 1, true, false><<<grid, block, words * sizeof(T), stream>>>(p);
	else if (s.access == GRAM_ATOMIC)
		dots_kernel<T, 1, false, true><<<grid, block, words * sizeof(T), stream>>>(p);
	else if (wide)
		dots_kernel<T, 16 / sizeof(T), false, false>
		        <<<grid, block, words * sizeof(T), stream>>>(p);
	else
		dots_kernel<T, 1, false, false><<<grid, block, words * sizeof(T), stream>>>(p);
}

template <typename T>
void launch_update(const struct shaped<T> &p, struct gram_shape s, bool wide, cudaStream_t stream)
{
	const dim3 block((unsigned)s.nx, (unsigned)s.ny);
	const unsigned grid = (unsigned)((p.n - p.j - 1 + s.ny - 1) / s.ny);
	const size_t bytes = (size_t)(s.ny + 2 * s.nx) * sizeof(T);
	if (grid == 0)
		return;
	if (s.access == GRAM_SHARED)
		update_kernel<T, 1, true><<<grid, block, bytes, stream>>>(p);
	else if (wide)
		update_kernel<T, 16 / sizeof(T), false><<<grid, block, 0, stream>>>(p);
	else
		update_kernel<T, 1, false><<<grid, block, 0, stream>>>(p);
}

template <typename T>
int start(enum gram_step step, const struct gram_schmidt *g, int64_t j, cudaStream_t stream)
{
	const struct shaped<T> p = {
		(T *)matrix_address(g->a), (T *)matrix_address(g->r),
		        (const T *)matrix_address(g->norms), g->a.m, g->a.n, g->a.ld, g->r.ld, j,
		        g->dependent, g->first, g->info
	};
	const bool wide = g->shape.access == GRAM_WIDE && aligned<T>(g);
	const int64_t longest = p.m > p.n ? p.m : p.n;
	if (step == GRAM_DOTS)
		launch_dots(p, g->shape, wide, stream);
	else if (step == GRAM_SCALE)
		scale_kernel<<<(unsigned)((longest + SCALE_THREADS - 1) / SCALE_THREADS),
		        SCALE_THREADS, 0, stream>>>(p);
	else
		launch_update(p, g->shape, wide, stream);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int gram_schmidt_shaped(
        enum gram_step step, const struct gram_schmidt *g, int64_t j, void *stream)
{
	if (!gram_shape_allowed(g->shape))
		return (int)cudaErrorInvalidValue;
	return g->a.precision == SINGLE ? start<float>(step, g, j, (cudaStream_t)stream)
	                                : start<double>(step, g, j, (cudaStream_t)stream);
}
