/* SPDX-License-Identifier: MIT */
/* libfathom's calls on a GPU: results against LAPACKE and by residuals, order in the caller's
 * streams, nothing that waits or allocates, two handles at once, wrong arguments. */
#include "tap.h"

#ifndef FATHOM_CUDA

int main(void)
{
	skip_all("built without the CUDA Toolkit");
}

#else

#include "factor_test.h"

#include "../factor/check.h"
#include "../factor/fathom.h"
#include "../lib/gpu.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <lapacke.h>

/* The call of the precision, with the handle in scope. */
#define CALL(p, name, ...)                                                                         \
	((p) == SINGLE ? fathom_s##name(handle, __VA_ARGS__) : fathom_d##name(handle, __VA_ARGS__))
#define LAPACK(p, name, ...)                                                                       \
	((p) == SINGLE ? LAPACKE_s##name(LAPACK_COL_MAJOR, __VA_ARGS__)                            \
	               : LAPACKE_d##name(LAPACK_COL_MAJOR, __VA_ARGS__))

static struct fathom *handle;

/* ---- memory ---- */

static void *on_device(const void *host, int64_t bytes)
{
	void *data;

	GPU(cudaMalloc(&data, (size_t)bytes + 1));
	GPU(host ? cudaMemcpy(data, host, (size_t)bytes, cudaMemcpyHostToDevice)
	         : cudaMemset(data, 0xff, (size_t)bytes));
	return data;
}

static void to_host(void *host, const void *device, int64_t bytes)
{
	GPU(cudaMemcpy(host, device, (size_t)bytes, cudaMemcpyDeviceToHost));
}

static int int_on_host(const int *device)
{
	int value;

	to_host(&value, device, sizeof value);
	return value;
}

/* A matrix on the host, and its copy on the device. */
struct pair {
	enum precision p;
	int64_t m, n, ld, bytes;
	void *host, *device;
};

static struct pair pair_of(void *host, int64_t ld, int64_t m, int64_t n, enum precision p)
{
	struct pair a = {p, m, n, ld, ld * n * precision_bytes(p), host, NULL};

	a.device = on_device(host, a.bytes);
	return a;
}

static struct pair pair_new(int64_t m, int64_t n, enum precision p, int kind)
{
	int64_t ld = m + 3;

	return pair_of(test_matrix(ld, m, n, p, kind), ld, m, n, p);
}

static struct pair pair_random(int64_t m, int64_t n, enum precision p, uint64_t seed)
{
	int64_t ld = m + 1;
	void *host = xmalloc((size_t)(ld * n * precision_bytes(p)) + 1);

	for (int64_t i = 0; i < ld * n; i++)
		put(host, i, p, test_random(seed, i));
	return pair_of(host, ld, m, n, p);
}

/* What the device now has, for free(). */
static void *pair_result(const struct pair *a)
{
	void *result = xmalloc((size_t)a->bytes + 1);

	to_host(result, a->device, a->bytes);
	return result;
}

static void pair_free(struct pair *a)
{
	free(a->host);
	GPU(cudaFree(a->device));
}

static double *doubles(const struct pair *a, const void *elements)
{
	return to_doubles(elements, a->ld, a->m, a->n, a->p);
}

static bool done(enum fathom_status status)
{
	if (status != FATHOM_OK)
		diag("%s: %s", fathom_status_text(status), fathom_error(handle));
	return status == FATHOM_OK && fathom_finish(handle) == FATHOM_OK;
}

/* ---- measures ---- */

/* Largest difference of two results, over the largest magnitude of what is wanted, over n eps. */
static double difference(const struct pair *a, const void *got, const void *want)
{
	double *x = doubles(a, got), *y = doubles(a, want), norm = norm_max(y, a->m * a->n);

	for (int64_t i = 0; i < a->m * a->n; i++)
		x[i] -= y[i];
	double ratio = test_ratio(
	        norm_max(x, a->m * a->n), a->m > a->n ? a->m : a->n, norm, unit_roundoff(a->p));
	free(x);
	free(y);
	return ratio;
}

/* norm1(B - op(A) X) / (n norm1(A) norm1(X) eps) for square A */
static double solve_ratio(const struct pair *a, CBLAS_TRANSPOSE trans, const struct pair *b)
{
	void *result = pair_result(b);
	double *matrix = doubles(a, a->host), *x = doubles(b, result), *rest = doubles(b, b->host);

	multiply(trans, CblasNoTrans, b->m, b->n, b->m, -1, matrix, x, 1, rest);
	double ratio = test_ratio(norm_one(rest, b->m, b->n), b->m,
	        norm_one(matrix, b->m, b->m) * norm_one(x, b->m, b->n), unit_roundoff(b->p));
	free(result);
	free(matrix);
	free(x);
	free(rest);
	return ratio;
}

/* ---- LU ---- */

struct lu {
	struct pair a;
	int *ipiv, *info;
	void *work;
	int64_t bytes;
};

static struct lu lu_new(struct pair a, bool rows)
{
	struct lu s = {.a = a};

	s.bytes = rows ? CALL(a.p, getrf_rows_work, a.n, a.m, a.ld)
	               : CALL(a.p, getrf_work, a.m, a.n, a.ld);
	s.ipiv = on_device(NULL, (a.m < a.n ? a.m : a.n) * (int64_t)sizeof(int));
	s.info = on_device(NULL, sizeof(int));
	s.work = on_device(NULL, s.bytes);
	return s;
}

static enum fathom_status lu_call(struct lu *s, bool rows)
{
	struct pair *a = &s->a;

	return rows ? CALL(a->p, getrf_rows, a->n, a->m, a->device, a->ld, s->ipiv, s->work,
	                      s->bytes, s->info)
	            : CALL(a->p, getrf, a->m, a->n, a->device, a->ld, s->ipiv, s->work, s->bytes,
	                      s->info);
}

static void lu_free(struct lu *s)
{
	pair_free(&s->a);
	GPU(cudaFree(s->ipiv));
	GPU(cudaFree(s->info));
	GPU(cudaFree(s->work));
}

/* The first min(m, n) columns have the residual of a panel. */
static void check_getrf(int64_t m, int64_t n, enum precision p, int kind, int want_info)
{
	struct lu s = lu_new(pair_new(m, n, p, kind), false);
	int64_t k = m < n ? m : n;
	int *ipiv = xmalloc((size_t)(k + 1) * sizeof *ipiv);
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
	free(result);
	free(ipiv);
	lu_free(&s);
}

static void check_getrs(int64_t n, int64_t nrhs, enum precision p, char trans, bool rows)
{
	struct lu s = lu_new(pair_new(n, n, p, TEST_CONDITION_2), rows);
	struct pair b = pair_random(n, nrhs, p, 5);
	/* what is read by rows is the transpose of the columns on the host */
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
	pair_free(&b);
	lu_free(&s);
}

static void check_lu(enum precision p)
{
	static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 9}, {9, 1},
	        {63, 64}, {65, 65}, {200, 300}, {700, 200}, {1030, 1030}};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		check_getrf(shapes[i][0], shapes[i][1], p, MATRIX_RANDOM, 0);
	check_getrf(400, 400, p, MATRIX_ZERO_MIDDLE, 201);
	check_getrf(400, 300, p, MATRIX_ZERO_LAST, 300);
	for (int rows = 0; rows < 2; rows++) {
		check_getrs(300, 7, p, 'N', rows);
		check_getrs(300, 1, p, 't', rows);
		check_getrs(1, 1, p, 'C', rows);
	}
}

