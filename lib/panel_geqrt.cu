/* SPDX-License-Identifier: MIT */
/* Householder QR of a short panel in one block, with V and T. Four lanes hold a column in
 * registers; column j goes to all through shared memory, so that a column costs one barrier: every
 * group of four forms the sums that it needs itself, that of the column's squares (the same bits
 * everywhere) and its own column's product with it. Of a column right of j that is the update's
 * multiplier; of one left of j, a finished vector v_k, it is v_k^T v_j, which T is made of at the
 * end: of pairs of its diagonal blocks, T12 = -T1 (V1^T V2) T2, from blocks of 1 on (Elmroth and
 * Gustavson 2000).
 *
 * Cost of m <= 16 BLOCKS rows and n columns: load and store of m n words; a column: one barrier,
 * 12 BLOCKS fused multiply-adds a lane, 5 shuffles, a root and a division; T 18 barriers.
 */
#include "panel_geometry.h"
#include "panel_geqrf.h"
#include "reflector.cuh"

#include <cuda_runtime.h>

namespace
{

enum {
	COLUMNS = PANEL_GEQRT_COLUMNS,
	LANES = 4,        /* of a column */
	SPAN = 4 * LANES, /* rows of a block: each lane has four neighbours */
	THREADS = COLUMNS * LANES,
	PITCH = COLUMNS + 1
};

template <typename real> struct panel {
	real *a, *tau, *v, *t;
	int64_t lda, ldv, ldt;
	int m, n;
};

template <typename real, int BLOCKS> struct shared {
	alignas(16) real column[2][SPAN * BLOCKS];
	real t[COLUMNS * PITCH]; /* by rows: T, and below its diagonal v_j^T v_k */
};

template <typename real> __device__ __forceinline__ real group_sum(real x)
{
#pragma unroll
	for (int step = LANES / 2; step > 0; step /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, step);
	return x;
}

template <typename real> __device__ __forceinline__ real group_largest(real x)
{
#pragma unroll
	for (int step = LANES / 2; step > 0; step /= 2)
		x = larger_of(x, __shfl_xor_sync(0xffffffffu, x, step));
	return x;
}

/* The thread's rows from block FIRST on: four neighbours of each. */
template <typename real, int BLOCKS, int FIRST> struct rows {
	static constexpr int count = 4 * (BLOCKS - FIRST);
	real x[count];

	__device__ __forceinline__ void load(const real *column, int lane)
	{
#pragma unroll
		for (int i = 0; i < count; i++)
			x[i] = column[SPAN * (FIRST + i / 4) + 4 * lane + i % 4];
	}

	__device__ __forceinline__ real squares(void) const
	{
		real sum[2] = {real(0), real(0)};
#pragma unroll
		for (int i = 0; i < count; i++)
			sum[i % 2] += x[i] * x[i];
		return group_sum(sum[0] + sum[1]);
	}

	__device__ __forceinline__ real dot(const real *a) const
	{
		real sum[2] = {real(0), real(0)};
#pragma unroll
		for (int i = 0; i < count; i++)
			sum[i % 2] += x[i] * a[4 * FIRST + i];
		return group_sum(sum[0] + sum[1]);
	}
};

/* The column times a power of two, which is returned; 0 when it is zero below its diagonal. */
template <typename real, int BLOCKS, int FIRST>
__device__ __forceinline__ real rescale(struct rows<real, BLOCKS, FIRST> &v, real alpha)
{
	real below = real(0);
#pragma unroll
	for (int i = 0; i < v.count; i++)
		below = larger_of(below, fabs(v.x[i]));
	below = group_largest(below);
	const real scale = scale_for(larger_of(below, fabs(alpha)));
#pragma unroll
	for (int i = 0; i < v.count; i++)
		v.x[i] *= scale;
	return below == real(0) ? real(0) : scale;
}

/* Column j = SPAN (AT / 4) + 4 owner + AT % 4, whose diagonal element the owner's register AT holds
 * in every column. */
template <typename real, int BLOCKS, int AT>
__device__ __forceinline__ void step(
        struct shared<real, BLOCKS> &s, real (&a)[4 * BLOCKS], int owner, int k, int lane)
{
	constexpr int FIRST = AT / 4;
	const int in_block = 4 * owner + AT % 4, j = SPAN * FIRST + in_block;
	struct rows<real, BLOCKS, FIRST> v;

