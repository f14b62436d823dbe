/* SPDX-License-Identifier: MIT */
/* Question: what does starting work on the GPU cost, apart on the host and on the device?
 *
 * Method: the host's share is timed while a spinning kernel holds the stream, so that the device is
 * not waited for; the device's share is the difference of two queue lengths behind that hold, by
 * stamps in the stream; round trips are timed by the host on an idle stream.
 *
 * What can fool it: lazy loading (all is run once before, the very first launch is a series of its
 * own); a full queue, which makes the host wait for the device (the queues stay short, the hold
 * times out); a kernel that did not run (each adds one to a word in device memory, and the sum is
 * checked).
 *
 * Unit: seconds per operation. */
#include "../lib/base.h"
#include "launch.h"

#include "../lib/clock.h"
#include "../lib/gpu.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum {
	LEAD = 8,   /* enqueued before the host's clock is read: the hold's own launch settles */
	HELD = 64,  /* enqueued while it runs */
	SHORT = 16, /* the two queue lengths of a device share */
	LONG = 144,
	ROUND_TRIPS = 8, /* in one sample */
	RUNNING_SHORT = 128,
	RUNNING_LONG = 1024,
	ACCESS_BLOCKS = 64,
	N = 32, /* length of the cuBLAS vectors */
};

/* The host sees a queue end this much later than the device at most: the hold notices its release,
 * the stamps run, the host wakes. */
static const double host_slack = 100e-6;

static const double flag_timeout = 2;

struct launch {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream, other;
	cudaEvent_t event[2];
	unsigned *word;          /* device: kernels run so far */
	unsigned launched;       /* the same as the host counts them */
	int argument;            /* of the subject at hand */
	int hop;                 /* which stream the next hop starts from */
	unsigned *nodes;         /* device: what access_launch follows and writes */
	unsigned *copied;        /* pinned: destination of the small copy */
	volatile unsigned *flag; /* pinned, mapped */
	PFN_cuLaunchKernel_v4000 driver_launch;
	CUfunction driver_kernel;
	/* Graphs of 1, SHORT and LONG kernels in a row. */
	cudaGraphExec_t graph, chain_short, chain_long;
	cublasHandle_t blas;
	void *blas_workspace;
	float *x, *y, *z, *matrix; /* device: vectors of N, N x N */
	int largest;               /* what cublasIsamax must say of z */
};

enum way { HOST_SHARE, DEVICE_SHARE, CHAIN, ROUND_TRIP, RUNNING };

/* What a series needs of the device. */
enum need { NOTHING, COOPERATIVE, OVERLAP };

/* One series: operation puts one into launch->stream, and for a round trip waits for its end. */
struct subject {
	const char *series;
	enum way way;
	void (*operation)(struct launch *launch);
	enum need need;
	const char *argument_name;
	int argument;
};

/* ---- operations ---- */

static void null_launch(struct launch *launch)
{
	launch_null(launch->word, 1, launch->stream);
	launch->launched++;
}

static void grid_launch(struct launch *launch)
{
	launch_null(launch->word, launch->argument, launch->stream);
	launch->launched++;
}

static void driver_launch(struct launch *launch)
{
	void *arguments[] = {&launch->word};
	GPU(launch->driver_launch(launch->driver_kernel, 1, 1, 1, LAUNCH_THREADS, 1, 1, 0,
	        launch->stream, arguments, NULL));
	launch->launched++;
}

static void cooperative_launch(struct launch *launch)
{
	launch_cooperative(launch->word, launch->gpu.sm_count, launch->stream);
	launch->launched++;
}

static void argument_launch(struct launch *launch)
{
	launch_argument(launch->word, launch->argument, launch->stream);
	launch->launched++;
}

static void overlapped_launch(struct launch *launch)
{
	launch_overlapped(launch->word, launch->stream);
	launch->launched++;
}

static void graph_launch(struct launch *launch)
{
	GPU(cudaGraphLaunch(launch->graph, launch->stream));
	launch->launched++;
}

