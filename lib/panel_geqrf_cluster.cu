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
 * Column q LANES + c stands in register 0 of the lanes of rank c; registers move by one when all
 * LANES columns are done. The second half of the columns has half of the registers. */
#include "base.h"
#include "panel_geqrf.h"
#include "panel_registers.cuh"
#include "shared_update.cuh"

namespace
{

enum {
	CLUSTER_BLOCKS = 16,
	CLUSTER_WARPS = 8, /* of a block, at most */
	WORDS = 16,        /* columns of a lane */
	TURNS = 2 /* a block sends for column j + 2 when it has had all sums of column j + 1, which
	             a block sends when all its warps are done with those of column j */
};

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	real *tau;
	uint32_t *error;
};

/* Columns in the order of the lanes that hold them: [lane rank][register]. */
template <typename real, int COLUMNS> struct alignas(16) shared {
	static constexpr int per = 16 / (int)sizeof(real); /* columns of a piece */
	real part[TURNS][CLUSTER_WARPS][COLUMNS];          /* of the warps */
	real own_head[TURNS][COLUMNS];                     /* row j where it is held */
	real record[TURNS][CLUSTER_BLOCKS + 1][COLUMNS];   /* from the blocks; row j */
	real times[CLUSTER_WARPS][COLUMNS];                /* what multiplies v, for each warp */
	uint64_t full[TURNS];                              /* mbarriers: all records are there */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* Who a thread is: in the warp number `at` along the rows and `rank` along the columns. */
struct seat {
	int thread, lane, warp, threads, warps, block, blocks;
	int at, rank;
	int row, rows; /* first of the thread, number of a block's */
};

/* The column that is being eliminated. */
struct column {
	int j, rank; /* of the lanes that hold it */
	int owner;   /* block that holds row j */
	int round;   /* exchange */
};

template <typename real> struct alignas(16) piece {
	real value[16 / sizeof(real)];
};

template <typename real>
__device__ __forceinline__ struct piece<real> load_words(const real *from) {
	return *(const struct piece<real> *)from;
}

template <int LANES, int ROWS>
__device__ __forceinline__ struct seat take_seat(void)
{
	const int lanes = 32 / LANES; /* along the rows */
	struct seat t;
	t.thread = (int)threadIdx.x;
	t.lane = t.thread % 32;
	t.warp = t.thread / 32;
	t.threads = (int)blockDim.x;
	t.warps = t.threads / 32;
	t.block = (int)cluster_rank();
	t.blocks = (int)cluster_blocks();
	t.at = t.lane % lanes;
	t.rank = t.lane / lanes;
	t.rows = t.warps * lanes * ROWS;
	t.row = t.block * t.rows + t.warp * lanes * ROWS + t.at;
	return t;
}

/* Row r of the thread. */
template <int LANES> __device__ __forceinline__ int row_at(const struct seat &t, int r)
{
	return t.row + r * (32 / LANES);
}

/* ---- exchange ---- */

/* The warps' results (s.part) of the block, and row j from where it is held, to all blocks. */
template <bool largest, int ACTIVE, typename real, int COLUMNS>
__device__ __forceinline__ void send(
        struct shared<real, COLUMNS> &s, const struct seat &t, const struct column &c)
{
	const int per = s.per, of_lane = ACTIVE / per, pieces = COLUMNS / WORDS * of_lane;
	const int turn = c.round % TURNS, p = t.thread % pieces;
	const int at = p / of_lane * WORDS + p % of_lane * per;
	const uint32_t full = shared_address(&s.full[turn]);

	__syncthreads();
	if (t.thread == 0)
		arrivals_expect(full, (uint32_t)((t.blocks + 1) * pieces) * 16);
	struct piece<real> mine = load_words(&s.part[turn][0][at]);
#pragma unroll
	for (int w = 1; w < CLUSTER_WARPS; w++) {
		struct piece<real> more = {
		};
		if (w < t.warps)
			more = load_words(&s.part[turn][w][at]);
#pragma unroll
		for (int i = 0; i < per; i++)
			mine.value[i] = combine<largest>(mine.value[i], more.value[i]);
	}
	const struct piece<real> head = load_words(&s.own_head[turn][at]);
	const uint32_t slot = shared_address(&s.record[turn][t.block][at]);
	const uint32_t head_slot = shared_address(&s.record[turn][CLUSTER_BLOCKS][at]);
	for (int to = t.thread / pieces; to < t.blocks; to += t.threads / pieces) {
		const uint32_t there = cluster_address(full, (uint32_t)to);
		send_piece(*(const uint4 *)&mine, cluster_address(slot, (uint32_t)to), there);
		if (c.owner == t.block)
			send_piece(*(const uint4 *)&head, cluster_address(head_slot, (uint32_t)to),
			        there);
	}
}

/* Waits for what the blocks send, not at all when somebody has given up; combines it, in every
 * warp. A lane gets piece number lane % pieces. */
template <bool largest, int ACTIVE, typename real, int COLUMNS>
__device__ __forceinline__ struct piece<real> receive(const struct shared<real, COLUMNS> &s,
        const struct seat &t, const struct column &c, uint32_t *error) {
	const int per = s.per, of_lane = ACTIVE / per, pieces = COLUMNS / WORDS * of_lane;
	const int groups = 32 / pieces, group = t.lane / pieces;
	const int turn = c.round % TURNS, p = t.lane % pieces;
	const int at = p / of_lane * WORDS + p % of_lane * per;
	struct piece<real> total = {}, some[CLUSTER_BLOCKS / groups];

	wait_phase(&s.full[turn], (uint32_t)(c.round / TURNS) % 2, error);
#pragma unroll
	for (int i = 0; i < CLUSTER_BLOCKS / groups; i++) {
		some[i] = {};
		if (i * groups + group < t.blocks)
			some[i] = load_words(&s.record[turn][i * groups + group][at]);
	}
#pragma unroll
	for (int e = 0; e < per; e++) {
#pragma unroll
		for (int i = 0; i < CLUSTER_BLOCKS / groups; i++)
			total.value[e] = combine<largest>(total.value[e], some[i].value[e]);
#pragma unroll
		for (int step = pieces; step < 32; step *= 2)
			total.value[e] = combine<largest>(
			        total.value[e], __shfl_xor_sync(0xffffffffu, total.value[e], step));
	}
	return total;
}

/* ---- a column ---- */

/* The thread's rows of column j below the diagonal, zero elsewhere. */
template <int LANES, int ROWS, typename real>
__device__ __forceinline__ void below_diagonal(
        const struct seat &t, const struct column &c, const real (&a)[ROWS][WORDS], real (&x)[ROWS])
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const real value = __shfl_sync(0xffffffffu, a[r][0], c.rank * (32 / LANES) + t.at);
		x[r] = row_at<LANES>(t, r) > c.j ? value : real(0);
	}
}

