/* SPDX-License-Identifier: MIT */
/* The small kernels behind gpu.h: stamps, hold, warm-up, random data. */
#include "lib/base/base.h"
#include "clock.cuh"
#include "gpu.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

/* ---- in-stream stamps ---- */

struct stamp {
	uint64_t ns;
	int64_t cycles;
};

struct gpu_timer {
	int blocks, count;          /* as many blocks as SMs; numbers of SMs are below count */
	struct stamp *start, *stop; /* pinned, one per number */
};

__global__ void stamp_kernel(struct stamp *stamps, int count)
{
	unsigned sm;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	if (threadIdx.x == 0 && sm < (unsigned)count) {
		stamps[sm].cycles = clock64();
		stamps[sm].ns = device_ns();
	}
}

extern "C" struct gpu_timer *gpu_timer_new(const struct gpu *gpu)
{
	struct gpu_timer *timer = (struct gpu_timer *)xcalloc(1, sizeof *timer);
	timer->blocks = gpu->device_sms; /* their numbers do not change in a part */
	timer->count = gpu->sm_numbers;
	size_t bytes = (size_t)timer->count * sizeof(struct stamp);
	GPU(cudaMallocHost((void **)&timer->start, bytes));
	GPU(cudaMallocHost((void **)&timer->stop, bytes));
	/* loads the kernel: behind a hold that would wait for the hold's end */
	gpu_timer_start(timer, NULL);
	GPU(cudaDeviceSynchronize());
	return timer;
}

extern "C" void gpu_timer_free(struct gpu_timer *timer)
{
	if (!timer)
		return;
	cudaFreeHost(timer->start);
	cudaFreeHost(timer->stop);
	free(timer);
}

static void stamp(const struct gpu_timer *timer, struct stamp *stamps, void *stream)
{
	for (int i = 0; i < timer->count; i++)
		stamps[i].ns = 0;
	stamp_kernel<<<timer->blocks, 32, 0, (cudaStream_t)stream>>>(stamps, timer->count);
	GPU(cudaGetLastError());
}

extern "C" void gpu_timer_start(struct gpu_timer *timer, void *stream)
{
	stamp(timer, timer->start, stream);
}

extern "C" void gpu_timer_stop(struct gpu_timer *timer, void *stream)
{
	stamp(timer, timer->stop, stream);
}

/* An SM that a stamp kernel's blocks missed has ns = 0 and is passed over; all SMs read one global
 * timer, so the span is that of the first SM with both stamps whose elapsed cycles are the median
 * of all. */
extern "C" void gpu_timer_span(const struct gpu_timer *timer, struct gpu_span *span)
{
	double *cycles = (double *)xmalloc((size_t)timer->count * sizeof *cycles);
	size_t n = 0;
	for (int i = 0; i < timer->count; i++)
		if (timer->start[i].ns && timer->stop[i].ns)
			cycles[n++] = (double)(timer->stop[i].cycles - timer->start[i].cycles);
	double middle = stats_median(cycles, n);
	free(cycles);
	double nearest = INFINITY;
	*span = (struct gpu_span){0, 0, 0, 0};
	for (int i = 0; i < timer->count; i++) {
		const struct stamp *a = &timer->start[i], *b = &timer->stop[i];
		if (!a->ns || !b->ns)
			continue;
		double off = fabs((double)(b->cycles - a->cycles) - middle);
		if (off < nearest) {
			nearest = off;
			*span = (struct gpu_span){a->ns, b->ns, a->cycles, b->cycles};
		}
	}
}

/* ---- hold ---- */

struct gpu_hold {
	volatile int *release; /* pinned, mapped */
	volatile int *timed_out;
};

__global__ void hold_kernel(volatile int *release, volatile int *timed_out)
{
	uint64_t start = device_ns();
	while (!*release)
		if (device_ns() - start > 2000000000ull) {
			*timed_out = 1;
			return;
		}
}

extern "C" struct gpu_hold *gpu_hold_new(void)
{
	struct gpu_hold *hold = (struct gpu_hold *)xcalloc(1, sizeof *hold);
	GPU(cudaMallocHost((void **)&hold->release, 2 * sizeof(int)));
	hold->timed_out = hold->release + 1;
	*hold->release = 1;
	*hold->timed_out = 0;
	hold_kernel<<<1, 1>>>(hold->release, hold->timed_out); /* loads the kernel */
	GPU(cudaGetLastError());
	GPU(cudaDeviceSynchronize());
	return hold;
}

