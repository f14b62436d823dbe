/* SPDX-License-Identifier: MIT */
/* The results of libfathom's gemm and gemv on a GPU, against OpenBLAS in double precision. */
#include "fathom_test.h"

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

int main(void)
{
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		for (int i = 0; i < 4; i++)
			check_gemm("NT"[i / 2], "NT"[i % 2], 130, 70, 200, i % 2, p);
		check_gemm('N', 'N', 5, 7, 0, 3, p);
		check_gemv('N', 300, 200, 1, 1, 0.5, p);
		check_gemv('T', 200, 301, 2, 3, 0, p);
	}
	fathom_destroy(handle);
	return finish();
}
