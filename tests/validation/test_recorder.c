/* SPDX-License-Identifier: MIT */
/* The recorder around the host executor: the same bits come out, and its records are those that the
 * model executor makes of the same plan: queue, phase, operation, shape, block, one by one. The
 * marks are made up, a millisecond each, so that every operation takes time. */
#include "recorder_test.h"

#include "tests/model/model_profile.h"

#include "factor/model/predictions/model_factor.h"

enum { N = 300, M = 400, FEWEST_RECORDS = 8 };

static const int64_t by_64[] = {64}, by_128[] = {128}, growing[] = {32, 64, 128};

static const struct plan plans[] = {
        {false, "persistent", by_64, 1, 64, 0, 0},
        {false, "persistent", growing, 3, 32, 32, 1},
        {false, "fused", by_64, 1, 64, 0, 1},
        {true, NULL, by_128, 1, 64, 0, 0},
        {true, NULL, growing, 3, 64, 64, 1},
};

/* ---- made-up marks ---- */

static bool count_mark(struct executor *e, int64_t mark)
{
	(void)e;
	(void)mark;
	return true;
}

static bool count_elapsed(struct executor *e, int64_t from, int64_t to, double *seconds)
{
	(void)e;
	*seconds = ((double)to - (double)from) * 1e-3;
	return true;
}

/* ---- records ---- */

/* What the host waits for is there when the host executor asks, and never is for the model. */
static bool of_interest(const struct timeline_entry *e)
{
	return e->operation != timeline_queueing && strcmp(e->operation, "wait") != 0 &&
	       strcmp(e->operation, "sync") != 0;
}

static bool same_record(const struct timeline_entry *a, const struct timeline_entry *b)
{
	return a->lane == b->lane && a->engine == b->engine && a->phase == b->phase &&
	       strcmp(a->operation, b->operation) == 0 && a->m == b->m && a->n == b->n &&
	       a->k == b->k && a->block == b->block;
}

static size_t next_record(const struct timeline *t, size_t i)
{
	while (i < t->count && !of_interest(&t->entry[i]))
		i++;
	return i;
}

static bool same_records(const struct timeline *a, const struct timeline *b)
{
	size_t i = next_record(a, 0), j = next_record(b, 0), count = 0;

	for (; i < a->count && j < b->count; i = next_record(a, i + 1), j = next_record(b, j + 1)) {
		const struct timeline_entry *x = &a->entry[i], *y = &b->entry[j];
		if (!same_record(x, y)) {
			diag("%zu: %s %s %s %d x %d block %d, but %s %s %s %d x %d block %d", count,
			        lane_name[x->lane], phase_name[x->phase], x->operation, (int)x->m,
			        (int)x->n, (int)x->block, lane_name[y->lane], phase_name[y->phase],
			        y->operation, (int)y->m, (int)y->n, (int)y->block);
			return false;
		}
		count++;
	}
	if (count < FEWEST_RECORDS)
		diag("%zu records are few", count);
	return i == a->count && j == b->count && count >= FEWEST_RECORDS;
}

static struct timeline *simulated(
        const struct profile *profile, enum operation operation, const struct plan *plan, int64_t m)
{
	struct factor_question asked = {.operation = operation_name[operation],
	        .plan = plan,
	        .m = m,
	        .n = N,
	        .precision = SINGLE,
	        .uplo = LOWER};
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &asked, 2);

	model_factor_run(e, &asked);
	struct timeline *t = executor_model_timeline(e, "simulated");
	executor_free(e);
	return t;
}

