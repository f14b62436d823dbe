/* SPDX-License-Identifier: MIT */
/* Groups of SMs: slices of L2; the SMs whose data one SM reads soon when it reads them for the
 * first time (L2 lines tell the partition of L2, constants the SMs that share a constant cache);
 * the number of SMs that share a cache or a TLB. */
#include "pointer_chase_fit_internal.h"

#include "lib/stats/bimodality.h"
#include "lib/stats/partition.h"
#include "lib/stats/sharing.h"
#include "lib/stats/tlb.h"

#include <stdlib.h>
#include <string.h>

/* ---- slices ---- */

/* Whether a row is of a slice and tells whose; others count for nothing. */
static bool is_slice(const struct table *curve, size_t row)
{
	const double sm = table_real(curve, row, "sm"), line = table_real(curve, row, "line"),
	             process = table_real(curve, row, "process"), most = 1e5;
	return strcmp(table_text(curve, row, "series"), "slice") == 0 && sm >= 0 && sm < most &&
	       line >= 0 && line < most && process >= 0 && process < PROCESSES_MAX;
}

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
		if (is_slice(curve, row)) {
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
		if (is_slice(curve, row)) {
			const size_t sm = (size_t)table_real(curve, row, "sm");
			const size_t line = (size_t)table_real(curve, row, "line");
			const size_t process = (size_t)table_real(curve, row, "process");
			seconds[sm * items + process * lines + line] =
			        table_real(curve, row, "seconds");
		}
	const struct partition found = partition_find(seconds, sms, items, group);
	if (found.groups == 2) {
		chase_add(out, NULL, chase_time("gpu.l2.slice.closer.latency", closer, quickest),
		        NULL, found.sooner);
		chase_add(out, NULL,
		        chase_time("gpu.l2.slice.farther.latency", farther, found.sooner.low), NULL,
		        found.later);
	}
	free(group);
	free(seconds);
}

/* ---- first reads ---- */

/* Each SM's mean over the processes, each process relative to its own mean, as clocks may differ;
 * NaN for an SM that was not asked. Returns the number of loads. */
static size_t read_means(const struct table *curve, size_t sms, double *mean)
{
	double sum[PROCESSES_MAX] = {0}, count[PROCESSES_MAX] = {0};
	double *times = xcalloc(sms, sizeof *times);
	size_t samples = 0;
	memset(mean, 0, sms * sizeof *mean);
	for (int pass = 0; pass < 2; ++pass)
		for (size_t row = 0; row < curve->row_count; ++row) {
			if (strcmp(table_text(curve, row, "series"), "once_before") != 0)
				continue;
			const double process = table_real(curve, row, "process"),
			             before = table_real(curve, row, "before"),
			             seconds = table_real(curve, row, "seconds");
			if (!(process >= 0 && process < PROCESSES_MAX && before >= 0 &&
			            before < (double)sms && seconds > 0))
				continue;
			if (pass == 0) {
				sum[(int)process] += seconds;
				count[(int)process]++;
				continue;
			}
			mean[(int)before] += seconds * count[(int)process] / sum[(int)process];
			times[(int)before]++;
			samples++;
		}
	for (size_t sm = 0; sm < sms; ++sm)
		mean[sm] = times[sm] > 0 ? mean[sm] / times[sm] : NAN;
	free(times);
	return samples;
}

/* Half of the lines of the other partition are far: the mean difference exceeds any distance within
 * a partition. */
static int groups_of(const double *x, size_t n)
{
	const double least_difference = 0.05;
	double sum[2] = {0}, count[2] = {0};
	int *side = xcalloc(n + 1, sizeof *side);
	const int groups = n > 2 ? bimodality_count(bimodality_find(x, n, side)) : 0;
	for (size_t i = 0; groups == 2 && i < n; ++i) {
		sum[side[i]] += x[i];
		count[side[i]]++;
	}
	free(side);
	const bool apart = groups == 2 && sum[1] / count[1] - sum[0] / count[0] > least_difference;
	return groups == 2 && !apart ? 1 : groups;
}

void chase_fit_partitions(const struct output *out)
{
	const double stated = curve_fact(out->curve, "gpu_sms");
	const struct parameter_spec spec = {"gpu.l2.partitions", "count",
	        "SMs in groups by how soon one SM reads what they have read", NULL, 1, 2};
	if (!(stated >= 1 && stated < 1e5) || !curve_has_series(out->curve, "once_before"))
		return;
	const size_t sms = (size_t)stated;
	double *mean = xmalloc(sms * sizeof *mean);
	size_t n = 0;
	const size_t samples = read_means(out->curve, sms, mean);
	for (size_t i = 0; i < sms; ++i)
		if (!isnan(mean[i]))
			mean[n++] = mean[i];
	const int groups = groups_of(mean, n);
	chase_add(out, NULL, spec, NULL,
	        groups > 0 ? (struct estimate){groups, groups, groups, samples}
	                   : (struct estimate){NAN, 1, 2, samples});
	free(mean);
}

/* The number of SMs, with the reader, that leave in the shared cache constants which the reader
 * loads within 1.5 times that cache's latency. NaN where a constant that no SM has read takes less
 * than twice that latency. */
static double sharers_of(const struct table *curve, int process, double latency)
{
	double count = 0, absent = NAN;
	for (size_t row = 0; row < curve->row_count; ++row) {
		if (strcmp(table_text(curve, row, "series"), "constant_first") != 0 ||
		        (int)table_real(curve, row, "process") != process)
			continue;
		const double before = table_real(curve, row, "before"),
		             seconds = table_real(curve, row, "seconds");
		if (before < 0)
			absent = seconds;
		else if (before == table_real(curve, row, "sm") || seconds < 1.5 * latency)
			count++;
	}
	return absent > 2 * latency ? count : NAN;
}

void chase_fit_constant_sharing(const struct output *out, double latency)
{
	const struct parameter_spec spec = {"gpu.constant.l15.shared_by", "count",
	        "SMs whose constants one SM reads as soon as from that cache", NULL, 1, 1e5};
	double count[PROCESSES_MAX];
	size_t n = 0;
	for (int process = 0; process < PROCESSES_MAX; ++process) {
		const double sharers = sharers_of(out->curve, process, latency);
		if (sharers >= 1)
			count[n++] = sharers;
	}
	chase_add(out, "constant_first", spec, NULL,
	        n == 0 ? estimate_none
	               : (struct estimate){stats_median(count, n), stats_quantile(count, n, 0),
	                         stats_quantile(count, n, 1), n});
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
	spec.name = "gpu.l1.shared_by";
	chase_add(out, "all_ca", spec, NULL,
	        caches->no_l1 ? estimate_none : cache_sharers(out, "all_ca", "chain_ca"));
	spec.name = "gpu.l2.shared_by";
	chase_add(out, "all_cg", spec, NULL, cache_sharers(out, "all_cg", "chain_cg"));
	const double stride = chase_next_stride(out->curve, 0);
	if (!curve_has_series(out->curve, "all_pages") || !isfinite(stride))
		return;
	spec.name = "gpu.tlb.shared_by";
	for (size_t k = 0; k < tlbs; ++k) {
		const struct arg arg = {"level", (double)(k + 1)};
		const struct estimate found = tlb_sharers(out, tlb, k, stride);
		if (found.samples > 0 && isnan(found.value))
			profile_add_bounded(
			        out->profile, &spec, &arg, 1, found.low, found.high, found.samples);
		else
			chase_add(out, NULL, spec, &arg, found);
	}
}
