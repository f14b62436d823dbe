/* SPDX-License-Identifier: MIT */
/* The loaded_latency probe's fit on known streams: where 90 % are reached, latency against load
 * between measured levels only, bounds where the sweep does not reach. */
#include "probes/loaded_latency/loaded_latency.h"
#include "tests/fit_test.h"

static const char *const columns[] = {"level", "engine", "sms", "warps", "inflight"};

/* The rate grows in proportion to x up to `knee` and stays at `most`. */
static void put_ramp(struct table *curve, const char *column, int engine, double first, double last,
        double knee, double most)
{
	for (double x = first; x <= last; x *= 2)
		add_point(curve, 1 / (most * fmin(1, x / knee)), "%s[engine=%d,%s=%.0f]", column,
		        engine, column, x);
}

static struct table *synthetic(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	table_meta_set(curve, "gpu_sms", "100");
	put_ramp(curve, "inflight", 1, 2048, 65536, 32768, 4e12);
	put_ramp(curve, "inflight", 3, 65536, 131072, 32768, 4.2e12);
	put_ramp(curve, "sms", 1, 1, 128, 64, 4e12);
	put_ramp(curve, "warps", 1, 1, 32, 16, 4e12);
	put_ramp(curve, "sms", 2, 1, 128, 32, 3.8e12);
	put_ramp(curve, "warps", 2, 1, 32, 8, 3.8e12);
	put_ramp(curve, "warps", 3, 8, 32, 4, 4.2e12);
	add_point(curve, 900e-9, "latency_dram[level=5]"); /* what it offered is not known */
	for (int level = 0; level <= 4; level++) {         /* 0 .. 4 TB/s: 300 + 50 ns a level */
		add_point(curve, (300 + 50 * level) * 1e-9, "latency_dram[level=%d]", level);
		if (level > 0)
			add_point(curve, 1e-12 / level, "offered_dram[level=%d]", level);
	}
	return curve;
}

/* What is measured on small devices: part of L2 however small it is, and each number of SMs once.
 */
static void test_small_devices(void)
{
	const int64_t kib = 1024;
	bool inside = true, once = true;

	for (int64_t l2 = 256 * kib; l2 <= 131072 * kib; l2 += 64 * kib) {
		const int64_t bytes = loaded_inside_l2(l2);
		inside = inside && bytes >= 64 * kib && bytes <= l2 / 3 && bytes % (64 * kib) == 0;
	}
	ok(inside, "a region lies well inside every L2");
	ok(loaded_inside_l2(62914560) == 80 * 256 * kib, "a third of 60 MiB is 20 MiB");
	for (int sms = 1; sms <= 160; sms++) {
		int before = 0;
		for (int k = 0; k < 4; k++) {
			const int blocks = loaded_upper_sms(sms, k);
			once = once && (blocks == 0 || (blocks > before && blocks <= sms));
			before = blocks > 0 ? blocks : before;
		}
		once = once && before == sms;
	}
	ok(once, "SMs from half of them up to all, none twice");
	ok(loaded_upper_sms(132, 0) == 75 && loaded_upper_sms(132, 2) == 113, "75 of 132, 113");
}

int main(void)
{
	static const struct expected_row rows[] = {{"gpu.engine.read[engine=1]", 4e12, NULL},
	        {"gpu.saturation.dram.bytes_per_sm[engine=1]", 0.9 * 32768, NULL},
	        {"gpu.saturation.dram.sms", 0.9 * 64, NULL}, {"gpu.sm.read", 4e12 / 64, NULL},
	        {"gpu.saturation.dram.warps", 0.9 * 16, NULL},
	        {"gpu.saturation.dram.sms.async", 0.9 * 32, NULL},
	        {"gpu.sm.read.async", 3.8e12 / 32, NULL},
	        {"gpu.saturation.dram.warps.async", 0.9 * 8, NULL},
	        {"gpu.saturation.dram.warps.bulk", 0, "bounded"},
	        {"gpu.saturation.dram.sms.bulk", 0, "absent"},
	        {"gpu.loaded.l2.latency", 0, "absent"}};
	static const struct timed_point fast[] = {{"l2_read[engine=1,sms=1]", 1e-15}};
	static const struct expected_row failed[] = {{"gpu.loaded.l2.read", 0, "failed"}};
	size_t bounded = 0;

	is_empty_fit(loaded_latency_fit, columns, ARRAY_LEN(columns));
	test_small_devices();
	struct profile *profile = profile_of(loaded_latency_fit, synthetic());
	is_rows(profile, rows, ARRAY_LEN(rows));
	for (size_t i = 0; i < profile->count; i++)
		bounded += strcmp(profile->row[i].status, "bounded") == 0;
	ok(bounded == 2, "sweeps that start saturated give bounds, no values");
	is_real(lookup_of(profile, "gpu.loaded.dram.latency[load=0]").estimate.value, 300e-9, 1e-6,
	        "latency of the idle device");
	is_real(lookup_of(profile, "gpu.loaded.dram.latency[load=0.5]").estimate.value, 400e-9,
	        1e-6, "latency at half of the most that was offered");
	profile_free(profile);
	CHECK_FIT(loaded_latency_fit, columns, fast, failed);
	return finish();
}
