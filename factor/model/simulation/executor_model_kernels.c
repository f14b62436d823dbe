/* SPDX-License-Identifier: MIT */
/* The model executor's operations that are our own kernels. */
#include "executor_model_internal.h"

#define COST(name, ...) model_blocks(e)->name(model_reader(e), __VA_ARGS__)

/* clang-format off */

MODEL_OPERATION(trtri, PHASE_SOLVE, a, 0, COST(trtri, a),
	enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse)
MODEL_OPERATION(lu_columns, PHASE_UPDATE, c, p.n, COST(lu_columns, c, p.n),
	struct matrix a, struct pivots p, struct matrix c)
MODEL_OPERATION(lu_rows, a.n > 0 ? PHASE_SOLVE : PHASE_SWAP, c, p.n > 0 ? p.n : a.n,
	COST(lu_rows, c, p.n > 0 ? p.n : a.n, p.n > 0, a.n > 0),
	struct matrix a, struct pivots p, struct matrix c)
MODEL_OPERATION(lu_top, PHASE_SOLVE, c, p.n, COST(lu_top, c, p.n),
	struct matrix a, struct pivots p, struct matrix c)
MODEL_OPERATION(record_swaps, PHASE_SWAP, model_shape(t.m, p.n), 0, COST(integers, t.m),
	struct deferred_swaps t, struct pivots p, int64_t first, int64_t block)
MODEL_OPERATION(apply_swaps, PHASE_SWAP, a, 0, COST(apply_swaps, a),
	struct deferred_swaps t, struct matrix a)
MODEL_OPERATION(offset_pivots, PHASE_SWAP, model_shape(panel.n, 1), 0, COST(integers, panel.n + 1),
	struct pivots panel, int64_t first, struct pivots all)
/* The cost of the swaps alone: one more block of threads copies the pivots at the same time. */
MODEL_OPERATION(join_halves, PHASE_SWAP, beside, half.n, COST(laswp, beside, half.n),
	struct matrix beside, struct pivots half, int64_t first, struct pivots all)
MODEL_OPERATION(clear_info, PHASE_FETCH, model_shape(1, 1), 0,
	model_blocks(e)->clear(model_reader(e)), int *info)
MODEL_OPERATION(zero_diagonal, PHASE_FETCH, a, 0, COST(integers, a.n), struct matrix a, int *info)
MODEL_OPERATION(potrf_block, PHASE_PANEL, a, 0, COST(potrf_block, a, ex_is_beside(e)),
	enum uplo uplo, struct matrix a, int64_t first, int *info)
MODEL_OPERATION(panel_geqrf, PHASE_PANEL, a, 0, COST(panel_geqrf, a, e->queue == QUEUE_PANEL),
	struct matrix a, struct matrix tau, void *work)
MODEL_OPERATION(explicit_v, PHASE_LAYOUT, a, 0, COST(explicit_v, a),
	struct matrix a, struct matrix v)
MODEL_OPERATION(larft, PHASE_SOLVE, v, 0, COST(larft, v),
	struct matrix v, struct matrix tau, struct matrix t)
MODEL_OPERATION(panel_reflectors, PHASE_PANEL, a, 0, COST(panel_reflectors, a),
	struct matrix a, struct matrix tau, struct matrix v, struct matrix t, void *work)
MODEL_OPERATION(band_sweep, PHASE_PANEL, band->of.r, band->p, COST(band_sweep, band),
	const struct band *band, void *work)
MODEL_OPERATION(reflect_columns, PHASE_UPDATE, c, v.n, COST(reflect_columns, v, c),
	struct matrix v, struct matrix t, struct matrix c)
MODEL_OPERATION(transpose, PHASE_LAYOUT, a, 0, COST(transpose, a), struct matrix a, struct matrix b)
MODEL_OPERATION(copy, PHASE_LAYOUT, from, 0, COST(copy, uplo, from),
	enum uplo uplo, struct matrix from, struct matrix to)
MODEL_OPERATION(fill, PHASE_LAYOUT, a, 0, COST(fill, uplo, a),
	enum uplo uplo, double off, double on, struct matrix a)

/* clang-format on */

static bool model_laswp(struct executor *e, struct matrix a, struct pivots p, bool backwards)
{
	return p.n == 0 || model_charge(e, PHASE_SWAP, "laswp", a, p.n, COST(laswp, a, p.n));
}

static bool model_panel_reflects(struct executor *e, struct matrix a)
{
	return model_blocks(e)->panel_reflects && COST(panel_reflects, a);
}

static bool model_band_fits(struct executor *e, enum precision precision, int64_t p)
{
	return model_blocks(e)->band_fits && COST(band_fits, precision, p);
}

static bool model_reflects_columns(struct executor *e, struct matrix v, struct matrix c)
{
	return model_blocks(e)->reflects_columns && COST(reflects_columns, v, c);
}

static int64_t model_band_work(struct executor *e, const struct band *band)
{
	return 0;
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
	ops->geqrf_work = model_no_work;
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
