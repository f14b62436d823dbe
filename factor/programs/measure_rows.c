/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/gram_kernels.h"
#include "factor/validation/papers/kerr_cases.h"
#include "factor/validation/papers/lawn_errors.h"
#include "factor/validation/papers/timing_gram_schmidt.h"
#include "factor/validation/papers/timing_kerr.h"
#include "factor/validation/products.h"
#include "factor/validation/timing_panel.h"
#include "factor/validation/timing_whole.h"
#include "predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whole factorizations ---- */

/* Contexts of the candidates of one shape. */
struct entries {
	struct whole_entry ours[MEASURE_CANDIDATES];
	struct vendor_entry vendor[MEASURE_CANDIDATES];
};

static struct whole whole_of(const struct result *row)
{
	char piece[24] = "0";
	struct whole whole = {.uplo = result_has_value(row, "uplo", "u") ? UPPER : LOWER,
	        .from_host = result_has(row, "from"),
	        .math = row->math,
	        .column_major = result_has_value(row, "without", "rows")};

	operation_find(results_factorization(row->operation), &whole.operation);
	results_option(row->options, "piece", piece, sizeof piece);
	whole.piece = atoll(piece);
	return whole;
}

static enum vendor_algorithm algorithm_of(const struct result *row)
{
	for (int a = 0; a < VENDOR_ALGORITHMS; a++)
		if (result_has_value(row, "alg", vendor_algorithm_name[a]))
			return (enum vendor_algorithm)a;
	return VENDOR_PLAIN;
}

static struct candidate candidate_for(const struct rows *rows, const struct result *row,
        struct whole_entry *ours, struct vendor_entry *vendor)
{
	struct whole whole = whole_of(row);

	const bool emulated = strcmp(row->variant, VENDOR_EMULATED) == 0;

	if (emulated || strcmp(row->variant, "cusolver") == 0) {
		*vendor = (struct vendor_entry){rows->measure->vendor, whole.operation, whole.uplo,
		        algorithm_of(row), emulated};
		return candidate_vendor(vendor);
	}
	ours->executor = rows->executor;
	ours->whole = whole;
	if (strcmp(row->variant, "openblas") == 0)
		return candidate_lapacke(ours);
	whole_plan_parse(row->plan, whole_panels_on_host(row->variant), row->nb, &ours->plan);
	struct candidate candidate = candidate_whole(ours, row->variant);
	candidate.skip = ours->plan.plan.stop > 0; /* not complete: nothing to check */
	return candidate;
}

bool time_whole(struct rows *r)
{
	struct entries *entries = xcalloc(1, sizeof *entries);
	const struct timing_plan *plan = &r->measure->plan;
	struct whole whole = whole_of(r->row);
	char kind[KIND_ERRORS_NAME];
	const bool of_kind = kind_errors_of(r->row, kind);

	for (size_t i = 0; i < r->count; i++)
		r->candidate[i] =
		        candidate_for(r, &r->row[i], &entries->ours[i], &entries->vendor[i]);
	bool timed = results_is_error(r->row)
	                     ? timing_whole_errors(r->executor, &whole, lawn_errors_fill,
	                               of_kind ? kind : NULL, r->row->precision, r->row->n, plan,
	                               r->candidate, r->count, &r->fault)
	                     : timing_whole(r->executor, &whole, r->row->precision, r->row->m,
	                               r->row->n, plan, r->candidate, r->count, &r->fault);
	free(entries);
	return timed;
}

/* ---- panels of LU ---- */

static struct candidate panel_contender(struct executor *executor, const struct result *row)
{
	return strcmp(row->operation, "ger") == 0
	               ? candidate_ger(executor)
	               : candidate_panel(executor, row->variant, panel_phases_skipped(row));
}

