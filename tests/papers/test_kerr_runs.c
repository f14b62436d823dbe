/* SPDX-License-Identifier: MIT */
/* Which runs of `measure --kerr` count: not the first, which loads code and touches memory, unless
 * it is long and warm. LAPACK's runs are counted as ours. */
#include "tests/tap.h"

#include "factor/programs/measure_kerr.h"

#include "factor/executors/executor.h"
#include "factor/validation/fixture.h"

#include <lapacke.h>
#include <signal.h>

enum { ROWS = 32 };

static volatile sig_atomic_t never;
static int factorized;

/* In place of the library's: counts its calls, and factorizes nothing. */
lapack_int LAPACKE_sgeqrf(
        int layout, lapack_int m, lapack_int n, float *a, lapack_int lda, float *tau)
{
	(void)m, (void)a, (void)lda;
	for (lapack_int j = 0; j < n; j++)
		tau[j] = 0;
	factorized++;
	return layout == LAPACK_COL_MAJOR ? 0 : -1;
}

struct fake {
	double first, others;
	int runs;
};

static bool fake_run(void *context, size_t i, double *seconds)
{
	struct fake *fake = context;

	(void)i;
	*seconds = fake->runs++ ? fake->others : fake->first;
	return true;
}

static void test_runs(struct measure *m, struct fake fake, bool warm, size_t count, double first,
        const char *what)
{
	double sample[KERR_RUNS];
	size_t got = 99;
	const bool good = kerr_bench_runs(m, fake_run, &fake, warm, sample, &got);

	ok(good && got == count && sample[0] == first,
	        "%s: %zu of %d runs count, the first took %g s", what, got, fake.runs, sample[0]);
}

static void test_lapack(struct measure *m)
{
	struct kerr_bench *b = xcalloc(1, sizeof *b);

	b->measure = m;
	b->rows = kerr_rows_new();
	b->e = m->executor[1];
	b->memory.executor = b->e;
	b->host = xcalloc(ROWS * ROWS / 2, sizeof *b->host);
	bool good = fixture_matrix(&b->memory, &b->a0, ROWS, ROWS / 2, ROWS, SINGLE) &&
	            fixture_matrix(&b->memory, &b->a, ROWS, ROWS / 2, ROWS, SINGLE) &&
	            fixture_matrix(&b->memory, &b->q, ROWS, ROWS, ROWS, SINGLE) &&
	            kerr_room_take(&b->memory, ROWS, ROWS / 2, &b->room) &&
	            ex_fill(b->e, WHOLE, 0, 0, b->a0);
	measure_kerr_lapack(b);
	ok(good && b->rows->count > 0 && factorized == (int)b->rows->count * (1 + KERR_RUNS),
	        "LAPACK: %d runs for %zu numbers of threads", factorized, b->rows->count);
	fixture_close(&b->memory);
	kerr_rows_free(b->rows);
	free(b->host);
	free(b);
}

int main(void)
{
	struct fault fault = {.text = ""};
	static struct measure m = {
	        .plan = {.max_seconds = 0.25, .stop = &never}, .budget = INFINITY};

	test_runs(&m, (struct fake){0.125, 0.0625, 0}, false, 4, 0.0625, "short runs");
	test_runs(
	        &m, (struct fake){0.125, 0.03125, 0}, true, 5, 0.03125, "short runs, code loaded");
	test_runs(&m, (struct fake){8, 4, 0}, true, 1, 8, "a long run");
	test_runs(&m, (struct fake){8, 4, 0}, false, 1, 4, "a long run that loads code");
	m.executor[1] = executor_host_new(&fault);
	test_lapack(&m);
	executor_free(m.executor[1]);
	return finish();
}
