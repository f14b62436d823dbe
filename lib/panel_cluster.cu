/* SPDX-License-Identifier: MIT */
/* The LU panel of one cluster: every thread holds ROWS rows of the panel in registers, candidates
 * travel through distributed shared memory, one exchange a column.
 *
 * Rows stay where they are: a thread knows the position (row of the permuted panel) of each of its
 * rows, and a swap changes two positions. Multipliers go to shared memory; at the end they go where
 * their rows came to stand.
 *
 * What a column waits for is kept short. A warp sends the head of its candidate, 16 bytes (32 in
 * fp64), straight to all blocks: no barrier and no search of the block stand between. The rest of
 * the pivot row follows when its head has won, from one more warp of the block that holds it, and
 * has a column's time to arrive: what the next column needs of it travels in the head, as it was
 * before the update by the column before, with the multiplier of that update, so that whoever
 * receives it does the update himself, with the same operations on the same numbers. All other
 * columns are updated by a pivot row behind the exchange of the column after.
 *
 * Cost: load and store of m*n words, and per column two warp reductions (over a warp's rows, over
 * the cluster's warps), a division, the flight of a head and what neither hides of the update.
 *
 * Log (H200, fp32, 64 columns of 1024 rows, us a column). One candidate a block with its whole row,
 * behind a block barrier: 1.00. Heads of all warps, rows after them: 0.37 predicted from latencies,
 * 0.75 measured, since the flight was hidden and half of the time were 390 instructions of a warp
 * in its own order. One wait instead of two, the reciprocal without branches, less address
 * arithmetic: 0.5 predicted, 0.61 measured; 0.52 if no rows travelled. Without effect: looking at
 * an mbarrier without suspending, fewer blocks of as many warps. A warp a scheduler and more rows a
 * thread are faster than fewer rows and more warps: 4096 rows 0.83 against 0.88. */
#include "base.h"
#include "cluster.cuh"
#include "panel_kernels.h"
#include "pivot_divide.cuh"
#include "reduce.cuh"
#include "resident.h"
#include "shared_update.cuh"

namespace
{

/* Four turns: heads of column j + 4 are sent, and its tails and pivot row stored, only by those who
 * have had all heads of column j + 3, which every warp sends when it is done with what column j + 1
 * brought. The warp that sends rows cannot fall behind: the others get the heads of column j + 1
 * only when it announces them, done with what column j brought. */
enum { TURNS = 4, MOST_WARPS = PANEL_CLUSTER_THREADS / 32, HEADS = MOST_WARPS * PANEL_CLUSTER };
enum { ABSENT = -2 }; /* position of a row that does not exist; NO_INDEX is -1 */

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	int *pivots;
	uint32_t *error;
};

/* What a warp proposes as pivot of column j. */
template <typename real> struct alignas(16) head {
	real value; /* zero when the warp has none */
	uint32_t position;
	real right;      /* of column j + 1, before the update by column j - 1 */
	real multiplier; /* by column j - 1 */
};

/* The rest of its row: columns j + 1 and up, before the update by column j - 1. */
template <typename real, int COLUMNS> struct alignas(16) tail {
	real row[COLUMNS], multiplier;
};

