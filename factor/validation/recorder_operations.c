/* SPDX-License-Identifier: MIT */
/* The recorder's operations: each calls the inner executor's and notes what it was, under the names
 * and with the shapes that the model executor's records have. */
#include "recorder_internal.h"

#include "factor/kernels/gemm/half_pair.h"

static struct matrix shape(int64_t m, int64_t n)
{
	return (struct matrix){.m = m, .n = n};
}

/* ---- what is not recorded ---- */

#define PASS(type, name, parameters, ...)                                                          \
	static type recorder_##name parameters                                                     \
	{                                                                                          \
		struct executor *inner = recorder_call(e);                                         \
		type answer = inner->ops->name(inner, __VA_ARGS__);                                \
		e->fault = inner->fault;                                                           \
		return answer;                                                                     \
	}

PASS(bool, alloc, (struct executor * e, int64_t bytes, void **data), bytes, data)
PASS(bool, upload, (struct executor * e, const void *host, int64_t ld, struct matrix a), host, ld,
        a)
PASS(bool, download, (struct executor * e, struct matrix a, void *host, int64_t ld), a, host, ld)
PASS(bool, duplicate, (struct executor * e, struct matrix from, struct matrix to), from, to)
PASS(bool, read_pivots, (struct executor * e, struct pivots p, int *ipiv, int *info), p, ipiv, info)
PASS(int64_t, fused_work, (struct executor * e, struct matrix a), a)
PASS(bool, resident_fits, (struct executor * e, struct matrix a), a)
PASS(int64_t, resident_work, (struct executor * e, struct matrix a), a)
PASS(int64_t, gram_work, (struct executor * e, struct matrix a), a)
PASS(int64_t, geqrf_work, (struct executor * e, struct matrix a), a)
PASS(bool, stage,
        (struct executor * e, int stage, int64_t m, int64_t n, enum precision precision,
                struct matrix *host),
        stage, m, n, precision, host)

static void recorder_release(struct executor *e, void *data)
{
	struct executor *inner = recorder_call(e);

	inner->ops->release(inner, data);
}

/* ---- what takes time on a queue ---- */

static bool note(struct executor *e, bool ok, enum noted_kind kind, enum phase phase,
        const char *operation, enum lane engine, struct matrix a, int64_t k)
{
	return recorder_note(e, ok,
	        (struct noted){.kind = kind,
	                .phase = phase,
	                .operation = operation,
	                .engine = engine,
	                .m = a.m,
	                .n = a.n,
	                .k = k,
	                .after = -1});
}