/* The warp's sums of x times all columns into s.part, and row j into s.own_head. */
template <int ACTIVE, int LANES, int ROWS, typename real, int COLUMNS>
__device__ __forceinline__ void warp_products(struct shared<real, COLUMNS> &s, const struct seat &t,
        const struct column &c, const real (&a)[ROWS][WORDS], const real (&x)[ROWS])
{
	const int lanes = 32 / LANES, chunk = ACTIVE < lanes ? ACTIVE : lanes;
	const int turn = c.round % TURNS;
#pragma unroll
	for (int first = 0; first < ACTIVE; first += chunk) {
		real product[chunk];
#pragma unroll
		for (int i = 0; i < chunk; i++) {
			product[i] = x[0] * a[0][first + i];
#pragma unroll
			for (int r = 1; r < ROWS; r++)
				product[i] += x[r] * a[r][first + i];
		}
		real sum = transposed_sum<chunk / 2>(product);
#pragma unroll
		for (int step = chunk; step < lanes; step *= 2)
			sum += __shfl_xor_sync(0xffffffffu, sum, step);
		if (t.at < chunk)
			s.part[turn][t.warp][t.rank * WORDS + first + t.at] = sum;
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (row_at<LANES>(t, r) == c.j)
#pragma unroll
			for (int k = 0; k < ACTIVE; k++)
				s.own_head[turn][t.rank * WORDS + k] = a[r][k];
}

/* A power of two for column j, found by all blocks together and applied to its rows from j on; 0
 * when the column is exactly zero below its diagonal. */
template <int ACTIVE, int LANES, int ROWS, typename real, int COLUMNS>
__device__ __noinline__ real scale_of(struct shared<real, COLUMNS> &s, struct seat t,
        struct column c, real from, real below, uint32_t *error)
{
	for (int step = 16; step > 0; step /= 2) {
		from = larger_of(from, __shfl_xor_sync(0xffffffffu, from, step));
		below = larger_of(below, __shfl_xor_sync(0xffffffffu, below, step));
	}
	if (t.lane < 2)
		s.part[c.round % TURNS][t.warp][t.lane] = t.lane ? below : from;
	send<true, ACTIVE>(s, t, c);
	const struct piece<real> largest = receive<true, ACTIVE>(s, t, c, error);
	from = __shfl_sync(0xffffffffu, largest.value[0], 0);
	below = __shfl_sync(0xffffffffu, largest.value[1], 0);
	return below == real(0) ? real(0) : scale_for(from);
}

template <int ACTIVE, int LANES, int ROWS, typename real, int COLUMNS>
__device__ __forceinline__ real scale_column(struct shared<real, COLUMNS> &s, const struct seat &t,
        const struct column &c, real (&a)[ROWS][WORDS], uint32_t *error)
{
	real from = real(0), below = real(0); /* largest magnitudes */
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int row = row_at<LANES>(t, r);
		if (t.rank == c.rank && row >= c.j)
			from = larger_of(from, fabs(a[r][0]));
		if (t.rank == c.rank && row > c.j)
			below = larger_of(below, fabs(a[r][0]));
	}
	const real scale = scale_of<ACTIVE, LANES, ROWS>(s, t, c, from, below, error);
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (scale != real(0) && t.rank == c.rank && row_at<LANES>(t, r) >= c.j)
			a[r][0] *= scale;
	return scale;
}

