/* SPDX-License-Identifier: MIT */
/* C in half_update.cu: through shared memory, by copies during the products. */
#pragma once

#include "half_update_ring.cuh"

namespace
{

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

DEVICE void announce_box(const CUtensorMap *map, int i, int j)
{
	asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(map),
	             "r"(i), "r"(j)
	             : "memory");
}

DEVICE void store_c(const CUtensorMap *map, int i, int j, uint32_t from)
{
	asm volatile(
	        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
	                map),
	        "r"(i), "r"(j), "r"(from)
	        : "memory");
}

DEVICE float load_shared(uint32_t from)
{
	float x;
	asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
	return x;
}

/* Writes a box from its slot to memory. A copy takes whole 16-byte pieces of a column; the warp
 * stores the remaining rows, one column per lane. */
template <bool rest>
DEVICE void put_back_box(
        const struct update &u, const struct operands &o, int i, int j, uint32_t slot)
{
	const int lane = threadIdx.x % 32, whole = whole_rows(u);
	if (lane == 0 && i < whole)
		store_c(&o.stored, i, j, slot);
#pragma unroll 1
	for (int row = max(i, whole); rest && row < min(i + C_BOX, u.m); row++) {
		const int down = row - i;
		if (j + lane < u.n)
			u.c[row + (j + lane) * u.ldc] =
			        load_shared(slot + lane * C_BOX * 4 + ((down / 4) ^ lane % 8) * 16 +
			                    down % 4 * 4);
	}
}

/* Writes a part of a tile of C, and waits until its slot has been read. */
template <bool rest>
DEVICE void put_back(
        const struct update &u, const struct operands &o, const int2 tile, int part, uint32_t slot)
{
	for (int x = 0; x < C_BOXES; x++)
		put_back_box<rest>(
		        u, o, tile.x + x * C_BOX, tile.y + part * C_BOX, slot + x * C_BOX_BYTES);
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
	asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
	if (rest)
		__syncwarp();
}

/* Copies a part of a tile of C to its slot, or prefetches it to L2. */
DEVICE void fetch(const struct operands &o, const int2 tile, int part, uint32_t slot, uint32_t full)
{
	if (threadIdx.x % 32 != 0)
		return;
	arrivals_expect(full, C_SLOT_BYTES);
	for (int x = 0; x < C_BOXES; x++)
		load_box(slot + x * C_BOX_BYTES, &o.c, tile.x + x * C_BOX, tile.y + part * C_BOX,
		        full);
}

DEVICE void announce(const struct operands &o, const int2 tile, int part)
{
	for (int x = 0; x < C_BOXES && threadIdx.x % 32 == 0; x++)
		announce_box(&o.c, tile.x + x * C_BOX, tile.y + part * C_BOX);
}

/* Fetches a group's rows of C during their product: to shared memory as far as there is room, the
 * rest to L2. Updated parts are written back before their slot is used again. By one thread, or by
 * a warp if there is a rest. */
