/* SPDX-License-Identifier: MIT */
/* libfathom on several GPUs: LU, Cholesky and QR of one matrix, and solves with the factors.
 *
 * A group is several GPUs of this process, or one GPU of each of several processes. Its ranks form
 * a grid of process rows and columns, at first of one row; a matrix is spread over them
 * block-cyclic, as in ScaLAPACK. In one process row, block b of nb columns belongs to rank (csrc +
 * b) mod ranks, and a rank's columns stand side by side in its memory: cuSOLVERMg's layout, too. nb
 * is also the block size of the factorizations: 256 to 512 for large matrices.
 *
 * Names, order of arguments and results are LAPACK's, with these differences:
 *   - The first argument is the group. A matrix is a descriptor and an array with one pointer to
 * GPU memory for each GPU of this process, in the order of its ranks (the pointer of a GPU without
 *     columns may be NULL).
 *   - Processes of a group make the same calls with the same arguments, but for pointers.
 *   - ipiv and info are in host memory and the same in all processes; ipiv is 1-based.
 *   - Calls wait: the GPUs' earlier work on the matrices must be done, and results are there when a
 *     call returns. They allocate workspace and start a thread for each GPU of this process; the
 *     group keeps both. Without memory for it they return FATHOM_FAILED. Calls with one group come
 *     one after the other.
 *   - A wait for another rank ends after a time without progress (20 s unless set), with
 *     FATHOM_FAILED and a message that names the rank and the operation. The group then can only be
 *     destroyed; a program of several processes should end all of them (MPI_Abort).
 * The same call gives bitwise the same result on the same number of GPUs of one kind. */
#ifndef FATHOM_MG_H
#define FATHOM_MG_H

#include "fathom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- groups ---- */

struct fathom_mg;

/* count GPUs of this process; rank i is devices[i]. They must be of one kind, each once. NCCL is
 * loaded when count > 1. *group is NULL unless the status is FATHOM_OK; fathom_mg_error(NULL) then
 * gives the reason. */
FATHOM_PUBLIC enum fathom_status fathom_mg_create(
        struct fathom_mg **group, int count, const int *devices);

/* The current GPU as one of `ranks` ranks, each a process, on one host or several. One process
 * makes the id; the others receive its bytes by other means, such as MPI_Bcast. Waits for all. */
enum { FATHOM_MG_ID_BYTES = 128 };
FATHOM_PUBLIC enum fathom_status fathom_mg_id(char id[FATHOM_MG_ID_BYTES]);
FATHOM_PUBLIC enum fathom_status fathom_mg_create_rank(
        struct fathom_mg **group, int rank, int ranks, const char id[FATHOM_MG_ID_BYTES]);

/* A grid of rows x columns = all ranks: rank i is in process row i / columns and process column
 * i % columns. Every process of the group calls this; it waits for the others. */
FATHOM_PUBLIC enum fathom_status fathom_mg_set_grid(struct fathom_mg *group, int rows, int columns);

/* NULL does nothing. */
FATHOM_PUBLIC void fathom_mg_destroy(struct fathom_mg *group);

/* How products in single precision are computed, in solves always by FATHOM_MATH_FP32 (fathom.h).
 */
FATHOM_PUBLIC enum fathom_status fathom_mg_set_math(struct fathom_mg *group, enum fathom_math math);

/* Longest wait without progress, seconds. */
FATHOM_PUBLIC enum fathom_status fathom_mg_set_timeout(struct fathom_mg *group, double seconds);

/* Why the last call with this group that did not return FATHOM_OK failed; "" before. NULL: why this
 * thread's last fathom_mg_create or fathom_mg_id failed. */
FATHOM_PUBLIC const char *fathom_mg_error(const struct fathom_mg *group);

/* What slows this group down, in one sentence: GPUs that cannot reach each other's memory. "" when
 * nothing is known. */
FATHOM_PUBLIC const char *fathom_mg_note(const struct fathom_mg *group);

/* ---- matrices ---- */

struct fathom_mg_matrix {
	int64_t m, n; /* of the whole matrix */
	int64_t nb;   /* columns of a block */
	int csrc;     /* process column of the first block: its rank in a grid of one row */
	int64_t lld;  /* leading dimension on every rank, at least its rows and 1 */
	/* not read in a grid of one process row */
	int64_t mb; /* rows of a block; nb for factorizations */
	int rsrc;   /* process row of the first block */
};

/* Rows and columns of a rank: ScaLAPACK's numroc. -1 for a wrong argument. */
FATHOM_PUBLIC int64_t fathom_mg_rows(
        const struct fathom_mg *group, const struct fathom_mg_matrix *a, int rank);
FATHOM_PUBLIC int64_t fathom_mg_columns(
        const struct fathom_mg *group, const struct fathom_mg_matrix *a, int rank);

/* Rank of element (i, j), 0-based, and the element's place in the rank's memory: for programs that
 * generate a matrix in place. -1 for a wrong argument. */
FATHOM_PUBLIC int fathom_mg_rank(
        const struct fathom_mg *group, const struct fathom_mg_matrix *a, int64_t i, int64_t j);
FATHOM_PUBLIC int64_t fathom_mg_place(
        const struct fathom_mg *group, const struct fathom_mg_matrix *a, int64_t i, int64_t j);

/* Between the whole matrix in host memory (m x n, leading dimension ldh) of the process of rank 0
 * and the GPUs. host is not used in other processes. */
