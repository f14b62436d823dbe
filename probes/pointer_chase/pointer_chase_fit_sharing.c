/* SPDX-License-Identifier: MIT */
/* Slices of L2, and the number of SMs that share a cache or a TLB. */
#include "pointer_chase_fit_internal.h"

#include "lib/base/msg.h"
#include "lib/stats/partition.h"
#include "lib/stats/sharing.h"

#include <stdlib.h>
#include <string.h>

/* ---- slices ---- */

/* Every process draws new lines, so each process has columns of its own. Every SM reads a line
 * repeatedly before it is timed: the near part holds the line. Both latencies are of near hits, in
 * slices closer to one group of SMs and farther from it. */
void chase_fit_slices(const struct output *out)
{
	static const char closer[] =
	        "hits in the near part, lines that the SM's group reads sooner";
	static const char farther[] =
	        "hits in the near part, lines that the SM's group reads later";
	const struct table *curve = out->curve;
	size_t sms = 0, lines = 0, processes = 0;
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), "slice") == 0) {
			sms = (size_t)fmax((double)sms, table_real(curve, row, "sm") + 1);
			lines = (size_t)fmax((double)lines, table_real(curve, row, "line") + 1);
			processes = (size_t)fmax(
			        (double)processes, table_real(curve, row, "process") + 1);
		}
	const size_t items = lines * processes;
	if (sms == 0 || items == 0)
		return;
	double *seconds = xmalloc(sms * items * sizeof *seconds);
	int *group = xcalloc(sms, sizeof *group);
	for (size_t i = 0; i < sms * items; ++i)
		seconds[i] = NAN;
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), "slice") == 0) {
			const size_t sm = (size_t)table_real(curve, row, "sm");
			const size_t line = (size_t)table_real(curve, row, "line");
			const size_t process = (size_t)table_real(curve, row, "process");
			seconds[sm * items + process * lines + line] =
			        table_real(curve, row, "seconds");
		}
	const struct partition found = partition_find(seconds, sms, items, group);
	if (found.groups == 2) {
		chase_add_time(out, "gpu.l2.slice.closer.latency", closer, quickest, found.sooner);
		chase_add_time(out, "gpu.l2.slice.farther.latency", farther, found.sooner.low,
		        found.later);
	}
	free(group);
	free(seconds);
}

/* ---- sharing ---- */

/* The only whole number in the interval, or the two around it when there is none. */
static struct estimate counted(struct estimate found)
{
	const double first = ceil(found.low), last = floor(found.high);
	if (found.samples > 0 && first == last)
		found = estimate_exact(first, found.samples);
	else if (found.samples > 0 && first > last)
		found = estimate_between(last, first, found.samples);
	return found;
}

static struct estimate fit_chains(
        const struct output *out, const struct curve_series *alone, const struct curve_series *all)
{
	const double sms = curve_fact(out->curve, "gpu_sms");
	const struct sharing_curve one = {alone->x, alone->seconds, alone->n};
	const struct sharing_curve each = {all->x, all->seconds, all->n};
	return counted(sharing_fit(one, each, sms > 0 ? sms : 1024));
}

static struct estimate cache_sharers(
        const struct output *out, const char *all_series, const char *series)
{
	struct curve_series all = curve_series_read(out->curve, all_series, "bytes", 0);
	struct curve_series alone = curve_series_read(out->curve, series, "bytes", 0);
	const struct estimate found = fit_chains(out, &alone, &all);
	curve_series_free(&all);
	curve_series_free(&alone);
	return found;
}

/* Replaces the chain's seconds by twice the penalty plus the part beyond `before`, at most one
 * penalty. Readers that meet elsewhere then change the curve by little. The base is the lower
 * quartile, as few points scatter downwards. Returns the largest part of the penalty reached. */
static double keep_level(struct curve_series *chain, double before, double penalty)
{
	const double base = stats_quantile(chain->seconds, chain->n, 0.25) + before;
	double most = 0;
	for (size_t i = 0; i < chain->n; ++i) {
		const double beyond = fmin(fmax(chain->seconds[i] - base, 0), penalty);
		chain->seconds[i] = 2 * penalty + beyond;
		most = fmax(most, beyond / penalty);
	}
	return most;
}

/* The SMs that share a TLB level. When the largest set of all SMs shows no misses, the shared sets
 * together do not reach its kink: an upper bound. */
static struct estimate tlb_sharers(
        const struct output *out, const struct tlb_level *tlb, size_t level, double stride)
{
	const double seen_from = 0.25, penalty = tlb[level].penalty.value;
	struct curve_series all = curve_series_read(out->curve, "all_pages", "bytes", 0);
	struct curve_series alone = curve_series_read(out->curve, "pages", "nodes", stride);
	struct estimate found = estimate_none;
	double before = 0;
	for (size_t k = 0; k < level; ++k)
		before += tlb[k].penalty.value;
	for (size_t i = 0; i < alone.n; ++i)
		alone.x[i] *= stride;
	if (all.n > 0 && alone.n > 0 && isfinite(before + penalty)) {
		keep_level(&alone, before, penalty);
		if (keep_level(&all, before, penalty) >= seen_from)
			found = fit_chains(out, &alone, &all);
		else if (isfinite(tlb[level].kink.value))
			found = (struct estimate){NAN, 1,
			        (1 + seen_from) * tlb[level].kink.high / all.x[all.n - 1], all.n};
	}
	curve_series_free(&all);
	curve_series_free(&alone);
	return found;
}

void chase_fit_sharing(const struct output *out, const struct caches *caches,
        const struct tlb_level *tlb, size_t tlbs)
{
	struct parameter_spec spec = {.unit = "count",
	        .method = "all SMs chasing private sets, against one alone",
	        .low = 0.5,
	        .high = 1e5};
	if (curve_has_series(out->curve, "all_ca")) {
		spec.name = "gpu.l1.shared_by";
		chase_add(out, &spec, NULL, 0,
		        caches->no_l1 ? estimate_none : cache_sharers(out, "all_ca", "chain_ca"));
	}
	if (curve_has_series(out->curve, "all_cg")) {
		spec.name = "gpu.l2.shared_by";
		chase_add(out, &spec, NULL, 0, cache_sharers(out, "all_cg", "chain_cg"));
	}
	double stride[STRIDES];
	const size_t strides = chase_strides(out->curve, "pages", stride);
	if (!curve_has_series(out->curve, "all_pages") || strides == 0)
		return;
	spec.name = "gpu.tlb.shared_by";
	for (size_t k = 0; k < tlbs; ++k) {
		const struct arg args[] = {{"level", (double)(k + 1)}};
		const struct estimate found = tlb_sharers(out, tlb, k, stride[0]);
		if (found.samples > 0 && isnan(found.value))
			profile_add_bounded(
			        out->profile, &spec, args, 1, found.low, found.high, found.samples);
		else
			chase_add(out, &spec, args, 1, found);
	}
}
