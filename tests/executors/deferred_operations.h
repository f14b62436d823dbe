/* SPDX-License-Identifier: MIT */
/* The operations of the deferred executor (deferred.h). Panels on the host run at once and store
 * their results later. */
#ifndef FATHOM_DEFERRED_OPERATIONS_H
#define FATHOM_DEFERRED_OPERATIONS_H

#include "deferred_queues.h"

/* ---- on the host at once, their results later ---- */

static inline bool task_store_pivots(struct executor *h, const struct task *t)
{
	memcpy(t->p.data, t->memory, (size_t)(t->p.n + 1) * sizeof(int));
	free(t->memory);
	(void)h;
	return true;
}

static inline bool deferred_host_panel_getrf(
        struct executor *e, struct matrix host, struct pivots p)
{
	struct pivots now = {xmalloc((size_t)(p.n + 1) * sizeof(int)), p.n};

	return ex_host_panel_getrf(deferred_self(e)->host, host, now) &&
	       defer(e, (struct task){.run = task_store_pivots, .p = p, .memory = now.data});
}

static inline bool task_store_tau(struct executor *h, const struct task *t)
{
	bool ok = ex_copy(h, WHOLE, t->a, t->b);

	free(t->a.data);
	return ok;
}

static inline bool deferred_host_panel_geqrf(
        struct executor *e, struct matrix host, struct matrix tau)
{
	struct matrix now = {
	        xmalloc((size_t)tau.m * sizeof(double)), 0, tau.m, 1, tau.m, tau.precision};

	return ex_host_panel_geqrf(deferred_self(e)->host, host, now) &&
	       defer(e, (struct task){.run = task_store_tau, .a = now, .b = tau});
}

static inline bool task_store_info(struct executor *h, const struct task *t)
{
	(void)h;
	if (*t->info == 0)
		*t->info = (int)t->number;
	return true;
}

static inline bool deferred_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	int now = 0;

	return ex_host_panel_potrf(deferred_self(e)->host, uplo, host, first, &now) &&
	       defer(e, (struct task){.run = task_store_info, .info = info, .number = now});
}

/* ---- operations ---- */

/* A deferred operation: its parameters behind the executor, the fields of the task that keep them,
 * and the call on the host executor h. */
