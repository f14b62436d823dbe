/* SPDX-License-Identifier: MIT */
/* The fit of the block_kernel probe. */
#ifndef FATHOM_PROBE_BLOCK_KERNEL_H
#define FATHOM_PROBE_BLOCK_KERNEL_H

struct table;
struct profile;
void block_kernel_fit(const struct table *curve, struct profile *profile);

#endif