#define OPERATION(kind, phase, engine, shape, k, name, parameters, ...)                            \
	static bool recorder_##name parameters                                                     \
	{                                                                                          \
		struct executor *inner = recorder_call(e);                                         \
		bool ok = inner->ops->name(inner, __VA_ARGS__);                                    \
		return note(e, ok, NOTED_##kind, PHASE_##phase, #name, LANE_##engine, shape, k);   \
	}

OPERATION(WAITED, SEARCH, HOST, x, 0, iamax, (struct executor * e, struct matrix x, int64_t *index),
        x, index)
OPERATION(WAITED, SEARCH, OUT, x, 0, iamax_host,
        (struct executor * e, struct matrix x, int64_t *index), x, index)
OPERATION(WAITED, FETCH, OUT, a, 0, get, (struct executor * e, struct matrix a, double *value), a,
        value)
OPERATION(WAITED, SEARCH, HOST, x, 0, nrm2, (struct executor * e, struct matrix x, double *norm), x,
        norm)
OPERATION(QUEUED, SWAP, HOST, x, 0, swap, (struct executor * e, struct matrix x, struct matrix y),
        x, y)
OPERATION(QUEUED, SCALE, HOST, x, 0, scal, (struct executor * e, double alpha, struct matrix x),
        alpha, x)
OPERATION(QUEUED, SEARCH, HOST, a, 0, column_norms,
        (struct executor * e, struct matrix a, struct matrix norms), a, norms)
OPERATION(QUEUED, SEARCH, HOST, matrix_view(g->a, 0, j, g->a.m, g->a.n - j), 0, gram_dots,
        (struct executor * e, const struct gram_schmidt *g, int64_t j), g, j)
OPERATION(QUEUED, UPDATE, HOST, matrix_view(g->a, 0, j, g->a.m, g->a.n - j), 0, gram_update,
        (struct executor * e, const struct gram_schmidt *g, int64_t j), g, j)
OPERATION(QUEUED, SCALE, HOST, matrix_view(g->a, 0, j, g->a.m, 1), 0, gram_scale,
        (struct executor * e, const struct gram_schmidt *g, int64_t j), g, j)
OPERATION(QUEUED, UPDATE, HOST, matrix_view(g->a, 0, j, g->a.m, g->a.n - j), 0, gram_fused,
        (struct executor * e, const struct gram_schmidt *g, int64_t j), g, j)
OPERATION(QUEUED, PANEL, HOST, g->a, 0, gram_panel,
        (struct executor * e, const struct gram_schmidt *g), g)
OPERATION(QUEUED, UPDATE, HOST, a, q.n, gram_apply,
        (struct executor * e, struct matrix q, struct matrix r, struct matrix a, bool single), q, r,
        a, single)
OPERATION(QUEUED, SCALE, HOST, x, 0, scale_by,
        (struct executor * e, struct matrix element, struct matrix x), element, x)
OPERATION(QUEUED, UPDATE, HOST, a, 0, ger,
        (struct executor * e, struct matrix x, struct matrix y, struct matrix a), x, y, a)
OPERATION(WAITED, FETCH, OUT, a, 0, zero_pivot, (struct executor * e, struct matrix a, int *info),
        a, info)
OPERATION(QUEUED, FETCH, IN, shape(p.n, 1), 0, store_pivots,
        (struct executor * e, const int *ipiv, int info, struct pivots p), ipiv, info, p)
OPERATION(QUEUED, SEARCH, HOST, a, 0, fused_begin,
        (struct executor * e, struct matrix a, void *work, struct pivots p), a, work, p)
OPERATION(QUEUED, SWAP, HOST, a, 0, fused_pivot,
        (struct executor * e, struct matrix a, int64_t j, void *work, struct pivots p), a, j, work,
        p)
OPERATION(QUEUED, UPDATE, HOST, a, 0, fused_update,
        (struct executor * e, struct matrix a, int64_t j, void *work, struct pivots p), a, j, work,
        p)
OPERATION(QUEUED, PANEL, HOST, a, 0, resident_panel,
        (struct executor * e, struct matrix a, void *work, struct pivots p), a, work, p)
OPERATION(QUEUED, TRANSFER, OUT, from, 0, to_host,
        (struct executor * e, struct matrix from, struct matrix host), from, host)
OPERATION(QUEUED, TRANSFER, IN, to, 0, to_device,
        (struct executor * e, struct matrix host, struct matrix to), host, to)
OPERATION(QUEUED, UPDATE, HOST, c, ta == PLAIN ? a.n : a.m, gemm,
        (struct executor * e, enum trans ta, enum trans tb, double alpha, struct matrix a,
                struct matrix b, double beta, struct matrix c),
        ta, tb, alpha, a, b, beta, c)
OPERATION(QUEUED, UPDATE, HOST, splits.of[0].a, 0, split,
        (struct executor * e, struct splits splits), splits)
OPERATION(QUEUED, UPDATE, HOST, shape(c.m, c.n *products.count), a.m, gemm_tf32,
        (struct executor * e, double alpha, struct matrix a, struct matrix b, double beta,
                struct matrix c, struct products products),
        alpha, a, b, beta, c, products)
OPERATION(QUEUED, UPDATE, HOST, c, half_depth(left.m), half_update,
        (struct executor * e, enum uplo part, double alpha, struct matrix left, struct matrix right,
                struct matrix c),
        part, alpha, left, right, c)
OPERATION(QUEUED, UPDATE, HOST, p, c.m, gemm_tall,
        (struct executor * e, struct matrix v, struct matrix c, struct matrix p), v, c, p)
OPERATION(QUEUED, UPDATE, HOST, c, 0, add_triangles,
        (struct executor * e, enum uplo uplo, struct matrix blocks, struct matrix c), uplo, blocks,
        c)
OPERATION(QUEUED, UPDATE, HOST, c, trans == PLAIN ? a.n : a.m, syrk,
        (struct executor * e, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
                double beta, struct matrix c),
        uplo, trans, alpha, a, beta, c)
OPERATION(QUEUED, SOLVE, HOST, b, 0, trsm,
        (struct executor * e, enum side side, enum uplo uplo, enum trans trans, enum diag diag,
                double alpha, struct matrix a, struct matrix b),
        side, uplo, trans, diag, alpha, a, b)
OPERATION(QUEUED, SOLVE, HOST, b, 0, trsm_guard,
        (struct executor * e, enum side side, enum uplo uplo, enum trans trans, enum diag diag,
                struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b),
        side, uplo, trans, diag, a, inverse, kept, b)
OPERATION(QUEUED, UPDATE, HOST, a, 0, gemv,
        (struct executor * e, enum trans trans, double alpha, struct matrix a, struct matrix x,
                double beta, struct matrix y),
        trans, alpha, a, x, beta, y)
OPERATION(QUEUED, PANEL, HOST, x, 0, make_rotations,
        (struct executor * e, int64_t row, struct matrix x, struct matrix g), row, x, g)
OPERATION(QUEUED, UPDATE, HOST, x, 0, rotate,
        (struct executor * e, struct matrix g, struct matrix x), g, x)
OPERATION(QUEUED, SOLVE, HOST, a, 0, trtri,
        (struct executor * e, enum uplo uplo, enum diag diag, struct matrix a,
                struct matrix inverse),
        uplo, diag, a, inverse)
OPERATION(QUEUED, SWAP, HOST, a, p.n, laswp,
        (struct executor * e, struct matrix a, struct pivots p, bool backwards), a, p, backwards)
OPERATION(QUEUED, UPDATE, HOST, c, p.n, lu_columns,
        (struct executor * e, struct matrix a, struct pivots p, struct matrix c), a, p, c)
OPERATION(QUEUED, SWAP, HOST, beside, half.n, join_halves,
        (struct executor * e, struct matrix beside, struct pivots half, int64_t first,
                struct pivots all),
        beside, half, first, all)
OPERATION(QUEUED, SOLVE, HOST, c, p.n, lu_top,
        (struct executor * e, struct matrix a, struct pivots p, struct matrix c), a, p, c)
OPERATION(QUEUED, SWAP, HOST, shape(t.m, p.n), 0, record_swaps,
        (struct executor * e, struct deferred_swaps t, struct pivots p, int64_t first, int64_t block),
        t, p, first, block)
OPERATION(QUEUED, SWAP, HOST, a, 0, apply_swaps,
        (struct executor * e, struct deferred_swaps t, struct matrix a), t, a)
OPERATION(QUEUED, SWAP, HOST, shape(panel.n, 1), 0, offset_pivots,
        (struct executor * e, struct pivots panel, int64_t first, struct pivots all), panel, first,
        all)
OPERATION(QUEUED, FETCH, HOST, shape(1, 1), 0, clear_info, (struct executor * e, int *info), info)
OPERATION(QUEUED, FETCH, HOST, a, 0, zero_diagonal,
        (struct executor * e, struct matrix a, int *info), a, info)
OPERATION(QUEUED, PANEL, HOST, a, 0, potrf_block,
        (struct executor * e, enum uplo uplo, struct matrix a, int64_t first, int *info), uplo, a,
        first, info)
OPERATION(QUEUED, PANEL, HOST, a, 0, panel_geqrf,
        (struct executor * e, struct matrix a, struct matrix tau, void *work), a, tau, work)
OPERATION(QUEUED, LAYOUT, HOST, a, 0, explicit_v,
        (struct executor * e, struct matrix a, struct matrix v), a, v)
OPERATION(QUEUED, SOLVE, HOST, v, 0, larft,
        (struct executor * e, struct matrix v, struct matrix tau, struct matrix t), v, tau, t)
OPERATION(QUEUED, PANEL, HOST, a, 0, panel_reflectors,
        (struct executor * e, struct matrix a, struct matrix tau, struct matrix v, struct matrix t,
                void *work),
        a, tau, v, t, work)
OPERATION(QUEUED, PANEL, HOST, band->of.r, band->p, band_sweep,
        (struct executor * e, const struct band *band, void *work), band, work)
OPERATION(QUEUED, UPDATE, HOST, c, v.n, reflect_columns,
        (struct executor * e, struct matrix v, struct matrix t, struct matrix c), v, t, c)
OPERATION(QUEUED, LAYOUT, HOST, a, 0, transpose,
        (struct executor * e, struct matrix a, struct matrix b), a, b)
OPERATION(QUEUED, LAYOUT, HOST, from, 0, copy,
        (struct executor * e, enum uplo uplo, struct matrix from, struct matrix to), uplo, from, to)
OPERATION(QUEUED, LAYOUT, HOST, a, 0, fill,
        (struct executor * e, enum uplo uplo, double off, double on, struct matrix a), uplo, off,
        on, a)

static bool recorder_lu_rows(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	struct executor *inner = recorder_call(e);
	bool ok = inner->ops->lu_rows(inner, a, p, c);

	return note(e, ok, NOTED_QUEUED, a.n > 0 ? PHASE_SOLVE : PHASE_SWAP, "lu_rows", LANE_HOST,
	        c, p.n > 0 ? p.n : a.n);
}

/* ---- panels on the host, and what they leave in a queue ---- */

static bool on_host(
        struct executor *e, bool ok, const char *operation, struct matrix host, struct matrix sent)
{
	return note(e, ok, NOTED_HOST, PHASE_PANEL, operation, LANE_HOST, host, 0) &&
	       note(e, true, NOTED_QUEUED, PHASE_PANEL, "send", LANE_IN, sent, 0);
}

static bool recorder_host_panel_getrf(struct executor *e, struct matrix host, struct pivots p)
{
	struct executor *inner = recorder_call(e);

	return on_host(e, inner->ops->host_panel_getrf(inner, host, p), "host_getrf", host,
	        shape(p.n + 1, 1));
}

static bool recorder_panel_reflects(struct executor *e, struct matrix a)
{
	struct executor *inner = recorder_call(e);
	return inner->ops->panel_reflects && inner->ops->panel_reflects(inner, a);
}

static bool recorder_band_fits(struct executor *e, enum precision precision, int64_t p)
{
	struct executor *inner = recorder_call(e);
	return inner->ops->band_fits && inner->ops->band_fits(inner, precision, p);
}

static int64_t recorder_band_work(struct executor *e, const struct band *band)
{
	struct executor *inner = recorder_call(e);
	return inner->ops->band_work(inner, band);
}

static bool recorder_reflects_columns(struct executor *e, struct matrix v, struct matrix c)
{
	struct executor *inner = recorder_call(e);
	return inner->ops->reflects_columns && inner->ops->reflects_columns(inner, v, c);
}

static bool recorder_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	struct executor *inner = recorder_call(e);

	return on_host(e, inner->ops->host_panel_geqrf(inner, host, tau), "host_geqrf", host, tau);
}

