/* SPDX-License-Identifier: MIT */
/* The fallback for a product with an inverse: substitution. Every block checks whether the inverse
 * is accurate, which costs one read of both triangles. If it is not, which is rare, the blocks
 * share the right-hand sides, 32 at a time in shared memory. */
#include "block_kernels.h"
#include "lib/device/reduce.cuh"
#include "shared_update.cuh"

namespace
{

const int THREADS = 512;
const int LOADS = 8;
const int SIDES = 32;        /* right-hand sides at a time */
const int PITCH = SIDES + 1; /* between rows of the solution in shared memory */
const int MAX_BLOCKS = 64;

template <typename T> struct view {
	T *a;
	int64_t ld;
	bool flip;
	__device__ T &at(int64_t i, int64_t j) const
	{
		return flip ? a[j + i * ld] : a[i + j * ld];
	}
};

/* M X = B, M lower or upper, X and B n x count. Elements of M's other triangle are not read. */
template <typename T> struct guard {
	view<const T> m, inverse, kept;
	view<T> b;
	int n;
	int64_t count;
	bool lower, unit;
	T growth;
};

DEVICE float magnitude_of(uint32_t key)
{
	return __uint_as_float(key - 1);
}

DEVICE double magnitude_of(uint64_t key)
{
	return __longlong_as_double((long long)(key - 1));
}

template <typename T> struct candidate {
	typedef extreme<decltype(magnitude_key(T()))> best;
	typedef extreme_scratch<decltype(magnitude_key(T()))> scratch;
};

/* An element of the triangle, 0 outside. The diagonal of a unit triangle is 1. */
template <typename T>
__device__ T part_of(const view<const T> &m, const guard<T> &g, bool unit, int fast, int slow)
{
	const int i = m.flip ? slow : fast, j = m.flip ? fast : slow;
	if (slow >= g.n || fast >= g.n || (g.lower ? i < j : i > j))
		return T(0);
	return unit && i == j ? T(1) : m.at(i, j);
}

/* Whether the largest magnitudes of the triangle and its inverse are within the limit; false if
 * either has a NaN. A warp reads along the stored columns, LOADS of each in flight. */
template <typename T> __device__ bool trusted(const guard<T> &g)
{
	__shared__ typename candidate<T>::scratch scratch;
	const int fast = threadIdx.x % BLOCK_TRTRI_MAX, step = THREADS / BLOCK_TRTRI_MAX;
	typename candidate<T>::best m = {0, 0}, inverse = {0, 0};
	for (int first = threadIdx.x / BLOCK_TRTRI_MAX; first < g.n; first += LOADS * step) {
		T x[LOADS], y[LOADS];
#pragma unroll
		for (int k = 0; k < LOADS; k++) {
			x[k] = part_of(g.m, g, g.unit, fast, first + k * step);
			y[k] = part_of(g.inverse, g, false, fast, first + k * step);
		}
#pragma unroll
		for (int k = 0; k < LOADS; k++) {
			m.key = max(m.key, magnitude_key(x[k]));
			inverse.key = max(inverse.key, magnitude_key(y[k]));
		}
	}
	m = block_extreme(m, &scratch, 0);
	inverse = block_extreme(inverse, &scratch, 1);
	return magnitude_of(m.key) * magnitude_of(inverse.key) <= g.growth;
}

/* Right-hand sides first .. first + SIDES - 1 by substitution. */
template <typename T> __device__ void substitute(const guard<T> &g, T *x, int64_t first)
{
	const int side = threadIdx.x % SIDES, group = threadIdx.x / SIDES;
	const int groups = THREADS / SIDES;
	for (int e = threadIdx.x; e < g.n * SIDES; e += THREADS) {
		const int i = g.b.flip ? e / SIDES : e % g.n, s = g.b.flip ? e % SIDES : e / g.n;
		x[i * PITCH + s] = first + s < g.count ? g.kept.at(i, first + s) : T(0);
	}
	__syncthreads();
	for (int k = 0; k < g.n; k++) {
		const int i = g.lower ? k : g.n - 1 - k;
		if (group == 0 && !g.unit)
			x[i * PITCH + side] /= g.m.at(i, i);
		__syncthreads();
		const T solved = x[i * PITCH + side];
		for (int r = group; r < g.n - 1 - k; r += groups) {
			const int row = g.lower ? i + 1 + r : i - 1 - r;
			T *to = x + row * PITCH + side;
			*to = minus_product(*to, g.m.at(row, i), solved);
		}
		__syncthreads();
	}
	for (int e = threadIdx.x; e < g.n * SIDES; e += THREADS) {
		const int i = g.b.flip ? e / SIDES : e % g.n, s = g.b.flip ? e % SIDES : e / g.n;
		if (first + s < g.count)
			g.b.at(i, first + s) = x[i * PITCH + s];
	}
	__syncthreads();
}

template <typename T> __global__ void __launch_bounds__(THREADS) guard_kernel(const guard<T> g)
{
	__shared__ T x[BLOCK_TRTRI_MAX * PITCH];
	if (trusted(g))
		return;
	for (int64_t first = (int64_t)blockIdx.x * SIDES; first < g.count;
	        first += (int64_t)gridDim.x * SIDES)
		substitute(g, x, first);
}

/* With A on the right, X op(A) = B is op(A)^T X^T = B^T. */
template <typename T>
int run(enum side side, enum uplo uplo, enum trans trans, enum diag diag, struct matrix a,
        struct matrix inverse, double growth, struct matrix kept, struct matrix b, void *stream)
{
	const bool right = side == RIGHT, flip = (trans == TRANSPOSED) != right;
	const guard<T> g = {{(const T *)matrix_address(a), a.ld, flip},
	        {(const T *)matrix_address(inverse), inverse.ld, flip},
	        {(const T *)matrix_address(kept), kept.ld, right},
	        {(T *)matrix_address(b), b.ld, right}, (int)a.n, right ? b.m : b.n,
	        (uplo == LOWER) != flip, diag == UNIT, T(growth)};
	const int64_t blocks = (g.count + SIDES - 1) / SIDES;
	if (blocks == 0 || a.n == 0)
		return (int)cudaSuccess;
	guard_kernel<<<(unsigned)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS), THREADS, 0,
	        (cudaStream_t)stream>>>(g);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int block_trsm_guard(enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        struct matrix a, struct matrix inverse, double growth, struct matrix kept, struct matrix b,
        void *stream)
{
	return a.precision == SINGLE
	               ? run<float>(side, uplo, trans, diag, a, inverse, growth, kept, b, stream)
	               : run<double>(side, uplo, trans, diag, a, inverse, growth, kept, b, stream);
}
