/* SPDX-License-Identifier: MIT */
/* One instruction each: value is carried along the chain, a and b are its other operands. */
#pragma once

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

struct half_pair : word {
	static __device__ value start(uint32_t salt)
	{
		return pair_of(operand(salt));
	}
};

struct bf16_pair : word {
	static __device__ value start(uint32_t salt)
	{
		return bf16_pair_of(operand(salt));
	}
};

/* An operation of three operands, of the value and one operand, or of the value alone. c: the
 * constraint of its registers. */
#define OF_THREE(name, type, code, c, first)                                                       \
	struct name : type {                                                                       \
		static __device__ void step(value &x, value a, value b)                            \
		{                                                                                  \
			asm volatile(code : "+" c(x) : c(first), c(b));                            \
		}                                                                                  \
	}
#define OF_TWO(name, type, code, c)                                                                \
	struct name : type {                                                                       \
		static __device__ void step(value &x, value a, value)                              \
		{                                                                                  \
			asm volatile(code : "+" c(x) : c(a));                                      \
		}                                                                                  \
	}
#define OF_ONE(name, type, code, c)                                                                \
	struct name : type {                                                                       \
		static __device__ void step(value &x, value, value)                                \
		{                                                                                  \
			asm volatile(code : "+" c(x));                                             \
		}                                                                                  \
	}

OF_THREE(fma_s, single, "fma.rn.f32 %0, %0, %1, %2;", "f", -a);
OF_THREE(fma_d, twofold, "fma.rn.f64 %0, %0, %1, %2;", "d", -a);
OF_THREE(fma_h, half_pair, "fma.rn.f16x2 %0, %0, %1, %2;", "r", a);
OF_THREE(mad_i, word, "mad.lo.u32 %0, %0, %1, %2;", "r", a);
OF_THREE(shift_i, word, "shf.l.wrap.b32 %0, %0, %1, %2;", "r", a);
/* the majority of three inputs: two of these do not merge into one */
OF_THREE(logic_i, word, "lop3.b32 %0, %0, %1, %2, 0xe8;", "r", a);

OF_ONE(special_rsqrt, single, "rsqrt.approx.ftz.f32 %0, %0;", "f");
OF_ONE(special_exp2, single, "ex2.approx.ftz.f32 %0, %0;", "f");
OF_ONE(special_sine, single, "sin.approx.ftz.f32 %0, %0;", "f");
OF_ONE(special_lg2, single, "lg2.approx.ftz.f32 %0, %0;", "f");

OF_TWO(divide_s, single, "div.rn.f32 %0, %1, %0;", "f");
OF_TWO(divide_d, twofold, "div.rn.f64 %0, %1, %0;", "d");
OF_ONE(root_s, single, "sqrt.rn.f32 %0, %0;", "f");
OF_ONE(root_d, twofold, "sqrt.rn.f64 %0, %0;", "d");

OF_ONE(shuffle, word, "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;", "r");
OF_ONE(ballot, word,
        "{ .reg .pred p; setp.lt.u32 p, %0, 77; vote.sync.ballot.b32 %0, p, 0xffffffff; }", "r");

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
OF_THREE(fma_bf16, bf16_pair, "fma.rn.bf16x2 %0, %0, %1, %2;", "r", a);
OF_ONE(redux, word, "redux.sync.add.u32 %0, %0, 0xffffffff;", "r");
#else
OF_ONE(fma_bf16, bf16_pair, "", "r");
OF_ONE(redux, word, "", "r");
#endif

} // namespace
