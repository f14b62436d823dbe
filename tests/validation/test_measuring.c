/* SPDX-License-Identifier: MIT */
/* How measurements are ordered and judged: which cases are measured together, and in which order;
 * that a run which does not return is found;
 * whether interference slowed runs down, by undisturbed ones; of two measurements of a case that do
 * not agree the slower one goes. */
#include "tests/tap.h"

#include "factor/programs/shapes.h"
#include "factor/validation/papers/gram_reference.h"
#include "factor/validation/papers/timing_gram_host.h"
#include "factor/validation/timing.h"
#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <string.h>
#include <time.h>

/* ---- interference ---- */

static void test_slowed(void)
{
	static const double alike[] = {1.00, 1.01, 1.02}, twice[] = {2.00, 2.01, 2.02, 2.03},
	                    wide[] = {1.00, 1.50, 2.00}, one[] = {1.005}, quick[] = {1.45};

	ok(timing_slowed(NULL, 0, alike, 3, 0.01), "without another run they may be slow");
	ok(timing_slowed(one, 1, twice, 4, 0.01), "one that takes half as long tells");
	ok(!timing_slowed(one, 1, alike, 3, 0.01), "not one that takes as long");
	ok(!timing_slowed(alike, 3, one, 1, 0.01), "nor one quicker by no more than the target");
	ok(timing_slowed(alike, 3, one, 1, 0.004), "but one quicker by more");
	ok(!timing_slowed(quick, 1, wide, 3, 0.01), "where the disturbed ones scatter more, not");
}

/* A run on the host that has its core for 0.2 ms, or sleeps for as long. */
static bool work(struct candidate *candidate)
{
	(void)candidate;
	const double start = clock_thread();
	while (clock_thread() - start < 2e-4)
		;
	return true;
}

static bool wait(struct candidate *candidate)
{
	(void)candidate;
	return nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL) == 0;
}

static bool pass(struct timing_fixture *fixture, struct candidate *candidate)
{
	(void)fixture;
	(void)candidate;
	return true;
}

static void test_held(void)
{
	static const volatile sig_atomic_t stop = 0;
	struct core_noise noise = {.cores = 0}; /* knows of no interference */
	struct executor host = {.on_host = true}, device = {.on_host = false};
	const struct timing_plan plan = {
	        .max_seconds = 0.05, .target = 0.01, .stop = &stop, .noise = &noise};
	struct timing_fixture fixture = {.plan = &plan, .check = pass};
	struct candidate candidate[] = {{.run = work, .executor = &host},
	        {.run = wait, .executor = &host}, {.run = wait, .executor = &device}};
	struct fault fault;

	fixture.executor = &host;
	ok(timing_turns(&fixture, candidate, ARRAY_LEN(candidate), &fault), "timed");
	ok(!candidate[0].disturbed, "a run that has its core is undisturbed");
	ok(candidate[1].disturbed, "one that waits without it is disturbed: %s",
	        candidate[1].disturbed);
	ok(!candidate[2].disturbed, "but not one that waits for a device");
}

/* Blocks until the watchdog has found it. */
static bool block(struct candidate *candidate)
{
	while (!__atomic_load_n((int *)candidate->context, __ATOMIC_ACQUIRE))
		wait(candidate);
	return true;
}

static struct timing_watch watch;
static const char *blocked;

static void find_variant(void *found)
{
	blocked = watch.variant;
	__atomic_store_n((int *)found, 1, __ATOMIC_RELEASE);
}

static void test_blocked(void)
{
	static const volatile sig_atomic_t stop = 0;
	struct executor device = {.on_host = false};
	const struct timing_plan plan = {
	        .max_seconds = 0.05, .target = 0.01, .stop = &stop, .watch = &watch};
	struct timing_fixture fixture = {.executor = &device, .plan = &plan, .check = pass};
	int found = 0;
	struct candidate c[] = {{.run = wait, .variant = "gpu"},
	        {.run = block, .context = &found, .variant = "cusolver"}};
	struct fault fault;

	watch.watchdog = watchdog_start(0.3, find_variant, &found, &fault);
	ok(watch.watchdog && timing_turns(&fixture, c, ARRAY_LEN(c), &fault), "timed");
	ok(watchdog_stop(watch.watchdog) >= 0 && blocked && strcmp(blocked, "cusolver") == 0,
	        "a run that does not return is found, with the variant: %s",
	        blocked ? blocked : "none");
}

/* A run that the library's limits refuse, one that ends in an error, a wrong result. */
static bool refuse(struct candidate *candidate)
{
	return fault_refuse(&candidate->fault, "too tall");
}

static bool err(struct candidate *candidate)
{
	return fault_set(&candidate->fault, "an error");
}

/* Runs for some turns, then fails. */
static bool fail_later(struct candidate *candidate)
{
	int *runs = candidate->context;

	return ++*runs < 12 ? work(candidate) : err(candidate);
}

static bool wrong(struct timing_fixture *fixture, struct candidate *candidate)
{
	(void)fixture;
	return fault_set(&candidate->fault, "failed: residual");
}

