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
 * thread are faster than fewer rows and more warps: 4096 rows 0.83 against 0.88. Of a column's 1160
 * cycles, with clock reads between, 210 are waiting, 280 from the heads to the multiplier, 210 to
 * the next head, 210 the update, 250 the candidate's row (100 and 160 in the last half). Longer
 * chunks of these change 1 %, ties left unresolved 2 %, one block of all warps is 14 % slower. Rows
 * stored only by the warp that has won, which then come later: 1024 rows of 64 columns 41.5 us,
 * 45.0 when it stores before its next head, 48.8 behind it; in fp64 55.0, 54.5, 64.9.
 *
 * Wider panels in passes of 32 columns, whose pivot rows and multipliers all blocks get at the end
 * of a pass, solve for U and take off, with the 4 us of a call between events: 39 predicted for 64
 * columns of 1024 rows, 42.8 measured (42.4 by one pass), 4096 rows 56 (55), in fp64 69 (88), 128
 * columns of 1024 rows 102 (94), of 4096 134 (147). Between two passes go by 10000 cycles instead
 * of 4000: 1100 of loads, 3600 until all rows are there, 2300 of solving, 2400 of taking off, 1000
 * until a pivot is known. With a warp that solves for a row of U and sends it as soon as its pivot
 * is known, while the pass goes on: 46.7 (44.8), 59 (58), 71 (90), 140 (98), 174 (150), since each
 * row waits for the one before. Not kept: what is ahead is 128 columns of many rows and fp64 of
 * 4096.
 *
 * A block has a multiprocessor to itself. Where blocks of a product came to the same ones panels of
 * 64 columns and 3072 to 2112 rows took 75 us beside them, now 58, and the LU of 4096 4.55 ms, now
 * 4.31, in fp64 6.57, now 6.20, of 8192 15.8 and 15.3; with as many registers as so few warps may
 * have 64 columns of 1024 rows in fp64 take 52.5 us instead of 56.5, and the LU of 4096 6.08 ms; so
 * do 32 of 8192, by more warps, 44.5 instead of 48.6.
 *
 * The next kernel's blocks came as soon as the panel had begun, and kept places that products
 * beside it could have had. Predicted from the simulation, which knows nothing of that, for the LU
 * of 5555 by blocks of 128 and 64 columns 7.5 ms, measured 8.43; when they may come at the panel's
 * end 7.73, with four columns left 7.70, with eight 7.63, with sixteen 7.64; in fp64 10.47,
 * and 10.27, 10.27, 10.38, 10.43; 4096 by blocks of 128 4.92, and 4.80, -, 4.78, 4.80 (H100).
 *
 * Warps that leave their columns behind a wait given up: 64 columns of 1024 and 4096 rows as before
 * (48, 60 us); the LU of 1024 in fp64 2 % longer.
 *
 * The update by the row before in four parts among what a warp waits for (factor/kernels/lu/panel_hold.cuh), its
 * words read ahead, instead of behind the exchange. Predicted from the 210 of 1160 cycles that it
 * took 13 % less; measured (H100, us, 64 columns of 512, 1024, 2048, 3000, 4096 rows) 40.7, 43.2,
 * 49.6, 53.8, 57.5 before, 39.3, 42.3, 49.5, 51.4, 57.3; in fp64 of 1024 53.7 and 49.9. Where two
 * warps share a scheduler 2 to 8 % longer, and not done. Two rows of a thread and two warps, not
 * one row and four, of 2048 rows: 47.2; the sender, which then has a scheduler to itself, counts.
 * Asking whether several lanes are as good when the offer of the first is under way, and looking
 * through no more heads than there can be: 1024 rows 41 instead of 42. The multipliers of a
 * thread's rows read from shared memory at once, for which registers side by side are
 * taken: 46.5, 48.9, 55.0 of 2048, 3000, 4096 rows, 32 columns of 6144 26.9 (29.2); before, an
 * update by two rows read both multipliers anew for every column, as they were in registers of one
 * bank, or did not, as the compiler happened to have it (kernels of the grid were 3 % slower or
 * faster for that).
 *
 * Where a column's time goes now (H100, 1024 rows, cycles, clock reads included): 204 from heads to
 * the pivot, 72 to the next value, 189 until the next head is sent, 440 until all are there, behind
 * which 233 of the update's last part and the candidate's row are hidden: 940. A bare exchange of
 * 16 bytes between all of 16 blocks takes 536, 595, 679 for 1, 2, 4 warps of each (2 blocks 445, 8
 * blocks 486), by stores that receivers look for in their memory 560, 540, 652. Rows sent by the
 * copy engine instead of stores: a panel 20 % longer.
 *
 * A warp without rows had 32 lanes alike and went the way of ties, 150 cycles behind the others:
 * the LU of 1000 in fp64 waited for it in every column of panels of 1000 rows (56 us; where all
 * warps are full 48). Predicted without 7 % less; measured (H200, us, LU of 500, 1000, 2048, 3000
 * by 64 columns) in fp64 424, 886, 2073, 3543 before, 405, 834, 1970, 3420 when such a warp
 * asks nothing, 392, 817, 1938, 3359 when warps and blocks without rows take no part at all. These
 * blocks must say at once that the next kernel may come, or it comes at the panel's end: the LU of
 * 8192 by 3xFP16 11.13 ms instead of 10.98; since they do, both ways 11.06 (another H200). */
