/* SPDX-License-Identifier: MIT */
/* When a column of Gram-Schmidt depends on those before it. */
#ifndef FATHOM_GRAM_SCHMIDT_FINISH_CUH
#define FATHOM_GRAM_SCHMIDT_FINISH_CUH

/* Of its squared norm and what that was at first. Infinite sums are not small. */
template <typename real>
static __device__ __forceinline__ bool is_dependent(real square, real before, double dependent)
{
	return (double)square <= dependent * (double)before && !isinf(square);
}

/* By one thread of all. */
static __device__ __forceinline__ void note_dependent(int *info, int number)
{
	if (*info == 0 || *info > number)
		*info = number;
}

#endif
