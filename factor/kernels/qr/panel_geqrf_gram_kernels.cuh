/* SPDX-License-Identifier: MIT */
/* The kernels of a panel by its Gram matrix that stream its rows, and the last one, in both
 * precisions (factor/kernels/qr/panel_geqrf_gram.cu, panel_geqrf_gram_double.cu). */
#pragma once

#include "lib/device/early_launch.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_gram_panel.cuh"

namespace
{

enum { SUM_BLOCKS = TILE_WORDS / 64, SUM_THREADS = 1024 };

/* A block's shared memory while rows stream through it: Y in the order of the lanes; for each
 * pair of warps the vectors of half a slab, and behind this a ring of slabs. */
template <typename T> struct stream_memory {
	double triangle[TILE_WORDS];
	half_slab<T> made[rows_in<T>::PAIRS];
};

template <int WIDTH, typename T>
__device__ __forceinline__ slab<WIDTH, T> *ring_of(
        const struct panel<T> &g, const struct seat_of_pair &t, struct stream_memory<T> &s)
{
	return (slab<WIDTH, T> *)(&s + 1) + t.pair * g.ring;
}

/* Slabs in a ring, as far as a block's shared memory has room for them: at least two. */
template <typename T, int WIDTH> static int ring_for(int64_t other_bytes)
{
	const int64_t slabs = (gpu_current()->shared_per_block - other_bytes) /
	                      (int64_t)(rows_in<T>::PAIRS * sizeof(slab<WIDTH, T>));
	return (int)max_int64(2, min_int64(slabs, slabs_ahead<WIDTH> + 1));
}

template <typename T, int WIDTH> static constexpr int64_t rings_bytes(int ring)
{
	return ring * (int64_t)(rows_in<T>::PAIRS * sizeof(slab<WIDTH, T>));
}

/* Stores the block's sums after all rows have been read. */
template <typename T>
__device__ __forceinline__ void store_sums(
        const struct panel<T> &g, const struct seat_of_pair &t, half_tiles &sum, double *memory)
{
	copy_wait<0>(); /* also for a block without rows */
	add_pairs<rows_in<T>::PAIRS>(
	        t, [&](int part) { return memory + part * TILE_WORDS; }, sum);
	if (t.pair == 0)
#pragma unroll
		for (int i = 0; i < HALF_TILES * 4; i++)
			g.partial[(int64_t)blockIdx.x * TILE_WORDS + word_of_half(t, i)] =
			        sum[i / 4][i % 4];
}

/* Starts the copies of a pair's first rows from `begin` on. */
template <int WIDTH, typename T>
__device__ __forceinline__ void start_parts(
        const struct panel<T> &g, const struct seat_of_pair &t, int64_t begin, slab<WIDTH, T> *ring)
{
#pragma unroll 1
	for (int k = 0; k < g.ring - 1; k++)
		start_slab<WIDTH>(g, t, part_of(g, t, begin, k), shifts_of(g, begin), ring[k]);
}

/* Calls the function with these rows and all later ones, slab by slab, when both warps have
 * them; the function is done with a slab when it returns. A pair without rows takes part in the
 * barriers of the others, because racecheck otherwise reports races across them. */
template <int WIDTH, typename T, typename function>
__device__ __forceinline__ void for_parts(const struct panel<T> &g, const struct seat_of_pair &t,
        int64_t begin, slab<WIDTH, T> *ring, const function &work)
{
	const int ahead = g.ring - 1;
	const struct shifts by = shifts_of(g, begin);
	struct part here = part_of(g, t, begin, 0);
	int slot = 0, next = ahead;
#pragma unroll 1
	for (int k = 0; here.most > 0; k++) {
		wait_for_slab<slabs_ahead<WIDTH>>(ahead);
		meet(t);
		start_slab<WIDTH>(g, t, part_of(g, t, begin, k + ahead), by, ring[next]);
		work(ring[slot], here);
		next = slot;
		slot = slot == ahead ? 0 : slot + 1;
		here = part_of(g, t, begin, k + 1);
	}
}

/* Adds F^T F of a slab, by one warp of a pair. */
template <int HALF, int WIDTH, typename T>
__device__ __forceinline__ void add_slab(const struct seat_of_pair &t, const struct part &p,
        const struct shifts &by, const slab<WIDTH, T> &rows, half_tiles &sum)
{
	if (sizeof(T) == sizeof(double) && by.any())
		accumulate_half<HALF, WIDTH, true>(sum, rows, p.rows, t.lane, by.of(t.lane / 4));
	else
		accumulate_half<HALF, WIDTH>(sum, rows, p.rows, t.lane);
}

/* A^T A of at most WIDTH columns. */
template <typename T, int WIDTH>
__global__ void __launch_bounds__(rows_in<T>::THREADS, 1) gram_kernel(const struct panel<T> g)
{
	extern __shared__ __align__(16) double memory[];
	struct stream_memory<T> &s = *(struct stream_memory<T> *)memory;
	const struct seat_of_pair t = take_seat_of_pair();
	const struct shifts by = shifts_of(g, 0);
	half_tiles sum = {};

	early_begin();
	slab<WIDTH, T> *ring = ring_of<WIDTH>(g, t, s);
	start_parts<WIDTH>(g, t, 0, ring);
	for_parts<WIDTH>(g, t, 0, ring, [&](const slab<WIDTH, T> &rows, const struct part &p) {
		if (t.half)
			add_slab<1, WIDTH, T>(t, p, by, rows, sum);
		else
			add_slab<0, WIDTH, T>(t, p, by, rows, sum);
	});
	store_sums(g, t, sum, memory);
}

/* A triangle (by rows), or the identity, in the order of the lanes. */
template <typename T>
__device__ __forceinline__ void spread(const double *from, bool done, double *triangle)
{
#pragma unroll 4
	for (int i = (int)threadIdx.x; i < TILE_WORDS; i += rows_in<T>::THREADS) {
		int row, column;
		vector_place_of(i, &row, &column);
		row = row / 8 * 8 + column_of_lane<T>(row % 4, row / 4 % 2);
		triangle[i] = done ? from[row * ORDER + column] : row == column;
	}
}

/* A pair's rows of V1, which are below the diagonal of A1 already. */
template <typename T>
__device__ __forceinline__ void take_top(
        const struct panel<T> &g, const struct seat_of_pair &t, int first, half_slab<T> &to)
{
#pragma unroll 4
	for (int e = t.thread; e < AT_ONCE * ORDER; e += 64) {
		const int row = first + e % AT_ONCE, column = e / AT_ONCE;
		const bool inside = row < g.n && column < g.n;
		const T value =
		        inside && row > column ? g.a[row + column * g.lda] : (T)(row == column);
		*element_of(to, column, e % AT_ONCE) = inside ? value : 0;
		if (inside && g.v)
			g.v[row + column * g.ldv] = value;
	}
}

/* The sums of V1^T V1, by one warp of a pair of the last block. */
template <int HALF, int WIDTH, typename T>
__device__ __forceinline__ void add_top(
        const struct panel<T> &g, const struct seat_of_pair &t, half_slab<T> &made, half_tiles &sum)
{
	if (blockIdx.x != gridDim.x - 1)
		return;
	if (AT_ONCE * t.pair < g.n)
		take_top(g, t, AT_ONCE * t.pair, made);
	meet(t);
	if (AT_ONCE * t.pair < g.n)
		accumulate_half<HALF, WIDTH>(sum, made, AT_ONCE, t.lane);
}

/* V2 = A2 Y and the sums of V^T V, by one warp of a pair. In double precision V1 comes last: its
 * ones are the largest terms, and every later sum would have their rounding error. */
template <int HALF, int WIDTH, typename T>
__device__ __forceinline__ void make_vectors(const struct panel<T> &g, const struct seat_of_pair &t,
        bool done, struct stream_memory<T> &s)
{
	half_slab<T> &made = s.made[t.pair];
	const bool top_last = sizeof(T) == sizeof(double);
	const struct shifts by = shifts_of(g, g.n);
	half_tiles sum = {};

	if (!top_last)
		add_top<HALF, WIDTH>(g, t, made, sum);
	for_parts<WIDTH>(g, t, g.n, ring_of<WIDTH>(g, t, s),
	        [&](const slab<WIDTH, T> &rows, const struct part &p) {
#pragma unroll 1
		        for (int i = 0; i < p.most; i += AT_ONCE) {
			        if (i > 0)
				        meet(t);
			        if (i < p.rows)
				        multiply_half<HALF, WIDTH, REPLACES>(
				                s.triangle, rows, i, made, t.lane, by);
			        meet(t);
			        if (i >= p.rows)
				        continue;
			        accumulate_half<HALF, WIDTH>(sum, made, AT_ONCE, t.lane);
			        if (done)
				        store_half<WIDTH, T>(g, t, made, p.first + i);
			        if (g.v)
				        store_half<WIDTH, T>(
				                {g.v, g.ldv, g.m, g.n}, t, made, p.first + i);
		        }
	        });
	if (top_last) {
		meet(t);
		add_top<HALF, WIDTH>(g, t, made, sum);
	}
	store_sums(g, t, sum, (double *)&s);
}

/* V and V^T V of at most WIDTH columns. */
template <typename T, int WIDTH>
__global__ void __launch_bounds__(rows_in<T>::THREADS, 1) vectors_kernel(const struct panel<T> g)
{
	extern __shared__ __align__(16) double memory[];
	struct stream_memory<T> &s = *(struct stream_memory<T> *)memory;
	const struct seat_of_pair t = take_seat_of_pair();

	early_begin();
	start_parts<WIDTH>(g, t, g.n, ring_of<WIDTH>(g, t, s));
	const bool done = *g.done;
	spread<T>(g.y, done, s.triangle);
	__syncthreads();
	if (t.half)
		make_vectors<1, WIDTH>(g, t, done, s);
	else
		make_vectors<0, WIDTH>(g, t, done, s);
}

/* The sum of one of 64 columns of `part`. In double precision by pairs: tau has the error of its
 * vector's squared norm. */
template <typename T> __device__ __forceinline__ double add_column(const double *part, double sum)
{
	enum { LEVELS = 4, COUNT = 1 << LEVELS };
	static_assert((int)COUNT == SUM_THREADS / 64, "all of the column");
	if constexpr (sizeof(T) == sizeof(double)) {
		double of[COUNT];
#pragma unroll
		for (int i = 0; i < COUNT; i++)
			of[i] = part[64 * i];
#pragma unroll
		for (int level = 0; level < LEVELS; level++)
#pragma unroll
			for (int i = 0; i < COUNT; i += 2 << level)
				of[i] += of[i + (1 << level)];
		return of[0];
	} else {
		for (int i = 1; i < COUNT; i++)
			sum += part[64 * i];
		return sum;
	}
}

/* The sum over the blocks. */
template <typename T>
__global__ void __launch_bounds__(SUM_THREADS) sum_kernel(const struct panel<T> g)
{
	__shared__ double part[SUM_THREADS];
	const int element = (int)blockIdx.x * 64 + (int)threadIdx.x % 64;
	double sum = 0;

	early_begin();
	if (g.idle && *g.idle)
		return;
#pragma unroll 8
	for (int b = (int)threadIdx.x / 64; b < g.blocks; b += SUM_THREADS / 64)
		sum += g.partial[(int64_t)b * TILE_WORDS + element];
	part[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= 64)
		return;
	sum = add_column<T>(part + threadIdx.x, sum);
	int i, j;
	place_of(element, &i, &j);
	if (i <= j)
		g.sums[i * ORDER + j] = g.sums[j * ORDER + i] = sum;
}

/* From V^T V: T, and tau unless it is known. */
template <typename T>
__global__ void __launch_bounds__(SIDE *SIDE) finish_kernel(const struct panel<T> g)
{
	extern __shared__ double memory[];
	struct triangles &s = *(struct triangles *)memory;
	__shared__ bool nothing[ORDER];

	early_begin();
	const bool done = *g.done;
	make_t(s, nothing, g.n, done, g.tau, [&](int i, int j) { return g.sums[i * ORDER + j]; });
	store_t(s, nothing, g.n, done, g.a, g.lda, g.t, g.ldt);
}

/* ---- launches ---- */

template <typename T>
static struct panel<T> panel_of(T *a, int64_t lda, int64_t m, int64_t n, T *tau, int *done,
        const struct block_reflector *r, void *work) {
	double *room = (double *)work + 2; /* *done may be the caller's word */
	const int blocks = gram_blocks_for(m, rows_in<T>::PAIRS, gpu_current()->sm_count);
	struct panel<T> g = {
		{a, lda, m, (int)n}, tau, done, room, room + ORDER *ORDER, room + 2 * ORDER *ORDER,
		        blocks, 0, NULL, NULL, 0, 0, NULL
	};
	if (r) {
		g.v = (T *)r->v;
		g.ldv = r->ldv;
		g.t = (T *)r->t;
		g.ldt = r->ldt;
	}
	return g;
}

/* A kernel through which the rows of at most WIDTH columns stream. `memory`: bytes of shared memory
 * beside the rings. */
template <int WIDTH, typename T, typename stream_panel>
static cudaError_t launch_stream(
        void (*kernel)(const stream_panel), int64_t memory, stream_panel g, void *stream)
{
	g.ring = ring_for<T, WIDTH>(memory);
	return early_launch(kernel, g.blocks, rows_in<T>::THREADS,
	        memory + rings_bytes<T, WIDTH>(g.ring), g, stream);
}

/* The sums of A^T A; summed: each block's sums are there. */
template <int WIDTH, typename T>
static cudaError_t launch_gram(const struct panel<T> &g, bool summed, void *stream)
{
	cudaError_t error = summed ? cudaSuccess
	                           : launch_stream<WIDTH, T>(gram_kernel<T, WIDTH>,
	                                     sizeof(struct stream_memory<T>), g, stream);
	if (error == cudaSuccess)
		error = early_launch(sum_kernel<T>, SUM_BLOCKS, SUM_THREADS, 0, g, stream);
	return error;
}

/* V, T and tau. */
template <int WIDTH, typename T>
static cudaError_t launch_vectors(const struct panel<T> &g, void *stream)
{
	cudaError_t error = launch_stream<WIDTH, T>(
	        vectors_kernel<T, WIDTH>, sizeof(struct stream_memory<T>), g, stream);
	if (error == cudaSuccess)
		error = early_launch(sum_kernel<T>, SUM_BLOCKS, SUM_THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = early_launch(
		        finish_kernel<T>, 1, SIDE * SIDE, sizeof(struct triangles), g, stream);
	return error;
}

template <typename T> static cudaError_t launch_end(const struct panel<T> &g, void *stream)
{
	return g.n <= GRAM_NARROW ? launch_vectors<GRAM_NARROW>(g, stream)
	                          : launch_vectors<ORDER>(g, stream);
}

} // namespace
