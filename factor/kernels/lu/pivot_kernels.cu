/* SPDX-License-Identifier: MIT */
/* Row swaps of LU, pivots and info in device memory. */
#include "factor/kernels/blocks/block_kernels.h"

namespace
{

const int CHUNK = 128;         /* swaps composed into one permutation */
const int THREADS = 2 * CHUNK; /* one for each row that they can touch */
const int COLUMNS = 8;         /* per thread in flight */
const int MAX_BLOCKS = 256;    /* more would spend their time on the permutation */

/* Source of the row that `count` swaps, of rows i and pivot[i], bring to row d. */
__device__ int source_of(const int *pivot, int count, bool backwards, int d)
{
	if (backwards) {
#pragma unroll 8
		for (int i = 0; i < count; i++)
			d = d == i ? pivot[i] : d == pivot[i] ? i : d;
	} else {
#pragma unroll 8
		for (int i = count - 1; i >= 0; i--)
			d = d == i ? pivot[i] : d == pivot[i] ? i : d;
	}
	return d;
}

/* The pivots of a panel's second half, which follow the pivots of its first half. */
struct joined {
	const int *half;
	int n, first;
	int *all; /* NULL: nothing is joined */
};
const struct joined joined_none = {NULL, 0, 0, NULL};

/* By one block. The first half's info is stored where the second half's first pivot goes. */
__device__ void join_pivots(struct joined j)
{
	const int info = j.all[j.first], other = j.half[j.n];
	__syncthreads();
	for (int i = (int)threadIdx.x; i < j.n; i += (int)blockDim.x)
		j.all[j.first + i] = j.half[i] + j.first;
	if (threadIdx.x == 0)
		j.all[j.first + j.n] = info != 0 ? info : other != 0 ? other + j.first : 0;
}

/* Rows count from row `first` of the matrix, where the `count` swaps begin; a points there; rows is
 * the number of rows from there. Threads 0 .. CHUNK-1 fill the rows of the chunk, the others the
 * rows outside it that its pivots name. Every block composes the permutation itself, then processes
 * columns: a column is read completely before it is written, so each row is touched once. One more
 * block joins pivots.
 *
 * Cost: per column 2 count contiguous words and as many sectors of 32 bytes elsewhere. */
template <typename T>
__global__ void __launch_bounds__(THREADS) laswp_kernel(T *a, int64_t lda, int64_t rows, int64_t n,
        const int *ipiv, int first, int count, bool backwards, struct joined joined)
{
	__shared__ int pivot[CHUNK];
	const int t = threadIdx.x, slot = t % CHUNK;
	const unsigned blocks = gridDim.x - (joined.all ? 1 : 0);
	if (blockIdx.x == blocks) {
		join_pivots(joined);
		return;
	}
	if (t < count) {
		const int64_t p = (int64_t)ipiv[t] - 1 - first;
		pivot[t] = p >= t && p < rows ? (int)p : t;
	}
	__syncthreads();

	bool moves = slot < count;
	int to = slot;
	if (moves && t >= CHUNK) {
		to = pivot[slot];
		moves = to >= count;
#pragma unroll 8
		for (int i = 0; i < slot; i++) /* an earlier pivot names the same row */
			moves &= pivot[i] != to;
	}
	const int from = moves ? source_of(pivot, count, backwards, to) : to;
	moves = moves && from != to;

	for (int64_t j = (int64_t)blockIdx.x * COLUMNS; j < n; j += (int64_t)blocks * COLUMNS) {
		T value[COLUMNS];
		T *column = a + j * lda;
		if (moves) {
#pragma unroll
			for (int c = 0; c < COLUMNS; c++)
				if (j + c < n)
					value[c] = column[from + c * lda];
		}
		__syncthreads();
		if (moves) {
#pragma unroll
			for (int c = 0; c < COLUMNS; c++)
				if (j + c < n)
					column[to + c * lda] = value[c];
		}
	}
}

template <typename T>
int laswp(struct matrix a, struct pivots p, bool backwards, struct joined joined, void *stream)
{
	const int64_t wanted = (a.n + COLUMNS - 1) / COLUMNS, chunks = (p.n + CHUNK - 1) / CHUNK;
	const unsigned blocks = (unsigned)(wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS);
	for (int64_t c = 0; c < chunks; c++) {
		const bool joins = joined.all && c == chunks - 1;
		if (blocks == 0 && !joins)
			continue;
		const int64_t first = (backwards ? chunks - 1 - c : c) * CHUNK;
		const int64_t count = p.n - first < CHUNK ? p.n - first : CHUNK;
		laswp_kernel<<<blocks + joins, THREADS, 0, (cudaStream_t)stream>>>(
		        (T *)matrix_address(a) + first, a.ld, a.m - first, a.n, p.data + first,
		        (int)first, (int)count, backwards, joins ? joined : joined_none);
	}
	return (int)cudaGetLastError();
}

__global__ void offset_pivots_kernel(
        const int *panel, int64_t n, int first, int *all, int64_t all_n)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		all[first + i] = panel[i] + first;
	if (i == 0 && panel[n] != 0 && all[all_n] == 0)
		all[all_n] = panel[n] + first;
}

