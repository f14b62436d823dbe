/* SPDX-License-Identifier: MIT */
/* The work of the kernels that hold a panel in registers (panel_registers.cuh). */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "factor/tuning/tuning.h"

struct register_panel_call {
	bool gram; /* Gram-Schmidt's, else Householder's */
	enum precision precision;
	int64_t m, n;
	bool beside; /* on half of the multiprocessors if the panel fits there */
};

/* The clearing of the slots, and the kernel. Returns the number of works; 0: no kernel takes the
 * panel. */
size_t register_panel_works(const struct register_panel_call *call,
        const struct tuning_device *device, struct kernel_work work[2]);

/* Clusters of that many blocks, one a multiprocessor, that the device holds at once; 0: none. A
 * whole device is made of groups of multiprocessors, which clusters do not fill. A part of one that
 * takes no large clusters is made of small ones. */
static inline int64_t work_clusters_held(const struct tuning_device *device, int64_t cluster)
{
	enum { LARGEST = 16, GROUP = 18 };
	const int64_t sms = device->sm_count;

	if (cluster > device->max_cluster)
		return 0;
	return device->max_cluster < LARGEST
	               ? sms / cluster
	               : sms / GROUP * (GROUP / cluster) + sms % GROUP / cluster;
}

/* Instructions of a thread for a column, and for each of its rows, that are neither
 * multiply-adds nor accesses: the compiler's code, without what only unsafe columns need. */
enum { COLUMN_INSTRUCTIONS = 250, ROW_INSTRUCTIONS = 20 };

/* Dependent multiply-adds of a correctly rounded root or quotient, after a special function. */
enum { ROUNDED_STEPS = 8 };

static inline enum work_link work_fma_link(enum precision precision)
{
	return precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE;
}

/* A memset or another kernel of one short block. */
static inline void work_of_start(struct kernel_work *work)
{
	*work = (struct kernel_work){.launches = 1, .blocks = 1, .threads = 32};
}
