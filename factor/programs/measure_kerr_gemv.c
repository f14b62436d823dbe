/* SPDX-License-Identifier: MIT */
/* The paper's Figure 2: A x for a square A, by calls in a row of cuBLAS, of the paper's kernel and
 * of our tuned one. */
#include "measure_kerr.h"

#ifdef FATHOM_CUDA
#include "lib/base/msg.h"
#include "factor/kernels/gemv/gemv.h"
#include "factor/model/simulation/executor_model.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum { CALLS = 20 };
static const double tolerance = 1e-4; /* of the largest element of the result */

enum kernel { CUBLAS, PAPER, TUNED, KERNELS };
static const char *const names[KERNELS] = {"gemv_cublas", "gemv_kerr", "gemv_tuned"};

struct gemv_bench {
	struct kerr_bench *b;
	struct matrix x, y;
	struct gemv_call call;
	struct gemv_plan plan;
	void *work;
	cudaEvent_t event[2];
	float *first, *result; /* of cuBLAS, and of the current kernel, on the host */
};

static bool cuda_ok(int error, struct fault *fault)
{
	return error == cudaSuccess ||
	       fault_set(fault, "CUDA: %s", cudaGetErrorString((cudaError_t)error));
}

static bool call_library(struct gemv_bench *g, double *seconds, struct fault *fault)
{
	struct executor *e = g->b->e;
	bool good = e->ops->mark(e, 0);

	e->blas_only = true;
	for (int i = 0; i < CALLS && good; i++)
		good = ex_gemv(e, PLAIN, 1, g->b->q, g->x, 0, g->y);
	e->blas_only = false;
	good = good && e->ops->mark(e, 1) && e->ops->elapsed(e, 0, 1, seconds);
	return good || fault_set(fault, "%s", e->fault.text);
}

static bool call_own(struct gemv_bench *g, bool tuned, double *seconds, struct fault *fault)
{
	float milliseconds = 0;
	bool good = cuda_ok(cudaEventRecord(g->event[0], NULL), fault);

	for (int i = 0; i < CALLS && good; i++)
		good = cuda_ok(tuned ? gemv_tuned(&g->call, &g->plan, g->work, NULL)
		                     : gemv_kerr(&g->call, NULL),
		        fault);
	good = good && cuda_ok(cudaEventRecord(g->event[1], NULL), fault) &&
	       cuda_ok(cudaEventSynchronize(g->event[1]), fault) &&
	       cuda_ok(cudaEventElapsedTime(&milliseconds, g->event[0], g->event[1]), fault);
	*seconds = (double)milliseconds * 1e-3;
	return good;
}

/* Against cuBLAS, which runs first. */
static bool check(struct gemv_bench *g, enum kernel kernel, struct fault *fault)
{
	struct executor *e = g->b->e;
	float *to = kernel == CUBLAS ? g->first : g->result;
	double worst = 0, largest = 0;

	if (!e->ops->download(e, g->y, to, g->y.m))
		return fault_set(fault, "%s", e->fault.text);
	for (int64_t i = 0; i < g->y.m; i++) {
		double error = fabs((double)to[i] - (double)g->first[i]);
		worst = isnan(worst) || error <= worst ? worst : error;
		largest = fmax(largest, fabs((double)g->first[i]));
	}
	return worst <= tolerance * largest ||
	       fault_set(fault, "off by %.3g of %.3g", worst, largest);
}

