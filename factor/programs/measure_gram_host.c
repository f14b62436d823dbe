/* SPDX-License-Identifier: MIT */
/* Question: how do threads, block widths and compilers change the time of Gram-Schmidt on the host,
 * in and out of the last cache (Figures 2 and 4 and Table 1 of Brandes et al., 2012)? Method: the
 * first columns of two squares, of half the last cache's bytes and three times as large per side;
 * small squares as a whole. Each thread has a core. The ways of a matrix run in turns. The model's
 * time is stored first. Error sources: a last cache shared with other virtual machines. Unit:
 * seconds. */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/host/pinned_threads.h"
#include "factor/validation/papers/gram_cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns done of large matrices (quick: half): few suffice without blocks; some blocks with. */
enum { UNBLOCKED_DONE = 16, BLOCKED_DONE = 128, USUAL_WIDTH = 32, PINNED_SETS = 16 };

struct sweep {
	struct measure *measure;
	struct profile *profile; /* NULL: no predictions */
	struct results *results;
	char *path;
	double start;
	bool quick;
	int pinned[PINNED_SETS], pinned_sets; /* 1, 2, 4 ... all threads */
};

struct square {
	int64_t m, n;
	bool whole; /* all columns are done */
	struct result row[MEASURE_CANDIDATES];
	size_t count;
};

/* Seconds of each way, always used up: interference changes between turns, so that runs of one turn
 * agree better than the turns do. */
static const double spread = 0.15;

bool measure_gram_host(struct measure *measure, struct executor *host, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct gram_run run[MEASURE_CANDIDATES];
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		run[i] = gram_run_of(&row[i]);
	measure->plan.seed += 1000;
	struct timing_plan plan = measure->plan;
	plan.target = 0;
	plan.max_seconds = fmin(plan.max_seconds, spread);
	bool timed = timing_gram_host(host, measure->topology ? &measure->noise : NULL,
	        row->precision, row->m, row->n, run, &plan, candidate, count, &fault);
	return measure_add_all(measure, row, candidate, count, timed, &fault, out);
}

/* ---- what is measured ---- */

static void add(struct sweep *s, struct square *q, const char *form, int64_t nb, int threads,
        const char *compiler)
{
	const int64_t done = (nb ? BLOCKED_DONE : UNBLOCKED_DONE) / (s->quick ? 2 : 1);
	const struct gram_run run = {.form = form,
	        .nb = nb,
	        .k = q->whole || done > q->n ? q->n : done,
	        .threads = threads};
	struct result row = gram_row(SINGLE, q->m, q->n, &run, compiler);

	for (size_t i = 0; i < q->count; i++)
		if (strcmp(q->row[i].variant, row.variant) == 0 && q->row[i].nb == nb &&
		        strcmp(q->row[i].options, row.options) == 0)
			return;
	if (q->count == MEASURE_CANDIDATES || results_find(s->results, &row))
		return;
	if (compiler && !gram_loops_by(compiler)) {
		row.seconds = (struct estimate){NAN, NAN, NAN, 0};
		snprintf(row.note, sizeof row.note, "%s was not there when fathom was built",
		        compiler);
		results_add(s->results, &row);
		return;
	}
	q->row[q->count++] = row;
}

static int64_t usual_width(const struct sweep *s, const struct square *q, int threads)
{
	const int64_t k = q->whole ? q->n : BLOCKED_DONE / (s->quick ? 2 : 1);
	int64_t nb = s->profile ? gram_width(s->profile, SINGLE, q->m, q->n, k, threads) : 0;

	return nb ? nb : USUAL_WIDTH;
}

static void add_threads(struct sweep *s, struct square *q, int fewest)
{
	for (int t = s->pinned_sets - 1; t >= 0; t--) {
		if (s->pinned[t] < fewest)
			continue;
		add(s, q, "kernels", 0, s->pinned[t], NULL);
		add(s, q, "fused", 0, s->pinned[t], NULL);
		add(s, q, "blocked", usual_width(s, q, s->pinned[t]), s->pinned[t], NULL);
	}
}

static void add_widths(struct sweep *s, struct square *q, int64_t narrowest)
{
	for (int64_t nb = narrowest; nb <= BLOCKED_DONE / (s->quick ? 2 : 1); nb *= 2)
		add(s, q, "blocked", nb, s->pinned[s->pinned_sets - 1], NULL);
}

