/* SPDX-License-Identifier: MIT */
#include "gram_compilers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *const gram_compilers[] = {
        "gcc", "clang", "icx", "nvc", "gfortran", "ifx", "nvfortran", NULL};

/* compilers.mk lists those that it finds: C_COMPILER(name) and FORTRAN_COMPILER(name, version). */
#ifndef C_COMPILERS
#define C_COMPILERS
#define FORTRAN_COMPILERS
#endif
const struct gram_plain *gram_plain(void);
#define C_COMPILER(name)                                                                           \
	const struct gram_loops *gram_loops_##name(void);                                          \
	const struct gram_plain *gram_plain_##name(void);
C_COMPILERS
#undef C_COMPILER

/* Single precision. */
#define FORTRAN(unit, version)                                                                     \
	float fortran_dot##unit(int64_t m, const float *x, const float *y);                        \
	void fortran_subtract##unit(int64_t m, float factor, const float *v, float *x);            \
	float fortran_subtract_dot##unit(                                                          \
	        int64_t m, float factor, const float *v, const float *w, float *x);                \
	void fortran_subtract_dots##unit(int64_t m, const float *const v[],                        \
	        const float *const w[], float *const x[], float *sums);                            \
	void fortran_plain##unit(                                                                  \
	        int64_t m, int64_t n, float *q, int64_t ldq, float *r, int64_t ldr);               \
	static const struct gram_loops loops##unit = {version,                                     \
	        {fortran_dot##unit, fortran_subtract##unit, fortran_subtract_dot##unit,            \
	                fortran_subtract_dots##unit},                                              \
	        {NULL, NULL, NULL, NULL}};                                                         \
	static const struct gram_plain plain##unit = {fortran_plain##unit, NULL};
#define FORTRAN_COMPILER(name, version)                                                            \
	FORTRAN(_avx2_##name, version) FORTRAN(_avx512_##name, version)
FORTRAN_COMPILERS
#undef FORTRAN_COMPILER

/* 512 or 256: the widest SIMD unit's bits, else 0. */
__attribute__((unused)) static int unit(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return 512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return 256;
#endif
	return 0;
}

/* The project's compiler is gcc, unless CC names clang. */
static bool is_own(const char *compiler)
{
#ifdef __clang__
	(void)compiler;
	return false;
#else
	return strcmp(compiler, "gcc") == 0;
#endif
}

const struct gram_loops *gram_loops_by(const char *compiler)
{
#define C_COMPILER(name)                                                                           \
	if (strcmp(compiler, #name) == 0)                                                          \
		return gram_loops_##name();
#define FORTRAN_COMPILER(name, version)                                                            \
	if (strcmp(compiler, #name) == 0)                                                          \
		return unit() == 512   ? &loops_avx512_##name                                      \
		       : unit() == 256 ? &loops_avx2_##name                                        \
		                       : NULL;
	C_COMPILERS
	FORTRAN_COMPILERS
#undef C_COMPILER
#undef FORTRAN_COMPILER
	return is_own(compiler) ? gram_loops() : NULL;
}

const struct gram_plain *gram_plain_by(const char *compiler)
{
#define C_COMPILER(name)                                                                           \
	if (strcmp(compiler, #name) == 0)                                                          \
		return gram_plain_##name();
#define FORTRAN_COMPILER(name, version)                                                            \
	if (strcmp(compiler, #name) == 0)                                                          \
		return unit() == 512   ? &plain_avx512_##name                                      \
		       : unit() == 256 ? &plain_avx2_##name                                        \
		                       : NULL;
	C_COMPILERS
	FORTRAN_COMPILERS
#undef C_COMPILER
#undef FORTRAN_COMPILER
	return is_own(compiler) ? gram_plain() : NULL;
}
