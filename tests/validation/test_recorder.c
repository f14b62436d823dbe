/* SPDX-License-Identifier: MIT */
/* The recorder around the host executor: the same bits come out, and its records are those that the
 * model executor makes of the same plan: queue, phase, operation, shape, block, one by one. The
 * marks are made up, a millisecond each, so that every operation takes time. Around the cuda
 * executor: the same bits, records in order, and clocks that agree: nothing ends before the host
 * has asked for it. */
#include "tests/algorithms/factor_test.h"
#include "tests/model/model_profile.h"

#include "factor/model/predictions/model_factor.h"
#include "factor/validation/fixture.h"
#include "factor/validation/recorder.h"
#include "factor/validation/whole.h"

enum { FEWEST_RECORDS = 8 };

struct factored {
	void *a, *tau; /* on the host */
	size_t bytes, tau_bytes;
	int *ipiv, info;
	bool ran;
};

static void factored_free(struct factored *f)
{
	free(f->a);
	free(f->tau);
	free(f->ipiv);
}

static bool same_bits(const struct factored *a, const struct factored *b)
{
	return a->ran && b->ran && a->bytes == b->bytes && memcmp(a->a, b->a, a->bytes) == 0 &&
	       a->info == b->info && memcmp(a->tau, b->tau, a->tau_bytes) == 0;
}

/* Symmetric and positive definite for Cholesky. */
static void make_matrix(
        void *a, enum operation operation, enum precision precision, int64_t m, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double definite = test_random(1, i + j) + (i == j ? 2 * (double)n : 0);
			double any = test_random(2 + (uint64_t)j, i);
			put(a, i + j * m, precision, operation == POTRF ? definite : any);
		}
}

/* Of an m x n matrix on e, whose clock a recorder has to start itself. */
static struct factored factorize(struct executor *e, enum operation operation,
        const struct plan *plan, enum precision precision, int64_t m, int64_t n)
{
	int64_t k = m < n ? m : n, w = precision_bytes(precision);
	struct factored f = {.bytes = (size_t)(m * n * w), .tau_bytes = (size_t)(k * w)};
	struct whole whole = {.operation = operation, .uplo = LOWER};
	struct timing_fixture memory = {.executor = e};
	struct matrix a, tau;
	void *work = NULL, *integers = NULL;

	f.a = xmalloc(f.bytes);
	f.tau = xcalloc(1, f.tau_bytes);
	f.ipiv = xcalloc((size_t)k, sizeof *f.ipiv);
	make_matrix(f.a, operation, precision, m, n);
	f.ran = fixture_matrix(&memory, &a, m, n, m, precision) &&
	        fixture_matrix(&memory, &tau, k, 1, k, precision) &&
	        fixture_alloc(&memory, (k + 1) * (int64_t)sizeof(int), &integers) &&
	        fixture_alloc(&memory, whole_work(e, &whole, plan, a), &work) &&
	        e->ops->upload(e, f.a, m, a) && e->ops->upload(e, f.tau, k, tau);
	struct pivots p = {integers, k}, none = {integer_at(integers, k), 0};
	f.ran = f.ran && whole_run(e, &whole, plan, a, work, p, tau, NULL) && e->ops->sync(e) &&
	        e->ops->download(e, a, f.a, m) && e->ops->download(e, tau, f.tau, k) &&
	        (operation == GEQRF ||
	                e->ops->read_pivots(e, operation == GETRF ? p : none, f.ipiv, &f.info));
	if (!f.ran)
		diag("%s", e->fault.text);
	fixture_close(&memory);
	return f;
}

/* Entries end after they begin, those of a lane follow each other, the whole covers all. */
static bool in_order(const struct timeline *t)
{
	double last[LANE_COUNT] = {0};
	bool good = true;

	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_entry *e = &t->entry[i];
		good = good && e->begin >= 0 && e->begin < e->end && e->end <= t->seconds;
		if (e->begin < last[e->lane] - 1e-12) {
			diag("%s %s begins %.3f us before the one before it ends",
			        lane_name[e->lane], e->operation, (last[e->lane] - e->begin) * 1e6);
			good = false;
		}
		last[e->lane] = e->end;
	}
	return good;
}

static const int64_t by_64[] = {64}, by_128[] = {128}, by_256[] = {256}, growing[] = {32, 64, 128};

static const struct plan plans[] = {
        {false, "persistent", by_64, 1, 64, 0, .lookahead = 0},
        {false, "persistent", growing, 3, 32, 32, .lookahead = 1},
        {false, "fused", by_64, 1, 64, 0, .lookahead = 1},
        {true, NULL, by_128, 1, 64, 0, .lookahead = 0},
        {true, NULL, growing, 3, 64, 64, .lookahead = 1},
};