template <typename real, int COLUMNS> struct shared {
	/* warp by warp, in it block by block; none where no warp is */
	struct head<real> heads[TURNS][HEADS];
	struct tail<real, COLUMNS> own[TURNS][MOST_WARPS];
	alignas(16) real pivot_row[TURNS][COLUMNS + 4]; /* right of the pivot */
	/* mbarriers: all heads of a column and the pivot row before have arrived; own tails are
	 * written */
	uint64_t full[TURNS], own_full[TURNS];
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* Increasing in |value|, all NaNs alike. */
__device__ __forceinline__ uint32_t weight_of(float value)
{
	return min(__float_as_uint(value) & 0x7fffffffu, 0x7f800001u);
}

__device__ __forceinline__ uint64_t weight_of(double value)
{
	const uint64_t bits = (uint64_t)__double_as_longlong(value) & 0x7fffffffffffffffull;
	return min(bits, (uint64_t)0x7ff0000000000001ull);
}

__device__ __forceinline__ uint32_t leading(uint32_t weight)
{
	return weight;
}

__device__ __forceinline__ uint32_t leading(uint64_t weight)
{
	return (uint32_t)(weight >> 32);
}

/* The lane with the largest weight, whose leading word is `largest`; of several the one with the
 * lowest position. */
template <typename weight_type>
__device__ __forceinline__ int best_lane(uint32_t largest, weight_type weight, uint32_t position)
{
	bool mine = leading(weight) == largest;
	unsigned best = __ballot_sync(0xffffffffu, mine);
	if (__builtin_expect((best & (best - 1)) != 0, 0)) {
		const weight_type most = warp_largest(mine ? weight : 0);
		mine = mine && weight == most;
		const uint32_t lowest = ~warp_largest(mine ? ~position : 0);
		best = __ballot_sync(0xffffffffu, mine && position == lowest);
	}
	return __ffs((int)best) - 1;
}

template <typename type> __device__ __forceinline__ type from_lane(type value, int lane)
{
	return __shfl_sync(0xffffffffu, value, lane);
}

/* Who a thread is, and where its warp's heads go: piece by piece to one block each. */
struct seat {
	int thread, lane, warp, rank, blocks;
	int threads, heads; /* of a block that hold rows, of the cluster */
	bool sends;
	uint32_t head, full; /* addresses in that block, of the first turn */
};

template <typename real, int COLUMNS>
__device__ __forceinline__ struct seat take_seat(const struct shared<real, COLUMNS> &s)
{
	struct seat t;
	t.thread = (int)threadIdx.x;
	t.lane = t.thread % 32;
	t.warp = t.thread / 32;
	t.rank = (int)cluster_rank();
	t.blocks = (int)cluster_blocks();
	t.threads = (int)blockDim.x - 32;
	t.heads = t.threads / 32 * t.blocks;
	const int to = t.lane % PANEL_CLUSTER, piece = t.lane / PANEL_CLUSTER;
	t.sends = to < t.blocks && piece < (int)sizeof s.heads[0][0] / 16;
	const struct head<real> *head = &s.heads[0][t.warp * t.blocks + t.rank];
	t.head = cluster_address(shared_address(head) + 16 * (uint32_t)piece, (uint32_t)to);
	t.full = cluster_address(shared_address(s.full), (uint32_t)to);
	return t;
}

/* Waits for an mbarrier's phase of that parity, not at all when somebody has given up. */
__device__ __forceinline__ void wait_phase(const uint64_t *full, uint32_t parity, uint32_t *error)
{
	const uint32_t address = shared_address(full);
	if (!mailbox_is_full(address, parity) && load_relaxed(error) == 0) {
		struct spin spin = {0, 0};
		while (!mailbox_is_full(address, parity) && spin_again(&spin, error))
			;
	}
	__syncwarp();
}

/* ---- heads ---- */

/* The best of the heads that a lane looks at. */
template <typename real> struct favourite {
	real value;
	decltype(weight_of(real())) weight;
	uint32_t position;
	int index;
};

template <int COUNT, typename real>
__device__ __forceinline__ struct favourite<real> favourite_of(
        const struct head<real> *heads, int lane) {
	real value[COUNT];
	uint32_t position[COUNT];
#pragma unroll
	for (int i = 0; i < COUNT; i++) {
		value[i] = heads[32 * i + lane].value;
		position[i] = heads[32 * i + lane].position;
	}
	struct favourite<real> f = {
		value[0], weight_of(value[0]), position[0], lane
	};
#pragma unroll
	for (int i = 1; i < COUNT; i++) {
		const auto weight = weight_of(value[i]);
		const bool better =
		        (weight > f.weight) | ((weight == f.weight) & (position[i] < f.position));
		f.value = better ? value[i] : f.value;
		f.weight = better ? weight : f.weight;
		f.position = better ? position[i] : f.position;
		f.index = better ? 32 * i + lane : f.index;
	}
	return f;
}

template <typename real>
__device__ __forceinline__ struct favourite<real> favourite_head(
        const struct head<real> *heads, const struct seat &t) {
	return t.heads <= 32   ? favourite_of<1>(heads, t.lane)
	       : t.heads <= 64 ? favourite_of<2>(heads, t.lane)
	                       : favourite_of<HEADS / 32>(heads, t.lane);
}

/* The pivot of a column and what is right of it, known to all lanes. */
template <typename real>
struct winner {
	struct pivot_divisor<real> divisor;
	real right;
	int position;
};

/* before: column j + 1 of the pivot row j - 1. */
template <typename real>
__device__ __forceinline__ struct winner<real> best_head(
        const struct head<real> *heads, const struct seat &t, real before) {
	const struct favourite<real> f = favourite_head(heads, t);
	const real right = minus_product(heads[f.index].right, heads[f.index].multiplier, before);
	const uint32_t largest = warp_largest(leading(f.weight));
	const struct pivot_divisor<real> d = pivot_divide_by(f.value);
	const int best = best_lane(largest, f.weight, f.position);
	return {{from_lane(d.reciprocal, best), from_lane(d.pivot, best)}, from_lane(right, best),
	        (int)from_lane(f.position, best)};
}

__device__ __forceinline__ uint4
head_piece(const struct head<float> &h, int)
{
	return {__float_as_uint(h.value), h.position, __float_as_uint(h.right),
	        __float_as_uint(h.multiplier)};
}

__device__ __forceinline__ uint4 head_piece(const struct head<double> &h, int piece)
{
	const double first = piece ? h.right : h.value;
	const uint32_t low = (uint32_t)__double2loint(h.multiplier);
	return {(uint32_t)__double2loint(first), (uint32_t)__double2hiint(first),
	        piece ? low : h.position, piece ? (uint32_t)__double2hiint(h.multiplier) : 0};
}

/* A warp's candidate for column j, the best of its rows that are `below` the pivots: its head goes
 * to all blocks if there is such a column. The number of the lane that holds it, and of the lane's
 * row in *row. */
template <typename real, int ROWS>
__device__ __forceinline__ int propose(const struct seat &t, uint32_t turn, bool exists,
        const real (&value)[ROWS], const real (&right)[ROWS], const real (&multiplier)[ROWS],
        const int (&position)[ROWS], const bool (&below)[ROWS], int *row)
{
	typedef struct head<real> heads[HEADS];
	struct head<real> mine = {
		below[0] ? value[0] : real(0), below[0] ? (uint32_t)position[0] : NO_INDEX,
		        right[0], multiplier[0]
	};
	auto weight = weight_of(mine.value);
	*row = 0;
#pragma unroll
	for (int r = 1; r < ROWS; r++) {
		const auto more = weight_of(value[r]);
		const uint32_t other = (uint32_t)position[r];
		const bool better =
		        below[r] & ((more > weight) | ((more == weight) & (other < mine.position)));
		weight = better ? more : weight;
		mine.value = better ? value[r] : mine.value;
		mine.position = better ? other : mine.position;
		mine.right = better ? right[r] : mine.right;
		mine.multiplier = better ? multiplier[r] : mine.multiplier;
		*row = better ? r : *row;
	}
	const int best = best_lane(warp_largest(leading(weight)), weight, mine.position);
	const struct head<real> h = {
		from_lane(mine.value, best), from_lane(mine.position, best),
		        from_lane(mine.right, best), from_lane(mine.multiplier, best)
	};
	if (t.sends && exists)
		send_piece(head_piece(h, t.lane / PANEL_CLUSTER),
		        t.head + turn * (uint32_t)sizeof(heads), t.full + turn * 8);
	return best;
}

/* ---- rows ---- */

/* The first `count` of a row. */
template <typename real, int LENGTH>
__device__ __forceinline__ void store_row(real *to, const real (&row)[LENGTH], int count)
{
	const int WIDTH = 16 / (int)sizeof(real), CHUNK = 16;
#pragma unroll
	for (int chunk = 0; chunk < LENGTH; chunk += CHUNK) {
		if (chunk >= count)
			break;
#pragma unroll
		for (int c = chunk; c < chunk + CHUNK; c += WIDTH) {
			struct alignas(16) {
				real value[WIDTH];
			} some;
#pragma unroll
			for (int i = 0; i < WIDTH; i++)
				some.value[i] = row[c + i];
			*(decltype(some) *)(to + c) = some;
		}
	}
}

/* Columns 2 .. count-1 of what is right of a pivot minus their multiples of its row, each moved one
 * to the left; rows of a start at column 1. */
template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void update(
        real (&a)[ROWS][COLUMNS], const real (&l)[ROWS], const real *p, int count)
{
	const int WIDTH = 16 / (int)sizeof(real), CHUNK = 16;
#pragma unroll
	for (int chunk = 0; chunk < COLUMNS; chunk += CHUNK) {
		if (chunk >= count)
			break;
#pragma unroll
		for (int i = chunk; i < chunk + CHUNK; i += WIDTH) {
			struct alignas(16) {
				real value[WIDTH];
			} some = *(const decltype(some) *)(p + i);
#pragma unroll
			for (int k = i; k < i + WIDTH; k++)
#pragma unroll
				for (int r = 0; r < ROWS; r++)
					if (k > 1)
						a[r][k - 2] = minus_product(
						        a[r][k - 1], l[r], some.value[k - i]);
		}
	}
}

/* Where the candidate of this warp is stored for the warp that sends rows. */
template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void store_tail(struct shared<real, COLUMNS> &s, int warp, uint32_t turn,
        const real (&a)[ROWS][COLUMNS], const real (&multiplier)[ROWS], int row, int count)
{
	struct tail<real, COLUMNS> *own = &s.own[turn][warp];
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (ROWS == 1 || r == row) {
			own->multiplier = multiplier[r];
			store_row(own->row, a[r], count);
		}
	arrivals_arrive(shared_address(&s.own_full[turn]));
}

/* The rest of the panel once all columns are done: the multipliers of a row are in the columns left
 * of its diagonal. */
template <typename real, int ROWS>
__device__ __forceinline__ void store_multipliers(const struct panel<real> &g, const struct seat &t,
        const int (&position)[ROWS], const real *kept)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < min(position[r], g.n); c++)
			g.a[position[r] + c * g.lda] = kept[(c * ROWS + r) * t.threads + t.thread];
}

