/* SPDX-License-Identifier: MIT */
/* The concurrency probe's fit on known curves: overlaps, engines, counts and delays, numbers that
 * stay open, and impossible times. */
#include "tests/fit_test.h"

static const char *const columns[] = {"copies", "kernels", "priority", "launches"};

static struct table *new_curve(void)
{
	return curve_new(columns, ARRAY_LEN(columns));
}

/* k transfers at once on a device whose engines each take `seconds` for one and which has
 * `engines` for each direction. */
static void put_copies(struct table *curve, const char *kind, int engines, double seconds)
{
	for (int k = 1; k <= 6; k++) {
		const double turns = ceil((double)k / engines);
		add_point(curve, seconds * turns, "%s_h2d[copies=%d]", kind, k);
		add_point(curve, seconds * turns, "%s_d2h[copies=%d]", kind, k);
		if (k > 1)
			add_point(curve, seconds * ceil(ceil((double)k / 2) / engines),
			        "%s_mixed[copies=%d]", kind, k);
	}
}

/* A kernel of 1 ms, a transfer of 0.6 ms hidden to the given part; 128 kernels at once. */
static struct table *synthetic(double hidden)
{
	const double kernel = 1e-3, copy = 0.6e-3, together = kernel + copy * (1 - hidden);
	const struct timed_point points[] = {{"arithmetic", kernel}, {"h2d", copy}, {"d2h", copy},
	        {"both", copy}, {"arithmetic_h2d", together}, {"arithmetic_d2h", together},
	        {"arithmetic_both", together}, {"half", kernel}, {"halves", kernel * (2 - hidden)},
	        {"large", kernel}, {"small", copy}, {"large_small", together},
	        {"queue_kernels[launches=1022]", 2e-6}, {"queue_copies_open[launches=4096]", 2e-6},
	        {"enqueue_idle", 2e-6}, {"enqueue_busy", 2.1e-6}, {"enqueue_held", 2.2e-6},
	        {"dependent_idle", 1.8e-6}, {"dependent_busy", 1.9e-6},
	        {"stream_wait_idle", 3.5e-6}, {"stream_wait_busy", 3.6e-6},
	        {"stream_wait_d2h", 5.5e-6}, {"urgent_idle", 8e-6}, {"urgent[priority=0]", 1e-3},
	        {"urgent[priority=5]", 28e-6}};
	static const int kernels[] = {1, 2, 64, 128, 129, 160, 256};
	struct table *curve = new_curve();

	add_points(curve, points, ARRAY_LEN(points));
	put_copies(curve, "copies", 1, 2e-4);
	put_copies(curve, "rows", 1, 2e-4);
	for (size_t i = 0; i < ARRAY_LEN(kernels); ++i)
		add_point(
		        curve, kernels[i] <= 128 ? 1e-3 : 2e-3, "kernels[kernels=%d]", kernels[i]);
	return curve;
}

/* Of an overlap near zero the interval is never narrow. */
static void test_known(double hidden)
{
	static const char *const overlaps[] = {"gpu.overlap.h2d", "gpu.overlap.d2h",
	        "gpu.overlap.both", "gpu.overlap.halves", "gpu.overlap.small"};
	static const struct expected_row rows[] = {{"gpu.overlap.directions", 1, NULL},
	        {"gpu.overlap.memory_h2d", 0, "absent"},
	        {"gpu.concurrent.copies_h2d[copies=2]", 1, NULL},
	        {"gpu.concurrent.copies_mixed[copies=2]", 2, NULL}, {"gpu.copy.engines", 2, NULL},
	        {"gpu.concurrent.kernels", 128, NULL}, {"gpu.queue.depth", 1022, NULL},
	        {"gpu.queue.copies", 0, "bounded"}, {"gpu.launch.enqueue_busy", 2.1e-6, NULL},
	        {"gpu.concurrent.stream_wait_busy", 3.6e-6, NULL},
	        {"gpu.concurrent.stream_wait_h2d", 0, "absent"},
	        {"gpu.concurrent.stream_wait_d2h", 5.5e-6, NULL},
	        {"gpu.priority.delay[priority=0]", 992e-6, NULL},
	        {"gpu.priority.delay[priority=5]", 20e-6, NULL}};
	struct profile *profile = profile_of(concurrency_fit, synthetic(hidden));

	for (size_t i = 0; i < ARRAY_LEN(overlaps); i++)
		is_row(profile,
		        (struct expected_row){overlaps[i], hidden, hidden > 0.1 ? "ok" : "noisy"});
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_real(row_of(profile, "gpu.queue.copies")->estimate.low, 4096, 1e-9,
	        "a queue that did not fill is bounded from below");
	profile_free(profile);
}

