/* SPDX-License-Identifier: MIT */
/* libfathom: LU, QR and Cholesky factorizations and what one does with them, on an NVIDIA GPU.
 *
 * Names, order of arguments and results are LAPACK's, with these differences:
 *   - A handle comes first. It belongs to the device that was current when it was made and keeps
 *     what calls need: streams, events, cuBLAS handles. One thread uses a handle at a time; any
 *     number of handles may be in use.
 *   - Matrices, vectors, ipiv, tau, work and info are in device memory; matrices are column-major.
 *     Sizes and leading dimensions are 64-bit and count elements; ipiv and info are int, ipiv
 *     1-based. A matrix has at most 2^48 bytes.
 *   - Calls only put work into the handle's stream: what the caller put there before comes before
 *     it, what comes later after it. They don't allocate, and they don't wait for the device,
 *     except where CUDA itself does: when it loads a kernel on first use (set
 *     CUDA_MODULE_LOADING=EAGER to have that at the start) and when its queue of launches, about a
 *     thousand, is full. Calls with host panels (fathom_set_host_panels) do wait.
 *   - Workspace is the caller's, aligned to 256 bytes (as from cudaMalloc), and not to be touched
 *     until the call's work is over. fathom_xxx_work says the bytes that a call with these sizes
 *     needs (perhaps 0, then work may be NULL) or -1 when it would be refused; the answer depends
 *     on fathom_set_host_panels and fathom_set_math.
 *   - A call returns a status. Wrong arguments give FATHOM_BAD_ARGUMENT and change nothing;
 *     fathom_error says in words what was wrong. info tells what was found in the numbers. NaN
 *     propagates.
 * The same call on equally aligned memory gives bitwise the same result on the same GPU.
 *
 * Stream capture: calls on a stream under capture (cudaStreamBeginCapture) become part of the
 * graph, and each launch of that does their work on what the same memory holds then. On the device
 * it takes 3 to 13 % less time for up to 2048 columns, for 4096 between 1 % more and 8 % less (H200,
 * us, calls and graphs: sgetrf of 256 columns 227 206, 1024 868 798, 4096 4279 4200; sgeqrf 256 225
 * 211, 1024 946 876; spotrf 256 47 44, 1024 179 164; dgetrf 1024 899 838).
 *   - A graph works with what its calls' handle holds. It may be launched into any stream of the
 *     device while the handle exists, but must not overlap with other work of the handle, which
 *     other graphs of its calls are, too. In the handle's stream nothing does; between streams it
 *     is the caller who has one wait for the other.
 *   - What the host decides is decided at the capture: sizes, alpha and beta, how products are
 *     computed, what qr_update_auto chooses.
 *   - Refused with FATHOM_NOT_POSSIBLE, and without harm to the capture: fathom_finish,
 *     fathom_set_stream to or from a stream under capture, and all calls while host panels are on.
 *     fathom_create and fathom_destroy do what CUDA forbids during a capture, as cudaMalloc does.
 *   - It needs a driver for CUDA 12.3 or later: earlier ones load no kernel during a capture. */
#ifndef FATHOM_H
#define FATHOM_H

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
	FATHOM_BAD_ARGUMENT = 1, /* nothing was done */
	FATHOM_NOT_POSSIBLE = 2, /* no usable GPU; not under stream capture */
	FATHOM_FAILED = 3        /* CUDA, cuBLAS or a kernel failed; results are worthless */
};

/* One sentence for a status; never NULL. */
FATHOM_PUBLIC const char *fathom_status_text(enum fathom_status status);

/* ---- handles ---- */

struct fathom;
struct CUstream_st; /* a cudaStream_t points to one */

/* A handle for the current device, working in the default stream. *handle is NULL unless
 * FATHOM_OK; fathom_error(NULL) then says why. Waits for the device; takes 140 MB of device memory
 * and what cuBLAS needs. */
FATHOM_PUBLIC enum fathom_status fathom_create(struct fathom **handle);

/* Waits for the work of the handle's calls and frees what the handle holds; launches of their
 * graphs have to be over. NULL does nothing. */
FATHOM_PUBLIC void fathom_destroy(struct fathom *handle);

/* Later calls put their work into this cudaStream_t of the handle's device, after that of earlier
 * calls. The stream must exist until another is set or the handle is destroyed. */
FATHOM_PUBLIC enum fathom_status fathom_set_stream(
        struct fathom *handle, struct CUstream_st *stream);

