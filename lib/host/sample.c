/* SPDX-License-Identifier: MIT */
#include "sample.h"
#include "allowance.h"
#include "clock.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

/* The clock of a sample is cycles over a timer's nanoseconds. GPUs of the last ten years advance
 * that timer at least once a microsecond, so this much of the span is uncertain. */
static const double timer_step = 1e-6;
static const double steady = 0.005;   /* accepted deviation of the clock */
static const double throttled = 0.75; /* below this part of the highest clock */

static const double made_up = 0.5; /* part of max_seconds that replaces disturbed samples */

enum { UNDISTURBED = 3 }; /* samples that replace all disturbed ones */

struct sample_plan sample_plan_default(double seconds)
{
	return (struct sample_plan){.warm_seconds = 0.1 * seconds,
	        .min_seconds = 0.2 * seconds,
	        .max_seconds = 0.9 * seconds,
	        .min_samples = 10,
	        .max_samples = 10000,
	        .target = 0.005};
}

struct sample_store {
	struct sample *sample;
	size_t count, room;
	size_t undisturbed;
	double *scratch; /* as long as sample */
};

static void store(struct sample_store *all, const struct sample *sample)
{
	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		all->sample = xrealloc(all->sample, all->room * sizeof *all->sample);
		all->scratch = xrealloc(all->scratch, all->room * sizeof *all->scratch);
	}
	all->sample[all->count++] = *sample;
	all->undisturbed += sample->agreed && isfinite(sample->seconds) && !sample->disturbed;
}

/* A disturbed sample that undisturbed ones replace. */
static bool replaced(const struct sample_store *all, const struct sample *sample)
{
	return sample->disturbed && all->undisturbed >= UNDISTURBED;
}

static bool trusted(const struct sample_store *all, const struct sample *sample)
{
	return sample->agreed && isfinite(sample->seconds) && !replaced(all, sample);
}

static bool keeps(const struct sample_store *all, const struct sample *sample, double typical_hz)
{
	if (!trusted(all, sample))
		return false;
	if (!(sample->hz > 0))
		return true;
	double resolution = sample->span > 0 ? timer_step / sample->span : 0;
	return fabs(sample->hz / typical_hz - 1) <= steady + resolution;
}

/* The clock of the sample nearest to the median clock: the median itself may be no sample's. */
static double find_typical_hz(const struct sample_store *all)
{
	size_t clocked = 0;
	double nearest = NAN;

	for (size_t i = 0; i < all->count; i++)
		if (trusted(all, &all->sample[i]) && all->sample[i].hz > 0)
			all->scratch[clocked++] = all->sample[i].hz;
	const double median = stats_median(all->scratch, clocked);
	for (size_t i = 0; i < clocked; i++)
		if (!(fabs(all->scratch[i] - median) >= fabs(nearest - median)))
			nearest = all->scratch[i];
	return nearest;
}

/* Applies the discarding rules to everything sampled so far. */
static struct measurement reduce(const struct sample_store *all)
{
	const double typical_hz = find_typical_hz(all);
	size_t kept = 0, kept_clocked = 0, disturbed = 0;

	for (size_t i = 0; i < all->count; i++) {
		disturbed += replaced(all, &all->sample[i]);
		if (keeps(all, &all->sample[i], typical_hz))
			all->scratch[kept++] = all->sample[i].seconds;
	}
	struct measurement result = {.seconds = stats_median_interval(all->scratch, kept),
	        .discarded = all->count - kept,
	        .disturbed = disturbed};

	for (size_t i = 0; i < all->count; i++)
		if (keeps(all, &all->sample[i], typical_hz) && all->sample[i].hz > 0)
			all->scratch[kept_clocked++] = all->sample[i].hz;
	result.hz = stats_median(all->scratch, kept_clocked);
	return result;
}

static bool precise(const struct estimate *median, const struct sample_plan *plan)
{
	double half = fmax(median->high - median->value, median->value - median->low);

	return median->samples >= plan->min_samples && half < plan->target * fabs(median->value);
}

static bool warm(sample_function function, void *context, double seconds)
{
	struct sample ignored = {0};
	double end = clock_now() + seconds;

	while (clock_now() < end)
		if (!function(context, &ignored))
			return false;
	return true;
}

bool sample_run(sample_function function, void *context, const struct sample_plan *plan,
        double max_hz, struct measurement *result)
{
	struct sample_store all = {0};
	const int64_t stopped = cpu_quota_throttled(host_quota());
	bool working = warm(function, context, plan->warm_seconds), enough = false;
	double start = clock_now(), lost = 0;
	size_t next_look = plan->min_samples;

	while (working && !enough) {
		struct sample sample = {0};
		const double begin = clock_now();
		working = function(context, &sample);
		if (!working)
			break;
		store(&all, &sample);
		lost += sample.disturbed ? clock_now() - begin : 0;
		double elapsed = clock_now() - start - fmin(lost, made_up * plan->max_seconds);
		enough = elapsed >= plan->max_seconds || all.count >= plan->max_samples;
		if (!enough && elapsed >= plan->min_seconds && all.count >= next_look) {
			struct measurement now = reduce(&all);
			enough = precise(&now.seconds, plan) && all.undisturbed >= UNDISTURBED;
			next_look = all.count + all.count / 8 + 1; /* each look sorts */
		}
	}
	*result = working ? reduce(&all)
	                  : (struct measurement){{NAN, NAN, NAN, 0}, all.count, NAN, 0, false};
	result->throttled =
	        cpu_quota_throttled(host_quota()) > stopped || result->hz < throttled * max_hz;
	free(all.sample);
	free(all.scratch);
	return working;
}

struct measurement sample_merge(struct measurement first, struct measurement second)
{
	const bool swap = second.seconds.value < first.seconds.value;
	const struct measurement quick = swap ? second : first, slow = swap ? first : second;
	struct measurement both = quick;

	if (slow.seconds.samples == 0 || quick.seconds.samples == 0)
		return slow.seconds.samples == 0 ? quick : slow;
	both.discarded += slow.discarded;
	both.disturbed += slow.disturbed;
	if (slow.seconds.value > quick.seconds.high) {
		both.discarded += slow.seconds.samples;
		both.disturbed += slow.seconds.samples;
		return both;
	}
	both.seconds.value = 0.5 * (quick.seconds.value + slow.seconds.value);
	both.seconds.low = fmin(quick.seconds.low, slow.seconds.low);
	both.seconds.high = fmax(quick.seconds.high, slow.seconds.high);
	both.seconds.samples += slow.seconds.samples;
	both.throttled = quick.throttled || slow.throttled;
	return both;
}
