/* SPDX-License-Identifier: MIT */
/* Queues, events, engines and the sharing of multiprocessors, with times that can be seen. */
#include "tests/tap.h"

#include "factor/model/simulation/simulation.h"

#include <math.h>

static struct simulation sim;

static int64_t kernel(enum queue queue, double issue, double seconds, double share)
{
	return simulation_put(&sim,
	        (struct work){.queue = queue, .issue = issue, .seconds = seconds, .share = share},
	        -1);
}

static int64_t copy(enum queue queue, enum engine engine, double issue, double seconds)
{
	return simulation_put(&sim,
	        (struct work){.queue = queue,
	                .engine = engine,
	                .issue = issue,
	                .seconds = seconds,
	                .share = 1},
	        -1);
}

static int64_t join(enum queue queue, double issue, int64_t after)
{
	return simulation_put(&sim,
	        (struct work){.queue = queue, .engine = ENGINE_HOST, .issue = issue, .share = 1},
	        after);
}

static double end(int64_t operation)
{
	return simulation_finish(&sim, operation);
}

static void test_one_queue(void)
{
	simulation_start(&sim);
	int64_t a = kernel(QUEUE_MAIN, 1, 10, 1), b = kernel(QUEUE_MAIN, 2, 5, 1);
	int64_t c = kernel(QUEUE_MAIN, 20, 1, 1);
	is_real(end(c), 21, 0, "a queue that ran dry waits for the host");
	is_real(end(b), 16, 0, "and else goes on");
	is_real(end(a), 11, 0, "from when the first was put");
	is_real(end(-1), 0, 0, "nothing is over at once");
}

