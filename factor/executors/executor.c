/* SPDX-License-Identifier: MIT */
#include "split.h"

#include <string.h>

const char *const phase_name[PHASE_COUNT] = {[PHASE_SEARCH] = "search",
        [PHASE_FETCH] = "fetch",
        [PHASE_SWAP] = "swap",
        [PHASE_SCALE] = "scale",
        [PHASE_UPDATE] = "update",
        [PHASE_TRANSFER] = "transfer",
        [PHASE_PANEL] = "panel",
        [PHASE_SOLVE] = "solve",
        [PHASE_LAYOUT] = "layout"};

const char *const math_name[MATHS] = {"fp32", "3xtf32", "3xfp16"};
const char *const math_title[MATHS] = {"", " by 3xTF32", " by 3xFP16"};

bool math_find(const char *name, enum math *math)
{
	*math = MATH_FP32;
	for (int i = 0; i < MATHS; i++)
		if (strcmp(name, math_name[i]) == 0)
			*math = (enum math)i;
	return strcmp(name, math_name[*math]) == 0;
}

bool math_possible(const struct executor *e, enum math math)
{
	return math == MATH_FP32 || (e->splits && (math == MATH_3XTF32 || e->splits->half));
}

void executor_free(struct executor *executor)
{
	if (executor)
		executor->ops->destroy(executor);
}

void executor_tune(struct executor *e, struct tuning_device device, bool splits, bool half)
{
	const struct layout_tuning *layout = &e->tuning.layout;

	e->tuning = tuning_for(device);
	e->tuning.split.half = half;
	e->splits = splits ? &e->tuning.split : NULL;
	e->row_major = layout->row_major;
	e->column_major = layout->column_major;
	e->aligned_from = layout->aligned_from;
	e->deferred_from = layout->deferred_from;
}

/* The columns of operations.h; e is the executor of the operation at hand. */
#define SKIPS(phase) ((e->skip & (1u << (phase))) != 0)
#define EMPTY(a) ((a).m == 0 || (a).n == 0)
#define GIVES(result, value) ((*(result) = (value)), false)
#define NEVER false

#define OPERATION(name, parameters, arguments, phase, left_out, ...)                               \
	bool ex_##name(struct executor *e, EXECUTOR_LIST parameters)                               \
	{                                                                                          \
		return (left_out) || SKIPS(phase) || e->ops->name(e, EXECUTOR_LIST arguments);     \
	}
#define HOST_PANEL(name, parameters, arguments)                                                    \
	OPERATION(name, parameters, arguments, PHASE_PANEL, NEVER)
#define OPTIONAL(name, parameters, arguments)                                                      \
	bool ex_##name(struct executor *e, EXECUTOR_LIST parameters)                               \
	{                                                                                          \
		return e->ops->name && e->ops->name(e, EXECUTOR_LIST arguments);                   \
	}
#include "operations.h"

bool ex_record(struct executor *e, int event)
{
	return e->ops->record(e, event);
}

bool ex_wait(struct executor *e, int event)
{
	return e->ops->wait(e, event);
}

bool ex_wait_host(struct executor *e, int event)
{
	return e->ops->wait_host(e, event);
}

bool ex_gemm(struct executor *e, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c)
{
	if (SKIPS(PHASE_UPDATE) || EMPTY(c))
		return true;
	if (alpha == 1 && beta == 0 && ta == TRANSPOSED && tb == PLAIN &&
	        split_wanted_tall(e, a, b, c))
		return e->ops->gemm_tall(e, a, b, c);
	return split_wanted(e, ta, tb, a, b, beta, c)
	               ? split_gemm(e, ta, tb, alpha, a, b, beta, c)
	               : e->ops->gemm(e, ta, tb, alpha, a, b, beta, c);
}

bool ex_syrk(struct executor *e, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        double beta, struct matrix c)
{
	if (SKIPS(PHASE_UPDATE) || EMPTY(c))
		return true;
	return beta == 1 && split_wanted_syrk(e, trans, a, c)
	               ? split_syrk(e, uplo, trans, alpha, a, c)
	               : e->ops->syrk(e, uplo, trans, alpha, a, beta, c);
}

bool ex_stairs(struct executor *e, struct stairs stairs, double alpha, struct matrix a,
        struct matrix b, struct matrix c)
{
	return SKIPS(PHASE_UPDATE) || EMPTY(c) || split_stairs(e, stairs, alpha, a, b, c);
}

bool gram_by_passes(struct executor *e, const struct gram_schmidt *g, int64_t k)
{
	bool ok = ex_gram_dots(e, g, 0);

	for (int64_t j = 0; ok && j + 1 < k; j++)
		ok = ex_gram_fused(e, g, j);
	return ok && ex_gram_update(e, g, k - 1);
}

bool lu_top_by_calls(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	return e->ops->laswp(e, c, p, false) &&
	       e->ops->trsm(e, LEFT, LOWER, PLAIN, UNIT, 1, matrix_view(a, 0, 0, p.n, p.n),
	               matrix_view(c, 0, 0, p.n, c.n));
}

bool lu_columns_by_calls(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	int64_t below = c.m - p.n;

	return e->ops->lu_top(e, a, p, c) &&
	       (below == 0 || e->ops->gemm(e, PLAIN, PLAIN, -1, matrix_view(a, p.n, 0, below, p.n),
	                              matrix_view(c, 0, 0, p.n, c.n), 1,
	                              matrix_view(c, p.n, 0, below, c.n)));
}

/* A skipped update_panel leaves no sums. */
bool ex_panel_reflectors(struct executor *e, struct matrix a, struct matrix tau, struct matrix v,
        struct matrix t, bool summed, void *work)
{
	if (ex_panel_reflects(e, a))
		return SKIPS(PHASE_PANEL) || EMPTY(a) ||
		       e->ops->panel_reflectors(
		               e, a, tau, v, t, summed && !SKIPS(PHASE_UPDATE), work);
	return ex_panel_geqrf(e, a, tau, work) &&
	       (v.n == 0 || (ex_explicit_v(e, a, v) && ex_larft(e, v, tau, t)));
}
