/* SPDX-License-Identifier: MIT */
/* The paper's Figure 2, A x for a square A, and A^T x, by calls in a row of cuBLAS, of the paper's
 * kernels and of our tuned ones. */
#include "measure_kerr.h"

#ifdef FATHOM_CUDA
#include "lib/base/msg.h"
#include "factor/executors/cuda/executor_cuda.h"
#include "factor/kernels/gemv/gemv.h"
#include "factor/papers/kerr_kernels.h"

#include <math.h>
#include <stdlib.h>

enum { CALLS = 20 };
static const double tolerance = 1e-4; /* of the largest element of the result */

static const char *const names[2][KERR_PRODUCTS] = {{"gemv_cublas", "gemv_kerr", "gemv_tuned"},
        {"gemv_t_cublas", "gemv_t_kerr", "gemv_t_tuned"}};

struct gemv_bench {
	struct kerr_bench *b;
	struct executor *e;
	struct matrix x, y;
	struct gemv_call call;
	struct gemv_plan plan;
	void *work;
	float *first, *result; /* of cuBLAS, and of the current kernel, on the host */
};

static bool call_once(struct gemv_bench *g, enum kerr_product kernel)
{
	if (kernel == KERR_CUBLAS)
		return ex_gemv(
		        g->e, g->call.transposed ? TRANSPOSED : PLAIN, 1, g->b->q, g->x, 0, g->y);
	return launched(g->e,
	        kernel == KERR_TUNED ? gemv_tuned(&g->call, &g->plan, g->work, stream(g->e))
	                             : kerr_gemv(&g->call, stream(g->e)),
	        names[g->call.transposed][kernel]);
}

/* Seconds of one call of CALLS in a row. */
static bool call_all(struct gemv_bench *g, enum kerr_product kernel, double *seconds)
{
	struct executor *e = g->e;
	bool good = e->ops->mark(e, 0);

	e->blas_only = true;
	for (int i = 0; i < CALLS && good; i++)
		good = call_once(g, kernel);
	e->blas_only = false;
	good = good && e->ops->mark(e, 1) && e->ops->elapsed(e, 0, 1, seconds);
	*seconds /= CALLS;
	return good;
}

/* The result to compare with. */
static bool run_reference(struct gemv_bench *g)
{
	g->e->blas_only = true;
	const bool good = call_once(g, KERR_CUBLAS);
	g->e->blas_only = false;
	return good && g->e->ops->download(g->e, g->y, g->first, g->y.m);
}

static bool check(struct gemv_bench *g)
{
	struct executor *e = g->e;
	double worst = 0, largest = 0;

	if (!e->ops->download(e, g->y, g->result, g->y.m))
		return false;
	for (int64_t i = 0; i < g->y.m; i++) {
		double error = fabs((double)g->result[i] - (double)g->first[i]);
		worst = isnan(worst) || error <= worst ? worst : error;
		largest = fmax(largest, fabs((double)g->first[i]));
	}
	return worst <= tolerance * largest ||
	       fault_set(&e->fault, "off by %.3g of %.3g", worst, largest);
}

static void measure_kernel(struct gemv_bench *g, enum kerr_product kernel)
{
	struct kerr_row row = kerr_bench_row(g->b, names[g->call.transposed][kernel], "gemv", 0);
	double sample[KERR_RUNS + 1] = {0}, m = (double)g->call.m;
	bool good = true;

	row.n = row.m;
	row.flops = 2 * m * m + 2 * m;
	if (kerr_rows_find(g->b->rows, &row))
		return;
	row.predicted = kerr_gemv_predicted(g->b, kernel, g->call.transposed, CALLS);
	/* the first sample loads code */
	for (int i = 0; i <= KERR_RUNS && good; i++)
		good = call_all(g, kernel, &sample[i]);
	if (good && check(g)) {
		row.seconds = stats_median_interval(sample + 1, KERR_RUNS);
	} else {
		snprintf(row.note, sizeof row.note, "%.120s", g->e->fault.text);
		g->b->measure->failed++;
	}
	kerr_rows_add(g->b->rows, &row);
}

/* The matrix as it is, or transposed. */
static void choose(struct gemv_bench *g, bool transposed)
{
	g->call.transposed = transposed;
	g->plan = gemv_plan(&g->call, &g->e->tuning);
}

/* Some dense matrix, and the tuned kernels' memory. */
static bool prepare(struct gemv_bench *g)
{
	struct executor *e = g->e;
	int64_t bytes = GEMV_COUNTERS;

	for (int t = 0; t < 2; t++) {
		choose(g, t);
		bytes = max_int64(gemv_work(&g->plan, SINGLE), bytes);
	}
	return ex_gemm(e, PLAIN, TRANSPOSED, 1, g->b->a0, g->b->a0, 0, g->b->q) &&
	       e->ops->alloc(e, bytes, &g->work) &&
	       cuda_ok(self(e), cudaMemsetAsync(g->work, 0, (size_t)bytes, stream(e)), "memset") &&
	       e->ops->sync(e);
}

void measure_kerr_gemv(struct kerr_bench *b)
{
	int64_t m = b->q.m;
	struct gemv_bench g = {.b = b,
	        .e = b->e,
	        .x = matrix_view(b->a0, 0, 0, m, 1),
	        .y = matrix_view(b->a, 0, 0, m, 1)};

	g.call = (struct gemv_call){SINGLE, false, m, m, 1, matrix_address(b->q), m,
	        matrix_address(g.x), 1, 0, matrix_address(g.y), 1};
	g.first = xmalloc((size_t)m * sizeof *g.first);
	g.result = xmalloc((size_t)m * sizeof *g.result);
	b->e->queue = QUEUE_MAIN;
	bool ready = prepare(&g);
	for (int t = 0; ready && t < 2; t++) {
		choose(&g, t);
		ready = run_reference(&g);
		for (int k = 0; ready && k < KERR_PRODUCTS; k++)
			measure_kernel(&g, (enum kerr_product)k);
	}
	if (!ready)
		msg_warn("gemv: %s", b->e->fault.text);
	if (g.work)
		b->e->ops->release(b->e, g.work);
	free(g.first);
	free(g.result);
}
#else
void measure_kerr_gemv(struct kerr_bench *b)
{
	(void)b;
}
#endif
