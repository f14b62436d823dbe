/* SPDX-License-Identifier: MIT */
/* libfathom: LU, QR and Cholesky factorizations, solves, least squares, Gram-Schmidt, QR updating,
 * gemm and gemv on an NVIDIA GPU.
 *
 * Names, order of arguments and results are LAPACK's, with these differences:
 *   - The first argument is a handle. It belongs to the device, and to the CUDA context, that was
 *     current when it was created and holds streams, events and cuBLAS handles. One thread uses a
 *     handle at a time; a program may have any number of handles. A call leaves the caller's
 *     context current. After cudaDeviceReset only fathom_destroy may be called. In the stream of a
 *     green context kernels are sized by its multiprocessors.
 *   - Matrices, vectors, ipiv, tau, work and info are in device memory. Matrices are column-major.
 *     Sizes and leading dimensions are 64-bit and count elements; a leading dimension is at least
 *     the number of rows, at least 1 and at most 2^31 - 1. ipiv and info are int; ipiv is 1-based.
 *     A matrix has at most 2^48 bytes.
 *   - Calls put work into the handle's stream: earlier work there comes before it, later work after
 *     it. Calls do not allocate. They do not wait for the device either, except where CUDA does: it
 *     loads a kernel on first use (CUDA_MODULE_LOADING=EAGER: at the start), and its queue of about
 *     a thousand launches may be full. Calls with host panels (fathom_set_host_panels) do wait.
 *   - The caller provides the workspace, aligned to 256 bytes (as from cudaMalloc), and must not
 *     touch it until the call's work is done. fathom_xxx_work returns its bytes for these sizes (0:
 *     work may be NULL), or -1 when the call would be refused. The answer depends on
 *     fathom_set_host_panels, fathom_set_math, and the multiprocessors of the handle's stream.
 *     Numbers of columns below hold for compute capability 9.0 with 132 multiprocessors; other GPUs
 *     have others (docs/portability.md).
 *   - Calls return a status. Wrong arguments give FATHOM_BAD_ARGUMENT and change nothing;
 *     fathom_error gives the reason. info reports what the numbers hold. NaN propagates.
 * The same call on equally aligned memory gives bitwise the same result on the same GPU. */
#ifndef FATHOM_H
#define FATHOM_H

/* Stream capture: calls on a stream under capture (cudaStreamBeginCapture) become part of the
 * graph. Each launch of the graph does their work on the current contents of the same memory.
 *   - A graph uses memory of its calls' handle. It may be launched into any stream of the device
 *     while the handle exists, but must not overlap with other work of the handle, including other
 *     graphs. In the handle's stream nothing overlaps; between streams the caller must order them.
 *   - Decisions of the host are made at capture: sizes, alpha and beta, how products are computed,
 *     the choice of qr_update_auto.
 *   - Refused with FATHOM_NOT_POSSIBLE, without harm to the capture: fathom_finish,
 *     fathom_set_stream to or from a stream under capture, and all calls with host panels.
 *   - While other streams are under capture, all calls work, and harm no capture. CUDA forbids the
 *     legacy stream then: call fathom_set_stream after fathom_create.
 *   - It needs a driver for CUDA 12.3 or later: earlier ones load no kernel during a capture. */

#include <stdint.h>

#ifdef __GNUC__
#define FATHOM_PUBLIC __attribute__((visibility("default")))
#else
#define FATHOM_PUBLIC
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_status {
	FATHOM_OK = 0,
	FATHOM_BAD_ARGUMENT = 1, /* the call did nothing */
	FATHOM_NOT_POSSIBLE = 2, /* no usable GPU; not under stream capture */
	FATHOM_FAILED = 3        /* CUDA, cuBLAS or a kernel failed; results are undefined */
};

/* One sentence for a status; never NULL. */
FATHOM_PUBLIC const char *fathom_status_text(enum fathom_status status);

/* ---- handles ---- */

struct fathom;
struct CUstream_st; /* a cudaStream_t points to one */

/* Creates a handle for the current device, with the default stream. *handle is NULL unless the
 * status is FATHOM_OK; fathom_error(NULL) then gives the reason. Waits for the device. Takes 140 MB
 * of device memory, and what cuBLAS needs. */
