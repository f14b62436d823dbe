/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of a candidate's first turn: the fewest samples it can end with, unless one run alone takes
 * a turn's time. */
enum { FIRST_TURN = 5, FEWEST = 3 };

/* Of the warm-up, for all candidates but the first of a fixture: the clocks have risen. */
static const double later_warm_up = 0.1;

/* Of the time: for a phase alone, of which there are many, and which others run before. */
static const double phase_part = 0.25;

void timing_per_call(struct candidate *candidate, int64_t calls)
{
	struct estimate *t = &candidate->seconds;

	t->value /= (double)calls;
	t->low /= (double)calls;
	t->high /= (double)calls;
}

bool timing_lift(const struct executor *executor, bool ok, struct fault *fault)
{
	return ok || fault_set(fault, "%s", executor->fault.text);
}

static bool run_once(struct timing_fixture *fixture, struct candidate *candidate, double *seconds,
        struct fault *fault)
{
	if (!fixture->restore(fixture, fault))
		return false;
	if (candidate->before && !candidate->before(candidate, &fixture->problem, fault))
		return false;
	double start = clock_now();
	bool ok = candidate->run(candidate, &fixture->problem, fault);
	*seconds = clock_now() - start;
	return ok;
}

static void give_up(struct candidate *candidate, const struct fault *fault)
{
	candidate->done = candidate->failed = true;
	candidate->samples = 0;
	snprintf(candidate->note, sizeof candidate->note, "%s", fault->text);
}

/* A first run of less may have spent most of it loading code. */
static const double loading = 0.15;

static bool short_run(const struct timing_fixture *fixture, double seconds)
{
	return seconds < fmax(loading, fixture->plan->max_seconds / FEWEST);
}

static void look(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct fault fault = {""};

	if ((candidate->after && !candidate->after(candidate, &fixture->problem, &fault)) ||
	        !fixture->check(fixture, candidate, &fault)) {
		give_up(candidate, &fault);
		candidate->seconds = (struct estimate){NAN, NAN, NAN, 0};
	}
}

static bool long_run(const struct timing_plan *plan, double seconds)
{
	return !plan->screened && plan->long_seconds > 0 && seconds >= plan->long_seconds;
}

static void begin(struct timing_fixture *fixture, struct candidate *candidate, double warm_seconds)
{
	struct fault fault = {""};
	double start = clock_now(), seconds;

	candidate->residual = candidate->orthogonality = NAN;
	candidate->seconds = (struct estimate){NAN, NAN, NAN, 0};
	if (candidate->prepare && !candidate->prepare(candidate, &fixture->problem, &fault)) {
		give_up(candidate, &fault);
		candidate->refused = true;
		candidate->failed = false;
		return;
	}
	bool cold = true;
	for (int runs = 0; cold || clock_now() - start < warm_seconds; runs++) {
		if (!run_once(fixture, candidate, &seconds, &fault)) {
			give_up(candidate, &fault);
			return;
		}
		if (fixture->plan->screened && (runs > 0 || !short_run(fixture, seconds))) {
			candidate->seconds = (struct estimate){seconds, seconds, seconds, 1};
			candidate->done = true;
			return;
		}
		if (runs == 0 && long_run(fixture->plan, seconds)) {
			candidate->seconds = (struct estimate){seconds, NAN, NAN, 1};
			candidate->done = true;
			look(fixture, candidate);
			return;
		}
		/* The first run loads code; a second one is not needed to see that one is long. */
		cold = runs == 0 &&
		       (fixture->plan->screened || seconds < fixture->plan->max_seconds / FEWEST);
		if (runs == 0 && !cold)
			candidate->first = seconds;
	}
}

/* Turns grow with what is there already, so that short operations are not sorted thousands of
 * times; those of long ones are a single run. */
static size_t runs_of_turn(const struct candidate *candidate)
{
	return candidate->samples / 4 > FIRST_TURN ? candidate->samples / 4 : FIRST_TURN;
}

static void keep_run(struct candidate *c, double seconds, bool disturbed)
{
	double **list = disturbed ? &c->side_queue : &c->sample;
	size_t *count = disturbed ? &c->side_queues : &c->samples;

	*list = xrealloc(*list, (*count + 1) * sizeof **list);
	(*list)[(*count)++] = seconds;
}

