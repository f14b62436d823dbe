/* SPDX-License-Identifier: MIT */
/* A block of threads has a tile of ROWS x COLUMNS: two warpgroups multiply, 64 rows each, and one
 * thread brings both operands' high and low parts, 32 of the inner dimension at a time, through a
 * ring in shared memory: high parts, then low parts, and so on. high high is one sum in registers,
 * high low + low high another, so that the units cut off nothing of the small products; they are
 * added up at the end. A block stays for several tiles, and while one is added to C the operands of
 * the next come. C itself comes to shared memory while its product is made, as far as there is room
 * beside the ring, is added to there and goes back while the next product is made; a C that copies
 * cannot take is read and written by the threads that multiply.
 *
 * Cost: 3 x 128 x 192 k multiply-adds a tile. Each of the three products reads parts that are there
 * already, so that a slab of 32 brings 80 KiB for 2.4 million multiply-adds: at the units' full
 * rate 9 Tbyte/s from L2; of parts brought for each product 14.
 *
 * Measured (H200, us, and Tflop/s of one product in fp32): n = 4096, 8192, 16384, 32768 by 256 62
 * (69), 195 (88), 693 (99), 2.9 ms (94; at 540 W); a block a tile (`shared`) 60, 199, 812, 3548; C
 * that is not aligned 78, 263, 1000, 4000. Our kernel in fp32 394 at 8192.
 *
 * Log. C by the threads that multiply, announced to L2: 222 us at 8192 and 868 at 16384, of a
 * tile's 20 us 11 for C. Predicted 125 us at 8192 with all of C's tile in shared memory: 233, as
 * only three stages are left, and the products take one and a half times as long; four stages and C
 * a third less 193. Cycles of a tile at k = 256: products 20000 to 21000 of 18432 at the units'
 * full rate, C 5600 (2400 with neither loads nor stores). Slabs of 16 in twice as many stages 221.
 * Blocks of one tile walked on to the end of all tiles when theirs was done: 285 us instead of 199,
 * 1636 instead of 812 at 16384, 14 ms at 32768. Clusters of two blocks that share a column of tiles
 * and bring half of it each, predicted 190 us at 8192, took 285 with the first form.
 * Multiprocessors left to panels instead of a block a tile: Cholesky of 8192 4.76 ms with 16 of
 * them, 4.43 with none (with a record of every operation). The same kernel for products that are
 * not symmetric is no quicker than the library's of stacks: 8192 x 8192 by 256 353 and 358 us, by
 * 128 250 and 221. */
#include "tf32_syrk.h"

#include "cluster.cuh"
#include "tf32.h"
#include "tf32_syrk_tiles.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

