/* SPDX-License-Identifier: MIT */
/* Inside of `measure --several`: the GPUs, and one case on them. */
#pragma once

#include "measure.h"

#include "factor/algorithms/plan_default.h"
#include "factor/library/fathom_mg_group.h"

#include <math.h>

enum { SEVERAL_MOST = 16 }; /* GPUs */

struct several {
	struct measure *measure;
	struct fathom_mg *group;
	int gpus;
	struct fathom_mg_matrix desc;
	void *a[SEVERAL_MOST], *tau[SEVERAL_MOST];
	int *ipiv;                /* 1-based, on the host */
	void *work, *integers;    /* of one GPU */
	struct vendor_mg *vendor; /* NULL: our calls */
};

/* Times the case of s->desc and checks a solve with the last run's factors into the row's residual.
 * False with the measure's fault, also where the residual is too large. */
bool several_run(struct several *s, struct result *row);

/* The same by cuSOLVERMg, for fp32 and fp64, LU and Cholesky; its result is not checked. */
bool several_run_vendor(struct several *s, const int *devices, struct result *row);

/* The case's matrix, the same at each call: random elements in (-1, 1). Definite: a lower triangle
 * for Cholesky, with a diagonal beyond the spectrum of the rest, which ends near 1.15 sqrt(n). */
bool several_fill(struct several *s, enum precision precision, bool definite);
static inline double several_diagonal(int64_t n)
{
	return 2 * floor(sqrt((double)n)) + 1;
}

/* norm(b - A x) / (norm(A) norm(x) sqrt(n) eps) of a solve with the last run's factors, of QR with
 * those of a least squares call, which have the same bits on several GPUs. Norms are Euclidean, for
 * A Frobenius's of such random elements; products are in double precision. LU's pivots grow, so
 * that its error grows faster than that of other factorizations: like n^(2/3) (Trefethen and
 * Schreiber, 1990). NaN stays. False with the measure's fault. */
bool several_residual(struct several *s, const struct result *row, double *ratio);

/* Takes over a fault as the measure's, also whether it is a refusal; false. */
static inline bool several_fault(struct several *s, const struct fault *fault)
{
	s->measure->fault = *fault;
	return false;
}

/* Makes the rank's GPU current in this thread. */
bool several_enter(const struct several *s, int rank);

/* The rank's columns of the case's matrix. */
struct distributed several_columns(const struct several *s, int rank, enum precision precision);

enum operation several_operation(const struct result *row);
