/* SPDX-License-Identifier: MIT */
/* The distribution of a panel over the multiprocessors, used by the launcher and the model. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/precision.h"

C_BEGIN

/* Threads that hold and update rows; the kernel adds one warp for the exchange. */
enum {
	PANEL_COMPUTE_THREADS = 256,
	PANEL_FEWEST_ROWS = 128, /* per block, at least, where they fit: fewer rows would only add
	                            blocks to the exchange */
	PANEL_LOADS = 8,         /* loads of a thread in flight when the panel is read */
	PANEL_STATIC_BYTES = 896 /* of a block's shared memory, at most: the kernel's variables */
};

/* Words of a row with its divisor and its number in shared memory; a block has PANEL_ROWS_KEPT
 * beside its rows. */
enum { PANEL_ROWS_KEPT = 3 };
static inline HOST_DEVICE int panel_kept_words(int n)
{
	return (n + 2 + 3) / 4 * 4;
}

struct panel_geometry {
	int blocks, threads;
	int64_t rows_per_block; /* a multiple of the warp; the first block holds at least the n
	                           pivot rows */
	int64_t pitch; /* elements between columns in shared memory: odd, against bank conflicts
	                  along rows */
	int64_t shared_bytes;  /* per block, at most */
	int64_t dynamic_bytes; /* of them what the launch asks for */
};

/* At most one block per multiprocessor. False when the panel does not fit on chip; the geometry
 * then holds the requirement. */
bool panel_geometry(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g);

/* The same for a panel beside another kernel: on a quarter of the multiprocessors if it fits there.
 * The panel is limited by exchanges, the other kernel by multiprocessors. */
bool panel_geometry_beside(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g);

/* Words of 4 bytes that a block exchanges: a row of the panel, its divisor, its number. */
static inline int panel_resident_words(enum precision precision, int64_t n)
{
	return (int)((n + 1) * precision_bytes(precision) / 4) + 1;
}

/* Rows of a panel of n columns that one cluster of PANEL_CLUSTER multiprocessors holds, with
 * PANEL_ROW words of 4 bytes in a thread's registers; 0 when a row is longer. */
enum { PANEL_CLUSTER = 16, PANEL_CLUSTER_THREADS = 256, PANEL_ROW = 128 };
int64_t panel_cluster_rows(int64_t n, int64_t word_bytes);

/* Columns of the kernels that hold a panel of n columns in registers: 32, 64 or 128; 256 for more.
 */
int64_t panel_columns(int64_t n);

/* The same for the grid kernel on sm_count multiprocessors. */
enum { PANEL_GRID_MOST = 128 };
int64_t panel_grid_rows(int64_t n, int64_t word_bytes, int64_t sm_count);

/* The cluster's kernels: type, columns, rows of a thread, most row warps of a block. The first that
 * a panel fits is used: more warps per scheduler cost more time than more rows per thread. */
/* clang-format off */
#define PANEL_CLUSTER_FORMS(FORM)                                                                  \
	FORM(float, 32, 1, 2) FORM(float, 32, 2, 4) FORM(float, 32, 4, 4) FORM(float, 32, 4, 8)    \
	FORM(float, 64, 1, 2) FORM(float, 64, 2, 4) FORM(float, 64, 2, 8)                          \
	FORM(float, 128, 1, 4) FORM(float, 128, 1, 8)                                              \
	FORM(double, 32, 1, 2) FORM(double, 32, 2, 4) FORM(double, 32, 2, 8)                       \
	FORM(double, 64, 1, 4) FORM(double, 64, 1, 8)
/* clang-format on */

/* Warps of a block with more row warps than schedulers, the sender included: whole warpgroups. */
enum { PANEL_SCHEDULERS = 4, PANEL_GROUPED = 12 };

/* Blocks, each with one warp of rows if the cluster may be that large; row warps of a block. */
static inline HOST_DEVICE int panel_cluster_blocks(int rows, int64_t m)
{
	int blocks = 2; /* a cluster needs two */

	while (blocks < PANEL_CLUSTER && (int64_t)32 * blocks * rows < m)
		blocks *= 2;
	return blocks;
}

static inline HOST_DEVICE int panel_cluster_warps(int rows, int64_t m, int blocks)
{
	const int64_t all = (int64_t)32 * blocks * rows;

	return (int)((m + all - 1) / all);
}

/* Whether a Householder panel uses the Gram matrix on devices with that form
 * (panel_geqrf_gram_fits), in double precision where the plan says so (panel_geqrf). Narrow panels
 * are as fast in one cluster. In double precision so are all that its registers hold, and of wider
 * panels those of half as many rows. In single precision up to PANEL_GRAM_CLUSTER_ROWS rows, which
 * a cluster's shared memory holds, take one kernel; more rows take several. */
enum { PANEL_GRAM_COLUMNS = 64, PANEL_GRAM_CLUSTER_ROWS = 8192 };
bool panel_gram_takes(enum precision precision, int64_t m, int64_t n);

/* Number of launches, including the fallback form. clusters: the device has the cluster's kernel.
 */
int panel_gram_launches(enum precision precision, int64_t m, bool clusters);

C_END
