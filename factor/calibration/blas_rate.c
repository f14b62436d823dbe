/* SPDX-License-Identifier: MIT */
#include "blas_rate.h"

#include "lib/probe/probe_point.h"

#include <stdlib.h>

enum { WORKSPACE_BYTES = 64 << 20, MOST_CALLS = 64 };

/* Calls timed together. */
struct blas_call {
	struct blas_rate *rate;
	void (*put)(void *context);
	void *context;
	int count; /* in a sample */
	bool held; /* long calls need no hold: the host is far ahead */
};

static bool sample_call(void *context, struct sample *sample)
{
	/* the hold notices its release, the stamps run, the host wakes */
	static const double slack = 100e-6;
	const struct blas_call *call = context;
	const struct blas_rate *rate = call->rate;
	struct gpu_span span;
	if (rate->refresh) {
		rate->refresh(call->context);
		/* else the hold's release would wait for it, which the host's time must not */
		GPU(cudaStreamSynchronize(rate->stream));
	}
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

bool blas_rate_sample(struct blas_rate *rate, void (*put)(void *), void *context, int count,
        struct sample *sample)
{
	struct blas_call call = {.rate = rate, .put = put, .context = context, .count = count};

	*sample = (struct sample){0};
	return sample_call(&call, sample);
}

static void put_nothing(void *context)
{
	(void)context;
}

void blas_rate_open(struct blas_rate *rate, struct probe_run *run)
{
	const double begun = clock_now();
	*rate = (struct blas_rate){.run = run, .span = run->common.quick ? 50e-6 : 60e-6};
	probe_open_gpu(run, &rate->gpu);
	rate->tuning = tuning_for(tuning_device_of(&rate->gpu));
	GPU(cudaStreamCreateWithFlags(&rate->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc(&rate->workspace, WORKSPACE_BYTES));
	BLAS(cublasCreate(&rate->blas));
	BLAS(cublasSetStream(rate->blas, rate->stream));
	BLAS(cublasSetSmCountTarget(rate->blas, gpu_blas_sms(&rate->gpu, 0)));
	BLAS(cublasSetWorkspace(rate->blas, rate->workspace, WORKSPACE_BYTES));
	BLAS(cublasSetPointerMode(rate->blas, CUBLAS_POINTER_MODE_HOST));
	rate->timer = gpu_timer_new(&rate->gpu);
	rate->hold = gpu_hold_new();
	msg_note("cuBLAS is there after %.2f s", clock_now() - begun);
	rate->hz = gpu_warm(&rate->gpu, run->warm_seconds);
	/* a slow device leaves points out rather than overrun its time by much */
	rate->end = clock_now() + 1.5 * fmax(run->seconds, 0.5);
	rate->limit = 0.08 * fmax(run->seconds, 0.5);

	if (run->profiled)
		return; /* nothing is timed, and a profiler may let no hold wait */
	struct blas_call nothing = {.rate = rate, .put = put_nothing, .held = true};
	const struct sample_plan plan = {
	        .max_seconds = 0.1, .min_samples = 15, .max_samples = 31, .target = 0.05};
	struct measurement stamps;
	if (!sample_run(sample_call, &nothing, &plan, 0, &stamps) || stamps.seconds.samples == 0)
		msg_die(EXIT_MEASURE_FAILED, "the stamps could not be measured");
	rate->empty = stamps.seconds.value;
}

void blas_rate_rest(struct blas_rate *rate)
{
	const double begun = clock_now();
	rate->hz = gpu_rest(&rate->gpu, rate->hz);
	rate->end += clock_now() - begun;
	msg_note("rested for %.2f s", clock_now() - begun);
}

void blas_rate_close(struct blas_rate *rate)
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

/* Three samples: the median clock is one of them. Of long calls fewer. */
static const struct sample_plan point_plan = {
        .max_seconds = 2.5e-3, .min_samples = 3, .max_samples = 3};

/* The first call loads code, which must not happen behind a hold. The second one tells how many
 * calls make a sample, unless one is known to be long enough. Returns the call's seconds. */
static double pilot(struct blas_call *call, double expected)
{
	struct sample sample = {0};
	call->put(call->context);
	GPU(cudaStreamSynchronize(call->rate->stream));
	call->count = 1;
	if (expected >= call->rate->span)
		return expected;
	call->held = true;
	if (!sample_call(call, &sample))
		msg_die(EXIT_MEASURE_FAILED, "no call could be timed");
	const double seconds = fmax(sample.seconds, 1e-7);
	call->count = (int)fmin(ceil(call->rate->span / seconds), MOST_CALLS);
	return seconds;
}

/* Calls that need much power lower the clock for a while. A point that finds it very low waits
 * until it has risen and is measured again. Long calls lower it themselves. */
static bool sample_point(struct blas_call *call, struct measurement *measurement)
{
	static const double low = 0.76;
	if (!sample_run(sample_call, call, &point_plan, 0, measurement))
		return false;
	if (!call->held || !(measurement->hz < low * call->rate->hz))
		return true;
	blas_rate_rest(call->rate);
	return sample_run(sample_call, call, &point_plan, 0, measurement);
}

/* The longest calls are not repeated: loading code is nothing beside them. */
static bool measure_call(struct blas_call *call, double expected, struct measurement *measurement)
{
	const double seconds = expected > 30e-3 ? expected : pilot(call, expected);
	call->held = seconds < 5e-3;
	return sample_point(call, measurement);
}

double blas_rate_measure(struct blas_rate *rate, void (*put)(void *), void *context,
        double expected, const char *series, const struct arg *args, size_t arg_count)
{
	struct blas_call call = {.rate = rate, .put = put, .context = context, .count = 1};
	struct measurement measurement;
	if (!probe_wants(rate->run, series, args, arg_count))
		return NAN;
	probe_profile(rate->run, put, context, rate->stream);
	if (expected > rate->limit || clock_now() > rate->end) {
		rate->dropped++;
		return NAN;
	}
	if (!measure_call(&call, expected, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	probe_record(rate->run, series, args, arg_count, &measurement);
	return measurement.seconds.value;
}

double blas_rate_in_row(struct blas_rate *rate, void (*put)(void *), void *context)
{
	struct blas_call call = {.rate = rate, .put = put, .context = context, .count = 1};
	struct measurement measurement;
	if (!measure_call(&call, 0, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "no call could be timed");
	return measurement.seconds.value;
}

bool blas_rate_wants(const struct blas_rate *rate, const char *kind, enum precision precision,
        const struct arg *args, size_t arg_count)
{
	char *series = xasprintf("%s_%c", kind, precision);
	const bool wants = probe_wants(rate->run, series, args, arg_count);

	free(series);
	return wants;
}

double blas_rate_point(struct blas_rate *rate, void (*put)(void *), void *context, const char *kind,
        enum precision precision, const struct arg *args, size_t arg_count)
{
	char *series = xasprintf("%s_%c", kind, precision);
	const double seconds = blas_rate_measure(rate, put, context, 0, series, args, arg_count);

	free(series);
	return seconds;
}

/* ---- memory ---- */

int64_t blas_rate_memory(int64_t wanted, int64_t least)
{
	size_t unused, total;
	int64_t bytes = wanted;

	GPU(cudaMemGetInfo(&unused, &total));
	while (bytes > (int64_t)(unused / 2))
		bytes /= 4;
	bytes = max_int64(bytes, least);
	if (bytes > (int64_t)(unused / 2))
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop other programs on the GPU",
		        unused);
	if (bytes < wanted)
		msg_warn("only %zu bytes of GPU memory are free: the largest matrices are left out",
		        unused);
	return bytes;
}

void *blas_rate_room(int64_t bytes)
{
	void *data;

	GPU(cudaMalloc(&data, (size_t)bytes));
	GPU(cudaMemset(data, 0, (size_t)bytes));
	GPU(cudaDeviceSynchronize());
	return data;
}

void blas_rate_release(const struct blas_rate *rate, void *const *pieces, size_t count)
{
	GPU(cudaStreamSynchronize(rate->stream));
	for (size_t i = 0; i < count; i++)
		GPU(cudaFree(pieces[i]));
}

void blas_rate_fill(const struct blas_rate *rate, enum precision precision, void *data,
        int64_t count, uint64_t number)
{
	const uint64_t seed = 8 * (uint64_t)rate->run->common.seed + number;

	if (precision == SINGLE)
		gpu_fill_float(data, count, seed, rate->stream);
	else
		gpu_fill_double(data, count, seed, rate->stream);
}

double *blas_rate_fetch(
        const struct blas_rate *rate, enum precision precision, const void *from, int64_t count)
{
	double *to = xmalloc((size_t)count * sizeof *to);
	float *single = xmalloc((size_t)count * sizeof *single);

	GPU(cudaStreamSynchronize(rate->stream));
	GPU(cudaMemcpy(precision == SINGLE ? (void *)single : to, from,
	        (size_t)(count * precision_bytes(precision)), cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < count && precision == SINGLE; i++)
		to[i] = single[i];
	free(single);
	return to;
}
