/* SPDX-License-Identifier: MIT */
/* The resident Householder panel: one cooperative kernel, ROWS rows of the panel in each thread's
 * registers, and one exchange between all blocks a column.
 *
 * Let s_k be the sum of a_ij a_ik over the rows below the diagonal, k = j .. n-1. Then s_j and
 * alpha = a_jj give the norm, v_j = x / (alpha - beta), and v_j^T a_k = a_jk + s_k / (alpha -
 * beta). A block publishes n - j partial sums, and block 0 also row j. Every block adds up all sums
 * itself, in the same order. If a sum leaves the safe range (also for zero columns), two more
 * exchanges find the largest magnitude and repeat the sums with the column scaled by a power of
 * two; all blocks decide this from the same numbers.
 *
 * Column j is always in register 0: the update of column k writes its result one register to the
 * left. Finished columns go to memory at once.
 *
 * Cost: load and store of m n words. A column: sums (a product per element and 31 shuffles for 32
 * columns of a warp), three block barriers, an exchange (panel_sums.cuh), and a fused multiply-add
 * per element. */
#include "panel_geqrf.h"
#include "factor/kernels/lu/panel_registers.cuh"
#include "reflector.cuh"

namespace
{

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	real *tau;
	struct slots slots;
	const int *done;
};

/* The exponent of a power of two for column j, found by all blocks together and applied to the rows
 * from j on, or ZERO_BELOW. False after a timeout. */
template <typename real, int COLUMNS, int ROWS, int THREADS, int CLUSTER>
__device__ __forceinline__ bool scale_column(const struct panel<real> &g, real (&a)[ROWS][COLUMNS],
        int j, struct scratch<real, COLUMNS, THREADS, CLUSTER> &s, uint32_t tag, int *scale)
{
	real from = real(0),
	     below = real(0); /* largest magnitudes, with and without the diagonal */
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int row = row_of<ROWS, THREADS>(r);
		if (row >= j)
			from = larger_of(from, fabs(a[r][0]));
		if (row > j)
			below = larger_of(below, fabs(a[r][0]));
	}
	for (int step = 16; step > 0; step /= 2) {
		from = larger_of(from, __shfl_xor_sync(0xffffffffu, from, step));
		below = larger_of(below, __shfl_xor_sync(0xffffffffu, below, step));
	}
	if (threadIdx.x % 32 == 0) {
		s.warp_part[threadIdx.x / 32][0] = from;
		s.warp_part[threadIdx.x / 32][1] = below;
	}
	__syncthreads();
	if (!exchange<true>(g.slots, s, tag, 2))
		return false;
	*scale = combined<true>(s, 1) == real(0) ? ZERO_BELOW : scale_for(combined<true>(s, 0));
	__syncthreads();
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (*scale != ZERO_BELOW && row_of<ROWS, THREADS>(r) >= j)
			a[r][0] = scaled(a[r][0], *scale);
	return true;
}

/* The sums of column j over all blocks; from them the reflector and s.times. False after a
 * timeout. *safe: no sum left the safe range. */
template <typename real, int COLUMNS, int ROWS, int THREADS, int CLUSTER>
__device__ __forceinline__ bool reflect(const struct panel<real> &g, const real (&a)[ROWS][COLUMNS],
        int j, struct scratch<real, COLUMNS, THREADS, CLUSTER> &s, uint32_t tag,
        struct reflector<real> *h, bool *safe)
{
	const int count = g.n - j;
	real x[ROWS];
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		x[r] = row_of<ROWS, THREADS>(r) > j ? a[r][0] : real(0);
	if (row_of<ROWS, THREADS>(0) == j)
#pragma unroll
		for (int k = 0; k < COLUMNS; k++)
			s.top[k] = a[0][k];
	warp_sums(a, x, s, count);
	__syncthreads();
	if (!exchange<false>(g.slots, s, tag, count))
		return false;

	const real alpha = s.head[0], squares = combined<false>(s, 0);
	bool fine = is_safe(alpha, squares);
	*h = reflector_of(alpha, squares);
	if ((int)threadIdx.x < count) {
		const real sum = combined<false>(s, (int)threadIdx.x);
		s.times[threadIdx.x] = h->tau * (s.head[threadIdx.x] + h->divide * sum);
		fine = fine && isfinite(sum);
	}
	*safe = __syncthreads_and(fine);
	return true;
}

