/* SPDX-License-Identifier: MIT */
/* The deferred executor: operations wait in their queues and run, on the host executor, in an order
 * drawn from a seed. The order keeps the promises of queues and events and nothing else, so that an
 * algorithm that forgot to wait gives another result with some seed. */
#pragma once

#include "deferred_operations.h"

/* ---- memory ---- */

static inline void deferred_release(struct executor *e, void *data)
{
	deferred_sync(e);
	deferred_self(e)->host->ops->release(deferred_self(e)->host, data);
}

static inline bool deferred_upload(
        struct executor *e, const void *from, int64_t ld, struct matrix a)
{
	return deferred_sync(e) && host_upload_now(e, from, ld, a);
}

static inline bool deferred_download(struct executor *e, struct matrix a, void *to, int64_t ld)
{
	return deferred_sync(e) && host_download_now(e, a, to, ld);
}

static inline bool deferred_read_pivots(struct executor *e, struct pivots p, int *ipiv, int *info)
{
	return deferred_sync(e) && host_read_pivots_now(e, p, ipiv, info);
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

static inline void deferred_destroy(struct executor *e)
{
	struct deferred *d = deferred_self(e);

	for (int i = 0; i < QUEUE_COUNT; i++) {
		struct task_queue *q = &d->queues[i];
		while (q->done < q->count)
			free(q->tasks[q->done++].arguments);
		free(q->tasks);
	}
	for (int i = 0; i < EXECUTOR_STAGES; i++)
		free(d->stages[i]);
	for (int i = 0; i < d->old_count; i++)
		free(d->old_stages[i]);
	free(d);
}

/* Runs on host, which outlives it, with the host executor's settings of now. */
static inline struct executor *deferred_new(struct executor *host, uint64_t seed)
{
	static const struct executor_ops ops = {
#define SERVICE(type, name, ...) .name = host_##name##_now,
#define OPERATION(name, ...) .name = deferred_##name,
#define CHOSEN(name, ...) .name = deferred_##name,
#define HOST_PANEL(name, ...) .name = deferred_##name,
#include "factor/executors/operations.h"
	        .destroy = deferred_destroy,
	        .release = deferred_release,
	        .sync = deferred_sync,
	        .record = deferred_record,
	        .wait = deferred_wait,
	        .wait_host = deferred_wait_host,
	        .panel_reflects = deferred_panel_reflects};
	struct deferred *d = xcalloc(1, sizeof *d);

	d->ops = ops;
	d->ops.upload = deferred_upload;
	d->ops.download = deferred_download;
	d->ops.read_pivots = deferred_read_pivots;
	d->ops.stage = deferred_stage;
	d->ops.panel_reflectors = deferred_one_call;
	d->ops.store_pivots = deferred_keep_pivots;
	/* no algorithm needs these, whose arguments or results would not be kept for later */
	d->ops.duplicate = NULL;
	d->ops.gram_dots = d->ops.gram_update = d->ops.gram_scale = d->ops.gram_fused = NULL;
	d->ops.gram_panel = NULL;
	d->ops.band_sweep = NULL;
	d->base = (struct executor){.ops = &d->ops,
	        .name = "deferred",
	        .row_major = host->row_major,
	        .column_major = host->column_major,
	        .aligned_from = host->aligned_from,
	        .math = host->math,
	        .splits = host->splits,
	        .tuning = host->tuning,
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