/* The reflector of column j from all sums, and s.times of the warp. True if no sum left the safe
 * range. */
template <int ACTIVE, int LANES, typename real, int COLUMNS>
__device__ __forceinline__ bool reflect(struct shared<real, COLUMNS> &s, const struct seat &t,
        const struct column &c, uint32_t *error, struct reflector<real> *h, real *alpha)
{
	const int per = s.per, of_lane = ACTIVE / per, pieces = LANES * of_lane;
	const int p = t.lane % pieces, rank = p / of_lane, first = p % of_lane * per;
	const struct piece<real> sum = receive<false, ACTIVE>(s, t, c, error);
	const struct piece<real> head =
	        load_words(&s.record[c.round % TURNS][CLUSTER_BLOCKS][rank * WORDS + first]);
	struct piece<real> times;

	*alpha = __shfl_sync(0xffffffffu, head.value[0], c.rank * of_lane);
	const real squares = __shfl_sync(0xffffffffu, sum.value[0], c.rank * of_lane);
	bool safe = is_safe(*alpha, squares);
	*h = reflector_of(*alpha, squares);
#pragma unroll
	for (int i = 0; i < per; i++) {
		const bool right = first + i > 0 || rank > c.rank;
		times.value[i] =
		        right ? h->tau * (head.value[i] + h->divide * sum.value[i]) : real(0);
		safe = safe && (!right || isfinite(sum.value[i]));
	}
	if (t.lane < pieces)
		*(struct piece<real> *)&s.times[t.warp][rank * WORDS + first] = times;
	return __all_sync(0xffffffffu, safe);
}

/* Column j as it is to be in memory. */
template <int LANES, int ROWS, typename real>
__device__ __forceinline__ void store_column(
        const struct panel<real> &g, const struct seat &t, int j, const real (&out)[ROWS])
{
	if (t.rank != j % LANES)
		return;
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (row_at<LANES>(t, r) < g.m)
			g.a[row_at<LANES>(t, r) + j * g.lda] = out[r];
}

/* All columns minus v times their multipliers, moved by one register if `moves`. */
template <int ACTIVE, bool moves, int ROWS, typename real>
__device__ __forceinline__ void update(
        real (&a)[ROWS][WORDS], const real (&v)[ROWS], const real *times)
{
	const int per = 16 / (int)sizeof(real);
#pragma unroll
	for (int first = 0; first < ACTIVE; first += per) {
		const struct piece<real> some = load_words(times + first);
#pragma unroll
		for (int i = 0; i < per; i++)
#pragma unroll
			for (int r = 0; r < ROWS; r++) {
				const int k = first + i;
				const real value = minus_product(a[r][k], v[r], some.value[i]);
				if (!moves)
					a[r][k] = value;
				else if (k > 0)
					a[r][k - 1] = value;
			}
	}
	if (moves)
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			a[r][ACTIVE - 1] = real(0);
}

