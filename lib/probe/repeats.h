/* SPDX-License-Identifier: MIT */
/* Points that a process measures several times, some time apart, as interference may last for one
 * whole measurement and show on no clock. The median measurement counts: some calls take one of two
 * times by chance, and the quickest would be no typical one. Of an even number the two in the
 * middle are merged (sample_merge). */
#pragma once

#include "lib/base/base.h"
#include "probe.h"

enum { REPEAT_ARGS = 3 };

struct repeats {
	struct repeated_point {
		const char *series;
		struct arg args[REPEAT_ARGS];
		size_t arg_count, repeats;
		struct measurement *repeat;
	} * point;
	size_t count;
};

/* One more measurement of a point. The text of series must outlive the repeats. */
void repeats_add(struct repeats *repeats, const char *series, const struct arg *args,
        size_t arg_count, const struct measurement *measurement);

bool repeats_has(const struct repeats *repeats, const char *series, const struct arg *args,
        size_t arg_count);

/* Records the points in the order of their first measurements, and forgets them. */
void repeats_record(struct repeats *repeats, struct probe_run *run);
