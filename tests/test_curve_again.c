/* SPDX-License-Identifier: MIT */
/* Second visits of noisy points: which points, and what becomes of their rows. */
#include "tap.h"

#include "../lib/curve_again.h"

enum { PROCESSES = 5 };

static const char *const columns[] = {"bytes", "blocks"};

static struct measurement measured(double seconds, double half, size_t samples)
{
	return (struct measurement){
	        .seconds = {seconds, seconds - half, seconds + half, samples}, .hz = NAN};
}

static void add(struct table *curve, const char *series, double bytes, int process, double seconds,
        size_t samples)
{
	const struct arg arg = {"bytes", bytes};
	const struct measurement m = measured(seconds, 0.01 * seconds, samples);
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
	struct table *curve = example(), *noisy = curve_noisy(curve);
	const struct arg small = {"bytes", 8}, large = {"bytes", 64}, one = {"bytes", 1};

	ok(noisy && noisy->row_count == 2, "two points are noisy");
	ok(noisy && curve_lists(noisy, "copy", &large, 1), "the one that processes disagree about");
	ok(noisy && !curve_lists(noisy, "copy", &small, 1), "not another of its series");
	ok(noisy && curve_lists(noisy, "first", &one, 1), "and one of single samples");
	ok(noisy && !curve_lists(noisy, "first", &large, 1), "not another series");
	table_free(noisy);
	table_free(curve);
}

static double value_of(const struct table *curve, size_t row)
{
	return table_real(curve, row, "seconds");
}

/* A device that somebody else uses, too. */
static void test_all_noisy(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (int process = 0; process < PROCESSES; process++)
		for (int point = 0; point < 300; point++)
			add(curve, "copy", point, process, process % 2 ? 4e-6 : 2e-6, 10);
	ok(!curve_noisy(curve), "where nearly all is noisy nothing is visited again");
	table_free(curve);
}

static void test_quicker(void)
{
	struct table *curve = example(), *again = curve_new(columns, ARRAY_LEN(columns));

	add(again, "copy", 64, PROCESSES, 2.01e-6, 8);
	add(again, "copy", 4096, PROCESSES, 1e-6, 8);
	curve_visit_again(curve, again);
	ok(curve->row_count == 3 * PROCESSES, "no row is added");
	is_real(value_of(curve, 4), 2.01e-6, 1e-9, "the slow process has its second visit's value");
	is_real(table_real(curve, 4, "discarded"), 10, 0, "the slow visit counts as discarded");
	is_real(table_real(curve, 4, "process"), 1, 0, "the process stays");
	is_real(value_of(curve, 1), 2e-6, 1e-9, "other processes stay");
	struct table *noisy = curve_noisy(curve);
	ok(noisy && noisy->row_count == 1, "it is noisy no more");
	table_free(noisy);
	table_free(again);
	table_free(curve);
}

/* Three processes that differ by 10 % say little; six say enough, and so do six of which one was
 * disturbed. */
static void test_more(void)
{
	static const double seconds[] = {5.3e-6, 6.1e-6, 5.1e-6, 5.9e-6, 5.2e-6, 9e-6, 5.5e-6};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	const size_t first = 3;

	for (size_t process = 0; process < first; process++)
		add(curve, "copy", 64, (int)process, seconds[process], 10);
	struct table *noisy = curve_noisy(curve);
	ok(noisy != NULL, "three processes that differ by 10 %% are noisy");
	table_free(noisy);
	for (size_t process = first; process < ARRAY_LEN(seconds); process++) {
		struct table *again = curve_new(columns, ARRAY_LEN(columns));
		add(again, "copy", 64, (int)process, seconds[process], 10);
		curve_visit_again(curve, again);
		table_free(again);
	}
	is_real((double)curve->row_count, 6, 0, "visits like the others count as processes");
	is_real(table_real(curve, 5, "process"), 6, 0, "under their own numbers");
	is_real(table_real(curve, 1, "discarded"), 10, 0, "a disturbed one is counted");
	ok(!curve_noisy(curve), "and all together are not noisy");
	table_free(curve);
}

/* A single sample is never called disturbed. */
static void test_single(void)
{
	struct table *curve = example(), *again = curve_new(columns, ARRAY_LEN(columns));

	add(again, "first", 1, PROCESSES, 3e-6, 1);
	curve_visit_again(curve, again);
	ok(curve->row_count == 3 * PROCESSES + 1, "a single sample is one more");
	is_real(value_of(curve, 8), 9e-6, 1e-9, "whatever the others are");
	table_free(again);
	table_free(curve);
}

/* A visit as quick as the one process that was: the slowest has it, not the one farthest off. */
static void test_slowest(void)
{
	static const double seconds[PROCESSES] = {1e-6, 2e-6, 2.1e-6, 2.2e-6, 2.1e-6};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns)),
	             *again = curve_new(columns, ARRAY_LEN(columns));

	for (int process = 0; process < PROCESSES; process++)
		add(curve, "copy", 64, process, seconds[process], 10);
	add(again, "copy", 64, PROCESSES, 1.1e-6, 8);
	curve_visit_again(curve, again);
	is_real(value_of(curve, 3), 1.1e-6, 1e-9, "the slowest process is visited again");
	is_real(value_of(curve, 0), 1e-6, 1e-9, "not the one farthest from the others");
	table_free(again);
	table_free(curve);
}

static void test_slower(void)
{
	struct table *curve = example(), *again = curve_new(columns, ARRAY_LEN(columns)), *noisy;

	add(again, "copy", 64, PROCESSES, 5e-6, 8);
	curve_visit_again(curve, again);
	is_real(value_of(curve, 4), 4e-6, 1e-9, "a slower second visit changes nothing");
	noisy = curve_noisy(curve);
	ok(noisy != NULL, "the point stays noisy");
	table_free(noisy);
	table_free(again);
	table_free(curve);
}

static void test_busy(void)
{
	struct table *curve = example(), *again = curve_new(columns, ARRAY_LEN(columns));
	const struct arg arg = {"bytes", 64};
	const struct measurement m = measured(2e-6, 1e-8, 8);

	curve_add(again, "copy", &arg, 1, PROCESSES, &m, true);
	curve_visit_again(curve, again);
	is_real(value_of(curve, 4), 4e-6, 1e-9, "a visit while others used the device is ignored");
	table_free(again);
	table_free(curve);
}

int main(void)
{
	test_noisy();
	test_all_noisy();
	test_quicker();
	test_more();
	test_single();
	test_slowest();
	test_slower();
	test_busy();
	return finish();
}