/* ---- Cholesky ---- */

/* X X^T + n I, whose leading minors from `bad` on are not positive (0: all are) */
static struct pair definite(int64_t n, enum precision p, int64_t bad)
{
	struct pair a = pair_random(n, n, p, 17);
	double *x = doubles(&a, a.host), *c = xcalloc((size_t)(n * n + 1), sizeof *c);

	multiply(CblasNoTrans, CblasTrans, n, n, n, 1, x, x, 0, c);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			put(a.host, i + j * a.ld, p,
			        c[i + j * n] + (i == j ? (double)n * (j + 1 == bad ? -9 : 1) : 0));
	GPU(cudaMemcpy(a.device, a.host, (size_t)a.bytes, cudaMemcpyHostToDevice));
	free(x);
	free(c);
	return a;
}

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
	GPU(cudaFree(work));
	GPU(cudaFree(info));
	pair_free(&a);
	pair_free(&b);
}

static void check_cholesky(enum precision p)
{
	static const int64_t sizes[] = {0, 1, 63, 64, 129, 600};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		check_potrf(sizes[i], p, 'L', 0);
		check_potrf(sizes[i], p, 'u', 0);
	}
	check_potrf(400, p, 'L', 250);
	check_potrf(400, p, 'U', 400);
}

/* ---- QR ---- */