static bool disturbed(const struct timing_plan *plan)
{
	return plan->noise && !core_noise_undisturbed(plan->noise);
}

static bool take_runs(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	const struct timing_plan *plan = fixture->plan;
	double start = clock_now(), turn = plan->max_seconds / FIRST_TURN, now = start, seconds;
	size_t runs = runs_of_turn(candidate);

	if (plan->noise)
		core_noise_refresh(plan->noise);
	bool before = disturbed(plan);
	for (size_t i = 0; i < runs && !*plan->stop && (i == 0 || now - start < turn); i++) {
		if (!run_once(fixture, candidate, &seconds, fault))
			return false;
		bool after = disturbed(plan);
		keep_run(candidate, seconds, before || after);
		before = after;
		now = clock_now();
	}
	candidate->spent += now - start;
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
static void take_side_queues(struct candidate *c, double target)
{
	if (c->side_queues > 0 && timing_slowed(c->sample, c->samples, c->side_queue, c->side_queues, target))
		c->disturbed = true;
	for (size_t i = 0; i < c->side_queues; i++)
		keep_run(c, c->side_queue[i], false);
	c->side_queues = 0;
}

/* A long first run counts when the second one shows that loading code was no part of it. */
static bool first_counts(const struct candidate *c, const struct timing_plan *plan)
{
	return c->first > 0 && c->samples == 1 &&
	       fabs(c->first / c->sample[0] - 1) <= 2 * plan->target;
}

static double time_of(const struct candidate *c, const struct timing_plan *plan)
{
	return c->skip ? phase_part * plan->max_seconds : plan->max_seconds;
}

/* As many as the first turn's runs, fewer where one takes that long. */
static bool precise(const struct candidate *c, const struct timing_plan *plan)
{
	const struct estimate *t = &c->seconds;
	const bool takes_turn = t->value >= plan->max_seconds / FIRST_TURN;

	return c->samples >= (takes_turn ? FEWEST : FIRST_TURN) &&
	       (t->high - t->low) / 2 <= plan->target * t->value;
}

/* What a candidate's last run left behind is looked at before others run. */
static void take_turn(struct timing_fixture *fixture, struct candidate *candidate)
{
	const struct timing_plan *plan = fixture->plan;
	struct fault fault = {""};

	if (!take_runs(fixture, candidate, &fault)) {
		give_up(candidate, &fault);
		return;
	}
	bool spent = candidate->spent > time_of(candidate, plan);
	if (spent && candidate->samples < FEWEST)
		take_side_queues(candidate, plan->target);
	bool agreed = first_counts(candidate, plan);
	if (agreed)
		keep_run(candidate, candidate->first, false);
	candidate->discarded = candidate->side_queues;
	candidate->seconds = stats_median_interval(candidate->sample, candidate->samples);
	candidate->done =
	        agreed || precise(candidate, plan) || (spent && candidate->samples >= FEWEST);
	if (candidate->done && !candidate->skip && !*plan->stop)
		look(fixture, candidate);
}

static void finish(struct timing_fixture *fixture, struct candidate *candidate)
{
	if (candidate->work)
		fixture->executor->ops->release(fixture->executor, candidate->work);
	candidate->work = NULL;
	if (candidate->close)
		candidate->close(candidate);
	free(candidate->sample);
	free(candidate->side_queue);
	candidate->sample = candidate->side_queue = NULL;
}

bool timing_turns(
        struct timing_fixture *fixture, struct candidate *candidate, size_t count, struct fault *fault)
{
	const volatile sig_atomic_t *stop = fixture->plan->stop;

	for (size_t i = 0; i < count && !*stop; i++)
		begin(fixture, &candidate[i],
		        fixture->plan->warm_seconds * (i == 0 ? 1 : later_warm_up));
	for (bool busy = true; busy && !*stop;) {
		busy = false;
		for (size_t i = 0; i < count && !*stop; i++) {
			if (!candidate[i].done)
				take_turn(fixture, &candidate[i]);
			busy = busy || !candidate[i].done;
		}
	}
	for (size_t i = 0; i < count; i++)
		finish(fixture, &candidate[i]);
	return !*stop || fault_set(fault, "interrupted");
}
