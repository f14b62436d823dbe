/* SPDX-License-Identifier: MIT */
/* Kernels of the pointer_chase probe; pointer_chase.c has the method. One thread follows absolute
 * pointers, 32 loads unrolled without arithmetic between them; both clocks are read around the
 * chain, the second after the last value is stored. A node of a random chain holds four pointers,
 * one for each visit. Before the timed part all threads of the same SM bring caches and TLB into
 * their steady state by the same loads (an L2 may be divided). */
#include "pointer_chase_once.cuh"
#include "lib/device/cluster.cuh"

namespace
{

__global__ void build_kernel(struct chase_set set)
{
	const uint64_t base = set.base + blockIdx.y * set.apart;
	const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
	if (k >= set.nodes)
		return;
	for (int s = 0; s < set.slots; ++s) {
		const bool turn = s == set.slots - 1;
		const uint32_t next_round = turn ? (k + 1) % set.nodes : k;
		uint64_t *node = (uint64_t *)repeated_point(set, base, k, s);
		node[s] = repeated_point(set, base, next_round, turn ? 0 : s + 1);
	}
}

__global__ void pairs_kernel(struct chase_set set, uint64_t offset)
{
	const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
	if (k >= set.nodes)
		return;
	const uint64_t first = repeated_point(set, set.base, k, 0), second = first ^ offset;
	*(uint64_t *)first = second;
	*(uint64_t *)second = repeated_point(set, set.base, (k + 1) % set.nodes, 0);
}

/* The threads' stretches follow each other along the chain. */
template <int slots>
DEVICE uint64_t stretch_start(const struct chase_plan &plan, uint64_t base, uint32_t stretch)
{
	const uint64_t round = (uint64_t)stretch * (uint64_t)plan.stroll / slots;
	return repeated_point(plan.set, base, (uint32_t)(round % plan.set.nodes), 0);
}

template <int path, int slots>
__device__ uint64_t fill(const struct chase_plan &plan, uint64_t base)
{
	uint64_t seen = 0;
	if (plan.touch)
		for (uint32_t i = threadIdx.x; i < plan.set.nodes; i += blockDim.x)
			seen |= follow<path, 0>(place(plan.set, base, i));
	if (plan.stroll > 0)
		seen |= chain<path, slots>(
		        stretch_start<slots>(plan, base, threadIdx.x), plan.stroll);
	return seen;
}

template <int path, int slots>
__global__ void __launch_bounds__(CHASE_THREADS)
        chase_kernel(const struct chase_plan plan, struct chase_result *results)
{
	const uint64_t base = plan.set.base + blockIdx.x * plan.set.apart;
	struct chase_result *result = results + blockIdx.x;
	volatile uint64_t *last = &result->last;
	struct gpu_span whole, timed;
	if (threadIdx.x == 0)
		span_start(&whole);
	if (path != CHASE_CONSTANT && fill<path, slots>(plan, base) == 1)
		*last = 1; /* no address is 1, but the compiler does not know it */
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	uint64_t address =
	        path == CHASE_CONSTANT ? 0 : stretch_start<slots>(plan, base, CHASE_THREADS);
	if (plan.go_on)
		address = *last;
	address = chain<path, slots>(address, plan.warm);
	*last = address;
	span_start(&timed);
	address = chain<path, slots>(address, plan.steps);
	*last = address;
	span_stop(&timed);
	span_stop(&whole);
	result->timed = timed;
	result->whole = whole;
}

template <bool cluster> DEVICE uint32_t follow_shared(uint32_t address)
{
	uint32_t next = address;
	if (cluster)
		IN_CLUSTER(asm volatile("ld.shared::cluster.u32 %0, [%1];"
		                        : "=r"(next)
		                        : "r"(address)));
	else
		asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(address));
	return next;
}

