/* SPDX-License-Identifier: MIT */
/* Curve of the transfer probe -> link.*: time[bytes] of pinned memory; alpha and beta of t =
 * alpha + bytes/beta over all sizes of a direction and kind of memory; link.node.h2d[node]. */
#include "lib/probe/curve_link.h"

/* A call costs at least a fraction of a microsecond; no link between a host and a device carries
 * more than a few terabytes or less than some hundred megabytes a second. */
static const struct curve_link_bounds bounds = {1e-7, 1e-3, 100, 1e8, 5e12};

#define LINE .alpha = true, .beta = true
#define PINNED "cudaMemcpyAsync + cudaStreamSynchronize, pinned"
#define PAGEABLE "cudaMemcpy, pageable"
#define MAPPED "kernel with 16-byte accesses to mapped memory"

/* Freshly written memory comes from the core's caches or from DRAM, at different rates: no line. */
static const struct curve_link links[] = {
        {"h2d_pinned", "link.h2d.pinned", PINNED, LINE, .times = true},
        {"d2h_pinned", "link.d2h.pinned", PINNED, LINE, .times = true},
        {"h2d_written", "link.h2d.written", PINNED ", just written by the calling core",
                .times = true},
        {"h2d_pageable", "link.h2d.pageable", PAGEABLE, LINE},
        {"d2h_pageable", "link.d2h.pageable", PAGEABLE, LINE},
        {"h2d_wc", "link.h2d.wc", "cudaMemcpyAsync + cudaStreamSynchronize, write-combined", LINE},
        {"h2d_mapped", "link.h2d.mapped", MAPPED, LINE},
        {"d2h_mapped", "link.d2h.mapped", MAPPED, LINE},
        {"both_pinned", "link.both.pinned", "both directions at once, sum of both, pinned",
                .beta = true},
};

void transfer_fit(const struct table *curve, struct profile *profile)
{
	/* only on machines with several nodes */
	const struct curve_rows nodes = {"h2d_node",
	        {"link.node.h2d", "B/s",
	                "bytes over seconds of a large transfer from pinned memory of the node",
	                NULL, bounds.least_rate, bounds.most_rate},
	        .column = {"node"}, .value = curve_rate};

	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		curve_fit_link(curve, profile, &links[i], &bounds);
	curve_fit_rows(curve, profile, &nodes, 1, false);
}
