/* SPDX-License-Identifier: MIT */
/* Every form of Gram-Schmidt on the host executor and on the GPU: residual and loss of
 * orthogonality on well and ill conditioned matrices, dependent and zero columns, NaN, columns
 * added to a basis, and what is refused. */
#include "factor_test.h"

#include "factor/algorithms/gram_schmidt.h"

#include <inttypes.h>

struct shape {
	int64_t m, n, padding, nb;
};

/* One, tall and square, around the edges of blocks and of the kernels' chunks of rows. */
static const struct shape shapes[] = {{1, 1, 0, 1}, {2, 1, 1, 4}, {3, 2, 0, 1}, {5, 5, 3, 2},
        {33, 9, 1, 4}, {64, 64, 0, 16}, {127, 100, 5, 32}, {200, 65, 0, 8}, {1023, 40, 1, 16},
        {1025, 33, 3, 16}, {2100, 70, 4, 32}, {4096, 48, 0, 24}, {3001, 150, 7, 64},
        {2304, 200, 0, 64}, {300, 230, 2, 100}, {20011, 33, 5, 33}, {70000, 8, 0, 8}};

struct problem {
	int64_t m, n, lda, ldr, basis, nb;
	enum precision precision;
	const char *form; /* NULL: orthogonalize */
	void *before, *q, *r;
	int info;
};

static double get_at(const void *a, int64_t ld, int64_t i, int64_t j, enum precision precision)
{
	return get(a, i + j * ld, precision);
}

static struct problem problem_new(const struct shape *s, enum precision precision, const char *form)
{
	struct problem p = {.m = s->m,
	        .n = s->n,
	        .lda = s->m + s->padding,
	        .ldr = s->n + s->padding,
	        .nb = s->nb,
	        .precision = precision,
	        .form = form};
	int64_t word = precision_bytes(precision);

	p.before = xcalloc((size_t)(p.lda * p.n), (size_t)word);
	p.q = xcalloc((size_t)(p.lda * p.n), (size_t)word);
	p.r = xcalloc((size_t)(p.ldr * p.n), (size_t)word);
	return p;
}

static void problem_free(struct problem *p)
{
	free(p->before);
	free(p->q);
	free(p->r);
}

/* Random singular vectors by reflections, geometric singular values from 1 down to 1/condition. */
static void fill_conditioned(struct problem *p, double condition)
{
	int64_t m = p->m, n = p->n;
	double *x = xmalloc((size_t)(m * n) * sizeof *x);

	matrix_fill_conditioned(x, m, n, condition, 11);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(p->before, i + j * p->lda, p->precision, x[i + j * m]);
	free(x);
}

static void set_column(struct problem *p, int64_t j, double value)
{
	for (int64_t i = 0; i < p->m; i++)
		put(p->before, i + j * p->lda, p->precision, value);
}

static int64_t work_bytes(struct executor *e, const struct problem *p, struct matrix a)
{
	return p->form ? gram_schmidt_work(e, p->form, p->nb, a)
	               : orthogonalize_work(e, p->nb, a, p->basis);
}

/* Into q, r and info; everything that is to be written full of NaN before. */
static bool run(struct executor *e, struct problem *p)
{
	int64_t word = precision_bytes(p->precision), rows = p->n, columns = p->n - p->basis;
	struct matrix whole = {NULL, 0, p->lda, p->n, p->lda, p->precision};
	struct matrix all_r = {NULL, 0, p->ldr, columns, p->ldr, p->precision};
	struct test_memory a = {0}, r = {0}, work = {0}, info = {0};
	int64_t bytes = work_bytes(e, p, matrix_view(whole, 0, 0, p->m, p->n));
	bool good = bytes >= 0 && test_open(e, &a, p->lda * p->n * word, 0xff) &&
	            test_open(e, &r, p->ldr * columns * word, 0xff) &&
	            test_open(e, &work, bytes, 0xff) && test_open(e, &info, 4, 0xff);

	whole.data = a.data;
	all_r.data = r.data;
	struct matrix q = matrix_view(whole, 0, 0, p->m, p->n);
	struct matrix upper = matrix_view(all_r, 0, 0, rows, columns);
	good = good && e->ops->upload(e, p->before, p->lda, whole) &&
	       (p->form ? gram_schmidt(e, p->form, p->nb, q, upper, work.data, info.data)
	                : orthogonalize(e, p->nb, q, p->basis, upper, work.data, info.data)) &&
	       e->ops->sync(e) && e->ops->download(e, whole, p->q, p->lda) &&
	       e->ops->download(e, all_r, p->r, p->ldr) &&
	       e->ops->read_pivots(e, (struct pivots){info.data, 0}, &(int){0}, &p->info);
	if (!good)
		diag("%s", e->fault.text);
	good = test_close(e, &a) && good;
	good = test_close(e, &r) && good;
	good = test_close(e, &info) && good;
	return test_close(e, &work) && good;
}

