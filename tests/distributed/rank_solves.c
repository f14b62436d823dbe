/* SPDX-License-Identifier: MIT */
/* Solves with factors over ranks, by their residuals. */
#include "ranks.h"

enum kind { SOLVE_LU, SOLVE_LU_TRANSPOSED, SOLVE_CHOLESKY, SOLVE_LEAST_SQUARES };

static const char *const kind_name[] = {"LU", "LU, transposed", "Cholesky", "least squares by QR"};

struct solve_case {
	enum kind kind;
	int64_t m, n, nb, nrhs, nb_right;
	enum precision precision;
};

/* Workspaces of all calls in turn. */
static void solve(const struct ranks *r, const struct solve_case *c, const struct spread *a,
        const struct spread *b)
{
	struct executor *e = r->e;
	int *integers = poisoned((c->n + 1) * (int64_t)sizeof *integers);
	struct pivots p = {integers, c->n};
	const enum trans trans = c->kind == SOLVE_LU ? PLAIN : TRANSPOSED;
	const bool cholesky = c->kind == SOLVE_CHOLESKY, qr = c->kind == SOLVE_LEAST_SQUARES;
	struct matrix tau = {poisoned(a->d.local.n * 8 + 8), 0, a->d.local.n, 1,
	        max_int64(a->d.local.n, 1), c->precision};

	e->math = MATH_FP32;
	int64_t first = qr         ? gels_distributed_work(e, &a->d, &b->d)
	                : cholesky ? potrf_distributed_work(e, &a->d)
	                           : getrf_distributed_work(e, &a->d);
	int64_t second = qr         ? 0
	                 : cholesky ? potrs_distributed_work(e, &a->d, &b->d)
	                            : getrs_distributed_work(e, &a->d, &b->d);
	must(r, first >= 0 && second >= 0);
	void *work = poisoned(max_int64(first, second));
	if (qr)
		must(r, gels_distributed(e, &a->d, tau, &b->d, work));
	else if (cholesky)
		must(r, potrf_distributed(e, &a->d, work, integers) &&
		                potrs_distributed(e, &a->d, &b->d, work));
	else
		must(r, getrf_distributed(e, &a->d, work, p) &&
		                getrs_distributed(e, trans, &a->d, p, &b->d, work));
	must(r, grid_sync(&r->grid, e));
	free(work);
	free(integers);
	free(tau.data);
}

/* norm_1(B - op(A) X) / (norm_1(A) norm_1(X) n eps); of least squares A^T (B - A X), over norm(A)
 * norm(B) too. */
static double ratio(const struct solve_case *c, const struct whole *w, const double *x)
{
	const struct whole right = {RANDOM, c->m, c->nrhs};
	const bool transposed = c->kind == SOLVE_LU_TRANSPOSED;
	double *a = whole_new(w, c->precision), *b = whole_new(&right, c->precision);
	double *top = xcalloc((size_t)(c->n * c->nrhs + 1), sizeof *top);
	double *normal = xcalloc((size_t)(c->n * c->nrhs + 1), sizeof *normal);
	const double eps = unit_roundoff(c->precision), norm = norm_one(a, c->m, c->n);
	const double norm_b = norm_one(b, c->m, c->nrhs);

	for (int64_t j = 0; j < c->nrhs; j++)
		memcpy(top + j * c->n, x + j * c->m, (size_t)c->n * sizeof *top);
	multiply(transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, c->m, c->nrhs, c->n, -1, a,
	        top, 1, b);
	double got = test_ratio(
	        norm_one(b, c->m, c->nrhs), c->n, norm * norm_one(top, c->n, c->nrhs), eps);
	if (c->kind == SOLVE_LEAST_SQUARES) {
		multiply(CblasTrans, CblasNoTrans, c->n, c->nrhs, c->m, 1, a, b, 0, normal);
		got = test_ratio(norm_one(normal, c->n, c->nrhs), c->m, norm * norm_b, eps);
	}
	free(a);
	free(b);
	free(top);
	free(normal);
	return got;
}

static void one_case(const struct ranks *r, const struct solve_case *c)
{
	const struct whole w = {c->kind == SOLVE_CHOLESKY ? DEFINITE : RANDOM, c->m, c->n};
	const struct whole right = {RANDOM, c->m, c->nrhs};
	struct spread a = spread_new(r, &r->grid, &w, c->nb, true, c->precision);
	const struct block_cyclic layout = {.m = c->m,
	        .n = c->nrhs,
	        .nb = c->nb_right,
	        .first_row = a.d.layout.first_row,
	        .mb = c->nb};
	struct spread b = spread_laid_out(r, &r->grid, &right, layout, c->precision);

	solve(r, c, &a, &b);
	all_ok(r, spread_padding_intact(&b),
	        "solve by %s, n %" PRId64 ", %" PRId64 " right-hand sides: the padding is intact",
	        kind_name[c->kind], c->n, c->nrhs);
	double *x = spread_gather(r, &b);
	if (r->rank == 0) {
		double got = ratio(c, &w, x);
		ok(got < 3, "solve by %s, n %" PRId64 ", %" PRId64 " right-hand sides: residual",
		        kind_name[c->kind], c->n, c->nrhs);
		if (!(got < 3))
			diag("ratio %g", got);
	}
	free(x);
	free(a.d.local.data);
	free(b.d.local.data);
}

static const struct solve_case cases[] = {
        {SOLVE_LU, 150, 150, 16, 9, 2, DOUBLE},
        {SOLVE_LU, 131, 131, 24, 1, 1, SINGLE},
        {SOLVE_LU, 40, 40, 64, 70, 8, SINGLE},
        {SOLVE_LU_TRANSPOSED, 150, 150, 16, 9, 2, SINGLE},
        {SOLVE_LU_TRANSPOSED, 97, 97, 13, 5, 1, DOUBLE},
        {SOLVE_CHOLESKY, 150, 150, 16, 9, 2, DOUBLE},
        {SOLVE_CHOLESKY, 101, 101, 30, 3, 4, SINGLE},
        {SOLVE_LEAST_SQUARES, 150, 90, 16, 9, 2, DOUBLE},
        {SOLVE_LEAST_SQUARES, 100, 100, 17, 2, 1, SINGLE},
        {SOLVE_LU, 70, 70, HIGH, 9, 2, DOUBLE},
        {SOLVE_CHOLESKY, 70, 70, HIGH, 9, 2, SINGLE},
        {SOLVE_LEAST_SQUARES, 70, 30, HIGH, 9, 2, DOUBLE},
};

bool check_solves(const struct ranks *r)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		one_case(r, &cases[i]);
	return tap_failed == 0;
}
