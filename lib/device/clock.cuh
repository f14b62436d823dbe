/* SPDX-License-Identifier: MIT */
/* Device clocks. */
#pragma once

#include "gpu.h"

static DEVICE uint64_t device_ns(void)
{
	uint64_t ns;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
	return ns;
}

/* Reads both clocks at the start / end of an interval. %globaltimer is outside the cycle count. */
static DEVICE void span_start(struct gpu_span *span)
{
	span->ns0 = device_ns();
	span->cycles0 = clock64();
}

static DEVICE void span_stop(struct gpu_span *span)
{
	span->cycles1 = clock64();
	span->ns1 = device_ns();
}
