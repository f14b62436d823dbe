/* SPDX-License-Identifier: MIT */
/* Changes of a QR factorization as cases: rows, and the held-out list. Operation: the change;
 * variant: a name of timing_update.h's ways; m and n before the change; q=none|thin|full in the
 * options, and from=host where that is where it begins; k of the change itself only (0 where it
 * begins again). */
#ifndef FATHOM_UPDATE_CASES_H
#define FATHOM_UPDATE_CASES_H

#include "lib/profile/profile.h"
#include "factor/algorithms/qr_refactor.h"
#include "results.h"
#include "timing_update.h"

bool results_is_update(const struct result *row);

/* A row without results; what it asks, with one right-hand side, and which way. */
struct result update_row(
        const struct update_question *asked, enum update_way way, const char *executor);
struct update_question update_question_of(const struct result *row);
enum update_way update_way_of(const struct result *row);

/* Same factorization to be changed, whatever k and p. */
bool update_same_shape(const struct result *a, const struct result *b);

/* Adds the held-out list with the model's times of updating and of factorizing again: grids of
 * (p, k) and (m, n), n off the powers of two, and points on both sides of where the model sees both
 * alike. Returns how many were refused. */
size_t predict_updates(
        struct results *results, const struct profile *profile, const char *executor, bool quick);

#endif