/* Whether geqrf exists on this GPU; else the handle's error says why. */
static bool qr_possible(void)
{
	struct pair a = pair_new(8, 4, SINGLE, MATRIX_RANDOM);
	int64_t bytes = fathom_sgeqrf_work(handle, 8, 4, a.ld);
	void *work = on_device(NULL, bytes), *tau = on_device(NULL, 4 * sizeof(float));
	bool possible = fathom_sgeqrf(handle, 8, 4, a.device, a.ld, tau, work, bytes) == FATHOM_OK;

	GPU(cudaFree(work));
	GPU(cudaFree(tau));
	pair_free(&a);
	return possible;
}

/* LAPACK's Q and R from our factors give A back. */
static void check_geqrf(int64_t m, int64_t n, enum precision p)
{
	int64_t k = m < n ? m : n, word = precision_bytes(p);
	struct pair a = pair_new(m, n, p, MATRIX_RANDOM);
	struct pair r = pair_new(m, n, p, TEST_ZERO);
	int64_t bytes = CALL(p, geqrf_work, m, n, a.ld);
	void *work = on_device(NULL, bytes), *tau_device = on_device(NULL, k * word);
	void *tau = xmalloc((size_t)(k * word) + 1);
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
	free(qr);
	free(tau);
	GPU(cudaFree(work));
	GPU(cudaFree(tau_device));
	pair_free(&a);
	pair_free(&r);
}

/* LAPACKE's factorization of a random m x k matrix, in both places. */
static struct pair reflectors(int64_t m, int64_t k, enum precision p, struct pair *tau)
{
	struct pair a = pair_random(m, k, p, 23);

	*tau = pair_random(k, 1, p, 1);
	LAPACK(p, geqrf, (int)m, (int)k, a.host, (int)a.ld, tau->host);
	GPU(cudaMemcpy(a.device, a.host, (size_t)a.bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemcpy(tau->device, tau->host, (size_t)tau->bytes, cudaMemcpyHostToDevice));
	return a;
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
	free(result);
	GPU(cudaFree(work));
	pair_free(&a);
	pair_free(&c);
	pair_free(&tau);
}

/* The columns behind the reflectors hold what must not matter. */
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
	free(result);
	GPU(cudaFree(work));
	pair_free(&a);
	pair_free(&q);
	pair_free(&tau);
}

static void check_gels(char trans, int64_t m, int64_t n, int64_t nrhs, enum precision p)
{
	struct pair a = pair_new(m, n, p, TEST_CONDITION_2);
	struct pair b = pair_random(m > n ? m : n, nrhs, p, 51);
	struct pair x = b;
	int64_t bytes = CALL(p, gels_work, trans, m, n, nrhs, a.ld, b.ld);
	void *work = on_device(NULL, bytes);
	bool good =
	        done(CALL(p, gels, trans, m, n, nrhs, a.device, a.ld, b.device, b.ld, work, bytes));
	void *result = pair_result(&b);

	LAPACK(p, gels, trans, (int)m, (int)n, (int)nrhs, a.host, (int)a.ld, b.host, (int)b.ld);
	x.m = trans == 'N' ? n : m;
	double ratio = difference(&x, result, b.host);
	ok(good && ratio < CHECK_THRESHOLD, "%cgels %c %" PRId64 " x %" PRId64 ": ratio %.3g", p,
	        trans, m, n, ratio);
	free(result);
	GPU(cudaFree(work));
	pair_free(&a);
	pair_free(&b);
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
		check_geqrf(shapes[i][0], shapes[i][1], p);
	for (int i = 0; i < 4; i++)
		check_gels("NT"[i / 2], i % 2 ? 90 : 200, i % 2 ? 200 : 90, 5, p);
}

/* ---- gemv ---- */

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
	free(result);
	pair_free(&a);
	pair_free(&x);
	pair_free(&y);
}

