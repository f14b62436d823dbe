/* SPDX-License-Identifier: MIT */
/* Cholesky over ranks against the factorization of one rank. */
#include "ranks.h"

#include "factor/algorithms/potrf.h"

struct cholesky {
	struct spread a;
	int info;
};

static struct cholesky run(const struct ranks *r, const struct grid *grid, const struct problem *p)
{
	const struct plan plan = {.widths = &p->nb, .count = 1, .leaf = 64, .lookahead = 1};
	struct cholesky f = {spread_new(r, grid, &p->whole, p->nb, true, p->precision), -1};

	r->e->math = p->math;
	int64_t bytes = grid == &r->alone ? potrf_work(r->e, &plan, LOWER, f.a.d.local)
	                                  : potrf_distributed_work(r->e, &f.a.d);
	must(r, bytes >= 0);
	void *work = poisoned(bytes);
	must(r, grid == &r->alone ? potrf(r->e, &plan, LOWER, f.a.d.local, work, &f.info)
	                          : potrf_distributed(r->e, &f.a.d, work, &f.info));
	must(r, grid_sync(grid, r->e));
	free(work);
	return f;
}

/* norm_F(A - L L^T) / (norm_F(A) eps); upper_kept: the strict upper triangle is A's. */
static double error_of(const struct problem *p, const double *factor, bool *upper_kept)
{
	const int64_t n = p->whole.n;
	double *a = whole_new(&p->whole, p->precision);
	double *l = xcalloc((size_t)(n * n + 1), sizeof *l);

	*upper_kept = true;
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++) {
			if (i >= j)
				l[i + j * n] = factor[i + j * n];
			else if (factor[i + j * n] != a[i + j * n])
				*upper_kept = false;
		}
	double norm = norm_frobenius(a, n * n);
	multiply(CblasNoTrans, CblasTrans, n, n, n, -1, l, l, 1, a);
	double error = test_ratio(norm_frobenius(a, n * n), 1, norm, unit_roundoff(p->precision));
	free(a);
	free(l);
	return error;
}

static void compare(const struct problem *p, const struct cholesky *ours, const double *l,
        const struct cholesky *one, const double *l_one)
{
	bool upper_kept, upper_one;
	double error = error_of(p, l, &upper_kept), error_one = error_of(p, l_one, &upper_one);

	ok(upper_kept, "Cholesky, %s: the upper triangle stays", problem_title(p));
	if (p->whole.elements == NOT_DEFINITE || p->whole.elements == NOT_A_NUMBER) {
		ok(ours->info == p->whole.n / 2 + 1 && one->info == ours->info,
		        "Cholesky, %s: info is the first bad minor", problem_title(p));
		return;
	}
	bool good = ours->info == 0 && error_as_good(error, error_one);
	ok(good, "Cholesky, %s: as good as one rank's", problem_title(p));
	if (!good)
		diag("info %d, error %g eps, one rank %g", ours->info, error, error_one);
	if (p->whole.elements == EXACT_SQUARE)
		ok(memcmp(l, l_one, (size_t)(p->whole.n * p->whole.n) * sizeof *l) == 0,
		        "Cholesky, %s: exactly one rank's factor", problem_title(p));
}

static void one_case(const struct ranks *r, const struct problem *p)
{
	struct cholesky ours = run(r, &r->grid, p), again = run(r, &r->grid, p);
	struct cholesky one = r->rank == 0 ? run(r, &r->alone, p) : (struct cholesky){.info = 0};

	all_ok(r, memcmp(ours.a.d.local.data, again.a.d.local.data, (size_t)ours.a.bytes) == 0,
	        "Cholesky, %s: bitwise repeatable", problem_title(p));
	all_ok(r, spread_padding_intact(&ours.a) && all_same(r, &ours.info, 1),
	        "Cholesky, %s: the padding is intact, and all ranks have the same info",
	        problem_title(p));
	double *l = spread_gather(r, &ours.a);
	double *l_one = r->rank == 0 ? spread_gather(r, &one.a) : NULL;
	if (r->rank == 0)
		compare(p, &ours, l, &one, l_one);
	free(l);
	free(l_one);
	free(ours.a.d.local.data);
	free(again.a.d.local.data);
	free(one.a.d.local.data);
}

static const struct problem problems[] = {
        {{DEFINITE, 96, 96}, 16, DOUBLE, MATH_FP32},
        {{DEFINITE, 203, 203}, 24, SINGLE, MATH_FP32},
        {{DEFINITE, 300, 300}, 140, SINGLE, MATH_FP32},
        {{DEFINITE, 31, 31}, 64, DOUBLE, MATH_FP32},
        {{DEFINITE, 1, 1}, 1, SINGLE, MATH_FP32},
        {{DEFINITE, 0, 0}, 3, SINGLE, MATH_FP32},
        {{DEFINITE, 256, 256}, 32, SINGLE, MATH_3XTF32},
        {{DEFINITE, 250, 250}, 40, SINGLE, MATH_3XFP16},
        {{EXACT_SQUARE, 150, 150}, 16, SINGLE, MATH_FP32},
        {{EXACT_SQUARE, 160, 160}, 32, SINGLE, MATH_3XTF32},
        {{EXACT_SQUARE, 99, 99}, 10, DOUBLE, MATH_FP32},
        {{NOT_DEFINITE, 110, 110}, 12, DOUBLE, MATH_FP32},
        {{NOT_DEFINITE, 90, 90}, 64, SINGLE, MATH_FP32},
        {{NOT_A_NUMBER, 75, 75}, 8, SINGLE, MATH_FP32},
        {{DEFINITE, 60, 60}, HIGH, SINGLE, MATH_3XTF32},
        /* many blocks a rank: halves of halves */
        {{DEFINITE, 403, 403}, 12, DOUBLE, MATH_FP32},
        {{DEFINITE, 640, 640}, 16, SINGLE, MATH_3XTF32},
        {{DEFINITE, 604, 604}, 20, SINGLE, MATH_3XFP16},
        {{EXACT_SQUARE, 301, 301}, 8, DOUBLE, MATH_FP32},
        {{EXACT_SQUARE, 300, 300}, 8, SINGLE, MATH_3XTF32},
};

bool check_cholesky(const struct ranks *r)
{
	for (size_t i = 0; i < ARRAY_LEN(problems); i++)
		one_case(r, &problems[i]);
	return tap_failed == 0;
}
