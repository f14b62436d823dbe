/* SPDX-License-Identifier: MIT */
/* Inside of the library: the calls of fathom.h without a precision, which the matrices carry. Each
 * checks its arguments; the _work functions return bytes, or -1 when the call would be refused. */
#pragma once

#include "fathom.h"

#include "factor/executors/executor.h"
#include "factor/algorithms/qr_update.h"

/* fathom_lu.c; rows: the factors are those of a row-major matrix */
int64_t call_lu_work(struct fathom *h, struct matrix a);
enum fathom_status call_lu(
        struct fathom *h, struct matrix a, int *ipiv, void *work, int64_t work_bytes, int *info);
enum fathom_status call_lu_solve(struct fathom *h, char letter, bool rows, struct matrix a,
        const int *ipiv, struct matrix b);

/* fathom_cholesky.c */
int64_t call_cholesky_work(struct fathom *h, char letter, struct matrix a);
enum fathom_status call_cholesky(
        struct fathom *h, char letter, struct matrix a, void *work, int64_t work_bytes, int *info);
enum fathom_status call_cholesky_solve(
        struct fathom *h, char letter, struct matrix a, struct matrix b);

/* fathom_qr.c: geqrf; ormqr of k reflectors; orgqr into q; gels */
int64_t call_qr_work(struct fathom *h, struct matrix a);
enum fathom_status call_qr(
        struct fathom *h, struct matrix a, void *tau, void *work, int64_t work_bytes);
int64_t call_apply_work(
        struct fathom *h, char side, char trans, int64_t k, int64_t lda, struct matrix c);
enum fathom_status call_apply(struct fathom *h, char side, char trans, int64_t k, const void *a,
        int64_t lda, const void *tau, struct matrix c, void *work, int64_t work_bytes);
int64_t call_form_work(struct fathom *h, int64_t k, struct matrix q);
enum fathom_status call_form(struct fathom *h, int64_t k, struct matrix q, const void *tau,
        void *work, int64_t work_bytes);
int64_t call_least_squares_work(struct fathom *h, char letter, struct matrix a, struct matrix b);
enum fathom_status call_least_squares(struct fathom *h, char letter, struct matrix a,
        struct matrix b, void *work, int64_t work_bytes, int *info);

/* fathom_gram_schmidt.c; orthogonalize: with the sizes of a and r without a basis */
int64_t call_gram_schmidt_work(struct fathom *h, char form, struct matrix a, struct matrix r);
enum fathom_status call_gram_schmidt(struct fathom *h, char form, struct matrix a, struct matrix r,
        void *work, int64_t work_bytes, int *info);
int64_t call_orthogonalize_work(struct fathom *h, int64_t basis, struct matrix a, struct matrix r);
enum fathom_status call_orthogonalize(struct fathom *h, int64_t basis, struct matrix a,
        struct matrix r, void *work, int64_t work_bytes, int *info);

/* A factorization that changes, m x n before it. */
struct call_factors {
	char jobq;
	int64_t m, n, nrhs;
	const void *q;
	int64_t ldq;
	const void *r;
	int64_t ldr;
	const void *d;
	int64_t ldd;
	enum precision precision;
};

/* The change; u, v and b come without sizes. */
struct call_change {
	enum qr_change change;
	int64_t k, p;
	struct matrix u, v, b;
	int *info;
};

/* fathom_qr_update.c */
int64_t call_qr_update_work(
        struct fathom *h, const struct call_factors *c, enum fathom_qr_change change, int64_t p);
enum fathom_status call_qr_update(struct fathom *h, const struct call_factors *c,
        struct call_change change, void *work, int64_t work_bytes);

/* fathom_qr_auto.c; a and b come without sizes */
int64_t call_qr_factorize_work(struct fathom *h, const struct call_factors *c);
enum fathom_status call_qr_factorize(struct fathom *h, const struct call_factors *c,
        struct matrix a, struct matrix b, void *work, int64_t work_bytes);
int64_t call_qr_reorthogonalize_work(struct fathom *h, const struct call_factors *c);
enum fathom_status call_qr_reorthogonalize(struct fathom *h, const struct call_factors *c,
        struct matrix b, void *work, int64_t work_bytes, int *info);
int64_t call_qr_drift_work(struct fathom *h, const struct call_factors *c);
enum fathom_status call_qr_drift(struct fathom *h, const struct call_factors *c, struct matrix a,
        const void *x, void *sums, void *work, int64_t work_bytes);
int64_t call_qr_auto_work(
        struct fathom *h, const struct call_factors *c, enum fathom_qr_change change, int64_t p);
enum fathom_status call_qr_auto(struct fathom *h, const struct call_factors *c,
        struct call_change change, struct matrix a, struct matrix b, void *work, int64_t work_bytes,
        int *updated);

/* fathom_blas.c: gemm, whose inner size is op(A)'s columns and whose a and b come without sizes;
 * gemv */
enum fathom_status call_multiply(struct fathom *h, char transa, char transb, int64_t inner,
        double alpha, struct matrix a, struct matrix b, double beta, struct matrix c);
enum fathom_status call_multiply_vector(struct fathom *h, char letter, double alpha,
        struct matrix a, const void *x, int64_t incx, double beta, void *y, int64_t incy);
