/* SPDX-License-Identifier: MIT */
/* The Householder panel without an exchange a column, in single precision: the steps of Householder
 * made with the Gram matrix in double precision, and the vectors by one product (FACTOR 3.7, panel
 * B, whose Cholesky QR and reconstruction are one elimination here).
 *
 * With A1 the first 64 rows of A and A2 what is below, step j needs of A only row j and the sums
 * over the rows below it: these are what is left of G = A^T A, from which row j of R, which is that
 * of Cholesky with the reflector's sign, goes out. The reflector is applied to A1 and to Y, the
 * identity at first, which so becomes what v_j = A y_j needs: V1 = what the steps find in A1, V2 =
 * A2 Y, rounded. T^-1 = striu(V^T V) + diag(V^T V) / 2 and tau = 2 / v^T v come from V as it is
 * stored, in double precision: I - V T V^T is orthogonal to working accuracy whatever G was. A is
 * read twice and written once.
 *
 * The elements of Y, of columns of norm 1, are bounded by LIMIT: where one is larger, or not
 * finite, the matrix stays as it is and *done 0 (another form does it, and what follows here makes
 * its V and T). On a host what H^T A has below its diagonal, and its difference from R, are 0.5 to
 * 1.5 roundings of the column up to condition 1e8, the loss of orthogonality 6e-7 in the Frobenius
 * norm. A reflector that does nothing gets tau = 0 and its row of R the other sign, as LAPACK has
 * it.
 *
 * Cost: m n^2 operations each for G, V2 and V2^T V2 (with half of the latter's and Y's zeros left
 * out) on the tensor cores, 3 m n words (V: one more), 6 launches, and one chain of n pivots in one
 * block.
 *
 * Log (H200, 64 columns, us, V and T included): Cholesky, reconstruction and the inverse of T^-1,
 * three chains of pivots in two kernels of one block, took 113 of 144 for 16384 rows; as one
 * elimination 79 predicted from a third of the chains, 79 measured, of 131072 rows 183 (205, and 94
 * for the calls that made V and T), of 4096 rows 66. Rows copied ahead, and the steps' next pivots
 * mixed with the rest: 73, 171, 58. */
#include "early_launch.cuh"
#include "gemm_copy.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_gram.cuh"
#include "panel_geqrf_gram_tiles.cuh"

