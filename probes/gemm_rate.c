/* SPDX-License-Identifier: MIT */
/* Question: how long do the library's gemm, trsm and syrk, and our own products, take against
 * shape?
 *
 * Method: cuBLAS calls at powers of two, in fp32, tf32 and fp64: updates C -= A B and squares (beta
 * = 1), tall products V^T C (beta = 0), triangular solves with a unit lower triangle on the left
 * (LU's) and, with a diagonal and transposed, on the right (Cholesky's), symmetric updates of the
 * lower triangle. Dependent calls in one stream, start to start by stamps of both clocks, behind a
 * hold; leading dimensions are the matrices' own rows.
 *
 * What can fool it: code loaded at first use (every shape runs once before); zeros, which need less
 * power (all data are random; small alpha keeps them finite); a clock that power lowers in the
 * longest calls (it is recorded with each point, and only steady samples are kept); a library that
 * does not compute what was asked (each kind is compared with the host's result at the start).
 * Small operands stay in L2 from call to call, as they do in a factorization.
 *
 * Unit: seconds per call. */
#include "../lib/base.h"
#include "blas_rate.h"
#include "gemm_rate.h"
#include "../lib/block_kernels.h"
#include "../lib/gemm.h"

#include <stdlib.h>

enum kind { GEMM, GEMM_TN, TRSM, TRSM_RIGHT, SYRK, OWN_GEMM, OWN_SYRK };
enum math { FP32, TF32, FP64 };

enum { LISTED = 12, TRIANGLE = 1024, LARGEST = 16384, CHECKED = 48 };

/* Small, so that repeated updates stay finite; the triangle is next to the identity. */
static const double small = -1e-3, off_diagonal = 1e-5;

struct bench {
	struct blas_rate rate;
	void *a, *b, *c, *triangle; /* on the device; a, b and c of `elements` doubles each */
	int64_t elements;
	uint64_t seed;
	double best; /* highest flop/s seen of this kind and math */
};

/* m x n is the result (trsm: the right-hand sides, which are n x m when the triangle, of order m,
 * is on the right), k the inner dimension. */
struct product {
	struct bench *bench;
	enum kind kind;
	enum math math;
	int m, n, k;
};

static bool is_solve(enum kind kind)
{
	return kind == TRSM || kind == TRSM_RIGHT;
}

static bool is_symmetric(enum kind kind)
{
	return kind == SYRK || kind == OWN_SYRK;
}

static double flops(const struct product *p)
{
	const double m = p->m, n = p->n, k = p->k;
	if (is_solve(p->kind))
		return m * m * n;
	return is_symmetric(p->kind) ? n * (n + 1) * k : 2 * m * n * k;
}

/* ---- the calls ---- */

static void put_gemm(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool transposed = p->kind == GEMM_TN, twice = p->math == FP64;
	const double alpha = transposed ? 1 : small, beta = transposed ? 0 : 1;
	const float alpha_s = (float)alpha, beta_s = (float)beta;
	const cudaDataType type = twice ? CUDA_R_64F : CUDA_R_32F;
	const cublasComputeType_t compute = twice             ? CUBLAS_COMPUTE_64F
	                                    : p->math == TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
	                                                      : CUBLAS_COMPUTE_32F;
	BLAS(cublasGemmEx(d->rate.blas, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, p->m,
	        p->n, p->k, twice ? (const void *)&alpha : &alpha_s, d->a, type,
	        transposed ? p->k : p->m, d->b, type, p->k, twice ? (const void *)&beta : &beta_s,
	        d->c, type, p->m, compute, CUBLAS_GEMM_DEFAULT));
}

static void put_trsm(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool right = p->kind == TRSM_RIGHT;
	const cublasSideMode_t side = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
	const cublasOperation_t op = right ? CUBLAS_OP_T : CUBLAS_OP_N;
	const cublasDiagType_t diag = right ? CUBLAS_DIAG_NON_UNIT : CUBLAS_DIAG_UNIT;
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
	const double alpha = small, one = 1;
	const float alpha_s = (float)small, one_s = 1;
	if (p->math == FP64)
		BLAS(cublasDsyrk(d->rate.blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, p->n, p->k,
		        &alpha, d->a, p->n, &one, d->c, p->n));
	else
		BLAS(cublasSsyrk(d->rate.blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, p->n, p->k,
		        &alpha_s, d->a, p->n, &one_s, d->c, p->n));
}

