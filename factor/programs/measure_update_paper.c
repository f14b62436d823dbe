/* SPDX-License-Identifier: MIT */
/* Question: how long do Andrew and Dingle's changes of a QR factorization take, which width of
 * blocks is fastest (their Table 1), and how much time does each stage take (Table 2)? Method: 1000
 * reflectors on 1000 columns for every width, in turns with our change, beside the model (rows of
 * executor model). Separate runs, without the final solution, have marks between the kernels and
 * give the stages. Error sources: a wrong result (checked: then there is no number). Unit: seconds.
 */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "factor/model/predictions/model_update_paper.h"
#include "factor/algorithms/schedule.h"
#include "factor/validation/update_cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTHS = 8, SAMPLES = 256 };

static const struct study {
	enum qr_change change;
	enum q_kept kept;
	int64_t m, n, k, p, nb[WIDTHS]; /* widths up to the first 0 */
} studies[] = {
        /* Table 1 */
        {QR_REMOVE_COLUMNS, Q_NONE, 2000, 1100, 0, 100, {10, 20, 50, 75, 100, 200, 500, 1000}},
        {QR_ADD_ROWS, Q_NONE, 2000, 1000, 0, 100, {10, 20, 50, 75, 100, 200, 500, 1000}},
        {QR_ADD_COLUMNS, Q_FULL, 3000, 1000, 1000, 1000, {20, 50, 75, 100, 200, 500}},
        /* Table 2: near the beginning, in the middle, at the end */
        {QR_ADD_COLUMNS, Q_FULL, 4000, 2000, 0, 100, {10, 100}},
        {QR_ADD_COLUMNS, Q_FULL, 4000, 2000, 1000, 100, {10, 100}},
        {QR_ADD_COLUMNS, Q_FULL, 4000, 2000, 2000, 100, {10, 100}},
        {QR_REMOVE_COLUMNS, Q_NONE, 4000, 2000, 1000, 500, {50, 100}},
        {QR_ADD_ROWS, Q_NONE, 16000, 1000, 0, 100, {50, 100}},
        {QR_REMOVE_ROWS, Q_FULL, 2200, 2000, 0, 100, {0}},
        /* larger than the paper's */
        {QR_REMOVE_COLUMNS, Q_NONE, 8192, 4096, 1024, 64, {64, 128}},
        {QR_REMOVE_COLUMNS, Q_FULL, 8192, 4096, 1024, 64, {64, 128}},
        {QR_ADD_COLUMNS, Q_FULL, 8192, 4096, 1024, 64, {32, 64}},
        {QR_ADD_ROWS, Q_NONE, 8192, 4096, 0, 64, {64, 128}},
        {QR_ADD_ROWS, Q_FULL, 8192, 4096, 0, 64, {64, 128}},
        {QR_REMOVE_ROWS, Q_FULL, 8192, 4096, 0, 64, {0}}};

struct reading {
	struct measure *measure;
	const struct study *study;
	struct update_question asked;
	struct profile *profile; /* NULL: no predictions */
	struct update_fixture *fixture;
	struct results *results;
	bool solo; /* our row is not measured yet */
};

/* ---- one way ---- */

/* Context of a candidate; starts with candidate_update's context. */
struct marked {
	struct update_entry entry;
	struct executor *e;
	struct phase_timer phase_timer;
	bool (*run)(struct candidate *);
	double phase[PAPER_PHASES][SAMPLES];
	size_t samples;
};

static struct result row_of(
        const struct reading *r, const struct qr_paper *paper, const char *phase)
{
	struct result row = update_row(&r->asked, UPDATE_CHANGE, "cuda");

	if (!paper)
		return row;
	snprintf(row.variant, sizeof row.variant, "%s", paper->whole ? "whole" : "paper");
	row.nb = paper->nb;
	if (phase)
		results_option_add(row.options, "phase", phase);
	return row;
}

static void add_model(
        const struct reading *r, const struct qr_paper *paper, const char *phase, double seconds)
{
	struct result row = row_of(r, paper, phase);

	snprintf(row.executor, sizeof row.executor, "model");
	row.seconds = (struct estimate){seconds, seconds, seconds, 1};
	results_add(r->results, &row);
}

static void predict(const struct reading *r, const struct qr_paper *paper)
{
	struct paper_prediction found;

	if (!r->profile || !model_update_paper(r->profile, &r->asked, paper, &found))
		return;
	add_model(r, paper, NULL, found.total);
	for (int p = 0; p < PAPER_PHASES; p++)
		if (found.phase[p] > 0)
			add_model(r, paper, paper_phase_name[p], found.phase[p]);
}

static bool run_marked(struct candidate *candidate)
{
	struct marked *m = candidate->context;
	double seconds[PAPER_PHASES];

	if (!m->run(candidate) || !phase_timer_read(m->e, &m->phase_timer, seconds, PAPER_PHASES))
		return false;
	for (int p = 0; p < PAPER_PHASES && m->samples < SAMPLES; p++)
		m->phase[p][m->samples] = seconds[p];
	m->samples += m->samples < SAMPLES;
	return true;
}