namespace
{

const int SLAB = 32; /* inner dimension of a stage: the 128 bytes that it swizzles */
const int BOX = 64;  /* columns of a stack that come in one copy */
const int STAGES_MOST = 5;
const int GROUPS = 2; /* warpgroups that multiply, and one more, whose first warp brings operands
                         and of which one warp for each group carries C */
const int THREADS = 128 * (GROUPS + 1);
const int STAGE_BYTES = (ROWS + COLUMNS) * SLAB * 4;
const int C_BOX = 32; /* rows and columns of C that come in one copy */
const int C_BOX_BYTES = C_BOX * C_BOX * 4, C_BOXES = ROWS / GROUPS / C_BOX;
const int C_SLOTS = 4; /* of a group's rows of C, C_BOX columns each */
const int C_SLOT_BYTES = C_BOXES * C_BOX_BYTES;
const int C_ALIGNED = 16; /* of what may be carried so */
const int C_BYTES = GROUPS * C_SLOTS * C_SLOT_BYTES;
const int ALIGNED = 1024; /* of what is swizzled */

/* With C carried through shared memory fewer stages are left. */
__host__ __device__ constexpr int stages(bool carried)
{
	return carried ? 4 : STAGES_MOST;
}

__host__ __device__ constexpr int shared_bytes(bool carried)
{
	return stages(carried) * STAGE_BYTES + (carried ? C_BYTES : 0) + ALIGNED;
}

/* Copies take and leave whole pieces of C_ALIGNED bytes: rows that fill none are read and written
 * where they are. */
__host__ __device__ __forceinline__ int carried_rows(const struct update &u)
{
	return u.m / (C_ALIGNED / 4) * (C_ALIGNED / 4);
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

const int REGISTERS_WORKING = 232, REGISTERS_COPYING = 40; /* of a thread, in place of 168 */
const int A_BYTES = ROWS * SLAB * 4;
const int C_PARTS = COLUMNS / C_BOX; /* of a group's rows of a tile, more than slots */
const int SUMS = COLUMNS / 2;        /* of a thread */

/* ---- barriers in shared memory ---- */

/* What is waited for is a copy or this block's own warps; should it not come, the kernel fails
 * instead of going on for ever. */
__device__ __forceinline__ void wait_stage(uint32_t barrier, uint32_t parity)
{
	const int MOST = 1 << 24;
	int turns = 0;
	while (!mailbox_is_full(barrier, parity))
		if (++turns == MOST)
			__trap();
}

struct ring {
	uint64_t full[STAGES_MOST], empty[STAGES_MOST];
	uint64_t c_full[GROUPS][C_SLOTS], c_empty[GROUPS][C_SLOTS];
};

/* A place in the ring, and how often it went around. */
template <int STAGES> struct lap {
	int stage;
	uint32_t parity;

	__device__ __forceinline__ void next(void)
	{
		if (++stage == STAGES) {
			stage = 0;
			parity ^= 1;
		}
	}
};

/* ---- copies ---- */

__device__ __forceinline__ void copy_box(
        uint32_t to, const CUtensorMap *map, int k, int part, int column, uint32_t full)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
	             "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
	             "l"(map), "r"(k), "r"(part), "r"(column), "r"(full)
	             : "memory");
}

/* One part (slot of the stack) of both operands. */
__device__ __forceinline__ void copy_stage(
        uint32_t to, const CUtensorMap *map, int k, int part, const int2 tile, uint32_t full)
{
	arrivals_expect(full, STAGE_BYTES);
#pragma unroll
	for (int x = 0; x < ROWS; x += BOX)
		copy_box(to + x * SLAB * 4, map, k, part, tile.x + x, full);
#pragma unroll
	for (int x = 0; x < COLUMNS; x += BOX)
		copy_box(to + A_BYTES + x * SLAB * 4, map, k, part, tile.y + x, full);
}

/* C's tile, where it is not carried, comes to L2 before it is needed, by a warp. */
__device__ __forceinline__ void announce_c(const struct update &u, const int2 tile)
{
	const int LINE = 32, LINES = ROWS / LINE;
	const int i = tile.x + threadIdx.x % LINES * LINE, lane = threadIdx.x % 32;
	if (i >= u.m)
		return;
	for (int x = lane / LINES; x < COLUMNS && tile.y + x < u.n; x += 32 / LINES)
		asm volatile("prefetch.global.L2 [%0];" ::"l"(u.c + i + (tile.y + x) * u.ldc));
}

template <bool carried>
__device__ void bring(const struct update &u, const CUtensorMap *map, const struct ring &ring,
        uint32_t memory, struct place at)
{
	struct lap<stages(carried)> turn = {
		0, 1
	}; /* an empty stage's last phase */
	for (int t = blockIdx.x; t < u.tiles; t = next(u, at, t)) {
		const int2 tile = corner(u, at);
		if (!carried)
			announce_c(u, tile);
		for (int x = 0; x < 2 * u.slabs && threadIdx.x % 32 == 0; x++, turn.next()) {
			wait_stage(shared_address(&ring.empty[turn.stage]), turn.parity);
			copy_stage(memory + turn.stage * STAGE_BYTES, map, x / 2 * SLAB, x % 2,
			        tile, shared_address(&ring.full[turn.stage]));
		}
		__syncwarp();
	}
}

__device__ __forceinline__ void load_c(
        uint32_t to, const CUtensorMap *map, int i, int j, uint32_t full)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
	             "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
	             "l"(map), "r"(i), "r"(j), "r"(full)
	             : "memory");
}

