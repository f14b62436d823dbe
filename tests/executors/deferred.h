/* SPDX-License-Identifier: MIT */
/* An executor that puts off: operations wait in their queues and run, on the host executor, in an
 * order drawn from a seed that keeps nothing but what queues and events promise. An algorithm that
 * forgot to wait for something gives another result with some seed. */
#ifndef FATHOM_DEFERRED_H
#define FATHOM_DEFERRED_H

#include "factor/executors/executor.h"
#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

struct task {
	bool (*run)(struct executor *host, const struct task *);
	struct matrix a, b, c, d;
	struct pivots p, q;
	enum trans ta, tb;
	struct splits splits;
	struct deferred_swaps swaps;
	struct products products;
	enum side side;
	enum uplo uplo;
	enum diag diag;
	double alpha, beta;
	int64_t number; /* first row, event or version */
	int event;
	bool backwards;
	int *info;
	void *memory;
};

struct task_queue {
	struct task *tasks;
	int64_t count, done;
};

enum { DEFERRED_OLD_STAGES = 16 };

struct deferred {
	struct executor base;
	struct executor *host;
	struct task_queue queues[QUEUE_COUNT];
	int64_t recorded[EXECUTOR_EVENTS], reached[EXECUTOR_EVENTS];
	uint64_t seed;
	bool one_call;    /* for a panel of reflectors */
	bool fixed_order; /* the first queue that can run, in a drawn order; else a drawn one */
	int order[QUEUE_COUNT];
	void *stages[EXECUTOR_STAGES], *old_stages[DEFERRED_OLD_STAGES];
	int64_t stage_bytes[EXECUTOR_STAGES];
	int old_count;
};

static inline struct deferred *deferred_self(struct executor *e)
{
	return (struct deferred *)e;
}

static inline bool defer(struct executor *e, struct task task)
{
	struct task_queue *q = &deferred_self(e)->queues[e->queue];

	q->tasks = xrealloc(q->tasks, (size_t)(q->count + 1) * sizeof *q->tasks);
	q->tasks[q->count++] = task;
	return true;
}

static inline uint64_t deferred_draw(struct deferred *d)
{
	d->seed = d->seed * 6364136223846793005 + 1442695040888963407;
	return d->seed >> 33;
}

/* ---- the order ---- */

/* Events are tasks without a function: number > 0 records a version, < 0 waits for it. */
static inline bool can_run(const struct deferred *d, int queue)
{
	const struct task_queue *q = &d->queues[queue];

	if (q->done == q->count)
		return false;
	const struct task *t = &q->tasks[q->done];
	return t->run || t->number > 0 || d->reached[t->event] >= -t->number;
}

static inline bool run_head(struct deferred *d, int queue)
{
	struct task_queue *q = &d->queues[queue];
	const struct task *t = &q->tasks[q->done++];

	if (!t->run && t->number > 0)
		d->reached[t->event] = t->number;
	return !t->run || t->run(d->host, t);
}

static inline bool run_one(struct deferred *d)
{
	int start = (int)(deferred_draw(d) % QUEUE_COUNT);

	for (int i = 0; i < QUEUE_COUNT; i++) {
		int queue = d->fixed_order ? d->order[i] : (start + i) % QUEUE_COUNT;
		if (can_run(d, queue))
			return run_head(d, queue);
	}
	return fault_set(&d->base.fault, "every queue waits for an event");
}

static inline bool deferred_sync(struct executor *e)
{
	struct deferred *d = deferred_self(e);
	bool ok = true;

	for (int i = 0; ok && i < QUEUE_COUNT; i++)
		while (ok && d->queues[i].done < d->queues[i].count)
			ok = run_one(d);
	return ok;
}

static inline bool deferred_record(struct executor *e, int event)
{
	return defer(
	        e, (struct task){.event = event, .number = ++deferred_self(e)->recorded[event]});
}

static inline bool deferred_wait(struct executor *e, int event)
{
	return defer(
	        e, (struct task){.event = event, .number = -deferred_self(e)->recorded[event]});
}

static inline bool deferred_wait_host(struct executor *e, int event)
{
	struct deferred *d = deferred_self(e);
	bool ok = true;

	while (ok && d->reached[event] < d->recorded[event])
		ok = run_one(d);
	return ok;
}

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

/* A stage that grows moves, and what it held is destroyed. */
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

/* ---- on the host at once, their results later ---- */

static inline bool task_store_pivots(struct executor *h, const struct task *t)
{
	memcpy(t->p.data, t->memory, (size_t)(t->p.n + 1) * sizeof(int));
	free(t->memory);
	(void)h;
	return true;
}

static inline bool deferred_host_panel_getrf(
        struct executor *e, struct matrix host, struct pivots p)
{
	struct pivots now = {xmalloc((size_t)(p.n + 1) * sizeof(int)), p.n};

	return ex_host_panel_getrf(deferred_self(e)->host, host, now) &&
	       defer(e, (struct task){.run = task_store_pivots, .p = p, .memory = now.data});
}

