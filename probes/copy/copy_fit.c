/* SPDX-License-Identifier: MIT */
/* Curve of the copy probe -> gpu.{copy,read,write,change}.time[bytes], gpu.l2.*, gpu.dram.*,
 * gpu.copy.{stride,misaligned,aligned_head,width,inflight,alpha,beta,n_half}. */
#include "lib/base/base.h"
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <stdlib.h>

void copy_fit(const struct table *curve, struct profile *profile);

/* A function of times. Nothing bounds the rates but the device: PINS of its memory, or SMS. */
#define TIMES(name, method)                                                                        \
	{                                                                                          \
		name, "s", method ", middle of the processes", NULL, 1e-7, 100                     \
	}
#define RATES(name, method)                                                                        \
	{                                                                                          \
		name, "B/s", method, NULL, 1e6, INFINITY                                           \
	}

static const struct curve_rows times[] = {
        {"copy_warm", TIMES("gpu.copy.time", "start to start, L2 warm, bytes read + written"),
                .column = {"bytes"}, .value = curve_midrange},
        {"read_warm", TIMES("gpu.read.time", "start to start, L2 warm"), .column = {"bytes"},
                .value = curve_midrange},
        {"write_warm", TIMES("gpu.write.time", "start to start, L2 warm"), .column = {"bytes"},
                .value = curve_midrange},
        {"change_warm",
                TIMES("gpu.change.time", "in place, start to start, L2 warm, bytes read + written"),
                .column = {"bytes"}, .value = curve_midrange},
};

static const struct curve_rows l2_rates[] = {
        {"copy_l2", RATES("gpu.l2.copy", "read + written, L2 warm, working set L2/2"),
                .value = curve_rate},
        {"read_l2", RATES("gpu.l2.read", "L2 warm, working set L2/2"), .value = curve_rate},
        {"write_l2", RATES("gpu.l2.write", "L2 warm, working set L2/2"), .value = curve_rate},
};

static const struct curve_rows dram_rates[] = {
        {"copy_sustained", RATES("gpu.dram.copy_sustained", "read + written, L2 cold, sustained"),
                .value = curve_rate},
        {"stride_cold", RATES("gpu.copy.stride", "words read + written, L2 cold"),
                .column = {"words", "stride"}, .value = curve_rate},
        {"misaligned_cold", RATES("gpu.copy.misaligned", "widest access possible, L2 cold"),
                .column = {"offset"}, .value = curve_rate},
        {"aligned_head_cold", RATES("gpu.copy.aligned_head", "short head, aligned body, L2 cold"),
                .column = {"offset"}, .value = curve_rate},
        {"width_cold", RATES("gpu.copy.width", "read + written, L2 cold"), .column = {"width"},
                .value = curve_rate},
        {"inflight_cold", RATES("gpu.copy.inflight", "against loads in flight per SM, L2 cold"),
                .column = {"inflight"}, .value = curve_rate, .called = "bytes"},
};

/* A rate in the metadata times a factor; infinite when it is unknown. */
static double highest(const struct table *curve, const char *key, double factor)
{
	const double rate = curve_fact(curve, key);

	return rate > 0 ? factor * rate : INFINITY;
}

static void fit_rates(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, size_t count, double high)
{
	for (size_t i = 0; i < count; i++) {
		struct curve_rows row = rows[i];
		row.spec.high = high;
		curve_fit_rows(curve, profile, &row, 1, true);
	}
}

/* DRAM rate: the largest size of a cold series. */
static void add_largest(const struct table *curve, struct profile *profile, const char *series,
        const char *parameter, double pins)
{
	const struct parameter_spec spec = {
	        parameter, "B/s", "L2 cold, largest size", NULL, 1e6, pins};
	struct point *points;
	const size_t n = curve_points(curve, series, &points);
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (curve_arg(curve, &points[i], "bytes") >
		        curve_arg(curve, &points[best], "bytes"))
			best = i;
	profile_add(profile, &spec, NULL, 0, n ? curve_rate(curve, &points[best]) : estimate_none,
	        n > 0 && points[best].busy);
	free(points);
}

/* LAPACK Working Note 202, equation (2), from the cold copies of all sizes. */
static void add_line(const struct table *curve, struct profile *profile, double pins)
{
	static const char method[] =
	        "t = alpha + bytes/beta, all sizes, L2 cold, middle of the processes";
	const struct parameter_spec alpha = {"gpu.copy.alpha", "s", method, NULL, 1e-7, 100},
	                            beta = {"gpu.copy.beta", "B/s", method, NULL, 1e6, pins},
	                            half = {"gpu.copy.n_half", "B", method, NULL, 1, INFINITY};
	struct estimate n_half = estimate_none;
	struct point *points;
	const size_t n = curve_points(curve, "copy_cold", &points);
	const struct curve_line line = curve_fit_line(curve, points, n, curve_midrange);
	const struct fit_line *fit = &line.fit;

	if (line.fitted)
		n_half = (struct estimate){fit->n_half, fit->alpha.low * fit->beta.low,
		        fit->alpha.high * fit->beta.high, fit->alpha.samples};
	profile_add(profile, &alpha, NULL, 0, fit->alpha, line.busy);
	profile_add(profile, &beta, NULL, 0, fit->beta, line.busy);
	profile_add(profile, &half, NULL, 0, n_half, line.busy);
	free(points);
}

void copy_fit(const struct table *curve, struct profile *profile)
{
	const double pins = highest(curve, "pin_bytes_per_second", 1);

	curve_fit_rows(curve, profile, times, ARRAY_LEN(times), true);
	/* an SM loads and stores */
	fit_rates(curve, profile, l2_rates, ARRAY_LEN(l2_rates),
	        highest(curve, "sm_bytes_per_second", 2));
	fit_rates(curve, profile, dram_rates, ARRAY_LEN(dram_rates), pins);
	add_largest(curve, profile, "copy_cold", "gpu.dram.copy", pins);
	add_largest(curve, profile, "read_cold", "gpu.dram.read", pins);
	add_largest(curve, profile, "write_cold", "gpu.dram.write", pins);
	add_line(curve, profile, pins);
}
