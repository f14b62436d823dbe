/* SPDX-License-Identifier: MIT */
#include "core_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"
#include "lib/stats/stats.h"

enum { READINGS = 128 };

const char core_adds_key[] = "core_adds_per_cycle";

static const double ranking_seconds = 0.05, quick_seconds = 0.015; /* for all cores */
static const double least_repeat = 0.5e-3, longest_repeat = 3e-3;
static const double arrival = 0.2;       /* part of a stay on a core until it is awake */
static const double often = 0.25;        /* the quantile of the rates that counts */
static const double step = 0.05;         /* between rates that differ */
static const double clearly_less = 0.92; /* of the usual */
static const double ranking_part = 0.2, quick_part = 0.02; /* of the time, at most */
static const double too_many = 0.1; /* of a point's samples disturbed: measured again */

/* ---- rules ---- */

static int step_of(double rate, double best)
{
	return rate > 0 ? (int)fmin((1 - rate / best) / step, 1 / step) : (int)(1 / step) + 1;
}

void core_noise_order(const double *rate, int cores, int *order)
{
	double best = 0;
	int placed = 0;

	for (int core = 0; core < cores; core++)
		best = fmax(best, rate[core]);
	for (int class = 0; placed < cores; class ++)
		for (int core = 0; core < cores; core++)
			if (step_of(rate[core], best) == class)
				order[placed++] = core;
}

bool core_noise_less(double now, double usual)
{
	return now < clearly_less * usual;
}

double core_noise_alone(const double *rate, const int *kind, int cores, int core)
{
	double best = 0;

	for (int i = 0; i < cores; i++)
		if (kind[i] == kind[core])
			best = fmax(best, rate[i]); /* not NaN */
	return best;
}

/* ---- ranking ---- */

static void read_core(struct core_noise *noise, int core, double seconds)
{
	double rate[READINGS], by_cycle[READINGS], start = clock_now();
	char got[128];
	int count = 0;

	if (!topology_includes(noise->topology, noise->before, noise->node, core))
		return;
	if (!topology_bind(noise->topology, -1, core, got) && strncmp(got, "not bound", 9) == 0)
		return; /* not allowed: unknown */
	while (clock_now() < start + arrival * seconds)
		;
	while (count < READINGS && clock_now() < start + seconds) {
		const struct core_rate now = clock_core_rate();
		rate[count] = now.by_second;
		by_cycle[count++] = now.by_cycle;
	}
	noise->rate[core] = stats_quantile(rate, (size_t)count, often);
	noise->usual = fmax(noise->usual, stats_median(by_cycle, (size_t)count)); /* not NaN */
}

static void bind_to_quietest(const struct core_noise *noise)
{
	char got[128];

	if (noise->rate[noise->order[0]] > 0)
		topology_bind(noise->topology, -1, noise->order[0], got);
}

static void rank(struct core_noise *noise)
{
	const double start = clock_now(), all = noise->quick ? quick_seconds : ranking_seconds;
	const double seconds = fmin(fmax(all / noise->cores, least_repeat), longest_repeat);

	for (int core = 0; core < noise->cores; core++) {
		noise->rate[core] = NAN;
		read_core(noise, core, seconds);
	}
	core_noise_order(noise->rate, noise->cores, noise->order);
	bind_to_quietest(noise);
	noise->once = clock_now() - start;
	noise->seconds += noise->once;
}

void core_noise_open(
        struct core_noise *noise, const struct topology *topology, int cores, int node, bool quick)
{
	const size_t room = (size_t)(cores > 0 ? cores : 1);

	*noise = (struct core_noise){.topology = topology,
	        .before = topology_keep(topology),
	        .cores = (int)room,
	        .node = node,
	        .order = xcalloc(room, sizeof *noise->order),
	        .rate = xcalloc(room, sizeof *noise->rate),
	        .kind = xcalloc(room, sizeof *noise->kind),
	        .opened = clock_now(),
	        .quick = quick,
	        .part = quick ? quick_part : ranking_part};
	for (int core = 0; core < noise->cores; core++)
		noise->kind[core] = topology_core_kind(topology, core);
	rank(noise);
	noise->seconds = 0; /* only further rankings count */
}

void core_noise_close(struct core_noise *noise)
{
	core_noise_leave(noise);
	free(noise->order);
	free(noise->rate);
	free(noise->kind);
}

/* ---- use ---- */

void core_noise_expect(struct core_noise *noise, double usual)
{
	noise->usual = fmax(noise->usual, usual);
}

void core_noise_leave(struct core_noise *noise)
{
	topology_restore(noise->topology, noise->before);
	noise->before = NULL;
}

void core_noise_return(struct core_noise *noise)
{
	noise->before = topology_keep(noise->topology);
	bind_to_quietest(noise);
}

bool core_noise_undisturbed(const struct core_noise *noise)
{
	return !core_noise_less(clock_core_rate().by_cycle, noise->usual);
}

static bool may_rank(const struct core_noise *noise)
{
	return noise->seconds + noise->once < noise->part * (clock_now() - noise->opened);
}

void core_noise_refresh(struct core_noise *noise)
{
	if (may_rank(noise) && !core_noise_undisturbed(noise) && !core_noise_undisturbed(noise))
		rank(noise);
}

struct watched {
	sample_function function;
	void *context;
	const struct core_noise *noise;
	bool undisturbed; /* before the next sample */
	size_t samples, disturbed;
};

static bool take_watched(void *context, struct sample *sample)
{
	struct watched *watched = context;
	const bool before = watched->undisturbed;

	if (!watched->function(watched->context, sample))
		return false;
	watched->undisturbed = core_noise_undisturbed(watched->noise);
	sample->disturbed = !before || !watched->undisturbed;
	watched->samples++;
	watched->disturbed += sample->disturbed;
	return true;
}

bool core_noise_sample_run(struct core_noise *noise, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result)
{
	struct watched watched = {function, context, noise, true, 0, 0};
	struct measurement again;

	core_noise_refresh(noise);
	if (!sample_run(take_watched, &watched, plan, max_hz, result))
		return false;
	if ((double)watched.disturbed <= too_many * (double)watched.samples || !may_rank(noise))
		return true;
	rank(noise);
	watched.undisturbed = true;
	if (!sample_run(take_watched, &watched, plan, max_hz, &again))
		return false;
	*result = sample_merge(*result, again);
	return true;
}

void core_noise_note(const struct core_noise *noise, struct table *curve)
{
	const double best = noise->rate[noise->order[0]];
	char *text = xstrdup("");

	for (int core = 0; core < noise->cores; core++) {
		const double alone = core_noise_alone(noise->rate, noise->kind, noise->cores, core);
		if (core_noise_less(noise->rate[core], alone))
			xappend(&text, "%s%d (%.2f)", text[0] ? ", " : "", core,
			        noise->rate[core] / alone);
	}
	table_meta_set(curve, "shared_cores", "%s", text[0] ? text : best > 0 ? "none" : "unknown");
	table_meta_set(curve, core_adds_key, "%.3f", noise->usual);
	free(text);
}
