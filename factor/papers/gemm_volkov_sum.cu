/* SPDX-License-Identifier: MIT */
/* The second kernel of the vector-thread product for small C (LAPACK Working Note 202, section
 * 4.3): adds the parts of k that gemm_volkov.cu summed.
 *
 * Cost: (splits + 2) m n words read and written, and a launch. */
#include "gemm_volkov.h"

#include <cuda_runtime_api.h>

namespace
{

const int ROWS = 64, COLUMNS = 4; /* threads of a block, one per element of C */
const int MOST_BLOCKS = 65535;    /* along C's columns */

__global__ void __launch_bounds__(ROWS *COLUMNS) sum_kernel(const __grid_constant__ volkov_call p)
{
	const int64_t i = (int64_t)blockIdx.x * ROWS + threadIdx.x;
	if (i >= p.m)
		return;
	for (int64_t j = (int64_t)blockIdx.y * COLUMNS + threadIdx.y; j < p.n;
	        j += (int64_t)gridDim.y * COLUMNS) {
		float *c = p.c + i + j * p.ldc, sum = 0;
#pragma unroll 4
		for (int s = 0; s < p.splits; s++)
			sum += p.work[i + (j + s * p.n) * p.m];
		*c = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * *c;
	}
}

} // namespace

extern "C" int gemm_volkov_sum(const struct volkov_call *call, void *stream)
{
	const dim3 blocks((unsigned)((call->m + ROWS - 1) / ROWS),
	        (unsigned)min((call->n + COLUMNS - 1) / COLUMNS, (int64_t)MOST_BLOCKS));
	sum_kernel<<<blocks, dim3(ROWS, COLUMNS), 0, (cudaStream_t)stream>>>(*call);
	return (int)cudaGetLastError();
}