/* The columns up to `end`, of which ACTIVE registers are left. */
template <int ACTIVE, int LANES, int ROWS, typename real, int COLUMNS>
__device__ __forceinline__ void columns(const struct panel<real> &g,
        struct shared<real, COLUMNS> &s, const struct seat &t, real (&a)[ROWS][WORDS],
        real (&out)[ROWS], struct column &c, int end)
{
	for (; c.j < end; c.j++) {
		struct reflector<real> h;
		real x[ROWS], scale = real(1), alpha = real(0);
		bool safe = false;
		c.rank = c.j % LANES;
		c.owner += c.j == (c.owner + 1) * t.rows;
#pragma unroll 1
		for (int attempt = 0; attempt < 2 && !safe; attempt++) {
			if (attempt > 0) {
				scale = scale_column<ACTIVE, LANES, ROWS>(s, t, c, a, g.error);
				c.round++;
			}
			if (scale == real(0))
				break;
			below_diagonal<LANES>(t, c, a, x);
			warp_products<ACTIVE, LANES>(s, t, c, a, x);
			send<false, ACTIVE>(s, t, c);
			if (attempt == 0 && c.j > 0)
				store_column<LANES>(g, t, c.j - 1, out);
			safe = reflect<ACTIVE, LANES>(s, t, c, g.error, &h, &alpha);
			c.round++;
		}
		if (scale == real(0)) {
			h = reflector_none(alpha);
			for (int k = t.lane; k < COLUMNS; k += 32)
				s.times[t.warp][k] = real(0);
		} else if (scale != real(1)) {
			h.beta /= scale;
		}
		__syncwarp();
		real v[ROWS];
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_at<LANES>(t, r);
			v[r] = x[r] * h.divide;
			out[r] = row == c.j ? h.beta : row > c.j ? v[r] : a[r][0];
			if (row == c.j)
				v[r] = real(1);
		}
		if (t.block == 0 && t.thread == 0)
			g.tau[c.j] = h.tau;
		if (c.rank == LANES - 1)
			update<ACTIVE, true>(a, v, &s.times[t.warp][t.rank * WORDS]);
		else
			update<ACTIVE, false>(a, v, &s.times[t.warp][t.rank * WORDS]);
	}
}

template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void factorize(const struct panel<real> &g)
{
	constexpr int LANES = COLUMNS / WORDS;
	__shared__ struct shared<real, COLUMNS> s;
	const struct seat t = take_seat<LANES, ROWS>();
	real a[ROWS][WORDS], out[ROWS];
	struct column c = {0, 0, 0, 0};

#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int row = row_at<LANES>(t, r);
		out[r] = real(0);
#pragma unroll
		for (int k = 0; k < WORDS; k++) {
			const int column = k * LANES + t.rank;
			a[r][k] = row < g.m && column < g.n ? g.a[row + column * g.lda] : real(0);
		}
	}
	if (t.thread == 0)
		arrivals_set(s.full, TURNS, 1);
	if (t.block == 0 && t.thread == 0)
		store_relaxed(g.error, 0);
	cluster_barrier();
	columns<WORDS, LANES>(g, s, t, a, out, c, min(g.n, COLUMNS / 2));
	columns<WORDS / 2, LANES>(g, s, t, a, out, c, g.n);
	store_column<LANES>(g, t, g.n - 1, out);
	/* no block may leave while others still write into its memory */
	cluster_barrier();
	if (t.block == 0 && t.thread < g.n && load_relaxed(g.error) != 0)
		for (int k = t.thread; k < g.n; k += t.threads)
			g.tau[k] = real(NAN);
}

#endif

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(32 * CLUSTER_WARPS, 1) cluster_kernel(const struct panel<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
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
	int blocks = 1;
	while (blocks < CLUSTER_BLOCKS && (int64_t)4 * blocks * rows_of(v) < m)
		blocks *= 2;
	return blocks;
}

int warps_of(const struct variant *v, int64_t m, int blocks)
{
	const int64_t rows = (int64_t)blocks * rows_of(v);
	return (int)((m + rows - 1) / rows);
}

/* Whether the current device takes the largest cluster of each kernel. */
const bool *launchable(void)
{
	static thread_local int known_device = -1;
	static thread_local bool known[VARIANTS];
	int device = 0;
	if (cudaGetDevice(&device) != cudaSuccess)
		return known;
	for (int i = 0; i < VARIANTS && device != known_device; i++)
		known[i] = cluster_resident(
		                   variants[i].kernel, CLUSTER_BLOCKS, 32 * CLUSTER_WARPS, 0) > 0;
	known_device = device;
	return known;
}

/* The first kernel that takes the panel; NULL when none does. */
const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	const bool *known = launchable();
	for (int i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		if (known[i] && v->precision == precision && n <= v->columns &&
		        m <= (int64_t)CLUSTER_BLOCKS * CLUSTER_WARPS * rows_of(v))
			return v;
	}
	return NULL;
}

template <typename real>
int run(const struct variant *v, void *a, int64_t lda, int64_t m, int64_t n, void *tau, void *work,
        int blocks, void *stream)
{
	struct panel<real> g = {
		(real *)a, lda, (int)m, (int)n, (real *)tau, (uint32_t *)work
	};
	return resident_launch(
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

extern "C" int panel_geqrf_cluster(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, void *work, void *stream)
{
	const struct variant *v = choose(precision, m, n);
	if (!v)
		return (int)cudaErrorInvalidValue;
	const int blocks = blocks_of(v, m);
	return precision == SINGLE ? run<float>(v, a, lda, m, n, tau, work, blocks, stream)
	                           : run<double>(v, a, lda, m, n, tau, work, blocks, stream);
}
