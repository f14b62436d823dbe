/* SPDX-License-Identifier: MIT */
/* Queues, events, engines and the sharing of multiprocessors, with times that can be seen. */
#include "tests/tap.h"

#include "factor/model/simulation/simulation.h"

static struct simulation sim;

/* An operation and its end, 0: not asked. behind: the operation of the same fixture (from 1 on) for
 * which it waits, 0: none. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* lines leave out the last ones */
struct put {
	struct work work;
	double end;
	int behind;
};

enum { MOST = 6 };
struct fixture {
	const char *what;
	struct put put[MOST];
};

#define KERNEL(in, at, lasts, part, ...)                                                           \
	{                                                                                          \
		.queue = QUEUE_##in, .issue = at, .seconds = lasts, .share = part, __VA_ARGS__     \
	}
#define COPY(in, at, lasts) KERNEL(in, at, lasts, 1, .engine = ENGINE_##in)
#define JOIN(in)                                                                                   \
	{                                                                                          \
		.queue = QUEUE_##in, .engine = ENGINE_HOST, .share = 1                             \
	}
/* Blocks that have a multiprocessor each and end one after the other, all of them in 4, and blocks
 * that stay to the end on 7/8 of the machine. */
#define PRODUCT KERNEL(MAIN, 0, 40, 1, .block_lifetime = 4, .exclusive = true)
#define STAYING KERNEL(MAIN, 0, 100, 0.875, .block_lifetime = INFINITY)
#define UPDATE(lasts, part, ...) KERNEL(PANEL, 12, lasts, part, .independent = true, __VA_ARGS__)
#define SWAPS(at) KERNEL(MAIN, at, 12, 1, .start = 2, .block_lifetime = 5)

