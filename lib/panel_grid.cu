/* SPDX-License-Identifier: MIT */
/* The LU panel of many multiprocessors: rows in registers as in lib/panel_cluster.cu, in blocks of
 * one cooperative kernel that exchange through L2.
 *
 * Two warps of a block hold no rows. One brings the pivots: it takes the best of its block's heads,
 * publishes it, and waits for those of all blocks. The other brings the pivot rows: the block that
 * holds one publishes it once its head has won, and everybody has a column's time to read it.
 * Values travel with a tag in words of 8 bytes, so that whoever sees the tag has the value
 * (lib/exchange.cuh).
 *
 * Floor: the panel once from memory and once back; per column a store to L2 and a read that sees it
 * (0.3 us on an H200), and what lib/panel_cluster.cu names between two exchanges (0.35 us).
 *
 * Log (H200, fp32, 64 columns, us a column, launch and transfers included). Predicted 1.1; measured
 * 1.4 with 8 blocks, 1.8 with 32 (16384 rows), 2.2 with 128 (65536 rows);
 * lib/panel_resident.cu 2.3, 3.3, 3.8. All blocks look at the same lines of L2: with eight copies
 * of them 1.4, 1.7 and 1.9. Of a column's 2700 cycles, clock reads included, 510 go by until the
 * block's heads are there, 400 until the best of them is published, 1300 until all blocks' are
 * there, 400 until the pivot is known: the last to publish decides, and what the two warps do waits
 * for its turn between the updates of the others. Twice the blocks with half the rows are no
 * faster; multiprocessors that products beside may not share, and a launch before the kernel before
 * has ended, change 1 %. */
#include "base.h"
#include "exchange.cuh"
#include "panel_kernels.h"
#include "panel_rows.cuh"

namespace
{

enum {
	MOST_BLOCKS = PANEL_GRID_MOST,
	LANE_HEADS = MOST_BLOCKS / 32, /* that a lane waits for */
	OTHERS = 2,                    /* warps of a block that hold no rows */
	THREADS = PANEL_CLUSTER_THREADS + 32 * OTHERS,
	COPIES = 8 /* of a slot: fewer blocks look at each */
};

/* Slots in global memory, in words of 8 bytes: turn by turn so many copies of the heads of the
 * blocks and the pivot row. */
template <typename real> struct layout {
	static const int HEAD = sizeof(real) == 4 ? 4 : 8;
	static const int COPY = MOST_BLOCKS * HEAD + PANEL_ROW;
	static const int TURN = COPIES * COPY;
};

template <typename real> struct grid {
	struct panel<real> panel;
	uint64_t *slots;
	uint32_t tag; /* of column 0 */
};

/* What the warps that hold rows learn of a column's pivot. */
template <typename real> struct alignas(16) verdict {
	real reciprocal, pivot, right;
	int position;
	int warp; /* of this block, that holds the row; or -1 */
};

template <typename real, int COLUMNS> struct shared {
	struct row_memory<real, COLUMNS> rows;
	struct head<real> heads[TURNS][MOST_WARPS];
	struct verdict<real> verdict[TURNS];
	/* mbarriers: all heads of the block are there; the pivot row of a column is */
	uint64_t proposed[TURNS], row[TURNS];
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* mbarriers that can be waited for */

template <typename real, int COLUMNS> struct exchange_of_grid {
	struct shared<real, COLUMNS> *s;
	struct seat t;

	/* block 0, whose first rows others will write, has read them before it sends a head */
	__device__ __forceinline__ void ready() const
	{
		fence_device();
	}

	__device__ __forceinline__ void send(
	        uint32_t turn, bool exists, const struct head<real> &mine, int best) const
	{
		if (exists && t.lane == best) {
			s->heads[turn][t.warp] = mine;
			arrivals_arrive(shared_address(&s->proposed[turn]));
		}
	}

	__device__ __forceinline__ struct winner<real> pivot(uint32_t turn, real) const {
		const struct verdict<real> v = s->verdict[turn];
		return {{v.reciprocal, v.pivot}, v.right, v.position};
	}
};

/* ---- heads ---- */

__device__ __forceinline__ void store_words(
        uint64_t *slot, uint32_t first, uint32_t second, uint32_t tag)
{
	const uint64_t upper = (uint64_t)tag << 32;
	asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(slot), "l"(upper | first),
	             "l"(upper | second)
	             : "memory");
}

__device__ __forceinline__ bool load_words(
        const uint64_t *slot, uint32_t *first, uint32_t *second, uint32_t tag)
{
	uint64_t x, y;
	asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
	             : "=l"(x), "=l"(y)
	             : "l"(slot)
	             : "memory");
	*first = (uint32_t)x;
	*second = (uint32_t)y;
	return exchange_tagged(x, tag) & exchange_tagged(y, tag);
}

