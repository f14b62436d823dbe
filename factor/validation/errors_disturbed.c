/* SPDX-License-Identifier: MIT */
/* Disturbed cases by their references: the prediction is made again as `predict --scale NAME=RATIO`
 * makes it. */
#include "errors.h"

#include "factor/model/efficiency/efficiency.h"
#include "lib/base/msg.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* LEVEL_HARDWARE is the full model, with an interval that takes no time. */
static double seconds_by(
        const struct profile *profile, const struct result *predicted, row_predictor predict)
{
	struct result row = *predicted;

	return predict(profile, LEVEL_HARDWARE, &row) ? row.seconds.value : NAN;
}

/* A copy of the profile in which references that disagree have their times, and which they are;
 * NULL: none. */
static struct profile *as_referred(const struct profile *profile, const struct result *of,
        const struct results *measurements, char **how)
{
	struct reference reference[REFERENCES];
	const size_t count = references_of(profile, of, reference);
	struct profile *referred = NULL;

	for (size_t i = 0; i < count; i++) {
		const double ratio = reference_ratio(&reference[i], measurements);
		struct fault fault;
		if (ratio == 1)
			continue;
		referred = referred ? referred : profile_copy(profile);
		char *change = xasprintf("%s=%.9g", reference[i].moves, ratio),
		     *name = profile_row_name(reference[i].of);
		if (!what_if_scale(referred, change, &fault))
			msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
		xappend(how, "%s%s took %.2f times the probe's", **how ? ", " : "", name, ratio);
		free(change);
		free(name);
	}
	if (referred)
		efficiency_prepare(referred);
	return referred;
}

static bool is_explained(const struct comparison *row, const struct profile *profile,
        const struct profile *referred, row_predictor predict)
{
	const struct result *p = row->predicted;
	const double moved = seconds_by(referred, p, predict) / seconds_by(profile, p, predict);

	return moved > 0 &&
	       errors_judge(moved * p->seconds.value, &row->measured->seconds) != row->verdict;
}

void errors_find_disturbed(struct comparison *rows, size_t count, const struct profile *profile,
        const struct results *measurements, row_predictor predict)
{
	struct profile *prepared = profile_copy(profile);

	efficiency_prepare(prepared);
	for (size_t i = 0; i < count; i++) {
		struct comparison *row = &rows[i];
		const bool wrong = row->verdict == VERDICT_OVER || row->verdict == VERDICT_UNDER;
		char *how = xstrdup("");
		struct profile *referred =
		        wrong && !row->phase && row->level == LEVEL_FULL
		                ? as_referred(profile, row->predicted, measurements, &how)
		                : NULL;
		if (referred && is_explained(row, prepared, referred, predict)) {
			row->verdict = VERDICT_DISTURBED;
			snprintf(row->reason, sizeof row->reason, "disturbed: %s", how);
		}
		profile_free(referred);
		free(how);
	}
	profile_free(prepared);
}