/* ---- the measures ---- */

struct measures {
	double residual; /* largest norm of a column of A - Q R over that of A's, over sqrt(n) u */
	double orthogonality; /* norm2(I - Q^T Q), dependent columns left out, over sqrt(n) u */
	bool zero_below, padding;
};

/* Of a symmetric matrix, by its powers: at most the Frobenius norm, at least a bit below norm2. */
static double norm_two(const double *g, int64_t n)
{
	double *x = xcalloc((size_t)n, sizeof *x), *y = xcalloc((size_t)n, sizeof *y);
	double norm = norm_frobenius(g, n * n);

	for (int64_t i = 0; i < n; i++)
		x[i] = test_random(8, i);
	for (int turn = 0; norm > 0 && turn < 30; turn++) {
		double before = norm_frobenius(x, n);
		multiply(CblasNoTrans, CblasNoTrans, n, 1, n, 1 / before, g, x, 0, y);
		memcpy(x, y, (size_t)n * sizeof *x);
		norm = norm_frobenius(x, n);
	}
	free(x);
	free(y);
	return norm;
}

static struct measures measure(const struct problem *p)
{
	int64_t m = p->m, n = p->n, columns = n - p->basis;
	double u = unit_roundoff(p->precision), scale = sqrt((double)n) * u;
	struct measures found = {0, 0, true, true};
	double *a = to_doubles(p->before, p->lda, m, n, p->precision);
	double *q = to_doubles(p->q, p->lda, m, n, p->precision);
	double *r = to_doubles(p->r, p->ldr, n, columns, p->precision);
	double *g = xcalloc((size_t)(n * n), sizeof *g);

	for (int64_t j = 0; j < n; j++)
		g[j + j * n] = j >= p->basis && r[j + (j - p->basis) * n] == 0 ? 0 : 1;
	multiply(CblasTrans, CblasNoTrans, n, n, m, -1, q, q, 1, g);
	found.orthogonality = norm_two(g, n) / scale;
	double *part = a + p->basis * m, *left = test_copy(part, m, columns, DOUBLE);
	multiply(CblasNoTrans, CblasNoTrans, m, columns, n, -1, q, r, 1, left);
	for (int64_t j = 0; j < columns; j++) {
		double norm = norm_frobenius(left + j * m, m);
		for (int64_t i = j + p->basis + 1; i < n; i++)
			found.zero_below &= r[i + j * n] == 0;
		if (norm > 0)
			found.residual = worse(
			        found.residual, norm / norm_frobenius(part + j * m, m) / scale);
	}
	free(left);
	for (int64_t j = 0; j < n; j++) /* nothing is written there */
		for (int64_t i = m; i < p->lda; i++)
			found.padding &= get_at(p->q, p->lda, i, j, p->precision) == 0;
	free(a);
	free(q);
	free(r);
	free(g);
	return found;
}

/* Of norm2(I - Q^T Q) / (sqrt(n) u). The sums of a BLAS may lose more the longer they are. */
static double allowed(const char *form, int64_t m, double condition)
{
	if (!form || strcmp(form, "twice") == 0)
		return 10;
	if (strcmp(form, "block") == 0)
		return 10 * condition * condition;
	return 10 * condition * (strcmp(form, "blas") == 0 ? fmax(1, (double)m / 1000) : 1);
}

/* The GPU holds columns of 8192 words (4096 in double precision) in a block's registers. */
static bool not_here(
        const struct executor *e, const char *form, int64_t m, enum precision precision)
{
	return form && strcmp(form, "blocked") == 0 && strcmp(e->name, "cuda") == 0 &&
	       m > (precision == SINGLE ? 8192 : 4096);
}

/* Blocks of threads are the GPU's. */
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
	bool same = memcmp(first, p.q, (size_t)(p.lda * p.n * precision_bytes(precision))) == 0;
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

static void test_conditions(struct executor *e, const char *form)
{
	static const double single[] = {1, 1e3, 1e5}, twice[] = {1, 1e6, 1e12};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int c = 0; c < 3; c++) {
			check_one(e, &shapes[i], SINGLE, form, single[c]);
			check_one(e, &shapes[i], DOUBLE, form, twice[c]);
		}
}

/* ---- dependent columns ---- */

