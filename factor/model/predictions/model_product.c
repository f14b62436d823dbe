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

	prediction_bound(e,
	        product_flops(product) / prediction_peak(r, MODEL_CUDA, product->precision), moved,
	        out);
}

/* The prediction of one call of several in a row. */
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
	if (!ok)
		prediction_refuse(q.executor, ": run make probe", out);
	executor_free(q.executor);
	return ok;
}
