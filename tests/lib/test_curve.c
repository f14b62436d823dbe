/* SPDX-License-Identifier: MIT */
/* Curves: rows of several processes become points; the midrange of points of which each process has
 * a value of its own, and how often two runs agree. */
#include "tests/tap.h"

#include "lib/probe/curve.h"
#include "lib/stats/pointer_chain.h"

static struct measurement measured(double seconds, double half, size_t samples, size_t discarded)
{
	return (struct measurement){.seconds = {seconds, seconds - half, seconds + half, samples},
	        .discarded = discarded,
	        .hz = 1.98e9};
}

static const char *const arg_columns[] = {"bytes", "blocks"};

/* Three processes of a sweep over two sizes, in the order in which processes append. */
static struct table *example(void)
{
	struct table *curve = curve_new(arg_columns, ARRAY_LEN(arg_columns));

	for (int process = 0; process < 3; process++)
		for (int size = 0; size < 2; size++) {
			struct arg bytes = {"bytes", size ? 0x1p30 : 4096};
			struct measurement m =
			        measured(1e-6 * (size + 1) * (1 + 0.01 * process), 1e-8, 10, 0);
			m.hz += 1e6 * process;
			curve_add(curve, "copy", &bytes, 1, process, &m, false);
		}
	return curve;
}

static void test_points(void)
{
	struct table *curve = example();
	struct point *point;
	size_t n = curve_points(curve, "copy", &point);

	ok(n == 2, "rows with the same arguments are one point");
	is_real(curve_arg(curve, &point[0], "bytes"), 4096, 0, "points in file order");
	is_real(curve_arg(curve, &point[1], "bytes"), 0x1p30, 0, "a large size is exact");
	ok(isnan(curve_arg(curve, &point[0], "blocks")), "an argument not given is nan");
	is_real(point[0].seconds.value, 1.01e-6, 1e-12, "value: median of the processes");
	ok(point[0].seconds.low < 1.00e-6 && point[0].seconds.high > 1.02e-6,
	        "the interval spans the processes");
	ok(point[0].seconds.samples == 30 && point[0].processes == 3, "samples and processes");
	is_real(point[0].hz, 1.981e9, 1e-12, "clock: median of the processes");
	ok(!point[0].busy, "quiet");
	is_text(point[0].series, "copy", "series");
	free(point);
	n = curve_points(curve, "absent", &point);
	ok(n == 0, "an unknown series has no points");
	free(point);
	table_free(curve);
}

static void test_cells(void)
{
	static const double hz = 1979909470.4;
	struct table *curve = curve_new(arg_columns, ARRAY_LEN(arg_columns));
	struct measurement one = measured(1e-6, 0, 1, 0),
	                   none = {.seconds = {NAN, NAN, NAN, 0}, .hz = NAN};

	one.hz = hz;
	curve_add(curve, "one", NULL, 0, 0, &one, false);
	curve_add(curve, "none", NULL, 0, 0, &none, false);
	is_text(table_text(curve, 0, "bytes"), "", "an argument not given is an empty cell");
	is_text(table_text(curve, 0, "sm_hz"), "1979909470", "the clock in whole Hz");
	is_text(table_text(curve, 0, "low_seconds"), "", "a single sample has no interval");
	is_text(table_text(curve, 0, "high_seconds"), "", "on either side");
	const struct measurement again = curve_row(curve, 0);
	ok(again.seconds.low == 1e-6 && again.seconds.high == 1e-6, "read back it is the value");
	is_text(table_text(curve, 1, "seconds"), "", "nothing measured is an empty cell");
	is_text(table_text(curve, 1, "sm_hz"), "", "no clock is an empty cell");
	ok(curve_at(curve, "none", NULL, 0).seconds.samples == 0, "and is no point");
	table_free(curve);
}

static void test_at(void)
{
	struct table *curve = example();
	const struct arg big = {"bytes", 0x1p30}, odd = {"bytes", 5}, blocks = {"blocks", 1};

	is_real(curve_at(curve, "copy", &big, 1).seconds.value, 2.02e-6, 1e-12,
	        "point by argument");
	is_real(curve_at(curve, "copy", NULL, 0).seconds.value, 1.01e-6, 1e-12,
	        "without arguments: the first point");
	struct point none = curve_at(curve, "copy", &odd, 1);
	ok(none.seconds.samples == 0 && isnan(none.seconds.value), "absent: no samples, NaN");
	ok(isnan(curve_arg(curve, &none, "bytes")), "absent: no arguments");
	ok(curve_at(curve, "copy", &blocks, 1).seconds.samples == 0, "nan matches no argument");
	table_free(curve);
}

