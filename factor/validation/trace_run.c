/* SPDX-License-Identifier: MIT */
#include "trace_run.h"

#include "lib/base/msg.h"
#include "recorder.h"
#include "timing_whole.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_RUNS = 256 };

struct kept {
	struct timeline *timeline;
	double uncertainty;
};

/* The context of the candidate with the recorder. candidate_whole's functions use the entry, so it
 * comes first. */
struct recorded {
	struct whole_entry entry;
	struct kept kept[MOST_RUNS];
	size_t count;
	bool running;
	const char *title;
};

/* Keeps the timeline of the last run. */
static bool keep(struct recorded *r)
{
	if (!r->running || r->count == MOST_RUNS)
		return true;
	r->running = false;
	struct timeline *t = recorder_timeline(r->entry.executor, r->title);
	if (t)
		r->kept[r->count++] = (struct kept){t, recorder_uncertainty(r->entry.executor)};
	return t != NULL;
}

static bool start_recording(struct candidate *candidate)
{
	struct recorded *r = candidate->context;

	bool ok = keep(r) && recorder_start(r->entry.executor);
	r->running = ok;
	return ok;
}

static int by_seconds(const void *a, const void *b)
{
	double x = ((const struct kept *)a)->timeline->seconds;
	double y = ((const struct kept *)b)->timeline->seconds;

	return (x > y) - (x < y);
}

/* Takes the median run out of r. */
static struct kept take_median(struct recorded *r)
{
	if (r->count == 0)
		return (struct kept){NULL, NAN};
	qsort(r->kept, r->count, sizeof *r->kept, by_seconds);
	struct kept median = r->kept[r->count / 2];
	r->kept[r->count / 2].timeline = NULL;
	return median;
}

static bool take_results(struct recorded *r, const struct candidate candidate[2],
        struct trace_run *out, struct fault *fault)
{
	for (int i = 0; i < 2; i++)
		if (candidate[i].failed || candidate[i].refused)
			return fault_set(fault, "%s", candidate[i].note);
	if (!keep(r))
		return fault_set(fault, "%s", r->entry.executor->fault.text);
	out->plain = candidate[0].seconds;
	out->recorded = candidate[1].seconds;
	out->residual = candidate[1].residual;
	struct kept median = take_median(r);
	out->timeline = median.timeline;
	out->uncertainty = median.uncertainty;
	return out->timeline || fault_set(fault, "nothing was recorded");
}

bool trace_run(struct executor *executor, const struct whole *whole, const struct plan *plan,
        enum precision precision, int64_t m, int64_t n, bool quick, const char *title,
        struct trace_run *out, struct fault *fault)
{
	static const volatile sig_atomic_t stop;
	const struct timing_plan timing = {.warm_seconds = quick ? 0.005 : 0.03,
	        .max_seconds = quick ? 0.05 : 0.35,
	        .target = 0.01,
	        .seed = 1,
	        .ld = (m + 31) / 32 * 32 + 32,
	        .stop = &stop};
	struct whole_entry *plain = xcalloc(1, sizeof *plain);
	struct recorded *r = xcalloc(1, sizeof *r);

	plain->executor = executor;
	r->entry.executor = recorder_new(executor);
	r->title = title;
	plain->whole = r->entry.whole = *whole;
	plain->plan.plan = r->entry.plan.plan = *plan; /* with the caller's widths */
	*out = (struct trace_run){.timeline = NULL};
	struct candidate candidate[] = {
	        candidate_whole(plain, "plain"), candidate_whole(&r->entry, "recorded")};
	candidate[1].before = start_recording;
	bool ok = timing_whole(executor, whole, precision, m, n, &timing, candidate,
	                  ARRAY_LEN(candidate), fault) &&
	          take_results(r, candidate, out, fault);
	for (size_t i = 0; i < r->count; i++)
		timeline_free(r->kept[i].timeline);
	executor_free(r->entry.executor);
	free(r);
	free(plain);
	return ok;
}
