/* SPDX-License-Identifier: MIT */
#include "model_product.h"

#include "lib/base/msg.h"
#include "model_question.h"

#include <math.h>

static bool run_product(struct executor *e, const void *context)
{
	const struct product *product = context;
	const struct product_data shapes = product_shapes(product);

	return product_run(e, product, &shapes, product->calls);
}

static void predict_bound(struct executor *e, const struct product *product, struct prediction *out)
{
	struct cost_reader *r = executor_model_reader(e);
	const double bytes = product_bytes(product);
	const bool in_l2 = bytes <= cost_scalar(r, "gpu.l2.stated");
	const double moved = bytes / cost_scalar(r, in_l2 ? "gpu.l2.read" : "gpu.dram.read");
	const double computed = product_flops(product) /
	                        cost_scalar(r, product->precision == SINGLE ? "gpu.gemm.s.peak"
	                                                                     : "gpu.gemm.d.peak");
	const enum term limiter = computed > moved ? TERM_ARITHMETIC : TERM_MEMORY;

	out->seconds = out->low = out->high = fmax(computed, moved);
	out->parts = (struct model_result){.seconds = out->seconds, .limiter = limiter};
	out->parts.term[limiter] = out->seconds;
	out->model = r->model;
}

/* Of one call. */
static void predict_run(const struct question *q, double calls, struct prediction *out)
{
	out->seconds = question_seconds(q, false, &out->parts);
	out->model = executor_model_reader(q->executor)->model;
	if (isnan(out->seconds))
		return;
	question_interval(q, out);
	out->seconds /= calls;
	out->low /= calls;
	out->high /= calls;
}

bool model_product_predict(const struct profile *profile, const struct product *product, int level,
        struct prediction *out)
{
	struct question q = {executor_model_new(profile, MODEL_CUDA, level), run_product, product};

	*out = (struct prediction){0};
	if (level == 0)
		predict_bound(q.executor, product, out);
	else
		predict_run(&q, (double)product->calls, out);
	bool ok = isfinite(out->seconds);
	if (!ok) {
		out->seconds = out->low = out->high = out->parts.seconds = NAN;
		out->fault = executor_model_fault(q.executor);
	}
	executor_free(q.executor);
	return ok;
}
