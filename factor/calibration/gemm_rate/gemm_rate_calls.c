/* SPDX-License-Identifier: MIT */
/* The calls that gemm_rate times, and their data. */
#include "gemm_rate_internal.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemm/gemm.h"
#include "factor/kernels/gemm/double_tall.h"
#include "factor/kernels/gemm/half_pair.h"
#include "factor/kernels/gemm/half_update.h"
#include "factor/kernels/gemm/tf32.h"
#include "factor/kernels/gemm/tf32_tall.h"

enum { LINE = 32 }; /* elements: columns of our own products begin at a line of memory */

static const double off_diagonal = 1e-5;

const char *const gemm_rate_kind_name[KINDS] = {"gemm", "gemm_tn", "trsm", "trsm_right", "trsm_few",
        "syrk", "gemm_odd", "gemm_tn_odd", "gemm_unaligned", "gemm_nt", "gemm_shared",
        "gemm_batched", "own_gemm", "own_gemm_tn", "own_syrk", "own_syrk_unaligned", "double_tall",
        "double_tall_update", "own_gemm_edge", "own_gemm_shared", "own_syrk_shared",
        "own_gemm_edge_shared", "tf32_tall", "tf32_tall_shared", "half_syrk", "half_syrk_shared",
        "half_gemm", "half_gemm_shared"};
const char *const gemm_rate_math_name[] = {"s", "tf32", "d"};

bool gemm_rate_has(const struct bench *bench, enum kind kind, enum math math)
{
	if (gemm_rate_is_half(kind))
		return math == FP32 && bench->rate.gpu.warpgroups;
	if (kind >= TALL)
		return math == FP32 && bench->rate.gpu.warpgroups;
	if (kind == OWN_GEMM_TN)
		return math == FP32;
	if (kind == DOUBLE_TALL || kind == DOUBLE_TALL_UPDATE)
		return math == FP64 &&
		       double_tall_has(bench->rate.gpu.code, bench->rate.gpu.shared_per_block);
	if (kind >= OWN_GEMM)
		return math == FP32 || (math == FP64 && gemm_has(DOUBLE, bench->rate.gpu.code,
		                                                bench->rate.gpu.shared_per_block));
	if (kind == GEMM_ODD || kind == GEMM_TN_ODD || kind == GEMM_NT)
		return math == FP64;
	if (kind == GEMM_SHARED)
		return math == TF32 && bench->rate.gpu.major >= 8 &&
		       bench->rate.gpu.sm_count > 2 * TF32_KEPT;
	if (kind == GEMM_BATCHED)
		return math == TF32 && bench->rate.gpu.major >= 8;
	return math != TF32 || (kind == GEMM && bench->rate.gpu.major >= 8);
}

bool gemm_rate_is_solve(enum kind kind)
{
	return kind == TRSM || kind == TRSM_RIGHT || kind == TRSM_FEW;
}

bool gemm_rate_is_symmetric(enum kind kind)
{
	return kind == SYRK || kind == OWN_SYRK || kind == OWN_SYRK_UNALIGNED ||
	       kind == OWN_SYRK_SHARED || kind == HALF_SYRK || kind == HALF_SYRK_SHARED;
}

bool gemm_rate_is_tall(enum kind kind)
{
	return kind == GEMM_TN || kind == GEMM_TN_ODD || kind == OWN_GEMM_TN ||
	       kind == DOUBLE_TALL || kind == TALL || kind == TALL_SHARED;
}

bool gemm_rate_is_half(enum kind kind)
{
	return kind >= HALF_SYRK;
}

/* ---- the calls ---- */

/* Whether A is stored as its transpose: for V^T C, and in tf32, whose units need the inner
 * dimension down the columns of both operands. */
bool gemm_rate_is_transposed(const struct product *p)
{
	return gemm_rate_is_tall(p->kind) || gemm_rate_is_half(p->kind) || p->math == TF32;
}

/* Of A and C. */
static int rows_of(const struct product *p)
{
	return p->m + (p->kind == GEMM_UNALIGNED ? 0 : p->m % 2);
}

