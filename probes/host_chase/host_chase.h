/* SPDX-License-Identifier: MIT */
#pragma once

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* Series, with their arguments, in seconds of one dependent load:
 *   chain_small, chain_huge   bytes: all lines of a set, in small or huge pages
 *   chain_node               bytes, node: memory of NUMA node `node`, from the first node
 *   pages_small, pages_huge nodes, stride: one line in each of `nodes` pages of `stride` bytes
 *   packed                  nodes: as many lines in as few (huge) pages as possible
 *   line                    stride: pairs of loads `stride` bytes apart, the pairs far apart
 * Metadata: stated_l1 to stated_l4, stated_line, in bytes; absent when not stated. */
void host_chase_fit(const struct table *curve, struct profile *profile);
