/* SPDX-License-Identifier: MIT */
/* The model's prices of the Gram-Schmidt process: passes by hand from a synthetic profile, what the
 * forms are to one another, and what is not priced. */
#include "../factor/model/model_gram_schmidt.h"
#include "../factor/model/price_blocks.h"
#include "model_profile.h"
#include "tap.h"

static struct profile *with_gram_schmidt(void)
{
	struct profile *p = synthetic(0);

	add(p, "gpu.launch.pdl", "s", NULL, 0, 0.5e-6, 0);
	add(p, "gpu.l2.near.size", "B", NULL, 0, 1e6, 0);
	add(p, "gpu.l2.read", "B/s", NULL, 0, 4e12, 0);
	add(p, "gpu.dram.read", "B/s", NULL, 0, 1.25e12, 0);
	return p;
}

static bool near(double got, double want)
{
	bool same = fabs(got - want) <= 1e-12 * fabs(want);

	if (!same)
		diag("got %.12g want %.12g", got, want);
	return same;
}

static double memory(struct price_reader *r, enum gram_step step, int64_t m, int64_t n)
{
	struct matrix a = {NULL, 0, m, n, m, SINGLE};

	return price_gram_pass(r, step, a).term[TERM_MEMORY];
}

static void test_passes(const struct profile *profile)
{
	struct price_reader *r = calloc(1, sizeof *r);

	price_reader_start(r, profile);
	ok(near(memory(r, GRAM_DOTS, 1000, 100), 4e5 / 4e12), "dot products from L2: one read");
	ok(near(memory(r, GRAM_FUSED, 1000, 101), 8e5 / 2e12),
	        "one pass in L2: all but the column itself, read and written");
	ok(near(memory(r, GRAM_UPDATE, 1000, 101), 8e5 / 2e12), "the update moves as much");
	ok(near(memory(r, GRAM_DOTS, 1000, 1000), 1e6 / 4e12 + 3e6 / 1.25e12),
	        "of what L2 does not hold a part is found there by the next pass");
	ok(near(memory(r, GRAM_UPDATE, 1000, 1), 0), "nothing right of the last column");
	struct price p =
	        price_gram_pass(r, GRAM_FUSED, (struct matrix){NULL, 0, 10, 2, 10, SINGLE});
	ok(near(p.term[TERM_LAUNCH], 0.5e-6) && near(p.term[TERM_BARRIER], 3 * 0.25e-6) &&
	                near(p.enqueue, 2e-6),
	        "a pass begins before the one ahead of it ends");
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
	test_forms(profile);
	profile_free(profile);
	return finish();
}
