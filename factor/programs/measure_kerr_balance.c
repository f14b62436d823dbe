/* SPDX-License-Identifier: MIT */
/* Columns of A on the host's cores while the device updates the others: the balance of CPU and GPU
 * that the paper leaves to future work. Shares of 0, some, and the one that the model chooses. */
#include "measure_kerr.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "factor/algorithms/geqrf.h"
#include "factor/model/predictions/model_kerr.h"
#include "factor/papers/kerr_balance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { WIDTH = GEQRF_LEAF_MAX };

struct shared_runs {
	struct kerr_bench *b;
	int64_t share;
	void *work;
};

static bool run_once(void *context, size_t i, double *seconds)
{
	const struct shared_runs *r = context;
	struct kerr_bench *b = r->b;
	struct executor *e = b->e;

	(void)i;
	e->queue = QUEUE_MAIN;
	if (!e->ops->duplicate(e, b->a0, b->a) || !ex_fill(e, WHOLE, NAN, NAN, b->q) ||
	        !e->ops->sync(e))
		return false;
	const double start = clock_now();
	const bool ok = kerr_balance(e, WIDTH, r->share, b->a, b->q, r->work) && e->ops->sync(e);
	*seconds = clock_now() - start;
	return ok;
}

/* The first run loads code and takes memory. */
static size_t run_all(struct kerr_bench *b, int64_t share, double sample[KERR_RUNS])
{
	struct executor *e = b->e;
	const int64_t bytes = kerr_balance_work(e, WIDTH, share, b->a, b->q);
	struct shared_runs runs = {b, share, NULL};
	size_t count = 0;
	const bool ok = bytes >= 0 && e->ops->alloc(e, bytes, &runs.work) &&
	                kerr_bench_runs(b->measure, run_once, &runs, false, sample, &count);

	if (runs.work)
		e->ops->release(e, runs.work);
	return ok ? count : 0;
}

static void measure_share(struct kerr_bench *b, int64_t share)
{
	struct kerr_row row = kerr_bench_row(b, "balance", "total", WIDTH);
	double phase[KERR_PHASES], sample[KERR_RUNS];
	struct kerr_errors errors;

	snprintf(row.phase, sizeof row.phase, "share_%" PRId64, share);
	row.flops = kerr_count(row.m, row.n, KERR_TABLE_R, phase);
	if (kerr_rows_find(b->rows, &row))
		return;
	if (b->profile)
		row.predicted = model_kerr_balance(b->profile, row.m, row.n, WIDTH, share);
	const size_t count = run_all(b, share, sample);
	if (*b->measure->plan.stop)
		return;
	if (count && kerr_errors(b->e, b->a0, b->a, b->q, &b->room, &errors)) {
		kerr_bench_add(b, &row, sample, count, &errors);
		return;
	}
	msg_warn("%" PRId64 " columns on the host at %" PRId64 " rows: %s", share, row.m,
	        b->e->fault.text);
	b->measure->failed++;
}

void measure_kerr_balance(struct kerr_bench *b)
{
	static const int64_t shares[] = {0, 64, 256};
	const int64_t n = b->a0.n;

	if (n < 2 * WIDTH)
		return;
	for (size_t i = 0; i < ARRAY_LEN(shares); i++)
		if (shares[i] <= n / 2 && !measure_over(b->measure))
			measure_share(b, shares[i]);
	if (b->profile && !measure_over(b->measure))
		measure_share(b, model_kerr_share(b->profile, b->a0.m, n, WIDTH));
}
