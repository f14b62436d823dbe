/* SPDX-License-Identifier: MIT */
/* The calls that gemm_rate times, and their data. */
#include "gemm_rate_internal.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemm/gemm.h"
#include "factor/kernels/gemm/half_pair.h"
#include "factor/kernels/gemm/half_update.h"
#include "factor/kernels/gemm/tf32.h"
#include "factor/kernels/gemm/tf32_tall.h"

enum { LINE = 32 }; /* elements: columns of our own products begin at a line of memory */

static const double off_diagonal = 1e-5;

const char *const gemm_rate_math_name[] = {"s", "tf32", "d"};

bool gemm_rate_has(const struct bench *bench, enum kind kind, enum math math)
{
	const struct gpu *gpu = &bench->rate.gpu;

	if (!(gemm_rate_kinds[kind].maths & 1u << math))
		return false;
	if (math == TF32)
		return gpu->major >= 8 && (kind != GEMM_SHARED || gpu->sm_count > 2 * TF32_KEPT);
	if (kind >= TALL)
		return gpu->warpgroups;
	return math == FP32 || kind < OWN_GEMM ||
	       gemm_has(DOUBLE, gpu->code, gpu->shared_per_block);
}

/* ---- the calls ---- */

/* Whether A is stored as its transpose: for V^T C, and in tf32, whose units need the inner
 * dimension down the columns of both operands. */
bool gemm_rate_is_transposed(const struct product *p)
{
	return gemm_rate_is(p->kind, LONG | PAIRS) || p->math == TF32;
}

/* Of matrices whose columns follow each other without gaps, but for those of m rows, which are ld
 * apart. */
static struct gemm_problem problem_of(const struct product *p, bool ta, bool tb, int m, int ld)
{
	return (struct gemm_problem){.precision = precision_of(p->math),
	        .ta = ta,
	        .tb = tb,
	        .part = gemm_rate_is(p->kind, SYMMETRIC) ? GEMM_LOWER : GEMM_WHOLE,
	        .m = m,
	        .n = p->n,
	        .k = p->k,
	        .lda = ta ? p->k : ld,
	        .ldb = !tb                                ? p->k
	               : gemm_rate_is(p->kind, SYMMETRIC) ? ld
	                                                  : p->n,
	        .ldc = ld};
}

static void put_gemm_double(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool tall = p->kind == GEMM_TN;
	const struct gemm_problem problem =
	        problem_of(p, tall, p->kind == GEMM_NT, p->m, p->m + p->m % 2);
	BLAS(blas_double_gemm(&d->doubles, d->rate.blas, &problem, tall ? 1 : gemm_rate_alpha, d->a,
	        d->b, tall ? 0 : 1, d->c));
}

static void put_gemm(const struct product *p)
{
	const struct bench *d = p->bench;
	if (p->math == FP64) {
		put_gemm_double(p);
		return;
	}
	const bool tall = p->kind == GEMM_TN, transposed = gemm_rate_is_transposed(p);
	const int ld = p->m + p->m % 2;
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
	const struct gemm_problem problem = problem_of(p, false, true, p->n, p->n);
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
	const struct gemm_problem problem = problem_of(p, true, false, p->m, p->m);
	const struct gemm_plan plan =
	        gemm_plan_make(&problem, d->rate.gpu.sm_count, TF32_TALL_SCRATCH);
	GPU(gemm_launch(&problem, &plan, 1, d->a, d->b, 0, d->c, d->scratch, d->rate.stream));
}