/* A warp that holds rows; kept: their multipliers. */
template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void hold_rows(const struct panel<real> &g,
        struct shared<real, COLUMNS> &s, const struct seat &t, real *kept)
{
	real a[ROWS][COLUMNS], value[ROWS], right[ROWS], l[ROWS];
	int position[ROWS], row;
	bool below[ROWS];

#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int from = (t.rank * ROWS + r) * t.threads + t.thread;
		below[r] = from < g.m;
		position[r] = below[r] ? from : ABSENT;
		value[r] = below[r] ? g.a[from] : real(0);
#pragma unroll
		for (int k = 0; k < COLUMNS; k++)
			a[r][k] = below[r] && k + 1 < COLUMNS && k + 1 < g.n
			                  ? g.a[from + (k + 1) * g.lda]
			                  : real(0);
		right[r] = a[r][0];
		l[r] = real(0);
	}
	/* nobody writes to the panel before all have read it, or sends before all can receive */
	cluster_barrier();
	int best = propose(t, 0, true, value, right, l, position, below, &row);
	if (t.lane == best)
		store_tail(s, t.warp, 0, a, l, row, g.n - 1);

	real *now = kept + t.thread;
	for (int j = 0, left = g.n; left > 0; j++, left--, now += ROWS * t.threads) {
		const uint32_t turn = (uint32_t)j % TURNS;
		const uint32_t next = (turn + 1) % TURNS;
		const real *p = s.pivot_row[(turn + TURNS - 1) % TURNS]; /* of the column before */
		wait_phase(&s.full[turn], (uint32_t)j / TURNS % 2, g.error);
		const real before = p[1], second = p[2];
		const struct winner<real> w = best_head(s.heads[turn], t, before);
		real l_now[ROWS];
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			l_now[r] = value[r] * w.divisor.reciprocal;
		if (__builtin_expect(w.divisor.reciprocal == real(0), 0))
#pragma unroll
			for (int r = 0; r < ROWS; r++)
				l_now[r] = pivot_divide(value[r], w.divisor);
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			below[r] = position[r] >= j && position[r] != w.position;
			l_now[r] = below[r] ? l_now[r] : real(0);
			value[r] = minus_product(
			        minus_product(a[r][0], l[r], before), l_now[r], w.right);
			right[r] = minus_product(a[r][1], l[r], second);
			if (position[r] == j)
				position[r] = w.position;
			else if (position[r] == w.position)
				position[r] = j;
		}
		best = propose(t, next, left > 1, value, right, l_now, position, below, &row);

		/* behind the exchange */
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			if (below[r])
				now[r * t.threads] = l_now[r];
		update<real, COLUMNS, ROWS>(a, l, p, left);
		if (t.lane == best)
			store_tail(s, t.warp, next, a, l_now, row, left - 2);
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			l[r] = l_now[r];
	}
	store_multipliers(g, t, position, kept);
}

