/* SPDX-License-Identifier: MIT */
/* Loads of single L2 lines by every SM in turn. First loads of L2 lines by an SM: lines that an SM
 * of the other partition, or of its own, has brought into L2, and lines not in L2. Second loads may
 * hit the near part. The same loads tell an SM's partition: one SM reads the lines that each other
 * SM has read. */
#include "pointer_chase_internal.h"

#include "lib/base/msg.h"
#include "lib/stats/bimodality.h"
#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- single lines, read repeatedly ---- */

enum { SLICE_REPEATS = 3 };

/* Of one launch; pinned. */
struct slice {
	uint32_t cycles[SLICE_LINES];
	struct gpu_span span;
};

/* slice: [repeat][sm] */
static void record_slices(struct chase_context *context, const struct slice *slice, int lines)
{
	const int sms = context->gpu.sm_count;
	for (int sm = 0; sm < sms; ++sm)
		for (int i = 0; i < lines; ++i) {
			double seconds[SLICE_REPEATS];
			struct measurement measurement = {.hz = NAN};
			size_t n = 0;
			for (int repeat = 0; repeat < SLICE_REPEATS; ++repeat) {
				const struct slice *at = &slice[repeat * sms + sm];
				struct sample sample;
				gpu_span_sample(&at->span, 1, 0, 0, &sample);
				if (!sample.agreed)
					continue;
				seconds[n++] = at->cycles[i] / sample.hz / CHASE_SLICE_STEPS;
				measurement.hz = sample.hz;
			}
			const struct arg args[] = {{"sm", sm}, {"line", i}};
			measurement.seconds = stats_median_interval(seconds, n);
			if (n > 0)
				probe_record(context->run, "slice", args, 2, &measurement);
		}
}

/* Every SM in turn reads the same lines; every process draws new ones. */
void chase_measure_slices(struct chase_context *context, int lines)
{
	const int sms = context->gpu.sm_count, launches = SLICE_REPEATS * sms;
	const uint32_t places = (uint32_t)(context->memory_bytes / 8 / LINE);
	const size_t taken_bytes = (size_t)launches * sizeof(uint32_t);
	uint64_t line[SLICE_LINES], *device_line;
	uint32_t *taken;
	struct slice *slice;
	for (int i = 0; i < lines; ++i)
		line[i] = (uint64_t)(uintptr_t)context->memory +
		          (uint64_t)LINE * chain_random(&context->random, places);
	GPU(cudaMalloc((void **)&device_line, sizeof line));
	GPU(cudaMalloc((void **)&taken, taken_bytes));
	GPU(cudaMallocHost((void **)&slice, (size_t)launches * sizeof *slice));
	GPU(cudaMemcpy(device_line, line, (size_t)lines * sizeof *line, cudaMemcpyHostToDevice));
	GPU(cudaMemset(taken, 0, taken_bytes));
	memset(slice, 0, (size_t)launches * sizeof *slice);
	GPU(chase_close(device_line, lines));
	for (int i = 0; i < launches; ++i)
		GPU(chase_slice(i % sms, sms, device_line, lines, taken + i, slice[i].cycles,
		        &slice[i].span));
	GPU(cudaDeviceSynchronize());
	record_slices(context, slice, lines);
	GPU(cudaFree(device_line));
	GPU(cudaFree(taken));
	GPU(cudaFreeHost(slice));
}

enum {
	ONCE_REPEATS = 5,
	ONCE_SKIPPED = 32, /* the first loads also fetch code */
	ONCE_READ = CHASE_ONCE_NODES - ONCE_SKIPPED,
	ONCE_STRIDE = 2048 /* no line comes with another */
};

/* The reading SM, and the SM that read before (negative: none). */
struct readers {
	const char *series;
	int reader, before;
};

struct once {
	uint32_t *taken;           /* on the device, two words for each SM */
	struct chase_once *result; /* pinned, one for each */
};

/* Reading the clock costs the difference of the second and the third round, which find the same
 * lines in the same cache. */
static double chase_once_loads(
        const struct chase_once *result, int nodes, int skipped, double *seconds)
{
	struct sample sample;
	double stamped = 0;
	gpu_span_sample(&result->span, 1, 0, 0, &sample);
	if (!sample.agreed)
		return NAN;
	for (int i = 0; i < nodes; ++i)
		stamped += result->again[i];
	const double cost = (stamped - result->chained) / nodes;
	for (int i = skipped; i < nodes; ++i)
		seconds[i - skipped] = (result->first[i] - cost) / sample.hz;
	return sample.hz;
}

/* Every process draws new lines with numbers of their own. */
static void record_once(struct chase_context *context, const struct once *once, int repeats,
        const struct readers *readers)
{
	const int first = context->run->process * ONCE_READ;
	double seconds[ONCE_REPEATS][ONCE_READ], line[ONCE_REPEATS];
	struct measurement measurement = {.hz = NAN};
	size_t n = 0;
	for (int repeat = 0; repeat < repeats; ++repeat) {
		const double hz = chase_once_loads(
		        &once->result[repeat], CHASE_ONCE_NODES, ONCE_SKIPPED, seconds[n]);
		n += hz > 0;
		measurement.hz = fmax(measurement.hz, hz);
	}
	for (int i = 0; n > 0 && i < ONCE_READ; ++i) {
		const struct arg args[] = {{"sm", readers->reader}, {"line", first + i}};
		for (size_t repeat = 0; repeat < n; ++repeat)
			line[repeat] = seconds[repeat][i];
		measurement.seconds = stats_median_interval(line, n);
		probe_record(context->run, readers->series, args, 2, &measurement);
	}
}