/* Our own kernels: C -= A B, or the lower triangle of C -= A A^T. */
static void put_own(const struct product *p)
{
	const struct bench *d = p->bench;
	const bool symmetric = p->kind == OWN_SYRK;
	const int m = symmetric ? p->n : p->m;
	const struct gemm_problem problem = {.precision = SINGLE,
	        .tb = symmetric,
	        .part = symmetric ? GEMM_LOWER : GEMM_WHOLE,
	        .m = m,
	        .n = p->n,
	        .k = p->k,
	        .lda = m,
	        .ldb = symmetric ? m : p->k,
	        .ldc = m};
	const struct gemm_plan plan = gemm_plan_make(&problem, d->rate.gpu.sm_count, false);
	GPU(gemm_launch(&problem, &plan, small, d->a, symmetric ? d->a : d->b, 1, d->c, NULL,
	        d->rate.stream));
}

static void put(void *context)
{
	const struct product *p = context;
	if (p->kind == OWN_GEMM || p->kind == OWN_SYRK) {
		put_own(p);
		return;
	}
	if (is_solve(p->kind))
		put_trsm(p);
	else if (p->kind == SYRK)
		put_syrk(p);
	else
		put_gemm(p);
}

/* ---- data ---- */

static void fill_random(
        const struct bench *bench, enum math math, void *matrix, int64_t count, uint64_t seed)
{
	if (math == FP64)
		gpu_fill_double(matrix, count, seed, bench->rate.stream);
	else
		gpu_fill_float(matrix, count, seed, bench->rate.stream);
}

static void fill(const struct bench *bench, enum math math)
{
	void *matrix[] = {bench->a, bench->b, bench->c};
	for (size_t i = 0; i < ARRAY_LEN(matrix); i++)
		fill_random(bench, math, matrix[i], bench->elements, bench->seed + i);
}

/* The lower triangle of order m, next to the identity. */
static void fill_triangle(const struct product *p)
{
	const struct bench *d = p->bench;
	const int count = p->m * p->m;
	const float scale_s = (float)off_diagonal;
	const enum precision precision = p->math == FP64 ? DOUBLE : SINGLE;
	const struct matrix triangle = {d->triangle, 0, p->m, p->m, p->m, precision};
	fill_random(d, p->math, d->triangle, count, d->seed + 3);
	if (p->math == FP64)
		BLAS(cublasDscal(d->rate.blas, count, &off_diagonal, d->triangle, 1));
	else
		BLAS(cublasSscal(d->rate.blas, count, &scale_s, d->triangle, 1));
	GPU(block_fill(UPPER, 0, 1, triangle, d->rate.stream));
}

static void open_bench(struct bench *bench, struct probe_run *run, int64_t largest)
{
	size_t unused, total;
	blas_rate_open(&bench->rate, run);
	bench->seed = 4 * (uint64_t)run->common.seed;
	bench->elements = largest * largest;
	GPU(cudaMemGetInfo(&unused, &total));
	while (3 * bench->elements * (int64_t)sizeof(double) > (int64_t)(unused / 2))
		bench->elements /= 4;
	if (bench->elements < largest * largest)
		msg_warn("only %zu bytes of GPU memory are free: the largest matrices are left out",
		        unused);
	if (bench->elements < (int64_t)TRIANGLE * TRIANGLE)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop what uses it", unused);
	const size_t bytes = (size_t)bench->elements * sizeof(double);
	GPU(cudaMalloc(&bench->a, bytes));
	GPU(cudaMalloc(&bench->b, bytes));
	GPU(cudaMalloc(&bench->c, bytes));
	GPU(cudaMalloc(&bench->triangle, TRIANGLE * TRIANGLE * sizeof(double)));
}

static void close_bench(struct bench *bench)
{
	GPU(cudaFree(bench->a));
	GPU(cudaFree(bench->b));
	GPU(cudaFree(bench->c));
	GPU(cudaFree(bench->triangle));
	blas_rate_close(&bench->rate);
}

/* ---- correctness ---- */

