/* SPDX-License-Identifier: MIT */
/* Question: is it faster to update a QR factorization or to factorize again, and does the model
 * predict which?
 * Method: times every change of update_predictions.tsv up to its least-squares solution. In turns
 * with it run three ways to solve the changed problem in executor memory: our factorization with
 * the same Q kept and A intact, our least squares without Q, and cuSOLVER's. Error sources: a wrong
 * result (each is checked: then there is no number). Unit: seconds. */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "factor/validation/update_cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct updating {
	struct measure *measure;
	const struct results *predictions;
	struct results *results;
	char *path;
	double start;
	size_t late;
};

static bool is_change(const struct result *row)
{
	return update_way_of(row) == UPDATE_CHANGE;
}

static struct update_entry entry_of(
        const struct updating *u, struct update_fixture *fixture, const struct result *row)
{
	return (struct update_entry){.fixture = fixture,
	        .way = update_way_of(row),
	        .k = row->k,
	        .p = row->p,
	        .vendor = u->measure->vendor,
	        .vendor_prepare = vendor_solve_prepare,
	        .vendor_solve = vendor_solve};
}

static void add(
        const struct updating *u, struct result *row, size_t *count, const struct result *one)
{
	if (*count < MEASURE_CANDIDATES && !results_find(u->results, one))
		row[(*count)++] = *one;
}

/* The rows still to be measured for the shape's changes of p. */
static size_t list_rows(const struct updating *u, const struct result *like, struct result *row)
{
	const struct update_question asked = update_question_of(like);
	bool vendor = u->measure->vendor && strcmp(like->executor, "cuda") == 0;
	size_t count = 0;

	for (size_t i = 0; i < u->predictions->count; i++) {
		const struct result *p = &u->predictions->row[i];
		if (update_same_shape(p, like) && p->p == like->p && is_change(p))
			add(u, row, &count, p);
	}
	for (int way = UPDATE_REFACTOR; way < UPDATE_WAYS; way++) {
		struct result one = update_row(&asked, (enum update_way)way, like->executor);
		if ((way != UPDATE_CUSOLVER || vendor) &&
		        (way != UPDATE_SOLVE || asked.kept != Q_NONE))
			add(u, row, &count, &one);
	}
	return count;
}

static bool measure_changes(
        struct updating *u, struct update_fixture *fixture, struct result *row, size_t count)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct update_entry entry[MEASURE_CANDIDATES];
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++) {
		entry[i] = entry_of(u, fixture, &row[i]);
		candidate[i] = candidate_update(&entry[i]);
	}
	bool timed = timing_update(fixture, &u->measure->plan, candidate, count, &fault);
	return measure_add_all(u->measure, row, candidate, count, timed, &fault, u->results);
}

/* The first change of every p of the shape. */
static size_t list_parts(
        const struct updating *u, const struct result *shape, const struct result **part)
{
	size_t count = 0;

	for (size_t i = 0; i < u->predictions->count; i++) {
		const struct result *p = &u->predictions->row[i];
		bool seen = !update_same_shape(p, shape) || !is_change(p);
		for (size_t j = 0; j < count && !seen; j++)
			seen = part[j]->p == p->p;
		if (!seen)
			part[count++] = p;
	}
	return count;
}

static void measure_shape(struct updating *u, const struct result *shape)
{
	struct measure *measure = u->measure;
	struct executor *e = measure_executor(measure, shape->executor);
	const struct result **part = xmalloc((u->predictions->count + 1) * sizeof *part);
	size_t parts = list_parts(u, shape, part), count = 0;
	struct update_question asked = update_question_of(shape);
	struct result row[MEASURE_CANDIDATES];
	struct update_fixture *fixture = NULL;
	struct fault fault = {""};

	for (size_t i = 0; i < parts; i++) {
		asked.p = part[i]->p > asked.p ? part[i]->p : asked.p;
		count += list_rows(u, part[i], row);
	}
	measure->plan.seed += 1000;
	if (e && count && !(fixture = update_fixture_new(e, &asked, measure->plan.seed, &fault)))
		msg_warn("%s of %" PRId64 " x %" PRId64 ": %s", shape->operation, shape->m,
		        shape->n, fault.text);
	for (size_t i = 0; fixture && i < parts && !*measure->plan.stop; i++) {
		count = list_rows(u, part[i], row);
		if (count && measure_changes(u, fixture, row, count))
			measure_save(u->results, u->path);
	}
	update_fixture_free(fixture);
	free(part);
}

/* By the operation count of one factorization. */
static int cheaper(const void *a, const void *b)
{
	const struct result *x = *(const struct result *const *)a,
	                    *y = *(const struct result *const *)b;
	double one = (double)x->m * (double)x->n * (double)x->n,
	       other = (double)y->m * (double)y->n * (double)y->n;

	return (one > other) - (one < other);
}

/* Every shape's first row, the cheapest first: most points within the budget. */
static size_t list_shapes(const struct updating *u, const struct result **shape)
{
	size_t count = 0;

	for (size_t i = 0; i < u->predictions->count; i++) {
		const struct result *p = &u->predictions->row[i];
		bool seen = !is_change(p) || !measure_executor(u->measure, p->executor);
		for (size_t j = 0; j < count && !seen; j++)
			seen = update_same_shape(shape[j], p);
		if (!seen)
			shape[count++] = p;
	}
	qsort(shape, count, sizeof(*shape), cheaper);
	return count;
}

static void measure_shapes(struct updating *u)
{
	const struct result **shape = xmalloc((u->predictions->count + 1) * sizeof *shape);
	size_t count = list_shapes(u, shape);

	for (size_t i = 0; i < count && !*u->measure->plan.stop; i++) {
		msg_progress("%zu of %zu shapes: %s %" PRId64 " x %" PRId64, i, count,
		        shape[i]->operation, shape[i]->m, shape[i]->n);
		if (clock_now() - u->start < u->measure->budget)
			measure_shape(u, shape[i]);
		else
			u->late++;
	}
	msg_progress_end();
	free(shape);
}

int measure_update(struct measure *measure)
{
	char *source = xasprintf("%s/update_predictions.tsv", measure->common.output), sha[65];
	struct fault fault = {""};
	struct results *predictions = results_read(source, &fault);

	if (!predictions || !table_sha256(source, sha, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s; run predict --update first", fault.text);
	measure_open(measure);
	struct updating u = {.measure = measure,
	        .predictions = predictions,
	        .path = xasprintf("%s/update.tsv", measure->common.output),
	        .start = clock_now()};
	u.results = measure_start(measure, u.path, sha);
	measure_shapes(&u);
	measure_save(u.results, u.path);
	measure_say(measure, u.results, u.path, clock_now() - u.start);
	measure_say_late(measure, u.late, "shapes");
	results_free(predictions);
	results_free(u.results);
	free(u.path);
	free(source);
	return measure_code(measure);
}
