/* SPDX-License-Identifier: MIT */
/* The model's costs of the Gram-Schmidt process: passes by hand from a synthetic profile, what the
 * forms are to one another, and what is not estimated. */
#include "factor/model/predictions/model_gram_schmidt.h"
#include "factor/model/cost/cost_blocks.h"
#include "model_profile.h"
#include "tests/tap.h"

static struct profile *with_gram_schmidt(void)
{
	static const struct written_row rows[] = {{"gpu.launch.pdl", 0.5e-6},
	        {"gpu.l2.near.size", 1048576}, {"gpu.dram.read", 1.25e12},
	        {"gpu.dram.latency", 0.5e-6}, {"gpu.clock.sm", 1e9}, {"gpu.sm.l2_read", 1e11},
	        {"gpu.reduce.sum[threads=32]", 0.2e-6}, {"gpu.reduce.sum[threads=1024]", 0.2e-6}};
	struct profile *p = synthetic(0);

	add_written_rows(p, rows, ARRAY_LEN(rows), 0);
	return p;
}

static bool near(double got, double want)
{
	bool same = fabs(got - want) <= 1e-12 * fabs(want);

	if (!same)
		diag("got %.12g want %.12g", got, want);
	return same;
}

static double memory(struct cost_reader *r, enum gram_step step, int64_t m, int64_t n)
{
	struct matrix a = {NULL, 0, m, n, m, SINGLE};

	return cost_gram_pass(r, step, a).term[TERM_MEMORY];
}

/* Rows of 4 KiB. */
static void test_passes(const struct profile *profile)
{
	const double held = (1048576 - 4096) / 1e12;
	struct cost_reader *r = calloc(1, sizeof *r);

	cost_reader_start(r, profile);
	ok(near(memory(r, GRAM_DOTS, 1024, 256), held), "dot products from L2: one read");
	ok(near(memory(r, GRAM_FUSED, 1024, 257), 2 * held),
	        "one pass in L2: all but the column itself, read and written");
	ok(near(memory(r, GRAM_UPDATE, 1024, 257), 2 * held), "the update moves as much");
	ok(near(memory(r, GRAM_DOTS, 1024, 1024), held + 3145728 / 1.25e12),
	        "of what L2 does not hold a part is found there by the next pass");
	ok(near(memory(r, GRAM_UPDATE, 1024, 1), 0), "nothing right of the last column");
	struct cost p = cost_gram_pass(r, GRAM_FUSED, (struct matrix){NULL, 0, 10, 2, 10, SINGLE});
	ok(near(p.term[TERM_LAUNCH], 0.5e-6) &&
	                near(p.term[TERM_BARRIER], 5 * 0.25e-6 + 2 * 0.2e-6) &&
	                near(p.enqueue, 2e-6),
	        "a pass begins before the one ahead of it ends");
	free(r);
}

static struct cost shaped(struct cost_reader *r, enum gram_step step, int nx, int ny, int64_t n)
{
	struct matrix a = {NULL, 0, 4096, n, 4096, SINGLE};

	return cost_gram_shaped(r, step, (struct gram_shape){GRAM_WIDE, nx, ny}, a);
}

/* Columns of 16 KiB on 100 multiprocessors. */
static void test_shapes(const struct profile *profile)
{
	struct cost_reader *r = calloc(1, sizeof *r);

	cost_reader_start(r, profile);
	struct cost p = shaped(r, GRAM_UPDATE, 256, 1, 65);
	ok(near(p.term[TERM_MEMORY], 2 * (1048576 - 4096) / 1e12) &&
	                near(p.term[TERM_LAUNCH], 1e-6),
	        "the update's traffic: a copy of as many bytes");
	p = shaped(r, GRAM_DOTS, 32, 32, 32);
	const double issue = (40 + 8 * 60 + 45) * 32 / 4 / cost_scalar(r, "gpu.clock.sm"),
	             connection = 2 * 32 * 16384 / 1e11, traffic = p.term[TERM_MEMORY];
	const double shared = cbrt(pow(issue, 3) + pow(connection, 3) + pow(traffic, 3));
	ok(near(traffic + p.term[TERM_BARRIER], 0.25e-6 + shared + 8 * 0.25e-6 + 0.2e-6),
	        "one block: what it uses, and its chain of eight accesses");
	const struct cost few = shaped(r, GRAM_DOTS, 64, 1, 32768),
	                  all = shaped(r, GRAM_DOTS, 1024, 1, 32768);
	const double many = few.term[TERM_MEMORY] + few.term[TERM_BARRIER],
	             one = all.term[TERM_MEMORY] + all.term[TERM_BARRIER];
	ok(many > 0 && one > 1.2 * many,
	        "a block that has a multiprocessor for itself leaves memory idle");
	p = cost_gram_shaped(r, GRAM_SCALE, (struct gram_shape){GRAM_WIDE, 64, 8},
	        (struct matrix){NULL, 0, 4096, 9, 4096, SINGLE});
	ok(near(p.term[TERM_BARRIER], 0.5e-6) && near(p.term[TERM_LAUNCH], 1e-6), "scalings");
	free(r);
}

static double seconds(const struct profile *profile, const char *form, int64_t nb, int64_t n)
{
	const struct gram_question question = {
	        .form = form, .nb = nb, .m = n, .n = n, .precision = SINGLE};
	struct prediction out;

	if (!model_gram_schmidt_predict(profile, MODEL_CUDA, &question, 2, true, &out))
		diag("%s: %s", form, out.fault.text);
	return out.seconds;
}

static void test_forms(const struct profile *profile)
{
	const double n = 4096, fused = seconds(profile, "fused", 1, 4096),
	             kernels = seconds(profile, "kernels", 1, 4096);
	const double one_pass = 4 * n * n * n / 1e12, two = 6 * n * n * n;

	ok(fused > 0.95 * one_pass && fused < 1.1 * one_pass, "one pass: 8 bytes at memory's rate");
	ok(kernels > fused && kernels < two / 0.9e12, "two passes: more, 12 at most");
	ok(isnan(seconds(profile, "fused", 1, 0)), "nothing is refused");
}

int main(void)
{
	struct profile *profile = with_gram_schmidt();

	test_passes(profile);
	test_shapes(profile);
	test_forms(profile);
	profile_free(profile);
	return finish();
}
