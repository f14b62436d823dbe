/* SPDX-License-Identifier: MIT */
/* The tall Householder panel without an exchange a column, in single precision: Cholesky QR with a
 * Gram matrix in double precision and Householder reconstruction (FACTOR 3.7, panel B; Ballard et
 * al. 2014).
 *
 * With A1 the n rows on top of A and A2 what is below: G = A^T A, scaled to a unit diagonal, = R^T
 * R; X = R^-1; Q1 = A1 X; Q1 - S = L U with S = -sign of the pivots' diagonal, so that every pivot
 * is at least 1; the vectors are V1 = L and V2 = A2 Y with Y = X U^-1, rounded. From V as it is
 * stored everything else follows in double precision: T^-1 = striu(V^T V) + diag(V^T V) / 2, tau =
 * 2 / v^T v, W = V^T A = V1^T A1 + (V2^T V2) Y^-1 and R = triu(A1 - V1 T^T W). So I - V T V^T is
 * orthogonal to working accuracy whatever Q was, and A is read twice and written once.
 *
 * The elements of X, scaled, are bounded by LIMIT: where one is larger, or not finite, the matrix
 * stays as it is and *done 0 (the caller has another form do it). On a host the residual of the
 * worst column and the loss of orthogonality are 1 to 2 roundings up to there and beyond (1.7e-7
 * and 1.2e-7 at condition 1e8). A reflector that does nothing gets tau = 0 and its row of R the
 * other sign, as LAPACK has it.
 *
 * Cost: m n^2 operations each for G, V2 and V2^T V2 (with half of the latter's and Y's zeros left
 * out) on the tensor cores, 3 m n words, 6 launches, and three chains of n pivots in one block.
 *
 * Log (H200, 64 columns, us): 70 predicted for 16384 rows and 160 for 131072, 144 and 205 measured
 * (resident kernel 186, three kernels a column 2100), since the two kernels of one block took 113
 * instead of 45: 0.35 us a pivot, products of 64 x 64 at the rate of one multiprocessor. For
 * 131072 rows the gram kernel is at 36 of 18, the vectors at 50 of 36. Early launches and
 * reciprocals without branches: 133 and 197. */
#include "early_launch.cuh"
#include "gemm_mma.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_gram.cuh"

