/* SPDX-License-Identifier: MIT */
/* Compares the forms of Gram-Schmidt on the GPU and on the host. */
#include "measure.h"

#include "lib/base/msg.h"
#include "lib/host/pinned_threads.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/timing_gram_schmidt.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Forms and block widths to be measured. */
static const struct gram_way on_gpu[] = {{"cublas", 0, NULL}, {"kernels", 0, NULL},
        {"fused", 0, NULL}, {"blocked", 64, NULL}, {"block", 32, NULL}, {"block", 64, NULL},
        {"twice", 64, NULL}, {"direct", 0, NULL}, {"shared", 0, NULL}, {"wide", 0, NULL}};
static const struct gram_run on_host[] = {{.form = "blocked", .nb = 32},
        {.form = "blocked", .nb = 64}, {.form = "block", .nb = 64}, {.form = "twice", .nb = 64},
        {.form = "blas"}, {.form = "kernels"}, {.form = "fused"}};

/* Largest sizes on the host, which takes minutes beyond: blocked forms, and memory-bound forms. */
enum { IN_BLOCKS_MOST = 8192, ON_HOST_MOST = 2048 };

static bool predict(const struct profile *profile, int level, struct result *row)
{
	return gram_predict(profile, level, false, row);
}

bool measure_gram(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct gram_entry entry[MEASURE_CANDIDATES];
	struct fault fault = {""};
	char condition[16] = "0";

	for (size_t i = 0; i < count; i++) {
		entry[i] = (struct gram_entry){.executor = executor, .nb = row[i].nb};
		gram_form(&row[i], entry[i].form);
		candidate[i] = candidate_gram_schmidt(&entry[i], row[i].variant);
	}
	results_option(row->options, "cond", condition, sizeof condition);
	measure->plan.seed += 1000;
	bool timed = timing_gram_schmidt(executor, row->precision, row->m, row->n, atof(condition),
	        &measure->plan, candidate, count, &fault);
	return measure_add_all(measure, row, candidate, count, timed, &fault, out);
}

/* Whether each form takes about a second at most, on the GPU or on the host. */
static bool is_small(const struct result *shape, bool device)
{
	const double work = (double)shape->m * (double)shape->n * (double)shape->n;

	return work < (device ? 1e11 : 1e10);
}

/* The blocked form needs columns that fit into registers. --quick measures large matrices only by
 * the vendor's form, by one pass, and by products. */
static bool suits(const struct measure *measure, const struct gram_way *way, const char *name,
        const struct result *shape)
{
	enum { MOST_BYTES = 32768 };

	if (strcmp(name, "cuda") == 0 && strcmp(way->variant, "blocked") == 0 &&
	        shape->m * precision_bytes(shape->precision) > MOST_BYTES)
		return false;
	return !measure->common.quick || is_small(shape, true) || way->nb > 0 ||
	       strcmp(way->variant, "cublas") == 0 || strcmp(way->variant, "fused") == 0;
}

static bool measure_on(struct measure *measure, const struct profile *profile, const char *name,
        const struct gram_way *way, size_t ways, const struct result *shape, struct results *out)
{
	struct executor *executor = measure_executor(measure, name);
	struct result row[MEASURE_CANDIDATES];
	size_t count = 0;

	for (size_t i = 0; executor && i < ways; i++) {
		if (!suits(measure, &way[i], name, shape))
			continue;
		row[count] = gram_case(&way[i], name, shape->precision, shape->m, shape->n);
		measure_add_model(profile, &row[count], true, predict, out);
		count += !results_find(out, &row[count]);
	}
	return count > 0 && measure_gram(measure, executor, row, count, out);
}

/* Loss of orthogonality: every form once on matrices of several conditions. */
static bool measure_losses(struct measure *measure, const struct result *shape, struct results *out)
{
	static const char *const condition[] = {"1", "1e3", "1e5"};
	struct executor *executor = measure_executor(measure, "cuda");
	const double usual = measure->plan.long_seconds;
	bool any = false;

	measure->plan.long_seconds = DBL_MIN; /* one run of each */
	for (size_t c = 0; executor && c < ARRAY_LEN(condition); c++) {
		struct result row[MEASURE_CANDIDATES];
		size_t count = 0;
		for (size_t i = 0; i < ARRAY_LEN(on_gpu); i++) {
			row[count] =
			        gram_case(&on_gpu[i], "cuda", shape->precision, shape->m, shape->n);
			results_option_add(row[count].options, "cond", condition[c]);
			count += !results_find(out, &row[count]);
		}
		any = (count > 0 && measure_gram(measure, executor, row, count, out)) || any;
	}
	measure->plan.long_seconds = usual;
	return any;
}

/* --quick: only forms that take less than a second; on larger matrices the blocked ones. */
static bool host_suits(
        const struct measure *measure, const struct gram_run *run, const struct result *shape)
{
	if (shape->m > (run->nb ? IN_BLOCKS_MOST : ON_HOST_MOST))
		return false;
	return !measure->common.quick || is_small(shape, false) ||
	       (is_small(shape, true) && run->nb == 64 && strcmp(run->form, "twice") != 0);
}

/* By as many threads as the probes' largest run has. */
static bool measure_hosts(struct measure *measure, const struct profile *profile,
        const struct result *shape, struct results *out)
{
	struct executor *host = measure_executor(measure, "host");
	struct result row[ARRAY_LEN(on_host)];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(on_host); i++) {
		struct gram_run run = on_host[i];
		if (!host_suits(measure, &run, shape))
			continue;
		run.k = shape->n;
		run.threads = measure->topology ? pinned_largest(measure->noise.cores) : 1;
		row[count] = gram_row(shape->precision, shape->m, shape->n, &run, NULL);
		measure_add_model(profile, &row[count], true, gram_row_predict, out);
		count += !results_find(out, &row[count]);
	}
	return host && count && measure_gram_host(measure, host, row, count, out);
}

bool measure_gram_schmidt(struct measure *measure, const struct profile *profile,
        enum precision precision, int64_t m, int64_t n, struct results *out)
{
	const struct result shape = {.precision = precision, .m = m, .n = n};

	if (measure->common.quick && precision == DOUBLE && !is_small(&shape, false))
		return false;
	if (m > n)
		return measure_losses(measure, &shape, out);
	bool gpu = measure_on(measure, profile, "cuda", on_gpu, ARRAY_LEN(on_gpu), &shape, out);

	return measure_hosts(measure, profile, &shape, out) || gpu;
}