__device__ __forceinline__ void store_head(
        uint64_t *slot, const struct head<float> &h, uint32_t tag)
{
	store_words(slot, __float_as_uint(h.value), h.position, tag);
	store_words(slot + 2, __float_as_uint(h.right), __float_as_uint(h.multiplier), tag);
}

__device__ __forceinline__ bool load_head(const uint64_t *slot, struct head<float> *h, uint32_t tag)
{
	uint32_t value, right, multiplier;
	const bool one = load_words(slot, &value, &h->position, tag);
	const bool two = load_words(slot + 2, &right, &multiplier, tag);
	h->value = __uint_as_float(value);
	h->right = __uint_as_float(right);
	h->multiplier = __uint_as_float(multiplier);
	return one & two;
}

__device__ __forceinline__ void store_double(uint64_t *slot, double x, uint32_t tag)
{
	store_words(slot, (uint32_t)__double2loint(x), (uint32_t)__double2hiint(x), tag);
}

__device__ __forceinline__ bool load_double(const uint64_t *slot, double *x, uint32_t tag)
{
	uint32_t low, high;
	const bool there = load_words(slot, &low, &high, tag);
	*x = __hiloint2double((int)high, (int)low);
	return there;
}

__device__ __forceinline__ void store_head(
        uint64_t *slot, const struct head<double> &h, uint32_t tag)
{
	store_double(slot, h.value, tag);
	store_words(slot + 2, h.position, 0, tag);
	store_double(slot + 4, h.right, tag);
	store_double(slot + 6, h.multiplier, tag);
}

__device__ __forceinline__ bool load_head(
        const uint64_t *slot, struct head<double> *h, uint32_t tag)
{
	uint32_t none;
	const bool value = load_double(slot, &h->value, tag);
	const bool position = load_words(slot + 2, &h->position, &none, tag);
	const bool right = load_double(slot + 4, &h->right, tag);
	const bool multiplier = load_double(slot + 6, &h->multiplier, tag);
	return value & position & right & multiplier;
}

/* The better head first. */
template <typename real>
__device__ __forceinline__ bool better(const struct head<real> &x, const struct head<real> &y)
{
	const auto u = weight_of(x.value), v = weight_of(y.value);
	return (u > v) | ((u == v) & (x.position < y.position));
}

template <typename real> __device__ __forceinline__ int best_of_lanes(const struct head<real> &h)
{
	const auto weight = weight_of(h.value);
	return best_lane(warp_largest(leading(weight)), weight, h.position);
}

/* The best of the blocks that a lane waits for: block 32 i + lane. */
template <typename real>
__device__ __forceinline__ struct head<real> wait_for_heads(
        const uint64_t *slots, int lane, uint32_t tag, uint32_t *error) {
	struct head<real> h[LANE_HEADS], best;
	struct spin spin = {0, 0};
	bool ready = false;
	while (!ready) {
		ready = true;
#pragma unroll
		for (int i = 0; i < LANE_HEADS; i++) {
			h[i] = {real(0), NO_INDEX, real(0), real(0)};
			const int block = 32 * i + lane;
			if (32 * i < (int)gridDim.x && block < (int)gridDim.x)
				ready &= load_head(slots + block * layout<real>::HEAD, &h[i], tag);
		}
		ready = ready || !spin_again(&spin, error);
	}
	__syncwarp();
	best = h[0];
#pragma unroll
	for (int i = 1; i < LANE_HEADS; i++)
		if (better(h[i], best))
			best = h[i];
	return best;
}

/* The warp that brings the pivots. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void bring_pivots(
        const struct grid<real> &g, struct shared<real, COLUMNS> &s, const struct seat &t)
{
	const int warps = t.threads / 32;
	for (int j = 0; j < g.panel.n; j++) {
		const uint32_t turn = (uint32_t)j % TURNS, parity = (uint32_t)j / TURNS % 2;
		const uint32_t before = (turn + TURNS - 1) % TURNS, tag = g.tag + (uint32_t)j;
		uint64_t *slots = g.slots + turn * layout<real>::TURN;
		const uint64_t *copy = slots + t.rank % COPIES * layout<real>::COPY;
		struct head<real> mine = {
			real(0), NO_INDEX, real(0), real(0)
		};

		wait_phase(&s.proposed[turn], parity, g.panel.error);
		if (t.lane < warps)
			mine = s.heads[turn][t.lane];
		const int warp = best_of_lanes(mine);
		if (t.lane < COPIES)
			store_head(
			        slots + t.lane * layout<real>::COPY + t.rank * layout<real>::HEAD,
			        s.heads[turn][warp], tag);
		const uint32_t own = from_lane(mine.position, warp);

		const struct head<real> h = wait_for_heads<real>(copy, t.lane, tag, g.panel.error);
		const struct pivot_divisor<real> d = pivot_divide_by(h.value);
		const int best = best_of_lanes(h);
		if (j > 0)
			wait_phase(&s.row[before], (uint32_t)(j - 1) / TURNS % 2, g.panel.error);
		if (t.lane == best) {
			const real right =
			        minus_product(h.right, h.multiplier, s.rows.pivot_row[before][1]);
			s.verdict[turn] = {d.reciprocal, d.pivot, right, (int)h.position,
			        h.position == own ? warp : -1};
			arrivals_arrive(shared_address(&s.rows.full[turn]));
		}
	}
}

/* ---- pivot rows ---- */

