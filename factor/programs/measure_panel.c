/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/timing_panel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct candidate candidate_for(struct executor *executor, const struct result *row)
{
	char phase[16];
	unsigned skip = 0;

	if (strcmp(row->operation, "ger") == 0)
		return candidate_ger(executor);
	if (results_option(row->options, "phase", phase, sizeof phase))
		for (unsigned p = 0; p < PHASE_COUNT; p++)
			if (strcmp(phase_name[p], phase) != 0)
				skip |= 1u << p;
	return candidate_panel(executor, row->variant, skip);
}

bool measure_panel(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct vendor_entry vendor = {measure->vendor, GETRF, LOWER, VENDOR_PLAIN};
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		candidate[i] = strcmp(row[i].variant, "cusolver") == 0
		                       ? candidate_vendor(&vendor)
		                       : candidate_for(executor, &row[i]);
	measure->plan.seed += 1000;
	if (!timing_panel(executor, row->precision, row->m, row->n, &measure->plan, candidate,
	            count, &fault)) {
		if (!*measure->plan.stop)
			msg_warn("%" PRId64 " x %" PRId64 " on %s: %s", row->m, row->n,
			        row->executor, fault.text);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		snprintf(row[i].plan, sizeof row[i].plan, "nb=%" PRId64 " lda=%" PRId64, row->n,
		        measure->plan.ld);
		measure_add(measure, &row[i], &candidate[i], out);
	}
	return true;
}
