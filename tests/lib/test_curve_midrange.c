/* SPDX-License-Identifier: MIT */
/* Points of which each process has a value of its own: the middle of few of them, one that is far
 * off, and how often two runs find the same. */
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

/* From a kernel's start to the next one's, us, in 133 processes on 32 H200s: series dependent
 * of launch, in all records up to 28 November 2026 and two further sets. */
static const double starts[] = {1.663, 1.673, 1.641, 1.609, 1.795, 1.641, 1.754, 1.635, 1.635,
        1.650, 1.678, 1.753, 1.613, 1.640, 1.745, 1.776, 1.633, 1.616, 1.648, 1.639, 1.772, 1.636,
        1.623, 1.653, 1.662, 1.794, 1.763, 1.808, 1.655, 1.795, 1.776, 1.800, 1.771, 1.656, 1.747,
        1.611, 1.732, 1.633, 1.662, 1.644, 1.658, 1.812, 1.801, 1.666, 1.668, 1.604, 1.648, 1.786,
        1.674, 1.733, 1.794, 1.631, 1.794, 1.730, 1.795, 1.616, 1.763, 1.758, 1.750, 1.662, 1.782,
        1.603, 1.655, 1.752, 1.770, 1.776, 1.623, 1.777, 1.753, 1.791, 1.680, 1.753, 1.639, 1.760,
        1.788, 1.674, 1.755, 1.659, 1.760, 1.796, 1.788, 1.675, 1.614, 1.773, 1.801, 1.765, 1.626,
        1.782, 1.600, 1.612, 1.772, 1.780, 1.675, 1.804, 1.746, 1.715, 1.606, 1.755, 1.789, 1.785,
        1.800, 1.808, 1.799, 1.657, 1.744, 1.629, 1.783, 1.625, 1.795, 1.745, 1.643, 1.641, 1.673,
        1.786, 1.810, 1.652, 1.608, 1.614, 1.582, 1.772, 1.754, 1.610, 1.634, 1.768, 1.790, 1.601,
        1.611, 1.6005, 1.6065, 1.606, 1.769, 1.7495, 1.669};

/* Of a hundred pairs of runs with so many processes each, how many find the same within 2 %. */
static double same_of_100(size_t processes)
{
	enum { MOST = 16, PAIRS = 4000 };
	uint64_t state = 20261128;
	double value[MOST], middle[2];
	int same = 0;

	for (int pair = 0; pair < PAIRS; pair++) {
		for (int run = 0; run < 2; run++) {
			for (size_t i = 0; i < processes; i++)
				value[i] = starts[chain_random(&state, ARRAY_LEN(starts))];
			middle[run] = middle_of(value, processes).value;
		}
		same += fabs(middle[1] / middle[0] - 1) <= 0.02;
	}
	return 100.0 * same / PAIRS;
}

/* Why ten processes visit them (lib/probe/probe_jobs.c). */
static void test_repeats(void)
{
	is_real(same_of_100(10), 98, 0.01, "two runs of ten processes: 98 times of 100 the same");
	is_real(same_of_100(8), 94, 0.015, "of eight: 94");
	is_real(same_of_100(7), 91, 0.015, "of seven: 91");
	is_real(same_of_100(3), 52, 0.05, "of three: 52");
}

int main(void)
{
	test_few();
	test_repeats();
	return finish();
}
