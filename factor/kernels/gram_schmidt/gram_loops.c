/* SPDX-License-Identifier: MIT */
/* Compiled by the project's compiler, and by others with LOOPS as the name of the function. */
#include "gram_loops.h"

#include <stddef.h>

#ifndef LOOPS
#define LOOPS gram_loops
#endif
const struct gram_loops *LOOPS(void);

#define TARGET
#define BYTES 16
#define REAL float
#define NAME(x) x##_s
#include "gram_loops_template.h"
#define REAL double
#define NAME(x) x##_d
#include "gram_loops_template.h"
#undef TARGET
#undef BYTES

#define LOOPS_OF(unit)                                                                             \
	{                                                                                          \
		__VERSION__,                                                                       \
		        {dot_s##unit, subtract_s##unit, subtract_dot_s##unit,                      \
		                subtract_dots_s##unit},                                            \
		{                                                                                  \
			dot_d##unit, subtract_d##unit, subtract_dot_d##unit, subtract_dots_d##unit \
		}                                                                                  \
	}

static const struct gram_loops plain = LOOPS_OF();

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define REAL float
#define NAME(x) x##_s_avx2
#include "gram_loops_template.h"
#define REAL double
#define NAME(x) x##_d_avx2
#include "gram_loops_template.h"
#undef TARGET
#undef BYTES

#define TARGET __attribute__((target("avx512f,avx512vl,fma")))
#define BYTES 64
#define REAL float
#define NAME(x) x##_s_avx512
#include "gram_loops_template.h"
#define REAL double
#define NAME(x) x##_d_avx512
#include "gram_loops_template.h"
#undef TARGET
#undef BYTES

static const struct gram_loops avx2 = LOOPS_OF(_avx2), avx512 = LOOPS_OF(_avx512);

const struct gram_loops *LOOPS(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return &avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &avx2;
	return &plain;
}
#else
const struct gram_loops *LOOPS(void)
{
	return &plain;
}
#endif
