/* SPDX-License-Identifier: MIT */
/* Noisy points are measured again: which points, and where their new rows go. Repeats of a point by
 * one process: which of them count. */
#include "tests/tap.h"

#include "lib/probe/curve_resample.h"
#include "lib/probe/repeats.h"
#include "lib/base/random.h"

enum { PROCESSES = 5 };

static const char *const columns[] = {"bytes", "blocks"};

static struct measurement measured(double seconds, size_t samples)
{
	return (struct measurement){
	        .seconds = {seconds, 0.99 * seconds, 1.01 * seconds, samples}, .hz = NAN};
}

static void add(struct table *curve, const char *series, double bytes, int process, double seconds,
        size_t samples)
{
	const struct arg arg = {"bytes", bytes};
	const struct measurement m = measured(seconds, samples);
	curve_add(curve, series, &arg, 1, process, &m, false);
}

/* A quiet point, one that process 1 saw at twice the time, one of single samples. */
static struct table *example(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (int process = 0; process < PROCESSES; process++) {
		add(curve, "copy", 8, process, 1e-6 * (1 + 0.01 * process), 10);
		add(curve, "copy", 64, process, process == 1 ? 4e-6 : 2e-6, 10);
		add(curve, "first", 1, process, process == 2 ? 9e-6 : 3e-6, 1);
	}
	return curve;
}

static void test_noisy(void)
{
	struct table *curve = example(), *noisy = curve_wanted(curve, true, NULL, 0);
	const struct arg small = {"bytes", 8}, large = {"bytes", 64}, one = {"bytes", 1};

	ok(noisy && noisy->row_count == 2, "two points are noisy");
	ok(noisy && curve_lists(noisy, "copy", &large, 1), "the one that processes disagree about");
	ok(noisy && !curve_lists(noisy, "copy", &small, 1), "not another of its series");
	ok(noisy && curve_lists(noisy, "first", &one, 1), "and one of single samples");
	ok(noisy && !curve_lists(noisy, "first", &large, 1), "not another series");
	table_free(noisy);
	table_free(curve);
}

static bool short_copy(const char *series, double seconds)
{
	return strcmp(series, "copy") == 0 && seconds < 1.5e-6;
}

static void test_chance(void)
{
	struct table *curve = example();
	const struct arg small = {"bytes", 8}, large = {"bytes", 64};
	struct table *few = curve_wanted(curve, false, short_copy, PROCESSES + 1),
	             *both = curve_wanted(curve, true, short_copy, PROCESSES + 1);

	ok(few && few->row_count == 1 && curve_lists(few, "copy", &small, 1),
	        "a point that chance decides and too few processes have measured, noisy or not");
	ok(both && both->row_count == 3 && curve_lists(both, "copy", &large, 1),
	        "beside the noisy points");
	ok(!curve_wanted(curve, false, short_copy, PROCESSES), "not when they were enough");
	ok(!curve_wanted(curve, false, NULL, PROCESSES + 1), "nor of a probe without such points");
	table_free(few);
	table_free(both);
	table_free(curve);
}

/* A shared machine: 250 points are noisy, each more than the one before. */
static void test_many_noisy(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	const struct arg first = {"bytes", 0}, last = {"bytes", 249}, noise = {"bytes", 299};

	for (int process = 0; process < PROCESSES; process++)
		for (int point = 0; point < 300; point++) {
			const double more = process % 2 && point < 250 ? 1 + 0.01 * point : 0;
			add(curve, "copy", point, process, 2e-6 * (1 + more), 10);
		}
	struct table *noisy = curve_wanted(curve, true, NULL, 0);
	ok(noisy && noisy->row_count == 200, "of very many noisy points 200 are measured again");
	ok(noisy && curve_lists(noisy, "copy", &last, 1), "the noisiest");
	ok(noisy && !curve_lists(noisy, "copy", &first, 1), "not the others");
	ok(noisy && !curve_lists(noisy, "copy", &noise, 1), "and no quiet one");
	table_free(noisy);
	table_free(curve);
}

