/* SPDX-License-Identifier: MIT */
/* The hardware law: sums by hand on a made-up machine, and the directions in which the answers of a
 * recorded machine move with its parameters. */
#include "factor/model/law/law.h"
#include "lib/base/msg.h"
#include "model_profile.h"
#include "tests/tap.h"

/* 100 multiprocessors, all numbers round. */
static struct profile *made_up(double half)
{
	struct profile *p = profile_new();

	ADD(p, half, {"gpu.launch.enqueue", 2e-6}, {"gpu.launch.dependent", 1e-6},
	        {"gpu.launch.sync", 8e-6}, {"gpu.launch.enqueue_cooperative", 4e-6},
	        {"gpu.launch.cooperative", 3e-6}, {"gpu.launch.graph_node", 0.5e-6},
	        {"gpu.launch.graph", 1e-6}, {"gpu.launch.pdl", 0.25e-6}, {"gpu.dram.read", 1e12},
	        {"gpu.dram.write", 5e11}, {"gpu.dram.copy", 8e11}, {"gpu.l2.read", 4e12},
	        {"gpu.l2.write", 2e12}, {"gpu.fma.s.rate", 2e13}, {"gpu.fma.s.latency", 2e-9},
	        {"gpu.dram.latency", 500e-9}, {"gpu.l2.latency", 200e-9},
	        {"gpu.barrier.block[threads=32/1024]", 10e-9},
	        {"gpu.barrier.cluster[blocks=2/16]", 250e-9},
	        {"gpu.barrier.grid[blocks=1/100,threads=32/1024]", 1e-6},
	        {"gpu.exchange.cluster[blocks=2/16]", 300e-9},
	        {"gpu.exchange.grid[blocks=1/100,words=32/512]", 2e-6}, {"gpu.sm.l2_read", 1e12});
	ADD(p, 0, {"gpu.sm.count", 100}, {"gpu.shared.per_block", 232448}, {"gpu.l2.stated", 64e6},
	        {"gpu.clock.sm", 1e9}, {"gpu.bank.clock", 1e9});
	return p;
}

static struct law_answer answer(
        const struct profile *profile, struct kernel_work work, enum law_form form)
{
	struct cost_reader *reader = malloc(sizeof *reader);

	cost_reader_start(reader, profile);
	const struct law_answer a = law_answer_in_form(reader, &work, 1, form);
	free(reader);
	return a;
}

/* Seconds in the kernels of the work as it is described. */
static double body(const struct profile *profile, struct kernel_work work)
{
	return answer(profile, work, law_own_form(&work)).body;
}

static struct law_place place(const struct profile *profile, struct kernel_work work)
{
	struct cost_reader *reader = malloc(sizeof *reader);

	cost_reader_start(reader, profile);
	const struct law_place p = law_place(reader, &work);
	free(reader);
	return p;
}

/* A kernel that fills the machine. */
static const struct kernel_work full = {
        .launches = 1, .blocks = 800, .threads = 256, .in_flight = 64};

static void test_memory(const struct profile *p)
{
	struct kernel_work w = full;

	w.dram.read = 1e9;
	is_real(body(p, w), 1e-3, 1e-12, "reads at the bandwidth of reads");
	w.dram.written = 1e9;
	is_real(body(p, w), 2e9 / 8e11, 1e-12, "as many writes: at the bandwidth of copies");
	w.dram.read = 0;
	is_real(body(p, w), 1e9 / 5e11, 1e-12, "writes at the bandwidth of writes");
	w = full;
	w.dram.read = w.working_set = 40e6;
	is_real(body(p, w), 40e6 / 4e12, 1e-12, "what L2 holds of earlier launches comes from L2");
	w.working_set = 60e6;
	is_real(body(p, w), 40e6 / 1e12, 1e-12, "a set as large as L2 does not");
	w = full;
	w.dram.read = 1e9;
	w.pattern = PATTERN_RANDOM;
	w.step = 4;
	is_real(body(p, w), 8e-3, 1e-12, "without a measured curve, random words move sectors");
	w.patterned = 0.25;
	is_real(body(p, w), 0.25 * 8e-3 + 0.75e-3, 1e-12, "a quarter of them random");
	w = full;
	w.dram.read = 1e9;
	w.blocks = 100;
	w.in_flight = 16;
	is_real(body(p, w), 1e9 / (100 * 256 * 16 / 500e-9), 1e-12,
	        "few bytes under way: Little's law");
}

