/* SPDX-License-Identifier: MIT */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

/* Columns of a panel of `threads` rows that fit into shared memory, at most 64, a multiple of 4. */
int update_columns(int threads, int64_t shared_bytes);

/* One block on every SM updates its panel `sweeps` times. Returns the cudaError_t; span and sink
 * (a sum of the panel, so that no sweep can be left out) are pinned. */
int update_launch(
        int threads, int columns, int64_t sweeps, int sm_count, struct gpu_span *span, float *sink);

C_END

/* Curve to gpu.panel.{step,pivot}.{s,d}, gpu.panel.column.{s,d}, gpu.panel.twice.{s,d} and
 * gpu.shared.update[threads]. */
struct table;
struct profile;
void panel_kernel_fit(const struct table *curve, struct profile *profile);