	__syncthreads();
	v.load(s.column[j % 2], lane);
	const real alpha = s.column[j % 2][j], top = __shfl_sync(0xffffffffu, a[AT], owner, LANES);
#pragma unroll
	for (int q = 0; q < 4; q++)
		v.x[q] = 4 * lane + q > in_block ? v.x[q] : real(0);

	struct reflector<real> h;
	real sum, scale = real(1);
	bool safe = false;
#pragma unroll 1
	for (int attempt = 0; !safe && attempt < 2; attempt++) {
		if (attempt > 0)
			scale = rescale(v, alpha);
		const real squares = v.squares();
		sum = v.dot(a);
		h = reflector_of_safe(alpha * scale, squares);
		safe = __all_sync(0xffffffffu, is_safe(alpha * scale, squares) && isfinite(sum));
	}
	if (scale == real(0))
		h = reflector_none(alpha);
	else if (scale != real(1))
		h.beta /= scale;
#pragma unroll
	for (int i = 0; i < v.count; i++)
		v.x[i] *= h.divide;
	const real product = top + h.divide * sum;

	if (k > j) {
		const real times = h.tau == real(0) ? real(0) : h.tau * product;
#pragma unroll
		for (int i = 0; i < v.count; i++)
			a[4 * FIRST + i] -= times * v.x[i];
		if (lane == owner)
			a[AT] -= times;
	} else if (k == j) {
#pragma unroll
		for (int i = 0; i < v.count; i++)
			if (i >= 4 || 4 * lane + i > in_block)
				a[4 * FIRST + i] = v.x[i];
		if (lane == owner)
			a[AT] = h.beta;
		s.t[j * PITCH + j] = h.tau;
	} else if (lane == 0) {
		s.t[j * PITCH + k] = product;
	}
	if (k == j + 1)
#pragma unroll
		for (int i = 0; i < v.count; i++)
			s.column[k % 2][SPAN * (FIRST + i / 4) + 4 * lane + i % 4] =
			        a[4 * FIRST + i];
}

/* Four columns of one owner. */
template <typename real, int BLOCKS, int FIRST>
__device__ __forceinline__ void steps(
        struct shared<real, BLOCKS> &s, real (&a)[4 * BLOCKS], int n, int owner, int k, int lane)
{
	const int j = SPAN * FIRST + 4 * owner;

