/* SPDX-License-Identifier: MIT */
#include "model_gram_schmidt.h"

#include "lib/base/msg.h"
#include "factor/algorithms/gram_schmidt.h"
#include "model_question.h"

#include <math.h>

static const char needed[] = ", which Gram-Schmidt's cost needs";

/* ---- all columns ---- */

static bool run(struct executor *e, const void *context)
{
	const struct gram_question *q = context;
	struct matrix a = {NULL, 0, q->m, q->n, q->m, q->precision};
	int64_t k = q->k ? q->k : q->n;
	struct matrix r = {NULL, 0, k, q->n, k, q->precision};

	return gram_schmidt_first(e, q->form, q->nb, k, a, r, NULL, NULL);
}

static void bound_all(struct executor *e, enum model_target target, const struct gram_question *q,
        struct prediction *out)
{
	struct cost_reader *r = executor_model_reader(e);
	const double m = (double)q->m, n = (double)q->n,
	             word = (double)precision_bytes(q->precision);
	const double rest = q->k ? n - (double)q->k : 0, pairs = n * n - rest * rest;
	const double bytes = q->nb > 0 ? 2 * m * n * word : m * pairs * word;

	prediction_bound(e, 2 * m * pairs / prediction_peak(r, target, q->precision),
	        bytes / cost_scalar(r,
	                        target == MODEL_CUDA ? "gpu.dram.copy" : "host.memory.copy.peak"),
	        out);
}

bool model_gram_schmidt_predict(const struct profile *profile, enum model_target target,
        const struct gram_question *asked, int level, bool interval, struct prediction *out)
{
	struct executor *e = executor_model_new(profile, target, level);
	struct question question = {e, run, asked};
	void *no_memory;

	*out = (struct prediction){.low = NAN, .high = NAN};
	e->ops->alloc(e, asked->m * asked->n * precision_bytes(asked->precision), &no_memory);
	executor_model_reader(e)->threads = asked->threads;
	out->seconds = question_seconds(&question, false, &out->parts);
	out->model = executor_model_reader(e)->model;
	bool ok = !isnan(out->seconds);
	if (ok && level == 0) {
		bound_all(e, target, asked, out);
		ok = !isnan(out->seconds);
	} else if (ok && interval) {
		question_interval(&question, out);
	}
	if (!ok)
		prediction_refuse(e, needed, out);
	executor_free(e);
	return ok;
}

/* ---- a kernel ---- */

static bool run_kernel(struct executor *e, const void *context)
{
	const struct gram_kernel *kernel = context;
	const struct gram_kernel_data shapes = gram_kernel_shapes(kernel);

	return gram_kernel_run(e, kernel, &shapes, kernel->calls);
}

static void bound_kernel(
        struct executor *e, const struct gram_kernel *kernel, struct prediction *out)
{
	struct cost_reader *r = executor_model_reader(e);
	const bool reads = kernel->k == 0 && kernel->step == GRAM_DOTS;
	const double bytes = gram_kernel_bytes(kernel);
	const bool held = bytes / (reads ? 1 : 2) <= cost_scalar(r, "gpu.l2.stated");
	const char *l2 = reads ? "gpu.l2.read" : "gpu.l2.copy",
	           *dram = reads ? "gpu.dram.read" : "gpu.dram.copy";

	prediction_bound(e,
	        gram_kernel_flops(kernel) / prediction_peak(r, MODEL_CUDA, kernel->precision),
	        bytes / cost_scalar(r, held ? l2 : dram), out);
}

bool model_gram_kernel_predict(const struct profile *profile, const struct gram_kernel *kernel,
        int level, struct prediction *out)
{
	struct executor *e = executor_model_new(profile, MODEL_CUDA, level);
	struct question question = {e, run_kernel, kernel};
	const double calls = (double)kernel->calls;

	*out = (struct prediction){0};
	if (level == 0) {
		bound_kernel(e, kernel, out);
	} else {
		out->seconds = question_seconds(&question, false, &out->parts);
		out->model = executor_model_reader(e)->model;
		if (isfinite(out->seconds))
			question_interval(&question, out);
		out->seconds /= calls;
		out->low /= calls;
		out->high /= calls;
	}
	bool ok = isfinite(out->seconds);
	if (!ok)
		prediction_refuse(e, needed, out);
	executor_free(e);
	return ok;
}

int64_t model_gram_schmidt_width(
        const struct profile *profile, enum model_target target, const struct gram_question *asked)
{
	enum { WIDEST = 256 };
	const int64_t columns = asked->k ? asked->k : asked->n;
	double least = INFINITY;
	int64_t best = 0;

	for (int64_t nb = 4; nb <= WIDEST && nb < 2 * columns;
	        nb = nb % 3 ? nb * 3 / 2 : nb * 4 / 3) {
		struct gram_question question = *asked;
		struct prediction made;
		question.nb = nb;
		if (model_gram_schmidt_predict(profile, target, &question, 2, false, &made) &&
		        made.seconds < least) {
			least = made.seconds;
			best = nb;
		}
	}
	return best;
}
