/* SPDX-License-Identifier: MIT */
/* The works that kernels state, by sums that can be done by hand, and what what-ifs do to the
 * surfaces of streams on a recorded machine. A function for each family of kernels. */
#include "tests/tap.h"

#include "factor/kernels/blocks/block_work.h"
#include "factor/kernels/gemm/split_work.h"
#include "factor/kernels/gemv/gemv_work.h"
#include "factor/papers/kerr_work.h"
#include "factor/kernels/gram_schmidt/gram_apply_work.h"
#include "factor/kernels/lu/swaps_work.h"
#include "factor/kernels/update/sweep_work.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/model/efficiency/library_work.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"

#include <math.h>

static bool close_to(double got, double want)
{
	if (fabs(got - want) <= 1e-12 * fabs(want))
		return true;
	diag("%.10g, not %.10g", got, want);
	return false;
}

/* Executed instructions that counters showed, of kernels for compute capability 9.0 on 132
 * multiprocessors. Without early launches all of them are in the work. */
static void test_gemv_instructions(void)
{
	static const struct {
		enum precision precision;
		bool transposed;
		int m, n;
		double counted;
	} kernels[] = {{SINGLE, false, 8192, 8192, 12781568}, {SINGLE, false, 512, 32768, 4148688},
	        {DOUBLE, false, 8192, 8192, 27148800}, {DOUBLE, false, 512, 32768, 7671264},
	        {SINGLE, true, 8192, 8192, 13784064}, {SINGLE, true, 32768, 512, 5801472},
	        {DOUBLE, true, 8192, 8192, 29898752}, {DOUBLE, true, 32768, 512, 9201920}};
	struct tuning tuning = tuning_hopper;
	double worst = 0, least = INFINITY;

	tuning.device.code = 80;
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		struct gemv_call call = {.precision = kernels[i].precision,
		        .transposed = kernels[i].transposed,
		        .m = kernels[i].m,
		        .n = kernels[i].n,
		        .alpha = 1,
		        .lda = kernels[i].m,
		        .incx = 1,
		        .incy = 1};
		struct kernel_work wide, narrow;
		gemv_tuned_work(&call, &tuning, true, &wide);
		worst = fmax(worst, fabs(wide.instructions / kernels[i].counted - 1));
		call.lda++;
		gemv_tuned_work(&call, &tuning, true, &narrow);
		least = fmin(least, narrow.instructions / wide.instructions);
	}
	ok(worst < 0.05, "gemv's instructions are as counted: within %.1f %%", 100 * worst);
	ok(least > 1.2, "columns off boundaries take more: %.2f times at least", least);
}

/* One block a column, or 64 rows a block; each reads the whole vector. */
static void test_kerr(void)
{
	const double m = 1000, n = 100;
	struct kernel_work t, plain, house;

	kerr_gemv_work(SINGLE, true, m, n, &t);
	kerr_gemv_work(DOUBLE, false, m, n, &plain);
	ok(t.blocks == n && plain.blocks == 16 && t.threads == 64 && plain.threads == 64,
	        "Kerr's products: blocks of 64 threads");
	ok(t.dram.read + t.l2.read == 4 * (m * n + n * m + n) &&
	                plain.dram.read + plain.l2.read == 8 * (m * n + 16 * n + m),
	        "their bytes");
	ok(t.operations[PIPE_FP32] == 2 * m * n && plain.operations[PIPE_FP64] == 2 * m * n,
	        "and their operations");
	kerr_gemv_work(SINGLE, false, m, 64, &plain);
	kerr_gemv_work(SINGLE, false, m, 128, &house);
	ok(house.link[LINK_DRAM] - 1 == 2 * (plain.link[LINK_DRAM] - 1),
	        "twice the columns take twice the rounds of loads");
	kerr_house_work(SINGLE, 2049, 31, &house);
	ok(house.blocks == 3 && house.dram.written == 4 * 2049 && house.link[LINK_REDUCE] == 1,
	        "the Householder vector: a column written, a sum in each block");
}

static void test_gemv(void)
{
	enum { SIDE = 4096 };
	const struct gemv_call call = {.precision = DOUBLE,
	        .transposed = true,
	        .m = SIDE,
	        .n = SIDE,
	        .alpha = 1,
	        .lda = SIDE,
	        .incx = 1,
	        .incy = 1};
	struct kernel_work w;

	gemv_tuned_work(&call, &tuning_hopper, true, &w);
	ok(close_to(w.dram.read, 8. * (SIDE * SIDE + 3 * SIDE)) && w.working_set == 0,
	        "gemv reads the matrix and vectors, none of them in L2");
	ok(close_to(w.operations[PIPE_FP64], 2. * SIDE * SIDE), "two flops an element");
	ok(close_to((w.link[LINK_DRAM] - 1) * w.blocks * w.threads * w.in_flight, 8. * SIDE * SIDE),
	        "a thread's batches of loads are the matrix");
	ok(w.in_step == 1 && w.blocks <= GEMV_RESIDENT * tuning_hopper.device.sm_count,
	        "blocks of a single round are in step");
	library_sweep_work(SWEEP_GER, SINGLE, 1024, 512, false, 100, &w);
	ok(close_to(w.dram.written, 4. * 1024 * 512) && w.link[LINK_REDUCE] == 0,
	        "ger writes the matrix and adds nothing up");
}

