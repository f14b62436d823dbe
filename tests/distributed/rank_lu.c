/* SPDX-License-Identifier: MIT */
/* LU over ranks against the factorization of one rank. */
#include "ranks.h"

#include "factor/algorithms/getrf.h"

struct lu {
	struct spread a;
	int *ipiv; /* and info */
	int64_t steps;
};

/* The factorization of one rank, with the same blocks. */
static void lu_alone(const struct ranks *r, const struct lu *f, int64_t nb)
{
	const struct plan plan = {
	        .panel = "host", .widths = &nb, .count = 1, .leaf = nb, .lookahead = 1};
	int64_t bytes = getrf_work(r->e, &plan, f->a.d.local);
	must(r, bytes >= 0);
	void *work = poisoned(bytes);
	must(r, getrf(r->e, &plan, f->a.d.local, work, (struct pivots){f->ipiv, f->steps}));
	free(work);
}

static void lu_spread(const struct ranks *r, const struct lu *f)
{
	int64_t bytes = getrf_distributed_work(r->e, &f->a.d);
	must(r, bytes >= 0);
	void *work = poisoned(bytes);
	must(r, getrf_distributed(r->e, &f->a.d, work, (struct pivots){f->ipiv, f->steps}));
	must(r, grid_sync(&f->a.d.grid, r->e));
	free(work);
}

static struct lu lu_run(const struct ranks *r, const struct grid *grid, const struct problem *p)
{
	struct lu f = {.a = spread_new(r, grid, &p->whole, p->nb, true, p->precision)};

	r->e->math = p->math;
	f.steps = min_int64(p->whole.m, p->whole.n);
	f.ipiv = poisoned((f.steps + 1) * (int64_t)sizeof *f.ipiv);
	if (grid == &r->alone)
		lu_alone(r, &f, p->nb);
	else
		lu_spread(r, &f);
	return f;
}

static void lu_free(struct lu *f)
{
	free(f->a.d.local.data);
	free(f->ipiv);
}

/* norm_F(P A - L U) / (norm_F(A) eps), and the largest |l|. */
static double lu_error(const struct problem *p, const double *lu, const int *ipiv, double *max_l)
{
	const int64_t m = p->whole.m, n = p->whole.n, k = min_int64(m, n);
	double *a = whole_new(&p->whole, p->precision);
	double *l = xcalloc((size_t)(m * k + 1), sizeof *l);
	double *u = xcalloc((size_t)(k * n + 1), sizeof *u);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			if (i > j && j < k)
				l[i + j * m] = lu[i + j * m];
			if (i <= j && i < k)
				u[i + j * k] = lu[i + j * m];
		}
	*max_l = norm_max(l, m * k);
	for (int64_t i = 0; i < k; i++) {
		l[i + i * m] = 1;
		cblas_dswap((blasint)n, a + i, (blasint)m, a + ipiv[i] - 1, (blasint)m);
	}
	double norm = norm_frobenius(a, m * n);
	multiply(CblasNoTrans, CblasNoTrans, m, n, k, -1, l, u, 1, a);
	double error = test_ratio(norm_frobenius(a, m * n), 1, norm, unit_roundoff(p->precision));
	free(a);
	free(l);
	free(u);
	return error;
}

static bool valid(const int *ipiv, int64_t steps, int64_t m)
{
	for (int64_t i = 0; i < steps; i++)
		if (ipiv[i] <= i || ipiv[i] > m)
			return false;
	return true;
}

