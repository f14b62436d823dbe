/* SPDX-License-Identifier: MIT */
/* Curve of the concurrency probe -> parameters.
 *
 * gpu.overlap.*: (alone + alone - together) / the shorter alone: 1 when the shorter one is hidden,
 * 0 when they run one after the other, negative when each only disturbs the other.
 * gpu.concurrent.copies_*: times alone over the time of two together. gpu.copy.engines: the largest
 * such quotient of up to six transfers, of short rows included. gpu.concurrent.kernels and
 * gpu.queue.*: counts. gpu.priority.delay: beyond the same launch on an idle device. The rest as
 * measured. */
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

/* The only point of a series without arguments. */
static struct point single(const struct table *curve, const char *series)
{
	return curve_at(curve, series, NULL, 0);
}

/* ---- overlap ---- */

static struct estimate overlap(struct estimate a, struct estimate b, struct estimate together)
{
	if (!a.samples || !b.samples || !together.samples)
		return estimate_none;
	const struct estimate shorter = a.value < b.value ? a : b;
	const double value = (a.value + b.value - together.value) / shorter.value;
	const double half = hypot(hypot(estimate_half_width(a), estimate_half_width(b)),
	                            estimate_half_width(together)) /
	                    shorter.value;
	return estimate_around(value, half, a.samples + b.samples + together.samples);
}

static void fit_overlap(const struct table *curve, struct profile *profile)
{
#define OVERLAP(what) what "; (alone + alone - together) / shorter, 1: full, 0: none"
	static const struct {
		const char *name, *a, *b, *together, *method;
	} rules[] = {
	        {"gpu.overlap.h2d", "arithmetic", "h2d", "arithmetic_h2d",
	                OVERLAP("arithmetic on every SM beside a transfer to the device")},
	        {"gpu.overlap.d2h", "arithmetic", "d2h", "arithmetic_d2h",
	                OVERLAP("arithmetic on every SM beside a transfer to the host")},
	        {"gpu.overlap.both", "arithmetic", "both", "arithmetic_both",
	                OVERLAP("arithmetic on every SM beside transfers both ways")},
	        {"gpu.overlap.directions", "h2d", "d2h", "both",
	                OVERLAP("a transfer to the device beside one to the host")},
	        {"gpu.overlap.memory_h2d", "memory", "h2d", "memory_h2d",
	                OVERLAP("copy in device memory beside a transfer to the device")},
	        {"gpu.overlap.memory_d2h", "memory", "d2h", "memory_d2h",
	                OVERLAP("copy in device memory beside a transfer to the host")},
	        {"gpu.overlap.halves", "half", "half", "halves",
	                OVERLAP("two kernels of half as many blocks as SMs")},
	        {"gpu.overlap.small", "large", "small", "large_small",
	                OVERLAP("a kernel of four blocks beside one with a block on every SM")},
	};
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		const struct point a = single(curve, rules[i].a), b = single(curve, rules[i].b),
		                   together = single(curve, rules[i].together);
		/* full overlap is 1; more is the error of the three times */
		const struct parameter_spec spec = {
		        rules[i].name, "ratio", rules[i].method, NULL, -1, 1.1};
		/* one multiprocessor has no half */
		const bool may_lack =
		        strcmp(rules[i].a, "memory") == 0 ||
		        (strcmp(rules[i].a, "half") == 0 && curve_fact(curve, "gpu_sms") == 1);
		const bool left_out = may_lack && !a.seconds.samples;
		if (!left_out)
			profile_add(profile, &spec, NULL, 0,
			        overlap(a.seconds, b.seconds, together.seconds),
			        a.busy || b.busy || together.busy);
	}
}

/* ---- several transfers ---- */

static struct estimate alone(const struct table *curve, const char *series)
{
	const struct arg one = {"copies", 1};
	return curve_at(curve, series, &one, 1).seconds;
}

/* Times alone over the time of k together; half of mixed transfers, rounded up, go to the device.
 */
static struct estimate speed_up(
        struct estimate even, struct estimate odd, struct estimate together, double copies)
{
	if (!even.samples || !odd.samples || !together.samples)
		return estimate_none;
	const double up = ceil(copies / 2), down = floor(copies / 2);
	const double sum = up * even.value + down * odd.value;
	const double error =
	        hypot(up * estimate_half_width(even), down * estimate_half_width(odd)) / sum;
	const double value = sum / together.value;
	return estimate_around(value,
	        value * hypot(error, estimate_half_width(together) / together.value),
	        together.samples);
}

/* Returns the best of all combinations: as many engines were at work. *busy: beside another user.
 */
