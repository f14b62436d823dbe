/* SPDX-License-Identifier: MIT */
/* The model executor's operations that are kernels of our own. */
#include "executor_model_internal.h"

static bool model_trtri(
        struct executor *e, enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse)
{
	(void)uplo;
	(void)diag;
	(void)inverse;
	return model_charge(
	        e, PHASE_SOLVE, "trtri", a, 0, model_blocks(e)->trtri(model_reader(e), a));
}

static bool model_laswp(struct executor *e, struct matrix a, struct pivots p, bool backwards)
{
	(void)backwards;
	return p.n == 0 || model_charge(e, PHASE_SWAP, "laswp", a, p.n,
	                           model_blocks(e)->laswp(model_reader(e), a, p.n));
}

static bool model_lu_columns(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	(void)a;
	return model_charge(e, PHASE_UPDATE, "lu_columns", c, p.n,
	        model_blocks(e)->lu_columns(model_reader(e), c, p.n));
}

static bool model_lu_rows(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	int64_t k = p.n > 0 ? p.n : a.n;

	return model_charge(e, a.n > 0 ? PHASE_SOLVE : PHASE_SWAP, "lu_rows", c, k,
	        model_blocks(e)->lu_rows(model_reader(e), c, k, p.n > 0, a.n > 0));
}

static bool model_lu_top(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	(void)a;
	return model_charge(
	        e, PHASE_SOLVE, "lu_top", c, p.n, model_blocks(e)->lu_top(model_reader(e), c, p.n));
}

static bool model_record_swaps(
        struct executor *e, struct deferred_swaps t, struct pivots p, int64_t first, int64_t block)
{
	(void)first;
	(void)block;
	return model_charge(e, PHASE_SWAP, "record_swaps", model_shape(t.m, p.n), 0,
	        model_blocks(e)->integers(model_reader(e), t.m));
}

static bool model_apply_swaps(struct executor *e, struct deferred_swaps t, struct matrix a)
{
	(void)t;
	return model_charge(e, PHASE_SWAP, "apply_swaps", a, 0,
	        model_blocks(e)->apply_swaps(model_reader(e), a));
}

static bool model_offset_pivots(
        struct executor *e, struct pivots panel, int64_t first, struct pivots all)
{
	(void)first;
	(void)all;
	return model_charge(e, PHASE_SWAP, "offset_pivots", model_shape(panel.n, 1), 0,
	        model_blocks(e)->integers(model_reader(e), panel.n + 1));
}

/* As the exchanges alone: the pivots are a block of threads beside theirs. */
static bool model_join_halves(struct executor *e, struct matrix beside, struct pivots half,
        int64_t first, struct pivots all)
{
	(void)first;
	(void)all;
	return model_charge(e, PHASE_SWAP, "join_halves", beside, half.n,
	        model_blocks(e)->laswp(model_reader(e), beside, half.n));
}

static bool model_clear_info(struct executor *e, int *info)
{
	(void)info;
	return model_charge(e, PHASE_FETCH, "clear_info", model_shape(1, 1), 0,
	        model_blocks(e)->clear(model_reader(e)));
}

static bool model_zero_diagonal(struct executor *e, struct matrix a, int *info)
{
	(void)info;
	return model_charge(e, PHASE_FETCH, "zero_diagonal", a, 0,
	        model_blocks(e)->integers(model_reader(e), a.n));
}

static bool model_potrf_block(
        struct executor *e, enum uplo uplo, struct matrix a, int64_t first, int *info)
{
	(void)uplo;
	(void)first;
	(void)info;
	return model_charge(e, PHASE_PANEL, "potrf_block", a, 0,
	        model_blocks(e)->potrf_block(model_reader(e), a, ex_is_beside(e)));
}

static int64_t model_geqrf_work(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return 0;
}

static bool model_panel_geqrf(struct executor *e, struct matrix a, struct matrix tau, void *work)
{
	(void)tau;
	(void)work;
	return model_charge(e, PHASE_PANEL, "panel_geqrf", a, 0,
	        model_blocks(e)->panel_geqrf(model_reader(e), a, e->queue == QUEUE_PANEL));
}