extern "C" void gpu_hold_free(struct gpu_hold *hold)
{
	if (!hold)
		return;
	cudaFreeHost((void *)hold->release);
	free(hold);
}

extern "C" void gpu_hold_start(struct gpu_hold *hold, void *stream)
{
	*hold->release = 0;
	*hold->timed_out = 0;
	hold_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(hold->release, hold->timed_out);
	GPU(cudaGetLastError());
}

extern "C" void gpu_hold_release(struct gpu_hold *hold)
{
	__atomic_store_n((int *)hold->release, 1, __ATOMIC_SEQ_CST);
}

extern "C" bool gpu_hold_ok(const struct gpu_hold *hold)
{
	return *hold->timed_out == 0;
}

static __global__ void null_kernel(void *unused)
{
	(void)unused;
}

extern "C" void gpu_null_launch(void *stream)
{
	null_kernel<<<1, 256, 0, (cudaStream_t)stream>>>(NULL);
}

/* ---- clocks ---- */

/* Smallest positive step of %globaltimer among many readings. */
__global__ void resolution_kernel(uint64_t *step)
{
	uint64_t best = ~0ull, last = device_ns();
	for (int i = 0; i < 20000; i++) {
		uint64_t now = device_ns();
		if (now != last && now - last < best)
			best = now - last;
		last = now;
	}
	*step = best;
}

extern "C" double gpu_timer_resolution(void)
{
	static double resolution; /* of this process; the device does not change it */
	if (resolution > 0)
		return resolution;
	uint64_t *step;
	GPU(cudaMallocHost((void **)&step, sizeof *step));
	resolution_kernel<<<1, 1>>>(step);
	GPU(cudaGetLastError());
	GPU(cudaDeviceSynchronize());
	resolution = *step == ~0ull ? 1e-6 : (double)*step * 1e-9;
	cudaFreeHost(step);
	return resolution;
}

/* Arithmetic on every SM for about two milliseconds; SM of block 0 reports its clocks. */
__global__ void warm_kernel(struct gpu_span *span, float *sink)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
		span_start(span);
	float a = (float)threadIdx.x, b = 0.999f;
	uint64_t start = device_ns();
	while (device_ns() - start < 2000000)
		for (int i = 0; i < 256; i++)
			a = a * b + 0.5f;
	if (a == 12345.0f)
		*sink = a;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		span_stop(span);
}

extern "C" double gpu_warm(const struct gpu *gpu, double seconds)
{
	struct gpu_span *span;
	float *sink;
	GPU(cudaMallocHost((void **)&span, sizeof *span));
	GPU(cudaMalloc((void **)&sink, sizeof *sink));
	double hz = 0, last = 0, elapsed = 0;
	int steady = 0;
	while (elapsed < seconds || (steady < 3 && elapsed < seconds + 2)) {
		warm_kernel<<<2 * gpu->sm_count, 256>>>(span, sink);
		GPU(cudaGetLastError());
		GPU(cudaDeviceSynchronize());
		double t = (double)(span->ns1 - span->ns0) * 1e-9;
		hz = (double)(span->cycles1 - span->cycles0) / t;
		steady = fabs(hz - last) < 0.003 * hz ? steady + 1 : 0;
		last = hz;
		elapsed += t;
	}
	cudaFreeHost(span);
	cudaFree(sink);
	return hz;
}

/* ---- random data ---- */

/* splitmix64 of seed and index: 64 well mixed bits for every element. */
static __device__ __forceinline__ uint64_t mixed_bits(uint64_t seed, uint64_t index)
{
	uint64_t z = seed * 0xd1342543de82ef95ull + (index + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

template <typename T> __global__ void fill_kernel(T *data, int64_t count, uint64_t seed)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
		data[i] = (T)((double)(int64_t)mixed_bits(seed, (uint64_t)i) * 0x1p-63);
}

extern "C" void gpu_fill_float(float *data, int64_t count, uint64_t seed, void *stream)
{
	fill_kernel<<<1024, 256, 0, (cudaStream_t)stream>>>(data, count, seed);
	GPU(cudaGetLastError());
}

extern "C" void gpu_fill_double(double *data, int64_t count, uint64_t seed, void *stream)
{
	fill_kernel<<<1024, 256, 0, (cudaStream_t)stream>>>(data, count, seed);
	GPU(cudaGetLastError());
}
