/* SPDX-License-Identifier: MIT */
/* Question: how long does an instruction take whose operand is the result of the one before, and
 * how many can an SM start? Method: a warp runs 1 to 8 independent chains of one instruction, 512
 * (16 of the matrix products) of them unrolled in a loop; every block reads both clocks around its
 * loop. What can fool it: instructions merged or removed by the compiler (all are volatile, their
 * results are stored on a condition that never holds; tests/instruction_code.t reads the machine
 * code), the loop's own two instructions a turn (measured by bodies of two lengths), operands that
 * overflow. Unit: seconds per turn of a block's loop, which the host divides. */
#include "instruction.h"
#include "../lib/clock.cuh"

#include <cuda_runtime.h>

namespace
{

enum { FED_CONSTANTS = 32 };
__constant__ float constant_operand[FED_CONSTANTS];

__device__ __forceinline__ float operand(uint32_t salt)
{
	uint32_t z = (threadIdx.x + 1) * 2654435761u + salt * 40503u;
	z ^= z >> 15;
	return 0.5f + (float)(z & 0xffff) * 0x1p-17f; /* in [0.5, 1) */
}

/* Two different halves: of an operand known to have equal ones only one of the units for half
 * precision would be used. */
__device__ __forceinline__ uint32_t pair_of(float x)
{
	uint32_t pair;
	asm("{ .reg .b16 h, l; cvt.rn.f16.f32 h, %1; cvt.rn.f16.f32 l, %2; mov.b32 %0, {l, h}; }"
	        : "=r"(pair)
	        : "f"(x), "f"(0.75f * x));
	return pair;
}

__device__ __forceinline__ uint32_t bf16_pair_of(float x)
{
	const uint32_t high = __float_as_uint(x) >> 16;
	return high << 16 | high;
}

/* ---- one instruction each: value is what is carried along the chain ---- */

struct single {
	typedef float value;
	static __device__ value start(uint32_t salt)
	{
		return operand(salt);
	}
	static __device__ uint32_t bits(value x)
	{
		return __float_as_uint(x);
	}
};

struct twofold {
	typedef double value;
	static __device__ value start(uint32_t salt)
	{
		return (double)operand(salt);
	}
	static __device__ uint32_t bits(value x)
	{
		return (uint32_t)__double2loint(x);
	}
};

struct word {
	typedef uint32_t value;
	static __device__ value start(uint32_t salt)
	{
		return __float_as_uint(operand(salt));
	}
	static __device__ uint32_t bits(value x)
	{
		return x;
	}
};

struct fma_s : single {
	static __device__ void step(value &x, value a, value b)
	{
		asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(-a), "f"(b));
	}
};

struct fma_d : twofold {
	static __device__ void step(value &x, value a, value b)
	{
		asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(-a), "d"(b));
	}
};

struct fma_h : word {
	static __device__ value start(uint32_t salt)
	{
		return pair_of(operand(salt));
	}
	static __device__ void step(value &x, value a, value b)
	{
		asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
	}
};

struct fma_bf16 : word {
	static __device__ value start(uint32_t salt)
	{
		return bf16_pair_of(operand(salt));
	}
	static __device__ void step(value &x, value a, value b)
	{
#if __CUDA_ARCH__ >= 800
		asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
#endif
	}
};

struct mad_i : word {
	static __device__ void step(value &x, value a, value b)
	{
		asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
	}
};

struct shift_i : word {
	static __device__ void step(value &x, value a, value b)
	{
		asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
	}
};

struct logic_i : word { /* the majority of three: no two of them make one */
	static __device__ void step(value &x, value a, value b)
	{
		asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(x) : "r"(a), "r"(b));
	}
};

#define SPECIAL(name, code)                                                                        \
	struct name : single {                                                                     \
		static __device__ void step(value &x, value, value)                                \
		{                                                                                  \
			asm volatile(code " %0, %0;" : "+f"(x));                                   \
		}                                                                                  \
	}
SPECIAL(special_rsqrt, "rsqrt.approx.ftz.f32");
SPECIAL(special_exp2, "ex2.approx.ftz.f32");
SPECIAL(special_sine, "sin.approx.ftz.f32");
SPECIAL(special_lg2, "lg2.approx.ftz.f32");

struct divide_s : single {
	static __device__ void step(value &x, value a, value)
	{
		asm volatile("div.rn.f32 %0, %1, %0;" : "+f"(x) : "f"(a));
	}
};

