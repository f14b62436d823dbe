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

static bool skipped(const struct executor *e, enum phase phase)
{
	return e->skip & (1u << phase);
}

static bool empty(struct matrix a)
{
	return a.m == 0 || a.n == 0;
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

bool ex_nrm2(struct executor *e, struct matrix x, double *norm)
{
	*norm = 2;
	return skipped(e, PHASE_SEARCH) || e->ops->nrm2(e, x, norm);
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

bool ex_column_norms(struct executor *e, struct matrix a, struct matrix norms)
{
	return skipped(e, PHASE_SEARCH) || empty(a) || e->ops->column_norms(e, a, norms);
}

bool ex_gram_dots(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return skipped(e, PHASE_SEARCH) || e->ops->gram_dots(e, g, j);
}

bool ex_gram_update(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return skipped(e, PHASE_UPDATE) || e->ops->gram_update(e, g, j);
}

bool ex_gram_scale(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return skipped(e, PHASE_SCALE) || e->ops->gram_scale(e, g, j);
}

bool ex_gram_fused(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return skipped(e, PHASE_UPDATE) || e->ops->gram_fused(e, g, j);
}

bool ex_gram_panel(struct executor *e, const struct gram_schmidt *g)
{
	return skipped(e, PHASE_PANEL) || e->ops->gram_panel(e, g);
}

bool gram_by_passes(struct executor *e, const struct gram_schmidt *g, int64_t k)
{
	bool ok = ex_gram_dots(e, g, 0);

	for (int64_t j = 0; ok && j + 1 < k; j++)
		ok = ex_gram_fused(e, g, j);
	return ok && ex_gram_update(e, g, k - 1);
}

bool ex_gram_apply(
        struct executor *e, struct matrix q, struct matrix r, struct matrix a, bool single)
{
	return skipped(e, PHASE_UPDATE) || empty(a) || e->ops->gram_apply(e, q, r, a, single);
}

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

bool ex_to_host(struct executor *e, struct matrix from, struct matrix host)
{
	return skipped(e, PHASE_TRANSFER) || empty(from) || e->ops->to_host(e, from, host);
}

bool ex_to_device(struct executor *e, struct matrix host, struct matrix to)
{
	return skipped(e, PHASE_TRANSFER) || empty(host) || e->ops->to_device(e, host, to);
}

bool ex_host_panel_getrf(struct executor *e, struct matrix host, struct pivots p)
{
	return skipped(e, PHASE_PANEL) || e->ops->host_panel_getrf(e, host, p);
}

bool ex_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	return skipped(e, PHASE_PANEL) || e->ops->host_panel_geqrf(e, host, tau);
}

bool ex_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	return skipped(e, PHASE_PANEL) || e->ops->host_panel_potrf(e, uplo, host, first, info);
}

bool ex_gemm(struct executor *e, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c)
{
	if (skipped(e, PHASE_UPDATE) || empty(c))
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
	if (skipped(e, PHASE_UPDATE) || empty(c))
		return true;
	return beta == 1 && split_wanted_syrk(e, trans, a, c)
	               ? split_syrk(e, uplo, trans, alpha, a, c)
	               : e->ops->syrk(e, uplo, trans, alpha, a, beta, c);
}

bool ex_trsm(struct executor *e, enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        double alpha, struct matrix a, struct matrix b)
{
	return skipped(e, PHASE_SOLVE) || empty(b) ||
	       e->ops->trsm(e, side, uplo, trans, diag, alpha, a, b);
}

bool ex_trsm_guard(struct executor *e, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b)
{
	return skipped(e, PHASE_SOLVE) || empty(b) ||
	       e->ops->trsm_guard(e, side, uplo, trans, diag, a, inverse, kept, b);
}

bool ex_gemv(struct executor *e, enum trans trans, double alpha, struct matrix a, struct matrix x,
        double beta, struct matrix y)
{
	return skipped(e, PHASE_UPDATE) || empty(y) || e->ops->gemv(e, trans, alpha, a, x, beta, y);
}

bool ex_make_rotations(struct executor *e, int64_t row, struct matrix x, struct matrix g)
{
	return skipped(e, PHASE_PANEL) || empty(x) || e->ops->make_rotations(e, row, x, g);
}

bool ex_rotate(struct executor *e, struct matrix g, struct matrix x)
{
	return skipped(e, PHASE_UPDATE) || empty(x) || e->ops->rotate(e, g, x);
}

bool ex_trtri(
        struct executor *e, enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse)
{
	return skipped(e, PHASE_SOLVE) || empty(a) || e->ops->trtri(e, uplo, diag, a, inverse);
}

bool ex_laswp(struct executor *e, struct matrix a, struct pivots p, bool backwards)
{
	return skipped(e, PHASE_SWAP) || empty(a) || e->ops->laswp(e, a, p, backwards);
}

