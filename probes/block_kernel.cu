/* SPDX-License-Identifier: MIT */
/* The kernel between the calls that block_kernel times beside products. */
#include "block_kernel.h"

namespace
{

__global__ void pause_kernel(int64_t cycles)
{
	const int64_t start = clock64();
	while (clock64() - start < cycles)
		;
}

} // namespace

extern "C" int block_kernel_pause(int64_t cycles, void *stream)
{
	pause_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(cycles);
	return (int)cudaGetLastError();
}
