/* SPDX-License-Identifier: MIT */
/* Products of one warp on the tensor cores, as instruction_operations.cuh. */
#pragma once

#include "instruction_operations.cuh"

namespace
{

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

#if __CUDA_ARCH__ >= 800
#define MMA_4_2_4(shape)                                                                           \
	asm volatile("mma.sync.aligned." shape " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "          \
	             "{%0,%1,%2,%3};"                                                              \
	             : "+f"(v.x[0]), "+f"(v.x[1]), "+f"(v.x[2]), "+f"(v.x[3])                      \
	             : "r"(p), "r"(q), "r"(p), "r"(q), "r"(q), "r"(p))
#else
#define MMA_4_2_4(shape) (void)p, (void)q
#endif

/* `pair`: the bits of a register for one operand. */
#define MMA_SINGLE(name, pair, shape)                                                              \
	struct name : mma_single {                                                                 \
		static __device__ void step(value &v, const value &a, const value &b)              \
		{                                                                                  \
			const uint32_t p = pair(-a.x[0]), q = pair(b.x[0]);                        \
			MMA_4_2_4(shape);                                                          \
		}                                                                                  \
	}

MMA_SINGLE(mma_tf32, __float_as_uint, "m16n8k8.row.col.f32.tf32.tf32.f32");
MMA_SINGLE(mma_bf16, bf16_pair_of, "m16n8k16.row.col.f32.bf16.bf16.f32");
MMA_SINGLE(mma_h, pair_of, "m16n8k16.row.col.f32.f16.f16.f32");

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

} // namespace
