/* SPDX-License-Identifier: MIT */
/* The forms of Gram-Schmidt beside each other, on the GPU and on the host. */
#include "measure.h"

#include "../../lib/msg.h"
#include "../../lib/topology.h"
#include "../model/model_gram_schmidt.h"
#include "timing_gram_schmidt.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* Forms and block widths to be measured; the columns of the first ones are not in blocks. */
struct way {
	const char *variant, *form;
	int64_t nb;
};

static const struct way on_gpu[] = {{"cublas", "blas", 0}, {"kernels", "kernels", 0},
        {"fused", "fused", 0}, {"block", "block", 32}, {"block", "block", 64},
        {"twice", "twice", 64}};
static const struct way on_host[] = {{"openblas", "blas", 0}, {"kernels", "kernels", 0},
        {"fused", "fused", 0}, {"blocked", "blocked", 16}, {"blocked", "blocked", 64},
        {"block", "block", 64}, {"twice", "twice", 64}};

/* Rows and columns up to which the forms that are bound by the memory don't take the host minutes.
 */
enum { ON_HOST_MOST = 2048 };

static struct result new_row(
        const struct way *way, const char *executor, enum precision precision, int64_t m, int64_t n)
{
	struct result row = {.precision = precision,
	        .m = m,
	        .n = n,
	        .nb = way->nb,
	        .residual = NAN,
	        .orthogonality = NAN};

	snprintf(row.operation, sizeof row.operation, "gramschmidt");
	snprintf(row.variant, sizeof row.variant, "%s", way->variant);
	snprintf(row.executor, sizeof row.executor, "%s", executor);
	results_options(row.options, executor, NULL, 2);
	return row;
}

/* What the profile says of it, ahead of its measurement. */
static void estimate(const struct profile *profile, const struct way *way,
        const struct result *measured, struct results *out)
{
	const struct gram_question question = {.form = way->form,
	        .nb = way->nb,
	        .m = measured->m,
	        .n = measured->n,
	        .precision = measured->precision};
	struct result row = *measured;
	struct prediction prediction;

	results_option_add(row.options, "on", measured->executor);
	snprintf(row.executor, sizeof row.executor, "model");
	if (!profile || results_find(out, &row))
		return;
	bool known = model_gram_schmidt_predict(profile,
	        strcmp(measured->executor, "cuda") == 0 ? MODEL_CUDA : MODEL_HOST, &question, 2,
	        &prediction);
	row.seconds = (struct estimate){prediction.seconds, NAN, NAN, 0};
	snprintf(row.regime, sizeof row.regime, prediction.model.surface ? "surface" : "hardware");
	if (known)
		results_add(out, &row);
}

static bool measure_on(struct measure *measure, const struct profile *profile, const char *name,
        const struct way *way, size_t ways, const struct result *shape, struct results *out)
{
	struct executor *executor = measure_executor(measure, name);
	struct contender contender[MEASURE_CONTENDERS];
	struct gram_entry entry[MEASURE_CONTENDERS];
	struct result row[MEASURE_CONTENDERS];
	struct fault fault = {""};
	size_t count = 0;

	for (size_t i = 0; executor && i < ways; i++) {
		row[count] = new_row(&way[i], name, shape->precision, shape->m, shape->n);
		estimate(profile, &way[i], &row[count], out);
		if (results_find(out, &row[count]))
			continue;
		entry[count] = (struct gram_entry){executor, way[i].form, way[i].nb};
		contender[count] = contender_gram_schmidt(&entry[count], way[i].variant);
		count++;
	}
	if (count == 0)
		return false;
	measure->plan.seed += 1000;
	bool ok = timing_gram_schmidt(executor, shape->precision, shape->m, shape->n,
	        &measure->plan, contender, count, &fault);
	for (size_t i = 0; ok && i < count; i++)
		measure_add(measure, &row[i], &contender[i], out);
	if (!ok && !*measure->plan.stop)
		msg_warn("gramschmidt %" PRId64 " x %" PRId64 " on %s: %s", shape->m, shape->n,
		        name, fault.text);
	return ok;
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
