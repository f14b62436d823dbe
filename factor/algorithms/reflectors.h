/* SPDX-License-Identifier: MIT */
/* Blocks of Householder reflectors as one operator, H = I - V T V^T, the first reflector leftmost
 * (compact WY: Schreiber and Van Loan 1989), made and applied with gemm: what QR's update, ormqr
 * and orgqr share. */
#ifndef FATHOM_REFLECTORS_H
#define FATHOM_REFLECTORS_H

#include "factor/executors/executor.h"
#include "plan.h"

struct reflectors {
	struct matrix v; /* m x n, with its unit diagonal and zeros above */
	struct matrix t; /* n x n, upper, zeros below */
};

/* Scratch memory of an application: room for V^T C (or C V), and for that times T. */
struct reflector_work {
	struct matrix product, scaled;
};

struct reflectors reflectors_workspace(struct workspace *, int64_t m, int64_t n, enum precision precision);

/* For n reflectors applied to `columns` columns, or from the right to as many rows. With n columns
 * it also does for forming them. */
struct reflector_work reflector_work_workspace(
        struct workspace *, int64_t n, int64_t columns, enum precision precision);

/* The last m rows of columns j .. j+n-1: as reflectors of their own, when j = r.v.m - m. */
struct reflectors reflectors_part(struct reflectors r, int64_t j, int64_t m, int64_t n);

/* Zeros wherever T, and V above its diagonal, can have them. Before parts are put in. */
bool reflectors_clear(struct executor *, struct reflectors r);

/* T of the first n columns and T of the others are there: fills in what lies between, -T1 V1^T V2
 * T2. */
bool reflectors_merge(
        struct executor *, struct reflectors r, int64_t n, struct reflector_work work);

/* V and T of the factorized m x n panel a with its n taus. T is merged from halves, the smallest
 * ones at most plan->leaf wide. */
bool reflectors_form(struct executor *, const struct plan *, struct matrix a, struct matrix tau,
        struct reflectors r, struct reflector_work work);

/* C := op(H) C (LEFT, r.v.m = C's rows) or C op(H) (RIGHT, r.v.m = C's columns). */
bool reflectors_apply(struct executor *, enum side side, enum trans trans, struct reflectors r,
        struct reflector_work work, struct matrix c);

/* The same with H^T from the left for the columns that the next panel waits for, while the device
 * has nothing else to do. */
bool reflectors_next_update(
        struct executor *, struct reflectors r, struct reflector_work work, struct matrix c);

#endif
