/* SPDX-License-Identifier: MIT */
/* The kernels take twice as long as these works: the code of the small matrices runs once a panel
 * and waits for its instructions, which no work states. */
#include "panel_geqrf_plan.h"
#include "panel_geqrf_work.h"

#include "factor/kernels/lu/panel_registers_work.h"

#include <math.h>
#include <string.h>

enum {
	ORDER = PANEL_GRAM_COLUMNS,
	SIDE = 16, /* the small matrices' block has 16 x 16 threads, */
	STRIPES = ORDER / SIDE,
	SQUARE_THREADS = SIDE * SIDE,
	SQUARE_WARPS = SQUARE_THREADS / 32,
	OCTET = 8,                   /* rows of an instruction of the tensor cores, */
	TILES = 20,                  /* of A^T A, and of the product with a triangle */
	NARROW_TILES = 6,            /* of panels of at most GRAM_NARROW columns */
	TILE_FLOPS = 2 * 16 * 8 * 8, /* for each of the tiles */
	SUMS = TILES * 4 * 32,       /* words of A^T A */
	WIDE = 2,                    /* wavefronts of a warp's access to double precision */
	SUM_THREADS = 1024,
	ROOT_STEPS =
	        14, /* dependent multiply-adds of a pivot's root and reciprocal, in all threads */
	PASSES = ORDER * ORDER / SQUARE_THREADS /* of a thread over a small matrix */
};

/* So many loops over a small matrix: an element is read, scaled and stored. */
static void add_passes(double loops, struct kernel_work *w)
{
	w->link[LINK_SHARED] += loops * PASSES;
	w->link[LINK_FMA_DOUBLE] += loops * 2 * PASSES;
	w->wavefronts += loops * 2 * ORDER * ORDER / 32 * WIDE;
}

static double bytes_of(const struct geqrf_call *call)
{
	return (double)(call->m * call->n * precision_bytes(call->precision));
}

/* Products of so many octets of rows with the tiles, and the reads of the rows' columns. */
static void add_octets(double octets, int tiles, int columns, struct kernel_work *w)
{
	w->operations[PIPE_TENSOR_FP64_LARGE] += octets * tiles * TILE_FLOPS;
	w->wavefronts += octets * 2 * columns / OCTET;
}

/* A block's warps, or pairs of warps, halve their number until one has the sum. `moved`: warps that
 * give all, or pairs. */
static void add_tree(double blocks, double moved, double levels, struct kernel_work *w)
{
	w->wavefronts += blocks * 2 * moved * SUMS / 32 * WIDE;
	w->operations[PIPE_FP64] += 2 * blocks * moved * SUMS;
	w->link[LINK_BLOCK] += 2 * levels;
	w->link[LINK_SHARED] += levels;
}

/* The sums of all blocks of the cluster. The barriers wait for the stores before them. */
static void add_cluster(struct kernel_work *w)
{
	add_tree(w->blocks, GRAM_WARPS - 1, log2(GRAM_WARPS), w);
	w->link[LINK_CLUSTER_BARRIER] += 2;
	w->link[LINK_L2] += w->dram.written > 0;
	w->exchange[SCOPE_CLUSTER] = (struct work_exchange){128, 1};
}

/* The steps in one block: pivot after pivot, each stripe with fewer columns left. */
static void add_steps(int64_t n, struct kernel_work *w)
{
	for (int64_t k = 0; k < n; k++) {
		const double stripe = floor((double)k / SIDE), left = STRIPES - stripe;
		w->operations[PIPE_FP64] += 2 * SQUARE_THREADS *
		                            (left * (left + 1) / 2 + left * left +
		                                    (stripe + 1) * left + 3 * left + ROOT_STEPS);
		w->wavefronts += SQUARE_WARPS * (4 * left + stripe + 1 + 3);
	}
	w->link[LINK_BLOCK] += (double)n + 3;
	w->link[LINK_SHARED] += (double)n;
	w->link[LINK_SPECIAL] += 2 * (double)n + 1;
	w->link[LINK_FMA_DOUBLE] += ROOT_STEPS * (double)n;
	add_passes(3, w); /* Y scaled, Y, R and V1 */
}

/* T, by blocks of 8 that are joined three times, and its store. */
static void add_inverse(struct kernel_work *w)
{
	enum { BLOCK = 8 };

	w->link[LINK_BLOCK] += 9;
	w->link[LINK_SPECIAL] += BLOCK;
	w->link[LINK_SHARED] += BLOCK + 6;
	w->link[LINK_FMA_DOUBLE] += BLOCK * (BLOCK + 8) / 2 + 4 * BLOCK + 2 * (ORDER - BLOCK);
	add_passes(2, w); /* V^T V, T */
}

static struct kernel_work cluster_part(const struct gram_shares *to, double blocks)
{
	return (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = blocks,
	        .threads = SQUARE_THREADS,
	        .registers = 255,
	        .cluster = to->blocks,
	        .in_flight = 256};
}

