/* SPDX-License-Identifier: MIT */
/* LU, Cholesky and QR of matrices spread over a grid of ranks, and solves with their factors. Every
 * rank makes the same call with the same layout. The blocks of the layout, square on several
 * process rows, are those of the factorization: the owner of a block of columns, a rank or a
 * process column, factorizes its panel; all ranks receive it, or their process row's rows of it,
 * and update their own part. With look-ahead the next panel's columns are updated first, and the
 * panel and its broadcast run beside the other updates. The results are LAPACK's.
 *
 * _work: bytes of executor memory besides the matrix, or -1 with the executor's fault. Calls may
 * return before their work is done; comm_sync waits, with a bound. */
#pragma once

#include "block_cyclic.h"

/* P A = L U. pivots: min(m, n) 1-based rows and info, the same on every rank. From e->row_major
 * columns on the workspace holds a copy of this rank's columns; ranks may differ in that. */
int64_t getrf_distributed_work(struct executor *, const struct distributed *a);
bool getrf_distributed(
        struct executor *, const struct distributed *a, void *work, struct pivots pivots);

/* A = L L^T; a is square, and only its lower triangle is read or written. *info as in potrf.h, the
 * same on every rank. */
int64_t potrf_distributed_work(struct executor *, const struct distributed *a);
bool potrf_distributed(struct executor *, const struct distributed *a, void *work, int *info);

/* A = Q R. tau: one element for each of this rank's columns (local.n x 1), those among the first
 * min(m, n), the same on all ranks of a process column. */
int64_t geqrf_distributed_work(struct executor *, const struct distributed *a);
bool geqrf_distributed(
        struct executor *, const struct distributed *a, struct matrix tau, void *work);

/* Solves with the factors: X in place of B, whose layout may be any over the same grid, but for its
 * blocks of rows, which are those of the factors. A rank solves for its own columns of B and
 * receives the factors, its process row's rows, block by block. */
int64_t getrs_distributed_work(
        struct executor *, const struct distributed *lu, const struct distributed *b);
bool getrs_distributed(struct executor *, enum trans trans, const struct distributed *lu,
        struct pivots pivots, const struct distributed *b, void *work);
int64_t potrs_distributed_work(
        struct executor *, const struct distributed *l, const struct distributed *b);
bool potrs_distributed(
        struct executor *, const struct distributed *l, const struct distributed *b, void *work);

/* C := op(Q) C, Q of all min(m, n) reflectors in a. */
int64_t ormqr_distributed_work(
        struct executor *, const struct distributed *a, const struct distributed *c);
bool ormqr_distributed(struct executor *, enum trans trans, const struct distributed *a,
        struct matrix tau, const struct distributed *c, void *work);

/* Least squares, m >= n, A of full rank: a becomes its QR factorization, b's first n rows X. */
int64_t gels_distributed_work(
        struct executor *, const struct distributed *a, const struct distributed *b);
bool gels_distributed(struct executor *, const struct distributed *a, struct matrix tau,
        const struct distributed *b, void *work);
