/* SPDX-License-Identifier: MIT */
/* The work of the Householder panels (panel_geqrf.h), launch by launch. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "factor/tuning/tuning.h"

struct geqrf_call {
	enum precision precision;
	int64_t m, n;
	bool beside, reflects; /* on half of the multiprocessors; with V and T */
	bool gram;   /* in double precision by the Gram matrix, where it takes the panel; */
	bool summed; /* the sums of A^T A are there */
};

/* Returns the number of works; 0: no form takes the panel. */
enum { PANEL_GEQRF_WORKS = 12 };
size_t panel_geqrf_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[PANEL_GEQRF_WORKS]);

/* The kernel in memory: the clearing of its barrier, and parts of the kernel. */
enum { COLUMNS_WORKS = 5 };
size_t panel_geqrf_columns_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[COLUMNS_WORKS]);

/* By the Gram matrix: one kernel in a cluster, a part a work; or three kernels before, in double
 * precision seven (six if A^T A is there), and three behind the form that factorizes what the Gram
 * matrix cannot. */
enum { GRAM_CLUSTER_WORKS = 4, GRAM_WORKS = 3, GRAM_BEGIN_WORKS_MOST = 7 };
void panel_gram_cluster_works(
        const struct geqrf_call *call, struct kernel_work work[GRAM_CLUSTER_WORKS]);
size_t panel_gram_begin_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[GRAM_BEGIN_WORKS_MOST]);
void panel_gram_end_works(const struct geqrf_call *call, const struct tuning_device *device,
        struct kernel_work work[GRAM_WORKS]);
