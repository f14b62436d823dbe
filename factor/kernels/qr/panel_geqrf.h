/* SPDX-License-Identifier: MIT */
/* Householder QR of a panel on the device. Column-major device memory, leading dimensions in
 * elements; launchers return a cudaError_t as an int. stream is a cudaStream_t. None allocates or
 * waits. */
#ifndef FATHOM_PANEL_GEQRF_H
#define FATHOM_PANEL_GEQRF_H

#include "lib/base/base.h"
#include "lib/base/precision.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PANEL_GEQRF_COLUMNS = 128 }; /* of the widest panel */

/* Where I - V T V^T goes: V (m x n) with its ones and zeros, T (n x n) with zeros below its
 * diagonal. Both or none. */
struct block_reflector {
	void *v;
	int64_t ldv;
	void *t;
	int64_t ldt;
};

/* Bytes of device memory that panel_geqrf needs on the current device. Their content may be
 * anything; two panels in flight at once need two. */
int64_t panel_geqrf_work(enum precision precision, int64_t m, int64_t n);

/* LAPACK's geqr2 of an m x n panel, 1 <= n <= PANEL_GEQRF_COLUMNS, n <= m: R on and above the
 * diagonal, below it the vectors without their leading 1, tau (n): H_j = I - tau[j] v_j v_j^T, beta
 * = -sign(alpha) norm, tau[j] = 0 where the column below the diagonal is zero. Norms neither
 * overflow nor underflow on the way. NaN spreads. The same input gives the same bits. Should blocks
 * wait for each other longer than a second, tau becomes NaN.
 *
 * panel_geqrf takes the first of these that takes the panel: the form with a Gram matrix, in single
 * precision; the kernel of one cluster; the resident kernel; the one in memory. r: NULL or where V
 * and T go, too, for panels of which panel_geqrf_reflects. beside: the resident kernel on half of
 * the multiprocessors, when it fits there, because another kernel needs the rest. */
bool panel_geqrf_reflects(enum precision precision, int64_t m, int64_t n);
int panel_geqrf(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
        bool beside, const struct block_reflector *r, void *work, void *stream);

/* One cooperative kernel with the panel in registers and one exchange between all blocks a column.
 * What fits on 132 multiprocessors: in single precision 135000 rows of 32 columns, 67000 of 64,
 * 33000 of 128; in double precision 67000 of 32, 33000 of 64, none of more: 8192 rows of 64 columns
 * take 218 us, two such halves and what applies the one to the other 481 us, and in single
 * precision 128 columns take 2.4 to 3 times as long as 64 (H200). work is aligned to 16 bytes. */
bool panel_geqrf_resident_fits(enum precision precision, int64_t m, int64_t n);
int64_t panel_geqrf_resident_work(enum precision precision, int64_t m, int64_t n);
int panel_geqrf_resident(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, bool beside, void *work, void *stream);

/* In the registers of one cluster of multiprocessors (compute capability 9.0 and newer): up to 2
 * MiB of 32, 64 or 128 columns, in double precision 32 or 64. r: NULL or where V and T go, too.
 * work: 4 bytes. */
bool panel_geqrf_cluster_fits(enum precision precision, int64_t m, int64_t n);
int64_t panel_geqrf_cluster_work(enum precision precision, int64_t m, int64_t n);
int panel_geqrf_cluster(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, const struct block_reflector *r, void *work, void *stream);

/* One cooperative kernel with two barriers a column and the panel in memory; any m. */
int64_t panel_geqrf_columns_work(enum precision precision, int64_t m, int64_t n);
int panel_geqrf_columns(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, void *work, void *stream);

/* The same three when done is NULL or *done, in device memory, is 0, else nothing. */
int panel_geqrf_resident_unless(const int *done, enum precision precision, void *a, int64_t lda,
        int64_t m, int64_t n, void *tau, bool beside, void *work, void *stream);
int panel_geqrf_cluster_unless(const int *done, enum precision precision, void *a, int64_t lda,
        int64_t m, int64_t n, void *tau, const struct block_reflector *r, void *work, void *stream);
int panel_geqrf_columns_unless(const int *done, enum precision precision, void *a, int64_t lda,
        int64_t m, int64_t n, void *tau, void *work, void *stream);

/* By the Gram matrix (compute capability 8.0 and newer), in single precision, 1 <= n <= 64, m >= n;
 * work is aligned to 16 bytes. After the first call *done, in device memory, is 1; or 0, when
 * the columns are too close to dependent or not finite, and the panel is as it was: then one of the
 * above has to factorize it before the second call, which makes the vectors and tau, unless they
 * are there, and V and T. */
bool panel_geqrf_gram_fits(int64_t m, int64_t n);
int64_t panel_geqrf_gram_work(void);
int panel_geqrf_gram_begin(
        float *a, int64_t lda, int64_t m, int64_t n, int *done, void *work, void *stream);
int panel_geqrf_gram_end(float *a, int64_t lda, int64_t m, int64_t n, float *tau, int *done,
        const struct block_reflector *r, void *work, void *stream);

/* The same in one kernel (compute capability 9.0 and newer), up to 8192 rows, which factorizes what
 * the Gram matrix does not do column by column itself. work: panel_geqrf_gram_work bytes. */
bool panel_geqrf_gram_cluster_fits(int64_t m, int64_t n);
int panel_geqrf_gram_cluster(float *a, int64_t lda, int64_t m, int64_t n, float *tau,
        const struct block_reflector *r, void *work, void *stream);

#ifdef __cplusplus
}
#endif
#endif