__device__ __forceinline__ void store_element(uint64_t *slot, int c, float x, uint32_t tag)
{
	exchange_store(slot + c, __float_as_uint(x), tag);
}

__device__ __forceinline__ void store_element(uint64_t *slot, int c, double x, uint32_t tag)
{
	store_double(slot + 2 * c, x, tag);
}

__device__ __forceinline__ bool load_element(const uint64_t *slot, int c, float *x, uint32_t tag)
{
	const uint64_t word = exchange_load(slot + c);
	*x = __uint_as_float((uint32_t)word);
	return exchange_tagged(word, tag);
}

__device__ __forceinline__ bool load_element(const uint64_t *slot, int c, double *x, uint32_t tag)
{
	return load_double(slot + 2 * c, x, tag);
}

/* The row of pivot j, right of the pivot, to all blocks and to the panel. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void publish_row(const struct panel<real> &g,
        const struct row_memory<real, COLUMNS> &s, int lane, int j, int warp, uint64_t *slot,
        uint32_t tag)
{
	const uint32_t turn = (uint32_t)j % TURNS;
	const real *before = s.pivot_row[(turn + TURNS - 1) % TURNS] + 1;
	const struct tail<real, COLUMNS> &own = s.own[turn][warp];
	const int count = g.n - 1 - j;
#pragma unroll
	for (int i = 0; i < COLUMNS; i += 32) {
		const int c = i + lane;
		if (c >= count)
			continue;
		const real x = minus_product(own.row[c], own.multiplier, before[c]);
#pragma unroll
		for (int copy = 0; copy < COPIES; copy++)
			store_element(slot + copy * layout<real>::COPY, c, x, tag);
		g.a[j + (j + 1 + c) * g.lda] = x;
	}
}

/* What a lane reads of the row of pivot j, to the block's memory. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void receive_row(
        real *row, int lane, int count, const uint64_t *slot, uint32_t tag, uint32_t *error)
{
	real x[COLUMNS / 32];
	struct spin spin = {0, 0};
	bool ready = false;
	while (!ready) {
		ready = true;
#pragma unroll
		for (int i = 0; i < COLUMNS / 32; i++) {
			x[i] = real(0);
			if (32 * i + lane < count)
				ready &= load_element(slot, 32 * i + lane, &x[i], tag);
		}
		ready = ready || !spin_again(&spin, error);
	}
#pragma unroll
	for (int i = 0; i < COLUMNS / 32; i++)
		row[32 * i + lane] = x[i];
	__syncwarp();
}

/* The warp that brings the pivot rows. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void bring_rows(
        const struct grid<real> &g, struct shared<real, COLUMNS> &s, const struct seat &t)
{
	const struct panel<real> &p = g.panel;
	int info = 0;
	for (int j = 0; j < p.n; j++) {
		const uint32_t turn = (uint32_t)j % TURNS, parity = (uint32_t)j / TURNS % 2;
		const uint32_t tag = g.tag + (uint32_t)j;
		uint64_t *slot =
		        g.slots + turn * layout<real>::TURN + MOST_BLOCKS * layout<real>::HEAD;

		wait_phase(&s.rows.full[turn], parity, p.error);
		const struct verdict<real> v = s.verdict[turn];
		if (v.warp >= 0) {
			wait_phase(&s.rows.own_full[turn], parity, p.error);
			publish_row(p, s.rows, t.lane, j, v.warp, slot, tag);
			if (t.lane == 0) {
				p.a[j + j * p.lda] = v.pivot;
				p.pivots[j] = v.position + 1;
			}
		}
		if (info == 0 && v.pivot == real(0))
			info = j + 1;
		receive_row<real, COLUMNS>(s.rows.pivot_row[turn], t.lane, p.n - 1 - j,
		        slot + t.rank % COPIES * layout<real>::COPY, tag, p.error);
		if (t.lane == 0)
			arrivals_arrive(shared_address(&s.row[turn]));
	}
	if (t.rank == 0 && t.lane == 0)
		p.pivots[p.n] = info;
}

template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void factorize(const struct grid<real> &g)
{
	extern __shared__ __align__(16) unsigned char memory[];
	/* an address that the compiler keeps instead of working it out again and again */
	unsigned char *base = memory;
	asm volatile("" : "+l"(base));
	__builtin_assume(__isShared(base));
	struct shared<real, COLUMNS> &s = *(struct shared<real, COLUMNS> *)base;
	const struct seat t = take_seat((int)blockIdx.x, OTHERS);
	const uint32_t warps = (uint32_t)t.threads / 32;

	for (int k = (int)threadIdx.x; k < COLUMNS + 4; k += (int)blockDim.x)
		s.rows.pivot_row[TURNS - 1][k] = real(0);
	if (threadIdx.x < TURNS) /* for whoever has given up waiting */
		s.verdict[threadIdx.x] = {real(0), real(0), real(0), 0, -1};
	if (threadIdx.x == 0) {
		arrivals_set(s.rows.full, TURNS, 1);
		arrivals_set(s.rows.own_full, TURNS, warps);
		arrivals_set(s.proposed, TURNS, warps);
		arrivals_set(s.row, TURNS, 1);
	}
	__syncthreads();
	/* a vote, so that the compiler knows that no warp parts */
	if (__any_sync(0xffffffffu, (int)threadIdx.x < t.threads))
		hold_rows<real, COLUMNS, ROWS>(g.panel, s.rows, t,
		        exchange_of_grid<real, COLUMNS>{&s, t}, (real *)(base + sizeof s));
	else if (__any_sync(0xffffffffu, (int)threadIdx.x < t.threads + 32))
		bring_pivots(g, s, t);
	else
		bring_rows(g, s, t);
}

