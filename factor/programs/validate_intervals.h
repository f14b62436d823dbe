/* SPDX-License-Identifier: MIT */
#pragma once

#include "factor/validation/errors.h"

/* Fits the factors of intervals to recorded runs and writes them as C source into the file at path.
 * folder: names of folders, then NULL, each with predictions by this build. predict makes the
 * prediction of a disturbed case again. Returns the exit status; ends the program on bad files. */
int validate_intervals(const char *path, char *const *folder, row_predictor predict);
