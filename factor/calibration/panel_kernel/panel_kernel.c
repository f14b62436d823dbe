/* SPDX-License-Identifier: MIT */
/* Question: what does each step of our own LU panel kernels cost?
 *
 * Method: the kernels that factorizations run, on panels of powers of two, behind a hold. The fused
 * variant: its two kernels in turns, and the pivot kernel alone, from start to start. The resident
 * kernel: one column without the update behind it, and one sweep of the update in shared memory.
 *
 * What can fool it: a step that is applied again and again must not overflow (multipliers are 1);
 * a kernel that follows itself finds its code in the caches (the two take turns, as in the
 * factorization); kernels loaded behind a hold (each runs once before). The factors have no meaning
 * here: the tests check them.
 *
 * Unit: seconds per kernel; for the two kernels in turns per pair; per column; per sweep. */
#include "lib/base/base.h"
#include "panel_kernel.h"

#include "lib/host/clock.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "factor/kernels/lu/panel_kernels.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <math.h>

enum {
	SHORT = 16, /* the two queue lengths */
	LONG = 80,
	LARGEST_M = 131072,
	LARGEST_N = 128,
	MORE_ROWS = 384, /* of a block, whose warps then pass twice over them */
};

/* The host notices the end of a queue at most this much later than the device. */
static const double host_slack = 100e-6;

struct bench {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream;
	void *a, *work, *first_search, *exchange;
	int64_t exchange_size;
	int *pivots;
	uint32_t tag;
	uint64_t seed;
	struct gpu_span *span; /* pinned */
	float *sink;           /* pinned */
};

struct update {
	struct bench *bench;
	int threads, columns;
	int64_t sweeps;
};

struct subject {
	struct bench *bench;
	enum precision precision;
	int64_t m, n, lda;
	bool step;    /* pivot and update kernel in turns instead of the pivot kernel alone */
	int64_t rows; /* of a block of the resident kernel; 0 for the others */
};

static void launch(const struct subject *s)
{
	struct bench *b = s->bench;
	GPU(panel_fused_pivot(
	        s->precision, b->a, s->lda, s->m, s->n, 0, b->first_search, b->pivots, b->stream));
	if (s->step)
		GPU(panel_fused_update(
		        s->precision, b->a, s->lda, s->m, s->n, 0, b->work, b->stream));
}

static void put(const struct subject *s, int64_t row, double value)
{
	struct bench *b = s->bench;
	float single = (float)value;
	size_t word = (size_t)precision_bytes(s->precision);
	GPU(cudaMemcpyAsync((char *)b->a + (size_t)row * word,
	        s->precision == SINGLE ? (const void *)&single : &value, word,
	        cudaMemcpyHostToDevice, b->stream));
}

/* The two rows that every pivot kernel swaps have the largest elements of the first column, about
 * equal, so that multipliers stay at 1 however often the step is repeated. */
static void fill(const struct subject *s)
{
	struct bench *b = s->bench;
	if (s->precision == SINGLE)
		gpu_fill_float(b->a, s->lda * s->n, b->seed, b->stream);
	else
		gpu_fill_double(b->a, s->lda * s->n, b->seed, b->stream);
	put(s, 0, 1.5);
	put(s, s->m - 1, 1.5 + 1e-5);
	GPU(panel_fused_begin(s->precision, b->a, s->m, b->first_search, b->stream));
	GPU(cudaStreamSynchronize(b->stream));
}

/* Span of count kernels queued behind a hold. */
static bool queue(const struct subject *s, int count, struct sample *sample)
{
	struct bench *b = s->bench;
	gpu_hold_start(b->hold, b->stream);
	gpu_timer_start(b->timer, b->stream);
	for (int i = 0; i < count; i++)
		launch(s);
	gpu_timer_stop(b->timer, b->stream);
	double start = clock_now();
	gpu_hold_release(b->hold);
	GPU(cudaStreamSynchronize(b->stream));
	double seconds = clock_now() - start;
	struct gpu_span span;
	gpu_timer_span(b->timer, &span);
	gpu_span_sample(&span, 1, seconds, host_slack, sample);
	return gpu_hold_ok(b->hold);
}

