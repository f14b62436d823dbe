/* SPDX-License-Identifier: MIT */
/* The persistent Householder panel: one cooperative kernel, every thread holds ROWS rows of the
 * panel in registers, one exchange between all blocks a column.
 *
 * With s_k the sum of a_ij a_ik over the rows below the diagonal, k = j .. n-1, of the column as it
 * is, everything follows: the norm from s_j and alpha = a_jj, v_j = x / (alpha - beta), and v_j^T
 * a_k = a_jk + s_k / (alpha - beta). So a block publishes n - j partial sums, block 0 row j as
 * well, and every block adds up all of them itself, in the same order (FACTOR 3.7, panel A). The
 * norm is fresh in every column. Should s_j or one of the sums leave the safe range (zero columns
 * too), two more exchanges find the largest magnitude and repeat the sums with the column scaled by
 * a power of two; every block decides so from the same numbers.
 *
 * Column j always stands in register 0: the update of column k writes its result one register to
 * the left. Finished columns go to memory at once.
 *
 * Words of the exchange carry their tag (lib/exchange.cuh), in two sets by the parity of the round:
 * a block publishes round t + 2 only after it has read all of round t + 1, which the others publish
 * after they have read round t.
 *
 * Cost: load and store of m*n words; a column: sums (a product per element and 31 shuffles for 32
 * columns of a warp), three block barriers, one trip through L2, 16 bytes read per block and pair
 * of columns (single precision; column in double), and a fused multiply-add per element. */
#include "panel_geqrf.h"
#include "reflector.cuh"
#include "../lib/resident.h"
#include "../lib/spin.cuh"

namespace
{

const int LOADS = 8; /* pieces that a thread waits for at once */

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	real *tau;
	ulonglong2 *slots; /* [2][blocks + 1][pieces of a record]; the last record is row j */
	uint32_t *error;
};

template <typename real, int COLUMNS, int THREADS> struct scratch {
	static constexpr int per = 8 / (int)sizeof(real); /* columns in a piece of 16 bytes */
	static constexpr int pieces = COLUMNS / per;      /* of a record */
	static constexpr int groups = THREADS / pieces;   /* of threads that read one record */
	real warp_part[THREADS / 32][COLUMNS];
	real group_part[groups][COLUMNS];
	alignas(16) real top[COLUMNS];   /* row j, in block 0 */
	alignas(16) real head[COLUMNS];  /* row j, in all blocks */
	alignas(16) real times[COLUMNS]; /* what multiplies v in the update */
};

/* ---- words ---- */

__device__ __forceinline__ uint64_t tagged(uint32_t value, uint32_t tag)
{
	return (uint64_t)tag << 32 | value;
}

__device__ __forceinline__ void publish(ulonglong2 *record, int column, float value, uint32_t tag)
{
	asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"((uint64_t *)record + column),
	             "l"(tagged(__float_as_uint(value), tag))
	             : "memory");
}

__device__ __forceinline__ void publish(ulonglong2 *record, int column, double value, uint32_t tag)
{
	const uint64_t bits = (uint64_t)__double_as_longlong(value);
	asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(record + column),
	             "l"(tagged((uint32_t)bits, tag)), "l"(tagged((uint32_t)(bits >> 32), tag))
	             : "memory");
}

__device__ __forceinline__ ulonglong2 load_piece(const ulonglong2 *piece)
{
	ulonglong2 value;
	asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
	             : "=l"(value.x), "=l"(value.y)
	             : "l"(piece)
	             : "memory");
	return value;
}

__device__ __forceinline__ bool has_tag(ulonglong2 piece, uint32_t tag)
{
	return (uint32_t)(piece.x >> 32) == tag && (uint32_t)(piece.y >> 32) == tag;
}

__device__ __forceinline__ void unpack(ulonglong2 piece, float (&value)[2])
{
	value[0] = __uint_as_float((uint32_t)piece.x);
	value[1] = __uint_as_float((uint32_t)piece.y);
}

__device__ __forceinline__ void unpack(ulonglong2 piece, double (&value)[1])
{
	value[0] = __longlong_as_double((long long)((piece.y << 32) | (uint32_t)piece.x));
}

/* ---- exchange ---- */

template <bool largest, typename real> __device__ __forceinline__ real combine(real a, real b)
{
	return largest ? larger_of(a, b) : a + b;
}

/* The warps' results for the first `count` columns to all blocks, and row j from block 0; then
 * those of all blocks, combined in s.group_part, and row j in s.head. False in all threads on a
 * timeout. */
