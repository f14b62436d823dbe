/* SPDX-License-Identifier: MIT */
/* Costs beside and beyond the rows of surfaces: the host's panels and products, exchanges of rows
 * and what solves behind them; costs by the work alone; parameters that are missing. */
#include "cost_lines.h"

/* LU's panels of 64 and 128 columns: one thread up to 8192 and 4096 rows, which takes m n^1.5; all
 * threads from 4 MiB on, twice as slow as one there. 4096 x 384 is 6 MiB: three blocks of 128
 * columns and the products right of the first two. */
static void test_host(void)
{
	const double one = 128 * sqrt(128) * 1e-3; /* of a row of 128 columns */
	const struct line lines[] = {{"+host.getrf.s[m=128:8192:2,n=64]", 1e-9, "mnN"},
	        {"+host.getrf.s[m=128:4096:2,n=128]", 1e-9, "mnN"},
	        {"+host.getrf.s[m=16384,n=64]", 2e-9, "mnN"},
	        {"+host.getrf.s[m=8192,n=128]", 2e-9, "mnN"}, {"+host.gemm.s[n=256]", 100e-6},
	        {"host_getrf 1024 128", 1024 * one, "a row is itself"},
	        {"host_getrf 3000 128", 3000 * one, "between the rows of one thread"},
	        {"host_getrf 1024 90", 1024 * pow(90, 1.5) * 1e-3, "between widths"},
	        {"host_getrf 1024 24", 1024 * pow(24, 1.5) * 1e-3,
	                "narrower than all rows: the first slope"},
	        {"host_getrf 8000 128", 8000 * one,
	                "beyond the last row of one thread: as long, whatever all threads take"},
	        {"host_getrf 50 128", 128 * one, "shorter than all rows: as the first"},
	        {"host_getrf 65536 128", 65536 * 2 * one,
	                "beyond the only row of all threads: as long as that"},
	        {"host_getrf 1024 256", 1024 * pow(256, 1.5) * 1e-3,
	                "one thread beyond the widest: the last slope"},
	        {"host_getrf 4096 384",
	                2 * one * (4096 + 3968 + 3840) +
	                        100. * 128 * (4096 * 256. + 3968 * 128.) / (256. * 256 * 256),
	                "all threads beyond the widest: block by block, each as much slower than "
	                "one thread as measured"},
	        {"host_potrf 128 128", 128 * one / 2,
	                "a diagonal block that is not measured: half of LU"},
	        {"+host.potrf.s[n=64]", 10e-6}, {"+host.potrf.s[n=256]", 160e-6},
	        {"host_potrf 128 128", 40, "between two that are"},
	        {"+host.geqrf.s[m=32768/65536,n=64]", 0.1e-6, "m", 1000e-6},
	        {"host_geqrf 100000 64", 11000,
	                "beyond the last row, which is not the only one: in a straight line"}};
	static const struct line products[] = {{"+host.gemm.s[n=256]", 100e-6},
	        {"gemm 1024 1024 1024", 6400, "a larger product: the rate"},
	        {"gemm 100 100 100", 100, "a smaller one: the start-up"}};
	/* of each of 10 columns 64 words and 64 lines, read and written at 20 GB/s */
	static const struct line swaps[] = {{"laswp 512 10 64", 10 * 64 * 2 * (4 + 64) / 20e3,
	        "the host exchanges rows by lines"}};

	PLAY(profile_new(), lines);
	play(profile_new(), MODEL_HOST, products, ARRAY_LEN(products));
	play(synthetic(0), MODEL_HOST, swaps, ARRAY_LEN(swaps));
}

/* A grid of 1 us at 32 and 512, where a square between has 3 us. */
static const struct line middle_lines[] = {{"+gpu.trsm.s[m=32/512,n=32/512]", 1e-6},
        {"+gpu.trsm.s[m=128,n=128]", 3e-6}, {"trsm 128 128", 3, "a row off the grid is itself"},
        {"trsm 64 128", 1.7320508, "it counts less beside it", 1e-7},
        {"trsm 512 128", 1, "and nothing on the grid's next rows"},
        {"beyond: trsm 512 512", 0, "the last row stands for itself"},
        {"beyond: trsm 513 512", 1, "and for more as a guess"}};

/* Every m takes 1 us for 1024 rows, 128 more than 4096 half as long again. */
static void test_step(void)
{
	const double slope = log(6.1875 / 2) / log(4224 / 2048.0);
	const struct line lines[] = {{"+gpu.trsm.s[m=1024:4096:2,n=32/64]", 1e-6 / 1024, "m"},
	        {"+gpu.trsm.s[m=4224,n=32/64]", 6.1875e-6}, {"trsm 4096 32", 4, "before a step"},
	        {"trsm 4224 32", 6.1875, "behind it"},
	        {"trsm 3000 48", 3000 / 1024.0, "between the rows before it"},
	        {"trsm 8448 32", 6.1875 * pow(2, slope),
	                "beyond the last row no step, but the slope since the row before both"}};

	PLAY(profile_new(), lines);
}

/* Exchanges of rows, and with a solve, in 2048 columns: 20 and 50 us; a launch takes 2 us. */
static const struct line rows_lines[] = {{"+gpu.launch.enqueue", 1e-6},
        {"+gpu.launch.dependent", 2e-6}, {"+gpu.l2.stated", 5e7}, {"+gpu.sm.count", 100},
        {"+gpu.int.logic.latency", 1e-9}, {"+gpu.shared.latency", 1e-9}, {"+gpu.l2.latency", 1e-7},
        {"+gpu.copy.time[bytes=100000:100000000:10]", 1e-12, "b"},
        {"+gpu.swap_rows.s[swaps=128,n=2048,cold=0/1]", 20e-6},
        {"+gpu.lu_rows.s[swaps=128,n=2048,cold=0/1]", 50e-6},
        {"swap_rows 2048 4096 128", 20, "exchanges alone"},
        {"lu_rows 2048 4096 128", 50, "and a solve"},
        {"solve_rows 2048 4096 128", 30 + 2 + (2 * 128 * 2048 * 4 - 1e5) / 1e6,
                "a solve alone: what it adds, a launch, and its words"}};

