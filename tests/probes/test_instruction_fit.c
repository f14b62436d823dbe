/* SPDX-License-Identifier: MIT */
/* The instruction probe's fit on synthetic loops: latency from one chain, rate from the best point,
 * shares of fed FMAs, the loop's own time, sustained rates, and what physics forbids. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/instruction/instruction.h"

#include <math.h>

static const char *const columns[] = {"chains", "warps", "blocks", "width", "flops", "watt"};

static void put(struct table *curve, const char *series, double chains, double warps, double blocks,
        double width, double flops, double watt, double seconds)
{
	const struct arg args[] = {{"chains", chains}, {"warps", warps}, {"blocks", blocks},
	        {"width", width}, {"flops", flops}, {"watt", watt}};
	for (int process = 0; process < 3; process++) {
		const double off = seconds * (1 + 0.001 * (process - 1));
		const struct measurement m = {
		        .seconds = {off, 0.999 * off, 1.001 * off, 10}, .hz = 1.7e9};
		curve_add(curve, series, args, ARRAY_LEN(args), process, &m, false);
	}
}

static const struct parameter *row(const struct profile *profile, const char *name)
{
	static const struct parameter none = {.status = "absent", .estimate = {NAN, NAN, NAN, 0}};
	for (size_t i = 0; i < profile->count; i++)
		if (strcmp(profile->row[i].name, name) == 0)
			return &profile->row[i];
	return &none;
}

static double value(const struct profile *profile, const char *name)
{
	return row(profile, name)->estimate.value;
}

int main(void)
{
	struct profile *profile = profile_new();
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	instruction_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");

	table_meta_set(curve, "gpu_sms", "100");
	put(curve, "fma.s", 1, 1, 1, NAN, 64, NAN, 2e-9);
	put(curve, "fma.s", 8, 16, 1, NAN, 64, NAN, 0.125e-9);
	put(curve, "fma.s", 8, 1, 2, NAN, 64, NAN, 0.5e-9);
	put(curve, "int.mad", 1, 1, 1, NAN, 0, NAN, 2e-9);
	put(curve, "int.mad", 8, 16, 1, NAN, 0, NAN, 0.25e-9);
	put(curve, "overhead", 8, 16, 1, NAN, 64, NAN, 0.125e-9 * 1.09);
	put(curve, "overhead", 1, 1, 1, NAN, 64, NAN, 2e-9);
	put(curve, "fed_register", 8, 16, 1, 4, 64, NAN, 0.125e-9);
	put(curve, "fed_lane", 8, 16, 1, 8, 64, NAN, 0.5e-9);
	put(curve, "fma.s_sustained", 8, 16, 1, NAN, 64, 350, 0.16e-9);
	put(curve, "wgmma.bf16_sustained", 1, 8, 1, NAN, 262144, 690, 40e-9);
	for (int blocks = 1; blocks <= 2; blocks++)
		put(curve, "mma.tf32", 1, 4, blocks, NAN, 2048, NAN, 8e-9 / blocks);
	put(curve, "mma.tf32", 1, 1, 1, NAN, 2048, NAN, 16e-9);
	put(curve, "mma.d", 1, 1, 1, NAN, 512, NAN, 1e-12);
	instruction_fit(curve, profile);

	is_real(value(profile, "gpu.fma.s.latency"), 2e-9, 1e-6,
	        "one chain of one warp is latency");
	is_real(value(profile, "gpu.fma.s.rate"), 64 * 100 / 0.125e-9, 1e-6,
	        "the best point is the device's rate");
	is_real(value(profile, "gpu.fma.s.two_blocks"), 64 / 0.5e-9, 1e-6, "two blocks apart");
	is_real(value(profile, "gpu.int.mad.issue"), 0.25e-9, 1e-6,
	        "what is no flop counts as instructions");
	is_text(row(profile, "gpu.int.mad.rate")->status, "absent", "and has no flop rate");
	is_real(value(profile, "gpu.fma.fed.lane"), 0.25, 1e-6, "share of the rate from registers");
	const struct arg many = {"warps", 16}, one = {"warps", 1};
	is_real(profile_get(profile, "gpu.instruction.overhead", &many, 1).estimate.value,
	        0.09 * 64 / 192, 1e-6, "the loop's own time out of two bodies");
	ok(!profile_get(profile, "gpu.instruction.overhead", &one, 1).found ||
	                profile_get(profile, "gpu.instruction.overhead", &one, 1).extrapolated,
	        "none that can be told from zero is only bounded");
	is_real(value(profile, "gpu.fma.s.sustained"), 64 * 100 / 0.16e-9, 1e-6, "sustained");
	is_real(value(profile, "gpu.fma.s.sustained_clock"), 1.7e9, 1e-9, "its clock");
	is_real(value(profile, "gpu.fma.s.sustained_power"), 350, 1e-9, "its power");
	is_real(value(profile, "gpu.wgmma.bf16.sustained"), 262144 * 100 / 40e-9, 1e-6,
	        "another one sustained");
	is_text(row(profile, "gpu.fma.d.sustained")->status, "absent",
	        "what did not run long is not there");
	const struct arg two = {"blocks", 2}, single = {"blocks", 1};
	is_real(profile_get(profile, "gpu.mma.tf32.blocks", &two, 1).estimate.value, 2048 / 4e-9,
	        1e-6, "matrix products of two blocks on an SM");
	is_real(profile_get(profile, "gpu.mma.tf32.blocks", &single, 1).estimate.value, 2048 / 8e-9,
	        1e-6, "and of one block, not of one warp");
	is_text(row(profile, "gpu.mma.d.blocks")->status, "absent",
	        "one warp alone is no point of them");
	is_text(row(profile, "gpu.fma.s.sustained_clock")->status, "ok", "status of the clock");
	is_text(row(profile, "gpu.mma.d.latency")->status, "failed",
	        "a latency below any clock's period fails");
	is_text(row(profile, "gpu.mma.d.rate")->status, "failed",
	        "and so does a rate of tens of petaflops");
	profile_free(profile);
	table_free(curve);
	return finish();
}
