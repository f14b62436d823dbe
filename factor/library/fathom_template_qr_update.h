/* SPDX-License-Identifier: MIT */
/* The calls of fathom.h that change a QR factorization, in one precision, as fathom_template.h. */

/* A factorization whose leading dimensions do not matter; it may get p more rows. */
static struct call_factors NAME(shape)(char jobq, int64_t m, int64_t n, int64_t nrhs, int64_t p)
{
	const bool usual = m >= 0 && m <= INT32_MAX && p >= 0 && p <= INT32_MAX;
	const int64_t most = max_int64(usual ? m + p : m, 1);

	return (struct call_factors){
	        jobq, m, n, nrhs, NULL, most, NULL, most, NULL, most, PRECISION};
}

/* A change with its operands, which call_change gives their sizes; V, where there is one, is the
 * caller's to add. */
static struct call_change NAME(change)(enum qr_change change, int64_t k, int64_t p, const REAL *u,
        int64_t ldu, const REAL *b, int64_t ldb, int *info)
{
	return (struct call_change){.change = change,
	        .k = k,
	        .p = p,
	        .u = call_matrix(u, 0, 0, ldu, PRECISION),
	        .b = call_matrix(b, 0, 0, ldb, PRECISION),
	        .info = info};
}

int64_t NAME(qr_factorize_work)(struct fathom *h, char jobq, int64_t m, int64_t n, int64_t nrhs)
{
	const struct call_factors f = NAME(shape)(jobq, m, n, nrhs, 0);

	return call_qr_factorize_work(h, &f);
}

enum fathom_status NAME(qr_factorize)(struct fathom *h, char jobq, int64_t m, int64_t n,
        int64_t nrhs, const REAL *a, int64_t lda, const REAL *b, int64_t ldb, REAL *q, int64_t ldq,
        REAL *r, int64_t ldr, REAL *d, int64_t ldd, void *work, int64_t work_bytes)
{
	const struct call_factors f = {jobq, m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};

	return call_qr_factorize(h, &f, call_matrix(a, 0, 0, lda, PRECISION),
	        call_matrix(b, 0, 0, ldb, PRECISION), work, work_bytes);
}

int64_t NAME(qr_update_work)(struct fathom *h, enum fathom_qr_change change, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t p)
{
	const struct call_factors f = NAME(shape)(jobq, m, n, nrhs, p);

	return call_qr_update_work(h, &f, change, p);
}

enum fathom_status NAME(qr_remove_columns)(struct fathom *h, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t k, int64_t p, REAL *q, int64_t ldq, REAL *r, int64_t ldr, REAL *d,
        int64_t ldd, void *work, int64_t work_bytes)
{
	const struct call_factors f = {jobq, m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};

	return call_qr_update(h, &f,
	        (struct call_change){.change = QR_REMOVE_COLUMNS, .k = k, .p = p}, work,
	        work_bytes);
}

enum fathom_status NAME(qr_add_columns)(struct fathom *h, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t k, int64_t p, REAL *u, int64_t ldu, const REAL *b, int64_t ldb,
        REAL *q, int64_t ldq, REAL *r, int64_t ldr, REAL *d, int64_t ldd, void *work,
        int64_t work_bytes, int *info)
{
	const struct call_factors f = {jobq, m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};

	return call_qr_update(
	        h, &f, NAME(change)(QR_ADD_COLUMNS, k, p, u, ldu, b, ldb, info), work, work_bytes);
}

enum fathom_status NAME(qr_add_rows)(struct fathom *h, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t k, int64_t p, REAL *u, int64_t ldu, REAL *b, int64_t ldb, REAL *q,
        int64_t ldq, REAL *r, int64_t ldr, REAL *d, int64_t ldd, void *work, int64_t work_bytes)
{
	const struct call_factors f = {jobq, m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};

	return call_qr_update(
	        h, &f, NAME(change)(QR_ADD_ROWS, k, p, u, ldu, b, ldb, NULL), work, work_bytes);
}