static void clear_taken(const struct chase_context *context, const struct once *once)
{
	const size_t words = 2 * ((size_t)context->gpu.sm_count + ONCE_REPEATS);
	GPU(cudaMemset(once->taken, 0, words * sizeof *once->taken));
}

/* Launch number k; L2 is flushed before. */
static void launch_once(struct chase_context *context, const struct once *once,
        const struct chase_set *set, const struct readers *readers, int k)
{
	const int sms = context->gpu.sm_count;
	uint32_t *touched = once->taken + 2 * k;
	once->result[k].span = (struct gpu_span){0};
	GPU(cudaMemset(context->flush, k & 1, (size_t)context->flush_bytes));
	if (readers->before >= 0)
		GPU(chase_touch(set, readers->before, sms, touched));
	GPU(chase_once(set, readers->reader, sms, readers->before >= 0 ? touched : NULL,
	        touched + 1, &once->result[k]));
}

static void read_once(struct chase_context *context, const struct once *once, int repeats,
        const struct chase_set *set, const struct readers *readers)
{
	clear_taken(context, once);
	for (int repeat = 0; repeat < repeats; ++repeat)
		launch_once(context, once, set, readers, repeat);
	GPU(cudaDeviceSynchronize());
	record_once(context, once, repeats, readers);
}

/* The last SM on that side other than `sm`; -1 when there is none. */
static int last_on(const struct chase_context *context, const int *side, int wanted, int sm)
{
	int other = context->gpu.sm_count - 1;
	while (other >= 0 && (other == sm || side[other] != wanted))
		--other;
	return other;
}

/* Random lines within one page. */
static void draw_lines(struct chase_context *context, struct chase_set *set)
{
	const int64_t page = 2 * MIB;
	*set = chase_new_set(context, CHASE_ONCE_NODES, ONCE_STRIDE, ONCE_STRIDE / LINE - 1, LINE);
	set->slots = 1;
	set->base += (uint64_t)page *
	             chain_random(&context->random, (uint32_t)(context->memory_bytes / page));
	chase_start_plan(context, CHASE_CG, *set);
	GPU(chase_build(&context->plan));
}

/* The mean load over the lines, some near and some far. */
static bool mean_load(const struct chase_once *result, struct measurement *measurement)
{
	double seconds[ONCE_READ];
	const double hz = chase_once_loads(result, CHASE_ONCE_NODES, ONCE_SKIPPED, seconds);
	if (!(hz > 0))
		return false;
	const double mean = stats_mean(seconds, ONCE_READ),
	             half = stats_student(ONCE_READ - 1) * stats_deviation(seconds, ONCE_READ) /
	                    sqrt(ONCE_READ);
	*measurement = (struct measurement){
	        .seconds = {mean, mean - half, mean + half, ONCE_READ}, .hz = hz};
	return true;
}

/* Fills side: 0 for SM 0 and SMs whose lines it reads as soon, 1 for SMs whose lines it reads
 * later, -1 for SMs not asked. Without two groups all are in one. */
static void find_sides(struct chase_context *context, const struct once *once, int *side)
{
	const int sms = context->gpu.sm_count, step = context->run->common.quick ? 4 : 1;
	double *mean = xcalloc((size_t)sms, sizeof *mean);
	int *asked = xcalloc((size_t)sms, sizeof *asked),
	    *later = xcalloc((size_t)sms, sizeof *later);
	size_t n = 0;
	struct chase_set set;
	draw_lines(context, &set);
	clear_taken(context, once);
	for (int before = step; before < sms; before += step)
		launch_once(
		        context, once, &set, &(struct readers){"once_before", 0, before}, before);
	GPU(cudaDeviceSynchronize());
	for (int before = step; before < sms; before += step) {
		const struct arg args[] = {{"sm", 0}, {"before", before}};
		struct measurement measurement;
		if (!mean_load(&once->result[before], &measurement))
			continue;
		probe_record(context->run, "once_before", args, 2, &measurement);
		mean[n] = measurement.seconds.value;
		asked[n++] = before;
	}
	if (bimodality_count(bimodality_find(mean, n, later)) != 2)
		memset(later, 0, (size_t)sms * sizeof *later);
	for (int sm = 1; sm < sms; ++sm)
		side[sm] = -1;
	side[0] = 0;
	for (size_t i = 0; i < n; ++i)
		side[asked[i]] = later[i];
	free(later);
	free(asked);
	free(mean);
}

/* Measures a reader on each side. Without two groups: one reader, and any other SM before it. */
void chase_measure_once(struct chase_context *context)
{
	const int repeats = context->run->common.quick ? 3 : ONCE_REPEATS;
	const size_t launches = (size_t)context->gpu.sm_count + ONCE_REPEATS;
	int *side = xcalloc((size_t)context->gpu.sm_count, sizeof *side);
	struct once once;
	GPU(cudaMalloc((void **)&once.taken, 2 * launches * sizeof *once.taken));
	GPU(cudaMallocHost((void **)&once.result, launches * sizeof *once.result));
	find_sides(context, &once, side);
	for (int reader_side = 0; reader_side < 2; ++reader_side) {
		const int reader = last_on(context, side, reader_side, -1);
		const int near = last_on(context, side, reader_side, reader);
		if (reader < 0 || near < 0)
			continue;
		const int far = last_on(context, side, !reader_side, reader);
		struct chase_set set;
		draw_lines(context, &set);
		const struct readers all[] = {{"once_other", reader, far < 0 ? near : far},
		        {"once_same", reader, near}, {"once_absent", reader, -1}};
		for (size_t i = 0; i < ARRAY_LEN(all); ++i)
			read_once(context, &once, repeats, &set, &all[i]);
	}
	GPU(cudaFree(once.taken));
	GPU(cudaFreeHost(once.result));
	free(side);
}

/* ---- constants ---- */

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