static void test_plan(struct executor *host, struct executor *recorder,
        const struct profile *profile, enum operation operation, const struct plan *plan)
{
	int64_t m = operation == POTRF ? N : M;
	struct factored plain = recorder_factorize(host, operation, plan, SINGLE, m, N);
	bool started = recorder_start(recorder);
	struct factored recorded = recorder_factorize(recorder, operation, plan, SINGLE, m, N);
	struct timeline *t = recorder_timeline(recorder, "recorded");
	struct timeline *model = simulated(profile, operation, plan, m);

	ok(started && same_bits(&plain, &recorded), "%s, panels on the %s, %s: the same bits",
	        operation_name[operation], plan->hybrid ? "host" : "device",
	        plan->lookahead ? "look-ahead" : "one after the other");
	ok(t && timeline_in_order(t), "its records are in order");
	ok(t && same_records(model, t), "and the model's, one by one");
	timeline_free(t);
	timeline_free(model);
	factored_free(&plain);
	factored_free(&recorded);
}

/* An operation begins after what its queue waits for; the host's share of a wait is its tail. */
static void test_events(struct executor *recorder)
{
	double element = 1;
	struct matrix a = {&element, 0, 1, 1, 1, DOUBLE};

	recorder_start(recorder);
	recorder->queue = QUEUE_MAIN;
	ex_fill(recorder, WHOLE, 0, 0, a);
	ex_record(recorder, 3);
	recorder->queue = QUEUE_PANEL;
	ex_wait(recorder, 3);
	ex_fill(recorder, WHOLE, 0, 0, a);
	recorder->queue = QUEUE_OUT;
	ex_fill(recorder, WHOLE, 0, 0, a);
	recorder->queue = QUEUE_MAIN;
	struct timeline *t = recorder_timeline(recorder, "events");
	const struct timeline_entry *first = NULL, *second = NULL, *third = NULL;
	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_entry *e = &t->entry[i];
		if (e->lane == LANE_QUEUE + QUEUE_MAIN)
			first = e;
		else if (e->lane == LANE_QUEUE + QUEUE_PANEL)
			second = e;
		else if (e->lane == LANE_QUEUE + QUEUE_OUT)
			third = e;
	}
	ok(first && second && third, "three queues");
	is_real(second->begin, first->end, 1e-9, "the one that waits begins at the end");
	is_real(second->end - second->begin, 1e-3, 1e-6, "and lasts to its mark");
	ok(third->begin < first->end, "the other does not wait");
	timeline_free(t);
}

/* Without marks: the host's operations last as long as their calls. */
static void test_at_once(struct executor *recorder)
{
	enum { SIDE = 1000 };
	static float elements[SIDE * SIDE];
	struct matrix a = {elements, 0, SIDE, SIDE, SIDE, SINGLE};

	recorder_start(recorder);
	recorder->queue = QUEUE_MAIN;
	ex_fill(recorder, WHOLE, 0, 0, a);
	struct timeline *t = recorder_timeline(recorder, "at once");
	struct exposure exposure = timeline_expose(t);
	ok(t->count == 1 && exposure.critical[PHASE_LAYOUT] > 0.9 * t->seconds,
	        "the host is done when it returns");
	timeline_free(t);
}

static void test_fault(struct executor *recorder)
{
	static const int64_t none[] = {0};
	struct plan plan = {false, "persistent", none, 1, 8, 0, 0};
	struct matrix a = {NULL, 0, N, N, N, SINGLE};
	struct whole whole = {.operation = GETRF};

	ok(whole_work(recorder, &whole, &plan, a) < 0 && recorder->fault.text[0],
	        "a refusal comes through: %s", recorder->fault.text);
}

int main(void)
{
	struct fault fault;
	struct executor *host = executor_host_new(&fault);
	struct profile *profile = synthetic(0.02);

	add_blocks(profile, 0.02);
	struct executor_ops ops = *host->ops;

	ops.mark = count_mark;
	ops.elapsed = count_elapsed;
	host->ops = &ops;
	struct executor *recorder = recorder_new(host);
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		for (int o = 0; o < OPERATION_COUNT; o++)
			test_plan(host, recorder, profile, (enum operation)o, &plans[i]);
	test_at_once(recorder);
	host->on_host = false; /* its queues as a device's */
	test_events(recorder);
	test_fault(recorder);
	executor_free(recorder);
	executor_free(host);
	profile_free(profile);
	return finish();
}