static void test_sharing(void)
{
	simulation_start(&sim);
	int64_t a = kernel(QUEUE_MAIN, 0, 10, 0.5), b = kernel(QUEUE_OUT, 0, 10, 0.5);
	is_real(end(a), 10, 0, "two halves of the machine run side by side");
	is_real(end(b), 10, 0, "both");

	simulation_start(&sim);
	a = kernel(QUEUE_MAIN, 0, 10, 1);
	b = kernel(QUEUE_OUT, 1, 10, 1);
	is_real(end(b), 20, 0, "of two that fill it the second waits for the first");
	is_real(end(a), 10, 0, "which is not disturbed");

	simulation_start(&sim);
	a = kernel(QUEUE_MAIN, 0, 10, 0.75);
	b = kernel(QUEUE_OUT, 0, 10, 0.5);
	/* b has half of what it wants until 10, then five seconds' worth are left */
	is_real(end(b), 15, 0, "the second takes what is left of the machine");

	/* a panel on a quarter of the machine comes at 2 and shares that quarter until 10, when the
	 * update, at 7/8, has 1 left */
	simulation_start(&sim);
	a = kernel(QUEUE_MAIN, 0, 10, 1);
	b = kernel(QUEUE_PANEL, 2, 4, 0.25);
	is_real(end(b), 10, 0,
	        "a panel and an update have half each of the panel's multiprocessors");
	is_real(end(a), 11, 0, "the machine's work is what it was: 10 + 4 / 4");

	/* beside an update of 7/8 of the machine half of the panel's quarter is shared */
	simulation_start(&sim);
	a = kernel(QUEUE_MAIN, 0, 10, 0.875);
	b = kernel(QUEUE_PANEL, 2, 3, 0.25);
	is_real(end(b), 6, 1e-12, "what is free it has alone: 3 / (3/4)");

	/* a panel whose blocks leave no room has the quarter from 2 to 6, and the update, on the
	 * other three, does 3 of the 8 that are left */
	simulation_start(&sim);
	a = kernel(QUEUE_MAIN, 0, 10, 1);
	b = simulation_put(&sim,
	        (struct work){.queue = QUEUE_PANEL,
	                .issue = 2,
	                .seconds = 4,
	                .share = 0.25,
	                .overlapped = 1},
	        -1);
	is_real(end(b), 6, 0, "a panel that has its multiprocessors to itself");
	is_real(end(a), 11, 0, "and the update the others");

	/* so has one beside row swaps */
	simulation_start(&sim);
	a = simulation_put(&sim,
	        (struct work){.queue = QUEUE_MAIN, .seconds = 10, .share = 1, .light = true}, -1);
	b = kernel(QUEUE_PANEL, 2, 4, 0.25);
	is_real(end(b), 6, 0, "a panel beside what only moves data");

	/* the update's blocks end every 5: the panel begins then */
	simulation_start(&sim);
	a = simulation_put(&sim,
	        (struct work){.queue = QUEUE_MAIN, .seconds = 20, .share = 1, .block_lifetime = 5},
	        -1);
	b = kernel(QUEUE_PANEL, 2, 4, 0.25);
	is_real(end(b), 13, 0, "a panel waits for blocks to end");
	is_real(end(a), 21, 0, "and takes its multiprocessors only then");

	/* from the third round on they end one after the other, a quarter of them in 1.25 */
	simulation_start(&sim);
	simulation_put(&sim,
	        (struct work){.queue = QUEUE_MAIN, .seconds = 40, .share = 1, .block_lifetime = 5},
	        -1);
	b = kernel(QUEUE_PANEL, 12, 4, 0.25);
	is_real(end(b), 21.25, 0, "a panel waits for as many blocks of a kernel as it needs");

	/* an update that comes second to a panel shares them, too */
	simulation_start(&sim);
	b = kernel(QUEUE_PANEL, 0, 4, 0.25);
	a = kernel(QUEUE_MAIN, 0, 10, 1);
	is_real(end(b), 8, 0, "a panel beside an update that came later");
	is_real(end(a), 11, 0, "which then has all");

	/* behind an event of another queue a panel starts with another kernel and gets what that
	 * one's first blocks leave */
	simulation_start(&sim);
	const struct work panel = {
	        .queue = QUEUE_PANEL, .start = 2, .seconds = 6, .share = 0.25, .overlapped = 1};
	const struct work swaps = {.queue = QUEUE_MAIN,
	        .issue = 1,
	        .start = 2,
	        .seconds = 12,
	        .share = 1,
	        .block_lifetime = 5};
	join(QUEUE_PANEL, 0, kernel(QUEUE_OUT, 0, 0, 0.5));
	b = simulation_put(&sim, panel, -1);
	simulation_put(&sim, swaps, -1);
	is_real(end(b), 12, 0, "a panel that waits for blocks of a kernel that starts beside it");
	simulation_start(&sim);
	b = simulation_put(&sim, panel, -1);
	simulation_put(&sim, swaps, -1);
	is_real(end(b), 6, 0, "without an event before it it is the first");

	/* starting needs no multiprocessor: the second starts while the first works */
	simulation_start(&sim);
	a = kernel(QUEUE_MAIN, 0, 10, 1);
	b = simulation_put(&sim,
	        (struct work){.queue = QUEUE_OUT, .issue = 5, .start = 2, .seconds = 6, .share = 1},
	        -1);
	is_real(end(b), 14, 0, "a kernel's start hides behind another queue's kernel");
}

static int64_t update(double seconds, double share, int kernels, double beside)
{
	return simulation_put(&sim,
	        (struct work){.queue = QUEUE_PANEL,
	                .issue = 12,
	                .seconds = seconds,
	                .share = share,
	                .overlapped = beside,
	                .independent = true,
	                .kernels = kernels},
	        -1);
}

/* Beside blocks that have a multiprocessor each and end one after the other, all of them in 4. */
static void test_whole(void)
{
	const struct work product = {.queue = QUEUE_MAIN,
	        .seconds = 40,
	        .share = 1,
	        .block_lifetime = 4,
	        .exclusive = true};

	simulation_start(&sim);
	int64_t a = simulation_put(&sim, product, -1), b = update(8, 1, 1, 0);
	is_real(end(b), 22, 1e-12,
	        "places come for 4, half of which is lost, and then are its own");
	is_real(end(a), 48, 1e-12, "nothing else is lost");

	simulation_start(&sim);
	simulation_put(&sim, product, -1);
	b = update(0.5, 1, 1, 0);
	is_real(end(b), 14, 1e-12, "a short one ends on the places that come in 2");

	simulation_start(&sim);
	simulation_put(&sim, product, -1);
	b = update(8, 0.5, 1, 0);
	is_real(end(b), 21, 1e-12, "half of the machine is there in half of the time");

	simulation_start(&sim);
	simulation_put(&sim, product, -1);
	b = update(8, 1, 2, 0);
	is_real(end(b), 24, 1e-12, "two kernels in turn find it taken twice");

	simulation_start(&sim);
	simulation_put(&sim, product, -1);
	b = update(8, 1, 1, 0.8);
	is_real(end(b), 24, 1e-12, "a panel is disturbed as it was measured to be");
}