static void event_record(struct launch *launch)
{
	GPU(cudaEventRecord(launch->event[0], launch->stream));
}

/* A kernel in one stream, for whose end the other stream waits; then the other way round. */
static void event_hop(struct launch *launch)
{
	cudaStream_t stream[] = {launch->stream, launch->other};
	int here = launch->hop, there = !here;
	launch_null(launch->word, 1, stream[here]);
	GPU(cudaEventRecord(launch->event[here], stream[here]));
	GPU(cudaStreamWaitEvent(stream[there], launch->event[here], 0));
	launch->hop = there;
	launch->launched++;
}

static void small_copy(struct launch *launch)
{
	GPU(cudaMemcpyAsync(launch->copied, launch->word, sizeof *launch->copied,
	        cudaMemcpyDeviceToHost, launch->stream));
}

static void null_sync(struct launch *launch)
{
	null_launch(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

/* A kernel, then a copy of what it wrote: the hand-over from the multiprocessors to the copy engine
 * is in it. */
static void copy_sync(struct launch *launch)
{
	null_launch(launch);
	small_copy(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

static void access_launch(struct launch *launch)
{
	launch_access(launch->word, launch->nodes, ACCESS_BLOCKS, launch->argument, launch->stream);
	launch->launched++;
}

static void graph_sync(struct launch *launch)
{
	graph_launch(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

static void event_sync(struct launch *launch)
{
	event_record(launch);
	GPU(cudaEventSynchronize(launch->event[0]));
}

static void flag_sync(struct launch *launch)
{
	unsigned value = *launch->flag + 1;
	double start = clock_now();
	launch_flag(launch->flag, value, launch->stream);
	while (*launch->flag != value)
		if (clock_now() - start > flag_timeout)
			msg_die(EXIT_MEASURE_FAILED,
			        "the flag written by a kernel did not reach the host within %g s",
			        flag_timeout);
}

/* ---- cuBLAS ---- */

static void check_blas(cublasStatus_t status, const char *call)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, cublasGetStatusString(status));
}
#define BLAS(call) check_blas(call, #call)

static void scal(struct launch *launch)
{
	const float minus = -1;
	BLAS(cublasSscal(launch->blas, N, &minus, launch->x, 1));
}

static void swap(struct launch *launch)
{
	BLAS(cublasSswap(launch->blas, N, launch->x, 1, launch->y, 1));
}

static void ger(struct launch *launch)
{
	const float alpha = 1e-6f;
	BLAS(cublasSger(launch->blas, N, N, &alpha, launch->x, 1, launch->y, 1, launch->matrix, N));
}

static void iamax_sync(struct launch *launch)
{
	int found = 0;
	BLAS(cublasIsamax(launch->blas, N, launch->z, 1, &found));
	if (found != launch->largest)
		msg_die(EXIT_MEASURE_FAILED,
		        "cublasIsamax found element %d where %d is the largest", found,
		        launch->largest);
}

/* ---- samples ---- */

struct work {
	struct launch *launch;
	const struct subject *subject;
};

/* count operations; a chain is one graph of that many kernels. */
static void queue(const struct work *work, int count)
{
	struct launch *launch = work->launch;
	if (work->subject->way != CHAIN) {
		for (int i = 0; i < count; i++)
			work->subject->operation(launch);
		return;
	}
	cudaGraphExec_t chain = count == LONG ? launch->chain_long : launch->chain_short;
	GPU(cudaGraphLaunch(chain, launch->stream));
	launch->launched += (unsigned)count;
}

static void finish(const struct launch *launch)
{
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize(launch->stream));
}

static bool held(const struct work *work)
{
	if (gpu_hold_ok(work->launch->hold))
		return true;
	msg_warn("%s: the held stream ran out of time: its queue is too short on this device",
	        work->subject->series);
	return false;
}

static bool sample_host_share(const struct work *work, struct sample *sample)
{
	const struct launch *launch = work->launch;
	gpu_hold_start(launch->hold, launch->stream);
	queue(work, LEAD);
	double start = clock_now();
	queue(work, HELD);
	double stop = clock_now();
	gpu_hold_release(launch->hold);
	finish(launch);
	*sample = (struct sample){.seconds = (stop - start) / HELD, .agreed = true};
	return held(work);
}

/* Span of count operations queued behind a hold. */
static bool sample_span(const struct work *work, int count, struct sample *sample)
{
	const struct launch *launch = work->launch;
	gpu_hold_start(launch->hold, launch->stream);
	gpu_timer_start(launch->timer, launch->stream);
	queue(work, count);
	gpu_timer_stop(launch->timer, launch->stream);
	double start = clock_now();
	gpu_hold_release(launch->hold);
	finish(launch);
	double seconds = clock_now() - start;
	struct gpu_span span;
	gpu_timer_span(launch->timer, &span);
	gpu_span_sample(&span, 1, seconds, host_slack, sample);
	return held(work);
}

static bool sample_device_share(const struct work *work, struct sample *sample)
{
	struct sample few;
	if (!sample_span(work, SHORT, &few) || !sample_span(work, LONG, sample))
		return false;
	sample->seconds = (sample->seconds - few.seconds) / (LONG - SHORT);
	sample->agreed = sample->agreed && few.agreed;
	return true;
}

static bool sample_round_trip(const struct work *work, struct sample *sample)
{
	double start = clock_now();
	queue(work, ROUND_TRIPS);
	double stop = clock_now();
	finish(work->launch);
	*sample = (struct sample){.seconds = (stop - start) / ROUND_TRIPS, .agreed = true};
	return true;
}

static double running_seconds(const struct work *work, int count)
{
	double start = clock_now();
	queue(work, count);
	finish(work->launch);
	return clock_now() - start;
}

static bool sample_running(const struct work *work, struct sample *sample)
{
	double few = running_seconds(work, RUNNING_SHORT);
	double many = running_seconds(work, RUNNING_LONG);
	*sample = (struct sample){
	        .seconds = (many - few) / (RUNNING_LONG - RUNNING_SHORT), .agreed = true};
	return true;
}

static bool take_sample(void *context, struct sample *sample)
{
	const struct work *work = context;
	switch (work->subject->way) {
	case HOST_SHARE:
		return sample_host_share(work, sample);
	case DEVICE_SHARE:
	case CHAIN:
		return sample_device_share(work, sample);
	case ROUND_TRIP:
		return sample_round_trip(work, sample);
	case RUNNING:
		break;
	}
	return sample_running(work, sample);
}

/* ---- set-up ---- */

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
	void *entry = NULL;
	enum cudaDriverEntryPointQueryResult found;
	GPU(cudaGetDriverEntryPointByVersion(
	        "cuLaunchKernel", &entry, 4000, cudaEnableDefault, &found));
	if (found != cudaDriverEntryPointSuccess || !entry)
		msg_die(EXIT_MEASURE_FAILED,
		        "the driver has no cuLaunchKernel: install a newer one");
	launch->driver_launch = (PFN_cuLaunchKernel_v4000)(uintptr_t)entry;
	cudaFunction_t kernel;
	GPU(cudaGetFuncBySymbol(&kernel, launch_null_symbol()));
	launch->driver_kernel = kernel;
}

static void set_up_blas(struct launch *launch, uint64_t seed)
{
	enum { WORKSPACE = 32 << 20, ELEMENTS = 3 * N + N * N };
	GPU(cudaMalloc((void **)&launch->x, ELEMENTS * sizeof(float)));
	GPU(cudaMalloc(&launch->blas_workspace, WORKSPACE));
	launch->y = launch->x + N;
	launch->z = launch->y + N;
	launch->matrix = launch->z + N;
	gpu_fill_float(launch->x, ELEMENTS, seed, launch->stream);
	float z[N];
	GPU(cudaMemcpyAsync(z, launch->z, sizeof z, cudaMemcpyDeviceToHost, launch->stream));
	GPU(cudaStreamSynchronize(launch->stream));
	int largest = 0;
	for (int i = 1; i < N; i++)
		if (fabsf(z[i]) > fabsf(z[largest]))
			largest = i;
	launch->largest = largest + 1;

	BLAS(cublasCreate(&launch->blas));
	BLAS(cublasSetStream(launch->blas, launch->stream));
	BLAS(cublasSetWorkspace(launch->blas, launch->blas_workspace, WORKSPACE));
	BLAS(cublasSetPointerMode(launch->blas, CUBLAS_POINTER_MODE_HOST));
}

static void set_up(struct launch *launch, uint64_t seed)
{
	launch->timer = gpu_timer_new(&launch->gpu);
	launch->hold = gpu_hold_new();
	GPU(cudaStreamCreateWithFlags(&launch->other, cudaStreamNonBlocking));
	for (int i = 0; i < 2; i++)
		GPU(cudaEventCreateWithFlags(&launch->event[i], cudaEventDisableTiming));
	GPU(cudaMalloc(
	        (void **)&launch->nodes, ACCESS_BLOCKS * LAUNCH_THREADS * sizeof *launch->nodes));
	launch_access_start(launch->nodes, ACCESS_BLOCKS, launch->stream);
	GPU(cudaMallocHost((void **)&launch->copied, sizeof *launch->copied));
	GPU(cudaHostAlloc((void **)&launch->flag, sizeof *launch->flag, cudaHostAllocMapped));
	*launch->flag = 0;
	gpu_timer_start(launch->timer, launch->stream);
	gpu_timer_stop(launch->timer, launch->stream);
	set_up_driver(launch);
	launch->graph = new_chain(launch, 1);
	launch->chain_short = new_chain(launch, SHORT);
	launch->chain_long = new_chain(launch, LONG);
	set_up_blas(launch, seed);
	finish(launch);
}

/* ---- sweep ---- */

/* Once per process: the module of launch.cu is not loaded before this. */
static void measure_first(struct probe_run *run, struct launch *launch)
{
	GPU(cudaStreamCreateWithFlags(&launch->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&launch->word, sizeof *launch->word));
	GPU(cudaMemset(launch->word, 0, sizeof *launch->word));
	GPU(cudaDeviceSynchronize());
	double start = clock_now();
	null_sync(launch);
	double seconds = clock_now() - start;
	GPU(cudaGetLastError());
	struct measurement first = {.seconds = {seconds, seconds, seconds, 1}, .hz = NAN};
	probe_record(run, "first", NULL, 0, &first);
}

/* Everything a sample does, without the hold: loading code waits for the device. */
static void run_once(const struct work *work)
{
	queue(work, SHORT);
	queue(work, LONG);
	finish(work->launch);
}

static void measure_subject(
        struct probe_run *run, struct launch *launch, const struct subject *subject, double seconds)
{
	struct work work = {launch, subject};
	launch->argument = subject->argument;
	run_once(&work);
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	sample_run(take_sample, &work, &plan, launch->gpu.max_hz, &measurement);
	struct arg argument = {subject->argument_name, subject->argument};
	probe_record(run, subject->series, &argument, subject->argument_name != NULL, &measurement);
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

static const struct subject subjects[] = {
        {"enqueue", HOST_SHARE, null_launch, NOTHING, NULL, 0},
        {"enqueue_driver", HOST_SHARE, driver_launch, NOTHING, NULL, 0},
        {"enqueue_cooperative", HOST_SHARE, cooperative_launch, COOPERATIVE, NULL, 0},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 8},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 256},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 1024},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 4000},
        {"graph", HOST_SHARE, graph_launch, NOTHING, NULL, 0},
        {"event_record", HOST_SHARE, event_record, NOTHING, NULL, 0},
        {"copy_enqueue", HOST_SHARE, small_copy, NOTHING, NULL, 0},
        {"scal", HOST_SHARE, scal, NOTHING, NULL, 0},
        {"swap", HOST_SHARE, swap, NOTHING, NULL, 0},
        {"ger", HOST_SHARE, ger, NOTHING, NULL, 0},
        {"dependent", DEVICE_SHARE, null_launch, NOTHING, NULL, 0},
        {"cooperative", DEVICE_SHARE, cooperative_launch, COOPERATIVE, NULL, 0},
        {"pdl", DEVICE_SHARE, overlapped_launch, OVERLAP, NULL, 0},
        {"event_hop", DEVICE_SHARE, event_hop, NOTHING, NULL, 0},
        {"scal_device", DEVICE_SHARE, scal, NOTHING, NULL, 0},
        {"swap_device", DEVICE_SHARE, swap, NOTHING, NULL, 0},
        {"ger_device", DEVICE_SHARE, ger, NOTHING, NULL, 0},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 1},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 2},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 4},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 8},
        {"graph_node", CHAIN, NULL, NOTHING, NULL, 0},
        {"stream", RUNNING, null_launch, NOTHING, NULL, 0},
        {"sync", ROUND_TRIP, null_sync, NOTHING, NULL, 0},
        {"copy_sync", ROUND_TRIP, copy_sync, NOTHING, NULL, 0},
        {"graph_sync", ROUND_TRIP, graph_sync, NOTHING, NULL, 0},
        {"event_sync", ROUND_TRIP, event_sync, NOTHING, NULL, 0},
        {"flag_sync", ROUND_TRIP, flag_sync, NOTHING, NULL, 0},
        {"iamax", ROUND_TRIP, iamax_sync, NOTHING, "bytes", sizeof(float)},
};

