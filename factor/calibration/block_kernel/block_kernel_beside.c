/* SPDX-License-Identifier: MIT */
/* Panels beside products: the time that a panel adds to pauses, from start to start, while blocks
 * of an update occupy every place that the panel leaves. The panel's wait for blocks that end is a
 * part of it. Without the pauses a short panel would sometimes find the places of the panel before
 * it still free. */
#include "block_kernel_internal.h"

#include "factor/kernels/gemm/gemm.h"
#include "block_kernel.h"

#include <stdlib.h>

enum { ORDER = 4096, DEPTH = 64, FEWEST_CALLS = 4, MOST_CALLS = 30, MOST_PRODUCTS = 400 };

/* Length of a sample: its calls meet the blocks of many products, at any moment of them. */
static const double span_seconds = 1e-3, quick_span_seconds = 0.25e-3;
/* Length of the products over the expected length of a sample: slow calls must be covered too. */
static const double cover = 1.7;
/* A pause, longer than the shortest lifetime of a product's block. */
static const double shortest_pause = 5e-6, longest_pause = 20e-6;

struct beside_call {
	struct beside *beside;
	struct blas_rate *rate;
	void (*fill)(const struct call *call);
	void (*put)(void *call);
	struct call *call;
	int calls, products; /* in a sample */
};

static void put_double(const struct beside *x)
{
	const double alpha = -1e-3, beta = 1;
	BLAS(cublasDgemm(x->blas, CUBLAS_OP_N, CUBLAS_OP_N, ORDER, ORDER, DEPTH, &alpha, x->a,
	        ORDER, x->b, DEPTH, &beta, x->c, ORDER));
}

static void put_single(const struct beside *x)
{
	const struct gemm_problem problem = {.precision = SINGLE,
	        .part = GEMM_WHOLE,
	        .m = ORDER,
	        .n = ORDER,
	        .k = DEPTH,
	        .lda = ORDER,
	        .ldb = DEPTH,
	        .ldc = ORDER};
	struct gemm_plan plan = gemm_plan_make(&problem, x->tuning, 0);
	plan.shared = true;
	GPU(gemm_launch(&problem, &plan, -1e-3, x->a, x->b, 1, x->c, NULL, x->low));
}

static void put_product(const struct beside *x)
{
	if (x->precision == DOUBLE)
		put_double(x);
	else
		put_single(x);
}

/* Pauses, each before a call or alone, and one behind all. Their lengths are spread by steps of the
 * golden section. The pauses give the time: there is no place for a stamp on every multiprocessor.
 */
static void put_chain(const struct beside_call *b, struct gpu_span *span, bool calls)
{
	const cudaStream_t stream = b->beside->high;
	double phase = 0;
	for (int i = 0; i <= b->calls; i++) {
		const double pause = shortest_pause + (longest_pause - shortest_pause) * phase;
		GPU(block_kernel_pause((int64_t)(pause * b->rate->hz), &span[i], stream));
		if (calls && i < b->calls)
			b->put(b->call);
		phase = fmod(phase + 0.6180339887498949, 1);
	}
}

/* From the first pause's start to the last one's; adds up cycles and nanoseconds of all. */
static double chain_seconds(
        const struct beside_call *b, const struct gpu_span *span, double *cycles, double *ns)
{
	for (int i = 0; i <= b->calls; i++) {
		*cycles += (double)(span[i].cycles1 - span[i].cycles0);
		*ns += (double)(span[i].ns1 - span[i].ns0);
	}
	return 1e-9 * ((double)span[b->calls].ns0 - (double)span[0].ns0);
}

static void put_products(const struct beside_call *b)
{
	const struct beside *x = b->beside;
	put_product(x);
	GPU(cudaEventRecord(x->going, x->low));
	for (int i = 1; i < b->products; i++)
		put_product(x);
	GPU(cudaEventRecord(x->over, x->low));
}

/* All work is put behind a hold. A sample that the products did not cover does not count. */
static bool beside_sample(void *context, struct sample *sample)
{
	const struct beside_call *b = context;
	const struct beside *x = b->beside;
	const struct blas_rate *rate = b->rate;
	double cycles = 0, ns = 0;
	b->fill(b->call);
	GPU(cudaStreamSynchronize(x->high));
	gpu_hold_start(rate->hold, x->low);
	put_products(b);
	GPU(cudaStreamWaitEvent(x->high, x->going, 0));
	put_chain(b, x->with, true);
	put_chain(b, x->without, false);
	gpu_hold_release(rate->hold);
	GPU(cudaStreamSynchronize(x->high));
	const bool covered = cudaEventQuery(x->over) == cudaErrorNotReady;
	cudaGetLastError(); /* not ready is an answer here, not an error */
	GPU(cudaStreamSynchronize(x->low));
	const double with = chain_seconds(b, x->with, &cycles, &ns);
	const double without = chain_seconds(b, x->without, &cycles, &ns);
	*sample = (struct sample){.seconds = (with - without) / b->calls,
	        .hz = ns > 0 ? 1e9 * cycles / ns : 0,
	        .agreed = covered && with > without && without > 0,
	        .span = 1e-9 * ns};
	return gpu_hold_ok(rate->hold);
}

