/* SPDX-License-Identifier: MIT */
/* Question: what does starting work on the GPU cost, for the host and for the device?
 *
 * Method: a spinning kernel holds the stream while the host's share is timed. The device's share is
 * the difference of two queue lengths behind that hold, by stamps in the stream. The host times
 * round trips on an idle stream.
 *
 * What can fool it: lazy loading (everything runs once before; the very first launch is a series of
 * its own); a full queue (the queues are short, and the hold times out); a kernel that did not run
 * (each adds one to a word in device memory, and the sum is checked); interference on the core (the
 * thread takes a quiet core, disturbed samples are repeated, and the median of three visits
 * counts); the memory of a stream's queue, which chance gives a process and which decides how soon
 * kernels start (up to ten processes measure it, and the fit takes their midrange; streams made
 * later start kernels later); the place of the word (the quickest of several is taken).
 *
 * Unit: seconds per operation. */
#include "launch_internal.h"

#include "lib/device/driver.h"
#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"
#include "lib/probe/probe_noise.h"
#include "lib/probe/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static cudaGraphExec_t new_chain(struct launch *launch, int length)
{
	cudaGraph_t graph;
	GPU(cudaGraphCreate(&graph, 0));
	void *arguments[] = {&launch->word};
	struct cudaKernelNodeParams kernel = {.func = (void *)(uintptr_t)launch_null_symbol(),
	        .gridDim = {1, 1, 1},
	        .blockDim = {LAUNCH_THREADS, 1, 1},
	        .kernelParams = arguments};
	cudaGraphNode_t last = NULL;
	for (int i = 0; i < length; i++) {
		cudaGraphNode_t node;
		GPU(cudaGraphAddKernelNode(&node, graph, &last, i > 0, &kernel));
		last = node;
	}
	cudaGraphExec_t chain;
	GPU(cudaGraphInstantiateWithFlags(&chain, graph, 0));
	GPU(cudaGraphUpload(chain, launch->stream));
	GPU(cudaGraphDestroy(graph));
	return chain;
}

static void set_up_driver(struct launch *launch)
{
	launch->driver_launch = (PFN_cuLaunchKernel_v4000)driver_function("cuLaunchKernel", 4000);
	if (!launch->driver_launch)
		msg_die(EXIT_MEASURE_FAILED,
		        "the driver has no cuLaunchKernel: install a newer one");
	cudaFunction_t kernel;
	GPU(cudaGetFuncBySymbol(&kernel, launch_null_symbol()));
	launch->driver_kernel = kernel;
}

static void set_up(struct launch *launch, uint64_t seed)
{
	launch->timer = gpu_timer_new(&launch->gpu);
	launch->hold = gpu_hold_new();
	GPU(cudaStreamCreateWithFlags(&launch->other, cudaStreamNonBlocking));
	for (int i = 0; i < 2; i++)
		GPU(cudaEventCreateWithFlags(&launch->event[i], cudaEventDisableTiming));
	GPU(cudaEventCreate(&launch->mark));
	GPU(cudaMalloc(
	        (void **)&launch->nodes, ACCESS_BLOCKS * LAUNCH_THREADS * sizeof *launch->nodes));
	launch_access_start(launch->nodes, ACCESS_BLOCKS, launch->stream);
	GPU(cudaMallocHost((void **)&launch->copied, sizeof *launch->copied));
	GPU(cudaHostAlloc((void **)&launch->flag, sizeof *launch->flag, cudaHostAllocMapped));
	*launch->flag = 0;
	gpu_timer_start(launch->timer, launch->stream);
	gpu_timer_stop(launch->timer, launch->stream);
	set_up_driver(launch);
	launch_choose_word(launch);
	launch->graph = new_chain(launch, 1);
	launch->chain_short = new_chain(launch, SHORT);
	launch->chain_long = new_chain(launch, LONG);
	launch_blas_open(launch, seed);
	launch_finish(launch);
}