static inline bool task_store_tau(struct executor *h, const struct task *t)
{
	bool ok = ex_copy(h, WHOLE, t->a, t->b);

	free(t->a.data);
	return ok;
}

static inline bool deferred_host_panel_geqrf(
        struct executor *e, struct matrix host, struct matrix tau)
{
	struct matrix now = {
	        xmalloc((size_t)tau.m * sizeof(double)), 0, tau.m, 1, tau.m, tau.precision};

	return ex_host_panel_geqrf(deferred_self(e)->host, host, now) &&
	       defer(e, (struct task){.run = task_store_tau, .a = now, .b = tau});
}

static inline bool task_store_info(struct executor *h, const struct task *t)
{
	(void)h;
	if (*t->info == 0)
		*t->info = (int)t->number;
	return true;
}

static inline bool deferred_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	int now = 0;

	return ex_host_panel_potrf(deferred_self(e)->host, uplo, host, first, &now) &&
	       defer(e, (struct task){.run = task_store_info, .info = info, .number = now});
}

/* ---- operations ---- */

/* One that is put off: its parameters behind the executor, the fields of the task that keep them,
 * and the call that it becomes, on the host executor h. */
#define LIST(...) __VA_ARGS__
#define OPERATION(name, parameters, fields, call)                                                  \
	static inline bool task_##name(struct executor *h, const struct task *t)                   \
	{                                                                                          \
		return call;                                                                       \
	}                                                                                          \
	static inline bool deferred_##name(struct executor *e, parameters)                         \
	{                                                                                          \
		return defer(e, (struct task){.run = task_##name, fields});                        \
	}

OPERATION(resident_panel, LIST(struct matrix a, void *work, struct pivots p),
        LIST(.a = a, .memory = work, .p = p), ex_resident_panel(h, t->a, t->memory, t->p))
OPERATION(copy, LIST(enum uplo uplo, struct matrix from, struct matrix to),
        LIST(.uplo = uplo, .a = from, .b = to), ex_copy(h, t->uplo, t->a, t->b))
OPERATION(transfer, LIST(struct matrix from, struct matrix to), LIST(.a = from, .b = to),
        ex_copy(h, WHOLE, t->a, t->b))
OPERATION(gemm,
        LIST(enum trans ta, enum trans tb, double alpha, struct matrix a, struct matrix b,
                double beta, struct matrix c),
        LIST(.ta = ta, .tb = tb, .alpha = alpha, .a = a, .b = b, .beta = beta, .c = c),
        ex_gemm(h, t->ta, t->tb, t->alpha, t->a, t->b, t->beta, t->c))
OPERATION(split, LIST(struct splits splits), LIST(.splits = splits), h->ops->split(h, t->splits))
OPERATION(gemm_tf32,
        LIST(double alpha, struct matrix a, struct matrix b, double beta, struct matrix c,
                struct products products),
        LIST(.alpha = alpha, .a = a, .b = b, .beta = beta, .c = c, .products = products),
        h->ops->gemm_tf32(h, t->alpha, t->a, t->b, t->beta, t->c, t->products))
OPERATION(half_update,
        LIST(enum uplo part, double alpha, struct matrix left, struct matrix right,
                struct matrix c),
        LIST(.uplo = part, .alpha = alpha, .a = left, .b = right, .c = c),
        h->ops->half_update(h, t->uplo, t->alpha, t->a, t->b, t->c))
OPERATION(gemm_tall, LIST(struct matrix v, struct matrix c, struct matrix p),
        LIST(.a = v, .b = c, .c = p), h->ops->gemm_tall(h, t->a, t->b, t->c))
OPERATION(add_triangles, LIST(enum uplo uplo, struct matrix blocks, struct matrix c),
        LIST(.uplo = uplo, .a = blocks, .c = c), h->ops->add_triangles(h, t->uplo, t->a, t->c))
OPERATION(syrk,
        LIST(enum uplo uplo, enum trans trans, double alpha, struct matrix a, double beta,
                struct matrix c),
        LIST(.uplo = uplo, .ta = trans, .alpha = alpha, .a = a, .beta = beta, .c = c),
        ex_syrk(h, t->uplo, t->ta, t->alpha, t->a, t->beta, t->c))
OPERATION(trsm,
        LIST(enum side side, enum uplo uplo, enum trans trans, enum diag diag, double alpha,
                struct matrix a, struct matrix b),
        LIST(.side = side, .uplo = uplo, .ta = trans, .diag = diag, .alpha = alpha, .a = a, .b = b),
        ex_trsm(h, t->side, t->uplo, t->ta, t->diag, t->alpha, t->a, t->b))
OPERATION(trsm_guard,
        LIST(enum side side, enum uplo uplo, enum trans trans, enum diag diag, struct matrix a,
                struct matrix inverse, struct matrix kept, struct matrix b),
        LIST(.side = side, .uplo = uplo, .ta = trans, .diag = diag, .a = a, .b = inverse, .c = kept,
                .d = b),
        ex_trsm_guard(h, t->side, t->uplo, t->ta, t->diag, t->a, t->b, t->c, t->d))
OPERATION(trtri, LIST(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse),
        LIST(.uplo = uplo, .diag = diag, .a = a, .b = inverse),
        ex_trtri(h, t->uplo, t->diag, t->a, t->b))
OPERATION(laswp, LIST(struct matrix a, struct pivots p, bool backwards),
        LIST(.a = a, .p = p, .backwards = backwards), ex_laswp(h, t->a, t->p, t->backwards))
OPERATION(lu_columns, LIST(struct matrix a, struct pivots p, struct matrix c),
        LIST(.a = a, .p = p, .c = c), ex_lu_columns(h, t->a, t->p, t->c))
OPERATION(lu_rows, LIST(struct matrix a, struct pivots p, struct matrix c),
        LIST(.a = a, .p = p, .c = c), ex_lu_rows(h, t->a, t->p, t->c))
OPERATION(lu_top, LIST(struct matrix a, struct pivots p, struct matrix c),
        LIST(.a = a, .p = p, .c = c), ex_lu_top(h, t->a, t->p, t->c))
OPERATION(record_swaps, LIST(struct deferred_swaps t, struct pivots p, int64_t first, int64_t block),
        LIST(.swaps = t, .p = p, .number = first, .event = (int)block),
        ex_record_swaps(h, t->swaps, t->p, t->number, t->event))
OPERATION(apply_swaps, LIST(struct deferred_swaps t, struct matrix a), LIST(.swaps = t, .a = a),
        ex_apply_swaps(h, t->swaps, t->a))
OPERATION(offset_pivots, LIST(struct pivots panel, int64_t first, struct pivots all),
        LIST(.p = panel, .number = first, .q = all), ex_offset_pivots(h, t->p, t->number, t->q))
OPERATION(join_halves,
        LIST(struct matrix beside, struct pivots half, int64_t first, struct pivots all),
        LIST(.a = beside, .p = half, .number = first, .q = all),
        ex_join_halves(h, t->a, t->p, t->number, t->q))
OPERATION(clear_info, LIST(int *info), LIST(.info = info), ex_clear_info(h, t->info))
OPERATION(zero_diagonal, LIST(struct matrix a, int *info), LIST(.a = a, .info = info),
        ex_zero_diagonal(h, t->a, t->info))
OPERATION(potrf_block, LIST(enum uplo uplo, struct matrix a, int64_t first, int *info),
        LIST(.uplo = uplo, .a = a, .number = first, .info = info),
        ex_potrf_block(h, t->uplo, t->a, t->number, t->info))
OPERATION(panel_geqrf, LIST(struct matrix a, struct matrix tau, void *work),
        LIST(.a = a, .b = tau, .memory = work), ex_panel_geqrf(h, t->a, t->b, t->memory))
OPERATION(explicit_v, LIST(struct matrix a, struct matrix v), LIST(.a = a, .b = v),
        ex_explicit_v(h, t->a, t->b))
OPERATION(larft, LIST(struct matrix v, struct matrix tau, struct matrix t),
        LIST(.a = v, .b = tau, .c = t), ex_larft(h, t->a, t->b, t->c))
OPERATION(panel_reflectors,
        LIST(struct matrix a, struct matrix tau, struct matrix v, struct matrix t, void *work),
        LIST(.a = a, .b = tau, .c = v, .d = t, .memory = work),
        ex_panel_reflectors(h, t->a, t->b, t->c, t->d, t->memory))
OPERATION(gemv,
        LIST(enum trans trans, double alpha, struct matrix a, struct matrix x, double beta,
                struct matrix y),
        LIST(.ta = trans, .alpha = alpha, .a = a, .b = x, .beta = beta, .c = y),
        ex_gemv(h, t->ta, t->alpha, t->a, t->b, t->beta, t->c))
OPERATION(ger, LIST(struct matrix x, struct matrix y, struct matrix a),
        LIST(.a = x, .b = y, .c = a), ex_ger(h, t->a, t->b, t->c))
OPERATION(scal, LIST(double alpha, struct matrix x), LIST(.alpha = alpha, .a = x),
        ex_scal(h, t->alpha, t->a))
OPERATION(make_rotations, LIST(int64_t row, struct matrix x, struct matrix g),
        LIST(.number = row, .a = x, .b = g), ex_make_rotations(h, t->number, t->a, t->b))
OPERATION(rotate, LIST(struct matrix g, struct matrix x), LIST(.a = g, .b = x),
        ex_rotate(h, t->a, t->b))
OPERATION(transpose, LIST(struct matrix a, struct matrix b), LIST(.a = a, .b = b),
        ex_transpose(h, t->a, t->b))
OPERATION(fill, LIST(enum uplo uplo, double off, double on, struct matrix a),
        LIST(.uplo = uplo, .alpha = off, .beta = on, .a = a),
        ex_fill(h, t->uplo, t->alpha, t->beta, t->a))
#undef OPERATION
#undef LIST

/* The host waits for what is in the current queue. */
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

/* Runs on host, which outlives it, as it is set now. What is not here is not needed by the blocked
 * algorithms. */
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