/* Sends the row of pivot j, right of the pivot, to all blocks, and writes it to the panel. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void send_row(const struct panel<real> &g,
        struct shared<real, COLUMNS> &s, const struct seat &t, int j,
        const struct tail<real, COLUMNS> *own)
{
	const int WIDTH = 16 / (int)sizeof(real), PIECES = COLUMNS / WIDTH;
	const int piece = t.lane % PIECES, count = g.n - 1 - j;
	const real *before = s.pivot_row[(j + TURNS - 1) % TURNS] + piece * WIDTH + 1;
	const real *from = own->row + piece * WIDTH;
	const real multiplier = own->multiplier;
	struct alignas(16) {
		real value[WIDTH];
	} some;
	if (piece * WIDTH >= count)
		return;
#pragma unroll
	for (int i = 0; i < WIDTH; i++)
		some.value[i] = minus_product(from[i], multiplier, before[i]);
	const uint4 words = *(const uint4 *)&some;
	const uint32_t slot = shared_address(s.pivot_row[j % TURNS] + piece * WIDTH);
	const uint32_t full = shared_address(&s.full[(j + 1) % TURNS]);
#pragma unroll
	for (int i = 0; i < PANEL_CLUSTER; i += 32 / PIECES) {
		const int to = i + t.lane / PIECES;
		if (to < t.blocks)
			send_piece(words, cluster_address(slot, (uint32_t)to),
			        cluster_address(full, (uint32_t)to));
	}
	if (t.lane < PIECES)
#pragma unroll
		for (int i = 0; i < WIDTH; i++)
			if (piece * WIDTH + i < count)
				g.a[j + (j + 1 + piece * WIDTH + i) * g.lda] = some.value[i];
}

/* By one thread: the bytes that this block gets before column j, the pivot row before included. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void announce(struct shared<real, COLUMNS> &s, int j, int n, int heads)
{
	const int row = j > 0 ? ((n - j) * (int)sizeof(real) + 15) / 16 * 16 : 0;
	if (j < n)
		arrivals_expect(shared_address(&s.full[j % TURNS]),
		        (uint32_t)(heads * (int)sizeof s.heads[0][0] + row));
}

/* The warp that sends the pivot rows which its block holds. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void send_rows(
        const struct panel<real> &g, struct shared<real, COLUMNS> &s, const struct seat &t)
{
	int info = 0;

	cluster_barrier();
	if (t.lane == 0)
		announce(s, 0, g.n, t.heads);
	for (int j = 0; j < g.n; j++) {
		const uint32_t turn = (uint32_t)j % TURNS, parity = (uint32_t)j / TURNS % 2;
		wait_phase(&s.full[turn], parity, g.error);
		const struct favourite<real> f = favourite_head(s.heads[turn], t);
		const int best = best_lane(warp_largest(leading(f.weight)), f.weight, f.position);
		const int index = from_lane(f.index, best);
		if ((index & (t.blocks - 1)) == t.rank) { /* blocks are a power of two */
			wait_phase(&s.own_full[turn], parity, g.error);
			send_row(g, s, t, j, &s.own[turn][index >> __popc(t.blocks - 1)]);
			if (t.lane == best) {
				g.a[j + j * g.lda] = f.value;
				g.pivots[j] = (int)f.position + 1;
			}
		}
		__syncwarp(); /* all have read this column's before anything may overwrite it */
		if (t.lane == 0)
			announce(s, j + 1, g.n, t.heads);
		if (info == 0 && from_lane(f.value, best) == real(0))
			info = j + 1;
	}
	if (t.rank == 0 && t.lane == 0)
		g.pivots[g.n] = info;
}

