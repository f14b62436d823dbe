/* SPDX-License-Identifier: MIT */
#include "predict.h"

#include "factor/model/simulation/executor_model.h"
#include "factor/validation/cases.h"
#include "factor/validation/predicted.h"

#include <stdlib.h>
#include <string.h>

unsigned panel_phases_skipped(const struct result *row)
{
	unsigned skip = 0;

	for (unsigned p = 0; p < PHASE_COUNT && result_has(row, "phase"); p++)
		if (!result_has_value(row, "phase", phase_name[p]))
			skip |= 1u << p;
	return skip;
}

static enum model_target target_of(const struct result *row)
{
	return strcmp(row->executor, "cuda") == 0 ? MODEL_CUDA : MODEL_HOST;
}

bool panel_row_predict(const struct profile *profile, int level, struct result *row)
{
	const char *variant = strcmp(row->operation, "ger") == 0 ? "ger" : row->variant;
	struct prediction made;
	bool ok = model_predict_without(profile, target_of(row), variant, row->m, row->n,
	        row->precision, level, panel_phases_skipped(row), &made);

	return predicted_fill(row, &made, ok);
}

/* The phases that a variant has, when it has more than one. */
static void add_phases(
        struct results *results, const struct profile *profile, const struct result *panel)
{
	struct prediction whole;
	int phases = 0;

	if (!model_predict(profile, target_of(panel), panel->variant, panel->m, panel->n,
	            panel->precision, 2, &whole))
		return;
	for (int p = 0; p < PHASE_COUNT; p++)
		phases += whole.parts.phase[p] > 0;
	for (int p = 0; p < PHASE_COUNT && phases > 1; p++) {
		struct result row = *panel;
		if (!(whole.parts.phase[p] > 0))
			continue;
		results_option_add(row.options, "phase", phase_name[p]);
		panel_row_predict(profile, 2, &row);
		results_add(results, &row);
	}
}

static size_t add_case(
        struct results *results, const struct profile *profile, const struct panel_case *asked)
{
	const bool ger = strcmp(asked->operation, "ger") == 0;
	struct result row = result_new(asked->operation, asked->variant, asked->executor,
	        asked->precision, asked->m, asked->n);

	row.k = ger;
	row.nb = ger ? 0 : asked->n;
	const size_t refused = predicted_levels(results, profile, &row, panel_row_predict);
	if (asked->phases)
		add_phases(results, profile, &row);
	return refused;
}

size_t predict_panels(struct results *results, const struct profile *profile, const char *executor,
        bool quick, const struct draw *draw)
{
	struct panel_case *cases;
	size_t count = cases_holdout(executor, quick, draw, &cases), refused = 0;

#pragma omp parallel for ordered schedule(dynamic) reduction(+ : refused)
	for (size_t i = 0; i < count; i++) {
		struct results *one = results_new();
		refused += add_case(one, profile, &cases[i]);
#pragma omp ordered
		results_append(results, one);
		results_free(one);
	}
	free(cases);
	return refused;
}
