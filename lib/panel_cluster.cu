/* SPDX-License-Identifier: MIT */
/* The LU panel of one cluster: every thread holds ROWS rows of the panel in registers, candidates
 * travel through distributed shared memory, one exchange a column.
 *
 * Rows stay where they are: a thread knows the position (row of the permuted panel) of each of its
 * rows, and a swap changes two positions. Column j always stands in register 0, since the update of
 * column j writes its result one register to the left; multipliers go to shared memory, and rows of
 * U to the panel at once. At the end the multipliers go where their rows came to stand.
 *
 * A block's candidate for column j + 1 leaves before the update by column j, which runs behind the
 * exchange: it carries its row as it was before that update and its multiplier, so that whoever
 * receives it does the update of that row himself, with the same operations on the same numbers.
 *
 * Cost: load and store of m*n words, and per column the update of one column, three warp reductions
 * (over a warp's rows, a block's warps, the cluster's blocks), a block barrier, the rank-1 update
 * and what it does not hide of the exchange. */
#include "base.h"
#include "cluster.cuh"
#include "panel_kernels.h"
#include "pivot_divide.cuh"
#include "reduce.cuh"
#include "resident.h"
#include "shared_update.cuh"

namespace
{

enum { THREADS = PANEL_CLUSTER_THREADS, WARPS = THREADS / 32, TURNS = 2 };
enum { ABSENT = -2 }; /* position of a row that does not exist; NO_INDEX is -1 */

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	int *pivots;
	uint32_t *error;
};

/* What a block (in shared memory a warp, too) proposes as pivot of the next column. */
template <typename real, int COLUMNS> struct alignas(16) candidate {
	decltype(magnitude_key(real())) key;
	uint32_t position;
	real multiplier;               /* by the column before */
	alignas(16) real row[COLUMNS]; /* from the next column on, before the update by the last */
};

/* All in two turns, with one block barrier a column, between own and its readers: a warp fills a
 * turn again only behind the next column's barrier, which all readers of this one have reached. So
 * have they before a block sends, and other blocks send theirs after that only when all of its has
 * arrived. */
