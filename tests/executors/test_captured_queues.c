/* SPDX-License-Identifier: MIT */
/* Whether the library's algorithms can be captured as CUDA graphs. A capture becomes invalid by a
 * wait for an event that the algorithm itself has not recorded, and by work in another queue that
 * QUEUE_MAIN has not waited for at the end. Nothing runs: operations stay in the deferred
 * executor's queues, for plans and sizes of the library on a GPU. */
#include "tests/algorithms/update_fixture.h"

#include "deferred.h"

#include "factor/executors/split.h"
#include "factor/validation/whole.h"

/* ---- order of tasks ---- */

/* How many tasks of each queue come before the next task of a queue, or before an event. */
struct before {
	int64_t tasks[QUEUE_COUNT];
};

static void merge(struct before *a, const struct before *b)
{
	for (int i = 0; i < QUEUE_COUNT; i++)
		a->tasks[i] = a->tasks[i] > b->tasks[i] ? a->tasks[i] : b->tasks[i];
}

struct follower {
	const struct deferred *d;
	struct before queues[QUEUE_COUNT];
	struct before *events[EXECUTOR_EVENTS]; /* of every version that was recorded */
	int64_t reached[EXECUTOR_EVENTS];
};

/* False when the queue is at its end or its head waits for an event that is not recorded yet. */
static bool follow_head(struct follower *f, int queue)
{
	const struct task_queue *q = &f->d->queues[queue];
	struct before *here = &f->queues[queue];

	if (here->tasks[queue] == q->count)
		return false;
	const struct task *t = &q->tasks[here->tasks[queue]];
	if (!t->run && t->number <= 0) {
		if (t->number == 0 || f->reached[t->event] < -t->number)
			return false;
		merge(here, &f->events[t->event][-t->number]);
	}
	here->tasks[queue]++;
	if (!t->run && t->number > 0) {
		f->reached[t->event] = t->number;
		f->events[t->event][t->number] = *here;
	}
	return true;
}

static bool could_be_captured(const struct executor *e)
{
	struct follower f = {.d = (const struct deferred *)e};
	bool going = true, whole = true;

	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		f.events[i] = xcalloc((size_t)f.d->recorded[i] + 1, sizeof *f.events[i]);
	while (going) {
		going = false;
		for (int queue = 0; queue < QUEUE_COUNT; queue++)
			while (follow_head(&f, queue))
				going = true;
	}
	for (int queue = 0; queue < QUEUE_COUNT; queue++) {
		const int64_t count = f.d->queues[queue].count;
		if (f.queues[queue].tasks[queue] < count)
			diag("queue %d waits for an event of another call", queue);
		if (f.queues[QUEUE_MAIN].tasks[queue] < count)
			diag("QUEUE_MAIN does not wait for all of queue %d", queue);
		whole = whole && f.queues[queue].tasks[queue] == count &&
		        f.queues[QUEUE_MAIN].tasks[queue] == count;
	}
	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		free(f.events[i]);
	return whole;
}

/* The check sees both faults. */
static void test_check(struct executor *host)
{
	struct executor *e = deferred_new(host, 0);
	struct matrix a = {NULL, 0, 4, 4, 4, SINGLE};

	ok(ex_fill(e, WHOLE, 0, 0, a) && could_be_captured(e), "one queue alone can be captured");
	ex_record(e, 1);
	e->queue = QUEUE_PANEL;
	ok(ex_wait(e, 1) && ex_fill(e, WHOLE, 0, 0, a) && ex_record(e, 2) && !could_be_captured(e),
	        "another queue that nobody waits for cannot");
	e->queue = QUEUE_MAIN;
	ok(ex_wait(e, 2) && could_be_captured(e), "another queue that QUEUE_MAIN waits for can");
	ok(ex_wait(e, 3) && !could_be_captured(e),
	        "a wait for an event that nobody has recorded cannot");
	executor_free(e);
}

/* ---- the algorithms ---- */

static struct executor *like_a_gpu(struct executor *host)
{
	struct executor *e = deferred_new(host, 0);

	executor_tune(e, tuning_hopper.device, true, true);
	for (int i = 0; i < 2; i++) {
		e->deferred_most[i] = INT32_MAX;
		e->rows_most[i] = EXECUTOR_LU_ROWS;
	}
	return e;
}

static bool queue(struct executor *e, enum operation operation, struct matrix a)
{
	struct matrix tau = {NULL, 0, a.n, 1, a.n, a.precision};
	const struct whole whole = {.operation = operation, .uplo = LOWER, .math = e->math};
	struct pivots pivots = {NULL, a.n};
	struct default_plan chosen;

	plan_default(e, operation, a.m, a.n, a.precision, false, &chosen);
	return whole_run(e, &whole, &chosen.plan, a, NULL, pivots, tau, NULL);
}

static void test_factorization(
        struct executor *host, enum operation operation, int64_t m, int64_t n, enum math math)
{
	bool good = true;

	for (int i = 0; i < 4; i++) {
		struct executor *e = like_a_gpu(host);
		struct matrix a = {
		        NULL, 0, m, n, m + i % 2, i < 2 ? SINGLE : DOUBLE}; /* aligned or not */
		e->math = math;
		good = queue(e, operation, a) && could_be_captured(e) && good;
		if (*e->fault.text)
			diag("%s", e->fault.text);
		executor_free(e);
	}
	ok(good, "%s of %d x %d%s", operation_name[operation], (int)m, (int)n, math_title[math]);
}

static void test_changes(struct executor *host)
{
	enum { M = 1000, N = 400, ROOM = 1100, P = 37, K = 11 };
	const struct matrix wide = {NULL, 0, M, P, M, SINGLE}, b = {NULL, 0, M, 2, M, SINGLE},
	                    v = {NULL, 0, N, P, N, SINGLE}, rows = {NULL, 0, P, N, P, SINGLE},
	                    sides = {NULL, 0, P, 2, P, SINGLE};

	for (int i = QR_REMOVE_COLUMNS; i <= QR_MODIFY; i++) {
		struct executor *e = like_a_gpu(host);
		struct matrix room = {NULL, 0, ROOM, ROOM, ROOM, SINGLE};
		struct matrix d = {NULL, 0, ROOM, 2, ROOM, SINGLE};
		struct fixture s = {
		        .e = e, .calls = &qr_update_calls, .f = {M, N, Q_FULL, room, room, d}};
		const bool of_rows = i == QR_ADD_ROWS || i == QR_REMOVE_ROWS;
		ok(s.calls->change(s.e, &s.f, (enum qr_change)i, K, P, of_rows ? rows : wide, v,
		           of_rows ? sides : b, NULL, NULL) &&
		                could_be_captured(e),
		        "%s of a QR", qr_change_name[i]);
		if (*e->fault.text)
			diag("%s", e->fault.text);
		executor_free(e);
	}
}

int main(void)
{
	static const int64_t sizes[][2] = {{300, 300}, {1500, 1500}, {2501, 2501}, {5000, 5000},
	        {9000, 9000}, {40000, 100}, {9000, 1000}, {1000, 9000}};
	struct fault fault;
	struct executor *host = executor_host_new(&fault);

	test_check(host);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (enum math math = MATH_FP32; math < MATHS; math++) {
			const int64_t m = sizes[i][0], n = sizes[i][1];
			test_factorization(host, GETRF, m, n, math);
			test_factorization(host, GEQRF, m, n, math);
			if (m == n)
				test_factorization(host, POTRF, n, n, math);
		}
	test_changes(host);
	executor_free(host);
	return finish();
}
