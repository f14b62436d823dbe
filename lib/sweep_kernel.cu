/* SPDX-License-Identifier: MIT */
/* The sweep of one kernel. Block 0 is ahead: it makes a window's reflectors, publishes V and T,
 * applies them to the next window's columns and goes on there. The other blocks follow: each has
 * tiles of WIDTH columns of R, right-hand sides, or rows of Q, and applies one window after the
 * other to them; that a tile has all windows but the last before its own, block 0 waits for, which
 * has fetched it when the window is made.
 *
 * Cost: a window of block 0, or what the windows' tiles take of the other blocks, whichever is
 * longer, for every window. */
#include "base.h"
#include "barrier.cuh"
#include "resident.h"
#include "sweep_apply.cuh"
#include "sweep_kernel.h"

namespace
{

static_assert((int)WIDTH == (int)SWEEP_KERNEL_COLUMNS, "one width");

/* Words of flags: error, windows published, then a line's distance on a word for each tile of R. */
enum { PUBLISHED = BARRIER_LINE, READY = 2 * BARRIER_LINE };

/* Rows of the triangle and, where rows were added, those. count: of columns, or of rows of Q. */
template <typename real> struct part {
	struct strided<real> top, tail;
	int64_t count;
};

template <typename real> struct sweep {
	struct part<real> r, d, q;
	int64_t first, rows; /* of the triangle's rows: the first window's first, where they end */
	int tail_rows;       /* of added rows */
	int windows, d_tiles, q_tiles;
	real *published; /* V and T, window by window */
	uint32_t *flags;
};

/* A tile as window i sees it: its rows of the triangle, the P rows more, those behind. */
template <typename real> struct tile {
	struct strided<real> top, tail, behind;
	int top_rows, tail_rows, behind_rows, columns;
};

__device__ __forceinline__ int limited(int64_t count, int most)
{
	return (int)(count < 0 ? 0 : count < most ? count : most);
}

template <typename real>
__device__ __forceinline__ struct strided<real> moved(
        const struct strided<real> &a, int64_t row, int64_t column) {
	return {a.data + row * a.row + column * a.column, a.row, a.column};
}

/* The tile that begins at column `column` of the part. Window -1 has no rows of the triangle. */
template <typename real, int P, bool SLIDES>
__device__ __forceinline__ struct tile<real> tile_of(
        const struct sweep<real> &g, const struct part<real> &p, int64_t column, int i) {
	const int64_t row = g.first + (int64_t)i * WIDTH, below = SLIDES ? WIDTH : 0;
	struct tile<real> t;
	t.top = moved(p.top, row, column);
	t.tail = SLIDES ? moved(t.top, WIDTH, 0) : moved(p.tail, 0, column);
	t.behind = moved(t.top, WIDTH + (SLIDES ? P : 0), 0);
	t.top_rows = i < 0 ? 0 : limited(g.rows - row, WIDTH);
	t.tail_rows = SLIDES ? limited(g.rows - row - below, P) : g.tail_rows;
	t.behind_rows = limited(g.rows - row - below - (SLIDES ? P : WIDTH), WIDTH);
	t.columns = limited(p.count - column, WIDTH);
	return t;
}

template <typename real, int P, bool SLIDES>
__device__ __forceinline__ struct tile<real> tile_of_r(
        const struct sweep<real> &g, int i, int window) {
	return tile_of<real, P, SLIDES>(g, g.r, g.first + (int64_t)i * WIDTH, window);
}

/* ---- V and T ---- */

template <typename real, int P>
constexpr int published_words(void)
{
	return (2 * WIDTH + P) * WIDTH;
}

/* Row `row` of V with T below it. */
template <typename real, int P>
__device__ __forceinline__ real *published_row(struct window_memory<real, P> &s, int row)
{
	return row < WIDTH + P ? s.v[row] : s.t[row - WIDTH - P];
}

struct alignas(16) words {
	uint32_t word[4];
};

/* Out of shared memory (`out`), or into it. */
template <bool out, typename real, int P>
__device__ __forceinline__ void exchange_published(
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
__device__ __forceinline__ void store_window(
        const struct sweep<real> &g, int i, const real (*c)[PITCH], const struct crew &crew)
{
	const struct tile<real> t = tile_of_r<real, P, SLIDES>(g, i, i);
	store_rows<WIDTH>(c + (SLIDES ? WIDTH : WIDTH + P), t.top, t.top_rows, t.columns, crew);
	for (int k = crew.thread; SLIDES && k < P * WIDTH; k += crew.threads) {
		int row, column;
		locate<P>(t.tail, k, &row, &column);
		if (row < t.tail_rows && column < t.columns)
			t.tail.data[row * t.tail.row + column * t.tail.column] = real(0);
	}
}

/* The columns of window i + 1 as window i sees them. */
template <typename real, int P, bool SLIDES>
__device__ __forceinline__ void fetch_next(
        const struct sweep<real> &g, int i, real (*c)[PITCH], const struct crew &crew)
{
	const struct tile<real> t = tile_of_r<real, P, SLIDES>(g, i + 1, i);
	load_rows<WIDTH>(c, t.top, t.top_rows, t.columns, crew);
	load_rows<P>(c + WIDTH, t.tail, t.tail_rows, t.columns, crew);
	load_rows<WIDTH>(c + WIDTH + P, t.behind, t.behind_rows, t.columns, crew);
}

/* Beside the making of window i, by the threads that are left: what is over goes out, what comes
 * next comes in. False when that was never ready. */
template <typename real, int P, bool SLIDES>
__device__ __forceinline__ bool carry(
        const struct sweep<real> &g, struct window_memory<real, P> &s, int i)
{
	const struct crew crew = crew_of(MAKERS_AND_T, SWEEP_THREADS - MAKERS_AND_T);
	bool good = true;
	if (i > 0) {
		const struct tile<real> t = tile_of_r<real, P, SLIDES>(g, i, i - 1);
		store_window<real, P, SLIDES>(g, i - 1, s.c[(i - 1) % 2], crew);
		store_rows<WIDTH>(s.c[i % 2], t.top, t.top_rows, t.columns, crew);
	}
	if (i + 1 == g.windows)
		return true;
	if (i > 0)
		good = wait_for(&g.flags[READY + i + 1], 1, g.flags);
	some_barrier<2, SWEEP_THREADS - MAKERS_AND_T>();
	if (good)
		fetch_next<real, P, SLIDES>(g, i, s.c[(i + 1) % 2], crew);
	return good;
}

template <typename real, int P, bool SLIDES>
__device__ void lead(const struct sweep<real> &g, struct window_memory<real, P> &s)
{
	const struct crew all = crew_of(0, SWEEP_THREADS);
	const int thread = (int)threadIdx.x;
	bool good = true;
	fetch_next<real, P, SLIDES>(g, -1, s.c[0], all);
	__syncthreads();
	for (int i = 0; good && i < g.windows; i++) {
		if (thread < MAKERS)
			make_window<real, P, SLIDES>(s, s.c[i % 2]);
		else if (thread < MAKERS_AND_T)
			make_t(s);
		else
			good = carry<real, P, SLIDES>(g, s, i);
		good = __syncthreads_and(good);
		exchange_published<true>(
		        s, g.published + (int64_t)i * window_memory<real, P>::published);
		__syncthreads();
		if (thread == SWEEP_THREADS - 1)
			store_release(&g.flags[PUBLISHED], (uint32_t)i + 1);
		if (i + 1 < g.windows)
			apply_window(s, s.c[(i + 1) % 2]);
		__syncthreads();
	}
	if (good)
		store_window<real, P, SLIDES>(g, g.windows - 1, s.c[(g.windows - 1) % 2], all);
	else if (thread == 0)
		moved(g.r.top, g.first, g.first).data[0] = real(NAN);
}

/* ---- the other blocks ---- */

/* Tile number `index`: of R's windows, then of the right-hand sides, then of Q. */
template <typename real, int P, bool SLIDES>
__device__ __forceinline__ struct tile<real> any_tile(
        const struct sweep<real> &g, int index, int window) {
	const bool of_r = index < g.windows, of_d = !of_r && index < g.windows + g.d_tiles;
	const int before = of_r ? 0 : of_d ? g.windows : g.windows + g.d_tiles;
	return tile_of<real, P, SLIDES>(g,
	        of_r   ? g.r
	        : of_d ? g.d
	               : g.q,
	        (of_r ? g.first : 0) + (int64_t)(index - before) * WIDTH, window);
}

template <typename real, int P, bool SLIDES>
__device__ __forceinline__ void follow_tile(
        const struct sweep<real> &g, struct window_memory<real, P> &s, int index, int i)
{
	const struct crew all = crew_of(0, SWEEP_THREADS);
	const struct tile<real> t = any_tile<real, P, SLIDES>(g, index, i);
	load_rows<WIDTH>(s.c[0], t.top, t.top_rows, t.columns, all);
	load_rows<P>(s.c[0] + WIDTH, t.tail, t.tail_rows, t.columns, all);
	__syncthreads();
	apply_window(s, s.c[0]);
	__syncthreads();
	store_rows<WIDTH>(s.c[0], t.top, t.top_rows, t.columns, all);
	store_rows<P>(s.c[0] + WIDTH, t.tail, t.tail_rows, t.columns, all);
	__syncthreads();
	if (threadIdx.x == 0 && index == i + 2 && index < g.windows)
		store_release(&g.flags[READY + index], 1);
}

template <typename real, int P, bool SLIDES>
__device__ void follow(const struct sweep<real> &g, struct window_memory<real, P> &s)
{
	const int tiles = g.windows + g.d_tiles + g.q_tiles, step = (int)gridDim.x - 1;
	int index = (int)blockIdx.x - 1;
	for (int i = 0; i < g.windows; i++) {
		while (index < g.windows && index < i + 2)
			index += step;
		if (index >= tiles)
			return;
		const bool good =
		        threadIdx.x > 0 || wait_for(&g.flags[PUBLISHED], (uint32_t)i + 1, g.flags);
		if (!__syncthreads_and(good))
			return;
		exchange_published<false>(
		        s, g.published + (int64_t)i * window_memory<real, P>::published);
		for (int k = index; k < tiles; k += step)
			follow_tile<real, P, SLIDES>(g, s, k, i);
	}
}

template <typename real, int P, bool SLIDES>
__global__ void __launch_bounds__(SWEEP_THREADS, 1) sweep_down_kernel(const struct sweep<real> g)
{
	extern __shared__ uint4 memory[];
	struct window_memory<real, P> &s = *(struct window_memory<real, P> *)memory;
	if (blockIdx.x == 0)
		lead<real, P, SLIDES>(g, s);
	else
		follow<real, P, SLIDES>(g, s);
}

/* ---- launch ---- */

struct variant {
	enum precision precision;
	int p;
	const void *sliding, *added;
	size_t bytes;
};

template <typename real, int P> constexpr struct variant variant_of(void)
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, P,
	        (const void *)sweep_down_kernel<real, P, true>,
	        (const void *)sweep_down_kernel<real, P, false>,
	        sizeof(struct window_memory<real, P>)};
}

