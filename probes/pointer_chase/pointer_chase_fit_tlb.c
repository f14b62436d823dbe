/* SPDX-License-Identifier: MIT */
/* TLBs from pointer chains over pages, less packed ones (lib/stats/tlb). */
#include "pointer_chase_fit_internal.h"

/* Subtracts the time of as many nodes on adjacent lines, less its minimum; only where that time has
 * more than one plateau, whose scatter would be added for nothing. */
static void isolate(struct curve_series *pages, const struct curve_series *packed)
{
	struct levels levels;
	if (!curve_series_levels(packed, &levels) || levels.count == 0)
		return;
	for (size_t i = 0; i < pages->n; ++i) {
		const double more = curve_series_at(packed, pages->x[i]) - packed->seconds[0];
		pages->error[i] *= pages->seconds[i] / (pages->seconds[i] - more) * 1.4;
		pages->seconds[i] -= more;
	}
}

static void add_tlb(const struct output *out, const char *name, const char *unit,
        const char *method, size_t level, struct estimate estimate)
{
	const struct arg args[] = {{"level", (double)level}};
	const struct parameter_spec spec = {name, unit, method, NULL, 1e-12, 1e14};
	chase_add(out, &spec, args, 1, estimate);
}

size_t chase_fit_tlb(const struct output *out, struct tlb_level *level)
{
	double stride[STRIDES];
	struct tlb_walk chain[STRIDES];
	const size_t strides = chase_strides(out->curve, "pages", stride);
	struct curve_series packed = curve_series_read(out->curve, "packed", "nodes", 0);
	size_t n = 0;
	for (size_t i = 0; i < strides; ++i) {
		struct curve_series pages =
		        curve_series_read(out->curve, "pages", "nodes", stride[i]);
		isolate(&pages, &packed);
		chain[n].stride = stride[i];
		chain[n].largest = curve_series_end(&pages) * stride[i];
		n += curve_series_levels(&pages, &chain[n].levels);
		curve_series_free(&pages);
	}
	curve_series_free(&packed);
	if (n == 0)
		return 0;
	const size_t count = tlb_find(chain, n, level);
	for (size_t k = 0; k < count; ++k) {
		add_tlb(out, "gpu.tlb.reach", "B", "kink of chains over pages, less packed ones",
		        k + 1, level[k].reach);
		add_tlb(out, "gpu.tlb.entries", "count", "nodes at the kink, strides of a page on",
		        k + 1, level[k].entries);
		add_tlb(out, "gpu.tlb.page", "B",
		        "reach over entries, a power of two if only one fits", k + 1,
		        level[k].page);
		add_tlb(out, "gpu.tlb.penalty", "s", "step of chains over pages, less packed ones",
		        k + 1, level[k].penalty);
	}
	add_tlb(out, "gpu.tlb.reach", "B", "no further kink up to the largest set", count + 1,
	        (struct estimate){
	                NAN, chain[0].largest, NAN, chain[0].levels.level[0].size.samples});
	return count;
}
