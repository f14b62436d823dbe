/* SPDX-License-Identifier: MIT */
/* Written by `make intervals` from the recorded runs below; not by hand. */
#include "intervals.h"

/* clang-format off */
const struct interval_table interval_table = {
	.of = { /* spreads, least, most, cases */
		[INTERVAL_HARDWARE] = {1, 0.772, 1.13, 180},
		[INTERVAL_LIBRARY] = {2.03, 1, 1, 215},
		[INTERVAL_CALIBRATED] = {1.72, 1, 1, 572},
		[INTERVAL_WITH_HOST] = {1.94, 1, 1, 242},
		[INTERVAL_ALONE] = {1, 0.517, 1.09, 1221},
	},
	.run = {
		{"nvidia-h200", 650001},
		{"nvidia-h200-x2", 730412},
		{"nvidia-h200-x2", 730413},
		{"nvidia-h200-x2", 730411},
	},
};
/* clang-format on */
