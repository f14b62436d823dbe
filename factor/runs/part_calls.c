/* SPDX-License-Identifier: MIT */
/* The ways of each part: the paper's kernels, ours and cuBLAS. */
#include "../../lib/gemm.h"
#include "../cuda/executor_cuda.h"
#include "../cuda/gemm_volkov.h"
#include "../cuda/laswp_volkov.h"
#include "parts.h"

#include <string.h>

/* ---- C += alpha A B, or A B^T ---- */

static bool is_transposed(const struct part_way *way)
{
	return strncmp(way->options, "trans=nt", 8) == 0;
}

static bool gemm_paper(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	struct cuda *x = self(executor);
	const struct volkov_call call = {.without = (enum volkov_without)way->experiment,
	        .tb = is_transposed(way),
	        .m = d->problem.m,
	        .n = d->problem.n,
	        .k = d->problem.k,
	        .alpha = (float)PART_ALPHA,
	        .a = d->x.data,
	        .lda = d->x.ld,
	        .b = d->y.data,
	        .ldb = d->y.ld,
	        .beta = 1,
	        .c = d->result.data,
	        .ldc = d->result.ld};

	return cuda_ok(x, gemm_volkov(&call, stream_of(x)), "vector-thread gemm");
}

static bool gemm_own(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	struct cuda *x = self(executor);
	const struct gemm_problem problem = {.precision = SINGLE,
	        .tb = is_transposed(way),
	        .m = d->problem.m,
	        .n = d->problem.n,
	        .k = d->problem.k,
	        .lda = d->x.ld,
	        .ldb = d->y.ld,
	        .ldc = d->result.ld};
	const struct gemm_plan plan = gemm_plan_make(&problem, x->gpu.sm_count, 0);

	return cuda_ok(x,
	        gemm_launch(&problem, &plan, PART_ALPHA, d->x.data, d->y.data, 1, d->result.data,
	                NULL, stream_of(x)),
	        "gemm");
}

static bool gemm_vendor(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	struct cuda *x = self(executor);
	const float alpha = (float)PART_ALPHA, beta = 1;
	const struct part_problem *p = &d->problem;

	return blas_ok(x,
	        cublasSgemm_64(lane_of(x)->blas, CUBLAS_OP_N,
	                is_transposed(way) ? CUBLAS_OP_T : CUBLAS_OP_N, p->m, p->n, p->k, &alpha,
	                d->x.data, d->x.ld, d->y.data, d->y.ld, &beta, d->result.data,
	                d->result.ld),
	        "gemm");
}

/* ---- transposition ---- */

static bool transpose_own(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	(void)way;
	return ex_transpose(executor, d->x, d->result);
}

static bool transpose_vendor(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	struct cuda *x = self(executor);
	const float one = 1, zero = 0;

	(void)way;
	return blas_ok(x,
	        cublasSgeam_64(lane_of(x)->blas, CUBLAS_OP_T, CUBLAS_OP_N, d->result.m, d->result.n,
	                &one, d->x.data, d->x.ld, &zero, d->result.data, d->result.ld,
	                d->result.data, d->result.ld),
	        "geam");
}

/* ---- row interchanges ---- */

static bool laswp_own(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	(void)way;
	return ex_laswp(executor, d->result, d->pivots, false);
}

static bool laswp_paper(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	struct cuda *x = self(executor);
	const bool by_row = strcmp(way->options, "layout=row") == 0;
	const int64_t ld = d->result.ld;

	return cuda_ok(x,
	        laswp_volkov(d->result.data, by_row ? d->result.m : d->result.n, by_row ? ld : 1,
	                by_row ? 1 : ld, d->ipiv, PART_EXCHANGES, stream_of(x)),
	        "laswp");
}

/* ---- triangular solve ---- */

static bool trsm_vendor(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	const int64_t m = d->problem.m;

	(void)way;
	return ex_trsm(
	        executor, LEFT, LOWER, PLAIN, UNIT, 1, matrix_view(d->x, 0, 0, m, m), d->result);
}

static bool trsm_inverse(
        struct executor *executor, const struct part_way *way, const struct part_data *d)
{
	const int64_t m = d->problem.m;

	(void)way;
	return ex_gemm(
	        executor, PLAIN, PLAIN, 1, matrix_view(d->x, 0, m, m, m), d->y, 0, d->result);
}

/* ---- all ---- */

static const struct part_way all[] = {
        {PART_GEMM, "volkov", "trans=nn", false, gemm_paper, VOLKOV_COMPLETE},
        {PART_GEMM, "volkov", "trans=nn,without=fetch", true, gemm_paper, VOLKOV_NO_FETCH},
        {PART_GEMM, "volkov", "trans=nn,without=prefetch", false, gemm_paper, VOLKOV_NO_PREFETCH},
        {PART_GEMM, "own", "trans=nn", false, gemm_own, 0},
        {PART_GEMM, "cublas", "trans=nn", false, gemm_vendor, 0},
        {PART_GEMM, "volkov", "trans=nt", false, gemm_paper, VOLKOV_COMPLETE},
        {PART_GEMM, "volkov", "trans=nt,without=fetch", true, gemm_paper, VOLKOV_NO_FETCH},
        {PART_GEMM, "volkov", "trans=nt,without=prefetch", false, gemm_paper, VOLKOV_NO_PREFETCH},
        {PART_GEMM, "own", "trans=nt", false, gemm_own, 0},
        {PART_GEMM, "cublas", "trans=nt", false, gemm_vendor, 0},
        {PART_TRANSPOSE, "own", "", false, transpose_own, 0},
        {PART_TRANSPOSE, "cublas", "", false, transpose_vendor, 0},
        {PART_LASWP, "own", "layout=column", false, laswp_own, 0},
        {PART_LASWP, "volkov", "layout=row", false, laswp_paper, 0},
        {PART_LASWP, "volkov", "layout=column", false, laswp_paper, 0},
        {PART_TRSM, "cublas", "", false, trsm_vendor, 0},
        {PART_TRSM, "inverse", "", false, trsm_inverse, 0},
};

size_t part_ways(enum part part, const struct part_way **ways)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].part == part)
			ways[count++] = &all[i];
	return count;
}
