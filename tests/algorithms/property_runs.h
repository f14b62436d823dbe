/* SPDX-License-Identifier: MIT */
/* The problem of a random case, and one run of it on an executor: a factorization and a solve with
 * its factors. The matrix lies inside a larger array, whose other elements are NaN. */
#pragma once

#include "property_case.h"

#include "factor/algorithms/getrf.h"
#include "factor/algorithms/panel_getrf.h"
#include "factor/algorithms/potrf.h"
#include "factor/algorithms/solve.h"

/* QR's solves. */
enum { SOLVE_ORMQR, SOLVE_ORGQR, SOLVE_GELS };

struct property_problem {
	const struct property_case *of;
	enum precision precision;
	enum uplo uplo;
	int64_t k, ld, columns; /* steps; size of the array */
	void *before;           /* the array */
	int64_t rows, rhs;      /* the solve's matrix, C or B or Q; rows 0: no solve */
	void *right;
	bool inverts;   /* solves multiply by inverses, which round */
	double *l, *u;  /* KIND_EXACT: the factors, L in the pivots' order, */
	int64_t *order; /* and where in the matrix L's rows are */
};

struct property_result {
	void *after, *x, *tau;
	int *ipiv, info, solve_info;
};

/* ---- problems ---- */

/* A whole number below `below`. */
static inline int64_t property_number(
        const struct property_problem *p, int64_t index, int64_t below)
{
	return (int64_t)((test_random((uint64_t)p->of->numbers, index) + 1) / 2 * (double)below);
}

static inline void property_exact_factors(struct property_problem *p)
{
	const int64_t m = p->of->m, n = p->of->n, k = p->k;

	p->l = xcalloc((size_t)(m * k + 1), sizeof *p->l);
	p->u = xcalloc((size_t)(k * n + 1), sizeof *p->u);
	p->order = xcalloc((size_t)m + 1, sizeof *p->order);
	for (int64_t j = 0; j < k; j++)
		for (int64_t i = j; i < m; i++)
			p->l[i + j * m] =
			        i == j ? 1 : (double)(property_number(p, i + j * m, 15) - 7) / 8;
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i <= j && i < k; i++) {
			const int64_t index = m * k + i + j * k;
			p->u[i + j * k] = i == j ? (double)(1 << property_number(p, index, 4))
			                         : (double)(property_number(p, index, 17) - 8);
		}
	for (int64_t i = 0; i < m; i++) {
		const int64_t other = property_number(p, m * k + k * n + i, i + 1);
		p->order[i] = p->order[other];
		p->order[other] = i;
	}
}

/* Dense, without padding. */
static inline void *property_matrix(struct property_problem *p)
{
	const struct property_case *c = p->of;
	const int64_t m = c->m, n = c->n;

	if (c->operation == POTRF) /* 0.001 I + X^T X is nearly singular in large matrices */
		return spd_matrix(p->uplo, n, n, p->precision,
		        c->kind == SPD_LAWN && n > 71 ? SPD_CONDITION_2 : (int)c->kind);
	/* growth of 2^(n-1) overflows */
	const int kind = c->kind == TEST_WILKINSON && n > 100 ? MATRIX_RANDOM : (int)c->kind;
	void *a = test_matrix(m, m, n, p->precision, kind);
	if (kind < MATRIX_KINDS)
		matrix_fill(a, m, m, n, p->precision, (enum matrix_kind)kind, (uint64_t)c->numbers);
	if (c->kind == KIND_EXACT) {
		double *product = xcalloc((size_t)(m * n + 1), sizeof *product);
		property_exact_factors(p);
		multiply(CblasNoTrans, CblasNoTrans, m, n, p->k, 1, p->l, p->u, 0, product);
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = 0; i < m; i++)
				put(a, p->order[i] + j * m, p->precision, product[i + j * m]);
		free(product);
	}
	return a;
}

static inline void property_solve_shape(struct property_problem *p)
{
	const struct property_case *c = p->of;
	const bool right = c->operation == GEQRF && c->solve == SOLVE_ORMQR && c->right;

	p->rows = right ? c->rhs : c->m;
	p->rhs = right ? c->m : c->rhs;
	if (c->operation == GEQRF && c->solve == SOLVE_ORGQR)
		p->rhs = min_int64(p->k + c->rhs - 1, c->m);
	if (c->operation == GEQRF && c->solve == SOLVE_GELS && c->n > c->m)
		p->rows = c->n;
	if (c->operation == GETRF && c->m != c->n)
		p->rows = 0;
}

static inline void property_open(struct property_problem *p, const struct property_case *c)
{
	const int64_t word = c->single ? (int64_t)sizeof(float) : (int64_t)sizeof(double);

	*p = (struct property_problem){.of = c,
	        .precision = c->single ? SINGLE : DOUBLE,
	        .uplo = c->upper ? UPPER : LOWER,
	        .k = min_int64(c->m, c->n),
	        .ld = c->above + c->m + c->below + (c->above + c->m + c->below == 0),
	        .columns = c->before + c->n};
	char *dense = property_matrix(p), *array = xmalloc((size_t)(p->ld * p->columns * word) + 1);
	memset(array, 0xff, (size_t)(p->ld * p->columns * word));
	for (int64_t j = 0; j < c->n; j++)
		memcpy(array + (c->above + (c->before + j) * p->ld) * word, dense + j * c->m * word,
		        (size_t)(c->m * word));
	free(dense);
	p->before = array;
	property_solve_shape(p);
	p->right = xmalloc((size_t)(p->rows * p->rhs * word) + 1);
	for (int64_t i = 0; i < p->rows * p->rhs; i++)
		put(p->right, i, p->precision, test_random((uint64_t)c->numbers + 1, i));
}

