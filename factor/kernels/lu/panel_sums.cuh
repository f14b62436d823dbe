/* SPDX-License-Identifier: MIT */
/* Sums over all blocks of a co-resident grid, up to COLUMNS columns at once, for the resident
 * Householder panel. Every block adds up everything itself, in the same order.
 *
 * Words carry a tag (lib/device/exchange.cuh), in two sets by the parity of the round: a block
 * publishes round t + 2 after it has read all of round t + 1, which the others publish after they
 * have read round t. Blocks of a cluster first add up theirs, each a slice of the columns, through
 * distributed shared memory, so fewer records are read. A grid of one cluster needs no global
 * memory. No block of a cluster exits while another may write to its memory: a block that gives up
 * tells the others and exits at their next barrier, where they exit too.
 *
 * Cost: two block barriers, one trip through L2, 16 bytes read per record and pair of columns (per
 * column in double); with clusters one cluster barrier more, or, for one cluster, instead. */
#pragma once

#include "factor/kernels/qr/reflector.cuh"
#include "lib/device/cluster.cuh"

const int LOADS = 8; /* pieces that a thread waits for at once */

struct slots {
	ulonglong2 *piece; /* [2][records + 1][pieces of a record]; the last record is row j */
	uint32_t *error;
};

template <typename real, int COLUMNS, int THREADS, int CLUSTER> struct scratch {
	static constexpr int per = 8 / (int)sizeof(real); /* columns in a piece of 16 bytes */
	static constexpr int pieces = COLUMNS / per;      /* per record */
	static constexpr int groups =
	        THREADS / pieces; /* groups of threads that read one record each */
	real warp_part[THREADS / 32][COLUMNS];
	real block_part[2][CLUSTER + 1][COLUMNS]; /* from the blocks of the cluster; row j */
	real group_part[groups][COLUMNS];
	alignas(16) real top[COLUMNS];   /* row j, in block 0 */
	alignas(16) real head[COLUMNS];  /* row j, in all blocks */
	alignas(16) real times[COLUMNS]; /* what multiplies v in the update */
	uint32_t gone[2]; /* blocks of the cluster that gave up before a round of this parity */
};

static DEVICE uint64_t tagged(uint32_t value, uint32_t tag)
{
	return (uint64_t)tag << 32 | value;
}

static DEVICE void publish(ulonglong2 *record, int column, float value, uint32_t tag)
{
	asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"((uint64_t *)record + column),
	             "l"(tagged(__float_as_uint(value), tag))
	             : "memory");
}

static DEVICE void publish(ulonglong2 *record, int column, double value, uint32_t tag)
{
	const uint64_t bits = (uint64_t)__double_as_longlong(value);
	asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(record + column),
	             "l"(tagged((uint32_t)bits, tag)), "l"(tagged((uint32_t)(bits >> 32), tag))
	             : "memory");
}

static DEVICE ulonglong2 load_piece(const ulonglong2 *piece)
{
	ulonglong2 value;
	asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
	             : "=l"(value.x), "=l"(value.y)
	             : "l"(piece)
	             : "memory");
	return value;
}

static DEVICE bool has_tag(ulonglong2 piece, uint32_t tag)
{
	return (uint32_t)(piece.x >> 32) == tag && (uint32_t)(piece.y >> 32) == tag;
}

static DEVICE void unpack(ulonglong2 piece, float (&value)[2])
{
	value[0] = __uint_as_float((uint32_t)piece.x);
	value[1] = __uint_as_float((uint32_t)piece.y);
}

static DEVICE void unpack(ulonglong2 piece, double (&value)[1])
{
	value[0] = __longlong_as_double((long long)((piece.y << 32) | (uint32_t)piece.x));
}

/* Writes to the same variable of another block of the cluster. */
static DEVICE void cluster_store(uint32_t *variable, int rank, uint32_t value)
{
	IN_CLUSTER(asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(
	                                cluster_address(shared_address(variable), (uint32_t)rank)),
	                        "r"(value)
	                        : "memory"));
}

static DEVICE void cluster_store(float *variable, int rank, float value)
{
	IN_CLUSTER(asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(
	                                cluster_address(shared_address(variable), (uint32_t)rank)),
	                        "f"(value)
	                        : "memory"));
}

