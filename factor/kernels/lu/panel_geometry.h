/* SPDX-License-Identifier: MIT */
/* The distribution of a panel over the multiprocessors, used by the launcher and the model. */
#pragma once

#include "lib/base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads that hold and update rows; the kernel adds one warp for the exchange. */
enum {
	PANEL_COMPUTE_THREADS = 256,
	PANEL_FEWEST_ROWS =
	        128,    /* per block, at least: fewer rows would only add blocks to the exchange */
	PANEL_LOADS = 8 /* loads of a thread in flight when the panel is read */
};

struct panel_geometry {
	int blocks, threads;
	int64_t rows_per_block; /* a multiple of the warp; the first block holds at least the n
	                           pivot rows */
	int64_t pitch; /* elements between columns in shared memory: odd, against bank conflicts
	                  along rows */
	int64_t shared_bytes; /* per block */
};

/* At most one block per multiprocessor. False when the panel does not fit on chip; the geometry
 * then holds the requirement. */
bool panel_geometry(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g);

/* The same for a panel beside another kernel: on a quarter of the multiprocessors if it fits there.
 * The panel is limited by exchanges, the other kernel by multiprocessors. */
bool panel_geometry_beside(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g);

/* Rows of a panel of n columns that one cluster of PANEL_CLUSTER multiprocessors holds, with
 * PANEL_ROW words of 4 bytes in a thread's registers; 0 when a row is longer. */
enum { PANEL_CLUSTER = 16, PANEL_CLUSTER_THREADS = 256, PANEL_ROW = 128 };
int64_t panel_cluster_rows(int64_t n, int64_t word_bytes);

/* The same for the grid kernel on sm_count multiprocessors. */
enum { PANEL_GRID_MOST = 128 };
int64_t panel_grid_rows(int64_t n, int64_t word_bytes, int64_t sm_count);

/* Whether a single-precision Householder panel uses the Gram matrix on devices with that form
 * (panel_geqrf_gram_fits). Narrower panels are as fast in one cluster. Up to
 * PANEL_GRAM_CLUSTER_ROWS rows, which a cluster's shared memory holds, take one kernel; more rows
 * take several. */
enum { PANEL_GRAM_COLUMNS = 64, PANEL_GRAM_CLUSTER_ROWS = 8192 };
bool panel_gram_takes(int64_t m, int64_t n);

/* Number of launches, including the fallback form. */
int panel_gram_launches(int64_t m);

#ifdef __cplusplus
}
#endif
