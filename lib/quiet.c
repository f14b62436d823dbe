/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "quiet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "stats.h"

enum { READINGS = 128 };

const char core_adds_key[] = "core_adds_per_cycle";

static const double ranking_seconds = 0.05, hurried_seconds = 0.015; /* for all cores ... */
static const double least_visit = 0.5e-3, longest_visit = 3e-3;
static const double arrival = 0.2;       /* of a visit, until the core is awake */
static const double often = 0.25;        /* a neighbour that works so often counts */
static const double step = 0.05;         /* of the rates that are told apart */
static const double clearly_less = 0.92; /* of the usual */
static const double ranking_part = 0.2;  /* of the time, at most ... */
static const double hurried_part = 0.02; /* ... where it is short */
static const double too_many = 0.1;      /* of a point's samples disturbed: measured again */

static bool hurried;

/* ---- rules ---- */

static int step_of(double rate, double best)
{
	return rate > 0 ? (int)fmin((1 - rate / best) / step, 1 / step) : (int)(1 / step) + 1;
}

void quiet_order(const double *rate, int cores, int *order)
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

bool quiet_less(double now, double usual)
{
	return now < clearly_less * usual;
}

/* ---- ranking ---- */

static void visit(struct quiet *quiet, int core, double seconds)
{
	double rate[READINGS], by_cycle[READINGS], start = clock_now();
	char got[128];
	int count = 0;

	if (!topology_includes(quiet->topology, quiet->before, quiet->node, core))
		return;
	if (!topology_bind(quiet->topology, -1, core, got) && strncmp(got, "not bound", 9) == 0)
		return; /* not ours, and unknown */
	while (clock_now() < start + arrival * seconds)
		;
	while (count < READINGS && clock_now() < start + seconds) {
		const struct core_rate now = clock_core_rate();
		rate[count] = now.by_second;
		by_cycle[count++] = now.by_cycle;
	}
	quiet->rate[core] = stats_quantile(rate, (size_t)count, often);
	quiet->usual = fmax(quiet->usual, stats_median(by_cycle, (size_t)count)); /* not NaN */
}

static void bind_to_quietest(const struct quiet *quiet)
{
	char got[128];

	if (quiet->rate[quiet->order[0]] > 0)
		topology_bind(quiet->topology, -1, quiet->order[0], got);
}

static void rank(struct quiet *quiet)
{
	const double start = clock_now(), all = hurried ? hurried_seconds : ranking_seconds;
	const double seconds = fmin(fmax(all / quiet->cores, least_visit), longest_visit);

	for (int core = 0; core < quiet->cores; core++) {
		quiet->rate[core] = NAN;
		visit(quiet, core, seconds);
	}
	quiet_order(quiet->rate, quiet->cores, quiet->order);
	bind_to_quietest(quiet);
	quiet->once = clock_now() - start;
	quiet->seconds += quiet->once;
}

void quiet_open(struct quiet *quiet, const struct topology *topology, int cores, int node)
{
	const size_t room = (size_t)(cores > 0 ? cores : 1);

	*quiet = (struct quiet){.topology = topology,
	        .before = topology_keep(topology),
	        .cores = (int)room,
	        .node = node,
	        .order = xcalloc(room, sizeof *quiet->order),
	        .rate = xcalloc(room, sizeof *quiet->rate),
	        .opened = clock_now(),
	        .part = hurried ? hurried_part : ranking_part};
	rank(quiet);
	quiet->seconds = 0; /* the first one is not spent on changes */
}

void quiet_close(struct quiet *quiet)
{
	quiet_leave(quiet);
	free(quiet->order);
	free(quiet->rate);
}

/* ---- use ---- */

void quiet_expect(struct quiet *quiet, double usual)
{
	quiet->usual = fmax(quiet->usual, usual);
}

void quiet_hurry(void)
{
	hurried = true;
}

void quiet_leave(struct quiet *quiet)
{
	topology_restore(quiet->topology, quiet->before);
	quiet->before = NULL;
}

void quiet_return(struct quiet *quiet)
{
	quiet->before = topology_keep(quiet->topology);
	bind_to_quietest(quiet);
}

bool quiet_undisturbed(const struct quiet *quiet)
{
	return !quiet_less(clock_core_rate().by_cycle, quiet->usual);
}

static bool may_rank(const struct quiet *quiet)
{
	return quiet->seconds + quiet->once < quiet->part * (clock_now() - quiet->opened);
}

void quiet_refresh(struct quiet *quiet)
{
	if (may_rank(quiet) && !quiet_undisturbed(quiet) && !quiet_undisturbed(quiet))
		rank(quiet);
}

struct watched {
	sample_function function;
	void *context;
	const struct quiet *quiet;
	bool undisturbed; /* before the next sample */
	size_t samples, disturbed;
};

static bool take_watched(void *context, struct sample *sample)
{
	struct watched *watched = context;
	const bool before = watched->undisturbed;

	if (!watched->function(watched->context, sample))
		return false;
	watched->undisturbed = quiet_undisturbed(watched->quiet);
	sample->disturbed = !before || !watched->undisturbed;
	watched->samples++;
	watched->disturbed += sample->disturbed;
	return true;
}

bool quiet_sample_run(struct quiet *quiet, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result)
{
	struct watched watched = {function, context, quiet, true, 0, 0};
	struct measurement again;

	quiet_refresh(quiet);
	if (!sample_run(take_watched, &watched, plan, max_hz, result))
		return false;
	if ((double)watched.disturbed <= too_many * (double)watched.samples || !may_rank(quiet))
		return true;
	rank(quiet);
	watched.undisturbed = true;
	if (!sample_run(take_watched, &watched, plan, max_hz, &again))
		return false;
	*result = sample_merge(*result, again);
	return true;
}

void quiet_note(const struct quiet *quiet, struct table *curve)
{
	const double best = quiet->rate[quiet->order[0]];
	char *text = xstrdup("");

	for (int core = 0; core < quiet->cores; core++) {
		if (!quiet_less(quiet->rate[core], best))
			continue;
		char *longer = xasprintf(
		        "%s%s%d (%.2f)", text, text[0] ? ", " : "", core, quiet->rate[core] / best);
		free(text);
		text = longer;
	}
	table_meta_set(curve, "shared_cores", "%s", text[0] ? text : best > 0 ? "none" : "unknown");
	table_meta_set(curve, core_adds_key, "%.3f", quiet->usual);
	free(text);
}
