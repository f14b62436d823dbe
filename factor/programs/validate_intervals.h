/* SPDX-License-Identifier: MIT */
#pragma once

#include "factor/validation/errors.h"

/* Fits the factors of intervals to recorded runs and writes them as C source into the file at path.
 * folder: names of folders, then NULL, each with predictions by this build. predict makes the
 * prediction of a disturbed case again. Returns the exit status; ends the program on bad files. */
int validate_intervals(const char *path, char *const *folder, row_predictor predict);

/* Prints on which seeds of the drawn cases the intervals were calibrated, if on any. */
void validate_intervals_say(const struct comparison *rows, size_t count, FILE *out);
