/* SPDX-License-Identifier: MIT */
/* What the probes of cuBLAS rates share: library and stream, and the sampling of one call. Calls
 * follow each other in one stream behind a hold, so that the host is not waited for, between
 * stamps of both clocks; what two stamps cost with nothing between them is subtracted. */
#ifndef FATHOM_PROBE_BLAS_RATE_H
#define FATHOM_PROBE_BLAS_RATE_H

#include "lib/base/base.h"
#include "lib/host/clock.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>

enum { BLAS_RATE_WORKSPACE = 64 << 20, BLAS_RATE_MOST_CALLS = 64 };

struct blas_rate {
	struct probe_run *run;
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream;
	cublasHandle_t blas;
	void *workspace;
	double hz;    /* the SM clock with little load, after the start or a rest */
	double empty; /* seconds between two stamps with nothing between */
	double span;  /* seconds of a sample of short calls */
	double end;   /* clock_now() when no further point is begun */
	double limit; /* the longest call taken, seconds */
	size_t dropped;
};

/* Puts one call into rate->stream. */
struct blas_call {
	struct blas_rate *rate;
	void (*put)(void *context);
	void *context;
	int count; /* in a sample */
	bool held; /* long calls need no hold: the host is far ahead */
};

static inline void blas_check(cublasStatus_t status, const char *call)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, cublasGetStatusString(status));
}
#define BLAS(call) blas_check(call, #call)

static inline bool blas_call_sample(void *context, struct sample *sample)
{
	/* the hold notices its release, the stamps run, the host wakes */
	static const double slack = 100e-6;
	const struct blas_call *call = context;
	const struct blas_rate *rate = call->rate;
	struct gpu_span span;
	if (call->held)
		gpu_hold_start(rate->hold, rate->stream);
	double start = clock_now();
	gpu_timer_start(rate->timer, rate->stream);
	for (int i = 0; i < call->count; i++)
		call->put(call->context);
	gpu_timer_stop(rate->timer, rate->stream);
	if (call->held)
		start = clock_now();
	gpu_hold_release(rate->hold);
	GPU(cudaStreamSynchronize(rate->stream));
	const double host_seconds = clock_now() - start;
	if (call->held && !gpu_hold_ok(rate->hold)) {
		msg_warn("a held stream ran out of time");
		return false;
	}
	gpu_timer_span(rate->timer, &span);
	gpu_span_sample(&span, 1, host_seconds, slack, sample);
	if (call->count > 0)
		sample->seconds = (sample->seconds - rate->empty) / call->count;
	return true;
}

static inline void blas_put_nothing(void *context)
{
	(void)context;
}

