/* SPDX-License-Identifier: MIT */
#include "executor_model_parts.h"

#include "../split.h"

#include "../../lib/block_kernels.h"
#include "../../lib/msg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static struct simulated *self(struct executor *e)
{
	return model_self(e);
}

/* ---- memory and what is outside of what is timed ---- */

static void model_destroy(struct executor *e)
{
	simulation_free(&self(e)->device);
	free(self(e)->charged);
	free(self(e)->mark);
	free(e);
}

/* What is allocated is what the operations will work on. */
static bool model_alloc(struct executor *e, int64_t bytes, void **data)
{
	self(e)->reader.working_set += (double)bytes;
	*data = NULL;
	return true;
}

static void model_release(struct executor *e, void *data)
{
	(void)e;
	(void)data;
}

static bool model_upload(struct executor *e, const void *host, int64_t host_ld, struct matrix a)
{
	(void)e;
	(void)host;
	(void)host_ld;
	(void)a;
	return true;
}

static bool no_data(struct executor *e)
{
	return fault_set(
	        &e->fault, "the model executor has no data to read: run cuda or host for that");
}

static bool model_download(struct executor *e, struct matrix a, void *host, int64_t host_ld)
{
	(void)a;
	(void)host;
	(void)host_ld;
	return no_data(e);
}

static bool model_duplicate(struct executor *e, struct matrix from, struct matrix to)
{
	(void)e;
	(void)from;
	(void)to;
	return true;
}

static bool model_read_pivots(struct executor *e, struct pivots p, int *host_ipiv, int *info)
{
	(void)p;
	(void)host_ipiv;
	(void)info;
	return no_data(e);
}

/* The latest of what the queues were given; -1 when the host has seen the end of all. */
static int64_t unseen(struct simulated *s)
{
	int64_t found = -1;
	double end = s->host;

	for (int q = 0; q < QUEUE_COUNT; q++) {
		int64_t last = s->device.last[q];
		if (last >= 0 && simulation_finish(&s->device, last) > end) {
			found = last;
			end = s->device.operation[found].end;
		}
	}
	return found;
}

static bool model_sync(struct executor *e)
{
	struct simulated *s = self(e);
	int64_t last = unseen(s);

	if (last < 0)
		return true;
	struct price answer = {.wait = true,
	        .term[TERM_SYNC] = s->tariff->sync(&s->reader),
	        .engine = ENGINE_HOST};
	s->host = s->device.operation[last].end;
	return model_charge(e, s->charged[s->device.operation[last].work.tag].phase, "sync",
	        (struct matrix){.m = 0}, 0, answer);
}

/* An event on an idle queue happens when the host asks for it. Reading the device's clock costs the
 * queue nothing that the profile has. */
static bool model_mark(struct executor *e, int64_t index)
{
	struct simulated *s = self(e);

	if (index >= s->mark_count) {
		s->mark_count = 2 * index + 64;
		s->mark = xrealloc(s->mark, (size_t)s->mark_count * sizeof *s->mark);
	}
	s->host += s->blocks->event(&s->reader);
	s->mark[index] = (struct model_mark){s->host, s->device.last[e->queue]};
	return true;
}

static double mark_time(struct simulated *s, const struct model_mark *mark)
{
	return fmax(mark->host, simulation_finish(&s->device, mark->last));
}

static bool model_elapsed(struct executor *e, int64_t from, int64_t to, double *seconds)
{
	struct simulated *s = self(e);

	*seconds = mark_time(s, &s->mark[to]) - mark_time(s, &s->mark[from]);
	if (s->reader.model.missing)
		*seconds = NAN;
	return true;
}

/* ---- priced operations ---- */

static bool model_iamax(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return model_charge(
	        e, PHASE_SEARCH, "iamax", x, 0, self(e)->tariff->iamax(&self(e)->reader, x));
}

static bool model_iamax_host(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return model_charge(e, PHASE_SEARCH, "iamax_host", x, 0,
	        self(e)->tariff->iamax_host(&self(e)->reader, x));
}

static bool model_get(struct executor *e, struct matrix element, double *value)
{
	*value = 1;
	return model_charge(
	        e, PHASE_FETCH, "get", element, 0, self(e)->tariff->get(&self(e)->reader, element));
}

static bool model_nrm2(struct executor *e, struct matrix x, double *norm)
{
	*norm = 1;
	return model_charge(
	        e, PHASE_SEARCH, "nrm2", x, 0, self(e)->tariff->nrm2(&self(e)->reader, x));
}