FATHOM_PUBLIC enum fathom_status fathom_mg_sscatter(struct fathom_mg *group, const float *host,
        int64_t ldh, const struct fathom_mg_matrix *desc, float *const a[]);
FATHOM_PUBLIC enum fathom_status fathom_mg_dscatter(struct fathom_mg *group, const double *host,
        int64_t ldh, const struct fathom_mg_matrix *desc, double *const a[]);
FATHOM_PUBLIC enum fathom_status fathom_mg_sgather(struct fathom_mg *group,
        const struct fathom_mg_matrix *desc, float *const a[], float *host, int64_t ldh);
FATHOM_PUBLIC enum fathom_status fathom_mg_dgather(struct fathom_mg *group,
        const struct fathom_mg_matrix *desc, double *const a[], double *host, int64_t ldh);

/* ---- LU with partial pivoting, P A = L U ---- */

/* ipiv: min(m, n). *info: 0, or the 1-based column of the first exactly zero pivot. In matrices of
 * 8000 columns and more (6400 in double precision) the workspace holds a copy of the rank's
 * columns. Without memory for it the call is slower, and the last bits may differ. */
FATHOM_PUBLIC enum fathom_status fathom_mg_sgetrf(struct fathom_mg *group,
        const struct fathom_mg_matrix *desc, float *const a[], int *ipiv, int *info);
FATHOM_PUBLIC enum fathom_status fathom_mg_dgetrf(struct fathom_mg *group,
        const struct fathom_mg_matrix *desc, double *const a[], int *ipiv, int *info);

/* Solves op(A) X = B with the factors of a square matrix; X in place of B, whose blocks may be of
 * any width. Right-hand sides are divided among the ranks as their blocks are. In a grid of several
 * process rows right-hand sides, of all solves and of ormqr, have A's mb and rsrc. */
FATHOM_PUBLIC enum fathom_status fathom_mg_sgetrs(struct fathom_mg *group, char trans,
        const struct fathom_mg_matrix *desc, float *const a[], const int *ipiv,
        const struct fathom_mg_matrix *descb, float *const b[]);
FATHOM_PUBLIC enum fathom_status fathom_mg_dgetrs(struct fathom_mg *group, char trans,
        const struct fathom_mg_matrix *desc, double *const a[], const int *ipiv,
        const struct fathom_mg_matrix *descb, double *const b[]);

/* ---- Cholesky, A = L L^T; uplo: L only ---- */

/* *info: 0, or the order of the first leading minor that is not positive definite. */
FATHOM_PUBLIC enum fathom_status fathom_mg_spotrf(struct fathom_mg *group, char uplo,
        const struct fathom_mg_matrix *desc, float *const a[], int *info);
FATHOM_PUBLIC enum fathom_status fathom_mg_dpotrf(struct fathom_mg *group, char uplo,
        const struct fathom_mg_matrix *desc, double *const a[], int *info);
FATHOM_PUBLIC enum fathom_status fathom_mg_spotrs(struct fathom_mg *group, char uplo,
        const struct fathom_mg_matrix *desc, float *const a[], const struct fathom_mg_matrix *descb,
        float *const b[]);
FATHOM_PUBLIC enum fathom_status fathom_mg_dpotrs(struct fathom_mg *group, char uplo,
        const struct fathom_mg_matrix *desc, double *const a[],
        const struct fathom_mg_matrix *descb, double *const b[]);

/* ---- QR, A = Q R ---- */

/* tau: an element for each column of a rank, in the same order, in GPU memory (as in ScaLAPACK),
 * the same on all ranks of a process column; those of columns behind the first min(m, n) are not
 * written. */
FATHOM_PUBLIC enum fathom_status fathom_mg_sgeqrf(struct fathom_mg *group,
        const struct fathom_mg_matrix *desc, float *const a[], float *const tau[]);
FATHOM_PUBLIC enum fathom_status fathom_mg_dgeqrf(struct fathom_mg *group,
        const struct fathom_mg_matrix *desc, double *const a[], double *const tau[]);

/* C := op(Q) C (side L only), Q of all min(m, n) reflectors. */
FATHOM_PUBLIC enum fathom_status fathom_mg_sormqr(struct fathom_mg *group, char side, char trans,
        const struct fathom_mg_matrix *desc, float *const a[], float *const tau[],
        const struct fathom_mg_matrix *descc, float *const c[]);
FATHOM_PUBLIC enum fathom_status fathom_mg_dormqr(struct fathom_mg *group, char side, char trans,
        const struct fathom_mg_matrix *desc, double *const a[], double *const tau[],
        const struct fathom_mg_matrix *descc, double *const c[]);

/* Least squares, trans N only, m >= n, A of full rank: A becomes its QR factorization, the first n
 * rows of B the solutions. */
FATHOM_PUBLIC enum fathom_status fathom_mg_sgels(struct fathom_mg *group, char trans,
        const struct fathom_mg_matrix *desc, float *const a[], const struct fathom_mg_matrix *descb,
        float *const b[]);
FATHOM_PUBLIC enum fathom_status fathom_mg_dgels(struct fathom_mg *group, char trans,
        const struct fathom_mg_matrix *desc, double *const a[],
        const struct fathom_mg_matrix *descb, double *const b[]);

#ifdef __cplusplus
}
#endif
#endif
