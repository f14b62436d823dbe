/* SPDX-License-Identifier: MIT */
/* The results of libfathom's calls on a GPU: against LAPACKE, OpenBLAS in double precision, and by
 * residuals and orthogonality. */
#include "fathom_test.h"

/* ---- LU ---- */

/* The residual of the first min(m, n) columns is checked. */
static void check_getrf(int64_t m, int64_t n, enum precision p, int kind, int want_info)
{
	struct lu s = lu_new(pair_new(m, n, p, kind), false);
	int64_t k = m < n ? m : n;
	int *ipiv = on_host(k * (int64_t)sizeof *ipiv);
	struct panel_check check = {.passed = k == 0};
	bool good = done(lu_call(&s, false));
	void *result = pair_result(&s.a);

	to_host(ipiv, s.ipiv, k * (int64_t)sizeof *ipiv);
	if (k)
		check_panel(s.a.host, s.a.ld, result, s.a.ld, m, k, ipiv, p, &check);
	int info = int_on_host(s.info);
	ok(good && check.passed && info == want_info &&
	                matrix_padding_intact(result, s.a.ld, m, n, p),
	        "%cgetrf %" PRId64 " x %" PRId64 " %s: ratio %.3g, info %d", p, m, n,
	        test_kind_name(kind), check.ratio, info);
	release();
}

static void check_getrs(int64_t n, int64_t nrhs, enum precision p, char trans, bool rows)
{
	struct lu s = lu_new(pair_new(n, n, p, TEST_CONDITION_2), rows);
	struct pair b = pair_random(n, nrhs, p, 5);
	/* a matrix read by rows is the transpose of the columns on the host */
	CBLAS_TRANSPOSE op = (trans == 'N') == rows ? CblasTrans : CblasNoTrans;
	bool good = done(lu_call(&s, rows)) &&
	            done(rows ? CALL(p, getrs_rows, trans, n, nrhs, s.a.device, s.a.ld, s.ipiv,
	                                b.device, b.ld)
	                      : CALL(p, getrs, trans, n, nrhs, s.a.device, s.a.ld, s.ipiv, b.device,
	                                b.ld));
	double ratio = solve_ratio(&s.a, op, &b);

	ok(good && ratio < CHECK_THRESHOLD,
	        "%cgetrs%s %c n %" PRId64 " nrhs %" PRId64 ": ratio %.3g", p, rows ? "_rows" : "",
	        trans, n, nrhs, ratio);
	release();
}

/* An m x n matrix read by rows is n x m: its factors are the factors of the transpose. */
static void check_getrf_rows(int64_t m, int64_t n, enum precision p)
{
	struct lu column_major = lu_new(pair_new(m, n, p, MATRIX_RANDOM), false);
	struct lu row_major = lu_new(pair_new(m, n, p, MATRIX_RANDOM), true);
	size_t bytes = (size_t)(m < n ? m : n) * sizeof(int);
	int *ipiv[2] = {on_host((int64_t)bytes), on_host((int64_t)bytes)};
	bool good = done(lu_call(&column_major, false)) && done(lu_call(&row_major, true));
	void *want = pair_result(&column_major.a), *got = pair_result(&row_major.a);

	to_host(ipiv[0], column_major.ipiv, (int64_t)bytes);
	to_host(ipiv[1], row_major.ipiv, (int64_t)bytes);
	ok(good && memcmp(want, got, (size_t)row_major.a.bytes) == 0 &&
	                memcmp(ipiv[0], ipiv[1], bytes) == 0 && int_on_host(row_major.info) == 0,
	        "%cgetrf_rows %" PRId64 " x %" PRId64, p, n, m);
	release();
}

