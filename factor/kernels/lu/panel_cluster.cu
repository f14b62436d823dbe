/* SPDX-License-Identifier: MIT */
/* The LU panel of one cluster: every thread holds ROWS rows of the panel in registers. Candidates
 * travel through distributed shared memory, with one exchange per column.
 *
 * Rows stay in place: a thread knows the position (row of the permuted panel) of each of its rows,
 * and a swap changes two positions. Multipliers are kept in shared memory and written to their
 * rows' final positions at the end.
 *
 * The chain of dependent steps per column is short. A warp sends the head of its candidate, 16
 * bytes (32 in fp64), straight to all blocks, without a barrier or a search of the block. The rest
 * of the pivot row follows after its head has won, sent by one more warp of its block, and has a
 * column's time to arrive. The head carries the value that the next column needs, not yet updated
 * by the column before, and the multiplier of that update. Receivers apply the update themselves,
 * with the same operations on the same numbers. A pivot row updates all other columns during the
 * exchange of the next column.
 *
 * Cost: load and store of m*n words; per column two warp reductions (a warp's rows, the cluster's
 * warps), a division, the flight of a head, and the part of the update that they do not hide.
 *
 * Blocks have a multiprocessor to themselves. Warps and blocks without rows take no part.
 * docs/experiments/lu-panel.md has measurements and rejected variants. */
#include "lib/base/base.h"
#include "lib/device/early_launch.cuh"
#include "panel_cluster_exchange.cuh"
#include "panel_hold.cuh"
#include "panel_kernels.h"
#include "lib/device/resident.h"
#include "lib/device/warpgroup.cuh"

namespace
{

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older devices */

/* Sends the row of pivot j, right of the pivot, to all blocks, and writes it to the panel. */
template <typename real, int COLUMNS>
DEVICE void send_row(const panel<real> &g, row_memory<real, COLUMNS> &s, const struct seat &t,
        int blocks, int j, const tail<real, COLUMNS> *own)
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

/* By the sending warp: announces the bytes that this block receives before column j, including the
 * previous pivot row. The others may then overwrite what its lanes have read of the columns before,
 * so each lane arrives for itself. */
template <typename real, int COLUMNS>
DEVICE void announce(shared<real, COLUMNS> &s, const struct seat &t, int j, int n, int heads)
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

/* The warp that sends its block's pivot rows. No warp continues after a failed wait: sending to a
 * block that has left would end the kernel by a fault. */
template <int MOST, typename real, int COLUMNS>
DEVICE void send_rows(
        const panel<real> &g, shared<real, COLUMNS> &s, const struct seat &t, const struct route &w)
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
		const favourite<real> f = favourite_head<MOST>(s.heads[turn], w.heads, t.lane);
		const int best = best_lane(f.weight, f.position);
		const int index = from_lane(f.index, best);
		if ((index & (w.blocks - 1)) ==
		        t.rank) { /* the number of blocks is a power of two */
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

/* With more than one warp per scheduler the warps of a block are rounded up to warpgroups, so that
 * row warps can take registers that the others release. */
const int GROUPED = PANEL_GROUPED;

HOST_DEVICE constexpr bool grouped(int most)
{
	return most > PANEL_SCHEDULERS;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

const int SHARED_OUT = 168, HOLDING = 224, SENDING = 56; /* registers per thread */
static_assert(MOST_WARPS * HOLDING + (GROUPED - MOST_WARPS) * SENDING == GROUPED * SHARED_OUT,
        "none is left over or missing");

template <typename real, int COLUMNS, int ROWS, int MOST>
DEVICE void factorize(const panel<real> &g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	/* an address that the compiler keeps instead of recomputing it */
	unsigned char *base = memory;
	asm volatile("" : "+l"(base));
	__builtin_assume(__isShared(base));
	shared<real, COLUMNS> &s = *(shared<real, COLUMNS> *)base;
	const int warps = panel_cluster_warps(ROWS, g.m, (int)cluster_blocks());
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
	/* votes tell the compiler that warps do not diverge. All warps take part in the barriers
	 * before the first head and at the end: no block may exit while others write to its
	 * memory */
	const int first = grouped(MOST) ? 32 * MOST : t.threads; /* first thread of the sender */
	if (__any_sync(0xffffffffu, (int)threadIdx.x < first)) {
		if (grouped(MOST))
			take_registers<HOLDING>();
		if (__any_sync(0xffffffffu, (int)threadIdx.x < 32 * w.part.warps))
			hold_rows<!grouped(MOST), real, COLUMNS, ROWS>(g, s.rows, t,
			        cluster_exchange_of_heads<real, COLUMNS, MOST>{&s, t, w},
			        (multipliers<real, ROWS> *)(base + sizeof s));
		else
			cluster_barrier();
		cluster_barrier();
	} else {
		if (grouped(MOST))
			leave_registers<SENDING>();
		if (__any_sync(0xffffffffu, (int)threadIdx.x < first + 32 && w.part.warps > 0))
			send_rows<MOST>(g, s, t, w);
		else {
			if (w.part.warps == 0) /* the next kernel must not wait for these */
				early_release();
			cluster_barrier();
		}
		cluster_barrier();
	}
}

#endif

template <typename real, int COLUMNS, int ROWS, int MOST>
__global__ void __launch_bounds__(32 * (grouped(MOST) ? GROUPED : MOST + 1), 1)
        cluster_kernel(const panel<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	factorize<real, COLUMNS, ROWS, MOST>(g);
#endif
}

struct choice {
	struct variant form;
	int most; /* row warps per block */
};

int threads_of(const struct choice *c, int warps)
{
	return 32 * (grouped(c->most) ? GROUPED : warps + 1);
}

template <typename real, int COLUMNS, int ROWS, int MOST> constexpr struct choice choice_of(void)
{
	return {rows_variant<real, COLUMNS, ROWS>(sizeof(shared<real, COLUMNS>),
	                (const void *)cluster_kernel<real, COLUMNS, ROWS, MOST>),
	        MOST};
}

/* A row of more than 128 words does not fit in a thread's registers. */
#define CHOICE(real, columns, rows, most) choice_of<real, columns, rows, most>(),
const struct choice choices[] = {PANEL_CLUSTER_FORMS(CHOICE)};
#undef CHOICE
enum { CHOICES = sizeof choices / sizeof *choices };

size_t most_bytes(const struct choice *c)
{
	const struct variant *v = &c->form;
	return (size_t)(v->fixed_bytes + (v->columns + 1) * 32 * c->most * v->multiplier_bytes);
}

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
	panel<real> g = {(real *)a, lda, (int)m, (int)n, pivots, (uint32_t *)error};
	const int blocks = panel_cluster_blocks(c->form.rows, m),
	          warps = panel_cluster_warps(c->form.rows, m, blocks);
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