static void put_gemm_double(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool tall = gemm_rate_is_tall(p->kind), crossed = p->kind == GEMM_NT;
	const int ld = rows_of(p), deep = p->k + p->k % 2;
	const struct gemm_problem problem = {.precision = DOUBLE,
	        .ta = gemm_rate_is_transposed(p),
	        .tb = crossed,
	        .m = p->m,
	        .n = p->n,
	        .k = p->k,
	        .lda = gemm_rate_is_transposed(p) ? deep : ld,
	        .ldb = crossed ? p->n : deep,
	        .ldc = ld};
	BLAS(blas_double_gemm(&d->doubles, d->rate.blas, &problem, tall ? 1 : gemm_rate_alpha, d->a,
	        d->b, tall ? 0 : 1, d->c));
}

static void put_gemm(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool tall = p->kind == GEMM_TN, transposed = gemm_rate_is_transposed(p);
	const int ld = rows_of(p);
	const float alpha = tall ? 1 : (float)gemm_rate_alpha, beta = tall ? 0 : 1;
	const cublasComputeType_t compute =
	        p->math == TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
	if (p->kind == GEMM_SHARED)
		BLAS(cublasSetSmCountTarget(d->rate.blas, gpu_blas_sms(&d->rate.gpu, TF32_KEPT)));
	BLAS(cublasGemmEx(d->rate.blas, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, p->m,
	        p->n, p->k, &alpha, d->a, CUDA_R_32F, transposed ? p->k : ld, d->b, CUDA_R_32F,
	        p->k, &beta, d->c, CUDA_R_32F, ld, compute, CUBLAS_GEMM_DEFAULT));
	BLAS(cublasSetSmCountTarget(d->rate.blas, gpu_blas_sms(&d->rate.gpu, 0)));
}

static void put_batched(const struct product *p)
{
	const struct bench *d = p->bench;
	const float alpha = (float)gemm_rate_alpha, one = 1;
	const int64_t operand = (int64_t)p->k * p->m, square = (int64_t)p->m * (p->n + 1);
	BLAS(cublasGemmStridedBatchedEx(d->rate.blas, CUBLAS_OP_T, CUBLAS_OP_N, p->m, p->m, p->k,
	        &alpha, d->a, CUDA_R_32F, p->k, operand, d->b, CUDA_R_32F, p->k, operand, &one,
	        d->c, CUDA_R_32F, p->n, square, p->n / p->m, CUBLAS_COMPUTE_32F_FAST_TF32,
	        CUBLAS_GEMM_DEFAULT));
}

static void put_trsm(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool right = p->kind == TRSM_RIGHT;
	const cublasSideMode_t side = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
	const cublasOperation_t op = right ? CUBLAS_OP_T : CUBLAS_OP_N;
	const cublasDiagType_t diag = p->kind == TRSM ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
	const int rows = right ? p->n : p->m, columns = right ? p->m : p->n;
	const double one = 1;
	const float one_s = 1;
	if (p->math == FP64)
		BLAS(cublasDtrsm(d->rate.blas, side, CUBLAS_FILL_MODE_LOWER, op, diag, rows,
		        columns, &one, d->triangle, p->m, d->c, rows));
	else
		BLAS(cublasStrsm(d->rate.blas, side, CUBLAS_FILL_MODE_LOWER, op, diag, rows,
		        columns, &one_s, d->triangle, p->m, d->c, rows));
}

static void put_syrk(const struct product *p)
{
	const struct bench *d = p->bench;
	const struct gemm_problem problem = {.precision = DOUBLE,
	        .tb = true,
	        .part = GEMM_LOWER,
	        .m = p->n,
	        .n = p->n,
	        .k = p->k,
	        .lda = p->n,
	        .ldb = p->n,
	        .ldc = p->n};
	const float alpha = (float)gemm_rate_alpha, one = 1;
	if (p->math == FP64)
		BLAS(blas_double_syrk(
		        &d->doubles, d->rate.blas, &problem, gemm_rate_alpha, d->a, 1, d->c));
	else
		BLAS(cublasSsyrk(d->rate.blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, p->n, p->k,
		        &alpha, d->a, p->n, &one, d->c, p->n));
}

