/* SPDX-License-Identifier: MIT */
/* The host_exchange probe's fit on pairs with known times. */
#include "probes/host_exchange/host_exchange.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile_row.h"
#include "tests/tap.h"

static const char *const columns[] = {"from", "to", "shared"};

static void add(struct table *curve, int from, int to, int shared, const double seconds[3])
{
	const struct arg args[] = {{"from", from}, {"to", to}, {"shared", shared}};

	for (int process = 0; process < 3; process++) {
		const double value = seconds[process];
		const struct measurement measurement = {
		        {value, 0.99 * value, 1.01 * value, 100}, 0, NAN, 0, false};
		curve_add(curve, "pair", args, 3, process, &measurement, false);
	}
}

static const struct parameter *row_of(const struct profile *profile, const char *written)
{
	static const struct parameter none;
	char *text = strdup(written);
	struct parameter like;
	const struct parameter *found = NULL;

	if (!profile_parse_name(text, &like))
		found = profile_find_row(profile, &like);
	free(text);
	return found ? found : &none;
}

static void is_value(const struct profile *profile, const char *name, double want)
{
	is_real(row_of(profile, name)->estimate.value, want, 1e-6, name);
	is_text(row_of(profile, name)->status, "ok", "its status");
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();

	host_exchange_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");

	/* Four cores, two of them with a common cache of level 2, sockets of three and one. */
	add(curve, 0, 1, 2, (const double[]){20e-9, 20e-9, 20e-9});
	add(curve, 0, 2, 3, (const double[]){50e-9, 51e-9, 49e-9});
	add(curve, 1, 2, 3, (const double[]){60e-9, 60e-9, 60e-9});
	add(curve, 0, 3, -1, (const double[]){130e-9, 130e-9, 130e-9});
	add(curve, 1, 3, -1, (const double[]){130e-9, 130e-9, 130e-9});
	add(curve, 2, 3, -1, (const double[]){70e-9, 140e-9, 140e-9});
	host_exchange_fit(curve, profile);
	is_value(profile, "host.exchange.pair[from=0,to=1]", 20e-9);
	is_value(profile, "host.exchange.min", 20e-9);
	is_value(profile, "host.exchange.cache[level=2]", 20e-9);
	is_value(profile, "host.exchange.cache[level=3]", 55e-9);
	is_value(profile, "host.exchange.remote", 130e-9);
	is_real(row_of(profile, "host.exchange.latency")->estimate.value, 95e-9, 1e-6,
	        "the median over all pairs");
	ok(!row_of(profile, "host.exchange.node")->name, "a group without pairs is absent");
	is_value(profile, "host.exchange.max", 140e-9);
	const struct parameter *moved = row_of(profile, "host.exchange.pair[from=2,to=3]");
	is_text(moved->status, "bounded", "a pair that differs between processes has a range");
	is_real(moved->estimate.low, 0.99 * 70e-9, 1e-6, "from its least");
	is_real(moved->estimate.high, 1.01 * 140e-9, 1e-6, "to its most");
	profile_free(profile);
	table_free(curve);

	curve = curve_new(columns, ARRAY_LEN(columns));
	profile = profile_new();
	add(curve, 0, 1, 3, (const double[]){1e-12, 1e-12, 1e-12});
	host_exchange_fit(curve, profile);
	is_text(row_of(profile, "host.exchange.latency")->status, "failed",
	        "no core sees a write within a picosecond");
	profile_free(profile);
	table_free(curve);

	/* Every process has another order of the pairs: virtual processors that moved. */
	curve = curve_new(columns, ARRAY_LEN(columns));
	profile = profile_new();
	add(curve, 0, 1, 3, (const double[]){50e-9, 53e-9, 51e-9});
	add(curve, 0, 2, 3, (const double[]){51e-9, 52e-9, 53e-9});
	add(curve, 1, 2, 3, (const double[]){52e-9, 50e-9, 50e-9});
	add(curve, 1, 3, 3, (const double[]){53e-9, 51e-9, 52e-9});
	host_exchange_fit(curve, profile);
	is_text(row_of(profile, "host.exchange.pair[from=0,to=1]")->status, "bounded",
	        "a pair is not told apart from others");
	is_real(row_of(profile, "host.exchange.pair[from=0,to=1]")->estimate.high, 1.01 * 53e-9,
	        1e-6, "it has a range");
	is_text(row_of(profile, "host.exchange.max")->status, "bounded", "nor is the slowest");
	is_value(profile, "host.exchange.latency", 51.5e-9);
	profile_free(profile);
	table_free(curve);
	return finish();
}