static void test_quality(void)
{
	struct table *curve = curve_new(arg_columns, ARRAY_LEN(arg_columns));
	struct measurement good = measured(1, 0.1, 10, 0), mostly = measured(1, 0.1, 4, 5);
	struct measurement half = measured(1, 0.1, 4, 4);
	struct measurement failed = {.seconds = {NAN, NAN, NAN, 0}, .discarded = 7, .hz = NAN};
	struct measurement shared = mostly;
	shared.disturbed = 3;
	const char *const name[] = {
	        "busy", "mostly discarded", "half discarded", "failed once", "shared core"};
	const struct measurement second[] = {good, mostly, half, failed, shared};

	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		curve_add(curve, name[i], NULL, 0, 0, &second[i], false);
		curve_add(curve, name[i], NULL, 0, 1, i == 3 ? &good : &second[i], i == 0);
	}
	ok(curve_at(curve, name[0], NULL, 0).busy, "busy when one process was");
	ok(curve_at(curve, name[1], NULL, 0).busy, "busy when more than half was discarded");
	ok(!curve_at(curve, name[2], NULL, 0).busy, "half is not more than half");
	ok(!curve_at(curve, name[4], NULL, 0).busy,
	        "those on a shared core, which others stand for, do not count");
	struct point once = curve_at(curve, name[3], NULL, 0);
	ok(once.processes == 1 && once.seconds.value == 1 && once.discarded == 7,
	        "a process without samples does not count");
	is_real(once.hz, 1.98e9, 0, "its clock does not either");
	struct point *point;
	ok(curve_points(curve, NULL, &point) == 5, "all series");
	free(point);
	curve_add(curve, "never", NULL, 0, 0, &failed, false);
	struct point never = curve_at(curve, "never", NULL, 0);
	ok(never.processes == 0 && never.seconds.samples == 0 && isnan(never.seconds.value) &&
	                isnan(never.hz),
	        "a point without any samples");
	table_free(curve);
}

/* One value after the other, each a process's. */
static struct table *one_point(const double *seconds, size_t count)
{
	struct table *curve = curve_new(arg_columns, ARRAY_LEN(arg_columns));

	for (size_t i = 0; i < count; i++) {
		const struct measurement m = measured(seconds[i], 0.01, 10, 0);
		curve_add(curve, "rate", NULL, 0, (int)i, &m, false);
	}
	return curve;
}

static struct estimate of_processes(const double *seconds, size_t count, bool one_sided)
{
	struct table *curve = one_point(seconds, count);

	if (one_sided)
		curve_slow_are_disturbed(curve);
	const struct point point = curve_at(curve, "rate", NULL, 0);
	ok(!point.busy, "processes that do not count make no point a busy one");
	table_free(curve);
	return point.seconds;
}

static void test_one_sided(void)
{
	static const double shared[] = {1, 1.5, 1.02, 1.6, 1.01}, alone[] = {1, 1.5, 1.6},
	                    noise[] = {1, 1.3, 1.2};
	const struct estimate usual = of_processes(shared, 5, false),
	                      quick = of_processes(shared, 5, true);

	is_real(usual.value, 1.02, 1e-12, "as a rule every process counts");
	is_real(quick.value, 1.01, 1e-12, "of a shared host only those within a third");
	ok(quick.samples == 30 && quick.high - quick.low < 0.1 && usual.high - usual.low > 0.5,
	        "and their interval is narrow");
	is_real(of_processes(alone, 3, true).value, 1.5, 1e-12,
	        "one alone is no measure of others");
	is_real(of_processes(noise, 3, true).value, 1.2, 1e-12,
	        "less than a third changes nothing");
}

static struct estimate middle_of(const double *value, size_t count)
{
	struct table *curve = one_point(value, count);
	const struct point point = curve_at(curve, "rate", NULL, 0);
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
	test_points();
	test_cells();
	test_at();
	test_quality();
	test_one_sided();
	test_few();
	test_repeats();
	return finish();
}