static double by_work(
        struct cost_reader *r, const struct cost_model *model, struct operation_work work)
{
	const struct cost cost = model->by_work(r, work);
	double sum = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		sum += cost.term[t] * 1e6;
	return sum;
}

/* Operations without a cost of their own at level 1: a start of 2 us, 1 TB/s and 10 Tflop/s; on the
 * host 10 GB/s. */
static void test_work(struct profile *p, struct cost_reader *r)
{
	ADD(p, 0, {"gpu.launch.stream", 2e-6}, {"gpu.copy.beta", 1e12}, {"gpu.gemm.s.peak", 1e13},
	        {"host.memory.copy.peak", 1e10});
	r->sums = true;
	is_real(by_work(r, &cost_cuda_level1, COPIES(3e6)), 5, 1e-9, "bytes on the device");
	is_real(by_work(r, &cost_cuda_level1, FLOPS(1e8, SINGLE)), 12, 1e-9, "flops");
	is_real(by_work(r, &cost_host_level1, READS(1e5)), 10, 1e-9, "bytes on the host");
	is_real(by_work(r, &cost_host_level1, FETCHES(1e9)), 0, 1e-9, "which copies nothing");
}

/* A size that a probe could not resolve is none; the near part of L2 is then the device's own
 * statement, over its partitions. */
static void test_unresolved(struct profile *p, struct cost_reader *r)
{
	char copy[] = "gpu.l2.near.size";

	ADD(p, 0, {"gpu.l2.stated", 6e7}, {"gpu.l2.near.size", NAN});
	ok(!cost_known(r, "gpu.l2.near.size"), "what was not resolved is not known");
	ok(!cost_known(r, copy), "a name is known by its text, wherever it stands");
	is_real(cost_near_l2(r), 6e7, 1e-12, "all of L2 is near");
	ADD(p, 0, {"gpu.l2.partitions", 2});
	cost_reader_start(r, p);
	is_real(cost_near_l2(r), 3e7, 1e-12, "or its part");
	ok(!r->model.missing, "and nothing is missing");
}

/* An L2 of one part, measured a little larger than the device says. */
static void test_one_part(struct profile *p, struct cost_reader *r)
{
	ADD(p, 0, {"gpu.l2.stated", 6e7}, {"gpu.l2.near.size", 6.3e7});
	ok(cost_known(r, "gpu.l2.near.size"), "the near part is known");
	is_real(cost_near_l2(r), 6e7, 1e-12, "no more than all of L2 is near");
	ok(!r->model.missing, "and nothing is missing");
}

/* A cache of 2e6 bytes reads 1e11 bytes a second, the last one 2e10. */
static void test_first_reads(struct profile *p, struct cost_reader *r)
{
	ADD(p, 0, {"host.l2.stated", 2e6}, {"host.getrf.s[m=100/20000,n=50]", 1e-3},
	        {"host.geqrf.s[m=100/20000,n=50]", 1e-3}, {"host.potrf.s[n=50/500]", 1e-3},
	        {"host.memory.read[threads=1,bytes=1000/2000000]", 1e11},
	        {"host.memory.read[threads=1,bytes=4000000/1000000000]", 2e10});
	const double near = 1 / 1e11, last = 1 / 2e10;
	is_real(cost_host_getrf(r, shape(1000, 50)).term[TERM_HOST], 1e-3 + 2e5 * (last - near),
	        1e-9, "a copied LU panel comes from the last cache, not from the core's");
	is_real(cost_host_geqrf(r, shape(1000, 50)).term[TERM_HOST], 1e-3 + 2e5 * (last - near),
	        1e-9, "and a QR panel");
	is_real(cost_host_potrf(r, shape(50, 50)).term[TERM_HOST], 1e-3 + 5e3 * (last - near), 1e-9,
	        "of Cholesky's block a triangle");
	is_real(cost_by_host_getrf(r, shape(1000, 50)).term[TERM_HOST], 1e-3, 1e-9,
	        "a panel of the host's own is in its caches");
	is_real(cost_host_getrf(r, shape(20000, 50)).term[TERM_HOST], 1e-3, 1e-9,
	        "a panel beyond them costs as measured");
	ok(!r->model.missing, "and nothing is missing");
}

static void test_missing(struct profile *p, struct cost_reader *r)
{
	ADD(p, 0, {"gpu.sm.count", 100});
	ok(isnan(cost_by_host_getrf(r, shape(1000, 64)).term[TERM_HOST]) && r->model.missing,
	        "a profile without rows says so");
	is_text(r->model.missing_name, "host.getrf.s[m=1000,n=64]", "and which");
}

int main(void)
{
	static void (*const tests[])(struct profile *, struct cost_reader *) = {
	        test_work, test_unresolved, test_one_part, test_first_reads, test_missing};

	test_host();
	PLAY(profile_new(), middle_lines);
	test_step();
	PLAY(profile_new(), rows_lines);
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		struct profile *p = profile_new();
		struct cost_reader *r = calloc(1, sizeof *r);
		cost_reader_start(r, p);
		tests[i](p, r);
		free(r);
		profile_free(p);
	}
	return finish();
}