/* ---- streams ---- */

/* Every operation once, put into the handle's stream. */
struct everything {
	struct lu lu;
	struct pair b, spd, c, reflectors, q, tau, gels_a, gels_b;
	void *tau_out, *work[5];
	int64_t bytes[5];
	int *info;
	bool with_qr;
};

static struct everything everything_new(int64_t n, enum precision p, bool with_qr)
{
	struct everything s = {.lu = lu_new(pair_new(n, n, p, MATRIX_RANDOM), false)};

	s.with_qr = with_qr;
	s.b = pair_random(n, 4, p, 71);
	s.spd = definite(n, p, 0);
	s.c = pair_random(n, 9, p, 72);
	s.reflectors = reflectors(n, n / 2, p, &s.tau);
	s.q = pair_random(n, n / 2, p, 73);
	s.gels_a = pair_new(n, n / 2, p, MATRIX_RANDOM);
	s.gels_b = pair_random(n, 2, p, 74);
	s.info = on_device(NULL, sizeof(int));
	s.tau_out = on_device(NULL, n * precision_bytes(p));
	s.bytes[0] = CALL(p, potrf_work, 'L', n, s.spd.ld);
	s.bytes[1] = CALL(p, ormqr_work, 'L', 'T', n, 9, n / 2, s.reflectors.ld, s.c.ld);
	s.bytes[2] = CALL(p, orgqr_work, n, n / 2, n / 2, s.q.ld);
	s.bytes[3] = CALL(p, geqrf_work, n, n / 2, s.q.ld);
	s.bytes[4] = CALL(p, gels_work, 'N', n, n / 2, 2, s.gels_a.ld, s.gels_b.ld);
	for (int i = 0; i < 5; i++)
		s.work[i] = on_device(NULL, s.bytes[i]);
	return s;
}

static bool everything_call(struct everything *s)
{
	struct pair *a = &s->lu.a, *b = &s->b, *spd = &s->spd, *c = &s->c, *q = &s->q;
	struct pair *r = &s->reflectors, *ga = &s->gels_a, *gb = &s->gels_b;
	enum precision p = a->p;
	int64_t n = a->n;
	int failed = 0;

	failed += lu_call(&s->lu, false) != FATHOM_OK;
	failed += CALL(p, getrs, 'N', n, 4, a->device, a->ld, s->lu.ipiv, b->device, b->ld) !=
	          FATHOM_OK;
	failed += CALL(p, potrf, 'L', n, spd->device, spd->ld, s->work[0], s->bytes[0], s->info) !=
	          FATHOM_OK;
	failed += CALL(p, potrs, 'L', n, 4, spd->device, spd->ld, b->device, b->ld) != FATHOM_OK;
	failed += CALL(p, ormqr, 'L', 'T', n, 9, n / 2, r->device, r->ld, s->tau.device, c->device,
	                  c->ld, s->work[1], s->bytes[1]) != FATHOM_OK;
	failed += CALL(p, orgqr, n, n / 2, n / 2, q->device, q->ld, s->tau.device, s->work[2],
	                  s->bytes[2]) != FATHOM_OK;
	failed += CALL(p, gemv, 'N', n, 9, 1, c->device, c->ld, b->device, 1, 1, s->lu.work, 1) !=
	          FATHOM_OK;
	if (s->with_qr) {
		failed += CALL(p, geqrf, n, n / 2, q->device, q->ld, s->tau_out, s->work[3],
		                  s->bytes[3]) != FATHOM_OK;
		failed += CALL(p, gels, 'N', n, n / 2, 2, ga->device, ga->ld, gb->device, gb->ld,
		                  s->work[4], s->bytes[4]) != FATHOM_OK;
	}
	if (failed)
		diag("%d calls failed; %s", failed, fathom_error(handle));
	return failed == 0;
}

static void everything_free(struct everything *s)
{
	lu_free(&s->lu);
	for (int i = 0; i < 5; i++)
		GPU(cudaFree(s->work[i]));
	GPU(cudaFree(s->info));
	GPU(cudaFree(s->tau_out));
	struct pair *pairs[] = {
	        &s->b, &s->spd, &s->c, &s->reflectors, &s->q, &s->tau, &s->gels_a, &s->gels_b};
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		pair_free(pairs[i]);
}