void panel_gram_cluster_works(
        const struct geqrf_call *call, struct kernel_work work[GRAM_CLUSTER_WORKS])
{
	const struct gram_shares to = gram_shares_of(call->m);
	const double bytes = bytes_of(call), blocks = to.blocks,
	             octets = blocks * ceil((double)to.share / OCTET);

	for (int i = 0; i < GRAM_CLUSTER_WORKS; i++) {
		work[i] = cluster_part(&to, i % 2 ? 1 : blocks);
		work[i].phase = i > 0;
	}
	work[0].dram.read = bytes;
	work[0].working_set = bytes;
	work[0].link[LINK_DRAM] = 2;
	work[0].link[LINK_BLOCK] = 2;
	add_octets(octets, TILES, ORDER, &work[0]);
	add_cluster(&work[0]);
	work[0].operations[PIPE_SPECIAL] = bytes / 4; /* conversions to double precision */

	add_steps(call->n, &work[1]);
	work[1].link[LINK_CLUSTER_BARRIER] = 1;
	work[1].link[LINK_L2] = 1;

	work[2].dram.written = call->reflects ? 2 * bytes : bytes;
	work[2].working_set = bytes;
	work[2].link[LINK_L2] = 1;
	work[2].link[LINK_BLOCK] = 1;
	add_octets(2 * octets, TILES, ORDER, &work[2]);
	work[2].wavefronts += octets * TILES * 4 * WIDE;
	add_cluster(&work[2]);
	work[2].operations[PIPE_SPECIAL] = 3 * bytes / 4; /* and back */

	add_inverse(&work[3]);
}

/* ---- several kernels ---- */

static bool is_narrow(const struct geqrf_call *call)
{
	return call->n <= GRAM_NARROW;
}

/* The reads of a triangle's tiles for each octet of rows. */
static double triangle_wavefronts(const struct geqrf_call *call)
{
	const int tiles = is_narrow(call) ? NARROW_TILES : TILES;

	return ceil((double)call->m / OCTET) * tiles * 4 * WIDE;
}

/* A pair of warps shares the tiles. */
static void stream_work(const struct geqrf_call *call, const struct tuning_device *device,
        double products, struct kernel_work *w)
{
	const bool is_double = call->precision == DOUBLE;
	const int pairs = is_double ? GRAM_PAIRS_DOUBLE : GRAM_PAIRS,
	          rows = is_double ? GRAM_AT_ONCE : GRAM_ROWS_STEP /* of a slab */;
	const double bytes = bytes_of(call),
	             blocks = gram_blocks_for(call->m, pairs, device->sm_count),
	             slabs = ceil((double)call->m / (blocks * pairs * rows));

	*w = (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = blocks,
	        .threads = 64 * pairs,
	        .registers = is_double ? 216 : 160,
	        .dram = {.read = bytes},
	        .working_set = bytes,
	        .in_flight = 256,
	        .l2 = {.written = blocks * SUMS * 8}};
	w->link[LINK_DRAM] = 1 + slabs;
	w->link[LINK_BLOCK] = slabs * products;
	add_octets(products * ceil((double)call->m / OCTET), is_narrow(call) ? NARROW_TILES : TILES,
	        is_narrow(call) ? GRAM_NARROW : ORDER, w);
	/* Both warps read 3/4 of the operands that the pair shares. */
	w->wavefronts *= (1 + 3.0 / 4) * (is_double ? WIDE : 1);
	/* and convert them, and back */
	if (!is_double)
		w->operations[PIPE_SPECIAL] = (products > 1 ? 3 : 1) * (1 + 3.0 / 4) * bytes / 4;
	add_tree(blocks, pairs - 1, ceil(log2(pairs)), w);
}

static void sum_work(double parts, struct kernel_work *w)
{
	const double groups = SUM_THREADS / 64;

	*w = (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = SUMS / 64,
	        .threads = SUM_THREADS,
	        .registers = 32,
	        .l2 = {parts * SUMS * 8, 2 * SUMS * 8}};
	w->operations[PIPE_FP64] = 2 * parts * SUMS;
	w->link[LINK_L2] = ceil(parts / groups / 8);
	w->link[LINK_BLOCK] = 1;
	w->link[LINK_SHARED] = 1;
	w->link[LINK_FMA_DOUBLE] = ceil(parts / groups) + groups;
}

static void square_work(struct kernel_work *w)
{
	*w = (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = 1,
	        .threads = SQUARE_THREADS,
	        .registers = 128,
	        .l2 = {(double)ORDER * ORDER * 12, (double)ORDER * ORDER * 12}};
	w->link[LINK_L2] = 1;
}

/* In double precision as of a panel whose columns are nearly orthogonal: the kernels of Cholesky QR
 * have nothing to do. */
size_t panel_gram_begin_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[GRAM_BEGIN_WORKS_MOST])
{
	stream_work(call, device, 1, &work[0]);
	sum_work(work[0].blocks, &work[1]);
	square_work(&work[2]);
	add_steps(call->n, &work[2]);
	if (call->precision == SINGLE)
		return GRAM_WORKS;
	work[2].link[LINK_SHARED] += ORDER; /* the norms of Y's columns */
	work[2].link[LINK_FMA_DOUBLE] += ORDER;
	for (int i = GRAM_WORKS; i < GRAM_BEGIN_WORKS_MOST; i++) {
		work_of_start(&work[i]);
		work[i].early = 1;
	}
	if (!call->summed)
		return GRAM_BEGIN_WORKS_MOST;
	memmove(work, work + 1, (GRAM_BEGIN_WORKS_MOST - 1) * sizeof *work);
	return GRAM_BEGIN_WORKS_MOST - 1;
}

void panel_gram_end_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[GRAM_WORKS])
{
	stream_work(call, device, 2, &work[0]);
	work[0].dram.written = (call->reflects ? 2 : 1) * bytes_of(call);
	work[0].link[LINK_L2] = 2; /* whether the steps were good; Y */
	work[0].wavefronts += triangle_wavefronts(call);
	sum_work(work[0].blocks, &work[1]);
	square_work(&work[2]);
	add_inverse(&work[2]);
}