template <bool largest, typename real, int COLUMNS, int THREADS>
__device__ __forceinline__ bool exchange(const struct panel<real> &g,
        struct scratch<real, COLUMNS, THREADS> &s, uint32_t tag, int count)
{
	typedef struct scratch<real, COLUMNS, THREADS> block_scratch;
	constexpr int per = block_scratch::per, pieces = block_scratch::pieces;
	constexpr int groups = block_scratch::groups;
	const int blocks = (int)gridDim.x;
	ulonglong2 *set = g.slots + (int64_t)(tag & 1) * (blocks + 1) * pieces;

	/* whole pieces: the reader asks for the tags of both columns of one */
	if ((int)threadIdx.x < COLUMNS && (int)threadIdx.x / per * per < count) {
		const int k = (int)threadIdx.x;
		real mine = s.warp_part[0][k];
		for (int w = 1; w < THREADS / 32; w++)
			mine = combine<largest>(mine, s.warp_part[w][k]);
		publish(set + (int64_t)blockIdx.x * pieces, k, mine, tag);
		if (blockIdx.x == 0)
			publish(set + (int64_t)blocks * pieces, k, s.top[k], tag);
	}

	const int piece = (int)threadIdx.x % pieces, group = (int)threadIdx.x / pieces;
	real total[per] = {};
	bool good = true;
	if (piece * per < count) {
		/* record `blocks`, row j, is one more, for the group whose turn it is */
		for (int first = group; first <= blocks && good; first += groups * LOADS) {
			ulonglong2 word[LOADS];
			struct spin spin = {0, 0};
			bool ready;
			do {
				ready = true;
#pragma unroll
				for (int i = 0; i < LOADS; i++)
					if (first + i * groups <= blocks)
						word[i] = load_piece(
						        set +
						        (int64_t)(first + i * groups) * pieces +
						        piece);
#pragma unroll
				for (int i = 0; i < LOADS; i++)
					ready = ready && (first + i * groups > blocks ||
					                         has_tag(word[i], tag));
				good = ready || spin_again(&spin, g.error);
			} while (!ready && good);
#pragma unroll
			for (int i = 0; i < LOADS; i++) {
				real value[per];
				const int block = first + i * groups;
				unpack(word[i], value);
				for (int c = 0; c < per; c++)
					if (block < blocks)
						total[c] = combine<largest>(total[c], value[c]);
					else if (block == blocks)
						s.head[piece * per + c] = value[c];
			}
		}
		for (int c = 0; c < per; c++)
			s.group_part[group][piece * per + c] = total[c];
	}
	return __syncthreads_and(good);
}

template <bool largest, typename real, int COLUMNS, int THREADS>
__device__ __forceinline__ real combined(
        const struct scratch<real, COLUMNS, THREADS> &s, int column)
{
	real total = s.group_part[0][column];
	for (int i = 1; i < scratch<real, COLUMNS, THREADS>::groups; i++)
		total = combine<largest>(total, s.group_part[i][column]);
	return total;
}

/* ---- columns ---- */

/* Lane l of the warp gets the sum of value[l] over the lanes: they exchange halves of the values,
 * then halves of the halves. */
template <int HALF, typename real>
__device__ __forceinline__ real transposed_sum(real (&value)[2 * HALF])
{
	const bool upper = threadIdx.x & HALF;
	real rest[HALF];
#pragma unroll
	for (int i = 0; i < HALF; i++) {
		const real send = upper ? value[i] : value[i + HALF];
		const real keep = upper ? value[i + HALF] : value[i];
		rest[i] = keep + __shfl_xor_sync(0xffffffffu, send, HALF);
	}
	if constexpr (HALF > 1)
		return transposed_sum<HALF / 2>(rest);
	else
		return rest[0];
}

/* The warp's sums of x times columns 0 .. count-1. */
template <typename real, int COLUMNS, int ROWS, int THREADS>
__device__ __forceinline__ void warp_sums(const real (&a)[ROWS][COLUMNS], const real (&x)[ROWS],
        struct scratch<real, COLUMNS, THREADS> &s, int count)
{
#pragma unroll
	for (int chunk = 0; chunk < COLUMNS / 32; chunk++) {
		if (32 * chunk >= count)
			break;
		real product[32];
#pragma unroll
		for (int i = 0; i < 32; i++) {
			product[i] = x[0] * a[0][32 * chunk + i];
#pragma unroll
			for (int r = 1; r < ROWS; r++)
				product[i] += x[r] * a[r][32 * chunk + i];
		}
		s.warp_part[threadIdx.x / 32][32 * chunk + threadIdx.x % 32] =
		        transposed_sum<16>(product);
	}
}

