/* SPDX-License-Identifier: MIT */
/* The latency of single L2 lines from every SM. */
#include "pointer_chase_internal.h"

#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>
#include <math.h>

enum { SLICE_REPEATS = 3 };

struct slices {
	uint64_t *line;        /* on the device */
	uint32_t *taken;       /* on the device, one for each launch */
	uint32_t *cycles;      /* pinned: [repeat][sm][line] */
	struct gpu_span *span; /* pinned: [repeat][sm] */
};

static void record_slices(struct chase_context *context, const struct slices *slices, int lines)
{
	const int sms = context->gpu.sm_count;
	for (int sm = 0; sm < sms; ++sm)
		for (int i = 0; i < lines; ++i) {
			double seconds[SLICE_REPEATS];
			struct measurement measurement = {.hz = NAN};
			size_t n = 0;
			for (int repeat = 0; repeat < SLICE_REPEATS; ++repeat) {
				const size_t at = (size_t)(repeat * sms + sm);
				struct sample sample;
				gpu_span_sample(&slices->span[at], 1, 0, 0, &sample);
				if (!sample.agreed)
					continue;
				seconds[n++] = slices->cycles[at * (size_t)lines + (size_t)i] /
				               sample.hz / CHASE_SLICE_STEPS;
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
	uint64_t line[SLICE_LINES];
	struct slices slices;
	for (int i = 0; i < lines; ++i)
		line[i] = (uint64_t)(uintptr_t)context->memory +
		          (uint64_t)LINE * chain_random(&context->random, places);
	GPU(cudaMalloc((void **)&slices.line, sizeof line));
	GPU(cudaMalloc((void **)&slices.taken, (size_t)launches * sizeof *slices.taken));
	GPU(cudaMallocHost(
	        (void **)&slices.cycles, (size_t)launches * (size_t)lines * sizeof *slices.cycles));
	GPU(cudaMallocHost((void **)&slices.span, (size_t)launches * sizeof *slices.span));
	GPU(cudaMemcpy(slices.line, line, (size_t)lines * sizeof *line, cudaMemcpyHostToDevice));
	GPU(cudaMemset(slices.taken, 0, (size_t)launches * sizeof *slices.taken));
	GPU(chase_close(slices.line, lines));
	for (int i = 0; i < launches; ++i) {
		slices.span[i] = (struct gpu_span){0};
		GPU(chase_slice(i % sms, sms, slices.line, lines, slices.taken + i,
		        slices.cycles + (size_t)i * (size_t)lines, slices.span + i));
	}
	GPU(cudaDeviceSynchronize());
	record_slices(context, &slices, lines);
	GPU(cudaFree(slices.line));
	GPU(cudaFree(slices.taken));
	GPU(cudaFreeHost(slices.cycles));
	GPU(cudaFreeHost(slices.span));
}
