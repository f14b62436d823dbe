/* SPDX-License-Identifier: MIT */
/* The deferred executor: operations wait in their queues and run, on the host executor, in an order
 * drawn from a seed. The order keeps the promises of queues and events and nothing else, so that an
 * algorithm that forgot to wait gives another result with some seed. */
#ifndef FATHOM_DEFERRED_H
#define FATHOM_DEFERRED_H

#include "deferred_operations.h"

/* ---- memory ---- */

static inline bool deferred_alloc(struct executor *e, int64_t bytes, void **data)
{
	return deferred_self(e)->host->ops->alloc(deferred_self(e)->host, bytes, data);
}

static inline void deferred_release(struct executor *e, void *data)
{
	deferred_sync(e);
	deferred_self(e)->host->ops->release(deferred_self(e)->host, data);
}

static inline bool deferred_upload(
        struct executor *e, const void *from, int64_t ld, struct matrix a)
{
	return deferred_sync(e) &&
	       deferred_self(e)->host->ops->upload(deferred_self(e)->host, from, ld, a);
}

static inline bool deferred_download(struct executor *e, struct matrix a, void *to, int64_t ld)
{
	return deferred_sync(e) &&
	       deferred_self(e)->host->ops->download(deferred_self(e)->host, a, to, ld);
}

static inline bool deferred_read_pivots(struct executor *e, struct pivots p, int *ipiv, int *info)
{
	return deferred_sync(e) &&
	       deferred_self(e)->host->ops->read_pivots(deferred_self(e)->host, p, ipiv, info);
}

/* A stage that grows moves, and its content is destroyed. */
static inline bool deferred_stage(struct executor *e, int stage, int64_t m, int64_t n,
        enum precision precision, struct matrix *host)
{
	struct deferred *d = deferred_self(e);
	int64_t bytes = m * n * precision_bytes(precision);

	if (bytes > d->stage_bytes[stage]) {
		if (d->stages[stage]) {
			memset(d->stages[stage], 0xff, (size_t)d->stage_bytes[stage]);
			if (d->old_count == DEFERRED_OLD_STAGES)
				return fault_set(&e->fault, "stages grow all the time");
			d->old_stages[d->old_count++] = d->stages[stage];
		}
		d->stages[stage] = xmalloc((size_t)bytes);
		d->stage_bytes[stage] = bytes;
	}
	*host = (struct matrix){d->stages[stage], 0, m, n, m, precision};
	return true;
}

static inline bool deferred_fits(struct executor *e, struct matrix a)
{
	return deferred_self(e)->host->ops->resident_fits(deferred_self(e)->host, a);
}

static inline int64_t deferred_resident_work(struct executor *e, struct matrix a)
{
	return deferred_self(e)->host->ops->resident_work(deferred_self(e)->host, a);
}

static inline int64_t deferred_geqrf_work(struct executor *e, struct matrix a)
{
	return deferred_self(e)->host->ops->geqrf_work(deferred_self(e)->host, a);
}

/* The host waits for the current queue. */
static inline bool deferred_arrive(struct executor *e)
{
	struct deferred *d = deferred_self(e);
	const struct task_queue *q = &d->queues[e->queue];
	bool ok = true;

	while (ok && q->done < q->count)
		ok = run_one(d);
	return ok;
}

static inline bool deferred_get(struct executor *e, struct matrix element, double *value)
{
	return deferred_arrive(e) && ex_get(deferred_self(e)->host, element, value);
}

static inline bool deferred_nrm2(struct executor *e, struct matrix x, double *norm)
{
	return deferred_arrive(e) && ex_nrm2(deferred_self(e)->host, x, norm);
}

static inline bool deferred_panel_reflects(struct executor *e, struct matrix a)
{
	(void)a;
	return deferred_self(e)->one_call;
}

