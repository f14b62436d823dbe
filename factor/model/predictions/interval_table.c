/* SPDX-License-Identifier: MIT */
/* Written by `make intervals` from the recorded runs below; not by hand. */
#include "intervals.h"

/* clang-format off */
const struct interval_table interval_table = {
	.of = { /* spreads, least, most, cases */
		[INTERVAL_HARDWARE] = {1, 0.724, 1.12, 270},
		[INTERVAL_LIBRARY] = {2.33, 1, 1, 321},
		[INTERVAL_CALIBRATED] = {1.53, 1, 1, 865},
		[INTERVAL_WITH_HOST] = {1.59, 1, 1, 365},
		[INTERVAL_ALONE] = {1, 0.523, 1.06, 1833},
	},
	.run = {
		{"nvidia-h200", 417702},
		{"nvidia-h200", 883101},
		{"nvidia-h200", 905303},
		{"nvidia-h200-x2", 730412},
		{"nvidia-h200-x2", 730413},
		{"nvidia-h200-x2", 730411},
	},
};
/* clang-format on */