static bool model_swap(struct executor *e, struct matrix x, struct matrix y)
{
	(void)y;
	return model_charge(
	        e, PHASE_SWAP, "swap", x, 0, self(e)->tariff->swap(&self(e)->reader, x));
}

static bool model_scal(struct executor *e, double alpha, struct matrix x)
{
	(void)alpha;
	return model_charge(
	        e, PHASE_SCALE, "scal", x, 0, self(e)->tariff->scal(&self(e)->reader, x));
}

static bool model_scale_by(struct executor *e, struct matrix element, struct matrix x)
{
	(void)element;
	return model_charge(
	        e, PHASE_SCALE, "scale_by", x, 0, self(e)->tariff->scale_by(&self(e)->reader, x));
}

static bool model_ger(struct executor *e, struct matrix x, struct matrix y, struct matrix a)
{
	(void)x;
	(void)y;
	return model_charge(
	        e, PHASE_UPDATE, "ger", a, 0, self(e)->tariff->ger(&self(e)->reader, a));
}

static bool model_zero_pivot(struct executor *e, struct matrix a, int *info)
{
	*info = 0;
	return model_charge(e, PHASE_FETCH, "zero_pivot", a, 0,
	        self(e)->tariff->zero_pivot(&self(e)->reader, a));
}

static bool model_store_pivots(struct executor *e, const int *ipiv, int info, struct pivots p)
{
	(void)ipiv;
	(void)info;
	return model_charge(e, PHASE_FETCH, "store_pivots", (struct matrix){.m = p.n, .n = 1}, 0,
	        self(e)->tariff->store_pivots(&self(e)->reader, p.n));
}

static bool not_priced(struct executor *e, const char *variant)
{
	return fault_set(&e->fault,
	        "variant %s is not priced for the host: it is a reference there", variant);
}

static int64_t model_fused_work(struct executor *e, struct matrix a)
{
	(void)a;
	return self(e)->tariff->fused_update ? 0 : (not_priced(e, "fused"), -1);
}

static bool model_fused_begin(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return model_charge(e, PHASE_SEARCH, "fused_begin", a, 0,
	        self(e)->tariff->fused_begin(&self(e)->reader, a));
}

static bool model_fused_pivot(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return model_charge(e, PHASE_SWAP, "fused_pivot", a, 0,
	        self(e)->tariff->fused_pivot(&self(e)->reader, a, j));
}

static bool model_fused_update(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return model_charge(e, PHASE_UPDATE, "fused_update", a, 0,
	        self(e)->tariff->fused_update(&self(e)->reader, a, j));
}

/* The geometry on the profile's GPU. */
static bool geometry_of(struct executor *e, struct matrix a, struct panel_geometry *g)
{
	struct price_reader *r = &self(e)->reader;
	double sms = price_scalar(r, "gpu.sm.count"),
	       shared = price_scalar(r, "gpu.shared.per_block");

	if (isnan(sms) || isnan(shared))
		return fault_set(&e->fault,
		        "the profile has no %s, which says whether a panel fits on chip: run make "
		        "probe",
		        r->model.missing_name);
	bool (*choose)(int64_t, int64_t, int64_t, int, int64_t, struct panel_geometry *) =
	        e->queue == QUEUE_PANEL ? panel_geometry_beside : panel_geometry;
	if (choose(a.m, a.n, precision_bytes(a.precision), (int)sms, (int64_t)shared, g))
		return true;
	return fault_set(&e->fault,
	        "the panel does not fit on chip: %" PRId64 " rows of %" PRId64
	        " columns on each of %d multiprocessors take %" PRId64
	        " bytes of shared memory, there are %" PRId64,
	        g->rows_per_block, a.n, (int)sms, g->shared_bytes, (int64_t)shared);
}

static bool model_resident_fits(struct executor *e, struct matrix a)
{
	struct panel_geometry g;

	return self(e)->tariff->resident_panel ? geometry_of(e, a, &g)
	                                       : not_priced(e, "persistent");
}

static int64_t model_resident_work(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return 0;
}

static bool model_resident_panel(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	struct panel_geometry g;

	(void)work;
	(void)p;
	return geometry_of(e, a, &g) &&
	       model_charge(e, PHASE_PANEL, "resident_panel", a, 0,
	               self(e)->tariff->resident_panel(&self(e)->reader, a, &g));
}

