/* SPDX-License-Identifier: MIT */
/* The Householder panel without an exchange a column, in single precision: Householder steps on the
 * Gram matrix in double precision, then all vectors by one product.
 *
 * A1 is the first 64 rows of A, A2 the rows below. Step j needs row j of A and sums over the rows
 * below it, which are the remainder of G = A^T A. Row j of R is that of Cholesky, with the
 * reflector's sign. The reflector is applied to A1 and to Y, which starts as the identity; then v_j
 * = A y_j, V2 = A2 Y, and V1 follows from the steps on A1. T^-1 = striu(V^T V) + diag(V^T V) / 2
 * and tau = 2 / v^T v come from the stored V in double precision. I - V T V^T is therefore
 * orthogonal to working accuracy whatever the error of G.
 *
 * If an element of Y (for columns of norm 1) exceeds LIMIT or is not finite, the matrix stays
 * unchanged and *done is 0; another form factorizes the panel, and this file makes its V and T. An
 * identity reflector gets tau = 0 and its row of R the other sign, as in LAPACK.
 *
 * Cost: m n^2 operations each for G, V2 and V2^T V2 on the tensor cores (half of the last two are
 * skipped), 3 m n words (V: one more), 6 launches, and one chain of n pivots in one block.
 * Experiments: docs/experiments/qr-panel.md. */
#include "lib/device/early_launch.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_gram.cuh"
#include "panel_geqrf_gram_halves.cuh"

