/* SPDX-License-Identifier: MIT */
/* The changes of a QR factorization as R. Andrew and N. Dingle make them ("Implementing QR
 * factorization updating algorithms on GPUs", Parallel Computing, 2014), call by call: reflectors
 * column by column in blocks whose T is made by gemv, Givens rotations a wavefront at a time, R, d
 * and Q in queues of their own. Kept for study, as what the sweeps of qr_update.h are measured
 * against; and the two candidates that the paper names besides.
 *
 * On an H200 (fp32) a column costs 60 to 70 us, nine tenths of them norms by way of the host and
 * small kernels: 64 columns of 8192 x 4096 removed at 1024 188 ms, by sweeps window by window 4.9;
 * 64 rows added 280 and 6.9 ms, plain QR of [R; U] 10.7. Hence the width of blocks hardly matters
 * (1000 columns: 61 to 67 ms for widths of 10 to 1000). A wavefront takes 3.3 us for R and as much
 * for Q, which is what the host needs to start the kernels: nothing runs side by side. */
#ifndef FATHOM_QR_UPDATE_PAPER_H
#define FATHOM_QR_UPDATE_PAPER_H

#include "factor/algorithms/phase_timer.h"
#include "factor/algorithms/qr_update.h"

/* What its Table 2 divides the time into. */
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
	PAPER_WHOLE,    /* the factorization that stands for all of these, without Q's part */
	PAPER_PHASES
};
extern const char *const paper_phase_name[PAPER_PHASES];

struct qr_paper {
	int64_t nb; /* columns of a block of reflectors; 0: the paper's ten blocks */
	bool whole; /* added columns: Householder with fill-in in place of rotations; added rows:
	               QR of [R; U] with its zeros. The others have no such */
	struct phase_timer *phase_timer; /* of paper_phase, written anew; parts then follow one another. NULL:
	                      none */
};

/* As the functions of qr_update.h, in shapes, room, info and what they refuse; all work begins and
 * ends in QUEUE_MAIN. Columns can be added and rows removed with all of Q only. work:
 * qr_paper_work bytes, -1 with the executor's fault when the change is refused. qr_paper_change:
 * any of the four, u and b as it takes them. As in the paper nothing protects against overflow of
 * squares. */
int64_t qr_paper_work(struct executor *, const struct qr_factors *, enum qr_change, int64_t p,
        const struct qr_paper *);
bool qr_paper_change(struct executor *, struct qr_factors *, enum qr_change, int64_t k, int64_t p,
        struct matrix u, struct matrix b, void *work, int *info, const struct qr_paper *);
bool qr_paper_remove_columns(struct executor *, struct qr_factors *, int64_t k, int64_t p,
        void *work, const struct qr_paper *);
bool qr_paper_add_columns(struct executor *, struct qr_factors *, int64_t k, struct matrix u,
        struct matrix b, void *work, int *info, const struct qr_paper *);
bool qr_paper_add_rows(struct executor *, struct qr_factors *, int64_t k, struct matrix u,
        struct matrix b, void *work, const struct qr_paper *);
bool qr_paper_remove_rows(struct executor *, struct qr_factors *, int64_t k, int64_t p,
        struct matrix u, struct matrix b, void *work, int *info, const struct qr_paper *);

#endif
