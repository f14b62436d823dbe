/* SPDX-License-Identifier: MIT */
/* The grid of qr_columns.cu, for its launcher and its work. */
#pragma once

#include "lib/base/base.h"

enum {
	QR_COLUMNS_WARPS = 8,
	QR_COLUMNS_EACH = 8, /* columns of a cluster */
	QR_COLUMNS_MOST = 16,
	QR_COLUMNS_HALF = QR_COLUMNS_MOST / 2,
	QR_COLUMNS_HALF_ROWS = 640 /* of a block of half a cluster, at most */
};

struct qr_columns_plan {
	int64_t clusters, blocks, share; /* blocks: of a cluster; share: rows of a block, at most */
};

/* Four rows for each warp at a time. */
static inline struct qr_columns_plan qr_columns_plan_of(int64_t m, int64_t n)
{
	const int64_t step = 4 * QR_COLUMNS_WARPS,
	              blocks = m <= QR_COLUMNS_HALF * QR_COLUMNS_HALF_ROWS ? QR_COLUMNS_HALF
	                                                                   : QR_COLUMNS_MOST;
	return (struct qr_columns_plan){(n + QR_COLUMNS_EACH - 1) / QR_COLUMNS_EACH, blocks,
	        ((m + blocks - 1) / blocks + step - 1) / step * step};
}
