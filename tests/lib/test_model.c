/* SPDX-License-Identifier: MIT */
/* Operation counts, and the reader of the profile, on the 8800 GTX that LAWN 202 describes. */
#include "lib/profile/model.h"
#include "tests/tap.h"

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

static void test_laws(void)
{
	is_real(model_flops_getrf(5, 1), 5, 1e-12,
	        "flops of a 5 x 1 panel: a reciprocal and four multiplications");
	is_real(model_flops_getrf(5, 2), 17, 1e-12,
	        "flops of a 5 x 2 panel: 5 + 4 scaling, 8 updating");
	is_real(model_flops_getrf(2, 2), 5, 1e-12, "flops of a 2 x 2 LU: both pivots count one");
	is_real(model_flops_ger(5, 3), 30, 0, "flops of a 5 x 3 ger");
	is_real(model_line(5e-6, 75e9, 75e3), 6e-6, 1e-12, "alpha + bytes/beta");
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

	test_laws();
	if (!ok(profile != NULL, "data/papers/8800gtx_profile.tsv is read"))
		return finish();
	test_reader(profile);
	profile_free(profile);
	return finish();
}
