/* SPDX-License-Identifier: MIT */
/* Update or refactor? The model's choice, from predictions, against both measured times. */
#pragma once

#include "results.h"

#include <stdio.h>

/* One change, both ways predicted and measured, in seconds. */
struct update_choice {
	const struct result *row; /* of predictions: the change */
	double update, refactor, predicted_update, predicted_refactor;
};

/* The predicted changes with all four times. The caller frees *list. */
size_t update_choices_list(const struct results *predictions, const struct results *measurements,
        struct update_choice **list);

/* Errors are magnitudes of predicted / measured - 1; costs are the time of the chosen way over the
 * better way's, less 1. */
struct update_choice_summary {
	size_t points, even;                 /* even: predicted times within a factor of 2 */
	double error_update, error_refactor; /* medians */
	double right;                        /* share of points with the right choice */
	double cost, cost_worst;             /* of the model's choice: mean and worst */
	double always, always_worst;         /* of updating always */
	double never, never_worst;
};
struct update_choice_summary update_choices_summary(const struct update_choice *list, size_t count);

/* A row for each change, form of Q and place of the input, and one for all: operation, q, from
 * (device, host) and the summary. */
struct table *update_choices_table(const struct update_choice *list, size_t count);
void update_choices_print(const struct table *table, FILE *out);