/* Columns 1 .. count-1 minus v times their multipliers, each moved one to the left. */
template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void update(
        real (&a)[ROWS][COLUMNS], const real (&v)[ROWS], const real *times, int count)
{
	const int WIDTH = 16 / (int)sizeof(real);
#pragma unroll
	for (int chunk = 0; chunk < COLUMNS / 32; chunk++) {
		if (32 * chunk >= count)
			break;
#pragma unroll
		for (int i = 32 * chunk; i < 32 * chunk + 32; i += WIDTH) {
			struct alignas(16) {
				real value[WIDTH];
			} t = *(const decltype(t) *)(times + i);
#pragma unroll
			for (int k = i; k < i + WIDTH; k++)
#pragma unroll
				for (int r = 0; r < ROWS; r++)
					if (k > 0)
						a[r][k - 1] = a[r][k] - v[r] * t.value[k - i];
		}
	}
}

/* What the thread's rows are to column j. */
template <int ROWS, int THREADS> __device__ __forceinline__ int row_of(int r)
{
	return ((int)blockIdx.x * ROWS + r) * THREADS + (int)threadIdx.x;
}

/* A power of two for column j, found by all blocks together and applied to the rows from j on; 0
 * when the column is exactly zero below its diagonal. False on a timeout. */
template <typename real, int COLUMNS, int ROWS, int THREADS>
__device__ __forceinline__ bool scale_column(const struct panel<real> &g, real (&a)[ROWS][COLUMNS],
        int j, struct scratch<real, COLUMNS, THREADS> &s, uint32_t tag, real *scale)
{
	real from = real(0), below = real(0); /* largest magnitudes */
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int row = row_of<ROWS, THREADS>(r);
		if (row >= j)
			from = larger_of(from, fabs(a[r][0]));
		if (row > j)
			below = larger_of(below, fabs(a[r][0]));
	}
	for (int step = 16; step > 0; step /= 2) {
		from = larger_of(from, __shfl_xor_sync(0xffffffffu, from, step));
		below = larger_of(below, __shfl_xor_sync(0xffffffffu, below, step));
	}
	if (threadIdx.x % 32 == 0) {
		s.warp_part[threadIdx.x / 32][0] = from;
		s.warp_part[threadIdx.x / 32][1] = below;
	}
	__syncthreads();
	if (!exchange<true>(g, s, tag, 2))
		return false;
	*scale = combined<true>(s, 1) == real(0) ? real(0) : scale_for(combined<true>(s, 0));
	__syncthreads();
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (*scale != real(0) && row_of<ROWS, THREADS>(r) >= j)
			a[r][0] *= *scale;
	return true;
}

/* The sums of column j over all blocks, from them its reflector and s.times. False on a timeout.
 * *safe: no sum left the range. */
template <typename real, int COLUMNS, int ROWS, int THREADS>
__device__ __forceinline__ bool reflect(const struct panel<real> &g, const real (&a)[ROWS][COLUMNS],
        int j, struct scratch<real, COLUMNS, THREADS> &s, uint32_t tag, struct reflector<real> *h,
        bool *safe)
{
	const int count = g.n - j;
	real x[ROWS];
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		x[r] = row_of<ROWS, THREADS>(r) > j ? a[r][0] : real(0);
	if (row_of<ROWS, THREADS>(0) == j)
#pragma unroll
		for (int k = 0; k < COLUMNS; k++)
			s.top[k] = a[0][k];
	warp_sums(a, x, s, count);
	__syncthreads();
	if (!exchange<false>(g, s, tag, count))
		return false;

	const real alpha = s.head[0], squares = combined<false>(s, 0);
	bool fine = is_safe(alpha, squares);
	*h = reflector_of(alpha, squares);
	if ((int)threadIdx.x < count) {
		const real sum = combined<false>(s, (int)threadIdx.x);
		s.times[threadIdx.x] = h->tau * (s.head[threadIdx.x] + h->divide * sum);
		fine = fine && isfinite(sum);
	}
	*safe = __syncthreads_and(fine);
	return true;
}

template <typename real, int COLUMNS, int ROWS, int THREADS>
__global__ void __launch_bounds__(THREADS) resident_kernel(const struct panel<real> g)
{
	__shared__ struct scratch<real, COLUMNS, THREADS> s;
	real a[ROWS][COLUMNS];
	uint32_t tag = 0;
	bool good = true;

#pragma unroll
	for (int k = 0; k < COLUMNS; k++)
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_of<ROWS, THREADS>(r);
			a[r][k] = row < g.m && k < g.n ? g.a[row + k * g.lda] : real(0);
		}

	for (int j = 0; j < g.n && good; j++) {
		struct reflector<real> h;
		real scale = real(1);
		bool safe = false;
#pragma unroll 1
		for (int attempt = 0; attempt < 2 && good && !safe; attempt++) {
			if (attempt > 0)
				good = scale_column<real, COLUMNS, ROWS, THREADS>(
				        g, a, j, s, ++tag, &scale);
			if (good && scale != real(0))
				good = reflect<real, COLUMNS, ROWS, THREADS>(
				        g, a, j, s, ++tag, &h, &safe);
		}
		if (!good)
			break;
		if (scale == real(0)) {
			h = reflector_none(s.head[0]);
			if ((int)threadIdx.x < COLUMNS)
				s.times[threadIdx.x] = real(0);
			__syncthreads();
		} else if (scale != real(1)) {
			h.beta /= scale;
		}

		real v[ROWS];
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const int row = row_of<ROWS, THREADS>(r);
			real out = a[r][0];
			v[r] = real(0);
			if (row > j)
				out = v[r] = a[r][0] * h.divide;
			if (row == j) {
				out = h.beta;
				v[r] = real(1);
			}
			if (row < g.m)
				g.a[row + j * g.lda] = out;
		}
		if (blockIdx.x == 0 && threadIdx.x == 0)
			g.tau[j] = h.tau;
		update<real, COLUMNS, ROWS>(a, v, s.times, g.n - j);
	}
	if (!good && (int)threadIdx.x < g.n)
		g.tau[threadIdx.x] = real(NAN);
}

