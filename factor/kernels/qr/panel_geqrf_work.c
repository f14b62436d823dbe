/* SPDX-License-Identifier: MIT */
#include "panel_geqrf_work.h"
#include "panel_geqrf_plan.h"

#include "factor/kernels/lu/panel_registers_work.h"

#include <math.h>

enum {
	CHOICES = 11, /* dependent selections and comparisons of a column in a cluster */
	SCALARS = 32  /* additions and products of a thread for a reflector, as compiled */
};

static double bytes_of(const struct geqrf_call *call)
{
	return (double)(call->m * call->n * precision_bytes(call->precision));
}

/* ---- one exchange a column in one cluster ---- */

#define SHAPE(real, columns, rows) {sizeof(real) == 4 ? SINGLE : DOUBLE, columns, rows},
static const struct cluster_shape shapes[] = {CLUSTER_SHAPES(SHAPE)};

static const struct cluster_shape *shape_of(
        const struct geqrf_call *call, const struct tuning_device *device)
{
	for (int warps = CLUSTER_WARPS / 2; warps <= CLUSTER_WARPS; warps *= 2)
		for (size_t i = 0; device->max_cluster >= CLUSTER_BLOCKS && i < ARRAY_LEN(shapes);
		        i++)
			if (cluster_shape_takes(
			            &shapes[i], call->precision, call->m, call->n, warps))
				return &shapes[i];
	return NULL;
}

/* All columns of the kernel take part in every step. */
static void cluster_work(
        const struct geqrf_call *call, const struct cluster_shape *v, struct kernel_work *w)
{
	const int blocks = cluster_blocks_of(v, call->m),
	          warps = cluster_warps_of(v, call->m, blocks);
	const double bytes = bytes_of(call), n = (double)call->n,
	             word = (double)precision_bytes(v->precision) / 4, columns = v->columns,
	             lanes = 512 / columns /* along the rows */, adds = WORDS - WORDS / lanes,
	             pieces = columns * word / 4,
	             parts = warps > CLUSTER_WARPS / 2 ? CLUSTER_WARPS : CLUSTER_WARPS / 2,
	             records = blocks > CLUSTER_BLOCKS / 2 ? CLUSTER_BLOCKS : CLUSTER_BLOCKS / 2,
	             lines = columns * word / 32 /* of a record */;
	const enum work_link fma = work_fma_link(v->precision);
	const double rounded = v->precision == SINGLE ? 2 : 3,
	             scalars = v->precision == SINGLE ? 10 : rounded * ROUNDED_STEPS;

	*w = (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = blocks,
	        .threads = 32 * warps,
	        .registers = 255,
	        .cluster = blocks,
	        .dram = {bytes, call->reflects ? 2 * bytes : bytes},
	        .working_set = bytes,
	        .state = bytes,
	        .exchange[SCOPE_CLUSTER] = {4 * columns * word, n}};
	/* products, their sums over lanes, warps and blocks, the reflector, update; rows of T */
	w->operations[work_fma_pipe(v->precision)] =
	        n * blocks * w->threads *
	        (4 * WORDS * v->rows + 2 * (adds + (parts + records) * columns / 32 + SCALARS) +
	                (call->reflects ? columns / 8 : 0));
	w->operations[PIPE_INTEGER] =
	        n * blocks * w->threads *
	        (COLUMN_INSTRUCTIONS + ROW_INSTRUCTIONS * v->rows + 2 * word * adds);
	/* shuffles; the warps' sums; all records, in every warp; multipliers */
	w->wavefronts =
	        n * blocks *
	        (warps * (word * (v->rows + adds) + word * WORDS / lanes +
	                         parts * fmax(1, pieces / 8) + records * lines + 4 * lines +
	                         2 * word * WORDS / 4 + (call->reflects ? word * columns / 4 : 0)) +
	                (records + 1) * lines);
	w->link[LINK_DRAM] = 1;
	w->link[LINK_CLUSTER_BARRIER] = 2;
	w->link[LINK_BLOCK] = n;
	w->link[LINK_SHARED] = 3 * n;
	w->link[LINK_SPECIAL] = rounded * n;
	w->link[LINK_FMA] = n * (log2(lanes) + CHOICES);
	w->link[LINK_SHUFFLE] = n * (3 + log2(lanes) + log2(32 / pieces));
	w->link[fma] += n * (v->rows + log2(lanes) + parts - 1 + records * pieces / 32 - 1 +
	                            log2(32 / pieces) + scalars + 4);
}

/* ---- in memory ---- */

