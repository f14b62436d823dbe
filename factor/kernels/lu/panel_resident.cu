/* SPDX-License-Identifier: MIT */
/* The persistent LU panel: one cooperative kernel; every block holds its rows in shared memory; one
 * exchange per column.
 *
 * Cost: load and store of m*n words; per column one exchange (store to L2, poll, dependent read:
 * lib/device/exchange.cuh), two block barriers and a search of the block's rows. The rank-1 update
 * overlaps the exchange.
 *
 * After rocHPL's pdpanrlN: the whole candidate row travels, so the winner needs no further
 * communication, and it is published before the trailing update of its column, which is updated
 * first. The row that the pivot displaces travels in an extra record from block 0, which owns the
 * first n rows. */
#include "lib/base/base.h"
#include "lib/device/current.h"
#include "lib/device/exchange.cuh"
#include "lib/device/reduce.cuh"
#include "factor/kernels/blocks/shared_update.cuh"
#include "lib/device/clock.cuh"
#include "panel_kernels.h"
#include "pivot_divide.cuh"

namespace
{

const int WARPS = PANEL_COMPUTE_THREADS / 32; /* compute warps; one more warp exchanges */

static_assert(sizeof(extreme_scratch<uint64_t>) + 16 <= PANEL_STATIC_BYTES,
        "resident_kernel's variables in shared memory");

template <typename T> struct panel {
	T *a;
	int64_t lda;
	int m, n, rows_per_block, pitch;
	int *pivots;
	struct exchange x;
	struct gpu_span *span; /* time span of the columns, or NULL */
};

/* The division of work inside a block: warps take chunks of 32 rows. With fewer chunks than warps
 * several warps share a chunk, each with its own quads of columns. The first warp of a chunk
 * (front) does the serial part of a column. */
struct share {
	int warp, lane, first_chunk, chunk_step, chunks, group;
	int groups; /* a power of two */
	bool computes, front;
};

__device__ struct share share_of(int rows_per_block)
{
	struct share s;
	s.warp = threadIdx.x / 32;
	s.lane = threadIdx.x & 31;
	s.chunks = rows_per_block / 32;
	s.groups = s.chunks < WARPS ? WARPS / s.chunks : 1;
	s.group = s.chunks < WARPS ? s.warp / s.chunks : 0;
	s.first_chunk = s.chunks < WARPS ? s.warp % s.chunks : s.warp;
	s.chunk_step = s.chunks < WARPS ? s.chunks : WARPS;
	s.computes = s.warp < WARPS && s.group < s.groups;
	s.front = s.computes && s.group == 0;
	return s;
}

__device__ bool owns_row(const struct share &s, int row)
{
	return s.computes && (row / 32 & (WARPS - 1)) == s.first_chunk;
}

template <typename T> __device__ void store_value(uint64_t *record, int c, T value, uint32_t tag);

template <> __device__ void store_value<float>(uint64_t *record, int c, float value, uint32_t tag)
{
	exchange_store(record + c, __float_as_uint(value), tag);
}

template <> __device__ void store_value<double>(uint64_t *record, int c, double value, uint32_t tag)
{
	uint64_t bits = (uint64_t)__double_as_longlong(value);
	exchange_store(record + 2 * c, (uint32_t)bits, tag);
	exchange_store(record + 2 * c + 1, (uint32_t)(bits >> 32), tag);
}

/* Publishes a local row as updated up to column k (columns k + 2 and up still lack that update),
 * then the divisor of column k + 1 if the row becomes its pivot, computed while the keys travel,
 * and the row's number. */
template <typename T>
__device__ void publish_row(const panel<T> &g, const struct share &s, const T *a, const T *p,
        int row, int global_row, int k, uint64_t *record, uint32_t tag)
{
	T l = k >= 0 ? a[k * g.pitch + row] : T(0);
#pragma unroll 1
	for (int c = s.lane; c < g.n; c += 32) {
		if ((c / 4 & (s.groups - 1)) != s.group)
			continue;
		T value = a[c * g.pitch + row];
		if (k >= 0 && c >= k + 2)
			value = minus_product(value, l, p[c]);
		store_value(record, c, value, tag);
		if (c == k + 1)
			store_value(record, g.n, pivot_divide_by(value).reciprocal, tag);
	}
	if (s.front && s.lane == 0)
		exchange_store(record + g.x.words - 1, (uint32_t)global_row, tag);
}

/* Loads the block's rows into shared memory: a warp takes 32 rows of a column at a time,
 * PANEL_LOADS loads in flight. */
template <typename T>
__device__ void load_rows(const panel<T> &g, const struct share &s, T *a, int row0, int rows)
{
	const int pieces = (g.n - s.warp + WARPS - 1) / WARPS * s.chunks;
	for (int first = 0; first < pieces; first += PANEL_LOADS) {
		T value[PANEL_LOADS];
#pragma unroll
		for (int i = 0; i < PANEL_LOADS; i++) {
			int c = s.warp + (first + i) / s.chunks * WARPS;
			int r = (first + i) % s.chunks * 32 + s.lane;
			if (c < g.n && r < rows)
				value[i] = g.a[row0 + r + c * g.lda];
		}
#pragma unroll
		for (int i = 0; i < PANEL_LOADS; i++) {
			int c = s.warp + (first + i) / s.chunks * WARPS;
			int r = (first + i) % s.chunks * 32 + s.lane;
			if (c < g.n && r < rows)
				a[c * g.pitch + r] = value[i];
		}
	}
}

template <typename T, bool updates>
__global__ void __launch_bounds__(PANEL_COMPUTE_THREADS + 32) resident_kernel(const panel<T> g)
{
	typedef decltype(magnitude_key(T())) key_type;
	extern __shared__ __align__(16) unsigned char memory[];
	const int n4 = panel_kept_words(g.n);
	T *pivot_rows = (T *)memory; /* two, used in turns */
	T *top_row = (T *)memory + 2 * n4;
	T *a = top_row + n4;
	__shared__ extreme_scratch<key_type> scratch;
	__shared__ int swap_row; /* local row that the displaced row moves to, or -1 */
	__shared__ bool failed;

	const struct share s = share_of(g.rows_per_block);
	const int row0 = blockIdx.x * g.rows_per_block;
	const int rows = min(g.rows_per_block, g.m - row0);
	int info = 0;

	if (s.warp < WARPS)
		load_rows(g, s, a, row0, rows);
	if (threadIdx.x == 0)
		failed = false;
	__syncthreads();

	struct gpu_span span;
	if (!updates)
		span_start(&span);
	for (int k = -1; k < g.n; k++) {
		T *p = pivot_rows + (k & 1) * n4;
		const uint32_t tag = g.x.tag + (uint32_t)k;

		if (k >= 0) {
			/* the exchange warp gets the pivot row of column k */
			if (s.warp == WARPS) {
				int winner = exchange_wait<key_type>(g.x, tag);
				bool mine = winner == (int)blockIdx.x;
				bool ok = winner >= 0 &&
				          exchange_read(g.x, tag, winner, (uint32_t *)p,
				                  mine ? (uint32_t *)top_row : NULL);
				__syncwarp();
				int pivot = ((int *)p)[g.x.words - 1];
				if (s.lane == 0) {
					failed = !ok;
					swap_row = mine && pivot != k ? pivot - row0 : -1;
				}
			}
			__syncthreads();
			if (failed)
				return;
			if (blockIdx.x == 0 && threadIdx.x == 32 * WARPS) {
				g.pivots[k] = ((const int *)p)[g.x.words - 1] + 1;
				if (p[k] == T(0) && info == 0)
					info = k + 1;
			}
			if (s.front) {
				if (swap_row >= 0 && owns_row(s, swap_row))
					for (int c = s.lane; c < g.n; c += 32)
						a[c * g.pitch + swap_row] = top_row[c];
				if (blockIdx.x == 0 && owns_row(s, k))
					for (int c = s.lane; c < g.n; c += 32)
						a[c * g.pitch + k] = p[c];
				__syncwarp();
			}
		}

		/* column k is divided by the pivot; column k + 1 is updated and searched */
		extreme<key_type> best = {0, NO_INDEX};
		if (s.front) {
			const pivot_divisor<T> d = {p[g.n], p[max(k, 0)]};
#pragma unroll 1
			for (int chunk = s.first_chunk; chunk < s.chunks; chunk += s.chunk_step) {
				int r = 32 * chunk + s.lane;
				if (r >= rows || row0 + r <= k)
					continue;
				T *here = a + r, value = T(0);
				if (k + 1 < g.n)
					value = here[(k + 1) * g.pitch];
				if (k >= 0) {
					T l = pivot_divide(here[k * g.pitch], d);
					here[k * g.pitch] = l;
					if (k + 1 < g.n) {
						value = minus_product(value, l, p[k + 1]);
						here[(k + 1) * g.pitch] = value;
					}
				}
				best = extreme_of(best, {magnitude_key(value), (uint32_t)r});
			}
		}
		if (k + 1 == g.n)
			break;

		/* publishes the block's candidate for column k + 1 with its row */
		best = block_extreme(best, &scratch, k & 1);
		const int row = (int)best.index;
		if (s.warp == WARPS && s.lane == 0)
			exchange_publish(g.x, tag + 1, best.key);
		if (owns_row(s, row))
			publish_row(g, s, a, p, row, row0 + row, k,
			        exchange_record_slot(g.x, tag + 1, blockIdx.x), tag + 1);
		if (blockIdx.x == 0 && owns_row(s, k + 1))
			publish_row(g, s, a, p, k + 1, k + 1, k,
			        exchange_record_slot(g.x, tag + 1, g.x.blocks), tag + 1);
		__syncwarp();

		/* the rest of the update overlaps the exchange */
		if (updates && k >= 0 && s.computes)
#pragma unroll 1
			for (int chunk = s.first_chunk; chunk < s.chunks; chunk += s.chunk_step) {
				int r = 32 * chunk + s.lane;
				if (r < rows && row0 + r > k)
					shared_update(a + r, g.pitch, p, a[k * g.pitch + r], k + 2,
					        g.n, s.group, s.groups);
			}
	}
	__syncthreads();

	if (!updates) {
		span_stop(&span);
		if (blockIdx.x == 0 && threadIdx.x == 0)
			*g.span = span;
	}

	if (blockIdx.x == 0 && s.warp == WARPS && s.lane == 0)
		g.pivots[g.n] = info;
	if (s.warp < WARPS)
		for (int c = s.warp; c < g.n; c += WARPS)
			for (int r = s.lane; r < rows; r += 32)
				g.a[row0 + r + c * g.lda] = a[c * g.pitch + r];
}

template <typename T, bool updates>
int launch(panel<T> g, const struct panel_geometry *geometry, void *stream)
{
	const void *kernel = (const void *)resident_kernel<T, updates>;
	const int error = kernel_allow_shared(kernel);
	if (error)
		return error;
	void *arguments[] = {&g};
	return (int)cudaLaunchCooperativeKernel(kernel, dim3((unsigned)geometry->blocks),
	        dim3(PANEL_COMPUTE_THREADS + 32), arguments, (size_t)geometry->dynamic_bytes,
	        (cudaStream_t)stream);
}

template <typename T>
int run(void *a, int64_t lda, int64_t m, int64_t n, const struct panel_geometry *geometry,
        struct exchange exchange, int *pivots, struct gpu_span *span, void *stream)
{
	panel<T> g = {(T *)a, lda, (int)m, (int)n, (int)geometry->rows_per_block,
	        (int)geometry->pitch, pivots, exchange, span};
	return span ? launch<T, false>(g, geometry, stream) : launch<T, true>(g, geometry, stream);
}

} // namespace

extern "C" int panel_resident_columns(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, const struct panel_geometry *geometry, struct exchange exchange, int *pivots,
        struct gpu_span *span, void *stream)
{
	return precision == SINGLE
	               ? run<float>(a, lda, m, n, geometry, exchange, pivots, span, stream)
	               : run<double>(a, lda, m, n, geometry, exchange, pivots, span, stream);
}

extern "C" int panel_resident(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        const struct panel_geometry *geometry, struct exchange exchange, int *pivots, void *stream)
{
	return panel_resident_columns(
	        precision, a, lda, m, n, geometry, exchange, pivots, NULL, stream);
}