static void put_own_tall(const struct product *p)
{
	const struct bench *d = p->bench;
	const struct gemm_problem problem = {.precision = SINGLE,
	        .ta = true,
	        .m = p->m,
	        .n = p->n,
	        .k = p->k,
	        .lda = p->k,
	        .ldb = p->k,
	        .ldc = p->m};
	const struct gemm_plan plan = gemm_plan_make(&problem, &d->rate.tuning, TF32_TALL_SCRATCH);
	GPU(gemm_launch(&problem, &plan, 1, d->a, d->b, 0, d->c, d->scratch, d->rate.stream));
}

/* Our own kernels: C -= A B, or the lower triangle of C -= A A^T. */
static void put_own(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool symmetric = gemm_rate_is_symmetric(p->kind);
	const int m = symmetric ? p->n : p->m, line = p->kind == OWN_SYRK_UNALIGNED ? 1 : LINE,
	          ld = (m + line - 1) / line * line;
	const struct gemm_problem problem = {.precision = precision_of(p->math),
	        .tb = symmetric,
	        .part = symmetric ? GEMM_LOWER : GEMM_WHOLE,
	        .m = m,
	        .n = p->n,
	        .k = p->k,
	        .lda = ld,
	        .ldb = symmetric ? ld : p->k,
	        .ldc = ld};
	struct gemm_plan plan = gemm_plan_make(&problem, &d->rate.tuning, 0);
	plan.shared = p->kind >= OWN_GEMM_SHARED;
	GPU(gemm_launch(&problem, &plan, gemm_rate_alpha, d->a, symmetric ? d->a : d->b, 1, d->c,
	        NULL, d->rate.stream));
}

static struct matrix pair_of(const struct product *p)
{
	const int64_t rows = half_rows(p->k);
	return (struct matrix){p->bench->a, 0, rows, p->n, rows, SINGLE};
}

/* By 3xFP16: C += alpha B^T B, the square or its lower triangle. */
static void put_half(const struct product *p)
{
	const struct matrix pair = pair_of(p), c = {p->bench->c, 0, p->n, p->n, p->n, SINGLE};
	const bool shared = p->kind == HALF_SYRK_SHARED || p->kind == HALF_GEMM_SHARED;
	GPU(half_update(gemm_rate_is_symmetric(p->kind) ? LOWER : WHOLE, gemm_rate_alpha, pair,
	        pair, c, shared, p->bench->rate.stream));
}

static void put_tall(const struct product *p)
{
	const struct bench *d = p->bench;
	const int kept = p->kind == TALL_SHARED ? TF32_KEPT : 0;
	const struct tf32_tall_plan plan =
	        tf32_tall_plan_make(p->m, p->n, p->k, d->rate.gpu.sm_count - kept);
	GPU(tf32_tall(&plan, (struct matrix){d->a, 0, p->k, p->m, p->k, SINGLE},
	        (struct matrix){d->b, 0, p->k, p->n, p->k, SINGLE},
	        (struct matrix){d->c, 0, p->m, p->n, p->m, SINGLE}, d->scratch, d->rate.stream));
}

static void put_double_tall(const struct product *p)
{
	const struct bench *d = p->bench;
	const int sms = d->rate.gpu.sm_count, deep = p->k + p->k % 2;
	const struct double_tall_plan plan = double_tall_plan_make(p->m, p->n, p->k, sms);

	GPU(double_tall(&plan, (struct matrix){d->a, 0, p->k, p->m, deep, DOUBLE},
	        (struct matrix){d->b, 0, p->k, p->n, deep, DOUBLE},
	        (struct matrix){d->c, 0, p->m, p->n, p->m, DOUBLE}, d->scratch, d->rate.stream));
}

