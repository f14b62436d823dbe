/* SPDX-License-Identifier: MIT */
/* The LU panel of many multiprocessors: rows in registers as in factor/kernels/lu/panel_cluster.cu,
 * in blocks of one cooperative kernel that exchange through L2.
 *
 * Two warps of a block hold no rows. One brings the pivots: it publishes the best of its block's
 * heads and waits for those of all blocks. The other brings the pivot rows: the block that holds a
 * pivot row publishes it after its head has won, and all blocks have a column's time to read it.
 * Values travel in 8-byte words with a tag: a reader that sees the tag has the value
 * (lib/device/exchange.cuh).
 *
 * Cost: the panel once from memory and once back; per column a store to L2 and a read that sees it,
 * and the chain between two exchanges (factor/kernels/lu/panel_cluster.cu).
 *
 * docs/experiments/lu-panel.md has measurements and rejected variants. */
#include "panel_grid_exchange.cuh"
#include "panel_hold.cuh"
#include "lib/device/current.h"

namespace
{

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <typename real, int COLUMNS, int ROWS> DEVICE void factorize(const grid<real> &g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	/* an address that the compiler keeps instead of recomputing it */
	unsigned char *base = memory;
	asm volatile("" : "+l"(base));
	__builtin_assume(__isShared(base));
	shared<real, COLUMNS> &s = *(shared<real, COLUMNS> *)base;
	const struct seat t = take_seat((int)blockIdx.x, (int)blockDim.x - 32 * OTHERS);
	const uint32_t warps = (uint32_t)t.threads / 32;

	for (int k = (int)threadIdx.x; k < COLUMNS + 4; k += (int)blockDim.x)
		s.rows.pivot_row[TURNS - 1][k] = real(0);
	if (threadIdx.x == 0) {
		arrivals_set(s.rows.full, TURNS, 1);
		arrivals_set(s.rows.own_full, TURNS, warps);
		arrivals_set(s.proposed, TURNS, warps);
		arrivals_set(s.row, TURNS, 1);
	}
	__syncthreads();
	/* a vote tells the compiler that warps do not diverge */
	if (__any_sync(0xffffffffu, (int)threadIdx.x < t.threads))
		hold_rows<false, real, COLUMNS, ROWS>(g.panel, s.rows, t,
		        exchange_of_grid<real, COLUMNS>{&s, t},
		        (multipliers<real, ROWS> *)(base + sizeof s));
	else if (__any_sync(0xffffffffu, (int)threadIdx.x < t.threads + 32))
		bring_pivots(g, s, t);
	else
		bring_rows(g, s, t);
}

#endif

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(THREADS, 1) grid_kernel(const grid<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	factorize<real, COLUMNS, ROWS>(g);
#endif
}

template <typename real, int COLUMNS, int ROWS> constexpr struct variant variant_of(void)
{
	return rows_variant<real, COLUMNS, ROWS>(
	        sizeof(shared<real, COLUMNS>), (const void *)grid_kernel<real, COLUMNS, ROWS>);
}

const struct variant variants[] = {
        variant_of<float, 32, 4>(),
        variant_of<float, 64, 2>(),
        variant_of<float, 128, 1>(),
        variant_of<double, 32, 2>(),
        variant_of<double, 64, 1>(),
};

enum { VARIANTS = sizeof variants / sizeof *variants };

int64_t bytes_of(const struct variant *v, int64_t columns)
{
	return v->fixed_bytes + (columns + 1) * PANEL_CLUSTER_THREADS * v->multiplier_bytes;
}

/* The most blocks of the grid: 0 where device or code cannot run these kernels. */
int most_blocks(const struct current *c)
{
	return c->code < 90 || !c->cooperative ? 0
	       : c->sm_count < MOST_BLOCKS     ? c->sm_count
	                                       : MOST_BLOCKS;
}

/* Few blocks with many rows are as fast as more blocks, and leave more multiprocessors to other
 * kernels. */
int blocks_of(const struct variant *v, int64_t m)
{
	const int64_t rows = (int64_t)PANEL_CLUSTER_THREADS * v->rows;
	return (int)((m + rows - 1) / rows);
}

const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	const struct current *current = gpu_current();
	for (int i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		if (v->precision == precision && n <= v->columns && n <= m &&
		        kernel_takes_shared(v->kernel, bytes_of(v, v->columns)) &&
		        m <= panel_grid_rows(n, precision_bytes(precision), most_blocks(current)))
			return v;
	}
	return NULL;
}

template <typename real>
int run(const struct variant *v, const panel<real> &panel, void *slots, uint32_t tag, void *stream)
{
	grid<real> g = {panel, (uint64_t *)slots, tag};
	void *arguments[] = {&g};
	const int error = kernel_allow_shared(v->kernel);
	if (error)
		return error;
	return (int)cudaLaunchCooperativeKernel(v->kernel, dim3((unsigned)blocks_of(v, panel.m)),
	        dim3(THREADS), arguments, (size_t)bytes_of(v, panel.n), (cudaStream_t)stream);
}

} // namespace

extern "C" bool panel_grid_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int64_t panel_grid_work(void)
{
	return (int64_t)sizeof(uint64_t) * TURNS * layout<double>::TURN;
}

extern "C" int panel_grid(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        int *pivots, void *work, uint32_t tag, int *error, void *stream)
{
	const struct variant *v = choose(precision, m, n);
	uint32_t *gave_up = (uint32_t *)error;
	if (!v)
		return (int)cudaErrorInvalidValue;
	return precision == SINGLE
	               ? run<float>(v, {(float *)a, lda, (int)m, (int)n, pivots, gave_up}, work,
	                         tag, stream)
	               : run<double>(v, {(double *)a, lda, (int)m, (int)n, pivots, gave_up}, work,
	                         tag, stream);
}
