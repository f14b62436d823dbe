/* SPDX-License-Identifier: MIT */
/* Costs follow the machine that the profile describes: threads, blocks and shared memory of a
 * multiprocessor, their number, and the rate of double precision. */
#include "cost_lines.h"

#include "factor/model/cost/cost_blocks.h"

/* Blocks of a multiprocessor by its threads and blocks (0: not stated) and compute capability. */
static const struct {
	double threads, blocks, capability;
	struct {
		double threads, registers, resident;
	} of;
	const char *what;
} held[] = {{2048, 32, 9.0, {256, 32, 8}, "2048 threads in blocks of 256"},
        {1536, 16, 8.6, {256, 32, 6}, "1536 threads hold fewer"},
        {1024, 16, 7.5, {256, 32, 4}, "1024 still fewer"},
        {1536, 24, 8.9, {32, 32, 24}, "small blocks: as many as stated"},
        {2048, 32, 9.0, {1024, 64, 1}, "registers halve the threads"},
        {1024, 16, 7.5, {1024, 64, 1}, "but not where threads are few"},
        {1536, 16, 8.6, {1536, 64, 1}, "a block that runs at all has a place"},
        {0, 0, 9.0, {256, 32, 8}, "without a statement: by compute capability 9.0"},
        {0, 0, 8.0, {64, 32, 32}, "or 8.0"}, {0, 0, 8.6, {256, 32, 6}, "or 8.6"},
        {0, 0, 7.5, {256, 32, 4}, "or 7.5"}};

static void test_resident(void)
{
	struct cost_reader *r = calloc(1, sizeof *r);

	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		struct profile *p = profile_new();
		add_written(p, "gpu.compute_capability", held[i].capability, 0);
		if (held[i].threads > 0) {
			add_written(p, "gpu.sm.threads", held[i].threads, 0);
			add_written(p, "gpu.sm.blocks", held[i].blocks, 0);
		}
		cost_reader_start(r, p);
		is_real(cost_resident_blocks(r, held[i].of.threads, held[i].of.registers),
		        held[i].of.resident, 1e-12, held[i].what);
		profile_free(p);
	}
	free(r);
}

/* What the barrier probe found says which kernels the build has. */
static void test_clusters(void)
{
	struct profile *p = profile_new();

	ok(cost_device(p).max_cluster == 16 && cost_device(p).code == 90,
	        "a profile without barriers has code for all that 9.0 can do");
	ADD(p, 0, {"gpu.barrier.grid[blocks=1/8,threads=256]", 1e-6});
	ok(cost_device(p).max_cluster == 1 && cost_device(p).code < 90,
	        "one with barriers of the grid alone has code from before clusters");
	ADD(p, 0, {"gpu.barrier.cluster[blocks=2/8]", 1e-6});
	ok(cost_device(p).max_cluster == 8 && cost_device(p).code == 90,
	        "one with clusters has the largest of them");
	profile_free(p);
}

/* A machine of so many multiprocessors, each of 20 Gflop/s in single precision and a part of that
 * in double precision. */
static struct executor *machine(struct profile *p, double sms, double part)
{
	add_blocks(p, 0);
	ADD(p, 0, {"gpu.l2.near.size", 1e12}, {"gpu.dram.read", 1.25e12}, {"gpu.dram.latency", 0},
	        {"gpu.clock.sm", 1e12}, {"gpu.loaded.l2.read", 1e13},
	        {"gpu.reduce.sum[threads=32/1024]", 0.2e-6});
	for (size_t i = 0; i < p->count; i++) {
		double *value = &p->row[i].estimate.value;
		if (strcmp(p->row[i].name, "gpu.sm.count") == 0)
			*value = sms;
		if (strcmp(p->row[i].name, "gpu.fma.s.rate") == 0)
			*value = sms * 20e9;
		if (strcmp(p->row[i].name, "gpu.fma.d.rate") == 0)
			*value = part * sms * 20e9;
	}
	return executor_model_new(p, MODEL_CUDA, 2);
}

static double answer_of(double sms, double part, const char *text)
{
	struct profile *p = synthetic(0);
	struct executor *e = machine(p, sms, part);
	const double got = answer(e, text);

	executor_free(e);
	profile_free(p);
	return got;
}

/* Half of single precision's rate hides behind memory, a 64th does not. */
static void test_double_precision(void)
{
	static const char pass[] = "fused d 4096 257", single[] = "fused 4096 257",
	                  wide[] = "wide dots d 4096 1000 256 1", apply[] = "apply d 4096 64 32";
	const double flops = 4. * 4096 * 256;
	const char *const arithmetic = "arithmetic: fused d 4096 257";
	const double memory = answer_of(100, 0.5, "memory: fused d 4096 257");

	is_real(answer_of(100, 10, arithmetic), 0, 1e-12, "memory hides fast arithmetic");
	is_real(answer_of(100, 1 / 64., arithmetic), flops / (100 * 20e3 / 64) - memory, 1e-9,
	        "a pass at a 64th of the rate takes its arithmetic");
	ok(answer_of(100, 1 / 64., pass) > 5 * answer_of(100, 0.5, pass), "and far longer");
	is_real(answer_of(100, 1 / 64., single), answer_of(100, 0.5, single), 1e-12,
	        "single precision does not");
	ok(answer_of(100, 1 / 64., wide) > 5 * answer_of(100, 0.5, wide),
	        "the paper's kernels follow the rate");
	ok(answer_of(100, 1 / 64., apply) > 10 * answer_of(100, 0.5, apply),
	        "and the blocked update");
}

static void test_small_machine(void)
{
	static const char dots[] = "wide dots d 4096 4000 256 1",
	                  swaps[] = "share: laswp 512 400 64";

	is_real(answer_of(40, 1 / 64., dots) / answer_of(100, 1 / 64., dots), 2.5, 0.05,
	        "40 multiprocessors take 2.5 times as long as 100 that are as fast");
	is_real(answer_of(100, 0.5, swaps), 0.5, 1e-12,
	        "50 blocks are half of 100 multiprocessors");
	is_real(answer_of(40, 0.5, swaps), 1, 1e-12, "and all of 40");
}

int main(void)
{
	test_resident();
	test_clusters();
	test_double_precision();
	test_small_machine();
	return finish();
}
