/* SPDX-License-Identifier: MIT */
/* LU panels that the tested GPU, or the one it is described as, has no room for. */
#pragma once

#include "factor/kernels/lu/panel_geometry.h"
#include "lib/base/precision.h"
#include "lib/device/gpu.h"

#include <string.h>

/* Whether an executor refuses a persistent panel for its size, and rightly: the GPU's shared memory
 * does not hold m x n by the panel's geometry. (That the geometry refuses no panel for which there
 * is room: test_described_devices.c.) */
static inline bool panel_is_off_chip(
        const char *refusal, int64_t m, int64_t n, enum precision precision)
{
	struct panel_geometry geometry;
	struct fault fault;
	struct gpu gpu;

	return strstr(refusal, "does not fit on chip") && gpu_open(&gpu, "0", &fault) &&
	       !panel_geometry(m > n ? m : n, n, precision_bytes(precision), gpu.sm_count,
	               gpu.shared_per_block, &geometry);
}