static void test_places(const struct profile *p)
{
	struct kernel_work w = full;

	is_real(place(p, w).resident, 8, 0, "2048 threads a multiprocessor: 8 blocks of 256");
	w.registers = 255;
	is_real(place(p, w).resident, 1, 0, "8 warps of 255 registers each");
	w.registers = 0;
	w.shared = 100 * 1024;
	is_real(place(p, w).resident, 2, 0, "two blocks of 100 KiB");
	is_real(place(p, w).waves, 4, 0, "then 800 blocks take four rounds");
	w.threads = 1024;
	w.registers = 255;
	const struct law_answer a = answer(p, w, FORM_LAUNCHES);
	ok(isnan(a.seconds) && strstr(a.fault.text, "does not fit"),
	        "a block that no multiprocessor holds is refused");
}

static void test_arithmetic(const struct profile *p)
{
	struct kernel_work w = full;

	w.operations[PIPE_FP32] = 1e12;
	is_real(body(p, w), 1e12 / 2e13, 1e-12, "the highest rate");
	w.blocks = 101;
	is_real(body(p, w), 2 * 1e12 / 101 / (2e13 / 100), 1e-12,
	        "one block more than multiprocessors: twice a block's time");
	w = full;
	w.operations[PIPE_INTEGER] = 1;
	ok(strstr(answer(p, w, FORM_LAUNCHES).fault.text, "gpu.int.mad.issue") != NULL,
	        "a parameter that is missing is named");
	struct cost_reader *reader = malloc(sizeof *reader);
	cost_reader_start(reader, p);
	for (int i = 0; i < 2; i++)
		ok(isnan(law_answer_in_form(reader, &w, 1, FORM_LAUNCHES).seconds), "%s",
		        i ? "and no answer when asked again" : "and there is no answer");
	free(reader);
}

/* The row has the seconds of a warp's instruction, the work the additions of threads. */
static void test_atomics(void)
{
	struct profile *p = made_up(0);
	struct kernel_work w = full;

	ADD(p, 0, {"gpu.atomic.global.saturated.red_u32[stride_bytes=0]", 32e-9},
	        {"gpu.atomic.global.saturated.red_u32[stride_bytes=4]", 3.2e-9});
	w.atomics = 1e6;
	is_real(body(p, w), 1e-3, 1e-12, "a million threads add to one word, 1 ns each");
	w.atomic_stride = 4;
	is_real(body(p, w), 1e-4, 1e-12, "and to words of their own, 0.1 ns each");
	profile_free(p);
}

static void test_apart(const struct profile *p)
{
	struct kernel_work w = full;

	w.dram.read = 1e9;
	w.operations[PIPE_FP32] = 2e10;
	is_real(body(p, w), 1e-3, 1e-12, "bytes and arithmetic of a block overlap");
	w.apart = 1;
	is_real(body(p, w), 1e-3 + 1e-3 / 8, 1e-12,
	        "apart: seven of eight blocks compute meanwhile");
	w.registers = 255;
	w.in_flight = 640;
	is_real(body(p, w), 2e-3, 1e-12, "a block alone does one after the other");
	w.apart = 0.5;
	is_real(body(p, w), 1.5e-3, 1e-12, "half of the bytes beside its arithmetic");
}

/* 40 MB of L2 take 10 us, as do the arithmetic and the loads of the chain; a multiprocessor's own
 * way to L2 is busy for 0.4 of them, in which nothing is computed there. */
static void test_in_step(const struct profile *p)
{
	struct kernel_work w = full;

	w.dram.read = w.working_set = 40e6;
	w.operations[PIPE_FP32] = 2e8;
	w.link[LINK_DRAM] = 25;
	is_real(body(p, w), 10.4e-6 + 10e-6 / 2 / 25, 1e-12, "out of step, loads hide each other");
	w.in_step = 1;
	is_real(body(p, w), 10.4e-6 + 10e-6 / 8 + 5e-6, 1e-12,
	        "in step, other blocks hide arithmetic and none hides loads");
	w.working_set = 0;
	w.in_step = 0;
	const double cold = body(p, w);
	w.in_step = 1;
	is_real(body(p, w), cold, 1e-12, "DRAM puts blocks out of step");
}

/* A few multiprocessors: memory and arithmetic of each come one after the other. All of them: DRAM
 * has time for both. */
