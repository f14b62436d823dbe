/* SPDX-License-Identifier: MIT */
/* The work of the LU panel kernels, operands in L2 as far as it holds them. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "factor/tuning/tuning.h"

/* A column of the resident kernel without the update, one exchange: m rows, n columns. */
void panel_column_work(
        enum precision precision, int64_t m, int64_t n, int sm_count, struct kernel_work *work);

/* The kernels of a column of the fused variant, the first column's. */
void panel_pivot_work(enum precision precision, int64_t m, int64_t n, struct kernel_work *work);
void panel_update_work(enum precision precision, int64_t m, int64_t n, struct kernel_work *work);

/* The panel in the registers of one cluster, and of many multiprocessors. False where it does not
 * fit. */
bool panel_cluster_work(enum precision precision, int64_t m, int64_t n, struct kernel_work *work);
bool panel_registers_work(
        enum precision precision, int64_t m, int64_t n, int sm_count, struct kernel_work *work);
