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
 * the cluster's warps), a division, the flight of a head and what neither hides of the update. */
#include "base.h"
#include "cluster.cuh"
#include "panel_kernels.h"
#include "pivot_divide.cuh"
#include "reduce.cuh"
#include "resident.h"
#include "shared_update.cuh"

namespace
{

/* Four turns: whatever is overwritten was read by all before they let the turn before come. The
 * warp that sends rows lags behind the others by less than two columns, because it announces the
 * heads of the next column only when it has read those of this one. */
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
	/* mbarriers: all heads of a turn have arrived, the pivot row has, own tails are written */
	uint64_t heads_full[TURNS], row_full[TURNS], own_full[TURNS];
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
	if (best & (best - 1)) {
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
	int lane, warp, rank, blocks;
	int threads, heads; /* of a block that hold rows, of the cluster */
	bool sends;
	uint32_t head, full; /* addresses in that block, of the first turn */
};

template <typename real, int COLUMNS>
__device__ __forceinline__ struct seat take_seat(const struct shared<real, COLUMNS> &s)
{
	struct seat t;
	t.lane = (int)threadIdx.x % 32;
	t.warp = (int)threadIdx.x / 32;
	t.rank = (int)cluster_rank();
	t.blocks = (int)cluster_blocks();
	t.threads = (int)blockDim.x - 32;
	t.heads = t.threads / 32 * t.blocks;
	const int to = t.lane % PANEL_CLUSTER, piece = t.lane / PANEL_CLUSTER;
	t.sends = to < t.blocks && piece < (int)sizeof s.heads[0][0] / 16;
	const struct head<real> *head = &s.heads[0][t.warp * t.blocks + t.rank];
	t.head = cluster_address(shared_address(head) + 16 * (uint32_t)piece, (uint32_t)to);
	t.full = cluster_address(shared_address(s.heads_full), (uint32_t)to);
	return t;
}

/* Waits for phase number `round` of an mbarrier, unless a wait has failed before. */
__device__ __forceinline__ void wait_phase(
        const uint64_t *full, uint32_t round, uint32_t *error, bool *good)
{
	const uint32_t address = shared_address(&full[round % TURNS]), parity = round / TURNS % 2;
	struct spin spin = {0, 0};
	while (*good && !mailbox_is_full(address, parity))
		*good = spin_again(&spin, error);
	__syncwarp();
}

/* ---- heads ---- */

template <typename real> struct winner {
	struct pivot_divisor<real> divisor;
	real right;
	int position, index;
};

/* The best of `count` heads, known to all lanes; before: column j + 1 of the pivot row j - 1. */
template <typename real>
__device__ __forceinline__ struct winner<real> best_head(
        const struct head<real> *heads, const struct seat &t, real before) {
	real value = heads[t.lane].value;
	uint32_t position = heads[t.lane].position;
	int index = t.lane;
	auto weight = weight_of(value);
#pragma unroll
	for (int i = 32; i < HEADS; i += 32) {
		if (i >= t.heads)
			break;
		const real another = heads[i + t.lane].value;
		const uint32_t other = heads[i + t.lane].position;
		const auto more = weight_of(another);
		const bool better = (more > weight) | ((more == weight) & (other < position));
		weight = better ? more : weight;
		value = better ? another : value;
		position = better ? other : position;
		index = better ? i + t.lane : index;
	}
	const uint32_t largest = warp_largest(leading(weight));
	const real right = minus_product(heads[index].right, heads[index].multiplier, before);
	const struct pivot_divisor<real> d = pivot_divide_by(value);
	const int best = best_lane(largest, weight, position);
	return {{from_lane(d.reciprocal, best), from_lane(value, best)}, from_lane(right, best),
	        (int)from_lane(position, best), from_lane(index, best)};
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

/* A warp's candidate for column j: the best of its rows at positions from j on goes to all blocks.
 * True in the lane that holds it, with the number of its row. */
template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ bool propose(const struct seat &t, uint32_t j, const real (&value)[ROWS],
        const real (&right)[ROWS], const real (&multiplier)[ROWS], const int (&position)[ROWS],
        int *row)
{
	typedef struct head<real> heads[HEADS];
	struct head<real> mine = {
		real(0), NO_INDEX, right[0], multiplier[0]
	};
	auto weight = weight_of(mine.value);
	*row = 0;
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const auto more = weight_of(value[r]);
		const bool better =
		        more > weight || (more == weight && (uint32_t)position[r] < mine.position);
		if (position[r] >= (int)j && better) {
			weight = more;
			mine = {value[r], (uint32_t)position[r], right[r], multiplier[r]};
			*row = r;
		}
	}
	const int best = best_lane(warp_largest(leading(weight)), weight, mine.position);
	const struct head<real> h = {
		from_lane(mine.value, best), from_lane(mine.position, best),
		        from_lane(mine.right, best), from_lane(mine.multiplier, best)
	};
	if (t.sends)
		send_piece(head_piece(h, t.lane / PANEL_CLUSTER),
		        t.head + j % TURNS * (uint32_t)sizeof(heads), t.full + j % TURNS * 8);
	return t.lane == best;
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
__device__ __forceinline__ void store_tail(struct shared<real, COLUMNS> &s, int warp, uint32_t j,
        const real (&a)[ROWS][COLUMNS], const real (&multiplier)[ROWS], int row, int count)
{
	struct tail<real, COLUMNS> *own = &s.own[j % TURNS][warp];
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (ROWS == 1 || r == row) {
			own->multiplier = multiplier[r];
			store_row(own->row, a[r], count);
		}
	arrivals_arrive(shared_address(&s.own_full[j % TURNS]));
}

/* The rest of the panel once all columns are done: the multipliers of a row are in the columns left
 * of its diagonal. */
template <typename real, int ROWS>
__device__ __forceinline__ void store_multipliers(const struct panel<real> &g, int threads,
        const int (&position)[ROWS], const real *multipliers)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < min(position[r], g.n); c++)
			g.a[position[r] + c * g.lda] =
			        multipliers[(c * ROWS + r) * threads + (int)threadIdx.x];
}

