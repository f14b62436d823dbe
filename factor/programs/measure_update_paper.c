/* SPDX-License-Identifier: MIT */
/* Question: how long do Andrew and Dingle's changes of a QR factorization take, which width of
 * blocks is fastest (their Table 1), and how much time does each stage take (Table 2)? Method: 1000
 * reflectors on 1000 columns for every width, in turns with our change and a new QR, beside the
 * model (rows of executor model). Separate runs, without the final solution, have marks between the
 * kernels and give the stages. On the host: the paper's sizes, without stages and model, beside
 * qrupdate and LAPACK. At the paper's sizes also the errors (Tables 3 to 5), as rows error_*.
 * Error sources: a wrong result (checked: then there is no number). Unit: seconds. */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/model/predictions/model_update_paper.h"
#include "factor/algorithms/schedule.h"
#include "factor/validation/update_cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTHS = 8, SAMPLES = 256 };

static const struct changes {
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
	const struct changes *study;
	struct update_question asked;
	bool solo; /* our row and that of a new QR are not measured yet */
	const char *name;
	struct executor *e;
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
	struct result row = update_row(&r->asked, UPDATE_CHANGE, r->name);

	if (!paper)
		return row;
	snprintf(row.variant, sizeof row.variant, "%s", paper->whole ? "whole" : "paper");
	row.nb = paper->nb;
	if (phase)
		results_option_add(row.options, "phase", phase);
	return row;
}

/* The whole, then (p from 0 on) the phases. */
static void predict(const struct reading *r, const struct qr_paper *paper)
{
	struct paper_prediction found;

	if (!r->measure->profile ||
	        !model_update_paper(r->measure->profile, &r->asked, paper, &found))
		return;
	for (int p = -1; p < PAPER_PHASES; p++) {
		struct result row = row_of(r, paper, p < 0 ? NULL : paper_phase_name[p]);
		const double seconds = p < 0 ? found.total : found.phase[p];
		snprintf(row.executor, sizeof row.executor, "model");
		row.seconds = (struct estimate){seconds, seconds, seconds, 1};
		if (p < 0 || seconds > 0)
			results_add(r->measure->results, &row);
	}
}

/* The change as a model of launches by the device. */
static void predict_device(const struct reading *r, const struct qr_paper *paper)
{
	struct result row = row_of(r, paper, NULL);
	const double seconds = r->measure->profile ? model_update_paper_device(
	                                                     r->measure->profile, &r->asked, paper)
	                                           : NAN;

	results_option_add(row.options, "launch", "device");
	snprintf(row.executor, sizeof row.executor, "model");
	row.seconds = (struct estimate){seconds, seconds, seconds, 1};
	if (seconds > 0)
		results_add(r->measure->results, &row);
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
			results_add(r->measure->results, &row);
	}
}

static void measure_phases(struct reading *r, const struct qr_paper *paper)
{
	struct marked *m = xcalloc(1, sizeof *m);
	struct qr_paper how = {paper->nb, paper->whole, &m->phase_timer};
	struct update_fixture *changed = r->measure->changed;
	struct fault fault = {.text = ""};

	m->entry = (struct update_entry){
	        .fixture = changed, .k = r->study->k, .p = r->study->p, .paper = &how};
	m->e = r->e;
	struct candidate candidate = candidate_update(&m->entry);
	m->run = candidate.run;
	candidate.run = run_marked;
	bool timed = timing_update(changed, &r->measure->plan, &candidate, 1, &fault);
	if (timed && !candidate.failed && !candidate.refused)
		add_phases(r, paper, m, &candidate);
	else if (timed)
		msg_warn("phases of %s: %s", qr_change_name[r->study->change], candidate.note);
	phase_timer_free(&m->phase_timer);
	free(m);
}

/* ---- errors ---- */

/* For the errors, and for the host: the paper's own sizes, without studies of widths; --quick: the
 * smallest. */
static bool has_papers_size(const struct measure *measure, const struct changes *s)
{
	enum { MOST = 16000000, QUICK_MOST = 4500000, STUDY_OF_WIDTHS = 5 };

	return s->m * s->n <= (measure->common.quick ? QUICK_MOST : MOST) &&
	       !s->nb[STUDY_OF_WIDTHS];
}

