/* SPDX-License-Identifier: MIT */
/* Written by `make intervals` from the recorded runs below; not by hand. */
#include "intervals.h"

/* clang-format off */
const struct interval_table interval_table = {
	.of = { /* spreads, least, most, cases */
		[INTERVAL_HARDWARE] = {1, 0.581, 1.2, 432},
		[INTERVAL_LIBRARY] = {2.83, 1, 1, 270},
		[INTERVAL_CALIBRATED] = {3.03, 1, 1, 1016},
		[INTERVAL_ALONE] = {1, 0.466, 1.41, 1443},
	},
	.run = {
		{"nvidia-h200-sms-16", -1},
		{"nvidia-h200-sms-16", 351550653},
		{"nvidia-h200-sms-40", -1},
		{"nvidia-h200-sms-40", 183209002},
		{"nvidia-h200-sms-64", -1},
		{"nvidia-h200-sms-64", 785355884},
		{"nvidia-h200-sms-112", -1},
		{"nvidia-h200-sms-112", 72302936},
	},
};
/* clang-format on */
