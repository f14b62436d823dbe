/* SPDX-License-Identifier: MIT */
/* Changes of a QR factorization as timed problems, each to the least-squares solution, beside
 * factorizations of the changed matrix: on random matrices in executor memory, checked there. */
#pragma once

#include "factor/algorithms/qr_refactor.h"
#include "factor/papers/qr_update_paper.h"
#include "factor/papers/qr_update_serial.h"
#include "timing.h"
#include "update_errors.h"

/* How the changed problem is solved. */
enum update_way {
	UPDATE_CHANGE,   /* the change, then the solution */
	UPDATE_REFACTOR, /* qr_refactor, with the same Q kept, then the solution; A stays */
	UPDATE_SOLVE,    /* gels, in place of A: no Q */
	UPDATE_CUSOLVER, /* gels by the vendor (vendor_solve) */
	UPDATE_WAYS
};
extern const char *const update_way_name[UPDATE_WAYS]; /* variants */

/* A factorization to be changed repeatedly by up to asked->p rows or columns (asked->k is ignored);
 * one right-hand side. NULL with a fault: no memory. */
struct update_fixture;
struct vendor;
struct update_fixture *update_fixture_new(struct executor *e, const struct update_question *asked,
        uint64_t seed, struct fault *fault);
void update_fixture_free(struct update_fixture *fixture);

/* Context of a candidate; it outlives the timing. */
struct update_entry {
	struct update_fixture *fixture;
	enum update_way way;
	int64_t k, p;
	/* UPDATE_CHANGE: the paper's algorithm, or that of a serial library; both NULL: ours */
	const struct qr_paper *paper;
	const enum serial_library *serial;
	struct update_errors *errors; /* filled when the result has passed; NULL: not asked for */
	/* UPDATE_CUSOLVER: vendor.h's functions, which only `measure` links */
	struct vendor *vendor;
	bool (*vendor_prepare)(
	        struct vendor *, struct matrix a, struct matrix b, struct fault *fault);
	bool (*vendor_solve)(struct vendor *, struct matrix a, struct matrix tau, struct matrix b,
	        int *info, struct fault *fault);
};
struct candidate candidate_update(struct update_entry *entry);

/* Fills the results of all candidates. X has a few random columns, A is the changed matrix.
 * residual: the larger of norm(A X - Q R X) / (norm(A X) m eps) (without Q: of A^T A X - R^T R X)
 * and norm(A^T (b - A x)) / (norm(A) norm(b) m eps), with norm(A X) / norm(X) for norm(A).
 * orthogonality: norm(X - Q^T Q X) / (norm(X) m eps). Both have to pass. */
bool timing_update(struct update_fixture *fixture, const struct timing_plan *plan,
        struct candidate *candidate, size_t count, struct fault *fault);
