/* SPDX-License-Identifier: MIT */
/* The concurrency probe's fit on synthetic curves: overlaps, engines, counts and delays that are
 * known, numbers that stay open, and times that cannot be. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/concurrency/concurrency.h"

static const char *const columns[] = {"copies", "kernels", "priority", "launches"};

/* Three processes that agree within half a percent; name NULL: no argument. */
static void put(
        struct table *curve, const char *series, const char *name, double at, double seconds)
{
	const struct arg arg = {name, at};
	for (int process = 0; process < 3; ++process) {
		const double value = seconds * (1 + 0.002 * (process - 1));
		const struct measurement measurement = {
		        .seconds = {value, 0.998 * value, 1.002 * value, 20}, .hz = 1.98e9};
		curve_add(curve, series, &arg, name != NULL, process, &measurement, false);
	}
}

static const struct parameter *row_of(const struct profile *profile, const char *name, double at)
{
	static const struct parameter none = {.status = "absent", .estimate = {NAN, NAN, NAN, 0}};
	for (size_t i = 0; i < profile->count; ++i) {
		const struct parameter *row = &profile->row[i];
		if (strcmp(row->name, name) == 0 && (row->arg_count == 0 || row->arg[0] == at))
			return row;
	}
	return &none;
}

static void is_parameter(const struct profile *profile, const char *name, double at, double value,
        const char *status)
{
	const struct parameter *row = row_of(profile, name, at);
	is_text(row->status, status, name);
	is_real(row->estimate.value, value, 1e-6, name);
}

/* k transfers at once on a device whose engines each take `seconds` for one and which has
 * `engines` for each direction. */
static void put_copies(struct table *curve, const char *kind, int engines, double seconds)
{
	char series[32];
	for (int k = 1; k <= 6; k++) {
		snprintf(series, sizeof series, "%s_h2d", kind);
		put(curve, series, "copies", k, seconds * ceil((double)k / engines));
		snprintf(series, sizeof series, "%s_d2h", kind);
		put(curve, series, "copies", k, seconds * ceil((double)k / engines));
		snprintf(series, sizeof series, "%s_mixed", kind);
		if (k > 1)
			put(curve, series, "copies", k,
			        seconds * ceil(ceil((double)k / 2) / engines));
	}
}

/* A kernel of 1 ms, a transfer of 0.6 ms hidden to the given part; 128 kernels at once. */
static struct table *synthetic(double hidden)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	const double kernel = 1e-3, copy = 0.6e-3, together = kernel + copy * (1 - hidden);
	put(curve, "arithmetic", NULL, 0, kernel);
	put(curve, "h2d", NULL, 0, copy);
	put(curve, "d2h", NULL, 0, copy);
	put(curve, "both", NULL, 0, copy);
	put(curve, "arithmetic_h2d", NULL, 0, together);
	put(curve, "arithmetic_d2h", NULL, 0, together);
	put(curve, "arithmetic_both", NULL, 0, together);
	put(curve, "half", NULL, 0, kernel);
	put(curve, "halves", NULL, 0, kernel * (2 - hidden));
	put(curve, "large", NULL, 0, kernel);
	put(curve, "small", NULL, 0, copy);
	put(curve, "large_small", NULL, 0, together);
	put_copies(curve, "copies", 1, 2e-4);
	put_copies(curve, "rows", 1, 2e-4);
	const int kernels[] = {1, 2, 64, 128, 129, 160, 256};
	for (size_t i = 0; i < ARRAY_LEN(kernels); ++i)
		put(curve, "kernels", "kernels", kernels[i], kernels[i] <= 128 ? 1e-3 : 2e-3);
	put(curve, "queue_kernels", "launches", 1022, 2e-6);
	put(curve, "queue_copies_open", "launches", 4096, 2e-6);
	put(curve, "enqueue_idle", NULL, 0, 2e-6);
	put(curve, "enqueue_busy", NULL, 0, 2.1e-6);
	put(curve, "enqueue_held", NULL, 0, 2.2e-6);
	put(curve, "dependent_idle", NULL, 0, 1.8e-6);
	put(curve, "dependent_busy", NULL, 0, 1.9e-6);
	put(curve, "stream_wait_idle", NULL, 0, 3.5e-6);
	put(curve, "stream_wait_busy", NULL, 0, 3.6e-6);
	put(curve, "urgent_idle", NULL, 0, 8e-6);
	put(curve, "urgent", "priority", 0, 1000e-6);
	put(curve, "urgent", "priority", 5, 28e-6);
	return curve;
}

static struct profile *fitted(struct table *curve)
{
	struct profile *profile = profile_new();
	concurrency_fit(curve, profile);
	table_free(curve);
	return profile;
}