static const struct fixture fixtures[] = {
        {"a queue that ran dry waits for the host, and else goes on",
                {{KERNEL(MAIN, 1, 10, 1), 11}, {KERNEL(MAIN, 2, 5, 1), 16},
                        {KERNEL(MAIN, 20, 1, 1), 21}}},
        {"two halves of the machine run side by side",
                {{KERNEL(MAIN, 0, 10, 0.5), 10}, {KERNEL(OUT, 0, 10, 0.5), 10}}},
        {"of two that fill it the second waits for the first, which is not disturbed",
                {{KERNEL(MAIN, 0, 10, 1), 10}, {KERNEL(OUT, 1, 10, 1), 20}}},
        /* half of what it wants until 10, then five seconds' worth are left */
        {"the second takes what is left of the machine",
                {{KERNEL(MAIN, 0, 10, 0.75), 10}, {KERNEL(OUT, 0, 10, 0.5), 15}}},
        /* the panel shares its quarter until 10, when the update, at 7/8, has 1 left: the
         * machine's work is what it was, 10 + 4 / 4 */
        {"a panel and an update have half each of the panel's multiprocessors",
                {{KERNEL(MAIN, 0, 10, 1), 11}, {KERNEL(PANEL, 2, 4, 0.25), 10}}},
        /* beside 7/8 of the machine half of the panel's quarter is shared: 3 / (3/4) */
        {"what is free a panel has alone",
                {{KERNEL(MAIN, 0, 10, 0.875)}, {KERNEL(PANEL, 2, 3, 0.25), 6}}},
        /* it has the quarter from 2 to 6, and the update, on the other three, does 3 of the 8 that
         * are left */
        {"a panel that has its multiprocessors to itself, and the update the others",
                {{KERNEL(MAIN, 0, 10, 1), 11}, {KERNEL(PANEL, 2, 4, 0.25, .overlapped = 1), 6}}},
        {"so has one beside what only moves data",
                {{KERNEL(MAIN, 0, 10, 1, .light = true)}, {KERNEL(PANEL, 2, 4, 0.25), 6}}},
        /* the update's blocks end every 5 */
        {"a panel waits for blocks to end, and takes its multiprocessors only then",
                {{KERNEL(MAIN, 0, 20, 1, .block_lifetime = 5), 21},
                        {KERNEL(PANEL, 2, 4, 0.25), 13}}},
        /* from the third round on they end one after the other, a quarter of them in 1.25 */
        {"a panel waits for as many blocks of a kernel as it needs",
                {{KERNEL(MAIN, 0, 40, 1, .block_lifetime = 5)},
                        {KERNEL(PANEL, 12, 4, 0.25), 21.25}}},
        {"a panel beside an update that came later, which then has all",
                {{KERNEL(PANEL, 0, 4, 0.25), 8}, {KERNEL(MAIN, 0, 10, 1), 11}}},
        {"a panel behind an event waits for first blocks of a kernel that starts beside it",
                {{KERNEL(OUT, 0, 0, 0.5)}, {JOIN(PANEL), .behind = 1},
                        {KERNEL(PANEL, 0, 6, 0.25, .start = 2, .overlapped = 1), 12}, {SWAPS(1)}}},
        {"with both at the same instant the panel is the first, which is urgent",
                {{KERNEL(PANEL, 0, 6, 0.25, .start = 2, .overlapped = 1), 6},
                        {KERNEL(MAIN, 0, 12, 1, .start = 2, .block_lifetime = 5)}}},
        {"without an event before it it is the first",
                {{KERNEL(PANEL, 0, 6, 0.25, .start = 2, .overlapped = 1), 6}, {SWAPS(1)}}},
        {"a kernel's start hides behind another queue's kernel",
                {{KERNEL(MAIN, 0, 10, 1)}, {KERNEL(OUT, 5, 6, 1, .start = 2), 14}}},
        {"places come for 4, half of which is lost, and then are its own; nothing else is lost",
                {{PRODUCT, 48}, {UPDATE(8, 1, .kernels = 1), 22}}},
        {"a short one ends on the places that come in 2",
                {{PRODUCT}, {UPDATE(0.5, 1, .kernels = 1), 14}}},
        {"half of the machine is there in half of the time",
                {{PRODUCT}, {UPDATE(8, 0.5, .kernels = 1), 21}}},
        {"two kernels in turn find it taken twice", {{PRODUCT}, {UPDATE(8, 1, .kernels = 2), 24}}},
        {"a panel beside an update takes its measured time",
                {{PRODUCT}, {UPDATE(8, 1, .kernels = 1, .overlapped = 0.8), 24}}},
        {"a kernel has a quarter, which blocks that stay have left, and does not disturb them",
                {{STAYING, 100}, {KERNEL(PANEL, 10, 10, 0.5), 50}}},
        {"if it needs no more it is as quick as alone",
                {{STAYING}, {KERNEL(PANEL, 10, 10, 0.125), 20}}},
        {"a panel waits for all of its places",
                {{STAYING}, {KERNEL(PANEL, 10, 10, 0.5, .overlapped = 0.7), 110}}},
        {"a panel that has its multiprocessors takes its time beside others",
                {{STAYING}, {KERNEL(PANEL, 10, 10, 0.125, .overlapped = 0.5), 30}}},
        {"there and back by events, while a queue goes on",
                {{KERNEL(MAIN, 0, 10, 0.1), 10}, {JOIN(PANEL), .behind = 1},
                        {KERNEL(PANEL, 0, 3, 0.1), 13}, {KERNEL(MAIN, 0, 1, 0.1), 11},
                        {JOIN(MAIN), .behind = 3}, {KERNEL(MAIN, 0, 1, 0.1), 14}}},
        {"a second copy waits for the engine; the other direction and kernels are not disturbed",
                {{COPY(OUT, 0, 4), 4}, {KERNEL(PANEL, 1, 4, 1, .engine = ENGINE_OUT), 8},
                        {COPY(IN, 1, 4), 5}, {KERNEL(MAIN, 0, 10, 1), 10}}}};

static void test_fixture(const struct fixture *fixture)
{
	int64_t number[MOST];
	size_t count = 0;

	simulation_start(&sim);
	for (; count < MOST && fixture->put[count].work.share > 0; count++) {
		const int behind = fixture->put[count].behind;
		number[count] = simulation_put(
		        &sim, fixture->put[count].work, behind ? number[behind - 1] : -1);
	}
	for (size_t i = count; i-- > 0;)
		if (fixture->put[i].end > 0)
			is_real(simulation_finish(&sim, number[i]), fixture->put[i].end, 1e-12,
			        fixture->what);
}

