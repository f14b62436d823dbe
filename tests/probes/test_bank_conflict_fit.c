/* SPDX-License-Identifier: MIT */
/* The bank_conflict probe's fit on a synthetic GPU: 24 cycles and 2 more for each way, an SM whose
 * saturated shared memory takes a cycle for each wavefront, and impossible costs. */
#include "tests/fit_test.h"

static const char *const columns[] = {"ways", "width", "threads", "words", "pitch", "stride_bytes"};
static const double hz = 2e9;

static struct table *new_curve(int sms)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	if (sms > 0)
		table_meta_set(curve, "gpu_sms", "%d", sms);
	return curve;
}

static void add_ways(struct table *curve, const char *series, int ways, int width, double cycles)
{
	add_point(curve, cycles / hz, "%s[ways=%d,width=%d,threads=32]", series, ways, width);
}

/* `worst` is what a 32-way conflict costs a saturated SM, in conflict-free accesses. */
static struct table *synthetic(double worst)
{
	static const struct timed_point points[] = {
	        {"saturated_tile_load[pitch=33,width=4]", 0.5e-9},
	        {"saturated_tile_load[pitch=32,width=4]", 16e-9},
	        {"saturated_shared_u32[ways=1,width=4]", 0.5e-9},
	        {"alone_global_f64[stride_bytes=65664,width=4]", 350e-9},
	        {"saturated_global_red_u32[stride_bytes=4,width=4]", 0.3e-9},
	        {"saturated_global_red_u32[stride_bytes=0,width=4]", 16e-9}};
	struct table *curve = new_curve(10);

	for (int width = 4; width <= 16; width *= 2)
		for (int ways = 1; ways <= 128 / width; ways *= 2) {
			const double wavefronts = ways * width / 4;
			const double factor = ways == 32 ? worst : ways;
			add_ways(curve, "alone_load", ways, width, 22 + 2 * wavefronts);
			add_ways(curve, "saturated_load", ways, width, factor * width / 4);
			add_ways(curve, "saturated_store", ways, width, wavefronts);
		}
	add_points(curve, points, ARRAY_LEN(points));
	return curve;
}

/* 10 SMs move a wavefront of 128 bytes a cycle each, at any width. */
static void check_good(void)
{
	static const struct expected_row rows[] = {
	        {"gpu.bank.alone.load[ways=32,width=4]", 43e-9, NULL},
	        {"gpu.bank.saturated.load[ways=32,width=4]", 16e-9, NULL},
	        {"gpu.bank.saturated.factor[ways=32,width=4]", 32, NULL},
	        {"gpu.bank.saturated.store_factor[ways=32,width=4]", 32, NULL},
	        {"gpu.bank.tile.saturated.load[pitch=33]", 0.5e-9, NULL},
	        {"gpu.atomic.shared.saturated.u32[ways=1]", 0.5e-9, NULL},
	        {"gpu.atomic.global.alone.f64", 350e-9, NULL},
	        {"gpu.atomic.global.saturated.red_u32[stride_bytes=0]", 16e-9, NULL},
	        {"gpu.shared.read", 10 * 128 * 2e9, NULL},
	        {"gpu.shared.write", 10 * 128 * 2e9, NULL}, {"gpu.bank.clock", 2e9, NULL}};
	struct profile *profile = profile_of(bank_conflict_fit, synthetic(32));

	is_within(profile, "gpu.bank.alone.way", 1e-9, 1e-3);
	is_within(profile, "gpu.bank.alone.way_cycles", 2, 1e-3);
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_text(row_of(profile, "gpu.shared.read")->unit, "B/s", "a rate is in bytes a second");
	ok(profile_failed(profile) == 0, "nothing failed");
	profile_free(profile);
}

/* Loads of 8 bytes as quick as those of 4 would be 256 bytes a cycle. There is no rate without the
 * number of SMs, or without an access free of conflicts. */
static void check_rates(void)
{
	struct table *curve = new_curve(10);

	add_ways(curve, "saturated_load", 1, 4, 1);
	add_ways(curve, "saturated_load", 1, 8, 1);
	add_ways(curve, "saturated_store", 2, 4, 2);
	struct profile *profile = profile_of(bank_conflict_fit, curve);
	is_status(profile, "gpu.shared.read", "failed");
	is_status(profile, "gpu.shared.write", "absent");
	profile_free(profile);

	curve = new_curve(0);
	add_ways(curve, "saturated_load", 1, 4, 1);
	profile = profile_of(bank_conflict_fit, curve);
	is_status(profile, "gpu.shared.read", "absent");
	profile_free(profile);
}

/* 32 ways that cost 64 times no conflict; a latency that falls with the ways; no access without
 * conflicts. */
static void check_implausible(void)
{
	struct profile *profile = profile_of(bank_conflict_fit, synthetic(64));

	ok(profile_failed(profile) == 1, "more than a wavefront for each way fails");
	profile_free(profile);

	struct table *curve = new_curve(0);
	for (int ways = 1; ways <= 32; ways *= 2)
		add_ways(curve, "alone_load", ways, 4, 60 - ways);
	add_ways(curve, "saturated_load", 32, 4, 32);
	profile = profile_of(bank_conflict_fit, curve);
	is_status(profile, "gpu.bank.alone.way", "bounded");
	is_status(profile, "gpu.bank.saturated.factor", "absent");
	profile_free(profile);
}

int main(void)
{
	is_empty_fit(bank_conflict_fit, columns, ARRAY_LEN(columns));
	check_good();
	check_implausible();
	check_rates();
	return finish();
}
