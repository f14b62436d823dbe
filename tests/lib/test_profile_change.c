/* SPDX-License-Identifier: MIT */
/* Changed copies of a profile: what-if values with their units, and rows at the ends of their
 * intervals. */
#include "profile_test.h"

static void add_unit(struct profile *profile, const char *name, const char *unit)
{
	const struct parameter_spec spec = {.name = name, .unit = unit, .method = "test"};

	profile_add(profile, &spec, NULL, 0, about(2, 0.01), false);
}

static void test_set_units(struct profile *profile)
{
	static const struct {
		const char *name, *unit, *good, *bad;
	} row[] = {{"t", "s", "3ns", "3GB"}, {"b", "B", "64KiB", "3s"}, {"r", "B/s", "3GB/s", "3B"},
	        {"c", "Hz", "2GHz", "3s"}, {"f", "flop/s", "3Tflop/s", "3TB/s"},
	        {"w", "W", "3W", "3s"}, {"n", "count", "3", "3B"}, {"x", "ratio", "0.5", "3s"}};
	static const char *const divisors[] = {"r=0", "c=0GHz", "f=0", "n=0"}, *const others[] = {
	                                                                               "t=0", "b=0",
	                                                                               "x=0"};
	struct fault fault = {.text = ""};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		char *good = xasprintf("%s=%s", row[i].name, row[i].good),
		     *bad = xasprintf("%s=%s", row[i].name, row[i].bad),
		     *below = xasprintf("%s=-%s", row[i].name, row[i].good);
		add_unit(profile, row[i].name, row[i].unit);
		ok(profile_set(profile, good, &fault), "--set %s", good);
		ok(!profile_set(profile, bad, &fault) && strstr(fault.text, "its unit is"),
		        "--set %s is a fault", bad);
		ok(!profile_set(profile, below, &fault) && strstr(fault.text, "below 0"),
		        "--set %s is a fault", below);
		free(good);
		free(bad);
		free(below);
	}
	for (size_t i = 0; i < ARRAY_LEN(divisors); i++)
		ok(!profile_set(profile, divisors[i], &fault) && strstr(fault.text, "never 0"),
		        "--set %s is a fault", divisors[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ok(profile_set(profile, others[i], &fault), "--set %s", others[i]);
	ok(!profile_scale(profile, "t=2us", &fault), "--scale with a unit is a fault");
}

static void test_set(struct profile *profile)
{
	struct fault fault = {.text = ""};

	add(profile, "one", NULL, 0, about(1e-6, 0.01));
	add_at(profile, "f", "n", 1, 1);
	add_at(profile, "f", "n", 2, 2);
	add_at(profile, "g", "n", 1, 1);
	add_at(profile, "g", "n", 2, 2);
	ok(profile_set(profile, "one=2.5us", &fault), "--set of a scalar");
	is_real(profile_get(profile, "one", NULL, 0).estimate.value, 2.5e-6, 1e-12, "is read");
	ok(profile_set(profile, "f[n=2]=8", &fault), "--set of one row");
	is_real(get_at(profile, "f", "n", 2).estimate.value, 8, 0, "changes that row");
	is_real(get_at(profile, "f", "n", 1).estimate.value, 1, 0, "and no other");
	ok(profile_set(profile, "g=3", &fault), "--set of a whole function");
	struct lookup g = get_at(profile, "g", "n", 77);
	ok(g.found && g.estimate.value == 3 && !g.extrapolated, "makes it constant");
	ok(!profile_set(profile, "unknown=1", &fault) && strstr(fault.text, "unknown"),
	        "--set of an unknown name is a fault");
	ok(!profile_set(profile, "f[n=3]=1", &fault), "--set of an unknown row is a fault");
	ok(!profile_set(profile, "one", &fault), "--set without a value is a fault");
	ok(!profile_set(profile, "one=fast", &fault) && strstr(fault.text, "fast"),
	        "--set to no number is a fault");
	ok(!profile_set(profile, "[=1", &fault), "--set of a malformed name is a fault");
}

static void test_shifted(struct profile *profile)
{
	add_at(profile, "f", "n", 1, 1);
	add_at(profile, "f", "n", 2, 2);
	add(profile, "one", NULL, 0, about(5, 0.1));
	struct profile *up = profile_shifted(profile, "f", 1), *down;
	down = profile_shifted(profile, "f", -1);
	is_real(get_at(up, "f", "n", 2).estimate.value, 2.02, 1e-12, "shifted up to its high end");
	is_real(get_at(down, "f", "n", 1).estimate.value, 0.99, 1e-12, "down to its low end");
	is_real(profile_get(up, "one", NULL, 0).estimate.value, 5, 0, "others stay");
	is_real(get_at(profile, "f", "n", 2).estimate.value, 2, 0, "so does the original");
	struct profile *copy = profile_shifted(up, "one", 1);
	profile_free(up);
	is_real(get_at(copy, "f", "n", 2).estimate.value, 2.02, 1e-12, "nothing is shared");
	profile_free(copy);
	profile_free(down);
}

static void (*const with_profile[])(struct profile *) = {test_set, test_set_units, test_shifted};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(with_profile); i++) {
		struct profile *profile = profile_new();
		with_profile[i](profile);
		profile_free(profile);
	}
	return finish();
}
