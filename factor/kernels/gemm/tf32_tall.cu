/* SPDX-License-Identifier: MIT */
/* V^T C with few columns of V and C, and many rows, in 3xTF32 (factor/kernels/gemm/tf32.h), with
 * operands split on their way to the units: the first step of QR's updates. A product of stacks
 * would write and read three times C for few rows of the result, and cuBLAS computes it by fp32
 * multiply-adds.
 *
 * A block computes 128 or 64 rows by 192 or 128 columns of the result from a part of V's rows. In
 * both operands rows run down the columns, as the units need. Unchanged numbers serve as high,
 * because the units ignore the extra bits. Some warps write these bits, rounded, to a second
 * memory: low. A stage's 32 rows form one sum, small products first, which is then added to a sum
 * in fp32: the units truncate their sums. If several blocks share a tile, a second kernel adds up
 * their parts. Blocks that need the same rows of C process them at the same time.
 *
 * Cost: 6 m k n operations on the tensor cores; C once for each 128 columns of V; V once for each
 * 192 (or 128) columns of C.
 *
 * docs/experiments/tf32.md has measurements and rejected variants. */
#include "tf32_tall.h"

#include "tf32_tall_pieces.cuh"

namespace
{

const int HELPING = 256; /* threads: one warp copies operands, the others make low parts */
const int THREADS = WORKING + HELPING;
const int BOX = 64; /* columns per copy */

/* A block's shared memory: stages of operands and of low parts. */
template <int SIDE, int ACROSS> struct room {
	static const int V_BYTES = SIDE * DEPTH * 4, BYTES = V_BYTES + ACROSS * DEPTH * 4;
	static const int RAW = BYTES > 32 << 10 ? 3 : 4, LOW = RAW - 1;
	static const int ALL = (RAW + LOW) * BYTES + ALIGNED;
};

struct operands {
	CUtensorMap v, c;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

const int SPLITTING = HELPING - 32;                        /* threads */
const int REGISTERS_WORKING = 216, REGISTERS_HELPING = 40; /* per thread, instead of 128 */

template <int SIDE, int ACROSS> struct barriers {
	uint64_t raw_full[room<SIDE, ACROSS>::RAW], raw_empty[room<SIDE, ACROSS>::RAW];
	uint64_t low_full[room<SIDE, ACROSS>::LOW], low_empty[room<SIDE, ACROSS>::LOW];
};

template <int SIDE, int ACROSS>
DEVICE void bring(const struct product &g, const struct operands &o,
        const barriers<SIDE, ACROSS> &b, uint32_t memory)
{
	typedef room<SIDE, ACROSS> r;
	interval<r::RAW> turn = {0, 1}; /* phase before an empty stage's first use */
	each_piece(g, [&](const struct piece &x, int) {
		for (int stage = x.first; stage < x.first + x.stages; stage++, turn.next()) {
			const uint32_t to = memory + turn.stage * r::BYTES;
			const uint32_t full = shared_address(&b.raw_full[turn.stage]);
			wait_stage(shared_address(&b.raw_empty[turn.stage]), turn.parity);
			arrivals_expect(full, r::BYTES);
#pragma unroll
			for (int i = 0; i < SIDE; i += BOX)
				load_box(to + i * DEPTH * 4, &o.v, stage * DEPTH,
				        x.group * SIDE + i, full);
#pragma unroll
			for (int i = 0; i < ACROSS; i += BOX)
				load_box(to + r::V_BYTES + i * DEPTH * 4, &o.c, stage * DEPTH,
				        x.across * ACROSS + i, full);
		}
	});
}

/* The bits of x that the units ignore, rounded to their precision. */
DEVICE float low_of(float x)
{
	const float high = __uint_as_float(__float_as_uint(x) & ~0x1fffu);
	return __uint_as_float(__float_as_uint(x - high) + 0x1000);
}

/* The low parts of a stage, in the same order, by SPLITTING threads. */
template <int BYTES> DEVICE void make_low(const float4 *raw, float4 *low, int thread)
{
	const int PIECES = BYTES / 16;
#pragma unroll 4
	for (int i = thread; i < PIECES; i += SPLITTING) {
		const float4 x = raw[i];
		low[i] = make_float4(low_of(x.x), low_of(x.y), low_of(x.z), low_of(x.w));
	}
}

template <int SIDE, int ACROSS>
DEVICE void split(
        const struct product &g, const barriers<SIDE, ACROSS> &b, unsigned char *memory, int thread)
{
	typedef room<SIDE, ACROSS> r;
	interval<r::RAW> from = {0, 0};
	interval<r::LOW> to = {0, 1};
	each_piece(g, [&](const struct piece &x, int) {
		for (int i = 0; i < x.stages; i++, from.next(), to.next()) {
			wait_stage(shared_address(&b.raw_full[from.stage]), from.parity);
			wait_stage(shared_address(&b.low_empty[to.stage]), to.parity);
			make_low<r::BYTES>((const float4 *)(memory + from.stage * r::BYTES),
			        (float4 *)(memory + (r::RAW + to.stage) * r::BYTES), thread);
			asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
			arrivals_arrive(shared_address(&b.low_full[to.stage]));
		}
	});
}

/* Of a stage: high low and low high, then high high. */
template <int SIDE, int ACROSS>
DEVICE void multiply_stage(float (&part)[tile<SIDE, ACROSS>::SUMS], uint32_t high, uint32_t low)
{
	typedef tile<SIDE, ACROSS> t;
	const int PARTS = DEPTH / 8;
	const uint32_t at = threadIdx.x / 128;
	const uint32_t v = at % t::V_PARTS * OWN * DEPTH * 4;
	const uint32_t c = room<SIDE, ACROSS>::V_BYTES + at / t::V_PARTS * t::WIDTH * DEPTH * 4;

#pragma unroll
	for (int i = 0; i < t::SUMS; i++)
		part[i] = 0;
	begin_products();
#pragma unroll
	for (int i = 0; i < 32 * PARTS; i += 32) {
		product(part, describe(low + v + i), describe(high + c + i));
		product(part, describe(high + v + i), describe(low + c + i));
	}
#pragma unroll
	for (int i = 0; i < 32 * PARTS; i += 32)
		product(part, describe(high + v + i), describe(high + c + i));
	commit_products();
	wait_products<0>();
	settle(part);
}

template <int SIDE, int ACROSS>
DEVICE void work(const struct product &g, barriers<SIDE, ACROSS> &b, uint32_t memory)
{
	typedef room<SIDE, ACROSS> r;
	const int SUMS = tile<SIDE, ACROSS>::SUMS;
	interval<r::RAW> raw = {0, 0};
	interval<r::LOW> low = {0, 0};
	each_piece(g, [&](const struct piece &x, int pinned) {
		float sum[SUMS] = {};
		for (int i = 0; i < x.stages; i++, raw.next(), low.next()) {
			float part[SUMS];
			wait_stage(shared_address(&b.raw_full[raw.stage]), raw.parity);
			wait_stage(shared_address(&b.low_full[low.stage]), low.parity);
			multiply_stage<SIDE, ACROSS>(part, memory + raw.stage * r::BYTES,
			        memory + (r::RAW + low.stage) * r::BYTES);
			if (threadIdx.x % 128 == 0) {
				arrivals_arrive(shared_address(&b.raw_empty[raw.stage]));
				arrivals_arrive(shared_address(&b.low_empty[low.stage]));
			}
#pragma unroll
			for (int s = 0; s < SUMS; s++)
				sum[s] += part[s];
		}
		put_sums<SIDE, ACROSS>(g, x, pinned, sum);
	});
}

#endif

template <int SIDE, int ACROSS>
__global__ void __launch_bounds__(THREADS, 1)
        tall_kernel(const __grid_constant__ struct operands o, const struct product g)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	typedef room<SIDE, ACROSS> r;
	extern __shared__ unsigned char dynamic[];
	__shared__ barriers<SIDE, ACROSS> b;
	const uint32_t begin = shared_address(dynamic),
	               memory = (begin + ALIGNED - 1) / ALIGNED * ALIGNED;
	if (threadIdx.x == 0) {
		arrivals_set(b.raw_full, r::RAW, 1);
		arrivals_set(b.raw_empty, r::RAW, GROUPS);
		arrivals_set(b.low_full, r::LOW, SPLITTING);
		arrivals_set(b.low_empty, r::LOW, GROUPS);
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	}
	__syncthreads();
	const int group = __shfl_sync(
	        0xffffffffu, threadIdx.x / 128, 0); /* uniform, and visibly so to the compiler */
	if (group >= GROUPS) {
		leave_registers<REGISTERS_HELPING>();
		const int thread = (int)threadIdx.x - WORKING;
		if (thread >= 32)
			split<SIDE, ACROSS>(g, b, dynamic + (memory - begin), thread - 32);
		else if (thread == 0)
			bring<SIDE, ACROSS>(g, o, b, memory);
	} else {
		take_registers<REGISTERS_WORKING>();
		work<SIDE, ACROSS>(g, b, memory);
	}
#endif
}

/* Adds up the parts of a tile. A block has one quad of each thread that had the tile. */
template <int SIDE, int ACROSS>
__global__ void __launch_bounds__(WORKING) join_kernel(const struct product g)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	const struct piece tile =
	        whole_tile(g, (int)blockIdx.x % g.groups, (int)blockIdx.x / g.groups);

