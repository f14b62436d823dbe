/* SPDX-License-Identifier: MIT */
/* One point of the pointer_chase probe: sets of nodes, and the samples of a chase through one. */
#include "pointer_chase_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum {
	PILOT_STEPS = 256,
	STEPS_MAX = 1 << 15,
	L1_NODES = 1 << 16 /* a longer cycle does not fit in L1 */
};

/* Launch and synchronization in the host's view of a kernel, seconds. */
static const double launch_slack = 60e-6;

/* Draws the order and the places of the set's nodes; without places for each node, one offset of
 * the whole set. */
static void draw_set(struct chase_context *context, struct chase_set *set)
{
	const int64_t slack = context->memory_bytes - (int64_t)(set->nodes * set->stride);
	const int64_t lines = (slack < SHIFT_BYTES ? slack : SHIFT_BYTES) / LINE;
	const uint32_t shift =
	        lines > 0 && set->places == 1 ? chain_random(&context->random, (uint32_t)lines) : 0;
	set->base = (uint64_t)(uintptr_t)context->memory + (uint64_t)LINE * shift;
	set->seed = (uint64_t)chain_random(&context->random, UINT32_MAX) << 32 |
	            chain_random(&context->random, UINT32_MAX);
}

/* `nodes` nodes, one in each `stride` bytes, at one of `places` places `unit` bytes apart. */
struct chase_set chase_new_set(
        struct chase_context *context, int64_t nodes, int64_t stride, int64_t places, int64_t unit)
{
	struct chase_set set = {.stride = (uint64_t)stride,
	        .unit = (uint64_t)unit,
	        .places = (uint32_t)places,
	        .nodes = (uint32_t)nodes,
	        .slots = CHASE_SLOTS};
	draw_set(context, &set);
	return set;
}

void chase_start_plan(struct chase_context *context, enum chase_path path, struct chase_set set)
{
	context->cold = context->fresh = context->shared = false;
	context->per_step = 1;
	context->plan = (struct chase_plan){.path = path, .set = set, .blocks = 1, .touch = true};
}

/* Steps of one thread: four times all nodes, limited to the needs of an L1 or a TLB. */
int64_t chase_warm_steps(int64_t nodes)
{
	const int64_t steps = min_int64(4 * nodes, WARM_STEPS);
	return (steps + CHASE_UNROLL - 1) / CHASE_UNROLL * CHASE_UNROLL;
}

void chase_run(struct chase_context *context)
{
	const struct chase_plan *plan = &context->plan;
	if (context->shared)
		GPU(chase_shared(context->next, context->distance, CLUSTER, plan->warm, plan->steps,
		        context->result));
	else
		GPU(chase_launch(plan, context->result));
	GPU(cudaDeviceSynchronize());
}

static bool chase_sample(void *argument, struct sample *sample)
{
	struct chase_context *context = argument;
	const int blocks = context->plan.blocks;
	double *seconds = xmalloc((size_t)blocks * sizeof *seconds);
	struct sample whole;
	if (context->fresh) {
		draw_set(context, &context->plan.set);
		GPU(chase_build(&context->plan));
	}
	if (context->cold)
		GPU(cudaMemset(context->flush, (int)chain_random(&context->random, 256),
		        (size_t)context->flush_bytes));
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	chase_run(context);
	const double host_seconds = clock_now() - start;
	for (int i = blocks - 1; i >= 0; --i) {
		gpu_span_sample(&context->result[i].timed,
		        (double)context->plan.steps / context->per_step, 0, 0, sample);
		seconds[i] = sample->seconds;
	}
	/* blocks of one launch may end apart; a cluster starts late */
	const double slack =
	        launch_slack + (blocks > 1 ? host_seconds : 0) + (context->shared ? 3e-4 : 0);
	gpu_span_sample(&context->result[0].whole, 1, host_seconds, slack, &whole);
	sample->agreed = sample->agreed && whole.agreed;
	sample->seconds = stats_median(seconds, (size_t)blocks);
	free(seconds);
	return true;
}

/* The first launch fills the caches, the others go on from it. An L1 starts empty in every launch
 * and is warmed again. */
static void go_on(struct chase_context *context)
{
	struct chase_plan *plan = &context->plan;
	const bool keeps = plan->path == CHASE_CG || plan->path == CHASE_CV;
	plan->go_on = true;
	plan->stroll = 0;
	plan->warm = keeps ? CHASE_UNROLL : plan->warm;
	plan->touch = plan->touch && !keeps && plan->set.slots == 1 && plan->set.nodes <= L1_NODES;
}

/* The first launch gives the steps of a sample. */
void chase_measure_point(
        struct chase_context *context, const char *series, const struct arg *args, size_t arg_count)
{
	struct chase_plan *plan = &context->plan;
	const bool quick = context->run->common.quick;
	const size_t few = quick ? 3 : context->fresh ? 8 : 5;
	const struct sample_plan samples = {.max_seconds = context->point_seconds,
	        .min_samples = few,
	        .max_samples = 2 * few + 2,
	        .target = 0.003};
	struct measurement measurement;
	struct sample sample = {0};
	plan->steps = PILOT_STEPS;
	plan->go_on = false;
	chase_sample(context, &sample);
	if (!context->fresh && !context->shared)
		go_on(context);
	const double steps =
	        context->sample_seconds * context->per_step / fmax(sample.seconds, 1e-10);
	plan->steps =
	        (int64_t)(fmin(fmax(steps, CHASE_UNROLL), STEPS_MAX) / CHASE_UNROLL) * CHASE_UNROLL;
	if (context->per_step == 2 && plan->steps > 2 * PAIRS - 2 * CHASE_UNROLL)
		plan->steps = 2 * PAIRS - 2 * CHASE_UNROLL; /* no place twice in a launch */
	sample_run(chase_sample, context, &samples, context->gpu.max_hz, &measurement);
	probe_record(context->run, series, args, arg_count, &measurement);
}
