/* SPDX-License-Identifier: MIT */
/* Two runs compared: what counts as beyond the bar, as real, as noisy, as missing. */
#include "tests/tap.h"

#include "lib/profile/profile_compare.h"

static void add(struct profile *profile, const char *name, const char *unit, double argument,
        double value, double half)
{
	const bool surface = strstr(name, ".call") != NULL;
	const struct parameter_spec spec = {.name = name,
	        .unit = unit,
	        .method = "made up",
	        .regime = surface ? "library" : NULL};
	const struct arg arg = {"n", argument};
	const struct estimate estimate = {value, value * (1 - half), value * (1 + half), 9};
	profile_add(profile, &spec, &arg, 1, estimate, false);
}

static struct profile *before(void)
{
	struct profile *profile = profile_new();
	add(profile, "gpu.a.latency", "s", 1, 1e-6, 0.01);
	add(profile, "gpu.a.latency", "s", 2, 2e-6, 0.01);
	add(profile, "gpu.a.latency", "s", 4, 4e-6, 0.01);
	add(profile, "gpu.a.latency", "s", 8, 8e-6, 0.5);
	add(profile, "gpu.b.rate", "B/s", 1, 1e9, 0.02);
	add(profile, "gpu.c.gone", "s", 1, 1, 0);
	return profile;
}

static struct profile *now(void)
{
	struct profile *profile = profile_new();
	add(profile, "gpu.a.latency", "s", 4, 4.2e-6, 0.001);  /* by 5 %, which nothing explains */
	add(profile, "gpu.a.latency", "s", 1, 1.025e-6, 0.02); /* by 2.5 %, explained */
	add(profile, "gpu.a.latency", "s", 2, 2.02e-6, 0.01);
	add(profile, "gpu.a.latency", "s", 8, 8e-6, 0.01);
	add(profile, "gpu.b.rate", "B/s", 1, 1.025e9, 0.02);
	add(profile, "gpu.d.new", "s", 1, 1, 0);
	return profile;
}

static void test_families(void)
{
	struct profile *a = before(), *b = now();
	struct profile_changes changes = profile_compare(a, b);
	const struct family_change *latency = changes.family;

	ok(changes.count == 2, "families of which nothing can be compared are left out");
	ok(strcmp(latency->name, "gpu.a.latency") == 0, "in the first profile's order");
	ok(latency->compared == 3 && latency->noisy == 1, "what is noisy is counted apart");
	ok(latency->beyond == 2, "2.5 and 5 percent are beyond, 1 is not");
	ok(latency->real == 1, "intervals explain the smaller one");
	is_real(latency->worst_change, 0.05, 1e-9, "the worst change");
	ok(latency->worst && latency->worst->arg[0] == 4, "and where");
	is_real(latency->median, 0.025, 1e-9, "the median change");
	ok(changes.family[1].beyond == 0, "a rate may change by 2.5 percent");
	ok(changes.compared == 4 && changes.beyond == 2 && changes.missing == 2, "totals");
	profile_changes_free(&changes);
	profile_free(a);
	profile_free(b);
}

static void test_same(void)
{
	struct profile *a = before(), *b = before();
	struct profile_changes changes = profile_compare(a, b);

	ok(changes.beyond == 0 && changes.missing == 0, "a profile is like itself");
	profile_changes_free(&changes);
	profile_free(a);
	profile_free(b);
}

static const struct family_change *find_group(
        const struct profile_changes *changes, const char *part, enum change_kind kind)
{
	for (size_t i = 0; i < changes->group_count; i++)
		if (changes->group[i].kind == kind &&
		        strncmp(changes->group[i].name, part, strlen(part)) == 0)
			return &changes->group[i];
	return NULL;
}

/* One of everything, each `factor` times what it is. */
static struct profile *one_each(double factor)
{
	struct profile *profile = profile_new();

	add(profile, "gpu.a.latency", "s", 1, 1e-6 * factor, 0.01);
	add(profile, "gpu.b.latency", "cycle", 1, 20, 0.01);
	add(profile, "gpu.c.size", "B", 1, 1024 * factor, 0.01);
	add(profile, "gpu.d.rate", "B/s", 1, 1e9 * factor, 0.01);
	add(profile, "gpu.e.call", "s", 1, 1e-3 * factor * factor, 0.01);
	add(profile, "gpu.f.share", "ratio", 1, 1, 0.01);
	add(profile, "host.a.latency", "s", 1, 1e-7, 0.01);
	return profile;
}

static void test_groups(void)
{
	struct profile *a = one_each(1), *b = one_each(1.025);
	struct profile_changes changes = profile_compare(a, b);
	const struct family_change *gpu = find_group(&changes, "gpu", CHANGE_LATENCY);
	const struct family_change *host = find_group(&changes, "host", CHANGE_LATENCY);
	const struct family_change *size = find_group(&changes, "gpu", CHANGE_SIZE);
	const struct family_change *rate = find_group(&changes, "gpu", CHANGE_BANDWIDTH);
	const struct family_change *call = find_group(&changes, "gpu", CHANGE_SURFACE);
	const struct family_change *other = find_group(&changes, "gpu", CHANGE_OTHER);

	ok(changes.group_count == 6, "kinds in parts of the machine");
	ok(gpu && gpu->compared == 2 && gpu->beyond == 1 && !change_repeats(gpu),
	        "families of one kind and part are one group");
	ok(host && host->compared == 1 && change_repeats(host), "another part is another group");
	ok(size && !change_repeats(size), "a size may change by 2 percent");
	ok(rate && rate->allowed > 0.02 && change_repeats(rate), "a rate by 3");
	ok(call && call->beyond == 1 && change_repeats(call),
	        "a surface's change is counted but not judged");
	ok(other && other->compared == 1 && change_repeats(other), "ratios are apart");
	ok(!profile_changes_repeat(&changes), "one group that does not repeat decides");
	profile_changes_free(&changes);
	profile_free(a);
	profile_free(b);
}

static void test_noisy_runs(size_t count, bool allowed)
{
	struct profile *a = one_each(1), *b = one_each(1);

	for (size_t i = 0; i < count; i++)
		add(b, "gpu.g.latency", "s", (double)i, 1e-6, 0.5);
	struct profile_changes changes = profile_compare(a, b);
	ok(changes.noisy_before == 0 && changes.noisy_now == count, "%zu noisy in one run", count);
	ok(profile_changes_repeat(&changes) == allowed, "%s", allowed ? "may be" : "are too many");
	profile_changes_free(&changes);
	profile_free(a);
	profile_free(b);
}

int main(void)
{
	test_families();
	test_groups();
	test_noisy_runs(5, true);
	test_noisy_runs(6, false);
	test_same();
	return finish();
}