__device__ __forceinline__ void announce_box(const CUtensorMap *map, int i, int j)
{
	asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(map),
	             "r"(i), "r"(j)
	             : "memory");
}

__device__ __forceinline__ void store_c(const CUtensorMap *map, int i, int j, uint32_t from)
{
	asm volatile(
	        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
	                map),
	        "r"(i), "r"(j), "r"(from)
	        : "memory");
}

/* A part of a tile of C from its slot to memory, and until the slot is read. */
__device__ __forceinline__ void put_back(
        const CUtensorMap *map, const int2 tile, int part, uint32_t slot)
{
	for (int x = 0; x < C_BOXES; x++)
		store_c(map, tile.x + x * C_BOX, tile.y + part * C_BOX, slot + x * C_BOX_BYTES);
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
	asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* A group's rows of C to shared memory while its product is made, as far as there is room, the rest
 * to L2; what is updated goes back before its slot is used again. By one thread. */
__device__ void carry(const struct update &u, const CUtensorMap *map, const struct ring &ring,
        uint32_t memory, int group, struct place at)
{
	const uint32_t mine = memory + group * C_SLOTS * C_SLOT_BYTES;
	struct lap<C_SLOTS> turn = {
		0, 1
	};
	int2 last = {-1, -1}; /* the tile before */
	for (int t = blockIdx.x; t < u.tiles; t = next(u, at, t)) {
		const int2 tile = corner(u, at), here = {tile.x + group * (ROWS / GROUPS), tile.y};
		for (int part = C_SLOTS; part < C_PARTS; part++)
			for (int x = 0; x < C_BOXES; x++)
				announce_box(map, here.x + x * C_BOX, here.y + part * C_BOX);
		for (int part = 0; part < C_PARTS; part++, turn.next()) {
			const uint32_t slot = mine + turn.stage * C_SLOT_BYTES;
			const uint32_t full = shared_address(&ring.c_full[group][turn.stage]);
			wait_stage(shared_address(&ring.c_empty[group][turn.stage]), turn.parity);
			if (part >= C_SLOTS)
				put_back(map, here, part - C_SLOTS, slot);
			else if (last.x >= 0)
				put_back(map, last, part + C_PARTS - C_SLOTS, slot);
			arrivals_expect(full, C_SLOT_BYTES);
			for (int x = 0; x < C_BOXES; x++)
				load_c(slot + x * C_BOX_BYTES, map, here.x + x * C_BOX,
				        here.y + part * C_BOX, full);
		}
		last = here;
	}
	for (int part = C_PARTS - C_SLOTS; part < C_PARTS; part++, turn.next()) {
		wait_stage(shared_address(&ring.c_empty[group][turn.stage]), turn.parity);
		put_back(map, last, part, mine + turn.stage * C_SLOT_BYTES);
	}
	asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* ---- products ---- */

/* Of rows (columns of the stack) whose 128 bytes are swizzled, eight rows beside each other. */
__device__ __forceinline__ uint64_t describe(uint32_t address)
{
	const uint64_t eight_rows = 1024, swizzled = 1;
	return (uint64_t)(address & 0x3ffff) >> 4 | (uint64_t)1 << 16 | eight_rows >> 4 << 32 |
	       swizzled << 62;
}

#define EIGHT(i)                                                                                   \
	"+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),                \
	        "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

/* d += a b^T: 64 rows of a, COLUMNS of b, 8 of the inner dimension. */
__device__ __forceinline__ void product(float (&d)[SUMS], uint64_t a, uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 "
	             "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,"
	             "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,"
	             "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,"
	             "%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,"
	             "%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95}, "
	             "%96, %97, 1, 1, 1;"
	             : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48),
	             EIGHT(56), EIGHT(64), EIGHT(72), EIGHT(80), EIGHT(88)
	             : "l"(a), "l"(b));
}
#undef EIGHT

