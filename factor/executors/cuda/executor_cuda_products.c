/* SPDX-License-Identifier: MIT */
/* Matrix products in the cuda executor: our own kernels where they are faster than cuBLAS. They are
 * faster for a short inner dimension (C is read and written at almost the memory's bandwidth), for
 * a long inner dimension with a small C, and for symmetric updates, where only one triangle is
 * computed. In double precision only some devices have our kernels (gemm_has). */
#include "executor_cuda.h"

#include "lib/base/msg.h"
#include "factor/kernels/gemm/gemm.h"
#include "factor/kernels/gemm/double_tall.h"
#include "factor/kernels/gemm/half_pair.h"
#include "factor/kernels/gemm/tf32_tall.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemm/half_update.h"
#include "factor/kernels/qr/panel_geqrf.h"

_Static_assert((int)DOUBLE_TALL_SCRATCH <= (int)GEMM_WORK_BYTES, "the lane's memory");

static cublasOperation_t blas_trans(bool transposed)
{
	return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static bool has_own(const struct cuda *x, enum precision precision)
{
	return gemm_has(precision, x->gpu.code, x->gpu.shared_per_block);
}

/* Tall products are split along k. */
static bool own_product(struct cuda *x, const struct gemm_problem *problem, double alpha,
        struct matrix a, struct matrix b, double beta, struct matrix c)
{
	const int64_t most_bytes =
	        gemm_is_ahead_tall(&x->base.tuning, problem) ? GEMM_WORK_BYTES : 0;
	struct gemm_plan plan = gemm_plan_make(problem, &x->base.tuning, most_bytes);
	plan.shared = x->base.shares;
	return cuda_ok(x,
	        gemm_launch(problem, &plan, alpha, matrix_address(a), matrix_address(b), beta,
	                matrix_address(c), lane_of(x)->product_work, stream_of(x)),
	        "gemm");
}

static cublasStatus_t blas_product(struct cuda *x, const struct gemm_problem *p, double alpha,
        struct matrix a, struct matrix b, double beta, struct matrix c)
{
	const float alpha_single = (float)alpha, beta_single = (float)beta;
	const cublasOperation_t ta = blas_trans(p->ta), tb = blas_trans(p->tb);
	cublasHandle_t blas = lane_of(x)->blas;

	if (p->precision == SINGLE)
		return cublasSgemm_64(blas, ta, tb, p->m, p->n, p->k, &alpha_single,
		        matrix_address(a), p->lda, matrix_address(b), p->ldb, &beta_single,
		        matrix_address(c), p->ldc);
	return blas_double_gemm(&x->doubles, blas, p, alpha, matrix_address(a), matrix_address(b),
	        beta, matrix_address(c));
}

/* Makes cuBLAS choose its kernels as if the device had `kept` multiprocessors less. */
static bool keep_free(struct cuda *x, int kept, const char *operation)
{
	return blas_ok(x, cublasSetSmCountTarget(lane_of(x)->blas, gpu_blas_sms(&x->gpu, kept)),
	        operation);
}

/* V^T C beside a panel leaves one cluster's multiprocessors free. Its tiles stay for all of k: a
 * panel on multiprocessors of the last round would double the time. */
static int kept_beside(struct cuda *x, const struct gemm_problem *problem)
{
	const bool kept = x->base.shares && gemm_is_tall(problem);

	return kept && x->gpu.sm_count > 2 * PANEL_CLUSTER ? PANEL_CLUSTER : 0;
}

/* Whether the kernels for tall matrices take the product. Their blocks stay to the end, hence not
 * beside others' work. */
static bool takes_tall(
        const struct cuda *x, const struct gemm_problem *p, double alpha, double beta, bool aligned)
{
	return !x->base.blas_only && !x->base.shares &&
	       (p->ta ? alpha == 1 && beta == 0 : beta == 1) &&
	       double_tall_has(x->gpu.code, x->gpu.shared_per_block) &&
	       double_tall_is_ahead(&x->base.tuning, p, aligned);
}

/* The update in parts of as many columns of V as the kernels take. */
static bool tall_update(
        struct cuda *x, double alpha, struct matrix v, struct matrix w, struct matrix c)
{
	bool ok = true;

	for (int64_t i = 0; ok && i < v.n; i += DOUBLE_TALL_SIDE) {
		const int64_t k = v.n - i < DOUBLE_TALL_SIDE ? v.n - i : DOUBLE_TALL_SIDE;
		const struct double_tall_plan plan =
		        double_tall_update_plan_make(k, c.n, c.m, x->gpu.sm_count);
		ok = cuda_ok(x,
		        double_tall_update(&plan, alpha, matrix_view(v, 0, i, v.m, k),
		                matrix_view(w, i, 0, k, w.n), c, stream_of(x)),
		        "tall update");
	}
	return ok;
}

static bool tall_product(struct cuda *x, struct matrix v, struct matrix c, struct matrix p)
{
	const struct double_tall_plan plan = double_tall_plan_make(v.n, c.n, c.m, x->gpu.sm_count);

	return cuda_ok(x, double_tall(&plan, v, c, p, lane_of(x)->product_work, stream_of(x)),
	        "tall product");
}

/* Where the kernels for tall matrices take the update, and the panel's first pass forms A^T A. */
bool cuda_updates_panel(
        struct executor *executor, struct matrix v, struct matrix c, struct matrix panel)
{
	struct cuda *x = self(executor);
	const struct gemm_problem problem = gemm_product(PLAIN, PLAIN, c, v.n);
	const bool aligned = matrix_is_aligned(v) && matrix_is_aligned(c);

	return double_tall_gram_takes(v.n, c.n, c.m - panel.m, aligned) &&
	       panel_geqrf_takes_sums(panel.precision, panel.m, panel.n, executor->gram_double) &&
	       takes_tall(x, &problem, 1, 1, aligned);
}

bool cuda_update_panel(struct executor *executor, double alpha, struct matrix v, struct matrix w,
        struct matrix c, struct matrix panel, void *work)
{
	struct cuda *x = self(executor);
	const struct panel_sums sums = panel_geqrf_sums(panel.m, work);
	const struct double_tall_plan plan = double_tall_gram_plan_make(v.n, c.n, sums.blocks);

	return cuda_ok(x,
	        double_tall_update_gram(
	                &plan, alpha, v, w, c, c.m - panel.m, sums.of, stream_of(x)),
	        "update_panel");
}

/* Our kernels copy 16 bytes at a time; unaligned matrices are faster in cuBLAS. */
bool cuda_gemm(struct executor *executor, enum trans ta, enum trans tb, double alpha,
        struct matrix a, struct matrix b, double beta, struct matrix c)
{
	struct cuda *x = self(executor);
	struct gemm_problem problem = gemm_product(ta, tb, c, ta == PLAIN ? a.n : a.m);
	problem.lda = a.ld;
	problem.ldb = b.ld;
	if (c.m == 0 || c.n == 0)
		return true;
	const bool aligned = matrix_is_aligned(a) && matrix_is_aligned(b) && matrix_is_aligned(c);
	if (takes_tall(x, &problem, alpha, beta, aligned))
		return ta == TRANSPOSED ? tall_product(x, a, b, c) : tall_update(x, alpha, a, b, c);
	const bool own = !executor->blas_only && has_own(x, c.precision) && matrix_is_aligned(c);
	const bool ahead = gemm_is_ahead(&executor->tuning, c.precision, c.m, c.n, problem.k);
	if (own && (gemm_is_ahead_tall(&executor->tuning, &problem) ||
	                   (ahead && matrix_is_aligned(a) && matrix_is_aligned(b))))
		return own_product(x, &problem, alpha, a, b, beta, c);
	return keep_free(x, kept_beside(x, &problem), "gemm") &&
	       blas_ok(x, blas_product(x, &problem, alpha, a, b, beta, c), "gemm") &&
	       keep_free(x, 0, "gemm");
}

bool cuda_split(struct executor *executor, struct splits splits)
{
	struct cuda *x = self(executor);
	const bool half = splits.count > 0 && splits.of[0].stack == HALF_PAIR;

	return cuda_ok(x,
	        half ? half_pair(&splits, stream_of(x)) : tf32_split(&splits, stream_of(x)),
	        "split");
}

/* By cuBLAS, for a multiple of TF32_ROWS rows of C. */
static bool tf32_library(struct cuda *x, double alpha, struct matrix a, struct matrix b,
        double beta, struct matrix c, struct products products)
{
	const float alpha_single = (float)alpha, beta_single = (float)beta;
	const int kept = x->base.shares ? tf32_kept(c.m, x->gpu.sm_count) : 0;

	if (c.m == 0)
		return true;
	if (!keep_free(x, kept, "gemm in TF32"))
		return false;
	cublasStatus_t status = cublasGemmStridedBatchedEx_64(lane_of(x)->blas, CUBLAS_OP_T,
	        CUBLAS_OP_N, c.m, c.n, a.m, &alpha_single, matrix_address(a), CUDA_R_32F, a.ld,
	        products.a, matrix_address(b), CUDA_R_32F, b.ld, products.b, &beta_single,
	        matrix_address(c), CUDA_R_32F, c.ld, products.c, products.count,
	        CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT);
	return blas_ok(x, status, "gemm in TF32") && keep_free(x, 0, "gemm in TF32");
}

static bool tf32_rest(struct cuda *x, double alpha, struct matrix a, struct matrix b, double beta,
        struct matrix c, int64_t first, struct products products)
{
	const struct matrix left = matrix_view(a, 0, first, a.m, c.m - first);
	const struct matrix rest = matrix_view(c, first, 0, c.m - first, c.n);
	bool ok = true;

	for (int64_t i = 0; ok && rest.m > 0 && i < products.count; i++)
		ok = cuda_ok(x,
		        tf32_edge(alpha, matrix_view(left, i * products.a, 0, left.m, left.n),
		                matrix_view(b, i * products.b, 0, b.m, b.n), beta,
		                matrix_view(rest, i * products.c, 0, rest.m, rest.n), stream_of(x)),
		        "rows of a product in TF32");
	return ok;
}

bool cuda_gemm_tf32(struct executor *executor, double alpha, struct matrix a, struct matrix b,
        double beta, struct matrix c, struct products products)
{
	struct cuda *x = self(executor);
	const int64_t whole = c.m - c.m % TF32_ROWS;

	return tf32_library(x, alpha, matrix_view(a, 0, 0, a.m, whole), b, beta,
	               matrix_view(c, 0, 0, whole, c.n), products) &&
	       tf32_rest(x, alpha, a, b, beta, c, whole, products);
}

ONE_KERNEL(half_update,
        (enum uplo part, double alpha, struct matrix left, struct matrix right, struct matrix c),
        half_update(part, alpha, left, right, c, executor->shares, stream(executor)))

ONE_KERNEL(half_stairs,
        (struct stairs stairs, double alpha, struct matrix left, struct matrix right,
                struct matrix c),
        half_stairs(stairs, alpha, left, right, c, executor->shares, stream(executor)))

bool cuda_gemm_tall(struct executor *executor, struct matrix v, struct matrix c, struct matrix p)
{
	struct cuda *x = self(executor);
	const int kept = executor->shares ? tf32_kept(c.m, x->gpu.sm_count) : 0;
	if (!x->gpu.warpgroups)
		return cuda_gemm(executor, TRANSPOSED, PLAIN, 1, v, c, 0, p);
	const struct tf32_tall_plan plan =
	        tf32_tall_plan_make(v.n, c.n, c.m, x->gpu.sm_count - kept);

	return cuda_ok(
	        x, tf32_tall(&plan, v, c, p, lane_of(x)->scratch, stream_of(x)), "tall product");
}

ONE_KERNEL(add_triangles, (enum uplo uplo, struct matrix blocks, struct matrix c),
        tf32_add_triangles(uplo, blocks, c, stream(executor)))

/* C = alpha op(A) op(A)^T + beta C: a triangle, or a trapezoid. */
static struct gemm_problem update_of(
        enum uplo uplo, enum trans trans, struct matrix a, struct matrix c)
{
	return (struct gemm_problem){.precision = c.precision,
	        .ta = trans == TRANSPOSED,
	        .tb = trans == PLAIN,
	        .part = uplo == LOWER ? GEMM_LOWER : GEMM_UPPER,
	        .m = c.m,
	        .n = c.n,
	        .k = trans == PLAIN ? a.n : a.m,
	        .lda = a.ld,
	        .ldb = a.ld,
	        .ldc = c.ld};
}

static struct matrix rows_of(enum trans trans, struct matrix a, int64_t i, int64_t rows)
{
	return trans == PLAIN ? matrix_view(a, i, 0, rows, a.n) : matrix_view(a, 0, i, a.m, rows);
}

/* Our kernels read A^T one word at a time. For a large product a transpose of A is cheaper. As
 * many rows of A are transposed at a time as fit in the lane's memory; fewer than FEWEST_TRANSPOSED
 * would cost more in repeated reads and writes of C. */
enum { FEWEST_TRANSPOSED = 128 };

static struct matrix transposed(struct cuda *x, struct matrix a)
{
	enum { LINE_BYTES = 128 };
	const int64_t line = LINE_BYTES / precision_bytes(a.precision);

	return (struct matrix){
	        lane_of(x)->product_work, 0, a.n, a.m, (a.n + line - 1) / line * line, a.precision};
}

/* Rows of A to transpose at a time; 0: A itself is read. */
static int64_t rows_transposed(
        struct cuda *x, const struct gemm_problem *problem, enum trans trans, struct matrix a)
{
	const int64_t n = problem->m < problem->n ? problem->m : problem->n;

	if (trans == PLAIN || n * n * problem->k < x->base.tuning.gemm.transposed_from)
		return 0;
	const struct matrix t = transposed(x, a);
	const int64_t most = GEMM_WORK_BYTES / (t.ld * precision_bytes(t.precision));
	if (most < FEWEST_TRANSPOSED)
		return 0;
	const int64_t parts = (a.m + most - 1) / most;
	return (a.m + parts - 1) / parts;
}

static bool own_triangle(struct cuda *x, enum uplo uplo, enum trans trans, double alpha,
        struct matrix a, double beta, struct matrix c)
{
	const struct gemm_problem problem = update_of(uplo, trans, a, c);
	const int64_t rows = rows_transposed(x, &problem, trans, a);
	bool ok = true;

	if (rows == 0)
		return own_product(x, &problem, alpha, a, a, beta, c);
	for (int64_t i = 0; ok && i < a.m; i += rows) {
		const struct matrix part =
		        matrix_view(a, i, 0, rows < a.m - i ? rows : a.m - i, a.n);
		const struct matrix t = transposed(x, part);
		const struct gemm_problem plain = update_of(uplo, PLAIN, t, c);
		ok = cuda_ok(x, block_transpose(part, t, stream_of(x)), "syrk") &&
		     own_product(x, &plain, alpha, t, t, i == 0 ? beta : 1, c);
	}
	return ok;
}

bool cuda_syrk(struct executor *executor, enum uplo uplo, enum trans trans, double alpha,
        struct matrix a, double beta, struct matrix c)
{
	struct cuda *x = self(executor);
	const int64_t n = c.m < c.n ? c.m : c.n, rest = c.m + c.n - 2 * n;
	const struct gemm_problem problem = update_of(uplo, trans, a, c);
	const int64_t k = problem.k;
	const struct matrix top = rows_of(trans, a, 0, n), others = rows_of(trans, a, n, rest);
	const bool lower = uplo == LOWER;
	if (n == 0)
		return true;
	if (lower == (trans == PLAIN) &&
	        block_rank_is_ahead(&executor->tuning, c.precision, n + rest, n, k) &&
	        block_rank_bytes(c.precision) <= x->gpu.shared_per_block)
		return cuda_ok(x, block_rank(uplo, alpha, a, beta, c, NULL, stream_of(x)), "syrk");
	if (has_own(x, c.precision) && gemm_is_ahead_triangle(&executor->tuning, c.precision, n, k))
		return own_triangle(x, uplo, trans, alpha, a, beta, c);
	if (rest == 0)
		return blas_ok(x,
		        blas_double_syrk(&x->doubles, lane_of(x)->blas, &problem, alpha,
		                matrix_address(a), beta, matrix_address(c)),
		        "syrk");
	return cuda_syrk(executor, uplo, trans, alpha, top, beta, matrix_view(c, 0, 0, n, n)) &&
	       cuda_gemm(executor, trans, trans == PLAIN ? TRANSPOSED : PLAIN, alpha,
	               lower ? others : top, lower ? top : others, beta,
	               lower ? matrix_view(c, n, 0, rest, n) : matrix_view(c, 0, n, n, rest));
}
