/* SPDX-License-Identifier: MIT */
/* Parameters of two machines: ratio and interval, which is better, families. */
#include "tests/tap.h"

#include "lib/profile/profile_ratio.h"

#include <stdlib.h>

static struct estimate within(double value, double half)
{
	return (struct estimate){value, value * (1 - half), value * (1 + half), 9};
}

static void test_interval(void)
{
	const struct ratio r = ratio_of(within(2, 0.03), within(3, 0.04), "s");

	is_real(r.value, 1.5, 1e-9, "the ratio is second / first");
	is_real(r.low, 1.5 * 0.95, 1e-9, "distances of the ends add in quadrature");
	is_real(r.high, 1.5 * 1.05, 1e-9, "on both sides");
}

static void test_verdict(double first, double second, double half, const char *unit,
        enum ratio_verdict want, const char *what)
{
	const struct ratio r = ratio_of(within(first, half), within(second, half), unit);

	ok(r.verdict == want, "%s: %s", what, ratio_verdict_name[r.verdict]);
}

static void test_verdicts(void)
{
	test_verdict(1, 1.019, 0.01, "s", RATIO_SAME, "a time 1.9 % longer");
	test_verdict(1, 1.1, 0.01, "s", RATIO_SLOWER, "one 10 % longer");
	test_verdict(1, 0.9, 0.01, "cycle", RATIO_FASTER, "one 10 % shorter");
	test_verdict(1, 1.1, 0.2, "s", RATIO_OPEN, "one that the intervals do not tell apart");
	test_verdict(1, 1.01, 0.2, "s", RATIO_OPEN, "a value that is close and not known");
	test_verdict(1, 1.029, 0.01, "B/s", RATIO_SAME, "a rate may differ by 3 %");
	test_verdict(1, 0.9, 0.01, "flop/s", RATIO_SLOWER, "a smaller rate");
	test_verdict(1, 1.1, 0.01, "Hz", RATIO_FASTER, "a higher clock");
	test_verdict(32, 64, 0, "count", RATIO_MORE, "a larger count");
	test_verdict(1024, 512, 0, "B", RATIO_LESS, "a smaller size");
	test_verdict(0, 1, 0, "s", RATIO_OPEN, "no ratio to nothing");
	is_real(ratio_slowdown(1.25, "s"), 1.25, 1e-9, "a time that is longer");
	is_real(ratio_slowdown(0.8, "B/s"), 1.25, 1e-9, "a rate that is smaller");
	ok(isnan(ratio_slowdown(0.8, "B")), "a size is not slow");
}

static void add(struct profile *profile, const char *name, double argument, double value, bool busy)
{
	const struct parameter_spec spec = {.name = name, .unit = "s", .method = "made up"};
	const struct arg arg = {"n", argument};

	profile_add(profile, &spec, &arg, 1, within(value, 0.01), busy);
}

static void test_families(void)
{
	struct profile *a = profile_new(), *b = profile_new();
	size_t count;

	for (int n = 1; n <= 3; n++)
		add(a, "gpu.curve", n, n, false);
	add(b, "gpu.curve", 1, 1.2, false);
	add(b, "gpu.curve", 3, 3 * 1.3, false);
	add(b, "gpu.curve", 2, 2, false);
	add(a, "gpu.one", 1, 1, false);
	add(b, "gpu.one", 1, 2, true);
	add(a, "gpu.first_alone", 1, 1, false);
	struct family_ratio *family = profile_ratios(a, b, &count);
	ok(count == 2, "families that both have");
	ok(family[0].count == 3 && family[0].ratio.verdict == RATIO_SLOWER,
	        "two rows of three decide");
	is_real(family[0].ratio.value, 1.2, 1e-9, "the median of the rows");
	ok(family[0].ratio.low == 1 && family[0].ratio.high > 1.29, "and their extremes");
	ok(family[1].ratio.verdict == RATIO_OPEN, "a noisy row says nothing");
	free(family);
	profile_free(a);
	profile_free(b);
}

int main(void)
{
	test_interval();
	test_verdicts();
	test_families();
	return finish();
}
