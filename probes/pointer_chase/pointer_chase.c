/* SPDX-License-Identifier: MIT */
/* Question: how large is each level of the memory hierarchy, how is it organised, and how long does
 * a dependent load take from it?
 *
 * Method: one thread follows pointers. Random chains over growing sets give sizes and plateaus
 * (`chain`, `entries`, `pages`, `packed`); cycles at a stride LAWN 202's Figure 1 (`cycle`); pairs
 * of loads the lines and sectors (`fetch`); single lines, read repeatedly from every SM, the SMs
 * with the same near part of L2 (`slice`); lines read once a hit in the far part (`once`); private
 * sets on all SMs the shared levels (`all`).
 *
 * What can fool it: a cache still filling (the same SM reads every set before, on the same path);
 * TLB misses (sets for caches are dense, sets for pages small); too few cache sets in use (lines
 * are random); assumed sizes (sizes are log-spaced; device attributes only limit the sweep).
 *
 * Unit: seconds per load; for `fetch` seconds per pair of loads. */
#include "pointer_chase_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/stats/log_spaced.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <math.h>

static const double memory_share = 0.8;
static const double host_memory_share =
        0.4; /* of an integrated GPU, which uses the host's memory */

/* Private sets around the stated size of an SM's L1, as long as they fit in L2 together; around an
 * SM's share of L2, without sets that fit in L2 but not in half of it (private sets fit in any part
 * of a divided L2, one SM's set does not); and of pages. */
static void all_at_once(struct chase_context *context, bool quick)
{
	static const int l1_eighths[] = {2, 8, 10, 12, 4, 6, 9},
	                 l2_eighths[] = {2, 8, 16, 4, 12, 24, 32};
	const int64_t l1 = context->gpu.shared_per_sm;
	const int64_t l2 = context->gpu.l2_bytes / context->gpu.sm_count;
	const int64_t reach = context->memory_bytes / context->gpu.sm_count;
	for (size_t i = 0; i < (quick ? 4 : ARRAY_LEN(l1_eighths)); ++i) {
		if (l1 * l1_eighths[i] / 8 <= l2 * 3 / 4)
			chase_measure_all(
			        context, "all_ca", CHASE_CA, l1 * l1_eighths[i] / 8, LINE);
		chase_measure_all(context, "all_cg", CHASE_CG, l2 * l2_eighths[i] / 8, LINE);
	}
	for (int k = 0; log_spaced_count(k) * 2 * MIB <= reach; k += quick ? 12 : 2)
		chase_measure_all(
		        context, "all_pages", CHASE_CG, log_spaced_count(k) * 2 * MIB, 2 * MIB);
}

/* One allocation of most of the free memory, aligned to the largest stride. */
static void allocate(struct chase_context *context)
{
	size_t unused, total, bytes;
	const size_t align = (size_t)(64 * MIB);
	GPU(cudaMalloc((void **)&context->next, CHASE_SHARED_WORDS * sizeof *context->next));
	GPU(cudaMallocHost((void **)&context->result,
	        (size_t)context->gpu.sm_count * sizeof *context->result));
	GPU(cudaMemGetInfo(&unused, &total));
	context->flush_bytes = 4 * context->gpu.l2_bytes;
	const double share = context->gpu.integrated ? host_memory_share : memory_share;
	bytes = (size_t)(share * (double)unused);
	const size_t least = (size_t)(8 * context->gpu.l2_bytes) + 2 * align;
	if (bytes < least + (size_t)context->flush_bytes)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop other programs", unused);
	if (unused < total / 2)
		msg_warn("%zu of %zu bytes of GPU memory are free: the TLB is seen that far only",
		        unused, total);
	GPU(cudaMalloc(&context->flush, (size_t)context->flush_bytes));
	bytes -= (size_t)context->flush_bytes;
	while (cudaMalloc(&context->allocation, bytes) != cudaSuccess) {
		cudaGetLastError();
		msg_warn("no %zu bytes of GPU memory in one piece: trying three quarters", bytes);
		bytes = bytes / 4 * 3;
		if (bytes < least)
			msg_die(EXIT_NOT_POSSIBLE, "no GPU memory of a useful size in one piece");
	}
	const uintptr_t start = (uintptr_t)context->allocation;
	const uintptr_t aligned = (start + align - 1) / align * align;
	context->memory = (char *)context->allocation + (aligned - start);
	context->memory_bytes = (int64_t)(bytes - (aligned - start));
}

static void release(struct chase_context *context)
{
	GPU(cudaFree(context->allocation));
	GPU(cudaFree(context->flush));
	GPU(cudaFree(context->next));
	GPU(cudaFreeHost(context->result));
}