bool time_panels(struct rows *r)
{
	struct vendor_entry vendor = {r->measure->vendor, GETRF, LOWER, VENDOR_PLAIN, false};
	const struct timing_plan *plan = &r->measure->plan;

	for (size_t i = 0; i < r->count; i++) {
		r->candidate[i] = strcmp(r->row[i].variant, "cusolver") == 0
		                          ? candidate_vendor(&vendor)
		                          : panel_contender(r->executor, &r->row[i]);
		snprintf(r->row[i].plan, sizeof r->row[i].plan, "nb=%" PRId64 " lda=%" PRId64,
		        r->row->n, plan->ld);
	}
	return timing_panel(r->executor, r->row->precision, r->row->m, r->row->n, plan,
	        r->candidate, r->count, &r->fault);
}

/* ---- products, Gram-Schmidt ---- */

bool time_products(struct rows *r)
{
	struct product product[MEASURE_CANDIDATES] = {0};

	for (size_t i = 0; i < r->count; i++)
		product[i] = product_of(&r->row[i]);
	return timing_products(
	        r->executor, product, &r->measure->plan, r->candidate, r->count, &r->fault);
}

bool time_gram_kernels(struct rows *r)
{
	struct gram_kernel kernel[MEASURE_CANDIDATES] = {0};

	for (size_t i = 0; i < r->count; i++)
		kernel[i] = gram_kernel_of(&r->row[i]);
	return timing_gram_kernels(
	        r->executor, kernel, &r->measure->plan, r->candidate, r->count, &r->fault);
}

bool time_gram(struct rows *r)
{
	struct gram_entry entry[MEASURE_CANDIDATES];
	char condition[16] = "0";

	for (size_t i = 0; i < r->count; i++) {
		entry[i] = (struct gram_entry){.executor = r->executor, .nb = r->row[i].nb};
		gram_form(&r->row[i], entry[i].form);
		r->candidate[i] = candidate_gram_schmidt(&entry[i], r->row[i].variant);
	}
	results_option(r->row->options, "cond", condition, sizeof condition);
	return timing_gram_schmidt(r->executor, r->row->precision, r->row->m, r->row->n,
	        atof(condition), &r->measure->plan, r->candidate, r->count, &r->fault);
}

/* Seconds of each way, always used up: interference changes between turns, so that runs of one turn
 * agree better than the turns do. */
static const double spread = 0.15;

bool time_gram_host(struct rows *r)
{
	struct gram_run run[MEASURE_CANDIDATES];
	struct timing_plan plan = r->measure->plan;

	for (size_t i = 0; i < r->count; i++)
		run[i] = gram_run_of(&r->row[i]);
	plan.target = 0;
	plan.max_seconds = fmin(plan.max_seconds, spread);
	return timing_gram_host(r->executor, r->measure->profile,
	        r->measure->topology ? &r->measure->noise : NULL, r->row->precision, r->row->m,
	        r->row->n, run, &plan, r->candidate, r->count, &r->fault);
}

/* ---- QR with the whole Q ---- */

static bool time_kerr(struct rows *r)
{
	struct kerr_entry entry[MEASURE_CANDIDATES];

	for (size_t i = 0; i < r->count; i++) {
		entry[i] = (struct kerr_entry){
		        .executor = r->executor, .r = max_int64(r->row[i].nb, 1)};
		if (!kerr_variant_of(&r->row[i], &entry[i].variant))
			return fault_set(&r->fault, "no variant %s", r->row[i].variant);
		r->candidate[i] = candidate_kerr(&entry[i]);
	}
	return timing_kerr(r->executor, r->row->precision, r->row->m, r->row->n, &r->measure->plan,
	        r->candidate, r->count, &r->fault);
}

/* ---- all ---- */

rows_timer *measure_timer(const struct result *row)
{
	static const struct {
		bool (*has)(const struct result *);
		rows_timer *timer;
	} kinds[] = {{results_is_lu_panel, time_panels}, {results_is_product, time_products},
	        {results_is_gram_kernel, time_gram_kernels}, {results_is_host_gram, time_gram_host},
	        {results_is_gram, time_gram}, {results_is_kerr, time_kerr}};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].has(row))
			return kinds[i].timer;
	return time_whole;
}