enum fathom_status NAME(qr_remove_rows)(struct fathom *h, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t k, int64_t p, const REAL *u, int64_t ldu, const REAL *b, int64_t ldb,
        REAL *q, int64_t ldq, REAL *r, int64_t ldr, REAL *d, int64_t ldd, void *work,
        int64_t work_bytes, int *info)
{
	const struct call_factors f = {jobq, m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};

	return call_qr_update(
	        h, &f, NAME(change)(QR_REMOVE_ROWS, k, p, u, ldu, b, ldb, info), work, work_bytes);
}

enum fathom_status NAME(qr_modify)(struct fathom *h, char jobq, int64_t m, int64_t n, int64_t nrhs,
        int64_t p, REAL *u, int64_t ldu, const REAL *v, int64_t ldv, const REAL *b, int64_t ldb,
        REAL *q, int64_t ldq, REAL *r, int64_t ldr, REAL *d, int64_t ldd, void *work,
        int64_t work_bytes, int *info)
{
	const struct call_factors f = {jobq, m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};
	struct call_change change = NAME(change)(QR_MODIFY, 0, p, u, ldu, b, ldb, info);

	change.v = call_matrix(v, 0, 0, ldv, PRECISION);
	return call_qr_update(h, &f, change, work, work_bytes);
}

int64_t NAME(qr_reorthogonalize_work)(struct fathom *h, int64_t m, int64_t n, int64_t nrhs)
{
	const struct call_factors f = NAME(shape)('S', m, n, nrhs, 0);

	return call_qr_reorthogonalize_work(h, &f);
}

enum fathom_status NAME(qr_reorthogonalize)(struct fathom *h, int64_t m, int64_t n, int64_t nrhs,
        const REAL *b, int64_t ldb, REAL *q, int64_t ldq, REAL *r, int64_t ldr, REAL *d,
        int64_t ldd, void *work, int64_t work_bytes, int *info)
{
	const struct call_factors f = {'S', m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};

	return call_qr_reorthogonalize(
	        h, &f, call_matrix(b, 0, 0, ldb, PRECISION), work, work_bytes, info);
}

int64_t NAME(qr_drift_work)(struct fathom *h, char jobq, int64_t m, int64_t n)
{
	const struct call_factors f = NAME(shape)(jobq, m, n, 0, 0);

	return call_qr_drift_work(h, &f);
}

enum fathom_status NAME(qr_drift)(struct fathom *h, char jobq, int64_t m, int64_t n, const REAL *a,
        int64_t lda, const REAL *q, int64_t ldq, const REAL *r, int64_t ldr, const REAL *x,
        REAL *sums, void *work, int64_t work_bytes)
{
	const struct call_factors f = {jobq, m, n, 0, q, ldq, r, ldr, NULL, 1, PRECISION};

	return call_qr_drift(
	        h, &f, call_matrix(a, 0, 0, lda, PRECISION), x, sums, work, work_bytes);
}

int64_t NAME(qr_update_auto_work)(struct fathom *h, enum fathom_qr_change change, char jobq,
        int64_t m, int64_t n, int64_t nrhs, int64_t p)
{
	const struct call_factors f = NAME(shape)(jobq, m, n, nrhs, p);

	return call_qr_auto_work(h, &f, change, p);
}

enum fathom_status NAME(qr_update_auto)(struct fathom *h, enum fathom_qr_change change, char jobq,
        int64_t m, int64_t n, int64_t nrhs, int64_t k, int64_t p, const REAL *a, int64_t lda,
        const REAL *b, int64_t ldb, REAL *u, int64_t ldu, const REAL *v, int64_t ldv, const REAL *c,
        int64_t ldc, REAL *q, int64_t ldq, REAL *r, int64_t ldr, REAL *d, int64_t ldd, void *work,
        int64_t work_bytes, int *info, int *updated)
{
	const struct call_factors f = {jobq, m, n, nrhs, q, ldq, r, ldr, d, ldd, PRECISION};
	struct call_change asked = NAME(change)((enum qr_change)change, k, p, u, ldu, c, ldc, info);

	asked.v = call_matrix(v, 0, 0, ldv, PRECISION);
	return call_qr_auto(h, &f, asked, call_matrix(a, 0, 0, lda, PRECISION),
	        call_matrix(b, 0, 0, ldb, PRECISION), work, work_bytes, updated);
}