namespace
{

const double LIMIT = 1e6;

enum {
	WARPS = 8,
	THREADS = 32 * WARPS,
	OCTETS = ORDER / 8, /* of columns */
	TILES = 20,         /* 16 x 8, of the upper triangle */
	TILE_WORDS = TILES * 4 * 32,
	SUM_BLOCKS = TILE_WORDS / 64
};

struct panel {
	float *a;
	int64_t lda, m;
	int n;
	float *tau;
	int *done;
	double *sums, *y, *y_inverse, *v; /* of order 64, by rows; v: V1 */
	double *partial;                  /* [blocks][TILE_WORDS] */
	int blocks;
};

/* Number of the tile in rows 16 p of columns 8 q, q >= 2 p. */
__device__ __forceinline__ constexpr int tile_of(int p, int q)
{
	return p * (9 - p) + q - 2 * p;
}

/* Of the tile that multiplies rows 8 q of Y for columns 16 p of V2, q <= 2 p + 1. */
__device__ __forceinline__ constexpr int vector_tile(int p, int q)
{
	return p * (p + 1) + q;
}

typedef double tiles[TILES][4];

/* f^T f of eight rows: of lane (g, t) f[o][e] is column 8 o + g of row 2 t + e, or of any other
 * order of the rows. */
__device__ __forceinline__ void accumulate(tiles &sum, const double (&f)[OCTETS][2])
{
#pragma unroll
	for (int p = 0; p < OCTETS / 2; p++)
#pragma unroll
		for (int q = 2 * p; q < OCTETS; q++) {
			const double left[4] = {
			        f[2 * p][0], f[2 * p + 1][0], f[2 * p][1], f[2 * p + 1][1]};
			mma_double(sum[tile_of(p, q)], left, f[q]);
		}
}

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

/* A^T A. */
__global__ void __launch_bounds__(THREADS, 1) gram_kernel(const struct panel g)
{
	__shared__ double part[TILE_WORDS];
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const float *a = g.a + lane % 4 + lane / 4 * g.lda;
	tiles sum = {};

	for (int64_t first = 8 * ((int64_t)blockIdx.x * WARPS + warp); first < g.m;
	        first += (int64_t)8 * WARPS * gridDim.x) {
		double f[OCTETS][2];
#pragma unroll
		for (int o = 0; o < OCTETS; o++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				f[o][e] = first + 4 * e + lane % 4 < g.m && 8 * o + lane / 4 < g.n
				                  ? a[first + 4 * e + 8 * o * g.lda]
				                  : 0.0f;
		accumulate(sum, f);
	}
	store_sums(g, sum, part);
}

/* V2 = A2 Y in place, and V2^T V2. The product is made transposed, 16 columns of V by 8 rows; its
 * result is just what the second one takes. */
__global__ void __launch_bounds__(THREADS, 1) vectors_kernel(const struct panel g)
{
	__shared__ double part[TILE_WORDS]; /* first Y, as the lanes take it */
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	tiles sum = {};

	early_begin();
	if (!*g.done)
		return;
	for (int i = (int)threadIdx.x; i < TILE_WORDS; i += THREADS) {
		const int of = i % 32, x = i / 32 % 4, tile = i / 128;
		int p = 0;
		while (tile >= vector_tile(p + 1, 0))
			p++;
		const int row = 8 * (tile - vector_tile(p, 0)) + 4 * (x / 2) + of % 4;
		part[i] = g.y[row * ORDER + 16 * p + 8 * (x % 2) + of / 4];
	}
	__syncthreads();
	float *a = g.a + g.n;
	const int64_t rows = g.m - g.n;
	for (int64_t first = 8 * ((int64_t)blockIdx.x * WARPS + warp); first < rows;
	        first += (int64_t)8 * WARPS * gridDim.x) {
		double x[OCTETS][2], v[OCTETS][2];
#pragma unroll
		for (int o = 0; o < OCTETS; o++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				const int column = 8 * o + 4 * e + lane % 4;
				x[o][e] = first + lane / 4 < rows && column < g.n
				                  ? a[first + lane / 4 + column * g.lda]
				                  : 0.0f;
			}
		__syncwarp(); /* all have read before one writes */
#pragma unroll
		for (int p = 0; p < OCTETS / 2; p++) {
			double c[4] = {};
#pragma unroll
			for (int q = 0; q <= 2 * p + 1; q++) {
				double left[4];
#pragma unroll
				for (int i = 0; i < 4; i++)
					left[i] = part[(vector_tile(p, q) * 4 + i) * 32 + lane];
				mma_double(c, left, x[q]);
			}
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const int column = 16 * p + 8 * (i / 2) + lane / 4;
				const int64_t row = first + 2 * (lane % 4) + i % 2;
				const float rounded = (float)c[i];
				v[2 * p + i / 2][i % 2] = rounded;
				if (row < rows && column < g.n)
					a[row + column * g.lda] = rounded;
			}
		}
		accumulate(sum, v);
	}
	__syncthreads();
	store_sums(g, sum, part);
}

/* The sum over the blocks; checked: only where *done is 1. */
template <bool checked> __global__ void __launch_bounds__(THREADS) sum_kernel(const struct panel g)
{
	__shared__ double part[THREADS];
	const int element = (int)blockIdx.x * 64 + (int)threadIdx.x % 64;
	double sum = 0;

	early_begin();
	if (checked && !*g.done)
		return;
#pragma unroll 8
	for (int b = (int)threadIdx.x / 64; b < g.blocks; b += THREADS / 64)
		sum += g.partial[(int64_t)b * TILE_WORDS + element];
	part[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= 64)
		return;
	for (int i = 1; i < THREADS / 64; i++)
		sum += part[threadIdx.x + 64 * i];
	const int lane = element % 32, x = element / 32 % 4, tile = element / 128;
	int p = 0;
	while (p < 3 && tile >= tile_of(p + 1, 2 * (p + 1)))
		p++;
	const int i = 16 * p + 8 * (x / 2) + lane / 4;
	const int j = 8 * (tile - tile_of(p, 0)) + 2 * (lane % 4) + x % 2;
	if (i <= j)
		g.sums[i * ORDER + j] = g.sums[j * ORDER + i] = sum;
}

/* A1 with the identity where there are no columns. */
__device__ __forceinline__ double top_of(const struct panel &g, int i, int j)
{
	return i < g.n && j < g.n ? (double)g.a[i + j * g.lda] : (double)(i == j);
}

/* From G: V1, Y, Y^-1 and whether all went well. */
__global__ void __launch_bounds__(SIDE *SIDE) reconstruct_kernel(const struct panel g)
{
	extern __shared__ double memory[];
	struct small &s = *(struct small *)memory;
	square &x = s.matrix[0], &r = s.matrix[1], &a = s.matrix[2];
	quarter top, below;
	bool fine = true;

	early_begin();
	if (threadIdx.x < ORDER) {
		const int k = (int)threadIdx.x;
		const double squares = g.sums[k * (ORDER + 1)];
		s.scale[k] = k < g.n && squares > 0 ? 1 / sqrt(squares) : 1;
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			const bool inside = row < g.n && column < g.n;
			below[i][j] = row == column;
			top[i][j] = inside ? g.sums[row * ORDER + column] * s.scale[row] *
			                             s.scale[column]
			                   : below[i][j];
		}
	eliminate<false, true>(s, top, below);
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			const double inverse = below[i][j] * sqrt(s.pivot[column]);
			fine = fine && fabs(inverse) <= LIMIT && s.pivot[row] > 0;
			x[row][column] = inverse * s.scale[row];
			r[row][column] =
			        row <= column ? top[i][j] / (sqrt(s.pivot[row]) * s.scale[column])
			                      : 0;
			a[row][column] = top_of(g, row, column);
			below[i][j] = x[row][column];
		}
	fine = __syncthreads_and(fine);
	if (threadIdx.x == 0)
		*g.done = fine;
	if (!fine)
		return;
	multiply<false>(a, x, top);
	eliminate<true, true>(s, top, below);
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			x[row][column] = row <= column ? top[i][j] : 0; /* U */
			g.v[row * ORDER + column] =
			        row > column ? (double)(float)top[i][j] : row == column;
			g.y[row * ORDER + column] = below[i][j];
		}
	__syncthreads();
	multiply<false>(x, r, top);
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++)
			g.y_inverse[at_row(i) * ORDER + at_column(j)] = top[i][j];
}

