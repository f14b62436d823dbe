/* SPDX-License-Identifier: MIT */
/* Curve of the host_parallel probe -> host.parallel.fork[threads], host.parallel.barrier[threads].
 */
#include "lib/base/base.h"
#include "lib/probe/curve_fit.h"

void host_parallel_fit(const struct table *curve, struct profile *profile)
{
	/* Below: less than a cycle of any processor; above: the threads were not running. */
	static const struct curve_rows rows[] = {
	        {"fork",
	                {"host.parallel.fork", "s", "empty OpenMP regions in a row, bound threads",
	                        NULL, 1e-10, 0.1},
	                .column = {"threads"}},
	        {"barrier",
	                {"host.parallel.barrier", "s", "OpenMP barriers in a row, bound threads",
	                        NULL, 1e-10, 0.1},
	                .column = {"threads"}},
	};

	curve_fit_rows(curve, profile, rows, ARRAY_LEN(rows), true);
}
