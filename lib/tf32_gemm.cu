/* SPDX-License-Identifier: MIT */
/* A block of two warpgroups has 128 x 128 of C, 64 x 128 each in registers. The inner dimension
 * goes by 32: A arrives in shared memory as it is, is split by those who multiply with it and stays
 * in registers; B arrives in registers, is split and goes to shared memory, both parts, in the
 * order that products read. While the products of one step run the operands of the next one are on
 * their way. After TF32_PIECE of the inner dimension the sums are added to C.
 *
 * Cost: of a tile, 3 x 128 x 128 k multiply-adds; in shared memory, of a step of 32, 96 KiB read by
 * the products, 32 KiB of B written, 16 KiB of A written and read: 5/6 of the time that the
 * products take at the tensor cores' full rate. Two blocks on a multiprocessor hide what each of
 * them waits for. */
#include "tf32_gemm.h"

#include "tf32.h"
#include "warpgroup.cuh"

#include <cuda_pipeline_primitives.h>

namespace
{

const int TILE = 128, STEP = 32, THREADS = 256;
const int PITCH_ROWS = STEP + 4;    /* of A by rows: a row's words lie together */
const int PITCH_COLUMNS = TILE + 8; /* by columns */
const int A_WORDS = TILE * PITCH_ROWS;
const int B_WORDS = TILE * STEP; /* of one part */
const int SLAB_WORDS = TILE * WARPGROUP_DEPTH;
const int LOADS = TILE * STEP / THREADS / 4; /* quads of a thread */
const int SHARED_BYTES = (2 * A_WORDS + 4 * B_WORDS) * 4;

struct product {
	const float *a, *b;
	float *c;
	int64_t lda, ldb, ldc, m, n, k;
	float alpha, beta;
	enum gemm_part part;
	int row_tiles;
};

#ifdef HAVE_WARPGROUP

/* x = high + low but for 2^-22 of it: as in tf32.h, in few instructions. The units cut off what is
 * behind the 11 bits, so that what is to be rounded only needs half of the last one added: to high
 * as an integer, to low as a factor, which leaves NaN alone, where high has lost it. Of infinite x,
 * and of those that high would round to infinity, low is not finite: so is the result. */
__device__ __forceinline__ void split(float x, uint32_t &high, uint32_t &low)
{
	high = (__float_as_uint(x) + 0x1000) & 0xffffe000;
	low = __float_as_uint((x - __uint_as_float(high)) * (1 + 0x1p-12f));
}

__device__ __forceinline__ int at_most(int64_t n, int most)
{
	return n < most ? (int)n : most;
}

/* The words of a quad of which `left` words are there. */
__device__ __forceinline__ int words_of(int left)
{
	return min(max(left, 0), 4);
}

/* A's rows from the tile's first on, or B's columns: where the thread's first element of the first
 * step is, and how many there are in the tile. */
struct operand {
	const float *from;
	int64_t ld;
	int count;
};

/* 16 bytes to shared memory, of which `words` words are read and the others become 0. */
__device__ __forceinline__ void copy_quad(uint32_t to, const float *from, int words)
{
	asm volatile(
	        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(4 * words)
	        : "memory");
}

/* The thread's quad number q of A is of row 32 q + thread / 8 and four inner indices, or of four
 * rows and inner index 8 q + thread / 32. */
template <bool TA>
__device__ __forceinline__ struct operand operand_a(const struct product &p, int64_t i0)
{
	const int t = threadIdx.x, i = TA ? t / 8 : t % 32 * 4, k = TA ? t % 8 * 4 : t / 32;
	return {p.a + (TA ? k + (i0 + i) * p.lda : i0 + i + k * p.lda), p.lda,
	        at_most(p.m - i0, TILE)};
}

/* Starts the thread's part of A on its way: `left` of the inner indices are there. */
template <bool TA>
__device__ __forceinline__ void fetch_a(const struct operand &a, int left, float *to)
{
	const int t = threadIdx.x, i = TA ? t / 8 : t % 32 * 4, k = TA ? t % 8 * 4 : t / 32;
	const int words = words_of(TA ? left - k : a.count - i);
	const float *from = a.from;
	uint32_t at = (uint32_t)__cvta_generic_to_shared(to) +
	              4 * (TA ? i * PITCH_ROWS + k : k * PITCH_COLUMNS + i);
#pragma unroll
	for (int q = 0; q < LOADS; q++) {
		const bool inside = TA ? i + 32 * q < a.count : k + 8 * q < left;
		copy_quad(at, from, inside ? words : 0);
		at += 4 * (TA ? 32 * PITCH_ROWS : 8 * PITCH_COLUMNS);
		from += inside ? (TA ? 32 : 8) * a.ld : 0;
	}
	__pipeline_commit();
}

/* The thread's quad number q of B: its column, and the first of its four inner indices. */
template <bool TB> __device__ __forceinline__ int quad_column(int q)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	return TB ? lane + 32 * q : warp * 16 + q % 2 * 8 + lane % 8;
}

