/* SPDX-License-Identifier: MIT */
/* The bank_conflict probe's fit on a synthetic GPU: 24 cycles and 2 more for each way, a saturated
 * SM that pays for every wavefront, and one where conflicts cost what they cannot. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/bank_conflict/bank_conflict.h"

static const char *const columns[] = {"ways", "width", "threads", "words", "pitch", "stride_bytes"};
static const double hz = 2e9;

/* Three processes that agree within a percent. */
static void add(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; ++process) {
		const double value = seconds * (1 + 0.002 * (process - 1));
		const struct measurement measurement = {
		        .seconds = {value, 0.998 * value, 1.002 * value, 20}, .hz = hz};
		curve_add(curve, series, args, count, process, &measurement, false);
	}
}

static void add_ways(
        struct table *curve, const char *series, double ways, double width, double seconds)
{
	const struct arg args[] = {{"ways", ways}, {"width", width}, {"threads", 32}};
	add(curve, series, args, ARRAY_LEN(args), seconds);
}

static void add_one(
        struct table *curve, const char *series, const char *name, double value, double seconds)
{
	const struct arg args[] = {{name, value}, {"width", 4}};
	add(curve, series, args, ARRAY_LEN(args), seconds);
}

static double value_at(
        const struct profile *profile, const char *name, const struct arg *args, size_t count)
{
	const struct lookup lookup = profile_get(profile, name, args, count);
	return lookup.found && !lookup.extrapolated ? lookup.estimate.value : NAN;
}

static double value_of(const struct profile *profile, const char *name, const char *arg, double x)
{
	const struct arg args[] = {{arg, x}};
	return value_at(profile, name, args, arg ? 1 : 0);
}

static const struct parameter *row_of(const struct profile *profile, const char *name)
{
	static const struct parameter none = {.status = "absent"};
	for (size_t i = 0; i < profile->count; ++i)
		if (strcmp(profile->row[i].name, name) == 0)
			return &profile->row[i];
	return &none;
}

/* `worst` is what a 32-way conflict costs a saturated SM, in conflict-free accesses. */
static struct table *synthetic(double worst)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_sms", "10");
	for (double width = 4; width <= 16; width *= 2)
		for (double ways = 1; ways <= 128 / width; ways *= 2) {
			const double wavefronts = ways * width / 4;
			const double factor = ways == 32 ? worst : ways;
			add_ways(curve, "alone_load", ways, width, (22 + 2 * wavefronts) / hz);
			add_ways(curve, "saturated_load", ways, width, factor * width / 4 / hz);
			add_ways(curve, "saturated_store", ways, width, wavefronts / hz);
		}
	add_one(curve, "alone_broadcast", "words", 2, 26 / hz);
	add_one(curve, "saturated_tile_load", "pitch", 33, 1 / hz);
	add_one(curve, "saturated_tile_load", "pitch", 32, 32 / hz);
	add_one(curve, "alone_shared_u32", "ways", 1, 60 / hz);
	add_one(curve, "alone_global_f64", "stride_bytes", 65664, 700 / hz);
	add_one(curve, "saturated_global_red_u32", "stride_bytes", 4, 0.3e-9);
	add_one(curve, "saturated_global_red_u32", "stride_bytes", 0, 16e-9);
	return curve;
}

/* 10 SMs move a wavefront of 128 bytes a cycle each, at any width. */
static void check_rate(const struct profile *profile, const char *name)
{
	const struct parameter *rate = row_of(profile, name);
	is_real(rate->estimate.value, 10 * 128 * hz, 1e-6, name);
	ok(rate->estimate.low < rate->estimate.value && rate->estimate.value < rate->estimate.high,
	        "%s: its interval holds it", name);
	is_text(rate->unit, "B/s", name);
}

