/* SPDX-License-Identifier: MIT */
/* Question: how long do the predicted operations take on this machine?
 * Method: times every case of predictions.tsv on a random matrix, restored by a copy before each
 * run. The variants of a shape run in turns. Shapes come in random order, but those predicted to
 * take more than their share of the budget at the end. Disturbed cases, then cases known to worse
 * than 1 %, are measured again at the end. The time is the host's, from call to completion: a
 * median with its 95 % interval. Error sources: clocks that still rise (warm-up by time), other
 * users of the device (recorded) and of the host (runs discarded, or noted in the row), a wrong
 * result (checked: then there is no number). Unit: seconds per operation. */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "factor/validation/draw.h"
#include "shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	struct measure *measure;
	struct references *references;
	struct shape *shape;
	size_t shapes;
	double *hz;        /* of the host, by shape */
	double wanted_hz;  /* host clock of the profile behind the predictions; 0: unknown */
	size_t off_clock;  /* shapes measured at another clock */
	size_t remeasured; /* cases measured twice (shapes.h) */
};

/* The host's clock varies with its load: a shape waits this long for the profile's clock. */
static const double clock_patience = 0.25, clock_tolerance = 0.04;

/* Changes to another core when the current one is shared, then waits for the profile's host clock,
 * at most clock_patience; returns the clock. */
static double wait_for_clock(struct run *run)
{
	struct measure *measure = run->measure;
	double start = clock_now(), hz;
	bool off;

	if (measure->topology)
		core_noise_refresh(&measure->noise);
	do {
		hz = clock_core_hz();
		off = run->wanted_hz > 0 && fabs(hz / run->wanted_hz - 1) > clock_tolerance;
	} while (off && !*measure->plan.stop && clock_now() - start < clock_patience);
	run->off_clock += off;
	return hz;
}

/* Every shape that can run here, in the order of measuring. */
static void list_shapes(struct run *run)
{
	const struct results *predictions = run->measure->predictions;

	for (size_t i = 0; i < predictions->count; i++)
		if (measure_executor(run->measure, predictions->row[i].executor))
			run->shapes = shapes_add(run->shape, run->shapes, &predictions->row[i]);
	shapes_order(
	        run->shape, run->shapes, (uint64_t)run->measure->common.seed, run->measure->budget);
}

/* The first pass measures cases without a row, the second disturbed ones, the third unsure ones. */
enum repeat { REPEAT_FIRST, REPEAT_DISTURBED, REPEAT_UNSURE };

static bool is_wanted(const struct measure *measure, const struct result *row, enum repeat repeat)
{
	if (repeat == REPEAT_FIRST)
		return !results_find(measure->results, row);
	return remeasure_wanted(measure->results, measure->kept, row,
	        repeat == REPEAT_DISTURBED ? INFINITY : measure->plan.target);
}

/* The cases of one shape for a pass; on the GPU also cuSOLVER's, which are not predicted. */
static size_t list_cases(const struct measure *measure, const struct result *shape,
        enum repeat repeat, struct result *row)
{
	const struct results *predictions = measure->predictions;
	size_t count = 0;

	for (size_t i = 0; i < predictions->count && count < MEASURE_CANDIDATES - 1; i++) {
		const struct result *predicted = &predictions->row[i];
		if (shapes_same(predicted, shape) && results_level(predicted) == 2 &&
		        is_wanted(measure, predicted, repeat))
			row[count++] = *predicted;
	}
	if (measure->vendor && results_is_lu_panel(shape) && strcmp(shape->executor, "cuda") == 0) {
		struct result vendor = result_new(
		        "panel_getrf", "cusolver", "cuda", shape->precision, shape->m, shape->n);
		vendor.nb = vendor.n;
		memcpy(vendor.options, shape->options, sizeof vendor.options);
		if (is_wanted(measure, &vendor, repeat))
			row[count++] = vendor;
	}
	return count;
}

/* One pass over all shapes, each between its references, saved after each; returns how many fitted
 * into the budget. */
static size_t repeat_shapes(struct run *run, enum repeat repeat)
{
	const bool again = repeat != REPEAT_FIRST;
	struct measure *m = run->measure;
	size_t s = 0;

	for (; s < run->shapes && !measure_over(m); s++) {
		const struct result *first = run->shape[s].row;
		struct results *all = m->results;
		m->listed = list_cases(m, first, repeat, m->row);
		measure_progress(m, s, run->shapes, "%s %s %c %" PRId64 " x %" PRId64 "%s",
		        first->executor, first->operation, (char)first->precision, first->m,
		        first->n, again ? ", disturbed or unsure cases again" : "");
		/* Fixed shapes: lines of 128 bytes stay aligned from column to column, and lda > m.
		 */
		m->plan.ld = result_lda(first) ? result_lda(first) : (first->m + 31) / 32 * 32 + 32;
		if (!again || m->listed > 0)
			run->hz[s] = wait_for_clock(run);
		const size_t listed = m->listed;
		references_measure(run->references, m, listed, all);
		if (again)
			m->results = results_new();
		const bool timed = measure_listed(
		        m, measure_timer(first), measure_executor(m, first->executor));
		if (again) {
			run->remeasured += remeasured_merge(all, m->results);
			results_free(m->results);
			m->results = all;
		}
		if (timed) {
			references_measure(run->references, m, listed, all);
			measure_save(m);
		}
	}
	return s;
}

void measure_predicted(struct measure *m)
{
	const char *hz = table_meta(m->predictions->table, "host_clock_hz");
	struct table *table = m->results->table;
	struct run run = {.measure = m,
	        .references = references_new(m),
	        .shape = xmalloc((m->predictions->count + 1) * sizeof *run.shape),
	        .hz = xmalloc((m->predictions->count + 1) * sizeof *run.hz),
	        .wanted_hz = hz ? atof(hz) : 0};

	list_shapes(&run);
	const size_t s = repeat_shapes(&run, REPEAT_FIRST);
	if (s == run.shapes && repeat_shapes(&run, REPEAT_DISTURBED) == s)
		repeat_shapes(&run, REPEAT_UNSURE);
	msg_progress_end();
	if (m->runs > 0 || m->kept == 0) {
		table_meta_set(table, "host_clock_hz", "%.9g", stats_median(run.hz, s));
		table_meta_set(table, "off_clock", "%zu of %zu shapes", run.off_clock, s);
		table_meta_set(table, "disturbed",
		        "%zu of %zu runs, discarded; %zu cases were disturbed throughout",
		        m->discarded, m->runs, results_count_disturbed(m->results));
		table_meta_set(table, "remeasured", "%zu cases", run.remeasured);
		measure_save(m);
	}
	printf("%zu of %zu shapes, %zu cases measured again\n", s, run.shapes, run.remeasured);
	m->late = run.shapes - s;
	references_free(run.references);
	free(run.shape);
	free(run.hz);
}