static bool recorder_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	struct executor *inner = recorder_call(e);

	return on_host(e, inner->ops->host_panel_potrf(inner, uplo, host, first, info),
	        "host_potrf", host, shape(1, 1));
}

/* ---- events ---- */

static bool recorder_record(struct executor *e, int event)
{
	struct executor *inner = recorder_call(e);
	bool ok = inner->ops->record(inner, event);

	if (ok)
		recorder_self(e)->event[event] = recorder_self(e)->last[e->queue];
	else
		e->fault = inner->fault;
	return ok;
}

static bool recorder_wait(struct executor *e, int event)
{
	struct executor *inner = recorder_call(e);
	bool ok = inner->ops->wait(inner, event);

	return recorder_note(e, ok,
	        (struct noted){
	                .kind = NOTED_JOIN, .after = ok ? recorder_self(e)->event[event] : -1});
}

/* The host's part is what comes after the end of what it waits for. */
static bool waited(struct executor *e, bool ok, int64_t after, const char *operation)
{
	return recorder_note(e, ok,
	        (struct noted){.kind = NOTED_HOST,
	                .phase = recorder_phase(recorder_self(e), after),
	                .operation = operation,
	                .after = after});
}

static bool recorder_wait_host(struct executor *e, int event)
{
	struct executor *inner = recorder_call(e);
	bool ok = inner->ops->wait_host(inner, event);

	return waited(e, ok, ok ? recorder_self(e)->event[event] : -1, "wait");
}