/* Copies candidates' results into their rows, adds these to the results and counts failures. */
static void add(struct measure *measure, struct result *row, const struct candidate *candidate,
        size_t count)
{
	for (const struct candidate *c = candidate; c < candidate + count; c++, row++) {
		row->seconds = c->seconds;
		row->residual = c->residual;
		row->orthogonality = c->orthogonality;
		row->regime[0] = 0;
		snprintf(row->note, sizeof row->note, "%s", c->note);
		if (c->disturbed && !row->note[0])
			results_disturbed_set(row, c->disturbed);
		results_add(measure->results, row);
		if (c == candidate || c->reference[0] != c[-1].reference[0])
			references_keep(measure, row, c->reference);
		measure->runs += c->seconds.samples + c->discarded;
		measure->discarded += c->discarded;
		measure->failed += c->failed;
		measure->refused += c->refused;
		if (c->failed)
			msg_warn("%s %s %s %" PRId64 " x %" PRId64 ": %s", row->executor,
			        row->operation, row->variant, row->m, row->n, c->note);
	}
}

/* A run on a GPU that takes so long hangs: what its memory holds takes a few minutes at most. */
static const double longest_run = 600;

/* By the watchdog: nothing can take back what the GPU was given. */
static void end_blocked(void *argument)
{
	const struct rows *rows = argument;
	const struct result *row = rows->row;

	msg_abandon(EXIT_MEASURE_FAILED,
	        "%s %s/%s/%c %" PRId64 " x %" PRId64 " has not returned for %.0f s; rows before it "
	        "are saved",
	        row->executor, row->operation, rows->measure->plan.watch->variant,
	        (char)row->precision, row->m, row->n, longest_run);
}

/* The timer's answer; runs on a GPU are watched. */
static bool time_watched(struct rows *rows, rows_timer *timer)
{
	struct timing_watch watch = {.variant = ""};

	if (!rows->executor->on_host)
		watch.watchdog = watchdog_start(longest_run, end_blocked, rows, &rows->fault);
	if (!watch.watchdog)
		return timer(rows);
	rows->measure->plan.watch = &watch;
	const bool timed = timer(rows);
	rows->measure->plan.watch = NULL;
	watchdog_stop(watch.watchdog);
	return timed;
}

bool measure_rows(struct measure *measure, rows_timer *timer, struct executor *executor,
        struct result *row, size_t count)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct rows rows = {measure, executor, row, count, candidate, {.text = ""}};

	measure->plan.seed += 1000;
	const bool timed = time_watched(&rows, timer);
	if (timed)
		add(measure, row, candidate, count);
	else if (!*measure->plan.stop)
		msg_warn("%s %" PRId64 " x %" PRId64 " on %s: %s", row->operation, row->m, row->n,
		        row->executor, rows.fault.text);
	return timed;
}

/* The model's time of a row, as a row of executor model. */
static void add_model(
        struct measure *measure, const struct result *measured, model_time *predict, bool on)
{
	struct result row = *measured, made = *measured;

	if (on)
		results_option_add(row.options, "on", measured->executor);
	snprintf(row.executor, sizeof row.executor, "model");
	if (results_find(measure->results, &row) || !predict(measure->profile, 2, &made))
		return;
	row.seconds = made.seconds;
	memcpy(row.regime, made.regime, sizeof row.regime);
	memcpy(row.plan, made.plan, sizeof row.plan);
	results_add(measure->results, &row);
}

void measure_list(struct measure *measure, const struct result *row, model_time *predict, bool on)
{
	const struct results listed = {.row = measure->row, .count = measure->listed};

	if (predict && measure->profile)
		add_model(measure, row, predict, on);
	if (!results_find(measure->results, row) && !results_find(&listed, row) &&
	        measure->listed < MEASURE_CANDIDATES)
		measure->row[measure->listed++] = *row;
}

bool measure_listed(struct measure *measure, rows_timer *timer, struct executor *executor)
{
	const size_t count = measure->listed;

	measure->listed = 0;
	return count && executor && measure_rows(measure, timer, executor, measure->row, count);
}