#include "lib/base/base.h"
#include "lib/device/early_launch.cuh"
#include "panel_cluster_heads.cuh"
#include "panel_hold.cuh"
#include "panel_kernels.h"
#include "lib/device/resident.h"
#include "lib/device/warpgroup.cuh"

namespace
{

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* Sends the row of pivot j, right of the pivot, to all blocks, and writes it to the panel. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void send_row(const struct panel<real> &g,
        struct row_memory<real, COLUMNS> &s, const struct seat &t, int blocks, int j,
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
		if (to < blocks)
			send_piece(words, cluster_address(slot, (uint32_t)to),
			        cluster_address(full, (uint32_t)to));
	}
	if (t.lane < PIECES)
#pragma unroll
		for (int i = 0; i < WIDTH; i++)
			if (piece * WIDTH + i < count)
				g.a[j + (j + 1 + piece * WIDTH + i) * g.lda] = some.value[i];
}

/* By the warp that sends rows: the bytes that this block gets before column j, the pivot row before
 * included. What its lanes have read of the columns before may then be overwritten by those who
 * wait for this one, so that each lane arrives for itself (H100: one for all is no faster). */
template <typename real, int COLUMNS>
__device__ __forceinline__ void announce(
        struct shared<real, COLUMNS> &s, const struct seat &t, int j, int n, int heads)
{
	const uint32_t full = shared_address(&s.rows.full[j % TURNS]);
	const int row = j > 0 ? ((n - j) * (int)sizeof(real) + 15) / 16 * 16 : 0;
	if (j >= n)
		return;
	__syncwarp();
	if (t.lane > 0)
		arrivals_arrive(full);
	else
		arrivals_expect(full, (uint32_t)(heads * (int)sizeof s.heads[0][0] + row));
}

/* The warp that sends the pivot rows which its block holds. Nobody goes on behind a wait that was
 * given up: those who sent and arrived further ended the kernel by a fault. */
template <int MOST, typename real, int COLUMNS>
__device__ __forceinline__ void send_rows(const struct panel<real> &g,
        struct shared<real, COLUMNS> &s, const struct seat &t, const struct route &w)
{
	int info = 0;

	cluster_barrier();
	announce(s, t, 0, g.n, w.part.heads);
	for (int j = 0; j < g.n; j++) {
		const uint32_t turn = (uint32_t)j % TURNS, parity = (uint32_t)j / TURNS % 2;
		if (j == g.n - RELEASE)
			early_release();
		if (!warp_waits(&s.rows.full[turn], parity, g.error))
			break;
		const struct favourite<real> f =
		        favourite_head<MOST>(s.heads[turn], w.heads, t.lane);
		const int best = best_lane(f.weight, f.position);
		const int index = from_lane(f.index, best);
		if ((index & (w.blocks - 1)) == t.rank) { /* blocks are a power of two */
			if (!warp_waits(&s.rows.own_full[turn], parity, g.error))
				break;
			send_row(g, s.rows, t, w.part.blocks, j,
			        &s.rows.own[turn][index >> __popc(w.blocks - 1)]);
			if (t.lane == best) {
				g.a[j + j * g.lda] = f.value;
				g.pivots[j] = (int)f.position + 1;
			}
		}
		announce(s, t, j + 1, g.n, w.part.heads);
		if (info == 0 && from_lane(f.value, best) == real(0))
			info = j + 1;
	}
	if (t.rank == 0 && t.lane == 0)
		g.pivots[g.n] = info;
}