template <typename real, int COLUMNS> struct shared {
	struct candidate<real, COLUMNS> received[TURNS][PANEL_CLUSTER], own[TURNS][WARPS];
	alignas(16) real pivot_row[TURNS][COLUMNS + 4]; /* from the pivot on */
	uint64_t full[TURNS]; /* mbarriers: completed when all bytes of the turn arrived */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* The lane with the largest key, of several the one with the lowest position. */
template <typename key_type>
__device__ __forceinline__ int best_lane(key_type key, uint32_t position)
{
	unsigned best = __ballot_sync(0xffffffffu, key == warp_largest(key));
	if (best & (best - 1)) {
		const uint32_t lowest = ~warp_largest(best >> threadIdx.x % 32 & 1 ? ~position : 0);
		best = __ballot_sync(
		        0xffffffffu, best >> threadIdx.x % 32 & 1 && position == lowest);
	}
	return __ffs((int)best) - 1;
}

/* The first `count` of a row that starts SHIFT registers further on. */
template <int SHIFT, typename real, int COLUMNS>
__device__ __forceinline__ void store_row(real *to, const real (&row)[COLUMNS], int count)
{
	const int WIDTH = 16 / (int)sizeof(real), CHUNK = 16;
#pragma unroll
	for (int chunk = 0; chunk < COLUMNS; chunk += CHUNK) {
		if (chunk >= count)
			break;
#pragma unroll
		for (int c = chunk; c < chunk + CHUNK; c += WIDTH) {
			struct alignas(16) {
				real value[WIDTH];
			} some;
#pragma unroll
			for (int i = 0; i < WIDTH; i++)
				some.value[i] = row[min(c + i + SHIFT, COLUMNS - 1)];
			*(decltype(some) *)(to + c) = some;
		}
	}
}

/* Every warp's best row for the column whose values are `first` and whose row starts SHIFT
 * registers further on; rows at positions below `done` are out. Behind the block barrier all
 * threads get the number of the warp with the block's best. */
template <int SHIFT, typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ int propose(struct shared<real, COLUMNS> &s, int turn,
        const real (&first)[ROWS], const real (&a)[ROWS][COLUMNS], const real (&multiplier)[ROWS],
        const int (&position)[ROWS], int done, int count)
{
	typedef decltype(magnitude_key(real())) key_type;
	const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	struct extreme<key_type> mine = {
		0, NO_INDEX
	};
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (position[r] >= done)
			mine = extreme_of(mine, {magnitude_key(first[r]), (uint32_t)position[r]});
	if (lane == best_lane(mine.key, mine.index)) {
		struct candidate<real, COLUMNS> *own = &s.own[turn][warp];
		own->key = mine.key;
		own->position = mine.index;
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			if (ROWS == 1 || mine.index == (uint32_t)position[r]) {
				own->multiplier = multiplier[r];
				store_row<SHIFT>(own->row, a[r], count);
			}
	}
	__syncthreads();
	const struct candidate<real, COLUMNS> *other = &s.own[turn][lane % WARPS];
	return best_lane(lane < WARPS ? other->key : 0, other->position);
}

/* The best warp's candidate, with `count` columns of its row, to all blocks of the cluster. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void send(struct shared<real, COLUMNS> &s, int turn, int warp, int count)
{
	const int head = (int)((char *)s.own[0][0].row - (char *)&s.own[0][0]);
	const int pieces = (head + count * (int)sizeof(real) + 15) / 16;
	const int log_blocks = __popc(cluster_blocks() - 1);
	const uint32_t full = shared_address(&s.full[turn]);
	const uint4 *piece = (const uint4 *)&s.own[turn][warp];
	const uint32_t slot = shared_address(&s.received[turn][cluster_rank()]);
	if (threadIdx.x == 0)
		arrivals_expect(full, (uint32_t)(16 * pieces << log_blocks));
#pragma unroll 1
	for (int i = (int)threadIdx.x; i < pieces << log_blocks; i += THREADS) {
		const uint32_t to = (uint32_t)i & (cluster_blocks() - 1);
		const int which = i >> log_blocks;
		send_piece(piece[which], cluster_address(slot + 16 * which, to),
		        cluster_address(full, to));
	}
}

/* Waits for the candidates of a turn, unless a wait has failed before; the number of the best. */
template <typename real, int COLUMNS>
__device__ __forceinline__ int receive(
        struct shared<real, COLUMNS> &s, int turn, uint32_t parity, uint32_t *error, bool *good)
{
	const uint32_t full = shared_address(&s.full[turn]), lane = threadIdx.x % 32;
	struct spin spin = {0, 0};
	while (*good && !mailbox_is_full(full, parity))
		*good = spin_again(&spin, error);
	__syncwarp();
	const struct candidate<real, COLUMNS> *other = &s.received[turn][lane % PANEL_CLUSTER];
	const bool exists = lane < cluster_blocks();
	return best_lane(exists ? other->key : 0, exists ? other->position : NO_INDEX);
}

/* Columns 2 .. count-1 minus their multiples of the pivot row, each moved one to the left. */
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
						a[r][k - 1] = minus_product(
						        a[r][k], l[r], some.value[k - i]);
		}
	}
}

/* The rest of the panel once all columns are done: the multipliers of a row are in the columns left
 * of its diagonal. */
template <typename real, int ROWS>
__device__ __forceinline__ void store_multipliers(
        const struct panel<real> &g, const int (&position)[ROWS], const real *multipliers)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < min(position[r], g.n); c++)
			g.a[position[r] + c * g.lda] =
			        multipliers[(c * ROWS + r) * THREADS + (int)threadIdx.x];
}

