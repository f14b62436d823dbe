/* SPDX-License-Identifier: MIT */
/* Curve of the device_launch probe -> gpu.launch.device.*: a parameter for each series. */
#include "lib/probe/curve_fit.h"

#define KERNELS "null kernels of one block, difference of 144 and 16: "
#define LAUNCH(series, what)                                                                       \
	{                                                                                          \
		series, {"gpu.launch.device." series, "s", KERNELS what, NULL, 5e-8, 1e-4},        \
		        .column = {                                                                \
			        NULL                                                               \
		        }                                                                          \
	}

static const struct curve_rows rows[] = {
        LAUNCH("tail", "in the tail stream of a kernel"),
        LAUNCH("fire", "launched by a thread to run at once"),
        LAUNCH("chain", "each the tail of the one before, 16 a chain"),
        LAUNCH("host", "launched by the host, with the device's runtime loaded"),
};

void device_launch_fit(const struct table *curve, struct profile *profile)
{
	curve_fit_rows(curve, profile, rows, ARRAY_LEN(rows), true);
}
