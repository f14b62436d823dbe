/* SPDX-License-Identifier: MIT */
/* One column of the Householder panel of one cluster (factor/kernels/qr/panel_geqrf_cluster.cu):
 * the sums below its diagonal, the reflector, its update of the other columns, and its column of T.
 */
#pragma once

#include "panel_geqrf_cluster.cuh"
#include "factor/kernels/lu/panel_registers.cuh"
#include "lib/device/reduce.cuh"
#include "factor/kernels/blocks/shared_update.cuh"

namespace
{

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* The thread's rows of column j below the diagonal, zero elsewhere. */
template <int LANES, int ROWS, typename real>
__device__ __forceinline__ void below_diagonal(
        const struct seat &t, const struct column &c, const real (&a)[ROWS][WORDS], real (&x)[ROWS])
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const real value = __shfl_sync(0xffffffffu, a[r][0], c.rank * (32 / LANES) + t.at);
		x[r] = row_at<LANES>(t, r) > c.j ? value : real(0);
	}
}

/* The warp's sums of x times all columns, and row j if the warp has it. */
template <int LANES, int ROWS, typename real, int COLUMNS>
__device__ __forceinline__ void warp_products(struct shared<real, COLUMNS> &s, const struct seat &t,
        const struct column &c, const real (&a)[ROWS][WORDS], const real (&x)[ROWS])
{
	const int lanes = 32 / LANES;
	auto &turn = s.turn[c.round % TURNS];
#pragma unroll
	for (int first = 0; first < WORDS; first += lanes) {
		real product[lanes];
#pragma unroll
		for (int i = 0; i < lanes; i++) {
			product[i] = x[0] * a[0][first + i];
#pragma unroll
			for (int r = 1; r < ROWS; r++)
				product[i] += x[r] * a[r][first + i];
		}
		turn.part[t.warp][t.rank * WORDS + first + t.at] =
		        transposed_sum<lanes / 2>(product);
	}
	if ((unsigned)(c.j - t.warp_row) >= (unsigned)(lanes * ROWS))
		return;
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (row_at<LANES>(t, r) == c.j)
#pragma unroll
			for (int k = 0; k < WORDS; k++)
				turn.own_head[t.rank * WORDS + k] = a[r][k];
}

/* The exponent of a power of two for column j, or ZERO_BELOW. All blocks derive it from the lanes'
 * largest magnitudes, with and without the diagonal. *good: the new c.good. */
template <typename real, int COLUMNS>
__device__ __noinline__ int scale_of(struct shared<real, COLUMNS> &s, struct seat t,
        struct column c, real from, real below, uint32_t *error, bool *good)
{
	for (int step = 16; step > 0; step /= 2) {
		from = larger_of(from, __shfl_xor_sync(0xffffffffu, from, step));
		below = larger_of(below, __shfl_xor_sync(0xffffffffu, below, step));
	}
	if (t.lane < 2)
		s.turn[c.round % TURNS].part[t.warp][t.lane] = t.lane ? below : from;
	send<true>(s, t, c);
	const struct piece<real> largest = receive<true>(s, t, &c, error);
	*good = c.good;
	from = __shfl_sync(0xffffffffu, largest.value[0], 0);
	below = __shfl_sync(0xffffffffu, largest.value[1], 0);
	return below == real(0) ? ZERO_BELOW : scale_for(from);
}

template <int LANES, int ROWS, typename real, int COLUMNS>
__device__ __forceinline__ int scale_column(struct shared<real, COLUMNS> &s, const struct seat &t,
        struct column *column, real (&a)[ROWS][WORDS], uint32_t *error)
{
	const struct column c = *column;
	real from = real(0), below = real(0);
	bool good;
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int row = row_at<LANES>(t, r);
		if (t.rank == c.rank && row >= c.j)
			from = larger_of(from, fabs(a[r][0]));
		if (t.rank == c.rank && row > c.j)
			below = larger_of(below, fabs(a[r][0]));
	}
	const int scale = scale_of(s, t, c, from, below, error, &good);
	column->good = good;
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (scale != ZERO_BELOW && t.rank == c.rank && row_at<LANES>(t, r) >= c.j)
			a[r][0] = scaled(a[r][0], scale);
	return scale;
}