__device__ __forceinline__ void begin_products(void)
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit_products(void)
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int pending> __device__ __forceinline__ void wait_products(void)
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/* No use of the sums comes before this. */
__device__ __forceinline__ void settle(float (&sum)[SUMS])
{
#pragma unroll
	for (int x = 0; x < SUMS; x++)
		asm volatile("" : "+f"(sum[x])::"memory");
}

/* By one thread of each warpgroup. */
__device__ __forceinline__ void release(const struct ring &ring, int stage)
{
	if (threadIdx.x % 128 == 0)
		arrivals_arrive(shared_address(&ring.empty[stage]));
}

/* high = the high parts' product, cross = what low parts take part in. */
template <int STAGES>
__device__ __forceinline__ void multiply(const struct update &u, const struct ring &ring,
        uint32_t memory, struct lap<STAGES> &turn, float (&high)[SUMS], float (&cross)[SUMS])
{
	const int PARTS = SLAB / 8;
	const uint32_t group = threadIdx.x / 128 * (A_BYTES / GROUPS);
	int before[2] = {-1, -1}; /* stages that the products not yet done read */
#pragma unroll
	for (int x = 0; x < SUMS; x++)
		high[x] = cross[x] = 0;
	for (int slab = 0; slab < u.slabs; slab++) {
		const int first = turn.stage;
		const uint32_t h = memory + first * STAGE_BYTES;
		wait_stage(shared_address(&ring.full[first]), turn.parity);
		turn.next();
		begin_products();
#pragma unroll
		for (int x = 0; x < PARTS; x++)
			product(high, describe(h + group + 32 * x), describe(h + A_BYTES + 32 * x));
		commit_products();
		wait_products<1>();
		if (slab > 0) {
			release(ring, before[0]);
			release(ring, before[1]);
		}
		const int second = turn.stage;
		const uint32_t l = memory + second * STAGE_BYTES;
		wait_stage(shared_address(&ring.full[second]), turn.parity);
		turn.next();
		begin_products();
#pragma unroll
		for (int x = 0; x < PARTS; x++) {
			product(cross, describe(l + group + 32 * x),
			        describe(h + A_BYTES + 32 * x));
			product(cross, describe(h + group + 32 * x),
			        describe(l + A_BYTES + 32 * x));
		}
		commit_products();
		before[0] = first;
		before[1] = second;
	}
	wait_products<0>();
	settle(high);
	settle(cross);
	release(ring, before[0]);
	release(ring, before[1]);
}

/* ---- C ---- */

__device__ __forceinline__ bool within(const struct update &u, int i, int j)
{
	return i < u.m && j < u.n && (u.lower ? i >= j : i <= j);
}

/* C += alpha sum, by BATCH elements of a thread at a time: of each 8 columns two, of two rows. */
template <bool whole, int BATCH>
__device__ __forceinline__ void add_to_c(
        const struct update &u, const int2 tile, const float (&sum)[SUMS])
{
	const int i = tile.x + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
	int j = tile.y + threadIdx.x % 4 * 2;
	float *c = u.c + i + j * u.ldc;
#pragma unroll
	for (int first = 0; first < SUMS; first += BATCH) {
		float before[BATCH];
		asm volatile("" : "+l"(c), "+r"(j)); /* addresses are not for all batches at once */
#pragma unroll
		for (int e = 0; e < BATCH; e++) {
			const int down = e % 4 / 2 * 8, right = e / 4 * 8 + e % 2;
			if (whole || within(u, i + down, j + right))
				before[e] = c[down + right * u.ldc];
		}
#pragma unroll
		for (int e = 0; e < BATCH; e++) {
			const int down = e % 4 / 2 * 8, right = e / 4 * 8 + e % 2;
			if (whole || within(u, i + down, j + right))
				c[down + right * u.ldc] = before[e] + u.alpha * sum[first + e];
		}
		c += BATCH * 2 * u.ldc;
		j += BATCH * 2;
	}
}

__device__ __forceinline__ bool is_whole(const struct update &u, const int2 tile)
{
	return tile.x + ROWS <= u.m && tile.y + COLUMNS <= u.n &&
	       (u.lower ? tile.x >= tile.y + COLUMNS - 1 : tile.y >= tile.x + ROWS - 1);
}