static void clean_up(struct launch *launch)
{
	cudaGraphExec_t graph[] = {launch->graph, launch->chain_short, launch->chain_long};
	launch_blas_close(launch);
	for (size_t i = 0; i < ARRAY_LEN(graph); i++)
		GPU(cudaGraphExecDestroy(graph[i]));
	for (int i = 0; i < 2; i++)
		GPU(cudaEventDestroy(launch->event[i]));
	GPU(cudaStreamDestroy(launch->other));
	GPU(cudaStreamDestroy(launch->stream));
	GPU(cudaFree(launch->nodes));
	GPU(cudaFree(launch->words));
	GPU(cudaFreeHost(launch->copied));
	GPU(cudaFreeHost((void *)(uintptr_t)launch->flag));
	gpu_hold_free(launch->hold);
	gpu_timer_free(launch->timer);
}

/* Once per process: the module of launch.cu is not loaded before. */
static void measure_first(struct probe_run *run, struct launch *launch)
{
	const size_t bytes = WORDS * WORDS_APART * sizeof *launch->words;
	GPU(cudaStreamCreateWithFlags(&launch->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&launch->words, bytes));
	GPU(cudaMemset(launch->words, 0, bytes));
	launch->word = launch->words;
	GPU(cudaDeviceSynchronize());
	double start = clock_now();
	launch_one(launch);
	GPU(cudaStreamSynchronize(launch->stream));
	double seconds = clock_now() - start;
	GPU(cudaGetLastError());
	struct measurement first = {.seconds = {seconds, seconds, seconds, 1}, .hz = NAN};
	probe_record(run, "first", NULL, 0, &first);
}

/* Everything that a sample does, without the hold: loading code waits for the device. */
static void run_once(struct launch *launch)
{
	launch_queue(launch, SHORT);
	launch_queue(launch, LONG);
	launch_finish(launch);
}

static bool by_device(const struct subject *subject)
{
	return subject->way == DEVICE_SHARE || subject->way == CHAIN;
}

static void measure_subject(struct probe_run *run, struct launch *launch, struct repeats *repeats,
        const struct subject *subject, double seconds)
{
	launch->subject = subject;
	run_once(launch);
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	if (by_device(subject)) /* a disturbed host does not make the device's time longer */
		sample_run(launch_sample, launch, &plan, launch->gpu.max_hz, &measurement);
	else
		probe_noise_sample(
		        run, launch_sample, launch, &plan, launch->gpu.max_hz, &measurement);
	struct arg argument = {subject->argument_name, subject->argument[0]};
	repeats_add(
	        repeats, subject->series, &argument, subject->argument_name != NULL, &measurement);
}

static void check_count(const struct launch *launch)
{
	unsigned ran = 0;
	GPU(cudaMemcpy(&ran, launch->word, sizeof ran, cudaMemcpyDeviceToHost));
	if (ran != launch->launched)
		msg_die(EXIT_MEASURE_FAILED,
		        "%u kernels were launched but %u ran in order: no result kept",
		        launch->launched, ran);
}

static const char grid_series[] = "grid";

/* Grid sizes besides one block, in sixteenths of one block per SM. */
static const int grid_sixteenths[] = {2, 8, 16, 32, 64, 128, 256, 1024};

/* Notes in the metadata a feature that the device lacks: the fit must not take it for a failure. */
static bool available(struct probe_run *run, const struct gpu *gpu, const struct subject *subject)
{
	bool lacks_cooperative = subject->need == COOPERATIVE && !gpu->cooperative;
	bool lacks_overlap = subject->need == OVERLAP && gpu->code < 90;
	if (!lacks_cooperative && !lacks_overlap)
		return true;
	if (lacks_overlap) {
		probe_lacks(run, gpu, subject->series, 90);
		return false;
	}
	char *key = xasprintf("unavailable.%s", subject->series);
	table_meta_set(run->curve, key, "needs cooperative launch");
	free(key);
	return false;
}