/* From V2^T V2: tau and R; they and V1 go to the panel. */
__global__ void __launch_bounds__(SIDE *SIDE) finish_kernel(const struct panel g)
{
	extern __shared__ double memory[];
	struct small &s = *(struct small *)memory;
	square &v = s.matrix[0], &other = s.matrix[1], &third = s.matrix[2];
	quarter a, top, below, more;

	early_begin();
	if (!*g.done)
		return;
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			v[row][column] = g.v[row * ORDER + column];
			other[row][column] = a[i][j] = top_of(g, row, column);
			third[row][column] = g.y_inverse[row * ORDER + column];
		}
	__syncthreads();
	multiply<true>(v, v, top);
	multiply<true>(other, v, below);
	__syncthreads();
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			other[row][column] = g.sums[row * ORDER + column];
			top[i][j] += other[row][column];
			if (row == column) {
				/* a vector of nothing but its 1 */
				s.scale[row] = top[i][j] == 1 ? -1 : 1;
				if (row < g.n)
					g.tau[row] = top[i][j] == 1 ? 0.0f : (float)(2 / top[i][j]);
			}
			top[i][j] = row < column ? top[i][j] : row == column ? top[i][j] / 2 : 0;
		}
	__syncthreads();
	multiply<true>(third, other, more);
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++)
			below[i][j] += more[i][j]; /* W^T */
	eliminate<false, false>(s, top, below);
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++)
			third[at_column(j)][at_row(i)] = below[i][j]; /* T^T W */
	__syncthreads();
	multiply<false>(v, third, more);
#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			const double value = row <= column ? s.scale[row] * (a[i][j] - more[i][j])
			                                   : v[row][column];
			if (row < g.n && column < g.n)
				g.a[row + column * g.lda] = (float)value;
		}
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
	return 16 + (4 * ORDER * ORDER + blocks * TILE_WORDS) * 8;
}

extern "C" bool panel_geqrf_gram_fits(int64_t m, int64_t n)
{
	return n <= ORDER && m >= 2 * n &&
	       device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8 &&
	       device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >=
	               (int)sizeof(struct small);
}

extern "C" int panel_geqrf_gram(float *a, int64_t lda, int64_t m, int64_t n, float *tau, int *done,
        void *work, void *stream)
{
	const cudaStream_t queue = (cudaStream_t)stream;
	double *room = (double *)work + 2; /* the caller may have *done in front */
	struct panel g = {a, lda, m, (int)n, tau, done, room, room + ORDER * ORDER,
	        room + 2 * ORDER * ORDER, room + 3 * ORDER * ORDER, room + 4 * ORDER * ORDER,
	        device_attribute(cudaDevAttrMultiProcessorCount)};
	const int64_t bytes = sizeof(struct small);
	gram_kernel<<<g.blocks, THREADS, 0, queue>>>(g);
	cudaError_t error = cudaGetLastError();
	if (error == cudaSuccess)
		error = early_launch(sum_kernel<false>, SUM_BLOCKS, THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = early_launch(reconstruct_kernel, 1, SIDE * SIDE, bytes, g, stream);
	if (error == cudaSuccess)
		error = early_launch(vectors_kernel, g.blocks, THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = early_launch(sum_kernel<true>, SUM_BLOCKS, THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = early_launch(finish_kernel, 1, SIDE * SIDE, bytes, g, stream);
	return (int)error;
}
