/* SPDX-License-Identifier: MIT */
/* What orders pivot candidates: the magnitude as an unsigned integer, so that comparison, ties and NaN are exact. */
#ifndef FATHOM_PIVOT_KEY_CUH
#define FATHOM_PIVOT_KEY_CUH

#include "../lib/base.h"

#include <float.h>

/* Increasing in |value|; every NaN has the same key, above infinity's; 0 is left for "no candidate". */
static __device__ __forceinline__ uint64_t pivot_key(float value)
{
	uint32_t bits = __float_as_uint(value) & 0x7fffffffu;
	return min(bits, 0x7f800001u) + 1;
}

static __device__ __forceinline__ uint64_t pivot_key(double value)
{
	uint64_t bits = (uint64_t)__double_as_longlong(value) & 0x7fffffffffffffffull;
	return min(bits, (uint64_t)0x7ff0000000000001) + 1;
}

static __device__ __forceinline__ float smallest_normal(float)
{
	return FLT_MIN;
}

static __device__ __forceinline__ double smallest_normal(double)
{
	return DBL_MIN;
}

/* x / pivot as LAPACK's getf2 does it: by the reciprocal unless that could overflow; unchanged for a zero pivot. */
template <typename T> struct pivot_divisor {
	T reciprocal, pivot;
};

template <typename T> static __device__ __forceinline__ struct pivot_divisor<T> pivot_divide_by(T pivot)
{
	/* a NaN pivot takes the reciprocal, so that it spreads */
	struct pivot_divisor<T> d = {pivot == T(0) ? T(1) : T(0), pivot};
	if (pivot != T(0) && !(fabs(pivot) < smallest_normal(pivot)))
		d.reciprocal = T(1) / pivot;
	return d;
}

template <typename T>
static __device__ __forceinline__ T pivot_divide(T x, const struct pivot_divisor<T> &d)
{
	/* reciprocal 0 marks a subnormal pivot, except for an infinite one, whose quotients are what division gives too */
	return d.reciprocal == T(0) ? x / d.pivot : x * d.reciprocal;
}

#endif
