/* SPDX-License-Identifier: MIT */
/* One instruction each: value is what is carried along the chain. */
#ifndef FATHOM_INSTRUCTION_OPERATIONS_CUH
#define FATHOM_INSTRUCTION_OPERATIONS_CUH

#include "instruction_loop.cuh"

namespace
{

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

} // namespace

#endif
