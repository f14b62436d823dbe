/* SPDX-License-Identifier: MIT */
/* Kernels as `ncu --csv --page raw` writes them: a row a launch, with counters of the hardware. */
#pragma once

#include "factor/kernels/kernel_work.h"

struct kernel_counters {
	struct kernel_work
	        *work; /* of each kernel and grid: its mean launch; the caller frees it */
	size_t count;
	double measured;  /* seconds of all rows together; NaN when the file has no durations */
	double clock;     /* Hz of the multiprocessors meanwhile, of the first kernel; 0: unknown */
	char name[96];    /* of the first kernel */
	char machine[64]; /* what the file says of it: "compute capability 9.0" */
	char lacking[256]; /* counters that the file has not: taken as none. "" when all are there
	                    */
	struct work_bytes asked; /* of L2, all rows together: DRAM may move other bytes, too */
};

/* conclude: the work also has what follows from the counters (counter_conclusions.h). False with a
 * fault that names file, line and counter. */
bool kernel_counters_read(
        const char *path, bool conclude, struct kernel_counters *out, struct fault *fault);