static void check_lu(enum precision p)
{
	static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 9}, {9, 1},
	        {63, 64}, {65, 65}, {200, 300}, {700, 200}, {1030, 1030}};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (test_fits(shapes[i][0], shapes[i][1]))
			check_getrf(shapes[i][0], shapes[i][1], p, MATRIX_RANDOM, 0);
	check_getrf(400, 400, p, MATRIX_ZERO_MIDDLE, 201);
	check_getrf(400, 300, p, MATRIX_ZERO_LAST, 300);
	check_getrf_rows(200, 130, p);
	check_getrf_rows(130, 200, p);
	check_getrf_rows(0, 5, p);
	for (int rows = 0; rows < 2; rows++) {
		check_getrs(300, 7, p, 'N', rows);
		check_getrs(300, 1, p, 't', rows);
		check_getrs(1, 1, p, 'C', rows);
	}
}

/* ---- Cholesky ---- */

static void check_potrf(int64_t n, enum precision p, char uplo, int64_t bad)
{
	struct pair a = definite(n, p, bad), b = pair_random(n, 3, p, 5);
	int64_t bytes = CALL(p, potrf_work, uplo, n, a.ld);
	void *work = on_device(NULL, bytes);
	int *info = on_device(NULL, sizeof *info);
	bool good = done(CALL(p, potrf, uplo, n, a.device, a.ld, work, bytes, info)) &&
	            (bad || done(CALL(p, potrs, uplo, n, 3, a.device, a.ld, b.device, b.ld)));
	double ratio = bad ? 0 : solve_ratio(&a, CblasNoTrans, &b);
	int got = int_on_host(info);

	ok(good && ratio < CHECK_THRESHOLD && got == bad,
	        "%cpotrf, potrs %c n %" PRId64 ": ratio %.3g, info %d", p, uplo, n, ratio, got);
	release();
}

static void check_cholesky(enum precision p)
{
	static const int64_t sizes[] = {0, 1, 63, 64, 129, 600};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		if (!test_fits(sizes[i], sizes[i]))
			continue;
		check_potrf(sizes[i], p, 'L', 0);
		check_potrf(sizes[i], p, 'u', 0);
	}
	check_potrf(400, p, 'L', 250);
	check_potrf(400, p, 'U', 400);
}

/* ---- QR ---- */

/* LAPACK's Q and R from our factors give A back. */
static void check_geqrf(int64_t m, int64_t n, enum precision p)
{
	int64_t k = m < n ? m : n, word = precision_bytes(p);
	struct pair a = pair_new(m, n, p, MATRIX_RANDOM);
	struct pair r = pair_new(m, n, p, TEST_ZERO);
	int64_t bytes = CALL(p, geqrf_work, m, n, a.ld);
	void *work = on_device(NULL, bytes), *tau_device = on_device(NULL, k * word);
	void *tau = on_host(k * word);
	bool good = done(CALL(p, geqrf, m, n, a.device, a.ld, tau_device, work, bytes));
	void *qr = pair_result(&a);

	to_host(tau, tau_device, k * word);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i <= j && i < m; i++)
			put(r.host, i + j * r.ld, p, get(qr, i + j * a.ld, p));
	good = good && LAPACK(p, ormqr, 'L', 'N', (int)m, (int)n, (int)k, qr, (int)a.ld, tau,
	                       r.host, (int)r.ld) == 0;
	double ratio = difference(&a, r.host, a.host);
	ok(good && ratio < CHECK_THRESHOLD, "%cgeqrf %" PRId64 " x %" PRId64 ": ratio %.3g", p, m,
	        n, ratio);
	release();
}

static void check_ormqr(char side, char trans, int64_t m, int64_t n, int64_t k, enum precision p)
{
	struct pair tau, a = reflectors(side == 'L' ? m : n, k, p, &tau);
	struct pair c = pair_random(m, n, p, 31);
	int64_t bytes = CALL(p, ormqr_work, side, trans, m, n, k, a.ld, c.ld);
	void *work = on_device(NULL, bytes);
	bool good = done(CALL(p, ormqr, side, trans, m, n, k, a.device, a.ld, tau.device, c.device,
	        c.ld, work, bytes));
	void *result = pair_result(&c);

	LAPACK(p, ormqr, side, trans, (int)m, (int)n, (int)k, a.host, (int)a.ld, tau.host, c.host,
	        (int)c.ld);
	double ratio = difference(&c, result, c.host);
	ok(good && ratio < CHECK_THRESHOLD,
	        "%cormqr %c %c %" PRId64 " x %" PRId64 " k %" PRId64 ": ratio %.3g", p, side, trans,
	        m, n, k, ratio);
	release();
}