template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void factorize(const struct panel<real> &g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	/* an address that the compiler keeps instead of working it out again and again */
	unsigned char *base = memory;
	asm volatile("" : "+l"(base));
	__builtin_assume(__isShared(base));
	struct shared<real, COLUMNS> &s = *(struct shared<real, COLUMNS> *)base;
	const struct seat t = take_seat(s);

	for (int k = (int)threadIdx.x; k < COLUMNS + 4; k += (int)blockDim.x)
		s.pivot_row[TURNS - 1][k] = real(0);
	for (int k = (int)threadIdx.x; k < TURNS * HEADS; k += (int)blockDim.x)
		s.heads[0][k] = {real(0), NO_INDEX, real(0), real(0)};
	if (threadIdx.x == 0) {
		arrivals_set(s.full, TURNS, 1);
		arrivals_set(s.own_full, TURNS, (uint32_t)t.threads / 32);
	}
	/* a vote, so that the compiler knows that no warp parts */
	if (__any_sync(0xffffffffu, (int)threadIdx.x < t.threads))
		/* [n][ROWS][threads] */
		hold_rows<real, COLUMNS, ROWS>(g, s, t, (real *)(base + sizeof s));
	else
		send_rows<real, COLUMNS>(g, s, t);
	/* no block may leave while others still write into its memory */
	cluster_barrier();
}

