/* SPDX-License-Identifier: MIT */
/* Repeats of a point by one process: which of them count. */
#include "tests/tap.h"

#include "lib/probe/repeats.h"

static const char *const columns[] = {"bytes"};

static struct measurement measured(double seconds, size_t samples)
{
	return (struct measurement){
	        .seconds = {seconds, 0.99 * seconds, 1.01 * seconds, samples}, .hz = NAN};
}

/* The curve of points measured in that order; bytes: the point's argument. */
static struct table *curve_of(const double *bytes, const struct measurement *repeat, size_t count)
{
	struct probe_run run = {.curve = curve_new(columns, 1)};
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
	enum { PROCESSES = 2000 };
	uint32_t state = 1;
	int typical = 0;

	for (int p = 0; p < PROCESSES; p++) {
		struct measurement repeat[3];
		for (int i = 0; i < 3; i++) {
			state = state * 1664525u + 1013904223u;
			repeat[i] = measured((state >> 8) % 5 == 0 ? 4e-6 : 5e-6, 10);
		}
		struct table *curve = one_point(repeat, 3);
		typical += number(curve, "seconds") > 4.5e-6;
		table_free(curve);
	}
	ok(typical > 0.87 * PROCESSES, "the more frequent of two ways counts in %d of %d processes",
	        typical, PROCESSES);
}

int main(void)
{
	test_three();
	test_two();
	test_failed();
	test_points();
	test_two_ways();
	return finish();
}