FATHOM_PUBLIC enum fathom_status fathom_create(struct fathom **handle);

/* Waits for the work of the handle's calls and frees its memory. Launches of graphs of its calls
 * must be done. NULL does nothing. */
FATHOM_PUBLIC void fathom_destroy(struct fathom *handle);

/* Sets the stream, a cudaStream_t of the handle's device (NULL: the default stream). Work of later
 * calls comes after that of earlier calls. The stream must exist until another is set or the handle
 * is destroyed. */
FATHOM_PUBLIC enum fathom_status fathom_set_stream(
        struct fathom *handle, struct CUstream_st *stream);

/* on != 0: the host CPU factorizes the panels of getrf, geqrf, potrf and gels, by LAPACKE with all
 * threads of OpenBLAS, while the GPU updates. Such calls allocate pinned memory, return when the
 * last panel is back, and leave OpenBLAS with one thread. 0 (the default): all on the GPU. */
FATHOM_PUBLIC enum fathom_status fathom_set_host_panels(struct fathom *handle, int on);

/* How sgetrf, sgeqrf, sgels and spotrf compute their large products (at least 256 x 256, with an
 * inner dimension of at least 64). Double precision is unaffected. */
enum fathom_math {
	/* The default: fused multiply-adds in single precision. */
	FATHOM_MATH_FP32 = 0,
	/* Tensor cores. Each factor is split, x = high + low, 11 significant bits each. All
	 * products of parts but low low are summed, at most 256 at a time in the tensor cores'
	 * accumulators, which truncate. Backward errors are at most 2 times those of FP32 (LU of a
	 * dominant diagonal: 2.4). Operands below 2^-115 lose bits (error up to 2^-137), and an
	 * infinite operand may give NaN where fp32 gives infinity. */
	FATHOM_MATH_3XTF32 = 1,
	/* The parts in FP16, with a power of two for each row or column of a factor from its
	 * largest element: elements below 2^-28 of it keep less than 22 bits, down to 2^-50 of it.
	 * V^T C of QR remains 3xTF32. */
	FATHOM_MATH_3XFP16 = 2
};

/* Workspaces of the split modes are larger (the _work functions include it). FATHOM_NOT_POSSIBLE
 * below compute capability 8.0; for 3xFP16 with any other than 9.0, or in a build without code for
 * sm_90a. */
FATHOM_PUBLIC enum fathom_status fathom_set_math(struct fathom *handle, enum fathom_math math);

/* Waits for all work in the handle's stream. FATHOM_FAILED when a kernel of LU, in a call or a
 * graph, gave up waiting for its other blocks (after a second, when the GPU was taken away). A
 * kernel of QR then leaves NaN in tau, one of Gram-Schmidt on R's diagonal. After gels see
 * fathom_error, too. */
FATHOM_PUBLIC enum fathom_status fathom_finish(struct fathom *handle);

/* The reason why the last call with this handle that did not return FATHOM_OK failed, or what
 * fathom_finish has to say about a gels; "" before. NULL: why this thread's last fathom_create
 * failed. */
FATHOM_PUBLIC const char *fathom_error(const struct fathom *handle);

/* ---- LU with partial pivoting, P A = L U, A m x n ---- */

/* A := its factors, unit lower L below the diagonal. ipiv: min(m, n). *info: 0, or the 1-based
 * column of the first exactly zero pivot. The workspace holds a copy of A from 8000 columns on
 * (6400 in double precision), and from 2048 on when lda elements are no multiple of 16 bytes. */
