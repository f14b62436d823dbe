/* SPDX-License-Identifier: MIT */
/* The kernels that hold a panel in registers (panel_registers.cuh): their shapes and grids. */
#pragma once

#include "lib/base/precision.h"

/* A kernel for panels of up to `columns` columns. rows: per thread; most: blocks up to which it is
 * preferred, 0 for all. kernel: on the device. */
struct register_panel {
	enum precision precision;
	int columns, rows, threads, cluster;
	int most;
	const void *kernel;
};

enum { REGISTER_PANELS = 32 }; /* most entries of a table */

static inline int64_t register_panel_blocks(const struct register_panel *v, int64_t m)
{
	const int64_t rows = (int64_t)v->rows * v->threads * v->cluster;
	return (m + rows - 1) / rows * v->cluster;
}

/* With at most `most` blocks. */
static inline bool register_panel_takes(const struct register_panel *v, enum precision precision,
        int64_t m, int64_t n, int64_t most)
{
	const int64_t blocks = register_panel_blocks(v, m);
	return v->precision == precision && n <= v->columns && blocks <= most &&
	       (v->most == 0 || blocks <= v->most);
}

/* X(real, columns, rows, threads, cluster, most) for Householder's and Gram-Schmidt's kernels, in
 * the order of preference: one cluster alone, clusters, blocks. A thread's registers hold at most
 * 128 words of a row. */
#define HOUSEHOLDER_REGISTER_PANELS(X)                                                             \
	X(float, 32, 1, 128, 16, 16)                                                               \
	X(float, 32, 4, 128, 16, 16)                                                               \
	X(float, 32, 4, 256, 1, 0)                                                                 \
	X(float, 64, 2, 128, 8, 8)                                                                 \
	X(float, 64, 2, 256, 8, 8)                                                                 \
	X(float, 64, 2, 256, 16, 16)                                                               \
	X(float, 64, 2, 128, 8, 0)                                                                 \
	X(float, 64, 2, 256, 1, 0)                                                                 \
	X(float, 128, 1, 128, 8, 8)                                                                \
	X(float, 128, 1, 256, 8, 8)                                                                \
	X(float, 128, 1, 256, 16, 16)                                                              \
	X(float, 128, 1, 256, 8, 0)                                                                \
	X(float, 128, 1, 256, 1, 0)                                                                \
	X(double, 32, 1, 128, 1, 16)                                                               \
	X(double, 32, 2, 256, 1, 0)                                                                \
	X(double, 64, 1, 128, 8, 8)                                                                \
	X(double, 64, 1, 256, 8, 8)                                                                \
	X(double, 64, 1, 256, 16, 16)                                                              \
	X(double, 64, 1, 256, 8, 0)                                                                \
	X(double, 64, 1, 256, 1, 0)
#define GRAM_REGISTER_PANELS(X)                                                                    \
	X(float, 32, 1, 128, 16, 16)                                                               \
	X(float, 32, 4, 128, 16, 16)                                                               \
	X(float, 32, 4, 256, 1, 0)                                                                 \
	X(float, 64, 2, 128, 8, 8)                                                                 \
	X(float, 64, 2, 256, 8, 8)                                                                 \
	X(float, 64, 2, 256, 16, 16)                                                               \
	X(float, 64, 2, 128, 8, 0)                                                                 \
	X(float, 64, 2, 256, 1, 0)                                                                 \
	X(double, 32, 1, 128, 1, 16)                                                               \
	X(double, 32, 2, 256, 1, 0)                                                                \
	X(double, 64, 1, 128, 8, 8)                                                                \
	X(double, 64, 1, 256, 16, 16)                                                              \
	X(double, 64, 1, 256, 8, 0)                                                                \
	X(double, 64, 1, 256, 1, 0)
