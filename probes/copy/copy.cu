/* SPDX-License-Identifier: MIT */
/* Kernels of the copy probe. Each thread keeps COPY_UNROLL independent accesses in flight and
 * strides by the whole grid: neighbouring threads touch neighbouring vectors. */
#include "copy.h"
#include "lib/device/gpu.h"

static DEVICE uint32_t copy_pattern(int64_t i)
{
	return (uint32_t)i * 2654435761u + 12345u;
}

static DEVICE int64_t thread_index(void)
{
	return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static DEVICE int64_t grid_threads(void)
{
	return (int64_t)gridDim.x * blockDim.x;
}

/* All loads of a round are issued before its first store. */
template <typename V>
static DEVICE void copy_vectors(
        const V *__restrict__ source, V *__restrict__ target, int64_t count, int64_t stride)
{
	int64_t step = grid_threads();
	for (int64_t i = thread_index(); i < count; i += COPY_UNROLL * step) {
		V v[COPY_UNROLL];
#pragma unroll
		for (int u = 0; u < COPY_UNROLL; u++)
			if (i + u * step < count)
				v[u] = source[(i + u * step) * stride];
#pragma unroll
		for (int u = 0; u < COPY_UNROLL; u++)
			if (i + u * step < count)
				target[(i + u * step) * stride] = v[u];
	}
}

template <typename V>
__global__ void __launch_bounds__(COPY_THREADS)
        copy_kernel(const V *__restrict__ source, V *__restrict__ target, int64_t count)
{
	copy_vectors(source, target, count, 1);
}

/* One access a thread, for grids that cover the whole array. */
__global__ void __launch_bounds__(COPY_THREADS)
        once_kernel(const uint4 *__restrict__ source, uint4 *__restrict__ target, int64_t count)
{
	int64_t i = thread_index();
	if (i < count)
		target[i] = source[i];
}

__global__ void __launch_bounds__(COPY_THREADS) strided_kernel(const uint32_t *__restrict__ source,
        uint32_t *__restrict__ target, int64_t words, int64_t stride)
{
	copy_vectors(source, target, words, stride);
}

/* LAWN 202, section 3.7: one kernel copies the short unaligned head and the long aligned body. */
__global__ void __launch_bounds__(COPY_THREADS) head_kernel(
        const uint32_t *__restrict__ source, uint32_t *__restrict__ target, int64_t words)
{
	int64_t past_line = (int64_t)((uintptr_t)source % COPY_LINE / 4);
	int64_t head = past_line ? COPY_LINE / 4 - past_line : 0;
	head = head < words ? head : words;
	int64_t vectors = (words - head) / 4, tail = head + 4 * vectors, i = thread_index();
	if (i < head)
		target[i] = source[i];
	if (i < words - tail)
		target[tail + i] = source[tail + i];
	copy_vectors((const uint4 *)(source + head), (uint4 *)(target + head), vectors, 1);
}

/* The sum keeps the loads alive: no sum of numbers in (-1,1) reaches `never`. */
__global__ void __launch_bounds__(COPY_THREADS)
        read_kernel(const float4 *__restrict__ source, float *target, int64_t count, float never)
{
	int64_t step = grid_threads();
	float sum[COPY_UNROLL] = {0};
	for (int64_t i = thread_index(); i < count; i += COPY_UNROLL * step) {
		float4 v[COPY_UNROLL];
#pragma unroll
		for (int u = 0; u < COPY_UNROLL; u++)
			if (i + u * step < count)
				v[u] = source[i + u * step];
#pragma unroll
		for (int u = 0; u < COPY_UNROLL; u++)
			if (i + u * step < count)
				sum[u] += v[u].x + v[u].y + v[u].z + v[u].w;
	}
#pragma unroll
	for (int u = 1; u < COPY_UNROLL; u++)
		sum[0] += sum[u];
	if (sum[0] > never)
		target[0] = sum[0];
}

__global__ void __launch_bounds__(COPY_THREADS) write_kernel(uint4 *target, int64_t count)
{
	int64_t step = grid_threads();
#pragma unroll COPY_UNROLL
	for (int64_t i = thread_index(); i < count; i += step)
		target[i] = make_uint4(copy_pattern(4 * i), copy_pattern(4 * i + 1),
		        copy_pattern(4 * i + 2), copy_pattern(4 * i + 3));
}

/* In place, one access a thread; repetition changes nothing. */
__global__ void __launch_bounds__(COPY_THREADS) change_kernel(uint4 *target, int64_t count)
{
	int64_t i = thread_index();
	if (i >= count)
		return;
	uint4 v = target[i];
	v.x |= copy_pattern(4 * i);
	v.y |= copy_pattern(4 * i + 1);
	v.z |= copy_pattern(4 * i + 2);
	v.w |= copy_pattern(4 * i + 3);
	target[i] = v;
}

static const void *kernel_of(const struct copy_launch *launch)
{
	switch (launch->kind) {
	case COPY_READ:
		return (const void *)read_kernel;
	case COPY_WRITE:
		return (const void *)write_kernel;
	case COPY_CHANGE:
		return (const void *)change_kernel;
	case COPY_STRIDED:
		return (const void *)strided_kernel;
	case COPY_HEAD:
		return (const void *)head_kernel;
	case COPY_BOTH:
		break;
	}
	bool covers = (int64_t)launch->blocks * launch->threads >= launch->words / 4;
	if (launch->width == 16 && covers)
		return (const void *)once_kernel;
	return launch->width == 16  ? (const void *)copy_kernel<uint4>
	       : launch->width == 8 ? (const void *)copy_kernel<uint2>
	                            : (const void *)copy_kernel<uint32_t>;
}

extern "C" int copy_blocks_per_sm(const struct copy_launch *launch)
{
	int blocks = 0;
	GPU(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
	        &blocks, kernel_of(launch), COPY_THREADS, 0));
	return blocks;
}