/* A warp that holds rows. */
template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void hold_rows(const struct panel<real> &g,
        struct shared<real, COLUMNS> &s, const struct seat &t, real *multipliers)
{
	real a[ROWS][COLUMNS], value[ROWS], right[ROWS], l[ROWS];
	int position[ROWS], row;
	bool good = true;

#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int from = (t.rank * ROWS + r) * t.threads + (int)threadIdx.x;
		const bool exists = from < g.m;
		position[r] = exists ? from : ABSENT;
		value[r] = exists ? g.a[from] : real(0);
#pragma unroll
		for (int k = 0; k < COLUMNS; k++)
			a[r][k] = exists && k + 1 < COLUMNS && k + 1 < g.n
			                  ? g.a[from + (k + 1) * g.lda]
			                  : real(0);
		right[r] = a[r][0];
		l[r] = real(0);
	}
	/* nobody writes to the panel before all have read it, or sends before all can receive */
	cluster_barrier();
	if (propose<real, COLUMNS, ROWS>(t, 0, value, right, l, position, &row))
		store_tail(s, t.warp, 0, a, l, row, g.n - 1);

	for (int j = 0; j < g.n; j++) {
		const uint32_t turn = (uint32_t)j % TURNS;
		const real *p = s.pivot_row[(turn + TURNS - 1) % TURNS]; /* of the column before */
		real l_now[ROWS], first[ROWS];
		if (j > 0)
			wait_phase(s.row_full, (uint32_t)j - 1, g.error, &good);
		const real before = p[1], second = p[2];
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			first[r] = minus_product(a[r][0], l[r], before);
			right[r] = minus_product(a[r][1], l[r], second);
		}
		wait_phase(s.heads_full, (uint32_t)j, g.error, &good);
		const struct winner<real> w = best_head(s.heads[turn], t, before);
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const bool below = position[r] >= j && position[r] != w.position;
			if (position[r] == j)
				position[r] = w.position;
			else if (position[r] == w.position)
				position[r] = j;
			const real quotient = pivot_divide(value[r], w.divisor);
			l_now[r] = below ? quotient : real(0);
			value[r] = minus_product(first[r], l_now[r], w.right);
		}
		bool best = false;
		if (j + 1 < g.n)
			best = propose<real, COLUMNS, ROWS>(
			        t, (uint32_t)j + 1, value, right, l_now, position, &row);

			/* behind the exchange */
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			if (position[r] > j)
				multipliers[(j * ROWS + r) * t.threads + (int)threadIdx.x] =
				        l_now[r];
		update<real, COLUMNS, ROWS>(a, l, p, g.n - j);
		if (best)
			store_tail(s, t.warp, (uint32_t)j + 1, a, l_now, row, g.n - j - 2);
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			l[r] = l_now[r];
	}
	store_multipliers(g, t.threads, position, multipliers);
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
	const uint32_t full = shared_address(&s.row_full[j % TURNS]);
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