struct divide_d : twofold {
	static __device__ void step(value &x, value a, value)
	{
		asm volatile("div.rn.f64 %0, %1, %0;" : "+d"(x) : "d"(a));
	}
};

struct root_s : single {
	static __device__ void step(value &x, value, value)
	{
		asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(x));
	}
};

struct root_d : twofold {
	static __device__ void step(value &x, value, value)
	{
		asm volatile("sqrt.rn.f64 %0, %0;" : "+d"(x));
	}
};

struct shuffle : word {
	static __device__ void step(value &x, value, value)
	{
		asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x));
	}
};

struct ballot : word {
	static __device__ void step(value &x, value, value)
	{
		asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, 77; vote.sync.ballot.b32 %0, p, "
		             "0xffffffff; }"
		             : "+r"(x));
	}
};

struct redux : word {
	static __device__ void step(value &x, value, value)
	{
#if __CUDA_ARCH__ >= 800
		asm volatile("redux.sync.add.u32 %0, %0, 0xffffffff;" : "+r"(x));
#endif
	}
};

/* ---- tensor cores, one warp ---- */

template <typename T, int n> struct fragment {
	T x[n];
};

struct mma_single {
	typedef fragment<float, 4> value;
	static __device__ value start(uint32_t salt)
	{
		return {{operand(salt), operand(salt + 1), operand(salt + 2), operand(salt + 3)}};
	}
	static __device__ uint32_t bits(value v)
	{
		return __float_as_uint(v.x[0] + v.x[1] + v.x[2] + v.x[3]);
	}
};

#define MMA_4_2_4(shape)                                                                           \
	asm volatile("mma.sync.aligned." shape " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "          \
	             "{%0,%1,%2,%3};"                                                              \
	             : "+f"(v.x[0]), "+f"(v.x[1]), "+f"(v.x[2]), "+f"(v.x[3])                      \
	             : "r"(p), "r"(q), "r"(p), "r"(q), "r"(q), "r"(p))

struct mma_tf32 : mma_single {
	static __device__ void step(value &v, const value &a, const value &b)
	{
		const uint32_t p = __float_as_uint(-a.x[0]), q = __float_as_uint(b.x[0]);
#if __CUDA_ARCH__ >= 800
		MMA_4_2_4("m16n8k8.row.col.f32.tf32.tf32.f32");
#else
		(void)p, (void)q;
#endif
	}
};

struct mma_bf16 : mma_single {
	static __device__ void step(value &v, const value &a, const value &b)
	{
		const uint32_t p = bf16_pair_of(-a.x[0]), q = bf16_pair_of(b.x[0]);
#if __CUDA_ARCH__ >= 800
		MMA_4_2_4("m16n8k16.row.col.f32.bf16.bf16.f32");
#else
		(void)p, (void)q;
#endif
	}
};

struct mma_h : mma_single {
	static __device__ void step(value &v, const value &a, const value &b)
	{
		const uint32_t p = pair_of(-a.x[0]), q = pair_of(b.x[0]);
#if __CUDA_ARCH__ >= 800
		MMA_4_2_4("m16n8k16.row.col.f32.f16.f16.f32");
#else
		(void)p, (void)q;
#endif
	}
};

struct mma_d : twofold { /* the shape that every GPU since sm_80 has */
	typedef fragment<double, 2> value;
	static __device__ value start(uint32_t salt)
	{
		return {{(double)operand(salt), (double)operand(salt + 1)}};
	}
	static __device__ uint32_t bits(value v)
	{
		return twofold::bits(v.x[0] + v.x[1]);
	}
	static __device__ void step(value &v, const value &a, const value &b)
	{
#if __CUDA_ARCH__ >= 800
		asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, "
		             "{%0,%1};"
		             : "+d"(v.x[0]), "+d"(v.x[1])
		             : "d"(-a.x[0]), "d"(b.x[0]));
#endif
	}
};

