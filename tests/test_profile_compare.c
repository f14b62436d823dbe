/* SPDX-License-Identifier: MIT */
/* Two runs compared: what counts as beyond the bar, as real, as noisy, as missing. */
#include "tap.h"

#include "../lib/profile_compare.h"

#include <string.h>

static void add(struct profile *profile, const char *name, const char *unit, double argument,
        double value, double half)
{
	const struct parameter_spec spec = {.name = name, .unit = unit, .method = "made up"};
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

int main(void)
{
	test_families();
	test_same();
	return finish();
}
