/* SPDX-License-Identifier: MIT */
/* QR over ranks against the factorization of one rank. */
#include "ranks.h"

#include "factor/algorithms/geqrf.h"

#include <lapacke.h>

struct qr {
	struct spread a, tau; /* tau: one row */
};

static struct qr run(const struct ranks *r, const struct grid *grid, const struct problem *p)
{
	const struct plan plan = {.widths = &p->nb, .count = 1, .leaf = 16, .lookahead = 1};
	const struct whole row = {RANDOM, 1, p->whole.n};
	struct qr f = {spread_new(r, grid, &p->whole, p->nb, true, p->precision),
	        spread_new(r, grid, &row, p->nb, true, p->precision)};
	struct matrix *t = &f.tau.d.local,
	              tau = {t->data, 0, t->n, 1, max_int64(t->n, 1), p->precision};

	t->ld = 1;
	r->e->math = p->math;
	if (grid == &r->alone)
		tau.m = min_int64(p->whole.m, p->whole.n);
	int64_t bytes = grid == &r->alone ? geqrf_work(r->e, &plan, f.a.d.local)
	                                  : geqrf_distributed_work(r->e, &f.a.d);
	must(r, bytes >= 0);
	void *work = poisoned(bytes);
	must(r, grid == &r->alone ? geqrf(r->e, &plan, f.a.d.local, tau, work)
	                          : geqrf_distributed(r->e, &f.a.d, tau, work));
	must(r, grid_sync(grid, r->e));
	free(work);
	return f;
}

static void qr_free(struct qr *f)
{
	free(f->a.d.local.data);
	free(f->tau.d.local.data);
}

/* norm_F(A - Q R) / (norm_F(A) eps), and norm_F(I - Q^T Q) / eps. */
static double error_of(
        const struct problem *p, const double *factor, const double *tau, double *orthogonality)
{
	const int64_t m = p->whole.m, n = p->whole.n, k = min_int64(m, n);
	double *a = whole_new(&p->whole, p->precision);
	double *q = xcalloc((size_t)(m * k + 1), sizeof *q);
	double *rr = xcalloc((size_t)(k * n + 1), sizeof *rr);
	double *unit = xcalloc((size_t)(k * k + 1), sizeof *unit);

	memcpy(q, factor, (size_t)(m * k) * sizeof *q);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i <= j && i < k; i++)
			rr[i + j * k] = factor[i + j * m];
	for (int64_t i = 0; i < k; i++)
		unit[i + i * k] = 1;
	if (k > 0)
		LAPACKE_dorgqr(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)k, (lapack_int)k, q,
		        (lapack_int)m, tau);
	double norm = norm_frobenius(a, m * n), eps = unit_roundoff(p->precision);
	multiply(CblasNoTrans, CblasNoTrans, m, n, k, -1, q, rr, 1, a);
	multiply(CblasTrans, CblasNoTrans, k, k, m, -1, q, q, 1, unit);
	double error = test_ratio(norm_frobenius(a, m * n), 1, norm, eps);
	*orthogonality = norm_frobenius(unit, k * k) / eps / fmax(sqrt((double)k), 1);
	free(a);
	free(q);
	free(rr);
	free(unit);
	return error;
}

static void one_case(const struct ranks *r, const struct problem *p)
{
	struct qr ours = run(r, &r->grid, p), again = run(r, &r->grid, p);
	struct qr one = r->rank == 0 ? run(r, &r->alone, p) : (struct qr){.a = {.bytes = 0}};
	const bool first = r->rank == 0;

	all_ok(r,
	        memcmp(ours.a.d.local.data, again.a.d.local.data, (size_t)ours.a.bytes) == 0 &&
	                memcmp(ours.tau.d.local.data, again.tau.d.local.data,
	                        (size_t)ours.tau.bytes) == 0,
	        "QR, %s: bitwise repeatable", problem_title(p));
	all_ok(r, spread_padding_intact(&ours.a), "QR, %s: the padding is intact",
	        problem_title(p));
	double *a = spread_gather(r, &ours.a), *tau = spread_gather(r, &ours.tau);
	double *a_one = first ? spread_gather(r, &one.a) : NULL;
	double *tau_one = first ? spread_gather(r, &one.tau) : NULL;
	if (first) {
		double orthogonality, orthogonality_one,
		        error = error_of(p, a, tau, &orthogonality);
		double error_one = error_of(p, a_one, tau_one, &orthogonality_one);
		bool good = error_as_good(error, error_one) &&
		            error_as_good(orthogonality, orthogonality_one);
		ok(good, "QR, %s: as good as one rank's", problem_title(p));
		if (!good)
			diag("errors %g and %g eps, one rank %g and %g", error, orthogonality,
			        error_one, orthogonality_one);
	}
	free(a);
	free(tau);
	free(a_one);
	free(tau_one);
	qr_free(&ours);
	qr_free(&again);
	qr_free(&one);
}

static const struct problem problems[] = {
        {{RANDOM, 96, 96}, 16, DOUBLE, MATH_FP32},
        {{RANDOM, 203, 131}, 17, SINGLE, MATH_FP32},
        {{RANDOM, 77, 190}, 13, DOUBLE, MATH_FP32},
        {{RANDOM, 300, 300}, 140, SINGLE, MATH_FP32},
        {{RANDOM, 33, 33}, 64, DOUBLE, MATH_FP32},
        {{RANDOM, 1, 1}, 1, SINGLE, MATH_FP32},
        {{RANDOM, 9, 5}, 1, DOUBLE, MATH_FP32},
        {{RANDOM, 0, 7}, 2, SINGLE, MATH_FP32},
        {{RANDOM, 256, 256}, 32, SINGLE, MATH_3XTF32},
        {{RANDOM, 330, 250}, 40, SINGLE, MATH_3XFP16},
        {{PERMUTATION, 120, 120}, 7, SINGLE, MATH_FP32},
};

bool check_qr(const struct ranks *r)
{
	for (size_t i = 0; i < ARRAY_LEN(problems); i++)
		one_case(r, &problems[i]);
	return tap_failed == 0;
}