static void test_refused(void)
{
	static const volatile sig_atomic_t stop = 0;
	struct executor host = {.on_host = true};
	const struct timing_plan plan = {.max_seconds = 0.01, .target = 0, .stop = &stop};
	struct timing_fixture fixture = {.executor = &host, .plan = &plan, .check = wrong};
	int runs = 0;
	struct candidate c[] = {{.run = refuse}, {.run = work, .prepare = refuse}, {.run = err},
	        {.run = work, .prepare = err}, {.run = work},
	        {.run = fail_later, .context = &runs}};
	struct fault fault;

	ok(timing_turns(&fixture, c, ARRAY_LEN(c), &fault), "timed");
	ok(c[0].refused && !c[0].failed, "a limit that a run meets refuses: %s", c[0].note);
	ok(c[1].refused && !c[1].failed, "so does one before any run");
	ok(c[2].failed && !c[2].refused, "an error in a run fails: %s", c[2].note);
	ok(c[3].failed && !c[3].refused, "so does one before any run");
	ok(c[4].failed && !c[4].refused, "and a wrong result: %s", c[4].note);
	ok(c[5].failed && isnan(c[5].seconds.value), "an error after some turns leaves no time");
}

/* The paper's code, but for an element of R that is no number. */
static void lose_element(int64_t m, int64_t n, float *q, int64_t ldq, float *r, int64_t ldr)
{
	gram_plain_by("gcc")->sized(m, n, q, ldq, r, ldr);
	r[(n - 1) * ldr] = NAN;
}

static void test_nan(void)
{
	enum { M = 64, N = 11 };
	static const volatile sig_atomic_t stop = 0;
	struct fault fault;
	struct executor *host = executor_host_new(&fault);
	const struct gram_plain *right = gram_plain_by("gcc");
	const struct gram_plain wrong_one = {.sized = lose_element};
	const struct gram_run run[] = {{.form = "plain", .plain = right, .k = N, .threads = 1},
	        {.form = "plain", .plain = &wrong_one, .k = N, .threads = 1}};
	const struct timing_plan plan = {
	        .max_seconds = 0.001, .target = 0.1, .stop = &stop, .seed = 1};
	struct candidate c[2];

	if (!right) {
		skip("NaN in R", "the project's compiler is not gcc");
	} else {
		ok(timing_gram_host(
		           host, NULL, NULL, SINGLE, M, N, run, &plan, c, ARRAY_LEN(c), &fault),
		        "timed");
		ok(!c[0].failed, "Gram-Schmidt passes %s", c[0].note);
		ok(c[1].failed && isnan(c[1].seconds.value), "but not with NaN in R: %s",
		        c[1].note);
	}
	executor_free(host);
}

static void test_reference(void)
{
	ok(!gram_reference_slow(1.1, 0.9), "passes as in the profile: undisturbed");
	ok(gram_reference_slow(1.5, 1.0) && gram_reference_slow(1.0, 1.5),
	        "slower before or after: "
	        "disturbed");
	ok(!gram_reference_slow(0.5, 1.0), "quicker: the profile was disturbed, not the case");
	ok(!gram_reference_slow(NAN, NAN), "unknown: undisturbed");
}

/* ---- shapes ---- */

enum { SHAPES = 20 };

static struct result timed_row(
        const char *operation, const char *variant, int64_t n, double seconds)
{
	struct result row = result_new(operation, variant, "cuda", SINGLE, n, n);

	row.seconds.value = seconds;
	return row;
}

static void test_same(void)
{
	const struct result lu = timed_row("getrf", "gpu", 1000, 1),
	                    other = timed_row("getrf", "hybrid", 1000, 2),
	                    larger = timed_row("getrf", "gpu", 2000, 3),
	                    qr = timed_row("geqrf", "gpu", 1000, 4);
	struct result bound = timed_row("getrf", "gpu", 1000, 5);
	struct shape shape[5];
	size_t count = 0;

	results_option_add(bound.options, "level", "0");
	count = shapes_add(shape, count, &lu);
	count = shapes_add(shape, count, &larger);
	count = shapes_add(shape, count, &other);
	count = shapes_add(shape, count, &bound);
	count = shapes_add(shape, count, &qr);
	ok(count == 3, "two plans of one size are a shape, another size and QR are others");
	is_real(shape[0].seconds, 3, 1e-12, "which takes what both do; a bound is not run");
}

/* Of 20 shapes two take more than a twentieth of the time. */
static void test_order(void)
{
	struct result row[SHAPES];
	struct shape shape[SHAPES];
	size_t count = 0, moved = 0;

	for (int i = 0; i < SHAPES; i++) {
		row[i] = timed_row("getrf", "gpu", 1000 + i, i == 3 ? 7 : i == 5 ? 4 : 0.01);
		count = shapes_add(shape, count, &row[i]);
	}
	shapes_order(shape, count, 1, 100);
	ok(shape[SHAPES - 1].row->n == 1003, "the longest is the last one");
	ok(shape[SHAPES - 2].row->n == 1005, "the next before it");
	for (int i = 0; i < SHAPES - 2; i++)
		moved += shape[i].row->n != 1000 + i;
	ok(moved > SHAPES / 2, "the others in random order");
}

