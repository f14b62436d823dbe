/* SPDX-License-Identifier: MIT */
/* Kerr's QR with the whole Q as cases: long sequences of small kernels and calls, in which the host
 * and the launches take most of the time. Rows: operation qr_whole_q, the name of a variant of
 * kerr.h, nb the width of blocks (reflectors: 0). */
#pragma once

#include "lib/profile/profile.h"
#include "factor/papers/kerr.h"
#include "factor/validation/draw.h"

bool results_is_kerr(const struct result *row);

/* A row's variant; false: none of kerr.h. */
bool kerr_variant_of(const struct result *row, enum kerr_variant *variant);

/* Fills seconds and regime with the prediction at a level, with its interval at level 2. False with
 * the row's note. */
bool kerr_row_predict(const struct profile *profile, int level, struct result *row);

/* Adds the predictions of the paper's variants at fixed shapes, m = 2 n, or drawn ones, at all
 * levels; returns how many cases were refused. */
size_t predict_kerr(struct results *results, const struct profile *profile, bool quick,
        const struct draw *draw);
