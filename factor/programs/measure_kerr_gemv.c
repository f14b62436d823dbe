/* SPDX-License-Identifier: MIT */
/* The paper's Figure 2: A x for a square A, by calls in a row of cuBLAS, of the paper's kernel and
 * of our tuned one. */
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

enum kernel { CUBLAS, PAPER, TUNED, KERNELS };
static const char *const names[KERNELS] = {"gemv_cublas", "gemv_kerr", "gemv_tuned"};

struct gemv_bench {
	struct kerr_bench *b;
	struct executor *e;
	struct matrix x, y;
	struct gemv_call call;
	struct gemv_plan plan;
	void *work;
	float *first, *result; /* of cuBLAS, and of the current kernel, on the host */
};

static bool call_once(struct gemv_bench *g, enum kernel kernel)
{
	if (kernel == CUBLAS)
		return ex_gemv(g->e, PLAIN, 1, g->b->q, g->x, 0, g->y);
	return launched(g->e,
	        kernel == TUNED ? gemv_tuned(&g->call, &g->plan, g->work, stream(g->e))
	                        : kerr_gemv(&g->call, stream(g->e)),
	        names[kernel]);
}

/* Seconds of one call of CALLS in a row. */
static bool call_all(struct gemv_bench *g, enum kernel kernel, double *seconds)
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

/* Against cuBLAS, which runs first. */
static bool check(struct gemv_bench *g, enum kernel kernel)
{
	struct executor *e = g->e;
	float *to = kernel == CUBLAS ? g->first : g->result;
	double worst = 0, largest = 0;

	if (!e->ops->download(e, g->y, to, g->y.m))
		return false;
	for (int64_t i = 0; i < g->y.m; i++) {
		double error = fabs((double)to[i] - (double)g->first[i]);
		worst = isnan(worst) || error <= worst ? worst : error;
		largest = fmax(largest, fabs((double)g->first[i]));
	}
	return worst <= tolerance * largest ||
	       fault_set(&e->fault, "off by %.3g of %.3g", worst, largest);
}

static void measure_kernel(struct gemv_bench *g, enum kernel kernel)
{
	struct kerr_row row = kerr_bench_row(g->b, names[kernel], "gemv", 0);
	double sample[KERR_RUNS + 1] = {0}, m = (double)g->call.m;
	bool good = true;

	row.n = row.m;
	row.flops = 2 * m * m + 2 * m;
	if (kerr_rows_find(g->b->rows, &row))
		return;
	/* the first sample loads code */
	for (int i = 0; i <= KERR_RUNS && good; i++)
		good = call_all(g, kernel, &sample[i]);
	if (good && check(g, kernel)) {
		row.seconds = stats_median_interval(sample + 1, KERR_RUNS);
		row.predicted =
		        kernel == PAPER ? NAN : kerr_gemv_predicted(g->b, kernel == TUNED, CALLS);
	} else {
		snprintf(row.note, sizeof row.note, "%.120s", g->e->fault.text);
		g->b->measure->failed++;
	}
	kerr_rows_add(g->b->rows, &row);
}

/* Some dense matrix, and the tuned kernel's memory. */
static bool prepare(struct gemv_bench *g)
{
	struct executor *e = g->e;

	g->plan = gemv_plan(&g->call, &e->tuning);
	const int64_t bytes = max_int64(gemv_work(&g->plan, SINGLE), GEMV_COUNTERS);
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
	if (!prepare(&g))
		msg_warn("gemv: %s", b->e->fault.text);
	else
		for (int k = 0; k < KERNELS; k++)
			measure_kernel(&g, (enum kernel)k);
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
