/* SPDX-License-Identifier: MIT */
#include "model_gram_schmidt.h"

#include "factor/algorithms/gram_schmidt.h"
#include "model_question.h"

#include <math.h>

static const char needed[] = ", which Gram-Schmidt's cost needs";

/* ---- all columns ---- */

static bool run(struct executor *e, const void *context)
{
	const struct gram_question *q = context;
	struct matrix a = {NULL, 0, q->m, q->n, q->lda ? q->lda : q->m, q->precision};
	int64_t k = q->k ? q->k : q->n;
	struct matrix r = {NULL, 0, k, q->n, k, q->precision};

	return gram_schmidt_first(e, q->form, q->nb, k, a, r, NULL, NULL);
}

static void bound_all(const struct asking *asking, struct prediction *out)
{
	const struct gram_question *q = asking->question.context;
	struct executor *e = asking->question.executor;
	const double m = (double)q->m, n = (double)q->n,
	             word = (double)precision_bytes(q->precision);
	const double rest = q->k ? n - (double)q->k : 0, pairs = n * n - rest * rest;
	struct cost_reader *r = executor_model_reader(e);
	const char *last = e->on_host ? "host.l3.stated" : "gpu.l2.stated";
	const double once = 2 * m * n * word,
	             cache = cost_known(r, last) ? cost_scalar(r, last) : 0;
	/* a matrix that the last cache holds comes from memory once, in any form */
	const double bytes = q->nb > 0 || once / 2 <= cache ? once : m * pairs * word;
	const char *memory = e->on_host ? "host.memory.copy.peak" : "gpu.dram.copy";

	prediction_bound(asking, 2 * m * pairs / prediction_peak(asking, q->precision),
	        bytes / cost_scalar(r, memory), out);
}

bool model_gram_schmidt_predict(const struct profile *profile, enum model_target target,
        const struct gram_question *asked, int level, bool interval, struct prediction *out)
{
	struct executor *e = prediction_executor(
	        profile, target, level, asked->m * asked->n * precision_bytes(asked->precision));

	executor_model_reader(e)->threads = asked->threads;
	return prediction_make(&(struct asking){{e, run, asked}, level, interval, false, 1, NULL,
	                               bound_all, needed},
	        out);
}

/* ---- a kernel ---- */

static bool run_kernel(struct executor *e, const void *context)
{
	const struct gram_kernel *kernel = context;
	const struct gram_kernel_data shapes = gram_kernel_shapes(kernel);

	return gram_kernel_run(e, kernel, &shapes, kernel->calls);
}

static void bound_kernel(const struct asking *asking, struct prediction *out)
{
	const struct gram_kernel *kernel = asking->question.context;
	struct cost_reader *r = executor_model_reader(asking->question.executor);
	const bool reads = kernel->k == 0 && kernel->step == GRAM_DOTS;
	const double bytes = gram_kernel_bytes(kernel);
	const bool held = bytes / (reads ? 1 : 2) <= cost_scalar(r, "gpu.l2.stated");
	const char *l2 = reads ? "gpu.l2.read" : "gpu.l2.copy",
	           *dram = reads ? "gpu.dram.read" : "gpu.dram.copy";

	prediction_bound(asking,
	        gram_kernel_flops(kernel) / prediction_peak(asking, kernel->precision),
	        bytes / cost_scalar(r, held ? l2 : dram), out);
}

bool model_gram_kernel_predict(const struct profile *profile, const struct gram_kernel *kernel,
        int level, struct prediction *out)
{
	return prediction_make(
	        &(struct asking){
	                {executor_model_new(profile, MODEL_CUDA, level), run_kernel, kernel}, level,
	                true, true, (double)kernel->calls, NULL, bound_kernel, needed},
	        out);
}

int64_t model_gram_schmidt_width(
        const struct profile *profile, enum model_target target, const struct gram_question *asked)
{
	enum { WIDEST = 256 };
	const int64_t columns = asked->k ? asked->k : asked->n;
	double least = INFINITY;
	int64_t best = 0;

	for (int64_t nb = GRAM_NARROWEST;
	        nb <= WIDEST && (nb == GRAM_NARROWEST || nb < 2 * columns);
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