static void test_work_is_kept(void)
{
	double seconds = 0;

	simulation_start(&sim);
	for (int i = 0; i < 40; i++) {
		double share = 0.1 * (1 + i % 7);
		kernel((enum queue)(i % QUEUE_COUNT), i * 0.3, 1 + i % 3, share);
		seconds += share * (1 + i % 3);
	}
	double last = 0;
	for (int64_t i = 0; i < 40; i++)
		last = fmax(last, end(i));
	ok(last >= seconds, "the machine does no more than one machine's work: %.2f of %.2f",
	        seconds, last);
	for (int64_t i = 0; i < 40; i++)
		if (sim.operation[i].end - sim.operation[i].begin <
		        sim.operation[i].work.seconds - 1e-9)
			ok(false, "operation %d is faster than alone", (int)i);
	ok(last < 80, "and loses none of it");
}

static void test_joins(void)
{
	simulation_start(&sim);
	int64_t a = kernel(QUEUE_MAIN, 0, 10, 0.1);
	join(QUEUE_PANEL, 0, a);
	int64_t b = kernel(QUEUE_PANEL, 0, 3, 0.1);
	int64_t c = kernel(QUEUE_MAIN, 0, 1, 0.1);
	join(QUEUE_MAIN, 0, b);
	int64_t d = kernel(QUEUE_MAIN, 0, 1, 0.1);
	is_real(end(d), 14, 0, "there and back by events");
	is_real(end(b), 13, 0, "a queue waits for an event of another");
	is_real(end(c), 11, 0, "which goes on meanwhile");
	ok(simulation_busy(&sim, d, 13.5) && !simulation_busy(&sim, d, 14), "busy until the end");
}

/* An update whose blocks stay to its end on 7/8 of the machine. */
static int64_t staying(void)
{
	return simulation_put(&sim,
	        (struct work){.queue = QUEUE_MAIN,
	                .seconds = 100,
	                .share = 0.875,
	                .block_lifetime = INFINITY},
	        -1);
}

static int64_t panel(double share, double beside)
{
	return simulation_put(&sim,
	        (struct work){.queue = QUEUE_PANEL,
	                .issue = 10,
	                .seconds = 10,
	                .share = share,
	                .overlapped = beside},
	        -1);
}

static void test_staying(void)
{
	simulation_start(&sim);
	int64_t a = staying(), b = kernel(QUEUE_PANEL, 10, 10, 0.5);
	is_real(end(b), 50, 1e-12, "a kernel has what blocks that stay have left, a quarter of it");
	is_real(end(a), 100, 1e-12, "which it does not disturb");

	simulation_start(&sim);
	staying();
	b = kernel(QUEUE_PANEL, 10, 10, 0.125);
	is_real(end(b), 20, 1e-12, "if it needs no more it is as quick as alone");

	simulation_start(&sim);
	staying();
	b = panel(0.5, 0.7);
	is_real(end(b), 110, 1e-12, "a panel waits for all of its places");

	simulation_start(&sim);
	staying();
	b = panel(0.125, 0.5);
	is_real(end(b), 30, 1e-12, "one that has them goes on as it was measured beside others");
}

static void test_engines(void)
{
	simulation_start(&sim);
	int64_t a = copy(QUEUE_OUT, ENGINE_OUT, 0, 4), b = copy(QUEUE_PANEL, ENGINE_OUT, 1, 4);
	int64_t c = copy(QUEUE_IN, ENGINE_IN, 1, 4), d = kernel(QUEUE_MAIN, 0, 10, 1);
	is_real(end(a), 4, 0, "a copy");
	is_real(end(b), 8, 0, "a second one in the same direction waits for the engine");
	is_real(end(c), 5, 0, "the other direction has its own");
	is_real(end(d), 10, 0, "and kernels are not disturbed");
}

int main(void)
{
	test_one_queue();
	test_sharing();
	test_whole();
	test_work_is_kept();
	test_joins();
	test_staying();
	test_engines();
	simulation_free(&sim);
	return finish();
}
