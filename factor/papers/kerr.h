/* SPDX-License-Identifier: MIT */
/* QR factorization with the whole Q, A = Q R, as Kerr, Campbell and Richards benchmark it (QR
 * decomposition on GPUs, GPGPU 2009): their Algorithm 3 from BLAS calls alone, which is their
 * baseline, and ours, both phase by phase. Kept for study: geqrf and orgqr are what one uses. */
#ifndef FATHOM_KERR_H
#define FATHOM_KERR_H

#include "factor/algorithms/phase_timer.h"

enum kerr_variant {
	KERR_BLAS,  /* Algorithm 3 with explicit W and Y (Bischof and Van Loan 1987) and Q updated
	               with every block; nrm2, gemv, ger, scal, gemm and copies. Leaves R in A's
	               upper  triangle and below it what rounding leaves */
	KERR_STEPS, /* ours, one step after the other: panel kernel, compact WY, its application,
	               orgqr. Leaves geqrf's result in A */
	KERR_AHEAD, /* the same with look-ahead: geqrf, orgqr. Has no phases */
	KERR_VARIANTS
};
extern const char *const kerr_variant_name[KERR_VARIANTS];

/* Table 1's phases; our panel kernel does the first two in one. */
enum kerr_phase {
	KERR_HOUSE,   /* Householder vectors */
	KERR_UPDATE,  /* applied to the rest of their block */
	KERR_PANEL,   /* the two in one */
	KERR_WY,      /* W and Y; V and T */
	KERR_APPLY_A, /* applied to the columns right of the block */
	KERR_APPLY_Q, /* applied to Q; forming Q */
	KERR_PHASES
};
extern const char *const kerr_phase_name[KERR_PHASES];

/* a m x n with m >= n, q m x m, of one precision; blocks are r columns wide, the last one what is
 * left. KERR_STEPS takes r up to geqrf's widest leaf. -1 or false with the executor's fault when
 * something is refused or fails. work: kerr_work bytes. laps (NULL: none), of kerr_phase, are
 * written anew. The call may return before it is done; all work ends in QUEUE_MAIN. NaN propagates.
 */
int64_t kerr_work(
        struct executor *, enum kerr_variant, int64_t r, struct matrix a, struct matrix q);
bool kerr_qr(struct executor *, enum kerr_variant, int64_t r, struct matrix a, struct matrix q,
        void *work, struct phase_timer *phase_timer);

#endif
