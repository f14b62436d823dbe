/* SPDX-License-Identifier: MIT */
#include "update_cases.h"

#include "lib/base/msg.h"
#include "factor/model/predictions/model_update.h"
#include "factor/algorithms/schedule.h"
#include "predicted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* QR_MODIFY + 1 when it is none. */
static int change_of(const struct result *row)
{
	int change = 0;

	while (change <= QR_MODIFY && strcmp(row->operation, qr_change_name[change]) != 0)
		change++;
	return change;
}

bool results_is_update(const struct result *row)
{
	return change_of(row) <= QR_MODIFY;
}

struct result update_row(
        const struct update_question *asked, enum update_way way, const char *executor)
{
	struct result row = result_new(qr_change_name[asked->change], update_way_name[way],
	        executor, asked->precision, asked->m, asked->n);

	row.k = way == UPDATE_CHANGE ? asked->k : 0;
	row.p = asked->p;
	results_option_add(row.options, "q", q_kept_name[asked->kept]);
	if (asked->from_host)
		results_option_add(row.options, "from", "host");
	return row;
}

struct update_question update_question_of(const struct result *row)
{
	struct update_question q = {(enum qr_change)change_of(row), Q_NONE, row->m, row->n, row->k,
	        row->p, 1, row->precision, result_has(row, "from")};
	char kept[8] = "";

	results_option(row->options, "q", kept, sizeof kept);
	for (int c = Q_NONE; c <= Q_FULL; c++)
		if (strcmp(kept, q_kept_name[c]) == 0)
			q.kept = (enum q_kept)c;
	return q;
}

enum update_way update_way_of(const struct result *row)
{
	int way = 0;

	while (way < UPDATE_CUSOLVER && strcmp(row->variant, update_way_name[way]) != 0)
		way++;
	return (enum update_way)way;
}

bool update_same_shape(const struct result *a, const struct result *b)
{
	return result_same_problem(a, b) && strcmp(a->options, b->options) == 0 &&
	       strcmp(a->executor, b->executor) == 0;
}

/* ---- predictions ---- */

static bool predict_row(const struct profile *profile, struct result *row)
{
	const struct update_question asked = update_question_of(row);
	enum model_target target = strcmp(row->executor, "cuda") == 0 ? MODEL_CUDA : MODEL_HOST;
	struct prediction made;
	bool ok = update_way_of(row) == UPDATE_CHANGE
	                  ? model_update_predict(profile, target, &asked, &made)
	                  : model_refactor_predict(profile, target, &asked, &made);

	return predicted_fill(row, &made, ok);
}

/* ---- the hold-out list ---- */

enum { MOST_SIZES = 4, MOST_PARTS = 8 };

/* A family of changes: sizes of n, rows per column, p and k as fractions of n (k of rows: of m);
 * the largest factorization, in m n^2. */
struct family {
	enum precision precision;
	enum qr_change change;
	enum q_kept kept;
	int64_t n[MOST_SIZES], ratio[MOST_SIZES];
	double p[MOST_PARTS], k[MOST_PARTS]; /* up to a 0, which only the first k may be */
	double most;
	bool from_host;
};

static const struct family families[] = {
        {SINGLE, QR_REMOVE_COLUMNS, Q_NONE, {600, 1200, 2400, 4000}, {2, 8, 32},
                {1. / 64, 1. / 16, 1. / 8, 1. / 4}, {1. / 8, 1. / 4, 1. / 2, 3. / 4}, 5.2e11,
                false},
        {SINGLE, QR_ADD_COLUMNS, Q_THIN, {600, 1200, 2400}, {2, 4, 8}, {1. / 64, 1. / 16, 1. / 4},
                {1. / 2, 1}, 2e11, false},
        {SINGLE, QR_ADD_COLUMNS, Q_FULL, {600, 2400}, {2}, {1. / 16},
                {0, 1. / 8, 1. / 4, 1. / 2, 3. / 4, 7. / 8, 1}, 2e11, false},
        {SINGLE, QR_ADD_ROWS, Q_NONE, {600, 1200, 2400, 4000}, {2, 8, 32}, {1. / 64, 1. / 4, 1},
                {1. / 2}, 5.2e11, false},
        {SINGLE, QR_ADD_ROWS, Q_THIN, {600, 1200, 2400}, {2, 8}, {1. / 16, 1. / 4}, {1. / 2}, 2e11,
                false},
        {SINGLE, QR_REMOVE_ROWS, Q_NONE, {600, 1200, 2400}, {2, 8, 32}, {1. / 64, 1. / 16, 1. / 4},
                {1. / 2}, 2e11, false},
        {SINGLE, QR_REMOVE_ROWS, Q_FULL, {600, 1200, 2400}, {2, 4}, {1. / 64, 1. / 16, 1. / 8},
                {1. / 2}, 2e11, false},
        {DOUBLE, QR_REMOVE_COLUMNS, Q_NONE, {1200}, {2, 8}, {1. / 64, 1. / 8}, {1. / 4, 1. / 2},
                2e11, false},
        {DOUBLE, QR_ADD_COLUMNS, Q_THIN, {1200}, {4}, {1. / 16}, {1. / 2, 1}, 2e11, false},
        {DOUBLE, QR_ADD_ROWS, Q_NONE, {1200}, {8}, {1. / 4, 1}, {1. / 2}, 2e11, false},
        {DOUBLE, QR_REMOVE_ROWS, Q_FULL, {1200}, {2}, {1. / 64, 1. / 16}, {1. / 2}, 2e11, false},
        {SINGLE, QR_REMOVE_COLUMNS, Q_NONE, {1200, 2400}, {2, 8}, {1. / 64, 1. / 16, 1. / 4},
                {1. / 8, 1. / 4, 1. / 2}, 2e11, true},
        {SINGLE, QR_ADD_COLUMNS, Q_THIN, {1200, 2400}, {2, 4}, {1. / 64, 1. / 16}, {1}, 2e11, true},
        {SINGLE, QR_ADD_ROWS, Q_NONE, {1200, 2400}, {8}, {1. / 64, 1. / 4}, {1. / 2}, 2e11, true},
        {SINGLE, QR_REMOVE_ROWS, Q_FULL, {1200}, {2, 4}, {1. / 64, 1. / 16}, {1. / 2}, 2e11, true}};