/* Our own kernels: C -= A B, or the lower triangle of C -= A A^T. */
static void put_own(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool symmetric = gemm_rate_is(p->kind, SYMMETRIC);
	const int m = symmetric ? p->n : p->m, ld = (m + LINE - 1) / LINE * LINE;
	const struct gemm_problem problem = problem_of(p, false, symmetric, m, ld);
	struct gemm_plan plan = gemm_plan_make(&problem, d->rate.gpu.sm_count, 0);
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
	GPU(half_update(gemm_rate_is(p->kind, SYMMETRIC) ? LOWER : WHOLE, gemm_rate_alpha, pair,
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

enum { S = 1 << FP32, T = 1 << TF32, D = 1 << FP64 };

const struct kind_facts gemm_rate_kinds[KINDS] = {
        [GEMM] = {"gemm", S | T | D, 0, put_gemm},
        [GEMM_TN] = {"gemm_tn", S | D, LONG, put_gemm},
        [TRSM] = {"trsm", S | D, SOLVES, put_trsm},
        [TRSM_RIGHT] = {"trsm_right", S | D, SOLVES, put_trsm},
        [TRSM_FEW] = {"trsm_few", S | D, SOLVES, put_trsm},
        [SYRK] = {"syrk", S | D, SYMMETRIC, put_syrk},
        [GEMM_ODD] = {"gemm_odd", D, 0, put_gemm},
        [GEMM_NT] = {"gemm_nt", D, 0, put_gemm},
        [GEMM_SHARED] = {"gemm_shared", T, 0, put_gemm},
        [GEMM_BATCHED] = {"gemm_batched", T, 0, put_batched},
        [OWN_GEMM] = {"own_gemm", S | D, 0, put_own},
        [OWN_GEMM_TN] = {"own_gemm_tn", S, LONG, put_own_tall},
        [OWN_SYRK] = {"own_syrk", S | D, SYMMETRIC, put_own},
        [OWN_GEMM_EDGE] = {"own_gemm_edge", S | D, 0, put_own},
        [OWN_GEMM_SHARED] = {"own_gemm_shared", S | D, 0, put_own},
        [OWN_SYRK_SHARED] = {"own_syrk_shared", S | D, SYMMETRIC, put_own},
        [OWN_GEMM_EDGE_SHARED] = {"own_gemm_edge_shared", S | D, 0, put_own},
        [TALL] = {"tf32_tall", S, LONG, put_tall},
        [TALL_SHARED] = {"tf32_tall_shared", S, LONG, put_tall},
        [HALF_SYRK] = {"half_syrk", S, SYMMETRIC | PAIRS, put_half},
        [HALF_SYRK_SHARED] = {"half_syrk_shared", S, SYMMETRIC | PAIRS, put_half},
        [HALF_GEMM] = {"half_gemm", S, PAIRS, put_half},
        [HALF_GEMM_SHARED] = {"half_gemm_shared", S, PAIRS, put_half},
};

void gemm_rate_put(void *context)
{
	const struct product *p = context;
	gemm_rate_kinds[p->kind].put(p);
}

/* ---- data ---- */

void gemm_rate_fill(const struct bench *bench, enum math math)
{
	void *matrix[] = {bench->a, bench->b, bench->c};
	for (size_t i = 0; i < ARRAY_LEN(matrix); i++)
		blas_rate_fill(&bench->rate, precision_of(math), matrix[i], bench->elements, i, 1);
}

void gemm_rate_fill_triangle(const struct product *p)
{
	const struct bench *d = p->bench;
	const struct matrix triangle = {d->triangle, 0, p->m, p->m, p->m, precision_of(p->math)};
	blas_rate_fill(&d->rate, triangle.precision, d->triangle, p->m * p->m, 3, off_diagonal);
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
	blas_double_open(&bench->doubles, bench->rate.blas);
	bench->elements = blas_rate_memory(three * largest * largest,
	                          three * GEMM_RATE_TRIANGLE * GEMM_RATE_TRIANGLE) /
	                  three;
	bench->a = blas_rate_room(&bench->rate, bench->elements * word);
	bench->b = blas_rate_room(&bench->rate, bench->elements * word);
	bench->c = blas_rate_room(&bench->rate, bench->elements * word);
	bench->scratch = blas_rate_room(&bench->rate, TF32_TALL_SCRATCH);
	bench->triangle =
	        blas_rate_room(&bench->rate, GEMM_RATE_TRIANGLE * GEMM_RATE_TRIANGLE * word);
}
