/* SPDX-License-Identifier: MIT */
/* Shared by the files of kerr.h. */
#pragma once

#include "kerr.h"

#include "factor/algorithms/plan.h"
#include "factor/algorithms/reflectors.h"

struct kerr {
	struct executor *e;
	enum kerr_variant variant;
	int64_t r;
	struct plan plan;
	struct matrix a, q;
	struct phase_timer *phase_timer;
	int64_t bytes;
	/* the paper's */
	struct matrix w, y; /* m x r */
	struct matrix row;  /* numbers: tau A^T v, Y^T v; Q v */
	struct matrix product;
	struct matrix squares; /* of the norms of a block's columns */
	double *tau;           /* of a block, on the host */
	/* ours; taus: of all columns (the paper's: of a block) */
	struct matrix taus;
	void *panel_work, *step_work;
	struct reflectors reflectors;
	struct reflector_work apply_work;
};

static inline bool kerr_begin(const struct kerr *s, enum kerr_phase phase)
{
	return phase_timer_begin(s->e, s->phase_timer, (int)phase);
}

/* kerr_paper.c: KERR_BLAS, KERR_KERNELS and KERR_ONE. */
bool kerr_run_paper(struct kerr *s);
void kerr_paper_workspace(struct kerr *s, struct workspace *workspace);
