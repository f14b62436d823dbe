/* SPDX-License-Identifier: MIT */
/* The works of products at shapes whose sums can be done by hand, and what-ifs on their surfaces.
 */
#include "tests/tap.h"

#include "factor/kernels/gemm/double_tall_work.h"
#include "factor/kernels/gemm/gemm_work.h"
#include "factor/kernels/gemm/half_update_work.h"
#include "factor/kernels/gemm/tf32_tall_work.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/model/efficiency/library_products.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"
#include "lib/profile/profile_row.h"

#include <math.h>

static void equal(double got, double want, const char *what)
{
	is_real(got, want, 1e-12, what);
}

static void own_products(void)
{
	struct gemm_problem problem = {.precision = SINGLE, .m = 4096, .n = 2048, .k = 64};
	struct gemm_plan plan = {.shape = 0, .splits = 1};
	const double c = 4096. * 2048 * 4, once = (4096. + 2048) * 64 * 4;
	struct kernel_work w[2];

	ok(gemm_work(&problem, &plan, &tuning_hopper, true, true, w) == 1,
	        "a product takes one kernel");
	equal(w->blocks, 2 * 132, "of which two blocks of a multiprocessor stay");
	equal(w->operations[PIPE_FP32], 2. * 128 * 128 * 64 * 4 * 132,
	        "512 tiles take as long as four on each of 132 multiprocessors");
	equal(w->dram.read + w->dram.written, 2 * c + once, "C passes twice, operands once");
	equal(w->l2.read + once, (4096. * 16 + 2048. * 32) * 64 * 4, "a tile reads its operands");
	equal(w->link[LINK_BLOCK], 8 * 2, "a barrier for each 8 of k, in two tiles of a block");
	equal(w->wavefronts, 4. * 132 * (64 * (4 * 12 + 4 + 16) + 8 * 4 + 512),
	        "passes: reads, A along its columns and B along k, waits of warps, C");
	problem.part = GEMM_LOWER;
	problem.n = problem.m = 1024;
	plan.shared = true;
	gemm_work(&problem, &plan, &tuning_hopper, true, true, w);
	equal(w->blocks, 36, "a triangle of 8 x 8 tiles has 36, a block each");
	equal(w->dram.written, 1024. * 1025 / 2 * 4, "and writes no more than itself");
	equal(w->link[LINK_L1], 2. * 128 * 128 / 4 / 128,
	        "of which a tile on the diagonal is a block's");
	plan = (struct gemm_plan){.shape = 3, .splits = 10};
	problem = (struct gemm_problem){
	        .precision = SINGLE, .ta = true, .m = 64, .n = 128, .k = 16000};
	ok(gemm_work(&problem, &plan, &tuning_hopper, false, true, w) == 2,
	        "splits of k are added up");
	equal(w[0].l2.written, 10 * 64. * 128 * 4, "each writes a sum of C");
	equal(w[1].l2.read, w[0].l2.written, "that the second kernel reads");
	problem = (struct gemm_problem){.precision = SINGLE, .m = 63, .n = 64, .k = 32};
	plan.splits = 1;
	gemm_work(&problem, &plan, &tuning_hopper, true, true, w);
	equal(w->link[LINK_L1], 2 * (2 + 8) + 2 * 8,
	        "a cut tile: ten copies of operands in two steps, eight quads of C there and back");
	problem.m = 128;
	gemm_work(&problem, &plan, &tuning_hopper, true, false, w);
	equal(w->operations[PIPE_INTEGER], 2. * (2 * 32 * (64 + 64) + 2 * 128 * 64) * 3 / 4,
	        "off boundaries of 16 bytes each word is copied: three more of four");
	problem.precision = DOUBLE;
	plan.shape = GEMM_DOUBLE;
	gemm_work(&problem, &plan, &tuning_hopper, true, false, w);
	equal(w->l2.written, 3 * 128. * 64 * 8, "and in double precision stored in its sector");
	problem.m = problem.n = 1024;
	problem.part = GEMM_LOWER;
	problem.precision = SINGLE;
	plan.shape = 0;
	gemm_work(&problem, &plan, &tuning_hopper, true, false, w);
	equal(w->blocks, 136, "a triangle in single precision then has tiles of 64 x 64");
}