extern "C" void copy_start(const struct copy_launch *launch, void *stream)
{
	const uint32_t *source = launch->source;
	uint32_t *target = launch->target;
	int64_t words = launch->words, vectors = words / (launch->width / 4);
	int64_t stride = launch->stride;
	float never = 1e30f;
	void *copy[] = {&source, &target, &vectors};
	void *read[] = {&source, &target, &vectors, &never};
	void *write[] = {&target, &vectors};
	void *strided[] = {&source, &target, &words, &stride};
	void *head[] = {&source, &target, &words};
	void **const arguments[] = {copy, read, write, write, strided, head}; /* by kind */
	GPU(cudaLaunchKernel(kernel_of(launch), launch->blocks, launch->threads,
	        arguments[launch->kind], 0, (cudaStream_t)stream));
}

/* The right value of the i-th word of the target. */
static __device__ uint32_t expected(enum copy_kind kind, uint32_t source, int64_t i)
{
	const uint32_t poison = COPY_POISON * 0x01010101u;
	return kind == COPY_WRITE    ? copy_pattern(i)
	       : kind == COPY_CHANGE ? poison | copy_pattern(i)
	                             : source;
}

__global__ void wrong_kernel(const uint32_t *source, const uint32_t *target, int64_t words,
        int64_t stride, enum copy_kind kind, unsigned long long *wrong)
{
	unsigned long long count = 0;
	for (int64_t i = thread_index(); i < words; i += grid_threads())
		count += target[i * stride] != expected(kind, source[i * stride], i);
	if (count)
		atomicAdd(wrong, count);
}

extern "C" int64_t copy_wrong_words(
        const struct copy_launch *launch, unsigned long long *wrong, void *stream)
{
	unsigned long long count = 0;
	cudaStream_t s = (cudaStream_t)stream;
	if (launch->kind == COPY_READ)
		return 0; /* writes nothing */
	GPU(cudaMemsetAsync(wrong, 0, sizeof *wrong, s));
	wrong_kernel<<<1024, COPY_THREADS, 0, s>>>(
	        launch->source, launch->target, launch->words, launch->stride, launch->kind, wrong);
	GPU(cudaGetLastError());
	GPU(cudaMemcpyAsync(&count, wrong, sizeof count, cudaMemcpyDeviceToHost, s));
	GPU(cudaStreamSynchronize(s));
	return (int64_t)count;
}