/* From the surfaces of cuBLAS and of the tuned kernel; the paper's kernel has none. */
static double predict(const struct gemv_bench *g, enum kernel kernel)
{
	if (!g->b->profile || kernel == PAPER)
		return NAN;
	struct executor *e = executor_model_new(g->b->profile, MODEL_CUDA, 2);
	int64_t m = g->call.m;
	struct matrix a = {NULL, 0, m, m, m, SINGLE}, v = {NULL, 0, m, 1, m, SINGLE};
	double seconds = NAN;
	bool good = e->ops->mark(e, 0);

	if (kernel == TUNED)
		good = good && cost_known(executor_model_reader(e), "gpu.own_gemv.s.n");
	e->blas_only = kernel == CUBLAS;
	for (int i = 0; i < CALLS && good; i++)
		good = ex_gemv(e, PLAIN, 1, a, v, 0, v);
	if (!good || !e->ops->mark(e, 1) || !e->ops->elapsed(e, 0, 1, &seconds))
		seconds = NAN;
	executor_free(e);
	return seconds / CALLS;
}

static void measure_kernel(struct gemv_bench *g, enum kernel kernel)
{
	struct kerr_row row = kerr_bench_row(g->b, names[kernel], "gemv", 0);
	double sample[KERR_RUNS + 1], m = (double)g->call.m;
	struct fault fault = {""};
	bool good = true;

	row.n = row.m;
	row.flops = 2 * m * m + 2 * m;
	if (kerr_rows_find(g->b->rows, &row))
		return;
	/* the first sample loads code */
	for (int i = 0; i <= KERR_RUNS && good; i++) {
		good = kernel == CUBLAS ? call_library(g, &sample[i], &fault)
		                        : call_own(g, kernel == TUNED, &sample[i], &fault);
		sample[i] /= CALLS;
	}
	if (good && check(g, kernel, &fault)) {
		row.seconds = stats_median_interval(sample + 1, KERR_RUNS);
		row.predicted = predict(g, kernel);
	} else {
		snprintf(row.note, sizeof row.note, "%.120s", fault.text);
		g->b->measure->failed++;
	}
	kerr_rows_add(g->b->rows, &row);
}

static bool prepare(struct gemv_bench *g, struct fault *fault)
{
	struct kerr_bench *b = g->b;
	int64_t bytes;

	g->plan = gemv_plan(&g->call, &b->measure->gpu);
	bytes = gemv_work(&g->plan, SINGLE);
	if (bytes < GEMV_COUNTERS)
		bytes = GEMV_COUNTERS;
	return cuda_ok(cudaMalloc(&g->work, (size_t)bytes), fault) &&
	       cuda_ok(cudaMemset(g->work, 0, (size_t)bytes), fault) &&
	       cuda_ok(cudaEventCreate(&g->event[0]), fault) &&
	       cuda_ok(cudaEventCreate(&g->event[1]), fault) &&
	       cuda_ok(cudaDeviceSynchronize(), fault);
}

void measure_kerr_gemv(struct kerr_bench *b)
{
	int64_t m = b->q.m;
	struct gemv_bench g = {
	        .b = b, .x = matrix_view(b->a0, 0, 0, m, 1), .y = matrix_view(b->a, 0, 0, m, 1)};
	struct fault fault = {""};

	g.call = (struct gemv_call){SINGLE, false, m, m, 1, matrix_address(b->q), m,
	        matrix_address(g.x), 1, 0, matrix_address(g.y), 1};
	g.first = xmalloc((size_t)m * sizeof *g.first);
	g.result = xmalloc((size_t)m * sizeof *g.result);
	b->e->queue = QUEUE_MAIN;
	/* some dense matrix */
	bool good = ex_gemm(b->e, PLAIN, TRANSPOSED, 1, b->a0, b->a0, 0, b->q) &&
	            b->e->ops->sync(b->e) && prepare(&g, &fault);
	for (int k = 0; k < KERNELS && good; k++)
		measure_kernel(&g, (enum kernel)k);
	if (!good)
		msg_warn("gemv: %s", fault.text);
	for (int i = 0; i < 2; i++)
		if (g.event[i])
			cudaEventDestroy(g.event[i]);
	cudaFree(g.work);
	free(g.first);
	free(g.result);
}
#else
void measure_kerr_gemv(struct kerr_bench *b)
{
	(void)b;
}
#endif
