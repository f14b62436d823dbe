/* SPDX-License-Identifier: MIT */
/* The changes of a QR factorization as R. Andrew and N. Dingle make them ("Implementing QR
 * factorization updating algorithms on GPUs", Parallel Computing, 2014), call by call: reflectors
 * column by column in blocks whose T is made by gemv, Givens rotations a wavefront at a time, R, d
 * and Q in queues of their own; and the two candidates that the paper also names. For
 * comparison: the sweeps of qr_update.h are faster, because norms that the host reads and small
 * kernels dominate here (docs/experiments/qr-update-paper.md). */
#pragma once

#include "factor/algorithms/phase_timer.h"
#include "factor/algorithms/qr_update.h"

/* Phases of its Table 2. */
enum paper_phase {
	PAPER_LAYOUT,   /* moves, transposes */
	PAPER_PROJECT,  /* Q^T U */
	PAPER_HOUSE,    /* reflectors of a block, applied within it */
	PAPER_T,        /* T by gemv */
	PAPER_APPLY_R,  /* blocks applied to R */
	PAPER_APPLY_D,  /* to Q^T B */
	PAPER_APPLY_Q,  /* to Q */
	PAPER_GIVENS_R, /* rotations made and applied to R and Q^T B */
	PAPER_GIVENS_Q, /* rotations applied to Q */
	PAPER_WHOLE,    /* a candidate's factorization, without Q's part */
	PAPER_PHASES
};
extern const char *const paper_phase_name[PAPER_PHASES];

struct qr_paper {
	int64_t nb; /* columns of a block of reflectors; 0: the paper's ten blocks */
	bool whole; /* the candidates: columns added by Householder with fill-in instead of
	               rotations; rows added by QR of [R; U] with its zeros */
	struct phase_timer
	        *phase_timer; /* of paper_phase, written anew, without overlap of queues; or NULL */
};

/* Shapes, room, info and refusals as in qr_update.h; all work begins and ends in QUEUE_MAIN. Adding
 * columns and removing rows need all of Q. qr_paper_work: bytes of `work`, -1 with the executor's
 * fault when the change is refused. qr_paper_change: one of the four changes, with its u and b. As
 * in the paper nothing prevents overflow of squares. */
int64_t qr_paper_work(struct executor *, const struct qr_factors *, enum qr_change, int64_t p,
        const struct qr_paper *);
bool qr_paper_change(struct executor *, struct qr_factors *, enum qr_change, int64_t k, int64_t p,
        struct matrix u, struct matrix b, void *work, int *info, const struct qr_paper *);