static void lu_case(const struct ranks *r, const struct problem *p)
{
	const char *by = r->e->row_major ? " by rows" : "";
	const bool exact = p->whole.elements == EXACT || p->whole.elements == PERMUTATION ||
	                   p->whole.elements == TIES;
	struct lu ours = lu_run(r, &r->grid, p), again = lu_run(r, &r->grid, p);
	struct lu one = r->rank == 0 ? lu_run(r, &r->alone, p) : (struct lu){.ipiv = NULL};
	const int64_t integers = ours.steps + 1, elements = p->whole.m * p->whole.n;

	all_ok(r,
	        memcmp(ours.a.d.local.data, again.a.d.local.data, (size_t)ours.a.bytes) == 0 &&
	                memcmp(ours.ipiv, again.ipiv, (size_t)integers * sizeof(int)) == 0,
	        "LU%s, %s: bitwise repeatable", by, problem_title(p));
	all_ok(r, spread_padding_intact(&ours.a) && all_same(r, ours.ipiv, integers),
	        "LU%s, %s: the padding is intact, and all ranks have the same pivots", by,
	        problem_title(p));
	double *lu = spread_gather(r, &ours.a);
	double *lu_one = r->rank == 0 ? spread_gather(r, &one.a) : NULL;
	if (r->rank == 0) {
		double max_l, max_one, error = lu_error(p, lu, ours.ipiv, &max_l);
		double error_one = lu_error(p, lu_one, one.ipiv, &max_one);
		bool same = memcmp(ours.ipiv, one.ipiv, (size_t)integers * sizeof(int)) == 0;
		bool good = valid(ours.ipiv, ours.steps, p->whole.m) &&
		            (p->whole.elements == NOT_A_NUMBER
		                            ? isnan(error) && isnan(error_one)
		                            : error_as_good(error, error_one) &&
		                                      max_l <= 1 + 8 * unit_roundoff(p->precision));
		ok(good && ours.ipiv[ours.steps] == one.ipiv[one.steps],
		        "LU%s, %s: as good as one rank's", by, problem_title(p));
		if (!good)
			diag("error %g eps, one rank %g, largest l %g, info %d and %d", error,
			        error_one, max_l, ours.ipiv[ours.steps], one.ipiv[one.steps]);
		if (exact)
			ok(same && memcmp(lu, lu_one, (size_t)elements * sizeof *lu) == 0,
			        "LU%s, %s: exactly one rank's factors and pivots", by,
			        problem_title(p));
		if (p->whole.elements == ZERO_COLUMN)
			ok(ours.ipiv[ours.steps] == p->whole.n / 2 + 1,
			        "LU%s, %s: info is the first zero column", by, problem_title(p));
	}
	free(lu);
	free(lu_one);
	lu_free(&ours);
	lu_free(&again);
	lu_free(&one);
}

/* nb that divides n and not; blocks for fewer ranks than there are; panels wider than one call's
 * swaps and solve; m < n, m > n. */
static const struct problem lu_problems[] = {
        {{RANDOM, 96, 96}, 16, DOUBLE, MATH_FP32},
        {{RANDOM, 201, 201}, 24, SINGLE, MATH_FP32},
        {{RANDOM, 203, 131}, 17, DOUBLE, MATH_FP32},
        {{RANDOM, 77, 190}, 13, SINGLE, MATH_FP32},
        {{RANDOM, 300, 300}, 140, SINGLE, MATH_FP32},
        {{RANDOM, 33, 33}, 64, DOUBLE, MATH_FP32},
        {{RANDOM, 50, 20}, 20, SINGLE, MATH_FP32},
        {{RANDOM, 1, 1}, 1, DOUBLE, MATH_FP32},
        {{RANDOM, 5, 9}, 1, SINGLE, MATH_FP32},
        {{RANDOM, 0, 7}, 2, SINGLE, MATH_FP32},
        {{RANDOM, 256, 256}, 32, SINGLE, MATH_3XTF32},
        {{RANDOM, 250, 330}, 40, SINGLE, MATH_3XFP16},
        {{EXACT, 150, 150}, 16, SINGLE, MATH_FP32},
        {{EXACT, 131, 90}, 11, DOUBLE, MATH_FP32},
        {{EXACT, 160, 160}, 32, SINGLE, MATH_3XTF32},
        {{PERMUTATION, 120, 120}, 7, SINGLE, MATH_FP32},
        {{TIES, 121, 87}, 9, DOUBLE, MATH_FP32},
        {{ZERO_COLUMN, 100, 100}, 12, DOUBLE, MATH_FP32},
        {{ZERO_COLUMN, 90, 90}, 64, SINGLE, MATH_FP32},
        {{NOT_A_NUMBER, 75, 75}, 8, DOUBLE, MATH_FP32},
};

bool check_lu(const struct ranks *r)
{
	const size_t step = grid_rows(&r->grid) > 1 ? 2 : 1; /* less by rows there */

	for (size_t i = 0; i < ARRAY_LEN(lu_problems); i++)
		lu_case(r, &lu_problems[i]);
	r->e->row_major = 1;
	for (size_t i = 0; i < ARRAY_LEN(lu_problems); i += step)
		lu_case(r, &lu_problems[i]);
	r->e->row_major = 0;
	return tap_failed == 0;
}

void lu_stopped(const struct ranks *r)
{
	const struct problem p = {{RANDOM, 100, 100}, 10, DOUBLE, MATH_FP32};
	struct lu f = lu_run(r, &r->grid, &p);

	lu_free(&f);
}
