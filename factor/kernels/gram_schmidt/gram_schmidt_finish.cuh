/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt: the test for dependent columns, and the alignment of columns. */
#pragma once

#include "gram_schmidt_kernels.h"

/* From the column's squared norm and its first value. Infinite sums are not small. */
template <typename real>
static __device__ __forceinline__ bool is_dependent(real square, real before, double dependent)
{
	return (double)square <= dependent * (double)before && !isinf(square);
}

/* Called by one thread of the grid. */
static __device__ __forceinline__ void note_dependent(int *info, int number)
{
	if (*info == 0 || *info > number)
		*info = number;
}

/* Whether all columns allow accesses of 16 bytes. */
template <typename T> static inline bool aligned(const struct gram_schmidt *g)
{
	return (uintptr_t)matrix_address(g->a) % 16 == 0 && g->a.ld * (int64_t)sizeof(T) % 16 == 0;
}