/* ---- choice of a kernel ---- */

struct variant {
	enum precision precision;
	int columns, rows, threads; /* rows: of a thread */
	const void *kernel;
};

template <typename real, int COLUMNS, int ROWS, int THREADS> constexpr struct variant variant_of()
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, COLUMNS, ROWS, THREADS,
	        (const void *)resident_kernel<real, COLUMNS, ROWS, THREADS>};
}

/* A row of more than 128 words does not fit in a thread's registers. */
const struct variant variants[] = {
        variant_of<float, 32, 1, 128>(),
        variant_of<float, 32, 1, 256>(),
        variant_of<float, 32, 2, 256>(),
        variant_of<float, 32, 4, 256>(),
        variant_of<float, 64, 1, 128>(),
        variant_of<float, 64, 1, 256>(),
        variant_of<float, 64, 2, 256>(),
        variant_of<float, 128, 1, 128>(),
        variant_of<float, 128, 1, 256>(),
        variant_of<double, 32, 1, 128>(),
        variant_of<double, 32, 1, 256>(),
        variant_of<double, 32, 2, 256>(),
        variant_of<double, 64, 1, 128>(),
        variant_of<double, 64, 1, 256>(),
};

int64_t blocks_of(const struct variant *v, int64_t m)
{
	return (m + v->rows * v->threads - 1) / (v->rows * v->threads);
}

/* Blocks that the current device holds at once: launch bounds see to one on each multiprocessor. */
int64_t most_blocks(void)
{
	int device = 0, cooperative = 0, count = 0;
	if (cudaGetDevice(&device) != cudaSuccess ||
	        cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device) !=
	                cudaSuccess ||
	        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) !=
	                cudaSuccess)
		return 0;
	return cooperative ? count : 0;
}

/* The kernel with the fewest rows a block that still fits on `most` multiprocessors; NULL when none
 * does. */
const struct variant *choose_within(enum precision precision, int64_t m, int64_t n, int64_t most)
{
	for (const struct variant &v : variants)
		if (v.precision == precision && n <= v.columns && blocks_of(&v, m) <= most)
			return &v;
	return NULL;
}

const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	return choose_within(precision, m, n, most_blocks());
}

int64_t work_of(const struct variant *v, int64_t m)
{
	const int64_t record = v->columns * 2 * precision_bytes(v->precision);
	return 16 + 2 * (blocks_of(v, m) + 1) * record;
}

template <typename real>
int run(const struct variant *v, void *a, int64_t lda, int64_t m, int64_t n, void *tau, void *work,
        void *stream)
{
	struct panel<real> g = {
		(real *)a, lda, (int)m, (int)n, (real *)tau, (ulonglong2 *)work + 1,
		        (uint32_t *)work
	};
	/* 0 is no tag */
	cudaError_t error = cudaMemsetAsync(work, 0, (size_t)work_of(v, m), (cudaStream_t)stream);
	if (error != cudaSuccess)
		return (int)error;
	return resident_launch(v->kernel, (int)blocks_of(v, m), 0, v->threads, 0, &g, stream);
}

} // namespace

extern "C" bool panel_geqrf_resident_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int64_t panel_geqrf_resident_work(enum precision precision, int64_t m, int64_t n)
{
	const struct variant *v = choose(precision, m, n);
	return v ? work_of(v, m) : 0;
}

extern "C" int panel_geqrf_resident(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, bool beside, void *work, void *stream)
{
	const struct variant *v = beside ? choose_within(precision, m, n, most_blocks() / 2) : NULL;
	if (!v)
		v = choose(precision, m, n);
	if (!v)
		return (int)cudaErrorInvalidValue;
	return precision == SINGLE ? run<float>(v, a, lda, m, n, tau, work, stream)
	                           : run<double>(v, a, lda, m, n, tau, work, stream);
}
