/* SPDX-License-Identifier: MIT */
/* The work of a host's routine as plain data, for the law of the host
 * (factor/model/law/host_law.h). A routine is a list of such parts, one after the other. Zero means
 * none, unless a line says more.
 */
#pragma once

#include "lib/base/base.h"
#include "lib/base/precision.h"

enum { HOST_TRAFFICS = 2 };

struct host_work {
	double threads; /* that share the part, 0: one */
	double regions; /* parallel: threads start and are waited for */
	double calls;   /* of short loops (a vector, a column), one after the other on a thread */
	double cycles;  /* of the clock for dependent steps on a thread */

	/* Bytes of lines: read, and changed (which reads and writes them); both at once overlap.
	 * set: bytes that are used again and again, shared by the threads; it decides which cache
	 * they come from. */
	struct host_traffic {
		double read, changed, set;
	} traffic[HOST_TRAFFICS];
	double words;     /* elements changed one by one, each in a line of its own, ... */
	double words_set; /* ... of so many bytes */

	double handed, handovers; /* bytes that another core has just changed; times that a thread
	                             begins to read such bytes */
	double flops;             /* multiply-adds of the widest vectors: two each */
	enum precision precision; /* of the flops */
};
