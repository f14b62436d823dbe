/* SPDX-License-Identifier: MIT */
/* Runs of a tenth of a second and more: power limits can lower the clock of the multiprocessors. */
#pragma once

#include "factor/model/cost/cost.h"

/* The row of a factorization's updates, by their precision and mode of arithmetic. */
const char *law_lasting_row(enum precision precision, enum math math);

/* Whether that row (NULL: none) says anything of a run of so many seconds. */
bool law_lasting_knows(const struct cost_reader *reader, const char *row, double seconds);

/* Seconds that it adds to a run that it knows: `seconds` at the clock of short runs, of which
 * arithmetic limits so many. */
double law_lasting(struct cost_reader *reader, const char *row, double seconds, double arithmetic);
