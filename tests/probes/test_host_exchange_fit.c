/* SPDX-License-Identifier: MIT */
/* The host_exchange probe's fit on pairs of cores with known times. */
#include "tests/fit_test.h"

static const char *const columns[] = {"from", "to", "shared"};

struct pair {
	int from, to, shared; /* level of the cache that both share; -1: none */
	double ns[FIT_PROCESSES];
};

static struct profile *fit_pairs(const struct pair *pair, size_t count)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++)
		for (int process = 0; process < FIT_PROCESSES; process++) {
			char point[64];
			snprintf(point, sizeof point, "pair[from=%d,to=%d,shared=%d]", pair[i].from,
			        pair[i].to, pair[i].shared);
			add_process(curve, point, process, 1e-9 * pair[i].ns[process], 0.01, NAN);
		}
	return profile_of(host_exchange_fit, curve);
}

static void has_range(const struct profile *profile, const char *name, double low, double high)
{
	const struct estimate estimate = row_of(profile, name)->estimate;

	is_status(profile, name, "bounded");
	is_real(estimate.low, low, 1e-6, "from the least that a process took");
	is_real(estimate.high, high, 1e-6, "to the most");
}

/* Four cores: two share a cache of level 2, three a cache of level 3. */
static void test_groups(void)
{
	static const struct pair pairs[] = {{0, 1, 2, {20, 20, 20}}, {0, 2, 3, {50, 51, 49}},
	        {1, 2, 3, {60, 60, 60}}, {0, 3, -1, {130, 130, 130}}, {1, 3, -1, {130, 130, 130}},
	        {2, 3, -1, {70, 140, 140}}};
	static const struct expected_row rows[] = {
	        {"host.exchange.min", 20e-9, NULL},
	        {"host.exchange.cache[level=2]", 20e-9, NULL},
	        {"host.exchange.cache[level=3]", 55e-9, NULL},
	        {"host.exchange.remote", 130e-9, NULL},
	        {"host.exchange.max", 140e-9, NULL},
	        {"host.exchange.node", 0, "absent"},
	};
	struct profile *profile = fit_pairs(pairs, ARRAY_LEN(pairs));

	is_rows(profile, rows, ARRAY_LEN(rows));
	is_real(row_of(profile, "host.exchange.latency")->estimate.value, 95e-9, 1e-6,
	        "the latency is the median over all pairs");
	profile_free(profile);
}

/* Every process finds another order of the pairs: the virtual processors moved. */
static void test_moved(void)
{
	static const struct pair pairs[] = {{0, 1, 3, {50, 53, 51}}, {0, 2, 3, {51, 52, 53}},
	        {1, 2, 3, {52, 50, 50}}, {1, 3, 3, {53, 51, 52}}};
	struct profile *profile = fit_pairs(pairs, ARRAY_LEN(pairs));

	has_range(profile, "host.exchange.min", 50e-9, 50e-9);
	has_range(profile, "host.exchange.max", 53e-9, 53e-9);
	is_within(profile, "host.exchange.latency", 51.5e-9, 1e-6);
	profile_free(profile);
}

/* A time that is not known counts as one that was not measured. */
static void test_unknown(void)
{
	static const struct pair pairs[] = {{0, 1, 3, {50, 50, 50}}, {0, 2, 3, {60, NAN, 60}},
	        {1, 2, 3, {70, 70, 70}}, {1, 3, 3, {60, 60, 60}}};
	struct profile *profile = fit_pairs(pairs, ARRAY_LEN(pairs));

	is_within(profile, "host.exchange.min", 50e-9, 1e-6);
	is_within(profile, "host.exchange.max", 70e-9, 1e-6);
	is_within(profile, "host.exchange.latency", 60e-9, 1e-6);
	is_within(profile, "host.exchange.cache[level=3]", 60e-9, 1e-6);
	profile_free(profile);
}

int main(void)
{
	static const struct pair impossible[] = {{0, 1, 3, {1e-3, 1e-3, 1e-3}}};

	is_empty_fit(host_exchange_fit, columns, ARRAY_LEN(columns));
	test_groups();
	test_moved();
	test_unknown();
	struct profile *profile = fit_pairs(impossible, ARRAY_LEN(impossible));
	is_status(profile, "host.exchange.latency", "failed");
	profile_free(profile);
	return finish();
}