/* The wait between streams takes one of two times by chance; its value is the midrange. */
static void test_two_states(void)
{
	static const double seconds[FIT_PROCESSES] = {1.6e-6, 1.61e-6, 1.8e-6};
	struct table *curve = new_curve();

	for (int process = 0; process < FIT_PROCESSES; process++) {
		add_process(curve, "stream_wait_idle", process, seconds[process], 0.001, 2e9);
		add_process(curve, "enqueue_idle", process, seconds[process], 0.001, 2e9);
	}
	struct profile *profile = profile_of(concurrency_fit, curve);
	is_within(profile, "gpu.concurrent.stream_wait_idle", 1.7e-6, 1e-6);
	is_within(profile, "gpu.launch.enqueue_idle", 1.61e-6, 1e-6);
	profile_free(profile);
}

static void test_ends_at_once(void)
{
	struct table *curve = new_curve();

	add_point(curve, 1e-3, "arithmetic");
	struct profile *profile = profile_of(concurrency_fit, curve);
	ok(profile->count > 10 && profile_failed(profile) == profile->count,
	        "a curve that ends at once names its parameters, all failed");
	profile_free(profile);
}

/* One multiprocessor has no half: nothing is said of halves, and nothing failed. */
static void test_one_multiprocessor(void)
{
	struct table *curve = new_curve();

	add_point(curve, 1e-3, "arithmetic");
	table_meta_set(curve, "gpu_sms", "1");
	struct profile *profile = profile_of(concurrency_fit, curve);
	is_status(profile, "gpu.overlap.halves", "absent");
	is_status(profile, "gpu.overlap.small", "failed");
	profile_free(profile);
}

/* Beside another user one kernel runs at a time, and one copy: no count of this GPU. */
static void test_shared(void)
{
	static const char *const points[] = {"kernels[kernels=1]", "kernels[kernels=2]",
	        "rows_h2d[copies=1]", "rows_d2h[copies=1]", "rows_mixed[copies=2]"};
	struct table *curve = new_curve();

	for (size_t i = 0; i < ARRAY_LEN(points); i++)
		add_point(curve, i % 3 == 1 || i == 4 ? 2e-3 : 1e-3, "%s", points[i]);
	for (size_t row = 0; row < curve->row_count; row++)
		table_set_int(curve, row, "busy", 1);
	struct profile *profile = profile_of(concurrency_fit, curve);
	is_status(profile, "gpu.concurrent.kernels", "noisy");
	is_status(profile, "gpu.copy.engines", "noisy");
	profile_free(profile);
}

static void test_open(void)
{
	struct table *curve = new_curve();

	for (int k = 1; k <= 256; k *= 2)
		add_point(curve, 1e-3 * (1 + 1e-3 * k), "kernels[kernels=%d]", k);
	put_copies(curve, "rows", 2, 2e-4);
	add_point(curve, 2e-6, "queue_kernels[launches=1020]");
	add_point(curve, 2e-6, "queue_kernels[launches=1024]");
	struct profile *profile = profile_of(concurrency_fit, curve);
	is_status(profile, "gpu.concurrent.kernels", "bounded");
	is_real(row_of(profile, "gpu.concurrent.kernels")->estimate.low, 256, 1e-9,
	        "as many kernels as were tried ran at once");
	is_within(profile, "gpu.copy.engines", 4, 1e-6);
	const struct estimate depth = row_of(profile, "gpu.queue.depth")->estimate;
	is_real(depth.value, 1022, 1e-9, "processes that disagree on a depth: the middle");
	ok(depth.low == 1020 && depth.high == 1024, "and their range");
	profile_free(profile);
}

int main(void)
{
	static const struct timed_point impossible[] = {{"arithmetic", 1e-3}, {"h2d", 1e-3},
	        {"arithmetic_h2d", 0.5e-3}, /* quicker than either */
	        {"rows_h2d[copies=1]", 2e-4}, {"rows_d2h[copies=1]", 2e-4},
	        {"rows_mixed[copies=2]", 2.7e-4}, /* one and a half engines */
	        {"urgent_idle", 50e-6}, {"urgent[priority=1]", 10e-6}, {"enqueue_idle", 1e-9}};
	static const struct expected_row rows[] = {{"gpu.overlap.h2d", 1.5, "failed"},
	        {"gpu.copy.engines", 0, "bounded"},
	        {"gpu.priority.delay[priority=1]", -40e-6, "failed"},
	        {"gpu.launch.enqueue_idle", 1e-9, "failed"}};

	is_empty_fit(concurrency_fit, columns, ARRAY_LEN(columns));
	test_known(1);
	test_known(0.4);
	test_known(0.002);
	test_two_states();
	test_one_multiprocessor();
	test_ends_at_once();
	test_shared();
	test_open();
	CHECK_FIT(concurrency_fit, columns, impossible, rows);
	return finish();
}