template <bool cluster> DEVICE uint32_t chain_shared(uint32_t address, int64_t steps)
{
#pragma unroll 1
	for (int64_t i = 0; i < steps; i += CHASE_UNROLL)
#pragma unroll
		for (int k = 0; k < CHASE_UNROLL; ++k)
			address = follow_shared<cluster>(address);
	return address;
}

template <bool cluster> DEVICE void store_shared(uint32_t address, uint32_t value)
{
	if (cluster)
		IN_CLUSTER(
		        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value)
		                     : "memory"));
	else
		asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

template <bool cluster>
__global__ void shared_kernel(const uint32_t *next, uint32_t distance, int64_t warm, int64_t steps,
        struct chase_result *result)
{
	__shared__ uint32_t words[CHASE_SHARED_WORDS];
	const uint32_t mine = shared_address(words);
	const uint32_t base = cluster ? cluster_address(mine, distance) : mine;
	struct gpu_span whole, timed;
	if (cluster)
		cluster_barrier(); /* all blocks have started */
	if (cluster_rank() == 0 && threadIdx.x == 0) {
		volatile uint64_t *last = &result->last;
		span_start(&whole);
		for (uint32_t i = 0; i < CHASE_SHARED_WORDS; ++i)
			store_shared<cluster>(base + i * 4, base + next[i] * 4);
		uint32_t address = chain_shared<cluster>(base, warm);
		*last = address;
		span_start(&timed);
		address = chain_shared<cluster>(address, steps);
		*last = address;
		span_stop(&timed);
		span_stop(&whole);
		result->timed = timed;
		result->whole = whole;
	}
	if (cluster)
		cluster_barrier(); /* none ends before the chase through its memory */
}

__global__ void close_kernel(const uint64_t *line, int count)
{
	if ((int)threadIdx.x < count)
		*(uint64_t *)line[threadIdx.x] = line[threadIdx.x];
}

__global__ void slice_kernel(uint32_t sm, const uint64_t *line, int count, uint32_t *taken,
        uint32_t *cycles, struct gpu_span *result)
{
	if (this_sm() != sm || atomicExch(taken, 1) != 0)
		return;
	volatile uint32_t *out = cycles;
	struct gpu_span span;
	span_start(&span);
	for (int i = 0; i < count; ++i) {
		uint64_t address = chain<CHASE_CG, 1>(line[i], CHASE_UNROLL);
		out[i] = (uint32_t)address;
		const int64_t start = clock64();
		address = chain<CHASE_CG, 1>(address, CHASE_SLICE_STEPS);
		out[i] = (uint32_t)address;
		out[i] = (uint32_t)(clock64() - start);
	}
	span_stop(&span);
	*result = span;
}

const void *kernel_of(const struct chase_plan *plan)
{
	const bool chains = plan->set.slots == CHASE_SLOTS;
	switch (plan->path) {
	case CHASE_CA:
		return chains ? (const void *)chase_kernel<CHASE_CA, CHASE_SLOTS>
		              : (const void *)chase_kernel<CHASE_CA, 1>;
	case CHASE_CG:
		return chains ? (const void *)chase_kernel<CHASE_CG, CHASE_SLOTS>
		              : (const void *)chase_kernel<CHASE_CG, 1>;
	case CHASE_CV:
		return (const void *)chase_kernel<CHASE_CV, 1>;
	case CHASE_NC:
		return (const void *)chase_kernel<CHASE_NC, CHASE_SLOTS>;
	default:
		return (const void *)chase_kernel<CHASE_CONSTANT, CHASE_SLOTS>;
	}
}

cudaLaunchConfig_t cluster_launch(cudaLaunchAttribute *attribute, int cluster)
{
	attribute->id = cudaLaunchAttributeClusterDimension;
	attribute->val.clusterDim = {(unsigned)cluster, 1, 1};
	cudaLaunchConfig_t launch = {};
	launch.gridDim = dim3((unsigned)cluster);
	launch.blockDim = dim3(32);
	launch.attrs = attribute;
	launch.numAttrs = 1;
	return launch;
}

} // namespace