/* The points of the sweep: the grids, then the subjects. Returns their number. */
enum { POINTS = 80 };
static size_t list_points(const struct launch *launch, struct subject point[POINTS])
{
	const struct subject grid = {grid_series, DEVICE_SHARE, launch_grid, 1,
	        .argument_name = "blocks", .argument = {1}};
	size_t n = 0;
	point[n++] = grid;
	for (size_t i = 0; i < ARRAY_LEN(grid_sixteenths); i++) {
		point[n] = grid;
		point[n++].argument[0] = (grid_sixteenths[i] * launch->gpu.sm_count + 15) / 16;
	}
	for (size_t i = 0; i < launch_subject_count; i++)
		for (int k = 0; k == 0 || (k < ARGUMENTS && launch_subject[i].argument[k]); k++) {
			point[n] = launch_subject[i];
			point[n++].argument[0] = launch_subject[i].argument[k];
		}
	return n;
}

enum { REPEATS = 3 };

/* Points that the host's clock times are measured three times, as interference may last for a
 * while; in re-measurements, too, as some operations take longer the first time. */
static int repeats_of(const struct probe_run *run, const struct subject *subject)
{
	const struct arg argument = {subject->argument_name, subject->argument[0]};
	if (!probe_wants(run, subject->series, &argument, subject->argument_name != NULL))
		return 0;
	return by_device(subject) || run->common.quick ? 1 : REPEATS;
}

static void measure_all(struct probe_run *run, struct launch *launch)
{
	struct subject point[POINTS];
	const size_t total = list_points(launch, point);
	/* the few points of a re-measurement get at most half of a full sweep's share */
	const double end = clock_now() + run->seconds, most = run->seconds / (2 * (double)total);
	struct repeats repeats = {0};
	size_t left = 0;
	for (size_t i = 0; i < total; i++)
		left += (size_t)repeats_of(run, &point[i]);
	for (int repeat = 0; repeat < REPEATS; repeat++)
		for (size_t i = 0; i < total; i++) {
			if (repeat >= repeats_of(run, &point[i]))
				continue;
			const double share = fmin((end - clock_now()) / (double)left--, most);
			if (available(run, &launch->gpu, &point[i]))
				measure_subject(
				        run, launch, &repeats, &point[i], fmax(share, 1e-3));
		}
	repeats_record(&repeats, run);
}

/* Chance finds the memory for a process's queues, which decides how soon its kernels start. */
static bool by_chance(const char *series, double seconds)
{
	bool found = strcmp(series, grid_series) == 0;

	(void)seconds;
	for (size_t i = 0; i < launch_subject_count; i++)
		found |= by_device(&launch_subject[i]) &&
		         strcmp(series, launch_subject[i].series) == 0;
	return found;
}

static void measure(struct probe_run *run)
{
	struct launch launch = {0};
	probe_open_gpu(run, &launch.gpu);
	gpu_warm(&launch.gpu, run->warm_seconds);
	probe_noise_take(run, &launch.gpu);
	measure_first(run, &launch);
	set_up(&launch, (uint64_t)run->common.seed);
	measure_all(run, &launch);
	probe_noise_leave(run);
	check_count(&launch);
	clean_up(&launch);
	probe_watch_gpu(run, &launch.gpu);
}

/* All that the host's clock times, and the mark that the device writes to the host's memory. */
static bool by_host(const char *series)
{
	for (size_t i = 0; i < launch_subject_count; i++)
		if (strcmp(series, launch_subject[i].series) == 0)
			return !by_device(&launch_subject[i]) || strcmp(series, "event_mark") == 0;
	return strcmp(series, grid_series) != 0;
}

static const char *const arguments[] = {
        "bytes", "blocks", "accesses", "threads", "kernels", "rows"};
const struct probe launch_probe = {
        .name = "launch",
        .question = "What does starting work on the GPU cost, apart on the host and on the device?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .turn = -1,
        .seconds = 0.8,
        .processes = 3,
        .revisits = true,
        .by_chance = by_chance,
        .by_host = by_host,
        .measure = measure,
        .fit = launch_fit,
};
