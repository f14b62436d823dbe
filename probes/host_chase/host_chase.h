/* SPDX-License-Identifier: MIT */
/* What the host_chase probe's sweep and its fit share. */
#ifndef FATHOM_HOST_CHASE_H
#define FATHOM_HOST_CHASE_H

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* Series, with their arguments; seconds of one dependent load everywhere.
 *   chain_small, chain_huge   bytes: all lines of that many bytes, small or huge pages
 *   chain_node               bytes, node: memory of NUMA node `node`, thread on the first one
 *   pages_small, pages_huge nodes, stride: one line in each of `nodes` pages of `stride` bytes
 *   packed                  nodes: as many lines in as few (huge) pages as they need
 *   line                    stride: loads in pairs `stride` bytes apart, pairs far from each other
 * Metadata: stated_l1 to stated_l4, stated_line (bytes; absent when not stated). */

void host_chase_fit(const struct table *curve, struct profile *profile);

#endif