struct mma_d16 : twofold {
	typedef fragment<double, 4> value;
	static __device__ value start(uint32_t salt)
	{
		return {{(double)operand(salt), (double)operand(salt + 1),
		        (double)operand(salt + 2), (double)operand(salt + 3)}};
	}
	static __device__ uint32_t bits(value v)
	{
		return twofold::bits(v.x[0] + v.x[1] + v.x[2] + v.x[3]);
	}
	static __device__ void step(value &v, const value &a, const value &b)
	{
#if __CUDA_ARCH__ >= 900
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
		             "{%4,%5,%6,%7,%5,%4,%7,%6}, {%8,%9,%10,%11}, {%0,%1,%2,%3};"
		             : "+d"(v.x[0]), "+d"(v.x[1]), "+d"(v.x[2]), "+d"(v.x[3])
		             : "d"(-a.x[0]), "d"(a.x[1]), "d"(-a.x[2]), "d"(a.x[3]), "d"(b.x[0]),
		             "d"(b.x[1]), "d"(b.x[2]), "d"(b.x[3]));
#endif
	}
};

/* ---- the timed loop ---- */

__device__ __forceinline__ void start_together(struct gpu_span *span)
{
	__syncthreads();
	span_start(span);
	__syncthreads();
}

__device__ __forceinline__ void stop_together(
        struct gpu_span *timed, struct gpu_span *span, uint32_t bits, uint32_t *sink)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		span_stop(timed);
		span[blockIdx.x] = *timed;
	}
	if (bits == 0x9e3779b9u && timed->ns0 == 1) /* never */
		*sink = bits;
}

template <class Op, int chains, int body>
__global__ void __launch_bounds__(body == INSTRUCTION_MMA_BODY ? 512 : 1024)
        chain_kernel(int64_t turns, struct gpu_span *span, uint32_t *sink)
{
	typename Op::value x[chains], a = Op::start(101), b = Op::start(102);
	struct gpu_span timed;
	for (int c = 0; c < chains; ++c)
		x[c] = Op::start((uint32_t)c);
	start_together(&timed);
#pragma unroll 1
	for (int i = 0; i < (int)turns; ++i)
#pragma unroll
		for (int k = 0; k < body / chains; ++k)
#pragma unroll
			for (int c = 0; c < chains; ++c)
				Op::step(x[c], a, b);
	uint32_t bits = 0;
	for (int c = 0; c < chains; ++c)
		bits ^= Op::bits(x[c]);
	stop_together(&timed, span, bits, sink);
}

/* ---- FMA with an operand from shared memory or from the constant bank ---- */

template <int source, int words> __device__ __forceinline__ void fetch(uint32_t address, float *p)
{
	if (words == 1)
		asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(p[0]) : "r"(address));
	else if (words == 2)
		asm volatile("ld.volatile.shared.v2.f32 {%0,%1}, [%2];"
		             : "=f"(p[0]), "=f"(p[1])
		             : "r"(address));
	else
		asm volatile("ld.volatile.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
		             : "=f"(p[0]), "=f"(p[1]), "=f"(p[2]), "=f"(p[3])
		             : "r"(address));
}

template <int source, int words>
__global__ void __launch_bounds__(1024)
        fed_kernel(int64_t turns, struct gpu_span *span, uint32_t *sink)
{
	__shared__ __align__(16) float memory[32 * 4 * 2];
	for (int i = (int)threadIdx.x; i < 32 * 4 * 2; i += (int)blockDim.x)
		memory[i] = operand((uint32_t)i);
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t place = source == FED_BROADCAST  ? 0
	                       : source == FED_CONFLICT ? 2 * lane
	                                                : lane;
	uint32_t address = (uint32_t)__cvta_generic_to_shared(memory) + place * 4 * words;
	float x[8], p[4], a = -operand(7), b = operand(8);
	struct gpu_span timed;
	for (int c = 0; c < 8; ++c)
		x[c] = operand((uint32_t)c);
	for (int w = 0; w < 4; ++w)
		p[w] = operand((uint32_t)w + 20);
	start_together(&timed);
#pragma unroll 1
	for (int i = 0; i < (int)turns; ++i)
#pragma unroll
		for (int k = 0; k < INSTRUCTION_FED_BODY; ++k) {
			if (source >= FED_LANE && source <= FED_CONFLICT && k % words == 0)
				fetch<source, words>(address, p);
			float factor = source == FED_REGISTER ? a
			               : source == FED_CONSTANT
			                       ? constant_operand[k % FED_CONSTANTS]
			                       : p[k % words];
			x[k % 8] = fmaf(x[k % 8], factor, b);
			asm volatile("" : "+f"(x[k % 8]));
		}
	float sum = 0;
	for (int c = 0; c < 8; ++c)
		sum += x[c];
	stop_together(&timed, span, __float_as_uint(sum), sink);
}

/* ---- warpgroup products ---- */

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HAVE_WGMMA 1