static inline void blas_rate_open(struct blas_rate *rate, struct probe_run *run)
{
	const double begun = clock_now();
	struct fault fault;
	*rate = (struct blas_rate){.run = run, .span = run->common.quick ? 50e-6 : 60e-6};
	if (!gpu_open(&rate->gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &rate->gpu);
	GPU(cudaStreamCreateWithFlags(&rate->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc(&rate->workspace, BLAS_RATE_WORKSPACE));
	BLAS(cublasCreate(&rate->blas));
	BLAS(cublasSetStream(rate->blas, rate->stream));
	BLAS(cublasSetWorkspace(rate->blas, rate->workspace, BLAS_RATE_WORKSPACE));
	BLAS(cublasSetPointerMode(rate->blas, CUBLAS_POINTER_MODE_HOST));
	rate->timer = gpu_timer_new(&rate->gpu);
	rate->hold = gpu_hold_new();
	msg_note("cuBLAS is there after %.2f s", clock_now() - begun);
	rate->hz = gpu_warm(&rate->gpu, run->warm_seconds);
	/* a slow device leaves points out rather than overrun its time by much */
	rate->end = clock_now() + 1.5 * fmax(run->seconds, 0.5);
	rate->limit = 0.08 * fmax(run->seconds, 0.5);

	struct blas_call nothing = {.rate = rate, .put = blas_put_nothing, .held = true};
	const struct sample_plan plan = {
	        .max_seconds = 0.1, .min_samples = 15, .max_samples = 31, .target = 0.05};
	struct measurement stamps;
	if (!sample_run(blas_call_sample, &nothing, &plan, 0, &stamps) ||
	        stamps.seconds.samples == 0)
		msg_die(EXIT_MEASURE_FAILED, "the stamps could not be measured");
	rate->empty = stamps.seconds.value;
}

/* Waits until the clock that large products lowered is back, or, after a whole rest in vain, where
 * it was then (H100: three of them, 3 s of a process); that time is not the sweep's. */
static inline void blas_rate_rest(struct blas_rate *rate)
{
	const double begun = clock_now();
	rate->hz = gpu_rest(&rate->gpu, rate->hz);
	rate->end += clock_now() - begun;
	msg_note("rested for %.2f s", clock_now() - begun);
}

static inline void blas_rate_close(struct blas_rate *rate)
{
	probe_watch_gpu(rate->run, &rate->gpu);
	if (rate->dropped > 0)
		msg_warn("%zu calls were left out: this device is too slow for them in this time",
		        rate->dropped);
	BLAS(cublasDestroy(rate->blas));
	GPU(cudaFree(rate->workspace));
	gpu_timer_free(rate->timer);
	gpu_hold_free(rate->hold);
	GPU(cudaStreamDestroy(rate->stream));
}

/* Three samples, so that the median clock is one of them; of long calls fewer. */
static const struct sample_plan blas_rate_plan = {
        .max_seconds = 2.5e-3, .min_samples = 3, .max_samples = 3};

/* The first call loads code, which must not happen behind a hold; a second one tells how many make
 * a sample, unless one is known to be long enough. Returns the call's seconds. */
static inline double blas_rate_pilot(struct blas_call *call, double expected)
{
	struct sample sample = {0};
	call->put(call->context);
	GPU(cudaStreamSynchronize(call->rate->stream));
	call->count = 1;
	if (expected >= call->rate->span)
		return expected;
	call->held = true;
	if (!blas_call_sample(call, &sample))
		msg_die(EXIT_MEASURE_FAILED, "no call could be timed");
	const double seconds = fmax(sample.seconds, 1e-7);
	call->count = (int)fmin(ceil(call->rate->span / seconds), BLAS_RATE_MOST_CALLS);
	return seconds;
}

/* The clock may still be very low from calls that needed more power: such a point waits until it is
 * back and is measured again. Long calls lower it themselves. */
static inline bool blas_rate_sample(struct blas_call *call, struct measurement *measurement)
{
	static const double low = 0.76;
	if (!sample_run(blas_call_sample, call, &blas_rate_plan, 0, measurement))
		return false;
	if (!call->held || !(measurement->hz < low * call->rate->hz))
		return true;
	blas_rate_rest(call->rate);
	return sample_run(blas_call_sample, call, &blas_rate_plan, 0, measurement);
}

/* Samples one call that should take `expected` seconds at least (0: unknown) and records it.
 * Returns the seconds measured, NaN when it was left out. */
static inline double blas_rate_measure(struct blas_rate *rate, void (*put)(void *), void *context,
        double expected, const char *series, const struct arg *args, size_t arg_count)
{
	struct blas_call call = {.rate = rate, .put = put, .context = context, .count = 1};
	struct measurement measurement;
	if (!probe_wants(rate->run, series, args, arg_count))
		return NAN;
	if (expected > rate->limit || clock_now() > rate->end) {
		rate->dropped++;
		return NAN;
	}
	/* the longest are not repeated: loading code is nothing beside them */
	const double seconds = expected > 30e-3 ? expected : blas_rate_pilot(&call, expected);
	call.held = seconds < 5e-3;
	if (!blas_rate_sample(&call, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	probe_record(rate->run, series, args, arg_count, &measurement);
	return measurement.seconds.value;
}

#endif