static const struct plan gpu_plans[] = {
        {false, "persistent", by_64, 1, 64, 0, .lookahead = 1},
        {false, "persistent", by_256, 1, 64, 128, .lookahead = 1},
        {false, "fused", by_64, 1, 64, 0, .lookahead = 0},
        {false, "optimized", by_64, 1, 64, 0, .lookahead = 0},
        {true, NULL, by_64, 1, 64, 64, .lookahead = 1},
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

/* As the model's records of the same plan. */
static void test_records(const struct profile *profile, const struct timeline *t,
        enum operation operation, const struct plan *plan, int64_t m, int64_t n)
{
	struct factor_question asked = {.operation = operation_name[operation],
	        .plan = plan,
	        .m = m,
	        .n = n,
	        .precision = SINGLE,
	        .uplo = LOWER};
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &asked, 2);

	model_factor_run(e, &asked);
	struct timeline *model = executor_model_timeline(e, "simulated");
	ok(t && same_records(model, t), "and the model's, one by one");
	executor_free(e);
	timeline_free(model);
}

/* Seconds by which an operation ends before the host's call of it began; < 0: none does. */
static double earliest(const struct timeline *t)
{
	double most = -1, called = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_entry *e = &t->entry[i];
		if (e->operation == timeline_queueing)
			called = e->begin;
		else if (e->lane != LANE_HOST && called - e->end > most)
			most = called - e->end;
	}
	return most;
}

static void test_clocks(const struct executor *recorder, const struct timeline *t)
{
	const struct exposure x = timeline_expose(t);
	double sum = 0;

	ok(earliest(t) < 20e-6, "the clocks agree: %.1f us, aligned to +- %.1f us",
	        earliest(t) * 1e6, recorder_uncertainty(recorder) * 1e6);
	for (int o = 0; o < CRITICAL_COUNT; o++)
		sum += x.critical[o];
	is_real(sum, t->seconds, 1e-9, "the shares sum up to the whole time");
}

/* profile: of the model; NULL: a real device, with clocks. */
static void test_plan(struct executor *e, struct executor *recorder, const struct profile *profile,
        enum operation operation, enum precision precision, const struct plan *plan)
{
	const int64_t n = profile ? 300 : test_at_most(700, 300),
	              m = operation == POTRF ? n : n + (profile ? 100 : 300);
	struct factored plain = factorize(e, operation, plan, precision, m, n);
	bool started = recorder_start(recorder);
	struct factored recorded = factorize(recorder, operation, plan, precision, m, n);
	struct timeline *t = recorder_timeline(recorder, "recorded");

	ok(started && same_bits(&plain, &recorded), "%s, %c%s, panels on the %s, %s: the same bits",
	        e->name, (char)precision, operation_name[operation],
	        plan->hybrid ? "host" : "device",
	        plan->lookahead ? "look-ahead" : "one after the other");
	ok(t && in_order(t), "its records are in order");
	if (profile)
		test_records(profile, t, operation, plan, m, n);
	else if (t)
		test_clocks(recorder, t);
	timeline_free(t);
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
		if (e->lane == LANE_QUEUE + (int)QUEUE_MAIN)
			first = e;
		else if (e->lane == LANE_QUEUE + (int)QUEUE_PANEL)
			second = e;
		else if (e->lane == LANE_QUEUE + (int)QUEUE_OUT)
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
	struct plan plan = {false, "persistent", none, 1, 8, 0, .lookahead = 0};
	struct matrix a = {NULL, 0, 300, 300, 300, SINGLE};
	struct whole whole = {.operation = GETRF};

	ok(whole_work(recorder, &whole, &plan, a) < 0 && recorder->fault.text[0],
	        "a refusal comes through: %s", recorder->fault.text);
}

static void test_gpu(void)
{
	struct fault fault = {.text = ""};
	struct executor *cuda = executor_cuda_new("0", &fault);
	struct executor *recorder = cuda ? recorder_new(cuda) : NULL;

	if (!cuda)
		skip("the same on the GPU", fault.text);
	for (size_t i = 0; cuda && i < ARRAY_LEN(gpu_plans); i++)
		for (int o = 0; o < OPERATION_COUNT; o++)
			for (int p = 0; p < (i == 1 ? 2 : 1); p++)
				test_plan(cuda, recorder, NULL, (enum operation)o,
				        p ? DOUBLE : SINGLE, &gpu_plans[i]);
	executor_free(recorder);
	executor_free(cuda);
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
			test_plan(host, recorder, profile, (enum operation)o, SINGLE, &plans[i]);
	test_at_once(recorder);
	host->on_host = false; /* its queues as a device's */
	test_events(recorder);
	test_fault(recorder);
	executor_free(recorder);
	executor_free(host);
	profile_free(profile);
	test_gpu();
	return finish();
}
