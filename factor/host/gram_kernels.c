/* SPDX-License-Identifier: MIT */
/* Compiled by the project's compiler, and, with KERNELS the name of its function, by others. */
#include "gram_kernels.h"

#include <stddef.h>

#ifndef KERNELS
#define KERNELS gram_kernels
#endif
const struct gram_kernels *KERNELS(void);

#define TARGET
#define BYTES 16
#define REAL float
#define NAME(x) x##_s
#include "gram_kernels_template.h"
#define REAL double
#define NAME(x) x##_d
#include "gram_kernels_template.h"
#undef TARGET
#undef BYTES

#define KERNELS_OF(unit)                                                                           \
	{                                                                                          \
		__VERSION__,                                                                       \
		        {dot_s##unit, subtract_s##unit, subtract_dot_s##unit,                      \
		                subtract_dots_s##unit},                                            \
		{                                                                                  \
			dot_d##unit, subtract_d##unit, subtract_dot_d##unit, subtract_dots_d##unit \
		}                                                                                  \
	}

static const struct gram_kernels plain = KERNELS_OF();

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define REAL float
#define NAME(x) x##_s_avx2
#include "gram_kernels_template.h"
#define REAL double
#define NAME(x) x##_d_avx2
#include "gram_kernels_template.h"
#undef TARGET
#undef BYTES

#define TARGET __attribute__((target("avx512f,avx512vl,fma")))
#define BYTES 64
#define REAL float
#define NAME(x) x##_s_avx512
#include "gram_kernels_template.h"
#define REAL double
#define NAME(x) x##_d_avx512
#include "gram_kernels_template.h"
#undef TARGET
#undef BYTES

static const struct gram_kernels avx2 = KERNELS_OF(_avx2), avx512 = KERNELS_OF(_avx512);

const struct gram_kernels *KERNELS(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return &avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &avx2;
	return &plain;
}
#else
const struct gram_kernels *KERNELS(void)
{
	return &plain;
}
#endif