static bool recorder_sync(struct executor *e)
{
	int64_t all = recorder_all(e);
	struct executor *inner = recorder_call(e);

	return waited(e, inner->ops->sync(inner), all, "sync");
}

void recorder_add_operations(struct executor_ops *ops)
{
#define ADD(name) ops->name = recorder_##name
	ADD(alloc);
	ADD(release);
	ADD(upload);
	ADD(download);
	ADD(duplicate);
	ADD(read_pivots);
	ADD(sync);
	ADD(iamax);
	ADD(iamax_host);
	ADD(get);
	ADD(nrm2);
	ADD(swap);
	ADD(scal);
	ADD(scale_by);
	ADD(ger);
	ADD(zero_pivot);
	ADD(store_pivots);
	ADD(fused_work);
	ADD(fused_begin);
	ADD(fused_pivot);
	ADD(fused_update);
	ADD(resident_fits);
	ADD(resident_work);
	ADD(resident_panel);
	ADD(column_norms);
	ADD(gram_work);
	ADD(gram_dots);
	ADD(gram_update);
	ADD(gram_scale);
	ADD(gram_fused);
	ADD(gram_panel);
	ADD(gram_apply);
	ADD(record);
	ADD(wait);
	ADD(wait_host);
	ADD(stage);
	ADD(to_host);
	ADD(to_device);
	ADD(host_panel_getrf);
	ADD(host_panel_geqrf);
	ADD(host_panel_potrf);
	ADD(gemm);
	ADD(split);
	ADD(gemm_tf32);
	ADD(half_update);
	ADD(gemm_tall);
	ADD(add_triangles);
	ADD(syrk);
	ADD(trsm);
	ADD(trsm_guard);
	ADD(gemv);
	ADD(make_rotations);
	ADD(rotate);
	ADD(trtri);
	ADD(laswp);
	ADD(lu_columns);
	ADD(lu_rows);
	ADD(lu_top);
	ADD(record_swaps);
	ADD(apply_swaps);
	ADD(offset_pivots);
	ADD(join_halves);
	ADD(clear_info);
	ADD(zero_diagonal);
	ADD(potrf_block);
	ADD(geqrf_work);
	ADD(panel_geqrf);
	ADD(explicit_v);
	ADD(larft);
	ADD(panel_reflects);
	ADD(panel_reflectors);
	ADD(band_fits);
	ADD(band_work);
	ADD(band_sweep);
	ADD(reflects_columns);
	ADD(reflect_columns);
	ADD(transpose);
	ADD(copy);
	ADD(fill);
#undef ADD
}
