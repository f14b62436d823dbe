/* SPDX-License-Identifier: MIT */
/* Operations of the launch probe: kernels, graphs, events, copies, and round trips of them. */
#include "launch_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

static const double flag_timeout = 2;

void null_launch(struct launch *launch)
{
	launch_null(launch->word, 1, launch->stream);
	launch->launched++;
}

void grid_launch(struct launch *launch)
{
	launch_null(launch->word, launch->argument, launch->stream);
	launch->launched++;
}

void driver_launch(struct launch *launch)
{
	void *arguments[] = {&launch->word};
	GPU(launch->driver_launch(launch->driver_kernel, 1, 1, 1, LAUNCH_THREADS, 1, 1, 0,
	        launch->stream, arguments, NULL));
	launch->launched++;
}

void cooperative_launch(struct launch *launch)
{
	launch_cooperative(launch->word, launch->gpu.sm_count, launch->stream);
	launch->launched++;
}

void argument_launch(struct launch *launch)
{
	launch_argument(launch->word, launch->argument, launch->stream);
	launch->launched++;
}

void overlapped_launch(struct launch *launch)
{
	launch_overlapped(launch->word, launch->stream);
	launch->launched++;
}

void turn_launch(struct launch *launch)
{
	launch_turns(launch->word, LAUNCH_TURNS * launch->gpu.sm_count, launch->argument,
	        launch->stream);
	launch->launched++;
}

void graph_launch(struct launch *launch)
{
	GPU(cudaGraphLaunch(launch->graph, launch->stream));
	launch->launched++;
}

void event_record(struct launch *launch)
{
	GPU(cudaEventRecord(launch->event[0], launch->stream));
}

/* A kernel, and the time of its end. */
void event_mark(struct launch *launch)
{
	null_launch(launch);
	GPU(cudaEventRecord(launch->mark, launch->stream));
}

/* A kernel in one stream, for whose end the other stream waits; then the other way round. */
void event_wait(struct launch *launch)
{
	cudaStream_t stream[] = {launch->stream, launch->other};
	int here = launch->stream_wait, there = !here;
	launch_null(launch->word, 1, stream[here]);
	GPU(cudaEventRecord(launch->event[here], stream[here]));
	GPU(cudaStreamWaitEvent(stream[there], launch->event[here], 0));
	launch->stream_wait = there;
	launch->launched++;
}

void small_copy(struct launch *launch)
{
	GPU(cudaMemcpyAsync(launch->copied, launch->word, sizeof *launch->copied,
	        cudaMemcpyDeviceToHost, launch->stream));
}

void null_sync(struct launch *launch)
{
	null_launch(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

/* A kernel, then a copy of what it wrote: the hand-over from the multiprocessors to the copy engine
 * is in it. */
void copy_sync(struct launch *launch)
{
	null_launch(launch);
	small_copy(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

/* The same behind several kernels: the copy is there before the last one is done, and the copy
 * engine has found that it must wait. One kernel alone may win that race, or not. */
void copy_behind(struct launch *launch)
{
	for (int i = 1; i < launch->argument; i++)
		null_launch(launch);
	copy_sync(launch);
}

void access_launch(struct launch *launch)
{
	launch_access(launch->word, launch->nodes, ACCESS_BLOCKS, launch->argument, launch->stream);
	launch->launched++;
}

void graph_sync(struct launch *launch)
{
	graph_launch(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

void event_sync(struct launch *launch)
{
	event_record(launch);
	GPU(cudaEventSynchronize(launch->event[0]));
}

void flag_sync(struct launch *launch)
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