static DEVICE void cluster_store(double *variable, int rank, double value)
{
	IN_CLUSTER(asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(
	                                cluster_address(shared_address(variable), (uint32_t)rank)),
	                        "d"(value)
	                        : "memory"));
}

template <bool largest, typename real> static DEVICE real combine(real a, real b)
{
	return largest ? larger_of(a, b) : a + b;
}

template <bool largest, typename real, int COLUMNS, int CLUSTER>
static DEVICE real over_cluster(const real (&part)[CLUSTER + 1][COLUMNS], int column)
{
	real total = part[0][column];
	for (int b = 1; b < CLUSTER; b++)
		total = combine<largest>(total, part[b][column]);
	return total;
}

/* Reduces column threadIdx.x (for threads that have one) over the cluster: the owner's *mine
 * becomes the result. True in the owner. */
template <bool largest, typename real, int COLUMNS, int THREADS, int CLUSTER>
static DEVICE bool cluster_combine(
        scratch<real, COLUMNS, THREADS, CLUSTER> &s, uint32_t tag, bool has, real *mine)
{
	real(&part)[CLUSTER + 1][COLUMNS] = s.block_part[tag & 1];
	const int rank = (int)cluster_rank(), k = (int)threadIdx.x;
	const int owner = k / (COLUMNS / CLUSTER);
	if (has)
		cluster_store(&part[rank][k], owner, *mine);
	cluster_barrier();
	if (!has || owner != rank)
		return false;
	*mine = over_cluster<largest, real, COLUMNS, CLUSTER>(part, k);
	return true;
}

/* The same, with row j, sent to all blocks of a cluster that is alone. */
template <bool largest, typename real, int COLUMNS, int THREADS, int CLUSTER>
static DEVICE void cluster_combine_all(
        scratch<real, COLUMNS, THREADS, CLUSTER> &s, uint32_t tag, bool has, real mine)
{
	real(&part)[CLUSTER + 1][COLUMNS] = s.block_part[tag & 1];
	const int rank = (int)cluster_rank(), k = (int)threadIdx.x;
	for (int b = 0; b < CLUSTER && has; b++) {
		cluster_store(&part[rank][k], b, mine);
		if (rank == 0)
			cluster_store(&part[CLUSTER][k], b, s.top[k]);
	}
	cluster_barrier();
	if (has) {
		s.group_part[0][k] = over_cluster<largest, real, COLUMNS, CLUSTER>(part, k);
		s.head[k] = part[CLUSTER][k];
	}
	__syncthreads();
}

/* Combines column c of all pieces, in pairs: fewer roundings than one after another. */
template <bool largest, typename real, int PER>
static DEVICE real by_pairs(real (&value)[LOADS][PER], int c)
{
#pragma unroll
	for (int step = LOADS / 2; step > 0; step /= 2)
#pragma unroll
		for (int i = 0; i < step; i++)
			value[i][c] = combine<largest>(value[i][c], value[i + step][c]);
	return value[0][c];
}

/* Before the first exchange. */
template <typename real, int COLUMNS, int THREADS, int CLUSTER>
static DEVICE void exchange_start(scratch<real, COLUMNS, THREADS, CLUSTER> &s)
{
	/* a single cluster leaves all groups but the first unchanged */
	for (int i = (int)threadIdx.x; i < s.groups * COLUMNS; i += THREADS)
		s.group_part[i / COLUMNS][i % COLUMNS] = real(0);
	if (threadIdx.x < 2)
		s.gone[threadIdx.x] = 0;
	__syncthreads();
	if constexpr (CLUSTER > 1)
		cluster_barrier();
}

/* After the last exchange, unless it timed out. */
template <int CLUSTER> static DEVICE void exchange_stop(void)
{
	if (CLUSTER > 1 && gridDim.x > CLUSTER)
		cluster_barrier();
}