static inline void deferred_destroy(struct executor *e)
{
	struct deferred *d = deferred_self(e);

	for (int i = 0; i < QUEUE_COUNT; i++)
		free(d->queues[i].tasks);
	for (int i = 0; i < EXECUTOR_STAGES; i++)
		free(d->stages[i]);
	for (int i = 0; i < d->old_count; i++)
		free(d->old_stages[i]);
	free(d);
}

/* Runs on host, which outlives it, with the host executor's settings of now. It has the operations
 * that the blocked algorithms need. */
static inline struct executor *deferred_new(struct executor *host, uint64_t seed)
{
	static const struct executor_ops ops = {.destroy = deferred_destroy,
	        .alloc = deferred_alloc,
	        .release = deferred_release,
	        .upload = deferred_upload,
	        .download = deferred_download,
	        .read_pivots = deferred_read_pivots,
	        .sync = deferred_sync,
	        .resident_fits = deferred_fits,
	        .resident_work = deferred_resident_work,
	        .resident_panel = deferred_resident_panel,
	        .record = deferred_record,
	        .wait = deferred_wait,
	        .wait_host = deferred_wait_host,
	        .stage = deferred_stage,
	        .to_host = deferred_transfer,
	        .to_device = deferred_transfer,
	        .host_panel_getrf = deferred_host_panel_getrf,
	        .host_panel_geqrf = deferred_host_panel_geqrf,
	        .host_panel_potrf = deferred_host_panel_potrf,
	        .get = deferred_get,
	        .nrm2 = deferred_nrm2,
	        .scal = deferred_scal,
	        .ger = deferred_ger,
	        .gemv = deferred_gemv,
	        .make_rotations = deferred_make_rotations,
	        .rotate = deferred_rotate,
	        .transpose = deferred_transpose,
	        .gemm = deferred_gemm,
	        .split = deferred_split,
	        .gemm_tf32 = deferred_gemm_tf32,
	        .half_update = deferred_half_update,
	        .gemm_tall = deferred_gemm_tall,
	        .add_triangles = deferred_add_triangles,
	        .syrk = deferred_syrk,
	        .trsm = deferred_trsm,
	        .trsm_guard = deferred_trsm_guard,
	        .trtri = deferred_trtri,
	        .laswp = deferred_laswp,
	        .lu_columns = deferred_lu_columns,
	        .lu_rows = deferred_lu_rows,
	        .lu_top = deferred_lu_top,
	        .record_swaps = deferred_record_swaps,
	        .apply_swaps = deferred_apply_swaps,
	        .offset_pivots = deferred_offset_pivots,
	        .join_halves = deferred_join_halves,
	        .clear_info = deferred_clear_info,
	        .zero_diagonal = deferred_zero_diagonal,
	        .potrf_block = deferred_potrf_block,
	        .geqrf_work = deferred_geqrf_work,
	        .panel_geqrf = deferred_panel_geqrf,
	        .panel_reflects = deferred_panel_reflects,
	        .panel_reflectors = deferred_panel_reflectors,
	        .explicit_v = deferred_explicit_v,
	        .larft = deferred_larft,
	        .copy = deferred_copy,
	        .fill = deferred_fill};
	struct deferred *d = xcalloc(1, sizeof *d);

	d->base = (struct executor){.ops = &ops,
	        .name = "deferred",
	        .row_major = host->row_major,
	        .column_major = host->column_major,
	        .aligned_from = host->aligned_from,
	        .math = host->math,
	        .splits = host->splits,
	        .rows_most = {host->rows_most[0], host->rows_most[1]}};
	d->host = host;
	d->seed = seed;
	d->fixed_order = seed % 2 == 0;
	d->one_call = seed / 2 % 2 == 0;
	for (int i = 0; i < QUEUE_COUNT; i++) {
		int other = (int)(deferred_draw(d) % (uint64_t)(i + 1));
		d->order[i] = d->order[other];
		d->order[other] = i;
	}
	return &d->base;
}

#endif
