/* SPDX-License-Identifier: MIT */
/* A block of threads has a tile of ROWS x COLUMNS: two warpgroups multiply, 64 rows each, and one
 * thread brings both operands' high and low parts, 64 of the inner dimension at a time, through a
 * ring in shared memory: high parts, then low parts, and so on. high high is one sum in registers,
 * high low + low high another, so that the units cut off nothing of the small products; they are
 * added up at the end, and multiplied by the row's and the column's factor, which a warp has
 * brought meanwhile. A block stays for several tiles, and while one is added to C the operands of
 * the next come. C itself comes to shared memory while its product is made, as far as there is room
 * beside the ring, is added to there and goes back while the next product is made.
 *
 * Cost: 3 x 128 x 192 k multiply-adds a tile at the rate of FP16, C once from and to memory. Each
 * of the three products reads parts that are there already: a slab of 64 brings 80 KiB for 4.7
 * million multiply-adds.
 *
 * Measured (H200, Tflop/s of one product in fp32): squares of 4096, 8192, 16384 by 256 98, 121,
 * 130, by 128 64, 84, 96; triangles by 256 78, 102, 124; beside other kernels, by blocks of up to
 * four tiles, 97, 111, 122 and 86, 105, 125. The library's stacks of 3xTF32 by 256 96, 97, 101. Of
 * 16384 x 16384 by 256 C's 2 Gbyte take 0.5 of the 1.05 ms. In a trial without factors, calls on
 * end: by 256 131, by sums of 512 products 170, of which the units would cut off more; by blocks of
 * one tile 115, of 32768 98 instead of 134.
 *
 * Log (with TF32 and triangles, us). C by the threads that multiply, announced to L2: 222 at 8192
 * and 868 at 16384, of a tile's 20 us 11 for C. Predicted 125 at 8192 with all of C's tile in
 * shared memory: 233, as only three stages are left; four stages and C a third less 193. Blocks of
 * one tile walked on to the end of all tiles when theirs was done: 269 instead of 199, 14.5 ms
 * instead of 3.5 at 32768. Clusters of two blocks that share a column of tiles and bring half of it
 * each, predicted 190 at 8192, took 285. Beside panels blocks of one tile, of up to two, four,
 * eight: Cholesky of 16384 21.7, 21.3, 21.2, 21.3 ms, of 32768 156, 147, 145, 145. With FP16 LU of
 * 16384 by two and by four 47.1 and 47.6, of 32768 266 and 259; with 16 multiprocessors left to
 * panels instead LU of 4096 4.57 (4.41), of 8192 12.8 to 13.7 (13.2), QR of 8192 17.5 (17.0).
 * Cholesky's panels made the pairs themselves, and the next panel's columns were updated by this
 * kernel, too: predicted 3 to 5 % less, measured 2 % more (8192 3.92 ms instead of 3.83), as leaves
 * took 8 us longer and one tile of this kernel takes 25. Tiles of which C has no more than a part
 * of the columns went element by element, although copies leave out what is beyond it: 131072 x 256
 * by 128 200 -> 146, LU of 8192 12.75 -> 12.59 ms, QR of 8192 16.83 -> 16.36. Rows that fill no 16
 * bytes, up to three, were read and written where they are by the threads that multiply, one access
 * behind the other: 253 x 253 by 64 28.5 -> 11.5 us (252 x 252 10.4), 4029 x 4029 beside others 77
 * -> 59; by blocks of 64 LU of 5555 9.01 -> 8.22 ms, QR 10.4 -> 9.6, by 128 Cholesky of 10007 8.96
 * -> 7.65; and without that branch at each element of a triangle's tiles of 8192 3.90 -> 3.70
 * (H100). A C that copies do not take, element by element through the same slots by the copying
 * warps: 4028 x 4028 by 64 and 128 104 and 109 us beside others, by the threads that multiply 97
 * and 104, in fp32 (4096) 72 and 118: neither is kept; such a C is copied first (factor/algorithms/aligned.h),
 * or, of few columns, goes in fp32. */