namespace
{

enum { SUM_BLOCKS = TILE_WORDS / 64 };

struct panel {
	float *a;
	int64_t lda, m;
	int n;
	float *tau;
	int *done;
	double *sums, *y; /* of order 64, by rows */
	double *partial;  /* [blocks][TILE_WORDS] */
	int blocks;
	float *v, *t; /* NULL or where V and T go */
	int64_t ldv, ldt;
};

/* The block's sum, warp after warp, to its place in memory. */
__device__ __forceinline__ void store_sums(const struct panel &g, const tiles &sum, double *part)
{
	const int lane = (int)threadIdx.x % 32;
	for (int w = 0; w < WARPS; w++) {
		if ((int)threadIdx.x / 32 == w)
#pragma unroll
			for (int i = 0; i < TILES * 4; i++) {
				double *to = &part[i * 32 + lane];
				*to = (w > 0 ? *to : 0) + sum[i / 4][i % 4];
			}
		__syncthreads();
	}
	for (int i = (int)threadIdx.x; i < TILE_WORDS; i += THREADS)
		g.partial[(int64_t)blockIdx.x * TILE_WORDS + i] = part[i];
}

/* Eight rows of a warp, on their way to shared memory while others are worked on: [column][row]. */
typedef float octet[ORDER][8];
enum { STAGES = 4 };

__device__ __forceinline__ int64_t octets_apart(void)
{
	return (int64_t)8 * WARPS * gridDim.x;
}

/* The rows of a from `first` on, zeros where there are none; one group of copies. */
__device__ __forceinline__ void start_octet(
        const float *a, int64_t lda, int64_t rows, int n, int64_t first, octet &to)
{
	const int lane = (int)threadIdx.x % 32, row = lane % 8, column = lane / 8;
	const bool inside = first + row < rows;
	const float *from = inside ? a + first + row + column * lda : a;
#pragma unroll
	for (int i = 0; i < ORDER / 4; i++) {
		const bool there = inside && column + 4 * i < n;
		copy_start<4>(&to[column + 4 * i][row], there ? from : a, there ? 4 : 0);
		from += 4 * lda;
	}
	copy_commit();
}

/* A^T A. */
__global__ void __launch_bounds__(THREADS, 1) gram_kernel(const struct panel g)
{
	extern __shared__ double memory[];
	double *part = memory;
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	octet *ring = (octet *)(part + TILE_WORDS) + warp * STAGES;
	const int64_t begin = 8 * ((int64_t)blockIdx.x * WARPS + warp), apart = octets_apart();
	tiles sum = {};

	early_begin();
	for (int i = 0; i < STAGES - 1; i++)
		start_octet(g.a, g.lda, g.m, g.n, begin + i * apart, ring[i]);
	int stage = 0;
	for (int64_t first = begin; first < g.m; first += apart) {
		const octet &here = ring[stage];
		vectors f;
		copy_wait<STAGES - 2>();
		__syncwarp();
#pragma unroll
		for (int o = 0; o < OCTETS; o++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				f[o][e] = here[8 * o + lane / 4][4 * e + lane % 4];
		start_octet(g.a, g.lda, g.m, g.n, first + (STAGES - 1) * apart,
		        ring[(stage + STAGES - 1) % STAGES]);
		accumulate(sum, f);
		stage = (stage + 1) % STAGES;
	}
	store_sums(g, sum, part);
}

/* Y, or the identity, as the lanes take it for the vectors. */
__device__ __forceinline__ void spread(const struct panel &g, bool done, double *part)
{
#pragma unroll
	for (int i = 0; i < TILE_WORDS / THREADS; i++) {
		int row, column;
		vector_place_of((int)threadIdx.x + i * THREADS, &row, &column);
		part[(int)threadIdx.x + i * THREADS] =
		        done ? g.y[row * ORDER + column] : row == column;
	}
}

/* V1, below the diagonal of A1 already. */
__device__ __forceinline__ void take_top(const struct panel &g, int first, vectors &v)
{
	const int lane = (int)threadIdx.x % 32;
#pragma unroll
	for (int o = 0; o < OCTETS; o++)
#pragma unroll
		for (int e = 0; e < 2; e++) {
			const int row = first + 2 * (lane % 4) + e, column = 8 * o + lane / 4;
			const bool inside = row < g.n && column < g.n;
			const float value = inside && row > column ? g.a[row + column * g.lda]
			                                           : (float)(row == column);
			v[o][e] = inside ? value : 0;
			if (inside && g.v)
				g.v[row + column * g.ldv] = value;
		}
}

/* V2 = A2 Y of eight rows in shared memory, in place. */
__device__ __forceinline__ void make_vectors(octet &rows, const double *part, vectors &v)
{
	const int lane = (int)threadIdx.x % 32;
	double x[OCTETS][2];

#pragma unroll
	for (int o = 0; o < OCTETS; o++)
#pragma unroll
		for (int e = 0; e < 2; e++)
			x[o][e] = rows[8 * o + 4 * e + lane % 4][lane / 4];
	__syncwarp(); /* all have read before one writes */
#pragma unroll
	for (int p = 0; p < OCTETS / 2; p++) {
		double c[4];
		multiply_tiles(p, part, x, c);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const float rounded = (float)c[i];
			v[2 * p + i / 2][i % 2] = rounded;
			rows[16 * p + 8 * (i / 2) + lane / 4][2 * (lane % 4) + i % 2] = rounded;
		}
	}
	__syncwarp();
}

/* To a and V. */
__device__ __forceinline__ void store_octet(
        const struct panel &g, int64_t first, bool done, const octet &rows)
{
	const int lane = (int)threadIdx.x % 32, row = lane % 8, column = lane / 8;
	if (first + row >= g.m)
		return;
	float *a = g.a + first + row + column * g.lda;
	float *v = g.v ? g.v + first + row + column * g.ldv : NULL;
#pragma unroll
	for (int i = 0; i < ORDER / 4; i++) {
		if (column + 4 * i >= g.n)
			break;
		const float value = rows[column + 4 * i][row];
		if (done)
			*a = value;
		if (g.v)
			*v = value;
		a += 4 * g.lda;
		v += 4 * g.ldv;
	}
}

/* V and V^T V. */
__global__ void __launch_bounds__(THREADS, 1) vectors_kernel(const struct panel g)
{
	extern __shared__ double memory[];
	double *part = memory;                                        /* first Y */
	const int warp = (int)threadIdx.x / 32, tops = (g.n + 7) / 8; /* at most WARPS */
	octet *ring = (octet *)(part + TILE_WORDS) + warp * STAGES;
	const int64_t begin = g.n + 8 * ((int64_t)blockIdx.x * WARPS + warp);
	const int64_t apart = octets_apart();
	tiles sum = {};

	early_begin();
	for (int i = 0; i < STAGES - 1; i++)
		start_octet(g.a, g.lda, g.m, g.n, begin + i * apart, ring[i]);
	const bool done = *g.done;
	spread(g, done, part);
	__syncthreads();
	if (warp < tops && blockIdx.x == gridDim.x - 1) {
		vectors v;
		take_top(g, 8 * warp, v);
		accumulate(sum, v);
	}
	int stage = 0;
	for (int64_t first = begin; first < g.m; first += apart) {
		vectors v;
		copy_wait<STAGES - 2>();
		__syncwarp();
		start_octet(g.a, g.lda, g.m, g.n, first + (STAGES - 1) * apart,
		        ring[(stage + STAGES - 1) % STAGES]);
		make_vectors(ring[stage], part, v);
		store_octet(g, first, done, ring[stage]);
		accumulate(sum, v);
		stage = (stage + 1) % STAGES;
	}
	__syncthreads();
	store_sums(g, sum, part);
}

/* The sum over the blocks. */
__global__ void __launch_bounds__(THREADS) sum_kernel(const struct panel g)
{
	__shared__ double part[THREADS];
	const int element = (int)blockIdx.x * 64 + (int)threadIdx.x % 64;
	double sum = 0;

	early_begin();
#pragma unroll 8
	for (int b = (int)threadIdx.x / 64; b < g.blocks; b += THREADS / 64)
		sum += g.partial[(int64_t)b * TILE_WORDS + element];
	part[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= 64)
		return;
	for (int i = 1; i < THREADS / 64; i++)
		sum += part[threadIdx.x + 64 * i];
	int i, j;
	place_of(element, &i, &j);
	if (i <= j)
		g.sums[i * ORDER + j] = g.sums[j * ORDER + i] = sum;
}

/* From G: Y, and V1 and R for the panel, if all goes well. */
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

/* From V^T V: T, and tau unless it is there. */
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

int device_attribute(enum cudaDeviceAttr attribute)
{
	int device = 0, value = 0;
	return cudaGetDevice(&device) == cudaSuccess &&
	                       cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess
	               ? value
	               : 0;
}

} // namespace

