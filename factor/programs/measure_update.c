/* SPDX-License-Identifier: MIT */
/* Question: is it faster to update a QR factorization or to factorize again, and does the model
 * predict which?
 * Method: times every change of update_predictions.tsv up to its least-squares solution. In turns
 * with it run three ways to solve the changed problem in executor memory: our factorization with
 * the same Q kept and A intact, our least squares without Q, and cuSOLVER's. Error sources: a wrong
 * result (each is checked: then there is no number). Unit: seconds. */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/papers/qr_update_paper.h"
#include "factor/validation/update_cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool change_open(struct measure *measure, const char *executor, const struct update_question *asked)
{
	struct executor *e = measure_executor(measure, executor);
	struct fault fault = {.text = ""};

	measure->plan.seed += 1000;
	measure->changed = update_fixture_new(e, asked, measure->plan.seed, &fault);
	if (!measure->changed)
		msg_warn("%s of %" PRId64 " x %" PRId64 ": %s", qr_change_name[asked->change],
		        asked->m, asked->n, fault.text);
	return measure->changed;
}

void change_close(struct measure *measure)
{
	update_fixture_free(measure->changed);
	measure->changed = NULL;
}

/* NULL: the row is none of a serial library. */
static const enum serial_library *serial_of(const struct result *row)
{
	static const enum serial_library library[] = {SERIAL_QRUPDATE, SERIAL_LAPACK};

	for (size_t i = 0; i < ARRAY_LEN(library); i++)
		if (strcmp(row->variant, serial_library_name[library[i]]) == 0)
			return &library[i];
	return NULL;
}

bool time_updates(struct rows *r)
{
	struct update_entry entry[MEASURE_CANDIDATES];
	struct qr_paper paper[MEASURE_CANDIDATES];

	for (size_t i = 0; i < r->count; i++) {
		const struct result *row = &r->row[i];
		const bool whole = strcmp(row->variant, "whole") == 0,
		           as_paper = whole || strcmp(row->variant, "paper") == 0;
		const enum serial_library *serial = serial_of(row);
		paper[i] = (struct qr_paper){.nb = row->nb, .whole = whole};
		entry[i] = (struct update_entry){.fixture = r->measure->changed,
		        .way = as_paper || serial ? UPDATE_CHANGE : update_way_of(row),
		        .k = row->k,
		        .p = row->p,
		        .paper = as_paper ? &paper[i] : NULL,
		        .serial = serial,
		        .errors = r->measure->errors ? &r->measure->errors[i] : NULL,
		        .vendor = r->measure->vendor,
		        .vendor_prepare = vendor_solve_prepare,
		        .vendor_solve = vendor_solve};
		r->candidate[i] = candidate_update(&entry[i]);
	}
	return timing_update(
	        r->measure->changed, &r->measure->plan, r->candidate, r->count, &r->fault);
}

/* The next change from the i-th prediction on; NULL after the last. */
static const struct result *next_change(const struct measure *m, size_t *i)
{
	while (*i < m->predictions->count) {
		const struct result *row = &m->predictions->row[(*i)++];
		if (update_way_of(row) == UPDATE_CHANGE)
			return row;
	}
	return NULL;
}

/* Lists what is still to be measured for the shape's changes of p. */
static void list_rows(struct measure *m, const struct result *like)
{
	const struct update_question asked = update_question_of(like);
	const bool vendor = m->vendor && strcmp(like->executor, "cuda") == 0;
	const struct result *p;

	m->listed = 0;
	for (size_t i = 0; (p = next_change(m, &i));)
		if (update_same_shape(p, like) && p->p == like->p)
			measure_list(m, p, NULL, false);
	for (int way = UPDATE_REFACTOR; way < UPDATE_WAYS; way++) {
		const struct result one = update_row(&asked, (enum update_way)way, like->executor);
		if ((way != UPDATE_CUSOLVER || vendor) &&
		        (way != UPDATE_SOLVE || asked.kept != Q_NONE))
			measure_list(m, &one, NULL, false);
	}
}

/* The first change of every shape (like NULL), or of every p of a shape. */
static size_t list_firsts(
        const struct measure *m, const struct result *like, const struct result **first)
{
	const struct result *p;
	size_t count = 0;

	for (size_t i = 0; (p = next_change(m, &i));) {
		bool seen = like ? !update_same_shape(p, like) : !measure_executor(m, p->executor);
		for (size_t j = 0; j < count && !seen; j++)
			seen = like ? first[j]->p == p->p : update_same_shape(first[j], p);
		if (!seen)
			first[count++] = p;
	}
	return count;
}

static void measure_shape(struct measure *m, const struct result *shape)
{
	const struct result **part = xmalloc((m->predictions->count + 1) * sizeof *part);
	struct update_question asked = update_question_of(shape);
	size_t parts = list_firsts(m, shape, part), count = 0;

	for (size_t i = 0; i < parts; i++) {
		asked.p = max_int64(asked.p, part[i]->p);
		list_rows(m, part[i]);
		count += m->listed;
	}
	if (count && change_open(m, shape->executor, &asked)) {
		for (size_t i = 0; i < parts && !*m->plan.stop; i++) {
			list_rows(m, part[i]);
			if (measure_listed(m, time_updates, measure_executor(m, shape->executor)))
				measure_save(m);
		}
	}
	change_close(m);
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

/* The cheapest shape first: most points within the budget. */
void measure_update(struct measure *m)
{
	const struct result **shape = xmalloc((m->predictions->count + 1) * sizeof *shape);
	size_t count = list_firsts(m, NULL, shape);

	qsort(shape, count, sizeof *shape, cheaper);
	for (size_t i = 0; i < count; i++) {
		if (!measure_in_time(m))
			continue;
		measure_progress(m, i, count, "%s %" PRId64 " x %" PRId64, shape[i]->operation,
		        shape[i]->m, shape[i]->n);
		measure_shape(m, shape[i]);
	}
	free(shape);
	measure_save(m);
}
