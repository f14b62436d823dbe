/* SPDX-License-Identifier: MIT */
/* The paper's reference: LAPACK's geqrf, and ormqr applied to the unit matrix, on 1, 2, 4 and all
 * threads of the host. */
#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "measure_kerr.h"

#include <cblas.h>
#include <inttypes.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct factors {
	float *a, *q, *tau;
};

static void unit_matrix(float *q, int64_t m)
{
	memset(q, 0, (size_t)(m * m) * sizeof *q);
	for (int64_t i = 0; i < m; i++)
		q[i + i * m] = 1;
}

/* The time includes the unit matrix, as on the GPU. */
static bool run_once(const struct kerr_bench *b, const struct factors *f, double *seconds)
{
	int m = (int)b->a0.m, n = (int)b->a0.n;

	memcpy(f->a, b->host, (size_t)m * (size_t)n * sizeof *f->a);
	double start = clock_now();
	unit_matrix(f->q, m);
	bool ok =
	        LAPACKE_sgeqrf(LAPACK_COL_MAJOR, m, n, f->a, m, f->tau) == 0 &&
	        LAPACKE_sormqr(LAPACK_COL_MAJOR, 'L', 'N', m, m, n, f->a, m, f->tau, f->q, m) == 0;
	*seconds = clock_now() - start;
	return ok;
}

static bool run_all(
        struct kerr_bench *b, const struct factors *f, double sample[KERR_RUNS], size_t *count)
{
	double spent = 0, enough = b->measure->plan.max_seconds;
	bool ok = true;

	for (*count = 0; ok && *count < KERR_RUNS && spent < enough; (*count)++) {
		ok = run_once(b, f, &sample[*count]);
		spent += sample[*count];
	}
	return ok;
}

static void measure_threads(struct kerr_bench *b, const struct factors *f, int t, int threads)
{
	struct kerr_row row = kerr_bench_row(b, "lapack", "total", 0);
	int64_t m = row.m;
	double growth = b->before[t].m ? (double)m / (double)b->before[t].m : 0;
	double expected = b->before[t].seconds * growth * growth * growth;
	double left = b->measure->budget - (clock_now() - b->measure->start), sample[KERR_RUNS];
	double phase[KERR_PHASES];
	struct kerr_errors errors;
	size_t count = 0;

	row.threads = threads;
	row.flops = kerr_count(m, row.n, KERR_TABLE_R, phase);
	if (kerr_rows_find(b->rows, &row) || expected > left)
		return;
	openblas_set_num_threads(threads);
	bool ok = run_all(b, f, sample, &count);
	openblas_set_num_threads(1);
	if (!ok || !b->e->ops->upload(b->e, f->a, m, b->a) ||
	        !b->e->ops->upload(b->e, f->q, m, b->q) ||
	        !kerr_errors(b->e, b->a0, b->a, b->q, &b->room, &errors)) {
		msg_warn("LAPACKE at %" PRId64 " rows: %s", m, ok ? b->e->fault.text : "refused");
		b->measure->failed++;
		return;
	}
	kerr_bench_add(b, &row, sample, count, &errors);
	b->before[t].seconds = stats_median(sample, count);
	b->before[t].m = m;
}

void measure_kerr_host(struct kerr_bench *b)
{
	int64_t m = b->a0.m, n = b->a0.n;
	const int threads[KERR_THREADS] = {1, 2, 4, executor_host_threads()};
	struct factors f = {xmalloc((size_t)(m * n) * sizeof(float)),
	        xmalloc((size_t)(m * m) * sizeof(float)), xmalloc((size_t)n * sizeof(float))};

	for (int t = KERR_THREADS - 1; t >= 0 && !measure_over(b->measure); t--)
		if (t == KERR_THREADS - 1 || threads[t] < threads[KERR_THREADS - 1])
			measure_threads(b, &f, t, threads[t]);
	free(f.a);
	free(f.q);
	free(f.tau);
}