/* The first `count` elements of a device matrix, as doubles; the caller frees them. */
static double *fetch(const struct bench *bench, enum math math, const void *from)
{
	enum { COUNT = CHECKED * CHECKED };
	double *to = xmalloc(COUNT * sizeof *to);
	float *single = xmalloc(COUNT * sizeof *single);
	GPU(cudaStreamSynchronize(bench->rate.stream));
	GPU(cudaMemcpy(math == FP64 ? (void *)to : single, from,
	        COUNT * (math == FP64 ? sizeof *to : sizeof *single), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT && math != FP64; i++)
		to[i] = single[i];
	free(single);
	return to;
}

/* What element (i, j) of c must become; for trsm the rows above i, or the columns left of j, are
 * solved already. */
static double expected_element(
        const struct product *p, const double *a, const double *b, const double *c, int i, int j)
{
	const int n = CHECKED;
	const bool solve = is_solve(p->kind);
	double sum = 0;
	if (is_symmetric(p->kind) && i < j)
		return c[i + j * n];
	for (int l = 0; l < (p->kind == TRSM ? i : p->kind == TRSM_RIGHT ? j : n); l++) {
		const double left = p->kind == GEMM_TN      ? a[l + i * n]
		                    : p->kind == TRSM_RIGHT ? a[j + l * n]
		                                            : a[i + l * n];
		const double right = p->kind == TRSM         ? c[l + j * n]
		                     : p->kind == TRSM_RIGHT ? c[i + l * n]
		                     : is_symmetric(p->kind) ? a[j + l * n]
		                                             : b[l + j * n];
		sum += left * right;
	}
	if (p->kind == GEMM_TN)
		return sum;
	return c[i + j * n] + (solve ? -1 : small) * sum;
}

/* Largest deviation from the host's result. Those of fp32 arithmetic are below a rounding of C (for
 * V^T C, which the triangular solve then starts from: of its larger elements), those of tf32
 * operands well above. */
static bool is_correct(struct bench *bench, enum kind kind, enum math math)
{
	static const double bound[] = {[FP32] = 3e-7, [TF32] = 2e-5, [FP64] = 2e-15};
	struct product p = {bench, kind, math, CHECKED, CHECKED, CHECKED};
	const bool solve = is_solve(kind);
	if (solve)
		fill_triangle(&p);
	double *a = fetch(bench, math, solve ? bench->triangle : bench->a);
	double *b = fetch(bench, math, bench->b), *c = fetch(bench, math, bench->c);
	put(&p);
	double *got = fetch(bench, math, bench->c), worst = 0;
	for (int j = 0; j < CHECKED; j++)
		for (int i = 0; i < CHECKED; i++) {
			const double want = expected_element(&p, a, b, c, i, j);
			const double off = fabs(got[i + j * CHECKED] - want);
			worst = isnan(off) ? INFINITY : fmax(worst, off);
			c[i + j * CHECKED] = want;
		}
	free(a);
	free(b);
	free(c);
	free(got);
	return worst <= bound[math] * (kind == GEMM_TN || solve ? 20 : 1);
}

static const char *const kind_name[] = {
        "gemm", "gemm_tn", "trsm", "trsm_right", "syrk", "own_gemm", "own_syrk"};
static const char *const math_name[] = {"s", "tf32", "d"};

static bool has(const struct bench *bench, enum kind kind, enum math math)
{
	if (kind >= OWN_GEMM)
		return math == FP32;
	return math != TF32 || (kind == GEMM && bench->rate.gpu.major >= 8);
}

/* All kinds in one math; `report` gives a line for each. */
static bool verify(struct bench *bench, enum math math, bool report)
{
	bool correct = true;
	for (int kind = GEMM; kind <= OWN_SYRK; kind++) {
		if (!has(bench, kind, math))
			continue;
		const bool right = is_correct(bench, kind, math);
		correct = correct && right;
		if (report || !right)
			fprintf(right ? stdout : stderr, "%s_%s: %s\n", kind_name[kind],
			        math_name[math],
			        right ? "correct" : "differs from the host's result");
	}
	return correct;
}

static bool check(struct probe_run *run)
{
	struct bench bench = {0};
	bool correct = true;
	open_bench(&bench, run, TRIANGLE);
	for (int math = FP32; math <= FP64; math++) {
		fill(&bench, math);
		correct = verify(&bench, math, true) && correct;
	}
	close_bench(&bench);
	return correct;
}

/* ---- the sweep ---- */

/* Values of each argument, ended by 0; an argument that a kind does not have is 1. */
struct surface {
	enum kind kind;
	int m[LISTED], n[LISTED], k[LISTED];
};

#define RANKS                                                                                      \
	{                                                                                          \
		32, 64, 128, 256, 512, 1024                                                        \
	}
#define SIZES                                                                                      \
	{                                                                                          \
		512, 1024, 2048, 4096, 8192, 16384                                                 \
	}

static const struct surface updates = {GEMM, {32, 128, 512, 1024, 2048, 4096, 8192, 16384},
        {32, 128, 512, 1024, 2048, 4096, 8192, 16384}, RANKS};
static const struct surface updates_tf32 = {
        GEMM, {32, 128, 1024, 4096, 16384}, {32, 128, 1024, 4096, 16384}, RANKS};
static const struct surface others[] = {
        {GEMM_TN, {32, 64, 128, 256}, {32, 128, 512, 4096}, {1024, 4096, 16384, 65536}},
        {TRSM, RANKS, SIZES, {1}},
        {TRSM_RIGHT, RANKS, SIZES, {1}},
        {SYRK, {1}, SIZES, RANKS},
        {OWN_GEMM, {32, 128, 512, 1024, 2048, 4096, 8192, 16384},
                {32, 128, 512, 1024, 2048, 4096, 8192, 16384}, {32, 64, 128, 256}},
        {OWN_SYRK, {1}, {128, 512, 1024, 2048, 4096, 8192, 16384}, RANKS},
};

static bool fits(const struct product *p)
{
	const int64_t room = p->bench->elements, m = p->m, n = p->n, k = p->k;
	if (is_symmetric(p->kind))
		return n * n <= room && n * k <= room;
	return m * n <= room && m * k <= room && k * n <= room;
}

/* Its shape is m, n and k. */
static bool has_depth(enum kind kind)
{
	return kind == GEMM || kind == GEMM_TN || kind == OWN_GEMM;
}

static void measure_product(struct product *p)
{
	struct bench *bench = p->bench;
	const struct arg args[] = {{"m", p->m}, {"n", p->n}, {"k", p->k}};
	if (!fits(p))
		return;
	if (is_solve(p->kind))
		fill_triangle(p);
	char *series = xasprintf("%s_%s", kind_name[p->kind], math_name[p->math]);
	const double expected = bench->best > 0 ? flops(p) / bench->best : 0;
	const double seconds = blas_rate_measure(&bench->rate, put, p, expected, series,
	        args + is_symmetric(p->kind), has_depth(p->kind) ? 3 : 2);
	bench->best = fmax(bench->best, flops(p) / seconds);
	free(series);
}

/* --quick takes every third value. */
static void measure_surface(struct bench *bench, const struct surface *surface, enum math math)
{
	const int step = bench->rate.run->common.quick ? 3 : 1;
	bench->best = 0;
	for (int i = 0; i < LISTED && surface->m[i]; i += step)
		for (int j = 0; j < LISTED && surface->n[j]; j += step)
			for (int l = 0; l < LISTED && surface->k[l]; l += step) {
				struct product p = {bench, surface->kind, math, surface->m[i],
				        surface->n[j], surface->k[l]};
				measure_product(&p);
			}
}

static bool lists(const int *list, int value)
{
	for (int i = 0; i < LISTED && list[i]; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* Squares that the surface of updates does not have. */
static void measure_squares(struct bench *bench, const struct surface *surface, enum math math)
{
	const int step = bench->rate.run->common.quick ? 8 : 2;
	for (int n = 16; n <= LARGEST; n *= step) {
		struct product p = {bench, GEMM, math, n, n, n};
		if (!lists(surface->m, n) || !lists(surface->k, n))
			measure_product(&p);
	}
}

static void measure_math(struct bench *bench, enum math math)
{
	const struct surface *update = math == TF32 ? &updates_tf32 : &updates;
	if (!has(bench, GEMM, math))
		return;
	fill(bench, math);
	if (!verify(bench, math, false))
		msg_die(EXIT_MEASURE_FAILED, "cuBLAS computes something else: no result kept");
	blas_rate_rest(&bench->rate);
	const double begun = clock_now();
	measure_surface(bench, update, math);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (has(bench, others[i].kind, math))
			measure_surface(bench, &others[i], math);
	measure_squares(bench, update, math);
	msg_note("%s took %.2f s", math_name[math], clock_now() - begun);
}

/* What needs most power comes last, and a rest before the next: the clock stays low for a while. */
static void measure(struct probe_run *run)
{
	struct bench bench = {0};
	open_bench(&bench, run, LARGEST);
	measure_math(&bench, FP32);
	measure_math(&bench, FP64);
	measure_math(&bench, TF32);
	close_bench(&bench);
}

static const char *const columns[] = {"m", "n", "k"};

const struct probe gemm_rate_probe = {
        .name = "gemm_rate",
        .question = "How long do the library's gemm, trsm and syrk take against shape?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .seconds = 2.6,
        .processes = 3,
        .measure = measure,
        .check = check,
        .fit = gemm_rate_fit,
};
