/* SPDX-License-Identifier: MIT */
/* Curve of the pointer_chase probe -> latencies, sizes, lines, sectors, ways, partitions, TLBs and
 * sharing of the GPU's memory hierarchy. Device attributes only stand beside measured values and
 * never change them. */
#include "pointer_chase_fit_internal.h"

#include <stdlib.h>

static const struct curve_rows cluster = {"cluster",
        {"gpu.cluster.latency", "s", "dependent loads from another block's shared memory", NULL,
                0.5e-9, 10e-6},
        .column = {"distance"}};

static void add_curve(const struct output *out, const char *series, double above, double below)
{
	const struct parameter_spec spec = {"gpu.load.latency", "s",
	        "dependent loads (ca to 512 KiB, cg beyond, cold from four L2s on)", NULL, quickest,
	        slowest};
	struct point *point;
	const size_t count = curve_points(out->curve, series, &point);
	for (size_t i = 0; i < count; ++i) {
		const struct arg args[] = {{"bytes", curve_arg(out->curve, &point[i], "bytes")}};
		if (args[0].value > above && args[0].value < below)
			profile_add(out->profile, &spec, args, 1, point[i].seconds, point[i].busy);
	}
	free(point);
}

static void fit_curve(const struct output *out)
{
	static const double through_l1 = 512 * 1024;
	struct curve_series cold = curve_series_read(out->curve, "cold", "bytes", 0);
	add_curve(out, "chain_ca", 0, through_l1 + 1);
	add_curve(out, "chain_cg", through_l1, cold.n > 0 ? cold.x[0] : INFINITY);
	add_curve(out, "cold", through_l1, INFINITY);
	curve_series_free(&cold);
}

/* Cycles over %globaltimer, one value a point; the chases need little power. */
static void fit_clock(const struct output *out)
{
	const struct parameter_spec spec = {"gpu.clock.sm", "Hz",
	        "cycles over %globaltimer during the chases", NULL, 1e8, 1e10};
	bool unused;
	const struct estimate clock = curve_clock(out->curve, &unused);
	if (out->curve->row_count > 0)
		profile_add(out->profile, &spec, NULL, 0, clock, out->busy);
}

/* Device attributes, exact. */
static void fit_device(const struct output *out)
{
	static const struct {
		const char *key, *name, *unit;
	} facts[] = {{"gpu_sms", "gpu.sm.count", "count"},
	        {"gpu_shared_per_block", "gpu.shared.per_block", "B"},
	        {"gpu_l2_bytes", "gpu.l2.stated", "B"}};
	for (size_t i = 0; i < ARRAY_LEN(facts); ++i) {
		const double value = curve_fact(out->curve, facts[i].key);
		const struct parameter_spec spec = {
		        facts[i].name, facts[i].unit, "device attribute", NULL, 1, 1e12};
		if (!isnan(value))
			profile_add(out->profile, &spec, NULL, 0, estimate_exact(value, 1), false);
	}
}

void pointer_chase_fit(const struct table *curve, struct profile *profile)
{
	const struct output out = {curve, profile, curve_any_busy(curve)};
	struct caches caches = {0};
	struct tlb_level tlb[LEVELS_MAX];
	chase_read_caches(curve, &caches);
	chase_fit_caches(&out, &caches);
	chase_fit_paths(&out);
	chase_fit_slices(&out);
	chase_fit_partitions(&out);
	chase_fit_once(&out);
	const size_t tlbs = chase_fit_tlb(&out, tlb);
	chase_fit_sharing(&out, &caches, tlb, tlbs);
	curve_fit_rows(curve, profile, &cluster, 1, false);
	fit_curve(&out);
	fit_clock(&out);
	fit_device(&out);
}
