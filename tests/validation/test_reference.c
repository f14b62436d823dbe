/* SPDX-License-Identifier: MIT */
/* References of cases: the rows of the profile next to the case's shape, and when a measured one
 * disagrees with the profile. */
#include "tests/tap.h"

#include "factor/kernels/gram_schmidt/gram_levels.h"
#include "factor/validation/reference.h"

#include <math.h>

static void add(struct profile *profile, const char *name, double m, double n)
{
	const struct parameter_spec spec = {name, "s", "made up", "library", 0, 0};
	const struct arg args[] = {{"m", m}, {"n", n}};
	const bool square = isnan(m);

	profile_add(profile, &spec, args + square, isnan(n) ? 0 : 2 - square,
	        (struct estimate){1e-3, 0.9e-3, 1.1e-3, 9}, false);
}

static struct profile *made_up(void)
{
	static const struct parameter_spec passes = {
	        "host.gram.update", "s", "made up", "calibrated", 0, 0};
	static const struct arg at[] = {{"threads", 2}, {"bytes", 65536}, {"level", GRAM_QUARTER}};
	struct profile *profile = profile_new();

	add(profile, "host.getrf.d", 512, 32);
	add(profile, "host.getrf.d", 2048, 32);
	add(profile, "host.getrf.d", 2048, 128);
	add(profile, "host.getrf.d", 8192, 64);
	add(profile, "host.ger.d", 2048, 32);
	add(profile, "host.potrf.d", NAN, 128);
	add(profile, "host.potrf.d", NAN, 512);
	add(profile, "gpu.launch.enqueue", NAN, NAN);
	profile_add(
	        profile, &passes, at, ARRAY_LEN(at), (struct estimate){1e-5, 1e-5, 1e-5, 9}, false);
	return profile;
}

static struct result case_of(const char *operation, const char *variant, const char *executor,
        int64_t m, int64_t n, int64_t nb)
{
	struct result row = result_new(operation, variant, executor, DOUBLE, m, n);

	row.nb = nb;
	results_option_add(row.options, "lda", "9000");
	results_option_add(row.options, "seed", "7");
	return row;
}

/* Their names, joined. */
static const char *names_of(const struct profile *profile, const struct result *of)
{
	static char text[200];
	struct reference reference[REFERENCES];
	const size_t count = references_of(profile, of, reference);
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %dx%d",
		        i ? ", " : "", reference[i].of->name, reference_m(&reference[i]),
		        reference_n(&reference[i]));
	return text;
}

static void test_rows(void)
{
	static const struct {
		const char *operation, *variant, *executor;
		int64_t m, n, nb;
		const char *names, *what;
	} all[] = {{"panel_getrf", "host", "host", 1800, 40, 40, "host.getrf.d 2048x32",
	                   "a panel by LAPACK: the row next to it"},
	        {"panel_getrf", "host", "host", 8100, 63, 63, "host.getrf.d 2048x32",
	                "of one thread, though one of all threads is nearer"},
	        {"panel_getrf", "blas", "host", 1800, 64, 64, "host.ger.d 2048x32",
	                "a panel by calls: updates of half its columns"},
	        {"panel_getrf", "host", "cuda", 600, 30, 30,
	                "host.getrf.d 512x32, gpu.launch.enqueue 0x0", "with transfers: a launch"},
	        {"getrf", "hybrid", "cuda", 4000, 4000, 128,
	                "host.getrf.d 2048x128, gpu.launch.enqueue 0x0",
	                "a whole matrix: panels of half its height"},
	        {"potrf", "hybrid", "cuda", 4000, 4000, 128,
	                "host.potrf.d 128x128, gpu.launch.enqueue 0x0", "Cholesky: the block"},
	        {"panel_getrf", "fused", "cuda", 600, 30, 30, "gpu.launch.enqueue 0x0",
	                "panels on the device: a launch alone"},
	        {"gemm", "cublas", "cuda", 600, 30, 0, "", "one kernel has none"}};
	struct profile *profile = made_up();

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct result row = case_of(all[i].operation, all[i].variant, all[i].executor,
		        all[i].m, all[i].n, all[i].nb);
		is_text(names_of(profile, &row), all[i].names, all[i].what);
	}
	profile_free(profile);
}

static void test_passes(void)
{
	struct profile *profile = made_up();
	struct result row = case_of("gramschmidt", "fused", "host", 600, 300, 0), one = row;

	results_option_add(row.options, "threads", "2");
	is_text(names_of(profile, &row), "host.gram.update 0x0",
	        "Gram-Schmidt on the host: passes by as many threads");
	results_option_add(one.options, "threads", "1");
	is_text(names_of(profile, &one), "", "not by others");
	profile_free(profile);
}

static double ratio_of(double low, double high)
{
	struct profile *profile = made_up();
	struct results *results = results_new();
	struct reference reference[REFERENCES];
	const struct result row = case_of("panel_getrf", "host", "host", 1800, 40, 40);
	const struct estimate now = {(low + high) / 2, low, high, 9};

	references_of(profile, &row, reference);
	reference_add(results, reference[0].row, &now);
	const double ratio = reference_ratio(&reference[0], results);
	profile_free(profile);
	results_free(results);
	return ratio;
}

static void test_ratio(void)
{
	struct profile *profile = made_up();
	struct results *results = results_new();
	struct reference reference[REFERENCES];
	const struct result row = case_of("panel_getrf", "host", "host", 1800, 40, 40);

	references_of(profile, &row, reference);
	is_text(reference[0].row.options, "cache=warm,of=panel_getrf,row=2048x32,lda=9000,seed=7",
	        "its row says of which cases it is, and of which row");
	is_real(reference_ratio(&reference[0], results), 1, 0, "not measured: it agrees");
	is_real(ratio_of(0.6e-3, 0.7e-3), 0.65, 1e-9, "quicker than the profile's interval");
	is_real(ratio_of(1.3e-3, 1.5e-3), 1.4, 1e-9, "slower");
	is_real(ratio_of(0.6e-3, 0.91e-3), 1, 0, "intervals that meet agree");
	is_real(ratio_of(NAN, NAN), 1, 0, "so does one without an interval");
	reference_add(results, reference[0].row, &(struct estimate){0.65e-3, 0.6e-3, 0.7e-3, 5});
	reference_add(results, reference[0].row, &(struct estimate){0.95e-3, 0.9e-3, 1e-3, 5});
	ok(results->count == 1 && results->row[0].seconds.samples == 10, "two visits are one row");
	is_real(reference_ratio(&reference[0], results), 1, 0,
	        "one of them as the profile says: it agrees");
	profile_free(profile);
	results_free(results);
}

int main(void)
{
	test_rows();
	test_passes();
	test_ratio();
	return finish();
}