static void check_good(void)
{
	struct table *curve = synthetic(32);
	struct profile *profile = profile_new();
	bank_conflict_fit(curve, profile);
	is_real(value_of(profile, "gpu.bank.alone.way", NULL, 0), 1e-9, 1e-3, "seconds of a way");
	is_real(value_of(profile, "gpu.bank.alone.way_cycles", NULL, 0), 2, 1e-3,
	        "cycles of a way");
	is_real(value_of(profile, "gpu.bank.clock", NULL, 0), hz, 1e-9, "clock");
	const struct arg worst[] = {{"ways", 32}, {"width", 4}},
	                 eight[] = {{"ways", 8}, {"width", 16}};
	is_real(value_at(profile, "gpu.bank.alone.load", worst, 2), 86 / hz, 1e-6, "32 ways alone");
	is_real(value_at(profile, "gpu.bank.saturated.load", worst, 2), 32 / hz, 1e-6,
	        "32 ways saturated");
	is_real(value_at(profile, "gpu.bank.saturated.factor", worst, 2), 32, 1e-6,
	        "32 ways cost 32 times no conflict");
	is_real(value_at(profile, "gpu.bank.saturated.store_factor", eight, 2), 8, 1e-6,
	        "8 ways of 16 bytes cost 8 times what no conflict of 16 bytes costs");
	const struct parameter *factor = row_of(profile, "gpu.bank.saturated.factor");
	ok(factor->estimate.low < factor->estimate.value &&
	                factor->estimate.value < factor->estimate.high,
	        "a factor's interval holds it");
	const struct arg broadcast[] = {{"words", 2}, {"width", 4}};
	is_real(value_at(profile, "gpu.bank.alone.broadcast", broadcast, 2), 26 / hz, 1e-6,
	        "two words of one bank");
	is_real(value_of(profile, "gpu.bank.tile.saturated.load", "pitch", 33), 1 / hz, 1e-6,
	        "a padded tile");
	is_real(value_of(profile, "gpu.atomic.shared.alone.u32", "ways", 1), 60 / hz, 1e-6,
	        "a shared-memory atomic");
	is_real(value_of(profile, "gpu.atomic.global.alone.f64", NULL, 0), 700 / hz, 1e-6,
	        "a global atomic");
	is_real(value_of(profile, "gpu.atomic.global.saturated.red_u32", "stride_bytes", 0), 16e-9,
	        1e-6, "reductions on one word");
	check_rate(profile, "gpu.shared.read");
	check_rate(profile, "gpu.shared.write");
	ok(profile_failed(profile) == 0, "nothing failed");
	profile_free(profile);
	table_free(curve);
}

/* Loads of 8 bytes that are as quick as those of 4 would be 256 bytes a cycle; and what has no
 * known number of SMs, or no access without a conflict, is no rate. */
static void check_rates(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_sms", "10");
	add_ways(curve, "saturated_load", 1, 4, 1 / hz);
	add_ways(curve, "saturated_load", 1, 8, 1 / hz);
	add_ways(curve, "saturated_store", 2, 4, 2 / hz);
	struct profile *profile = profile_new();
	bank_conflict_fit(curve, profile);
	is_text(row_of(profile, "gpu.shared.read")->status, "failed",
	        "a rate above one wavefront a cycle is implausible");
	is_text(row_of(profile, "gpu.shared.write")->status, "absent",
	        "no rate without an access free of conflicts");
	profile_free(profile);
	table_free(curve);

	curve = curve_new(columns, ARRAY_LEN(columns));
	add_ways(curve, "saturated_load", 1, 4, 1 / hz);
	profile = profile_new();
	bank_conflict_fit(curve, profile);
	is_text(row_of(profile, "gpu.shared.read")->status, "absent",
	        "nor without the number of SMs");
	profile_free(profile);
	table_free(curve);
}

static void check_implausible(void)
{
	struct table *curve = synthetic(64);
	struct profile *profile = profile_new();
	bank_conflict_fit(curve, profile);
	ok(profile_failed(profile) == 1, "32 ways that cost 64 times no conflict fail");
	profile_free(profile);
	table_free(curve);

	curve = curve_new(columns, ARRAY_LEN(columns));
	for (double ways = 1; ways <= 32; ways *= 2)
		add_ways(curve, "alone_load", ways, 4, (60 - ways) / hz);
	add_ways(curve, "saturated_load", 32, 4, 32 / hz);
	profile = profile_new();
	bank_conflict_fit(curve, profile);
	is_text(row_of(profile, "gpu.bank.alone.way")->status, "bounded",
	        "a latency that falls with the ways has no slope");
	is_text(row_of(profile, "gpu.bank.saturated.factor")->status, "absent",
	        "no factor without a conflict-free access");
	profile_free(profile);
	table_free(curve);
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	bank_conflict_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
	table_free(curve);
	check_good();
	check_implausible();
	check_rates();
	return finish();
}
