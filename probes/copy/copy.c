/* SPDX-License-Identifier: MIT */
/* Question: how long do a device-memory copy, a read and a write take, against size (L2 to DRAM),
 * stride, misalignment, access width and bytes in flight, with a warm and with a cold L2?
 *
 * Method: dependent kernels queued behind a hold, between two stamps in the stream. The difference
 * of a long and a short queue is the time from start to start. Warm: the same buffers again. Cold:
 * buffers in rotation, with four L2s of traffic before one returns.
 *
 * What can fool it: an L2 that is not cold; kernels that the compiler reduces (targets are
 * verified, sources random); memory too short for large strides (left out); rising clocks (warm-up
 * by time).
 *
 * Unit: seconds of one kernel, start to start; `bytes` counts bytes read plus bytes written. */
#include "copy_internal.h"

#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <string.h>

/* Adds a point that fits into the buffers and is wanted. */
static void add(struct copy_sweep *sweep, struct copy_point point)
{
	copy_complete(&point);
	if (copy_extent(&point) > sweep->buffer_bytes)
		return;
	if (sweep->count == ARRAY_LEN(sweep->point))
		msg_die(EXIT_MEASURE_FAILED, "more than %zu points in the sweep of copies",
		        ARRAY_LEN(sweep->point));
	sweep->all++;
	if (probe_wants(sweep->run, point.series, point.args, COPY_ARGS))
		sweep->point[sweep->count++] = point;
}

static void add_launch(
        struct copy_sweep *sweep, const char *series, struct copy_launch launch, bool cold)
{
	add(sweep, (struct copy_point){.series = series, .launch = launch, .cold = cold});
}

static const struct {
	enum copy_kind kind;
	int64_t bytes_per_word;
	const char *warm, *cold, *l2;
} ways[] = {{COPY_BOTH, 8, "copy_warm", "copy_cold", "copy_l2"},
        {COPY_READ, 4, "read_warm", "read_cold", "read_l2"},
        {COPY_WRITE, 4, "write_warm", "write_cold", "write_l2"},
        {COPY_CHANGE, 8, "change_warm", NULL, NULL}};

static const int64_t largest_bytes = 1ll << 30;

static void add_sizes(struct copy_sweep *sweep)
{
	int64_t factor = sweep->run->common.quick ? 8 : 2;

	for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
		struct copy_launch launch = {.kind = ways[w].kind};
		for (int64_t bytes = 4096; bytes <= largest_bytes; bytes *= factor) {
			launch.words = bytes / ways[w].bytes_per_word;
			add_launch(sweep, ways[w].warm, launch, false);
			if (ways[w].cold)
				add_launch(sweep, ways[w].cold, launch, true);
		}
		/* between 3/4 and 7/8 of L2 sets no longer fit; what changes in place is its set */
		for (int part = 12; part <= 14 && !sweep->run->common.quick; part++) {
			launch.words = sweep->gpu.l2_bytes / 16 * part / 4096 * 4096 /
			               (launch.kind == COPY_CHANGE ? 4 : ways[w].bytes_per_word);
			add_launch(sweep, ways[w].warm, launch, false);
		}
		if (!ways[w].cold)
			continue;
		launch.words = sweep->gpu.l2_bytes / 2 / 4096 * 4096 / ways[w].bytes_per_word;
		add_launch(sweep, ways[w].l2, launch, false);
	}
}

/* Words of a copy whose bytes read plus written are at least four L2s. */
static int64_t large_words(const struct gpu *gpu)
{
	int64_t words = 1 << 20;
	while (8 * words < 4 * gpu->l2_bytes)
		words *= 2;
	return words;
}

/* Strides of as many words; a quick run does not allocate for the wide ones. */
static int64_t widest_stride(const struct copy_sweep *sweep)
{
	return sweep->run->common.quick ? 8 : 32;
}

static void add_strides(struct copy_sweep *sweep)
{
	static const int64_t paper[] = {1, 8, 512}; /* LAWN 202, section 3.7 */
	struct copy_launch launch = {.kind = COPY_STRIDED, .words = 1 << 18, .width = 4};

	for (size_t i = 0; i < ARRAY_LEN(paper); i++) {
		launch.stride = paper[i];
		add_launch(sweep, "stride_warm", launch, false);
		add_launch(sweep, "stride_cold", launch, true);
	}
	launch.words = large_words(&sweep->gpu);
	for (launch.stride = 1; launch.stride <= widest_stride(sweep); launch.stride *= 2)
		add_launch(sweep, "stride_cold", launch, true);
}

/* The plain misaligned copy uses the widest access for its alignment. */
static void add_offsets(struct copy_sweep *sweep)
{
	static const int64_t offsets[] = {4, 8, 16, 64};
	int64_t words = large_words(&sweep->gpu);

	for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
		struct copy_launch launch = {.kind = COPY_BOTH, .words = words};
		launch.width = (int)min_int64(offsets[i], 16);
		add(sweep, (struct copy_point){
		                   "misaligned_cold", launch, .cold = true, .offset = offsets[i]});
		launch.kind = COPY_HEAD;
		launch.width = 16;
		add(sweep, (struct copy_point){"aligned_head_cold", launch, .cold = true,
		                   .offset = offsets[i]});
	}
}

static void add_widths(struct copy_sweep *sweep)
{
	for (int width = 4; width <= 16; width *= 2) {
		struct copy_launch launch = {
		        .kind = COPY_BOTH, .words = large_words(&sweep->gpu), .width = width};
		add_launch(sweep, "width_cold", launch, true);
	}
}

