/* SPDX-License-Identifier: MIT */
/* One point of the instruction probe: a configuration of one loop, and its samples. */
#include "instruction_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <cuda_runtime_api.h>
#include <math.h>

enum { PILOT_TURNS = 16, WARPGROUPS = 2 };

/* Launch, synchronization and start of the blocks in the host's view, seconds. */
static const double launch_slack = 60e-6;
static const double sample_seconds = 3e-4;

static int launch(const struct subject *s)
{
	struct instruction_bench *b = s->bench;
	const struct instruction_launch l = {.index = s->index,
	        .chains = s->chains,
	        .warps = s->warps,
	        .blocks = s->blocks,
	        .turns = s->turns,
	        .sm_count = b->gpu.sm_count,
	        .span = b->span,
	        .sink = b->sink};
	switch (s->kind) {
	case CHAIN:
		return instruction_launch(&l);
	case SHORT_CHAIN:
		return instruction_short_launch(&l);
	case FED:
		return instruction_fed_launch((enum fed_source)s->index, s->width, s->warps,
		        s->turns, b->gpu.sm_count, b->span, b->sink);
	default:
		return instruction_wgmma_launch(
		        (enum wgmma_kind)s->index, s->turns, b->gpu.sm_count, b->span, b->sink);
	}
}

/* The block of median duration. */
static const struct gpu_span *middle_block(struct instruction_bench *b, int blocks)
{
	for (int i = 0; i < blocks; i++)
		b->duration[i] = (double)(b->span[i].ns1 - b->span[i].ns0);
	const double middle = stats_median(b->duration, (size_t)blocks);
	int best = 0;
	for (int i = 1; i < blocks; i++)
		if (fabs(b->duration[i] - middle) < fabs(b->duration[best] - middle))
			best = i;
	return &b->span[best];
}

bool instruction_sample(void *context, struct sample *sample)
{
	const struct subject *s = context;
	struct instruction_bench *b = s->bench;
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	GPU(launch(s));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;
	const struct gpu_span *span = middle_block(b, s->blocks * b->gpu.sm_count);
	/* with few warps other blocks may end later */
	gpu_span_sample(span, (double)s->turns * s->instructions, host_seconds,
	        launch_slack + 0.02 * host_seconds, sample);
	return true;
}

void instruction_set_turns(struct subject *s, double seconds)
{
	struct sample sample = {0};
	s->turns = PILOT_TURNS;
	instruction_sample(s, &sample);
	instruction_sample(s, &sample);
	s->turns =
	        (int64_t)fmax(PILOT_TURNS, seconds / fmax(sample.seconds * s->instructions, 1e-9));
}

void instruction_record(struct probe_run *run, const struct subject *s, const char *series,
        double watt, const struct measurement *measurement)
{
	const struct arg args[] = {{"chains", s->chains}, {"warps", s->warps},
	        {"blocks", s->blocks}, {"width", s->width ? (double)s->width : (double)NAN},
	        {"flops", s->flops}, {"watt", watt}};
	probe_record(run, series, args, ARRAY_LEN(args), measurement);
}

void instruction_point(struct probe_run *run, struct subject *s, const char *series, double seconds)
{
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	instruction_set_turns(s, fmin(sample_seconds, seconds / 12));
	if (!sample_run(instruction_sample, s, &plan, s->bench->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	instruction_record(run, s, series, NAN, &measurement);
}

struct subject instruction_chains(
        struct instruction_bench *b, size_t index, int chains, int warps, int blocks)
{
	return (struct subject){.bench = b,
	        .kind = CHAIN,
	        .index = index,
	        .chains = chains,
	        .warps = warps,
	        .blocks = blocks,
	        .instructions = (double)b->table[index].body * warps * blocks,
	        .flops = b->table[index].flops};
}

struct subject instruction_warpgroups(struct instruction_bench *b, enum wgmma_kind kind)
{
	const double depth = kind == WGMMA_TF32 ? 8 : 16;
	return (struct subject){.bench = b,
	        .kind = WARPGROUP,
	        .index = (size_t)kind,
	        .chains = 1,
	        .warps = 4 * WARPGROUPS,
	        .blocks = 1,
	        .instructions = (double)INSTRUCTION_MMA_BODY * WARPGROUPS,
	        .flops = 2 * 64 * 128 * depth};
}
