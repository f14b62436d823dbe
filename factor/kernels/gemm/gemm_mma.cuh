/* SPDX-License-Identifier: MIT */
/* c += a b on the tensor cores in double precision; a is 16 x K, b K x 8, K = 4, 8 or 16. Lane (g,
 * t), g = lane / 4 and t = lane % 4: a[2 q] and a[2 q + 1] are rows g and g + 8 of a's column 4 q +
 * t, b[q] is row 4 q + t of b's column g, c[0] and c[1] are columns 2 t and 2 t + 1 of c's row g,
 * c[2] and c[3] of row g + 8. */
#pragma once

#include "lib/base/base.h"

/* c += a b, 8 x 4 times 4 x 8. */
static DEVICE void mma_8x8(double &c0, double &c1, double a, double b)
{
#if __CUDA_ARCH__ >= 800
	asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
	        : "+d"(c0), "+d"(c1)
	        : "d"(a), "d"(b));
#else
	const int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
#pragma unroll
	for (int k = 0; k < 4; k++) {
		const double left = __shfl_sync(0xffffffff, a, 4 * g + k);
		c0 += left * __shfl_sync(0xffffffff, b, 8 * t + k);
		c1 += left * __shfl_sync(0xffffffff, b, 8 * t + 4 + k);
	}
#endif
}

#if __CUDA_ARCH__ >= 900

static DEVICE void mma_double(double (&c)[4], const double (&a)[2], const double (&b)[1])
{
	asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
	    "{%0,%1,%2,%3};"
	        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
	        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}

static DEVICE void mma_double(double (&c)[4], const double (&a)[4], const double (&b)[2])
{
	asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
	    "{%8,%9}, {%0,%1,%2,%3};"
	        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
	        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

static DEVICE void mma_double(double (&c)[4], const double (&a)[8], const double (&b)[4])
{
	asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
	    "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
	        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
	        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
	        "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

#else

template <int Q>
static DEVICE void mma_double(double (&c)[4], const double (&a)[2 * Q], const double (&b)[Q])
{
#pragma unroll
	for (int q = 0; q < Q; q++) {
		mma_8x8(c[0], c[1], a[2 * q], b[q]);
		mma_8x8(c[2], c[3], a[2 * q + 1], b[q]);
	}
}

#endif