extern "C" int chase_build(const struct chase_plan *plan)
{
	const dim3 grid((plan->set.nodes + 255) / 256, (unsigned)plan->blocks);
	build_kernel<<<grid, 256>>>(plan->set);
	return (int)cudaGetLastError();
}

extern "C" int chase_build_pairs(const struct chase_set *set, uint64_t offset)
{
	pairs_kernel<<<(set->nodes + 255) / 256, 256>>>(*set, offset);
	return (int)cudaGetLastError();
}

extern "C" int chase_fill_constant(const uint32_t *words, size_t count)
{
	return (int)cudaMemcpyToSymbol(constant_words, words, count * sizeof *words);
}

extern "C" int chase_launch(const struct chase_plan *plan, struct chase_result *result)
{
	const void *kernel = kernel_of(plan);
	const cudaError_t error =
	        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 0);
	if (error != cudaSuccess)
		return (int)error;
	void *arguments[] = {(void *)plan, &result};
	const bool alone = plan->path == CHASE_CONSTANT || (!plan->touch && plan->stroll == 0);
	return (int)cudaLaunchKernel(kernel, dim3((unsigned)plan->blocks),
	        dim3(alone ? 1 : CHASE_THREADS), arguments, 0, NULL);
}

extern "C" bool chase_cluster_fits(int cluster)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t launch = cluster_launch(&attribute, cluster);
	struct cudaFuncAttributes code;
	int clusters = 0;
	const bool fits = cudaFuncGetAttributes(&code, shared_kernel<true>) == cudaSuccess &&
	                  code.ptxVersion >= 90 && /* compiled with cluster instructions */
	                  cudaOccupancyMaxActiveClusters(&clusters, shared_kernel<true>, &launch) ==
	                          cudaSuccess;
	cudaGetLastError();
	return fits && clusters > 0;
}

extern "C" int chase_shared(const uint32_t *next, int distance, int cluster, int64_t warm,
        int64_t steps, struct chase_result *result)
{
	if (distance < 0) {
		shared_kernel<false><<<1, 32>>>(next, 0, warm, steps, result);
		return (int)cudaGetLastError();
	}
	cudaLaunchAttribute attribute;
	const cudaLaunchConfig_t launch = cluster_launch(&attribute, cluster);
	return (int)cudaLaunchKernelEx(
	        &launch, shared_kernel<true>, next, (uint32_t)distance, warm, steps, result);
}

extern "C" int chase_close(const uint64_t *line, int count)
{
	close_kernel<<<1, (unsigned)count>>>(line, count);
	return (int)cudaGetLastError();
}

extern "C" int chase_slice(int sm, int sm_count, const uint64_t *line, int count, uint32_t *taken,
        uint32_t *cycles, struct gpu_span *span)
{
	slice_kernel<<<(unsigned)(4 * sm_count), 1>>>(
	        (uint32_t)sm, line, count, taken, cycles, span);
	return (int)cudaGetLastError();
}

extern "C" int chase_touch(const struct chase_set *set, int sm, int sm_count, uint32_t *taken)
{
	touch_kernel<<<(unsigned)(4 * sm_count), 256>>>(*set, (uint32_t)sm, taken);
	return (int)cudaGetLastError();
}

extern "C" int chase_once(const struct chase_set *set, int sm, int sm_count,
        const uint32_t *touched, uint32_t *taken, struct chase_once *result)
{
	once_kernel<<<(unsigned)(4 * sm_count), 1>>>(*set, (uint32_t)sm, touched, taken, result);
	return (int)cudaGetLastError();
}

extern "C" int chase_constant(
        int before, int reader, int sm_count, uint32_t *turn, struct chase_once *result)
{
	constant_kernel<<<(unsigned)(4 * sm_count), 1>>>(before, (uint32_t)reader, turn, result);
	return (int)cudaGetLastError();
}