static bool sample_kernel(void *context, struct sample *sample)
{
	const struct subject *s = context;
	struct sample few;
	if (!queue(s, SHORT, &few) || !queue(s, LONG, sample))
		return false;
	sample->seconds = (sample->seconds - few.seconds) / (LONG - SHORT);
	sample->agreed = sample->agreed && few.agreed;
	return true;
}

static void put_kernel(void *context)
{
	launch(context);
}

static void put_column(void *context)
{
	const struct subject *s = context;
	struct bench *b = s->bench;
	struct panel_geometry geometry;
	if (!panel_geometry(s->m, s->n, precision_bytes(s->precision), b->gpu.sm_count,
	            b->gpu.shared_per_block, &geometry))
		msg_die(EXIT_MEASURE_FAILED, "a panel of %lld x %lld does not fit", (long long)s->m,
		        (long long)s->n);
	struct exchange exchange = exchange_layout(
	        b->exchange, geometry.blocks, panel_resident_words(s->precision, s->n), b->tag);
	b->tag += (uint32_t)s->n;
	GPU(panel_resident_columns(s->precision, b->a, s->lda, s->m, s->n, &geometry, exchange,
	        b->pivots, b->span, b->stream));
}

/* Each on a new panel: in a panel that is factorized already, pivots would stay in place. */
static bool sample_column(void *context, struct sample *sample)
{
	const struct subject *s = context;
	struct bench *b = s->bench;
	fill(s);
	double start = clock_now();
	put_column(context);
	GPU(cudaStreamSynchronize(b->stream));
	/* loading and storing the panel lie outside of the span */
	gpu_span_sample(b->span, (double)s->n, clock_now() - start, host_slack, sample);
	return true;
}

static void measure_one(struct probe_run *run, struct subject *s, const char *name,
        sample_function function, const char *arg, double value, double seconds)
{
	char series[32];
	snprintf(series, sizeof series, "%s_%c", name, s->precision);
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	struct arg args[] = {{arg, value}, {"n", (double)s->n}, {"rows", (double)s->rows}};
	if (!probe_wants(run, series, args, s->rows ? 3 : 2))
		return;
	fill(s);
	probe_profile(
	        run, function == sample_kernel ? put_kernel : put_column, s, s->bench->stream);
	if (function == sample_kernel) {
		launch(s); /* loads code */
		GPU(cudaStreamSynchronize(s->bench->stream));
		plan.warm_seconds = 0;
	}
	if (!sample_run(function, s, &plan, s->bench->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s of %lld x %lld could not be timed", series,
		        (long long)s->m, (long long)s->n);
	probe_record(run, series, args, s->rows ? 3 : 2, &measurement);
}

/* Up to 64 columns are in flight at once, so that fewer of them differ little. */
static void measure_fused(struct probe_run *run, struct subject *s, double seconds)
{
	static const int64_t widths[] = {2, 32, 64, 128};
	int step = run->common.quick ? 16 : 4;
	for (s->m = 128; s->m <= LARGEST_M; s->m *= step) {
		s->lda = s->m + 32;
		s->step = true;
		for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
			s->n = widths[i];
			measure_one(run, s, "step", sample_kernel, "m", (double)s->m, seconds);
		}
		s->step = false;
		for (s->n = 32; s->n <= LARGEST_N; s->n *= 4)
			measure_one(run, s, "pivot", sample_kernel, "m", (double)s->m, seconds);
	}
}

static void measure_column(
        struct probe_run *run, struct subject *s, int blocks, int64_t rows, double seconds)
{
	struct bench *b = s->bench;
	struct panel_geometry geometry;
	s->rows = rows;
	s->m = blocks * rows;
	s->lda = s->m + 32;
	if (!panel_geometry(s->m, s->n, precision_bytes(s->precision), b->gpu.sm_count,
	            b->gpu.shared_per_block, &geometry) ||
	        geometry.blocks != blocks)
		return;
	/* another layout of the buffer: its words carry no tags yet */
	GPU(cudaMemsetAsync(b->exchange, 0, (size_t)b->exchange_size, b->stream));
	b->tag = 1;
	measure_one(run, s, "column", sample_column, "blocks", blocks, seconds);
}