#include "half_update.h"

#include "half_pair.h"
#include "half_update_c.cuh"

namespace
{

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

const int REGISTERS_WORKING = 232, REGISTERS_COPYING = 40; /* of a thread, in place of 168 */

__device__ void bring(const struct update &u, const struct operands &o, const struct ring &ring,
        uint32_t memory, const struct share &mine, struct place at)
{
	interval<STAGES> turn = {0, 1}; /* an empty stage's last phase */
	for (int t = mine.first; t < mine.end; t = next(u, at, mine, t)) {
		const int2 tile = corner(u, at);
		for (int x = 0; x < 2 * u.slabs; x++, turn.next()) {
			wait_stage(shared_address(&ring.empty[turn.stage]), turn.parity);
			copy_stage(memory + turn.stage * STAGE_BYTES, o, x / 2 * SLAB, x % 2, tile,
			        shared_address(&ring.full[turn.stage]));
		}
	}
}

/* ---- products ---- */

/* By one thread of each warpgroup. */
__device__ __forceinline__ void release(const struct ring &ring, int stage)
{
	if (threadIdx.x % 128 == 0)
		arrivals_arrive(shared_address(&ring.empty[stage]));
}

/* high = the high parts' product, cross = what low parts take part in. */
__device__ __forceinline__ void multiply(const struct update &u, const struct ring &ring,
        uint32_t memory, interval<STAGES> &turn, float (&high)[SUMS], float (&cross)[SUMS])
{
	const int PARTS = SLAB / 16;
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
			product_half(
			        high, describe(h + group + 32 * x), describe(h + A_BYTES + 32 * x));
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
			product_half(cross, describe(l + group + 32 * x),
			        describe(h + A_BYTES + 32 * x));
			product_half(cross, describe(h + group + 32 * x),
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

__device__ void work(const struct update &u, struct ring &ring, uint32_t memory, unsigned char *c,
        const struct share &mine, struct place at)
{
	interval<STAGES> turn = {0, 0};
	interval<C_SLOTS> slot = {0, 0};
	uint32_t parity = 0;
	for (int t = mine.first; t < mine.end; t = next(u, at, mine, t)) {
		const int2 tile = corner(u, at);
		float high[SUMS], cross[SUMS];
		multiply(u, ring, memory, turn, high, cross);
#pragma unroll
		for (int x = 0; x < SUMS; x++)
			high[x] = high[x] * (HALF_HIGH * HALF_HIGH) +
			          cross[x] * (HALF_HIGH * HALF_LOW);
		settle(high); /* half of the registers are free for what comes of C */
		wait_stage(shared_address(&ring.factors_full), parity);
		const struct factors f = factors_of(u, ring);
		if (is_uncut(u, tile))
			add_to_c<true>(u, tile, ring, c, slot, f, high);
		else
			add_to_c<false>(u, tile, ring, c, slot, f, high);
		arrivals_arrive(shared_address(&ring.factors_empty));
		parity ^= 1;
	}
}

#endif

/* Whether rows of C are left that fill no piece of 16 bytes. */
template <bool rest>
__global__ void __launch_bounds__(THREADS, 1)
        update_kernel(const __grid_constant__ struct operands o, const struct update u)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	extern __shared__ unsigned char dynamic[];
	__shared__ struct ring ring;
	const uint32_t begin = shared_address(dynamic),
	               memory = (begin + ALIGNED - 1) / ALIGNED * ALIGNED;
	const uint32_t behind = STAGES * STAGE_BYTES;
	if (threadIdx.x == 0) {
		arrivals_set(ring.full, STAGES, 1);
		arrivals_set(ring.empty, STAGES, GROUPS);
		arrivals_set(&ring.c_full[0][0], GROUPS * C_SLOTS, 1);
		arrivals_set(&ring.c_empty[0][0], GROUPS * C_SLOTS, 128);
		arrivals_set(&ring.factors_full, 1, 32);
		arrivals_set(&ring.factors_empty, 1, 128 * GROUPS);
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	}
	__syncthreads();
	const struct share mine = share_of(u, blockIdx.x);
	if (mine.first >= u.tiles)
		return;
	struct place at = place_of(u, mine.first);
	advance(u, at, 0);
	const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); /* one for all, visibly */
	if (group == GROUPS) {
		leave_registers<REGISTERS_COPYING>();
		const int warp = threadIdx.x / 32 % 4;
		if (warp > GROUPS)
			bring_factors(u, o, ring, mine, at);
		else if (warp > 0 && (rest || threadIdx.x % 32 == 0))
			carry<rest>(u, o, ring, memory + behind, warp - 1, mine, at);
		else if (warp == 0 && threadIdx.x % 32 == 0)
			bring(u, o, ring, memory, mine, at);
	} else {
		take_registers<REGISTERS_WORKING>();
		work(u, ring, memory, dynamic + (memory - begin) + behind, mine, at);
	}
#endif
}

/* ---- host ---- */

/* A pair as columns of two parts. What is beyond a part or the last column comes as zeros. */
int describe_pair(struct matrix pair, CUtensorMap *map)
{
	const cuuint64_t depth = (cuuint64_t)half_depth(pair.m);
	const cuuint64_t sizes[] = {depth, 2, (cuuint64_t)pair.n};
	const cuuint64_t strides[] = {depth * 2, (cuuint64_t)pair.ld * 4};
	const cuuint32_t box[] = {SLAB, 1, BOX};
	return encode(
	        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, matrix_address(pair), sizes, strides, box);
}

/* C's first rows: what is beyond them comes as zeros or in the last piece of 16 bytes, and goes
 * nowhere. */
int describe_c(const struct update &u, int rows, CUtensorMap *map)
{
	const cuuint64_t sizes[] = {(cuuint64_t)rows, (cuuint64_t)u.n};
	const cuuint64_t strides[] = {(cuuint64_t)u.ldc * 4};
	const cuuint32_t box[] = {C_BOX, C_BOX};
	return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, u.c, sizes, strides, box);
}