	if (j < n)
		step<real, BLOCKS, 4 * FIRST>(s, a, owner, k, lane);
	if (j + 1 < n)
		step<real, BLOCKS, 4 * FIRST + 1>(s, a, owner, k, lane);
	if (j + 2 < n)
		step<real, BLOCKS, 4 * FIRST + 2>(s, a, owner, k, lane);
	if (j + 3 < n)
		step<real, BLOCKS, 4 * FIRST + 3>(s, a, owner, k, lane);
}

template <typename real, int BLOCKS, int FIRST>
__device__ __forceinline__ void all_steps(
        struct shared<real, BLOCKS> &s, real (&a)[4 * BLOCKS], int n, int k, int lane)
{
#pragma unroll 1
	for (int owner = 0; owner < LANES && SPAN * FIRST + 4 * owner < n; owner++)
		steps<real, BLOCKS, FIRST>(s, a, n, owner, k, lane);
	if constexpr (FIRST + 1 < BLOCKS && SPAN * (FIRST + 1) < COLUMNS)
		all_steps<real, BLOCKS, FIRST + 1>(s, a, n, k, lane);
}

template <typename real, int BLOCKS>
__device__ __forceinline__ void reflect(const struct panel<real> &g, struct shared<real, BLOCKS> &s)
{
	const int k = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
	real a[4 * BLOCKS];

#pragma unroll
	for (int i = 0; i < 4 * BLOCKS; i++) {
		const int row = SPAN * (i / 4) + 4 * lane + i % 4;
		a[i] = row < g.m && k < g.n ? g.a[row + k * g.lda] : real(0);
		if (k == 0)
			s.column[0][row] = a[i];
	}
	all_steps<real, BLOCKS, 0>(s, a, g.n, k, lane);
#pragma unroll
	for (int i = 0; i < 4 * BLOCKS; i++) {
		const int row = SPAN * (i / 4) + 4 * lane + i % 4;
		if (row < g.m && k < g.n) {
			g.a[row + k * g.lda] = a[i];
			if (g.v)
				g.v[row + k * g.ldv] = row > k ? a[i] : real(row == k);
		}
	}
}

/* Element i of all blocks T12 of 2^power rows and columns; the first column of T2. */
struct place {
	int row, column, middle;
};

__device__ __forceinline__ struct place place_of(int i, int power)
{
	const int b = 1 << power, middle = (i >> 2 * power) * 2 * b + b;

	return {middle - b + (i & (b - 1)), middle + (i >> power & (b - 1)), middle};
}

/* T off its diagonal. (V1^T V2) T2 takes the place of V1^T V2. */
template <typename real, int BLOCKS>
__device__ __forceinline__ void form_t(struct shared<real, BLOCKS> &s)
{
	for (int power = 0; 1 << power < COLUMNS; power++) {
		const int count = COLUMNS / 2 << power;
		real product[COLUMNS / 2 * COLUMNS / 2 / THREADS];
#pragma unroll
		for (int r = 0; r < COLUMNS / 2 * COLUMNS / 2 / THREADS; r++) {
			const struct place at = place_of((int)threadIdx.x + r * THREADS, power);
			product[r] = real(0);
			for (int l = at.middle; at.row < COLUMNS && l <= at.column; l++)
				product[r] += s.t[l * PITCH + at.row] * s.t[l * PITCH + at.column];
		}
		__syncthreads();
#pragma unroll
		for (int r = 0; r < COLUMNS / 2 * COLUMNS / 2 / THREADS; r++) {
			const struct place at = place_of((int)threadIdx.x + r * THREADS, power);
			if (at.row < COLUMNS)
				s.t[at.column * PITCH + at.row] = product[r];
		}
		__syncthreads();
		for (int i = (int)threadIdx.x; i < count; i += THREADS) {
			const struct place at = place_of(i, power);
			real sum = real(0);
			for (int l = at.row; l < at.middle; l++)
				sum += s.t[at.row * PITCH + l] * s.t[at.column * PITCH + l];
			s.t[at.row * PITCH + at.column] = -sum;
		}
		__syncthreads();
	}
}

template <typename real, int BLOCKS>
__global__ void __launch_bounds__(THREADS) geqrt_kernel(const struct panel<real> g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	struct shared<real, BLOCKS> &s = *reinterpret_cast<struct shared<real, BLOCKS> *>(memory);

	reflect<real, BLOCKS>(g, s);
	__syncthreads();
	if ((int)threadIdx.x < g.n)
		g.tau[threadIdx.x] = s.t[threadIdx.x * (PITCH + 1)];
	if (!g.t)
		return;
	form_t<real, BLOCKS>(s);
	for (int at = (int)threadIdx.x; at < g.n * g.n; at += THREADS) {
		const int i = at % g.n, j = at / g.n;
		g.t[i + j * g.ldt] = i <= j ? s.t[i * PITCH + j] : real(0);
	}
}

template <typename real, int BLOCKS> int launch(const struct panel<real> &g, cudaStream_t stream)
{
	const void *kernel = (const void *)geqrt_kernel<real, BLOCKS>;
	const int bytes = (int)sizeof(struct shared<real, BLOCKS>);
	struct panel<real> copy = g;
	void *arguments[] = {&copy};

	cudaError_t error =
	        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	return (int)(error != cudaSuccess ? error
	                                  : cudaLaunchKernel(kernel, dim3(1), dim3(THREADS),
	                                            arguments, (size_t)bytes, stream));
}

template <typename real> int run(const struct panel<real> &g, void *stream)
{
	if (g.m <= 64)
		return launch<real, 64 / SPAN>(g, (cudaStream_t)stream);
	if (g.m <= 128)
		return launch<real, 128 / SPAN>(g, (cudaStream_t)stream);
	if constexpr (sizeof(real) == 4)
		return launch<real, 256 / SPAN>(g, (cudaStream_t)stream);
	return (int)cudaErrorInvalidValue;
}

} // namespace

extern "C" int panel_geqrt(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, const struct block_reflector *r, void *stream)
{
	if (!panel_geqrt_fits(m, n, precision_bytes(precision)))
		return (int)cudaErrorInvalidValue;
	const struct block_reflector none = {NULL, 0, NULL, 0}, to = r ? *r : none;
	if (precision == SINGLE) {
		const struct panel<float> g = {
			(float *)a, (float *)tau, (float *)to.v, (float *)to.t, lda, to.ldv, to.ldt,
			        (int)m, (int)n
		};
		return run(g, stream);
	}
	const struct panel<double> g = {
		(double *)a, (double *)tau, (double *)to.v, (double *)to.t, lda, to.ldv, to.ldt,
		        (int)m, (int)n
	};
	return run(g, stream);
}