static void add_errors(
        struct reading *r, const struct result *timed, const struct update_errors *errors)
{
	const struct {
		const char *name;
		double value;
	} error[] = {{"x", errors->x}, {"factors", errors->factors}, {"q", errors->orthogonal}};

	for (size_t i = 0; i < ARRAY_LEN(error); i++) {
		struct result row = *timed;
		snprintf(row.operation, sizeof row.operation, RESULTS_ERROR "%.17s",
		        qr_change_name[r->study->change]);
		results_option_add(row.options, "error", error[i].name);
		row.seconds = (struct estimate){NAN, NAN, NAN, 0};
		row.residual = error[i].value;
		row.orthogonality = NAN;
		row.note[0] = 0;
		if (error[i].value >= 0)
			results_add(r->measure->results, &row);
	}
}

/* ---- all ways ---- */

/* In turns with ours, a new QR and on the host the serial libraries, which the first way of a study
 * adds. On the host without stages and predictions. */
static void measure_way(struct reading *r, const struct qr_paper *paper)
{
	enum { ROWS = 3 + SERIAL_LIBRARIES };
	struct update_errors errors[ROWS];
	struct result row[ROWS] = {row_of(r, paper, NULL), row_of(r, NULL, NULL),
	        update_row(&r->asked, UPDATE_REFACTOR, r->name)};
	size_t count = r->solo ? 3 : 1;

	row[2].k = r->study->k; /* the changed matrix depends on it */
	for (int l = 0; r->solo && r->e->on_host && l < SERIAL_LIBRARIES; l++) {
		row[count] = row_of(r, NULL, NULL);
		snprintf(row[count].variant, sizeof row->variant, "%s", serial_library_name[l]);
		count++;
	}
	for (size_t i = 0; i < ROWS; i++)
		errors[i] = (struct update_errors){NAN, NAN, NAN};
	r->measure->errors = has_papers_size(r->measure, r->study) ? errors : NULL;
	if (!r->e->on_host) {
		predict(r, paper);
		predict_device(r, paper);
	}
	const bool timed = measure_rows(r->measure, time_updates, r->e, row, count);
	r->measure->errors = NULL;
	for (size_t i = 0; timed && i < count; i++)
		add_errors(r, &row[i], &errors[i]);
	if (timed && !r->e->on_host)
		measure_phases(r, paper);
	r->solo = false;
}

/* ---- all ---- */

static void measure_changes(struct reading *r)
{
	const struct changes *s = r->study;
	struct measure *m = r->measure;

	r->asked = (struct update_question){
	        s->change, s->kept, s->m, s->n, s->k, s->p, 1, SINGLE, false};
	r->solo = true;
	if (!change_open(m, r->name, &r->asked)) {
		m->failed++;
		return;
	}
	for (int i = 0; i < (r->e->on_host ? 1 : WIDTHS) && (i == 0 || s->nb[i]) && !*m->plan.stop;
	        i++)
		measure_way(r, &(struct qr_paper){.nb = s->nb[i]});
	if (s->change == QR_ADD_ROWS || (s->change == QR_ADD_COLUMNS && s->k < s->n))
		measure_way(r, &(struct qr_paper){.nb = s->nb[0], .whole = true});
	change_close(m);
	measure_save(m);
}

/* A run on the host that takes this long is the only one: serial changes take seconds. */
static const double long_seconds = 1;

void measure_update_paper(struct measure *measure)
{
	static const char *const name[MEASURE_EXECUTORS] = {"cuda", "host"};
	struct reading r = {.measure = measure};

	if (measure->executor[0] && !measure->profile)
		msg_warn("no predictions: %s", measure->fault.text);
	for (size_t i = 0; i < MEASURE_EXECUTORS * ARRAY_LEN(studies); i++) {
		r.study = &studies[i % ARRAY_LEN(studies)];
		r.name = name[i / ARRAY_LEN(studies)];
		r.e = measure->executor[i / ARRAY_LEN(studies)];
		if (!r.e || (r.e->on_host && !has_papers_size(measure, r.study)) ||
		        !measure_in_time(measure))
			continue;
		measure->plan.long_seconds = r.e->on_host ? long_seconds : 0;
		measure_progress(measure, i, MEASURE_EXECUTORS * ARRAY_LEN(studies), "%s on %s",
		        qr_change_name[r.study->change], r.name);
		measure_changes(&r);
	}
}