	if (tile.pinned_sets > 1)
		join_quad<SIDE, ACROSS>(g, tile, (int)blockIdx.y);
#endif
}

/* Boxes of DEPTH rows and BOX columns; elements past the matrix arrive as zeros. */
int describe_matrix(struct matrix a, CUtensorMap *map)
{
	const cuuint64_t sizes[] = {(cuuint64_t)a.m, (cuuint64_t)a.n};
	const cuuint64_t strides[] = {(cuuint64_t)a.ld * 4};
	const cuuint32_t box[] = {DEPTH, BOX};
	return encode(
	        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix_address(a), sizes, strides, box);
}

template <int SIDE, int ACROSS>
int launch(const struct operands &o, const struct product &g, cudaStream_t stream)
{
	const int bytes = room<SIDE, ACROSS>::ALL, QUADS = tile<SIDE, ACROSS>::SUMS / 4;
	const int error = kernel_allow_shared((const void *)tall_kernel<SIDE, ACROSS>);
	if (error)
		return error;
	tall_kernel<SIDE, ACROSS>
	        <<<(unsigned)(g.pinned_sets * g.groups), THREADS, bytes, stream>>>(o, g);
	if (g.pinned_sets > 1)
		join_kernel<SIDE, ACROSS>
		        <<<dim3((unsigned)(g.across * g.groups), QUADS), WORKING, 0, stream>>>(g);
	return (int)cudaGetLastError();
}