template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void factorize(const struct panel<real> &g)
{
	typedef struct candidate<real, COLUMNS> candidate_type;
	extern __shared__ __align__(16) unsigned char memory[];
	struct shared<real, COLUMNS> &s = *(struct shared<real, COLUMNS> *)memory;
	real *multipliers = (real *)(memory + sizeof s); /* [n][ROWS][THREADS] */
	const int thread = (int)threadIdx.x, rank = (int)cluster_rank();
	real a[ROWS][COLUMNS], l[ROWS], next[ROWS];
	int position[ROWS], info = 0;
	bool good = true;

#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int row = (rank * ROWS + r) * THREADS + thread;
		position[r] = row < g.m ? row : ABSENT;
#pragma unroll
		for (int k = 0; k < COLUMNS; k++)
			a[r][k] = row < g.m && k < g.n ? g.a[row + k * g.lda] : real(0);
		l[r] = real(0);
		next[r] = a[r][0];
	}
	for (int k = thread; k < TURNS * (COLUMNS + 4); k += THREADS)
		s.pivot_row[0][k] = real(0);
	arrivals_start(s.full, TURNS);

	send(s, 0, propose<0>(s, 0, next, a, l, position, 0, g.n), g.n);
	for (int j = 0; j < g.n; j++) {
		const int count = g.n - j, turn = j % TURNS, other = (j + 1) % TURNS;
		const real *before = s.pivot_row[other];
		real *p = s.pivot_row[turn];
		const candidate_type *best = &s.received[turn][receive(
		        s, turn, (uint32_t)(j / TURNS % 2), g.error, &good)];
		const real multiplier = best->multiplier;
		const int pivot = (int)best->position;
		const struct pivot_divisor<real> d =
		        pivot_divide_by(minus_product(best->row[0], multiplier, before[1]));
		const real p1 = minus_product(best->row[1], multiplier, before[2]);
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			if (position[r] == pivot)
				position[r] = j;
			else if (position[r] == j)
				position[r] = pivot;
			l[r] = position[r] > j ? pivot_divide(a[r][0], d) : real(0);
			next[r] = minus_product(a[r][1], l[r], p1);
		}
		real value = real(0);
		if (thread < count) {
			value = minus_product(best->row[thread], multiplier, before[thread + 1]);
			p[thread] = value;
		}
		if (count > 1)
			send(s, other, propose<1>(s, other, next, a, l, position, j + 1, count - 1),
			        count - 1);

		/* behind the exchange */
		if (rank == 0 && thread < count)
			g.a[j + (j + thread) * g.lda] = value;
		if (rank == 0 && thread == 0)
			g.pivots[j] = pivot + 1;
		if (d.pivot == real(0) && info == 0)
			info = j + 1;
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			if (position[r] > j)
				multipliers[(j * ROWS + r) * THREADS + thread] = l[r];
		update<real, COLUMNS, ROWS>(a, l, p, count);
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			a[r][0] = next[r];
	}
	/* no block may leave while others still write into its memory */
	cluster_barrier();
	store_multipliers(g, position, multipliers);
	if (rank == 0 && thread == 0)
		g.pivots[g.n] = info;
}

#endif

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(THREADS) cluster_kernel(const struct panel<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	factorize<real, COLUMNS, ROWS>(g);
#endif
}

/* ---- choice of a kernel ---- */

struct variant {
	enum precision precision;
	int columns, rows;                 /* rows: of a thread */
	int64_t fixed_bytes, column_bytes; /* shared memory */
	const void *kernel;
};

template <typename real, int COLUMNS, int ROWS> constexpr struct variant variant_of(void)
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, COLUMNS, ROWS,
	        (int64_t)sizeof(struct shared<real, COLUMNS>),
	        (int64_t)sizeof(real) * ROWS * THREADS,
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

int blocks_of(const struct variant *v, int64_t m)
{
	int blocks = 2; /* a cluster of one is none */
	while (blocks < PANEL_CLUSTER && (int64_t)blocks * v->rows * THREADS < m)
		blocks *= 2;
	return blocks;
}

size_t bytes_of(const struct variant *v, int64_t n)
{
	return (size_t)(v->fixed_bytes + n * v->column_bytes);
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
		const size_t most = bytes_of(v, v->columns);
		known[i] =
		        cudaFuncSetAttribute(v->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
		                (int)most) == cudaSuccess &&
		        cluster_resident(v->kernel, PANEL_CLUSTER, THREADS, most) > 0;
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
		        m <= (int64_t)PANEL_CLUSTER * v->rows * THREADS)
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
	const int blocks = blocks_of(v, m);
	return resident_launch(v->kernel, blocks, blocks, THREADS, bytes_of(v, n), &g, stream);
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
