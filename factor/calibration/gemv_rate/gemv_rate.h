/* SPDX-License-Identifier: MIT */
/* The fit of the gemv_rate probe. */
#ifndef FATHOM_PROBE_GEMV_RATE_H
#define FATHOM_PROBE_GEMV_RATE_H

struct table;
struct profile;
void gemv_rate_fit(const struct table *curve, struct profile *profile);

#endif
