/* SPDX-License-Identifier: MIT */
/* Was it right to update, or to make the factorization again? What the model chose, from
 * predictions that were made before, against what both took. */
#ifndef FATHOM_UPDATE_OR_REFACTOR_H
#define FATHOM_UPDATE_OR_REFACTOR_H

#include "results.h"

#include <stdio.h>

/* One change of which both ways are predicted and measured, in seconds. */
struct update_choice {
	const struct result *row; /* of predictions: the change */
	double update, refactor, predicted_update, predicted_refactor;
};

/* Of predictions' changes those that all four are known of, *list to be freed. */
size_t update_choices_list(const struct results *predictions, const struct results *measurements,
        struct update_choice **list);

/* Over some of them: errors are magnitudes of predicted / measured - 1; costs the time of what is
 * chosen over that of the better way, less 1. */
struct update_choice_summary {
	size_t points, even;                 /* even: the model sees them within a factor of 2 */
	double error_update, error_refactor; /* medians */
	double right;                        /* part of the points */
	double cost, cost_worst;             /* of the model's choice: mean and worst */
	double always, always_worst;         /* of updating always */
	double never, never_worst;
};
struct update_choice_summary update_choices_summary(const struct update_choice *list, size_t count);

/* A row for each change, what is kept of Q and where it begins, and one for all: operation, q, from
 * (device, host) and the summary. */
struct table *update_choices_table(const struct update_choice *list, size_t count);
void update_choices_print(const struct table *table, FILE *out);

#endif