const struct variant variants[] = {variant_of<float, 16>(), variant_of<float, 32>(),
        variant_of<float, 64>(), variant_of<float, 128>(), variant_of<float, 256>(),
        variant_of<double, 16>(), variant_of<double, 32>(), variant_of<double, 64>(),
        variant_of<double, 128>()};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Blocks of each variant that the current device runs at once; 0: it has none. */
const int *residents(void)
{
	static thread_local int known_device = -1;
	static thread_local int known[VARIANTS];
	int device = 0;
	if (cudaGetDevice(&device) != cudaSuccess)
		return known;
	for (int i = 0; i < VARIANTS && device != known_device; i++) {
		const struct variant *v = &variants[i];
		const bool fits =
		        cudaFuncSetAttribute(v->sliding,
		                cudaFuncAttributeMaxDynamicSharedMemorySize,
		                (int)v->bytes) == cudaSuccess &&
		        cudaFuncSetAttribute(v->added, cudaFuncAttributeMaxDynamicSharedMemorySize,
		                (int)v->bytes) == cudaSuccess;
		known[i] = fits ? grid_resident(v->sliding, SWEEP_THREADS, v->bytes) : 0;
	}
	cudaGetLastError(); /* a size that the device refuses is an answer here */
	known_device = device;
	return known;
}

