/* SPDX-License-Identifier: MIT */
/* Compiled by the project's compiler, and by others with PLAIN as the name of the function. */
#include "gram_compilers.h"

#include <math.h>
#include <stddef.h>

#ifndef PLAIN
#define PLAIN gram_plain
#endif
const struct gram_plain *PLAIN(void);

/* Listing 1 of Brandes et al. (2012). Q(k, i) and R(i, j) are elements, counted from 0. */
#define ORTHONORMALIZE(m, n, Q, R)                                                                 \
	for (int64_t i = 0; i < (n); i++) {                                                        \
		for (int64_t j = i; j < (n); j++) {                                                \
			float sum = 0;                                                             \
			for (int64_t k = 0; k < (m); k++)                                          \
				sum += Q(k, i) * Q(k, j);                                          \
			R(i, j) = sum;                                                             \
		}                                                                                  \
		R(i, i) = sqrtf(R(i, i));                                                          \
		for (int64_t k = 0; k < (m); k++)                                                  \
			Q(k, i) /= R(i, i);                                                        \
		for (int64_t j = i + 1; j < (n); j++)                                              \
			R(i, j) /= R(i, i);                                                        \
		for (int64_t j = i + 1; j < (n); j++)                                              \
			for (int64_t k = 0; k < (m); k++)                                          \
				Q(k, j) -= R(i, j) * Q(k, i);                                      \
	}

#define LINEAR_Q(k, i) q[(i)*ldq + (k)]
#define LINEAR_R(i, j) r[(j)*ldr + (i)]
#define FIXED_Q(k, i) q[i][k]
#define FIXED_R(i, j) r[j][i]

#define VARIANTS(unit, target)                                                                     \
	target static void linear##unit(int64_t m, int64_t n, float *q, int64_t ldq, float *r,     \
	        int64_t ldr){ORTHONORMALIZE(m, n, LINEAR_Q,                                        \
	        LINEAR_R)} target static void fixed##unit(float(*q)[GRAM_FIXED_LD],                \
	        float(*r)[GRAM_FIXED])                                                             \
	{                                                                                          \
		ORTHONORMALIZE(GRAM_FIXED, GRAM_FIXED, FIXED_Q, FIXED_R)                           \
	}                                                                                          \
	static const struct gram_plain plain##unit = {linear##unit, fixed##unit}

VARIANTS(, );
#if defined(__x86_64__)
VARIANTS(_avx2, __attribute__((target("avx2,fma"))));
VARIANTS(_avx512, __attribute__((target("avx512f,avx512vl,fma"))));

const struct gram_plain *PLAIN(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return &plain_avx512;
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &plain_avx2
	                                                                       : &plain;
}
#else
const struct gram_plain *PLAIN(void)
{
	return &plain;
}
#endif
