/* SPDX-License-Identifier: MIT */
#include "gram_compilers.h"

#include <stddef.h>
#include <string.h>

const char *const gram_compilers[] = {"gcc", "clang", "gfortran", NULL};

/* The Makefile defines FATHOM_CLANG and FATHOM_FORTRAN (its version) where it finds them. */
#ifdef FATHOM_CLANG
const struct gram_loops *gram_loops_clang(void);
#else
static const struct gram_loops *gram_loops_clang(void)
{
	return NULL;
}
#endif

#ifdef FATHOM_FORTRAN
/* Single precision. */
#define FORTRAN(unit)                                                                              \
	float fortran_dot##unit(int64_t m, const float *x, const float *y);                        \
	void fortran_subtract##unit(int64_t m, float factor, const float *v, float *x);            \
	float fortran_subtract_dot##unit(                                                          \
	        int64_t m, float factor, const float *v, const float *w, float *x);                \
	void fortran_subtract_dots##unit(int64_t m, const float *const v[],                        \
	        const float *const w[], float *const x[], float *sums);                            \
	static const struct gram_loops fortran##unit = {FATHOM_FORTRAN,                            \
	        {fortran_dot##unit, fortran_subtract##unit, fortran_subtract_dot##unit,            \
	                fortran_subtract_dots##unit},                                              \
	        {NULL, NULL, NULL, NULL}}

FORTRAN(_avx2);
FORTRAN(_avx512);

static const struct gram_loops *gram_loops_fortran(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return &fortran_avx512;
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &fortran_avx2
	                                                                       : NULL;
}
#else
static const struct gram_loops *gram_loops_fortran(void)
{
	return NULL;
}
#endif

const struct gram_loops *gram_loops_by(const char *compiler)
{
	if (strcmp(compiler, "clang") == 0)
		return gram_loops_clang();
	if (strcmp(compiler, "gfortran") == 0)
		return gram_loops_fortran();
#ifndef __clang__
	if (strcmp(compiler, "gcc") == 0)
		return gram_loops();
#endif
	return NULL;
}
