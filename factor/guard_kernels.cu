/* SPDX-License-Identifier: MIT */
/* The substitution that stands behind a product with an inverse. Every block finds out whether the
 * inverse can be trusted, which costs reading both triangles once; when it cannot, which is rare,
 * the blocks share the right-hand sides out, 32 at a time in shared memory. */
#include "block_kernels.h"
#include "../lib/reduce.cuh"
#include "../lib/shared_update.cuh"

namespace
{

const int THREADS = 256;
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

/* M X = B, M lower or upper, X and B n x count; elements of M's storage right of its diagonal are
 * not looked at. */
template <typename T> struct guard {
	struct view<const T> m, inverse, kept;
	struct view<T> b;
	int n;
	int64_t count;
	bool lower, unit;
	T growth;
};

__device__ __forceinline__ float magnitude_of(uint32_t key)
{
	return __uint_as_float(key - 1);
}

__device__ __forceinline__ double magnitude_of(uint64_t key)
{
	return __longlong_as_double((long long)(key - 1));
}

/* The largest magnitude of a triangle, NaN when it has one. */
template <typename T>
__device__ T largest_of(const struct view<const T> &m, const struct guard<T> &g, bool unit,
        struct extreme_scratch<decltype(magnitude_key(T()))> *scratch, int turn)
{
	struct extreme<decltype(magnitude_key(T()))> best = {
		magnitude_key(T(unit)), 0
	};
	for (int e = threadIdx.x; e < g.n * g.n; e += THREADS) {
		/* along the columns of what is stored */
		const int fast = e % g.n, slow = e / g.n;
		const int i = m.flip ? slow : fast, j = m.flip ? fast : slow;
		if (g.lower ? i > j : i < j)
			best = extreme_of(best, {magnitude_key(m.at(i, j)), 0});
		else if (i == j && !unit)
			best = extreme_of(best, {magnitude_key(m.at(i, j)), 0});
	}
	return magnitude_of(block_extreme(best, scratch, turn).key);
}

/* Right-hand sides first .. first + SIDES - 1 by substitution. */
template <typename T> __device__ void substitute(const struct guard<T> &g, T *x, int64_t first)
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

template <typename T>
__global__ void __launch_bounds__(THREADS) guard_kernel(const struct guard<T> g)
{
	__shared__ T x[BLOCK_TRTRI_MAX * PITCH];
	__shared__ struct extreme_scratch<decltype(magnitude_key(T()))> scratch;
	const T size = largest_of(g.m, g, g.unit, &scratch, 0) *
	               largest_of(g.inverse, g, false, &scratch, 1);
	if (size <= g.growth)
		return;
	for (int64_t first = (int64_t)blockIdx.x * SIDES; first < g.count;
	        first += (int64_t)gridDim.x * SIDES)
		substitute(g, x, first);
}

/* With A on the right, X op(A) = B is op(A)^T X^T = B^T. */
template <typename T>
int run(enum side side, enum uplo uplo, enum trans trans, enum diag diag, struct matrix a,
        struct matrix inverse, struct matrix kept, struct matrix b, void *stream)
{
	const bool right = side == RIGHT, flip = (trans == TRANSPOSED) != right;
	const struct guard<T> g = {
		{(const T *)matrix_address(a), a.ld, flip},
		        {(const T *)matrix_address(inverse), inverse.ld, flip},
		        {(const T *)matrix_address(kept), kept.ld, right},
		        {(T *)matrix_address(b), b.ld, right}, (int)a.n, right ? b.m : b.n,
		        (uplo == LOWER) != flip, diag == UNIT, T(EXECUTOR_INVERSE_GROWTH)
	};
	const int64_t blocks = (g.count + SIDES - 1) / SIDES;
	if (blocks == 0 || a.n == 0)
		return (int)cudaSuccess;
	guard_kernel<<<(unsigned)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS), THREADS, 0,
	        (cudaStream_t)stream>>>(g);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int block_trsm_guard(enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b, void *stream)
{
	return a.precision == SINGLE
	               ? run<float>(side, uplo, trans, diag, a, inverse, kept, b, stream)
	               : run<double>(side, uplo, trans, diag, a, inverse, kept, b, stream);
}