extern "C" int64_t panel_geqrf_gram_work(void)
{
	const int64_t blocks = device_attribute(cudaDevAttrMultiProcessorCount);
	return 16 + (2 * ORDER * ORDER + blocks * TILE_WORDS) * 8;
}

extern "C" bool panel_geqrf_gram_fits(int64_t m, int64_t n)
{
	return n <= ORDER && m >= n && device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8 &&
	       device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >=
	               (int)sizeof(struct steps);
}

namespace
{

const int64_t STREAM_BYTES =
        TILE_WORDS * (int64_t)sizeof(double) + (int64_t)WARPS * STAGES * (int64_t)sizeof(octet);

/* A multiprocessor each, as far as there are rows. */
int blocks_for(int64_t rows)
{
	const int64_t most = device_attribute(cudaDevAttrMultiProcessorCount);
	const int64_t wanted = (rows + 8 * WARPS - 1) / (8 * WARPS);
	return (int)(wanted < most ? wanted : most);
}

struct panel panel_of(float *a, int64_t lda, int64_t m, int64_t n, float *tau, int *done,
        const struct block_reflector *r, void *work)
{
	double *room = (double *)work + 2; /* the caller may have *done in front */
	struct panel g = {a, lda, m, (int)n, tau, done, room, room + ORDER * ORDER,
	        room + 2 * ORDER * ORDER, blocks_for(m), NULL, NULL, 0, 0};
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
	cudaError_t error = early_launch(gram_kernel, g.blocks, THREADS, STREAM_BYTES, g, stream);
	if (error == cudaSuccess)
		error = early_launch(sum_kernel, SUM_BLOCKS, THREADS, 0, g, stream);
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
	        early_launch(vectors_kernel, g.blocks, THREADS, STREAM_BYTES, g, stream);
	if (error == cudaSuccess)
		error = early_launch(sum_kernel, SUM_BLOCKS, THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = early_launch(
		        finish_kernel, 1, SIDE * SIDE, sizeof(struct triangles), g, stream);
	return (int)error;
}