/* The same with C's elements from and to shared memory, where each column of a box has its pieces
 * of 16 bytes in an order of its own: a thread's columns are the same ones of every eight, and so
 * the places of its elements. */
template <bool whole>
__device__ __forceinline__ void add_to_carried(const struct update &u, const int2 tile,
        const struct ring &ring, unsigned char *memory, struct lap<C_SLOTS> &turn,
        const float (&sum)[SUMS])
{
	const int BATCH = C_BOX / 2, EIGHT_COLUMNS = 8 * C_BOX * 4;
	const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
	const int row = threadIdx.x % 128 / 32 * 16 + lane / 4, column = lane % 4 * 2;
	const int i = tile.x + group * (ROWS / GROUPS) + row;
	int place[4]; /* of two rows and two columns */
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
			const float more = u.alpha * sum[first + e];
			if (whole || within(u, i + down, j + right))
				*(float *)(slot + place[e % 4] + e / 4 * EIGHT_COLUMNS) =
				        before[e] + more;
			if (!whole && i + down >= carried_rows(u) && within(u, i + down, j + right))
				u.c[i + down + (j + right) * u.ldc] += more;
		}
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		arrivals_arrive(shared_address(&ring.c_empty[group][turn.stage]));
		j += BATCH * 2;
	}
}

template <bool carried>
__device__ void work(const struct update &u, const struct ring &ring, uint32_t memory,
        unsigned char *c, struct place at)
{
	struct lap<stages(carried)> turn = {
		0, 0
	};
	struct lap<C_SLOTS> slot = {
		0, 0
	};
	for (int t = blockIdx.x; t < u.tiles; t = next(u, at, t)) {
		const int2 tile = corner(u, at);
		float high[SUMS], cross[SUMS];
		multiply(u, ring, memory, turn, high, cross);
#pragma unroll
		for (int x = 0; x < SUMS; x++)
			high[x] += cross[x];
		settle(high); /* half of the registers are free for what comes of C */
		if (carried) {
			if (is_whole(u, tile))
				add_to_carried<true>(u, tile, ring, c, slot, high);
			else
				add_to_carried<false>(u, tile, ring, c, slot, high);
		} else if (is_whole(u, tile)) {
			add_to_c<true, 32>(u, tile, high);
		} else {
			add_to_c<false, 16>(u, tile, high);
		}
	}
}

#endif

struct operands {
	CUtensorMap stack, c;
};

template <bool carried>
__global__ void __launch_bounds__(THREADS, 1)
        tf32_syrk_kernel(const __grid_constant__ struct operands o, const struct update u)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	extern __shared__ unsigned char dynamic[];
	__shared__ struct ring ring;
	const uint32_t begin = shared_address(dynamic),
	               memory = (begin + ALIGNED - 1) / ALIGNED * ALIGNED;
	const uint32_t behind = stages(carried) * STAGE_BYTES;
	if (threadIdx.x == 0) {
		arrivals_set(ring.full, stages(carried), 1);
		arrivals_set(ring.empty, stages(carried), GROUPS);
		arrivals_set(&ring.c_full[0][0], GROUPS * C_SLOTS, 1);
		arrivals_set(&ring.c_empty[0][0], GROUPS * C_SLOTS, 128);
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	}
	__syncthreads();
	struct place at = place_of(u, blockIdx.x);
	advance(u, at, 0);
	const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); /* one for all, visibly */
	if (group == GROUPS) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS_COPYING));
		const int warp = threadIdx.x / 32 % 4;
		if (warp == 0)
			bring<carried>(u, &o.stack, ring, memory, at);
		else if (carried && threadIdx.x % 32 == 0 && warp <= GROUPS)
			carry(u, &o.c, ring, memory + behind, warp - 1, at);
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS_WORKING));
		work<carried>(u, ring, memory, dynamic + (memory - begin) + behind, at);
	}
#endif
}

/* ---- host ---- */

