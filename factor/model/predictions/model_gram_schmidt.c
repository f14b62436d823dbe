/* SPDX-License-Identifier: MIT */
#include "model_gram_schmidt.h"

#include "lib/base/msg.h"
#include "factor/algorithms/gram_schmidt.h"
#include "model_question.h"

#include <math.h>

/* The larger one of both. */
static void bound(struct cost_reader *r, double computed, double moved, struct prediction *out)
{
	const enum term limiter = computed > moved ? TERM_ARITHMETIC : TERM_MEMORY;

	out->seconds = out->low = out->high = fmax(computed, moved);
	out->parts = (struct model_result){.seconds = out->seconds, .limiter = limiter};
	out->parts.term[limiter] = out->seconds;
	out->model = r->model;
}

static double peak(struct cost_reader *r, enum model_target target, enum precision precision)
{
	const char *device = precision == SINGLE ? "gpu.gemm.s.peak" : "gpu.gemm.d.peak";
	const char *host = precision == SINGLE ? "host.gemm.s" : "host.gemm.d";
	double low, n = 1;

	if (target == MODEL_CUDA)
		return cost_scalar(r, device);
	if (!model_range(&r->model, host, "n", &low, &n))
		n = 1;
	return 2 * n * n * n / cost_at(r, host, "n", n);
}

static bool lift(struct executor *e, bool ok, struct prediction *out)
{
	if (ok)
		return true;
	out->seconds = out->low = out->high = out->parts.seconds = NAN;
	out->model = executor_model_reader(e)->model;
	if (!out->model.missing) {
		out->fault = e->fault;
		return false;
	}
	return fault_set(&out->fault, "the profile has no %s, which Gram-Schmidt's cost needs",
	        out->model.missing_name);
}

/* ---- all columns ---- */

static bool run(struct executor *e, const void *context)
{
	const struct gram_question *q = context;
	struct matrix a = {NULL, 0, q->m, q->n, q->m, q->precision};
	int64_t k = q->k ? q->k : q->n;
	struct matrix r = {NULL, 0, k, q->n, k, q->precision};

	return gram_schmidt_first(e, q->form, q->nb, k, a, r, NULL, NULL);
}

static void bound_all(struct cost_reader *r, enum model_target target,
        const struct gram_question *q, struct prediction *out)
{
	const double m = (double)q->m, n = (double)q->n,
	             word = (double)precision_bytes(q->precision);
	const double rest = q->k ? n - (double)q->k : 0, pairs = n * n - rest * rest;
	const double bytes = q->nb > 0 ? 2 * m * n * word : m * pairs * word;

	bound(r, 2 * m * pairs / peak(r, target, q->precision),
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
		bound_all(executor_model_reader(e), target, asked, out);
		ok = !isnan(out->seconds);
	} else if (ok && interval) {
		question_interval(&question, out);
	}
	lift(e, ok, out);
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
        struct cost_reader *r, const struct gram_kernel *kernel, struct prediction *out)
{
	const bool reads = kernel->k == 0 && kernel->step == GRAM_DOTS;
	const double bytes = gram_kernel_bytes(kernel);
	const bool held = bytes / (reads ? 1 : 2) <= cost_scalar(r, "gpu.l2.stated");
	const char *l2 = reads ? "gpu.l2.read" : "gpu.l2.copy",
	           *dram = reads ? "gpu.dram.read" : "gpu.dram.copy";

	bound(r, gram_kernel_flops(kernel) / peak(r, MODEL_CUDA, kernel->precision),
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
		bound_kernel(executor_model_reader(e), kernel, out);
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
	lift(e, ok, out);
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
