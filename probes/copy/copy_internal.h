/* SPDX-License-Identifier: MIT */
/* Shared by the files of the copy probe: buffers and points of the sweep. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/probe/probe.h"
#include "copy.h"

enum { COPY_ARGS = 6 };

/* One point of the sweep. */
struct copy_point {
	const char *series;
	struct copy_launch launch; /* without pointers and grid */
	bool cold;
	int64_t offset;             /* bytes from an aligned address, of source and target */
	int64_t inflight;           /* bytes of loads in flight per SM, or 0: as many as fit */
	struct arg args[COPY_ARGS]; /* filled in by copy_complete */
};

struct copy_sweep {
	struct probe_run *run;
	struct gpu gpu;
	struct gpu_hold *hold;
	struct gpu_timer *timer;
	char *source, *target; /* buffer_bytes each */
	int64_t buffer_bytes;
	unsigned long long *wrong;
	struct copy_point point[256];
	size_t count;
	size_t all; /* points that fit, wanted or not */
};

static inline int64_t round_up(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* ---- points (copy_point.c) ---- */

/* Bytes of one buffer from the first to the last word, in whole lines. */
int64_t copy_extent(const struct copy_point *point);
/* Stride, width and arguments of a point. */
void copy_complete(struct copy_point *point);
void copy_measure_point(
        const struct copy_sweep *sweep, const struct copy_point *point, double seconds);
void copy_measure_sustained(const struct copy_sweep *sweep, const struct copy_point *point);
