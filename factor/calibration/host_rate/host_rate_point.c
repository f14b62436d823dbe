/* SPDX-License-Identifier: MIT */
/* One point of the host_rate probe: the place of its panel, its samples, and points left out for
 * lack of time. */
#include "host_rate_internal.h"

#include "lib/host/clock.h"
#include "lib/host/pages.h"
#include "lib/base/msg.h"

#include <math.h>
#include <string.h>

enum {
	MOST_SAMPLES = 200,
	AGAIN_SAMPLES = 9,    /* of a single point, for its interval */
	SAMPLES_OF_PLACE = 2, /* before the panel moves on */
	PADDING = 32,         /* elements of lda beyond m ... */
	ALIKE = 4096,         /* bytes: multiples of them share few sets of a first cache */
	ALIKE_PADDING = 1600  /* ... or bytes, where all columns would begin at such multiples */
};

static const double again_seconds = 0.03; /* of a single point */
static const double point_seconds = 0.0007, threaded_seconds = 0.005, least_span = 20e-6;

int leading(int m, bool is_double)
{
	int word = is_double ? 8 : 4;
	return m * word % ALIKE ? m + PADDING : m + ALIKE_PADDING / word;
}

/* Two columns more than n: ger's vector, and the end of a shifted last column. */
size_t panel_bytes(int m, int n, bool is_double)
{
	return (size_t)leading(m, is_double) * (size_t)(n + 2) * (is_double ? 8 : 4);
}

/* A line of every 64 bytes of the panel. */
static void read_panel(const struct call *call)
{
	const size_t word = call->is_double ? sizeof(double) : sizeof(float);
	const size_t bytes = (size_t)call->ld * (size_t)call->n * word;
	unsigned sum = 0;

	for (size_t i = 0; i < bytes; i += 64)
		sum += (unsigned)call->rates->at[i];
	__asm__ volatile("" ::"r"(sum)); /* keeps the reads */
}

/* Moves to other physical pages and brings all of them into the cache: a few turns may touch few.
 */
static void move_on(struct call *call)
{
	struct rates *rates = call->rates;
	size_t bytes = pages_rounded(panel_bytes(call->m, call->n, call->is_double));
	size_t places = rates->bytes / bytes < PLACES ? rates->bytes / bytes : PLACES;

	rates->at = rates->a + (places > 1 ? call->samples / SAMPLES_OF_PLACE % places * bytes : 0);
	if (call->restored || call->square)
		return;
	read_panel(call);
	for (size_t i = 0; i < call->cycle; i++)
		call->run(call, rates->turn++);
}

/* The other elements are between -1 and 1. */
static void make_definite(const struct call *call)
{
	for (int i = 0; i < call->n; i++) {
		size_t at = (size_t)i * ((size_t)call->ld + 1);
		if (call->is_double)
			((double *)call->rates->at)[at] = call->n;
		else
			((float *)call->rates->at)[at] = (float)call->n;
	}
}

static bool take_call(void *context, struct sample *sample)
{
	struct call *call = context;
	struct rates *rates = call->rates;
	size_t word = call->is_double ? sizeof(double) : sizeof(float);
	bool done = true;

	if (call->samples++ % SAMPLES_OF_PLACE == 0)
		move_on(call);
	if (call->restored)
		memcpy(rates->at, rates->master, (size_t)call->ld * (size_t)call->n * word);
	if (call->definite)
		make_definite(call);
	double start = clock_now();
	for (size_t i = 0; i < call->turns; i++)
		done = call->run(call, rates->turn++) && done;
	sample->span = clock_now() - start;
	sample->seconds = sample->span / (double)call->turns;
	sample->agreed = true;
	return done;
}

void drop(struct rates *rates, const char *series, int m, int n)
{
	size_t used = strlen(rates->dropped);
	snprintf(rates->dropped + used, sizeof rates->dropped - used, "%s%s %dx%d",
	        used ? ", " : "", series, m, n);
}

/* The threads of a BLAS may be each other's hardware threads: only a single one is watched. */
static bool sample_call(
        struct call *call, const struct sample_plan *plan, struct measurement *measurement)
{
	if (panel_threads(call) > 1 || !call->rates->noise)
		return sample_run(take_call, call, plan, 0, measurement);
	return core_noise_sample_run(call->rates->noise, take_call, call, plan, 0, measurement);
}

double sample_point(struct call call, const char *series, struct measurement *measurement)
{
	struct sample_plan plan = {
	        .min_samples = LEAST_SAMPLES, .max_samples = MOST_SAMPLES, .target = 0.002};
	struct sample first, next = {.span = least_span};
	double least = panel_threads(&call) > 1 ? threaded_seconds : point_seconds;

	call.rates->turn = 0;
	double start = clock_now();
	bool worked = take_call(&call, &first); /* brings in code, pages and threads */
	double each = clock_now() - start;
	if (each < least || !call.rates->run) { /* mostly the first call's own cost */
		start = clock_now();
		worked = worked && take_call(&call, &next);
		each = clock_now() - start;
	} else {
		next = first;
	}
	if (!call.restored)
		call.turns *= (size_t)fmax(1, ceil(least_span / next.span));
	least *= call.rates->part;
	plan.max_seconds = fmax(LEAST_SAMPLES * each, least);
	if (!call.rates->run) /* several samples more, unless they are long */
		plan.max_seconds =
		        fmax(plan.max_seconds, fmin(again_seconds, AGAIN_SAMPLES * each));
	if (!worked || !sample_call(&call, &plan, measurement)) {
		msg_warn("%s of %d x %d failed: not recorded", series, call.m, call.n);
		return 0;
	}
	return each;
}

double measure_call(struct call call, const char *series)
{
	const struct arg args[] = {{"m", call.m}, {"n", call.n}, {"threads", call.threads}};
	struct measurement measurement;
	const double each = sample_point(call, series, &measurement);

	if (each > 0)
		repeats_add(&call.rates->repeats, series, args, call.threads ? 3 : 2, &measurement);
	return each;
}