__device__ __forceinline__ uint64_t describe(const void *shared)
{
	/* no swizzle; core matrices of 8 rows x 16 bytes follow one another */
	const uint64_t address = __cvta_generic_to_shared(shared);
	return (address & 0x3ffff) >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

#define SIXTEEN(i)                                                                                 \
	"+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),                \
	        "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7]), "+f"(d[i + 8]), "+f"(d[i + 9]),    \
	        "+f"(d[i + 10]), "+f"(d[i + 11]), "+f"(d[i + 12]), "+f"(d[i + 13]),                \
	        "+f"(d[i + 14]), "+f"(d[i + 15])
#define WGMMA(shape, flags)                                                                        \
	asm volatile("wgmma.mma_async.sync.aligned." shape                                         \
	             " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"    \
	             "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,"    \
	             "%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,"    \
	             "%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, " flags ";"                      \
	             : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)                           \
	             : "l"(a), "l"(b))

template <int kind> __device__ __forceinline__ void product(float *d, uint64_t a, uint64_t b)
{
	if (kind == WGMMA_TF32)
		WGMMA("m64n128k8.f32.tf32.tf32", "1, 1, 1");
	else
		WGMMA("m64n128k16.f32.bf16.bf16", "1, 1, 1, 0, 0");
}
#endif

template <int kind>
__global__ void __launch_bounds__(256, 1)
        wgmma_kernel(int64_t turns, struct gpu_span *span, uint32_t *sink)
{
#ifdef HAVE_WGMMA
	__shared__ __align__(128) uint32_t memory[(64 + 128) * 8];
	for (int i = (int)threadIdx.x; i < (64 + 128) * 8; i += (int)blockDim.x)
		memory[i] = kind == WGMMA_TF32 ? __float_as_uint(operand((uint32_t)i) - 0.75f)
		                               : bf16_pair_of(operand((uint32_t)i) - 0.75f);
	const uint64_t a = describe(memory), b = describe(memory + 64 * 8);
	float d[64];
	for (int i = 0; i < 64; ++i)
		d[i] = operand((uint32_t)i);
	struct gpu_span timed;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	start_together(&timed);
#pragma unroll 1
	for (int i = 0; i < (int)turns; ++i) {
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
		for (int k = 0; k < INSTRUCTION_MMA_BODY; ++k)
			product<kind>(d, a, b);
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	}
	float sum = 0;
	for (int i = 0; i < 64; ++i)
		sum += d[i];
	stop_together(&timed, span, __float_as_uint(sum), sink);
#endif
}

/* ---- launching ---- */

typedef void (*chain)(int64_t, struct gpu_span *, uint32_t *);

struct entry {
	struct instruction instruction;
	chain kernel[4]; /* 1, 2, 4, 8 chains */
};

#define KERNELS(op, body)                                                                          \
	{                                                                                          \
		chain_kernel<op, 1, body>, chain_kernel<op, 2, body>, chain_kernel<op, 4, body>,   \
		        chain_kernel<op, 8, body>                                                  \
	}
#define PLAIN(name, code, op, flops, capability)                                                   \
	{                                                                                          \
		{name, code, flops, INSTRUCTION_BODY, capability}, KERNELS(op, INSTRUCTION_BODY)   \
	}
#define SLOW(name, op)                                                                             \
	{                                                                                          \
		{name, "", 0, INSTRUCTION_SLOW_BODY, 0}, KERNELS(op, INSTRUCTION_SLOW_BODY)        \
	}
#define MATRIX(name, code, op, flops, capability)                                                  \
	{                                                                                          \
		{name, code, flops, INSTRUCTION_MMA_BODY, capability},                             \
		        KERNELS(op, INSTRUCTION_MMA_BODY)                                          \
	}