const struct variant *choose(enum precision precision, int64_t p)
{
	const int64_t rows = sweep_kernel_rows(precision, p);
	for (int i = 0; i < VARIANTS; i++)
		if (variants[i].precision == precision && variants[i].p == rows)
			return &variants[i];
	return NULL;
}

int64_t windows_of(const struct band *x)
{
	return (x->of.r.n - x->k + WIDTH - 1) / WIDTH;
}

int64_t flag_bytes(const struct band *x)
{
	return (READY + windows_of(x) + 3) / 4 * 16;
}

template <typename real> struct strided<real> upright(struct matrix a) {
	return {(real *)matrix_address(a), 1, a.ld};
}

template <typename real>
struct strided<real> turned(struct matrix a) {
	return {(real *)matrix_address(a), a.ld, 1};
}

template <typename real>
int launch(const struct variant *v, int residents, const struct band *x, void *work, void *stream)
{
	const struct system *of = &x->of, *tail = x->added ? x->added : of;
	struct sweep<real> g = {
	};
	g.r = {upright<real>(of->r), upright<real>(tail->r), of->r.n};
	g.d = {upright<real>(of->d), upright<real>(tail->d), of->d.n};
	g.q = {turned<real>(of->q), turned<real>(tail->q), of->q.m};
	g.first = x->k;
	g.rows = of->r.m;
	g.tail_rows = (int)x->p;
	g.windows = (int)windows_of(x);
	g.d_tiles = (int)((of->d.n + WIDTH - 1) / WIDTH);
	g.q_tiles = (int)((of->q.m + WIDTH - 1) / WIDTH);
	g.flags = (uint32_t *)work;
	g.published = (real *)((char *)work + flag_bytes(x));
	const int64_t blocks = 1 + (int64_t)g.windows + g.d_tiles + g.q_tiles;
	const int error =
	        (int)cudaMemsetAsync(work, 0, (size_t)flag_bytes(x), (cudaStream_t)stream);
	if (error)
		return error;
	return resident_launch(x->added ? v->added : v->sliding,
	        blocks < residents ? (int)blocks : residents, 0, SWEEP_THREADS, v->bytes, &g,
	        stream);
}

} // namespace

extern "C" bool sweep_kernel_fits(enum precision precision, int64_t p)
{
	const struct variant *v = choose(precision, p);
	return v && residents()[v - variants] > 1;
}

extern "C" int64_t sweep_kernel_work(const struct band *x)
{
	const struct variant *v = choose(x->of.r.precision, x->p);
	const int64_t words = v ? (int64_t)(2 * WIDTH + v->p) * WIDTH : 0;
	return flag_bytes(x) + windows_of(x) * words * precision_bytes(x->of.r.precision);
}

extern "C" int sweep_kernel(const struct band *x, void *work, void *stream)
{
	const struct variant *v = choose(x->of.r.precision, x->p);
	if (!v || residents()[v - variants] < 2)
		return (int)cudaErrorInvalidValue;
	if (windows_of(x) <= 0 || x->p <= 0)
		return 0;
	return x->of.r.precision == SINGLE
	               ? launch<float>(v, residents()[v - variants], x, work, stream)
	               : launch<double>(v, residents()[v - variants], x, work, stream);
}
