/* SPDX-License-Identifier: MIT */
/* Schedules on the model executor: what overlaps in two queues, behind events and beside panels, on
 * the synthetic profile. */
#include "cost_lines.h"

/* Microseconds in which the synthetic profile queues a call of the library, starts a kernel, and
 * waits. */
static const double library = 2.75, started = 1, waited = 5;

/* The whole synthetic machine of 100 multiprocessors. */
static bool update(struct executor *e, int64_t k)
{
	return ex_gemm(e, PLAIN, PLAIN, -1, shape(1280, k), shape(k, 1280), 1, shape(1280, 1280));
}

static double update_us(int64_t k)
{
	return 2.0 * 1280 * 1280 * (double)k / 1e7;
}

static void test_two_queues(const struct profile *p)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	/* 5 x 10 tiles of 32 x 32: half of the machine, */
	struct matrix half = shape(160, 320);
	double one = 2.0 * 160 * 320 * 512 / 1e7;

	ex_gemm(e, PLAIN, PLAIN, -1, shape(160, 512), shape(512, 320), 1, half);
	e->queue = QUEUE_PANEL;
	ex_gemm(e, PLAIN, PLAIN, -1, shape(160, 512), shape(512, 320), 1, half);
	is_real(us(e), 2 * library + one + waited, 1e-9, "two halves of the machine in two queues");

	executor_model_restart(e, false);
	e->queue = QUEUE_OUT;
	update(e, 512);
	e->queue = QUEUE_IN;
	update(e, 512);
	is_real(us(e), library + 2 * update_us(512) - started + waited, 1e-9,
	        "two whole machines' work: only the second's start is hidden");
	executor_free(e);
}

static void test_events(const struct profile *p)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	update(e, 512);
	ex_record(e, 3);
	update(e, 512);
	e->queue = QUEUE_OUT;
	ex_wait(e, 3);
	ex_to_host(e, shape(1280, 64), shape(1280, 64));
	ex_record(e, 4);
	ex_wait_host(e, 4);
	struct timeline *t = executor_model_timeline(e, "events");
	double first = t->entry[1].end, copy = t->entry[5].begin;
	is_real(first * 1e6, library + update_us(512), 1e-9, "the first update");
	is_real((copy - first) * 1e6, 0.25, 1e-6,
	        "a copy of its result begins after the stream wait");
	timeline_free(t);

	executor_model_restart(e, false);
	ex_wait(e, 5);
	ex_wait_host(e, 5);
	is_real(us(e), 0.125, 1e-9, "an event never recorded is over");
	ok(!ex_record(e, EXECUTOR_EVENTS) && strstr(e->fault.text, "event"), "refused: %s",
	        e->fault.text);
	executor_free(e);
}

/* A panel on the host, beside an update of the rest or after it. */
static double hybrid_step(struct executor *e, bool ahead)
{
	struct matrix panel = shape(1280, 64), host;

	executor_model_restart(e, false);
	e->ops->stage(e, 0, 1280, 64, SINGLE, &host);
	if (!ahead)
		update(e, 8192);
	ex_record(e, 0);
	if (ahead)
		update(e, 8192);
	e->queue = QUEUE_OUT;
	ex_wait(e, 0);
	ex_to_host(e, panel, host);
	ex_record(e, 1);
	ex_wait_host(e, 1);
	e->queue = QUEUE_IN;
	ex_host_panel_getrf(e, host, (struct pivots){NULL, 64}, NULL);
	ex_to_device(e, host, panel);
	ex_record(e, 2);
	e->queue = QUEUE_MAIN;
	ex_wait(e, 2);
	update(e, 32);
	return us(e);
}

static void test_look_ahead(const struct profile *p)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	double after = hybrid_step(e, false);
	struct timeline *t = executor_model_timeline(e, "after");
	double host = 1280 * 64.0 * 64 / 1e4;
	ok(after > update_us(8192) + host, "without look-ahead the panel shows: %.0f us", after);
	ok(timeline_expose(t).critical[PHASE_PANEL] > 0.99e-6 * host, "all of it");
	timeline_free(t);

	double ahead = hybrid_step(e, true);
	struct model_result r = executor_model_result(e);
	t = executor_model_timeline(e, "ahead");
	is_real(ahead, 0.125 + library + update_us(8192) + 0.25 + update_us(32) + waited, 1e-9,
	        "with it nothing but the updates does");
	ok(timeline_expose(t).critical[PHASE_PANEL] < 1e-9, "the panel is hidden");
	ok(r.limiter == TERM_ARITHMETIC, "arithmetic limits it");
	timeline_free(t);
	executor_free(e);
}

/* A panel of a few multiprocessors on the device beside an update. */
static void test_panel_beside_update(const struct profile *p)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	e->queue = QUEUE_PANEL;
	ex_panel_geqrf(e, shape(2560, 64), shape(64, 1), NULL); /* 20 blocks */
	double panel = us(e) - waited;
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	ex_panel_geqrf(e, shape(2560, 64), shape(64, 1), NULL);
	e->queue = QUEUE_IN;
	ex_clear_info(e, NULL);
	ex_clear_info(e, NULL);
	e->queue = QUEUE_MAIN;
	update(e, 512);
	struct timeline *t = executor_model_timeline(e, "overlapped");
	/* the panel works from 7 + 6 on, the update from 7 + 2 x 3 + 2.75 + 1 on; until that is
	 * done both have half of the panel's 20 of 100 multiprocessors */
	double begins = 13 + library + started, lasts = (update_us(512) - started) / 0.9;
	is_real(t->entry[t->count - 1].end * 1e6, begins + lasts, 1e-9, "the update has 90 of 100");
	is_real(t->entry[1].end * 1e6, panel + lasts / 2, 1e-9, "the panel half speed meanwhile");
	timeline_free(t);
	executor_free(e);
}

int main(void)
{
	struct profile *p = synthetic_blocks();

	test_two_queues(p);
	test_events(p);
	test_look_ahead(p);
	test_panel_beside_update(p);
	profile_free(p);
	return finish();
}
