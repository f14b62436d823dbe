/* SPDX-License-Identifier: MIT */
/* The fit of the gemm_rate probe. */
#pragma once

struct table;
struct profile;
void gemm_rate_fit(const struct table *curve, struct profile *profile);
