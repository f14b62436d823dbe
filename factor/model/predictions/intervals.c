/* SPDX-License-Identifier: MIT */
#include "intervals.h"

#include <math.h>
#include <string.h>

const char *const interval_kind_name[INTERVAL_KINDS] = {[INTERVAL_HARDWARE] = "hardware",
        [INTERVAL_LIBRARY] = "library",
        [INTERVAL_CALIBRATED] = "calibrated",
        [INTERVAL_WITH_HOST] = "calibrated, with the host",
        [INTERVAL_ALONE] = "efficiency 1"};

enum interval_kind interval_kind_of(const char *regime, bool with_host)
{
	if (!regime || strcmp(regime, interval_kind_name[INTERVAL_HARDWARE]) == 0)
		return INTERVAL_HARDWARE;
	if (strcmp(regime, interval_kind_name[INTERVAL_LIBRARY]) == 0)
		return INTERVAL_LIBRARY;
	return with_host ? INTERVAL_WITH_HOST : INTERVAL_CALIBRATED;
}

bool interval_saw(const struct interval_table *table, int64_t seed)
{
	for (size_t i = 0; i < ARRAY_LEN(table->run) && table->run[i].machine; i++)
		if (seed >= 0 && table->run[i].seed == seed)
			return true;
	return false;
}

void spread_widen(struct spread *spread, double below, double above)
{
	spread->below += below * below;
	spread->above += above * above;
}

void interval_ends(const struct interval_factor *factor, const struct spread *spread,
        double seconds, double *low, double *high)
{
	const double below = factor->spreads * sqrt(spread->below),
	             above = factor->spreads * sqrt(spread->above);

	*low = fmax(0, seconds - hypot(below, seconds * (1 - 1 / factor->most)));
	*high = seconds + hypot(above, seconds * (1 / factor->least - 1));
}