/* Grid sizes, in sixteenths of one block per SM (0: one block). */
static const int grid_sixteenths[] = {0, 2, 8, 16, 32, 64, 128, 256, 1024};

/* What the device lacks goes into the metadata, so that its absence is not taken for a failure. */
static bool available(struct probe_run *run, const struct gpu *gpu, const struct subject *subject)
{
	bool lacks_cooperative = subject->need == COOPERATIVE && !gpu->cooperative;
	bool lacks_overlap = subject->need == OVERLAP && gpu->major < 9;
	if (!lacks_cooperative && !lacks_overlap)
		return true;
	char *key = xasprintf("unavailable.%s", subject->series);
	table_meta_set(run->curve, key, "needs %s; this device is of compute capability %d.%d",
	        lacks_cooperative ? "cooperative launch" : "compute capability 9.0", gpu->major,
	        gpu->minor);
	free(key);
	return false;
}

static void measure_all(struct probe_run *run, struct launch *launch)
{
	size_t grids = ARRAY_LEN(grid_sixteenths), total = ARRAY_LEN(subjects) + grids;
	double end = clock_now() + run->seconds;
	for (size_t i = 0; i < total; i++) {
		struct subject subject = {"grid", DEVICE_SHARE, grid_launch, NOTHING, "blocks", 1};
		if (i >= grids)
			subject = subjects[i - grids];
		else if (grid_sixteenths[i] > 0)
			subject.argument = (grid_sixteenths[i] * launch->gpu.sm_count + 15) / 16;
		if (!available(run, &launch->gpu, &subject))
			continue;
		double share = (end - clock_now()) / (double)(total - i);
		measure_subject(run, launch, &subject, fmax(share, 1e-3));
	}
}

/* What is allocated here lives as long as the process, which measures once and ends. */
static void measure(struct probe_run *run)
{
	struct launch launch = {0};
	struct fault fault;
	if (!gpu_open(&launch.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &launch.gpu);

	gpu_warm(&launch.gpu, run->warm_seconds);
	measure_first(run, &launch);
	set_up(&launch, (uint64_t)run->common.seed);
	measure_all(run, &launch);
	check_count(&launch);
	probe_watch_gpu(run, &launch.gpu);
}

static const char *const arguments[] = {"bytes", "blocks", "accesses"};
const struct probe launch_probe = {
        .name = "launch",
        .question = "What does starting work on the GPU cost, apart on the host and on the "
                    "device?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 0.9,
        .measure = measure,
        .fit = launch_fit,
};
