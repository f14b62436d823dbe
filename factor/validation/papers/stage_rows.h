/* SPDX-License-Identifier: MIT */
/* Rows of QR by widths from measured stages (stage_widths.h), in single precision.
 *
 * Operation stage_geqrf: the first block of nb columns of an s x s matrix (k = nb), or the first
 * two blocks (k > nb). No residual: these factorizations are not complete.
 * Operation widths_geqrf: whole matrices by one width, by the sequence of the stages (plan=stages),
 * by the model's (plan=model). Variant stages: the sum of the stages, which is written before the
 * run. */
#pragma once

#include "stage_widths.h"
#include "factor/validation/results.h"

#include <stdio.h>

#define STAGE_OPERATION RESULTS_STAGE "geqrf"
#define WIDTHS_OPERATION RESULTS_WIDTHS "geqrf"
#define STAGES_VARIANT "stages"

/* Orders of measured stages, at most; rows of one order, at most. */
enum { STAGE_SIZES = 64, STAGE_ROWS = STAGE_WIDTHS * (STAGE_WIDTHS + 1) };

/* Measured times of one executor, interpolated by logarithms along s. */
struct stage_times {
	struct stages stages;
	struct stage_curve {
		size_t count;
		double s[STAGE_SIZES], seconds[STAGE_SIZES];
	} curve[STAGE_WIDTHS][STAGE_WIDTHS + 1]; /* first, second width; 0: no second one */
};

/* The widths that are tried on an executor (cuda, host), and no times. */
void stage_times_start(struct stage_times *times, const char *executor);

/* Takes the times of these rows. stages->seconds is INFINITY beyond the measured orders. */
void stage_times_take(
        struct stage_times *times, const struct results *results, const char *executor);

/* Orders of the stages of n x n matrices, ascending: from the shortest matrix of each pair of
 * widths to n, coarsely. Returns how many. n is a multiple of the widest width. */
size_t stage_sizes(const struct stages *stages, int64_t n, int64_t size[STAGE_SIZES]);

/* The stages to be measured at one of these orders, as rows without results. Returns how many. */
size_t stage_rows(const struct stages *stages, const char *executor, int64_t s,
        struct result row[STAGE_ROWS]);

/* A whole factorization by widths, of which the last repeats, without results. plan: value of the
 * option, or NULL. False when the text of the widths does not fit into a row. */
bool widths_row(const char *executor, int64_t n, const int64_t *widths, size_t count,
        const char *plan, struct result *row);

/* The row of such a row's sum. */
struct result widths_sum_row(const struct result *row, double seconds);

/* A line for each order: the sum and the time of the sequence, its distance to the fastest single
 * width and to the model's plan. */
void stage_rows_print(const struct results *results, FILE *out);