namespace
{

enum { SUM_BLOCKS = TILE_WORDS / 64, SUM_THREADS = 1024 };

struct panel : panel_rows {
	float *tau;
	int *done;
	double *sums, *y; /* of order 64, by rows */
	double *partial;  /* [blocks][TILE_WORDS] */
	int blocks;
	float *v, *t; /* NULL or the place of V and T */
	int64_t ldv, ldt;
};

/* A block's shared memory while rows stream through it: Y in the order of the lanes; for each
 * pair of warps the current and the next rows, and the vectors of half a slab. */
struct stream_memory {
	double triangle[TILE_WORDS];
	struct {
		slab ring[2];
		half_slab made;
	} pair[PAIRS];
};

/* Stores the block's sums after all rows have been read. */
__device__ __forceinline__ void store_sums(
        const struct panel &g, const struct seat_of_pair &t, half_tiles &sum, double *memory)
{
	copy_wait<0>(); /* also for a block without rows */
	add_pairs(
	        t, [&](int part) { return memory + part * TILE_WORDS; }, sum);
	if (t.pair == 0)
#pragma unroll
		for (int i = 0; i < HALF_TILES * 4; i++)
			g.partial[(int64_t)blockIdx.x * TILE_WORDS + word_of_half(t, i)] =
			        sum[i / 4][i % 4];
}

/* Starts the copies of a pair's first rows from `begin` on. */
__device__ __forceinline__ struct part start_parts(
        const struct panel &g, const struct seat_of_pair &t, int64_t begin, slab *ring)
{
	const struct part first = part_of(g, t, begin, 0);
	start_slab(g, t, first, ring[0]);
	return first;
}

/* Calls the function with these rows and all later ones, slab by slab, when both warps have
 * them; the function is done with a slab when it returns. A pair without rows takes part in the
 * barriers of the others, because racecheck otherwise reports races across them. */
template <typename function>
__device__ __forceinline__ void for_parts(const struct panel &g, const struct seat_of_pair &t,
        int64_t begin, struct part here, slab *ring, const function &work)
{
#pragma unroll 1
	for (int k = 0; here.most > 0; k++) {
		copy_wait<0>();
		meet(t);
		const struct part next = part_of(g, t, begin, k + 1);
		start_slab(g, t, next, ring[(k + 1) % 2]);
		work(ring[k % 2], here);
		here = next;
	}
}

/* A^T A. */
__global__ void __launch_bounds__(STREAM_THREADS, 1) gram_kernel(const struct panel g)
{
	extern __shared__ __align__(16) double memory[];
	struct stream_memory &s = *(struct stream_memory *)memory;
	const struct seat_of_pair t = take_seat_of_pair();
	half_tiles sum = {};

	early_begin();
	slab *ring = s.pair[t.pair].ring;
	const struct part first = start_parts(g, t, 0, ring);
	for_parts(g, t, 0, first, ring, [&](const slab &rows, const struct part &p) {
		if (t.half)
			accumulate_half<1>(sum, rows, p.rows, t.lane);
		else
			accumulate_half<0>(sum, rows, p.rows, t.lane);
	});
	store_sums(g, t, sum, memory);
}

/* Y, or the identity, in the order of the lanes. */
__device__ __forceinline__ void spread(const struct panel &g, bool done, double *triangle)
{
#pragma unroll 4
	for (int i = (int)threadIdx.x; i < TILE_WORDS; i += STREAM_THREADS) {
		int row, column;
		vector_place_of(i, &row, &column);
		triangle[i] = done ? g.y[row * ORDER + column] : row == column;
	}
}

/* A pair's rows of V1, which are below the diagonal of A1 already. */
__device__ __forceinline__ void take_top(
        const struct panel &g, const struct seat_of_pair &t, int first, half_slab &to)
{
#pragma unroll 4
	for (int e = t.thread; e < AT_ONCE * ORDER; e += 64) {
		const int row = first + e % AT_ONCE, column = e / AT_ONCE;
		const bool inside = row < g.n && column < g.n;
		const float value =
		        inside && row > column ? g.a[row + column * g.lda] : (float)(row == column);
		*element_of(to, column, e % AT_ONCE) = inside ? value : 0;
		if (inside && g.v)
			g.v[row + column * g.ldv] = value;
	}
}

/* V2 = A2 Y and the sums of V^T V, by one warp of a pair. */
template <int HALF>
__device__ __forceinline__ void make_vectors(const struct panel &g, const struct seat_of_pair &t,
        bool done, struct part begin, struct stream_memory &s)
{
	half_slab &made = s.pair[t.pair].made;
	half_tiles sum = {};

	if (blockIdx.x == gridDim.x - 1) {
		if (AT_ONCE * t.pair < g.n)
			take_top(g, t, AT_ONCE * t.pair, made);
		meet(t);
		if (AT_ONCE * t.pair < g.n)
			accumulate_half<HALF>(sum, made, AT_ONCE, t.lane);
	}
	for_parts(
	        g, t, g.n, begin, s.pair[t.pair].ring, [&](const slab &rows, const struct part &p) {
#pragma unroll 1
		        for (int i = 0; i < p.most; i += AT_ONCE) {
			        if (i > 0)
				        meet(t);
			        if (i < p.rows)
				        multiply_half<HALF>(s.triangle, rows, i, made, t.lane);
			        meet(t);
			        if (i >= p.rows)
				        continue;
			        accumulate_half<HALF>(sum, made, AT_ONCE, t.lane);
			        if (done)
				        store_half(g, t, made, p.first + i);
			        if (g.v)
				        store_half({g.v, g.ldv, g.m, g.n}, t, made, p.first + i);
		        }
	        });
	store_sums(g, t, sum, (double *)&s);
}

/* V and V^T V. */
__global__ void __launch_bounds__(STREAM_THREADS, 1) vectors_kernel(const struct panel g)
{
	extern __shared__ __align__(16) double memory[];
	struct stream_memory &s = *(struct stream_memory *)memory;
	const struct seat_of_pair t = take_seat_of_pair();

	early_begin();
	const struct part begin = start_parts(g, t, g.n, s.pair[t.pair].ring);
	const bool done = *g.done;
	spread(g, done, s.triangle);
	__syncthreads();
	if (t.half)
		make_vectors<1>(g, t, done, begin, s);
	else
		make_vectors<0>(g, t, done, begin, s);
}

/* The sum over the blocks. */
__global__ void __launch_bounds__(SUM_THREADS) sum_kernel(const struct panel g)
{
	__shared__ double part[SUM_THREADS];
	const int element = (int)blockIdx.x * 64 + (int)threadIdx.x % 64;
	double sum = 0;

	early_begin();
#pragma unroll 8
	for (int b = (int)threadIdx.x / 64; b < g.blocks; b += SUM_THREADS / 64)
		sum += g.partial[(int64_t)b * TILE_WORDS + element];
	part[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= 64)
		return;
	for (int i = 1; i < SUM_THREADS / 64; i++)
		sum += part[threadIdx.x + 64 * i];
	int i, j;
	place_of(element, &i, &j);
	if (i <= j)
		g.sums[i * ORDER + j] = g.sums[j * ORDER + i] = sum;
}

/* From G: Y, and V1 and R for the panel, unless Y is too large. */
__global__ void __launch_bounds__(SIDE *SIDE) reflect_kernel(const struct panel g)
{
	extern __shared__ double memory[];
	struct steps &s = *(struct steps *)memory;
	__shared__ double squares[ORDER];
	quarter gram, top, made;
	const int t = (int)threadIdx.x;

	early_begin();
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			const bool inside = row < g.n && column < g.n;
			made[i][j] = row == column;
			top[i][j] = inside ? g.a[row + column * g.lda] : 0;
			gram[i][j] = inside ? g.sums[row * ORDER + column] : 0;
			if (row == column)
				squares[row] = gram[i][j];
		}
	reflect(s, g.n, gram, top, made);
	const bool fine = settle(s, g.n, squares);
	if (t == 0)
		*g.done = fine;
	for (int e = t; e < ORDER * ORDER; e += SIDE * SIDE)
		g.y[e] = made_of(s, g.n, e / ORDER, e % ORDER);
	for (int e = t; fine && e < ORDER * g.n; e += SIDE * SIDE)
		if (e % ORDER < g.n)
			g.a[e % ORDER + e / ORDER * g.lda] = result_of(s, e % ORDER, e / ORDER);
}