static void test_by_turns(void)
{
	struct profile *p = made_up(0);
	struct kernel_work w = full;

	ADD(p, 0, {"gpu.sm.read", 5e10});
	w.dram.read = 5e9;
	w.operations[PIPE_FP32] = 4e10;
	w.link[LINK_DRAM] = 1;
	is_real(body(p, w), 5e-3, 1e-3,
	        "5 GB at 1 TB/s hide 1 ms of each way and 2 ms of arithmetic");
	w.blocks = 10;
	is_real(body(p, w), 10e-3 + 20e-3, 1e-3,
	        "on 10 multiprocessors 10 ms of each way and 20 ms of arithmetic add up");
	w.ahead = true;
	is_real(body(p, w), 20e-3, 1e-3, "loads for the next step hide behind this one");
	profile_free(p);
}

/* A curve of few rows: a warp alone, and 32, of one chain and of eight. */
static void test_few_warps(void)
{
	struct profile *p = made_up(0);
	struct kernel_work w = {.launches = 1, .blocks = 100, .threads = 128, .chains = 8};

	ADD(p, 0, {"gpu.fma.s.curve[chains=1,warps=1]", 1e10},
	        {"gpu.fma.s.curve[chains=8,warps=1]", 5e10},
	        {"gpu.fma.s.curve[chains=1,warps=32]", 8e10},
	        {"gpu.fma.s.curve[chains=8,warps=32]", 2e11});
	w.operations[PIPE_FP32] = 2e10;
	is_real(body(p, w), 1e-3, 1e-9, "four warps on four schedulers are four times one");
	w.threads = 64;
	is_real(body(p, w), 2e-3, 1e-9, "two are twice one");
	profile_free(p);
}

static void test_chains(const struct profile *p)
{
	struct kernel_work w = {.launches = 1, .blocks = 100, .threads = 32};

	w.link[LINK_FMA] = 1000;
	is_real(body(p, w), 2e-6, 1e-12, "a chain of 1000 multiply-adds");
	w.blocks = 100 * 32 * 3;
	is_real(body(p, w), 6e-6, 1e-12, "three rounds of blocks: three chains");
	w.blocks = 100;
	struct profile *slow = made_up(0);
	profile_scale_rows(slow, "gpu.clock.sm", 0.5);
	is_real(body(slow, w), 4e-6, 1e-12, "half the clock doubles a chain");
	w.link[LINK_FMA] = 0;
	w.link[LINK_DRAM] = 10;
	is_real(body(slow, w), 5e-6, 1e-12, "but not latencies of DRAM");
	struct kernel_work load = {.launches = 1, .blocks = 100, .threads = 32};
	load.link[LINK_L2] = 2;
	is_real(body(p, load), 400e-9, 1e-12, "two accesses to L2");
	ADD(slow, 0, {"gpu.launch.access[accesses=1]", 1.5e-6});
	is_real(body(slow, load), 700e-9, 1e-12, "the first takes 500 ns after a start of 1 us");
	profile_free(slow);
	/* 1 us of barriers, 1 us of traffic */
	w = full;
	w.blocks = 100;
	w.link[LINK_BLOCK] = 100;
	w.l2.read = 4e6;
	is_real(body(p, w), 2e-6, 1e-12, "one block: its chain and its work add");
	w.ahead = true;
	is_real(body(p, w), 1e-6, 1e-12, "what it loads ahead does not");
	w.ahead = false;
	w.blocks = 800;
	is_real(body(p, w), 1.125e-6, 1e-12, "eight blocks: only an eighth of it shows");
}

