/* SPDX-License-Identifier: MIT */
/* QR that stops behind some blocks (plan.h): a factorization of the rest completes it. */
#include "factor/validation/whole.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 150, STOP = 96 };

static bool run(struct executor *e, const struct plan *plan, struct matrix a, float *tau)
{
	const struct whole whole = {.operation = GEQRF};
	const struct matrix t = {tau, 0, a.n, 1, a.n, SINGLE};
	void *work = malloc((size_t)max_int64(whole_work(e, &whole, plan, a), 1));
	const bool done =
	        whole_run(e, &whole, plan, a, work, (struct pivots){0}, t, NULL) && e->ops->sync(e);

	free(work);
	return done;
}

static void test_stop(bool hybrid)
{
	static float whole[N * N], part[N * N], tau[N], tau_part[N];
	static const int64_t widths[] = {64, 32, 30};
	struct fault fault;
	struct executor *e = executor_host_new(&fault);
	struct whole_plan parsed;
	char text[WHOLE_PLAN_TEXT];
	struct plan plan = {
	        .hybrid = hybrid, .widths = widths, .count = 3, .leaf = 64, .lookahead = 1};
	const struct matrix a = {whole, 0, N, N, N, SINGLE}, b = {part, 0, N, N, N, SINGLE};
	double worst = 0;

	srand(3);
	for (int i = 0; i < N * N; i++)
		whole[i] = part[i] = (float)rand() / (float)RAND_MAX - 0.5F;
	bool done = run(e, &plan, a, tau);
	plan.stop = STOP;
	done = done && run(e, &plan, b, tau_part);
	whole_plan_text(&(const struct whole){.operation = GEQRF}, &plan, text);
	whole_plan_parse(text, hybrid, widths[0], &parsed);
	const struct matrix rest = matrix_view(b, STOP, STOP, N - STOP, N - STOP);
	done = done && run(e,
	                       &(const struct plan){.hybrid = hybrid,
	                               .widths = &widths[2],
	                               .count = 1,
	                               .leaf = 64,
	                               .lookahead = 1},
	                       rest, tau_part + STOP);
	for (int i = 0; i < N * N; i++)
		worst = fmax(worst, fabs((double)whole[i] - (double)part[i]));
	for (int i = 0; i < N; i++)
		worst = fmax(worst, fabs((double)tau[i] - (double)tau_part[i]));
	ok(done && worst < 1e-5, "panels on %s: stopped, then the rest: %.1e",
	        hybrid ? "the CPU" : "the device", worst);
	ok(parsed.plan.stop == STOP && parsed.plan.count == 3, "as text: %s", text);
	plan.stop = -1;
	ok(whole_work(e, &(const struct whole){.operation = GEQRF}, &plan, a) < 0 &&
	                strstr(e->fault.text, "stop"),
	        "refused: %s", e->fault.text);
	executor_free(e);
}

int main(void)
{
	test_stop(false);
	test_stop(true);
	return finish();
}