/* Threads per SM from one warp to as many as fit. */
static void add_inflight(struct copy_sweep *sweep)
{
	struct copy_point point = {.series = "inflight_cold", .cold = true};
	point.launch = (struct copy_launch){
	        .kind = COPY_BOTH, .words = large_words(&sweep->gpu), .width = 16};
	int most = COPY_THREADS * copy_blocks_per_sm(&point.launch);

	for (int threads = 32; threads <= most;
	        threads = threads < most ? (int)min_int64(2 * threads, most) : most + 1) {
		point.inflight = (int64_t)threads * COPY_UNROLL * point.launch.width;
		add(sweep, point);
	}
}

/* Two buffers for the widest stride (not for re-measurements), each at most a quarter of the
 * memory. */
static void allocate(struct copy_sweep *sweep)
{
	static const int64_t least = 64ll << 20;
	const int64_t strided = large_words(&sweep->gpu) * widest_stride(sweep) * 4;
	int64_t wanted = max_int64(largest_bytes, sweep->run->wanted ? 0 : strided), bytes = least;

	while (2 * bytes <= min_int64(wanted, sweep->gpu.memory_bytes / 4))
		bytes *= 2;
	for (; bytes >= least; bytes /= 2) {
		if (cudaMalloc((void **)&sweep->source, (size_t)bytes) == cudaSuccess) {
			if (cudaMalloc((void **)&sweep->target, (size_t)bytes) == cudaSuccess)
				break;
			GPU(cudaFree(sweep->source));
		}
		cudaGetLastError(); /* clears the error */
	}
	if (bytes < least)
		msg_die(EXIT_NOT_POSSIBLE,
		        "not enough free GPU memory: two buffers of 64 MiB are needed");
	sweep->buffer_bytes = bytes;
	GPU(cudaMalloc((void **)&sweep->wrong, sizeof *sweep->wrong));
	gpu_fill_float(
	        (float *)(void *)sweep->source, bytes / 4, (uint64_t)sweep->run->common.seed, NULL);
	GPU(cudaMemsetAsync(sweep->target, 0xa5, (size_t)bytes, NULL));
	GPU(cudaDeviceSynchronize());
}

static void describe(const struct copy_sweep *sweep)
{
	struct table *curve = sweep->run->curve;
	const struct gpu *gpu = &sweep->gpu;
	int memory_khz = 0, bus_bits = 0;

	if (cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, gpu->device) ||
	        cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, gpu->device))
		cudaGetLastError();
	table_meta_set(curve, "l2_bytes", "%lld", (long long)gpu->l2_bytes);
	/* Two transfers a clock; 0 when the driver does not tell, and where the memory is the
	 * host's, whose clock and width the attributes are not. */
	table_meta_set(curve, "pin_bytes_per_second", "%.9g",
	        gpu->integrated ? 0. : 2e3 * memory_khz * bus_bits / 8);
	/* An SM loads or stores at most a line a cycle. */
	table_meta_set(
	        curve, "sm_bytes_per_second", "%.9g", COPY_LINE * gpu->max_hz * gpu->sm_count);
}

static void measure(struct probe_run *run)
{
	struct copy_sweep sweep = {.run = run};

	probe_open_gpu(run, &sweep.gpu);
	allocate(&sweep);
	sweep.hold = gpu_hold_new();
	sweep.timer = gpu_timer_new(&sweep.gpu);
	gpu_timer_start(sweep.timer, NULL); /* loads its kernel */
	describe(&sweep);
	add_sizes(&sweep);
	add_strides(&sweep);
	add_offsets(&sweep);
	add_widths(&sweep);
	add_inflight(&sweep);

	/* a re-measurement is short: it is for this process's kernel starts */
	const double share = run->seconds / (double)(run->wanted ? 2 * sweep.all : sweep.all);
	gpu_warm(&sweep.gpu, run->warm_seconds);
	for (size_t i = 0; i < sweep.count; i++)
		copy_measure_point(&sweep, &sweep.point[i], share);
	if (run->process == 0) {
		struct copy_point point = {.series = "copy_sustained", .cold = true};
		point.launch.words = min_int64(largest_bytes / 8, sweep.buffer_bytes / 4);
		copy_complete(&point);
		copy_measure_sustained(&sweep, &point);
	}
	probe_watch_gpu(run, &sweep.gpu);
	gpu_timer_free(sweep.timer);
	gpu_hold_free(sweep.hold);
	cudaFree(sweep.wrong);
	cudaFree(sweep.target);
	cudaFree(sweep.source);
}

/* The start time of a kernel (probes/launch/launch.c), most of a short kernel's time. */
static bool by_chance(const char *series, double seconds)
{
	static const double short_kernel = 10e-6;
	bool fitted = false;

	for (size_t w = 0; w < ARRAY_LEN(ways); w++)
		fitted |= strcmp(series, ways[w].warm) == 0;
	return seconds < short_kernel && (fitted || strcmp(series, ways[0].cold) == 0);
}

static const char *const args[] = {"bytes", "words", "stride", "offset", "width", "inflight"};
const struct probe copy_probe = {
        .name = "copy",
        .question = "How fast does device memory copy, read and write, against size, stride, "
                    "alignment, width and bytes in flight?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .needs_gpu = true,
        .turn = -1,
        .seconds = 0.6, /* and 1 s sustained in the first process */
        .processes = 3,
        .revisits = true,
        .by_chance = by_chance,
        .measure = measure,
        .fit = copy_fit,
};
