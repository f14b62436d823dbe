/* SPDX-License-Identifier: MIT */
/* From a spread to a 95 % interval. A prediction's spread is propagated from its parameters and
 * efficiencies. Measurements of recorded machines say how many spreads hold 95 % of them, for each
 * kind of prediction; interval_table.c has the answer, which `make intervals` writes. */
#pragma once

#include "lib/profile/profile.h"

/* By regime. WITH_HOST: calibrated, and the host computes a part: others use its cores and memory,
 * too. ALONE: every kernel by the hardware law at efficiency 1. */
enum interval_kind {
	INTERVAL_HARDWARE,
	INTERVAL_LIBRARY,
	INTERVAL_CALIBRATED,
	INTERVAL_WITH_HOST,
	INTERVAL_ALONE,
	INTERVAL_KINDS
};
extern const char *const interval_kind_name[INTERVAL_KINDS];

/* How many spreads the interval reaches to either side. Where kernels have no measured efficiency,
 * theirs lies between `least` and `most`, and the time between prediction / most and prediction /
 * least. */
struct interval_factor {
	double spreads;
	double least, most;
	size_t cases; /* measurements behind it */
};

struct interval_table {
	struct interval_factor of[INTERVAL_KINDS];
	/* The runs whose drawn shapes it was calibrated on, up to one without a machine. */
	struct interval_run {
		const char *machine;
		int64_t seed;
	} run[16];
};
extern const struct interval_table interval_table;

enum interval_kind interval_kind_of(const char *regime, bool with_host);

/* Whether the table was calibrated on the measurements of this seed, which then judge no interval.
 */
bool interval_saw(const struct interval_table *table, int64_t seed);

/* The spread of an answer when its parameters lie, one after the other, at the ends of their
 * intervals: the sums of the squares of the seconds below and above. */
struct spread {
	double below, above;
};
void spread_widen(struct spread *spread, double below, double above);

/* The ends of the interval around `seconds`. */
void interval_ends(const struct interval_factor *factor, const struct spread *spread,
        double seconds, double *low, double *high);
