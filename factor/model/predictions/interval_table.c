/* SPDX-License-Identifier: MIT */
/* Written by `make intervals` from the recorded runs below; not by hand. */
#include "intervals.h"

/* clang-format off */
const struct interval_table interval_table = {
	.of = { /* spreads, least, most, cases */
		[INTERVAL_HARDWARE] = {1, 0.698, 1.22, 719},
		[INTERVAL_LIBRARY] = {1.9, 1, 1, 724},
		[INTERVAL_CALIBRATED] = {2.16, 1, 1, 2353},
		[INTERVAL_ALONE] = {1, 0.494, 1.25, 3796},
	},
	.run = {
		{"nvidia-h100", -1},
		{"nvidia-h200-sms-112", -1},
		{"nvidia-h200-sms-112", 72302936},
		{"nvidia-h200-sms-16", -1},
		{"nvidia-h200-sms-16", 351550653},
		{"nvidia-h200-sms-40", -1},
		{"nvidia-h200-sms-40", 183209002},
		{"nvidia-h200-sms-64", -1},
		{"nvidia-h200-sms-64", 785355884},
		{"nvidia-h200", -1},
	},
};
/* clang-format on */
