/* SPDX-License-Identifier: MIT */
/* Curve of the host_parallel probe -> host.parallel.fork[threads], host.parallel.barrier[threads],
 * host.fma.{s,d}[threads]. */
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

static struct estimate flops(const struct table *curve, const struct point *point)
{
	(void)curve;
	return estimate_inverse(1, point->seconds);
}

#define FMA(series, parameter)                                                                     \
	{                                                                                          \
		series,                                                                            \
		        {parameter, "flop/s",                                                      \
		                "multiply-adds of the widest vectors, bound threads, together",    \
		                NULL, 1e8, 1e16},                                                  \
		        .column = {"threads"}, .value = flops                                      \
	}

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
	static const struct curve_rows multiply_adds[] = {
	        FMA("fma_s", "host.fma.s"), FMA("fma_d", "host.fma.d")};

	curve_fit_rows(curve, profile, rows, ARRAY_LEN(rows), true);
	curve_fit_rows(curve, profile, multiply_adds, ARRAY_LEN(multiply_adds), false);
}
