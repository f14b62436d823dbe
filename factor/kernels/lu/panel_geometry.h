/* SPDX-License-Identifier: MIT */
/* How a panel is laid over the multiprocessors by the resident kernel: the launcher and the model
 * read the same answer. */
#ifndef FATHOM_PANEL_GEOMETRY_H
#define FATHOM_PANEL_GEOMETRY_H

#include "lib/base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads that hold and update rows; the kernel adds one warp for the exchange. */
enum {
	PANEL_COMPUTE_THREADS = 256,
	PANEL_FEWEST_ROWS = 128, /* of a block: fewer would only add blocks to the exchange */
	PANEL_LOADS = 8 /* loads that a thread has in flight when the panel is brought in */
};

struct panel_geometry {
	int blocks, threads;
	int64_t rows_per_block; /* a multiple of the warp; the first block holds at least the n
	                           pivot rows */
	int64_t pitch; /* elements between columns in shared memory: odd, so that rows have no bank
	                  conflicts */
	int64_t shared_bytes; /* of one block */
};

/* One block per multiprocessor at most. False when the panel does not fit on chip; the geometry
 * then says what it would take. */
bool panel_geometry(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g);

/* The same for a panel beside another kernel: on a quarter of the multiprocessors when it fits
 * there, as its time is in the exchanges and the other kernel's in the multiprocessors. */
bool panel_geometry_beside(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g);

/* Rows that one cluster of PANEL_CLUSTER multiprocessors holds of a panel of n columns, PANEL_ROW
 * words of 4 bytes in a thread's registers; 0 when a row is longer. */
enum { PANEL_CLUSTER = 16, PANEL_CLUSTER_THREADS = 256, PANEL_ROW = 128 };
int64_t panel_cluster_rows(int64_t n, int64_t word_bytes);

/* And that the grid kernel holds in those of sm_count of them. */
enum { PANEL_GRID_MOST = 128 };
int64_t panel_grid_rows(int64_t n, int64_t word_bytes, int64_t sm_count);

/* Whether a Householder panel in single precision goes by the Gram matrix where the device has that
 * form (panel_geqrf_gram_fits): narrower ones are no slower in one cluster. So many rows are one
 * kernel's, what the shared memory of a cluster holds (H200); more take several. */
enum { PANEL_GRAM_COLUMNS = 64, PANEL_GRAM_CLUSTER_ROWS = 8192 };
bool panel_gram_takes(int64_t m, int64_t n);

/* Launches, that of the other form included which stands by. */
int panel_gram_launches(int64_t m);

#ifdef __cplusplus
}
#endif
#endif
