/* SPDX-License-Identifier: MIT */
/* Question: how do threads, block widths and compilers change the time of Gram-Schmidt on the host,
 * in and out of the last cache (Figures 2, 4 and 5 and Table 1 of Brandes et al., 2012)? Method:
 * the first columns of two squares, of half the last cache's bytes and three times as large per
 * side; small squares as a whole. Each thread has a core. The ways of a matrix run in turns. The
 * model's time is stored first. Error sources: a last cache shared with other virtual machines.
 * Unit: seconds. */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/papers/gram_cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns done of large matrices (quick: half): few suffice without blocks; some blocks with. */
enum { UNBLOCKED_DONE = 16, BLOCKED_DONE = 128, USUAL_WIDTH = 32, PINNED_SETS = 16 };

struct sweep {
	struct measure *measure;
	bool quick;
	size_t done, squares;                 /* that are measured */
	int pinned[PINNED_SETS], pinned_sets; /* 1, 2, 4 ... all threads */
};

struct square {
	int64_t m, n;
	bool whole; /* all columns are done */
};

/* ---- what is measured ---- */

static void add(const struct sweep *s, const struct square *q, const char *form, int64_t nb,
        int threads, const char *compiler)
{
	struct measure *m = s->measure;
	const int64_t done = (nb ? BLOCKED_DONE : UNBLOCKED_DONE) / (s->quick ? 2 : 1);
	const struct gram_run run = {.form = form,
	        .nb = nb,
	        .k = q->whole || done > q->n ? q->n : done,
	        .threads = threads};
	struct result row = gram_row(SINGLE, q->m, q->n, &run, compiler);

	const bool own = !compiler && strcmp(row.variant, "openblas") != 0;

	if (!compiler || gram_loops_by(compiler))
		measure_list(m, &row, own ? gram_row_predict : NULL, false);
}

static int64_t usual_width(const struct sweep *s, const struct square *q, int threads)
{
	const int64_t k = q->whole ? q->n : BLOCKED_DONE / (s->quick ? 2 : 1);
	const struct profile *profile = s->measure->profile;
	int64_t nb = profile ? gram_width(profile, q->m, q->n, k, threads) : 0;

	return nb ? nb : USUAL_WIDTH;
}

static void add_threads(const struct sweep *s, const struct square *q, int fewest)
{
	for (int t = s->pinned_sets - 1; t >= 0; t--) {
		if (s->pinned[t] < fewest)
			continue;
		add(s, q, "kernels", 0, s->pinned[t], NULL);
		add(s, q, "fused", 0, s->pinned[t], NULL);
		add(s, q, "blocked", usual_width(s, q, s->pinned[t]), s->pinned[t], NULL);
	}
}

static void add_widths(const struct sweep *s, const struct square *q, int64_t narrowest)
{
	for (int64_t nb = narrowest; nb <= BLOCKED_DONE / (s->quick ? 2 : 1); nb *= 2)
		add(s, q, "blocked", nb, s->pinned[s->pinned_sets - 1], NULL);
}

static void add_compilers(const struct sweep *s, const struct square *q)
{
	const int all = s->pinned[s->pinned_sets - 1], threads[] = {1, (all + 1) / 2, all};

	for (const char *const *c = gram_compilers; *c; c++)
		for (int t = 0; t < 3; t++) {
			add(s, q, "kernels", 0, threads[t], *c);
			add(s, q, "blocked", usual_width(s, q, threads[t]), threads[t], *c);
		}
	add(s, q, "blas", 0, 1, NULL);
}

/* Serial code of one column after the other: our loops and the paper's code, by every compiler. */
static void add_serial(const struct sweep *s, const struct square *q)
{
	for (const char *const *c = gram_compilers; *c; c++) {
		add(s, q, "kernels", 0, 1, *c);
		add(s, q, "plain", 0, 1, *c);
		const struct gram_plain *plain = gram_plain_by(*c);
		if (q->n == GRAM_FIXED && plain && plain->fixed)
			add(s, q, "fixed", 0, 1, *c);
	}
	add(s, q, "blas", 0, 1, NULL);
}

/* ---- running it ---- */

static void measure_square(struct sweep *s, const struct square *q)
{
	struct measure *m = s->measure;

	measure_progress(
	        m, s->done, s->squares, "gramschmidt on host, %" PRId64 " x %" PRId64, q->m, q->n);
	if (measure_over(m))
		m->listed = 0;
	if (measure_listed(m, time_gram_host, measure_executor(m, "host")))
		measure_save(m);
	s->done++;
}

/* Columns of whole lines. */
static int64_t rounded(double x)
{
	return (int64_t)(x / 16) * 16;
}

static void measure_all(struct sweep *s, double last_cache)
{
	static const int64_t whole[] = {1024, 2048}, serial[] = {GRAM_FIXED, 256, 512, 2048};
	const int64_t side = rounded(sqrt(last_cache / 2 / sizeof(float)));
	const size_t wholes = s->quick ? 1 : ARRAY_LEN(whole),
	             serials = s->quick ? 1 : ARRAY_LEN(serial);
	struct square small = {.m = side, .n = side}, large = {.m = 3 * side, .n = 3 * side};

	s->squares = 3 + wholes + serials;
	add_widths(s, &large, s->quick ? 16 : 4);
	add_threads(s, &large, s->pinned[s->pinned_sets - 1] / (s->quick ? 1 : 4));
	measure_square(s, &large);
	add_widths(s, &small, 2);
	add_threads(s, &small, s->quick ? s->pinned[s->pinned_sets - 1] / 4 : 1);
	measure_square(s, &small);
	add_compilers(s, &small);
	measure_square(s, &small);
	for (size_t i = 0; i < wholes; i++) {
		struct square q = {.m = whole[i], .n = whole[i], .whole = true};
		add_widths(s, &q, 2);
		add_threads(s, &q, 1);
		measure_square(s, &q);
	}
	for (size_t i = 0; i < serials; i++) {
		struct square q = {.m = serial[i], .n = serial[i], .whole = true};
		add_serial(s, &q);
		measure_square(s, &q);
	}
}

/* 1, 2, 4 ... and the largest that the probes have. */
static void find_pinned(struct sweep *s)
{
	const int largest = measure_largest_threads(s->measure);

	for (int n = 1; n < largest && s->pinned_sets < PINNED_SETS - 1; n *= 2)
		s->pinned[s->pinned_sets++] = n;
	s->pinned[s->pinned_sets++] = largest;
}

void measure_gram_sweep(struct measure *measure)
{
	struct sweep s = {.measure = measure, .quick = measure->common.quick};
	struct table *table = measure->results->table;
	struct topology_facts facts;

	if (!measure->profile)
		msg_warn("no predictions: %s; fathom probe writes it", measure->fault.text);
	if (!measure->topology)
		msg_die(EXIT_NOT_POSSIBLE, "the host's caches are not known");
	topology_facts(measure->topology, &facts);
	const int64_t last_cache = facts.l3_bytes > 0 ? facts.l3_bytes : facts.l2_bytes;
	if (last_cache <= 0)
		msg_die(EXIT_NOT_POSSIBLE, "the host's caches are not known");
	table_meta_set(table, "last_cache_bytes", "%" PRId64, last_cache);
	for (const char *const *c = gram_compilers; *c; c++)
		table_meta_set(table, *c, "%s",
		        gram_loops_by(*c) ? gram_loops_by(*c)->compiler
		                          : "not there, or unable, when fathom was built");
	find_pinned(&s);
	measure_all(&s, (double)last_cache);
	measure_save(measure);
}
