/* SPDX-License-Identifier: MIT */
/* The copy probe's fit on known curves. */
#include "tests/fit_test.h"

static const char *const columns[] = {"bytes", "words", "stride", "offset", "width", "inflight"};
static const double alpha = 3e-6, beta = 4e12, l2_rate = 6e12;

static struct table *new_curve(void)
{
	return curve_new(columns, ARRAY_LEN(columns));
}

/* Copies from memory are warm ones in L2 up to the size where both take as long. */
static void add_sizes(struct table *curve)
{
	for (double bytes = 4096; bytes <= 0x1p30; bytes *= 4) {
		const double t = alpha + bytes / beta;
		add_point(curve, t, "copy_cold[bytes=%.0f]", bytes);
		add_point(curve, 1.1 * t, "read_cold[bytes=%.0f]", bytes);
		add_point(curve, 1.2 * t, "write_cold[bytes=%.0f]", bytes);
		add_point(curve, 2e-6 + bytes / l2_rate, "copy_warm[bytes=%.0f]", bytes);
	}
	add_point(curve, 3e7 / l2_rate, "copy_l2[bytes=3e7]");
}

static void test_line_and_plateaus(void)
{
	const double large = 0x1p30 / (alpha + 0x1p30 / beta);
	const struct expected_row rows[] = {{"gpu.dram.copy", large, NULL},
	        {"gpu.dram.read", large / 1.1, NULL}, {"gpu.dram.write", large / 1.2, NULL},
	        {"gpu.l2.copy", l2_rate, NULL},
	        {"gpu.copy.time[bytes=4096]", 2e-6 + 4096 / l2_rate, NULL}};
	struct table *curve = new_curve();

	add_sizes(curve);
	struct profile *profile = profile_of(copy_fit, curve);
	is_within(profile, "gpu.copy.alpha", alpha, 0.01);
	is_within(profile, "gpu.copy.beta", beta, 0.01);
	is_within(profile, "gpu.copy.n_half", alpha * beta, 0.02);
	is_rows(profile, rows, ARRAY_LEN(rows));
	profile_free(profile);
}

/* Wildly disturbed processes: intervals hold their values, and rates stay above 0. */
static void test_disturbed(void)
{
	static const char *const names[] = {"gpu.copy.alpha", "gpu.copy.beta", "gpu.copy.n_half"};
	const struct fit_noise noise = {0.3, 3};
	struct table *curve = new_curve();
	char point[64];

	for (double bytes = 4096; bytes <= 0x1p30; bytes *= 4) {
		snprintf(point, sizeof point, "copy_cold[bytes=%.0f]", bytes);
		add_noisy(curve, point, alpha + bytes / beta, noise, 2e9);
	}
	struct profile *profile = profile_of(copy_fit, curve);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct estimate e = row_of(profile, names[i])->estimate;
		ok(e.low <= e.value && e.value <= e.high && (i == 0 || e.low >= 0),
		        "%s of disturbed processes: %g in %g .. %g", names[i], e.value, e.low,
		        e.high);
	}
	profile_free(profile);
}

static void test_arguments(void)
{
	static const struct timed_point points[] = {
	        {"stride_cold[bytes=2097152,words=262144,stride=1]", 1e-6},
	        {"stride_cold[bytes=2097152,words=262144,stride=8]", 8e-6},
	        {"misaligned_cold[bytes=3e8,offset=4,width=4]", 1e-4},
	        {"inflight_cold[bytes=3e8,inflight=2048]", 1e-3}};
	static const struct expected_row rows[] = {
	        {"gpu.copy.stride[words=262144,stride=8]", 2097152 / 8e-6, NULL},
	        {"gpu.copy.misaligned[offset=4]", 3e12, NULL},
	        {"gpu.copy.inflight[bytes=2048]", 3e11, NULL}};

	CHECK_FIT(copy_fit, columns, points, rows);
}

/* A parameter that was not measured fails; none is guessed. */
static void test_missing(void)
{
	static const char *const names[] = {"gpu.copy.time", "gpu.read.time", "gpu.write.time",
	        "gpu.copy.alpha", "gpu.copy.beta", "gpu.copy.n_half", "gpu.dram.copy",
	        "gpu.dram.read", "gpu.dram.write", "gpu.l2.copy", "gpu.l2.read", "gpu.l2.write",
	        "gpu.dram.copy_sustained", "gpu.copy.stride", "gpu.copy.misaligned",
	        "gpu.copy.aligned_head", "gpu.copy.width", "gpu.copy.inflight", "gpu.change.time"};
	struct profile *profile = profile_of(copy_fit, new_curve());

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		is_status(profile, names[i], "failed");
	ok(profile->count == ARRAY_LEN(names), "and nothing else is in the profile");
	profile_free(profile);
}

/* A rate above that of the memory's pins is not believed. */
static void test_pins(void)
{
	for (int high = 0; high < 2; high++) {
		struct table *curve = new_curve();
		table_meta_set(curve, "pin_bytes_per_second", "%g", high ? 4.8e12 : 3.5e12);
		add_sizes(curve);
		struct profile *profile = profile_of(copy_fit, curve);
		is_status(profile, "gpu.dram.copy", high ? "ok" : "failed");
		is_status(profile, "gpu.l2.copy", "ok");
		profile_free(profile);
	}
}

int main(void)
{
	test_line_and_plateaus();
	test_disturbed();
	test_arguments();
	test_missing();
	test_pins();
	return finish();
}
