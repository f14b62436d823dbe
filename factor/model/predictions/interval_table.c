/* SPDX-License-Identifier: MIT */
/* Written by `make intervals` from the recorded runs below; not by hand. */
#include "intervals.h"

/* clang-format off */
const struct interval_table interval_table = {
	.of = { /* spreads, least, most, cases */
		[INTERVAL_HARDWARE] = {1, 0.744, 1.12, 257},
		[INTERVAL_LIBRARY] = {2.48, 1, 1, 296},
		[INTERVAL_CALIBRATED] = {1.64, 1, 1, 850},
		[INTERVAL_WITH_HOST] = {2.21, 1, 1, 330},
		[INTERVAL_ALONE] = {1, 0.528, 1.07, 1744},
	},
	.run = {
		{"nvidia-h200", 750001},
		{"nvidia-h200", 750002},
		{"nvidia-h200", 750003},
		{"nvidia-h200-x2", 730412},
		{"nvidia-h200-x2", 730413},
		{"nvidia-h200-x2", 730411},
	},
};
/* clang-format on */