/* ---- measured again ---- */

static struct result row_of(int64_t n, double low, double value, double high, size_t samples)
{
	struct result row = result_new("getrf", "hybrid", "cuda", SINGLE, n, n);

	row.seconds = (struct estimate){value, low, high, samples};
	row.residual = 0.1;
	return row;
}

static void test_wanted(void)
{
	const struct result sure = row_of(100, 0.99, 1, 1.005, 5),
	                    wide = row_of(200, 0.9, 1, 1.1, 5), alone = row_of(300, NAN, 1, NAN, 1),
	                    two = row_of(400, NAN, 1, NAN, 2),
	                    refused = row_of(500, NAN, NAN, NAN, 0),
	                    absent = row_of(600, 1, 1, 1, 5);
	struct results *done = results_new();

	results_add(done, &sure);
	results_add(done, &wide);
	results_add(done, &alone);
	results_add(done, &two);
	results_add(done, &refused);
	ok(!remeasure_wanted(done, 0, &sure, 0.01), "a median known well enough is left as it is");
	ok(remeasure_wanted(done, 0, &wide, 0.01), "a wide interval wants another measurement");
	ok(remeasure_wanted(done, 0, &two, 0.01), "so do runs too few for an interval");
	ok(!remeasure_wanted(done, 0, &alone, 0.01), "a long run alone is not repeated");
	ok(!remeasure_wanted(done, 0, &refused, 0.01), "nor what was refused");
	ok(!remeasure_wanted(done, 0, &absent, 0.01), "a case without a measurement does not");
	ok(!remeasure_wanted(done, 2, &wide, 0.01) && remeasure_wanted(done, 2, &two, 0.01),
	        "what an earlier call measured is kept");
	ok(!remeasure_wanted(done, 0, &wide, INFINITY), "where only disturbed ones are wanted, "
	                                                "a wide one is not");
	results_disturbed_set(&done->row[0], "by others");
	ok(remeasure_wanted(done, 0, &sure, INFINITY), "but a disturbed one is, however sure");
	ok(results_count_disturbed(done) == 1, "which is counted");
	results_free(done);
}

static struct result after(struct result first, struct result second, size_t merged)
{
	struct results *done = results_new(), *again = results_new();

	results_add(done, &first);
	results_add(again, &second);
	const size_t count = remeasured_merge(done, again);
	ok(count == merged && done->count == 1, "%zu cases merged, none added", merged);
	const struct result row = done->row[0];
	results_free(done);
	results_free(again);
	return row;
}

static void test_merge(void)
{
	const struct result quick = row_of(100, 0.9, 1, 1.1, 5),
	                    slow = row_of(100, 1.3, 1.4, 1.5, 7),
	                    near = row_of(100, 0.95, 1.04, 1.2, 6), other = row_of(200, 1, 1, 1, 5),
	                    failed = row_of(100, NAN, NAN, NAN, 0);
	struct result worse = near;

	worse.residual = 0.3;
	is_real(after(slow, quick, 1).seconds.value, 1, 0, "a disturbed first measurement goes");
	is_real(after(quick, slow, 1).seconds.value, 1, 0, "so does a disturbed second one");
	ok(after(quick, slow, 1).seconds.samples == 5, "with its runs");
	const struct result both = after(quick, worse, 1);
	is_real(both.seconds.value, 1.02, 1e-12, "two that agree are one");
	ok(both.seconds.low == 0.9 && both.seconds.high == 1.2 && both.seconds.samples == 11,
	        "whose interval holds both");
	is_real(both.residual, 0.3, 0, "with the larger residual");
	struct result disturbed = slow, lucky = quick;
	results_disturbed_set(&disturbed, "by others");
	results_disturbed_set(&lucky, "by others");
	const struct result mended = after(disturbed, near, 1), kept = after(near, lucky, 1),
	                    still = after(disturbed, lucky, 1);
	ok(mended.seconds.value == 1.04 && !results_disturbed(&mended),
	        "an undisturbed measurement replaces a disturbed one");
	ok(kept.seconds.value == 1.04 && kept.seconds.samples == 6 && !results_disturbed(&kept),
	        "and is not replaced by one, though that be quicker");
	ok(still.seconds.value == 1 && results_disturbed(&still),
	        "of two disturbed ones the quicker counts, and says so");
	is_real(after(quick, failed, 0).seconds.value, 1, 0, "one that failed changes nothing");
	is_real(after(quick, other, 0).seconds.value, 1, 0, "nor does one of another case");
}

int main(void)
{
	test_slowed();
	test_held();
	test_blocked();
	test_refused();
	test_nan();
	test_reference();
	test_same();
	test_order();
	test_wanted();
	test_merge();
	return finish();
}