static void split_products(void)
{
	const double c = 4096. * 4096 * 4;
	struct kernel_work w[2];

	half_update_work(WHOLE, 4096, 128, false, &tuning_hopper, w);
	equal(w->blocks, 132, "3xFP16: a block on each multiprocessor");
	equal(w->operations[PIPE_GROUP_BF16], 2. * 3 * 128 * 192 * 128 * 132 * 6,
	        "704 tiles take as long as six on each, of three products");
	equal(w->apart * (w->dram.read + w->dram.written), 2 * c, "C moves apart");
	half_update_work(WHOLE, 4096, 128, true, &tuning_hopper, w);
	equal(w->operations[PIPE_GROUP_BF16], 2. * 3 * 128 * 192 * 128 * 704,
	        "blocks that end leave others the rest of a round");
	const struct tf32_tall_plan plan = tf32_tall_plan_make(64, 192, 32 * 132 * 10, 132);
	ok(tf32_tall_work(&plan, 64, 192, 32 * 132 * 10, w) == 2, "3xTF32: teams share a tile");
	equal(w[0].blocks, 132, "a team on each multiprocessor");
	equal(w[0].operations[PIPE_GROUP_TF32], 2. * 3 * 64 * 192 * 32 * 132 * 10,
	        "ten stages each");
	equal(w[0].operations[PIPE_FP32], 2. * 132 * 10 * ((64 + 192) * 32 + 64 * 192),
	        "an operand's element has a low part, and each stage's sums are added in fp32");
	equal(w[0].dram.read, (64. + 192) * 32 * 132 * 10 * 4, "operands pass once");
	equal(w[1].l2.read, 132 * 64. * 192 * 4, "every team's sums are read");
}

static void tall_products(void)
{
	enum { ROWS = 32 * 132 * 10 };
	const double rows = ROWS;
	const struct double_tall_plan plan = double_tall_plan_make(64, 64, ROWS, 132),
	                              update = double_tall_update_plan_make(128, 128, ROWS, 132);
	struct kernel_work w[2];

	ok(double_tall_work(&plan, 64, 64, ROWS, w) == 2, "fp64 V^T C: teams share the rows");
	equal(w[0].blocks, 132, "one on each multiprocessor");
	equal(w[0].operations[PIPE_TENSOR_FP64_LARGE], 2. * 64 * 64 * rows, "operations");
	equal(w[0].dram.read, 128. * rows * 8, "operands pass once");
	equal(w[0].wavefronts, rows / 16. * (128 + 4 * 64), "copies write, four warps read");
	equal(w[1].l2.read, 132 * 64. * 64 * 8, "every team's sums are read");
	double_tall_update_work(&update, 128, 128, ROWS, w);
	equal(w->operations[PIPE_TENSOR_FP64_LARGE], 2. * 128 * 128 * rows, "C += V W: operations");
	equal(w->dram.read + w->dram.written, 384. * rows * 8, "V passes once, C twice");
	equal(w->wavefronts, rows / 16. * (256 + 8 * 128 + 3 * 128),
	        "copies write, eight warps read V, C passes three times more");

	const struct double_tall_plan wide = double_tall_gram_plan_make(64, 66, 132);
	double_tall_update_work(&wide, 64, 66, ROWS, w);
	const double plain = w->operations[PIPE_TENSOR_FP64_LARGE], bytes = w->dram.read;
	double_tall_update_gram_work(&wide, 64, 66, ROWS, w);
	equal(w->operations[PIPE_TENSOR_FP64_LARGE] - plain, 2. * 20 * 128 * rows,
	        "with C^T C: 20 tiles");
	equal(w->dram.read, bytes, "but nothing is read for them");
	equal(w->l2.written, 132. * 20 * 128 * 8, "and every team's sums are written");
}