static void test_launches(const struct profile *p)
{
	struct kernel_work w = {.launches = 10, .blocks = 100, .threads = 32};

	w.link[LINK_FMA] = 50; /* 0.1 us */
	is_real(answer(p, w, FORM_LAUNCHES).seconds, 20e-6, 1e-12, "the host is the slower one");
	is_real(answer(p, w, FORM_LAUNCHES).device, 11e-6, 1e-12, "and the device's time apart");
	is_real(answer(p, w, FORM_GRAPH).seconds, 10 * 0.6e-6 + 0.5e-6, 1e-12, "nodes of a graph");
	w.early = 1;
	is_real(answer(p, w, FORM_LAUNCHES).device, 10 * 0.35e-6, 1e-12, "started early");
	w.phase = 1;
	is_real(answer(p, w, FORM_LAUNCHES).device, 1e-6, 1e-12, "phases have no start");
	w.early = w.phase = 0;
	w.waits = 1;
	is_real(answer(p, w, FORM_LAUNCHES).seconds, 10 * (2e-6 + 1.1e-6 + 5e-6), 1e-12,
	        "a round trip is the sum of its parts");
	w.waits = 0;
	is_real(answer(p, w, FORM_COOPERATIVE).seconds, 3e-6 + 9e-6 + 1e-6, 1e-12,
	        "one persistent kernel: nine barriers");
	is_real(answer(p, w, FORM_COOPERATIVE).term[LAW_BARRIERS], 9e-6, 1e-12,
	        "which its terms say");
	is_real(answer(p, w, FORM_CLUSTER).body, 9 * 250e-9 + 7 * 1e-6, 1e-12,
	        "16 blocks of a cluster go seven times through the chain");
	w = (struct kernel_work){.launches = 1, .blocks = 16, .threads = 32};
	w.exchange[SCOPE_CLUSTER] = (struct work_exchange){128, 4};
	is_real(answer(p, w, FORM_CLUSTER).body, 4 * 300e-9, 1e-12, "exchanges of a cluster");
	is_real(answer(p, w, FORM_COOPERATIVE).body, 4 * 2e-6, 1e-12, "and of the grid");
	is_real(answer(p, w, FORM_LAUNCHES).device, 5e-6 + 4 * 200e-9, 2e-3,
	        "as launches: five, and each exchange read from L2");
	struct cost_reader *reader = xcalloc(1, sizeof *reader);
	struct kernel_work launches;
	struct fault fault;
	cost_reader_start(reader, p);
	ok(law_transform(reader, &w, FORM_LAUNCHES, &launches, &fault), "their work");
	is_real(launches.l2.written * launches.launches, 128 * 4 * 16, 1e-12,
	        "every block writes its words");
	is_real(launches.l2.read * launches.launches, 128 * 4 * 16, 1e-12, "and reads one block's");
	free(reader);
	w.exchange[SCOPE_CLUSTER].count = 0;
	w.exchange[SCOPE_GRID] = (struct work_exchange){32, 4};
	is_real(body(p, w), 4 * (2e-6 - 200e-9), 1e-12,
	        "few bytes travel with the keys: a load from L2 less");
	w.exchange[SCOPE_GRID].bytes = 33;
	is_real(body(p, w), 4 * 2e-6, 1e-12, "more follow them");
	w = (struct kernel_work){.launches = 1, .blocks = 17, .threads = 32};
	w.exchange[SCOPE_CLUSTER] = (struct work_exchange){128, 4};
	ok(isnan(answer(p, w, FORM_CLUSTER).seconds), "a cluster of 17 blocks is refused");
}

static void test_state(const struct profile *p)
{
	struct kernel_work w = full;

	w.launches = 10;
	w.l2.read = w.l2.written = w.state = 4e6;
	is_real(answer(p, w, FORM_COOPERATIVE).body, 9e-6 + 3e-6, 1e-12,
	        "a persistent kernel reads and writes its state once");
	w.state = 1e9;
	ok(strstr(answer(p, w, FORM_COOPERATIVE).fault.text, "do not fit") != NULL,
	        "not a state larger than the chip");
}

static void test_interval(void)
{
	struct profile *narrow = made_up(0.01), *wide = made_up(0.2);
	struct cost_reader *reader = malloc(sizeof *reader);
	struct kernel_work w = full;
	struct law_answer a[2];
	const struct profile *const of[2] = {narrow, wide};
	bool counted = false;

	w.dram.read = 1e9;
	for (int i = 0; i < 2; i++) {
		cost_reader_start(reader, of[i]);
		ok(law_estimate(reader, &w, &a[i]) && a[i].low < a[i].seconds &&
		                a[i].seconds < a[i].high,
		        "an interval of rows known to %d %%", i ? 20 : 1);
	}
	ok(a[1].high - a[1].low > 1.02 * (a[0].high - a[0].low), "worse rows, wider interval");
	for (size_t u = 0; u < reader->model.used_count; u++)
		counted |= strcmp(reader->model.used[u], "gpu.dram.read") == 0;
	ok(counted, "the rows that the law reads count as read");
	free(reader);
	profile_free(narrow);
	profile_free(wide);
}

/* ---- a recorded machine ---- */

static struct profile *recorded(void)
{
	struct fault fault;

	return profile_read(RECORDED "/profile.tsv", &fault);
}

static enum law_form fastest(const struct profile *p, struct kernel_work work)
{
	enum law_form best = FORM_LAUNCHES;
	double least = INFINITY;