static inline void property_close(struct property_problem *p)
{
	free(p->before);
	free(p->right);
	free(p->l);
	free(p->u);
	free(p->order);
}

static inline size_t property_bytes(const struct property_problem *p)
{
	return (size_t)(p->ld * p->columns * precision_bytes(p->precision));
}

static inline size_t property_right_bytes(const struct property_problem *p)
{
	return (size_t)(p->rows * p->rhs * precision_bytes(p->precision));
}

/* ---- runs ---- */

struct property_plan {
	struct default_plan chosen;
	struct plan drawn;
	int64_t widths[2];
	const struct plan *plan;
};

static inline void property_plan(
        struct executor *e, const struct property_problem *p, struct property_plan *plan)
{
	const struct property_case *c = p->of;

	int64_t inverse = c->inverse;

	while (!c->hybrid && inverse && c->leaf % inverse != 0) /* as plans need it */
		inverse--;
	plan->widths[0] = c->width;
	plan->widths[1] = c->later;
	plan->drawn = (struct plan){c->hybrid, panel_getrf_variants[c->panel], plan->widths, 2,
	        c->leaf, inverse, .lookahead = (int)c->lookahead};
	if (c->chosen)
		plan_default(e, (enum operation)c->operation, c->m, c->n, p->precision, c->hybrid,
		        &plan->chosen);
	plan->plan = c->chosen ? &plan->chosen.plan : &plan->drawn;
}

static inline bool property_factorize(struct executor *e, const struct property_problem *p,
        const struct plan *plan, struct test_room *room, struct matrix a, struct matrix tau,
        struct pivots pivots)
{
	switch (p->of->operation) {
	case GETRF:
		return getrf(e, plan, a, room_bytes(room, getrf_work(e, plan, a)), pivots);
	case GEQRF:
		return geqrf(e, plan, a, tau, room_bytes(room, geqrf_work(e, plan, a)));
	default:
		return potrf(e, plan, p->uplo, a, room_bytes(room, potrf_work(e, plan, p->uplo, a)),
		        pivots.data + pivots.n);
	}
}

static inline bool property_solve(struct executor *e, const struct property_problem *p,
        const struct plan *plan, struct test_room *room, struct matrix a, struct matrix tau,
        struct pivots pivots, struct matrix x, int *solve_info)
{
	const struct property_case *c = p->of;
	const enum trans trans = c->transposed ? TRANSPOSED : PLAIN;
	const enum side side = c->right ? RIGHT : LEFT;

	if (c->operation == GETRF)
		return getrs(e, trans, a, pivots, x);
	if (c->operation == POTRF)
		return potrs(e, p->uplo, a, x);
	if (c->solve == SOLVE_ORMQR)
		return ormqr(e, plan, side, trans, a, tau, x,
		        room_bytes(room, ormqr_work(e, plan, side, a, tau, x)));
	if (c->solve == SOLVE_ORGQR)
		return orgqr(e, plan, a, tau, x, room_bytes(room, orgqr_work(e, plan, a, tau, x)));
	struct pivots info = room_pivots(room, 0);
	const bool good = gels(
	        e, plan, trans, a, x, room_bytes(room, gels_work(e, plan, a, x)), info.data, NULL);
	*solve_info = room_info(room, info);
	return good;
}

/* Factorizes, then solves: with the factors, or gels with the matrix itself. `fill` is in the
 * workspaces before. False with the executor's fault. */
static inline bool property_run(
        struct executor *e, const struct property_problem *p, int fill, struct property_result *r)
{
	const struct property_case *c = p->of;
	const bool again = c->operation == GEQRF && c->solve == SOLVE_GELS;
	struct test_room room = room_new(e);
	struct property_plan plan;

	*r = (struct property_result){.after = xmalloc(property_bytes(p) + 1),
	        .x = xmalloc(property_right_bytes(p) + 1),
	        .tau = xcalloc((size_t)p->k + 1, sizeof(double)),
	        .ipiv = xcalloc((size_t)p->k + 1, sizeof *r->ipiv)};
	room.fill = fill;
	property_plan(e, p, &plan);
	struct matrix array = room_matrix(&room, p->ld, p->columns, p->ld, p->precision);
	struct matrix a = matrix_view(array, c->above, c->before, c->m, c->n);
	struct matrix tau = room_matrix(
	        &room, c->operation == GEQRF ? p->k : 0, 1, p->k ? p->k : 1, p->precision);
	struct matrix x = room_matrix(&room, p->rows, p->rhs, p->rows ? p->rows : 1, p->precision);
	struct pivots pivots = room_pivots(&room, c->operation == GETRF ? p->k : 0);
	bool good = room.good && e->ops->upload(e, p->before, p->ld, array) &&
	            e->ops->upload(e, p->right, x.ld, x) &&
	            property_factorize(e, p, plan.plan, &room, a, tau, pivots) && e->ops->sync(e) &&
	            e->ops->download(e, array, r->after, p->ld) &&
	            e->ops->download(e, tau, r->tau, tau.ld) &&
	            (c->operation == GEQRF || e->ops->read_pivots(e, pivots, r->ipiv, &r->info));
	if (good && p->rows && r->info == 0) {
		good = (!again || e->ops->upload(e, p->before, p->ld, array)) &&
		       property_solve(e, p, plan.plan, &room, a, tau, pivots, x, &r->solve_info) &&
		       e->ops->sync(e) && e->ops->download(e, x, r->x, x.ld);
	} else {
		memset(r->x, 0, property_right_bytes(p));
	}
	return room_close(&room, good);
}

static inline void property_result_free(struct property_result *r)
{
	free(r->after);
	free(r->x);
	free(r->tau);
	free(r->ipiv);
}
