/* SPDX-License-Identifier: MIT */
/* Question: how long does a dependent instruction take, and how many can an SM start at a time?
 *
 * Method: loops of one instruction in independent chains, one or two blocks on every SM, against
 * chains, warps and blocks (LAPACK Working Note 202, section 3.4). FMAs fed from shared memory and
 * constants (section 3.5). FMA and tensor-core products for two seconds, with clock and power.
 *
 * What can fool it: other code than intended (tests/kernels/instruction_code.t reads the machine
 * code); the loop itself (series overhead: a shorter body); a clock that drops under load (measured
 * in every sample); blocks that do not run at once (the median block counts); half-precision chains
 * (the compiler alternates between two units, so their latency is that of the hand-over).
 *
 * Unit: seconds per warp-wide instruction of one SM; with one warp and one chain its latency. A
 * warpgroup product counts as one instruction of its four warps. Counted with it are a product
 * before sine, a comparison before ballot and a move after redux. */
#include "instruction.h"

#include "lib/base/msg.h"
#include "lib/device/gpu.h"
#include "lib/device/nvml.h"
#include "lib/host/clock.h"
#include "lib/probe/probe.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of an SM. The hardware distributes more of them unevenly. */
enum { BLOCKS_MAX = 2 };

/* One configuration of one loop. */
struct subject {
	struct bench *bench;
	const char *series;
	struct instruction_launch launch;
	double instructions; /* of an SM in one turn */
	double flops;        /* of one instruction */
};

struct bench {
	struct probe_run *run;
	struct gpu gpu;
	struct gpu_span *span; /* pinned, one a block */
	double *duration;      /* of the blocks, for sorting */
	uint32_t *sink;
	const struct instruction *table;
	size_t count, points;
	struct subject point[512];
};

/* ---- one point ---- */

enum { PILOT_TURNS = 16, WARPGROUPS = 2 };

/* Launch, synchronization and start of the blocks in the host's view, seconds. */
static const double launch_slack = 60e-6;
static const double sample_seconds = 3e-4;

/* The block of median duration. */
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

/* A sample_function; context is the subject. */
static bool take_sample(void *context, struct sample *sample)
{
	const struct subject *s = context;
	struct bench *b = s->bench;
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	GPU(instruction_launch(&s->launch));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;
	const struct gpu_span *span = middle_block(b, s->launch.blocks * b->gpu.sm_count);
	/* with few warps other blocks may end later */
	gpu_span_sample(span, (double)s->launch.turns * s->instructions, host_seconds,
	        launch_slack + 0.02 * host_seconds, sample);
	return true;
}

/* The first launch loads the kernel; the second gives the turns of a sample. */
static void set_turns(struct subject *s, double seconds)
{
	struct sample sample = {0};
	s->launch.sm_count = s->bench->gpu.sm_count;
	s->launch.span = s->bench->span;
	s->launch.sink = s->bench->sink;
	s->launch.turns = PILOT_TURNS;
	take_sample(s, &sample);
	take_sample(s, &sample);
	s->launch.turns =
	        (int64_t)fmax(PILOT_TURNS, seconds / fmax(sample.seconds * s->instructions, 1e-9));
}

/* watt: NaN where it was not read. */
static void record(const struct subject *s, double watt, const struct measurement *measurement)
{
	const struct instruction_launch *l = &s->launch;
	const struct arg args[] = {{"chains", l->chains}, {"warps", l->warps},
	        {"blocks", l->blocks}, {"width", l->width ? (double)l->width : (double)NAN},
	        {"flops", s->flops}, {"watt", watt}};
	probe_record(s->bench->run, s->series, args, ARRAY_LEN(args), measurement);
}