/* Calls with warm kernels return while the stream is held, and leave the memory as it is. Another
 * process may change the latter, so it has three chances. */
static void check_no_waiting(enum precision p, bool with_qr)
{
	struct everything warm = everything_new(200, p, with_qr);
	struct everything held = everything_new(200, p, with_qr);
	struct gpu_hold *hold = gpu_hold_new();
	cudaStream_t stream;
	bool returned = true, steady = false, released = true;

	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	GPU(fathom_set_stream(handle, stream));
	bool good = everything_call(&warm) && done(FATHOM_OK);
	for (int i = 0; i < 3; i++) {
		size_t before, after, total;
		GPU(cudaMemGetInfo(&before, &total));
		gpu_hold_start(hold, stream);
		good = everything_call(&held) && good;
		returned = returned && cudaStreamQuery(stream) == cudaErrorNotReady;
		GPU(cudaMemGetInfo(&after, &total));
		gpu_hold_release(hold);
		good = done(FATHOM_OK) && good;
		released = released && gpu_hold_ok(hold);
		steady = steady || before == after;
	}
	ok(good && returned && released, "%c: calls return while their stream is held", p);
	ok(steady, "%c: calls allocate no device memory", p);
	fathom_set_stream(handle, NULL);
	GPU(cudaStreamDestroy(stream));
	gpu_hold_free(hold);
	everything_free(&warm);
	everything_free(&held);
}

/* The matrix arrives in the stream before the call and the result leaves in it after the call, all
 * put there while nothing can start. */
static void check_order(enum precision p)
{
	enum { N = 400 };
	struct lu s = lu_new(pair_new(N, N, p, MATRIX_RANDOM), false);
	struct gpu_hold *hold = gpu_hold_new();
	cudaStream_t stream;
	void *pinned, *result;
	int ipiv[N];
	struct panel_check check;

	GPU(cudaMallocHost(&pinned, (size_t)s.a.bytes));
	GPU(cudaMallocHost(&result, (size_t)s.a.bytes));
	memcpy(pinned, s.a.host, (size_t)s.a.bytes);
	bool good = done(lu_call(&s, false)); /* loads the kernels */
	GPU(cudaMemset(s.a.device, 0xff, (size_t)s.a.bytes));
	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	GPU(fathom_set_stream(handle, stream));
	GPU(cudaDeviceSynchronize());
	gpu_hold_start(hold, stream);
	GPU(cudaMemcpyAsync(s.a.device, pinned, (size_t)s.a.bytes, cudaMemcpyHostToDevice, stream));
	good = lu_call(&s, false) == FATHOM_OK && good;
	GPU(cudaMemcpyAsync(result, s.a.device, (size_t)s.a.bytes, cudaMemcpyDeviceToHost, stream));
	GPU(cudaMemsetAsync(s.a.device, 0xff, (size_t)s.a.bytes, stream));
	gpu_hold_release(hold);
	GPU(cudaStreamSynchronize(stream));
	to_host(ipiv, s.ipiv, sizeof ipiv);
	check_panel(s.a.host, s.a.ld, result, s.a.ld, N, N, ipiv, p, &check);
	ok(good && check.passed && gpu_hold_ok(hold), "%c: work stays in the stream's order", p);
	fathom_set_stream(handle, NULL);
	GPU(cudaStreamDestroy(stream));
	GPU(cudaFreeHost(pinned));
	GPU(cudaFreeHost(result));
	gpu_hold_free(hold);
	lu_free(&s);
}

