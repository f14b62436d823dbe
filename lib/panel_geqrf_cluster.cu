/* SPDX-License-Identifier: MIT */
/* The Householder panel of one cluster: rows in registers, one exchange a column through
 * distributed shared memory.
 *
 * The algorithm is that of lib/panel_geqrf_resident.cu: of column j come s_k, the sums of a_ij a_ik
 * below the diagonal, and row j; from these every warp works out the same reflector and what
 * multiplies it in every column. Here a warp's 32 rows or more are spread over its lanes in two
 * directions: a lane holds ROWS rows of every LANES-th column, 16 columns in all, so that most of
 * a sum is added up within a lane, and what is left costs LANES times fewer shuffles than with
 * whole rows (22 instead of 62 for 64 columns). Blocks send their sums straight to all others,
 * counted by an mbarrier there; every warp adds up what has arrived by itself, so that a column has
 * one block barrier, between the warps' sums and their sending.
 *
 * Column q LANES + c stands in register 0 of the lanes of rank c; registers turn by one when all
 * LANES columns are done. So finished columns stay: their sums are V^T v, and a column of T follows
 * from them (T(0:j, j) = -tau T(0:j, 0:j) V^T v, a row a warp) behind the next exchange.
 *
 * Cost: load and store of m*n words (V: one more), and per column 2 m n fused multiply-adds over 16
 * multiprocessors, 16 + ROWS shuffles a warp, a block barrier, the flight of a record, the sum of
 * 16 records, a root and a reciprocal.
 *
 * Log (H200, fp32, 64 columns of 1024 rows, us a column; the resident kernel 1.64). Predicted from
 * latencies 0.55, measured 1.03: 220 cycles until the column is known to all lanes, 195 for the
 * sums, 300 for barrier and sending, 300 of flight, 460 for reflector and multipliers, 280 for the
 * update, most of it instructions of a warp in their order. Root and reciprocal without branches:
 * -0.06. A third fewer instructions, but all registers in every column for T: 1.06, with V and T
 * 1.10, in place of 15 us a panel for the calls that made them. A warp a scheduler
 * and more rows a thread are faster than more warps up to 8192 rows, fewer blocks slower; 4096 rows
 * 1.37, 8192 1.85; 128 columns of 1024 rows 1.21 (1.89 before), fp64 64 columns 1.44 (2.07). */
#include "base.h"
#include "early_launch.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_cluster_column.cuh"

namespace
{

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	real *tau, *v, *t; /* v, t: NULL or where V and T go */
	int64_t ldv, ldt;
	uint32_t *error;
	const int *done; /* NULL, or nothing is to be done where this is not 0 */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* A's elements; V's and T's if they are asked for. */
template <int LANES, int ROWS, typename real>
__device__ __forceinline__ void store(
        const struct panel<real> &g, const struct seat &t, const real (&a)[ROWS][WORDS])
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
__device__ __forceinline__ void store_t(const struct panel<real> &g, const struct seat &t,
        const real (&rows)[COLUMNS / FEWEST_WARPS][COLUMNS / 32])
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
__device__ __forceinline__ void factorize(const struct panel<real> &g)
{
	constexpr int LANES = COLUMNS / WORDS;
	__shared__ struct shared<real, COLUMNS> memory;
	/* an address that the compiler keeps instead of working it out again and again */
	struct shared<real, COLUMNS> *address = &memory;
	asm volatile("" : "+l"(address));
	__builtin_assume(__isShared(address));
	struct shared<real, COLUMNS> &s = *address;
	const struct seat t = take_seat<LANES, ROWS>();
	real a[ROWS][WORDS], t_rows[COLUMNS / FEWEST_WARPS][COLUMNS / 32] = {};
	struct column c = {};
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
		real x[ROWS], scale = real(1), alpha = real(0);
		bool safe = false;
		if (c.rank == LANES) {
			c.rank = 0;
			c.turned++;
		}
		c.owner += c.j == (c.owner + 1) * t.rows;
#pragma unroll 1
		for (int attempt = 0; attempt < 2 && !safe; attempt++) {
			if (attempt > 0) {
				scale = scale_column<LANES>(s, t, c, a, g.error);
				c.round++;
			}
			if (scale == real(0))
				break;
			below_diagonal<LANES>(t, c, a, x);
			warp_products<LANES>(s, t, c, a, x);
			send<false>(s, t, c);
			if (attempt == 0 && c.j > 0 && g.t)
				extend<LANES>(s, t, c.j - 1, tau, t_rows);
			safe = reflect<LANES>(s, t, c, g.error, &h, &alpha);
			c.round++;
		}
		if (scale == real(0)) {
			h = reflector_none(alpha);
			for (int k = t.lane; k < COLUMNS; k += 32)
				s.times[t.warp][k] = s.known[t.warp][k] = real(0);
		} else if (scale != real(1)) {
			h.beta /= scale;
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
	store<LANES>(g, t, a);
	if (g.t) {
		extend<LANES>(s, t, g.n - 1, h.tau, t_rows);
		store_t<COLUMNS>(g, t, t_rows);
	}
	/* no block may leave while others still write into its memory */
	cluster_barrier();
	if (t.block == 0 && load_relaxed(g.error) != 0)
		for (int k = t.thread; k < g.n; k += t.threads)
			g.tau[k] = real(NAN);
}

#endif

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(32 * CLUSTER_WARPS, 1) cluster_kernel(const struct panel<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	early_begin();
	if (!g.done || !*g.done)
		factorize<real, COLUMNS, ROWS>(g);
#endif
}

/* ---- choice of a kernel ---- */

struct variant {
	enum precision precision;
	int columns, rows; /* rows: of a thread */
	const void *kernel;
};

template <typename real, int COLUMNS, int ROWS> constexpr struct variant variant_of(void)
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, COLUMNS, ROWS,
	        (const void *)cluster_kernel<real, COLUMNS, ROWS>};
}

