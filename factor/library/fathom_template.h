/* SPDX-License-Identifier: MIT */
/* The calls of fathom.h in one precision. Included once with REAL float and once with REAL double;
 * PRECISION says the same and NAME(x) gives the name. */

int64_t NAME(getrf_work)(struct fathom *h, int64_t m, int64_t n, int64_t lda)
{
	return call_lu_work(h, call_matrix(NULL, m, n, lda, PRECISION));
}

enum fathom_status NAME(getrf)(struct fathom *h, int64_t m, int64_t n, REAL *a, int64_t lda,
        int *ipiv, void *work, int64_t work_bytes, int *info)
{
	return call_lu(h, call_matrix(a, m, n, lda, PRECISION), ipiv, work, work_bytes, info);
}

enum fathom_status NAME(getrs)(struct fathom *h, char trans, int64_t n, int64_t nrhs, const REAL *a,
        int64_t lda, const int *ipiv, REAL *b, int64_t ldb)
{
	return call_lu_solve(h, trans, false, call_matrix(a, n, n, lda, PRECISION), ipiv,
	        call_matrix(b, n, nrhs, ldb, PRECISION));
}

int64_t NAME(getrf_rows_work)(struct fathom *h, int64_t m, int64_t n, int64_t lda)
{
	return call_lu_work(h, matrix_of_rows(NULL, m, n, lda, PRECISION));
}

enum fathom_status NAME(getrf_rows)(struct fathom *h, int64_t m, int64_t n, REAL *a, int64_t lda,
        int *ipiv, void *work, int64_t work_bytes, int *info)
{
	return call_lu(h, matrix_of_rows(a, m, n, lda, PRECISION), ipiv, work, work_bytes, info);
}

enum fathom_status NAME(getrs_rows)(struct fathom *h, char trans, int64_t n, int64_t nrhs,
        const REAL *a, int64_t lda, const int *ipiv, REAL *b, int64_t ldb)
{
	return call_lu_solve(h, trans, true, call_matrix(a, n, n, lda, PRECISION), ipiv,
	        call_matrix(b, n, nrhs, ldb, PRECISION));
}

int64_t NAME(potrf_work)(struct fathom *h, char uplo, int64_t n, int64_t lda)
{
	return call_cholesky_work(h, uplo, call_matrix(NULL, n, n, lda, PRECISION));
}

enum fathom_status NAME(potrf)(struct fathom *h, char uplo, int64_t n, REAL *a, int64_t lda,
        void *work, int64_t work_bytes, int *info)
{
	return call_cholesky(h, uplo, call_matrix(a, n, n, lda, PRECISION), work, work_bytes, info);
}

enum fathom_status NAME(potrs)(struct fathom *h, char uplo, int64_t n, int64_t nrhs, const REAL *a,
        int64_t lda, REAL *b, int64_t ldb)
{
	return call_cholesky_solve(h, uplo, call_matrix(a, n, n, lda, PRECISION),
	        call_matrix(b, n, nrhs, ldb, PRECISION));
}

int64_t NAME(geqrf_work)(struct fathom *h, int64_t m, int64_t n, int64_t lda)
{
	return call_qr_work(h, call_matrix(NULL, m, n, lda, PRECISION));
}

enum fathom_status NAME(geqrf)(struct fathom *h, int64_t m, int64_t n, REAL *a, int64_t lda,
        REAL *tau, void *work, int64_t work_bytes)
{
	return call_qr(h, call_matrix(a, m, n, lda, PRECISION), tau, work, work_bytes);
}

int64_t NAME(ormqr_work)(struct fathom *h, char side, char trans, int64_t m, int64_t n, int64_t k,
        int64_t lda, int64_t ldc)
{
	return call_apply_work(h, side, trans, k, lda, call_matrix(NULL, m, n, ldc, PRECISION));
}

enum fathom_status NAME(ormqr)(struct fathom *h, char side, char trans, int64_t m, int64_t n,
        int64_t k, const REAL *a, int64_t lda, const REAL *tau, REAL *c, int64_t ldc, void *work,
        int64_t work_bytes)
{
	return call_apply(h, side, trans, k, a, lda, tau, call_matrix(c, m, n, ldc, PRECISION),
	        work, work_bytes);
}