static void test_rows(void)
{
	struct table *curve = example(), *again = curve_new(columns, ARRAY_LEN(columns));
	const size_t rows = curve->row_count;

	add(again, "copy", 64, PROCESSES, 2.01e-6, 8);
	add(again, "copy", 4096, PROCESSES, 1e-6, 8);
	add(again, "first", 1, PROCESSES, 3e-6, 1);
	add(again, "copy", 64, PROCESSES, NAN, 0);
	curve_resample(curve, again);
	ok(curve->row_count == rows + 2, "a repeat adds a row, at points that the curve has");
	is_real(table_real(curve, rows, "seconds"), 2.01e-6, 1e-9, "with its value");
	is_real(table_real(curve, rows, "process"), PROCESSES, 0, "under its own number");
	is_real(table_real(curve, 4, "seconds"), 4e-6, 1e-9, "the slow process stays");
	is_real(table_real(curve, rows + 1, "seconds"), 3e-6, 1e-9,
	        "single samples are repeated, too");
	table_free(again);
	table_free(curve);
}

static double uniform(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) / 0x1p53;
}

/* A process's time of what takes 1 us, with noise of a normal distribution. */
static double noisy_time(uint64_t *state, double deviation)
{
	const double radius = sqrt(-2 * log(uniform(state)));
	return 1e-6 * (1 + deviation * radius * cos(6.283185307179586 * uniform(state)));
}

/* The time of a process that has interference half of the time. */
static double shared_time(uint64_t *state, double deviation)
{
	const double time = noisy_time(state, deviation);
	return uniform(state) < 0.5 ? (1.4 + 0.6 * uniform(state)) * time : time;
}

/* Three processes and up to eight repeats while the point is noisy; whether its interval holds the
 * true value. */
static bool holds(uint64_t *state, double deviation, bool shared, bool slow_count, bool *noisy)
{
	double (*const time)(uint64_t *, double) = shared ? shared_time : noisy_time;
	struct table *curve = curve_new(columns, ARRAY_LEN(columns)), *left;
	const struct arg arg = {"bytes", 64};
	int process = 0;

	if (!slow_count)
		curve_slow_are_disturbed(curve);
	for (; process < 3; process++)
		add(curve, "copy", 64, process, time(state, deviation), 10);
	while ((left = curve_wanted(curve, true, NULL, 0)) && process < 11) {
		struct table *again = curve_new(columns, ARRAY_LEN(columns));
		add(again, "copy", 64, process++, time(state, deviation), 10);
		curve_resample(curve, again);
		table_free(again);
		table_free(left);
	}
	const struct estimate seconds = curve_at(curve, "copy", &arg, 1).seconds;
	*noisy = left != NULL;
	table_free(left);
	table_free(curve);
	return seconds.low <= 1e-6 && 1e-6 <= seconds.high;
}

/* Of a hundred points: how many intervals hold the true value, how many points stay noisy. */
struct outcome {
	double held, noisy;
};

static struct outcome try_points(double deviation, bool shared, bool slow_count)
{
	enum { POINTS = 2000 };
	struct outcome all = {0, 0};
	uint64_t state = 7;

	for (int point = 0; point < POINTS; point++) {
		bool noisy;
		all.held += 100.0 / POINTS * holds(&state, deviation, shared, slow_count, &noisy);
		all.noisy += 100.0 / POINTS * noisy;
	}
	return all;
}

static void test_intervals(void)
{
	static const double deviation[] = {0.1, 0.15, 0.2};

	for (size_t i = 0; i < ARRAY_LEN(deviation); i++) {
		const struct outcome of = try_points(deviation[i], false, true);
		ok(of.held > 89 && of.noisy < 5,
		        "noise of %g %%: intervals hold the truth %.1f times of a hundred, %.1f "
		        "are noisy still",
		        100 * deviation[i], of.held, of.noisy);
	}
}

/* Interference on the host during half of the processes. */
static void test_shared(void)
{
	static const double deviation[] = {0.02, 0.05};

	for (size_t i = 0; i < ARRAY_LEN(deviation); i++) {
		const struct outcome of = try_points(deviation[i], true, false),
		                     all = try_points(deviation[i], true, true);
		ok(of.held > 80 && of.noisy < 5 && all.held < 60 && all.noisy > 20,
		        "interference in half of the processes, noise of %g %%: intervals hold the "
		        "quiet time %.1f times of a hundred, %.1f are noisy still; if all counted, "
		        "%.1f and %.1f",
		        100 * deviation[i], of.held, of.noisy, all.held, all.noisy);
	}
}

static void test_busy(void)
{
	struct table *curve = example(), *again = curve_new(columns, ARRAY_LEN(columns));
	const struct arg arg = {"bytes", 64};
	const struct measurement m = measured(2e-6, 8);

	curve_add(again, "copy", &arg, 1, PROCESSES, &m, true);
	curve_resample(curve, again);
	ok(curve->row_count == 3 * PROCESSES, "a repeat on a busy device is ignored");
	table_free(again);
	table_free(curve);
}