#endif

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(PANEL_CLUSTER_THREADS + 32, 1)
        cluster_kernel(const struct panel<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	factorize<real, COLUMNS, ROWS>(g);
#endif
}

/* ---- choice of a kernel ---- */

struct variant {
	enum precision precision;
	int columns, rows;                     /* rows: of a thread */
	int64_t fixed_bytes, multiplier_bytes; /* shared memory; of a thread and column */
	const void *kernel;
};

template <typename real, int COLUMNS, int ROWS> constexpr struct variant variant_of(void)
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, COLUMNS, ROWS,
	        (int64_t)sizeof(struct shared<real, COLUMNS>), (int64_t)sizeof(real) * ROWS,
	        (const void *)cluster_kernel<real, COLUMNS, ROWS>};
}

/* A row of more than 128 words does not fit in a thread's registers. */
const struct variant variants[] = {
        variant_of<float, 32, 1>(),
        variant_of<float, 32, 2>(),
        variant_of<float, 32, 4>(),
        variant_of<float, 64, 1>(),
        variant_of<float, 64, 2>(),
        variant_of<float, 128, 1>(),
        variant_of<double, 32, 1>(),
        variant_of<double, 32, 2>(),
        variant_of<double, 64, 1>(),
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* So many that a block has one warp with rows, if the cluster may be that large. */
int blocks_of(const struct variant *v, int64_t m)
{
	int blocks = 2; /* a cluster of one is none */
	while (blocks < PANEL_CLUSTER && (int64_t)32 * blocks * v->rows < m)
		blocks *= 2;
	return blocks;
}

/* Warps of a block that hold rows. */
int warps_of(const struct variant *v, int64_t m, int blocks)
{
	const int64_t rows = (int64_t)32 * blocks * v->rows;
	return (int)((m + rows - 1) / rows);
}

size_t bytes_of(const struct variant *v, int64_t n, int warps)
{
	return (size_t)(v->fixed_bytes + n * 32 * warps * v->multiplier_bytes);
}

/* Whether the current device takes the largest cluster of each kernel. */
const bool *launchable(void)
{
	static thread_local int known_device = -1;
	static thread_local bool known[VARIANTS];
	int device = 0;
	if (cudaGetDevice(&device) != cudaSuccess)
		return known;
	for (int i = 0; i < VARIANTS && device != known_device; i++) {
		const struct variant *v = &variants[i];
		const size_t most = bytes_of(v, v->columns, MOST_WARPS);
		known[i] =
		        cudaFuncSetAttribute(v->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
		                (int)most) == cudaSuccess &&
		        cluster_resident(
		                v->kernel, PANEL_CLUSTER, PANEL_CLUSTER_THREADS + 32, most) > 0;
	}
	cudaGetLastError(); /* a size that the device refuses is an answer here */
	known_device = device;
	return known;
}

/* The first kernel that takes the panel with that many warps a block at most. */
const struct variant *find(enum precision precision, int64_t m, int64_t n, int warps)
{
	const bool *known = launchable();
	for (int i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		if (known[i] && v->precision == precision && n <= v->columns && n <= m &&
		        m <= (int64_t)PANEL_CLUSTER * v->rows * 32 * warps)
			return v;
	}
	return NULL;
}

/* NULL when no kernel takes the panel. More than one warp on a scheduler takes more time than more
 * rows of a thread. */
const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	const struct variant *v = find(precision, m, n, MOST_WARPS / 2);
	return v ? v : find(precision, m, n, MOST_WARPS);
}

template <typename real>
int run(const struct variant *v, void *a, int64_t lda, int64_t m, int64_t n, int *pivots,
        int *error, void *stream)
{
	struct panel<real> g = {
		(real *)a, lda, (int)m, (int)n, pivots, (uint32_t *)error
	};
	const int blocks = blocks_of(v, m), warps = warps_of(v, m, blocks);
	return resident_launch(
	        v->kernel, blocks, blocks, 32 * (warps + 1), bytes_of(v, n, warps), &g, stream);
}

} // namespace

extern "C" bool panel_cluster_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int panel_cluster(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        int *pivots, int *error, void *stream)
{
	const struct variant *v = choose(precision, m, n);
	if (!v)
		return (int)cudaErrorInvalidValue;
	return precision == SINGLE ? run<float>(v, a, lda, m, n, pivots, error, stream)
	                           : run<double>(v, a, lda, m, n, pivots, error, stream);
}
