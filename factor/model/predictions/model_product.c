/* SPDX-License-Identifier: MIT */
#include "model_product.h"

#include "model_question.h"

static bool run_product(struct executor *e, const void *context)
{
	const struct product *product = context;
	const struct product_data shapes = product_shapes(product);

	return product_run(e, product, &shapes, product->calls);
}

static void bound(const struct asking *asking, struct prediction *out)
{
	const struct product *product = asking->question.context;
	struct cost_reader *r = executor_model_reader(asking->question.executor);
	const double bytes = product_bytes(product);
	const bool in_l2 = bytes <= cost_scalar(r, "gpu.l2.stated");

	prediction_bound(asking,
	        product_flops(product) / prediction_peak(asking, product->precision),
	        bytes / cost_scalar(r, in_l2 ? "gpu.l2.read" : "gpu.dram.read"), out);
}

bool model_product_predict(const struct profile *profile, const struct product *product, int level,
        struct prediction *out)
{
	return prediction_make(&(struct asking){{executor_model_new(profile, MODEL_CUDA, level),
	                                                run_product, product},
	                               level, true, true, (double)product->calls, NULL, bound,
	                               ": run fathom probe"},
	        out);
}
