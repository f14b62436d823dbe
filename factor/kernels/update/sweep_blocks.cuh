/* SPDX-License-Identifier: MIT */
/* The blocks of a sweep of one kernel. Block 0 leads: it makes a window's reflectors, publishes
 * V and T, applies them to the next window's columns and continues there. The other blocks
 * follow: each has tiles of WIDTH columns of R, right-hand sides, or rows of Q, and applies one
 * window after the other to them. Block 0 waits until a tile has all windows but the last before
 * its own; it loads that tile while it makes the last window. */
#pragma once

#include "lib/device/barrier.cuh"
#include "sweep_apply.cuh"

/* Flags: the error, the number of published windows (each in a cache line of its own), and a
 * word for each tile of R. */
enum { PUBLISHED = BARRIER_LINE, READY = 2 * BARRIER_LINE };

/* Rows of the triangle and, if rows were added, those rows. count: of columns, or of rows of Q. */
template <typename real> struct part {
	struct strided<real> top, tail;
	int64_t count;
};

template <typename real> struct sweep {
	struct part<real> part[3]; /* R, right-hand sides, Q */
	int64_t first,
	        rows;  /* of the triangle: the first window's first row, and the end of the rows */
	int tail_rows; /* of added rows */
	int windows, d_tiles, q_tiles;
	real *published; /* V and T, window by window */
	uint32_t *flags;
};

static __device__ __forceinline__ int limited(int64_t count, int most)
{
	return (int)(count < 0 ? 0 : count < most ? count : most);
}

template <typename real>
static __device__ __forceinline__ struct strided<real> moved(
        const struct strided<real> &a, int64_t row, int64_t column) {
	return {a.data + row * a.row + column * a.column, a.row, a.column};
}

/* The tile of the part that begins at `column`, for window i. Window -1 has no rows of the
 * triangle. */
template <typename real, int P>
static __device__ __forceinline__ struct tile<real> tile_of(
        const struct sweep<real> &g, const struct part<real> &p, int64_t column, int i) {
	const int64_t row = g.first + (int64_t)i * WIDTH;
	return {moved(p.top, row, column), moved(p.tail, 0, column), i < 0 ? WIDTH : 0,
	        limited(g.rows - row, 2 * WIDTH + P), g.tail_rows,
	        limited(p.count - column, WIDTH)};
}

template <typename real, int P>
static __device__ __forceinline__ struct tile<real> tile_of_r(
        const struct sweep<real> &g, int i, int window) {
	return tile_of<real, P>(g, g.part[0], g.first + (int64_t)i * WIDTH, window);
}

/* ---- V and T ---- */

template <typename real, int P>
constexpr int published_words(void)
{
	return (2 * WIDTH + P) * WIDTH;
}

/* Row `row` of V with T below it. */
template <typename real, int P>
static __device__ __forceinline__ real *published_row(struct window_memory<real, P> &s, int row)
{
	return row < WIDTH + P ? s.v[row] : s.t[row - WIDTH - P];
}

struct alignas(16) words {
	uint32_t word[4];
};

/* Copies from shared memory (`out`) or to it. */
template <bool out, typename real, int P>
static __device__ __forceinline__ void exchange_published(
        struct window_memory<real, P> &s, real *published)
{
	const int per = 16 / (int)sizeof(real), count = window_memory<real, P>::published / per;
#pragma unroll 4
	for (int k = (int)threadIdx.x; k < count; k += SWEEP_THREADS) {
		struct words *here =
		        (struct words *)(published_row(s, k * per / WIDTH) + k * per % WIDTH);
		struct words *there = (struct words *)published + k;
		if (out)
			*there = *here;
		else
			*here = *there;
	}
}

/* ---- block 0 ---- */

/* The window's columns: R, with zeros below it. */
template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ void store_window(
        const struct sweep<real> &g, int i, const real (*c)[PITCH], const struct crew &crew)
{
	struct tile<real> t = tile_of_r<real, P>(g, i, i);
	store_tile<WIDTH, P, SLIDES>(c + (SLIDES ? WIDTH : WIDTH + P), t, crew);
	t.top = moved(t.top, WIDTH, 0);
	t.rows -= WIDTH;
	for (int k = crew.thread; SLIDES && k < P * WIDTH; k += crew.threads) {
		int row, column;
		locate<P>(t, k, &row, &column);
		real *x = element<real, P, SLIDES>(t, row, column);
		if (x)
			*x = real(0);
	}
}

/* The CARRIERS do this while window i is made: they store finished rows and load the columns of
 * window i + 1 as window i sees them. False when those were never ready. */
template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ bool carry(
        const struct sweep<real> &g, struct window_memory<real, P> &s, int i)
{
	const struct crew crew = crew_of(MAKERS_AND_T, CARRIERS);
	bool good = true;
	if (i > 0)
		store_tile<WIDTH, P, SLIDES>(s.c[i % 2], tile_of_r<real, P>(g, i, i - 1), crew);
	if (i + 1 == g.windows)
		return true;
	if (i > 0 && threadIdx.x % 32 == 0)
		good = wait_for(&g.flags[READY + i + 1], 1, g.flags);
	good = __shfl_sync(0xffffffffu, good, 0);
	if (good)
		load_tile<2 * WIDTH + P, P, SLIDES>(
		        s.c[(i + 1) % 2], tile_of_r<real, P>(g, i + 1, i), crew);
	return good;
}

