/* SPDX-License-Identifier: MIT */
#include "errors_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct estimate estimate_of(
        const struct table *errors, size_t r, const char *value, const char *low, const char *high)
{
	return (struct estimate){table_real(errors, r, value), table_real(errors, r, low),
	        table_real(errors, r, high), 0};
}

static bool is_kept(int level)
{
	return level == LEVEL_FULL || level == LEVEL_HARDWARE;
}

void errors_earlier(const struct table *errors, int64_t seed, struct results *predictions,
        struct results *measurements)
{
	for (size_t r = 0; r < errors->row_count; r++) {
		struct result row;
		if (result_read(errors, r, &row) || !is_kept(results_level(&row)) ||
		        strcmp(table_text(errors, r, "shapes"), "drawn") != 0 ||
		        result_seed(&row) == seed)
			continue;
		struct result measured = row;
		row.seconds =
		        estimate_of(errors, r, "predicted", "predicted_low", "predicted_high");
		measured.seconds =
		        estimate_of(errors, r, "measured", "measured_low", "measured_high");
		const char *reason = table_text(errors, r, "reason");
		const bool skipped = strcmp(reason, "nan") != 0;
		if (strcmp(table_text(errors, r, "choice"), "rule") == 0)
			results_by_rule_set(&row);
		else if (skipped && isnan(row.seconds.value))
			snprintf(row.note, sizeof row.note, "%s", reason);
		if (skipped)
			snprintf(measured.note, sizeof measured.note, "%s", reason);
		results_add(predictions, &row);
		if (results_level(&row) == LEVEL_FULL)
			results_add(measurements, &measured);
	}
}
