/* SPDX-License-Identifier: MIT */
/* The hold-out lists: operations that are predicted first and measured afterwards. Fixed ones, with
 * every m and n off the powers of two that the probes use, and ones drawn by a seed (draw.h). And
 * the documented sizes that `measure --bench` compares with the vendor. */
#pragma once

#include "factor/model/predictions/model_factor.h"
#include "lib/profile/profile.h"
#include "factor/algorithms/plan.h"
#include "draw.h"

struct panel_case {
	const char *operation; /* panel_getrf, or ger (rank-1 update of the whole panel: a bound) */
	const char *variant, *executor;
	enum precision precision;
	int64_t m, n;
	bool phases; /* also predicted and timed phase by phase */
};

/* The list for one executor (cuda, host), the variants of a shape together. draw NULL: the fixed
 * shapes in ascending order, where `quick` keeps a few; else drawn ones. Returns the number of
 * cases; the caller frees *cases. An unknown executor has none. */
size_t cases_holdout(
        const char *executor, bool quick, const struct draw *draw, struct panel_case **cases);

struct bench_shape {
	const char *operation; /* panel_getrf, getrf, geqrf, potrf, one of paper_operations.h,
	                          lawn_errors, kind_errors, gramschmidt, gram_kernels, widths */
	enum precision precision;
	int64_t m, n;
	int64_t ld; /* 0: the usual one */
};

/* All shapes: panels first, then LAWN 202's operations, then by size, then errors and Gram-Schmidt.
 * The caller frees *shapes. */
size_t cases_bench(struct bench_shape **shapes);

/* Whole factorizations alone: squares of powers of two, the largest first, all in single precision
 * before those in double; then the others. The caller frees *shapes. */
size_t cases_largest_first(struct bench_shape **shapes);

/* Whether the host is measured at that size, too. */
bool cases_on_host(const struct bench_shape *shape);

/* Our ways to factorize a whole matrix, as rows without results: gpu (panels on the device) and
 * hybrid (panels on the host CPU), each with a few block widths; only gpu for split operands; one
 * row on the host executor. The bench tries all, and the regret of the model's choice is over them.
 * Returns how many, at most `most`. */
size_t cases_plans(const struct bench_shape *shape, const char *executor, enum math math,
        struct result *row, size_t most);

/* The question about a shape for the model, without a plan. */
struct factor_question cases_question(const struct bench_shape *shape, enum math math);

/* The model's plan on the GPU, panels on the device or (hybrid) on the host; plan=model. Its
 * widths are a sequence, or one width when the sequence is too long for the row's text. False when
 * the profile does not suffice. */
bool cases_model_plan(const struct profile *profile, const struct bench_shape *shape, bool hybrid,
        enum math math, struct result *row);

/* The model's single width in place of a chosen sequence; 0 where the profile does not suffice. */
int64_t cases_single_width(const struct profile *profile, const struct result *chosen);

/* The library's default plan, which needs no profile, with panels on the device; plan=default. */
struct result cases_default(struct executor *e, const struct bench_shape *shape);

/* Whether a shape is also factorized with split operands. */
bool cases_split(const struct bench_shape *shape);

/* Whether the profile has the rates of products in that math. */
bool cases_estimated(const struct profile *profile, enum math math);

/* The hold-out shapes of whole factorizations, fixed or drawn. The caller frees *shapes. */
size_t cases_whole(bool quick, const struct draw *draw, struct bench_shape **shapes);

/* The hold-out shapes of panels of QR (panel_geqrf, m x n) and Cholesky (panel_potrf, the square on
 * the diagonal). The caller frees *shapes. */
size_t cases_panels(bool quick, const struct draw *draw, struct bench_shape **shapes);

/* A row with blocks of one width, such a panel being one block, and its panels on the GPU or on the
 * host CPU. */
struct result cases_width(const struct bench_shape *shape, bool hybrid, int64_t nb);

/* Whether a shape is also factorized from host memory and back; and the row for that: triangles are
 * copied in rectangles of the model's width (piece), without a profile of the blocks' width. */
bool cases_transfers(const struct bench_shape *shape);
struct result cases_from_host(const struct profile *profile, const struct result *resident);