/* ---- repeats ---- */

/* The curve of points measured in that order; bytes: the point's argument. */
static struct table *curve_of(const double *bytes, const struct measurement *repeat, size_t count)
{
	struct probe_run run = {.curve = curve_new(columns, ARRAY_LEN(columns))};
	struct repeats repeats = {0};

	for (size_t i = 0; i < count; i++) {
		const struct arg arg = {"bytes", bytes[i]};
		repeats_add(&repeats, "copy", &arg, 1, &repeat[i]);
	}
	repeats_record(&repeats, &run);
	return run.curve;
}

static struct table *one_point(const struct measurement *repeat, size_t count)
{
	static const double same[8];

	return curve_of(same, repeat, count);
}

static double number(const struct table *curve, const char *column)
{
	return table_real(curve, 0, column);
}

static void test_three(void)
{
	const struct measurement repeat[] = {
	        measured(4e-6, 10), measured(2e-6, 8), measured(3e-6, 9)};
	struct table *curve = one_point(repeat, 3);

	ok(curve->row_count == 1, "three repeats are one row");
	is_real(number(curve, "seconds"), 3e-6, 1e-12, "the one in the middle counts");
	ok(number(curve, "samples") == 9 && number(curve, "discarded") == 18,
	        "its samples alone: the others' are discarded");
	struct point *points;
	ok(curve_points(curve, NULL, &points) == 1 && !points[0].busy,
	        "but do not make the device busy");
	free(points);
	table_free(curve);
}

static void test_two(void)
{
	const struct measurement apart[] = {measured(4e-6, 10), measured(2e-6, 8)};
	const struct measurement alike[] = {measured(2.01e-6, 10), measured(2e-6, 8)};
	struct table *one = one_point(apart, 2), *both = one_point(alike, 2);

	is_real(number(one, "seconds"), 2e-6, 1e-12, "of two the quicker, when they differ");
	is_real(number(both, "seconds"), 2.005e-6, 1e-12, "both, when they do not");
	ok(number(both, "samples") == 18, "with all samples");
	table_free(both);
	table_free(one);
}

static void test_failed(void)
{
	const struct measurement repeat[] = {
	        measured(NAN, 0), measured(5e-6, 7), measured(3e-6, 9), measured(4e-6, 8)};
	struct table *curve = one_point(repeat, 4), *none = one_point(repeat, 1);

	is_real(number(curve, "seconds"), 4e-6, 1e-12, "a repeat without samples does not count");
	ok(none->row_count == 1 && number(none, "samples") == 0, "alone it is recorded as it is");
	table_free(none);
	table_free(curve);
}

static void test_points(void)
{
	const double bytes[] = {8, 64, 8, 64, 8, 64};
	const struct measurement repeat[] = {measured(1e-6, 5), measured(9e-6, 5),
	        measured(2e-6, 5), measured(7e-6, 5), measured(3e-6, 5), measured(8e-6, 5)};
	struct table *curve = curve_of(bytes, repeat, 6);

	ok(curve->row_count == 2, "each point has its own repeats");
	is_real(table_real(curve, 0, "seconds"), 2e-6, 1e-12, "the first one");
	is_real(table_real(curve, 1, "seconds"), 8e-6, 1e-12, "and the second");
	ok(table_real(curve, 0, "bytes") == 8 && table_real(curve, 1, "bytes") == 64,
	        "in the order of their first repeats");
	table_free(curve);
}

/* A time that is 4 or 5 with one chance in five and four in five: a process's value is the more
 * frequent one in nine of ten processes, while the quickest of three is the other one in half. */
static void test_two_ways(void)
{
	enum { TIMES = 2000 };
	uint32_t state = 1;
	int typical = 0;

	for (int p = 0; p < TIMES; p++) {
		struct measurement repeat[3];
		for (int i = 0; i < 3; i++) {
			state = state * 1664525u + 1013904223u;
			repeat[i] = measured((state >> 8) % 5 == 0 ? 4e-6 : 5e-6, 10);
		}
		struct table *curve = one_point(repeat, 3);
		typical += number(curve, "seconds") > 4.5e-6;
		table_free(curve);
	}
	ok(typical > 0.87 * TIMES, "the more frequent of two ways counts in %d of %d processes",
	        typical, TIMES);
}

int main(void)
{
	test_noisy();
	test_many_noisy();
	test_chance();
	test_rows();
	test_intervals();
	test_shared();
	test_busy();
	test_three();
	test_two();
	test_failed();
	test_points();
	test_two_ways();
	return finish();
}