static void check_dependent(struct executor *e, const char *form, enum precision precision,
        const struct shape *s, int64_t bad, const char *what)
{
	struct problem p = problem_new(s, precision, form);

	fill_conditioned(&p, 10);
	if (strcmp(what, "zero") == 0)
		set_column(&p, bad, 0);
	else
		for (int64_t i = 0; i < p.m; i++) {
			double sum = 0;
			for (int64_t j = 0; j < bad; j++)
				sum += test_random(99, j) *
				       get_at(p.before, p.lda, i, j, precision);
			put(p.before, i + bad * p.lda, precision, sum);
		}
	bool ran = run(e, &p);
	struct measures found = measure(&p);
	double r = get(p.r, bad + bad * p.ldr, precision);
	ok(ran && p.info == bad + 1 && r == 0 && found.residual < 10 && found.orthogonality < 1000,
	        "%s %c %" PRId64 " x %" PRId64 ": %s column %" PRId64
	        " is said (%d), Q is usable: residual %.2g, "
	        "orthogonality %.3g",
	        form, precision, p.m, p.n, what, bad + 1, p.info, found.residual,
	        found.orthogonality);
	problem_free(&p);
}

static void test_dependent(struct executor *e, const char *form)
{
	static const struct shape two[] = {{90, 60, 2, 16}, {2000, 150, 0, 32}};

	for (size_t i = 0; i < ARRAY_LEN(two); i++)
		for (int single = 0; single < 2; single++) {
			enum precision precision = single ? SINGLE : DOUBLE;
			check_dependent(e, form, precision, &two[i], 0, "zero");
			check_dependent(e, form, precision, &two[i], 37, "zero");
			check_dependent(e, form, precision, &two[i], two[i].n - 1, "zero");
			check_dependent(e, form, precision, &two[i], 1, "dependent");
			check_dependent(e, form, precision, &two[i], 37, "dependent");
			check_dependent(e, form, precision, &two[i], two[i].n - 1, "dependent");
		}
}

/* ---- NaN and Inf ---- */

static bool any_nan(const struct problem *p, int64_t from, int64_t to)
{
	for (int64_t j = from; j < to; j++)
		for (int64_t i = 0; i < p->m; i++)
			if (isnan(get_at(p->q, p->lda, i, j, p->precision)))
				return true;
	return false;
}

static void test_not_finite(struct executor *e, const char *form)
{
	static const double value[] = {NAN, INFINITY};
	static const int64_t column[] = {0, 20, 39};
	const struct shape s = {70, 40, 2, 16};

	for (size_t v = 0; v < ARRAY_LEN(value); v++)
		for (size_t c = 0; c < ARRAY_LEN(column); c++) {
			struct problem p = problem_new(&s, SINGLE, form);
			fill_conditioned(&p, 10);
			put(p.before, 5 + column[c] * p.lda, SINGLE, value[v]);
			bool ran = run(e, &p);
			ok(ran && p.info == 0 && any_nan(&p, column[c], p.n) &&
			                !any_nan(&p, 0, column[c] / p.nb * p.nb),
			        "%s: %g in column %" PRId64 " ends and is seen there and after",
			        form, value[v], column[c] + 1);
			problem_free(&p);
		}
}

static void test_form(struct executor *e, const char *form)
{
	if (is_shaped(form) && strcmp(e->name, "cuda") != 0)
		return;
	test_conditions(e, form);
	test_dependent(e, form);
	test_not_finite(e, form);
}

/* ---- columns that arrive later ---- */

/* An orthonormal basis by `twice`, then columns that lie almost in it. */
static void check_append(struct executor *e, int64_t m, int64_t basis, int64_t n, int64_t nb,
        enum precision precision, double outside)
{
	struct shape s = {m, basis + n, 3, nb};
	struct problem p = problem_new(&s, precision, "twice");

