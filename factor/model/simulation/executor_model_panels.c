/* SPDX-License-Identifier: MIT */
/* The model executor's operations of LU's panels, column by column and resident on chip. */
#include "executor_model_internal.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <math.h>

static bool model_iamax(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return model_charge(
	        e, PHASE_SEARCH, "iamax", x, 0, model_self(e)->cost_model->iamax(model_reader(e), x));
}

static bool model_iamax_host(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return model_charge(e, PHASE_SEARCH, "iamax_host", x, 0,
	        model_self(e)->cost_model->iamax_host(model_reader(e), x));
}

static bool model_get(struct executor *e, struct matrix element, double *value)
{
	*value = 1;
	return model_charge(e, PHASE_FETCH, "get", element, 0,
	        model_self(e)->cost_model->get(model_reader(e), element));
}

static bool model_nrm2(struct executor *e, struct matrix x, double *norm)
{
	*norm = 1;
	return model_charge(
	        e, PHASE_SEARCH, "nrm2", x, 0, model_self(e)->cost_model->nrm2(model_reader(e), x));
}

static bool model_swap(struct executor *e, struct matrix x, struct matrix y)
{
	(void)y;
	return model_charge(
	        e, PHASE_SWAP, "swap", x, 0, model_self(e)->cost_model->swap(model_reader(e), x));
}

static bool model_scal(struct executor *e, double alpha, struct matrix x)
{
	(void)alpha;
	return model_charge(
	        e, PHASE_SCALE, "scal", x, 0, model_self(e)->cost_model->scal(model_reader(e), x));
}

static bool model_scale_by(struct executor *e, struct matrix element, struct matrix x)
{
	(void)element;
	return model_charge(e, PHASE_SCALE, "scale_by", x, 0,
	        model_self(e)->cost_model->scale_by(model_reader(e), x));
}

static bool model_ger(struct executor *e, struct matrix x, struct matrix y, struct matrix a)
{
	(void)x;
	(void)y;
	return model_charge(
	        e, PHASE_UPDATE, "ger", a, 0, model_self(e)->cost_model->ger(model_reader(e), a));
}

static bool model_zero_pivot(struct executor *e, struct matrix a, int *info)
{
	*info = 0;
	return model_charge(e, PHASE_FETCH, "zero_pivot", a, 0,
	        model_self(e)->cost_model->zero_pivot(model_reader(e), a));
}

static bool model_store_pivots(struct executor *e, const int *ipiv, int info, struct pivots p)
{
	(void)ipiv;
	(void)info;
	return model_charge(e, PHASE_FETCH, "store_pivots", (struct matrix){.m = p.n, .n = 1}, 0,
	        model_self(e)->cost_model->store_pivots(model_reader(e), p.n));
}

static bool not_estimated(struct executor *e, const char *variant)
{
	return fault_set(&e->fault,
	        "variant %s is not estimated for the host: it is a reference there", variant);
}

static int64_t model_fused_work(struct executor *e, struct matrix a)
{
	(void)a;
	return model_self(e)->cost_model->fused_update ? 0 : (not_estimated(e, "fused"), -1);
}

static bool model_fused_begin(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return model_charge(e, PHASE_SEARCH, "fused_begin", a, 0,
	        model_self(e)->cost_model->fused_begin(model_reader(e), a));
}

static bool model_fused_pivot(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return model_charge(e, PHASE_SWAP, "fused_pivot", a, 0,
	        model_self(e)->cost_model->fused_pivot(model_reader(e), a, j));
}

static bool model_fused_update(
        struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)work;
	(void)p;
	return model_charge(e, PHASE_UPDATE, "fused_update", a, 0,
	        model_self(e)->cost_model->fused_update(model_reader(e), a, j));
}

/* The geometry on the profile's GPU. */
static bool geometry_of(struct executor *e, struct matrix a, struct panel_geometry *g)
{
	struct cost_reader *r = model_reader(e);
	double sms = cost_scalar(r, "gpu.sm.count"),
	       shared = cost_scalar(r, "gpu.shared.per_block");

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

	return model_self(e)->cost_model->resident_panel ? geometry_of(e, a, &g)
	                                             : not_estimated(e, "persistent");
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
	               model_self(e)->cost_model->resident_panel(model_reader(e), a, &g));
}

void model_add_panels(struct executor_ops *ops)
{
	ops->iamax = model_iamax;
	ops->iamax_host = model_iamax_host;
	ops->get = model_get;
	ops->nrm2 = model_nrm2;
	ops->swap = model_swap;
	ops->scal = model_scal;
	ops->scale_by = model_scale_by;
	ops->ger = model_ger;
	ops->zero_pivot = model_zero_pivot;
	ops->store_pivots = model_store_pivots;
	ops->fused_work = model_fused_work;
	ops->fused_begin = model_fused_begin;
	ops->fused_pivot = model_fused_pivot;
	ops->fused_update = model_fused_update;
	ops->resident_fits = model_resident_fits;
	ops->resident_work = model_resident_work;
	ops->resident_panel = model_resident_panel;
}
