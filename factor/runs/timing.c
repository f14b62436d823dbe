/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include "../../lib/clock.h"
#include "../../lib/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of a contender's first turn: the fewest samples it can end with, unless one run alone takes
 * a turn's time. */
enum { FIRST_TURN = 5, FEWEST = 3 };

/* Of the warm-up, for all contenders but the first of a scene: the clocks have risen. */
static const double later_warm_up = 0.1;

/* Of the time: for a phase alone, of which there are many, and which others run before. */
static const double phase_part = 0.25;

void timing_per_call(struct contender *contender, int64_t calls)
{
	struct estimate *t = &contender->seconds;

	t->value /= (double)calls;
	t->low /= (double)calls;
	t->high /= (double)calls;
}

bool timing_lift(const struct executor *executor, bool ok, struct fault *fault)
{
	return ok || fault_set(fault, "%s", executor->fault.text);
}

static bool run_once(struct timing_scene *scene, struct contender *contender, double *seconds,
        struct fault *fault)
{
	if (!scene->restore(scene, fault))
		return false;
	if (contender->before && !contender->before(contender, &scene->problem, fault))
		return false;
	double start = clock_now();
	bool ok = contender->run(contender, &scene->problem, fault);
	*seconds = clock_now() - start;
	return ok;
}

static void give_up(struct contender *contender, const struct fault *fault)
{
	contender->done = contender->failed = true;
	contender->samples = 0;
	snprintf(contender->note, sizeof contender->note, "%s", fault->text);
}

/* A first run of less may have spent most of it loading code. */
static const double loading = 0.15;

static bool short_run(const struct timing_scene *scene, double seconds)
{
	return seconds < fmax(loading, scene->plan->max_seconds / FEWEST);
}

static void look(struct timing_scene *scene, struct contender *contender)
{
	struct fault fault = {""};

	if ((contender->after && !contender->after(contender, &scene->problem, &fault)) ||
	        !scene->check(scene, contender, &fault)) {
		give_up(contender, &fault);
		contender->seconds = (struct estimate){NAN, NAN, NAN, 0};
	}
}

static bool long_run(const struct timing_plan *plan, double seconds)
{
	return !plan->trial && plan->long_seconds > 0 && seconds >= plan->long_seconds;
}

static void begin(struct timing_scene *scene, struct contender *contender, double warm_seconds)
{
	struct fault fault = {""};
	double start = clock_now(), seconds;

	contender->residual = contender->orthogonality = NAN;
	contender->seconds = (struct estimate){NAN, NAN, NAN, 0};
	if (contender->prepare && !contender->prepare(contender, &scene->problem, &fault)) {
		give_up(contender, &fault);
		contender->refused = true;
		contender->failed = false;
		return;
	}
	bool cold = true;
	for (int runs = 0; cold || clock_now() - start < warm_seconds; runs++) {
		if (!run_once(scene, contender, &seconds, &fault)) {
			give_up(contender, &fault);
			return;
		}
		if (scene->plan->trial && (runs > 0 || !short_run(scene, seconds))) {
			contender->seconds = (struct estimate){seconds, seconds, seconds, 1};
			contender->done = true;
			return;
		}
		if (runs == 0 && long_run(scene->plan, seconds)) {
			contender->seconds = (struct estimate){seconds, NAN, NAN, 1};
			contender->done = true;
			look(scene, contender);
			return;
		}
		/* The first run loads code; a second one is not needed to see that one is long. */
		cold = runs == 0 &&
		       (scene->plan->trial || seconds < scene->plan->max_seconds / FEWEST);
		if (runs == 0 && !cold)
			contender->first = seconds;
	}
}

/* Turns grow with what is there already, so that short operations are not sorted thousands of
 * times; those of long ones are a single run. */
static size_t runs_of_turn(const struct contender *contender)
{
	return contender->samples / 4 > FIRST_TURN ? contender->samples / 4 : FIRST_TURN;
}

static void keep_run(struct contender *c, double seconds, bool disturbed)
{
	double **list = disturbed ? &c->aside : &c->sample;
	size_t *count = disturbed ? &c->asides : &c->samples;

	*list = xrealloc(*list, (*count + 1) * sizeof **list);
	(*list)[(*count)++] = seconds;
}

static bool disturbed(const struct timing_plan *plan)
{
	return plan->quiet && !quiet_undisturbed(plan->quiet);
}

