/* SPDX-License-Identifier: MIT */
/* One factorization of a whole matrix, whichever it is: what is measured, checked and predicted
 * under one name. */
#ifndef FATHOM_WHOLE_H
#define FATHOM_WHOLE_H

#include "factor/executors/executor.h"
#include "factor/algorithms/plan_default.h"

extern const char *const operation_name[OPERATION_COUNT];

/* False when the name is none of them. */
bool operation_find(const char *name, enum operation *operation);

struct whole {
	enum operation operation;
	enum uplo uplo;  /* of Cholesky */
	bool from_host;  /* the matrix starts and ends in pinned host memory */
	enum math math;  /* in single precision */
	int64_t piece;   /* columns of the rectangles that a triangle travels in; 0: the blocks' */
	bool column_major; /* LU works on the matrix itself where it would on the transpose */
};

/* Bytes besides the matrix, -1 with the executor's fault when plan or shape is refused. */
int64_t whole_work(
        struct executor *e, const struct whole *whole, const struct plan *plan, struct matrix a);

/* Factorizes a; tau is geqrf's, pivots getrf's, and potrf takes the info that follows the pivots.
 * from_host: a is copied in from, and back to, host (pinned), which is as large; else not used. */
bool whole_run(struct executor *e, const struct whole *whole, const struct plan *plan,
        struct matrix a, void *work, struct pivots pivots, struct matrix tau,
        const struct matrix *host);

/* A plan with room for its widths. */
enum { WHOLE_WIDTHS = 1024, WHOLE_PLAN_TEXT = 256 };
struct whole_plan {
	struct plan plan;
	int64_t widths[WHOLE_WIDTHS];
};

/* "leaf=64 inverse=128 lookahead=1 panel=persistent widths=512x10,256": the widths only where they
 * are not all the same, equal ones in a row with their number. False when it does not fit: then it
 * says what it would for equal widths. */
bool whole_plan_text(
        const struct whole *whole, const struct plan *plan, char text[WHOLE_PLAN_TEXT]);

/* The plan of a text, with nb as the width of blocks where it names none. */
void whole_plan_parse(const char *text, bool hybrid, int64_t nb, struct whole_plan *out);

#endif
