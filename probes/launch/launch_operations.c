/* SPDX-License-Identifier: MIT */
/* Operations of the launch probe: kernels, graphs, events, copies, and round trips of them. */
#include "launch_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

static const double flag_timeout = 2;

void launch_one(struct launch *launch)
{
	launch_null(launch->word, 1, launch->stream);
	launch->launched++;
}

void launch_grid(struct launch *launch)
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

static void turn_launch(struct launch *launch)
{
	launch_turns(launch->word, LAUNCH_TURNS * launch->gpu.sm_count, launch->argument,
	        launch->stream);
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

/* A kernel and a timed event. */
static void event_mark(struct launch *launch)
{
	launch_one(launch);
	GPU(cudaEventRecord(launch->mark, launch->stream));
}

/* A kernel in one stream, and the other stream waits for its end; the next hop goes back. */
static void event_wait(struct launch *launch)
{
	cudaStream_t stream[] = {launch->stream, launch->other};
	int here = launch->stream_wait, there = !here;
	launch_null(launch->word, 1, stream[here]);
	GPU(cudaEventRecord(launch->event[here], stream[here]));
	GPU(cudaStreamWaitEvent(stream[there], launch->event[here], 0));
	launch->stream_wait = there;
	launch->launched++;
}

static void small_copy(struct launch *launch)
{
	GPU(cudaMemcpyAsync(launch->copied, launch->word, sizeof *launch->copied,
	        cudaMemcpyDeviceToHost, launch->stream));
}

static void null_sync(struct launch *launch)
{
	launch_one(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

/* A kernel, then a copy of its result: includes the hand-over from multiprocessors to copy engine.
 */
static void copy_sync(struct launch *launch)
{
	launch_one(launch);
	small_copy(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

/* The same behind several kernels: the copy arrives before the last kernel ends, and the copy
 * engine must wait. Behind one kernel alone either may be first. */
static void copy_behind(struct launch *launch)
{
	for (int i = 1; i < launch->argument; i++)
		launch_one(launch);
	copy_sync(launch);
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

const struct subject launch_subject[] = {
        {"enqueue", HOST_SHARE, launch_one, NOTHING, NULL, 0},
        {"enqueue_driver", HOST_SHARE, driver_launch, NOTHING, NULL, 0},
        {"enqueue_cooperative", HOST_SHARE, cooperative_launch, COOPERATIVE, NULL, 0},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 8},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 256},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 1024},
        {"argument", HOST_SHARE, argument_launch, NOTHING, "bytes", 4000},
        {"graph", HOST_SHARE, graph_launch, NOTHING, NULL, 0},
        {"event_record", HOST_SHARE, event_record, NOTHING, NULL, 0},
        {"copy_enqueue", HOST_SHARE, small_copy, NOTHING, NULL, 0},
        {"scal", HOST_SHARE, launch_scal, NOTHING, NULL, 0},
        {"swap", HOST_SHARE, launch_swap, NOTHING, NULL, 0},
        {"ger", HOST_SHARE, launch_ger, NOTHING, NULL, 0},
        {"gemv", HOST_SHARE, launch_gemv, NOTHING, NULL, 0},
        {"gemv_t", HOST_SHARE, launch_gemv_t, NOTHING, NULL, 0},
        {"gemm", HOST_SHARE, launch_gemm, NOTHING, NULL, 0},
        {"gemm_t", HOST_SHARE, launch_gemm_t, NOTHING, NULL, 0},
        {"dependent", DEVICE_SHARE, launch_one, NOTHING, NULL, 0},
        {"cooperative", DEVICE_SHARE, cooperative_launch, COOPERATIVE, NULL, 0},
        {"pdl", DEVICE_SHARE, overlapped_launch, OVERLAP, NULL, 0},
        {"event_wait", DEVICE_SHARE, event_wait, NOTHING, NULL, 0},
        {"event_mark", DEVICE_SHARE, event_mark, NOTHING, NULL, 0},
        {"scal_device", DEVICE_SHARE, launch_scal, NOTHING, NULL, 0},
        {"swap_device", DEVICE_SHARE, launch_swap, NOTHING, NULL, 0},
        {"ger_device", DEVICE_SHARE, launch_ger, NOTHING, NULL, 0},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 1},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 2},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 4},
        {"access", DEVICE_SHARE, access_launch, NOTHING, "accesses", 8},
        {"turn", DEVICE_SHARE, turn_launch, NOTHING, "threads", 32},
        {"turn", DEVICE_SHARE, turn_launch, NOTHING, "threads", 256},
        {"turn", DEVICE_SHARE, turn_launch, NOTHING, "threads", 512},
        {"turn", DEVICE_SHARE, turn_launch, NOTHING, "threads", 1024},
        {"graph_node", CHAIN, NULL, NOTHING, NULL, 0},
        {"stream", RUNNING, launch_one, NOTHING, NULL, 0},
        {"sync", ROUND_TRIP, null_sync, NOTHING, NULL, 0},
        {"copy_sync", ROUND_TRIP, copy_sync, NOTHING, NULL, 0},
        {"copy_behind", ROUND_TRIP, copy_behind, NOTHING, "kernels", 4},
        {"graph_sync", ROUND_TRIP, graph_sync, NOTHING, NULL, 0},
        {"event_sync", ROUND_TRIP, event_sync, NOTHING, NULL, 0},
        {"flag_sync", ROUND_TRIP, flag_sync, NOTHING, NULL, 0},
        {"iamax", ROUND_TRIP, launch_iamax, NOTHING, "bytes", N * sizeof(float)},
        {"iamax", ROUND_TRIP, launch_iamax, NOTHING, "bytes", 1024 * sizeof(float)},
        {"iamax", ROUND_TRIP, launch_iamax, NOTHING, "bytes", 4096 * sizeof(float)},
        {"iamax", ROUND_TRIP, launch_iamax, NOTHING, "bytes", 16384 * sizeof(float)},
        {"iamax", ROUND_TRIP, launch_iamax, NOTHING, "bytes", LONGEST * sizeof(float)},
        {"nrm2", ROUND_TRIP, launch_nrm2, NOTHING, NULL, 0},
};

const size_t launch_subject_count = ARRAY_LEN(launch_subject);