	fill_conditioned(&p, 10);
	bool ran = run(e, &p);
	memcpy(p.before, p.q, (size_t)(p.lda * basis * precision_bytes(precision)));
	for (int64_t j = basis; j < basis + n; j++)
		for (int64_t i = 0; i < m; i++) {
			double sum = outside * test_random(5 + (uint64_t)j, i);
			for (int64_t k = 0; k < basis; k++)
				sum += test_random(77 + (uint64_t)j, k) *
				       get_at(p.q, p.lda, i, k, precision);
			put(p.before, i + j * p.lda, precision, sum);
		}
	p.form = NULL;
	p.basis = basis;
	ran = ran && run(e, &p);
	struct measures found = measure(&p);
	ok(ran && p.info == 0 && found.residual < 10 && found.orthogonality < 10 &&
	                found.zero_below && found.padding &&
	                memcmp(p.q, p.before,
	                        (size_t)(p.lda * basis * precision_bytes(precision))) == 0,
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
	struct problem p = problem_new(&s, precision, "twice");

	fill_conditioned(&p, 10);
	bool ran = run(e, &p);
	memcpy(p.before, p.q, (size_t)(p.lda * basis * precision_bytes(precision)));
	for (int64_t i = 0; i < s.m; i++) {
		const double of_basis = get_at(p.before, p.lda, i, 3, precision) -
		                        2 * get_at(p.before, p.lda, i, 39, precision),
		             of_new = get_at(p.before, p.lda, i, basis, precision) +
		                      get_at(p.before, p.lda, i, at - 1, precision);
		put(p.before, i + at * p.lda, precision,
		        what == OF_BASIS      ? of_basis
		        : what == OF_NEW_ONES ? of_new
		        : what == ZERO        ? 0
		                              : NAN);
	}
	p.form = NULL;
	p.basis = basis;
	ran = ran && run(e, &p);
	const struct measures found = measure(&p);
	const bool same =
	        memcmp(p.q, p.before, (size_t)(p.lda * basis * precision_bytes(precision))) == 0;
	if (what == NOT_A_NUMBER)
		ok(ran && same && p.info == 0 && any_nan(&p, at, at + 1), "%c: NaN is passed on",
		        precision);
	else
		ok(ran && same && p.info == bad + 1 && get(p.r, at + bad * p.ldr, precision) == 0 &&
		                found.residual < 10 && found.orthogonality < 10,
		        "%c: the added column %" PRId64 " (%s) is said (%d): residual %.2g, "
		        "orthogonality %.2g",
		        precision, bad + 1, said[what], p.info, found.residual,
		        found.orthogonality);
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

/* ---- blocks of threads ---- */

/* More threads than rows, more columns than there are, and what lies between. */
static void test_shapes(struct executor *e)
{
	static const char *const forms[] = {"direct=32x1", "direct=32x32", "direct=1024x1",
	        "shared=32x1", "shared=32x32", "shared=128x8", "shared=1024x1", "wide=32x1",
	        "wide=32x32", "wide=256x2", "wide=1024x1"};
	static const struct shape few[] = {
	        {5, 5, 3, 1}, {127, 100, 1, 1}, {1025, 33, 3, 1}, {4096, 48, 0, 1}};

	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		for (size_t s = 0; s < ARRAY_LEN(few); s++) {
			check_one(e, &few[s], SINGLE, forms[f], 1e3);
			check_one(e, &few[s], DOUBLE, forms[f], 1e3);
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

/* Said, when they are not written as they have to be or not the executor's. */
static void test_refused_shapes(struct executor *e)
{
	static const char *const forms[] = {"direct=", "direct=64", "shared=64x", "wide=64x8x",
	        "direct=48x1", "direct=16x4", "wide=1024x2", "fused=64x8", "wide=64x0"};
	struct matrix a = {NULL, 0, 5, 5, 5, SINGLE};

	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		ok(gram_schmidt_work(e, forms[f], 1, a) == -1, "refused: %s", e->fault.text);
	if (e->on_host)
		ok(gram_schmidt_work(e, "direct=64x8", 1, a) == -1, "refused: %s", e->fault.text);
}

/* ---- refusals ---- */

static void test_refused(struct executor *e)
{
	static const struct {
		const char *form, *word;
		int64_t m, n, ld, nb;
	} cases[] = {{"fused", "at least one", 5, 0, 5, 1}, {"fused", "m >= n", 4, 5, 5, 1},
	        {"block", "block of 0", 5, 5, 5, 0}, {"blas", "eading dimension", 5, 5, 4, 1},
	        {"sideways", "unknown form", 5, 5, 5, 1}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct matrix a = {NULL, 0, cases[i].m, cases[i].n, cases[i].ld, SINGLE};
		e->fault.text[0] = '\0';
		bool refused = gram_schmidt_work(e, cases[i].form, cases[i].nb, a) == -1;
		ok(refused && strstr(e->fault.text, cases[i].word) &&
		                !gram_schmidt(e, cases[i].form, cases[i].nb, a, a, NULL, NULL),
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
		test_form(e, gram_schmidt_forms[i]);
	test_append(e);
	test_append_bad(e);
	test_refused(e);
	test_refused_shapes(e);
	if (strcmp(e->name, "cuda") == 0) {
		test_shapes(e);
		test_large(e);
	}
}

int main(void)
{
	return test_on_executors(test);
}
