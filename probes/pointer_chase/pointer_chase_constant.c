/* SPDX-License-Identifier: MIT */
/* First loads of constants by an SM, after another SM has read them: an SM that shares a cache with
 * the reader has brought them there. The host's write to constant memory before each kernel empties
 * these caches. */
#include "pointer_chase_internal.h"

#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

enum {
	READER = 0, /* the SM */
	REPEATS = 3,
	SKIPPED = 8, /* the first loads also fetch code */
	READ = CHASE_CONSTANT_NODES - SKIPPED,
	STRIDE = 320 /* longer than a line, and no power of two */
};

/* A random cycle that begins at the first word. */
static void write_nodes(struct chase_context *context)
{
	uint32_t words[CHASE_CONSTANT_WORDS] = {0}, next[CHASE_CONSTANT_NODES];
	chain_cycle(next, CHASE_CONSTANT_NODES, &context->random);
	for (uint32_t i = 0; i < CHASE_CONSTANT_NODES; ++i)
		words[i * STRIDE / sizeof words[0]] = next[i] * STRIDE;
	GPU(chase_fill_constant(words, ARRAY_LEN(words)));
}

static void record(
        struct chase_context *context, int before, const struct chase_once *result, int repeats)
{
	double seconds[REPEATS * READ];
	struct measurement measurement = {.hz = NAN};
	size_t n = 0;
	for (int repeat = 0; repeat < repeats; ++repeat) {
		const double hz = chase_once_loads(
		        &result[repeat], CHASE_CONSTANT_NODES, SKIPPED, seconds + n);
		n += hz > 0 ? READ : 0;
		measurement.hz = fmax(measurement.hz, hz);
	}
	const struct arg args[] = {{"sm", READER}, {"before", before}};
	measurement.seconds = stats_median_interval(seconds, n);
	if (n > 0)
		probe_record(context->run, "constant_first", args, 2, &measurement);
}

/* One SM reads after each SM, after itself too, and after none (-1). */
void chase_measure_constant(struct chase_context *context)
{
	const int repeats = context->run->common.quick ? 1 : REPEATS, sms = context->gpu.sm_count;
	const size_t launches = (size_t)(sms + 1) * (size_t)repeats;
	struct chase_once *result;
	uint32_t *turn;
	GPU(cudaMalloc((void **)&turn, 2 * launches * sizeof *turn));
	GPU(cudaMemset(turn, 0, 2 * launches * sizeof *turn));
	GPU(cudaMallocHost((void **)&result, launches * sizeof *result));
	memset(result, 0, launches * sizeof *result);
	for (size_t i = 0; i < launches; ++i) {
		write_nodes(context);
		GPU(chase_constant((int)i / repeats - 1, READER, sms, turn + 2 * i, &result[i]));
	}
	GPU(cudaDeviceSynchronize());
	for (int before = -1; before < sms; ++before)
		record(context, before, &result[(before + 1) * repeats], repeats);
	GPU(cudaFree(turn));
	GPU(cudaFreeHost(result));
}
