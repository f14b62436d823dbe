/* SPDX-License-Identifier: MIT */
/* Internals of lib/stats/levels: miss rates of a level, sums of levels fitted to points, the choice
 * of a law and the levels that it determines. */
#pragma once

#include "lib/base/base.h"
#include "levels.h"

/* Terms of each level; the base comes before the first. */
enum law_term { LAW_STEP, LAW_SIZE, LAW_BLEND, LAW_SMEAR, LAW_TERMS };
enum { LAW_PARAMETERS = 1 + LAW_TERMS * LEVELS_MAX };

/* parameter[0]: log of the base. Then for each level: logs of step and size, the blend of
 * replacement laws (0: independent accesses, 1: random replacement, 2: LRU) and the smear (1 /
 * sqrt(ways) for a hashed index, 0: no hashing). */
struct law {
	size_t levels;
	double parameter[LAW_PARAMETERS];
};

struct law_points {
	size_t n;
	double *log_size, *log_seconds, *error; /* error: of the log, with its floor */
};

/* Tabulated smeared miss rates near the kink. */
struct law_table;
struct law_table *law_table_new(void);
void law_table_free(struct law_table *table);

/* Seconds that the law expects. */
double law_seconds(const struct law_table *table, const struct law *law, double log_size);

/* Root mean square of (measured / law - 1), weighted by the points' errors. */
double law_misfit(
        const struct law_table *table, const struct law_points *points, const struct law *law);

/* At most `rounds` steps of Levenberg and Marquardt under Huber's loss. The parameter number `held`
 * (SIZE_MAX: none) keeps its value. Returns the loss, twice the negative log likelihood up to a
 * constant. */
double law_improve(const struct law_table *table, const struct law_points *points, struct law *law,
        size_t held, int rounds);

/* Covariance of the parameters at the optimum, row-major over law_count(law) squared. */
size_t law_count(const struct law *law);
void law_covariance(const struct law_table *table, const struct law_points *points,
        const struct law *law, double *covariance);

/* The choice of a law. */
struct search {
	const struct law_table *table;
	struct law_points points;
	double first, last; /* logs of the smallest and the largest size */
	double scale;       /* by which the loss is divided to be chi squared */
	double loss;
	struct law other[LEVELS_MAX + 1]; /* the best law for each number of levels tried, */
	double misfit[LEVELS_MAX + 1];    /* and how well it fits */
	size_t tried;
};

/* Fills the levels from the chosen law, and marks the resolved ones. */
void levels_describe(const struct search *search, const struct law *law, struct levels *levels);