static struct estimate fit_copies(const struct table *curve, struct profile *profile, bool *busy)
{
	static const char large[] = "large pinned transfers in as many streams; times alone over "
	                            "the time together";
	static const struct {
		const char *name, *series, *even, *odd;
	} rules[] = {
	        {"gpu.concurrent.copies_h2d", "copies_h2d", "copies_h2d", "copies_h2d"},
	        {"gpu.concurrent.copies_d2h", "copies_d2h", "copies_d2h", "copies_d2h"},
	        {"gpu.concurrent.copies_mixed", "copies_mixed", "copies_h2d", "copies_d2h"},
	        {NULL, "rows_h2d", "rows_h2d", "rows_h2d"},
	        {NULL, "rows_d2h", "rows_d2h", "rows_d2h"},
	        {NULL, "rows_mixed", "rows_h2d", "rows_d2h"},
	};
	struct estimate best = estimate_none;
	for (size_t r = 0; r < ARRAY_LEN(rules); r++) {
		/* at most as many times quicker as there are transfers */
		const struct parameter_spec spec = {rules[r].name, "ratio", large, NULL, 0.3, 7};
		const struct estimate even = alone(curve, rules[r].even);
		const struct estimate odd = alone(curve, rules[r].odd);
		struct point *point;
		const size_t n = curve_points(curve, rules[r].series, &point);
		for (size_t i = 0; i < n; i++) {
			const struct arg copies = {"copies", curve_arg(curve, &point[i], "copies")};
			const struct estimate now =
			        speed_up(even, odd, point[i].seconds, copies.value);
			if (now.samples > 0 && !(now.value <= best.value))
				best = now;
			*busy = *busy || point[i].busy;
			if (copies.value == 2 && rules[r].name)
				profile_add(profile, &spec, &copies, 1, now, point[i].busy);
		}
		if (n == 0 && rules[r].name)
			profile_add(profile, &spec, NULL, 0, estimate_none, false);
		free(point);
	}
	return best;
}

static void fit_engines(const struct table *curve, struct profile *profile)
{
	bool busy = false;
	const struct estimate best = fit_copies(curve, profile, &busy);
	const char *stated = table_meta(curve, "copy_engines");
	char *method = xasprintf("transfers at once: the largest sum of times alone over the time "
	                         "together, %.3g, to a whole number; the device attribute says %s",
	        best.value, stated ? stated : "nothing");
	const struct parameter_spec spec = {"gpu.copy.engines", "count", method, NULL, 1, 32};
	const double whole = nearbyint(best.value);
	const double away = fabs(best.value - whole) + estimate_half_width(best);
	if (!(away > 0.25) || busy) /* NaN: failed */
		profile_add(profile, &spec, NULL, 0,
		        best.samples ? estimate_exact(whole, best.samples) : estimate_none, busy);
	else
		profile_add_bounded(
		        profile, &spec, NULL, 0, fmax(1, floor(best.low)), NAN, best.samples);
	free(method);
}

/* ---- counts ---- */

/* The largest number that took less than one and a half times as long as one. */
static void fit_kernels(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {"gpu.concurrent.kernels", "count",
	        "kernels of one block in as many streams that take as long as one", NULL, 1, 1e5};
	const struct arg one = {"kernels", 1};
	const double limit = 1.5 * curve_at(curve, "kernels", &one, 1).seconds.value;
	double fits = NAN, fails = NAN;
	size_t samples = 0;
	bool busy = false;
	struct point *point;
	const size_t n = curve_points(curve, "kernels", &point);
	for (size_t i = 0; i < n; i++) {
		samples += point[i].seconds.samples;
		busy = busy || point[i].busy;
		if (!(point[i].seconds.value < limit))
			fails = fmin(fails, curve_arg(curve, &point[i], "kernels"));
	}
	for (size_t i = 0; i < n; i++) {
		const double kernels = curve_arg(curve, &point[i], "kernels");
		if (point[i].seconds.value < limit && !(kernels >= fails))
			fits = fmax(fits, kernels);
	}
	free(point);
	if (isnan(fits))
		profile_add(profile, &spec, NULL, 0, estimate_none, false);
	else if (fails - fits == 1 || busy)
		profile_add(profile, &spec, NULL, 0, estimate_exact(fits, samples), busy);
	else
		profile_add_bounded(profile, &spec, NULL, 0, fits, fails - 1, samples);
}

/* Each process found a number of its own: their median and range. */
static void fit_queue(const struct table *curve, struct profile *profile, const char *name,
        const char *series, const char *open, const char *method)
{
	const struct parameter_spec spec = {name, "count", method, NULL, 2, 1e6};
	struct point *point;
	size_t n = curve_points(curve, series, &point), known = 0, samples = 0;
	double *depth = xcalloc(curve->row_count + 1, sizeof *depth);
	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < point[i].processes; p++) {
			depth[known++] = curve_arg(curve, &point[i], "launches");
			samples += point[i].seconds.samples / point[i].processes;
		}
	free(point);
	n = curve_points(curve, open, &point);
	if (known > 0 || n == 0) {
		struct estimate estimate = stats_median_interval(depth, known);
		estimate.samples = samples;
		profile_add(profile, &spec, NULL, 0, known > 0 ? estimate : estimate_none, false);
	} else {
		profile_add_bounded(profile, &spec, NULL, 0,
		        curve_arg(curve, &point[0], "launches"), NAN, point[0].seconds.samples);
	}
	free(point);
	free(depth);
}

