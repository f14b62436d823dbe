/* SPDX-License-Identifier: MIT */
/* Curve of the instruction probe -> gpu.<instruction>.latency (s, one chain of one warp),
 * gpu.<instruction>.rate (flop/s of the device, its best point) or .issue (s per warp-wide
 * instruction of a saturated SM), gpu.fma.s.curve[chains,warps] and, of two blocks,
 * gpu.fma.s.two_blocks, gpu.<matrix product>.blocks[blocks] (flop/s of one SM),
 * gpu.fma.fed.<source>[width] (share of the rate from registers), gpu.instruction.overhead[warps],
 * and the sustained rates with clock and power. */
#include "instruction.h"

#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations a cycle of a multiprocessor: twice those of 10.0 in FP16. */
static const double flops_a_cycle = 16384, shortest = 1e-11, longest = 1e-3;

/* a / b; relative half-widths add up. */
static struct estimate quotient(struct estimate a, struct estimate b)
{
	const double value = a.value / b.value;
	const double half = (a.high - a.low) / 2 / a.value + (b.high - b.low) / 2 / b.value;
	return (struct estimate){value, value * (1 - half), value * (1 + half),
	        a.samples < b.samples ? a.samples : b.samples};
}

/* flop/s of one SM. */
static struct estimate flop_rate(const struct table *curve, const struct point *point)
{
	return estimate_inverse(curve_arg(curve, point, "flops"), point->seconds);
}

static struct point at(
        const struct table *curve, const char *series, double chains, double warps, double blocks)
{
	const struct arg args[] = {{"chains", chains}, {"warps", warps}, {"blocks", blocks}};
	return curve_at(curve, series, args, ARRAY_LEN(args));
}

static void add(struct profile *profile, const char *name, struct parameter_spec spec,
        struct estimate estimate, bool busy)
{
	char *full = xasprintf("gpu.%s.%s", name, spec.name);
	spec.name = full;
	profile_add(profile, &spec, NULL, 0, estimate, busy);
	free(full);
}

/* Series of instructions have a dot in their names, series of other sweeps an underscore. */
static bool is_instruction(const char *series)
{
	return strchr(series, '.') && !strchr(series, '_');
}

/* The quickest point of a series: the saturated SM. */
static struct point quickest(const struct table *curve, const char *series)
{
	struct point *points, best = {.seconds = {NAN, NAN, NAN, 0}};
	const size_t count = curve_points(curve, series, &points);
	for (size_t i = 0; i < count; i++)
		if (points[i].seconds.samples > 0 &&
		        !(best.seconds.value <= points[i].seconds.value))
			best = points[i];
	free(points);
	return best;
}

static void fit_instruction(
        const struct table *curve, struct profile *profile, const char *series, double sms)
{
	const struct parameter_spec latency = {"latency", "s",
	        "one chain of dependent instructions, one warp", NULL, shortest, longest};
	const struct parameter_spec rate = {"rate", "flop/s",
	        "independent chains on all SMs, the best of the sweep", NULL, 1e9,
	        curve_most(curve, flops_a_cycle)};
	const struct parameter_spec issue = {"issue", "s",
	        "a warp-wide instruction of a saturated SM, the best of the sweep", NULL, shortest,
	        longest};
	const struct point alone = at(curve, series, 1, 1, 1), best = quickest(curve, series);
	if (alone.seconds.samples > 0)
		add(profile, series, latency, alone.seconds, alone.busy);
	if (best.seconds.samples == 0)
		return;
	const double flops = curve_arg(curve, &best, "flops");
	if (flops > 0)
		add(profile, series, rate, estimate_inverse(flops * sms, best.seconds), best.busy);
	else
		add(profile, series, issue, best.seconds, best.busy);
}

static void fit_instructions(const struct table *curve, struct profile *profile)
{
	const double sms = curve_fact(curve, "gpu_sms");
	struct point *points;
	const size_t count = curve_points(curve, NULL, &points);
	for (size_t i = 0; i < count; i++) {
		bool first = is_instruction(points[i].series);
		for (size_t j = 0; j < i && first; j++)
			first = strcmp(points[i].series, points[j].series) != 0;
		if (first)
			fit_instruction(curve, profile, points[i].series, sms);
	}
	free(points);
}

/* LAPACK Working Note 202, section 3.4: the rate of one SM against chains and warps; and with two
 * blocks of one warp. */
static void fit_curve(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec one = {"gpu.fma.s.curve", "flop/s",
	        "single-precision FMA of one SM against chains and warps", NULL, 1e6, 1e14};
	const struct parameter_spec two = {"gpu.fma.s.two_blocks", "flop/s",
	        "single-precision FMA of one SM, two blocks of one warp", NULL, 1e6, 1e14};
	struct point *points;
	const size_t count = curve_points(curve, "fma.s", &points);
	for (size_t i = 0; i < count; i++) {
		const struct arg args[] = {{"chains", curve_arg(curve, &points[i], "chains")},
		        {"warps", curve_arg(curve, &points[i], "warps")}};
		const bool alone = curve_arg(curve, &points[i], "blocks") == 1;
		profile_add(profile, alone ? &one : &two, args, alone ? 2 : 1,
		        flop_rate(curve, &points[i]), points[i].busy);
	}
	free(points);
}