__global__ void raise_info_kernel(int value, int *info)
{
	if (*info == 0)
		*info = value;
}

/* By one block; the diagonal is `count` sectors of 32 bytes. Scaling is rare, and slow. */
template <typename T>
__global__ void check_triangle_kernel(T *a, int64_t lda, int count, T *b, int64_t ldb, int columns,
        double limit, double tiny, int *info, int *doubtful)
{
	/* magnitudes as bits, in which NaN is the largest */
	__shared__ unsigned long long least, most;
	__shared__ int first;
	if (threadIdx.x == 0) {
		first = count;
		least = ~0ull;
		most = 0;
	}
	__syncthreads();
	for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
		const double size = fabs((double)a[i + i * lda]);
		const unsigned long long bits = (unsigned long long)__double_as_longlong(size);
		if (size == 0)
			atomicMin(&first, i);
		atomicMin(&least, bits);
		atomicMax(&most, bits);
	}
	__syncthreads();
	const double largest = __longlong_as_double((long long)most);
	if (threadIdx.x == 0) {
		*info = first < count ? first + 1 : 0;
		if (doubtful && isfinite(largest) &&
		        __longlong_as_double((long long)least) <= limit * largest)
			*doubtful = 1;
	}
	if (!(largest > 0 && largest < tiny))
		return;
	const T up = (T)ldexp(1.0, ilogb(tiny) - ilogb(largest));
	for (int j = 0; j < count; j++)
		for (int i = (int)threadIdx.x; i <= j; i += (int)blockDim.x)
			a[i + j * lda] *= up;
	for (int j = 0; j < columns; j++)
		for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
			b[i + j * ldb] *= up;
}

template <typename T>
int check_triangle(struct matrix a, struct matrix b, int *info, int *doubtful, void *stream)
{
	check_triangle_kernel<<<1, 1024, 0, (cudaStream_t)stream>>>((T *)matrix_address(a), a.ld,
	        (int)a.n, (T *)matrix_address(b), b.ld, (int)b.n, diagonal_limit(a),
	        diagonal_tiny(a), info, doubtful);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int block_laswp(struct matrix a, struct pivots p, bool backwards, void *stream)
{
	return a.precision == SINGLE ? laswp<float>(a, p, backwards, joined_none, stream)
	                             : laswp<double>(a, p, backwards, joined_none, stream);
}

extern "C" int block_offset_pivots(
        struct pivots panel, int64_t first, struct pivots all, void *stream)
{
	offset_pivots_kernel<<<(unsigned)(panel.n / 128 + 1), 128, 0, (cudaStream_t)stream>>>(
	        panel.data, panel.n, (int)first, all.data, all.n);
	return (int)cudaGetLastError();
}

extern "C" int block_join_halves(
        struct matrix beside, struct pivots half, int64_t first, struct pivots all, void *stream)
{
	const struct joined joined = {half.data, (int)half.n, (int)first, all.data};
	return beside.precision == SINGLE ? laswp<float>(beside, half, false, joined, stream)
	                                  : laswp<double>(beside, half, false, joined, stream);
}

extern "C" int block_raise_info(int value, int *info, void *stream)
{
	raise_info_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(value, info);
	return (int)cudaGetLastError();
}

extern "C" int block_check_triangle(
        struct matrix a, struct matrix b, int *info, int *doubtful, void *stream)
{
	return a.precision == SINGLE ? check_triangle<float>(a, b, info, doubtful, stream)
	                             : check_triangle<double>(a, b, info, doubtful, stream);
}