const struct variant variants[] = {
        variant_of<float, 32, 2>(),
        variant_of<float, 32, 4>(),
        variant_of<float, 32, 8>(),
        variant_of<float, 64, 2>(),
        variant_of<float, 64, 4>(),
        variant_of<float, 64, 8>(),
        variant_of<float, 128, 2>(),
        variant_of<float, 128, 4>(),
        variant_of<float, 128, 8>(),
        variant_of<double, 32, 2>(),
        variant_of<double, 32, 4>(),
        variant_of<double, 64, 2>(),
        variant_of<double, 64, 4>(),
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Rows of a warp. */
int rows_of(const struct variant *v)
{
	return v->rows * 32 * WORDS / v->columns;
}

/* So many that a block has one warp on each scheduler, if the cluster may be that large. */
int blocks_of(const struct variant *v, int64_t m)
{
	int blocks = FEWEST_WARPS / 4;
	while (blocks < CLUSTER_BLOCKS && (int64_t)4 * blocks * rows_of(v) < m)
		blocks *= 2;
	return blocks;
}

int warps_of(const struct variant *v, int64_t m, int blocks)
{
	const int64_t rows = (int64_t)blocks * rows_of(v), warps = (m + rows - 1) / rows;
	return warps * blocks < FEWEST_WARPS ? FEWEST_WARPS / blocks : (int)warps;
}

/* The first kernel that takes the panel with that many warps a block at most. */
const struct variant *find(enum precision precision, int64_t m, int64_t n, int warps)
{
	static thread_local struct cluster_answer last[VARIANTS];
	for (int i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		if (v->precision == precision && n <= v->columns &&
		        m <= (int64_t)CLUSTER_BLOCKS * warps * rows_of(v) &&
		        cluster_takes(&last[i], v->kernel, CLUSTER_BLOCKS, 32 * CLUSTER_WARPS, 0))
			return v;
	}
	return NULL;
}

/* NULL when no kernel takes the panel. More than one warp on a scheduler takes more time than more
 * rows of a thread. */
const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	const struct variant *v = find(precision, m, n, CLUSTER_WARPS / 2);
	return v ? v : find(precision, m, n, CLUSTER_WARPS);
}

template <typename real>
int run(const struct variant *v, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
        const struct block_reflector *r, const int *done, void *work, int blocks, void *stream)
{
	struct panel<real> g = {
		(real *)a, lda, (int)m, (int)n, (real *)tau, (real *)r->v,
		        (real *)r->t, r->ldv, r->ldt, (uint32_t *)work, done
	};
	return early_cluster_launch(
	        v->kernel, blocks, blocks, 32 * warps_of(v, m, blocks), 0, &g, stream);
}

} // namespace

extern "C" bool panel_geqrf_cluster_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int64_t panel_geqrf_cluster_work(enum precision, int64_t, int64_t)
{
	return sizeof(uint32_t);
}

namespace
{

int run_chosen(const int *done, enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, const struct block_reflector *r, void *work, void *stream)
{
	const struct block_reflector none = {NULL, 0, NULL, 0}, *to = r ? r : &none;
	const struct variant *v = choose(precision, m, n);
	if (!v)
		return (int)cudaErrorInvalidValue;
	const int blocks = blocks_of(v, m);
	return precision == SINGLE
	               ? run<float>(v, a, lda, m, n, tau, to, done, work, blocks, stream)
	               : run<double>(v, a, lda, m, n, tau, to, done, work, blocks, stream);
}

} // namespace

extern "C" int panel_geqrf_cluster(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, const struct block_reflector *r, void *work, void *stream)
{
	return run_chosen(NULL, precision, a, lda, m, n, tau, r, work, stream);
}

extern "C" int panel_geqrf_cluster_unless(const int *done, enum precision precision, void *a,
        int64_t lda, int64_t m, int64_t n, void *tau, const struct block_reflector *r, void *work,
        void *stream)
{
	return run_chosen(done, precision, a, lda, m, n, tau, r, work, stream);
}
