/* SPDX-License-Identifier: MIT */
/* The scalars of a Householder reflector, and the power of two that scales its column when
 * squares could overflow or underflow. */
#pragma once

#include "lib/base/base.h"

#include <limits.h>

/* H = I - tau v v^T with v = (1, x * divide) takes (alpha, x) to (beta, 0). */
template <typename real> struct reflector {
	real beta, tau, divide;
};

template <typename real> struct safe_range;

/* Squared norms in this range need no scaling: products with much smaller or larger columns keep
 * their digits. */
template <> struct safe_range<float> {
	static constexpr float low = 0x1p-40f, high = 0x1p80f;
};

template <> struct safe_range<double> {
	static constexpr double low = 0x1p-80, high = 0x1p400;
};

/* alpha: the diagonal element; squares: the sum of the squares below it. As LAPACK's slarfg. */
template <typename real>
static __device__ __forceinline__ struct reflector<real> reflector_of(real alpha, real squares) {
	const real beta = -copysign(sqrt(alpha * alpha + squares), alpha);
	return {beta, (beta - alpha) / beta, real(1) / (alpha - beta)};
}

/* The same for alpha^2 + squares in the safe range, or for an unused result: to two roundings,
 * without the branches of correctly rounded roots and divisions. */
static __device__ __forceinline__ struct reflector<float>
reflector_of_safe(float alpha, float squares) {
	const float norm2 = __fmaf_rn(alpha, alpha, squares);
	float root, divide;
	asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(norm2));
	float norm = norm2 * root;
	norm = __fmaf_rn(0.5f * root, __fmaf_rn(-norm, norm, norm2), norm);
	root = __fmaf_rn(root, __fmaf_rn(-norm, root, 1.0f), root); /* 1 / norm */
	const float beta = -copysignf(norm, alpha), gap = alpha - beta;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(divide) : "f"(gap));
	divide = __fmaf_rn(divide, -__fmaf_rn(divide, gap, -1.0f), divide);
	return {beta, fabsf(gap) * root, divide};
}

static __device__ __forceinline__ struct reflector<double>
reflector_of_safe(double alpha, double squares) {
	return reflector_of(alpha, squares);
}

/* H = I, for a column that is exactly zero below its diagonal. */
template <typename real>
static __device__ __forceinline__ struct reflector<real> reflector_none(real alpha) {
	return {alpha, real(0), real(0)};
}

/* Whether sums of the unscaled column are exact enough. */
template <typename real>
static __device__ __forceinline__ bool is_safe(real alpha, real squares)
{
	const real norm2 = alpha * alpha + squares;
	return squares > real(0) && norm2 >= safe_range<real>::low &&
	       norm2 <= safe_range<real>::high;
}

/* The exponent of the power of two that scales the largest magnitude of a column near 1; 0 when it
 * is 0, infinite or NaN. */
template <typename real> static __device__ __forceinline__ int scale_for(real largest)
{
	return !(largest > real(0)) || isinf(largest) ? 0 : -ilogb(largest);
}

static __device__ __forceinline__ float power_of_two(float, int exponent)
{
	return __int_as_float((exponent + 127) << 23);
}

static __device__ __forceinline__ double power_of_two(double, int exponent)
{
	return __hiloint2double((exponent + 1023) << 20, 0);
}

/* x 2^exponent, by two factors: subnormal numbers need powers beyond the precision's range. */
template <typename real> static __device__ __forceinline__ real scaled(real x, int exponent)
{
	const int half = exponent / 2;
	return x * power_of_two(x, half) * power_of_two(x, exponent - half);
}

/* In place of an exponent: the column is exactly zero below its diagonal. */
enum { ZERO_BELOW = INT_MIN };

/* The larger value; NaN when either is NaN. */
template <typename real> static __device__ __forceinline__ real larger_of(real a, real b)
{
	return a > b || a != a ? a : b;
}