static void test_swaps(void)
{
	struct kernel_work w;

	laswp_work(SINGLE, 1e9, 64, 1024, &w);
	ok(w.launches == 1 && fabs(w.dram.read / (1024. * 64 * (4 + 32)) - 1) < 1e-6,
	        "a swap reads a word and a sector of a column");
	laswp_work(SINGLE, 16, 256, 1024, &w);
	ok(w.launches == 2 && fabs(w.dram.written / (1024. * (128 + 16) * 4) - 1) < 1e-6,
	        "128 swaps a launch, and no more sectors than the rows have");
	lu_rows_work(SINGLE, false, 64, 4096, &w);
	ok(w.blocks == 64 && close_to(w.dram.read, 2. * 64 * 4096 * 4),
	        "in rows, blocks of 64 columns move two rows a swap");
	lu_rows_work(DOUBLE, true, 64, 4096, &w);
	ok(close_to(w.operations[PIPE_TENSOR_FP64_LARGE], 2. * 4096 * 32 * 32 * 3),
	        "the solve of 64 rows in double precision has three chunks of 32 x 32");
	lu_rows_work(SINGLE, true, 256, 16, &w);
	ok(close_to(w.operations[PIPE_FP32], 2560000),
	        "the solve of 256 rows by 32 columns has the flops that counters see");
	lu_top_work(SINGLE, 4096, 128, 1024, true, &w);
	ok(w.blocks == 128 && w.link[LINK_SHUFFLE] == 1 + 128 / 2,
	        "the top solves two rows a step");
	lu_columns_work(SINGLE, 2048 + 64, 64, 64, 132, true, &w);
	ok(w.cluster == 8 && w.blocks == 64 && w.link[LINK_CLUSTER_BARRIER] == 1,
	        "2048 rows right of a panel: clusters of eight blocks and one barrier");
	lu_columns_work(SINGLE, 1024, 64, 64, 132, true, &w);
	ok(close_to(w.operations[PIPE_FP32], 64. * 8 * 64 * (2 * 128 + 64 + 32)),
	        "128 rows a block: only warps that have rows multiply");
	const double vectors = w.wavefronts;
	lu_columns_work(SINGLE, 1024, 64, 64, 132, false, &w);
	ok(close_to(w.wavefronts, vectors + 64. * 64 * (64 + 256) / 32 * 3),
	        "unaligned: the triangle and a turn's rows, word by word");
	deferred_swaps_work(DOUBLE, 4096, 227 << 10, &w);
	ok(close_to(w.dram.read + w.dram.written, 8. * 4096 * 4096) && w.blocks == 2048,
	        "deferred swaps move half of the square");
	deferred_swaps_work(DOUBLE, 4096, 64 << 10, &w);
	ok(w.blocks == 2048, "two columns of a block of threads in 64 KiB");
	deferred_swaps_work(DOUBLE, 4097, 64 << 10, &w);
	ok(w.blocks == 4097, "one where two are longer");
}

static void test_splits(void)
{
	struct kernel_work w;

	tf32_split_work(2048, 128, &w);
	ok(close_to(w.dram.read, 2. * 2048 * 128 * 4) && close_to(w.dram.written, 3 * w.dram.read),
	        "3xTF32 writes three words for a word of each operand");
	half_pair_work(2048, 128, &w);
	ok(close_to(w.dram.written, 2. * 2048 * (128 + 4) * 4), "3xFP16 writes one, and factors");
}

static void test_blocks(void)
{
	struct kernel_work w;

	block_guard_work(DOUBLE, 128, 16384, &w);
	ok(w.blocks == 64 && w.link[LINK_L2] == 4 && w.link[LINK_SEARCH] == 2,
	        "the guard reads 128 columns in four batches and searches twice");
	block_rank_work(SINGLE, 160, 128, 64, true, &w);
	ok(w.blocks == 14 && close_to(w.operations[PIPE_FP32], 14. * 2 * 32 * 32 * 64),
	        "a trapezoid of 5 x 4 tiles has 14");
	const double once = w.dram.written;
	block_rank_work(SINGLE, 160, 128, 64, false, &w);
	ok(close_to(w.operations[PIPE_INTEGER], 14. * 2 * 32 * 64 * 12 * 3 / 4) &&
	                close_to(w.l2.written, 3 * once),
	        "off boundaries of 16 bytes words are copied one by one, and stored in their "
	        "sectors");
}

