/* SPDX-License-Identifier: MIT */
/* QR factorization with the whole Q, A = Q R, as Kerr, Campbell and Richards benchmark it (QR
 * decomposition on GPUs, GPGPU 2009): their baseline from BLAS calls, their implementation, and our
 * own kernels, phase by phase. For comparison: use geqrf and orgqr. */
#pragma once

#include "factor/algorithms/phase_timer.h"

enum kerr_variant {
	KERR_BLAS,    /* Algorithm 3 with explicit W and Y (Bischof and Van Loan 1987) and Q updated
	                 with every block. Leaves R in A's upper triangle and rounding errors below */
	KERR_KERNELS, /* the same by their kernels (kerr_kernels.h): the norms of a block's columns
	                 in one, products by matrices in two; gemm and ger by the BLAS */
	KERR_ONE,     /* Algorithm 1 from BLAS calls: A and Q reflector by reflector; r is not used.
	                 Has no WY and no KERR_APPLY_A */
	KERR_STEPS,   /* ours, step by step: panel kernel, compact WY, its application,
	                 orgqr. Leaves geqrf's result in A */
	KERR_AHEAD,   /* the same with look-ahead: geqrf, orgqr. Has no phases */
	KERR_VARIANTS
};
extern const char *const kerr_variant_name[KERR_VARIANTS];

/* Phases of their Table 1; KERR_PANEL joins the first two. */
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

/* a m x n with m >= n, q m x m, of one precision; blocks of r columns, the last one narrower.
 * KERR_STEPS takes r up to geqrf's widest leaf. -1 or false with the executor's fault when
 * something is refused or fails. work: kerr_work bytes. phase_timer (NULL: none) is written
 * anew, in phases of kerr_phase. The call may return before the work is done; all work ends in
 * QUEUE_MAIN. NaN propagates. */
int64_t kerr_work(
        struct executor *, enum kerr_variant, int64_t r, struct matrix a, struct matrix q);
bool kerr_qr(struct executor *, enum kerr_variant, int64_t r, struct matrix a, struct matrix q,
        void *work, struct phase_timer *phase_timer);
