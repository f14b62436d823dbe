/* SPDX-License-Identifier: MIT */
/* The hold-out list: the operations that are predicted first and measured afterwards. Every m and n
 * here is off the powers of two that the probes use, so no fit has seen them. And the documented
 * sizes that `measure --bench` compares with the vendor. */
#ifndef FATHOM_CASES_H
#define FATHOM_CASES_H

#include "lib/profile/profile.h"
#include "factor/algorithms/plan.h"
#include "results.h"

struct panel_case {
	const char *
	        operation; /* panel_getrf, or ger (rank-1 update of the whole panel: the ceiling) */
	const char *variant, *executor;
	enum precision precision;
	int64_t m, n;
	bool phases; /* also predicted and timed phase by phase */
};

/* The list for one executor (cuda, host), shapes in ascending order, the variants of a shape
 * together; `quick` keeps a few shapes. Returns the number of cases; the caller frees *cases. An
 * unknown executor has none. */
size_t cases_holdout(const char *executor, bool quick, struct panel_case **cases);

struct bench_shape {
	const char *operation; /* panel_getrf, getrf, geqrf, potrf, one of paper_operations.h, lawn_errors,
	                          kind_errors, gramschmidt, gram_kernels */
	enum precision precision;
	int64_t m, n;
};

/* All of them: panels first, then parts, then by size, then errors and Gram-Schmidt. The caller
 * frees *shapes. */
size_t cases_bench(struct bench_shape **shapes);

/* Whole factorizations alone: squares of powers of two, the largest first, all in single precision
 * before those in double; then the others. The caller frees *shapes. */
size_t cases_largest_first(struct bench_shape **shapes);

/* Whether the host is to be compared there: where that does not take long. */
bool cases_on_host(const struct bench_shape *shape);

/* Our ways to factorize a whole matrix, as rows without results: gpu (panels on the device) and
 * hybrid (on the host CPU), each with a few block widths. The bench tries them all; over them the
 * regret of the model's choice is counted. On the host executor a single one. By 3xTF32 gpu alone,
 * where the updates are large. Returns how many, at most `most`. */
size_t cases_plans(const struct bench_shape *shape, const char *executor, enum math math,
        struct result *row, size_t most);

/* The plan on the GPU that the model chooses, panels on the device or (hybrid) on the host; marked
 * plan=chosen. Its widths are a sequence, or equal ones when the sequence is too long to be written
 * down. False when the profile does not suffice. */
bool cases_model_plan(const struct profile *profile, const struct bench_shape *shape, bool hybrid,
        enum math math, struct result *row);

/* The single width that the model would take in the place of a sequence that it chose, 0 where the
 * profile does not suffice. */
int64_t cases_single_width(const struct profile *profile, const struct result *chosen);

/* The plan that the library's calls take, which need no profile, with panels on the device; marked
 * plan=default. */
struct result cases_default(struct executor *e, const struct bench_shape *shape);

/* Whether a shape is also factorized with updates of split operands. */
bool cases_split(const struct bench_shape *shape);

/* Whether the profile has what products of that math take. */
bool cases_estimated(const struct profile *profile, enum math math);

/* The hold-out shapes of whole factorizations. The caller frees *shapes. */
size_t cases_whole(bool quick, struct bench_shape **shapes);

/* Those of panels of QR (panel_geqrf, m x n) and of Cholesky (panel_potrf, the square on the
 * diagonal). The caller frees *shapes. */
size_t cases_panels(bool quick, struct bench_shape **shapes);

/* Such a panel as one block, on the GPU or on the host CPU. */
struct result cases_panel(const struct bench_shape *shape, bool hybrid);

/* Whether it is worth looking at with the matrix in host memory at first and at last, and the row
 * of that: a triangle travels in rectangles of the width that the model chooses (piece). Without
 * profile in those of the blocks. */
bool cases_transfers(const struct bench_shape *shape);
struct result cases_from_host(const struct profile *profile, const struct result *resident);

#endif