/* The columns behind the reflectors hold numbers that must not matter. */
static void check_orgqr(int64_t m, int64_t n, int64_t k, enum precision p)
{
	struct pair tau, a = reflectors(m, k, p, &tau), q = pair_random(m, n, p, 41);
	int64_t bytes = CALL(p, orgqr_work, m, n, k, q.ld);
	void *work = on_device(NULL, bytes);

	memcpy(q.host, a.host, (size_t)a.bytes);
	GPU(cudaMemcpy(q.device, q.host, (size_t)q.bytes, cudaMemcpyHostToDevice));
	bool good = done(CALL(p, orgqr, m, n, k, q.device, q.ld, tau.device, work, bytes));
	void *result = pair_result(&q);
	LAPACK(p, orgqr, (int)m, (int)n, (int)k, q.host, (int)q.ld, tau.host);
	double ratio = difference(&q, result, q.host);
	ok(good && ratio < CHECK_THRESHOLD,
	        "%corgqr %" PRId64 " x %" PRId64 " k %" PRId64 ": ratio %.3g", p, m, n, k, ratio);
	release();
}

/* On the device; returns info, or -1 when the call failed. */
static int call_gels(char trans, const struct pair *a, const struct pair *b)
{
	int64_t bytes = CALL(a->p, gels_work, trans, a->m, a->n, b->n, a->ld, b->ld);
	void *work = on_device(NULL, bytes);
	int *info = on_device(NULL, sizeof *info);
	bool good = done(CALL(a->p, gels, trans, a->m, a->n, b->n, a->device, a->ld, b->device,
	        b->ld, work, bytes, info));

	return good ? int_on_host(info) : -1;
}

static void check_gels(char trans, int64_t m, int64_t n, int64_t nrhs, enum precision p)
{
	struct pair a = pair_new(m, n, p, TEST_CONDITION_2);
	struct pair b = pair_random(m > n ? m : n, nrhs, p, 51);
	struct pair x = b;
	int info = call_gels(trans, &a, &b);
	void *result = pair_result(&b);

	LAPACK(p, gels, trans, (int)m, (int)n, (int)nrhs, a.host, (int)a.ld, b.host, (int)b.ld);
	x.m = trans == 'N' ? n : m;
	double ratio = difference(&x, result, b.host);
	ok(info == 0 && ratio < CHECK_THRESHOLD, "%cgels %c %" PRId64 " x %" PRId64 ": ratio %.3g",
	        p, trans, m, n, ratio);
	release();
}

/* The taller of A and A^T has two columns of zeros, which the reflectors leave exactly zero, so
 * that R's diagonal has zeros; or a NaN, which is no zero. */
static void check_gels_info(int64_t m, int64_t n, bool with_nan, enum precision p)
{
	struct pair a = pair_new(m, n, p, MATRIX_RANDOM);
	struct pair b = pair_random(m > n ? m : n, 2, p, 51);
	static const int64_t zeros[] = {70, 41};

	for (int z = 0; z < 2; z++)
		for (int64_t i = 0; i < (m < n ? n : m); i++)
			put(a.host, m < n ? zeros[z] + i * a.ld : i + zeros[z] * a.ld, p, 0);
	if (with_nan)
		put(a.host, 0, p, NAN);
	GPU(cudaMemcpy(a.device, a.host, (size_t)a.bytes, cudaMemcpyHostToDevice));
	int info = call_gels('N', &a, &b);
	ok(info == (with_nan ? 0 : 42), "%cgels %" PRId64 " x %" PRId64 " %s: info %d", p, m, n,
	        with_nan ? "with a NaN" : "of columns of zeros", info);
	release();
}

