/* SPDX-License-Identifier: MIT */
/* Points of which each process has a value of its own: the midrange of few of them, one that is far
 * off, and how often two runs agree. */
#include "tests/tap.h"

#include "lib/probe/curve_midrange.h"
#include "lib/stats/pointer_chain.h"

static const char *const columns[] = {"bytes"};

/* One value after the other, each a process's. */
static struct estimate middle_of(const double *value, size_t count)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++) {
		const struct measurement m = {
		        .seconds = {value[i], value[i] - 0.01, value[i] + 0.01, 5}};
		curve_add(curve, "start", NULL, 0, (int)i, &m, false);
	}
	const struct point point = curve_at(curve, "start", NULL, 0);
	const struct estimate middle = curve_midrange(curve, &point);
	table_free(curve);
	return middle;
}

static void test_few(void)
{
	static const double one[] = {1.7}, two_groups[] = {1.6, 1.61, 1.6, 1.6, 1.8, 1.59},
	                    far_off[] = {1.9, 1.7, 2.98, 1.95, 1.8};
	const struct estimate all = middle_of(two_groups, ARRAY_LEN(two_groups)),
	                      most = middle_of(far_off, ARRAY_LEN(far_off));

	is_real(middle_of(one, 1).value, 1.7, 1e-12, "the middle of one process is its value");
	is_real(all.value, 1.695, 1e-12, "of two groups it is between the quickest and slowest");
	ok(fabs(all.low - 1.58) < 1e-9 && fabs(all.high - 1.81) < 1e-9,
	        "and the interval has both of theirs");
	is_real(most.value, 1.825, 1e-12, "a process that is far off takes no part");
	ok(fabs(most.high - 1.96) < 1e-9, "nor in the interval");
}

/* A process's time between dependent launches: one of two states by chance, and a little noise. */
static double start_time(uint64_t *state)
{
	const double noise = 0.001 * chain_random(state, 61);

	return (chain_random(state, 2) ? 1.60 : 1.74) + noise;
}

/* Of a hundred pairs of runs with so many processes each, how many agree within 2 %. */
static double agreeing_of_100(size_t processes)
{
	enum { MOST = 16, PAIRS = 1000 };
	uint64_t state = 20261128;
	double value[MOST], middle[2];
	int agree = 0;

	for (int pair = 0; pair < PAIRS; pair++) {
		for (int run = 0; run < 2; run++) {
			for (size_t i = 0; i < processes; i++)
				value[i] = start_time(&state);
			middle[run] = middle_of(value, processes).value;
		}
		agree += fabs(middle[1] / middle[0] - 1) <= 0.02;
	}
	return 100.0 * agree / PAIRS;
}

/* Why ten processes measure such points (lib/probe/probe_jobs.c). */
static void test_repeats(void)
{
	const double ten = agreeing_of_100(10), three = agreeing_of_100(3);

	ok(ten > 95, "two runs of ten processes agree in %.0f of 100 cases", ten);
	ok(three < 70, "two of three processes only in %.0f", three);
}

int main(void)
{
	test_few();
	test_repeats();
	return finish();
}
