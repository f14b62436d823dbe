/* SPDX-License-Identifier: MIT */
/* The sampling protocol on synthetic sample functions. The watchdog finds a call that blocks,
 * counts the calls before it and releases it; calls that all return are left alone. */
#include "lib/host/clock.h"
#include "lib/host/sample.h"
#include "lib/host/watchdog.h"
#include "tests/tap.h"
#include "lib/base/random.h"

#include <ctype.h>

static const double truth = 1e-5, clock_hz = 1.5e9;

struct source {
	uint64_t state;
	size_t calls;
	double noise;
	size_t ramp; /* samples until the clock has risen from 80 % */
	double hz;
	bool disagree_odd;
	double slow_share; /* of the samples run at 97 % of the clock */
	size_t fail_at;    /* call that fails; 0: none */
	double span;
	bool odd_is_nan;
	bool slow;                              /* one call takes a millisecond */
	size_t disturbed_first, disturbed_from; /* calls on a shared core: so many, and those from
	                                           here on (0: none) */
};

static bool draw(void *context, struct sample *sample)
{
	struct source *source = context;
	double share = 1;

	source->calls++;
	if (source->calls <= source->ramp)
		share = 0.8 + 0.2 * (double)source->calls / (double)source->ramp;
	if (random_unit(&source->state) < source->slow_share)
		share = 0.97;
	if (source->slow)
		for (double end = clock_now() + 1e-3; clock_now() < end;)
			continue;
	*sample = (struct sample){
	        .seconds =
	                truth / share * (1 + source->noise * (2 * random_unit(&source->state) - 1)),
	        .hz = source->hz * share,
	        .agreed = !(source->disagree_odd && source->calls % 2),
	        .span = source->span};
	sample->disturbed = source->calls <= source->disturbed_first ||
	                    (source->disturbed_from && source->calls >= source->disturbed_from);
	if (sample->disturbed)
		sample->seconds *= 2;
	if (source->odd_is_nan && source->calls % 2)
		sample->seconds = NAN;
	return source->calls != source->fail_at;
}

static const struct sample_plan plan = {.warm_seconds = 0,
        .min_seconds = 0,
        .max_seconds = 2,
        .min_samples = 10,
        .max_samples = 2000,
        .target = 0.005};

static struct measurement run(struct source *source, double max_hz)
{
	struct measurement result;

	ok(sample_run(draw, source, &plan, max_hz, &result), "the run succeeds");
	return result;
}

/* Two samples whose clocks lie a hundredth apart, around a median that neither has. */
static bool draw_apart(void *context, struct sample *sample)
{
	int *calls = context;

	*sample = (struct sample){.seconds = truth,
	        .hz = clock_hz * ((*calls)++ % 2 ? 1.01 : 1),
	        .agreed = true,
	        .span = 1};
	return true;
}

static void test_apart(void)
{
	const struct sample_plan two = {.max_seconds = 1, .min_samples = 2, .max_samples = 2};
	struct measurement result;
	int calls = 0;

	ok(sample_run(draw_apart, &calls, &two, clock_hz, &result) && result.seconds.samples == 1 &&
	                result.discarded == 1,
	        "of two samples with clocks apart one is kept");
}

static void test_steady(void)
{
	struct source constant = {.hz = clock_hz, .span = 1e-2};
	struct measurement result = run(&constant, clock_hz);

	is_real(result.seconds.value, truth, 0, "constant samples: their value");
	ok(result.seconds.samples == plan.min_samples && constant.calls == plan.min_samples,
	        "and no more of them than needed");
	ok(result.discarded == 0, "none discarded");
	is_real(result.hz, clock_hz, 0, "the clock is theirs");

	struct source noisy = {.hz = clock_hz, .span = 1e-2, .noise = 0.02};
	result = run(&noisy, clock_hz);
	ok(result.seconds.samples > plan.min_samples && result.seconds.samples < plan.max_samples,
	        "noise: more samples, but only until the target is reached");
	double half = fmax(result.seconds.high - result.seconds.value,
	        result.seconds.value - result.seconds.low);
	ok(half < plan.target * result.seconds.value, "the target is reached");

	enum { RUNS = 300 };
	int inside = 0;
	for (int i = 0; i < RUNS; i++) { /* each goes on in the sequence of random numbers */
		if (!sample_run(draw, &noisy, &plan, clock_hz, &result))
			break;
		inside += result.seconds.low <= truth && truth <= result.seconds.high;
	}
	if (!ok(inside > 0.88 * RUNS, "the interval holds in spite of stopping early"))
		diag("%d of %d", inside, RUNS);

	struct source wild = {.hz = clock_hz, .span = 1e-2, .noise = 0.9};
	result = run(&wild, clock_hz);
	ok(wild.calls == plan.max_samples, "much noise: stops at the most samples");

	struct source unclocked = {.noise = 0.01};
	result = run(&unclocked, clock_hz);
	ok(result.discarded == 0 && isnan(result.hz), "no clock: nothing discarded, clock unknown");
}