template <typename real, int P, bool SLIDES>
static __device__ void lead(const struct sweep<real> &g, struct window_memory<real, P> &s)
{
	const int thread = (int)threadIdx.x;
	bool good = true;
	clear_v(s);
	load_tile<2 * WIDTH + P, P, SLIDES>(
	        s.c[0], tile_of_r<real, P>(g, 0, -1), crew_of(0, SWEEP_THREADS));
	__syncthreads();
	for (int i = 0; good && i < g.windows; i++) {
		if (thread < MAKERS)
			make_window<real, P, SLIDES>(s, s.c[i % 2]);
		else if (thread < MAKERS_AND_T)
			make_t<real, P, SLIDES>(s);
		else
			good = carry<real, P, SLIDES>(g, s, i);
		good = __syncthreads_and(good);
		exchange_published<true>(
		        s, g.published + (int64_t)i * window_memory<real, P>::published);
		__syncthreads();
		if (thread == SWEEP_THREADS - 1)
			store_release(&g.flags[PUBLISHED], (uint32_t)i + 1);
		if (thread >= APPLIERS)
			store_window<real, P, SLIDES>(
			        g, i, s.c[i % 2], crew_of(APPLIERS, CARRIERS));
		else if (i + 1 < g.windows)
			apply_window(s, s.c[(i + 1) % 2]);
		__syncthreads();
	}
	if (!good && thread == 0)
		moved(g.part[0].top, g.first, g.first).data[0] = real(NAN);
}

/* ---- the other blocks ---- */

/* Tile number `index`: of R's windows, then of the right-hand sides, then of Q. */
template <typename real, int P>
static __device__ __forceinline__ struct tile<real> any_tile(
        const struct sweep<real> &g, int index, int window) {
	const int of_d = index - g.windows, of_q = of_d - g.d_tiles;
	const int kind = of_d < 0 ? 0 : of_q < 0 ? 1 : 2;
	const int at = kind == 0 ? index : kind == 1 ? of_d : of_q;
	return tile_of<real, P>(
	        g, g.part[kind], (kind == 0 ? g.first : 0) + (int64_t)at * WIDTH, window);
}

/* A block's tiles: the first tile of a window; the others follow in steps of `step`. */
struct share {
	int first, step, tiles;
};

/* The first tile right of block 0's tiles. */
template <typename real>
static __device__ __forceinline__ int first_tile(
        const struct sweep<real> &g, int index, int step, int i)
{
	while (index < g.windows && index < i + 2)
		index += step;
	return index;
}

/* Applies window i to all of the block's tiles, the first of which is in s.c[0]. The next tile
 * is loaded while one is updated. */
template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ void follow_window(const struct sweep<real> &g,
        struct window_memory<real, P> &s, const struct share &share, int i)
{
	const int thread = (int)threadIdx.x, rows = window_memory<real, P>::rows;
	int turn = 0;
	for (int k = share.first; k < share.tiles; k += share.step, turn ^= 1) {
		__syncthreads();
		if (thread < APPLIERS)
			apply_window(s, s.c[turn]);
		else if (k + share.step < share.tiles)
			load_tile<rows, P, SLIDES>(s.c[turn ^ 1],
			        any_tile<real, P>(g, k + share.step, i),
			        crew_of(APPLIERS, CARRIERS));
		__syncthreads();
		store_tile<rows, P, SLIDES>(
		        s.c[turn], any_tile<real, P>(g, k, i), crew_of(0, SWEEP_THREADS));
		if (k == i + 2 && k < g.windows) {
			__syncthreads();
			if (thread == 0)
				store_release(&g.flags[READY + k], 1);
		}
	}
	__syncthreads();
}

template <typename real, int P, bool SLIDES>
static __device__ void follow(const struct sweep<real> &g, struct window_memory<real, P> &s)
{
	struct share share = {
	        (int)blockIdx.x - 1, (int)gridDim.x - 1, g.windows + g.d_tiles + g.q_tiles};
	for (int i = 0; i < g.windows; i++) {
		share.first = first_tile(g, share.first, share.step, i);
		if (share.first >= share.tiles)
			return;
		load_tile<window_memory<real, P>::rows, P, SLIDES>(
		        s.c[0], any_tile<real, P>(g, share.first, i), crew_of(0, SWEEP_THREADS));
		const bool good =
		        threadIdx.x > 0 || wait_for(&g.flags[PUBLISHED], (uint32_t)i + 1, g.flags);
		if (!__syncthreads_and(good))
			return;
		exchange_published<false>(
		        s, g.published + (int64_t)i * window_memory<real, P>::published);
		follow_window<real, P, SLIDES>(g, s, share, i);
	}
}
