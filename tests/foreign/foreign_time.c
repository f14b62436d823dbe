/* SPDX-License-Identifier: MIT */
#include "foreign_time.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "lib/host/sample.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

/* Runs of a sample: as many as fill its time, so that a start is nothing beside them. */
enum { MOST_RUNS = 64 };
static const double sample_seconds = 4e-3;

static const struct sample_plan plan = {
        .max_seconds = 1, .min_samples = 15, .max_samples = 101, .target = 0.002};

/* ---- stream, memory ---- */

void foreign_open(struct foreign_run *run, const struct gpu *gpu)
{
	cudaStream_t stream;

	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	*run = (struct foreign_run){
	        .stream = stream, .timer = gpu_timer_new(gpu), .hold = gpu_hold_new()};
}

void foreign_close(struct foreign_run *run)
{
	gpu_timer_free(run->timer);
	gpu_hold_free(run->hold);
	GPU(cudaStreamDestroy(run->stream));
}

void foreign_load(struct foreign_run *run, const struct foreign_kernel *kernel, uint64_t seed)
{
	run->kernel = kernel;
	for (size_t i = 0; i < FOREIGN_PIECES; i++) {
		run->piece[i] = NULL;
		if (kernel->bytes[i] == 0)
			continue;
		GPU(cudaMalloc(&run->piece[i], kernel->bytes[i]));
		/* NaN, and no sum, rank or count */
		GPU(cudaMemsetAsync(run->piece[i], 0xff, kernel->bytes[i], run->stream));
	}
	kernel->fill(run->piece, seed, run->stream);
	GPU(cudaStreamSynchronize(run->stream));
}

void foreign_unload(struct foreign_run *run)
{
	for (size_t i = 0; i < FOREIGN_PIECES; i++)
		GPU(cudaFree(run->piece[i]));
}

/* ---- runs ---- */

static void start(void *context)
{
	struct foreign_run *run = context;

	GPU(run->kernel->run(run->piece, run->stream));
}

bool foreign_fits(struct foreign_run *run)
{
	const int error = run->kernel->run(run->piece, run->stream);

	if (error == cudaErrorCooperativeLaunchTooLarge) {
		cudaGetLastError(); /* forgotten */
		return false;
	}
	GPU(error);
	GPU(cudaStreamSynchronize(run->stream));
	return true;
}

bool foreign_is_correct(struct foreign_run *run)
{
	const struct foreign_kernel *kernel = run->kernel;
	void *host[FOREIGN_PIECES] = {NULL};

	start(run);
	GPU(cudaStreamSynchronize(run->stream));
	for (size_t i = 0; i < FOREIGN_PIECES; i++) {
		host[i] = xmalloc(kernel->bytes[i] + 1);
		if (kernel->bytes[i] > 0)
			GPU(cudaMemcpy(
			        host[i], run->piece[i], kernel->bytes[i], cudaMemcpyDeviceToHost));
	}
	const bool correct = kernel->check(host);
	for (size_t i = 0; i < FOREIGN_PIECES; i++)
		free(host[i]);
	return correct;
}

void foreign_profile(struct foreign_run *run)
{
	gpu_profile(start, run, run->stream);
}

struct burst {
	struct foreign_run *run;
	int runs;
};

/* All runs are in the queue before the first one starts. */
static bool take(void *context, struct sample *sample)
{
	static const double slack = 100e-6;
	const struct burst *burst = context;
	struct foreign_run *run = burst->run;
	struct gpu_span span;

	gpu_hold_start(run->hold, run->stream);
	gpu_timer_start(run->timer, run->stream);
	for (int i = 0; i < burst->runs; i++)
		start(run);
	gpu_timer_stop(run->timer, run->stream);
	const double begun = clock_now();
	gpu_hold_release(run->hold);
	GPU(cudaStreamSynchronize(run->stream));
	const double host_seconds = clock_now() - begun;
	if (!gpu_hold_ok(run->hold))
		return false;
	gpu_timer_span(run->timer, &span);
	gpu_span_sample(&span, 1, host_seconds, slack, sample);
	if (burst->runs > 0)
		sample->seconds = (sample->seconds - run->empty) / burst->runs;
	return true;
}

static struct estimate seconds_of(struct foreign_run *run, int runs)
{
	struct burst burst = {run, runs};
	struct measurement measurement;

	if (!sample_run(take, &burst, &plan, 0, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "a held stream ran out of time");
	return measurement.seconds;
}

struct estimate foreign_seconds(struct foreign_run *run)
{
	struct burst one = {run, 1};
	struct sample pilot = {0};

	if (!(run->empty > 0))
		run->empty = seconds_of(run, 0).value;
	if (!take(&one, &pilot) || !(pilot.seconds > 0))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be timed", run->kernel->name);
	return seconds_of(run, (int)fmin(MOST_RUNS, fmax(1, ceil(sample_seconds / pilot.seconds))));
}
