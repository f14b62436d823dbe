/* SPDX-License-Identifier: MIT */
/* Division of a column by its pivot, as in LAPACK's getf2. */
#pragma once

#include "lib/base/base.h"

#include <float.h>

static DEVICE float smallest_normal(float)
{
	return FLT_MIN;
}

static DEVICE double smallest_normal(double)
{
	return DBL_MIN;
}

/* x / pivot by the reciprocal unless that could overflow; unchanged for a zero pivot. */
template <typename T> struct pivot_divisor {
	T reciprocal, pivot;
};

/* All cases that the other overload does not take. */
template <typename T> static DEVICE pivot_divisor<T> divide_by_any(T pivot)
{
	/* a NaN pivot takes the reciprocal, to spread */
	pivot_divisor<T> d = {pivot == T(0) ? T(1) : T(0), pivot};
	if (pivot != T(0) && !(fabs(pivot) < smallest_normal(pivot)))
		d.reciprocal = T(1) / pivot;
	return d;
}

static DEVICE pivot_divisor<double> pivot_divide_by(double pivot)
{
	return divide_by_any(pivot);
}

/* For exponents 1 to 252 the hardware's approximation and one Newton step give the correctly
 * rounded reciprocal, with fewer branches than the compiler's code. */
static DEVICE pivot_divisor<float> pivot_divide_by(float pivot)
{
	float r;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(pivot));
	r = __fmaf_rn(r, -__fmaf_rn(r, pivot, -1.0f), r);
	if (__builtin_expect(pivot != 0.0f && (((__float_as_uint(pivot) >> 23) + 3) & 0xff) < 4, 0))
		return divide_by_any(pivot);
	return {pivot == 0.0f ? 1.0f : r, pivot};
}

template <typename T> static DEVICE T pivot_divide(T x, const pivot_divisor<T> &d)
{
	/* reciprocal 0 marks a subnormal pivot, or an infinite one, where division gives the same
	 * quotients */
	return d.reciprocal == T(0) ? x / d.pivot : x * d.reciprocal;
}
