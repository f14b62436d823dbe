/* SPDX-License-Identifier: MIT */
#include "second_visits.h"

#include <math.h>

#include "../../lib/sample.h"

bool second_visit_wanted(
        const struct results *done, size_t kept, const struct result *of, double target)
{
	const struct result *found = results_find(done, of);

	if (!found || found < done->row + kept || found->seconds.samples < 2)
		return false;
	const struct estimate *t = &found->seconds;
	return !((t->high - t->low) / 2 <= target * t->value);
}

static struct estimate merged(struct estimate first, struct estimate second)
{
	return sample_merge(
	        (struct measurement){.seconds = first}, (struct measurement){.seconds = second})
	        .seconds;
}

size_t second_visits_merge(struct results *done, const struct results *second)
{
	size_t count = 0;

	for (size_t i = 0; i < second->count; i++) {
		const struct result *again = &second->row[i], *found = results_find(done, again);
		if (!found || again->seconds.samples == 0)
			continue;
		struct result *row = &done->row[found - done->row];
		row->seconds = merged(row->seconds, again->seconds);
		row->residual = fmax(row->residual, again->residual);
		row->orthogonality = fmax(row->orthogonality, again->orthogonality);
		count++;
	}
	return count;
}
