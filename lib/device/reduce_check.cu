/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "barrier_check.h"
#include "gpu.h"
#include "reduce.cuh"

namespace
{

enum { REPETITIONS = 5 };

template <typename real, typename key_type>
__global__ void __launch_bounds__(1024)
        reduce_kernel(const real *x, uint32_t n, uint32_t *index, real *sum)
{
	__shared__ extreme_scratch<key_type> extreme_scratch;
	__shared__ sum_scratch<real> sum_scratch;
	extreme<key_type> best = {0, NO_INDEX};
	real total = 0;
	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
		best = extreme_of(best, {magnitude_key(x[i]), i});
		total += x[i];
	}
	for (int k = 0; k < REPETITIONS; ++k) {
		const uint32_t at = (uint32_t)k * blockDim.x + threadIdx.x;
		index[at] = block_extreme(best, &extreme_scratch, k % 2).index;
		sum[at] = block_sum(total, &sum_scratch, k % 2);
	}
}

template <typename real, typename key_type>
void reduce_check_run(const real *x, uint32_t n, int threads, struct reduce_check *check)
{
	const size_t answers = (size_t)threads * REPETITIONS;
	real *device_x, *sum;
	uint32_t *index;
	GPU(cudaMalloc((void **)&device_x, (n + 1) * sizeof *device_x));
	GPU(cudaMemcpy(device_x, x, n * sizeof *x, cudaMemcpyHostToDevice));
	GPU(cudaMallocHost((void **)&index, answers * sizeof *index));
	GPU(cudaMallocHost((void **)&sum, answers * sizeof *sum));
	reduce_kernel<real, key_type><<<1, threads>>>(device_x, n, index, sum);
	GPU(cudaGetLastError());
	GPU(cudaDeviceSynchronize());
	*check = {index[0], (double)sum[0], true};
	for (size_t i = 1; i < answers; ++i)
		check->same = check->same && index[i] == index[0] &&
		              (sum[i] == sum[0] || (sum[i] != sum[i] && sum[0] != sum[0]));
	GPU(cudaFree(device_x));
	GPU(cudaFreeHost(index));
	GPU(cudaFreeHost(sum));
}

} // namespace

extern "C" void reduce_check_float(
        const float *x, uint32_t n, int threads, struct reduce_check *check)
{
	reduce_check_run<float, uint32_t>(x, n, threads, check);
}

extern "C" void reduce_check_double(
        const double *x, uint32_t n, int threads, struct reduce_check *check)
{
	reduce_check_run<double, uint64_t>(x, n, threads, check);
}
