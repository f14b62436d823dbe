/* SPDX-License-Identifier: MIT */
/* The rank-1 update of a panel in shared memory, as columns of odd pitch: a[c][r] -= a[k][r] *
 * p[c]. One thread per row (no bank conflicts along rows or columns), four columns at a time (p
 * arrives in one broadcast load). Used by the resident panel kernel and measured by the
 * panel_kernel probe. */
#pragma once

#include "lib/base/base.h"

static DEVICE float minus_product(float a, float l, float p)
{
	return __fmaf_rn(-l, p, a);
}

static DEVICE double minus_product(double a, double l, double p)
{
	return __fma_rn(-l, p, a);
}

struct quad_float {
	float x[4];
};

struct quad_double {
	double x[4];
};

/* Four consecutive values in 16-byte loads. */
static DEVICE struct quad_float load_quad(const float *p)
{
	float4 v = *(const float4 *)p;
	return {{v.x, v.y, v.z, v.w}};
}

static DEVICE struct quad_double load_quad(const double *p)
{
	double2 v = *(const double2 *)p, w = *(const double2 *)(p + 2);
	return {{v.x, v.y, w.x, w.y}};
}

/* Columns first .. n-1 of one row, in quads of columns quad, quad + stride, ... (several warps may
 * share a row). row points at a[0][r]; p is aligned to 16 bytes. */
template <typename T>
static DEVICE void shared_update(
        T *row, int pitch, const T *p, T l, int first, int n, int quad, int stride)
{
	for (int q = first / 4 + ((quad - first / 4) & (stride - 1)); 4 * q < n; q += stride) {
		T *a = row + 4 * q * pitch;
		if (4 * q >= first && 4 * q + 3 < n) {
			auto v = load_quad(p + 4 * q);
			T a0 = a[0], a1 = a[pitch], a2 = a[2 * pitch], a3 = a[3 * pitch];
			a[0] = minus_product(a0, l, v.x[0]);
			a[pitch] = minus_product(a1, l, v.x[1]);
			a[2 * pitch] = minus_product(a2, l, v.x[2]);
			a[3 * pitch] = minus_product(a3, l, v.x[3]);
		} else {
			for (int c = 4 * q; c < 4 * q + 4 && c < n; c++)
				if (c >= first)
					a[(c - 4 * q) * pitch] =
					        minus_product(a[(c - 4 * q) * pitch], l, p[c]);
		}
	}
}