/* By all threads of a block of a cluster that timed out in round `tag`. */
template <typename real, int COLUMNS, int THREADS, int CLUSTER>
static DEVICE void leave_cluster(scratch<real, COLUMNS, THREADS, CLUSTER> &s, uint32_t tag)
{
	if (threadIdx.x < CLUSTER)
		cluster_store(&s.gone[(tag + 1) & 1], (int)threadIdx.x, 1u);
	cluster_barrier();
}

/* Sends the warps' results for the first `count` columns to all blocks, and row j from block 0;
 * then combines those of all blocks in s.group_part, and gets row j in s.head. False in all threads
 * on a timeout. */
template <bool largest, typename real, int COLUMNS, int THREADS, int CLUSTER>
static DEVICE bool exchange(const struct slots &slots, scratch<real, COLUMNS, THREADS, CLUSTER> &s,
        uint32_t tag, int count)
{
	typedef scratch<real, COLUMNS, THREADS, CLUSTER> block_scratch;
	constexpr int per = block_scratch::per, pieces = block_scratch::pieces;
	constexpr int groups = block_scratch::groups;
	const int records = (int)gridDim.x / CLUSTER;
	ulonglong2 *set = slots.piece + (int64_t)(tag & 1) * (records + 1) * pieces;

	/* whole pieces: the reader checks the tags of both columns of a piece */
	const int k = (int)threadIdx.x;
	bool publishes = k < COLUMNS && k / per * per < count, gone = false;
	real mine = real(0);
	if (publishes) {
		mine = s.warp_part[0][k];
		for (int w = 1; w < THREADS / 32; w++)
			mine = combine<largest>(mine, s.warp_part[w][k]);
		if (blockIdx.x == 0 && (CLUSTER == 1 || records > 1))
			publish(set + (int64_t)records * pieces, k, s.top[k], tag);
	}
	if constexpr (CLUSTER > 1) {
		if (records == 1) {
			cluster_combine_all<largest>(s, tag, publishes, mine);
			return true;
		}
		publishes = cluster_combine<largest>(s, tag, publishes, &mine);
		gone = s.gone[tag & 1] != 0;
	}
	if (publishes)
		publish(set + (int64_t)(blockIdx.x / CLUSTER) * pieces, k, mine, tag);

	const int piece = (int)threadIdx.x % pieces, group = (int)threadIdx.x / pieces;
	real total[per] = {};
	bool good = true;
	if (piece * per < count) {
		/* the last record, row j, is an extra one for the group whose turn it is */
		for (int first = group; first <= records && good; first += groups * LOADS) {
			ulonglong2 word[LOADS];
			struct spin spin = {0, 0};
			bool ready;
			do {
				ready = true;
#pragma unroll
				for (int i = 0; i < LOADS; i++)
					if (first + i * groups <= records)
						word[i] = load_piece(
						        set +
						        (int64_t)(first + i * groups) * pieces +
						        piece);
#pragma unroll
				for (int i = 0; i < LOADS; i++)
					ready = ready && (first + i * groups > records ||
					                         has_tag(word[i], tag));
				good = ready || spin_again(&spin, slots.error);
			} while (!ready && good);
			real value[LOADS][per];
#pragma unroll
			for (int i = 0; i < LOADS; i++) {
				const int record = first + i * groups;
				unpack(word[i], value[i]);
				for (int c = 0; c < per; c++) {
					if (record == records)
						s.head[piece * per + c] = value[i][c];
					if (record >= records)
						value[i][c] = real(0);
				}
			}
			for (int c = 0; c < per; c++)
				total[c] = combine<largest>(total[c], by_pairs<largest>(value, c));
		}
		for (int c = 0; c < per; c++)
			s.group_part[group][piece * per + c] = total[c];
	}
	good = __syncthreads_and(good && !gone);
	if (CLUSTER > 1 && !good && !gone)
		leave_cluster(s, tag);
	return good;
}

template <bool largest, typename real, int COLUMNS, int THREADS, int CLUSTER>
static DEVICE real combined(const scratch<real, COLUMNS, THREADS, CLUSTER> &s, int column)
{
	real total = s.group_part[0][column];
	for (int i = 1; i < scratch<real, COLUMNS, THREADS, CLUSTER>::groups; i++)
		total = combine<largest>(total, s.group_part[i][column]);
	return total;
}
