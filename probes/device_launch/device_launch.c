/* SPDX-License-Identifier: MIT */
/* Question: what does a launch cost that a kernel makes (dynamic parallelism)?
 *
 * Method: kernels launched by a kernel, as its tail, at once and in chains, behind a spinning
 * kernel that holds the stream: the difference of 144 and 16 of them, by stamps in the stream.
 * Beside them kernels that the host launches in the same process.
 *
 * What can fool it: a kernel that did not run (each adds one to a word in device memory, and the
 * sum is checked); the device's runtime, which may slow down all launches of a process that has
 * loaded it (this probe has processes of its own, and the kernels launched by the host tell); lazy
 * loading (everything runs once before).
 *
 * Unit: seconds per kernel. */
#include "device_launch.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

enum { SHORT = CHAIN, LONG = 9 * CHAIN };

struct launches {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream;
	unsigned *word; /* device */
	device_launcher *launcher;
};

static const struct {
	const char *series;
	device_launcher *launcher;
} series[] = {{"tail", device_launch_tail}, {"fire", device_launch_fire},
        {"chain", device_launch_chain}, {"host", device_launch_host}};

/* The host may see the end of a queue so much later than the device: release, stamps, wake-up. */
static const double host_slack = 100e-6;

static bool sample_span(struct launches *l, int count, struct sample *sample)
{
	struct gpu_span span;

	gpu_hold_start(l->hold, l->stream);
	gpu_timer_start(l->timer, l->stream);
	l->launcher(l->word, count, l->stream);
	gpu_timer_stop(l->timer, l->stream);
	const double start = clock_now();
	gpu_hold_release(l->hold);
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize(l->stream));
	const double seconds = clock_now() - start;
	gpu_timer_span(l->timer, &span);
	gpu_span_sample(&span, 1, seconds, host_slack, sample);
	return gpu_hold_ok(l->hold);
}

static bool launch_sample(void *context, struct sample *sample)
{
	struct sample few;

	if (!sample_span(context, SHORT, &few) || !sample_span(context, LONG, sample))
		return false;
	sample->seconds = (sample->seconds - few.seconds) / (LONG - SHORT);
	sample->agreed = sample->agreed && few.agreed;
	return true;
}

static unsigned count_of(const struct launches *l)
{
	unsigned ran = 0;

	GPU(cudaMemcpy(&ran, l->word, sizeof ran, cudaMemcpyDeviceToHost));
	return ran;
}

/* Runs them once, to load code. False: a build without code for the device, or no memory for the
 * device's runtime. */
static bool run_once(const struct launches *l, device_launcher *launcher)
{
	const unsigned before = count_of(l);

	launcher(l->word, LONG, l->stream);
	const cudaError_t error = cudaGetLastError();
	GPU(cudaStreamSynchronize(l->stream));
	return error == cudaSuccess && count_of(l) - before == LONG;
}

static void measure_series(struct probe_run *run, struct launches *l, const char *name)
{
	const struct sample_plan plan = sample_plan_default(run->seconds / ARRAY_LEN(series));
	const unsigned before = count_of(l);

	probe_measure(run, name, NULL, 0, launch_sample, l, &plan, l->gpu.max_hz);
	if ((count_of(l) - before) % (LONG + SHORT) != 0)
		msg_die(EXIT_MEASURE_FAILED, "%s: not all kernels ran: no result kept", name);
}

static void set_up(struct launches *l)
{
	l->timer = gpu_timer_new(&l->gpu);
	l->hold = gpu_hold_new();
	GPU(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&l->word, sizeof *l->word));
	GPU(cudaMemset(l->word, 0, sizeof *l->word));
	gpu_timer_start(l->timer, l->stream);
	gpu_timer_stop(l->timer, l->stream);
	GPU(cudaDeviceSynchronize());
}

/* Allocations live as long as the process, which measures once and ends. */
static void measure(struct probe_run *run)
{
	struct launches l = {0};

	probe_open_gpu(run, &l.gpu);
	gpu_warm(&l.gpu, run->warm_seconds);
	set_up(&l);
	for (size_t i = 0; i < ARRAY_LEN(series); i++) {
		l.launcher = series[i].launcher;
		if (run_once(&l, l.launcher)) {
			measure_series(run, &l, series[i].series);
			continue;
		}
		char *key = xasprintf("unavailable.%s", series[i].series);
		table_meta_set(run->curve, key, "kernels do not launch kernels here");
		free(key);
	}
	probe_watch_gpu(run, &l.gpu);
}

const struct probe device_launch_probe = {
        .name = "device_launch",
        .question = "What does a launch cost that a kernel makes?",
        .needs_gpu = true,
        .alone = true, /* the device's runtime may slow down other launches */
        .seconds = 0.2,
        .processes = 3,
        .measure = measure,
        .fit = device_launch_fit,
};