bool ex_lu_columns(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	bool left_out =
	        skipped(e, PHASE_SWAP) || skipped(e, PHASE_SOLVE) || skipped(e, PHASE_UPDATE);

	return left_out || empty(c) || e->ops->lu_columns(e, a, p, c);
}

bool ex_lu_rows(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	bool left_out = skipped(e, PHASE_SWAP) || (a.n > 0 && skipped(e, PHASE_SOLVE));

	return left_out || empty(c) || e->ops->lu_rows(e, a, p, c);
}

bool ex_lu_top(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	bool left_out = skipped(e, PHASE_SWAP) || skipped(e, PHASE_SOLVE);

	return left_out || empty(c) || e->ops->lu_top(e, a, p, c);
}

bool ex_record_swaps(
        struct executor *e, struct deferred_swaps t, struct pivots p, int64_t first, int64_t block)
{
	return skipped(e, PHASE_SWAP) || e->ops->record_swaps(e, t, p, first, block);
}

bool ex_apply_swaps(struct executor *e, struct deferred_swaps t, struct matrix a)
{
	return skipped(e, PHASE_SWAP) || empty(a) || e->ops->apply_swaps(e, t, a);
}

bool ex_offset_pivots(struct executor *e, struct pivots panel, int64_t first, struct pivots all)
{
	return skipped(e, PHASE_SWAP) || e->ops->offset_pivots(e, panel, first, all);
}

/* Without columns beside the half there are its pivots still. */
bool ex_join_halves(struct executor *e, struct matrix beside, struct pivots half, int64_t first,
        struct pivots all)
{
	return skipped(e, PHASE_SWAP) || e->ops->join_halves(e, beside, half, first, all);
}

bool ex_clear_info(struct executor *e, int *info)
{
	return skipped(e, PHASE_FETCH) || e->ops->clear_info(e, info);
}

bool ex_zero_diagonal(struct executor *e, struct matrix a, int *info)
{
	return skipped(e, PHASE_FETCH) || e->ops->zero_diagonal(e, a, info);
}

bool ex_potrf_block(struct executor *e, enum uplo uplo, struct matrix a, int64_t first, int *info)
{
	return skipped(e, PHASE_PANEL) || empty(a) || e->ops->potrf_block(e, uplo, a, first, info);
}

bool ex_panel_geqrf(struct executor *e, struct matrix a, struct matrix tau, void *work)
{
	return skipped(e, PHASE_PANEL) || empty(a) || e->ops->panel_geqrf(e, a, tau, work);
}

bool ex_explicit_v(struct executor *e, struct matrix a, struct matrix v)
{
	return skipped(e, PHASE_LAYOUT) || empty(a) || e->ops->explicit_v(e, a, v);
}

bool ex_larft(struct executor *e, struct matrix v, struct matrix tau, struct matrix t)
{
	return skipped(e, PHASE_SOLVE) || empty(v) || e->ops->larft(e, v, tau, t);
}

bool ex_panel_reflectors(struct executor *e, struct matrix a, struct matrix tau, struct matrix v,
        struct matrix t, void *work)
{
	if (e->ops->panel_reflects && e->ops->panel_reflects(e, a))
		return skipped(e, PHASE_PANEL) || empty(a) ||
		       e->ops->panel_reflectors(e, a, tau, v, t, work);
	return ex_panel_geqrf(e, a, tau, work) && ex_explicit_v(e, a, v) && ex_larft(e, v, tau, t);
}

bool ex_band_sweep(struct executor *e, const struct band *band, void *work)
{
	return skipped(e, PHASE_PANEL) || e->ops->band_sweep(e, band, work);
}

/* H200, blocks of 64 and look-ahead: n = 512 623 and 488 us, 1024 1260 and 1088, 2048 2762 and
 * 2465, 4096 7600 and 6987. */
bool ex_reflects_columns(struct executor *e, struct matrix v, struct matrix c)
{
	return c.n <= EXECUTOR_QR_COLUMNS && e->ops->reflects_columns &&
	       e->ops->reflects_columns(e, v, c);
}

bool ex_reflect_columns(struct executor *e, struct matrix v, struct matrix t, struct matrix c)
{
	return skipped(e, PHASE_UPDATE) || empty(c) || e->ops->reflect_columns(e, v, t, c);
}

bool ex_transpose(struct executor *e, struct matrix a, struct matrix b)
{
	return skipped(e, PHASE_LAYOUT) || empty(a) || e->ops->transpose(e, a, b);
}

bool ex_copy(struct executor *e, enum uplo uplo, struct matrix from, struct matrix to)
{
	return skipped(e, PHASE_LAYOUT) || empty(from) || e->ops->copy(e, uplo, from, to);
}

bool ex_fill(struct executor *e, enum uplo uplo, double off, double on, struct matrix a)
{
	return skipped(e, PHASE_LAYOUT) || empty(a) || e->ops->fill(e, uplo, off, on, a);
}
