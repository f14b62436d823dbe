/* SPDX-License-Identifier: MIT */
/* Groups of SMs: one SM reads data for the first time after each other SM has read it. L2 lines
 * tell the partition of L2, constants the SMs that share a constant cache. */
#include "pointer_chase_fit_internal.h"

#include "lib/stats/bimodality.h"
#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MAX = 64 };

/* Each SM's mean over the processes, each process relative to its own mean, as clocks may differ;
 * NaN for an SM that was not asked. Returns the reader; -1 without such loads. samples: their
 * number. */
static int read_means(const struct table *curve, size_t sms, double *mean, size_t *samples)
{
	double sum[PROCESSES_MAX] = {0}, count[PROCESSES_MAX] = {0};
	double *times = xcalloc(sms, sizeof *times);
	int reader = -1;
	*samples = 0;
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
			reader = (int)table_real(curve, row, "sm");
			if (pass == 0) {
				sum[(int)process] += seconds;
				count[(int)process]++;
				continue;
			}
			mean[(int)before] += seconds * count[(int)process] / sum[(int)process];
			times[(int)before]++;
			(*samples)++;
		}
	for (size_t sm = 0; sm < sms; ++sm)
		mean[sm] = times[sm] > 0 ? mean[sm] / times[sm] : NAN;
	free(times);
	return reader;
}

static void add_side(const struct output *out, int sm, int side, size_t samples)
{
	const struct parameter_spec spec = {"gpu.l2.partition", "count",
	        "whether another SM reads its lines as soon as its own", NULL, -0.5, 1.5};
	const struct arg args[] = {{"sm", sm}};
	profile_add(out->profile, &spec, args, 1, estimate_exact(side, samples), out->busy);
}

/* Half of the lines of the other partition are far: the mean difference exceeds any distance within
 * a partition. */
static int groups_of(const double *mean, const int *sm, size_t n, int *side)
{
	const double least_difference = 0.05;
	double *x = xmalloc((n + 1) * sizeof *x), sum[2] = {0}, count[2] = {0};
	for (size_t i = 0; i < n; ++i)
		x[i] = mean[sm[i]];
	const int groups = n > 2 ? bimodality_count(bimodality_find(x, n, side)) : 0;
	for (size_t i = 0; groups == 2 && i < n; ++i) {
		sum[side[i]] += x[i];
		count[side[i]]++;
	}
	free(x);
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
	int *sm = xmalloc(sms * sizeof *sm), *side = xcalloc(sms, sizeof *side);
	size_t n = 0, samples;
	const int reader = read_means(out->curve, sms, mean, &samples);
	for (size_t i = 0; i < sms; ++i)
		if (!isnan(mean[i]))
			sm[n++] = (int)i;
	const int groups = groups_of(mean, sm, n, side);
	chase_add(out, &spec, NULL, 0,
	        groups > 0 ? (struct estimate){groups, groups, groups, samples}
	                   : (struct estimate){NAN, 1, 2, samples});
	if (groups == 2) {
		add_side(out, reader, 0, samples / n);
		for (size_t i = 0; i < n; ++i)
			add_side(out, sm[i], side[i], samples / n);
	}
	free(side);
	free(sm);
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
	if (!curve_has_series(out->curve, "constant_first"))
		return;
	for (int process = 0; process < PROCESSES_MAX; ++process) {
		const double sharers = sharers_of(out->curve, process, latency);
		if (sharers >= 1)
			count[n++] = sharers;
	}
	chase_add(out, &spec, NULL, 0,
	        n == 0 ? estimate_none
	               : (struct estimate){stats_median(count, n), stats_quantile(count, n, 0),
	                         stats_quantile(count, n, 1), n});
}
