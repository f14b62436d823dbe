/* SPDX-License-Identifier: MIT */
/* Cholesky of a matrix or a block column in one kernel: a fixed schedule of 64 x 64 tiles, of which
 * each waits for those that it needs.
 *
 * One block of threads, the chain, has the critical path to itself, and a multiprocessor: diagonal
 * tile, its inverse, the tile below it, the update of the next diagonal tile. All others take the
 * remaining tiles in the order of their columns, sum up what the columns left of a tile take away
 * from it as these become ready (left-looking: a tile is written once), and multiply by the
 * inverse of the diagonal tile. The two tiles that the chain needs next are the first of every
 * column. Tiles travel as images (tile_image.cuh) through a workspace, by a warp that only waits
 * and copies; lower and upper triangles differ where a tile comes from the matrix and goes there.
 *
 * Tickets are given out in an order in which every tile needs earlier ones only: whoever waits,
 * waits for a block of threads that runs.
 *
 * Where an inverse cannot be trusted (the product of the largest magnitudes of the triangle and of
 * its inverse is above `growth`), substitution takes its place.
 *
 * Cost: columns / 64 times the chain's step, or the products of 64 x 64 x 64, tiles^3 / 6 of them,
 * on all multiprocessors, whichever is more. */
#include "block_kernels.h"
#include "potrf_tiles.cuh"

#ifdef TILES_CLOCK
__device__ long long tiles_ticks[8 * 512];
extern "C" void ticks_get(long long *t)
{
	cudaMemcpyFromSymbol(t, tiles_ticks, sizeof tiles_ticks);
}
#define TICK(k)                                                                                    \
	if (threadIdx.x == 0)                                                                      \
	tiles_ticks[j * 8 + k] = clock64()
#else
#define TICK(k)
#endif