	for (int f = 0; f < FORM_COUNT; f++) {
		const double seconds = answer(p, work, (enum law_form)f).seconds;
		if (seconds < least) {
			least = seconds;
			best = (enum law_form)f;
		}
	}
	return best;
}

static void test_directions(void)
{
	static const char *const launch[] = {"gpu.launch.enqueue", "gpu.launch.dependent",
	        "gpu.launch.graph_node", "gpu.launch.graph", "gpu.launch.pdl",
	        "gpu.launch.cooperative", "gpu.launch.enqueue_cooperative", "gpu.launch.sync"};
	struct kernel_work small = {
	        .launches = 20, .waits = 1, .blocks = 132, .threads = 256, .dram = {1e6, 1e6}};
	struct kernel_work panel = {.launches = 1, .blocks = 16, .threads = 256};
	struct profile *p = recorded();
	bool monotone = true;

	small.link[LINK_DRAM] = 2;
	for (size_t i = 0; i < ARRAY_LEN(launch); i++) {
		struct profile *cheap = recorded();
		profile_scale_rows(cheap, launch[i], 0.3);
		for (int f = 0; f < FORM_COUNT; f++)
			monotone &= answer(cheap, small, (enum law_form)f).seconds <=
			            answer(p, small, (enum law_form)f).seconds * (1 + 1e-12);
		profile_free(cheap);
	}
	ok(monotone, "cheaper launches make no form slower");

	panel.exchange[SCOPE_CLUSTER] = (struct work_exchange){128, 64};
	panel.link[LINK_SEARCH] = 64;
	ok(fastest(p, panel) >= FORM_COOPERATIVE, "a panel of 64 columns is one persistent kernel");
	struct profile *dear = recorded();
	profile_scale_rows(dear, "gpu.barrier.*", 20);
	profile_scale_rows(dear, "gpu.exchange.*", 20);
	ok(fastest(dear, panel) < FORM_COOPERATIVE,
	        "barriers and exchanges 20 times as dear: launches win");
	profile_free(dear);
	panel.exchange[SCOPE_GRID] = panel.exchange[SCOPE_CLUSTER];
	panel.exchange[SCOPE_CLUSTER].count = 0;
	panel.blocks = 128;
	const double of_blocks = body(p, panel);
	panel.cluster = 8;
	ok(body(p, panel) < 0.8 * of_blocks, "16 clusters exchange sooner than 128 blocks");

	struct kernel_work stream = {
	        .launches = 1, .blocks = 1056, .threads = 256, .in_flight = 64, .dram = {1e9, 0}};
	stream.link[LINK_DRAM] = 2;
	struct profile *half = recorded();
	for (int i = 0; i < 3; i++)
		profile_scale_rows(half,
		        (const char *[]){"gpu.dram.read", "gpu.dram.write", "gpu.dram.copy"}[i],
		        0.5);
	const double times = body(half, stream) / body(p, stream);
	ok(times > 1.9 && times < 2.05, "half of DRAM's bandwidth: twice the time (%.2f)", times);
	profile_free(half);

	stream = full;
	stream.blocks = 1056;
	stream.operations[PIPE_FP32] = 1e12;
	ok(body(p, stream) >= 1e12 / 6.7e13 && body(p, stream) < 1.1e12 / 6.6e13,
	        "no more flops than the machine has, and nearly as many");
	stream.blocks = 132;
	stream.threads = 128;
	const double flops = body(p, stream);
	stream.operations[PIPE_INTEGER] = 2.5e11;
	const double both = body(p, stream);
	stream.operations[PIPE_FP32] = 0;
	is_real(both, flops + body(p, stream), 0.01, "a warp a scheduler: one pipe after another");
	stream.operations[PIPE_FP32] = 1e12;
	stream.threads = 1024;
	ok(body(p, stream) < 0.8 * both, "eight warps use both at once");
	stream = full;
	stream.blocks = 132;
	stream.instructions = 132 * 4 * 2e6;
	const double started = body(p, stream);
	ok(started > 2e6 / 2.1e9 && started < 2e6 / 1.5e9,
	        "an instruction a cycle and scheduler, whatever its kind");
	profile_free(p);
}

int main(void)
{
	struct profile *p = made_up(0);

	test_memory(p);
	test_places(p);
	test_arithmetic(p);
	test_apart(p);
	test_atomics();
	test_in_step(p);
	test_by_turns();
	test_few_warps();
	test_chains(p);
	test_launches(p);
	test_state(p);
	test_interval();
	test_directions();
	profile_free(p);
	return finish();
}