static bool take_runs(struct timing_scene *scene, struct contender *contender, struct fault *fault)
{
	const struct timing_plan *plan = scene->plan;
	double start = clock_now(), turn = plan->max_seconds / FIRST_TURN, now = start, seconds;
	size_t runs = runs_of_turn(contender);

	if (plan->quiet)
		quiet_refresh(plan->quiet);
	bool before = disturbed(plan);
	for (size_t i = 0; i < runs && !*plan->stop && (i == 0 || now - start < turn); i++) {
		if (!run_once(scene, contender, &seconds, fault))
			return false;
		bool after = disturbed(plan);
		keep_run(contender, seconds, before || after);
		before = after;
		now = clock_now();
	}
	contender->spent += now - start;
	return true;
}

bool timing_slowed(const double *undisturbed, size_t count, const double *disturbed,
        size_t disturbed_count, double target)
{
	const struct estimate median = stats_median_interval(disturbed, disturbed_count);

	return count == 0 || stats_quantile(undisturbed, count, 0) <
	                             fmin(median.low, (1 - target) * median.value);
}

/* Disturbed runs count when the time is spent and there are too few others. */
static void take_asides(struct contender *c, double target)
{
	if (c->asides > 0 && timing_slowed(c->sample, c->samples, c->aside, c->asides, target))
		c->disturbed = true;
	for (size_t i = 0; i < c->asides; i++)
		keep_run(c, c->aside[i], false);
	c->asides = 0;
}

/* A long first run counts when the second one shows that loading code was no part of it. */
static bool first_counts(const struct contender *c, const struct timing_plan *plan)
{
	return c->first > 0 && c->samples == 1 &&
	       fabs(c->first / c->sample[0] - 1) <= 2 * plan->target;
}

static double time_of(const struct contender *c, const struct timing_plan *plan)
{
	return c->skip ? phase_part * plan->max_seconds : plan->max_seconds;
}

/* As many as the first turn's runs, fewer where one takes that long. */
static bool precise(const struct contender *c, const struct timing_plan *plan)
{
	const struct estimate *t = &c->seconds;
	const bool takes_turn = t->value >= plan->max_seconds / FIRST_TURN;

	return c->samples >= (takes_turn ? FEWEST : FIRST_TURN) &&
	       (t->high - t->low) / 2 <= plan->target * t->value;
}

/* What a contender's last run left behind is looked at before others run. */
static void take_turn(struct timing_scene *scene, struct contender *contender)
{
	const struct timing_plan *plan = scene->plan;
	struct fault fault = {""};

	if (!take_runs(scene, contender, &fault)) {
		give_up(contender, &fault);
		return;
	}
	bool spent = contender->spent > time_of(contender, plan);
	if (spent && contender->samples < FEWEST)
		take_asides(contender, plan->target);
	bool agreed = first_counts(contender, plan);
	if (agreed)
		keep_run(contender, contender->first, false);
	contender->discarded = contender->asides;
	contender->seconds = stats_median_interval(contender->sample, contender->samples);
	contender->done =
	        agreed || precise(contender, plan) || (spent && contender->samples >= FEWEST);
	if (contender->done && !contender->skip && !*plan->stop)
		look(scene, contender);
}

static void finish(struct timing_scene *scene, struct contender *contender)
{
	if (contender->work)
		scene->executor->ops->release(scene->executor, contender->work);
	contender->work = NULL;
	if (contender->close)
		contender->close(contender);
	free(contender->sample);
	free(contender->aside);
	contender->sample = contender->aside = NULL;
}

bool timing_turns(
        struct timing_scene *scene, struct contender *contender, size_t count, struct fault *fault)
{
	const volatile sig_atomic_t *stop = scene->plan->stop;

	for (size_t i = 0; i < count && !*stop; i++)
		begin(scene, &contender[i],
		        scene->plan->warm_seconds * (i == 0 ? 1 : later_warm_up));
	for (bool busy = true; busy && !*stop;) {
		busy = false;
		for (size_t i = 0; i < count && !*stop; i++) {
			if (!contender[i].done)
				take_turn(scene, &contender[i]);
			busy = busy || !contender[i].done;
		}
	}
	for (size_t i = 0; i < count; i++)
		finish(scene, &contender[i]);
	return !*stop || fault_set(fault, "interrupted");
}