template <typename real, int COLUMNS, int ROWS, int THREADS, int CLUSTER>
__device__ __forceinline__ void factorize(const struct panel<real> &g)
{
	__shared__ struct scratch<real, COLUMNS, THREADS, CLUSTER> s;
	real a[ROWS][COLUMNS];
	uint32_t tag = 0;
	bool good = true;

#pragma unroll
	for (int k = 0; k < COLUMNS; k++)
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_of<ROWS, THREADS>(r);
			a[r][k] = row < g.m && k < g.n ? g.a[row + k * g.lda] : real(0);
		}

	exchange_start(s);
	for (int j = 0; j < g.n && good; j++) {
		struct reflector<real> h;
		int scale = 0;
		bool safe = false;
#pragma unroll 1
		for (int attempt = 0; attempt < 2 && good && !safe; attempt++) {
			if (attempt > 0)
				good = scale_column<real, COLUMNS, ROWS, THREADS, CLUSTER>(
				        g, a, j, s, ++tag, &scale);
			if (good && scale != ZERO_BELOW)
				good = reflect<real, COLUMNS, ROWS, THREADS, CLUSTER>(
				        g, a, j, s, ++tag, &h, &safe);
		}
		if (!good)
			break;
		if (scale == ZERO_BELOW) {
			h = reflector_none(s.head[0]);
			if ((int)threadIdx.x < COLUMNS)
				s.times[threadIdx.x] = real(0);
			__syncthreads();
		} else if (scale != 0) {
			h.beta = scaled(h.beta, -scale);
		}

		real v[ROWS];
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_of<ROWS, THREADS>(r);
			real out = a[r][0];
			v[r] = real(0);
			if (row > j)
				out = v[r] = a[r][0] * h.divide;
			if (row == j) {
				out = h.beta;
				v[r] = real(1);
			}
			if (row < g.m)
				g.a[row + j * g.lda] = out;
		}
		if (blockIdx.x == 0 && threadIdx.x == 0)
			g.tau[j] = h.tau;
		update<real, COLUMNS, ROWS>(a, v, s.times, g.n - j);
	}
	if (good)
		exchange_stop<CLUSTER>();
	else if ((int)threadIdx.x < g.n)
		g.tau[threadIdx.x] = real(NAN);
}

template <typename real, int COLUMNS, int ROWS, int THREADS, int CLUSTER>
__global__ void __launch_bounds__(THREADS) resident_kernel(const struct panel<real> g)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
	if constexpr (CLUSTER == 1) /* no cluster is launched on older architectures */
#endif
		if (!g.done || !*g.done)
			factorize<real, COLUMNS, ROWS, THREADS, CLUSTER>(g);
}

/* ---- choice of a kernel ---- */

#define VARIANT(real, columns, rows, threads, cluster, most)                                       \
	{sizeof(real) == 4 ? SINGLE : DOUBLE, columns, rows, threads, cluster, most,               \
	        (const void *)resident_kernel<real, columns, rows, threads, cluster>},
const struct register_panel variants[] = {HOUSEHOLDER_REGISTER_PANELS(VARIANT)};

/* The first kernel that fits, on at most `most` multiprocessors; NULL when none fits. */
const struct register_panel *choose_within(
        enum precision precision, int64_t m, int64_t n, int64_t most)
{
	return register_panel_choose(
	        variants, sizeof variants / sizeof *variants, precision, m, n, most);
}

const struct register_panel *choose(enum precision precision, int64_t m, int64_t n)
{
	return choose_within(precision, m, n, INT64_MAX);
}

int64_t half_of_device(void)
{
	return gpu_current()->sm_count / 2;
}

template <typename real>
int run(const struct register_panel *v, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
        const int *done, void *work, void *stream)
{
	struct panel<real> g = {
		(real *)a, lda, (int)m, (int)n, (real *)tau,
		        {(ulonglong2 *)work + 1, (uint32_t *)work}, done
	};
	return register_panel_launch(v, m, work, &g, (cudaStream_t)stream);
}

} // namespace

extern "C" bool panel_geqrf_resident_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int64_t panel_geqrf_resident_work(enum precision precision, int64_t m, int64_t n)
{
	const struct register_panel *v = choose(precision, m, n),
	                            *beside = choose_within(precision, m, n, half_of_device());
	const int64_t alone = v ? register_panel_work(v, m) : 0,
	              other = beside ? register_panel_work(beside, m) : 0;
	return alone > other ? alone : other;
}

extern "C" int panel_geqrf_resident_unless(const int *done, enum precision precision, void *a,
        int64_t lda, int64_t m, int64_t n, void *tau, bool beside, void *work, void *stream)
{
	const struct register_panel *v =
	        beside ? choose_within(precision, m, n, half_of_device()) : NULL;
	if (!v)
		v = choose(precision, m, n);
	if (!v)
		return (int)cudaErrorInvalidValue;
	return precision == SINGLE ? run<float>(v, a, lda, m, n, tau, done, work, stream)
	                           : run<double>(v, a, lda, m, n, tau, done, work, stream);
}
