/* SPDX-License-Identifier: MIT */
/* Kernels of the bank_conflict probe; bank_conflict.c has the method. Places are computed before
 * the loop; 32 accesses are unrolled; both clocks are read around the loop, after one round of the
 * same code. Unused results of atomics would turn them into reductions. */
#include "bank_conflict.h"
#include "lib/device/clock.cuh"
#include "bank_conflict_operations.cuh"

namespace
{

/* Rounds of `work`: one to warm up, then the timed ones. No warp starts before all have read the
 * clock. A thread stores its last value at `kept`: the clock is read after the value has arrived.
 */
template <class work_type>
DEVICE void timed_rounds(work_type work, uint32_t kept, int64_t rounds, struct gpu_span *timed)
{
#pragma unroll 1
	for (int phase = 0; phase < 2; ++phase) {
		const int64_t count = phase == 0 ? 1 : rounds;
		__syncthreads();
		span_start(timed);
		__syncthreads();
#pragma unroll 1
		for (int64_t i = 0; i < count; ++i) {
#pragma unroll
			for (uint32_t k = 0; k < BANK_UNROLL; ++k)
				work.once(k);
		}
		shared_store(kept, work.last());
		__syncthreads();
		span_stop(timed);
	}
}

template <class work_type>
__global__ void __launch_bounds__(1024) shared_kernel(
        struct bank_lanes lanes, uint32_t areas, int64_t rounds, struct bank_result *result)
{
	extern __shared__ __align__(128) uint32_t memory[];
	struct gpu_span whole, timed;
	span_start(&whole);
	const uint32_t base = (uint32_t)__cvta_generic_to_shared(memory), me = threadIdx.x;
	const uint32_t kept = base + areas * BANK_AREA + 4 * me;
	for (uint32_t i = me; i < areas * (BANK_AREA / 4); i += blockDim.x)
		memory[i] = random_float(i);
	__syncthreads();
	work_type work;
	work.prepare(base + me / 32 % areas * BANK_AREA + lanes.offset[me % 32]);
	timed_rounds(work, kept, rounds, &timed);
	span_stop(&whole);
	if (me == 0) {
		result[blockIdx.x].timed = timed;
		result[blockIdx.x].whole = whole;
	}
}

/* ---- atomics in global memory ---- */

template <int operation, int atomic>
__global__ void __launch_bounds__(1024) global_kernel(
        char *memory, uint32_t stride, uint32_t words, int64_t rounds, struct bank_result *result)
{
	typedef typename word<operation>::type word_type;
	const bool real = operation == BANK_F32 || operation == BANK_F64;
	const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	/* a float in [1, 2), or two of them as one double near 1 */
	const uint32_t half = unknown(random_float(i) & ~1u);
	const word_type top = sizeof top == 8 ? (word_type)((uint64_t)half << 32 | half) : half;
	word_type v = top, sum = 0;
	struct gpu_span whole, timed;
	span_start(&whole);
	/* a warm-up of other blocks would fall into the time of the grid */
#pragma unroll 1
	for (int phase = atomic == BANK_DEPENDENT ? 0 : 1; phase < 2; ++phase) {
		const int64_t count = phase == 0 ? 1 : rounds;
		__syncthreads();
		span_start(&timed);
		__syncthreads();
#pragma unroll 1
		for (int64_t round = 0; round < count; ++round) {
			/* Other lines and L2 slices in every round. The address must not be visibly
			 * equal for all threads: the compiler would first add the operands of a
			 * warp. */
			const uint32_t at =
			        atomic == BANK_DEPENDENT
			                ? (uint32_t)round * 37 % 512 * 128 + i * 8
			                : (i + (uint32_t)round * gridDim.x * blockDim.x) % words *
			                          stride;
			char *const p = memory + at;
#pragma unroll
			for (int k = 0; k < BANK_UNROLL; ++k)
				if (atomic == BANK_DEPENDENT) {
					v = returned((word_type *)(p + k * BANK_SPREAD), v, real);
					if (real)
						v = top | (v & 1);
				} else if (atomic == BANK_ATOM) {
					sum ^= returned((word_type *)p, v, real);
				} else {
					reduced((word_type *)p, v, real);
				}
		}
		if ((sum ^ v) == 1) /* hardly ever, but it keeps the value alive */
			*(volatile word_type *)memory = 0;
		__threadfence();
		__syncthreads();
		span_stop(&timed);
	}
	span_stop(&whole);
	if (threadIdx.x == 0) {
		result[blockIdx.x].timed = timed;
		result[blockIdx.x].whole = whole;
	}
}

/* ---- kernels of a launch ---- */

typedef void (*shared_entry)(struct bank_lanes, uint32_t, int64_t, struct bank_result *);
typedef void (*global_entry)(char *, uint32_t, uint32_t, int64_t, struct bank_result *);

template <int width, int step> shared_entry plain_entry(enum bank_access access)
{
	return access == BANK_CHAIN  ? shared_kernel<plain<width, BANK_CHAIN, step>>
	       : access == BANK_LOAD ? shared_kernel<plain<width, BANK_LOAD, step>>
	                             : shared_kernel<plain<width, BANK_STORE, step>>;
}

template <int operation> shared_entry atomic_entry(enum bank_atomic atomic)
{
	return atomic == BANK_DEPENDENT ? shared_kernel<shared_atomic<operation, BANK_DEPENDENT>>
	                                : shared_kernel<shared_atomic<operation, BANK_RED>>;
}

template <int operation> global_entry global_atomic_entry(enum bank_atomic atomic)
{
	return atomic == BANK_DEPENDENT ? global_kernel<operation, BANK_DEPENDENT>
	       : atomic == BANK_ATOM    ? global_kernel<operation, BANK_ATOM>
	                                : global_kernel<operation, BANK_RED>;
}

shared_entry shared_entry_of(const struct bank_launch *l)
{
	if (l->kind == BANK_PLAIN)
		return l->tile         ? plain_entry<4, 4>(l->access)
		       : l->width == 4 ? plain_entry<4, 0>(l->access)
		       : l->width == 8 ? plain_entry<8, 0>(l->access)
		                       : plain_entry<16, 0>(l->access);
	return l->operation == BANK_U32   ? atomic_entry<BANK_U32>(l->atomic)
	       : l->operation == BANK_F32 ? atomic_entry<BANK_F32>(l->atomic)
	                                  : atomic_entry<BANK_CAS>(l->atomic);
}

global_entry global_entry_of(const struct bank_launch *l)
{
	return l->operation == BANK_U32   ? global_atomic_entry<BANK_U32>(l->atomic)
	       : l->operation == BANK_F32 ? global_atomic_entry<BANK_F32>(l->atomic)
	       : l->operation == BANK_U64 ? global_atomic_entry<BANK_U64>(l->atomic)
	                                  : global_atomic_entry<BANK_F64>(l->atomic);
}

} // namespace

extern "C" int bank_launch(const struct bank_launch *l)
{
	const unsigned blocks = (unsigned)l->blocks, threads = (unsigned)l->threads;
	if (l->kind == BANK_GLOBAL_ATOMIC) {
		global_entry_of(l)<<<blocks, threads>>>(
		        (char *)l->memory, l->stride, l->words, l->rounds, l->result);
		return (int)cudaGetLastError();
	}
	const shared_entry kernel = shared_entry_of(l);
	const size_t bytes = (size_t)l->areas * BANK_AREA + (size_t)l->threads * 4;
	const cudaError_t error = cudaFuncSetAttribute(
	        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return (int)error;
	kernel<<<blocks, threads, bytes>>>(l->lanes, (uint32_t)l->areas, l->rounds, l->result);
	return (int)cudaGetLastError();
}
