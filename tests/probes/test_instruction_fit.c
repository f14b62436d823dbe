/* SPDX-License-Identifier: MIT */
/* The instruction probe's fit on known loops: latency from one chain, rate from the best point,
 * shares of operands, the loop's own time, sustained rates, and impossible times. */
#include "tests/fit_test.h"

static const char *const columns[] = {"chains", "warps", "blocks", "width", "flops", "watt"};

static const struct timed_point points[] = {{"fma.s[chains=1,warps=1,blocks=1,flops=64]", 2e-9},
        {"fma.s[chains=8,warps=16,blocks=1,flops=64]", 0.125e-9},
        {"fma.s[chains=8,warps=1,blocks=2,flops=64]", 0.5e-9},
        {"int.mad[chains=1,warps=1,blocks=1,flops=0]", 2e-9},
        {"int.mad[chains=8,warps=16,blocks=1,flops=0]", 0.25e-9},
        {"overhead[chains=8,warps=16,blocks=1,flops=64]", 0.125e-9 * 1.09},
        {"overhead[chains=1,warps=1,blocks=1,flops=64]", 2e-9},
        {"fed_register[chains=8,warps=16,blocks=1,width=4,flops=64]", 0.125e-9},
        {"fed_lane[chains=8,warps=16,blocks=1,width=8,flops=64]", 0.5e-9},
        {"fma.s_sustained[chains=8,warps=16,blocks=1,flops=64,watt=350]", 0.16e-9},
        {"wgmma.bf16_sustained[chains=1,warps=8,blocks=1,flops=262144,watt=690]", 40e-9},
        {"mma.tf32[chains=1,warps=4,blocks=1,flops=2048]", 8e-9},
        {"mma.tf32[chains=1,warps=4,blocks=2,flops=2048]", 4e-9},
        {"mma.tf32[chains=1,warps=1,blocks=1,flops=2048]", 16e-9},
        {"mma.d[chains=1,warps=1,blocks=1,flops=512]", 1e-12}};
static const struct expected_row rows[] = {{"gpu.fma.s.latency", 2e-9, NULL},
        {"gpu.fma.s.rate", 64 * 100 / 0.125e-9, NULL}, /* of 100 SMs */
        {"gpu.fma.s.two_blocks", 64 / 0.5e-9, NULL}, {"gpu.int.mad.issue", 0.25e-9, NULL},
        {"gpu.int.mad.rate", 0, "absent"}, {"gpu.fma.fed.lane", 0.25, NULL},
        {"gpu.fma.s.sustained", 64 * 100 / 0.16e-9, NULL}, {"gpu.fma.s.sustained_clock", 2e9, NULL},
        {"gpu.fma.s.sustained_power", 350, NULL},
        {"gpu.wgmma.bf16.sustained", 262144 * 100 / 40e-9, NULL},
        {"gpu.fma.d.sustained", 0, "absent"}, {"gpu.mma.tf32.blocks[blocks=2]", 2048 / 4e-9, NULL},
        /* of several warps, not of one */
        {"gpu.mma.tf32.blocks[blocks=1]", 2048 / 8e-9, NULL}, {"gpu.mma.d.blocks", 0, "absent"},
        {"gpu.mma.d.latency", 0, "failed"}, {"gpu.mma.d.rate", 0, "failed"}};

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	is_empty_fit(instruction_fit, columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_sms", "100");
	add_points(curve, points, ARRAY_LEN(points));
	struct profile *profile = profile_of(instruction_fit, curve);
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_real(row_of(profile, "gpu.instruction.overhead[warps=16]")->estimate.value,
	        0.09 * 64 / 192, 1e-6, "the loop's own time, from two lengths of its body");
	const struct lookup one = lookup_of(profile, "gpu.instruction.overhead[warps=1]");
	ok(!one.found || one.extrapolated, "an overhead near zero is only bounded");
	profile_free(profile);
	return finish();
}
