/* SPDX-License-Identifier: MIT */
/* The fits of the calibrations. */
#pragma once

struct table;
struct profile;
void block_kernel_fit(const struct table *curve, struct profile *profile);
void gemm_rate_fit(const struct table *curve, struct profile *profile);
void gemv_rate_fit(const struct table *curve, struct profile *profile);
void host_gram_fit(const struct table *curve, struct profile *profile);
void host_rate_fit(const struct table *curve, struct profile *profile);
void panel_kernel_fit(const struct table *curve, struct profile *profile);
