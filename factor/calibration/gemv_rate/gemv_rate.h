/* SPDX-License-Identifier: MIT */
/* The fit of the gemv_rate probe. */
#pragma once

struct table;
struct profile;
void gemv_rate_fit(const struct table *curve, struct profile *profile);
