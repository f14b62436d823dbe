/* SPDX-License-Identifier: MIT */
/* The resident Gram-Schmidt panel: one cooperative kernel, ROWS rows of the panel in each thread's
 * registers, and one exchange between all blocks a column. The exchange has the products of column
 * j with itself and with the columns right of it. Normalization is delayed, as in gram_schmidt.cu,
 * and |v| comes from the same exchange.
 *
 * Cost: load and store of m n words. A column: sums, block barriers and an exchange as in
 * panel_geqrf_resident.cu, and a fused multiply-add per element. */
#include "gram_schmidt_kernels.h"
#include "gram_schmidt_finish.cuh"
#include "factor/kernels/lu/panel_registers.cuh"

namespace
{

template <typename real> struct panel {
	real *a, *r;
	const real *norms;
	int64_t lda, ldr;
	int m, n;
	double dependent;
	int64_t first;
	int *info;
	struct slots slots;
};

/* Block 0 stores row j of R from the sums of column j; all blocks compute s.times. Returns |v|,
 * 0 when dependent. */
template <typename real, int COLUMNS, int THREADS, int CLUSTER>
__device__ __forceinline__ real settle(const struct panel<real> &g, int j, real before,
        struct scratch<real, COLUMNS, THREADS, CLUSTER> &s)
{
	const int k = (int)threadIdx.x;
	const real square = combined<false>(s, 0);
	const bool dependent = is_dependent(square, before, g.dependent);
	const real norm = dependent ? real(0) : sqrt(square);
	if (k < COLUMNS) {
		const real times = dependent || k == 0 || k >= g.n - j
		                           ? real(0)
		                           : combined<false>(s, k) / square;
		s.times[k] = times;
		if (blockIdx.x == 0 && k < g.n - j)
			g.r[j + (j + k) * g.ldr] = k == 0 ? norm : times * norm;
	}
	if (blockIdx.x == 0 && k == 0 && dependent)
		note_dependent(g.info, (int)(g.first + j + 1));
	__syncthreads();
	return norm;
}

template <typename real, int COLUMNS, int ROWS, int THREADS, int CLUSTER>
__device__ __forceinline__ void orthonormalize(const struct panel<real> &g)
{
	__shared__ struct scratch<real, COLUMNS, THREADS, CLUSTER> s;
	real a[ROWS][COLUMNS];
	bool good = true;

#pragma unroll
	for (int k = 0; k < COLUMNS; k++)
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_of<ROWS, THREADS>(r);
			a[r][k] = row < g.m && k < g.n ? g.a[row + k * g.lda] : real(0);
		}
	if ((int)threadIdx.x < COLUMNS)
		s.top[threadIdx.x] = real(0); /* part of every exchange */
	exchange_start(s);
	for (int j = 0; j < g.n && good; j++) {
		const real before = g.norms[j];
		real v[ROWS];
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			v[r] = a[r][0];
		warp_sums(a, v, s, g.n - j);
		__syncthreads();
		good = exchange<false>(g.slots, s, (uint32_t)j + 1, g.n - j);
		if (!good)
			break;
		const real norm = settle(g, j, before, s);
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_of<ROWS, THREADS>(r);
			if (row < g.m)
				g.a[row + j * g.lda] = norm == real(0) ? real(0) : v[r] / norm;
		}
		update<real, COLUMNS, ROWS>(a, v, s.times, g.n - j);
	}
	if (good)
		exchange_stop<CLUSTER>();
	else if ((int)threadIdx.x < g.n)
		g.r[threadIdx.x + threadIdx.x * g.ldr] = real(NAN);
}

template <typename real, int COLUMNS, int ROWS, int THREADS, int CLUSTER>
__global__ void __launch_bounds__(THREADS) gram_resident_kernel(const struct panel<real> g)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
	if constexpr (CLUSTER == 1) /* no cluster is launched on older architectures */
#endif
		orthonormalize<real, COLUMNS, ROWS, THREADS, CLUSTER>(g);
}

#define VARIANT(real, columns, rows, threads, cluster, most)                                       \
	{sizeof(real) == 4 ? SINGLE : DOUBLE, columns, rows, threads, cluster, most,               \
	        (const void *)gram_resident_kernel<real, columns, rows, threads, cluster>},
const struct register_panel variants[] = {GRAM_REGISTER_PANELS(VARIANT)};

const struct register_panel *choose(enum precision precision, int64_t m, int64_t n)
{
	return register_panel_choose(
	        variants, sizeof variants / sizeof *variants, precision, m, n, INT64_MAX);
}

template <typename real>
int run(const struct register_panel *v, const struct gram_schmidt *g, cudaStream_t stream)
{
	struct panel<real> p = {
		(real *)matrix_address(g->a), (real *)matrix_address(g->r),
		        (const real *)matrix_address(g->norms), g->a.ld, g->r.ld, (int)g->a.m,
		        (int)g->a.n, g->dependent, g->first, g->info,
		{
			(ulonglong2 *)g->work + 1, (uint32_t *)g->work
		}
	};
	return register_panel_launch(v, g->a.m, g->work, &p, stream);
}

} // namespace

extern "C" int64_t gram_schmidt_resident_bytes(enum precision precision, int64_t m, int64_t n)
{
	const struct register_panel *v = choose(precision, m, n);
	return v ? register_panel_work(v, m) : -1;
}

extern "C" int gram_schmidt_resident(const struct gram_schmidt *g, void *stream)
{
	const struct register_panel *v = choose(g->a.precision, g->a.m, g->a.n);
	if (!v)
		return (int)cudaErrorInvalidValue;
	return g->a.precision == SINGLE ? run<float>(v, g, (cudaStream_t)stream)
	                                : run<double>(v, g, (cudaStream_t)stream);
}