static void measure_point(struct subject *s, double seconds)
{
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	set_turns(s, fmin(sample_seconds, seconds / 12));
	if (!sample_run(take_sample, s, &plan, s->bench->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", s->series);
	record(s, NAN, &measurement);
}

static struct subject chains_of(struct bench *b, size_t index, int chains, int warps, int blocks)
{
	return (struct subject){.bench = b,
	        .launch = {CHAIN, index, chains, warps, blocks, .turns = 0},
	        .instructions = (double)b->table[index].body * warps * blocks,
	        .flops = b->table[index].flops};
}

static struct subject warpgroups_of(struct bench *b, enum wgmma_kind kind)
{
	const double depth = kind == WGMMA_TF32 ? 8 : 16;
	return (struct subject){.bench = b,
	        .launch = {WARPGROUP, (size_t)kind, 1, 4 * WARPGROUPS, 1, .turns = 0},
	        .instructions = (double)INSTRUCTION_MMA_BODY * WARPGROUPS,
	        .flops = 2 * 64 * 128 * depth};
}

/* ---- long runs: heat and power may not allow the rate of a burst ---- */

static const double sustained_kernel = 10e-3;

/* Kernels of some milliseconds for `seconds`; only the second half counts. */
static void measure_sustained(struct subject s, const char *series, double seconds)
{
	enum { SAMPLES = 4096 };
	static double time[SAMPLES], hz[SAMPLES];
	struct nvml_facts facts = {.power_milliwatt = -1};
	struct measurement m = {.hz = NAN};
	size_t count = 0;
	s.series = series;
	set_turns(&s, sustained_kernel);
	const double start = clock_now();
	while (clock_now() - start < seconds && count < SAMPLES) {
		struct sample sample;
		take_sample(&s, &sample);
		if (clock_now() - start < seconds / 2)
			continue;
		if (sample.agreed) {
			time[count] = sample.seconds;
			hz[count++] = sample.hz;
		} else {
			m.discarded++;
		}
	}
	nvml_read(s.bench->gpu.pci, &facts);
	m.seconds = stats_median_interval(time, count);
	m.hz = stats_median(hz, count);
	/* the reading is a mean over a second */
	record(&s, seconds >= 1 && facts.power_milliwatt > 0 ? facts.power_milliwatt * 1e-3 : NAN,
	        &m);
}

/* The saturated form of an instruction, if the device has it. */
static bool sustain(struct bench *b, const char *name, int chains, double seconds)
{
	char series[64];
	size_t index = 0;
	while (index < b->count && strcmp(b->table[index].name, name) != 0)
		++index;
	if (index == b->count || b->gpu.code < b->table[index].capability)
		return false;
	snprintf(series, sizeof series, "%s_sustained", name);
	measure_sustained(chains_of(b, index, chains, 16, 1), series, seconds);
	return true;
}

/* FMA and matrix products for `seconds` each, with clock and power. Without `all`: only FMA and the
 * warpgroup's single-precision product. */
static void measure_long(struct bench *b, bool all, double seconds)
{
	const bool warpgroups = b->gpu.warpgroups;
	sustain(b, "fma.s", 8, seconds);
	if (all) {
		sustain(b, "fma.d", 8, seconds);
		if (!sustain(b, "mma.d16", 4, seconds))
			sustain(b, "mma.d", 4, seconds);
	}
	if (all && !warpgroups)
		sustain(b, "mma.bf16", 4, seconds);
	if (warpgroups)
		measure_sustained(warpgroups_of(b, WGMMA_TF32), "wgmma.tf32_sustained", seconds);
	if (all && warpgroups)
		measure_sustained(warpgroups_of(b, WGMMA_BF16), "wgmma.bf16_sustained", seconds);
}

/* ---- the sweep ---- */

static void add(struct bench *b, struct subject subject, const char *series)
{
	if (b->points == ARRAY_LEN(b->point))
		msg_die(EXIT_MEASURE_FAILED, "more than %zu points in the sweep of instructions",
		        b->points);
	subject.series = series;
	b->point[b->points++] = subject;
}

static void add_chain(struct bench *b, size_t index, int chains, int warps, int blocks)
{
	add(b, chains_of(b, index, chains, warps, blocks), b->table[index].name);
}

/* One chain of one warp, a saturated SM, and points between. Matrix products also against blocks of
 * as many warps as an SM has tensor cores. The first instruction, the single-precision FMA, in
 * full. */
static void add_chains(struct bench *b, bool quick)
{
	static const int all_warps[] = {1, 2, 4, 8, 16, 32};
	for (size_t i = 0; i < b->count; i++) {
		const struct instruction *x = &b->table[i];
		if (b->gpu.code < x->capability) {
			probe_lacks(b->run, &b->gpu, x->name, x->capability);
			continue;
		}
		const bool matrix = x->body == INSTRUCTION_MMA_BODY;
		add_chain(b, i, 1, 1, 1);
		add_chain(b, i, matrix ? 4 : 8, 16, 1);
		if (!quick && matrix) {
			add_chain(b, i, 2, 8, 1);
			add_chain(b, i, 8, 4, 1);
			for (int blocks = 1; blocks <= BLOCKS_MAX; blocks *= 2)
				add_chain(b, i, 1, 4, blocks);
		}
		for (int chains = 1; i == 0 && chains <= 8; chains *= quick ? 8 : 2)
			for (size_t w = 0; w < ARRAY_LEN(all_warps); w += quick ? 3 : 1)
				if (!(chains == 1 && all_warps[w] == 1) &&
				        !(chains == 8 && all_warps[w] == 16))
					add_chain(b, i, chains, all_warps[w], 1);
		for (int chains = 1; i == 0 && chains <= 8; chains *= 8)
			add_chain(b, i, chains, 1, 2);
	}
}

static void add_overhead(struct bench *b)
{
	for (int warps = 1; warps <= 16; warps *= 16) {
		struct subject s = chains_of(b, 0, warps > 1 ? 8 : 1, warps, 1);
		s.launch.kind = SHORT_CHAIN;
		s.instructions = (double)INSTRUCTION_SHORT_BODY * warps;
		add(b, s, "overhead");
	}
}

static void add_fed(struct bench *b)
{
	static const char *const series[FED_SOURCES] = {
	        "fed_register", "fed_lane", "fed_broadcast", "fed_conflict", "fed_constant"};
	for (int source = 0; source < FED_SOURCES; source++) {
		const bool loads = source != FED_REGISTER && source != FED_CONSTANT;
		for (int width = 4; width <= (loads ? 16 : 4); width *= 2)
			add(b,
			        (struct subject){.bench = b,
			                .launch = {FED, (size_t)source, 8, 16, 1, .width = width},
			                .instructions = INSTRUCTION_FED_BODY * 16.0,
			                .flops = 64},
			        series[source]);
	}
}

static void measure(struct probe_run *run)
{
	struct bench *b = xcalloc(1, sizeof *b);
	b->run = run;
	probe_open_gpu(run, &b->gpu);
	const size_t blocks = (size_t)BLOCKS_MAX * (size_t)b->gpu.sm_count;
	GPU(cudaMallocHost((void **)&b->span, blocks * sizeof *b->span));
	GPU(cudaMalloc((void **)&b->sink, sizeof *b->sink));
	b->duration = xmalloc(blocks * sizeof *b->duration);
	b->table = instruction_table(&b->count);
	const double hz = gpu_warm(&b->gpu, run->warm_seconds);

	const bool quick = run->common.quick;
	add_chains(b, quick);
	add_overhead(b);
	add_fed(b);
	if (b->gpu.warpgroups) {
		add(b, warpgroups_of(b, WGMMA_TF32), "wgmma.tf32");
		add(b, warpgroups_of(b, WGMMA_BF16), "wgmma.bf16");
	} else {
		probe_lacks(run, &b->gpu, "wgmma.tf32", 90);
		probe_lacks(run, &b->gpu, "wgmma.bf16", 90);
	}
	for (size_t i = 0; i < b->points; i++)
		measure_point(&b->point[i], run->seconds / (double)b->points);
	if (run->process == 0)
		measure_long(b, !quick, quick ? 0.05 : 2);
	if (!quick)
		gpu_rest(&b->gpu, hz);

	free(b->duration);
	GPU(cudaFree(b->sink));
	GPU(cudaFreeHost(b->span));
	probe_watch_gpu(run, &b->gpu);
	free(b);
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
