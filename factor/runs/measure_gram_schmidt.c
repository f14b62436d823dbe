/* SPDX-License-Identifier: MIT */
/* The forms of Gram-Schmidt beside each other, on the GPU and on the host. */
#include "measure.h"

#include "../../lib/msg.h"
#include "../../lib/topology.h"
#include "gram_cases.h"
#include "timing_gram_schmidt.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* Forms and block widths to be measured; the columns of the first ones are not in blocks. */
static const struct gram_way on_gpu[] = {{"cublas", 0, NULL}, {"kernels", 0, NULL},
        {"fused", 0, NULL}, {"blocked", 64, NULL}, {"block", 32, NULL}, {"block", 64, NULL},
        {"twice", 64, NULL}, {"direct", 0, NULL}, {"shared", 0, NULL}, {"wide", 0, NULL}};
static const struct gram_way on_host[] = {{"openblas", 0, NULL}, {"kernels", 0, NULL},
        {"fused", 0, NULL}, {"blocked", 16, NULL}, {"blocked", 64, NULL}, {"block", 64, NULL},
        {"twice", 64, NULL}};

/* Rows and columns up to which the forms that are bound by the memory don't take the host minutes.
 */
enum { ON_HOST_MOST = 2048 };

/* What the profile says of it, ahead of its measurement. */
static void estimate(
        const struct profile *profile, const struct result *measured, struct results *out)
{
	struct result row = *measured;

	results_option_add(row.options, "on", measured->executor);
	snprintf(row.executor, sizeof row.executor, "model");
	if (!profile || results_find(out, &row))
		return;
	snprintf(row.executor, sizeof row.executor, "%s", measured->executor);
	bool known = gram_predict(profile, 2, false, &row);
	snprintf(row.executor, sizeof row.executor, "model");
	if (known)
		results_add(out, &row);
}

bool measure_gram(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct contender contender[MEASURE_CONTENDERS];
	struct gram_entry entry[MEASURE_CONTENDERS];
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++) {
		entry[i] = (struct gram_entry){.executor = executor, .nb = row[i].nb};
		gram_form(&row[i], entry[i].form);
		contender[i] = contender_gram_schmidt(&entry[i], row[i].variant);
	}
	measure->plan.seed += 1000;
	if (!timing_gram_schmidt(executor, row->precision, row->m, row->n, &measure->plan,
	            contender, count, &fault)) {
		if (!*measure->plan.stop)
			msg_warn("gramschmidt %" PRId64 " x %" PRId64 " on %s: %s", row->m, row->n,
			        row->executor, fault.text);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		measure_add(measure, &row[i], &contender[i], out);
	return true;
}

/* The blocked form is for columns that registers hold. */
static bool suits(const struct gram_way *way, const char *name, const struct result *shape)
{
	enum { MOST_BYTES = 32768 };

	return strcmp(name, "cuda") != 0 || strcmp(way->variant, "blocked") != 0 ||
	       shape->m * precision_bytes(shape->precision) <= MOST_BYTES;
}

static bool measure_on(struct measure *measure, const struct profile *profile, const char *name,
        const struct gram_way *way, size_t ways, const struct result *shape, struct results *out)
{
	struct executor *executor = measure_executor(measure, name);
	struct result row[MEASURE_CONTENDERS];
	size_t count = 0;

	for (size_t i = 0; executor && i < ways; i++) {
		if (!suits(&way[i], name, shape))
			continue;
		row[count] = gram_case(&way[i], name, shape->precision, shape->m, shape->n);
		estimate(profile, &row[count], out);
		count += !results_find(out, &row[count]);
	}
	return count > 0 && measure_gram(measure, executor, row, count, out);
}

/* OpenMP's threads but the caller's own, each to a core of its own from the second on, where they
 * stay; where that is not possible they run where the system lets them. */
static void bind_threads(void)
{
	struct fault fault;
	struct topology *topology = topology_load(NULL, &fault);
	struct topology_facts facts;

	if (!topology)
		return;
	topology_facts(topology, &facts);
	if (facts.cores > 0 && facts.cores < omp_get_max_threads())
		omp_set_num_threads(facts.cores);
#pragma omp parallel
	{
		char got[128];
		if (omp_get_thread_num() > 0)
			topology_bind(topology, -1, omp_get_thread_num(), got);
	}
	topology_free(topology);
}

bool measure_gram_schmidt(struct measure *measure, const struct profile *profile,
        enum precision precision, int64_t m, int64_t n, struct results *out)
{
	const struct result shape = {.precision = precision, .m = m, .n = n};
	bool gpu = measure_on(measure, profile, "cuda", on_gpu, ARRAY_LEN(on_gpu), &shape, out);

	if (m > ON_HOST_MOST)
		return gpu;
	bind_threads();
	return measure_on(measure, profile, "host", on_host, ARRAY_LEN(on_host), &shape, out) ||
	       gpu;
}