template <bool rest>
int launch(const struct operands &o, const struct update &u, cudaStream_t stream)
{
	const cudaError_t error = cudaFuncSetAttribute(
	        update_kernel<rest>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
	if (error != cudaSuccess)
		return (int)error;
	update_kernel<rest><<<(unsigned)blocks_of(u), THREADS, SHARED_BYTES, stream>>>(o, u);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" bool half_update_built(void)
{
	return built((const void *)update_kernel<true>);
}

extern "C" int half_update(enum uplo part, double alpha, struct matrix left, struct matrix right,
        struct matrix c, bool shared, void *stream)
{
	const int depth = (int)half_depth(left.m);
	struct update u = {(float *)matrix_address(c), c.ld, (int)c.m, (int)c.n,
	        tiles_along(depth, SLAB), (float)alpha, part, 0, shared, 0, 0, 0, {}};
	struct operands o = {{}, {}, {}, {}, (const float *)matrix_address(left) + depth,
	        (const float *)matrix_address(right) + depth, left.ld, right.ld, (int)left.n,
	        (int)right.n};
	int device, error;
	divide(u);
	if (u.tiles == 0 || u.slabs == 0)
		return (int)cudaSuccess;
	if ((error = describe_pair(left, &o.left)) != cudaSuccess ||
	        (error = describe_pair(right, &o.right)) != cudaSuccess ||
	        (error = describe_c(u, u.m, &o.c)) != cudaSuccess ||
	        (error = describe_c(u, max(1, whole_rows(u)), &o.stored)) != cudaSuccess ||
	        (error = (int)cudaGetDevice(&device)) != cudaSuccess ||
	        (error = (int)cudaDeviceGetAttribute(
	                 &u.wide, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess)
		return error;
	return whole_rows(u) < u.m ? launch<true>(o, u, (cudaStream_t)stream)
	                           : launch<false>(o, u, (cudaStream_t)stream);
}
