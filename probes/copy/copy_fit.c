/* SPDX-License-Identifier: MIT */
/* Fit of the copy probe. */
#include "lib/base/base.h"
#include "lib/probe/curve_midrange.h"
#include "lib/stats/fit.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"

#include <math.h>
#include <stdlib.h>

void copy_fit(const struct table *curve, struct profile *profile);

enum limit { SECONDS, PINS, SMS }; /* what bounds a value: nothing (a time), the pins, the SMs */

/* A series and the parameter that each of its points becomes. */
static const struct {
	const char *series, *parameter, *method;
	enum limit limit;
	const char *column[2], *arg[2]; /* curve columns and what they are called in the brackets */
} functions[] = {
        {"copy_warm", "gpu.copy.time",
                "start to start, L2 warm, bytes read + written, middle of the processes", SECONDS,
                {"bytes"}, {"bytes"}},
        {"read_warm", "gpu.read.time", "start to start, L2 warm, middle of the processes", SECONDS,
                {"bytes"}, {"bytes"}},
        {"write_warm", "gpu.write.time", "start to start, L2 warm, middle of the processes",
                SECONDS, {"bytes"}, {"bytes"}},
        {"change_warm", "gpu.change.time",
                "in place, start to start, L2 warm, bytes read + written, middle of the "
                "processes",
                SECONDS, {"bytes"}, {"bytes"}},
        {"copy_l2", "gpu.l2.copy", "read + written, L2 warm, working set L2/2", SMS, {0}, {0}},
        {"read_l2", "gpu.l2.read", "L2 warm, working set L2/2", SMS, {0}, {0}},
        {"write_l2", "gpu.l2.write", "L2 warm, working set L2/2", SMS, {0}, {0}},
        {"copy_sustained", "gpu.dram.copy_sustained", "read + written, L2 cold, sustained", PINS,
                {0}, {0}},
        {"stride_cold", "gpu.copy.stride", "words read + written, L2 cold", PINS,
                {"words", "stride"}, {"words", "stride"}},
        {"misaligned_cold", "gpu.copy.misaligned", "widest access possible, L2 cold", PINS,
                {"offset"}, {"offset"}},
        {"aligned_head_cold", "gpu.copy.aligned_head", "short head, aligned body, L2 cold", PINS,
                {"offset"}, {"offset"}},
        {"width_cold", "gpu.copy.width", "read + written, L2 cold", PINS, {"width"}, {"width"}},
        {"inflight_cold", "gpu.copy.inflight", "against loads in flight per SM, L2 cold", PINS,
                {"inflight"}, {"bytes"}},
};

/* Highest possible rate. Without the metadata there is no bound. */
static double highest(const struct table *curve, enum limit limit)
{
	const char *text =
	        table_meta(curve, limit == PINS ? "pin_bytes_per_second" : "sm_bytes_per_second");
	double rate = text ? strtod(text, NULL) : 0;
	return rate > 0 ? rate * (limit == SMS ? 2 : 1) : INFINITY; /* an SM loads and stores */
}

static struct parameter_spec spec_of(
        const struct table *curve, const char *name, const char *method, enum limit limit)
{
	struct parameter_spec spec = {.name = name, .method = method};
	spec.unit = limit == SECONDS ? "s" : "B/s";
	spec.low = limit == SECONDS ? 1e-7 : 1e6;
	spec.high = limit == SECONDS ? 100 : highest(curve, limit);
	return spec;
}

/* bytes / seconds. */
static struct estimate rate_of(const struct table *curve, const struct point *point)
{
	const struct estimate *t = &point->seconds;
	double bytes = curve_arg(curve, point, "bytes");
	return (struct estimate){bytes / t->value, bytes / t->high,
	        t->low > 0 ? bytes / t->low : INFINITY, t->samples};
}

static const struct estimate absent = {NAN, NAN, NAN, 0};

static void add_function(const struct table *curve, struct profile *profile, size_t f)
{
	struct parameter_spec spec =
	        spec_of(curve, functions[f].parameter, functions[f].method, functions[f].limit);
	struct point *points;
	size_t n = curve_points(curve, functions[f].series, &points);

	for (size_t i = 0; i < n; i++) {
		struct arg args[2];
		size_t count = 0;
		for (; count < 2 && functions[f].column[count]; count++)
			args[count] = (struct arg){functions[f].arg[count],
			        curve_arg(curve, &points[i], functions[f].column[count])};
		struct estimate value = functions[f].limit == SECONDS
		                                ? curve_midrange(curve, &points[i])
		                                : rate_of(curve, &points[i]);
		profile_add(profile, &spec, args, count, value, points[i].busy);
	}
	if (n == 0)
		profile_add(profile, &spec, NULL, 0, absent, false);
	free(points);
}

/* DRAM rate: the largest size of a cold series. */
static void add_largest(const struct table *curve, struct profile *profile, const char *series,
        const char *parameter)
{
	struct parameter_spec spec = spec_of(curve, parameter, "L2 cold, largest size", PINS);
	struct point *points;
	size_t n = curve_points(curve, series, &points), best = 0;

	for (size_t i = 1; i < n; i++)
		if (curve_arg(curve, &points[i], "bytes") >
		        curve_arg(curve, &points[best], "bytes"))
			best = i;
	if (n)
		profile_add(
		        profile, &spec, NULL, 0, rate_of(curve, &points[best]), points[best].busy);
	else
		profile_add(profile, &spec, NULL, 0, absent, false);
	free(points);
}

/* LAWN 202's equation (2) from the cold copies of all sizes. */
static void add_line(const struct table *curve, struct profile *profile)
{
	static const char method[] =
	        "t = alpha + bytes/beta, all sizes, L2 cold, middle of the processes";
	struct parameter_spec alpha = spec_of(curve, "gpu.copy.alpha", method, SECONDS);
	struct parameter_spec beta = spec_of(curve, "gpu.copy.beta", method, PINS);
	const struct parameter_spec half = {"gpu.copy.n_half", "B", method, NULL, 1, INFINITY};
	struct fit_line line = {.alpha = absent, .beta = absent};
	struct estimate n_half = absent;
	struct point *points;
	size_t n = curve_points(curve, "copy_cold", &points);
	double *bytes = xcalloc(n + 1, sizeof *bytes), *seconds = xcalloc(n + 1, sizeof *seconds);
	bool busy = false;

	for (size_t i = 0; i < n; i++) {
		bytes[i] = curve_arg(curve, &points[i], "bytes");
		seconds[i] = curve_midrange(curve, &points[i]).value;
		busy = busy || points[i].busy;
	}
	if (fit_line(bytes, seconds, n, &line))
		n_half = (struct estimate){line.n_half, line.alpha.low * line.beta.low,
		        line.alpha.high * line.beta.high, line.alpha.samples};
	profile_add(profile, &alpha, NULL, 0, line.alpha, busy);
	profile_add(profile, &beta, NULL, 0, line.beta, busy);
	profile_add(profile, &half, NULL, 0, n_half, busy);
	free(seconds);
	free(bytes);
	free(points);
}

void copy_fit(const struct table *curve, struct profile *profile)
{
	for (size_t f = 0; f < ARRAY_LEN(functions); f++)
		add_function(curve, profile, f);
	add_largest(curve, profile, "copy_cold", "gpu.dram.copy");
	add_largest(curve, profile, "read_cold", "gpu.dram.read");
	add_largest(curve, profile, "write_cold", "gpu.dram.write");
	add_line(curve, profile);
}
