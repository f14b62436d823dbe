/* SPDX-License-Identifier: MIT */
/* The model executor's operations of LU's panels, column by column and resident on chip. */
#include "executor_model_internal.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <math.h>

#define COST(name, ...) model_self(e)->cost_model->name(model_reader(e), __VA_ARGS__)

/* The cost, once a value that the host reads is set. */
#define GIVES(result, value, cost) (*(result) = (value), cost)

/* clang-format off */

MODEL_OPERATION(iamax, PHASE_SEARCH, x, 0, GIVES(index, x.m - 1, COST(iamax, x)),
	struct matrix x, int64_t *index)
MODEL_OPERATION(iamax_host, PHASE_SEARCH, x, 0, GIVES(index, x.m - 1, COST(iamax_host, x)),
	struct matrix x, int64_t *index)
MODEL_OPERATION(get, PHASE_FETCH, element, 0, GIVES(value, 1, COST(get, element)),
	struct matrix element, double *value)
MODEL_OPERATION(nrm2, PHASE_SEARCH, x, 0, GIVES(norm, 1, COST(nrm2, x)),
	struct matrix x, double *norm)
MODEL_OPERATION(swap, PHASE_SWAP, x, 0, COST(swap, x), struct matrix x, struct matrix y)
MODEL_OPERATION(scal, PHASE_SCALE, x, 0, COST(scal, x), double alpha, struct matrix x)
MODEL_OPERATION(scale_by, PHASE_SCALE, x, 0, COST(scale_by, x),
	struct matrix element, struct matrix x)
MODEL_OPERATION(ger, PHASE_UPDATE, a, 0, COST(ger, a),
	struct matrix x, struct matrix y, struct matrix a)
MODEL_OPERATION(zero_pivot, PHASE_FETCH, a, 0, GIVES(info, 0, COST(zero_pivot, a)),
	struct matrix a, int *info)
MODEL_OPERATION(store_pivots, PHASE_FETCH, ((struct matrix){.m = p.n, .n = 1}), 0,
	COST(store_pivots, p.n), const int *ipiv, int info, struct pivots p)
MODEL_OPERATION(fused_begin, PHASE_SEARCH, a, 0, COST(fused_begin, a),
	struct matrix a, void *work, struct pivots p)
MODEL_OPERATION(fused_pivot, PHASE_SWAP, a, 0, COST(fused_pivot, a, j),
	struct matrix a, int64_t j, void *work, struct pivots p)
MODEL_OPERATION(fused_update, PHASE_UPDATE, a, 0, COST(fused_update, a, j),
	struct matrix a, int64_t j, void *work, struct pivots p)

/* clang-format on */

static bool not_estimated(struct executor *e, const char *variant)
{
	return fault_set(&e->fault,
	        "variant %s is not estimated for the host: it is a reference there", variant);
}

static int64_t model_fused_work(struct executor *e, struct matrix a)
{
	return model_self(e)->cost_model->fused_update ? 0 : (not_estimated(e, "fused"), -1);
}

/* The panel's geometry on the profile's GPU. */
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

static bool model_resident_panel(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	struct panel_geometry g;

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
	ops->resident_work = model_no_work;
	ops->resident_panel = model_resident_panel;
}