static void test_discards(void)
{
	struct source ramp = {.hz = clock_hz, .span = 1e-2, .noise = 0.02, .ramp = 20};
	struct measurement result = run(&ramp, clock_hz);

	is_real(result.seconds.value, truth, 0.01,
	        "a rising clock: the value is that of the steady one");
	ok(result.discarded >= 19 && result.discarded <= 20, "the ramp is discarded");
	is_real(result.hz, clock_hz, 1e-9, "the clock is the steady one");

	struct source dips = {.hz = clock_hz, .span = 1e-2, .noise = 0.01, .slow_share = 0.3};
	result = run(&dips, clock_hz);
	ok(result.discarded > 0, "dips of the clock are discarded");
	is_real(result.seconds.value, truth, 0.005, "and do not show in the value");

	struct source coarse = {.hz = clock_hz, .span = 2e-5, .noise = 0.01, .slow_share = 0.3};
	result = run(&coarse, clock_hz);
	ok(result.discarded == 0, "a span too short to resolve a dip discards nothing");

	struct source throttled = {.hz = 0.7 * clock_hz, .span = 1e-2};
	result = run(&throttled, clock_hz);
	ok(result.seconds.samples > 0 && result.discarded == 0 && result.throttled,
	        "a clock far below the highest is measured, and said");
	throttled.calls = 0;
	result = run(&throttled, 0);
	ok(result.discarded == 0 && !result.throttled, "unless the highest clock is unknown");

	struct source halves = {.hz = clock_hz, .span = 1e-2, .disagree_odd = true};
	result = run(&halves, clock_hz);
	ok(result.seconds.samples >= plan.min_samples && result.discarded >= plan.min_samples,
	        "samples whose clocks disagree are discarded, and others taken for them");

	struct source gaps = {.hz = clock_hz, .span = 1e-2, .odd_is_nan = true};
	result = run(&gaps, clock_hz);
	is_real(result.seconds.value, truth, 0, "samples that are no number are discarded");
}

static void test_disturbed(void)
{
	struct source early = {.noise = 0.001, .disturbed_first = 30};
	struct measurement result = run(&early, 0);

	is_real(result.seconds.value, truth, 0.001, "samples of a shared core do not count");
	ok(result.discarded == 30 && result.disturbed == 30 &&
	                result.seconds.samples >= plan.min_samples,
	        "they are counted and taken again");

	struct source late = {.noise = 0.001, .disturbed_from = 6};
	result = run(&late, 0);
	is_real(result.seconds.value, truth, 0.001, "nor do later ones");
	ok(result.seconds.samples == 5, "however many they are");

	struct source always = {.noise = 0.001, .disturbed_from = 1};
	result = run(&always, 0);
	is_real(result.seconds.value, 2 * truth, 0.001, "a core that is never free has its value");
	ok(result.discarded == 0, "and all its samples");

	struct source two = {.noise = 0.001, .disturbed_from = 3};
	result = run(&two, 0);
	ok(result.discarded == 0, "two samples do not replace the others");

	struct sample_plan shortest = plan;
	shortest.max_seconds = 0.02;
	struct source half = {.slow = true, .noise = 0.9, .disturbed_first = 10};
	double begun = clock_now();
	ok(sample_run(draw, &half, &shortest, 0, &result) && clock_now() - begun > 0.025,
	        "their time is made up for");
	struct source whole = {.slow = true, .noise = 0.9, .disturbed_from = 1};
	ok(sample_run(draw, &whole, &shortest, 0, &result) && whole.calls <= 31,
	        "up to half of the time again");
}

