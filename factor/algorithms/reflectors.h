/* SPDX-License-Identifier: MIT */
/* Blocks of Householder reflectors as one operator, H = I - V T V^T, the first reflector leftmost
 * (compact WY: Schreiber and Van Loan 1989), formed and applied by gemm. Used by QR's update, ormqr
 * and orgqr. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

struct reflectors {
	struct matrix v; /* m x n, with its unit diagonal and zeros above */
	struct matrix t; /* n x n, upper, zeros below */
};

/* Workspace of an application: V^T C (or C V), and its product with T. */
struct reflector_work {
	struct matrix product, scaled;
};

struct reflectors reflectors_workspace(
        struct workspace *, int64_t m, int64_t n, enum precision precision);

/* For n reflectors applied to `columns` columns, or to as many rows from the right. With columns >=
 * n it also suffices to form T. */
struct reflector_work reflector_work_workspace(
        struct workspace *, int64_t n, int64_t columns, enum precision precision);

/* The last m rows of columns j .. j+n-1: reflectors of their own when j = r.v.m - m. */
struct reflectors reflectors_part(struct reflectors r, int64_t j, int64_t m, int64_t n);

/* Zeros in T, and in V above its diagonal. Before parts are filled in. */
bool reflectors_clear(struct executor *, struct reflectors r);

/* Given T of the first n columns and of the others: fills in the block between, -T1 V1^T V2 T2. */
bool reflectors_merge(
        struct executor *, struct reflectors r, int64_t n, struct reflector_work work);

/* V and T of the factorized m x n panel a with its n taus. T is merged from halves of at most
 * plan->leaf columns. */
bool reflectors_form(struct executor *, const struct plan *, struct matrix a, struct matrix tau,
        struct reflectors r, struct reflector_work work);

/* C := op(H) C (LEFT, r.v.m = C's rows) or C op(H) (RIGHT, r.v.m = C's columns). */
bool reflectors_apply(struct executor *, enum side side, enum trans trans, struct reflectors r,
        struct reflector_work work, struct matrix c);

/* H^T C for the columns that the next panel waits for, while the device has no other work. */
bool reflectors_next_update(
        struct executor *, struct reflectors r, struct reflector_work work, struct matrix c);

/* H^T C that begins the factorization of the panel, where ex_updates_panel. */
bool reflectors_update_panel(struct executor *, struct reflectors r, struct reflector_work work,
        struct matrix c, struct matrix panel, void *panel_work);