static void fit_fed(const struct table *curve, struct profile *profile)
{
	static const char *const sources[][2] = {{"fed_lane", "gpu.fma.fed.lane"},
	        {"fed_broadcast", "gpu.fma.fed.broadcast"},
	        {"fed_conflict", "gpu.fma.fed.conflict"}, {"fed_constant", "gpu.fma.fed.constant"}};
	const struct arg four = {"width", 4};
	const struct point reference = curve_at(curve, "fed_register", &four, 1);
	for (size_t s = 0; s < ARRAY_LEN(sources) && reference.seconds.samples > 0; s++) {
		const struct parameter_spec spec = {sources[s][1], "ratio",
		        "FMA with an operand loaded (bytes a load), share of the rate from "
		        "registers",
		        NULL, 1e-3, 1.1};
		struct point *points;
		const size_t count = curve_points(curve, sources[s][0], &points);
		for (size_t i = 0; i < count; i++) {
			const struct arg width = {"width", curve_arg(curve, &points[i], "width")};
			profile_add(profile, &spec, &width, 1,
			        quotient(reference.seconds, points[i].seconds),
			        points[i].busy || reference.busy);
		}
		free(points);
	}
}

/* The loop's own share of a turn of the long body. Bodies of B and b instructions that take T and t
 * per instruction give (t - T) B b / (B - b) for the loop itself. */
static void fit_overhead(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {"gpu.instruction.overhead", "ratio",
	        "loop of single-precision FMAs with a shorter body against the long one", NULL,
	        -0.02, 0.05};
	static const double warps[] = {1, 16};
	for (size_t i = 0; i < ARRAY_LEN(warps); i++) {
		const double chains = warps[i] > 1 ? 8 : 1;
		const struct point brief = at(curve, "overhead", chains, warps[i], 1),
		                   full = at(curve, "fma.s", chains, warps[i], 1);
		if (brief.seconds.samples == 0 || full.seconds.samples == 0)
			continue;
		const struct estimate ratio = quotient(brief.seconds, full.seconds);
		const double part = (double)INSTRUCTION_SHORT_BODY /
		                    (INSTRUCTION_BODY - INSTRUCTION_SHORT_BODY);
		const struct estimate share = {(ratio.value - 1) * part, (ratio.low - 1) * part,
		        (ratio.high - 1) * part, ratio.samples};
		const struct arg arg = {"warps", warps[i]};
		/* a share that may be 0 has an upper bound only */
		if (share.low > 0 && share.high - share.low < 0.4 * share.value)
			profile_add(profile, &spec, &arg, 1, share, brief.busy || full.busy);
		else
			profile_add_bounded(
			        profile, &spec, &arg, 1, NAN, fmax(share.high, 0), share.samples);
	}
}

/* The last half of a long run, of one process: the interval is that process's own. */
static void fit_sustained(const struct table *curve, struct profile *profile, const char *name)
{
	const struct parameter_spec rate = {"sustained", "flop/s",
	        "second half of a long run, one process", NULL, 1e9,
	        curve_most(curve, flops_a_cycle)};
	const struct parameter_spec clock = {
	        "sustained_clock", "Hz", "SM clock in that half", NULL, 1e8, 1e10};
	const struct parameter_spec power = {
	        "sustained_power", "W", "NVML at its end", NULL, 1, 1e4};
	char series[64];
	struct point *p;
	snprintf(series, sizeof series, "%s_sustained", name);
	if (curve_points(curve, series, &p) > 0) {
		const double watt = curve_arg(curve, p, "watt");
		add(profile, name, rate,
		        estimate_inverse(
		                curve_arg(curve, p, "flops") * curve_fact(curve, "gpu_sms"),
		                p->seconds),
		        p->busy);
		add(profile, name, clock, estimate_exact(p->hz, p->seconds.samples), p->busy);
		if (watt > 0)
			add(profile, name, power, estimate_exact(watt, 1), p->busy);
	}
	free(p);
}

/* Matrix products against blocks: one chain in each of as many warps of a block as an SM has tensor
 * cores. */
static void fit_blocks(const struct table *curve, struct profile *profile)
{
	enum { WARPS = 4 };
	static const char method[] = "one SM against blocks of 4 warps, one chain in each";
	static const char *const products[] = {"mma.d", "mma.d16", "mma.tf32", "mma.bf16", "mma.h"};

	for (size_t k = 0; k < ARRAY_LEN(products); k++) {
		char *name = xasprintf("gpu.%s.blocks", products[k]);
		const struct parameter_spec spec = {name, "flop/s", method, NULL, 1e6, 1e14};
		struct point *points;
		const size_t count = curve_points(curve, products[k], &points);
		for (size_t i = 0; i < count; i++) {
			const struct arg blocks = {
			        "blocks", curve_arg(curve, &points[i], "blocks")};
			if (curve_arg(curve, &points[i], "chains") == 1 &&
			        curve_arg(curve, &points[i], "warps") == WARPS)
				profile_add(profile, &spec, &blocks, 1,
				        flop_rate(curve, &points[i]), points[i].busy);
		}
		free(points);
		free(name);
	}
}

void instruction_fit(const struct table *curve, struct profile *profile)
{
	static const char *const sustained[] = {
	        "fma.s", "fma.d", "mma.d", "mma.d16", "mma.bf16", "wgmma.tf32", "wgmma.bf16"};
	fit_instructions(curve, profile);
	fit_curve(curve, profile);
	fit_fed(curve, profile);
	fit_overhead(curve, profile);
	fit_blocks(curve, profile);
	for (size_t i = 0; i < ARRAY_LEN(sustained); i++)
		fit_sustained(curve, profile, sustained[i]);
}
