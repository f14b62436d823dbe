/* SPDX-License-Identifier: MIT */
/* Changes of a QR factorization as cases: rows, and the hold-out list. Operation: the change;
 * variant: a way of timing_update.h; m and n before the change; options q=none|thin|full and
 * from=host where the input is in host memory; k of the change itself (0: a new factorization). */
#pragma once

#include "lib/profile/profile.h"
#include "factor/algorithms/qr_refactor.h"
#include "results.h"
#include "timing_update.h"

bool results_is_update(const struct result *row);

/* A row without results; the question of a row, with one right-hand side, and its way. */
struct result update_row(
        const struct update_question *asked, enum update_way way, const char *executor);
struct update_question update_question_of(const struct result *row);
enum update_way update_way_of(const struct result *row);

/* Whether both change the same factorization, whatever k and p. */
bool update_same_shape(const struct result *a, const struct result *b);

/* Adds the hold-out list with the model's times of updating and of factorizing again: grids of (p,
 * k) and (m, n), n off the powers of two, and points on both sides of the model's break-even point.
 * Returns how many were refused. */
size_t predict_updates(
        struct results *results, const struct profile *profile, const char *executor, bool quick);
