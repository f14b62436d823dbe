/* SPDX-License-Identifier: MIT */
#include "gram_cases.h"
#include "factor/validation/predicted.h"

#include "lib/base/msg.h"
#include "factor/model/predictions/model_gram_schmidt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool results_is_gram(const struct result *row)
{
	return strcmp(row->operation, "gramschmidt") == 0;
}

struct result gram_case(const struct gram_way *way, const char *executor, enum precision precision,
        int64_t m, int64_t n)
{
	struct result row = result_new("gramschmidt", way->variant, executor, precision, m, n);

	row.nb = way->nb;
	if (way->shape)
		results_option_add(row.options, "shape", way->shape);
	return row;
}

void gram_form(const struct result *row, char form[32])
{
	bool blas = strcmp(row->variant, "cublas") == 0 || strcmp(row->variant, "openblas") == 0;
	char shape[10] = "";
	bool shaped = results_option(row->options, "shape", shape, sizeof shape);

	snprintf(form, 32, "%.20s%s%s", blas ? "blas" : row->variant, shaped ? "=" : "", shape);
}

struct result gram_row(enum precision precision, int64_t m, int64_t n, const struct gram_run *run,
        const char *compiler)
{
	struct result row = result_new("gramschmidt",
	        strcmp(run->form, "blas") == 0 ? "openblas" : run->form, "host", precision, m, n);
	char number[16];

	row.k = run->k < n ? run->k : 0;
	row.nb = run->nb;
	snprintf(number, sizeof number, "%d", run->threads);
	results_option_add(row.options, "threads", number);
	if (compiler)
		results_option_add(row.options, "compiler", compiler);
	return row;
}

bool results_is_host_gram(const struct result *row)
{
	return strcmp(row->operation, "gramschmidt") == 0 && strcmp(row->executor, "host") == 0 &&
	       result_has(row, "threads");
}

struct gram_run gram_run_of(const struct result *row)
{
	char threads[16] = "1", compiler[16];
	bool other = results_option(row->options, "compiler", compiler, sizeof compiler);

	results_option(row->options, "threads", threads, sizeof threads);
	return (struct gram_run){
	        .form = strcmp(row->variant, "openblas") == 0 ? "blas" : row->variant,
	        .loops = other ? gram_loops_by(compiler) : NULL,
	        .plain = other ? gram_plain_by(compiler) : NULL,
	        .nb = row->nb,
	        .k = row->k ? row->k : row->n,
	        .lda = result_lda(row),
	        .threads = atoi(threads)};
}

bool gram_predict(const struct profile *profile, int level, bool interval, struct result *row)
{
	char form[32];
	struct gram_question question = {.form = form,
	        .nb = row->nb,
	        .m = row->m,
	        .n = row->n,
	        .lda = result_lda(row),
	        .precision = row->precision};
	struct prediction made;

	gram_form(row, form);
	if (results_is_host_gram(row)) {
		const struct gram_run run = gram_run_of(row);
		question.k = run.k;
		question.threads = run.threads;
	}
	bool ok = model_gram_schmidt_predict(profile,
	        strcmp(row->executor, "cuda") == 0 ? MODEL_CUDA : MODEL_HOST, &question, level,
	        interval, &made);
	return predicted_fill(row, &made, ok);
}

bool gram_row_predict(const struct profile *profile, int level, struct result *row)
{
	return gram_predict(profile, level, true, row);
}

int gram_threads(const struct profile *profile)
{
	double low, high;

	return profile_range(profile, "host.parallel.fork", "threads", &low, &high) ? (int)high : 1;
}

int64_t gram_width(const struct profile *profile, int64_t m, int64_t n, int64_t k, int threads)
{
	const struct gram_question question = {
	        .form = "blocked", .m = m, .n = n, .precision = SINGLE, .k = k, .threads = threads};

	return model_gram_schmidt_width(profile, MODEL_HOST, &question);
}

/* ---- the hold-out list of an executor ---- */

struct size {
	enum precision precision;
	int64_t m, n;
};

static const struct gram_way ways[] = {{"cublas", 0, NULL}, {"kernels", 0, NULL},
        {"fused", 0, NULL}, {"blocked", 48, NULL}, {"block", 32, NULL}, {"block", 64, NULL},
        {"twice", 64, NULL}, {"direct", 0, NULL}, {"shared", 0, NULL}, {"wide", 0, NULL},
        {"wide", 0, "512x1"}};

/* False for forms that are too slow for a large matrix, or do not fit. */
static bool suits(const struct gram_way *way, const struct size *s)
{
	const double work = (double)s->m * (double)s->n * (double)s->n;
	const bool blocked = strcmp(way->variant, "blocked") == 0;

	if (blocked && s->m * precision_bytes(s->precision) > GRAM_APPLY_BYTES)
		return false;
	return work < 1e11 || way->nb > 0;
}

