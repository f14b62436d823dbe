/* SPDX-License-Identifier: MIT */
/* Every form of Gram-Schmidt on the host executor and on the GPU: residual and loss of
 * orthogonality on well and ill conditioned matrices, dependent and zero columns, NaN; columns
 * added to an orthonormal basis; and calls that are refused. */
#include "gram_test.h"

/* One, tall and square, around the edges of blocks and of the kernels' chunks of rows. */
static const struct shape shapes[] = {{1, 1, 0, 1}, {2, 1, 1, 4}, {3, 2, 0, 1}, {5, 5, 3, 2},
        {33, 9, 1, 4}, {64, 64, 0, 16}, {127, 100, 5, 32}, {200, 65, 0, 8}, {1023, 40, 1, 16},
        {1025, 33, 3, 16}, {2100, 70, 4, 32}, {4096, 48, 0, 24}, {3001, 150, 7, 64},
        {2304, 200, 0, 64}, {300, 230, 2, 100}, {20011, 33, 5, 33}, {70000, 8, 0, 8}};

/* The bound of norm2(I - Q^T Q) / (sqrt(n) u). The sums of a BLAS may lose more the longer they
 * are, and so may sums of atomic additions, one after another. */
static double allowed(const char *form, int64_t m, double condition)
{
	if (!form || strcmp(form, "twice") == 0)
		return 10;
	if (strcmp(form, "block") == 0)
		return 10 * condition * condition;
	const bool one_by_one =
	        strcmp(form, "blas") == 0 || gram_schmidt_shape(form).access == GRAM_ATOMIC;
	return 10 * condition * (one_by_one ? fmax(1, (double)m / 1000) : 1);
}

/* The GPU holds columns of 8192 words (4096 in double precision) in a block's registers. */
static bool not_here(
        const struct executor *e, const char *form, int64_t m, enum precision precision)
{
	return form && strcmp(form, "blocked") == 0 && strcmp(e->name, "cuda") == 0 &&
	       m > (precision == SINGLE ? 8192 : 4096);
}

/* Forms with blocks of threads are the GPU's. */
static bool is_shaped(const char *form)
{
	return gram_schmidt_shape(form).access != GRAM_OWN;
}

static void check_one(struct executor *e, const struct shape *s, enum precision precision,
        const char *form, double condition)
{
	if (not_here(e, form, s->m, precision))
		return;
	struct problem p = problem_new(s, precision, form);

	fill_conditioned(&p, condition);
	bool ran = run(e, &p);
	void *first = test_copy(p.q, p.lda, p.n, precision);
	bool again = ran && run(e, &p);
	struct measures found = measure(&p);
	/* atomic additions come in any order */
	bool same = gram_schmidt_shape(form).access == GRAM_ATOMIC ||
	            memcmp(first, p.q, (size_t)(p.lda * p.n * precision_bytes(precision))) == 0;
	ok(again && p.info == 0 && found.zero_below && found.padding && same &&
	                found.residual < 10 && found.orthogonality < allowed(form, p.m, condition),
	        "%s %c %" PRId64 " x %" PRId64 " cond %g: residual %.2g, orthogonality %.3g", form,
	        precision, p.m, p.n, condition, found.residual, found.orthogonality);
	if (p.info || !found.zero_below || !found.padding || !same)
		diag("info %d, zeros %d, padding %d, repeats %d", p.info, found.zero_below,
		        found.padding, same);
	free(first);
	problem_free(&p);
}

static bool is(const char *form, const char *name)
{
	return strcmp(form, name) == 0;
}

/* In a small run few columns, but panels as wide as before: "fused" takes up to 128 columns in one
 * kernel, and more one by one. */
static struct shape of_this_run(struct shape s, const char *form)
{
	if (is(form, "fused"))
		s.n = test_at_most(s.n, 130);
	else if (is(form, "block") || is(form, "twice"))
		s.n = test_at_most(s.n, s.nb + 3);
	else
		s = (struct shape){s.m, test_at_most(s.n, 5), s.padding, test_at_most(s.nb, 2)};
	return s;
}

/* In a small run all shapes for which these forms have kernels of their own; else every third. */
static bool runs(const char *form, size_t row, size_t i)
{
	return is(form, "block") || is(form, "blocked") ||
	       (is(form, "fused") && shapes[i].n <= 128) || test_turn(i + row, 3);
}