FATHOM_PUBLIC int64_t fathom_sgetrf_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dgetrf_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_sgetrf(struct fathom *, int64_t m, int64_t n, float *a,
        int64_t lda, int *ipiv, void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dgetrf(struct fathom *, int64_t m, int64_t n, double *a,
        int64_t lda, int *ipiv, void *work, int64_t work_bytes, int *info);

/* Solves op(A) X = B with getrf's factors of an n x n matrix; X in place of B, n x nrhs. trans: N
 * or T (or C). */
FATHOM_PUBLIC enum fathom_status fathom_sgetrs(struct fathom *, char trans, int64_t n, int64_t nrhs,
        const float *a, int64_t lda, const int *ipiv, float *b, int64_t ldb);
FATHOM_PUBLIC enum fathom_status fathom_dgetrs(struct fathom *, char trans, int64_t n, int64_t nrhs,
        const double *a, int64_t lda, const int *ipiv, double *b, int64_t ldb);

/* Row-major A, m x n with lda >= n elements from row to row, without a transpose: A P^T = L U with
 * U unit upper, ipiv the exchanges of columns, info the 1-based row of the first zero pivot. As
 * stable as getrf, with other L, U and ipiv. getrs_rows solves with these factors; its B is
 * column-major. */
FATHOM_PUBLIC int64_t fathom_sgetrf_rows_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dgetrf_rows_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_sgetrf_rows(struct fathom *, int64_t m, int64_t n, float *a,
        int64_t lda, int *ipiv, void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dgetrf_rows(struct fathom *, int64_t m, int64_t n,
        double *a, int64_t lda, int *ipiv, void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_sgetrs_rows(struct fathom *, char trans, int64_t n,
        int64_t nrhs, const float *a, int64_t lda, const int *ipiv, float *b, int64_t ldb);
FATHOM_PUBLIC enum fathom_status fathom_dgetrs_rows(struct fathom *, char trans, int64_t n,
        int64_t nrhs, const double *a, int64_t lda, const int *ipiv, double *b, int64_t ldb);

/* ---- Cholesky, A = L L^T (uplo L) or U^T U (uplo U), A n x n ---- */

/* A's triangle := its factor. *info: 0, or the order of the first leading minor that is not
 * positive definite. The other triangle is neither read nor written, but with 3xTF32 elements near
 * the diagonal may be read and written back unchanged: no other stream may write them meanwhile.
 * From 2048 columns on the workspace holds a copy of A when lda elements are no multiple of 16
 * bytes (32 in double precision). */
FATHOM_PUBLIC int64_t fathom_spotrf_work(struct fathom *, char uplo, int64_t n, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dpotrf_work(struct fathom *, char uplo, int64_t n, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_spotrf(struct fathom *, char uplo, int64_t n, float *a,
        int64_t lda, void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dpotrf(struct fathom *, char uplo, int64_t n, double *a,
        int64_t lda, void *work, int64_t work_bytes, int *info);

/* Solves A X = B with potrf's factor; X in place of B, n x nrhs. */
FATHOM_PUBLIC enum fathom_status fathom_spotrs(struct fathom *, char uplo, int64_t n, int64_t nrhs,
        const float *a, int64_t lda, float *b, int64_t ldb);
FATHOM_PUBLIC enum fathom_status fathom_dpotrs(struct fathom *, char uplo, int64_t n, int64_t nrhs,
        const double *a, int64_t lda, double *b, int64_t ldb);

/* ---- QR, A = Q R, A m x n ---- */

/* A := R in the upper triangle, Householder vectors below the diagonal. tau: min(m, n). From 2048
 * columns on the workspace holds a copy of A when lda elements are no multiple of 16 bytes. */
FATHOM_PUBLIC int64_t fathom_sgeqrf_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dgeqrf_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_sgeqrf(struct fathom *, int64_t m, int64_t n, float *a,
        int64_t lda, float *tau, void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dgeqrf(struct fathom *, int64_t m, int64_t n, double *a,
        int64_t lda, double *tau, void *work, int64_t work_bytes);

/* C := op(Q) C (side L) or C op(Q) (side R) with geqrf's k reflectors, C m x n. */
FATHOM_PUBLIC int64_t fathom_sormqr_work(struct fathom *, char side, char trans, int64_t m,
        int64_t n, int64_t k, int64_t lda, int64_t ldc);
FATHOM_PUBLIC int64_t fathom_dormqr_work(struct fathom *, char side, char trans, int64_t m,
        int64_t n, int64_t k, int64_t lda, int64_t ldc);
FATHOM_PUBLIC enum fathom_status fathom_sormqr(struct fathom *, char side, char trans, int64_t m,
        int64_t n, int64_t k, const float *a, int64_t lda, const float *tau, float *c, int64_t ldc,
        void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dormqr(struct fathom *, char side, char trans, int64_t m,
        int64_t n, int64_t k, const double *a, int64_t lda, const double *tau, double *c,
        int64_t ldc, void *work, int64_t work_bytes);

/* A, m x n with geqrf's reflectors in its first k columns, becomes the first n columns of Q; m >= n
 * >= k. */
FATHOM_PUBLIC int64_t fathom_sorgqr_work(
        struct fathom *, int64_t m, int64_t n, int64_t k, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dorgqr_work(
        struct fathom *, int64_t m, int64_t n, int64_t k, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_sorgqr(struct fathom *, int64_t m, int64_t n, int64_t k,
        float *a, int64_t lda, const float *tau, void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dorgqr(struct fathom *, int64_t m, int64_t n, int64_t k,
        double *a, int64_t lda, const double *tau, void *work, int64_t work_bytes);

/* Minimizes norm2(B - op(A) X), A m x n of full rank: least squares, or the solution of minimum
 * norm. B, max(m, n) x nrhs, holds B on entry and X on return. A becomes its QR factorization when
 * m >= n and is unchanged otherwise. *info: 0, or the 1-based index of R's first exactly zero
 * diagonal element; X then has Inf and NaN. When R's diagonal suggests that A is not of full rank
 * (its least magnitude is at most n eps times its largest), the next fathom_finish still returns
 * FATHOM_OK, but fathom_error says it. When R's diagonal is so small that parts of it could be
 * subnormal, A's R is a power of two times R. */
FATHOM_PUBLIC int64_t fathom_sgels_work(
        struct fathom *, char trans, int64_t m, int64_t n, int64_t nrhs, int64_t lda, int64_t ldb);
FATHOM_PUBLIC int64_t fathom_dgels_work(
        struct fathom *, char trans, int64_t m, int64_t n, int64_t nrhs, int64_t lda, int64_t ldb);
FATHOM_PUBLIC enum fathom_status fathom_sgels(struct fathom *, char trans, int64_t m, int64_t n,
        int64_t nrhs, float *a, int64_t lda, float *b, int64_t ldb, void *work, int64_t work_bytes,
        int *info);
FATHOM_PUBLIC enum fathom_status fathom_dgels(struct fathom *, char trans, int64_t m, int64_t n,
        int64_t nrhs, double *a, int64_t lda, double *b, int64_t ldb, void *work,
        int64_t work_bytes, int *info);

/* ---- QR updating: A = Q R when rows or columns of A, m x n with m >= n, are added or removed ----
 *
 * A factorization consists of R (n x n, upper triangular, zeros below), D = Q^T B of nrhs
 * right-hand sides B (0: none, D and B may be NULL), and the part of Q that jobq names: A all of Q
 * (m x m), S its first n columns, N none (Q may be NULL). D has n rows, with jobq A m. X = R^-1 D
 * is the least-squares solution. A change affects p >= 1 rows or columns at k (0-based); m and n
 * are those before the change. R's rows may have either sign.
 *
 * Memory must have room for the change. When columns are added, rows removed or A modified: R and D
 * (not with jobq A) have n + min(p, m - n) rows, Q (jobq S) as many columns. When columns are
 * added, R has n + p columns. When rows are added, Q has m + p rows, and with jobq A as many
 * columns, and D m + p rows. Method: R. Andrew, N. Dingle, Parallel Computing, 2014. */

/* R, Q and D from A and B (m x nrhs), which are unchanged: a factorization to begin with, or to
 * replace an updated one. */
FATHOM_PUBLIC int64_t fathom_sqr_factorize_work(
        struct fathom *, char jobq, int64_t m, int64_t n, int64_t nrhs);
FATHOM_PUBLIC int64_t fathom_dqr_factorize_work(
        struct fathom *, char jobq, int64_t m, int64_t n, int64_t nrhs);
FATHOM_PUBLIC enum fathom_status fathom_sqr_factorize(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, const float *a, int64_t lda, const float *b, int64_t ldb, float *q,
        int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd, void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dqr_factorize(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, const double *a, int64_t lda, const double *b, int64_t ldb,
        double *q, int64_t ldq, double *r, int64_t ldr, double *d, int64_t ldd, void *work,
        int64_t work_bytes);

/* Workspace of a change. */
enum fathom_qr_change {
	FATHOM_QR_REMOVE_COLUMNS = 0,
	FATHOM_QR_ADD_COLUMNS = 1,
	FATHOM_QR_ADD_ROWS = 2,
	FATHOM_QR_REMOVE_ROWS = 3,
	FATHOM_QR_MODIFY = 4
};
FATHOM_PUBLIC int64_t fathom_sqr_update_work(struct fathom *, enum fathom_qr_change change,
        char jobq, int64_t m, int64_t n, int64_t nrhs, int64_t p);
FATHOM_PUBLIC int64_t fathom_dqr_update_work(struct fathom *, enum fathom_qr_change change,
        char jobq, int64_t m, int64_t n, int64_t nrhs, int64_t p);

/* Removes columns k .. k+p-1 of A; p < n. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_remove_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, float *q, int64_t ldq, float *r, int64_t ldr,
        float *d, int64_t ldd, void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dqr_remove_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, double *q, int64_t ldq, double *r,
        int64_t ldr, double *d, int64_t ldd, void *work, int64_t work_bytes);

/* Adds the columns of U (m x p, overwritten) before column k of A; m >= n + p. jobq A or S; S also
 * reads B (m x nrhs). New columns are orthogonalized twice against Q. *info (S): 0, or the 1-based
 * number of the first new column that depends on A's columns and the new ones before it. A = Q R
 * then holds, but Q's columns are not orthonormal any more: call qr_factorize or
 * qr_reorthogonalize. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_add_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, float *u, int64_t ldu, const float *b,
        int64_t ldb, float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dqr_add_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, double *u, int64_t ldu, const double *b,
        int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);

/* Adds the rows of U (p x n) before row k of A, and those of b (p x nrhs) to B; both are
 * overwritten. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_add_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, float *u, int64_t ldu, float *b, int64_t ldb,
        float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd, void *work,
        int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dqr_add_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, double *u, int64_t ldu, double *b,
        int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d, int64_t ldd,
        void *work, int64_t work_bytes);

/* Removes rows k .. k+p-1 of A, which are U (p x n; read with jobq N only), and of B, which are b
 * (p x nrhs; not read with A); m - p >= n. *info (S and N): 0, or the 1-based number of the first
 * row without which A is not, or hardly, of full rank; the factorization is then undefined. With
 * jobq N the error grows with 1 / (1 - norm2(R^-T U^T)^2). */
FATHOM_PUBLIC enum fathom_status fathom_sqr_remove_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, const float *u, int64_t ldu, const float *b,
        int64_t ldb, float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dqr_remove_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, const double *u, int64_t ldu,
        const double *b, int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d,
        int64_t ldd, void *work, int64_t work_bytes, int *info);

/* A := A + U V^T, U m x p (overwritten), V n x p. jobq A or S; S also reads B. *info as in
 * qr_add_columns. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_modify(struct fathom *, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t p, float *u, int64_t ldu, const float *v, int64_t ldv, const float *b,
        int64_t ldb, float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dqr_modify(struct fathom *, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t p, double *u, int64_t ldu, const double *v, int64_t ldv,
        const double *b, int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d,
        int64_t ldd, void *work, int64_t work_bytes, int *info);

/* Reads a profile of this machine (written by `make probe` and `fathom fit`) on the host, for
 * qr_update_auto. FATHOM_FAILED when it can not be read. */
FATHOM_PUBLIC enum fathom_status fathom_read_profile(struct fathom *, const char *path);

/* The change by its own call or by qr_factorize, whichever the model predicts to be faster. Both
 * must be possible. A and B hold the matrix after the change and stay unchanged. R, Q and D hold
 * the factors before the change, with room for it. New rows and columns are read from A and B. U (p
 * x n, jobq N) and C (p x nrhs, jobq N and S) are the removed rows of A and B; U and V those of
 * qr_modify; NULL where they are not read. *updated, on the host (may be NULL): 1 updated, 0
 * factorized again. The first call of a kind costs the host two predictions (milliseconds); answers
 * are kept for sizes rounded to five significant bits. FATHOM_NOT_POSSIBLE without a profile. */
FATHOM_PUBLIC int64_t fathom_sqr_update_auto_work(struct fathom *, enum fathom_qr_change change,
        char jobq, int64_t m, int64_t n, int64_t nrhs, int64_t p);
FATHOM_PUBLIC int64_t fathom_dqr_update_auto_work(struct fathom *, enum fathom_qr_change change,
        char jobq, int64_t m, int64_t n, int64_t nrhs, int64_t p);
FATHOM_PUBLIC enum fathom_status fathom_sqr_update_auto(struct fathom *,
        enum fathom_qr_change change, char jobq, int64_t m, int64_t n, int64_t nrhs, int64_t k,
        int64_t p, const float *a, int64_t lda, const float *b, int64_t ldb, float *u, int64_t ldu,
        const float *v, int64_t ldv, const float *c, int64_t ldc, float *q, int64_t ldq, float *r,
        int64_t ldr, float *d, int64_t ldd, void *work, int64_t work_bytes, int *info,
        int *updated);
FATHOM_PUBLIC enum fathom_status fathom_dqr_update_auto(struct fathom *,
        enum fathom_qr_change change, char jobq, int64_t m, int64_t n, int64_t nrhs, int64_t k,
        int64_t p, const double *a, int64_t lda, const double *b, int64_t ldb, double *u,
        int64_t ldu, const double *v, int64_t ldv, const double *c, int64_t ldc, double *q,
        int64_t ldq, double *r, int64_t ldr, double *d, int64_t ldd, void *work, int64_t work_bytes,
        int *info, int *updated);

/* Makes thin Q (jobq S) orthonormal again after drift or dependent columns; Q R is unchanged. By
 * Gram-Schmidt, each column twice; where Q has lost a direction, another one takes its place. D is
 * made again from B. For use without A: with it, qr_factorize is faster. *info: 0, or the 1-based
 * number of the first column of Q without a direction. */
FATHOM_PUBLIC int64_t fathom_sqr_reorthogonalize_work(
        struct fathom *, int64_t m, int64_t n, int64_t nrhs);
FATHOM_PUBLIC int64_t fathom_dqr_reorthogonalize_work(
        struct fathom *, int64_t m, int64_t n, int64_t nrhs);
FATHOM_PUBLIC enum fathom_status fathom_sqr_reorthogonalize(struct fathom *, int64_t m, int64_t n,
        int64_t nrhs, const float *b, int64_t ldb, float *q, int64_t ldq, float *r, int64_t ldr,
        float *d, int64_t ldd, void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dqr_reorthogonalize(struct fathom *, int64_t m, int64_t n,
        int64_t nrhs, const double *b, int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr,
        double *d, int64_t ldd, void *work, int64_t work_bytes, int *info);

/* The error of a factorization after many changes, by a few gemv: sums (4, device memory) of
 * squares of Q^T Q x - x, of x, of Q R x - A x, of A x, for the caller's random x (n); Q's first n
 * columns. jobq N: sums[0] = 0, and R^T R x - A^T A x and A^T A x instead. A NULL: sums[2] = 0.
 * qr_drifted, of sums copied to the host: 1 when the square root of sums[0] / sums[1] or sums[2] /
 * sums[3] exceeds 100 sqrt(m) u, u the unit roundoff: call qr_factorize then. */
FATHOM_PUBLIC int64_t fathom_sqr_drift_work(struct fathom *, char jobq, int64_t m, int64_t n);
FATHOM_PUBLIC int64_t fathom_dqr_drift_work(struct fathom *, char jobq, int64_t m, int64_t n);
FATHOM_PUBLIC enum fathom_status fathom_sqr_drift(struct fathom *, char jobq, int64_t m, int64_t n,
        const float *a, int64_t lda, const float *q, int64_t ldq, const float *r, int64_t ldr,
        const float *x, float *sums, void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dqr_drift(struct fathom *, char jobq, int64_t m, int64_t n,
        const double *a, int64_t lda, const double *q, int64_t ldq, const double *r, int64_t ldr,
        const double *x, double *sums, void *work, int64_t work_bytes);
FATHOM_PUBLIC int fathom_sqr_drifted(int64_t m, const float sums[4]);
FATHOM_PUBLIC int fathom_dqr_drifted(int64_t m, const double sums[4]);

/* ---- Gram-Schmidt: A = Q R, Q with orthonormal columns in place of A, m x n with m >= n >= 1; R
 * (n x n) upper triangular with zeros below ---- */

/* form M: modified Gram-Schmidt, norm2(I - Q^T Q) about u k with the unit roundoff u and A's
 * condition k. B: by blocks, several times as fast, up to u k^2. R: by blocks and each twice, u
 * while u k is small. *info: 0, or the 1-based number of the first column that depends, up to
 * rounding, on earlier ones. Such columns of Q and rows of R are zero; the other columns of Q are
 * orthonormal, and A = Q R. Squares of norms must be in the precision's range. */
FATHOM_PUBLIC int64_t fathom_sgramschmidt_work(
        struct fathom *, char form, int64_t m, int64_t n, int64_t lda, int64_t ldr);
FATHOM_PUBLIC int64_t fathom_dgramschmidt_work(
        struct fathom *, char form, int64_t m, int64_t n, int64_t lda, int64_t ldr);
FATHOM_PUBLIC enum fathom_status fathom_sgramschmidt(struct fathom *, char form, int64_t m,
        int64_t n, float *a, int64_t lda, float *r, int64_t ldr, void *work, int64_t work_bytes,
        int *info);
FATHOM_PUBLIC enum fathom_status fathom_dgramschmidt(struct fathom *, char form, int64_t m,
        int64_t n, double *a, int64_t lda, double *r, int64_t ldr, void *work, int64_t work_bytes,
        int *info);

/* Adds columns: the first k columns of A (m x (k + n)) are orthonormal and stay; the other n become
 * orthonormal to them and to one another, as by form R. The n given columns equal the new A
 * times R, (k + n) x n. *info: as above, of the n columns. */
FATHOM_PUBLIC int64_t fathom_sorthogonalize_work(
        struct fathom *, int64_t m, int64_t k, int64_t n, int64_t lda, int64_t ldr);
FATHOM_PUBLIC int64_t fathom_dorthogonalize_work(
        struct fathom *, int64_t m, int64_t k, int64_t n, int64_t lda, int64_t ldr);
FATHOM_PUBLIC enum fathom_status fathom_sorthogonalize(struct fathom *, int64_t m, int64_t k,
        int64_t n, float *a, int64_t lda, float *r, int64_t ldr, void *work, int64_t work_bytes,
        int *info);
FATHOM_PUBLIC enum fathom_status fathom_dorthogonalize(struct fathom *, int64_t m, int64_t k,
        int64_t n, double *a, int64_t lda, double *r, int64_t ldr, void *work, int64_t work_bytes,
        int *info);

/* ---- BLAS: alpha and beta are host values, and beta = 0 overwrites ---- */

/* C := alpha op(A) op(B) + beta C, C m x n, op(A) m x k. */
FATHOM_PUBLIC enum fathom_status fathom_sgemm(struct fathom *, char transa, char transb, int64_t m,
        int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
        float beta, float *c, int64_t ldc);
FATHOM_PUBLIC enum fathom_status fathom_dgemm(struct fathom *, char transa, char transb, int64_t m,
        int64_t n, int64_t k, double alpha, const double *a, int64_t lda, const double *b,
        int64_t ldb, double beta, double *c, int64_t ldc);

/* y := alpha op(A) x + beta y, A m x n; increments are at least 1. */
FATHOM_PUBLIC enum fathom_status fathom_sgemv(struct fathom *, char trans, int64_t m, int64_t n,
        float alpha, const float *a, int64_t lda, const float *x, int64_t incx, float beta,
        float *y, int64_t incy);
FATHOM_PUBLIC enum fathom_status fathom_dgemv(struct fathom *, char trans, int64_t m, int64_t n,
        double alpha, const double *a, int64_t lda, const double *x, int64_t incx, double beta,
        double *y, int64_t incy);

#ifdef __cplusplus
}
#endif
#endif