template <bool TB> __device__ __forceinline__ int quad_depth(int q)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	return TB ? 4 * warp : q / 2 * 16 + lane / 8 * 4;
}

template <bool TB>
__device__ __forceinline__ struct operand operand_b(const struct product &p, int64_t j0)
{
	const int64_t j = j0 + quad_column<TB>(0);
	const int k = quad_depth<TB>(0);
	return {p.b + (TB ? j + k * p.ldb : k + j * p.ldb), p.ldb, at_most(p.n - j0, TILE)};
}

/* Loads that stay where they are written: long before they are needed. */
__device__ __forceinline__ void load_word(float &x, const float *from, bool inside)
{
	asm volatile("{ .reg .pred there; setp.ne.b32 there, %2, 0; mov.f32 %0, 0f00000000; "
	             "@there ld.global.f32 %0, [%1]; }"
	             : "=f"(x)
	             : "l"(from), "r"((int)inside));
}

__device__ __forceinline__ void load_quad(float4 &x, const float *from, bool inside)
{
	asm volatile("{ .reg .pred there; setp.ne.b32 there, %5, 0; mov.f32 %0, 0f00000000; "
	             "mov.f32 %1, 0f00000000; mov.f32 %2, 0f00000000; mov.f32 %3, 0f00000000; "
	             "@there ld.global.v4.f32 {%0, %1, %2, %3}, [%4]; }"
	             : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
	             : "l"(from), "r"((int)inside));
}

/* A step of B; with `whole` all of its inner indices are there. */
template <bool TB, bool whole>
__device__ __forceinline__ void load_b(const struct operand &b, int left, float4 (&quad)[LOADS])
{
#pragma unroll
	for (int q = 0; q < LOADS; q++) {
		const bool inside = quad_column<TB>(q) < b.count;
		const int words = whole ? 4 : words_of(left - quad_depth<TB>(q));
		const float *from = TB ? b.from + 32 * q : b.from + q / 2 * 16 + q % 2 * 8 * b.ld;
		const int64_t step = TB ? b.ld : 1;
		if (!TB && whole) {
			load_quad(quad[q], from, inside);
			continue;
		}
		load_word(quad[q].x, from, inside && words > 0);
		load_word(quad[q].y, from + step, inside && words > 1);
		load_word(quad[q].z, from + 2 * step, inside && words > 2);
		load_word(quad[q].w, from + 3 * step, inside && words > 3);
	}
}

template <bool TB>
__device__ __forceinline__ void load_b(const struct operand &b, int left, float4 (&quad)[LOADS])
{
	if (left >= STEP)
		load_b<TB, true>(b, left, quad);
	else
		load_b<TB, false>(b, left, quad);
}

/* Both parts of the quads, the high one first. */
template <bool TB> __device__ __forceinline__ void store_b(const float4 (&quad)[LOADS], float *to)
{
#pragma unroll
	for (int q = 0; q < LOADS; q++) {
		const int k = quad_depth<TB>(q), j = quad_column<TB>(q);
		float *high = to + k / WARPGROUP_DEPTH * SLAB_WORDS +
		              warpgroup_place(k % WARPGROUP_DEPTH, j);
		const float4 x = quad[q];
		uint4 h, l;
		split(x.x, h.x, l.x);
		split(x.y, h.y, l.y);
		split(x.z, h.z, l.z);
		split(x.w, h.w, l.w);
		*(uint4 *)high = h;
		*(uint4 *)(high + B_WORDS) = l;
	}
}

