/* SPDX-License-Identifier: MIT */
/* Runs a factorization with and without the recorder, in turns. */
#pragma once

#include "lib/stats/stats.h"
#include "factor/model/simulation/timeline.h"
#include "whole.h"

struct trace_run {
	/* of the recorded run with the median time; the caller frees it */
	struct timeline *timeline;
	struct estimate plain, recorded; /* seconds without and with the recorder */
	double residual;                 /* of the last recorded run: LAPACK's ratio */
	double uncertainty;              /* of the clocks' alignment, seconds */
};

/* On a random m x n matrix, by the plan; quick: fewer runs; title must outlive the timeline. False
 * with a fault when it cannot run, or its result is wrong. */
bool trace_run(struct executor *executor, const struct whole *whole, const struct plan *plan,
        enum precision precision, int64_t m, int64_t n, bool quick, const char *title,
        struct trace_run *out, struct fault *fault);