static void add_phases(struct reading *r, const struct qr_paper *paper, struct marked *m,
        const struct candidate *candidate)
{
	for (int p = 0; p < PAPER_PHASES && m->samples; p++) {
		struct result row = row_of(r, paper, paper_phase_name[p]);
		row.seconds = stats_median_interval(m->phase[p], m->samples);
		row.residual = candidate->residual;
		row.orthogonality = candidate->orthogonality;
		if (row.seconds.value > 0)
			results_add(r->results, &row);
	}
}

static void measure_phases(struct reading *r, const struct qr_paper *paper)
{
	struct marked *m = xcalloc(1, sizeof *m);
	struct qr_paper how = {paper->nb, paper->whole, &m->phase_timer};
	struct fault fault = {""};

	m->entry = (struct update_entry){
	        .fixture = r->fixture, .k = r->study->k, .p = r->study->p, .paper = &how};
	m->e = measure_executor(r->measure, "cuda");
	struct candidate candidate = candidate_update(&m->entry);
	m->run = candidate.run;
	candidate.run = run_marked;
	bool timed = timing_update(r->fixture, &r->measure->plan, &candidate, 1, &fault);
	if (timed && !candidate.failed && !candidate.refused)
		add_phases(r, paper, m, &candidate);
	else if (timed)
		msg_warn("phases of %s: %s", qr_change_name[r->study->change], candidate.note);
	phase_timer_free(&m->phase_timer);
	free(m);
}

/* In turns with ours; the first way of a study adds our row. */
static void measure_way(struct reading *r, const struct qr_paper *paper)
{
	struct update_entry entry[2];
	struct candidate candidate[2];
	struct result row[2] = {row_of(r, paper, NULL), row_of(r, NULL, NULL)};
	struct fault fault = {""};

	for (int i = 0; i < 2; i++) {
		entry[i] = (struct update_entry){.fixture = r->fixture,
		        .k = r->study->k,
		        .p = r->study->p,
		        .paper = i ? NULL : paper};
		candidate[i] = candidate_update(&entry[i]);
	}
	predict(r, paper);
	if (measure_add_all(r->measure, row, candidate, r->solo ? 2 : 1,
	            timing_update(
	                    r->fixture, &r->measure->plan, candidate, r->solo ? 2 : 1, &fault),
	            &fault, r->results))
		measure_phases(r, paper);
	r->solo = false;
}

/* ---- all ---- */

static void measure_study(struct reading *r)
{
	const struct study *s = r->study;
	struct executor *e = measure_executor(r->measure, "cuda");
	struct fault fault = {""};

	r->asked = (struct update_question){
	        s->change, s->kept, s->m, s->n, s->k, s->p, 1, SINGLE, false};
	r->solo = true;
	r->measure->plan.seed += 1000;
	r->fixture = update_fixture_new(e, &r->asked, r->measure->plan.seed, &fault);
	if (!r->fixture) {
		msg_warn("%s of %" PRId64 " x %" PRId64 ": %s", qr_change_name[s->change], s->m,
		        s->n, fault.text);
		r->measure->failed++;
		return;
	}
	for (int i = 0; i < WIDTHS && (i == 0 || s->nb[i]) && !*r->measure->plan.stop; i++)
		measure_way(r, &(struct qr_paper){.nb = s->nb[i]});
	if (s->change == QR_ADD_ROWS || (s->change == QR_ADD_COLUMNS && s->k < s->n))
		measure_way(r, &(struct qr_paper){.nb = s->nb[0], .whole = true});
	update_fixture_free(r->fixture);
}

int measure_update_paper(struct measure *measure)
{
	struct reading r = {.measure = measure, .results = results_new()};
	char *path = xasprintf("%s/update_paper.tsv", measure->common.output);
	double start = clock_now();
	struct fault fault;
	size_t i = 0;

	measure_open(measure);
	if (!measure_executor(measure, "cuda"))
		msg_die(EXIT_NOT_POSSIBLE, "the paper's changes are timed only on a GPU");
	measure_stamp(measure, r.results->table);
	r.profile = measure_profile(measure, &fault);
	if (!r.profile)
		msg_warn("no predictions: %s", fault.text);
	for (; i < ARRAY_LEN(studies) && !*measure->plan.stop; i++) {
		msg_progress(
		        "%zu of %zu: %s", i, ARRAY_LEN(studies), qr_change_name[studies[i].change]);
		r.study = &studies[i];
		if (clock_now() - start > measure->budget)
			break;
		measure_study(&r);
		measure_save(r.results, path);
	}
	msg_progress_end();
	measure_say(measure, r.results, path, clock_now() - start);
	if (i < ARRAY_LEN(studies))
		msg_warn("%zu studies are not measured", ARRAY_LEN(studies) - i);
	profile_free(r.profile);
	results_free(r.results);
	free(path);
	return measure->failed || i < ARRAY_LEN(studies) ? EXIT_MEASURE_FAILED : EXIT_DONE;
}