static void test_ends(void)
{
	struct source failing = {.hz = clock_hz, .span = 1e-2, .noise = 0.5, .fail_at = 30};
	struct measurement result;

	ok(!sample_run(draw, &failing, &plan, 0, &result), "a failing function fails the run");
	ok(result.seconds.samples == 0 && isnan(result.seconds.value), "and leaves no value");
	ok(failing.calls == 30, "at once");

	struct sample_plan warming = plan;
	warming.warm_seconds = 0.02;
	struct source first = {.fail_at = 1};
	ok(!sample_run(draw, &first, &warming, 0, &result),
	        "failing while warming up fails the run");

	struct source heated = {.slow = true};
	ok(sample_run(draw, &heated, &warming, 0, &result), "warm-up runs");
	ok(heated.calls > plan.min_samples && result.seconds.samples == plan.min_samples,
	        "by time, and its samples do not count");

	struct sample_plan shortest = plan;
	shortest.max_seconds = 0.01;
	struct source lengthy = {.slow = true, .noise = 0.9};
	ok(sample_run(draw, &lengthy, &shortest, 0, &result), "a run short of time ends");
	ok(lengthy.calls <= 11 && lengthy.calls > 0, "with the time");

	struct sample_plan longest = plan;
	longest.min_seconds = 0.03;
	struct source patient = {.slow = true};
	double begun = clock_now();
	ok(sample_run(draw, &patient, &longest, 0, &result) && clock_now() - begun >= 0.03,
	        "a run is no shorter than asked for");
}

static void test_default_plan(void)
{
	struct sample_plan point = sample_plan_default(0.1);

	ok(point.warm_seconds + point.max_seconds <= 0.1 + 1e-12,
	        "the default plan keeps its time");
	ok(point.min_seconds < point.max_seconds && point.min_samples < point.max_samples,
	        "in order");
}

static void test_clock(void)
{
	char text[32];
	double start = clock_now();

	while (clock_now() == start)
		;
	ok(clock_now() > start, "the clock advances");
	clock_utc(text);
	ok(strlen(text) == 20 && text[10] == 'T' && text[19] == 'Z' &&
	                isdigit((unsigned char)text[0]),
	        "date: %s", text);
}

static void test_merge(void)
{
	const struct measurement quick = {{10, 9, 11, 20}, 1, 3e9, 1, false},
	                         near = {{11, 10, 13, 30}, 2, 3e9, 0, false},
	                         slow = {{15, 10, 16, 40}, 3, 3e9, 2, false},
	                         none = {{NAN, NAN, NAN, 0}, 5, NAN, 0, false};
	struct measurement both = sample_merge(near, quick);

	ok(both.seconds.value == 10.5 && both.seconds.low == 9 && both.seconds.high == 13,
	        "two repeats that agree are one");
	ok(both.seconds.samples == 50 && both.discarded == 3, "with the samples of both");
	both = sample_merge(slow, quick);
	ok(both.seconds.value == 10 && both.seconds.samples == 20 && both.discarded == 44 &&
	                both.disturbed == 43,
	        "a clearly slower one is discarded and counted");
	ok(sample_merge(quick, slow).seconds.value == 10, "in either order");
	ok(sample_merge(none, slow).seconds.value == 15 &&
	                sample_merge(slow, none).seconds.value == 15,
	        "one without samples leaves the other");
}

static void set(void *flag)
{
	__atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
}

/* 400 calls, of which the one after `quick` returns when *flag is set. Returns what the watch saw.
 */
static int watched(int quick, int *flag, int *calls)
{
	struct fault fault;
	struct watchdog *watch = watchdog_start(20e-3, set, flag, &fault);
	if (!watch)
		return -2;
	bool on = true;
	for (*calls = 0; on && *calls < 400; ++*calls) {
		while (*calls == quick && !__atomic_load_n(flag, __ATOMIC_ACQUIRE))
			;
		on = watchdog_returned(watch);
	}
	return watchdog_stop(watch);
}

static void test_watch_ends(void)
{
	struct fault fault;
	int found = 0;
	struct watchdog *watch = watchdog_start(600, set, &found, &fault);
	const double start = clock_now();

	ok(watch && watchdog_stop(watch) < 0 && !found && clock_now() - start < 0.5,
	        "a watch of minutes ends at once: %.4f s", clock_now() - start);
}

static void test_watchdog(void)
{
	int flag = 0, calls;
	ok(watched(300, &flag, &calls) == 300, "the calls before the blocked one are counted");
	ok(flag == 1 && calls == 301, "the blocked one was released, and was the last");
	flag = 0;
	ok(watched(1000, &flag, &calls) == -1, "no call is blocked");
	ok(flag == 0 && calls == 400, "nothing is released, all calls were made");
}

int main(void)
{
	test_steady();
	test_apart();
	test_discards();
	test_disturbed();
	test_ends();
	test_default_plan();
	test_clock();
	test_merge();
	test_watchdog();
	test_watch_ends();
	return finish();
}