/* The covering set gives every form and shape one condition in each precision; conditions take
 * turns. */
static void test_conditions(struct executor *e, const char *form, size_t row)
{
	static const double single[] = {1, 1e3, 1e5}, twice[] = {1, 1e6, 1e12};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (size_t c = 0; c < 3; c++) {
			const struct shape s = of_this_run(shapes[i], form);
			if (!runs(form, row, i))
				continue;
			if (test_meets(row + i, c, 3, 1))
				check_one(e, &s, SINGLE, form, single[c]);
			if (test_meets(row + i + 1, c, 3, 1))
				check_one(e, &s, DOUBLE, form, twice[c]);
		}
}

/* ---- dependent columns ---- */

static void check_dependent(struct executor *e, const char *form, enum precision precision,
        const struct shape *s, int64_t bad, const char *what)
{
	struct problem p = problem_new(s, precision, form);

	fill_conditioned(&p, 10);
	for (int64_t i = 0; i < p.m; i++) {
		double sum = 0;
		for (int64_t j = 0; j < bad && strcmp(what, "zero") != 0; j++)
			sum += test_random(99, j) * get_at(p.before, p.lda, i, j, precision);
		put(p.before, i + bad * p.lda, precision, sum);
	}
	bool ran = run(e, &p);
	struct measures found = measure(&p);
	double r = get(p.r, bad + bad * p.ldr, precision);
	ok(ran && p.info == bad + 1 && r == 0 && found.residual < 10 && found.orthogonality < 1000,
	        "%s %c %" PRId64 " x %" PRId64 ": %s column %" PRId64
	        " is reported (%d), Q is usable: residual %.2g, orthogonality %.3g",
	        form, precision, p.m, p.n, what, bad + 1, p.info, found.residual,
	        found.orthogonality);
	problem_free(&p);
}

static void test_dependent(struct executor *e, const char *form)
{
	static const struct shape two[] = {{90, 60, 2, 16}, {2000, 150, 0, 32}};

	for (size_t i = 0; i < 4; i++) {
		const struct shape *s = &two[i / 2];
		const enum precision precision = i % 2 ? SINGLE : DOUBLE;
		const int64_t bad[] = {0, 1, 37, s->n - 1};
		for (size_t k = 0; k < ARRAY_LEN(bad) && test_turn(i, 4); k++) {
			if (!test_turn(k, 2))
				continue;
			if (k != 1)
				check_dependent(e, form, precision, s, bad[k], "zero");
			if (k != 0)
				check_dependent(e, form, precision, s, bad[k], "dependent");
		}
	}
}

/* ---- NaN and Inf ---- */

static void test_not_finite(struct executor *e, const char *form)
{
	static const double value[] = {NAN, INFINITY};
	static const int64_t column[] = {0, 20, 39};
	const struct shape s = {70, 40, 2, 16};

	for (size_t v = 0; v < ARRAY_LEN(value); v++)
		for (size_t c = 0; c < ARRAY_LEN(column) && test_turn(c, 3); c++) {
			struct problem p = problem_new(&s, SINGLE, form);
			fill_conditioned(&p, 10);
			put(p.before, 5 + column[c] * p.lda, SINGLE, value[v]);
			bool ran = run(e, &p);
			ok(ran && p.info == 0 && nan_between(&p, column[c], p.n) &&
			                !nan_between(&p, 0, column[c] / p.nb * p.nb),
			        "%s: %g in column %" PRId64 " stays there and in later columns",
			        form, value[v], column[c] + 1);
			problem_free(&p);
		}
}

static void test_form(struct executor *e, const char *form, size_t row)
{
	if (is_shaped(form) && strcmp(e->name, "cuda") != 0)
		return;
	test_conditions(e, form, row);
	test_dependent(e, form);
	test_not_finite(e, form);
}

/* ---- blocks of threads ---- */