static void add_compilers(struct sweep *s, struct square *q)
{
	const int all = s->pinned[s->pinned_sets - 1], threads[] = {1, (all + 1) / 2, all};

	for (const char *const *c = gram_compilers; *c; c++)
		for (int t = 0; t < 3; t++) {
			add(s, q, "kernels", 0, threads[t], *c);
			add(s, q, "blocked", usual_width(s, q, threads[t]), threads[t], *c);
		}
	add(s, q, "blas", 0, 1, NULL);
}

/* ---- running it ---- */

static void measure_square(struct sweep *s, struct square *q)
{
	msg_progress("gramschmidt on host: %" PRId64 " x %" PRId64, q->m, q->n);
	for (size_t i = 0; i < q->count; i++)
		if (!result_has(&q->row[i], "compiler") &&
		        strcmp(q->row[i].variant, "openblas") != 0)
			measure_add_model(
			        s->profile, &q->row[i], false, gram_row_predict, s->results);
	if (q->count && clock_now() - s->start < s->measure->budget && !*s->measure->plan.stop &&
	        measure_gram_host(s->measure, measure_executor(s->measure, "host"), q->row,
	                q->count, s->results))
		measure_save(s->results, s->path);
	q->count = 0;
}

/* Columns of whole lines. */
static int64_t rounded(double x)
{
	return (int64_t)(x / 16) * 16;
}

static void measure_all(struct sweep *s, double last_cache)
{
	static const int64_t whole[] = {1024, 2048};
	const int64_t side = rounded(sqrt(last_cache / 2 / sizeof(float)));
	struct square small = {.m = side, .n = side}, large = {.m = 3 * side, .n = 3 * side};

	add_widths(s, &large, s->quick ? 16 : 4);
	add_threads(s, &large, s->pinned[s->pinned_sets - 1] / (s->quick ? 1 : 4));
	measure_square(s, &large);
	add_widths(s, &small, 2);
	add_threads(s, &small, s->quick ? s->pinned[s->pinned_sets - 1] / 4 : 1);
	measure_square(s, &small);
	add_compilers(s, &small);
	measure_square(s, &small);
	for (size_t i = 0; i < (s->quick ? 1 : ARRAY_LEN(whole)); i++) {
		struct square q = {.m = whole[i], .n = whole[i], .whole = true};
		add_widths(s, &q, 2);
		add_threads(s, &q, 1);
		measure_square(s, &q);
	}
}

/* 1, 2, 4 ... and the largest that the probes have. */
static void find_pinned(struct sweep *s)
{
	const int cores = s->measure->noise.cores, largest = pinned_largest(cores);

	for (int n = 1; n < largest && s->pinned_sets < PINNED_SETS - 1; n *= 2)
		s->pinned[s->pinned_sets++] = n;
	s->pinned[s->pinned_sets++] = largest;
}

int measure_gram_sweep(struct measure *measure)
{
	struct sweep s = {.measure = measure,
	        .results = results_new(),
	        .start = clock_now(),
	        .quick = measure->common.quick};
	struct topology_facts facts;
	struct fault fault;

	s.path = xasprintf("%s/gram_host.tsv", measure->common.output);
	s.profile = measure_profile(measure, &fault);
	if (!s.profile)
		msg_warn("no predictions: %s; make probe writes it", fault.text);
	measure_open(measure);
	measure_stamp(measure, s.results->table);
	if (!measure->topology)
		msg_die(EXIT_NOT_POSSIBLE, "the host's caches are not known");
	topology_facts(measure->topology, &facts);
	table_meta_set(s.results->table, "last_cache_bytes", "%" PRId64, facts.l3_bytes);
	for (const char *const *c = gram_compilers; *c; c++)
		if (gram_loops_by(*c))
			table_meta_set(s.results->table, *c, "%s", gram_loops_by(*c)->compiler);
	find_pinned(&s);
	measure_all(&s, (double)facts.l3_bytes);
	msg_progress_end();
	measure_save(s.results, s.path);
	printf("%s: %zu rows\n", s.path, s.results->count);
	results_free(s.results);
	profile_free(s.profile);
	free(s.path);
	return measure_code(measure);
}