#endif

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(THREADS, 1) grid_kernel(const struct grid<real> g)
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
	        (const void *)grid_kernel<real, COLUMNS, ROWS>};
}

const struct variant variants[] = {
        variant_of<float, 32, 4>(),
        variant_of<float, 64, 2>(),
        variant_of<float, 128, 1>(),
        variant_of<double, 32, 2>(),
        variant_of<double, 64, 1>(),
};

int attribute_of_device(enum cudaDeviceAttr attribute)
{
	int device, value = 0;
	const bool known = cudaGetDevice(&device) == cudaSuccess &&
	                   cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess;
	return known ? value : 0;
}

int most_blocks(void)
{
	const int sms = attribute_of_device(cudaDevAttrMultiProcessorCount);
	const bool able = attribute_of_device(cudaDevAttrComputeCapabilityMajor) >= 9 &&
	                  attribute_of_device(cudaDevAttrCooperativeLaunch);
	return !able ? 0 : sms < MOST_BLOCKS ? sms : MOST_BLOCKS;
}

/* Few blocks with more rows are no slower than more blocks to exchange with, and leave more to
 * others. */
int blocks_of(const struct variant *v, int64_t m)
{
	const int64_t rows = (int64_t)PANEL_CLUSTER_THREADS * v->rows;
	return (int)((m + rows - 1) / rows);
}

/* NULL when no kernel takes the panel. */
const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	const int most = most_blocks();
	for (const struct variant &v : variants)
		if (v.precision == precision && n <= v.columns && n <= m &&
		        m <= panel_grid_rows(n, precision_bytes(precision), most))
			return &v;
	return NULL;
}

template <typename real>
int run(const struct variant *v, const struct panel<real> &panel, void *slots, uint32_t tag,
        void *stream)
{
	const int64_t bytes =
	        v->fixed_bytes + (int64_t)panel.n * PANEL_CLUSTER_THREADS * v->multiplier_bytes;
	struct grid<real> g = {
		panel, (uint64_t *)slots, tag
	};
	void *arguments[] = {&g};
	const cudaError_t error = cudaFuncSetAttribute(
	        v->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return (int)error;
	return (int)cudaLaunchCooperativeKernel(v->kernel, dim3((unsigned)blocks_of(v, panel.m)),
	        dim3(THREADS), arguments, (size_t)bytes, (cudaStream_t)stream);
}

} // namespace

extern "C" bool panel_grid_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int64_t panel_grid_work(void)
{
	return (int64_t)sizeof(uint64_t) * TURNS * layout<double>::TURN;
}

extern "C" int panel_grid(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        int *pivots, void *work, uint32_t tag, int *error, void *stream)
{
	const struct variant *v = choose(precision, m, n);
	uint32_t *gave_up = (uint32_t *)error;
	if (!v)
		return (int)cudaErrorInvalidValue;
	return precision == SINGLE
	               ? run<float>(v, {(float *)a, lda, (int)m, (int)n, pivots, gave_up}, work,
	                         tag, stream)
	               : run<double>(v, {(double *)a, lda, (int)m, (int)n, pivots, gave_up}, work,
	                         tag, stream);
}
