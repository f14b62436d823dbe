/* SPDX-License-Identifier: MIT */
/* Panels beside products: what a panel costs from start to start while blocks of an update take
 * every place that it leaves. A part of that is its wait for blocks that end. */
#include "block_kernel_parts.h"

#include "../lib/gemm.h"

enum { ORDER = 4096, DEPTH = 64, FEWEST_CALLS = 4, MOST_CALLS = 64, MOST_PRODUCTS = 400 };

/* Of the calls of a sample: they meet the blocks of some twenty products at any moment. */
static const double span_seconds = 1.5e-3;
/* Of the products, in lengths of the calls: samples of slow calls must be covered, too. */
static const double cover = 2.5;

struct beside_call {
	struct beside *beside;
	struct blas_rate *rate;
	void (*put)(void *context);
	void *context;
	int calls, products; /* in a sample */
};

static void put_product(const struct beside *x)
{
	const struct gemm_problem problem = {.precision = SINGLE,
	        .part = GEMM_WHOLE,
	        .m = ORDER,
	        .n = ORDER,
	        .k = DEPTH,
	        .lda = ORDER,
	        .ldb = DEPTH,
	        .ldc = ORDER};
	struct gemm_plan plan = gemm_plan_make(&problem, x->sm_count, false);
	plan.shared = true;
	GPU(gemm_launch(&problem, &plan, -1e-3, x->a, x->b, 1, x->c, NULL, x->low));
}

/* All are put behind a hold. What the products did not cover does not count. */
static bool beside_sample(void *context, struct sample *sample)
{
	const struct beside_call *call = context;
	const struct beside *x = call->beside;
	const struct blas_rate *rate = call->rate;
	struct gpu_span span;
	gpu_hold_start(rate->hold, x->low);
	put_product(x);
	GPU(cudaEventRecord(x->going, x->low));
	for (int i = 1; i < call->products; i++)
		put_product(x);
	GPU(cudaEventRecord(x->over, x->low));
	GPU(cudaStreamWaitEvent(x->high, x->going, 0));
	gpu_timer_start(rate->timer, x->high);
	for (int i = 0; i < call->calls; i++)
		call->put(call->context);
	gpu_timer_stop(rate->timer, x->high);
	gpu_hold_release(rate->hold);
	GPU(cudaStreamSynchronize(x->high));
	const bool covered = cudaEventQuery(x->over) == cudaErrorNotReady;
	cudaGetLastError(); /* not ready is an answer here, not an error */
	GPU(cudaStreamSynchronize(x->low));
	gpu_timer_span(rate->timer, &span);
	gpu_span_sample(&span, 1, 0, 0, sample);
	sample->seconds = (sample->seconds - rate->empty) / call->calls;
	sample->agreed = sample->agreed && covered;
	return gpu_hold_ok(rate->hold);
}

static void cover_calls(struct beside_call *call, double seconds)
{
	const double products = ceil(cover * seconds / call->beside->product_seconds);
	call->products = 2 + (int)fmin(products, MOST_PRODUCTS);
}

void beside_measure(struct beside *x, struct blas_rate *rate, void (*put)(void *), void *context,
        const char *series, const struct arg *args, size_t arg_count)
{
	struct beside_call call = {x, rate, put, context, FEWEST_CALLS, 0};
	const struct sample_plan plan = {.max_seconds = 0.1, .min_samples = 5, .max_samples = 5};
	struct measurement measurement;
	struct sample pilot = {0};
	if (clock_now() > rate->end) {
		rate->dropped++;
		return;
	}
	put(context); /* loads code, which must not happen behind a hold */
	GPU(cudaStreamSynchronize(x->high));
	cover_calls(&call, 4e-3);
	bool good = beside_sample(&call, &pilot);
	call.calls = (int)fmin(fmax(span_seconds / pilot.seconds, FEWEST_CALLS), MOST_CALLS);
	cover_calls(&call, call.calls * pilot.seconds);
	good = good && sample_run(beside_sample, &call, &plan, 0, &measurement);
	if (!good)
		msg_warn("%s could not be measured beside products", series);
	else
		probe_record(rate->run, series, args, arg_count, &measurement);
}

/* Seconds of one product. */
static double product_seconds(struct beside *x, struct blas_rate *rate)
{
	struct gpu_span span;
	struct sample sample;
	for (int i = 0; i < 2; i++) { /* the first one loads code */
		gpu_timer_start(rate->timer, x->low);
		put_product(x);
		gpu_timer_stop(rate->timer, x->low);
		GPU(cudaStreamSynchronize(x->low));
	}
	gpu_timer_span(rate->timer, &span);
	gpu_span_sample(&span, 1, 0, 0, &sample);
	return fmax(sample.seconds - rate->empty, 1e-6);
}

void beside_open(struct beside *x, struct blas_rate *rate)
{
	int least = 0, greatest = 0;
	*x = (struct beside){.sm_count = rate->gpu.sm_count};
	GPU(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	GPU(cudaStreamCreateWithPriority(&x->low, cudaStreamNonBlocking, least));
	GPU(cudaStreamCreateWithPriority(&x->high, cudaStreamNonBlocking, greatest));
	GPU(cudaEventCreateWithFlags(&x->going, cudaEventDisableTiming));
	GPU(cudaEventCreateWithFlags(&x->over, cudaEventDisableTiming));
	GPU(cudaMalloc((void **)&x->a, sizeof *x->a * ORDER * DEPTH));
	GPU(cudaMalloc((void **)&x->b, sizeof *x->b * ORDER * DEPTH));
	GPU(cudaMalloc((void **)&x->c, sizeof *x->c * ORDER * ORDER));
	const uint64_t seed = (uint64_t)rate->run->common.seed;
	gpu_fill_float(x->a, ORDER * DEPTH, seed, x->low);
	gpu_fill_float(x->b, ORDER * DEPTH, seed + 1, x->low);
	gpu_fill_float(x->c, ORDER * ORDER, seed + 2, x->low);
	x->product_seconds = product_seconds(x, rate);
}

void beside_close(struct beside *x)
{
	float *const pieces[] = {x->a, x->b, x->c};
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		GPU(cudaFree(pieces[i]));
	GPU(cudaEventDestroy(x->going));
	GPU(cudaEventDestroy(x->over));
	GPU(cudaStreamDestroy(x->low));
	GPU(cudaStreamDestroy(x->high));
}
