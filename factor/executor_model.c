/* SPDX-License-Identifier: MIT */
#include "executor_model.h"

#include "../lib/msg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct simulated {
	struct executor base;
	struct price_reader reader;
	const struct tariff *tariff;
	enum model_target target;
	bool overlap;
	double host, stream; /* clocks: when each is free, seconds */
	enum phase last;     /* phase of the last operation: the final wait is for it */
	double phase[PHASE_COUNT], term[TERM_COUNT];
};

static struct simulated *self(struct executor *e)
{
	return (struct simulated *)e;
}

static double later(double a, double b)
{
	return b > a ? b : a;
}

/* Time of the price's terms on the stream. */
static double stream_time(const struct price *price, bool overlap)
{
	double total = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		total += price->term[t];
	if (!overlap)
		return total;
	double start = price->term[TERM_LAUNCH] + price->term[TERM_HOST];
	double traffic = price->term[TERM_MEMORY];
	return total - (start < traffic ? start : traffic);
}

/* Runs an operation on the clocks. What it adds to the end of the critical path is attributed to
 * its own terms first, because they come last; the rest is time that the host spent queueing.
 * Returns true, as operations do. */
static bool charge(struct executor *e, enum phase phase, struct price price)
{
	struct simulated *s = self(e);

	if (s->stream > s->host)
		price.term[TERM_TRANSFER] += price.behind;
	double before = later(s->host, s->stream), device = stream_time(&price, s->overlap);

	s->host += price.enqueue;
	s->stream = later(s->stream, s->host) + device;
	if (price.wait)
		s->host = s->stream;

	double added = later(s->host, s->stream) - before, total = stream_time(&price, false);
	double exposed = added < device ? added : device;
	for (int t = 0; t < TERM_COUNT && total > 0; t++)
		s->term[t] += price.term[t] / total * exposed;
	s->term[TERM_HOST] += added - exposed;
	s->phase[phase] += added;
	s->last = phase;
	return true;
}

/* ---- memory and what is outside of what is timed ---- */

static void model_destroy(struct executor *e)
{
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

static bool model_sync(struct executor *e)
{
	struct simulated *s = self(e);

	if (s->stream <= s->host)
		return true;
	struct price answer = {.wait = true, .term[TERM_SYNC] = s->tariff->sync(&s->reader)};
	return charge(e, s->last, answer);
}

/* ---- priced operations ---- */

static bool model_iamax(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return charge(e, PHASE_SEARCH, self(e)->tariff->iamax(&self(e)->reader, x));
}

static bool model_iamax_host(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return charge(e, PHASE_SEARCH, self(e)->tariff->iamax_host(&self(e)->reader, x));
}

static bool model_get(struct executor *e, struct matrix element, double *value)
{
	*value = 1;
	return charge(e, PHASE_FETCH, self(e)->tariff->get(&self(e)->reader, element));
}

static bool model_swap(struct executor *e, struct matrix x, struct matrix y)
{
	(void)y;
	return charge(e, PHASE_SWAP, self(e)->tariff->swap(&self(e)->reader, x));
}

static bool model_scal(struct executor *e, double alpha, struct matrix x)
{
	(void)alpha;
	return charge(e, PHASE_SCALE, self(e)->tariff->scal(&self(e)->reader, x));
}

static bool model_scale_by(struct executor *e, struct matrix element, struct matrix x)
{
	(void)element;
	return charge(e, PHASE_SCALE, self(e)->tariff->scale_by(&self(e)->reader, x));
}

static bool model_ger(struct executor *e, struct matrix x, struct matrix y, struct matrix a)
{
	(void)x;
	(void)y;
	return charge(e, PHASE_UPDATE, self(e)->tariff->ger(&self(e)->reader, a));
}

static bool model_zero_pivot(struct executor *e, struct matrix a, int *info)
{
	*info = 0;
	return charge(e, PHASE_FETCH, self(e)->tariff->zero_pivot(&self(e)->reader, a));
}

static bool model_store_pivots(struct executor *e, const int *ipiv, int info, struct pivots p)
{
	(void)ipiv;
	(void)info;
	return charge(e, PHASE_FETCH, self(e)->tariff->store_pivots(&self(e)->reader, p.n));
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
	return charge(e, PHASE_SEARCH, self(e)->tariff->fused_begin(&self(e)->reader, a));
}

static bool model_fused_pivot(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return charge(e, PHASE_SWAP, self(e)->tariff->fused_pivot(&self(e)->reader, a, j));
}

static bool model_fused_update(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return charge(e, PHASE_UPDATE, self(e)->tariff->fused_update(&self(e)->reader, a, j));
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
	if (panel_geometry(a.m, a.n, precision_bytes(a.precision), (int)sms, (int64_t)shared, g))
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
	       charge(e, PHASE_PANEL, self(e)->tariff->resident_panel(&self(e)->reader, a, &g));
}

static bool model_copy_out(struct executor *e, struct matrix a)
{
	return charge(e, PHASE_TRANSFER, self(e)->tariff->copy_out(&self(e)->reader, a));
}

static bool model_host_getrf(struct executor *e, struct matrix a, struct pivots p)
{
	(void)p;
	return charge(e, PHASE_PANEL, self(e)->tariff->host_getrf(&self(e)->reader, a));
}

static bool model_copy_in(struct executor *e, struct matrix a)
{
	return charge(e, PHASE_TRANSFER, self(e)->tariff->copy_in(&self(e)->reader, a));
}

static const struct executor_ops model_ops = {.destroy = model_destroy,
        .alloc = model_alloc,
        .release = model_release,
        .upload = model_upload,
        .download = model_download,
        .duplicate = model_duplicate,
        .read_pivots = model_read_pivots,
        .sync = model_sync,
        .iamax = model_iamax,
        .iamax_host = model_iamax_host,
        .get = model_get,
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
        .resident_panel = model_resident_panel,
        .copy_out = model_copy_out,
        .host_getrf = model_host_getrf,
        .copy_in = model_copy_in};

/* ---- constructor and result ---- */

struct executor *executor_model_new(
        const struct profile *profile, enum model_target target, int level)
{
	static const struct tariff *const tariffs[2][2] = {
	        [MODEL_CUDA] = {&tariff_cuda_sums, &tariff_cuda_full},
	        [MODEL_HOST] = {&tariff_host_sums, &tariff_host_full}};
	struct simulated *s = xcalloc(1, sizeof *s);

	s->base = (struct executor){.ops = &model_ops, .name = "model"};
	s->target = target;
	s->tariff = tariffs[target][level >= 2];
	price_reader_start(&s->reader, profile);
	return &s->base;
}

struct model_result executor_model_result(struct executor *executor)
{
	struct simulated *s = self(executor);
	struct model_result result = {0};

	model_sync(executor);
	result.seconds = s->reader.model.missing ? NAN : later(s->host, s->stream);
	for (int p = 0; p < PHASE_COUNT; p++)
		result.phase[p] = s->phase[p];
	for (int t = 0; t < TERM_COUNT; t++) {
		result.term[t] = s->term[t];
		if (s->term[t] > s->term[result.limiter])
			result.limiter = (enum term)t;
	}
	return result;
}

void executor_model_restart(struct executor *executor, bool overlap)
{
	struct simulated *s = self(executor);

	s->overlap = overlap;
	s->host = s->stream = 0;
	for (int p = 0; p < PHASE_COUNT; p++)
		s->phase[p] = 0;
	for (int t = 0; t < TERM_COUNT; t++)
		s->term[t] = 0;
}

struct price_reader *executor_model_reader(struct executor *executor)
{
	return &self(executor)->reader;
}
