/* SPDX-License-Identifier: MIT */
/* The ways of each of the paper's operations: by the paper's kernels (gemm_volkov.h), by ours
 * (gemm.h) and by cuBLAS. Products are PAPER_OP_ALPHA times the product, plus C except for trmm. */
#include "factor/executors/cuda/executor_cuda.h"
#include "factor/kernels/gemm/gemm.h"
#include "factor/papers/laswp_volkov.h"
#include "paper_operations.h"

/* ---- transposition ---- */

static bool transpose_own(const struct paper_op_data *d)
{
	return ex_transpose(d->executor, d->x, d->result);
}

static bool transpose_vendor(const struct paper_op_data *d)
{
	struct cuda *x = self(d->executor);
	const float one = 1, zero = 0;

	return blas_ok(x,
	        cublasSgeam_64(lane_of(x)->blas, CUBLAS_OP_T, CUBLAS_OP_N, d->result.m, d->result.n,
	                &one, d->x.data, d->x.ld, &zero, d->result.data, d->result.ld,
	                d->result.data, d->result.ld),
	        "geam");
}

/* ---- copies with a stride ---- */

/* The first of n rows. */
static bool copy_own(const struct paper_op_data *d)
{
	const int64_t m = d->problem.m;

	return ex_copy(d->executor, WHOLE, matrix_view(d->x, 0, 0, 1, m),
	        matrix_view(d->result, 0, 0, 1, m));
}

static bool copy_vendor(const struct paper_op_data *d)
{
	struct cuda *x = self(d->executor);

	return blas_ok(x,
	        cublasScopy_64(lane_of(x)->blas, d->problem.m, d->x.data, d->x.ld, d->result.data,
	                d->result.ld),
	        "copy");
}

/* ---- row swaps ---- */

static bool laswp_own(const struct paper_op_data *d)
{
	return ex_laswp(d->executor, d->result, d->pivots, false);
}

static bool laswp_paper(const struct paper_op_data *d)
{
	struct cuda *x = self(d->executor);
	const bool by_row = paper_op_has(d->way, "layout", "row");
	const int64_t ld = d->result.ld;

	return cuda_ok(x,
	        laswp_volkov(d->result.data, by_row ? d->result.m : d->result.n, by_row ? ld : 1,
	                by_row ? 1 : ld, d->ipiv, PAPER_OP_EXCHANGES, stream_of(x)),
	        "laswp");
}

/* ---- triangular solve ---- */

static bool trsm_vendor(const struct paper_op_data *d)
{
	const int64_t m = d->problem.m;

	return ex_trsm(
	        d->executor, LEFT, LOWER, PLAIN, UNIT, 1, matrix_view(d->x, 0, 0, m, m), d->result);
}

static bool trsm_inverse(const struct paper_op_data *d)
{
	const int64_t m = d->problem.m;

	return ex_gemm(
	        d->executor, PLAIN, PLAIN, 1, matrix_view(d->x, 0, m, m, m), d->y, 0, d->result);
}

/* ---- products by the paper's kernels ---- */

static bool launch_paper(const struct paper_op_data *d, struct matrix a, struct matrix b,
        double beta, struct volkov_call call)
{
	struct cuda *x = self(d->executor);

	call.m = d->problem.m;
	call.n = d->problem.n;
	call.k = d->problem.k;
	call.alpha = (float)PAPER_OP_ALPHA;
	call.a = matrix_address(a);
	call.lda = a.ld;
	call.b = matrix_address(b);
	call.ldb = b.ld;
	call.beta = (float)beta;
	call.c = d->result.data;
	call.ldc = d->result.ld;
	return cuda_ok(x, gemm_volkov(&call, stream_of(x)), "vector-thread gemm");
}

static bool gemm_paper(const struct paper_op_data *d)
{
	return launch_paper(d, d->x, d->y, 1,
	        (struct volkov_call){.tb = paper_op_has(d->way, "trans", "nt"),
	                .without = (enum volkov_without)d->way->setting});
}

/* k may be split. */
static bool small_paper(const struct paper_op_data *d)
{
	return launch_paper(
	        d, d->x, d->y, 1, (struct volkov_call){.splits = d->way->setting, .work = d->work});
}