/* The thread's part of 8 inner indices of A from k on. */
template <bool TA>
__device__ __forceinline__ void load_a(
        const float *a, int k, uint32_t (&high)[4], uint32_t (&low)[4])
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const int i = warp * 16 + lane / 4, column = k + lane % 4;
	const int row_step = TA ? PITCH_ROWS : 1, column_step = TA ? 1 : PITCH_COLUMNS;
#pragma unroll
	for (int e = 0; e < 4; e++) {
		const float x = a[(i + e % 2 * 8) * row_step + (column + e / 2 * 4) * column_step];
		split(x, high[e], low[e]);
	}
}

/* sum += the product of a step; the products may not be done yet. */
template <bool TA>
__device__ __forceinline__ void multiply(const float *a, const float *b, float (&sum)[64])
{
	uint32_t high[2][4], low[2][4];
#pragma unroll
	for (int s = 0; s < STEP / WARPGROUP_DEPTH; s++) {
		const uint64_t b_high = warpgroup_describe(b + s * SLAB_WORDS);
		const uint64_t b_low = warpgroup_describe(b + s * SLAB_WORDS + B_WORDS);
		if (s >= 2)
			warpgroup_wait<1>(); /* these registers are free */
		load_a<TA>(a, s * WARPGROUP_DEPTH, high[s % 2], low[s % 2]);
		warpgroup_begin();
		warpgroup_product(sum, low[s % 2], b_high);
		warpgroup_product(sum, high[s % 2], b_low);
		warpgroup_product(sum, high[s % 2], b_high);
		warpgroup_commit();
	}
}

/* What of a tile of C there is: rows, columns, and of these what is not left (or, of an upper part,
 * not right) of the diagonal, which is `diagonal` columns left of the tile's own. */
struct extent {
	int rows, columns;
	bool lower, upper;
	int diagonal;
};

__device__ __forceinline__ struct extent extent_of(const struct product &p, int64_t i0, int64_t j0)
{
	const int64_t diagonal = j0 - i0;
	return {at_most(p.m - i0, TILE), at_most(p.n - j0, TILE),
	        p.part == GEMM_LOWER && diagonal > -TILE, p.part == GEMM_UPPER && diagonal < TILE,
	        (int)max(min(diagonal, (int64_t)TILE), -(int64_t)TILE)};
}

__device__ __forceinline__ bool within(const struct extent &x, int i, int j)
{
	return i < x.rows && j < x.columns && (!x.lower || i - j >= x.diagonal) &&
	       (!x.upper || i - j <= x.diagonal);
}

/* C = alpha sum + beta C, by BATCH elements of a thread at a time. */
template <bool whole>
__device__ __forceinline__ void add_to_c(const struct product &p, float *c, const struct extent &x,
        float beta, const float (&sum)[64])
{
	const int BATCH = 8;
	const int i = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
	int j = threadIdx.x % 4 * 2;
	c += i + j * p.ldc;
#pragma unroll
	for (int first = 0; first < 64; first += BATCH) {
		float before[BATCH];
		asm volatile("" : "+l"(c), "+r"(j)); /* addresses are not for all batches at once */
#pragma unroll
		for (int e = 0; e < BATCH; e++) {
			const int down = e % 4 / 2 * 8, right = e / 4 * 8 + e % 2;
			before[e] = 0;
			if (beta != 0 && (whole || within(x, i + down, j + right)))
				before[e] = c[down + right * p.ldc];
		}
#pragma unroll
		for (int e = 0; e < BATCH; e++) {
			const int down = e % 4 / 2 * 8, right = e / 4 * 8 + e % 2;
			if (whole || within(x, i + down, j + right))
				c[down + right * p.ldc] =
				        p.alpha * sum[first + e] + beta * before[e];
		}
		c += BATCH * 2 * p.ldc;
		j += BATCH * 2;
	}
}