/* A handle whose stream changes between two calls: the second still comes after the first. */
static void check_stream_change(enum precision p)
{
	enum { N = 300 };
	struct lu s = lu_new(pair_new(N, N, p, TEST_CONDITION_2), false);
	struct pair b = pair_random(N, 2, p, 81);
	struct gpu_hold *hold = gpu_hold_new();
	cudaStream_t streams[2];

	bool good = done(lu_call(&s, false)) &&
	            done(CALL(p, getrs, 'N', N, 2, s.a.device, s.a.ld, s.ipiv, b.device, b.ld));
	GPU(cudaMemcpy(s.a.device, s.a.host, (size_t)s.a.bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemcpy(b.device, b.host, (size_t)b.bytes, cudaMemcpyHostToDevice));
	for (int i = 0; i < 2; i++)
		GPU(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	GPU(fathom_set_stream(handle, streams[0]));
	gpu_hold_start(hold, streams[0]);
	good = lu_call(&s, false) == FATHOM_OK && good;
	GPU(fathom_set_stream(handle, streams[1]));
	good = CALL(p, getrs, 'N', N, 2, s.a.device, s.a.ld, s.ipiv, b.device, b.ld) == FATHOM_OK &&
	       good;
	gpu_hold_release(hold);
	good = done(FATHOM_OK) && good;
	double ratio = solve_ratio(&s.a, CblasNoTrans, &b);
	ok(good && ratio < CHECK_THRESHOLD, "%c: order holds when the stream changes (%.3g)", p,
	        ratio);
	fathom_set_stream(handle, NULL);
	for (int i = 0; i < 2; i++)
		GPU(cudaStreamDestroy(streams[i]));
	gpu_hold_free(hold);
	pair_free(&b);
	lu_free(&s);
}

/* Two handles at once, each in a stream of its own, give what one alone gives, bit by bit. */
static void check_two_handles(enum precision p)
{
	enum { N = 900, ROUNDS = 5 };
	struct fathom *handles[2] = {handle, NULL};
	struct lu s[2], alone = lu_new(pair_new(N, N, p, MATRIX_RANDOM), false);
	cudaStream_t streams[2];
	bool good = fathom_create(&handles[1]) == FATHOM_OK && done(lu_call(&alone, false));
	void *want = pair_result(&alone.a);
	int same = 0;

	for (int i = 0; i < 2; i++) {
		s[i] = lu_new(pair_new(N, N, p, MATRIX_RANDOM), false);
		GPU(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
		good = fathom_set_stream(handles[i], streams[i]) == FATHOM_OK && good;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 2; i++) {
			handle = handles[i];
			GPU(cudaMemcpyAsync(s[i].a.device, s[i].a.host, (size_t)s[i].a.bytes,
			        cudaMemcpyHostToDevice, streams[i]));
			good = lu_call(&s[i], false) == FATHOM_OK && good;
		}
		for (int i = 0; i < 2; i++) {
			good = fathom_finish(handles[i]) == FATHOM_OK && good;
			void *got = pair_result(&s[i].a);
			same += memcmp(got, want, (size_t)s[i].a.bytes) == 0;
			free(got);
		}
	}
	handle = handles[0];
	ok(good && same == 2 * ROUNDS,
	        "%c: two handles at once, %d of %d results as those of one alone", p, same,
	        2 * ROUNDS);
	fathom_destroy(handles[1]);
	fathom_set_stream(handle, NULL);
	for (int i = 0; i < 2; i++) {
		GPU(cudaStreamDestroy(streams[i]));
		lu_free(&s[i]);
	}
	free(want);
	lu_free(&alone);
}

static void check_capture(void)
{
	struct lu s = lu_new(pair_new(64, 64, SINGLE, MATRIX_RANDOM), false);
	cudaStream_t stream;
	cudaGraph_t graph;

	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	GPU(fathom_set_stream(handle, stream));
	GPU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	enum fathom_status status = lu_call(&s, false);
	GPU(cudaStreamEndCapture(stream, &graph));
	ok(status == FATHOM_NOT_POSSIBLE && strstr(fathom_error(handle), "captured"),
	        "a stream under capture is refused");
	GPU(cudaGraphDestroy(graph));
	fathom_set_stream(handle, NULL);
	GPU(cudaStreamDestroy(stream));
	lu_free(&s);
}

/* ---- arguments ---- */

static void refused(enum fathom_status status, const char *why, const char *what)
{
	const char *text = fathom_error(handle);

	if (!ok(status == FATHOM_BAD_ARGUMENT && strstr(text, why), "refused: %s", what))
		diag("status %d, \"%s\", want \"%s\"", status, text, why);
}

static void check_arguments(void)
{
	struct lu s = lu_new(pair_new(50, 40, SINGLE, MATRIX_RANDOM), false);
	float *a = s.a.device;
	int *v = s.ipiv, *i = s.info;
	void *w = s.work;
	int64_t size = s.bytes, ld = s.a.ld;
	struct fathom *h = handle;

	refused(fathom_sgetrf(h, -1, 40, a, ld, v, w, size, i), "-1 x 40", "m < 0");
	refused(fathom_sgetrf(h, 50, 40, a, 49, v, w, size, i), "least 50", "lda < m");
	refused(fathom_sgetrf(h, 50, 40, NULL, ld, v, w, size, i), "A is NULL", "A NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, NULL, w, size, i), "ipiv is NULL", "ipiv NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, w, size, NULL), "info is NULL", "info NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, NULL, size, i), "workspace is NULL",
	        "work NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, w, size - 1, i), "asks for", "work too small");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, (char *)w + 8, size, i), "aligned",
	        "work not aligned");
	refused(fathom_sgetrf(h, INT64_MAX, INT64_MAX, a, INT64_MAX, v, w, size, i), "too large",
	        "sizes that overflow");
	refused(fathom_sgetrs(h, 'X', 40, 1, a, ld, v, a, 40), "trans 'X'", "trans X");
	refused(fathom_sgetrs(h, 'N', 40, 1, a, ld, v, a, 39), "least 40", "ldb < n");
	refused(fathom_sgetrf_rows(h, 50, 40, a, 39, v, w, size, i), "least 40", "rows: lda < n");
	refused(fathom_spotrf(h, 'A', 40, a, ld, w, size, i), "uplo 'A'", "uplo A");
	refused(fathom_spotrs(h, '\0', 40, 1, a, ld, a, 40), "uplo", "uplo 0");
	refused(fathom_sgeqrf(h, 50, 40, a, 4, a, w, size), "least 50", "geqrf: lda < m");
	refused(fathom_sormqr(h, 'L', 'N', 50, 3, 51, a, ld, a, a, 50, w, size), "51 reflectors",
	        "k > m");
	refused(fathom_sormqr(h, 'T', 'N', 50, 3, 5, a, ld, a, a, 50, w, size), "side 'T'",
	        "side T");
	refused(fathom_sorgqr(h, 50, 40, 41, a, ld, a, w, size), "m >= n >= k", "k > n");
	refused(fathom_sgels(h, 'N', 40, 50, 1, a, ld, a, 49, w, size), "least 50", "ldb < n");
	refused(fathom_sgemv(h, 'N', 5, 5, 1, a, 5, a, 0, 1, a, 1), "x", "incx 0");
	refused(fathom_sgemv(h, 'N', 5, 5, 1, a, 5, a, 1, 1, a, -1), "y", "incy < 0");
	ok(fathom_sgetrf(NULL, 50, 40, a, ld, v, w, size, i) == FATHOM_BAD_ARGUMENT &&
	                fathom_sgetrf_work(NULL, 50, 40, ld) == -1 &&
	                fathom_set_stream(NULL, NULL) == FATHOM_BAD_ARGUMENT &&
	                fathom_finish(NULL) == FATHOM_BAD_ARGUMENT,
	        "refused: no handle");
	ok(fathom_create(NULL) == FATHOM_BAD_ARGUMENT && strstr(fathom_error(NULL), "NULL"),
	        "refused: no place for a handle");
	ok(fathom_sgetrf_work(h, 5, 5, 4) == -1 && fathom_dpotrf_work(h, 'x', 5, 5) == -1 &&
	                fathom_sorgqr_work(h, 5, 6, 5, 5) == -1,
	        "workspaces of impossible calls are -1");
	void *result = pair_result(&s.a);
	ok(memcmp(result, s.a.host, (size_t)s.a.bytes) == 0, "refused calls change nothing");
	ok(done(lu_call(&s, false)), "and a right one works afterwards");
	free(result);
	lu_free(&s);
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

int main(void)
{
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	bool with_qr = qr_possible();
	check_arguments();
	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		check_lu(p);
		check_cholesky(p);
		check_qr(p);
		check_gemv('N', 300, 200, 1, 1, 0.5, p);
		check_gemv('T', 200, 301, 2, 3, 0, p);
		check_no_waiting(p, with_qr);
		check_order(p);
		check_stream_change(p);
		check_two_handles(p);
		check_host_panels(p);
	}
	check_capture();
	fathom_destroy(NULL);
	fathom_destroy(handle);
	return finish();
}

#endif
