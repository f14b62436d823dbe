/* SPDX-License-Identifier: MIT */
/* One LU, QR or Cholesky factorization of a matrix, as it is measured, checked and predicted. */
#pragma once

#include "factor/executors/executor.h"
#include "factor/algorithms/plan_default.h"

extern const char *const operation_name[OPERATION_COUNT];

/* False when no operation has this name. */
bool operation_find(const char *name, enum operation *operation);

struct whole {
	enum operation operation;
	enum uplo uplo; /* of Cholesky */
	bool from_host; /* the matrix starts and ends in pinned host memory */
	enum math math; /* in single precision */
	int64_t piece;  /* columns of the rectangles that a triangle is copied in; 0: the blocks' */
	bool column_major; /* LU never works on the transpose */
};

/* Bytes of work space; -1 with the executor's fault when plan or shape is refused. */
int64_t whole_work(
        struct executor *e, const struct whole *whole, const struct plan *plan, struct matrix a);

/* Factorizes a; tau is geqrf's, pivots getrf's, and potrf uses the info behind the pivots.
 * from_host: copies a in from host (pinned memory, m x n) and back. */
bool whole_run(struct executor *e, const struct whole *whole, const struct plan *plan,
        struct matrix a, void *work, struct pivots pivots, struct matrix tau,
        const struct matrix *host);

/* A plan with memory for its widths. */
enum { WHOLE_WIDTHS = 1024, WHOLE_PLAN_TEXT = 256 };
struct whole_plan {
	struct plan plan;
	int64_t widths[WHOLE_WIDTHS];
};

/* Whether the panels of a row's variant are on the host CPU. */
bool whole_panels_on_host(const char *variant);

/* "leaf=64 inverse=128 lookahead=1 panel=persistent widths=512x10,256": widths only where they
 * differ, runs of equal ones with their number. Parts of LAWN 202's plans where a plan has them:
 * coarse=8 layout=rows swaps=single copies=wait panels=place; stop=384 where QR stops. False when
 * the text does not fit: then it has no widths. */
bool whole_plan_text(
        const struct whole *whole, const struct plan *plan, char text[WHOLE_PLAN_TEXT]);

/* The plan of a text; blocks of nb where the text has no widths. */
void whole_plan_parse(const char *text, bool hybrid, int64_t nb, struct whole_plan *out);