template <int ACROSS>
int launch_side(const struct tf32_tall_plan &plan, const struct operands &o,
        const struct product &g, cudaStream_t stream)
{
	return plan.side == OWN ? launch<OWN, ACROSS>(o, g, stream)
	                        : launch<TF32_TALL_SIDE, ACROSS>(o, g, stream);
}

} // namespace

extern "C" int tf32_tall(const struct tf32_tall_plan *plan, struct matrix v, struct matrix c,
        struct matrix p, void *scratch, void *stream)
{
	const struct product g = {(float *)matrix_address(p), p.ld, c.n, (int)v.n, plan->groups,
	        plan->across, plan->pinned_sets, (int)((c.m + DEPTH - 1) / DEPTH),
	        (float *)scratch};
	struct operands o;
	int error;
	if (c.n == 0 || v.n == 0)
		return (int)cudaSuccess;
	if ((error = describe_matrix(v, &o.v)) != cudaSuccess ||
	        (error = describe_matrix(c, &o.c)) != cudaSuccess)
		return error;
	return plan->width == TF32_TALL_ACROSS
	               ? launch_side<TF32_TALL_ACROSS>(*plan, o, g, (cudaStream_t)stream)
	               : launch_side<TF32_TALL_NARROW>(*plan, o, g, (cudaStream_t)stream);
}
