/* SPDX-License-Identifier: MIT */
/* Division of a column by its pivot, as LAPACK's getf2 does it. */
#ifndef FATHOM_PIVOT_DIVIDE_CUH
#define FATHOM_PIVOT_DIVIDE_CUH

#include "base.h"

#include <float.h>

static __device__ __forceinline__ float smallest_normal(float)
{
	return FLT_MIN;
}

static __device__ __forceinline__ double smallest_normal(double)
{
	return DBL_MIN;
}

/* x / pivot as LAPACK's getf2 does it: by the reciprocal unless that could overflow; unchanged for
 * a zero pivot. */
template <typename T> struct pivot_divisor {
	T reciprocal, pivot;
};

template <typename T>
static __device__ __forceinline__ struct pivot_divisor<T> pivot_divide_by(T pivot) {
	/* a NaN pivot takes the reciprocal, so that it spreads */
	struct pivot_divisor<T> d = {
		pivot == T(0) ? T(1) : T(0), pivot
	};
	if (pivot != T(0) && !(fabs(pivot) < smallest_normal(pivot)))
		d.reciprocal = T(1) / pivot;
	return d;
}

template <typename T>
static __device__ __forceinline__ T pivot_divide(T x, const struct pivot_divisor<T> &d)
{
	/* reciprocal 0 marks a subnormal pivot, except for an infinite one, whose quotients are
	 * what division gives too */
	return d.reciprocal == T(0) ? x / d.pivot : x * d.reciprocal;
}

#endif