/* on not 0: the panels of getrf, geqrf, potrf and gels are factorized on the host CPU, by LAPACKE
 * with all threads of OpenBLAS, while the GPU updates. Such calls allocate pinned memory and
 * return when the last panel is back, and OpenBLAS is left with one thread. 0, as at first: all on
 * the GPU. */
FATHOM_PUBLIC enum fathom_status fathom_set_host_panels(struct fathom *handle, int on);

/* How sgetrf, sgeqrf, sgels and spotrf compute their large products (at least 256 x 256 with an
 * inner dimension of at least 64): FATHOM_MATH_FP32, as at first, with fused multiply-adds of
 * single precision; FATHOM_MATH_3XTF32 with the tensor cores, each factor x split as x = high + low
 * of 11 significant bits each, and high high + high low + low high summed, at most 256 products at
 * a time in the tensor cores' accumulators, which cut off where fp32 rounds. It is quicker for
 * large matrices; the factors are as of another order of summation, with backward errors of 1 to 2
 * times those of FATHOM_MATH_FP32 (2.6 where that one's are a few eps). Less is kept of operands
 * below 2^-115 = 2.4e-35 in magnitude, which are off by up to 2^-137, and an infinite operand may
 * give NaN where fp32 gives infinity; both matter only at the ends of the range.
 * FATHOM_MATH_3XFP16, quicker still, has the parts in FP16, whose numbers are as long, with a power
 * of two for each row or column of a product's factors, from its largest element: of elements below
 * 2^-28 of that less is kept than 22 bits, to 2^-50 of it (V^T C in QR remains 3xTF32's). Double
 * precision is not touched. Workspaces are larger (the _work functions know). FATHOM_NOT_POSSIBLE
 * below compute capability 8.0, and for 3xFP16 with any other than 9.0 or in a build without code
 * for sm_90a. */
enum fathom_math { FATHOM_MATH_FP32 = 0, FATHOM_MATH_3XTF32 = 1, FATHOM_MATH_3XFP16 = 2 };
FATHOM_PUBLIC enum fathom_status fathom_set_math(struct fathom *handle, enum fathom_math math);

/* Waits for all that is in the handle's stream. FATHOM_FAILED when a kernel of LU, of a call or of
 * a graph, gave up waiting for its other blocks (after a second: the GPU was taken away from it);
 * one of QR then leaves NaN in tau, one of Gram-Schmidt on R's diagonal. */
FATHOM_PUBLIC enum fathom_status fathom_finish(struct fathom *handle);

/* Why the last call with this handle that did not return FATHOM_OK failed, "" before that; with
 * NULL, why this thread's last fathom_create failed. */
FATHOM_PUBLIC const char *fathom_error(const struct fathom *handle);

/* ---- LU with partial pivoting, P A = L U, A m x n ---- */

/* ipiv: min(m, n). *info: 0, or the 1-based column of the first exactly zero pivot. From 8000
 * columns on (6400 in double precision) the workspace holds a copy of A, and from 2048 on where lda
 * elements are no multiple of 16 bytes. */