#endif

/* So many that a block has one warp with rows, if the cluster may be that large. */
__host__ __device__ __forceinline__ int blocks_of(int rows, int64_t m)
{
	int blocks = 2; /* a cluster of one is none */
	while (blocks < PANEL_CLUSTER && (int64_t)32 * blocks * rows < m)
		blocks *= 2;
	return blocks;
}

/* Warps of a block that hold rows. */
__host__ __device__ __forceinline__ int warps_of(int rows, int64_t m, int blocks)
{
	const int64_t all = (int64_t)32 * blocks * rows;
	return (int)((m + all - 1) / all);
}

/* Of a kernel with up to so many warps that hold rows: of a block, with the one that sends rows.
 * More than one warp on a scheduler are made up to warpgroups, so that those that hold rows may
 * have the registers that the others need not. */
const int GROUPED = 12;

__host__ __device__ __forceinline__ constexpr bool grouped(int most)
{
	return most > MOST_WARPS / 2;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

const int SHARED_OUT = 168, HOLDING = 224, SENDING = 56; /* of a thread */
static_assert(MOST_WARPS * HOLDING + (GROUPED - MOST_WARPS) * SENDING == GROUPED * SHARED_OUT,
        "none is left over or missing");

template <typename real, int COLUMNS, int ROWS, int MOST>
__device__ __forceinline__ void factorize(const struct panel<real> &g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	/* an address that the compiler keeps instead of working it out again and again */
	unsigned char *base = memory;
	asm volatile("" : "+l"(base));
	__builtin_assume(__isShared(base));
	struct shared<real, COLUMNS> &s = *(struct shared<real, COLUMNS> *)base;
	const int warps = warps_of(ROWS, g.m, (int)cluster_blocks());
	const struct seat t = take_seat((int)cluster_rank(), 32 * warps);
	const struct route w = route_of(s, t, part_of(ROWS, g.m, t));

	for (int k = (int)threadIdx.x; k < COLUMNS + 4; k += (int)blockDim.x)
		s.rows.pivot_row[TURNS - 1][k] = real(0);
	for (int k = (int)threadIdx.x; k < TURNS * HEADS; k += (int)blockDim.x)
		s.heads[0][k] = {real(0), NO_INDEX, real(0), real(0)};
	if (threadIdx.x == 0) {
		arrivals_set(s.rows.full, TURNS, 32);
		arrivals_set(s.rows.own_full, TURNS, (uint32_t)max(1, w.part.warps));
	}
	early_wait();
	/* votes, so that the compiler knows that no warp parts; all take part in the barriers
	 * before heads are sent and at the end: no block may leave while others still write into
	 * its memory */
	const int first = grouped(MOST) ? 32 * MOST : t.threads; /* of the one that sends */
	if (__any_sync(0xffffffffu, (int)threadIdx.x < first)) {
		if (grouped(MOST))
			take_registers<HOLDING>();
		if (__any_sync(0xffffffffu, (int)threadIdx.x < 32 * w.part.warps))
			hold_rows<!grouped(MOST), real, COLUMNS, ROWS>(g, s.rows, t,
			        cluster_exchange_of_heads<real, COLUMNS, MOST>{&s, t, w},
			        (struct multipliers<real, ROWS> *)(base + sizeof s));
		else
			cluster_barrier();
		cluster_barrier();
	} else {
		if (grouped(MOST))
			leave_registers<SENDING>();
		if (__any_sync(0xffffffffu, (int)threadIdx.x < first + 32 && w.part.warps > 0))
			send_rows<MOST>(g, s, t, w);
		else {
			if (w.part.warps == 0) /* the next kernel is not to wait for these */
				early_release();
			cluster_barrier();
		}
		cluster_barrier();
	}
}

#endif

template <typename real, int COLUMNS, int ROWS, int MOST>
__global__ void __launch_bounds__(32 * (grouped(MOST) ? GROUPED : MOST + 1), 1)
        cluster_kernel(const struct panel<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	factorize<real, COLUMNS, ROWS, MOST>(g);
#endif
}

/* ---- choice of a kernel ---- */

struct choice {
	struct variant form;
	int most; /* warps of a block that hold rows */
};

/* With so many of them. */
int threads_of(const struct choice *c, int warps)
{
	return 32 * (grouped(c->most) ? GROUPED : warps + 1);
}

template <typename real, int COLUMNS, int ROWS, int MOST> constexpr struct choice choice_of(void)
{
	return {rows_variant<real, COLUMNS, ROWS>(sizeof(struct shared<real, COLUMNS>),
	                (const void *)cluster_kernel<real, COLUMNS, ROWS, MOST>),
	        MOST};
}

/* The first one that a panel fits is its kernel: more than one warp on a scheduler takes more time
 * than more rows of a thread. A row of more than 128 words does not fit in a thread's registers. */
const struct choice choices[] = {
        choice_of<float, 32, 1, MOST_WARPS / 4>(),
        choice_of<float, 32, 2, MOST_WARPS / 2>(),
        choice_of<float, 32, 4, MOST_WARPS / 2>(),
        choice_of<float, 32, 4, MOST_WARPS>(),
        choice_of<float, 64, 1, MOST_WARPS / 4>(),
        choice_of<float, 64, 2, MOST_WARPS / 2>(),
        choice_of<float, 64, 2, MOST_WARPS>(),
        choice_of<float, 128, 1, MOST_WARPS / 2>(),
        choice_of<float, 128, 1, MOST_WARPS>(),
        choice_of<double, 32, 1, MOST_WARPS / 4>(),
        choice_of<double, 32, 2, MOST_WARPS / 2>(),
        choice_of<double, 32, 2, MOST_WARPS>(),
        choice_of<double, 64, 1, MOST_WARPS / 2>(),
        choice_of<double, 64, 1, MOST_WARPS>(),
};
enum { CHOICES = sizeof choices / sizeof *choices };

size_t most_bytes(const struct choice *c)
{
	const struct variant *v = &c->form;
	return (size_t)(v->fixed_bytes + (v->columns + 1) * 32 * c->most * v->multiplier_bytes);
}

/* Of the current device. */
struct cluster_answer *answer_of(const struct choice *c)
{
	static thread_local struct cluster_answer last[CHOICES];
	return &last[c - choices];
}

bool launchable(const struct choice *c)
{
	struct cluster_answer *answer = answer_of(c);
	return cluster_takes_alone(answer, c->form.kernel, PANEL_CLUSTER, threads_of(c, c->most)) &&
	       most_bytes(c) <= answer->whole;
}

/* NULL when no kernel takes the panel. */
const struct choice *choose(enum precision precision, int64_t m, int64_t n)
{
	for (int i = 0; i < CHOICES; i++) {
		const struct choice *c = &choices[i];
		const struct variant *v = &c->form;
		if (v->precision == precision && n <= v->columns && n <= m &&
		        m <= (int64_t)PANEL_CLUSTER * v->rows * 32 * c->most && launchable(c))
			return c;
	}
	return NULL;
}

template <typename real>
int run(const struct choice *c, void *a, int64_t lda, int64_t m, int64_t n, int *pivots, int *error,
        void *stream)
{
	struct panel<real> g = {
		(real *)a, lda, (int)m, (int)n, pivots, (uint32_t *)error
	};
	const int blocks = blocks_of(c->form.rows, m), warps = warps_of(c->form.rows, m, blocks);
	return early_cluster_launch(c->form.kernel, blocks, blocks, threads_of(c, warps),
	        answer_of(c)->whole, &g, stream);
}

} // namespace

extern "C" bool panel_cluster_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int panel_cluster(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        int *pivots, int *error, void *stream)
{
	const struct choice *c = choose(precision, m, n);
	if (!c)
		return (int)cudaErrorInvalidValue;
	return precision == SINGLE ? run<float>(c, a, lda, m, n, pivots, error, stream)
	                           : run<double>(c, a, lda, m, n, pivots, error, stream);
}