/* By one thread: the bytes that column j brings to this block. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void announce(struct shared<real, COLUMNS> &s, int j, int n, int heads)
{
	const int bytes = (n - 1 - j) * (int)sizeof(real);
	if (j >= n)
		return;
	arrivals_expect(shared_address(&s.heads_full[j % TURNS]),
	        (uint32_t)(heads * (int)sizeof s.heads[0][0]));
	if (bytes > 0)
		arrivals_expect(
		        shared_address(&s.row_full[j % TURNS]), (uint32_t)((bytes + 15) / 16 * 16));
}

/* The warp that sends the pivot rows which its block holds. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void send_rows(
        const struct panel<real> &g, struct shared<real, COLUMNS> &s, const struct seat &t)
{
	bool good = true;
	int info = 0;

	cluster_barrier();
	if (t.lane == 0)
		announce(s, 0, g.n, t.heads);
	for (int j = 0; j < g.n; j++) {
		wait_phase(s.heads_full, (uint32_t)j, g.error, &good);
		const struct winner<real> w = best_head(s.heads[(uint32_t)j % TURNS], t, real(0));
		if (t.lane == 0)
			announce(s, j + 1, g.n, t.heads);
		if (w.divisor.pivot == real(0) && info == 0)
			info = j + 1;
		if ((w.index & (t.blocks - 1)) != t.rank) /* a power of two */
			continue;
		wait_phase(s.own_full, (uint32_t)j, g.error, &good);
		if (j > 0)
			wait_phase(s.row_full, (uint32_t)j - 1, g.error, &good);
		send_row(g, s, t, j, &s.own[j % TURNS][w.index >> __popc(t.blocks - 1)]);
		if (t.lane == 0) {
			g.a[j + j * g.lda] = w.divisor.pivot;
			g.pivots[j] = w.position + 1;
		}
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
		arrivals_set(s.heads_full, TURNS, 1);
		arrivals_set(s.row_full, TURNS, 1);
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

/* Warps of a block that hold rows. */
int warps_of(const struct variant *v, int64_t m, int blocks)
{
	const int64_t rows = (int64_t)32 * v->rows * blocks;
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

/* The first kernel that takes the panel, NULL when none does. */
const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	const bool *known = launchable();
	for (int i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		if (known[i] && v->precision == precision && n <= v->columns && n <= m &&
		        m <= (int64_t)PANEL_CLUSTER * v->rows * PANEL_CLUSTER_THREADS)
			return v;
	}
	return NULL;
}

template <typename real>
int run(const struct variant *v, void *a, int64_t lda, int64_t m, int64_t n, int *pivots,
        int *error, void *stream)
{
	struct panel<real> g = {
		(real *)a, lda, (int)m, (int)n, pivots, (uint32_t *)error
	};
	const int blocks = PANEL_CLUSTER, warps = warps_of(v, m, blocks);
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
