/* SPDX-License-Identifier: MIT */
/* Kernels that move data: a transpose through shared memory with and without padding, and a gather
 * of single words. */
#include "foreign.h"

#include "lib/device/gpu.h"

#include <cuda_runtime.h>

/* ---- transpose ---- */

enum { SIDE = 8192, TILE = 32, ROWS = 8 };

/* Without padding a column of the tile lies in one bank. */
template <int PADDING>
static __global__ void __launch_bounds__(TILE *ROWS)
        transpose_kernel(const float *__restrict__ in, float *__restrict__ out)
{
	__shared__ float tile[TILE][TILE + PADDING];
	int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;

#pragma unroll
	for (int r = 0; r < TILE; r += ROWS)
		tile[threadIdx.y + r][threadIdx.x] = in[(row + r) * SIDE + column];
	__syncthreads();
	column = blockIdx.y * TILE + threadIdx.x;
	row = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
	for (int r = 0; r < TILE; r += ROWS)
		out[(row + r) * SIDE + column] = tile[threadIdx.x][threadIdx.y + r];
}

template <int PADDING> static int transpose(void *const *piece, void *stream)
{
	transpose_kernel<PADDING>
	        <<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, ROWS), 0, (cudaStream_t)stream>>>(
	                (const float *)piece[0], (float *)piece[1]);
	return cudaGetLastError();
}

static void fill_matrix(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], (int64_t)SIDE * SIDE, seed, stream);
}

static bool is_transpose(void *const *piece)
{
	const float *in = (const float *)piece[0], *out = (const float *)piece[1];
	bool same = true;

	for (int64_t i = 0; i < SIDE; i++)
		for (int64_t j = 0; j < SIDE; j++)
			same &= in[i * SIDE + j] == out[j * SIDE + i];
	return same;
}

/* ---- gather ---- */

static const int64_t gathered = (int64_t)1 << 26, words = (int64_t)1 << 28;
enum { GATHER_THREADS = 256 };

static __global__ void __launch_bounds__(GATHER_THREADS) gather_kernel(
        const float *__restrict__ from, const unsigned *__restrict__ index, float *__restrict__ out)
{
	const int64_t i = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;

	out[i] = from[index[i] % (1u << 28)];
}

static int gather(void *const *piece, void *stream)
{
	gather_kernel<<<(unsigned)(gathered / GATHER_THREADS), GATHER_THREADS, 0,
	        (cudaStream_t)stream>>>(
	        (const float *)piece[0], (const unsigned *)piece[1], (float *)piece[2]);
	return cudaGetLastError();
}

static void fill_gather(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], words, seed, stream);
	foreign_fill_words(piece[1], gathered, seed + 1, stream);
}

static bool is_gathered(void *const *piece)
{
	const float *from = (const float *)piece[0], *out = (const float *)piece[2];
	const unsigned *index = (const unsigned *)piece[1];
	bool same = true;

	for (int64_t i = 0; i < gathered; i++)
		same &= out[i] == from[index[i] % words];
	return same;
}

/* ---- random words ---- */

static __global__ void words_kernel(unsigned *out, int64_t count, uint64_t seed)
{
	const int64_t step = (int64_t)gridDim.x * blockDim.x;

	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		/* splitmix64 at position i of the seed's sequence */
		uint64_t z = (seed * 0x632be59bd9b4e019u + (uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		out[i] = (unsigned)((z ^ (z >> 31)) >> 32);
	}
}

void foreign_fill_words(void *out, int64_t count, uint64_t seed, void *stream)
{
	words_kernel<<<1024, 256, 0, (cudaStream_t)stream>>>((unsigned *)out, count, seed);
	GPU(cudaGetLastError());
}

static const size_t matrix_bytes = sizeof(float) * SIDE * SIDE;

extern "C" const struct foreign_kernel foreign_moves[] = {
        {"transpose_plain", "transpose of 8192 x 8192, a tile's columns in one bank",
                {matrix_bytes, matrix_bytes, 0}, fill_matrix, transpose<0>, is_transpose},
        {"transpose_padded", "the same with a padded tile", {matrix_bytes, matrix_bytes, 0},
                fill_matrix, transpose<1>, is_transpose},
        {"gather", "2^26 random words out of 2^28",
                {sizeof(float) << 28, sizeof(unsigned) << 26, sizeof(float) << 26}, fill_gather,
                gather, is_gathered},
        {NULL, NULL, {0, 0, 0}, NULL, NULL, NULL}};
