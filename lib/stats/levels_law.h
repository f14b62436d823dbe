/* SPDX-License-Identifier: MIT */
/* The law behind lib/stats/levels: how often accesses miss a level, and sums of levels fitted to points.
 */
#ifndef FATHOM_LEVELS_LAW_H
#define FATHOM_LEVELS_LAW_H

#include "lib/base/base.h"
#include "levels.h"

/* Of each level; the base comes before the first. */
enum law_term { LAW_STEP, LAW_SIZE, LAW_BLEND, LAW_SMEAR, LAW_TERMS };
enum { LAW_PARAMETERS = 1 + LAW_TERMS * LEVELS_MAX };

/* parameter[0] = log of the base; then of each level the logs of step and size, the blend of
 * replacement laws (0: independent accesses, 1: random replacement, 2: LRU, along a chain of
 * CHAIN_SLOTS visits to a node) and the smear (1 / sqrt(ways) for a hashed index, 0 for none). */
struct law {
	size_t levels;
	double parameter[LAW_PARAMETERS];
};

struct law_points {
	size_t n;
	double *log_size, *log_seconds, *error; /* error: of the log, with its floor */
};

/* Smeared miss rates near the kink; the rest is computed. */
struct law_table;
struct law_table *law_table_new(void);
void law_table_free(struct law_table *table);

/* Seconds that the law expects. */
double law_seconds(const struct law_table *table, const struct law *law, double log_size);

/* Improves the law by at most `rounds` steps of Levenberg and Marquardt under Huber's loss; the
 * parameter number `held` (or any number beyond the last) keeps its value. Returns the loss, twice
 * the negative log likelihood up to a constant. */
double law_improve(const struct law_table *table, const struct law_points *points, struct law *law,
        size_t held, int rounds);

/* Covariance of the parameters at the optimum, row-major over law_count(law) squared. */
size_t law_count(const struct law *law);
void law_covariance(const struct law_table *table, const struct law_points *points,
        const struct law *law, double *covariance);

#endif