/* Whether a tile has anything of the part. */
__device__ __forceinline__ bool tile_in_part(enum gemm_part part, int64_t i0, int64_t j0)
{
	return part == GEMM_WHOLE || (part == GEMM_LOWER ? i0 + TILE > j0 : j0 + TILE > i0);
}

#endif

template <bool TA, bool TB>
__global__ void __launch_bounds__(THREADS, 2) tf32_gemm_kernel(const struct product p)
{
#ifdef HAVE_WARPGROUP
	extern __shared__ __align__(128) float memory[];
	float *a = memory, *b = memory + 2 * A_WORDS;
	const int64_t i0 = (int64_t)(blockIdx.x % p.row_tiles) * TILE;
	const int64_t j0 = (int64_t)(blockIdx.x / p.row_tiles) * TILE;
	float4 quad[LOADS];
	float sum[64];
	if (!tile_in_part(p.part, i0, j0))
		return;

	struct operand from_a = operand_a<TA>(p, i0), from_b = operand_b<TB>(p, j0);
	const struct extent extent = extent_of(p, i0, j0);
	const bool whole =
	        extent.rows == TILE && extent.columns == TILE && !extent.lower && !extent.upper;
	int64_t left = p.k;
	int step = 0;
	fetch_a<TA>(from_a, at_most(left, STEP), a);
	load_b<TB>(from_b, at_most(left, STEP), quad);
	store_b<TB>(quad, b);
	for (int64_t piece = 0; piece < p.k; piece += TF32_PIECE) {
#pragma unroll
		for (int e = 0; e < 64; e++)
			sum[e] = 0;
		const int64_t end = min(piece + TF32_PIECE, p.k);
		for (int64_t k = piece; k < end; k += STEP, step ^= 1) {
			__pipeline_wait_prior(0);
			warpgroup_publish();
			__syncthreads(); /* operands are there, the other half is free */
			left -= STEP;
			from_a.from += TA ? STEP : STEP * p.lda;
			from_b.from += TB ? STEP * p.ldb : STEP;
			fetch_a<TA>(from_a, at_most(left, STEP), a + (step ^ 1) * A_WORDS);
			load_b<TB>(from_b, at_most(left, STEP), quad);
			multiply<TA>(a + step * A_WORDS, b + step * 2 * B_WORDS, sum);
			store_b<TB>(quad, b + (step ^ 1) * 2 * B_WORDS);
			warpgroup_wait<0>();
		}
		const float beta = piece == 0 ? p.beta : 1;
		float *c = p.c + i0 + j0 * p.ldc;
		if (whole)
			add_to_c<true>(p, c, extent, beta, sum);
		else
			add_to_c<false>(p, c, extent, beta, sum);
	}
	__pipeline_wait_prior(0);
#endif
}

template <bool TA, bool TB> int start(const struct product &p, int64_t blocks, void *stream)
{
	const int error = cudaFuncSetAttribute(tf32_gemm_kernel<TA, TB>,
	        cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
	if (error)
		return error;
	tf32_gemm_kernel<TA, TB>
	        <<<(unsigned)blocks, THREADS, SHARED_BYTES, (cudaStream_t)stream>>>(p);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int tf32_gemm(enum gemm_part part, enum trans ta, enum trans tb, double alpha,
        struct matrix a, struct matrix b, double beta, struct matrix c, void *stream)
{
	const int64_t row_tiles = (c.m + TILE - 1) / TILE, column_tiles = (c.n + TILE - 1) / TILE;
	const struct product p = {(const float *)a.data + a.offset,
	        (const float *)b.data + b.offset, (float *)c.data + c.offset, a.ld, b.ld, c.ld, c.m,
	        c.n, ta == PLAIN ? a.n : a.m, (float)alpha, (float)beta, part, (int)row_tiles};
	const int64_t blocks = row_tiles * column_tiles;
	if (blocks == 0)
		return (int)cudaSuccess;
	if (ta == PLAIN)
		return tb == PLAIN ? start<false, false>(p, blocks, stream)
		                   : start<false, true>(p, blocks, stream);
	return tb == PLAIN ? start<true, false>(p, blocks, stream)
	                   : start<true, true>(p, blocks, stream);
}
