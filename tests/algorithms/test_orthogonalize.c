/* SPDX-License-Identifier: MIT */
/* Columns added to an orthonormal basis on the host executor and on the GPU: columns that lie
 * almost in the basis, dependent and zero columns, NaN, and calls that are refused. */
#include "gram_test.h"

/* An orthonormal basis by `twice`, in q and in the first columns of `before`. */
static struct problem basis_new(
        struct executor *e, const struct shape *s, int64_t basis, enum precision precision)
{
	struct problem p = problem_new(s, precision, "twice");

	fill_conditioned(&p, 10);
	if (!run(e, &p))
		p.info = -1;
	memcpy(p.before, p.q, (size_t)(p.lda * basis * precision_bytes(precision)));
	p.form = NULL;
	p.basis = basis;
	return p;
}

/* Whether columns were added behind the basis, which stayed. */
static bool append(struct executor *e, struct problem *p)
{
	return p->info == 0 && run(e, p) &&
	       memcmp(p->q, p->before,
	               (size_t)(p->lda * p->basis * precision_bytes(p->precision))) == 0;
}

/* Columns that lie almost in the basis. */
static void check_append(struct executor *e, int64_t m, int64_t basis, int64_t n, int64_t nb,
        enum precision precision, double outside)
{
	struct problem p = basis_new(e, &(struct shape){m, basis + n, 3, nb}, basis, precision);

	for (int64_t j = basis; j < basis + n; j++)
		for (int64_t i = 0; i < m; i++) {
			double sum = outside * test_random(5 + (uint64_t)j, i);
			for (int64_t k = 0; k < basis; k++)
				sum += test_random(77 + (uint64_t)j, k) *
				       get_at(p.q, p.lda, i, k, precision);
			put(p.before, i + j * p.lda, precision, sum);
		}
	bool good = append(e, &p);
	struct measures found = measure(&p);
	ok(good && p.info == 0 && found.residual < 10 && found.orthogonality < 10 &&
	                found.zero_below && found.padding,
	        "%c %" PRId64 " columns of %" PRId64 " rows added to %" PRId64
	        ", %g outside: residual %.2g, orthogonality %.2g",
	        precision, n, m, basis, outside, found.residual, found.orthogonality);
	problem_free(&p);
}

enum new_column { OF_BASIS, OF_NEW_ONES, ZERO, NOT_A_NUMBER };

/* Random columns behind a basis, of which one, the bad-th, is not independent or not finite. */
static void check_append_bad(
        struct executor *e, enum precision precision, int64_t bad, enum new_column what)
{
	static const char *const said[] = {"in the basis", "of new ones", "zero", "NaN"};
	const struct shape s = {300, 70, 3, 16};
	const int64_t basis = 40, at = basis + bad;
	struct problem p = basis_new(e, &s, basis, precision);

	for (int64_t i = 0; i < s.m; i++) {
		const double of_basis = get_at(p.before, p.lda, i, 3, precision) -
		                        2 * get_at(p.before, p.lda, i, 39, precision),
		             of_new = get_at(p.before, p.lda, i, basis, precision) +
		                      get_at(p.before, p.lda, i, at - 1, precision);
		const double column[] = {of_basis, of_new, 0, NAN};
		put(p.before, i + at * p.lda, precision, column[what]);
	}
	const bool good = append(e, &p);
	const struct measures found = measure(&p);
	ok(good && (what == NOT_A_NUMBER ? p.info == 0 && nan_between(&p, at, at + 1)
	                                 : p.info == bad + 1 &&
	                                           get(p.r, at + bad * p.ldr, precision) == 0 &&
	                                           found.residual < 10 && found.orthogonality < 10),
	        "%c: the added column %" PRId64 " (%s): info %d, residual %.2g, orthogonality %.2g",
	        precision, bad + 1, said[what], p.info, found.residual, found.orthogonality);
	problem_free(&p);
}

static void test_append_bad(struct executor *e)
{
	for (int single = 0; single < 2; single++) {
		const enum precision precision = single ? SINGLE : DOUBLE;
		check_append_bad(e, precision, 0, OF_BASIS);
		check_append_bad(e, precision, 20, OF_BASIS);
		check_append_bad(e, precision, 20, OF_NEW_ONES);
		check_append_bad(e, precision, 29, ZERO);
		check_append_bad(e, precision, 5, NOT_A_NUMBER);
	}
}

static void test_append(struct executor *e)
{
	for (int single = 0; single < 2; single++) {
		enum precision precision = single ? SINGLE : DOUBLE;
		check_append(e, 300, 40, 1, 16, precision, 1e-3);
		check_append(e, 300, 40, 30, 16, precision, 1e-3);
		check_append(e, 300, 1, 299, 64, precision, 1);
		check_append(e, 2500, 100, 33, 32, precision, 1e-4);
		check_append(e, 100, 0, 100, 32, precision, 1);
	}
}

static void test_refused(struct executor *e)
{
	struct matrix a = {NULL, 0, 5, 5, 5, SINGLE};

	ok(orthogonalize_work(e, 4, a, 5) == -1, "refused: %s", e->fault.text);
	a.n = 6;
	ok(orthogonalize_work(e, 4, a, 3) == -1 && strstr(e->fault.text, "m >= n"), "refused: %s",
	        e->fault.text);
}

static void test(struct executor *e)
{
	test_append(e);
	test_append_bad(e);
	test_refused(e);
}

int main(void)
{
	return test_on_executors(test);
}