/* Calls of a sample, and products that cover them, when a call takes `seconds`. */
static void size_sample(struct beside_call *b, int calls, double seconds)
{
	const double pause = 0.5 * (shortest_pause + longest_pause), each = seconds + 2 * pause;
	const double span = b->rate->run->common.quick ? quick_span_seconds : span_seconds;
	b->calls = calls > 0 ? calls : (int)fmax(span / each, FEWEST_CALLS);
	b->calls = b->calls < MOST_CALLS ? b->calls : MOST_CALLS;
	const double products = cover * b->calls * each / b->beside->product_seconds;
	b->products = 4 + (int)fmin(products, MOST_PRODUCTS);
}

/* A few calls, again with more products while they are not covered: they may take several times as
 * long as alone. The very first call loads code, which must not happen behind a hold. */
static bool beside_pilot(const struct beside_call *call, struct sample *pilot)
{
	static const double slow = 1e-3; /* no call takes this long */
	struct beside_call b = *call;
	double seconds = 0;
	for (int i = 0; i < 2; i++) {
		b.fill(b.call);
		GPU(cudaStreamSynchronize(b.beside->high));
		const double start = clock_now();
		b.put(b.call);
		GPU(cudaStreamSynchronize(b.beside->high));
		seconds = clock_now() - start;
	}
	do {
		seconds = fmin(2 * seconds, slow);
		size_sample(&b, FEWEST_CALLS, seconds);
		if (!beside_sample(&b, pilot))
			return false;
	} while (!pilot->agreed && seconds < slow);
	return true;
}

static void measure_series(
        struct beside_call *b, const char *series, const struct arg *args, size_t arg_count)
{
	struct blas_rate *rate = b->rate;
	const size_t samples = rate->run->common.quick ? 3 : 7;
	const struct sample_plan plan = {
	        .max_seconds = 0.1, .min_samples = samples, .max_samples = samples};
	struct measurement measurement;
	struct sample pilot = {0};
	if (!probe_wants(rate->run, series, args, arg_count))
		return;
	if (clock_now() > rate->end) {
		rate->dropped++;
		return;
	}
	bool good = beside_pilot(b, &pilot);
	size_sample(b, 0, fmax(pilot.seconds, 1e-6));
	good = good && sample_run(beside_sample, b, &plan, 0, &measurement);
	if (!good)
		msg_warn("%s could not be measured beside products", series);
	else
		probe_record(rate->run, series, args, arg_count, &measurement);
}

void beside_measure(struct beside *x, struct blas_rate *rate, void (*fill)(const struct call *),
        void (*put)(void *), struct call *call, const char *kind, const struct arg *args,
        size_t arg_count)
{
	struct beside_call b = {x, rate, fill, put, call, 0, 0};
	char *series = xasprintf("%s_%c", kind, call->precision);

	measure_series(&b, series, args, arg_count);
	free(series);
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

static void *random_matrix(
        const struct beside *x, const struct blas_rate *rate, int64_t elements, uint64_t number)
{
	void *data = blas_rate_room(elements * precision_bytes(x->precision));

	blas_rate_fill(rate, x->precision, data, elements, number);
	GPU(cudaStreamSynchronize(rate->stream));
	return data;
}

void beside_open(struct beside *x, struct blas_rate *rate, enum precision precision)
{
	int least = 0, greatest = 0;
	*x = (struct beside){.precision = precision, .tuning = &rate->tuning};
	GPU(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	GPU(cudaStreamCreateWithPriority(&x->low, cudaStreamNonBlocking, least));
	GPU(cudaStreamCreateWithPriority(&x->high, cudaStreamNonBlocking, greatest));
	GPU(cudaEventCreateWithFlags(&x->going, cudaEventDisableTiming));
	GPU(cudaEventCreateWithFlags(&x->over, cudaEventDisableTiming));
	BLAS(cublasCreate(&x->blas));
	BLAS(cublasSetStream(x->blas, x->low));
	BLAS(cublasSetSmCountTarget(x->blas, gpu_blas_sms(&rate->gpu, 0)));
	x->a = random_matrix(x, rate, ORDER * DEPTH, 0);
	x->b = random_matrix(x, rate, ORDER * DEPTH, 1);
	x->c = random_matrix(x, rate, ORDER * ORDER, 2);
	GPU(cudaMallocHost((void **)&x->with, 2 * (MOST_CALLS + 1) * sizeof *x->with));
	x->without = x->with + MOST_CALLS + 1;
	GPU(block_kernel_pause(1, x->with, x->high)); /* loads its code */
	x->product_seconds = product_seconds(x, rate);
}

void beside_close(struct beside *x, const struct blas_rate *rate)
{
	blas_rate_release(rate, (void *const[]){x->a, x->b, x->c}, 3);
	BLAS(cublasDestroy(x->blas));
	GPU(cudaFreeHost(x->with));
	GPU(cudaEventDestroy(x->going));
	GPU(cudaEventDestroy(x->over));
	GPU(cudaStreamDestroy(x->low));
	GPU(cudaStreamDestroy(x->high));
}
