/* SPDX-License-Identifier: MIT */
/* Question: how long does a dependent instruction take, and how many can an SM start at a time?
 *
 * Method: the loops of instruction.cu, one block or two on every SM, against independent chains,
 * warps and blocks (LAPACK Working Note 202, section 3.4); FMAs fed from shared memory and from the
 * constant bank (section 3.5); single-precision FMA and a tensor-core product for two seconds, with
 * clock and power.
 *
 * What can fool it: code that is not what was meant (tests/instruction_code.t reads it), the loop
 * around it (series overhead: the same instructions in a shorter body), a clock that gives way
 * under load (measured in every sample), blocks that do not run at once (each has its own span; the
 * middle one counts), chains in half precision (the compiler deals them out to two units in turns:
 * their latency is that of the hand-over).
 *
 * Unit: seconds per warp-wide instruction of one SM: with one warp and one chain its latency. A
 * warpgroup product counts as one instruction of its four warps. */
#include "../lib/base.h"
#include "instruction.h"

#include "../lib/clock.h"
#include "../lib/msg.h"
#include "../lib/nvml.h"
#include "../lib/probe.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum { BLOCKS_MAX = 2, PILOT_TURNS = 16, WARPGROUPS = 2 };

/* What launch, synchronization and the start of the blocks may add to the host's view, seconds. */
static const double launch_slack = 60e-6;
static const double sample_seconds = 3e-4;
static const double sustained_kernel = 10e-3;

struct bench {
	struct gpu gpu;
	struct gpu_span *span; /* pinned, one a block */
	double *duration;      /* of the blocks, for sorting */
	uint32_t *sink;
	const struct instruction *table;
};

/* One configuration of one loop. */
struct subject {
	struct bench *bench;
	enum { CHAIN, SHORT_CHAIN, FED, WARPGROUP } kind;
	size_t index; /* into the table, or enum fed_source, or enum wgmma_kind */
	int chains, warps, blocks, width;
	int64_t turns;
	double instructions; /* of an SM in one turn */
	double flops;        /* of one instruction */
};

static int launch(const struct subject *s)
{
	struct bench *b = s->bench;
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
		return short_launch(&l);
	case FED:
		return fed_launch((enum fed_source)s->index, s->width, s->warps, s->turns,
		        b->gpu.sm_count, b->span, b->sink);
	default:
		return wgmma_launch(
		        (enum wgmma_kind)s->index, s->turns, b->gpu.sm_count, b->span, b->sink);
	}
}

/* The block whose duration is the middle one. */
static const struct gpu_span *middle_block(struct bench *b, int blocks)
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

static bool take_sample(void *context, struct sample *sample)
{
	const struct subject *s = context;
	struct bench *b = s->bench;
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	GPU(launch(s));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;
	const struct gpu_span *span = middle_block(b, s->blocks * b->gpu.sm_count);
	/* with few warps a block's neighbours may end later than itself */
	gpu_span_sample(span, (double)s->turns * s->instructions, host_seconds,
	        launch_slack + 0.02 * host_seconds, sample);
	return true;
}

/* A first launch loads the kernel, a second one tells how many turns make a sample. */
static void set_turns(struct subject *s, double seconds)
{
	struct sample sample = {0};
	s->turns = PILOT_TURNS;
	take_sample(s, &sample);
	take_sample(s, &sample);
	s->turns =
	        (int64_t)fmax(PILOT_TURNS, seconds / fmax(sample.seconds * s->instructions, 1e-9));
}

static void record(struct probe_run *run, const struct subject *s, const char *series, double watt,
        const struct measurement *measurement)
{
	const struct arg args[] = {{"chains", s->chains}, {"warps", s->warps},
	        {"blocks", s->blocks}, {"width", s->width ? (double)s->width : (double)NAN},
	        {"flops", s->flops}, {"watt", watt}};
	probe_record(run, series, args, ARRAY_LEN(args), measurement);
}