/* Behind a kernel that ends at 10: asked for while it runs, and after. */
static void test_what_is_found(void)
{
	static const struct {
		double asked, begin, end;
		enum engine engine;
		const char *what;
	} found[] = {{9, 10, 12, ENGINE_KERNELS, "behind a kernel at work a kernel is as it is"},
	        {10, 10, 15, ENGINE_KERNELS, "one that is asked for when it is over takes longer"},
	        {9, 10, 19, ENGINE_OUT, "and so does a copy behind a kernel at work"}};

	for (size_t i = 0; i < ARRAY_LEN(found); i++) {
		const struct work first = {.queue = QUEUE_MAIN, .seconds = 10, .share = 1},
		                  second = {.queue = QUEUE_MAIN,
		                          .engine = found[i].engine,
		                          .asked = found[i].asked,
		                          .seconds = 2,
		                          .idle = found[i].engine == ENGINE_KERNELS ? 3 : 0,
		                          .behind = 7,
		                          .share = 1};
		simulation_start(&sim);
		simulation_put(&sim, first, -1);
		is_real(simulation_finish(&sim, simulation_put(&sim, second, -1)), found[i].end,
		        1e-12, found[i].what);
	}
}

/* Alone behind a kernel that ends at 10: put while it runs, though asked for before, and after. */
static void test_alone(void)
{
	static const struct {
		double issue, end;
		const char *what;
	} put[] = {{9, 12, "a kernel that is put while its queue works does not begin alone"},
	        {11, 17, "one that is put when its queue is empty takes what it takes alone"}};

	for (size_t i = 0; i < ARRAY_LEN(put); i++) {
		const struct work first = {.queue = QUEUE_MAIN, .seconds = 10, .share = 1},
		                  second = {.queue = QUEUE_MAIN,
		                          .issue = put[i].issue,
		                          .asked = 8,
		                          .seconds = 2,
		                          .idle = 3,
		                          .alone = 4,
		                          .share = 1};
		simulation_start(&sim);
		simulation_put(&sim, first, -1);
		is_real(simulation_finish(&sim, simulation_put(&sim, second, -1)), put[i].end,
		        1e-12, put[i].what);
	}
}

static void test_other_devices(void)
{
	const struct work link = {.queue = QUEUE_PANEL, .engine = ENGINE_LINK, .seconds = INFINITY},
	                  kernel = {.queue = QUEUE_PANEL, .seconds = 2, .share = 0.5},
	                  update = {.queue = QUEUE_MAIN, .seconds = 10, .share = 0.5};

	simulation_start(&sim);
	simulation_put(&sim, kernel, -1);
	const int64_t far = simulation_put(&sim, link, -1), last = simulation_put(&sim, kernel, -1),
	              beside = simulation_put(&sim, update, -1);
	is_real(simulation_reach(&sim, far), 2, 1e-12, "it begins after the kernel before");
	simulation_end(&sim, far, 7);
	is_real(simulation_finish(&sim, last), 9, 1e-12, "the next kernel waits for its end");
	is_real(simulation_finish(&sim, beside), 10, 1e-12, "other queues do not");
	const int64_t never = simulation_put(&sim, link, -1);
	ok(isnan(simulation_finish(&sim, never)), "without an end it has none");
	ok(isnan(simulation_reach(&sim, simulation_put(&sim, kernel, -1))),
	        "and nothing behind it begins");
}

static void test_work_is_kept(void)
{
	double seconds = 0, last = 0;

	simulation_start(&sim);
	is_real(simulation_finish(&sim, -1), 0, 0, "nothing is over at once");
	for (int i = 0; i < 40; i++) {
		const struct work work = {.queue = (enum queue)(i % QUEUE_COUNT),
		        .issue = i * 0.3,
		        .seconds = 1 + i % 3,
		        .share = 0.1 * (1 + i % 7)};
		simulation_put(&sim, work, -1);
		seconds += work.share * work.seconds;
	}
	for (int64_t i = 0; i < 40; i++)
		last = fmax(last, simulation_finish(&sim, i));
	ok(last >= seconds, "the machine does no more than one machine's work: %.2f of %.2f",
	        seconds, last);
	for (int64_t i = 0; i < 40; i++)
		if (sim.operation[i].end - sim.operation[i].begin <
		        sim.operation[i].work.seconds - 1e-9)
			ok(false, "operation %d is faster than alone", (int)i);
	ok(last < 80, "and loses none of it");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(fixtures); i++)
		test_fixture(&fixtures[i]);
	test_work_is_kept();
	test_what_is_found();
	test_alone();
	test_other_devices();
	simulation_free(&sim);
	return finish();
}
