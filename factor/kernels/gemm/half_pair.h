/* SPDX-License-Identifier: MIT */
/* 3xFP16: a single-precision product on FP16 units. FP16 has as many significant bits (11) as TF32
 * (factor/kernels/gemm/tf32.h) at twice the rate, but a short exponent range. So each vector along
 * the inner dimension has its own factor F, a power of two, and
 *
 *     x = 2^-14 F (high + 2^-11 low),   F <= max |x| < 2 F,
 *     x y = 2^-28 Fx Fy (high high + 2^-11 (high low + low high)).
 *
 * The relative error of a product is about 2^-22, as in 3xTF32; for elements below 2^-28 of their
 * vector's largest element it is up to 2^-50 of that element (Ootomo and Yokota 2022 for low parts
 * with their own exponent).
 *
 * low of an infinite x is 0, so the result is infinite or NaN. NaN stays NaN. An infinite element
 * leaves little of the finite elements of its vector. F is at least 2^-112: smaller vectors keep
 * fewer than 22 bits, with an error of up to 2^-162. */
#pragma once

#include "lib/base/matrix.h"

#include <string.h>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#define HALF_CALL __device__ static inline
#else
#define HALF_CALL static inline
#endif

/* Scales of high and low, before F. */
#define HALF_HIGH 0x1p-14f
#define HALF_LOW 0x1p-25f

/* The pair of op(a), k x n, is a matrix of n columns of 4-byte words: k high parts, padded with
 * zeros to whole 16 bytes, the low parts in the same way, and F. */
enum { HALF_ALIGNED = 8, HALF_FACTOR = 4 };

static inline int64_t half_rows(int64_t k)
{
	return (k + HALF_ALIGNED - 1) / HALF_ALIGNED * HALF_ALIGNED + HALF_FACTOR;
}

/* Padded length of one part of a pair of that many rows. */
static inline int64_t half_depth(int64_t rows)
{
	return rows - HALF_FACTOR;
}

/* The units add up HALF_STEP products at a time and cut each sum toward zero. A cut takes half a
 * unit of the last place, on average over mantissas 2^-23 / (4 ln 2) of the sum. After t of T steps
 * the sum is about t / T of the whole, which loses 2^-23 (T + 1) / (8 ln 2) in the mean. This is
 * returned, by a factor 1 + half_returned: some data lose more, some nothing
 * (docs/experiments/truncation.md). */
enum { HALF_STEP = 16 };

static inline double half_returned(int64_t depth)
{
	const double ln2 = 0.6931471805599453;

	return 0x1p-23 * (double)(depth / HALF_STEP + 1) / (8 * ln2);
}

HALF_CALL float half_float(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

HALF_CALL uint32_t half_word(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

/* The exponent of F for a vector whose largest magnitude is `largest` (no NaN). */
HALF_CALL int half_exponent(float largest)
{
	const int least = -112, most = 127;
	const int exponent = (int)(half_word(largest) >> 23 & 0xff) - 127;
	return exponent < least ? least : exponent > most ? most : exponent;
}

HALF_CALL float half_factor(int exponent)
{
	return half_float((uint32_t)(exponent + 127) << 23);
}

#ifdef __CUDACC__
HALF_CALL uint16_t half_bits(float x)
{
	return __half_as_ushort(__float2half_rn(x));
}

HALF_CALL float half_value(uint16_t bits)
{
	return __half2float(__ushort_as_half(bits));
}
#else
/* Conversions by bit arithmetic, since many compilers have no 16-bit type: to the nearest number,
 * ties to even. */
HALF_CALL uint16_t half_bits(float x)
{
	const uint32_t bits = half_word(x), size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
	uint32_t half;

	if (size > 0x7f800000) /* NaN */
		half = 0x7e00 | (size >> 13 & 0x3ff);
	else if (size >= 0x477ff000) /* rounds to 2^16 at least */
		half = 0x7c00;
	else if (size < 0x38800000) /* subnormal: the last bit of 0.5f and above is 2^-24 */
		half = half_word(half_float(size) + 0.5f) - half_word(0.5f);
	else
		half = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
	return (uint16_t)(sign | half);
}

HALF_CALL float half_value(uint16_t bits)
{
	const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, size = bits & 0x7fff;

	if (size > 0x7c00) /* NaN */
		return half_float(sign | 0x7fc00000 | size << 13);
	if (size == 0x7c00)
		return half_float(sign | 0x7f800000);
	if (size < 0x400) /* subnormal */
		return half_float(sign | half_word((float)size * 0x1p-24f));
	return half_float(sign | ((size << 13) + 0x38000000));
}
#endif

/* The parts of x in a vector with that exponent. */
HALF_CALL void half_split(float x, int exponent, uint16_t *high, uint16_t *low)
{
	const float near = x * half_factor(14 - exponent);
	*high = half_bits(near);
	const float rest = near - half_value(*high);
	*low = half_bits(rest - rest == 0 ? rest * 2048 : 0);
}

C_BEGIN

/* half_pair_kernels.cu: one kernel makes all pairs (factor/kernels/gemm/tf32.h), each of an op(a),
 * k x n, k at most TF32_PIECE, in `to`: half_rows(k) rows and n columns, single precision. stream
 * is a cudaStream_t. Returns a cudaError_t. */
struct splits;
int half_pair(const struct splits *splits, void *stream);

C_END
