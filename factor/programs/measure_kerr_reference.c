/* SPDX-License-Identifier: MIT */
/* The references of `measure --kerr`: QR with the whole Q by cuSOLVER on the GPU and by LAPACK on
 * the host, on the same matrices. */
#include "measure_kerr.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "factor/validation/fixture.h"

#include <cblas.h>
#include <inttypes.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

/* ---- cuSOLVER ---- */

struct vendor_runs {
	struct kerr_bench *b;
	struct matrix tau;
	struct fault *fault;
};

static bool run_vendor(void *context, size_t i, double *seconds)
{
	const struct vendor_runs *r = context;
	struct kerr_bench *b = r->b;
	struct executor *e = b->e;

	(void)i;
	if (!e->ops->duplicate(e, b->a0, b->a) || !e->ops->sync(e)) {
		*r->fault = e->fault;
		return false;
	}
	const double start = clock_now();
	const bool ok = vendor_whole_q(b->measure->vendor, b->a, r->tau, b->q, r->fault);
	*seconds = clock_now() - start;
	return ok;
}

/* As our runs. */
static size_t run_vendor_all(
        struct kerr_bench *b, struct matrix tau, struct fault *fault, double sample[KERR_RUNS])
{
	struct vendor_runs runs = {b, tau, fault};
	const bool warm = b->vendor_warm;
	size_t count = 0;

	b->vendor_warm = true;
	return vendor_whole_q_prepare(b->measure->vendor, b->a, tau, b->q, fault) &&
	                       kerr_bench_runs(b->measure, run_vendor, &runs, warm, sample, &count)
	               ? count
	               : 0;
}

void measure_kerr_vendor(struct kerr_bench *b)
{
	struct kerr_row row = kerr_bench_row(b, "cusolver", "total", 0);
	double phase[KERR_PHASES], sample[KERR_RUNS];
	struct kerr_errors errors;
	struct fault fault = {.text = ""};
	struct matrix tau;

	row.flops = kerr_count(row.m, row.n, KERR_TABLE_R, phase);
	if (kerr_rows_find(b->rows, &row))
		return;
	const size_t count = fixture_matrix(&b->memory, &tau, row.n, 1, row.n, SINGLE)
	                             ? run_vendor_all(b, tau, &fault, sample)
	                             : 0;
	if (*b->measure->plan.stop)
		return;
	if (count && kerr_errors(b->e, b->a0, b->a, b->q, &b->room, &errors)) {
		kerr_bench_add(b, &row, sample, count, &errors);
		return;
	}
	msg_warn("cuSOLVER at %" PRId64 " rows: %s", row.m,
	        fault.text[0] ? fault.text : b->e->fault.text);
	b->measure->failed++;
}

/* ---- LAPACK on the host ---- */

/* The paper's reference: LAPACK's geqrf, and ormqr applied to the unit matrix, on 1, 2, 4 and all
 * threads of the host. */
struct factors {
	float *a, *q, *tau;
};

struct host_runs {
	const struct kerr_bench *b;
	const struct factors *f;
};

/* The time includes the unit matrix, as on the GPU. */
static bool run_host(void *context, size_t i, double *seconds)
{
	const struct host_runs *r = context;
	const struct factors *f = r->f;
	const int m = (int)r->b->a0.m, n = (int)r->b->a0.n;

	(void)i;
	memcpy(f->a, r->b->host, (size_t)m * (size_t)n * sizeof *f->a);
	double start = clock_now();
	memset(f->q, 0, (size_t)m * (size_t)m * sizeof *f->q);
	for (size_t d = 0; d < (size_t)m; d++)
		f->q[d * ((size_t)m + 1)] = 1;
	bool ok =
	        LAPACKE_sgeqrf(LAPACK_COL_MAJOR, m, n, f->a, m, f->tau) == 0 &&
	        LAPACKE_sormqr(LAPACK_COL_MAJOR, 'L', 'N', m, m, n, f->a, m, f->tau, f->q, m) == 0;
	*seconds = clock_now() - start;
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
	struct host_runs runs = {b, f};
	size_t count;

	row.threads = threads;
	row.flops = kerr_count(m, row.n, KERR_TABLE_R, phase);
	if (kerr_rows_find(b->rows, &row) || expected > left)
		return;
	openblas_set_num_threads(threads);
	const bool ok = kerr_bench_runs(b->measure, run_host, &runs, true, sample, &count);
	openblas_set_num_threads(1);
	if (count == 0 && ok) /* interrupted */
		return;
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

void measure_kerr_lapack(struct kerr_bench *b)
{
	int64_t m = b->a0.m, n = b->a0.n;
	const int threads[KERR_THREADS] = {1, 2, 4, executor_host_threads()};
	struct factors f = {xmalloc((size_t)(m * n) * sizeof(float)),
	        xmalloc((size_t)(m * m) * sizeof(float)), xmalloc((size_t)n * sizeof(float))};

	/* its pages are there before the first run, which counts where it is long */
	memset(f.q, 0, (size_t)(m * m) * sizeof *f.q);
	for (int t = KERR_THREADS - 1; t >= 0 && !measure_over(b->measure); t--)
		if (t == KERR_THREADS - 1 || threads[t] < threads[KERR_THREADS - 1])
			measure_threads(b, &f, t, threads[t]);
	free(f.a);
	free(f.q);
	free(f.tau);
}
