/* SPDX-License-Identifier: MIT */
/* The Householder panel of one cluster (factor/kernels/qr/panel_geqrf_cluster.cu) as a part of a
 * kernel. */
#pragma once

#include "lib/base/base.h"
#include "panel_geqrf_cluster_column.cuh"

namespace
{

template <typename real> struct householder_panel {
	real *a;
	int64_t lda;
	int m, n;
	real *tau, *v, *t; /* v, t: NULL or the place of V and T */
	int64_t ldv, ldt;
	uint32_t *error;
	const int *done; /* NULL, or a word in device memory: no operation if it is not 0 */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* Stores A's elements, and V's and T's if requested. */
template <int LANES, int ROWS, typename real>
__device__ __forceinline__ void store_columns(
        const struct householder_panel<real> &g, const struct seat &t, const real (&a)[ROWS][WORDS])
{
#pragma unroll
	for (int k = 0; k < WORDS; k++) {
		const int column = (g.n / LANES + k) % WORDS * LANES + t.rank;
		if (column >= g.n)
			continue;
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_at<LANES>(t, r);
			if (row < g.m)
				g.a[row + column * g.lda] = a[r][k];
			if (row < g.m && g.v)
				g.v[row + column * g.ldv] =
				        row > column ? a[r][k] : real(row == column);
		}
	}
}

template <int COLUMNS, typename real>
__device__ __forceinline__ void store_t_rows(const struct householder_panel<real> &g,
        const struct seat &t, const real (&rows)[COLUMNS / FEWEST_WARPS][COLUMNS / 32])
{
#pragma unroll
	for (int r = 0; r < COLUMNS / FEWEST_WARPS; r++)
#pragma unroll
		for (int i = 0; i < COLUMNS / 32; i++) {
			const int row = first_t_row(t) + r * t.warps * t.blocks;
			const int column = t.lane + 32 * i;
			if (row < g.n && column < g.n)
				g.t[row + column * g.ldt] = rows[r][i];
		}
}

template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void factorize_columns(
        const struct householder_panel<real> &g, struct shared<real, COLUMNS> &memory)
{
	constexpr int LANES = COLUMNS / WORDS;
	/* makes the compiler keep the address in a register */
	struct shared<real, COLUMNS> *address = &memory;
	asm volatile("" : "+l"(address));
	__builtin_assume(__isShared(address));
	struct shared<real, COLUMNS> &s = *address;
	const struct seat t = take_seat<LANES, ROWS>();
	real a[ROWS][WORDS], t_rows[COLUMNS / FEWEST_WARPS][COLUMNS / 32] = {};
	struct column c = {0, 0, 0, 0, 0, true};
	struct reflector<real> h = {
	};

#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int row = row_at<LANES>(t, r);
#pragma unroll
		for (int k = 0; k < WORDS; k++) {
			const int column = k * LANES + t.rank;
			a[r][k] = row < g.m && column < g.n ? g.a[row + column * g.lda] : real(0);
		}
	}
	for (int i = t.thread; i < (int)(sizeof s / sizeof(uint64_t)); i += t.threads)
		((uint64_t *)&s)[i] = 0;
	__syncthreads();
	if (t.thread == 0)
		for (int i = 0; i < TURNS; i++)
			arrivals_set(&s.turn[i].full, 1, 1);
	if (t.block == 0 && t.thread == 0)
		store_relaxed(g.error, 0);
	cluster_barrier();
	for (; c.j < g.n; c.j++, c.rank++) {
		const real tau = h.tau;
		real x[ROWS], alpha = real(0);
		int scale = 0;
		bool safe = false;
		if (c.rank == LANES) {
			c.rank = 0;
			c.transposed++;
		}
		c.owner += c.j == (c.owner + 1) * t.rows;
#pragma unroll 1
		for (int attempt = 0; attempt < 2 && !safe; attempt++) {
			if (attempt > 0) {
				scale = scale_column<LANES>(s, t, &c, a, g.error);
				c.round++;
			}
			if (scale == ZERO_BELOW)
				break;
			below_diagonal<LANES>(t, c, a, x);
			warp_products<LANES>(s, t, c, a, x);
			send<false>(s, t, c);
			if (attempt == 0 && c.j > 0 && g.t)
				extend<LANES>(s, t, c.j - 1, tau, t_rows);
			safe = reflect<LANES>(s, t, &c, g.error, &h, &alpha);
			c.round++;
		}
		if (scale == ZERO_BELOW) {
			h = reflector_none(alpha);
			for (int k = t.lane; k < COLUMNS; k += 32)
				s.times[t.warp][k] = s.known[t.warp][k] = real(0);
		} else if (scale != 0) {
			h.beta = scaled(h.beta, -scale);
		}
		__syncwarp();
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_at<LANES>(t, r);
			x[r] *= h.divide;
			if (t.rank == c.rank && row >= c.j)
				a[r][0] = row == c.j ? h.beta : x[r];
			if (row == c.j)
				x[r] = real(1);
		}
		if (t.block == 0 && t.thread == 0)
			g.tau[c.j] = h.tau;
		if (c.rank == LANES - 1)
			update<true>(a, x, &s.times[t.warp][t.rank * WORDS]);
		else
			update<false>(a, x, &s.times[t.warp][t.rank * WORDS]);
	}
	leave(s, t, c.round);
	store_columns<LANES>(g, t, a);
	if (g.t) {
		extend<LANES>(s, t, g.n - 1, h.tau, t_rows);
		store_t_rows<COLUMNS>(g, t, t_rows);
	}
	/* other blocks may still write to this block's memory */
	cluster_barrier();
	if (t.block == 0 && load_relaxed(g.error) != 0)
		for (int k = t.thread; k < g.n; k += t.threads)
			g.tau[k] = real(NAN);
}

#endif

} // namespace