/* Columns j to end - 1. */
static void columns_work(const struct geqrf_call *call, const struct tuning_device *device,
        int64_t j, int64_t end, struct kernel_work *w)
{
	const int64_t most = COLUMNS_BLOCKS_PER_SM * device->sm_count,
	              block = columns_rows_of_block(call->m, most);
	const double blocks = ceil((double)call->m / (double)block),
	             rows = (double)min_int64(block, call->m), warps = COLUMNS_THREADS / 32.0,
	             word = (double)precision_bytes(call->precision),
	             at_once = 4 * 32 /* rows in flight of a warp */;
	const enum work_link fma = work_fma_link(call->precision);

	*w = (struct kernel_work){.launches = 1,
	        .phase = j > 0,
	        .blocks = blocks,
	        .threads = COLUMNS_THREADS,
	        .registers = 64,
	        .working_set = (double)(call->m * (call->n - j)) * word};
	w->link[LINK_GRID_BARRIER] = 2 * (double)(end - j);
	for (; j < end; j++) {
		const double left = (double)(call->n - j), below = (double)(call->m - j),
		             width = left <= 32   ? 32
		                     : left <= 64 ? 64
		                                  : 128,
		             groups = COLUMNS_THREADS / width, sums = ceil(left / warps);
		w->dram.read += 2 * left * below * word;
		w->dram.written += left * below * word;
		w->operations[work_fma_pipe(call->precision)] += 4 * left * below;
		/* The update's load of a column waits for the store of the one before. */
		w->link[LINK_DRAM] +=
		        ceil(rows / COLUMNS_THREADS) * (1 + left) + sums * ceil(rows / at_once);
		/* shuffles and barriers of both searches; the sums'; multipliers */
		w->wavefronts +=
		        blocks * warps *
		        (word / 4 * (20 + 5 * sums + 16) + 3 + ceil(rows / COLUMNS_THREADS) * left);
		w->link[LINK_L2] += ceil(blocks / COLUMNS_THREADS) + ceil(blocks / groups / 8);
		w->link[LINK_SHUFFLE] += 2 * 5 + sums * 5;
		w->link[LINK_BLOCK] += 6;
		w->link[LINK_SHARED] += 6;
		w->link[LINK_SPECIAL] += 3;
		w->link[fma] += ceil(rows / COLUMNS_THREADS) * left + 4 * warps /* largest */ +
		                sums * (rows / 32 + 5) + ceil(blocks / groups) + groups +
		                3 * ROUNDED_STEPS + 8;
	}
}

/* Parts with ever fewer columns, which L2 holds at some time. */
size_t panel_geqrf_columns_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[COLUMNS_WORKS])
{
	const int64_t parts = min_int64(call->n, COLUMNS_WORKS - 1);

	work_of_start(&work[0]);
	for (int64_t i = 0; i < parts; i++)
		columns_work(
		        call, device, i * call->n / parts, (i + 1) * call->n / parts, &work[1 + i]);
	return 1 + (size_t)parts;
}

/* ---- panel_geqrf's choice ---- */

/* The forms without the Gram matrix. */
static size_t steady_works(
        const struct geqrf_call *call, const struct tuning_device *device, struct kernel_work *work)
{
	const struct cluster_shape *v = shape_of(call, device);
	const struct register_panel_call resident = {
	        false, call->precision, call->m, call->n, call->beside};

	if (v) {
		cluster_work(call, v, work);
		return 1;
	}
	const size_t count = register_panel_works(&resident, device, work);
	return count ? count : panel_geqrf_columns_works(call, device, work);
}

/* What the steady form launches after the Gram matrix has succeeded. */
static size_t idle_works(
        const struct geqrf_call *call, const struct tuning_device *device, struct kernel_work *work)
{
	const size_t count = shape_of(call, device) ? 1 : 2;

	for (size_t i = 0; i < count; i++)
		work_of_start(&work[i]);
	work[0].early = count == 1;
	return count;
}

size_t panel_geqrf_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[PANEL_GEQRF_WORKS])
{
	const bool gram = (call->precision == SINGLE || call->gram) &&
	                  panel_gram_takes(call->precision, call->m, call->n) &&
	                  device->capability >= 80;

	if (call->reflects && !gram && !shape_of(call, device))
		return 0;
	if (!gram)
		return steady_works(call, device, work);
	if (panel_gram_launches(call->precision, call->m, device->max_cluster >= CLUSTER_BLOCKS) ==
	        1) {
		panel_gram_cluster_works(call, work);
		return GRAM_CLUSTER_WORKS;
	}
	const size_t begin = panel_gram_begin_works(call, device, work),
	             idle = idle_works(call, device, &work[begin]);
	panel_gram_end_works(call, device, &work[begin + idle]);
	return begin + idle + GRAM_WORKS;
}
