/* SPDX-License-Identifier: MIT */
/* TLBs: from chains over pages, less packed ones (lib/stats/tlb). */
#include "pointer_chase_fit_internal.h"

/* Seconds of the chain at x, interpolated; the end value beyond. */
static double chain_seconds(const struct chain *chain, double x)
{
	size_t i = 0;
	if (x <= chain->x[0] || chain->n == 1)
		return chain->seconds[0];
	while (i + 2 < chain->n && chain->x[i + 1] < x)
		++i;
	if (x >= chain->x[i + 1])
		return chain->seconds[i + 1];
	const double part = log(x / chain->x[i]) / log(chain->x[i + 1] / chain->x[i]);
	return (1 - part) * chain->seconds[i] + part * chain->seconds[i + 1];
}

/* What the same number of nodes takes on adjacent lines is taken away, but for its least: where
 * that is more than one plateau, whose scatter alone would be added. */
static void isolate(struct chain *pages, const struct chain *packed)
{
	struct levels levels;
	if (!levels_fit(packed->x, packed->seconds, packed->error, packed->n, &levels) ||
	        levels.count == 0)
		return;
	for (size_t i = 0; i < pages->n; ++i) {
		const double more = chain_seconds(packed, pages->x[i]) - packed->seconds[0];
		pages->error[i] *= pages->seconds[i] / (pages->seconds[i] - more) * 1.4;
		pages->seconds[i] -= more;
	}
}

static void add_tlb(const struct output *out, const char *name, const char *unit,
        const char *method, size_t level, struct estimate estimate)
{
	const struct arg args[] = {{"level", (double)level}};
	const struct parameter_spec spec = {
	        .name = name, .unit = unit, .method = method, .low = 1e-12, .high = 1e14};
	chase_add(out, &spec, args, 1, estimate);
}

size_t chase_fit_tlb(const struct output *out, struct tlb_level *level)
{
	double stride[STRIDES];
	struct tlb_walk chain[STRIDES];
	const size_t strides = chase_strides(out->curve, "pages", stride);
	struct chain packed = chase_read_chain(out->curve, "packed", "nodes", 0);
	size_t n = 0;
	double largest = 0;
	for (size_t i = 0; i < strides; ++i) {
		struct chain pages = chase_read_chain(out->curve, "pages", "nodes", stride[i]);
		isolate(&pages, &packed);
		chain[n].stride = stride[i];
		chain[n].largest = pages.n > 0 ? pages.x[pages.n - 1] * stride[i] : 0;
		largest = fmax(largest, chain[n].largest);
		n += levels_fit(pages.x, pages.seconds, pages.error, pages.n, &chain[n].levels);
		chase_chain_free(&pages);
	}
	chase_chain_free(&packed);
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
	        (struct estimate){NAN, chain[0].largest, NAN, chain[0].levels.level[0].size.samples});
	return count;
}