static void measure_point(
        struct probe_run *run, struct subject *s, const char *series, double seconds)
{
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	set_turns(s, fmin(sample_seconds, seconds / 12));
	if (!sample_run(take_sample, s, &plan, s->bench->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	record(run, s, series, NAN, &measurement);
}

static struct subject chain_subject(
        struct bench *b, size_t index, int chains, int warps, int blocks)
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

/* ---- the sweep: every step measures, or only counts when run is NULL ---- */

static int measure_chain(struct probe_run *run, struct bench *b, size_t index, int chains,
        int warps, int blocks, double seconds)
{
	if (run) {
		struct subject s = chain_subject(b, index, chains, warps, blocks);
		measure_point(run, &s, b->table[index].name, seconds);
	}
	return 1;
}

/* One chain of one warp, a saturated SM, and what lies between; the first instruction, the FMA in
 * single precision, in full. */
static int sweep_chains(
        struct probe_run *run, struct bench *b, size_t count, bool quick, double seconds)
{
	static const int all_warps[] = {1, 2, 4, 8, 16, 32};
	int points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct instruction *x = &b->table[i];
		if (10 * b->gpu.major + b->gpu.minor < x->capability)
			continue;
		const bool matrix = x->body == INSTRUCTION_MMA_BODY;
		points += measure_chain(run, b, i, 1, 1, 1, seconds);
		points += measure_chain(run, b, i, matrix ? 4 : 8, 16, 1, seconds);
		if (!quick && matrix) {
			points += measure_chain(run, b, i, 2, 8, 1, seconds);
			points += measure_chain(run, b, i, 8, 4, 1, seconds);
		}
		for (int chains = 1; i == 0 && chains <= 8; chains *= quick ? 8 : 2)
			for (size_t w = 0; w < ARRAY_LEN(all_warps); w += quick ? 3 : 1)
				if (!(chains == 1 && all_warps[w] == 1) &&
				        !(chains == 8 && all_warps[w] == 16))
					points += measure_chain(
					        run, b, i, chains, all_warps[w], 1, seconds);
		for (int chains = 1; i == 0 && chains <= 8; chains *= 8)
			points += measure_chain(run, b, i, chains, 1, 2, seconds);
	}
	return points;
}

static int sweep_overhead(struct probe_run *run, struct bench *b, double seconds)
{
	static const int warps[] = {1, 16};
	for (size_t i = 0; run && i < ARRAY_LEN(warps); i++) {
		struct subject s = chain_subject(b, 0, i ? 8 : 1, warps[i], 1);
		s.kind = SHORT_CHAIN;
		s.instructions = (double)INSTRUCTION_SHORT_BODY * warps[i];
		measure_point(run, &s, "overhead", seconds);
	}
	return ARRAY_LEN(warps);
}

static int sweep_fed(struct probe_run *run, struct bench *b, double seconds)
{
	static const char *const series[FED_SOURCES] = {
	        "fed_register", "fed_lane", "fed_broadcast", "fed_conflict", "fed_constant"};
	int points = 0;
	for (int source = 0; source < FED_SOURCES; source++) {
		const bool loads = source != FED_REGISTER && source != FED_CONSTANT;
		for (int width = 4; width <= (loads ? 16 : 4); width *= 2, points++) {
			struct subject s = {.bench = b,
			        .kind = FED,
			        .index = (size_t)source,
			        .chains = 8,
			        .warps = 16,
			        .blocks = 1,
			        .width = width,
			        .instructions = INSTRUCTION_FED_BODY * 16.0,
			        .flops = 64};
			if (run)
				measure_point(run, &s, series[source], seconds);
		}
	}
	return points;
}

static struct subject warpgroup_subject(struct bench *b, enum wgmma_kind kind)
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

static int sweep_warpgroups(struct probe_run *run, struct bench *b, double seconds)
{
	if (!wgmma_built())
		return 0;
	for (int kind = WGMMA_TF32; run && kind <= WGMMA_BF16; kind++) {
		struct subject s = warpgroup_subject(b, (enum wgmma_kind)kind);
		measure_point(run, &s, kind == WGMMA_TF32 ? "wgmma.tf32" : "wgmma.bf16", seconds);
	}
	return 2;
}

/* ---- sustained ---- */

/* Kernels of some milliseconds for `seconds`; those of the second half count. */
static void measure_sustained(
        struct probe_run *run, struct subject *s, const char *series, double seconds)
{
	enum { SAMPLES = 4096 };
	static double time[SAMPLES], hz[SAMPLES];
	struct nvml_facts facts = {.power_milliwatt = -1};
	struct measurement m = {.hz = NAN};
	size_t count = 0;
	set_turns(s, sustained_kernel);
	const double start = clock_now();
	while (clock_now() - start < seconds && count < SAMPLES) {
		struct sample sample;
		take_sample(s, &sample);
		if (clock_now() - start < seconds / 2)
			continue;
		if (sample.agreed) {
			time[count] = sample.seconds;
			hz[count++] = sample.hz;
		} else {
			m.discarded++;
		}
	}
	nvml_read(s->bench->gpu.pci, &facts);
	m.seconds = stats_median_interval(time, count);
	m.hz = stats_median(hz, count);
	record(run, s, series, facts.power_milliwatt > 0 ? facts.power_milliwatt * 1e-3 : NAN, &m);
}

static void measure_both_sustained(struct probe_run *run, struct bench *b, double seconds)
{
	struct subject fma = chain_subject(b, 0, 8, 16, 1);
	measure_sustained(run, &fma, "fma.s_sustained", seconds);
	if (!wgmma_built())
		return;
	struct subject product = warpgroup_subject(b, WGMMA_TF32);
	measure_sustained(run, &product, "wgmma.tf32_sustained", seconds);
}

static int sweep(struct probe_run *run, struct bench *b, size_t count, bool quick, double seconds)
{
	return sweep_chains(run, b, count, quick, seconds) + sweep_overhead(run, b, seconds) +
	       sweep_fed(run, b, seconds) + sweep_warpgroups(run, b, seconds);
}

static void measure(struct probe_run *run)
{
	struct bench b = {0};
	struct fault fault;
	size_t count;
	if (!gpu_open(&b.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &b.gpu);
	const size_t blocks = (size_t)(BLOCKS_MAX * b.gpu.sm_count);
	GPU(cudaMallocHost((void **)&b.span, blocks * sizeof *b.span));
	GPU(cudaMalloc((void **)&b.sink, sizeof *b.sink));
	b.duration = xmalloc(blocks * sizeof *b.duration);
	b.table = instruction_table(&count);
	const double hz = gpu_warm(&b.gpu, run->warm_seconds);

	const bool quick = run->common.quick;
	const int points = sweep(NULL, &b, count, quick, 0);
	sweep(run, &b, count, quick, run->seconds / points);
	if (run->process == 0)
		measure_both_sustained(run, &b, quick ? 0.05 : 2);
	if (!quick)
		gpu_rest(&b.gpu, hz);

	free(b.duration);
	GPU(cudaFree(b.sink));
	GPU(cudaFreeHost(b.span));
	probe_watch_gpu(run, &b.gpu);
}

static const char *const arguments[] = {"chains", "warps", "blocks", "width", "flops", "watt"};
const struct probe instruction_probe = {
        .name = "instruction",
        .question = "How long does a dependent instruction take, and how many can an SM start?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 1.2,
        .processes = 3,
        .measure = measure,
        .fit = instruction_fit,
};