static size_t drawn_sizes(const struct draw *draw, const char *executor, enum precision precision,
        struct size size[DRAW_SHAPES])
{
	struct drawn_shape shape[DRAW_SHAPES];
	const size_t count = draw_shapes(draw, "gramschmidt", executor, precision, shape);

	for (size_t i = 0; i < count; i++)
		size[i] = (struct size){precision, shape[i].m, shape[i].n};
	return count;
}

size_t predict_gram(struct results *results, const struct profile *profile, const char *executor,
        bool quick, const struct draw *draw)
{
	static const struct size fixed[] = {{SINGLE, 3000, 3000}, {SINGLE, 1000, 1000},
	        {SINGLE, 5555, 5555}, {SINGLE, 10007, 10007}, {SINGLE, 30000, 500},
	        {SINGLE, 12000, 2000}, {DOUBLE, 3000, 3000}};
	struct size drawn[DRAW_SHAPES];
	const struct size *sizes = draw ? drawn : fixed;
	const size_t count = (draw           ? drawn_sizes(draw, executor, SINGLE, drawn)
	                             : quick ? 1
	                                     : ARRAY_LEN(fixed)) *
	                     ARRAY_LEN(ways);
	size_t refused = 0;

	msg_progress_step(0, (double)count, INFINITY, "%zu cases of gramschmidt", count);
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : refused)
	for (size_t i = 0; i < count; i++) {
		const struct size *s = &sizes[i / ARRAY_LEN(ways)];
		const struct gram_way *way = &ways[i % ARRAY_LEN(ways)];
		struct result row = gram_case(way, executor, s->precision, s->m, s->n);
		struct results *levels = results_new();
		if (draw) /* predictions depend on the leading dimension */
			draw_mark_row(draw, &row);
		if (suits(way, s))
			refused += predicted_levels(levels, profile, &row, gram_row_predict);
#pragma omp ordered
		{
			results_append(results, levels);
			msg_progress_step((double)i + 1, (double)count, INFINITY,
			        "%zu cases of gramschmidt", count);
		}
		results_free(levels);
	}
	return refused;
}

/* ---- the hold-out list of the host by threads ---- */

enum { NARROWEST = 12, MORE = 85 }; /* drawn widths: 12 to 96 */

struct host_list {
	struct results *results;
	const struct profile *profile;
	enum precision precision;
	int64_t m, n;
	size_t refused;
};

static void add_host(struct host_list *list, const char *form, int64_t nb, int64_t k, int threads)
{
	const struct gram_run run = {.form = form, .nb = nb, .k = k, .threads = threads};
	const struct result row = gram_row(list->precision, list->m, list->n, &run, NULL);

	list->refused += predicted_levels(list->results, list->profile, &row, gram_row_predict);
}

static void add_all(struct host_list *list, int64_t unblocked, int64_t blocked, int threads)
{
	static const int64_t widths[] = {12, 24, 48, 96};

	add_host(list, "kernels", 0, unblocked, threads);
	add_host(list, "fused", 0, unblocked, threads);
	for (size_t w = 0; w < ARRAY_LEN(widths) && widths[w] <= blocked; w++)
		add_host(list, "blocked", widths[w], blocked, threads);
}

/* A matrix of four and a half times the last cache; only its first columns are done. */
static void add_large(struct host_list *list, int threads)
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

/* Every form by all threads, every second time by one; blocks of a drawn width. */
static size_t predict_drawn(struct host_list *list, const struct draw *draw, int threads)
{
	struct size size[DRAW_SHAPES];

	for (int d = 0; d < 2; d++) {
		const size_t count = drawn_sizes(draw, "host", d ? DOUBLE : SINGLE, size);
		for (size_t i = 0; i < count; i++) {
			const int used = i % 2 ? 1 : threads;
			list->precision = size[i].precision;
			list->m = size[i].m;
			list->n = size[i].n;
			add_host(list, "kernels", 0, list->n, used);
			add_host(list, "fused", 0, list->n, used);
			add_host(list, "blocked",
			        NARROWEST + draw_index(draw, list->m, list->n, 0, MORE), list->n,
			        used);
		}
	}
	return list->refused;
}

size_t predict_gram_host(
        struct results *results, const struct profile *profile, bool quick, const struct draw *draw)
{
	static const struct {
		enum precision precision;
		int64_t m, n;
		bool alone; /* also by one thread */
	} all[] = {{SINGLE, 1500, 600, true}, {SINGLE, 500, 500, false}, {SINGLE, 1000, 1000, true},
	        {SINGLE, 1900, 1900, false}, {SINGLE, 3000, 700, false}, {SINGLE, 6000, 300, true},
	        {SINGLE, 12000, 150, false}, {DOUBLE, 1000, 1000, true},
	        {DOUBLE, 6000, 300, false}};
	struct host_list list = {.results = results, .profile = profile};
	const int threads = gram_threads(profile);

	if (draw)
		return predict_drawn(&list, draw, threads);
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