int encode(CUtensorMap *map, int rank, void *address, const cuuint64_t *sizes,
        const cuuint64_t *strides, const cuuint32_t *box)
{
	static PFN_cuTensorMapEncodeTiled_v12000 function;
	const cuuint32_t steps[] = {1, 1, 1};
	if (!function) {
		void *entry = NULL;
		enum cudaDriverEntryPointQueryResult found;
		const cudaError_t error = cudaGetDriverEntryPointByVersion(
		        "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
		if (error != cudaSuccess || found != cudaDriverEntryPointSuccess)
			return (int)cudaErrorNotSupported;
		function = (PFN_cuTensorMapEncodeTiled_v12000)entry;
	}
	const CUresult result = function(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, (cuuint32_t)rank,
	        address, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
	        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
	        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	return result == CUDA_SUCCESS ? (int)cudaSuccess : (int)cudaErrorInvalidValue;
}

/* The stack as columns of two slots, high and low, of which a copy takes SLAB x 1 x BOX. What is
 * beyond a slot or the last column comes as zeros. */
int describe_stack(struct matrix stack, CUtensorMap *map)
{
	const cuuint64_t slot = (cuuint64_t)(stack.m / tf32_slots(TF32_PAIR));
	const cuuint64_t sizes[] = {slot, 2, (cuuint64_t)stack.n};
	const cuuint64_t strides[] = {slot * 4, (cuuint64_t)stack.ld * 4};
	const cuuint32_t box[] = {SLAB, 1, BOX};
	return encode(map, 3, (float *)stack.data + stack.offset, sizes, strides, box);
}

/* What is beyond C comes as zeros and goes nowhere. */
int describe_c(const struct update &u, CUtensorMap *map)
{
	const cuuint64_t sizes[] = {(cuuint64_t)carried_rows(u), (cuuint64_t)u.n};
	const cuuint64_t strides[] = {(cuuint64_t)u.ldc * 4};
	const cuuint32_t box[] = {C_BOX, C_BOX};
	return encode(map, 2, u.c, sizes, strides, box);
}

template <bool carried>
int launch(const struct operands &o, const struct update &u, int blocks, cudaStream_t stream)
{
	const int bytes = shared_bytes(carried);
	const cudaError_t error = cudaFuncSetAttribute(
	        tf32_syrk_kernel<carried>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	if (error != cudaSuccess)
		return (int)error;
	tf32_syrk_kernel<carried><<<(unsigned)blocks, THREADS, bytes, stream>>>(o, u);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" bool tf32_syrk_built(void)
{
	struct cudaFuncAttributes attributes;
	if (cudaFuncGetAttributes(&attributes, tf32_syrk_kernel<true>) != cudaSuccess) {
		cudaGetLastError(); /* which keeps it otherwise */
		return false;
	}
	return attributes.sharedSizeBytes > 0;
}

extern "C" int tf32_syrk(enum uplo uplo, double alpha, struct matrix stack, struct matrix c,
        bool shared, void *stream)
{
	struct update u = {(float *)c.data + c.offset, c.ld, (int)c.m, (int)c.n,
	        tiles_along((int)(stack.m / tf32_slots(TF32_PAIR)), SLAB), (float)alpha,
	        uplo == LOWER, 0, 0, 0, {}};
	const bool carried = (uintptr_t)u.c % C_ALIGNED == 0 && u.ldc * 4 % C_ALIGNED == 0 &&
	                     carried_rows(u) > 0;
	struct operands o;
	int device, sm_count, error;
	divide(u);
	if (u.tiles == 0 || u.slabs == 0)
		return (int)cudaSuccess;
	if ((error = describe_stack(stack, &o.stack)) != cudaSuccess ||
	        (carried && (error = describe_c(u, &o.c)) != cudaSuccess) ||
	        (error = (int)cudaGetDevice(&device)) != cudaSuccess ||
	        (error = (int)cudaDeviceGetAttribute(
	                 &sm_count, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess)
		return error;
	const int blocks = shared || u.tiles < sm_count ? u.tiles : sm_count;
	return carried ? launch<true>(o, u, blocks, (cudaStream_t)stream)
	               : launch<false>(o, u, blocks, (cudaStream_t)stream);
}
