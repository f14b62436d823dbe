/* SPDX-License-Identifier: MIT */
/* Householder QR of a panel on the device. Column-major device memory, leading dimensions in
 * elements; launchers return a cudaError_t as an int. stream is a cudaStream_t. None allocates or
 * waits. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/precision.h"

C_BEGIN

enum { PANEL_GEQRF_COLUMNS = 128 }; /* of the widest panel */

/* The output I - V T V^T: V (m x n) with explicit ones and zeros, T (n x n) with zeros below its
 * diagonal. Both or neither. */
struct block_reflector {
	void *v;
	int64_t ldv;
	void *t;
	int64_t ldt;
};

/* Bytes of workspace for panel_geqrf on the current device, with any content. Two concurrent panels
 * need two workspaces. */
int64_t panel_geqrf_work(enum precision precision, int64_t m, int64_t n, bool gram);

/* LAPACK's geqr2 of an m x n panel, 1 <= n <= PANEL_GEQRF_COLUMNS, n <= m: R on and above the
 * diagonal, below it the vectors without their leading 1, tau (n): H_j = I - tau[j] v_j v_j^T, beta
 * = -sign(alpha) norm, tau[j] = 0 where the column below the diagonal is zero. Norms neither
 * overflow nor underflow on the way. NaN spreads. The same input gives the same bits. Should blocks
 * wait for each other longer than a second, tau becomes NaN.
 *
 * panel_geqrf uses the first form that accepts the panel: the Gram matrix (in double precision if
 * `gram`), one cluster, the resident kernel, the kernel in memory. r: NULL, or the place of V and
 * T, for panels that panel_geqrf_reflects accepts. beside: the resident kernel uses half of the
 * multiprocessors if the panel fits there, and leaves the others to another kernel. summed: the
 * kernel before has left the sums of A^T A in work (panel_geqrf_sums), for panels that
 * panel_geqrf_takes_sums accepts; they are not formed again. */
bool panel_geqrf_reflects(enum precision precision, int64_t m, int64_t n, bool gram);
bool panel_geqrf_takes_sums(enum precision precision, int64_t m, int64_t n, bool gram);
int panel_geqrf(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
        bool beside, bool gram, bool summed, const struct block_reflector *r, void *work,
        void *stream);

/* Where the sums of A^T A lie in the work of a panel of m rows in double precision: the words of
 * panel_geqrf_gram_tiles.cuh, `blocks` times. The panel's sum is that of all blocks. */
struct panel_sums {
	double *of;
	int blocks;
};
struct panel_sums panel_geqrf_sums(int64_t m, void *work);

/* The forms of panel_geqrf follow. done: NULL, or a word in device memory; a form does nothing if
 * the word is not 0.
 *
 * One cooperative kernel with the panel in registers and one exchange between all blocks a column.
 * Largest panels on 132 multiprocessors: in single precision 135000 rows of 32 columns, 67000 of
 * 64, 33000 of 128; in double precision 67000 of 32, 33000 of 64, and no wider panel. work is
 * aligned to 16 bytes. */
bool panel_geqrf_resident_fits(enum precision precision, int64_t m, int64_t n);
int64_t panel_geqrf_resident_work(enum precision precision, int64_t m, int64_t n);
int panel_geqrf_resident_unless(const int *done, enum precision precision, void *a, int64_t lda,
        int64_t m, int64_t n, void *tau, bool beside, void *work, void *stream);

/* In the registers of one cluster of multiprocessors (compute capability 9.0 and newer): up to 2
 * MiB of 32, 64 or 128 columns, in double precision 32 or 64. r: NULL or the place of V and T.
 * work: 4 bytes. */
bool panel_geqrf_cluster_fits(enum precision precision, int64_t m, int64_t n);
int64_t panel_geqrf_cluster_work(enum precision precision, int64_t m, int64_t n);
int panel_geqrf_cluster_unless(const int *done, enum precision precision, void *a, int64_t lda,
        int64_t m, int64_t n, void *tau, const struct block_reflector *r, void *work, void *stream);

/* One cooperative kernel with two barriers a column and the panel in memory; any m. */
int64_t panel_geqrf_columns_work(enum precision precision, int64_t m, int64_t n);
int panel_geqrf_columns_unless(const int *done, enum precision precision, void *a, int64_t lda,
        int64_t m, int64_t n, void *tau, void *work, void *stream);

/* By the Gram matrix (compute capability 8.0 and newer), 1 <= n <= 64, m >= n; work is aligned to
 * 16 bytes. The first call sets *done (device memory, perhaps the first word of work) to 1. It sets
 * *done to 0 and leaves the panel unchanged if the columns are nearly dependent or not finite, and
 * in double precision also if a column's norm is extreme; one of the forms above must then
 * factorize the panel before the second call. The second call makes the vectors and tau where *done
 * is 1, and V and T. summed: as of panel_geqrf. */
bool panel_geqrf_gram_fits(enum precision precision, int64_t m, int64_t n);
int64_t panel_geqrf_gram_work(enum precision precision);
int panel_geqrf_gram_begin(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        bool summed, int *done, void *work, void *stream);
int panel_geqrf_gram_end(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, int *done, const struct block_reflector *r, void *work, void *stream);

/* The same in one kernel in single precision (compute capability 9.0 and newer), up to 8192 rows.
 * It factorizes a panel that the Gram matrix cannot, column by column. work: panel_geqrf_gram_work
 * bytes. */
bool panel_geqrf_gram_cluster_fits(int64_t m, int64_t n);
int panel_geqrf_gram_cluster(float *a, int64_t lda, int64_t m, int64_t n, float *tau,
        const struct block_reflector *r, void *work, void *stream);

C_END
