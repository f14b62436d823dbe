/* SPDX-License-Identifier: MIT */
/* A block of threads has a tile of ROWS x COLUMNS: two warpgroups multiply, 64 rows each, and one
 * thread brings both operands' high and low parts, 32 of the inner dimension at a time, through a
 * ring in shared memory: high parts, then low parts, and so on. high high is one sum in registers,
 * high low + low high another, so that the units cut off nothing of the small products; they are
 * added up at the end. A block stays for several tiles, and while one is stored the operands of
 * the next come.
 *
 * Cost: 3 x 128 x 192 k multiply-adds a tile. Each of the three products reads parts that are there
 * already, so that a slab of 32 brings 80 KiB for 2.4 million multiply-adds: at the units' full
 * rate 9 Tbyte/s from L2; of parts brought for each product 14.
 *
 * Measured (H200, us, and Tflop/s of one product in fp32): n = 4096, 8192, 16384 by 256 63, 222,
 * 868 (68, 77, 79); our kernel in fp32 112, 394, 1479; the library's products of stacks, by their
 * probe, 229 (66) at 7680. From k = 128 to 256 it is 52 us at 8192, the units' full rate; 11 us of
 * a tile's 20 go to C and to what begins and ends it.
 * By the host's clock: 74, 240, 851 before C was announced to L2 and read by 32 elements a thread
 * instead of 16; clusters of two blocks that share a column of tiles and bring half of it each,
 * predicted 190 us at 8192, took 285; finding each tile from its number, by a division and a search
 * for its band, instead of walking on from the last one 237. Blocks of one tile (`shared`) that
 * walked to it from the first took 289, at 16384 1859: so each block finds its first tile and walks
 * from there, of which only whole factorizations are measured: Cholesky, n = 5555 2.18 ms (2.82 by
 * the library's products), 10007 7.8, but 20000 63, as long as in fp32. */
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
const int STAGES = 5;
const int GROUPS = 2; /* warpgroups that multiply, and one more, of which a thread copies */
const int THREADS = 128 * (GROUPS + 1);
const int STAGE_BYTES = (ROWS + COLUMNS) * SLAB * 4;
const int ALIGNED = 1024; /* of what is swizzled */
const int SHARED_BYTES = STAGES * STAGE_BYTES + ALIGNED;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

const int REGISTERS_WORKING = 232, REGISTERS_COPYING = 40; /* of a thread, in place of 168 */
const int A_BYTES = ROWS * SLAB * 4;
const int SUMS = COLUMNS / 2; /* of a thread */

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
	uint64_t full[STAGES], empty[STAGES];
};

/* A place in the ring, and how often it went around. */
struct turn {
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
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full),
	             "r"(STAGE_BYTES)
	             : "memory");
#pragma unroll
	for (int x = 0; x < ROWS; x += BOX)
		copy_box(to + x * SLAB * 4, map, k, part, tile.x + x, full);
#pragma unroll
	for (int x = 0; x < COLUMNS; x += BOX)
		copy_box(to + A_BYTES + x * SLAB * 4, map, k, part, tile.y + x, full);
}

/* C's tile comes to L2 before it is needed, by a warp. */
__device__ __forceinline__ void announce_c(const struct update &u, const int2 tile)
{
	const int LINE = 32, LINES = ROWS / LINE;
	const int i = tile.x + threadIdx.x % LINES * LINE, lane = threadIdx.x % 32;
	if (i >= u.m)
		return;
	for (int x = lane / LINES; x < COLUMNS && tile.y + x < u.n; x += 32 / LINES)
		asm volatile("prefetch.global.L2 [%0];" ::"l"(u.c + i + (tile.y + x) * u.ldc));
}

