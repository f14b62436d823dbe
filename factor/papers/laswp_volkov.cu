/* SPDX-License-Identifier: MIT */
/* The pivoting of Volkov and Demmel (LAPACK Working Note 202, section 5): up to 64 row interchanges
 * per call, passed as kernel argument, one thread per column. In row-major layout the accesses of a
 * warp are contiguous; in column-major layout each is a sector of its own.
 *
 * Cost: 4 words per interchange and column, and `count` dependent round trips to L2 or DRAM. */
#include "laswp_volkov.h"

#include <cuda_runtime_api.h>

namespace
{

const int THREADS = 64; /* the paper's vector length */

struct exchanges {
	int count, row[LASWP_VOLKOV_MOST];
};

__global__ void exchange_kernel(float *a, int64_t n, int64_t row_step, int64_t column_step,
        const __grid_constant__ exchanges e)
{
	const int64_t column = (int64_t)blockIdx.x * THREADS + threadIdx.x;
	if (column >= n)
		return;
	a += column * column_step;
	for (int i = 0; i < e.count; i++) {
		float *x = a + i * row_step, *y = a + e.row[i] * row_step;
		const float kept = *x;
		*x = *y;
		*y = kept;
	}
}

} // namespace

extern "C" int laswp_volkov(float *a, int64_t n, int64_t row_step, int64_t column_step,
        const int *ipiv, int count, void *stream)
{
	struct exchanges e = {};
	if (count < 0 || count > LASWP_VOLKOV_MOST)
		return (int)cudaErrorInvalidValue;
	e.count = count;
	for (int i = 0; i < count; i++)
		e.row[i] = ipiv[i] - 1;
	if (n > 0)
		exchange_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0,
		        (cudaStream_t)stream>>>(a, n, row_step, column_step, e);
	return (int)cudaGetLastError();
}
