/* SPDX-License-Identifier: MIT */
/* The scalars of a Householder reflector, and the power of two that scales its column when
 * squares could overflow or underflow. */
#pragma once

#include "lib/base/base.h"

/* H = I - tau v v^T with v = (1, x * divide) takes (alpha, x) to (beta, 0). */
template <typename real> struct reflector {
	real beta, tau, divide;
};

template <typename real> struct safe_range;

/* Squared norms in this range need no scaling: products with much smaller or larger columns keep
 * their digits. */
template <> struct safe_range<float> {
	static constexpr float low = 0x1p-40f, high = 0x1p80f;
	static constexpr int exponent = 126;
};

template <> struct safe_range<double> {
	static constexpr double low = 0x1p-80, high = 0x1p400;
	static constexpr int exponent = 1022;
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

/* A power of two that scales the largest magnitude of a column near 1; 1 when it is 0, infinite
 * or NaN. Its reciprocal is a normal number, too. */
template <typename real> static __device__ __forceinline__ real scale_for(real largest)
{
	if (!(largest > real(0)) || isinf(largest))
		return real(1);
	const int limit = safe_range<real>::exponent;
	return ldexp(real(1), min(max(-ilogb(largest), -limit), limit));
}

/* The larger value; NaN when either is NaN. */
template <typename real> static __device__ __forceinline__ real larger_of(real a, real b)
{
	return a > b || a != a ? a : b;
}