__device__ void bring(const struct update &u, const CUtensorMap *map, const struct ring &ring,
        uint32_t memory, struct place at)
{
	struct turn turn = {0, 1}; /* an empty stage's last phase */
	for (int t = blockIdx.x; t < u.tiles; t += gridDim.x, advance(u, at, gridDim.x)) {
		const int2 tile = corner(u, at);
		announce_c(u, tile);
		for (int x = 0; x < 2 * u.slabs && threadIdx.x % 32 == 0; x++, turn.next()) {
			wait_stage(shared_address(&ring.empty[turn.stage]), turn.parity);
			copy_stage(memory + turn.stage * STAGE_BYTES, map, x / 2 * SLAB, x % 2,
			        tile, shared_address(&ring.full[turn.stage]));
		}
		__syncwarp();
	}
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
__device__ __forceinline__ void multiply(const struct update &u, const struct ring &ring,
        uint32_t memory, struct turn &turn, float (&high)[SUMS], float (&cross)[SUMS])
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

__device__ void work(
        const struct update &u, const struct ring &ring, uint32_t memory, struct place at)
{
	struct turn turn = {0, 0};
	for (int t = blockIdx.x; t < u.tiles; t += gridDim.x, advance(u, at, gridDim.x)) {
		const int2 tile = corner(u, at);
		float high[SUMS], cross[SUMS];
		multiply(u, ring, memory, turn, high, cross);
#pragma unroll
		for (int x = 0; x < SUMS; x++)
			high[x] += cross[x];
		settle(high); /* half of the registers are free for what comes of C */
		if (is_whole(u, tile))
			add_to_c<true, 32>(u, tile, high);
		else
			add_to_c<false, 16>(u, tile, high);
	}
}

#endif

__global__ void __launch_bounds__(THREADS, 1)
        tf32_syrk_kernel(const __grid_constant__ CUtensorMap map, const struct update u)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	extern __shared__ unsigned char dynamic[];
	__shared__ struct ring ring;
	const uint32_t memory = (shared_address(dynamic) + ALIGNED - 1) / ALIGNED * ALIGNED;
	if (threadIdx.x == 0) {
		for (int i = 0; i < STAGES; i++) {
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
			        shared_address(&ring.full[i])));
			asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
			                     shared_address(&ring.empty[i])),
			        "n"(GROUPS));
		}
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	}
	__syncthreads();
	struct place at = place_of(u, blockIdx.x);
	advance(u, at, 0);
	const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); /* one for all, visibly */
	if (group == GROUPS) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS_COPYING));
		if (threadIdx.x < 128 * GROUPS + 32)
			bring(u, &map, ring, memory, at);
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS_WORKING));
		work(u, ring, memory, at);
	}
#endif
}

/* ---- host ---- */

/* The stack as columns of two slots, high and low, of which a copy takes SLAB x 1 x BOX. What is
 * beyond a slot or the last column comes as zeros. */
int describe_stack(struct matrix stack, CUtensorMap *map)
{
	static PFN_cuTensorMapEncodeTiled_v12000 encode;
	if (!encode) {
		void *entry = NULL;
		enum cudaDriverEntryPointQueryResult found;
		const cudaError_t error = cudaGetDriverEntryPointByVersion(
		        "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
		if (error != cudaSuccess || found != cudaDriverEntryPointSuccess)
			return (int)cudaErrorNotSupported;
		encode = (PFN_cuTensorMapEncodeTiled_v12000)entry;
	}
	const cuuint64_t slot = (cuuint64_t)(stack.m / tf32_slots(TF32_PAIR));
	const cuuint64_t sizes[] = {slot, 2, (cuuint64_t)stack.n};
	const cuuint64_t strides[] = {slot * 4, (cuuint64_t)stack.ld * 4};
	const cuuint32_t box[] = {SLAB, 1, BOX}, steps[] = {1, 1, 1};
	const CUresult result = encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3,
	        (float *)stack.data + stack.offset, sizes, strides, box, steps,
	        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
	        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	return result == CUDA_SUCCESS ? (int)cudaSuccess : (int)cudaErrorInvalidValue;
}

} // namespace

extern "C" bool tf32_syrk_built(void)
{
	struct cudaFuncAttributes attributes;
	if (cudaFuncGetAttributes(&attributes, tf32_syrk_kernel) != cudaSuccess) {
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
	CUtensorMap map;
	int device, sm_count, error;
	divide(u);
	if (u.tiles == 0 || u.slabs == 0)
		return (int)cudaSuccess;
	if ((error = describe_stack(stack, &map)) != cudaSuccess ||
	        (error = (int)cudaGetDevice(&device)) != cudaSuccess ||
	        (error = (int)cudaDeviceGetAttribute(
	                 &sm_count, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess ||
	        (error = (int)cudaFuncSetAttribute(tf32_syrk_kernel,
	                 cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES)) != cudaSuccess)
		return error;
	const int blocks = shared || u.tiles < sm_count ? u.tiles : sm_count;
	tf32_syrk_kernel<<<(unsigned)blocks, THREADS, SHARED_BYTES, (cudaStream_t)stream>>>(map, u);
	return (int)cudaGetLastError();
}
