/* SPDX-License-Identifier: MIT */
#include "paper_operation_products.h"

#include "factor/kernels/gemm/gemm.h"
#include "factor/executors/cuda/executor_cuda.h"

/* ---- the paper's kernels ---- */

static struct volkov_call call_of(
        const struct paper_op_data *d, struct matrix a, struct matrix b, double beta)
{
	return (struct volkov_call){.m = d->problem.m,
	        .n = d->problem.n,
	        .k = d->problem.k,
	        .alpha = (float)PAPER_OP_ALPHA,
	        .a = matrix_address(a),
	        .lda = a.ld,
	        .b = matrix_address(b),
	        .ldb = b.ld,
	        .beta = (float)beta,
	        .c = d->result.data,
	        .ldc = d->result.ld};
}

static bool launch_paper(struct executor *executor, const struct volkov_call *call)
{
	struct cuda *x = self(executor);

	return cuda_ok(x, gemm_volkov(call, stream_of(x)), "vector-thread gemm");
}

bool gemm_paper(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct volkov_call call = call_of(d, d->x, d->y, 1);

	call.tb = paper_op_has(way, "trans", "nt");
	call.without = (enum volkov_without)way->setting;
	return launch_paper(executor, &call);
}

bool small_paper(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct volkov_call call = call_of(d, d->x, d->y, 1);

	call.splits = way->setting;
	call.work = d->work;
	return launch_paper(executor, &call);
}

bool syrk_paper(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct volkov_call call = call_of(d, d->x, d->x, 1);

	call.tb = true;
	call.shape = (enum volkov_shape)way->setting;
	return launch_paper(executor, &call);
}

bool trmm_paper(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	const struct matrix triangle = paper_op_triangle(way, d);
	const bool left = paper_op_has(way, "side", "l");
	struct volkov_call call = call_of(d, left ? triangle : d->y, left ? d->y : triangle, 0);

	call.shape = (enum volkov_shape)way->setting;
	return launch_paper(executor, &call);
}

/* ---- ours ---- */

static bool launch_own(struct executor *executor, const struct paper_op_data *d,
        struct gemm_problem problem, struct matrix b, int64_t work_bytes)
{
	struct cuda *x = self(executor);

	problem.lda = d->x.ld;
	problem.ldb = b.ld;
	const struct gemm_plan plan = gemm_plan_make(&problem, x->gpu.sm_count, work_bytes);
	return cuda_ok(x,
	        gemm_launch(&problem, &plan, PAPER_OP_ALPHA, d->x.data, b.data, 1, d->result.data,
	                d->work, stream_of(x)),
	        "gemm");
}

bool gemm_own(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	const enum trans tb = paper_op_has(way, "trans", "nt") ? TRANSPOSED : PLAIN;

	return launch_own(executor, d, gemm_product(PLAIN, tb, d->result, d->problem.k), d->y, 0);
}

bool small_own(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	return launch_own(executor, d, gemm_product(PLAIN, PLAIN, d->result, d->problem.k), d->y,
	        way->setting ? d->work_bytes : 0);
}

bool syrk_own(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct gemm_problem problem = gemm_product(PLAIN, TRANSPOSED, d->result, d->problem.k);

	(void)way;
	problem.part = GEMM_LOWER;
	return launch_own(executor, d, problem, d->x, 0);
}

/* ---- cuBLAS ---- */

bool gemm_vendor(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct cuda *x = self(executor);
	const float alpha = (float)PAPER_OP_ALPHA, beta = 1;
	const struct paper_op_problem *p = &d->problem;

	return blas_ok(x,
	        cublasSgemm_64(lane_of(x)->blas, CUBLAS_OP_N,
	                paper_op_has(way, "trans", "nt") ? CUBLAS_OP_T : CUBLAS_OP_N, p->m, p->n,
	                p->k, &alpha, d->x.data, d->x.ld, d->y.data, d->y.ld, &beta, d->result.data,
	                d->result.ld),
	        "gemm");
}

bool syrk_vendor(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct cuda *x = self(executor);
	const float alpha = (float)PAPER_OP_ALPHA, beta = 1;

	(void)way;
	return blas_ok(x,
	        cublasSsyrk_64(lane_of(x)->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, d->problem.m,
	                d->problem.k, &alpha, d->x.data, d->x.ld, &beta, d->result.data,
	                d->result.ld),
	        "syrk");
}

bool trmm_vendor(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct cuda *x = self(executor);
	const struct matrix triangle = paper_op_triangle(way, d);
	const float alpha = (float)PAPER_OP_ALPHA;

	return blas_ok(x,
	        cublasStrmm_64(lane_of(x)->blas,
	                paper_op_has(way, "side", "l") ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
	                paper_op_has(way, "uplo", "l") ? CUBLAS_FILL_MODE_LOWER
	                                               : CUBLAS_FILL_MODE_UPPER,
	                CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, d->problem.m, d->problem.n, &alpha,
	                matrix_address(triangle), triangle.ld, d->y.data, d->y.ld, d->result.data,
	                d->result.ld),
	        "trmm");
}
