/* SPDX-License-Identifier: MIT */
#include "executor.h"

const char *const phase_name[PHASE_COUNT] = {[PHASE_SEARCH] = "search",
        [PHASE_FETCH] = "fetch",
        [PHASE_SWAP] = "swap",
        [PHASE_SCALE] = "scale",
        [PHASE_UPDATE] = "update",
        [PHASE_TRANSFER] = "transfer",
        [PHASE_PANEL] = "panel"};

void executor_free(struct executor *executor)
{
	if (executor)
		executor->ops->destroy(executor);
}

static bool skipped(const struct executor *e, enum phase phase)
{
	return e->skip & (1u << phase);
}

bool ex_iamax(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return skipped(e, PHASE_SEARCH) || e->ops->iamax(e, x, index);
}

bool ex_iamax_host(struct executor *e, struct matrix x, int64_t *index)
{
	*index = x.m - 1;
	return skipped(e, PHASE_SEARCH) || e->ops->iamax_host(e, x, index);
}

bool ex_get(struct executor *e, struct matrix element, double *value)
{
	*value = 2;
	return skipped(e, PHASE_FETCH) || e->ops->get(e, element, value);
}

bool ex_swap(struct executor *e, struct matrix x, struct matrix y)
{
	return skipped(e, PHASE_SWAP) || e->ops->swap(e, x, y);
}

bool ex_scal(struct executor *e, double alpha, struct matrix x)
{
	return skipped(e, PHASE_SCALE) || e->ops->scal(e, alpha, x);
}

bool ex_scale_by(struct executor *e, struct matrix element, struct matrix x)
{
	return skipped(e, PHASE_SCALE) || e->ops->scale_by(e, element, x);
}

bool ex_ger(struct executor *e, struct matrix x, struct matrix y, struct matrix a)
{
	return skipped(e, PHASE_UPDATE) || e->ops->ger(e, x, y, a);
}

bool ex_zero_pivot(struct executor *e, struct matrix a, int *info)
{
	*info = 0;
	return skipped(e, PHASE_FETCH) || e->ops->zero_pivot(e, a, info);
}

bool ex_store_pivots(struct executor *e, const int *ipiv, int info, struct pivots p)
{
	return skipped(e, PHASE_FETCH) || e->ops->store_pivots(e, ipiv, info, p);
}

bool ex_fused_begin(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	return skipped(e, PHASE_SEARCH) || e->ops->fused_begin(e, a, work, p);
}

bool ex_fused_pivot(struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	return skipped(e, PHASE_SWAP) || e->ops->fused_pivot(e, a, j, work, p);
}

bool ex_fused_update(struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	return skipped(e, PHASE_UPDATE) || e->ops->fused_update(e, a, j, work, p);
}

bool ex_resident_panel(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	return skipped(e, PHASE_PANEL) || e->ops->resident_panel(e, a, work, p);
}

bool ex_copy_out(struct executor *e, struct matrix a)
{
	return skipped(e, PHASE_TRANSFER) || e->ops->copy_out(e, a);
}

bool ex_host_getrf(struct executor *e, struct matrix a, struct pivots p)
{
	return skipped(e, PHASE_PANEL) || e->ops->host_getrf(e, a, p);
}

bool ex_copy_in(struct executor *e, struct matrix a)
{
	return skipped(e, PHASE_TRANSFER) || e->ops->copy_in(e, a);
}