static void test_known(double hidden)
{
	struct profile *profile = fitted(synthetic(hidden));
	const char *status = hidden > 0.1 ? "ok" : "noisy";
	is_parameter(profile, "gpu.overlap.h2d", 0, hidden, status);
	is_parameter(profile, "gpu.overlap.d2h", 0, hidden, status);
	is_parameter(profile, "gpu.overlap.both", 0, hidden, status);
	is_parameter(profile, "gpu.overlap.halves", 0, hidden, status);
	is_parameter(profile, "gpu.overlap.small", 0, hidden, status);
	is_parameter(profile, "gpu.overlap.directions", 0, 1, "ok");
	is_parameter(profile, "gpu.overlap.memory_h2d", 0, NAN, "absent");
	is_parameter(profile, "gpu.concurrent.copies_h2d", 4, 1, "ok");
	is_parameter(profile, "gpu.concurrent.copies_mixed", 4, 2, "ok");
	is_parameter(profile, "gpu.copy.engines", 0, 2, "ok");
	is_parameter(profile, "gpu.concurrent.kernels", 0, 128, "ok");
	is_parameter(profile, "gpu.queue.depth", 0, 1022, "ok");
	is_text(row_of(profile, "gpu.queue.copies", 0)->status, "bounded",
	        "a queue that did not fill is bounded");
	is_real(row_of(profile, "gpu.queue.copies", 0)->estimate.low, 4096, 1e-9, "from below");
	is_parameter(profile, "gpu.launch.enqueue_busy", 0, 2.1e-6, "ok");
	is_parameter(profile, "gpu.concurrent.stream_wait_busy", 0, 3.6e-6, "ok");
	is_parameter(profile, "gpu.priority.delay", 0, 992e-6, "ok");
	is_parameter(profile, "gpu.priority.delay", 5, 20e-6, "ok");
	const struct estimate delay = row_of(profile, "gpu.priority.delay", 5)->estimate;
	ok(delay.low < delay.value && delay.value < delay.high, "a delay has its interval");
	profile_free(profile);
}

/* How soon a kernel starts, chance decides by process: two are quick, and one is not. */
static void test_chance(void)
{
	static const double seconds[] = {1.6e-6, 1.61e-6, 1.8e-6};
	static const char *const series[] = {"stream_wait_idle", "enqueue_idle"};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	for (size_t s = 0; s < ARRAY_LEN(series); s++)
		for (int process = 0; process < 3; process++) {
			const double t = seconds[process];
			const struct measurement m = {
			        .seconds = {t, 0.999 * t, 1.001 * t, 20}, .hz = 1.98e9};
			curve_add(curve, series[s], NULL, 0, process, &m, false);
		}
	struct profile *profile = fitted(curve);
	is_parameter(profile, "gpu.concurrent.stream_wait_idle", 0, 1.7e-6, "ok");
	is_parameter(profile, "gpu.launch.enqueue_idle", 0, 1.61e-6, "ok");
	profile_free(profile);
}

static void test_empty(void)
{
	struct profile *profile = fitted(curve_new(columns, ARRAY_LEN(columns)));
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);

	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	put(curve, "arithmetic", NULL, 0, 1e-3);
	profile = fitted(curve);
	ok(profile->count > 10 && profile_failed(profile) == profile->count,
	        "a curve that ends at once names its parameters, all failed");
	profile_free(profile);
}

static void test_open(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	for (int k = 1; k <= 256; k *= 2)
		put(curve, "kernels", "kernels", k, 1e-3 * (1 + 1e-3 * k));
	put_copies(curve, "rows", 2, 2e-4);
	put(curve, "queue_kernels", "launches", 1020, 2e-6);
	put(curve, "queue_kernels", "launches", 1024, 2e-6);
	struct profile *profile = fitted(curve);
	const struct parameter *kernels = row_of(profile, "gpu.concurrent.kernels", 0);
	is_text(kernels->status, "bounded", "as many kernels as were tried ran at once");
	is_real(kernels->estimate.low, 256, 1e-9, "so many at least");
	is_parameter(profile, "gpu.copy.engines", 0, 4, "ok");
	const struct estimate depth = row_of(profile, "gpu.queue.depth", 0)->estimate;
	is_real(depth.value, 1022, 1e-9, "processes that disagree on a depth: the middle");
	ok(depth.low == 1020 && depth.high == 1024, "and their range");
	profile_free(profile);
}

static void test_implausible(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	put(curve, "arithmetic", NULL, 0, 1e-3);
	put(curve, "h2d", NULL, 0, 1e-3);
	put(curve, "arithmetic_h2d", NULL, 0, 0.5e-3); /* quicker than either */
	put(curve, "rows_h2d", "copies", 1, 2e-4);
	put(curve, "rows_d2h", "copies", 1, 2e-4);
	put(curve, "rows_mixed", "copies", 2, 2.7e-4); /* one and a half engines */
	put(curve, "urgent_idle", NULL, 0, 50e-6);
	put(curve, "urgent", "priority", 1, 10e-6);
	put(curve, "enqueue_idle", NULL, 0, 1e-9);
	struct profile *profile = fitted(curve);
	is_parameter(profile, "gpu.overlap.h2d", 0, 1.5, "failed");
	is_text(row_of(profile, "gpu.copy.engines", 0)->status, "bounded",
	        "between two numbers of engines none is guessed");
	is_parameter(profile, "gpu.priority.delay", 1, -40e-6, "failed");
	is_parameter(profile, "gpu.launch.enqueue_idle", 0, 1e-9, "failed");
	profile_free(profile);
}

int main(void)
{
	test_known(1);
	test_known(0.4);
	test_known(0.002); /* next to nothing: no interval is narrow */
	test_chance();
	test_empty();
	test_open();
	test_implausible();
	return finish();
}
