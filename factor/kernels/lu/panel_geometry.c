/* SPDX-License-Identifier: MIT */
#include "panel_geometry.h"

#include "lib/device/exchange.cuh"

enum {
	WARP = 32,
	MOST_BLOCKS = WARP * EXCHANGE_LANE_SLOTS, /* that one warp polls */
	SCRATCH_ROWS = 6,                         /* rows of n doubles beside the panel */
	SCRATCH_WORDS = 128,                      /* doubles for the kernel's variables */
	GRAM_NARROWEST = 17,
	CLUSTER_WIDE = 32 /* columns up to which one cluster is faster */
};

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

bool panel_geometry(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g)
{
	sm_count = (int)min_int64(sm_count, MOST_BLOCKS);
	*g = (struct panel_geometry){.threads = PANEL_COMPUTE_THREADS};
	/* limits of LAPACK's 32-bit integers: the products below can't overflow */
	if (n < 1 || m < n || m > INT32_MAX || sm_count < 1)
		return false;

	const int64_t least = divide_up(larger(n, divide_up(m, sm_count)), WARP) * WARP;
	const int64_t scratch = (SCRATCH_ROWS * n + SCRATCH_WORDS) * 8;
	g->rows_per_block = larger(least, PANEL_FEWEST_ROWS);
	if (n > INT64_MAX / (2 * (g->rows_per_block + 1) * word_bytes)) {
		g->shared_bytes = INT64_MAX;
		return false;
	}
	while (g->rows_per_block > least &&
	        (g->rows_per_block + 1) * n * word_bytes + scratch > shared_per_block)
		g->rows_per_block -= WARP;
	g->blocks = (int)divide_up(m, g->rows_per_block);
	g->pitch = g->rows_per_block + 1;
	g->shared_bytes = g->pitch * n * word_bytes + scratch;
	g->dynamic_bytes = (g->pitch * n + PANEL_ROWS_KEPT * panel_kept_words((int)n)) * word_bytes;
	return g->shared_bytes <= shared_per_block && g->blocks <= sm_count;
}

bool panel_geometry_beside(int64_t m, int64_t n, int64_t word_bytes, int sm_count,
        int64_t shared_per_block, struct panel_geometry *g)
{
	enum { SHARE = 4 };

	return panel_geometry(m, n, word_bytes, sm_count / SHARE, shared_per_block, g) ||
	       panel_geometry(m, n, word_bytes, sm_count, shared_per_block, g);
}

int64_t panel_columns(int64_t n)
{
	int64_t columns = WARP;

	while (columns < n && columns <= PANEL_ROW)
		columns *= 2;
	return columns;
}

/* Rows that the registers of one multiprocessor hold. */
static int64_t rows_in_registers(int64_t n, int64_t word_bytes)
{
	return PANEL_ROW * 4 / (panel_columns(n) * word_bytes) * PANEL_CLUSTER_THREADS;
}

int64_t panel_cluster_rows(int64_t n, int64_t word_bytes)
{
	return rows_in_registers(n, word_bytes) * PANEL_CLUSTER;
}

int64_t panel_grid_rows(int64_t n, int64_t word_bytes, int64_t sm_count)
{
	return rows_in_registers(n, word_bytes) *
	       (sm_count < PANEL_GRID_MOST ? sm_count : PANEL_GRID_MOST);
}

bool panel_gram_takes(enum precision precision, int64_t m, int64_t n)
{
	const bool held = m <= panel_cluster_rows(CLUSTER_WIDE, 4), wide = n > CLUSTER_WIDE;

	if (n < GRAM_NARROWEST || n > PANEL_GRAM_COLUMNS || m < n)
		return false;
	return precision == DOUBLE ? m > panel_cluster_rows(n, 8) / (wide ? 2 : 1) : !held || wide;
}

int panel_gram_launches(enum precision precision, int64_t m, bool clusters)
{
	enum { ONE_KERNEL = 1, SEVERAL = 7, SEVERAL_DOUBLE = 11 };

	if (precision == DOUBLE)
		return SEVERAL_DOUBLE;
	return clusters && m <= PANEL_GRAM_CLUSTER_ROWS ? ONE_KERNEL : SEVERAL;
}