/* Blocks of more threads than rows and of more columns than the matrix has, and smaller blocks. */
static void test_shapes(struct executor *e)
{
	static const char *const forms[] = {"direct=32x1", "direct=32x32", "direct=1024x1",
	        "shared=32x1", "shared=32x32", "shared=128x8", "shared=1024x1", "wide=32x1",
	        "wide=32x32", "wide=256x2", "wide=1024x1", "atomic=32x1", "atomic=64x8",
	        "atomic=1024x1"};
	static const struct shape few[] = {
	        {5, 5, 3, 1}, {127, 100, 1, 1}, {1025, 33, 3, 1}, {4096, 48, 0, 1}};

	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		for (size_t s = 0; s < ARRAY_LEN(few); s++) {
			const struct shape now = of_this_run(few[s], forms[f]);
			check_one(e, &now, SINGLE, forms[f], 1e3);
			check_one(e, &now, DOUBLE, forms[f], 1e3);
		}
}

/* More than L2 holds, whose blocks begin in order: aligned columns and others. */
static void test_large(struct executor *e)
{
	static const struct shape single[] = {{170000, 100, 4, 1}, {170001, 100, 2, 1}},
	                          twice = {85000, 100, 0, 1};

	for (size_t i = 0; i < ARRAY_LEN(single); i++) {
		check_one(e, &single[i], SINGLE, "fused", 1e3);
		check_one(e, &single[i], SINGLE, "kernels", 1e3);
	}
	check_one(e, &twice, DOUBLE, "fused", 1e3);
}

/* ---- columns added to an orthonormal basis ---- */

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
	for (int single = 0; single < test_at_most(2, 1); single++) {
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
		check_append(e, 300, 1, test_at_most(299, 70), 64, precision, 1);
		check_append(e, 2500, 100, 33, 32, precision, 1e-4);
		check_append(e, 100, 0, 100, 32, precision, 1);
	}
}

/* ---- refusals ---- */

static void test_refused(struct executor *e)
{
	static const struct {
		const char *form, *word;
		int64_t m, n, ld, nb;
	} cases[] = {{"fused", "at least one", 5, 0, 5, 1}, {"fused", "m >= n", 4, 5, 5, 1},
	        {"block", "block of 0", 5, 5, 5, 0}, {"blas", "eading dimension", 5, 5, 4, 1},
	        {"sideways", "unknown form", 5, 5, 5, 1},
	        /* names of shapes that are wrong, and at last one that is not the host's */
	        {"direct=", "", 5, 5, 5, 1}, {"direct=64", "", 5, 5, 5, 1},
	        {"shared=64x", "", 5, 5, 5, 1}, {"wide=64x8x", "", 5, 5, 5, 1},
	        {"direct=48x1", "", 5, 5, 5, 1}, {"direct=16x4", "", 5, 5, 5, 1},
	        {"wide=1024x2", "", 5, 5, 5, 1}, {"fused=64x8", "", 5, 5, 5, 1},
	        {"wide=64x0", "", 5, 5, 5, 1}, {"direct=64x8", "", 5, 5, 5, 1}};

	for (size_t i = 0; i < ARRAY_LEN(cases) - !e->on_host; i++) {
		struct matrix x = {NULL, 0, cases[i].m, cases[i].n, cases[i].ld, SINGLE};
		e->fault.text[0] = '\0';
		bool refused = gram_schmidt_work(e, cases[i].form, cases[i].nb, x) == -1;
		ok(refused && strstr(e->fault.text, cases[i].word) &&
		                !gram_schmidt(e, cases[i].form, cases[i].nb, x, x, NULL, NULL),
		        "refused: %s", e->fault.text);
	}
	struct matrix a = {NULL, 0, 5, 5, 5, SINGLE};
	ok(orthogonalize_work(e, 4, a, 5) == -1, "refused: %s", e->fault.text);
	a.n = 6;
	ok(orthogonalize_work(e, 4, a, 3) == -1 && strstr(e->fault.text, "m >= n"), "refused: %s",
	        e->fault.text);
}

static void test(struct executor *e)
{
	for (size_t i = 0; gram_schmidt_forms[i]; i++)
		test_form(e, gram_schmidt_forms[i], i);
	test_append(e);
	test_append_bad(e);
	test_refused(e);
	if (strcmp(e->name, "cuda") == 0) {
		test_shapes(e);
		if (!test_small())
			test_large(e);
	}
}

int main(void)
{
	return test_on_executors(test);
}
