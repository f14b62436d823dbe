/* SPDX-License-Identifier: MIT */
/* The fit of the gemm_rate probe. */
#ifndef FATHOM_PROBE_GEMM_RATE_H
#define FATHOM_PROBE_GEMM_RATE_H

struct table;
struct profile;
void gemm_rate_fit(const struct table *curve, struct profile *profile);

#endif