/* 1 to 9 has rank 2. The status stays; the sentence is for the calls before fathom_finish alone. */
static void check_gels_doubt(enum precision p)
{
	struct pair a = pair_new(3, 3, p, MATRIX_RANDOM), b = pair_random(3, 1, p, 51);

	for (int64_t i = 0; i < 9; i++)
		put(a.host, i % 3 + i / 3 * a.ld, p, (double)(1 + i));
	GPU(cudaMemcpy(a.device, a.host, (size_t)a.bytes, cudaMemcpyHostToDevice));
	ok(call_gels('N', &a, &b) == 0 && strstr(fathom_error(handle), "rank deficient"),
	        "%cgels of rank 2: %s", p, fathom_error(handle));
	fathom_set_math(handle, (enum fathom_math)99);
	check_gels('N', 20, 10, 1, p);
	ok(!strstr(fathom_error(handle), "rank deficient"), "%cgels of full rank says nothing", p);
	release();
}

static void check_qr(enum precision p)
{
	static const int64_t shapes[][2] = {
	        {1, 1}, {31, 33}, {64, 64}, {300, 200}, {200, 300}, {900, 700}};

	for (int i = 0; i < 4; i++)
		check_ormqr("LR"[i / 2], "NT"[i % 2], 150, 170, 130, p);
	check_ormqr('L', 'N', 1, 1, 1, p);
	check_orgqr(300, 300, 100, p);
	check_orgqr(300, 130, 130, p);
	check_orgqr(5, 3, 0, p);
	if (!qr_possible()) {
		skip("geqrf, gels", fathom_error(handle));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (test_fits(shapes[i][0], shapes[i][1]))
			check_geqrf(shapes[i][0], shapes[i][1], p);
	for (int i = 0; i < 4; i++)
		check_gels("NT"[i / 2], i % 2 ? 90 : 200, i % 2 ? 200 : 90, 5, p);
	for (int with_nan = 0; with_nan < 2; with_nan++) {
		check_gels_info(200, 90, with_nan, p);
		check_gels_info(90, 200, with_nan, p);
	}
	check_gels('N', 0, 5, 2, p);
	check_gels_doubt(p);
}

/* ---- Gram-Schmidt ---- */

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

/* ---- products ---- */

static void check_gemm(
        char ta, char tb, int64_t m, int64_t n, int64_t k, double beta, enum precision p)
{
	struct pair a = pair_random(ta == 'N' ? m : k, ta == 'N' ? k : m, p, 55);
	struct pair b = pair_random(tb == 'N' ? k : n, tb == 'N' ? n : k, p, 56);
	struct pair c = pair_random(m, n, p, 57);
	enum fathom_status status =
	        p == SINGLE ? fathom_sgemm(handle, ta, tb, m, n, k, 2, a.device, a.ld, b.device,
	                              b.ld, (float)beta, c.device, c.ld)
	                    : fathom_dgemm(handle, ta, tb, m, n, k, 2, a.device, a.ld, b.device,
	                              b.ld, beta, c.device, c.ld);
	bool good = done(status);
	void *result = pair_result(&c);
	double *x = doubles(&a, a.host), *y = doubles(&b, b.host), *z = doubles(&c, c.host);

	multiply(ta == 'N' ? CblasNoTrans : CblasTrans, tb == 'N' ? CblasNoTrans : CblasTrans, m, n,
	        k, 2, x, y, beta, z);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(c.host, i + j * c.ld, p, z[i + j * m]);
	c.m = c.ld; /* what lies between columns stays */
	double ratio = difference(&c, result, c.host);
	ok(good && ratio < CHECK_THRESHOLD,
	        "%cgemm %c%c m %" PRId64 " n %" PRId64 " k %" PRId64 ": ratio %.3g", p, ta, tb, m,
	        n, k, ratio);
	release();
}

static void check_gemv(
        char trans, int64_t m, int64_t n, int64_t incx, int64_t incy, double beta, enum precision p)
{
	int64_t in = trans == 'N' ? n : m, out = trans == 'N' ? m : n;
	struct pair a = pair_random(m, n, p, 61), x = pair_random(in * incx, 1, p, 62);
	struct pair y = pair_random(out * incy, 1, p, 63);
	CBLAS_TRANSPOSE op = trans == 'N' ? CblasNoTrans : CblasTrans;
	enum fathom_status status =
	        p == SINGLE ? fathom_sgemv(handle, trans, m, n, 1.5f, a.device, a.ld, x.device,
	                              incx, (float)beta, y.device, incy)
	                    : fathom_dgemv(handle, trans, m, n, 1.5, a.device, a.ld, x.device, incx,
	                              beta, y.device, incy);
	bool good = done(status);
	void *result = pair_result(&y);

	if (p == SINGLE)
		cblas_sgemv(CblasColMajor, op, (int)m, (int)n, 1.5f, a.host, (int)a.ld, x.host,
		        (int)incx, (float)beta, y.host, (int)incy);
	else
		cblas_dgemv(CblasColMajor, op, (int)m, (int)n, 1.5, a.host, (int)a.ld, x.host,
		        (int)incx, beta, y.host, (int)incy);
	double ratio = difference(&y, result, y.host);
	ok(good && ratio < CHECK_THRESHOLD,
	        "%cgemv %c %" PRId64 " x %" PRId64 " beta %g: ratio %.3g", p, trans, m, n, beta,
	        ratio);
	release();
}

static void check_products(enum precision p)
{
	for (int i = 0; i < 4; i++)
		check_gemm("NT"[i / 2], "NT"[i % 2], 130, 70, 200, i % 2, p);
	check_gemm('N', 'N', 5, 7, 0, 3, p);
	check_gemv('N', 300, 200, 1, 1, 0.5, p);
	check_gemv('N', 301, 200, 3, 2, -1, p);
	check_gemv('T', 200, 301, 2, 3, 0, p);
}

/* ---- panels on the host ---- */

static void check_host_panels(enum precision p)
{
	bool good = fathom_set_host_panels(handle, 1) == FATHOM_OK;

	check_getrf(1030, 1030, p, MATRIX_RANDOM, 0);
	check_getrf(400, 400, p, MATRIX_ZERO_MIDDLE, 201);
	check_potrf(600, p, 'L', 0);
	check_potrf(400, p, 'U', 250);
	check_geqrf(300, 200, p);
	check_gels('N', 200, 90, 5, p);
	good = fathom_set_host_panels(handle, 0) == FATHOM_OK && good;
	ok(good, "%c: panels on the host and back", p);
}

static void check_math(enum fathom_math math)
{
	const char *name = math == FATHOM_MATH_3XTF32 ? "3xTF32" : "3xFP16";
	int64_t strict = fathom_sgetrf_work(handle, 2000, 2000, 2000);
	enum fathom_status set = fathom_set_math(handle, math);

	if (set == FATHOM_NOT_POSSIBLE) {
		skip(name, fathom_error(handle));
		return;
	}
	ok(set == FATHOM_OK && fathom_sgetrf_work(handle, 2000, 2000, 2000) > strict &&
	                fathom_set_math(handle, (enum fathom_math)3) == FATHOM_BAD_ARGUMENT,
	        "%s needs a larger workspace", name);
	for (int rows = 1500; rows <= test_at_most(2001, 1500); rows += 501) {
		check_getrf(rows, rows, SINGLE, MATRIX_RANDOM, 0);
		check_potrf(rows, SINGLE, rows % 2 ? 'L' : 'U', 0);
		check_geqrf(rows, 1500, SINGLE);
	}
	if (!test_small()) {
		check_gels('N', 2000, 900, 5, SINGLE);
		check_getrf(1030, 1030, DOUBLE, MATRIX_RANDOM, 0);
	}
	set = fathom_set_math(handle, FATHOM_MATH_FP32);
	ok(set == FATHOM_OK && fathom_sgetrf_work(handle, 2000, 2000, 2000) == strict,
	        "plain single precision needs the former workspace");
}

int main(void)
{
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		check_lu(p);
		check_cholesky(p);
		check_qr(p);
		check_orthogonal_columns(p);
		check_products(p);
		check_host_panels(p);
	}
	check_math(FATHOM_MATH_3XTF32);
	check_math(FATHOM_MATH_3XFP16);
	fathom_destroy(handle);
	return finish();
}