static void note_time(const char *part, double *since)
{
	const double now = clock_now();
	msg_note("%s: %.3f s", part, now - *since);
	*since = now;
}

static void sweep_caches(struct chase_context *context, bool quick)
{
	const int fine = quick ? 2 : 6;
	const int64_t l2 = context->gpu.l2_bytes;
	double since = clock_now();
	/* every third line: dense enough that no TLB misses; an odd number fills all cache sets
	 * alike */
	const int64_t apart = 3 * LINE;
	chase_chain_sizes(
	        context, "chain_ca", CHASE_CA, LINE, 2 * KIB / LINE, 4 * MIB / LINE, fine);
	chase_chain_sizes(
	        context, "chain_cg", CHASE_CG, LINE, 64 * KIB / LINE, 8 * l2 / LINE, fine);
	chase_chain_sizes(context, "chain_nc", CHASE_NC, LINE, 4 * KIB / LINE, MIB / LINE, 1);
	chase_chain_constant(context, fine);
	note_time("chains over bytes", &since);
	chase_chain_sizes(context, "entries_ca", CHASE_CA, apart, 64, 8192, quick ? 2 : 4);
	chase_chain_sizes(context, "entries_cg", CHASE_CG, apart, 8192, 2 * MIB, quick ? 1 : 4);
	note_time("chains over entries", &since);
	for (int64_t offset = 8; offset <= 1024; offset *= 2) {
		chase_measure_fetch(context, "fetch_l1", CHASE_CA, offset);
		chase_measure_fetch(context, "fetch_l2", CHASE_CG, offset);
	}
	chase_cold_sizes(context);
	note_time("pairs and cold sets", &since);
}

static void sweep(struct chase_context *context, bool quick)
{
	const int64_t strides[] = {2 * MIB, 8 * MIB, 32 * MIB, 64 * MIB};
	chase_measure_shared(context, -1);
	if (context->gpu.clusters && chase_cluster_fits(CLUSTER))
		for (int distance = 0; distance < CLUSTER; distance += quick ? 3 : 1)
			chase_measure_shared(context, distance);
	else
		probe_lacks(context->run, &context->gpu, "cluster", 90);
	sweep_caches(context, quick);
	double since = clock_now();
	for (size_t i = 0; i < ARRAY_LEN(strides); i += quick ? 2 : 1)
		chase_chain_pages(context, strides[i], false, quick);
	chase_chain_pages(context, strides[0], true, quick);
	note_time("chains over pages", &since);
	chase_cycle_sizes(context, "cycle_ca", CHASE_CA, context->memory_bytes, 8, quick ? 64 : 8);
	chase_cycle_sizes(context, "cycle_cg", CHASE_CG, context->memory_bytes, 8, quick ? 64 : 8);
	chase_cycle_sizes(context, "cycle_cv", CHASE_CV, 1024 * MIB, 512, 64);
	note_time("cycles", &since);
	chase_measure_slices(context, quick ? SLICE_LINES / 4 : SLICE_LINES);
	note_time("slices", &since);
	chase_measure_once(context);
	chase_measure_constant(context);
	note_time("first reads", &since);
	all_at_once(context, quick);
	note_time("all SMs", &since);
}

static void measure(struct probe_run *run)
{
	struct chase_context context = {.run = run,
	        .random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	const bool quick = run->common.quick;
	const double scale = run->seconds / (run->probe->seconds / (quick ? 5 : 1));
	double since = clock_now();
	probe_open_gpu(run, &context.gpu);
	note_time("opening", &since);
	gpu_warm(&context.gpu, run->warm_seconds);
	note_time("warming", &since);
	allocate(&context);
	note_time("allocating", &since);
	context.sample_seconds = (quick ? 0.15e-3 : 0.3e-3) * fmin(scale, 4);
	context.point_seconds = (quick ? 1.5e-3 : 6e-3) * scale;
	sweep(&context, quick);
	since = clock_now();
	release(&context);
	note_time("releasing", &since);
	probe_watch_gpu(run, &context.gpu);
}

static const char *const columns[] = {
        "bytes", "stride", "nodes", "offset", "sm", "line", "distance", "before"};

const struct probe pointer_chase_probe = {
        .name = "pointer_chase",
        .question = "How large and how fast is each level of the memory hierarchy?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .turn = 2,
        .seconds = 3.2,
        .processes = 3, /* times inside a kernel differ little */
        .measure = measure,
        .fit = pointer_chase_fit,
};
