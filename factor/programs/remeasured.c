/* SPDX-License-Identifier: MIT */
#include "remeasured.h"

#include <math.h>

#include "lib/host/sample.h"

bool remeasure_wanted(
        const struct results *done, size_t kept, const struct result *of, double target)
{
	const struct result *found = results_find(done, of);

	if (!found || found < done->row + kept || found->seconds.samples < 2)
		return false;
	const struct estimate *t = &found->seconds;
	return results_disturbed(found) || !((t->high - t->low) / 2 <= target * t->value);
}

static void merge(struct result *row, const struct result *again)
{
	const bool before = results_disturbed(row), after = results_disturbed(again);

	if (before == after) {
		row->seconds = sample_merge((struct measurement){.seconds = row->seconds},
		        (struct measurement){.seconds = again->seconds})
		                       .seconds;
	} else if (before) {
		row->seconds = again->seconds;
		row->note[0] = 0;
	}
	row->residual = fmax(row->residual, again->residual);
	row->orthogonality = fmax(row->orthogonality, again->orthogonality);
}

size_t remeasured_merge(struct results *done, const struct results *second)
{
	size_t count = 0;

	for (size_t i = 0; i < second->count; i++) {
		const struct result *again = &second->row[i], *found = results_find(done, again);
		if (!found || again->seconds.samples == 0)
			continue;
		merge(&done->row[found - done->row], again);
		count++;
	}
	return count;
}
