/* SPDX-License-Identifier: MIT */
/* The cost laws fed with the 8800 GTX parameters of LAWN 202 must give what follows from its
 * formulas.
 *
 * Misprints of the paper, listed and not matched:
 * - panel asymptote 18.8 Gflop/s: with n = 64 and all traffic counted it is 17.9; 18.75 only as n
 * grows
 * - "up to 3x" by the fast barrier: 3.50 at m = 64, 3.01 at m = 450
 * - 1.3-1.6 us or 1920-2000 cycles a barrier: at 1.35 GHz 1920 cycles are 1.42 us, and 2000
 * are 1.48 us The 2.4x over the CPU and the crossover at m = 750 rest on a CPU curve that the paper
 * only draws. */
#include "lib/base/base.h"
#include "lib/profile/model.h"
#include "tests/tap.h"

static const double word = 4;

/* The recorded papers, from the repository root or from the folder of this program below it. */
static struct profile *read_paper(const char *argv0)
{
	const char *file = "data/papers/8800gtx_profile.tsv";
	const char *slash = strrchr(argv0, '/');
	struct fault fault;
	char path[4096];

	struct profile *profile = profile_read(file, &fault);
	if (profile || !slash)
		return profile;
	snprintf(path, sizeof path, "%.*s/../../%s", (int)(slash - argv0), argv0, file);
	return profile_read(path, &fault);
}

static double panel_gflops(int64_t m, int64_t n, double alpha, double beta)
{
	return model_panel_work(m, n).flops / model_panel_estimate(m, n, alpha, beta, word) / 1e9;
}

/* Rounds as a paper prints: the golden numbers have this many decimals. */
static void is_printed(double got, double want, int decimals, const char *what)
{
	double scale = pow(10, decimals);

	is_real(round(got * scale) / scale, want, 1e-12, what);
}

static void test_counts(void)
{
	struct model_panel_work one = model_panel_work(5, 1), two = model_panel_work(5, 2);

	/* 5 x 1: isamax 5, sswap 4, sscal 8. 5 x 2: isamax 5+4, sswap 8+8, sscal 8+6, sger 8+4+1 */
	is_real(one.calls, 3, 0, "a one-column panel takes three calls");
	is_real(one.words, 17, 0, "words of a 5 x 1 panel by hand");
	is_real(two.calls, 7, 0, "a two-column panel takes seven calls");
	is_real(two.words, 52, 0, "words of a 5 x 2 panel by hand");
	is_real(one.flops, 5, 1e-12,
	        "flops of a 5 x 1 panel: a reciprocal and four multiplications");
	is_real(two.flops, 17, 1e-12, "flops of a 5 x 2 panel: 5 + 4 scaling, 8 updating");
	is_real(model_flops_getrf(2, 2), 5, 1e-12, "flops of a 2 x 2 LU: both pivots count one");
	is_real(model_flops_ger(5, 3), 30, 0, "flops of a 5 x 3 ger");
	is_real(model_line(5e-6, 75e9, 75e3), 6e-6, 1e-12, "alpha + bytes/beta");
}

static void test_paper(struct model *model)
{
	double launch = model_scalar(model, "gpu.launch.stream");
	double barrier = model_at2(model, "gpu.barrier.master", "blocks", 16, "threads", 16);
	double beta = model_scalar(model, "gpu.copy.beta");

	/* sscal: n flops, 2n words */
	is_real(1e-9 * beta / (2 * word), 9.375, 1e-9, "sscal rate, Gflop/s");
	is_real(launch * beta / (2 * word), 46875, 1e-9, "sscal n_half, elements");

	is_printed(panel_gflops(1000000000, 64, launch, beta), 17.9, 1, "panel asymptote, n = 64");
	is_printed(panel_gflops(1000000000, 10000, launch, beta), 18.74, 2,
	        "panel asymptote tends to 18.75 as n grows");
	is_printed(panel_gflops(20000, 64, launch, beta), 14.0, 1, "panel at m = 20000");
	is_printed(panel_gflops(750, 64, barrier, beta), 5.69, 2, "panel with barriers at m = 750");

	static const struct {
		int64_t m;
		double ratio;
	} gain[] = {{64, 3.50}, {450, 3.01}, {20000, 1.19}};
	for (size_t i = 0; i < ARRAY_LEN(gain); i++) {
		char what[64];
		snprintf(what, sizeof what, "barrier over launch at m = %d", (int)gain[i].m);
		is_printed(panel_gflops(gain[i].m, 64, barrier, beta) /
		                   panel_gflops(gain[i].m, 64, launch, beta),
		        gain[i].ratio, 2, what);
	}
}

static void test_crossover(struct model *model)
{
	const int64_t m = 750, n = 64;
	double bytes = (double)(m * n) * word;
	double there = model_line(model_scalar(model, "link.h2d.pinned.alpha"),
	        model_scalar(model, "link.h2d.pinned.beta"), bytes);
	double back = model_line(model_scalar(model, "link.d2h.pinned.alpha"),
	        model_scalar(model, "link.d2h.pinned.beta"), bytes);
	double barrier = model_at2(model, "gpu.barrier.master", "blocks", 16, "threads", 16);
	double gpu =
	        model_panel_estimate(m, n, barrier, model_scalar(model, "gpu.copy.beta"), word);

	is_printed(1e6 * (there + back), 146, 0, "transfer there and back at m = 750, us");
	is_printed(1e-9 * model_panel_work(m, n).flops / (gpu - there - back), 7.9, 1,
	        "CPU rate implied by the crossover at m = 750, Gflop/s");
}

static void test_reader(const struct profile *profile)
{
	struct model model;

	model_start(&model, profile);
	model_scalar(&model, "gpu.copy.beta");
	model_scalar(&model, "gpu.copy.beta");
	ok(model.used_count == 1, "a parameter read twice is noted once");
	is_text(model.used[0], "gpu.copy.beta", "under its name");
	ok(!model.missing && !model.extrapolated && !model.surface, "nothing else is noted");

	is_real(model_scalar(&model, "gpu.no.such"), NAN, 0, "an unknown parameter is NaN");
	ok(model.missing, "and missing");
	is_text(model.missing_name, "gpu.no.such", "by its name");
	model_at(&model, "gpu.none", "m", 2);
	is_text(model.missing_name, "gpu.no.such", "the first missing one is kept");
	ok(model.used_count == 1, "a missing parameter is not used");

	model_start(&model, profile);
	model_at2(&model, "gpu.copy.stride", "words", 262144, "stride", 2);
	ok(!model.extrapolated, "between rows is no extrapolation");
	model_at2(&model, "gpu.copy.stride", "words", 262144, "stride", 1024);
	ok(model.extrapolated, "beyond the rows is");
	model_start(&model, profile);
	model_at2(&model, "gpu.none", "m", 2, "n", 3);
	is_text(model.missing_name, "gpu.none[m=2,n=3]",
	        "a missing function is named with arguments");
}

int main(int argc, char **argv)
{
	struct profile *profile = read_paper(argc > 0 ? argv[0] : "");
	struct model model;

	test_counts();
	if (!ok(profile != NULL, "data/papers/8800gtx_profile.tsv is read"))
		return finish();
	model_start(&model, profile);
	test_paper(&model);
	test_crossover(&model);
	if (!ok(!model.missing, "every parameter is in the profile"))
		diag("missing: %s", model.missing_name);
	test_reader(profile);
	profile_free(profile);
	return finish();
}