#define LIST(...) __VA_ARGS__
#define OPERATION(name, parameters, fields, call)                                                  \
	static inline bool task_##name(struct executor *h, const struct task *t)                   \
	{                                                                                          \
		return call;                                                                       \
	}                                                                                          \
	static inline bool deferred_##name(struct executor *e, parameters)                         \
	{                                                                                          \
		return defer(e, (struct task){.run = task_##name, fields});                        \
	}

OPERATION(resident_panel, LIST(struct matrix a, void *work, struct pivots p),
        LIST(.a = a, .memory = work, .p = p), ex_resident_panel(h, t->a, t->memory, t->p))
OPERATION(copy, LIST(enum uplo uplo, struct matrix from, struct matrix to),
        LIST(.uplo = uplo, .a = from, .b = to), ex_copy(h, t->uplo, t->a, t->b))
OPERATION(transfer, LIST(struct matrix from, struct matrix to), LIST(.a = from, .b = to),
        ex_copy(h, WHOLE, t->a, t->b))
OPERATION(gemm,
        LIST(enum trans ta, enum trans tb, double alpha, struct matrix a, struct matrix b,
                double beta, struct matrix c),
        LIST(.ta = ta, .tb = tb, .alpha = alpha, .a = a, .b = b, .beta = beta, .c = c),
        ex_gemm(h, t->ta, t->tb, t->alpha, t->a, t->b, t->beta, t->c))
OPERATION(split, LIST(struct splits splits), LIST(.splits = splits), h->ops->split(h, t->splits))
OPERATION(gemm_tf32,
        LIST(double alpha, struct matrix a, struct matrix b, double beta, struct matrix c,
                struct products products),
        LIST(.alpha = alpha, .a = a, .b = b, .beta = beta, .c = c, .products = products),
        h->ops->gemm_tf32(h, t->alpha, t->a, t->b, t->beta, t->c, t->products))
OPERATION(half_update,
        LIST(enum uplo part, double alpha, struct matrix left, struct matrix right,
                struct matrix c),
        LIST(.uplo = part, .alpha = alpha, .a = left, .b = right, .c = c),
        h->ops->half_update(h, t->uplo, t->alpha, t->a, t->b, t->c))
OPERATION(gemm_tall, LIST(struct matrix v, struct matrix c, struct matrix p),
        LIST(.a = v, .b = c, .c = p), h->ops->gemm_tall(h, t->a, t->b, t->c))
OPERATION(add_triangles, LIST(enum uplo uplo, struct matrix blocks, struct matrix c),
        LIST(.uplo = uplo, .a = blocks, .c = c), h->ops->add_triangles(h, t->uplo, t->a, t->c))
OPERATION(syrk,
        LIST(enum uplo uplo, enum trans trans, double alpha, struct matrix a, double beta,
                struct matrix c),
        LIST(.uplo = uplo, .ta = trans, .alpha = alpha, .a = a, .beta = beta, .c = c),
        ex_syrk(h, t->uplo, t->ta, t->alpha, t->a, t->beta, t->c))
OPERATION(trsm,
        LIST(enum side side, enum uplo uplo, enum trans trans, enum diag diag, double alpha,
                struct matrix a, struct matrix b),
        LIST(.side = side, .uplo = uplo, .ta = trans, .diag = diag, .alpha = alpha, .a = a, .b = b),
        ex_trsm(h, t->side, t->uplo, t->ta, t->diag, t->alpha, t->a, t->b))
OPERATION(trsm_guard,
        LIST(enum side side, enum uplo uplo, enum trans trans, enum diag diag, struct matrix a,
                struct matrix inverse, struct matrix kept, struct matrix b),
        LIST(.side = side, .uplo = uplo, .ta = trans, .diag = diag, .a = a, .b = inverse, .c = kept,
                .d = b),
        ex_trsm_guard(h, t->side, t->uplo, t->ta, t->diag, t->a, t->b, t->c, t->d))
OPERATION(trtri, LIST(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse),
        LIST(.uplo = uplo, .diag = diag, .a = a, .b = inverse),
        ex_trtri(h, t->uplo, t->diag, t->a, t->b))
OPERATION(laswp, LIST(struct matrix a, struct pivots p, bool backwards),
        LIST(.a = a, .p = p, .backwards = backwards), ex_laswp(h, t->a, t->p, t->backwards))
OPERATION(lu_columns, LIST(struct matrix a, struct pivots p, struct matrix c),
        LIST(.a = a, .p = p, .c = c), ex_lu_columns(h, t->a, t->p, t->c))
OPERATION(lu_rows, LIST(struct matrix a, struct pivots p, struct matrix c),
        LIST(.a = a, .p = p, .c = c), ex_lu_rows(h, t->a, t->p, t->c))
OPERATION(lu_top, LIST(struct matrix a, struct pivots p, struct matrix c),
        LIST(.a = a, .p = p, .c = c), ex_lu_top(h, t->a, t->p, t->c))
OPERATION(record_swaps,
        LIST(struct deferred_swaps t, struct pivots p, int64_t first, int64_t block),
        LIST(.swaps = t, .p = p, .number = first, .event = (int)block),
        ex_record_swaps(h, t->swaps, t->p, t->number, t->event))
OPERATION(apply_swaps, LIST(struct deferred_swaps t, struct matrix a), LIST(.swaps = t, .a = a),
        ex_apply_swaps(h, t->swaps, t->a))
OPERATION(offset_pivots, LIST(struct pivots panel, int64_t first, struct pivots all),
        LIST(.p = panel, .number = first, .q = all), ex_offset_pivots(h, t->p, t->number, t->q))
OPERATION(join_halves,
        LIST(struct matrix beside, struct pivots half, int64_t first, struct pivots all),
        LIST(.a = beside, .p = half, .number = first, .q = all),
        ex_join_halves(h, t->a, t->p, t->number, t->q))
OPERATION(clear_info, LIST(int *info), LIST(.info = info), ex_clear_info(h, t->info))
OPERATION(zero_diagonal, LIST(struct matrix a, int *info), LIST(.a = a, .info = info),
        ex_zero_diagonal(h, t->a, t->info))
OPERATION(potrf_block, LIST(enum uplo uplo, struct matrix a, int64_t first, int *info),
        LIST(.uplo = uplo, .a = a, .number = first, .info = info),
        ex_potrf_block(h, t->uplo, t->a, t->number, t->info))
OPERATION(panel_geqrf, LIST(struct matrix a, struct matrix tau, void *work),
        LIST(.a = a, .b = tau, .memory = work), ex_panel_geqrf(h, t->a, t->b, t->memory))
OPERATION(explicit_v, LIST(struct matrix a, struct matrix v), LIST(.a = a, .b = v),
        ex_explicit_v(h, t->a, t->b))
OPERATION(larft, LIST(struct matrix v, struct matrix tau, struct matrix t),
        LIST(.a = v, .b = tau, .c = t), ex_larft(h, t->a, t->b, t->c))
OPERATION(panel_reflectors,
        LIST(struct matrix a, struct matrix tau, struct matrix v, struct matrix t, void *work),
        LIST(.a = a, .b = tau, .c = v, .d = t, .memory = work),
        ex_panel_reflectors(h, t->a, t->b, t->c, t->d, t->memory))
OPERATION(gemv,
        LIST(enum trans trans, double alpha, struct matrix a, struct matrix x, double beta,
                struct matrix y),
        LIST(.ta = trans, .alpha = alpha, .a = a, .b = x, .beta = beta, .c = y),
        ex_gemv(h, t->ta, t->alpha, t->a, t->b, t->beta, t->c))
OPERATION(ger, LIST(struct matrix x, struct matrix y, struct matrix a),
        LIST(.a = x, .b = y, .c = a), ex_ger(h, t->a, t->b, t->c))
OPERATION(scal, LIST(double alpha, struct matrix x), LIST(.alpha = alpha, .a = x),
        ex_scal(h, t->alpha, t->a))
OPERATION(make_rotations, LIST(int64_t row, struct matrix x, struct matrix g),
        LIST(.number = row, .a = x, .b = g), ex_make_rotations(h, t->number, t->a, t->b))
OPERATION(rotate, LIST(struct matrix g, struct matrix x), LIST(.a = g, .b = x),
        ex_rotate(h, t->a, t->b))
OPERATION(transpose, LIST(struct matrix a, struct matrix b), LIST(.a = a, .b = b),
        ex_transpose(h, t->a, t->b))
OPERATION(fill, LIST(enum uplo uplo, double off, double on, struct matrix a),
        LIST(.uplo = uplo, .alpha = off, .beta = on, .a = a),
        ex_fill(h, t->uplo, t->alpha, t->beta, t->a))
#undef OPERATION
#undef LIST

#endif
