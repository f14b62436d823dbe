/* SPDX-License-Identifier: MIT */
#include "panel_registers_work.h"
#include "panel_registers.h"

#include <math.h>

enum {
	CHUNK = 32,      /* columns whose sums a warp adds up at once */
	LOADS = 8,       /* records that a thread waits for at once */
	MOST_HELD = 256, /* threads of which a multiprocessor holds one block */
	CHOICES = 8      /* dependent selections and comparisons of a column */
};

#define SHAPE(real, columns, rows, threads, cluster, most)                                         \
	{sizeof(real) == 4 ? SINGLE : DOUBLE, columns, rows, threads, cluster, most, NULL},
static const struct register_panel householder[] = {HOUSEHOLDER_REGISTER_PANELS(SHAPE)},
                                   gram[] = {GRAM_REGISTER_PANELS(SHAPE)};

/* Blocks that the device holds at once. */
static int64_t held(const struct register_panel *v, const struct tuning_device *device)
{
	const int64_t clusters = work_clusters_held(device, v->cluster);
	return v->cluster == 1 ? device->sm_count
	                       : clusters * v->cluster * (MOST_HELD / v->threads);
}

static const struct register_panel *choose_within(
        const struct register_panel_call *call, const struct tuning_device *device, int64_t most)
{
	const struct register_panel *table = call->gram ? gram : householder;
	const size_t count = call->gram ? ARRAY_LEN(gram) : ARRAY_LEN(householder);

	for (size_t i = 0; i < count; i++)
		if (register_panel_takes(&table[i], call->precision, call->m, call->n,
		            min_int64(most, held(&table[i], device))))
			return &table[i];
	return NULL;
}

/* What a block does for a column with so many columns from it on, and waits for. */
static void add_column(
        const struct register_panel *v, bool of_gram, double left, struct kernel_work *w)
{
	const double word = (double)precision_bytes(v->precision) / 4, warps = v->threads / 32.0,
	             chunks = ceil(left / CHUNK), rows = v->rows, threads = v->threads,
	             pieces = v->columns * word / 2, groups = threads / pieces,
	             records = w->blocks / v->cluster;
	const enum work_link fma = work_fma_link(v->precision);
	const bool alone = v->cluster > 1 && records == 1;
	/* The norm; then tau and the divisor, or multipliers and a thread's rows of Q. Each has a
	 * branch, so they follow each other. */
	const double rounded = of_gram ? 2 + rows : 3;

	/* products and update; sums over lanes: shuffles, choices and additions */
	w->operations[work_fma_pipe(v->precision)] +=
	        w->blocks * threads * chunks * (4 * CHUNK * rows + 2 * (CHUNK - 1));
	w->operations[PIPE_INTEGER] +=
	        w->blocks * threads *
	        (COLUMN_INSTRUCTIONS + ROW_INSTRUCTIONS * rows + chunks * 2 * word * (CHUNK - 1));
	w->wavefronts += w->blocks * warps *
	                 (chunks * word * (CHUNK - 1 + 2 /* the warp's sums */ + CHUNK / 2) +
	                         groups * (1 + chunks * word / warps));
	w->link[LINK_SHUFFLE] += log2(CHUNK);
	w->link[LINK_SHARED] += 4; /* sums of warps, of groups; row j; multipliers */
	w->link[LINK_BLOCK] += 3;
	w->link[LINK_SPECIAL] += rounded;
	w->link[LINK_FMA] += log2(CHUNK) + CHOICES;
	w->link[fma] += rows + log2(CHUNK) + warps - 1 + groups - 1 + 2 /* multipliers, update */ +
	                rounded * ROUNDED_STEPS;
	if (v->cluster > 1) { /* the barrier comes behind sums that travel, and stores to L2 */
		w->link[LINK_L2] += 1;
		w->exchange[SCOPE_CLUSTER].bytes = 4 * word * v->columns;
		w->exchange[SCOPE_CLUSTER].count += 1;
		w->link[LINK_CLUSTER_BARRIER] += 1;
		w->link[LINK_SHARED] += 1;
		w->link[fma] += v->cluster - 1;
	}
	if (alone)
		return;
	const double bytes = 4 * word * left;
	w->exchange[SCOPE_GRID].bytes += bytes;
	w->exchange[SCOPE_GRID].count += 1;
	w->link[fma] += ceil((records + 1) / groups);
	w->link[LINK_L2] += ceil((records + 1) / groups / LOADS) - 1;
	w->l2.read += w->blocks * (records + 1) * 2 * bytes; /* with tags */
	w->l2.written += (records + 1) * 2 * bytes;
}

size_t register_panel_works(const struct register_panel_call *call,
        const struct tuning_device *device, struct kernel_work work[2])
{
	const struct register_panel *v =
	        call->beside ? choose_within(call, device, device->sm_count / 2) : NULL;
	struct kernel_work *w = &work[1];
	if (!v)
		v = choose_within(call, device, INT64_MAX);
	if (!v)
		return 0;

	const double bytes = (double)(call->m * call->n * precision_bytes(call->precision));
	work_of_start(&work[0]);
	*w = (struct kernel_work){.launches = 1,
	        .blocks = (double)register_panel_blocks(v, call->m),
	        .threads = v->threads,
	        .registers = 255,
	        .cluster = v->cluster > 1 ? v->cluster : 0,
	        .dram = {bytes, bytes},
	        .working_set = bytes,
	        .state = bytes};
	w->link[LINK_DRAM] = 1;
	for (int64_t j = 0; j < call->n; j++)
		add_column(v, call->gram, (double)(call->n - j), w);
	if (w->exchange[SCOPE_GRID].count > 0)
		w->exchange[SCOPE_GRID].bytes /= w->exchange[SCOPE_GRID].count;
	return 2;
}
