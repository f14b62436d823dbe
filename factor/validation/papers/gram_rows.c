/* SPDX-License-Identifier: MIT */
#include "gram_rows.h"
#include "factor/validation/predicted.h"

#include "factor/model/predictions/model_gram_schmidt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct result gram_row(enum precision precision, int64_t m, int64_t n, const struct gram_run *run,
        const char *compiler)
{
	struct result row = {.precision = precision,
	        .m = m,
	        .n = n,
	        .k = run->k < n ? run->k : 0,
	        .nb = run->nb,
	        .residual = NAN,
	        .orthogonality = NAN};
	char number[16];

	snprintf(number, sizeof number, "%d", run->threads);
	snprintf(row.operation, sizeof row.operation, "gramschmidt");
	snprintf(row.variant, sizeof row.variant, "%s",
	        strcmp(run->form, "blas") == 0 ? "openblas" : run->form);
	snprintf(row.executor, sizeof row.executor, "host");
	results_options(row.options, "host", NULL, 2);
	results_option_add(row.options, "threads", number);
	if (compiler)
		results_option_add(row.options, "compiler", compiler);
	return row;
}

bool results_is_host_gram(const struct result *row)
{
	return strcmp(row->operation, "gramschmidt") == 0 && strcmp(row->executor, "host") == 0 &&
	       results_option(row->options, "threads", NULL, 0);
}

struct gram_run gram_run_of(const struct result *row)
{
	char threads[16] = "1", compiler[16];
	bool other = results_option(row->options, "compiler", compiler, sizeof compiler);

	results_option(row->options, "threads", threads, sizeof threads);
	return (struct gram_run){
	        .form = strcmp(row->variant, "openblas") == 0 ? "blas" : row->variant,
	        .loops = other ? gram_loops_by(compiler) : NULL,
	        .nb = row->nb,
	        .k = row->k ? row->k : row->n,
	        .threads = atoi(threads)};
}

static struct gram_question question_of(const struct result *row)
{
	const struct gram_run run = gram_run_of(row);

	return (struct gram_question){.form = run.form,
	        .nb = run.nb,
	        .m = row->m,
	        .n = row->n,
	        .precision = row->precision,
	        .k = run.k,
	        .threads = run.threads};
}

bool gram_row_predict(const struct profile *profile, int level, struct result *row)
{
	const struct gram_question question = question_of(row);
	struct prediction made;
	bool ok = model_gram_schmidt_predict(
	        profile, MODEL_HOST, &question, level, level == 2, &made);

	return predicted_fill(row, &made, ok);
}

int gram_threads(const struct profile *profile)
{
	double low, high;

	return profile_range(profile, "host.parallel.fork", "threads", &low, &high) ? (int)high : 1;
}

int64_t gram_width(const struct profile *profile, enum precision precision, int64_t m, int64_t n,
        int64_t k, int threads)
{
	const struct gram_question question = {.form = "blocked",
	        .m = m,
	        .n = n,
	        .precision = precision,
	        .k = k,
	        .threads = threads};

	return model_gram_schmidt_width(profile, MODEL_HOST, &question);
}

/* ---- the held-out list ---- */

struct list {
	struct results *results;
	const struct profile *profile;
	enum precision precision;
	int64_t m, n;
	size_t refused;
};

static void add(struct list *list, const char *form, int64_t nb, int64_t k, int threads)
{
	const struct gram_run run = {.form = form, .nb = nb, .k = k, .threads = threads};
	const struct result row = gram_row(list->precision, list->m, list->n, &run, NULL);

	list->refused += predicted_levels(list->results, list->profile, &row, gram_row_predict);
}

static void add_all(struct list *list, int64_t unblocked, int64_t blocked, int threads)
{
	static const int64_t widths[] = {12, 24, 48, 96};

	add(list, "kernels", 0, unblocked, threads);
	add(list, "fused", 0, unblocked, threads);
	for (size_t w = 0; w < ARRAY_LEN(widths) && widths[w] <= blocked; w++)
		add(list, "blocked", widths[w], blocked, threads);
}

/* One of four and a half times the last cache, of which some columns are done. */
static void add_large(struct list *list, int threads)
{
	enum { UNBLOCKED = 12, BLOCKED = 96 };
	const struct lookup cache = profile_get(list->profile, "host.l3.stated", NULL, 0);

	if (!cache.found)
		return;
	list->precision = SINGLE;
	list->n = (int64_t)sqrt(4.5 * cache.estimate.value / sizeof(float)) / 100 * 100 + 100;
	list->m = list->n;
	add_all(list, UNBLOCKED, BLOCKED, threads);
}

size_t predict_gram_host(struct results *results, const struct profile *profile, bool quick)
{
	static const struct {
		enum precision precision;
		int64_t m, n;
		bool alone; /* also by one thread */
	} all[] = {{SINGLE, 1500, 600, true}, {SINGLE, 500, 500, false}, {SINGLE, 1000, 1000, true},
	        {SINGLE, 1900, 1900, false}, {SINGLE, 3000, 700, false}, {SINGLE, 6000, 300, true},
	        {SINGLE, 12000, 150, false}, {DOUBLE, 1000, 1000, true},
	        {DOUBLE, 6000, 300, false}};
	struct list list = {.results = results, .profile = profile};
	const int threads = gram_threads(profile);

	for (size_t i = 0; i < (quick ? 1 : ARRAY_LEN(all)); i++) {
		list.precision = all[i].precision;
		list.m = all[i].m;
		list.n = all[i].n;
		add_all(&list, list.n, list.n, threads);
		if (all[i].alone && threads > 1)
			add_all(&list, list.n, list.n, 1);
	}
	if (!quick)
		add_large(&list, threads);
	return list.refused;
}