FATHOM_PUBLIC int64_t fathom_sgetrf_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dgetrf_work(struct fathom *, int64_t m, int64_t n, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_sgetrf(struct fathom *, int64_t m, int64_t n, float *a,
        int64_t lda, int *ipiv, void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dgetrf(struct fathom *, int64_t m, int64_t n, double *a,
        int64_t lda, int *ipiv, void *work, int64_t work_bytes, int *info);

/* B := inv(op(A)) B with getrf's factors of an n x n matrix; B n x nrhs. trans: N or T (or C). */
FATHOM_PUBLIC enum fathom_status fathom_sgetrs(struct fathom *, char trans, int64_t n, int64_t nrhs,
        const float *a, int64_t lda, const int *ipiv, float *b, int64_t ldb);
FATHOM_PUBLIC enum fathom_status fathom_dgetrs(struct fathom *, char trans, int64_t n, int64_t nrhs,
        const double *a, int64_t lda, const int *ipiv, double *b, int64_t ldb);

/* Row-major A, m x n with lda >= n elements from row to row, without a transpose: A P^T = L U with
 * U unit upper, ipiv the exchanges of columns, info the 1-based row of the first zero pivot. As
 * stable as getrf, but not its L, U and ipiv. getrs_rows solves with these factors; its B is
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

/* *info: 0, or the order of the first leading minor that is not positive definite. The other
 * triangle is neither read nor written; by 3xTF32 what is near the diagonal may be read and written
 * back as it was, so that nobody else may change it meanwhile. From 2048 columns on, where lda
 * elements are no multiple of 16 bytes (32 in double precision), the workspace holds a copy of A.
 */
FATHOM_PUBLIC int64_t fathom_spotrf_work(struct fathom *, char uplo, int64_t n, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dpotrf_work(struct fathom *, char uplo, int64_t n, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_spotrf(struct fathom *, char uplo, int64_t n, float *a,
        int64_t lda, void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dpotrf(struct fathom *, char uplo, int64_t n, double *a,
        int64_t lda, void *work, int64_t work_bytes, int *info);

/* B := inv(A) B with potrf's factor; B n x nrhs. */
FATHOM_PUBLIC enum fathom_status fathom_spotrs(struct fathom *, char uplo, int64_t n, int64_t nrhs,
        const float *a, int64_t lda, float *b, int64_t ldb);
FATHOM_PUBLIC enum fathom_status fathom_dpotrs(struct fathom *, char uplo, int64_t n, int64_t nrhs,
        const double *a, int64_t lda, double *b, int64_t ldb);

/* ---- QR, A = Q R, A m x n ---- */

/* R above, Householder vectors below the diagonal; tau: min(m, n). From 2048 columns on, where lda
 * elements are no multiple of 16 bytes, the workspace holds a copy of A. */
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

/* A, whose first k columns hold geqrf's reflectors, becomes the first n columns of Q, m x n with
 * m >= n >= k. */
FATHOM_PUBLIC int64_t fathom_sorgqr_work(
        struct fathom *, int64_t m, int64_t n, int64_t k, int64_t lda);
FATHOM_PUBLIC int64_t fathom_dorgqr_work(
        struct fathom *, int64_t m, int64_t n, int64_t k, int64_t lda);
FATHOM_PUBLIC enum fathom_status fathom_sorgqr(struct fathom *, int64_t m, int64_t n, int64_t k,
        float *a, int64_t lda, const float *tau, void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dorgqr(struct fathom *, int64_t m, int64_t n, int64_t k,
        double *a, int64_t lda, const double *tau, void *work, int64_t work_bytes);

/* Minimizes norm2(B - op(A) X), A m x n of full rank: least squares, or the solution of minimum
 * norm. B, max(m, n) x nrhs, holds B above, then X. A becomes its QR factorization when m >= n and
 * stays as it is otherwise. *info: 0, or the 1-based index of R's first exactly zero diagonal
 * element; X is then Inf and NaN. */
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

/* ---- QR updating: A = Q R goes on when rows or columns of A, m x n with m >= n, come and go ----
 *
 * A factorization is R (n x n, upper triangular, zeros below), D = Q^T B of nrhs right-hand sides
 * (0: none, D and B may be NULL), and of Q what jobq says: A all of it (m x m), S its first n
 * columns, N nothing (Q may be NULL). D has n rows, with jobq A m. X = R^-1 D is the least-squares
 * solution. p >= 1 rows or columns at k (0-based) change; m and n are those before the change.
 * Signs of R's rows are free.
 *
 * There must be room for what a change makes. When columns are added, rows removed or A modified: R
 * and D (not with jobq A) have n + min(p, m - n) rows, Q (jobq S) as many columns. When columns are
 * added, R has n + p columns. When rows are added, Q has m + p rows, and with jobq A as many
 * columns, and D m + p rows. */

/* R, Q and D from A and B (m x nrhs), which stay: where changes begin, and begin again. */
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

/* A loses its columns k .. k+p-1; p < n. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_remove_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, float *q, int64_t ldq, float *r, int64_t ldr,
        float *d, int64_t ldd, void *work, int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dqr_remove_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, double *q, int64_t ldq, double *r,
        int64_t ldr, double *d, int64_t ldd, void *work, int64_t work_bytes);

/* A gets the columns of U (m x p, overwritten) before its column k; m >= n + p. jobq A or S; S also
 * reads B (m x nrhs). New columns are orthogonalized twice against Q. *info (S): 0, or the 1-based
 * number of the first of them that depends on A's columns and the new ones before it: A = Q R holds
 * then, but Q's columns are not orthonormal any more: qr_factorize, or qr_reorthogonalize. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_add_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, float *u, int64_t ldu, const float *b,
        int64_t ldb, float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dqr_add_columns(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, double *u, int64_t ldu, const double *b,
        int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);

/* A gets the rows of U (p x n) before its row k, B those of b (p x nrhs); both are overwritten. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_add_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, float *u, int64_t ldu, float *b, int64_t ldb,
        float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd, void *work,
        int64_t work_bytes);
FATHOM_PUBLIC enum fathom_status fathom_dqr_add_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, double *u, int64_t ldu, double *b,
        int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d, int64_t ldd,
        void *work, int64_t work_bytes);

/* A loses its rows k .. k+p-1, which are U (p x n; read with jobq N only), and B its rows b (p x
 * nrhs; not read with A); m - p >= n. *info (S and N): 0, or the 1-based number of the first of
 * them without which A has not, or hardly, full rank; the factorization is worthless then. With
 * jobq N the error grows with 1 / (1 - norm2(R^-T U^T)^2). */
FATHOM_PUBLIC enum fathom_status fathom_sqr_remove_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, const float *u, int64_t ldu, const float *b,
        int64_t ldb, float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dqr_remove_rows(struct fathom *, char jobq, int64_t m,
        int64_t n, int64_t nrhs, int64_t k, int64_t p, const double *u, int64_t ldu,
        const double *b, int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d,
        int64_t ldd, void *work, int64_t work_bytes, int *info);

/* A := A + U V^T, U m x p (overwritten), V n x p. jobq A or S; S also reads B. *info as that of
 * qr_add_columns. */
FATHOM_PUBLIC enum fathom_status fathom_sqr_modify(struct fathom *, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t p, float *u, int64_t ldu, const float *v, int64_t ldv, const float *b,
        int64_t ldb, float *q, int64_t ldq, float *r, int64_t ldr, float *d, int64_t ldd,
        void *work, int64_t work_bytes, int *info);
FATHOM_PUBLIC enum fathom_status fathom_dqr_modify(struct fathom *, char jobq, int64_t m, int64_t n,
        int64_t nrhs, int64_t p, double *u, int64_t ldu, const double *v, int64_t ldv,
        const double *b, int64_t ldb, double *q, int64_t ldq, double *r, int64_t ldr, double *d,
        int64_t ldd, void *work, int64_t work_bytes, int *info);

/* Update or factorize again, whichever takes less time as the model predicts it from a profile of
 * this machine (the file that `make probe` and `fathom fit` write), read here on the host. */
FATHOM_PUBLIC enum fathom_status fathom_read_profile(struct fathom *, const char *path);

/* The change by its own call or by qr_factorize. Both must be possible, so A and B are there as
 * they are after the change (they stay), and R, Q and D with room for it as they were before. New
 * rows and columns are taken from A and B. U (p x n, jobq N) and C (p x nrhs, jobq N and S) are the
 * rows that A and B lost; U and V those of qr_modify; NULL where they are not read. *updated, on
 * the host (may be NULL): 1 when the factorization was updated, 0 when it was made again. A new
 * question costs the host the time of two predictions (milliseconds); answers are kept, of sizes
 * rounded to five significant bits.
 * FATHOM_NOT_POSSIBLE without a profile. */
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

/* Thin Q (jobq S) that is not orthonormal any more, because of drift or of dependent columns: Q R
 * stays, Q becomes orthonormal again by Gram-Schmidt, each column twice; where Q has lost a
 * direction, another one takes its place. D is made again from B. For when A is not at hand: with
 * it, qr_factorize takes less. *info: 0, or the 1-based number of the first column of Q for which
 * no direction was found. */
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

/* How far a factorization is off after many changes, at the cost of a few gemv: sums (4, device
 * memory) of squares of Q^T Q x - x, of x, of Q R x - A x, of A x, for the caller's x (n; random
 * numbers, so that it meets all directions; Q's first n columns). jobq N: sums[0] = 0, and R^T R x
 * - A^T A x and A^T A x instead. A NULL: sums[2] = 0. qr_drifted, of sums copied to the host: 1
 * when the square root of sums[0] / sums[1] or sums[2] / sums[3] is over 100 sqrt(m) u, u the unit
 * roundoff: time for qr_factorize. One change leaves it far below. */
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

/* ---- Gram-Schmidt: columns to orthonormal ones, A = Q R, Q in place of A, m x n with m >= n >= 1;
 * R, upper triangular with zeros below ---- */

/* form M: modified Gram-Schmidt, norm2(I - Q^T Q) about u k with the unit roundoff u and A's
 * condition k; B: by blocks, several times as fast, up to u k^2; R: by blocks and each twice, u
 * while u k is small. *info: 0, or the 1-based number of the first column that depends, up to
 * rounding, on those before it: such columns of Q and rows of R are zero, the other columns of Q
 * orthonormal and A = Q R all the same. R: n x n. Squares of norms must be in the precision's
 * range. */
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

/* As columns arrive: the first k columns of A (m x (k + n)) are orthonormal and stay, the n behind
 * them become orthonormal to these and to one another, as by form R. What they were is the new A
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