static void measure_columns(struct probe_run *run, struct subject *s, double seconds)
{
	int sms = s->bench->gpu.sm_count;
	for (s->n = 32; s->n <= LARGEST_N; s->n *= 2) {
		for (int blocks = 1; blocks < sms; blocks *= 2)
			measure_column(run, s, blocks, PANEL_FEWEST_ROWS, seconds);
		measure_column(run, s, sms, PANEL_FEWEST_ROWS, seconds);
		measure_column(run, s, sms, MORE_ROWS, seconds);
	}
}

static bool sample_update(void *context, struct sample *sample)
{
	const struct update *u = context;
	struct bench *b = u->bench;
	GPU(cudaDeviceSynchronize());
	double start = clock_now();
	GPU(update_launch(u->threads, u->columns, u->sweeps, b->gpu.sm_count, b->span, b->sink));
	GPU(cudaDeviceSynchronize());
	/* the block fills its panel first and adds it up afterwards */
	gpu_span_sample(b->span, (double)u->sweeps, clock_now() - start, host_slack, sample);
	return true;
}

/* A first launch loads the kernel, a second tells how many sweeps make a sample. */
static void measure_update(struct probe_run *run, struct bench *b, int threads, double seconds)
{
	struct update u = {b, threads, update_columns(threads, b->gpu.shared_per_block), 32};
	if (u.columns == 0)
		return;
	struct sample sample = {0};
	struct measurement measurement;
	struct sample_plan plan = sample_plan_default(seconds);
	sample_update(&u, &sample);
	sample_update(&u, &sample);
	u.sweeps = (int64_t)fmax(32, fmin(1e-3, seconds / 15) / fmax(sample.seconds, 1e-8));
	if (!sample_run(sample_update, &u, &plan, b->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "the update by %d threads could not be timed",
		        threads);
	/* read and written: 8 bytes for each element of the panel */
	const struct arg args[] = {{"threads", threads}, {"bytes", 8.0 * threads * u.columns}};
	probe_record(run, "shared_update", args, 2, &measurement);
}

static void measure_updates(struct probe_run *run, struct bench *b, double seconds)
{
	for (int threads = 32; threads <= 1024; threads *= 2)
		measure_update(run, b, threads, seconds);
}

static void set_up(struct bench *b)
{
	b->timer = gpu_timer_new(&b->gpu);
	b->hold = gpu_hold_new();
	b->exchange_size = exchange_bytes(b->gpu.sm_count, panel_resident_words(DOUBLE, LARGEST_N));
	GPU(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc(&b->a, (size_t)(LARGEST_M + 32) * LARGEST_N * sizeof(double)));
	GPU(cudaMalloc(&b->work, (size_t)panel_fused_work(LARGEST_M)));
	GPU(cudaMalloc(&b->first_search, (size_t)panel_fused_work(LARGEST_M)));
	GPU(cudaMalloc(&b->exchange, (size_t)b->exchange_size));
	GPU(cudaMalloc((void **)&b->pivots, (LARGEST_N + 1) * sizeof(int)));
	GPU(cudaMallocHost((void **)&b->span, sizeof *b->span));
	GPU(cudaMallocHost((void **)&b->sink, sizeof *b->sink));
	gpu_timer_start(b->timer, b->stream);
	GPU(cudaStreamSynchronize(b->stream));
}

/* What is allocated here lives as long as the process, which measures once and ends. */
static void measure(struct probe_run *run)
{
	struct bench bench = {.seed = (uint64_t)run->common.seed};
	probe_open_gpu(run, &bench.gpu);
	gpu_warm(&bench.gpu, run->warm_seconds);
	set_up(&bench);

	const double points = 6 + 2 * (66 + 30); /* the update; both precisions */
	measure_updates(run, &bench, run->seconds / points);
	for (int i = 0; i < 2; i++) {
		struct subject s = {.bench = &bench, .precision = i ? DOUBLE : SINGLE};
		measure_fused(run, &s, run->seconds / points);
		if (bench.gpu.cooperative)
			measure_columns(run, &s, run->seconds / points);
	}
	probe_watch_gpu(run, &bench.gpu);
}

static const char *const arguments[] = {"m", "blocks", "n", "rows", "threads", "bytes"};
const struct probe panel_kernel_probe = {
        .name = "panel_kernel",
        .question = "What do the steps of our own panel kernels cost, one by one?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 0.8,
        .processes = 3,
        .measure = measure,
        .fit = panel_kernel_fit,
};
