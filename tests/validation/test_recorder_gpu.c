/* SPDX-License-Identifier: MIT */
/* The recorder around the cuda executor: the bits that come out without it, records in order, and
 * clocks that agree: nothing ends before the host has asked for it, or after it has seen the end.
 */
#include "recorder_test.h"

enum { N = 700, M = 1000 };

static const int64_t by_64[] = {64}, by_256[] = {256};

static const struct plan plans[] = {
        {false, "persistent", by_64, 1, 64, 0, 1},
        {false, "persistent", by_256, 1, 64, 128, 1},
        {false, "fused", by_64, 1, 64, 0, 0},
        {false, "optimized", by_64, 1, 64, 0, 0},
        {true, NULL, by_64, 1, 64, 64, 1},
};

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

static void test_plan(struct executor *cuda, struct executor *recorder, enum operation operation,
        enum precision precision, const struct plan *plan)
{
	int64_t m = operation == POTRF ? N : M;
	struct factored plain = recorder_factorize(cuda, operation, plan, precision, m, N);
	bool started = recorder_start(recorder);
	struct factored recorded = recorder_factorize(recorder, operation, plan, precision, m, N);
	struct timeline *t = recorder_timeline(recorder, "recorded");
	double clocks = recorder_uncertainty(recorder);

	ok(started && same_bits(&plain, &recorded), "%c%s, panels %s: the same bits",
	        (char)precision, operation_name[operation], plan->panel ? plan->panel : "host");
	ok(t && timeline_in_order(t), "its records are in order");
	ok(t && earliest(t) < 20e-6, "the clocks agree: %.1f us, aligned to +- %.1f us",
	        t ? earliest(t) * 1e6 : NAN, clocks * 1e6);
	if (t) {
		struct exposure x = timeline_expose(t);
		double sum = 0;
		for (int o = 0; o < CRITICAL_COUNT; o++)
			sum += x.critical[o];
		is_real(sum, t->seconds, 1e-9, "the shares sum up to the whole time");
	}
	timeline_free(t);
	factored_free(&plain);
	factored_free(&recorded);
}

int main(void)
{
	struct fault fault = {""};
	struct executor *cuda = executor_cuda_new("0", &fault);

	if (!cuda) {
		printf("1..0 # SKIP %s\n", fault.text);
		return 0;
	}
	struct executor *recorder = recorder_new(cuda);
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		for (int o = 0; o < OPERATION_COUNT; o++) {
			test_plan(cuda, recorder, (enum operation)o, SINGLE, &plans[i]);
			if (i == 1)
				test_plan(cuda, recorder, (enum operation)o, DOUBLE, &plans[i]);
		}
	executor_free(recorder);
	executor_free(cuda);
	return finish();
}