static void library(void)
{
	struct library_product product = {.precision = SINGLE,
	        .pipe = PIPE_FP32,
	        .m = 8192,
	        .n = 8192,
	        .k = 32,
	        .count = 1,
	        .old = true,
	        .sms = 132};
	struct kernel_work w[4];

	ok(library_product_work(&product, w) == 1,
	        "a large product of the library takes one kernel");
	equal(w->operations[PIPE_FP32], 2. * 128 * 128 * 32 * 132 * 32,
	        "4096 tiles take as long as 32 on each of 132 multiprocessors");
	product.k = 100;
	library_product_work(&product, w);
	equal(w->operations[PIPE_FP32], 2. * 128 * 128 * 104 * 132 * 32,
	        "an inner dimension of 100 is computed as 104");
	product.m = product.n = 2100;
	product.tile = 128;
	library_product_work(&product, w);
	equal(w->blocks, 132, "of known tiles a multiprocessor has one at a time");
	equal(w->operations[PIPE_FP32], 2. * 128 * 128 * 104 * 132 * 3,
	        "and 289 of them take three rounds");
	product.tile = 0;
	product.m = 1227;
	product.n = 458;
	product.k = 5892;
	ok(library_product_work(&product, w) == 2 && w->blocks > 132,
	        "a deep product of few tiles splits k to fill its rounds");
	product.m = product.n = 64;
	product.k = 4096;
	ok(library_product_work(&product, w) == 2, "a small deep one splits k");
	ok(library_solve_work(SINGLE, PIPE_FP32, 128, 512, 132, w) == 1,
	        "a solve of order 128 takes one kernel");
	ok(library_solve_work(SINGLE, PIPE_FP32, 1024, 512, 132, w) == 4,
	        "of order 1024 levels of products");
	equal(w[0].launches, 8, "after solves of order 128");
	equal(w[1].launches + w[2].launches + w[3].launches, 7, "seven products");
	ok(library_solve_work(DOUBLE, PIPE_FP64, 1024, 1, 132, w) == 1 && w[0].launches == 1,
	        "a single right-hand side takes one kernel");
}

static bool is_other_surface(const struct parameter *row, const void *name)
{
	char *own = profile_row_name(row);
	const bool other = efficiency_has(row) && strcmp(own, name) != 0;

	free(own);
	return other;
}

/* Seconds of a row after a what-if over those before. */
static double ratio(const struct profile *machine, const char *name, const char *scale)
{
	struct profile *p = profile_copy(machine);
	struct fault fault = {0};
	const struct parameter *row = NULL;

	profile_remove_if(p, is_other_surface, name);
	for (size_t i = 0; i < p->count; i++)
		row = efficiency_has(&p->row[i]) ? &p->row[i] : row;
	const double before = row ? row->estimate.value : NAN;
	if (!what_if_scale(p, scale, &fault))
		diag("%s: %s", scale, fault.text);
	const double after = row ? row->estimate.value : NAN;
	profile_free(p);
	return after / before;
}

static void what_ifs(void)
{
	static const char flat[] = "gpu.own_gemm.s[m=8192,n=8192,k=32]",
	                  deep[] = "gpu.own_gemm.s[m=8192,n=8192,k=512]",
	                  small[] = "gpu.own_gemm.s[m=32,n=32,k=512]";
	struct profile *p = profile_open(RECORDED);

	ok(ratio(p, flat, "gpu.dram.*=0.5") > 1.6 && ratio(p, flat, "gpu.dram.*=0.5") < 2,
	        "half of DRAM's bandwidth nearly doubles an update by 32 columns");
	ok(ratio(p, deep, "gpu.dram.*=0.5") < 1.15, "but no deep one");
	ok(ratio(p, deep, "gpu.fma.s.rate=0.5") > 1.7,
	        "which half of the arithmetic nearly doubles");
	is_real(ratio(p, small, "gpu.dram.*=0.5"), 1, 1e-9, "a small product reads no DRAM");
	ok(ratio(p, small, "gpu.barrier.block=20") > 1.2, "and waits at barriers");
	ok(ratio(p, "gpu.gemm.tf32[m=8192,n=8192,k=8192]", "gpu.wgmma.*=0.5") > 1.8,
	        "the library's tf32 follows the tensor cores");
	ok(ratio(p, "gpu.trsm_right.d[m=512,n=512]", "gpu.launch.dependent=0.5") < 0.95,
	        "a solve starts many kernels");
	profile_free(p);
}

int main(void)
{
	own_products();
	split_products();
	tall_products();
	library();
	what_ifs();
	return finish();
}
