/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A candidate ends with at least FIRST_TURN samples, or FEWEST when one run takes a turn's time. */
enum { FIRST_TURN = 5, FEWEST = 3 };

/* Share of the warm-up for all candidates but the first: the clocks have risen. */
static const double later_warm_up = 0.1;

/* Share of the time for a single phase: there are many, and other phases run before each. */
static const double phase_share = 0.25;

bool timing_work(struct candidate *candidate, struct executor *e, int64_t bytes)
{
	return bytes >= 0 && (bytes == 0 || e->ops->alloc(e, bytes, &candidate->work));
}

static bool restore(struct timing_fixture *fixture, struct candidate *candidate)
{
	if (fixture->restore && !fixture->restore(fixture)) {
		candidate->fault = fixture->executor->fault;
		return false;
	}
	return !candidate->before || candidate->before(candidate);
}

/* The calling thread works or spins throughout a run on the host. */
static const double held = 0.9;

struct timed {
	double seconds;
	bool held; /* the calling thread had its core */
};

static bool run_once(
        struct timing_fixture *fixture, struct candidate *candidate, struct timed *timed)
{
	const struct executor *e = candidate->executor ? candidate->executor : fixture->executor;

	if (!restore(fixture, candidate))
		return false;
	struct timing_watch *watch = fixture->plan->watch;
	if (watch)
		watch->variant = candidate->variant;
	const double cpu = clock_thread(), start = clock_now();
	bool ok = candidate->run(candidate);
	timed->seconds = clock_now() - start;
	if (watch)
		watchdog_returned(watch->watchdog);
	timed->held =
	        !(e->on_host || candidate->on_host) || clock_thread() - cpu > held * timed->seconds;
	return ok;
}

static void give_up(const struct timing_fixture *fixture, struct candidate *candidate)
{
	const struct executor *e = candidate->executor ? candidate->executor : fixture->executor;
	const struct fault *fault = candidate->fault.text[0] ? &candidate->fault : &e->fault;

	candidate->done = true;
	candidate->refused = fault->refused;
	candidate->failed = !fault->refused;
	candidate->samples = 0;
	candidate->seconds = (struct estimate){NAN, NAN, NAN, 0}; /* of earlier turns */
	snprintf(candidate->note, sizeof candidate->note, "%s", fault->text);
}

/* A shorter first run may be mostly the loading of code. */
static const double loading = 0.15;

static void look(struct timing_fixture *fixture, struct candidate *candidate)
{
	if ((candidate->after && !candidate->after(candidate)) ||
	        !fixture->check(fixture, candidate))
		give_up(fixture, candidate);
}

static void begin(struct timing_fixture *fixture, struct candidate *candidate, double warm_seconds)
{
	double start = clock_now(), seconds;
	struct timed timed;

	candidate->fault.text[0] = 0;
	candidate->fixture = fixture;
	candidate->residual = candidate->orthogonality = NAN;
	candidate->seconds = (struct estimate){NAN, NAN, NAN, 0};
	if (candidate->prepare && !candidate->prepare(candidate)) {
		give_up(fixture, candidate);
		return;
	}
	bool cold = true;
	for (int runs = 0; cold || clock_now() - start < warm_seconds; runs++) {
		if (!run_once(fixture, candidate, &timed)) {
			give_up(fixture, candidate);
			return;
		}
		seconds = timed.seconds;
		if (fixture->plan->screened &&
		        (runs > 0 ||
		                seconds >= fmax(loading, fixture->plan->max_seconds / FEWEST))) {
			candidate->seconds = (struct estimate){seconds, seconds, seconds, 1};
			candidate->done = true;
			return;
		}
		if (runs == 0 && fixture->plan->long_seconds > 0 &&
		        seconds >= fixture->plan->long_seconds && !fixture->plan->screened) {
			candidate->seconds = (struct estimate){seconds, NAN, NAN, 1};
			candidate->done = true;
			look(fixture, candidate);
			return;
		}
		/* The first run loads code. A long run needs no second one. */
		cold = runs == 0 &&
		       (fixture->plan->screened || seconds < fixture->plan->max_seconds / FEWEST);
		if (runs == 0 && !cold)
			candidate->first = seconds;
	}
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

static bool take_runs(struct timing_fixture *fixture, struct candidate *candidate)
{
	const struct timing_plan *plan = fixture->plan;
	double start = clock_now(), turn = plan->max_seconds / FIRST_TURN, now = start;
	struct timed timed;
	/* Turns grow with the number of samples: the samples are sorted a few times only. */
	size_t runs = candidate->samples / 4 > FIRST_TURN ? candidate->samples / 4 : FIRST_TURN;

	if (plan->noise)
		core_noise_refresh(plan->noise);
	bool before = disturbed(plan);
	for (size_t i = 0; i < runs && !*plan->stop && (i == 0 || now - start < turn); i++) {
		if (!run_once(fixture, candidate, &timed))
			return false;
		bool after = disturbed(plan);
		keep_run(candidate, timed.seconds, before || after || (plan->noise && !timed.held));
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

/* Disturbed runs count when the time is spent and there are too few other runs. */
static void take_side_queues(struct candidate *c, double target)
{
	if (c->side_queues > 0 &&
	        timing_slowed(c->sample, c->samples, c->side_queue, c->side_queues, target))
		c->disturbed = "others used its cores in nearly all runs";
	for (size_t i = 0; i < c->side_queues; i++)
		keep_run(c, c->side_queue[i], false);
	c->side_queues = 0;
}

/* A long first run counts when the second run takes as long: it did not load code. */
static bool first_counts(const struct candidate *c, const struct timing_plan *plan)
{
	return c->first > 0 && c->samples == 1 &&
	       fabs(c->first / c->sample[0] - 1) <= 2 * plan->target;
}

static bool precise(const struct candidate *c, const struct timing_plan *plan)
{
	const struct estimate *t = &c->seconds;
	const bool takes_turn = t->value >= plan->max_seconds / FIRST_TURN;

	return c->samples >= (takes_turn ? FEWEST : FIRST_TURN) &&
	       (t->high - t->low) / 2 <= plan->target * t->value;
}

/* The results of a candidate's last run are checked before another candidate runs. */
static void take_turn(struct timing_fixture *fixture, struct candidate *candidate)
{
	const struct timing_plan *plan = fixture->plan;

	if (!take_runs(fixture, candidate)) {
		give_up(fixture, candidate);
		return;
	}
	bool spent = candidate->spent > (candidate->skip ? phase_share : 1) * plan->max_seconds;
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
	const double calls = candidate->calls > 1 ? (double)candidate->calls : 1;
	struct estimate *t = &candidate->seconds;

	t->value /= calls;
	t->low /= calls;
	t->high /= calls;
	if (candidate->work)
		fixture->executor->ops->release(fixture->executor, candidate->work);
	candidate->work = NULL;
	if (candidate->close)
		candidate->close(candidate);
	free(candidate->sample);
	free(candidate->side_queue);
	candidate->sample = candidate->side_queue = NULL;
}

bool timing_turns(struct timing_fixture *fixture, struct candidate *candidate, size_t count,
        struct fault *fault)
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
