/* SPDX-License-Identifier: MIT */
/* TLBs: from walks over pages, less packed ones (lib/tlb). */
#include "pointer_chase_fit_parts.h"

/* Seconds of the walk at x, interpolated; the end value beyond. */
static double walk_seconds(const struct walk *walk, double x)
{
	size_t i = 0;
	if (x <= walk->x[0] || walk->n == 1)
		return walk->seconds[0];
	while (i + 2 < walk->n && walk->x[i + 1] < x)
		++i;
	if (x >= walk->x[i + 1])
		return walk->seconds[i + 1];
	const double part = log(x / walk->x[i]) / log(walk->x[i + 1] / walk->x[i]);
	return (1 - part) * walk->seconds[i] + part * walk->seconds[i + 1];
}

/* What the same number of nodes takes on adjacent lines is taken away, but for its least: where
 * that is more than one plateau, whose scatter alone would be added. */
static void isolate(struct walk *pages, const struct walk *packed)
{
	struct levels levels;
	if (!levels_fit(packed->x, packed->seconds, packed->error, packed->n, &levels) ||
	        levels.count == 0)
		return;
	for (size_t i = 0; i < pages->n; ++i) {
		const double more = walk_seconds(packed, pages->x[i]) - packed->seconds[0];
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
	struct tlb_walk walk[STRIDES];
	const size_t strides = chase_strides(out->curve, "pages", stride);
	struct walk packed = chase_read_walk(out->curve, "packed", "nodes", 0);
	size_t n = 0;
	double largest = 0;
	for (size_t i = 0; i < strides; ++i) {
		struct walk pages = chase_read_walk(out->curve, "pages", "nodes", stride[i]);
		isolate(&pages, &packed);
		walk[n].stride = stride[i];
		walk[n].largest = pages.n > 0 ? pages.x[pages.n - 1] * stride[i] : 0;
		largest = fmax(largest, walk[n].largest);
		n += levels_fit(pages.x, pages.seconds, pages.error, pages.n, &walk[n].levels);
		chase_walk_free(&pages);
	}
	chase_walk_free(&packed);
	if (n == 0)
		return 0;
	const size_t count = tlb_find(walk, n, level);
	for (size_t k = 0; k < count; ++k) {
		add_tlb(out, "gpu.tlb.reach", "B", "kink of walks over pages, less packed ones",
		        k + 1, level[k].reach);
		add_tlb(out, "gpu.tlb.entries", "count", "nodes at the kink, strides of a page on",
		        k + 1, level[k].entries);
		add_tlb(out, "gpu.tlb.page", "B",
		        "reach over entries, a power of two if only one fits", k + 1,
		        level[k].page);
		add_tlb(out, "gpu.tlb.penalty", "s", "step of walks over pages, less packed ones",
		        k + 1, level[k].penalty);
	}
	add_tlb(out, "gpu.tlb.reach", "B", "no further kink up to the largest set", count + 1,
	        (struct estimate){NAN, walk[0].largest, NAN, walk[0].levels.level[0].size.samples});
	return count;
}