static void test_gram_and_sweep(void)
{
	struct kernel_work w;

	gram_apply_work(SINGLE, 1000, 16, 400, 4, &w);
	ok(w.blocks == 100 && w.link[LINK_REDUCE] == 16 &&
	                close_to(w.l2.read + w.dram.read, 4. * (1000 * 400 + 100 * 16 * 1000)),
	        "each block reads all columns of q and adds up once for each");
	ok(close_to(w.chains, 4 * 32. / 17),
	        "of four columns with 16 rows a thread: 32 instructions in 17 steps each");
	sweep_work(SINGLE, 16, 512, 32, 132, &w);
	ok(w.blocks == 1 + 16 + 2 && w.link[LINK_BLOCK] == 512 + 6 * 16,
	        "a sweep has a barrier a column and six a window");
}

/* The factor by which a row changes. */
static double change(const struct profile *before, const char *row, const char *const *scales)
{
	struct profile *after = profile_copy(before);
	struct fault fault = {0};
	double factor = NAN;

	for (; *scales; scales++)
		if (!what_if_scale(after, *scales, &fault))
			diag("%s", fault.text);
	for (size_t i = 0; i < before->count; i++) {
		char *name = profile_row_name(&before->row[i]);
		if (strcmp(name, row) == 0)
			factor = after->row[i].estimate.value / before->row[i].estimate.value;
		free(name);
	}
	profile_free(after);
	diag("%s: times %.3f", row, factor);
	return factor;
}

static void test_what_ifs(void)
{
	struct profile *p = profile_open(RECORDED);
	static const char *const dram[] = {"gpu.dram.read=0.5", "gpu.dram.write=0.5",
	        "gpu.dram.copy=0.5", NULL},
	                         *const l2[] = {"gpu.l2.read=0.5", "gpu.l2.write=0.5",
	                                 "gpu.l2.copy=0.5", NULL},
	                         *const barrier[] = {"gpu.barrier.block=20", NULL},
	                         *const start[] = {"gpu.launch.dependent=0.5", NULL};
	static const char *const large[] = {"gpu.read.time[bytes=1073741824]",
	        "gpu.change.time[bytes=1073741824]", "gpu.gemv.s.n[m=8192,n=8192,cold=1]",
	        "gpu.own_gemv.d.t[m=8192,n=8192,cold=1]", "gpu.ger.d[m=8192,n=8192,cold=1]"},
	                         *const small[] = {"gpu.copy.time[bytes=16777216]",
	                                 "gpu.gemv.s.n[m=512,n=512,cold=0]", "gpu.trtri.s[n=64]"};

	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		const double factor = change(p, large[i], dram);
		ok(factor > 1.9 && factor < 2.05, "DRAM half as fast doubles a stream beyond L2");
	}
	for (size_t i = 0; i < ARRAY_LEN(small); i++)
		ok(change(p, small[i], dram) == 1, "and changes nothing in L2");
	const double inside = change(p, "gpu.read.time[bytes=33554432]", l2);
	ok(inside > 1.5 && inside < 2, "L2 half as fast slows down a stream in L2");
	ok(fabs(change(p, "gpu.read.time[bytes=1073741824]", l2) - 1) < 0.01,
	        "and none that DRAM limits");
	ok(change(p, "gpu.band_sweep.s[p=16,n=512,rows=32]", barrier) > 2,
	        "barriers at twenty times their cost more than double a sweep");
	ok(fabs(change(p, "gpu.gemv.s.n[m=8192,n=8192,cold=1]", barrier) - 1) < 0.01,
	        "and change no gemv");
	const struct arg at[] = {{"m", 8192}, {"n", 512}, {"cold", 0}};
	const double saved = 0.5 * profile_get(p, "gpu.launch.dependent", NULL, 0).estimate.value,
	             ger = profile_get(p, "gpu.ger.s", at, ARRAY_LEN(at)).estimate.value;
	ok(fabs((1 - change(p, "gpu.ger.s[m=8192,n=512,cold=0]", start)) * ger / saved - 1) < 0.1,
	        "half a start takes as much from a stream in L2");
	profile_free(p);
}

int main(void)
{
	test_gemv();
	test_kerr();
	test_gemv_instructions();
	test_swaps();
	test_splits();
	test_blocks();
	test_gram_and_sweep();
	test_what_ifs();
	return finish();
}