const struct entry entries[] = {
        PLAIN("fma.s", "FFMA", fma_s, 64, 0),
        PLAIN("fma.d", "DFMA", fma_d, 64, 0),
        PLAIN("fma.h", "HFMA2", fma_h, 128, 0),
        PLAIN("fma.bf16", "HFMA2.BF16", fma_bf16, 128, 80),
        PLAIN("int.mad", "IMAD", mad_i, 0, 0),
        PLAIN("int.shift", "SHF", shift_i, 0, 0),
        PLAIN("int.logic", "LOP3", logic_i, 0, 0),
        PLAIN("special.rsqrt", "MUFU.RSQ", special_rsqrt, 0, 0),
        PLAIN("special.ex2", "MUFU.EX2", special_exp2, 0, 0),
        PLAIN("special.sin", "MUFU.SIN", special_sine, 0, 0),
        PLAIN("special.lg2", "MUFU.LG2", special_lg2, 0, 0),
        SLOW("divide.s", divide_s),
        SLOW("divide.d", divide_d),
        SLOW("sqrt.s", root_s),
        SLOW("sqrt.d", root_d),
        PLAIN("warp.shuffle", "SHFL", shuffle, 0, 0),
        PLAIN("warp.ballot", "VOTE", ballot, 0, 0),
        PLAIN("warp.redux", "REDUX", redux, 0, 80),
        MATRIX("mma.d", "DMMA.8x8x4", mma_d, 512, 80),
        MATRIX("mma.d16", "DMMA.16x8x16", mma_d16, 4096, 90),
        MATRIX("mma.tf32", "HMMA.1688.F32.TF32", mma_tf32, 2048, 80),
        MATRIX("mma.bf16", "HMMA.16816.F32.BF16", mma_bf16, 4096, 80),
        MATRIX("mma.h", "HMMA.16816.F32", mma_h, 4096, 80),
};

enum { ENTRIES = sizeof entries / sizeof entries[0] };

struct instruction listed[ENTRIES];

int run(chain kernel, int blocks, int threads, int64_t turns, struct gpu_span *span, uint32_t *sink)
{
	kernel<<<(unsigned)blocks, (unsigned)threads>>>(turns, span, sink);
	return (int)cudaGetLastError();
}

template <int source> chain fed_width(int width)
{
	return width == 4   ? fed_kernel<source, 1>
	       : width == 8 ? fed_kernel<source, 2>
	                    : fed_kernel<source, 4>;
}

} // namespace

extern "C" const struct instruction *instruction_table(size_t *count)
{
	for (int i = 0; i < ENTRIES; ++i)
		listed[i] = entries[i].instruction;
	*count = ENTRIES;
	return listed;
}

extern "C" int instruction_launch(const struct instruction_launch *l)
{
	const int column = l->chains == 1 ? 0 : l->chains == 2 ? 1 : l->chains == 4 ? 2 : 3;
	return run(entries[l->index].kernel[column], l->blocks * l->sm_count, 32 * l->warps,
	        l->turns, l->span, l->sink);
}

extern "C" int short_launch(const struct instruction_launch *l)
{
	return run(l->chains == 1 ? chain_kernel<fma_s, 1, INSTRUCTION_SHORT_BODY>
	                          : chain_kernel<fma_s, 8, INSTRUCTION_SHORT_BODY>,
	        l->blocks * l->sm_count, 32 * l->warps, l->turns, l->span, l->sink);
}

extern "C" int fed_launch(enum fed_source source, int width, int warps, int64_t turns, int sm_count,
        struct gpu_span *span, uint32_t *sink)
{
	float value[FED_CONSTANTS];
	for (int i = 0; i < FED_CONSTANTS; ++i)
		value[i] = 0.6f + 0.01f * (float)i;
	const cudaError_t error = cudaMemcpyToSymbol(constant_operand, value, sizeof value);
	if (error != cudaSuccess)
		return (int)error;
	const chain kernel = source == FED_REGISTER    ? fed_width<FED_REGISTER>(width)
	                     : source == FED_LANE      ? fed_width<FED_LANE>(width)
	                     : source == FED_BROADCAST ? fed_width<FED_BROADCAST>(width)
	                     : source == FED_CONFLICT  ? fed_width<FED_CONFLICT>(width)
	                                               : fed_width<FED_CONSTANT>(width);
	return run(kernel, sm_count, 32 * warps, turns, span, sink);
}

extern "C" bool wgmma_built(void)
{
	struct cudaFuncAttributes attributes;
	if (cudaFuncGetAttributes(&attributes, wgmma_kernel<WGMMA_TF32>) != cudaSuccess) {
		cudaGetLastError();
		return false;
	}
	return attributes.sharedSizeBytes > 0; /* the empty kernel of other targets has none */
}

extern "C" int wgmma_launch(
        enum wgmma_kind kind, int64_t turns, int sm_count, struct gpu_span *span, uint32_t *sink)
{
	return run(kind == WGMMA_TF32 ? wgmma_kernel<WGMMA_TF32> : wgmma_kernel<WGMMA_BF16>,
	        sm_count, 256, turns, span, sink);
}
