/* SPDX-License-Identifier: MIT */
/* Curve of the copy probe -> gpu.{copy,read,write,change}.time[bytes], gpu.l2.*, gpu.dram.*,
 * gpu.copy.{stride,misaligned,aligned_head,width,inflight,alpha,beta,n_half}. */
#include "lib/base/msg.h"
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <stdlib.h>

/* Nothing bounds the rates but the device: its SMs, which load and store, or its memory's pins. */
static const struct {
	const char *series, *name, *method;
	enum { TIME, L2_RATE, DRAM_RATE } kind;
	const char *column[2], *called;
} rows[] = {
        {"copy_warm", "gpu.copy.time", "start to start, L2 warm, bytes read + written", TIME,
                {"bytes"}, NULL},
        {"read_warm", "gpu.read.time", "start to start, L2 warm", TIME, {"bytes"}, NULL},
        {"write_warm", "gpu.write.time", "start to start, L2 warm", TIME, {"bytes"}, NULL},
        {"change_warm", "gpu.change.time",
                "in place, start to start, L2 warm, bytes read + written", TIME, {"bytes"}, NULL},
        {"copy_l2", "gpu.l2.copy", "read + written, L2 warm, working set L2/2", .kind = L2_RATE},
        {"read_l2", "gpu.l2.read", "L2 warm, working set L2/2", .kind = L2_RATE},
        {"write_l2", "gpu.l2.write", "L2 warm, working set L2/2", .kind = L2_RATE},
        {"copy_sustained", "gpu.dram.copy_sustained", "read + written, L2 cold, sustained",
                .kind = DRAM_RATE},
        {"stride_cold", "gpu.copy.stride", "words read + written, L2 cold", DRAM_RATE,
                {"words", "stride"}, NULL},
        {"misaligned_cold", "gpu.copy.misaligned", "widest access possible, L2 cold", DRAM_RATE,
                {"offset"}, NULL},
        {"aligned_head_cold", "gpu.copy.aligned_head", "short head, aligned body, L2 cold",
                DRAM_RATE, {"offset"}, NULL},
        {"width_cold", "gpu.copy.width", "read + written, L2 cold", DRAM_RATE, {"width"}, NULL},
        {"inflight_cold", "gpu.copy.inflight", "against loads in flight per SM, L2 cold", DRAM_RATE,
                {"inflight"}, "bytes"},
};

/* A rate in the metadata times a factor; infinite when it is unknown. */
static double highest(const struct table *curve, const char *key, double factor)
{
	const double rate = curve_fact(curve, key);

	return rate > 0 ? factor * rate : INFINITY;
}

static void fit_row(
        const struct table *curve, struct profile *profile, size_t i, double sms, double pins)
{
	const bool time = rows[i].kind == TIME;
	char *method = xasprintf("%s%s", rows[i].method, time ? ", middle of the processes" : "");
	const struct curve_rows row = {rows[i].series,
	        {rows[i].name, time ? "s" : "B/s", method, NULL, time ? 1e-7 : 1e6,
	                time                      ? 100
	                : rows[i].kind == L2_RATE ? sms
	                                          : pins},
	        .column = {rows[i].column[0], rows[i].column[1]},
	        .value = time ? curve_midrange : curve_rate, .called = rows[i].called};

	curve_fit_rows(curve, profile, &row, 1, true);
	free(method);
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
		n_half = (struct estimate){fit->n_half, fmax(0, fit->alpha.low) * fit->beta.low,
		        fit->alpha.high * fit->beta.high, fit->alpha.samples};
	profile_add(profile, &alpha, NULL, 0, fit->alpha, line.busy);
	profile_add(profile, &beta, NULL, 0, fit->beta, line.busy);
	profile_add(profile, &half, NULL, 0, n_half, line.busy);
	free(points);
}

void copy_fit(const struct table *curve, struct profile *profile)
{
	const double pins = highest(curve, "pin_bytes_per_second", 1),
	             sms = highest(curve, "sm_bytes_per_second", 2);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		fit_row(curve, profile, i, sms, pins);
	add_largest(curve, profile, "copy_cold", "gpu.dram.copy", pins);
	add_largest(curve, profile, "read_cold", "gpu.dram.read", pins);
	add_largest(curve, profile, "write_cold", "gpu.dram.write", pins);
	add_line(curve, profile, pins);
}