int64_t NAME(orgqr_work)(struct fathom *h, int64_t m, int64_t n, int64_t k, int64_t lda)
{
	return call_form_work(h, k, call_matrix(NULL, m, n, lda, PRECISION));
}

enum fathom_status NAME(orgqr)(struct fathom *h, int64_t m, int64_t n, int64_t k, REAL *a,
        int64_t lda, const REAL *tau, void *work, int64_t work_bytes)
{
	return call_form(h, k, call_matrix(a, m, n, lda, PRECISION), tau, work, work_bytes);
}

int64_t NAME(gels_work)(
        struct fathom *h, char trans, int64_t m, int64_t n, int64_t nrhs, int64_t lda, int64_t ldb)
{
	return call_least_squares_work(h, trans, call_matrix(NULL, m, n, lda, PRECISION),
	        call_matrix(NULL, max_int64(m, n), nrhs, ldb, PRECISION));
}

enum fathom_status NAME(gels)(struct fathom *h, char trans, int64_t m, int64_t n, int64_t nrhs,
        REAL *a, int64_t lda, REAL *b, int64_t ldb, void *work, int64_t work_bytes, int *info)
{
	return call_least_squares(h, trans, call_matrix(a, m, n, lda, PRECISION),
	        call_matrix(b, max_int64(m, n), nrhs, ldb, PRECISION), work, work_bytes, info);
}

int64_t NAME(gramschmidt_work)(
        struct fathom *h, char form, int64_t m, int64_t n, int64_t lda, int64_t ldr)
{
	return call_gram_schmidt_work(h, form, call_matrix(NULL, m, n, lda, PRECISION),
	        call_matrix(NULL, n, n, ldr, PRECISION));
}

enum fathom_status NAME(gramschmidt)(struct fathom *h, char form, int64_t m, int64_t n, REAL *a,
        int64_t lda, REAL *r, int64_t ldr, void *work, int64_t work_bytes, int *info)
{
	return call_gram_schmidt(h, form, call_matrix(a, m, n, lda, PRECISION),
	        call_matrix(r, n, n, ldr, PRECISION), work, work_bytes, info);
}

int64_t NAME(orthogonalize_work)(
        struct fathom *h, int64_t m, int64_t k, int64_t n, int64_t lda, int64_t ldr)
{
	return call_orthogonalize_work(h, k, call_matrix(NULL, m, n, lda, PRECISION),
	        call_matrix(NULL, n, n, ldr, PRECISION));
}

enum fathom_status NAME(orthogonalize)(struct fathom *h, int64_t m, int64_t k, int64_t n, REAL *a,
        int64_t lda, REAL *r, int64_t ldr, void *work, int64_t work_bytes, int *info)
{
	return call_orthogonalize(h, k, call_matrix(a, m, n, lda, PRECISION),
	        call_matrix(r, n, n, ldr, PRECISION), work, work_bytes, info);
}

enum fathom_status NAME(gemm)(struct fathom *h, char transa, char transb, int64_t m, int64_t n,
        int64_t k, REAL alpha, const REAL *a, int64_t lda, const REAL *b, int64_t ldb, REAL beta,
        REAL *c, int64_t ldc)
{
	return call_multiply(h, transa, transb, k, (double)alpha,
	        call_matrix(a, 0, 0, lda, PRECISION), call_matrix(b, 0, 0, ldb, PRECISION),
	        (double)beta, call_matrix(c, m, n, ldc, PRECISION));
}

enum fathom_status NAME(gemv)(struct fathom *h, char trans, int64_t m, int64_t n, REAL alpha,
        const REAL *a, int64_t lda, const REAL *x, int64_t incx, REAL beta, REAL *y, int64_t incy)
{
	return call_multiply_vector(h, trans, (double)alpha, call_matrix(a, m, n, lda, PRECISION),
	        x, incx, (double)beta, y, incy);
}
