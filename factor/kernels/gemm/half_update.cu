/* SPDX-License-Identifier: MIT */
/* Updates by 3xFP16. A block of threads computes a tile of ROWS x COLUMNS: two warpgroups multiply,
 * 64 rows each; one thread copies the high and low parts of both operands, 64 of the inner
 * dimension at a time, through a ring in shared memory. high high has one sum in registers, high
 * low + low high another, so the units' truncation does not affect the small products. At the end
 * the mean loss by truncation is returned, and the sums are added and multiplied by the row's
 * and the column's factor, which a warp has fetched. A block processes several tiles: the next
 * tile's operands arrive while one tile is added to C. C passes through shared memory too, as far
 * as there is room beside the ring: it arrives during its product, is added to there, and is
 * written back during the next product.
 *
 * Cost: 3 x 128 x 192 k multiply-adds per tile at the rate of FP16, C once from and to memory. A
 * slab of 64 brings 80 KiB for 4.7 million multiply-adds.
 *
 * docs/experiments/half-update.md has measurements and rejected variants. */
#include "half_update.h"

#include "half_pair.h"
#include "half_update_c.cuh"

namespace
{

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

const int REGISTERS_WORKING = 232, REGISTERS_COPYING = 40; /* per thread, instead of 168 */

template <class any_update>
__device__ void bring(const any_update &u, const struct operands &o, const struct ring &ring,
        uint32_t memory, const struct share &mine, struct place at)
{
	interval<STAGES> turn = {0, 1}; /* phase before an empty stage's first use */
	for (int t = mine.first; t < mine.end; t = next(u, at, mine, t)) {
		const int2 tile = corner(u, at);
		for (int x = 0; x < 2 * u.slabs; x++, turn.next()) {
			wait_stage(shared_address(&ring.empty[turn.stage]), turn.parity);
			copy_stage(memory + turn.stage * STAGE_BYTES, o, x / 2 * SLAB, x % 2, tile,
			        shared_address(&ring.full[turn.stage]));
		}
	}
}

/* By one thread of each warpgroup. */
DEVICE void release(const struct ring &ring, int stage)
{
	if (threadIdx.x % 128 == 0)
		arrivals_arrive(shared_address(&ring.empty[stage]));
}

/* high: product of the high parts; cross: the products with low parts. */
DEVICE void multiply(const struct update &u, const struct ring &ring, uint32_t memory,
        interval<STAGES> &turn, float (&high)[SUMS], float (&cross)[SUMS])
{
	const int PARTS = SLAB / 16;
	const uint32_t group = threadIdx.x / 128 * (A_BYTES / GROUPS);
	int before[2] = {-1, -1}; /* stages that unfinished products still read */
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

template <class any_update>
__device__ void work(const any_update &u, struct ring &ring, uint32_t memory, unsigned char *c,
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
			          (cross[x] * (HALF_HIGH * HALF_LOW) + high[x] * u.returned);
		settle(high); /* half of the registers become free for C */
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

/* rest: C has rows that fill no piece of 16 bytes. */
template <bool rest, class any_update>
__global__ void __launch_bounds__(THREADS, 1)
        update_kernel(const __grid_constant__ struct operands o, const any_update u)
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
	const int group = __shfl_sync(
	        0xffffffffu, threadIdx.x / 128, 0); /* uniform, and visibly so to the compiler */
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

/* A pair as columns of two parts. Elements past a part or the last column arrive as zeros. */
int describe_pair(struct matrix pair, CUtensorMap *map)
{
	const cuuint64_t depth = (cuuint64_t)half_depth(pair.m);
	const cuuint64_t sizes[] = {depth, 2, (cuuint64_t)pair.n};
	const cuuint64_t strides[] = {depth * 2, (cuuint64_t)pair.ld * 4};
	const cuuint32_t box[] = {SLAB, 1, BOX};
	return encode(
	        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, matrix_address(pair), sizes, strides, box);
}

/* The first rows of C. Elements past them arrive as zeros or within the last piece of 16 bytes, and
 * are not used. */
int describe_c(const struct update &u, int rows, CUtensorMap *map)
{
	const cuuint64_t sizes[] = {(cuuint64_t)rows, (cuuint64_t)u.n};
	const cuuint64_t strides[] = {(cuuint64_t)u.ldc * 4};
	const cuuint32_t box[] = {C_BOX, C_BOX};
	return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, u.c, sizes, strides, box);
}

template <bool rest, class any_update>
int launch(const struct operands &o, const any_update &u, cudaStream_t stream)
{
	const int error = kernel_allow_shared((const void *)update_kernel<rest, any_update>);
	if (error)
		return error;
	update_kernel<rest><<<(unsigned)blocks_of(u), THREADS, SHARED_BYTES, stream>>>(o, u);
	return (int)cudaGetLastError();
}

struct update update_of(enum uplo part, double alpha, int depth, struct matrix c, bool shared)
{
	return {(float *)matrix_address(c), c.ld, (int)c.m, (int)c.n, tiles_along(depth, SLAB),
	        (float)alpha, (float)(HALF_HIGH * HALF_HIGH * half_returned(depth)), part,
	        gpu_current()->sm_count, shared, 0, 0, 0, {}};
}

template <class any_update>
int run(any_update u, struct matrix left, struct matrix right, cudaStream_t stream)
{
	const int depth = (int)half_depth(left.m);
	struct operands o = {{}, {}, {}, {}, (const float *)matrix_address(left) + depth,
	        (const float *)matrix_address(right) + depth, left.ld, right.ld, (int)left.n,
	        (int)right.n};
	int error;
	divide(u);
	if (u.tiles == 0 || u.slabs == 0)
		return (int)cudaSuccess;
	if ((error = describe_pair(left, &o.left)) != cudaSuccess ||
	        (error = describe_pair(right, &o.right)) != cudaSuccess ||
	        (error = describe_c(u, u.m, &o.c)) != cudaSuccess ||
	        (error = describe_c(u, max(1, whole_rows(u)), &o.stored)) != cudaSuccess)
		return error;
	return whole_rows(u) < u.m ? launch<true>(o, u, stream) : launch<false>(o, u, stream);
}

} // namespace

extern "C" int half_update(enum uplo part, double alpha, struct matrix left, struct matrix right,
        struct matrix c, bool shared, void *stream)
{
	const int depth = (int)half_depth(left.m);
	return run(update_of(part, alpha, depth, c, shared), left, right, (cudaStream_t)stream);
}

extern "C" int half_stairs(struct stairs stairs, double alpha, struct matrix left,
        struct matrix right, struct matrix c, bool shared, void *stream)
{
	const int depth = (int)half_depth(left.m);
	return run(in_stairs(update_of(LOWER, alpha, depth, c, shared), stairs), left, right,
	        (cudaStream_t)stream);
}
