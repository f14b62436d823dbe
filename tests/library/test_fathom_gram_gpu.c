/* SPDX-License-Identifier: MIT */
/* The results of libfathom's Gram-Schmidt on a GPU, by residuals and orthogonality. */
#include "fathom_test.h"

/* The first `basis` columns of `before` were orthonormal; the other columns are a r. */
static void check_gram(const char *what, const struct pair *before, const struct pair *a,
        const struct pair *r, int64_t basis, int info, bool good)
{
	void *q_now = pair_result(a), *r_now = pair_result(r);
	double *x = doubles(before, before->host), *q = doubles(a, q_now), *u = doubles(r, r_now);
	double *g = own(xcalloc((size_t)(a->n * a->n), sizeof *g), false), *rest = x + basis * a->m;
	double norm = norm_one(rest, a->m, r->n);

	for (int64_t j = 0; j < a->n; j++)
		g[j + j * a->n] = 1;
	multiply(CblasTrans, CblasNoTrans, a->n, a->n, a->m, -1, q, q, 1, g);
	multiply(CblasNoTrans, CblasNoTrans, a->m, r->n, a->n, -1, q, u, 1, rest);
	double ratio = test_ratio(norm_one(rest, a->m, r->n), a->m, norm, unit_roundoff(a->p));
	double apart = test_ratio(norm_frobenius(g, a->n * a->n), a->n, 1, unit_roundoff(a->p));
	ok(good && info == 0 && ratio < CHECK_THRESHOLD && apart < CHECK_THRESHOLD &&
	                matrix_padding_intact(q_now, a->ld, a->m, a->n, a->p),
	        "%c%s %" PRId64 " x %" PRId64 ": ratio %.3g, orthogonality %.3g", a->p, what, a->m,
	        a->n, ratio, apart);
}

/* All columns, then more behind them. */
static void check_gramschmidt(char form, int64_t m, int64_t n, int64_t more, enum precision p)
{
	struct pair whole = pair_new(m, n + more, p, TEST_CONDITION_2), a = whole, before;
	struct pair r = pair_random(n, n, p, 61), next = pair_random(n + more, more, p, 62);
	int64_t first = CALL(p, gramschmidt_work, form, m, n, a.ld, r.ld);
	int64_t second = CALL(p, orthogonalize_work, m, n, more, a.ld, next.ld);
	int64_t bytes = first > second ? first : second;
	void *work = on_device(NULL, bytes);
	int *info = on_device(NULL, sizeof *info);

	a.n = n;
	bool good = done(CALL(
	        p, gramschmidt, form, m, n, a.device, a.ld, r.device, r.ld, work, bytes, info));
	check_gram("gramschmidt", &a, &a, &r, 0, int_on_host(info), good);
	before = whole;
	before.host = pair_result(&whole);
	good = done(CALL(p, orthogonalize, m, n, more, a.device, a.ld, next.device, next.ld, work,
	        bytes, info));
	check_gram("orthogonalize", &before, &whole, &next, n, int_on_host(info), good);
	release();
}

static void check_orthogonal_columns(enum precision p)
{
	for (int i = 0; i < 3; i++) {
		check_gramschmidt("MBR"[i], 300, 150, 20, p);
		check_gramschmidt("MBR"[i], 1001, 70, 1, p);
		check_gramschmidt("MBR"[i], 5, 3, 2, p);
	}
}

int main(void)
{
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	check_orthogonal_columns(SINGLE);
	check_orthogonal_columns(DOUBLE);
	fathom_destroy(handle);
	return finish();
}