/* ---- seconds ---- */

#define HOST_TIME(name, what)                                                                      \
	{                                                                                          \
		name, "s", what "; host clock over 64 calls", NULL, 2e-7, 5e-5                     \
	}
#define DEVICE_TIME(name, what, high)                                                              \
	{                                                                                          \
		name, "s",                                                                         \
		        what "; device start to start behind a hold, difference of 80 and 16, "    \
		             "middle of the processes",                                            \
		        NULL, 1e-7, high                                                           \
	}

static const struct curve_rows times[] = {
        {"enqueue_idle", .spec = HOST_TIME("gpu.launch.enqueue_idle", "<<<>>> on an idle device")},
        {"enqueue_busy",
                .spec = HOST_TIME("gpu.launch.enqueue_busy", "<<<>>> beside a kernel on every SM")},
        {"enqueue_held", .spec = HOST_TIME("gpu.launch.enqueue_held", "<<<>>> into a held stream")},
        {"dependent_idle",
                DEVICE_TIME("gpu.concurrent.dependent_idle", "null kernels of one stream", 5e-5),
                .value = curve_midrange},
        {"dependent_busy",
                DEVICE_TIME("gpu.concurrent.dependent_busy",
                        "null kernels of one stream beside a kernel on every SM", 1e-4),
                .value = curve_midrange},
        {"stream_wait_idle",
                DEVICE_TIME("gpu.concurrent.stream_wait_idle",
                        "null kernels of two streams in turn, by event", 1e-4),
                .value = curve_midrange},
        {"stream_wait_busy",
                DEVICE_TIME("gpu.concurrent.stream_wait_busy",
                        "null kernels of two streams in turn, by event, beside a kernel on every "
                        "SM",
                        1e-4),
                .value = curve_midrange},
        {"urgent_idle",
                .spec = {"gpu.priority.idle", "s",
                        "<<<>>> to completion on an idle device; host clock", NULL, 1e-6, 1e-3}},
};

/* Curves of earlier versions lack these series. */
static const struct curve_rows turns[] = {
        {"stream_wait_h2d",
                DEVICE_TIME("gpu.concurrent.stream_wait_h2d",
                        "null kernels and copies of a word to the device, two streams in turn, by "
                        "event",
                        1e-4),
                .value = curve_midrange},
        {"stream_wait_d2h",
                DEVICE_TIME("gpu.concurrent.stream_wait_d2h",
                        "null kernels and copies of a word to the host, two streams in turn, by "
                        "event",
                        1e-4),
                .value = curve_midrange},
};

/* The delay of a launch behind a long grid, by its steps above the grid's priority. */
static void fit_priorities(const struct table *curve, struct profile *profile)
{
	/* no grid helps another start: a value below 0 is noise of two round trips */
	const struct parameter_spec spec = {"gpu.priority.delay", "s",
	        "<<<>>> to completion beside a grid of the least priority that has up to 10 waves "
	        "of blocks of 20 us to go, less that on an idle device; steps above the least "
	        "priority",
	        NULL, -2e-6, 0.1};
	const struct estimate idle = single(curve, "urgent_idle").seconds;
	struct point *point;
	const size_t n = curve_points(curve, "urgent", &point);
	for (size_t i = 0; i < n; i++) {
		const struct arg step = {"priority", curve_arg(curve, &point[i], "priority")};
		const struct estimate t = point[i].seconds;
		const double half = hypot(estimate_half_width(t), estimate_half_width(idle));
		profile_add(profile, &spec, &step, 1,
		        t.samples && idle.samples
		                ? estimate_around(t.value - idle.value, half, t.samples)
		                : estimate_none,
		        point[i].busy);
	}
	if (n == 0)
		profile_add(profile, &spec, NULL, 0, estimate_none, false);
	free(point);
}

void concurrency_fit(const struct table *curve, struct profile *profile)
{
	if (curve->row_count == 0)
		return;
	fit_overlap(curve, profile);
	fit_engines(curve, profile);
	fit_kernels(curve, profile);
	fit_queue(curve, profile, "gpu.queue.depth", "queue_kernels", "queue_kernels_open",
	        "kernels put behind a held one before the call blocks");
	fit_queue(curve, profile, "gpu.queue.copies", "queue_copies", "queue_copies_open",
	        "copies of 4 bytes put behind a held kernel before the call blocks");
	curve_fit_rows(curve, profile, times, ARRAY_LEN(times), true);
	curve_fit_rows(curve, profile, turns, ARRAY_LEN(turns), false);
	fit_priorities(curve, profile);
}
