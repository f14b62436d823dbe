/* SPDX-License-Identifier: MIT */
/* The ways of each of the paper's operations: the paper's kernels, ours and cuBLAS. */
#include "factor/executors/cuda/executor_cuda.h"
#include "factor/papers/laswp_volkov.h"
#include "paper_operation_products.h"

/* ---- transposition ---- */

static bool transpose_own(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	(void)way;
	return ex_transpose(executor, d->x, d->result);
}

static bool transpose_vendor(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
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

/* ---- row swaps ---- */

static bool laswp_own(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	(void)way;
	return ex_laswp(executor, d->result, d->pivots, false);
}

static bool laswp_paper(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	struct cuda *x = self(executor);
	const bool by_row = paper_op_has(way, "layout", "row");
	const int64_t ld = d->result.ld;

	return cuda_ok(x,
	        laswp_volkov(d->result.data, by_row ? d->result.m : d->result.n, by_row ? ld : 1,
	                by_row ? 1 : ld, d->ipiv, PAPER_OP_EXCHANGES, stream_of(x)),
	        "laswp");
}

/* ---- triangular solve ---- */

static bool trsm_vendor(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	const int64_t m = d->problem.m;

	(void)way;
	return ex_trsm(
	        executor, LEFT, LOWER, PLAIN, UNIT, 1, matrix_view(d->x, 0, 0, m, m), d->result);
}

static bool trsm_inverse(
        struct executor *executor, const struct paper_op_way *way, const struct paper_op_data *d)
{
	const int64_t m = d->problem.m;

	(void)way;
	return ex_gemm(
	        executor, PLAIN, PLAIN, 1, matrix_view(d->x, 0, m, m, m), d->y, 0, d->result);
}

/* ---- all ---- */

static const struct paper_op_way all[] = {
        {PAPER_OP_GEMM, "volkov", "trans=nn", false, gemm_paper, VOLKOV_COMPLETE},
        {PAPER_OP_GEMM, "volkov", "trans=nn,without=fetch", true, gemm_paper, VOLKOV_NO_FETCH},
        {PAPER_OP_GEMM, "volkov", "trans=nn,without=prefetch", false, gemm_paper,
                VOLKOV_NO_PREFETCH},
        {PAPER_OP_GEMM, "own", "trans=nn", false, gemm_own, 0},
        {PAPER_OP_GEMM, "cublas", "trans=nn", false, gemm_vendor, 0},
        {PAPER_OP_GEMM, "volkov", "trans=nt", false, gemm_paper, VOLKOV_COMPLETE},
        {PAPER_OP_GEMM, "volkov", "trans=nt,without=fetch", true, gemm_paper, VOLKOV_NO_FETCH},
        {PAPER_OP_GEMM, "volkov", "trans=nt,without=prefetch", false, gemm_paper,
                VOLKOV_NO_PREFETCH},
        {PAPER_OP_GEMM, "own", "trans=nt", false, gemm_own, 0},
        {PAPER_OP_GEMM, "cublas", "trans=nt", false, gemm_vendor, 0},
        {PAPER_OP_TRANSPOSE, "own", "", false, transpose_own, 0},
        {PAPER_OP_TRANSPOSE, "cublas", "", false, transpose_vendor, 0},
        {PAPER_OP_LASWP, "own", "layout=column", false, laswp_own, 0},
        {PAPER_OP_LASWP, "volkov", "layout=row", false, laswp_paper, 0},
        {PAPER_OP_LASWP, "volkov", "layout=column", false, laswp_paper, 0},
        {PAPER_OP_TRSM, "cublas", "", false, trsm_vendor, 0},
        {PAPER_OP_TRSM, "inverse", "", false, trsm_inverse, 0},
        {PAPER_OP_SYRK, "volkov", "blocks=folded", false, syrk_paper, VOLKOV_C_FOLDED},
        {PAPER_OP_SYRK, "volkov", "blocks=exit", false, syrk_paper, VOLKOV_C_EXIT},
        {PAPER_OP_SYRK, "volkov", "blocks=full", false, syrk_paper, VOLKOV_FULL},
        {PAPER_OP_SYRK, "own", "", false, syrk_own, 0},
        {PAPER_OP_SYRK, "cublas", "", false, syrk_vendor, 0},
        {PAPER_OP_TRMM, "volkov", "side=l,uplo=l", false, trmm_paper, VOLKOV_A_LOWER},
        {PAPER_OP_TRMM, "volkov", "side=l,uplo=u", false, trmm_paper, VOLKOV_A_UPPER},
        {PAPER_OP_TRMM, "volkov", "side=r,uplo=l", false, trmm_paper, VOLKOV_B_LOWER},
        {PAPER_OP_TRMM, "volkov", "side=r,uplo=u", false, trmm_paper, VOLKOV_B_UPPER},
        {PAPER_OP_TRMM, "volkov", "side=l,uplo=l,blocks=full", false, trmm_paper, VOLKOV_FULL},
        {PAPER_OP_TRMM, "cublas", "side=l,uplo=l", false, trmm_vendor, 0},
        {PAPER_OP_TRMM, "cublas", "side=l,uplo=u", false, trmm_vendor, 0},
        {PAPER_OP_TRMM, "cublas", "side=r,uplo=l", false, trmm_vendor, 0},
        {PAPER_OP_TRMM, "cublas", "side=r,uplo=u", false, trmm_vendor, 0},
        {PAPER_OP_SMALL_GEMM, "volkov", "splits=1", false, small_paper, 1},
        {PAPER_OP_SMALL_GEMM, "volkov", "splits=2", false, small_paper, 2},
        {PAPER_OP_SMALL_GEMM, "volkov", "splits=4", false, small_paper, 4},
        {PAPER_OP_SMALL_GEMM, "volkov", "splits=8", false, small_paper, 8},
        {PAPER_OP_SMALL_GEMM, "volkov", "splits=16", false, small_paper, 16},
        {PAPER_OP_SMALL_GEMM, "own", "splits=1", false, small_own, 0},
        {PAPER_OP_SMALL_GEMM, "own", "splits=plan", false, small_own, 1},
        {PAPER_OP_SMALL_GEMM, "cublas", "", false, gemm_vendor, 0},
        {PAPER_OP_THIN_GEMM, "volkov", "", false, gemm_paper, VOLKOV_COMPLETE},
        {PAPER_OP_THIN_GEMM, "own", "", false, gemm_own, 0},
        {PAPER_OP_THIN_GEMM, "cublas", "", false, gemm_vendor, 0},
};

size_t paper_op_ways(enum paper_op part, const struct paper_op_way **ways)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].part == part)
			ways[count++] = &all[i];
	return count;
}