/* The reflector of column j from all sums, and the warp's s.times and s.known. True if no sum
 * left the safe range. */
template <int LANES, typename real, int COLUMNS>
__device__ __forceinline__ bool reflect(struct shared<real, COLUMNS> &s, const struct seat &t,
        struct column *column, uint32_t *error, struct reflector<real> *h, real *alpha)
{
	const int per = s.per, of_lane = WORDS / per, pieces = COLUMNS / per;
	const int p = t.lane % pieces, rank = p / of_lane, first = p % of_lane * per;
	const struct piece<real> sum = receive<false>(s, t, column, error);
	const struct column c = *column;
	const struct piece<real> head =
	        load_words(&s.turn[c.round % TURNS].record[CLUSTER_BLOCKS][p * per]);
	struct piece<real> times, known;
	/* the columns right of column j end in this piece here */
	const int right = WORDS - c.transposed - first;
	real all = real(0);

	*alpha = __shfl_sync(0xffffffffu, head.value[0], c.rank * of_lane);
	const real squares = __shfl_sync(0xffffffffu, sum.value[0], c.rank * of_lane);
	*h = reflector_of_safe(*alpha, squares);
#pragma unroll
	for (int i = 0; i < per; i++) {
		const bool left = i >= right || (i == 0 && first == 0 && rank < c.rank);
		const bool own = i == 0 && first == 0 && rank == c.rank;
		const real product = h->tau * (head.value[i] + h->divide * sum.value[i]);
		times.value[i] = left || own ? real(0) : product;
		known.value[i] = left ? product : real(0);
		all += sum.value[i];
	}
	if (t.lane < pieces) {
		*(struct piece<real> *)&s.times[t.warp][p * per] = times;
		*(struct piece<real> *)&s.known[t.warp][p * per] = known;
	}
	return __all_sync(0xffffffffu, is_safe(*alpha, squares) && isfinite(all));
}

/* Column j of T in the rows of the warp, from s.known: T(0:j, j) = -T(0:j, 0:j) tau V^T v. */
template <int LANES, typename real, int COLUMNS>
__device__ __forceinline__ void extend(const struct shared<real, COLUMNS> &s, const struct seat &t,
        int j, real tau, real (&rows)[COLUMNS / FEWEST_WARPS][COLUMNS / 32])
{
	real known[COLUMNS / 32];
#pragma unroll
	for (int i = 0; i < COLUMNS / 32; i++) {
		const unsigned k = (unsigned)t.lane + 32 * i, transposed = (unsigned)j / LANES;
		known[i] = s.known[t.warp][k % LANES * WORDS + (k / LANES - transposed) % WORDS];
	}
#pragma unroll
	for (int r = 0; r < COLUMNS / FEWEST_WARPS; r++) {
		const int row = first_t_row(t) + r * t.warps * t.blocks;
		if (row > j)
			break;
		real sum = real(0);
#pragma unroll
		for (int i = 0; i < COLUMNS / 32; i++)
			sum -= rows[r][i] * known[i];
		sum = row == j ? tau : warp_sum(sum);
#pragma unroll
		for (int i = 0; i < COLUMNS / 32; i++)
			if (t.lane + 32 * i == j)
				rows[r][i] = sum;
	}
}

/* All columns minus v times their multipliers; rotates the registers by one if `turns`. */
template <bool turns, int ROWS, typename real>
__device__ __forceinline__ void update(
        real (&a)[ROWS][WORDS], const real (&v)[ROWS], const real *times)
{
	const int per = 16 / (int)sizeof(real);
	real first_column[ROWS];
#pragma unroll
	for (int first = 0; first < WORDS; first += per) {
		const struct piece<real> some = load_words(times + first);
#pragma unroll
		for (int i = 0; i < per; i++)
#pragma unroll
			for (int r = 0; r < ROWS; r++) {
				const int k = first + i;
				const real value = minus_product(a[r][k], v[r], some.value[i]);
				if (!turns)
					a[r][k] = value;
				else if (k > 0)
					a[r][k - 1] = value;
				else
					first_column[r] = value;
			}
	}
	if (turns)
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			a[r][WORDS - 1] = first_column[r];
}

#endif

} // namespace