static bool model_explicit_v(struct executor *e, struct matrix a, struct matrix v)
{
	(void)v;
	return model_charge(e, PHASE_LAYOUT, "explicit_v", a, 0,
	        model_blocks(e)->explicit_v(model_reader(e), a));
}

static bool model_larft(struct executor *e, struct matrix v, struct matrix tau, struct matrix t)
{
	(void)tau;
	(void)t;
	return model_charge(
	        e, PHASE_SOLVE, "larft", v, 0, model_blocks(e)->larft(model_reader(e), v));
}

static bool model_panel_reflects(struct executor *e, struct matrix a)
{
	return model_blocks(e)->panel_reflects &&
	       model_blocks(e)->panel_reflects(model_reader(e), a);
}

static bool model_panel_reflectors(struct executor *e, struct matrix a, struct matrix tau,
        struct matrix v, struct matrix t, void *work)
{
	(void)tau;
	(void)v;
	(void)t;
	(void)work;
	return model_charge(e, PHASE_PANEL, "panel_reflectors", a, 0,
	        model_blocks(e)->panel_reflectors(model_reader(e), a));
}

static bool model_band_fits(struct executor *e, enum precision precision, int64_t p)
{
	return model_blocks(e)->band_fits &&
	       model_blocks(e)->band_fits(model_reader(e), precision, p);
}

static int64_t model_band_work(struct executor *e, const struct band *band)
{
	(void)e;
	(void)band;
	return 0;
}

static bool model_band_sweep(struct executor *e, const struct band *band, void *work)
{
	(void)work;
	return model_charge(e, PHASE_PANEL, "band_sweep", band->of.r, band->p,
	        model_blocks(e)->band_sweep(model_reader(e), band));
}

static bool model_reflects_columns(struct executor *e, struct matrix v, struct matrix c)
{
	return model_blocks(e)->reflects_columns &&
	       model_blocks(e)->reflects_columns(model_reader(e), v, c);
}

static bool model_reflect_columns(
        struct executor *e, struct matrix v, struct matrix t, struct matrix c)
{
	(void)t;
	return model_charge(e, PHASE_UPDATE, "reflect_columns", c, v.n,
	        model_blocks(e)->reflect_columns(model_reader(e), v, c));
}

static bool model_transpose(struct executor *e, struct matrix a, struct matrix b)
{
	(void)b;
	return model_charge(
	        e, PHASE_LAYOUT, "transpose", a, 0, model_blocks(e)->transpose(model_reader(e), a));
}

static bool model_copy(struct executor *e, enum uplo uplo, struct matrix from, struct matrix to)
{
	(void)to;
	return model_charge(e, PHASE_LAYOUT, "copy", from, 0,
	        model_blocks(e)->copy(model_reader(e), uplo, from));
}

static bool model_fill(struct executor *e, enum uplo uplo, double off, double on, struct matrix a)
{
	(void)off;
	(void)on;
	return model_charge(
	        e, PHASE_LAYOUT, "fill", a, 0, model_blocks(e)->fill(model_reader(e), uplo, a));
}

void model_add_kernels(struct executor_ops *ops)
{
	ops->trtri = model_trtri;
	ops->laswp = model_laswp;
	ops->lu_columns = model_lu_columns;
	ops->lu_rows = model_lu_rows;
	ops->lu_top = model_lu_top;
	ops->record_swaps = model_record_swaps;
	ops->apply_swaps = model_apply_swaps;
	ops->offset_pivots = model_offset_pivots;
	ops->join_halves = model_join_halves;
	ops->clear_info = model_clear_info;
	ops->zero_diagonal = model_zero_diagonal;
	ops->potrf_block = model_potrf_block;
	ops->geqrf_work = model_geqrf_work;
	ops->panel_geqrf = model_panel_geqrf;
	ops->explicit_v = model_explicit_v;
	ops->larft = model_larft;
	ops->panel_reflects = model_panel_reflects;
	ops->panel_reflectors = model_panel_reflectors;
	ops->band_fits = model_band_fits;
	ops->band_work = model_band_work;
	ops->band_sweep = model_band_sweep;
	ops->reflects_columns = model_reflects_columns;
	ops->reflect_columns = model_reflect_columns;
	ops->transpose = model_transpose;
	ops->copy = model_copy;
	ops->fill = model_fill;
}