static void put_double_tall_update(const struct product *p)
{
	const struct bench *d = p->bench;
	const int sms = d->rate.gpu.sm_count, ld = rows_of(p);
	const struct double_tall_plan plan = double_tall_update_plan_make(p->k, p->n, p->m, sms);

	GPU(double_tall_update(&plan, gemm_rate_alpha,
	        (struct matrix){d->a, 0, p->m, p->k, ld, DOUBLE},
	        (struct matrix){d->b, 0, p->k, p->n, p->k, DOUBLE},
	        (struct matrix){d->c, 0, p->m, p->n, ld, DOUBLE}, d->rate.stream));
}

void gemm_rate_put(void *context)
{
	const struct product *p = context;
	if (gemm_rate_is_half(p->kind))
		put_half(p);
	else if (p->kind >= TALL)
		put_tall(p);
	else if (p->kind == OWN_GEMM_TN)
		put_own_tall(p);
	else if (p->kind == DOUBLE_TALL)
		put_double_tall(p);
	else if (p->kind == DOUBLE_TALL_UPDATE)
		put_double_tall_update(p);
	else if (p->kind >= OWN_GEMM)
		put_own(p);
	else if (gemm_rate_is_solve(p->kind))
		put_trsm(p);
	else if (p->kind == SYRK)
		put_syrk(p);
	else if (p->kind == GEMM_BATCHED)
		put_batched(p);
	else if (p->math == FP64)
		put_gemm_double(p);
	else
		put_gemm(p);
}

/* ---- data ---- */

void gemm_rate_fill(const struct bench *bench, enum math math)
{
	void *matrix[] = {bench->a, bench->b, bench->c};
	for (size_t i = 0; i < ARRAY_LEN(matrix); i++)
		blas_rate_fill(&bench->rate, precision_of(math), matrix[i], bench->elements, i);
}

void gemm_rate_fill_triangle(const struct product *p)
{
	const struct bench *d = p->bench;
	const int count = p->m * p->m;
	const float scale_s = (float)off_diagonal;
	const enum precision precision = precision_of(p->math);
	const struct matrix triangle = {d->triangle, 0, p->m, p->m, p->m, precision};
	blas_rate_fill(&d->rate, precision, d->triangle, count, 3);
	if (p->math == FP64)
		BLAS(cublasDscal(d->rate.blas, count, &off_diagonal, d->triangle, 1));
	else
		BLAS(cublasSscal(d->rate.blas, count, &scale_s, d->triangle, 1));
	GPU(block_fill(UPPER, 0, 1, triangle, d->rate.stream));
}

void gemm_rate_fill_pair(const struct product *p)
{
	const struct matrix b = {p->bench->b, 0, p->k, p->n, p->k, SINGLE};
	const struct splits splits = {{{b, PLAIN, HALF_PAIR, pair_of(p)}}, 1};

	GPU(half_pair(&splits, p->bench->rate.stream));
}

void gemm_rate_open(struct bench *bench, struct probe_run *run, int64_t largest)
{
	const int64_t word = sizeof(double), three = 3 * word;
	blas_rate_open(&bench->rate, run);
	blas_double_open(&bench->doubles, &bench->rate.tuning, bench->rate.blas);
	bench->elements = blas_rate_memory(three * largest * largest,
	                          three * GEMM_RATE_TRIANGLE * GEMM_RATE_TRIANGLE) /
	                  three;
	bench->a = blas_rate_room(bench->elements * word);
	bench->b = blas_rate_room(bench->elements * word);
	bench->c = blas_rate_room(bench->elements * word);
	bench->scratch = blas_rate_room(TF32_TALL_SCRATCH);
	bench->triangle = blas_rate_room(GEMM_RATE_TRIANGLE * GEMM_RATE_TRIANGLE * word);
}

void gemm_rate_close(struct bench *bench)
{
	void *const pieces[] = {bench->a, bench->b, bench->c, bench->triangle, bench->scratch};

	blas_rate_release(&bench->rate, pieces, ARRAY_LEN(pieces));
	blas_rate_close(&bench->rate);
}