static const struct executor_ops panel_ops = {.destroy = model_destroy,
        .alloc = model_alloc,
        .release = model_release,
        .upload = model_upload,
        .download = model_download,
        .duplicate = model_duplicate,
        .read_pivots = model_read_pivots,
        .sync = model_sync,
        .mark = model_mark,
        .elapsed = model_elapsed,
        .iamax = model_iamax,
        .iamax_host = model_iamax_host,
        .get = model_get,
        .nrm2 = model_nrm2,
        .swap = model_swap,
        .scal = model_scal,
        .scale_by = model_scale_by,
        .ger = model_ger,
        .zero_pivot = model_zero_pivot,
        .store_pivots = model_store_pivots,
        .fused_work = model_fused_work,
        .fused_begin = model_fused_begin,
        .fused_pivot = model_fused_pivot,
        .fused_update = model_fused_update,
        .resident_fits = model_resident_fits,
        .resident_work = model_resident_work,
        .resident_panel = model_resident_panel};

/* ---- constructor and result ---- */

/* Where the profile does not say how much shared memory there is, all that lu_rows ever takes. */
static int64_t rows_most(struct price_reader *r, enum precision precision)
{
	static const char *const room = "gpu.shared.per_block";

	return price_known(r, room) ? block_lu_rows_most(precision, (int64_t)price_scalar(r, room))
	                            : EXECUTOR_LU_ROWS;
}

struct executor *executor_model_new(
        const struct profile *profile, enum model_target target, int level)
{
	static const struct tariff *const tariffs[2][2] = {
	        [MODEL_CUDA] = {&tariff_cuda_sums, &tariff_cuda_full},
	        [MODEL_HOST] = {&tariff_host_sums, &tariff_host_full}};
	static const struct block_tariff *const blocks[2][2] = {
	        [MODEL_CUDA] = {&blocks_cuda_sums, &blocks_cuda_full},
	        [MODEL_HOST] = {&blocks_host_sums, &blocks_host_full}};
	struct simulated *s = xcalloc(1, sizeof *s);

	s->ops = panel_ops;
	model_add_blocks(&s->ops);
	model_add_kernels(&s->ops);
	model_add_gram(&s->ops);
	s->base =
	        (struct executor){.ops = &s->ops, .name = "model", .on_host = target == MODEL_HOST};
	s->target = target;
	s->tariff = tariffs[target][level >= 2];
	s->blocks = blocks[target][level >= 2];
	price_reader_start(&s->reader, profile);
	if (target == MODEL_CUDA && price_known(&s->reader, "gpu.gemm.tf32"))
		s->base.splits = price_known(&s->reader, "gpu.half_gemm.s")
		                         ? &split_limits_cuda_half
		                         : &split_limits_cuda;
	s->base.by_rows = target == MODEL_CUDA ? EXECUTOR_BY_ROWS : 0;
	s->base.by_columns = EXECUTOR_BY_COLUMNS;
	s->base.aligned_from = target == MODEL_CUDA ? EXECUTOR_ALIGNED_FROM : 0;
	s->base.rows_most[0] = rows_most(&s->reader, SINGLE);
	s->base.rows_most[1] = rows_most(&s->reader, DOUBLE);
	executor_model_restart(&s->base, false);
	return &s->base;
}

double executor_model_seconds(struct executor *executor)
{
	struct simulated *s = self(executor);

	model_sync(executor);
	return s->reader.model.missing ? NAN : s->host;
}

struct model_result executor_model_result(struct executor *executor)
{
	struct simulated *s = self(executor);
	struct model_result result = {.seconds = executor_model_seconds(executor)};

	model_account(s, &result);
	for (int t = 0; t < TERM_COUNT; t++)
		if (result.term[t] > result.term[result.limiter])
			result.limiter = (enum term)t;
	return result;
}

void executor_model_restart(struct executor *executor, bool overlap)
{
	struct simulated *s = self(executor);

	s->overlap = overlap;
	s->reader.host_wrote = false;
	s->host = 0;
	s->base.queue = QUEUE_MAIN;
	s->base.block = 0;
	s->queues = 0;
	s->way = NO_WAY;
	s->count = 0;
	simulation_start(&s->device);
	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		s->event[i] = -1;
}

void executor_model_record(struct executor *executor, bool recorded)
{
	self(executor)->recorded = recorded;
}

struct price_reader *executor_model_reader(struct executor *executor)
{
	return &self(executor)->reader;
}