/* The lower triangle; with shape VOLKOV_FULL all of C. */
static bool syrk_paper(const struct paper_op_data *d)
{
	return launch_paper(d, d->x, d->x, 1,
	        (struct volkov_call){.tb = true, .shape = (enum volkov_shape)d->way->setting});
}

/* Triangle and square in the order that side=l or r says. */
static bool trmm_paper(const struct paper_op_data *d)
{
	const struct matrix triangle = paper_op_triangle(d);
	const bool left = paper_op_has(d->way, "side", "l");

	return launch_paper(d, left ? triangle : d->y, left ? d->y : triangle, 0,
	        (struct volkov_call){.shape = (enum volkov_shape)d->way->setting});
}

/* ---- products by ours ---- */

static bool launch_own(const struct paper_op_data *d, enum trans tb, enum gemm_part part,
        struct matrix b, int64_t work_bytes)
{
	struct cuda *x = self(d->executor);
	struct gemm_problem problem = gemm_product(PLAIN, tb, d->result, d->problem.k);

	problem.part = part;
	problem.lda = d->x.ld;
	problem.ldb = b.ld;
	const struct gemm_plan plan = gemm_plan_make(&problem, &x->base.tuning, work_bytes);
	return cuda_ok(x,
	        gemm_launch(&problem, &plan, PAPER_OP_ALPHA, d->x.data, b.data, 1, d->result.data,
	                d->work, stream_of(x)),
	        "gemm");
}

static bool gemm_own(const struct paper_op_data *d)
{
	const enum trans tb = paper_op_has(d->way, "trans", "nt") ? TRANSPOSED : PLAIN;

	return launch_own(d, tb, GEMM_WHOLE, d->y, d->way->setting ? d->work_bytes : 0);
}

static bool syrk_own(const struct paper_op_data *d)
{
	return launch_own(d, TRANSPOSED, GEMM_LOWER, d->x, 0);
}

/* ---- products by cuBLAS ---- */

static const float alpha = (float)PAPER_OP_ALPHA, beta = 1;

static bool gemm_vendor(const struct paper_op_data *d)
{
	struct cuda *x = self(d->executor);
	const struct paper_op_problem *p = &d->problem;

	return blas_ok(x,
	        cublasSgemm_64(lane_of(x)->blas, CUBLAS_OP_N,
	                paper_op_has(d->way, "trans", "nt") ? CUBLAS_OP_T : CUBLAS_OP_N, p->m, p->n,
	                p->k, &alpha, d->x.data, d->x.ld, d->y.data, d->y.ld, &beta, d->result.data,
	                d->result.ld),
	        "gemm");
}

static bool syrk_vendor(const struct paper_op_data *d)
{
	struct cuda *x = self(d->executor);

	return blas_ok(x,
	        cublasSsyrk_64(lane_of(x)->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, d->problem.m,
	                d->problem.k, &alpha, d->x.data, d->x.ld, &beta, d->result.data,
	                d->result.ld),
	        "syrk");
}

static bool trmm_vendor(const struct paper_op_data *d)
{
	struct cuda *x = self(d->executor);
	const struct matrix triangle = paper_op_triangle(d);

	return blas_ok(x,
	        cublasStrmm_64(lane_of(x)->blas,
	                paper_op_has(d->way, "side", "l") ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
	                paper_op_has(d->way, "uplo", "l") ? CUBLAS_FILL_MODE_LOWER
	                                                  : CUBLAS_FILL_MODE_UPPER,
	                CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, d->problem.m, d->problem.n, &alpha,
	                matrix_address(triangle), triangle.ld, d->y.data, d->y.ld, d->result.data,
	                d->result.ld),
	        "trmm");
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
        {PAPER_OP_SCOPY, "own", "", false, copy_own, 0},
        {PAPER_OP_SCOPY, "cublas", "", false, copy_vendor, 0},
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
        {PAPER_OP_SMALL_GEMM, "own", "splits=1", false, gemm_own, 0},
        {PAPER_OP_SMALL_GEMM, "own", "splits=plan", false, gemm_own, 1},
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