struct points {
	struct update_question *asked;
	size_t count;
};

static void add_point(struct points *points, const struct update_question *q)
{
	for (size_t i = 0; i < points->count; i++) {
		const struct update_question *o = &points->asked[i];
		if (o->change == q->change && o->kept == q->kept && o->m == q->m && o->n == q->n &&
		        o->k == q->k && o->p == q->p)
			return;
	}
	points->asked = xrealloc(points->asked, (points->count + 1) * sizeof *points->asked);
	points->asked[points->count++] = *q;
}

/* The change of p at a fraction of n or m; false when it is impossible. */
static bool place(struct update_question *q, int64_t p, double part)
{
	bool rows = q->change == QR_ADD_ROWS || q->change == QR_REMOVE_ROWS;
	int64_t last = q->change == QR_REMOVE_COLUMNS ? q->n - p
	               : q->change == QR_REMOVE_ROWS  ? q->m - p
	               : rows                         ? q->m
	                                              : q->n;

	q->p = p;
	q->k = (int64_t)(part * (double)(rows ? q->m : q->n));
	q->k = min_int64(q->k, last);
	return p >= 1 && q->k >= 0 &&
	       !(q->change == QR_REMOVE_COLUMNS && (p >= q->n || q->k >= last)) &&
	       !(q->change == QR_ADD_COLUMNS && q->n + p > q->m) &&
	       !(q->change == QR_REMOVE_ROWS && q->m - p < q->n);
}

/* The model's time of updating over factorizing again; NaN where impossible. */
static double ratio_of(
        const struct profile *profile, enum model_target target, const struct update_question *q)
{
	struct prediction update, refactor;

	model_update_predict(profile, target, q, &update);
	model_refactor_predict(profile, target, q, &refactor);
	return update.seconds / refactor.seconds;
}

/* Adds points on both sides of the break-even point of the model, found by bisection, where the two
 * times are within a factor of two. */
static void add_even(struct points *points, const struct profile *profile, enum model_target target,
        struct update_question q, double part)
{
	static const double apart[] = {0.7, 1.4};
	double low = 1, high = 4 * (double)q.n;

	while (high > low * 1.1) {
		double middle = sqrt(low * high);
		bool more = place(&q, (int64_t)middle, part) && ratio_of(profile, target, &q) < 1;
		*(more ? &low : &high) = middle;
	}
	for (size_t i = 0; i < ARRAY_LEN(apart); i++) {
		bool possible = place(&q, (int64_t)(low * apart[i]), part);
		double ratio = possible ? ratio_of(profile, target, &q) : NAN;
		if (ratio > 0.5 && ratio < 2)
			add_point(points, &q);
	}
}

static void add_shape(struct points *points, const struct profile *profile,
        enum model_target target, const struct family *f, struct update_question q)
{
	for (size_t i = 0; i < MOST_PARTS && f->p[i] > 0; i++)
		for (size_t j = 0; j < MOST_PARTS && (j == 0 || f->k[j] > 0); j++)
			if (place(&q, (int64_t)(f->p[i] * (double)q.n), f->k[j]))
				add_point(points, &q);
	add_even(points, profile, target, q, f->k[0]);
}

static size_t add_row(struct results *results, const struct profile *profile,
        const struct update_question *q, enum update_way way, const char *executor)
{
	struct result row = update_row(q, way, executor);
	size_t refused = 0;

	if (!results_find(results, &row)) {
		refused = !predict_row(profile, &row);
		results_add(results, &row);
	}
	return refused;
}

/* The s-th n of a family with its r-th ratio. Changes from host memory are only for the GPU. */
static size_t predict_shape(struct results *results, const struct profile *profile,
        const struct family *f, size_t s, size_t r, const char *executor)
{
	const enum model_target target = strcmp(executor, "cuda") == 0 ? MODEL_CUDA : MODEL_HOST;
	const int64_t n = f->n[s], m = f->ratio[r] * n;
	struct points points = {NULL, 0};
	size_t refused = 0;

	if (m == 0 || (double)m * (double)n * (double)n > f->most ||
	        (f->from_host && target == MODEL_HOST))
		return 0;
	add_shape(&points, profile, target, f,
	        (struct update_question){
	                f->change, f->kept, m, n, 0, 0, 1, f->precision, f->from_host});
	for (size_t i = 0; i < points.count; i++)
		for (int way = UPDATE_CHANGE; way <= UPDATE_REFACTOR; way++)
			refused += add_row(
			        results, profile, &points.asked[i], (enum update_way)way, executor);
	free(points.asked);
	return refused;
}

size_t predict_updates(
        struct results *results, const struct profile *profile, const char *executor, bool quick)
{
	const size_t sizes = quick ? 1 : MOST_SIZES;
	size_t refused = 0;

#pragma omp parallel for ordered schedule(dynamic) reduction(+ : refused)
	for (size_t i = 0; i < ARRAY_LEN(families) * sizes * sizes; i++) {
		struct results *one = results_new();
		refused += predict_shape(one, profile, &families[i / sizes / sizes],
		        i / sizes % sizes, i % sizes, executor);
#pragma omp ordered
		results_append(results, one);
		results_free(one);
	}
	return refused;
}