/* From V^T V: T, and tau unless it is known. */
__global__ void __launch_bounds__(SIDE *SIDE) finish_kernel(const struct panel g)
{
	extern __shared__ double memory[];
	struct triangles &s = *(struct triangles *)memory;
	__shared__ bool nothing[ORDER];

	early_begin();
	const bool done = *g.done;
	make_t(s, nothing, g.n, done, g.tau, [&](int i, int j) { return g.sums[i * ORDER + j]; });
	store_t(s, nothing, g.n, done, g.a, g.lda, g.t, g.ldt);
}

const int64_t STREAM_BYTES = sizeof(struct stream_memory);
static_assert(STREAM_BYTES >= PAIRS / 2 * TILE_WORDS * 8, "half of the pairs' sums");
static_assert(STREAM_BYTES >= (int64_t)sizeof(struct steps), "what a device must have");

} // namespace

extern "C" int64_t panel_geqrf_gram_work(void)
{
	const int64_t blocks = gpu_current()->sm_count;
	return 16 + (2 * ORDER * ORDER + blocks * TILE_WORDS) * 8;
}

extern "C" bool panel_geqrf_gram_fits(int64_t m, int64_t n)
{
	return n <= ORDER && m >= n && gpu_current()->code >= 80 &&
	       gpu_current()->shared_per_block >= STREAM_BYTES;
}

namespace
{

struct panel panel_of(float *a, int64_t lda, int64_t m, int64_t n, float *tau, int *done,
        const struct block_reflector *r, void *work)
{
	double *room = (double *)work + 2; /* *done may be the caller's word */
	struct panel g = {{a, lda, m, (int)n}, tau, done, room, room + ORDER * ORDER,
	        room + 2 * ORDER * ORDER, gram_blocks_for(m, gpu_current()->sm_count), NULL, NULL,
	        0, 0};
	if (r) {
		g.v = (float *)r->v;
		g.ldv = r->ldv;
		g.t = (float *)r->t;
		g.ldt = r->ldt;
	}
	return g;
}

} // namespace

extern "C" int panel_geqrf_gram_begin(
        float *a, int64_t lda, int64_t m, int64_t n, int *done, void *work, void *stream)
{
	const struct panel g = panel_of(a, lda, m, n, NULL, done, NULL, work);
	cudaError_t error =
	        early_launch(gram_kernel, g.blocks, STREAM_THREADS, STREAM_BYTES, g, stream);
	if (error == cudaSuccess)
		error = early_launch(sum_kernel, SUM_BLOCKS, SUM_THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = early_launch(
		        reflect_kernel, 1, SIDE * SIDE, sizeof(struct steps), g, stream);
	return (int)error;
}

extern "C" int panel_geqrf_gram_end(float *a, int64_t lda, int64_t m, int64_t n, float *tau,
        int *done, const struct block_reflector *r, void *work, void *stream)
{
	const struct panel g = panel_of(a, lda, m, n, tau, done, r, work);
	cudaError_t error =
	        early_launch(vectors_kernel, g.blocks, STREAM_THREADS, STREAM_BYTES, g, stream);
	if (error == cudaSuccess)
		error = early_launch(sum_kernel, SUM_BLOCKS, SUM_THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = early_launch(
		        finish_kernel, 1, SIDE * SIDE, sizeof(struct triangles), g, stream);
	return (int)error;
}