template <bool rest, class any_update>
__device__ void carry(const any_update &u, const struct operands &o, const struct ring &ring,
        uint32_t memory, int group, const struct share &tiles, struct place at)
{
	const uint32_t mine = memory + group * C_SLOTS * C_SLOT_BYTES;
	interval<C_SLOTS> turn = {0, 1};
	int2 last = {-1, -1}; /* the previous tile */
	for (int t = tiles.first; t < tiles.end; t = next(u, at, tiles, t)) {
		const int2 tile = corner(u, at), here = {tile.x + group * (ROWS / GROUPS), tile.y};
		for (int part = C_SLOTS; part < C_PARTS; part++)
			announce(o, here, part);
		for (int part = 0; part < C_PARTS; part++, turn.next()) {
			const uint32_t slot = mine + turn.stage * C_SLOT_BYTES;
			wait_stage(shared_address(&ring.c_empty[group][turn.stage]), turn.parity);
			if (part >= C_SLOTS)
				put_back<rest>(u, o, here, part - C_SLOTS, slot);
			else if (last.x >= 0)
				put_back<rest>(u, o, last, part + C_PARTS - C_SLOTS, slot);
			fetch(o, here, part, slot, shared_address(&ring.c_full[group][turn.stage]));
		}
		last = here;
	}
	for (int part = C_PARTS - C_SLOTS; part < C_PARTS; part++, turn.next()) {
		wait_stage(shared_address(&ring.c_empty[group][turn.stage]), turn.parity);
		put_back<rest>(u, o, last, part, mine + turn.stage * C_SLOT_BYTES);
	}
	asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Fetches the factors of each tile during its product, by one warp. */
template <class any_update>
__device__ void bring_factors(const any_update &u, const struct operands &o, struct ring &ring,
        const struct share &tiles, struct place at)
{
	const int MINE = (ROWS + COLUMNS) / 32, lane = threadIdx.x % 32;
	uint32_t parity = 1;
	for (int t = tiles.first; t < tiles.end; t = next(u, at, tiles, t), parity ^= 1) {
		const int2 tile = corner(u, at);
		float factor[MINE];
#pragma unroll
		for (int i = 0; i < MINE; i++)
			factor[i] = factor_of(o, tile, 32 * i + lane);
		wait_stage(shared_address(&ring.factors_empty), parity);
#pragma unroll
		for (int i = 0; i < MINE; i++)
			ring.factors[32 * i + lane] = factor[i];
		arrivals_arrive(shared_address(&ring.factors_full));
	}
}

DEVICE bool within(const struct update &u, int i, int j)
{
	return u.part == LOWER ? i >= j : u.part == UPPER ? i <= j : true;
}

DEVICE bool within(const struct stairs_update &u, int i, int j)
{
	return i >= top_of(u, j);
}

/* The factors of a thread's two rows, multiplied by alpha, and of its columns: two of every
 * eight. */
struct factors {
	float row[2];
	const float *column;

	DEVICE float product(float sum, int e, int right) const
	{
		return sum * row[e % 4 / 2] * column[right];
	}
};

DEVICE struct factors factors_of(const struct update &u, const struct ring &ring)
{
	const int i = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
	return {{u.alpha * ring.factors[i], u.alpha * ring.factors[i + 8]},
	        ring.factors + ROWS + threadIdx.x % 4 * 2};
}

/* Whether the triangle cuts nothing off this tile. */
template <class any_update> DEVICE bool is_uncut(const any_update &u, const int2 tile)
{
	return u.part == LOWER   ? tile.x >= top_of(u, tile.y + COLUMNS - 1)
	       : u.part == UPPER ? tile.y >= tile.x + ROWS - 1
	                         : true;
}

/* C += alpha sum, with C in shared memory. There each column of a box has its 16-byte pieces in an
 * order of its own. A thread's columns repeat every eight, in two rows, so the places of its
 * elements repeat too. Elements past C are not written. */
template <bool uncut, class any_update>
DEVICE void add_to_c(const any_update &u, const int2 tile, const struct ring &ring,
        unsigned char *memory, interval<C_SLOTS> &turn, const struct factors &f,
        const float (&sum)[SUMS])
{
	const int BATCH = C_BOX / 2, EIGHT_COLUMNS = 8 * C_BOX * 4;
	const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
	const int row = threadIdx.x % 128 / 32 * 16 + lane / 4, column = lane % 4 * 2;
	const int i = tile.x + group * (ROWS / GROUPS) + row;
	int place[4]; /* for two rows and two columns */
#pragma unroll
	for (int e = 0; e < 4; e++) {
		const int down = row + e / 2 * 8, right = column + e % 2;
		place[e] = group * C_SLOTS * C_SLOT_BYTES + down / C_BOX * C_BOX_BYTES +
		           right * C_BOX * 4 + ((down % C_BOX / 4) ^ right) * 16 + down % 4 * 4;
	}
	int j = tile.y + column;
#pragma unroll
	for (int first = 0; first < SUMS; first += BATCH, turn.next()) {
		unsigned char *slot = memory + turn.stage * C_SLOT_BYTES;
		float before[BATCH];
		wait_stage(shared_address(&ring.c_full[group][turn.stage]), turn.parity);
#pragma unroll
		for (int e = 0; e < BATCH; e++)
			before[e] = *(float *)(slot + place[e % 4] + e / 4 * EIGHT_COLUMNS);
#pragma unroll
		for (int e = 0; e < BATCH; e++) {
			const int down = e % 4 / 2 * 8, right = e / 4 * 8 + e % 2;
			const float more = f.product(sum[first + e], e, 2 * first + right);
			if (uncut || within(u, i + down, j + right))
				*(float *)(slot + place[e % 4] + e / 4 * EIGHT_COLUMNS) =
				        before[e] + more;
		}
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		arrivals_arrive(shared_address(&ring.c_empty[group][turn.stage]));
		j += BATCH * 2;
	}
}

#endif

} // namespace