namespace
{

const int WARPS = TEAM / 32;
const int THREADS = 2 * TEAM; /* a warp of the second half waits and copies */
const int RESIDENT = 2;
const int MEMORY_BYTES = 112 << 10; /* of shared memory */

template <typename T> struct shared_memory {
	static const int SLICE = image_product<T>::DEPTH * EDGE; /* elements of one operand's */
	static const int SLICES = EDGE / image_product<T>::DEPTH;
	static const int STAGE_BYTES = 2 * SLICE * (int)sizeof(T);
	static const int STAGES = (MEMORY_BYTES - IMAGE * (int)sizeof(T)) / STAGE_BYTES;

	T tile[IMAGE];
	union {
		T ring[STAGES][2][SLICE];
		struct {
			T diagonal[IMAGE], inverse[IMAGE], columns[4 * TILE];
		} chain;
	};
	uint64_t full[STAGES], empty[STAGES], given[2], taken[2];
	uint32_t largest[2 * WARPS];
	int ticket[2], trusted[2], role;
};

/* The solution with the diagonal tile of a tile's column by substitution, a row a thread, from the
 * factor in the matrix. */
template <typename T, bool upper>
__device__ __noinline__ void substitute(const tiles_args<T, upper> &g, struct tile_at at, T *tile)
{
	const int columns = g.tile_rows(at.j), row = threadIdx.x;
	const int64_t first = g.tile_row(at.j);
	for (int j = 0; j < columns && row < EDGE; j++) {
		T x = tile[image_at<T>(row, j)];
		for (int k = 0; k < j; k++)
			x = minus_product(
			        x, tile[image_at<T>(row, k)], __ldcg(g.a.at(first + j, first + k)));
		tile[image_at<T>(row, j)] = x / __ldcg(g.a.at(first + j, first + j));
	}
	team_barrier();
}

template <typename T, bool upper> struct potrf_team {
	typedef shared_memory<T> shared;
	typedef image_product<T> product;

	const tiles_args<T, upper> &g;
	shared &s;
	bool broken; /* this thread waits no more */

	/* ---- waiting ---- */

	__device__ __forceinline__ void wait(uint64_t *barrier, uint32_t parity)
	{
		struct spin spin = {0, 0};
		while (!broken && !phase_over(barrier, parity))
			broken = !spin_again(&spin, g.error());
	}

	__device__ __forceinline__ uint32_t wait_word(const uint32_t *word, uint32_t least)
	{
		struct spin spin = {0, 0};
		uint32_t value = load_acquire(word);
		while (value < least && !broken) {
			broken = !spin_again(&spin, g.error());
			value = load_acquire(word);
		}
		bulk_fence();
		return value;
	}

	/* Of a warp, after its last look at something. */
	__device__ __forceinline__ void release(uint64_t *barrier)
	{
		__syncwarp();
		if (threadIdx.x % 32 == 0)
			phase_arrive(barrier);
	}

	/* The team's writes to the workspace are there for whoever sees the word. */
	__device__ __forceinline__ void publish(uint32_t *word, uint32_t value)
	{
		bulk_fence();
		team_barrier();
		if (threadIdx.x == 0)
			store_release(word, value);
	}

	/* ---- between the matrix and images ---- */

	/* Starts the copy of a tile of the matrix; beyond its edges it is the identity's. */
	__device__ __forceinline__ void fetch(struct tile_at at, T *image)
	{
		const int rows = g.tile_rows(at.i), columns = g.tile_rows(at.j);
		const T *from = g.a.at(g.tile_row(at.i), g.tile_row(at.j));
		image_each<upper>([&](int i, int j) {
			T *to = image + image_at<T>(i, j);
			if (i < rows && j < columns && (at.i != at.j || i >= j))
				__pipeline_memcpy_async(to,
				        from + (upper ? j + i * g.a.lda : i + j * g.a.lda),
				        sizeof(T));
			else
				*to = T(at.i == at.j && i == j);
		});
		__pipeline_commit();
	}

	__device__ __forceinline__ void store(struct tile_at at, const T *image)
	{
		const int rows = g.tile_rows(at.i), columns = g.tile_rows(at.j);
		T *to = g.a.at(g.tile_row(at.i), g.tile_row(at.j));
		image_each<upper>([&](int i, int j) {
			if (i < rows && j < columns && (at.i != at.j || i >= j))
				to[upper ? j + i * g.a.lda : i + j * g.a.lda] =
				        image[image_at<T>(i, j)];
		});
	}

	/* ---- tiles off the critical path ---- */

	__device__ void copy_tiles(void)
	{
		tiles_cursor cursor = {0, 1};
		int stage = 0;
		uint32_t lap = 1;
		for (uint32_t turn = 0; !broken; turn++) {
			const int slot = turn % 2;
			const int ticket = (int)atomicAdd(g.tickets(), 1);
			const bool more = ticket < g.tickets_all();
			wait(&s.taken[slot], turn / 2 % 2 ^ 1);
			s.ticket[slot] = more ? ticket : -1;
			phase_arrive(&s.given[slot]);
			if (!more)
				break;
			const tiles_task task = cursor.at(g, ticket);
			uint32_t there[2] = {0, 0};
			for (int k = 0; k <= task.steps; k++) {
				const bool last = k == task.steps;
				if (last && task.kind != TASK_SOLVE)
					break;
				if (last)
					s.trusted[slot] =
					        wait_word(g.inverted(task.at.j), 1) == INVERSE_GOOD;
				for (int x = 0; x < 2 && !last; x++)
					if (there[x] <= (uint32_t)k)
						there[x] = wait_word(
						        g.progress(x ? task.at.j : task.at.i),
						        (uint32_t)k + 1);
				const T *left = last ? nullptr : g.image(task.at.i, k);
				const T *right =
				        last ? g.inverse(task.at.j) : g.image(task.at.j, k);
				for (int x = 0; x < shared::SLICES && !broken; x++) {
					copy_slice(stage, lap,
					        left ? left + x * shared::SLICE : nullptr,
					        right + x * shared::SLICE);
					if (++stage == shared::STAGES) {
						stage = 0;
						lap ^= 1;
					}
				}
			}
		}
	}

	__device__ __forceinline__ void copy_slice(
	        int stage, uint32_t lap, const T *left, const T *right)
	{
		const unsigned bytes = shared::SLICE * (unsigned)sizeof(T);
		wait(&s.empty[stage], lap);
		phase_arrive_expecting(&s.full[stage], left ? 2 * bytes : bytes);
		if (left)
			bulk_copy(s.ring[stage][0], left, bytes, &s.full[stage]);
		bulk_copy(s.ring[stage][1], right, bytes, &s.full[stage]);
	}

	__device__ void work_on_tiles(void)
	{
		tiles_cursor cursor = {0, 1};
		product p;
		int stage = 0;
		uint32_t lap = 0;
		for (uint32_t turn = 0;; turn++) {
			const int slot = turn % 2;
			wait(&s.given[slot], turn / 2 % 2);
			/* also: nobody needs the last tile any more */
			if (team_barrier_or(broken))
				return;
			const int ticket = s.ticket[slot];
			if (ticket < 0)
				return;
			const tiles_task task = cursor.at(g, ticket);
			fetch(task.at, s.tile);
			p.clear();
			for (int x = 0; x < task.steps * shared::SLICES; x++)
				add_slice(p, stage, lap, s.ring[stage][0]);
			__pipeline_wait_prior(0);
			team_barrier();
			p.template settle<SUBTRACT>(s.tile);
			if (task.kind == TASK_SOLVE)
				solve(p, task.at, slot, stage, lap);
			if (team_barrier_or(broken))
				return;
			image_store(task.kind == TASK_DIAGONAL ? g.inverse(task.at.j)
			                                       : g.image(task.at.i, task.at.j),
			        s.tile);
			if (task.kind == TASK_SOLVE) {
				publish(g.progress(task.at.i), (uint32_t)task.at.j + 1);
				store(task.at, s.tile);
			} else {
				publish(task.kind == TASK_DIAGONAL ? g.diagonal(task.at.j)
				                                   : g.below(task.at.j),
				        1);
			}
			release(&s.taken[slot]);
		}
	}

	__device__ __forceinline__ void add_slice(
	        product &p, int &stage, uint32_t &lap, const T *left)
	{
		wait(&s.full[stage], lap);
		p.slice(left, s.ring[stage][1]);
		release(&s.empty[stage]);
		if (++stage == shared::STAGES) {
			stage = 0;
			lap ^= 1;
		}
	}

	/* The inverse has come as the next slices. */
	__device__ __forceinline__ void solve(
	        product &p, struct tile_at at, int slot, int &stage, uint32_t &lap)
	{
		p.clear();
		for (int x = 0; x < shared::SLICES; x++)
			add_slice(p, stage, lap, s.tile + x * shared::SLICE);
		team_barrier();
		if (s.trusted[slot])
			p.template settle<SET>(s.tile);
		else
			substitute(g, at, s.tile);
	}

	/* ---- the critical path ---- */

	__device__ void copy_chain(void)
	{
		const unsigned bytes = IMAGE * (unsigned)sizeof(T);
		for (int j = 0; j < g.square && !broken; j++) {
			wait(&s.empty[0], j % 2 ^ 1);
			wait_word(g.diagonal(j), 1);
			phase_arrive_expecting(&s.full[0], bytes);
			bulk_copy(s.chain.diagonal, g.inverse(j), bytes, &s.full[0]);
			if (j + 1 == g.square)
				break;
			wait(&s.empty[1], j % 2 ^ 1);
			wait_word(g.below(j), 1);
			phase_arrive_expecting(&s.full[1], bytes);
			bulk_copy(s.tile, g.image(j + 1, j), bytes, &s.full[1]);
		}
	}

	__device__ void follow_chain(void)
	{
		T *diagonal = s.chain.diagonal, *inverse = s.chain.inverse;
		product p;
		for (int i = threadIdx.x; i < IMAGE; i += TEAM)
			inverse[i] = T(0);
		wait(&s.full[0], 0);
		if (team_barrier_or(broken))
			return;
		for (int j = 0;; j++) {
			TICK(0);
			const int failed = factor_diagonal(diagonal, inverse, s.chain.columns);
			if (team_barrier_or(failed < EDGE || broken)) {
				if (threadIdx.x == 0 && !broken)
					fail(g.first + j * EDGE + failed + 1);
				return;
			}
			TICK(1);
			const bool trusted = publish_inverse(j);
			TICK(2);
			if (j + 1 == g.square)
				return;
			leave(&s.empty[0]);
			wait(&s.full[1], j % 2);
			TICK(3);
			p.clear();
			if (trusted)
				for (int x = 0; x < shared::SLICES; x++)
					p.slice(s.tile + x * shared::SLICE,
					        inverse + x * shared::SLICE);
			team_barrier();
			if (trusted)
				p.template settle<SET>(s.tile);
			else
				substitute(g, {j + 1, j}, s.tile);
			if (team_barrier_or(broken))
				return;
			TICK(4);
			image_store(g.image(j + 1, j), s.tile);
			publish(g.progress(j + 1), (uint32_t)j + 1);
			TICK(5);
			p.clear();
			for (int x = 0; x < shared::SLICES; x++)
				p.slice(s.tile + x * shared::SLICE, s.tile + x * shared::SLICE);
			wait(&s.full[0], (j + 1) % 2);
			TICK(6);
			p.template settle<SUBTRACT>(diagonal);
			TICK(7);
			store({j + 1, j}, s.tile);
			leave(&s.empty[1]);
		}
	}

	/* This memory's next owner is a bulk copy. */
	__device__ __forceinline__ void leave(uint64_t *barrier)
	{
		bulk_fence();
		release(barrier);
	}

	__device__ void fail(int info)
	{
		*g.info = info;
		store_relaxed(g.error(), 1);
	}

	/* The factor to the matrix, the image of its inverse to the workspace. */
	__device__ __forceinline__ bool publish_inverse(int j)
	{
		const T *diagonal = s.chain.diagonal, *inverse = s.chain.inverse;
		float factor_most = 0, inverse_most = 0;
		store({j, j}, diagonal);
		image_store(g.inverse(j), inverse);
#pragma unroll 8
		for (int x = threadIdx.x; x < IMAGE; x += TEAM) {
			const int row = x % EDGE, column = x / EDGE;
			inverse_most = larger_of(inverse_most, (float)inverse[x]);
			if (row >= column)
				factor_most = larger_of(
				        factor_most, (float)diagonal[image_at<T>(row, column)]);
		}
		warp_most(factor_most, &s.largest[0]);
		warp_most(inverse_most, &s.largest[WARPS]);
		bulk_fence();
		team_barrier();
		float most[2] = {0, 0};
		for (int x = 0; x < 2 * WARPS; x++)
			most[x / WARPS] = larger_of(most[x / WARPS], __uint_as_float(s.largest[x]));
		const bool trusted = most[0] * most[1] <= g.growth;
		if (threadIdx.x == 0)
			store_release(g.inverted(j), trusted ? INVERSE_GOOD : INVERSE_BAD);
		return trusted;
	}

	/* NaN is larger than all. */
	static __device__ __forceinline__ float larger_of(float most, float x)
	{
		return fabsf(x) <= most ? most : fabsf(x);
	}

	static __device__ __forceinline__ void warp_most(float mine, uint32_t *largest)
	{
		for (int step = 16; step > 0; step /= 2)
			mine = larger_of(mine, __shfl_xor_sync(0xffffffffu, mine, step));
		if (threadIdx.x % 32 == 0)
			largest[threadIdx.x / 32] = __float_as_uint(mine);
	}
};

template <typename T> __device__ void start_memory(shared_memory<T> &s)
{
	for (int i = 0; i < shared_memory<T>::STAGES; i++) {
		phase_init(&s.full[i], 1);
		phase_init(&s.empty[i], WARPS);
	}
	for (int i = 0; i < 2; i++) {
		phase_init(&s.given[i], 1);
		phase_init(&s.taken[i], WARPS);
	}
	IN_CLUSTER(asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"));
}

/* What a block of threads does: the first one that runs is the chain, and one that has come to the
 * chain's multiprocessor goes. */
enum role { ROLE_CHAIN, ROLE_TILES, ROLE_NONE };

template <typename T, bool upper> __device__ int take_role(const tiles_args<T, upper> &g)
{
	uint32_t here;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
	if (atomicAdd(g.roles(), 1) == 0) {
		store_release(g.chain_place(), here + 1);
		return ROLE_CHAIN;
	}
	struct spin spin = {0, 0};
	uint32_t place = 0;
	while ((place = load_acquire(g.chain_place())) == 0)
		if (!spin_again(&spin, g.error()))
			return ROLE_NONE;
	return place == here + 1 && atomicExch(g.vacated(), 1) == 0 ? ROLE_NONE : ROLE_TILES;
}

template <typename T, bool upper>
__global__ void __launch_bounds__(THREADS, RESIDENT)
        tiles_kernel(const __grid_constant__ tiles_args<T, upper> g)
{
	extern __shared__ __align__(128) unsigned char memory[];
	shared_memory<T> &s = *(shared_memory<T> *)memory;
	if (threadIdx.x == 0) {
		s.role = *g.info != 0 ? ROLE_NONE : take_role(g);
		start_memory(s);
	}
	__syncthreads();
	const int role = s.role;
	if (role == ROLE_NONE)
		return;
	potrf_team<T, upper> team = {g, s, false};
	if (threadIdx.x < TEAM) {
		more_registers<224>();
		if (role == ROLE_CHAIN)
			team.follow_chain();
		else
			team.work_on_tiles();
	} else {
		fewer_registers<32>();
		if (threadIdx.x != TEAM)
			return;
		if (role == ROLE_CHAIN)
			team.copy_chain();
		else
			team.copy_tiles();
	}
}

template <typename T, bool upper>
int launch(struct matrix a, int64_t first, int *info, double growth, int multiprocessors,
        void *work, void *stream)
{
	const int rows = (int)(upper ? a.n : a.m), columns = (int)(upper ? a.m : a.n);
	const int bytes = (int)sizeof(shared_memory<T>);
	struct tiles_args<T, upper> g;
	g.a = {(T *)matrix_address(a), a.ld};
	g.rows = rows;
	g.columns = columns;
	g.square = tiles_edge(columns);
	g.tall = g.square + tiles_edge(rows - columns);
	g.first = (int)first;
	g.info = info;
	g.growth = (float)growth;
	g.words = (uint32_t *)work;
	g.images = (T *)((char *)work + tiles_words(g.square, g.tall) * sizeof(uint32_t));
	int error = cudaMemsetAsync(
	        work, 0, tiles_words(g.square, g.tall) * sizeof(uint32_t), (cudaStream_t)stream);
	if (error == cudaSuccess)
		error = cudaFuncSetAttribute(
		        tiles_kernel<T, upper>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	if (error != cudaSuccess)
		return error;
	tiles_kernel<T, upper>
	        <<<RESIDENT * multiprocessors, THREADS, bytes, (cudaStream_t)stream>>>(g);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" bool block_potrf_tiles_has(int major, int64_t shared_per_block)
{
	return major >= 9 && shared_per_block >= (int64_t)sizeof(shared_memory<float>) &&
	       shared_per_block >= (int64_t)sizeof(shared_memory<double>);
}

extern "C" int64_t block_potrf_tiles_work(enum uplo uplo, struct matrix a)
{
	const int64_t columns = uplo == UPPER ? a.m : a.n, rows = uplo == UPPER ? a.n : a.m;
	const int square = tiles_edge(columns), tall = square + tiles_edge(rows - columns);
	return tiles_words(square, tall) * (int64_t)sizeof(uint32_t) +
	       tiles_images(square, tall) * IMAGE * precision_bytes(a.precision);
}

extern "C" int block_potrf_tiles(enum uplo uplo, struct matrix a, int64_t first, int *info,
        double growth, int multiprocessors, void *work, void *stream)
{
	if (a.m < 1 || a.n < 1)
		return (int)cudaSuccess;
	if (a.precision == SINGLE)
		return uplo == LOWER ? launch<float, false>(a, first, info, growth, multiprocessors,
		                               work, stream)
		                     : launch<float, true>(a, first, info, growth, multiprocessors,
		                               work, stream);
	return uplo == LOWER ? launch<double, false>(
	                               a, first, info, growth, multiprocessors, work, stream)
	                     : launch<double, true>(
	                               a, first, info, growth, multiprocessors, work, stream);
}
