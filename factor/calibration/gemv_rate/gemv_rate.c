/* SPDX-License-Identifier: MIT */
/* Question: how long do the library's gemv (N and T) and ger, and our own gemv, take against shape?
 *
 * Method: cuBLAS calls, and those of factor/kernels/gemv/gemv.cu that the cuda executor makes, at powers of two,
 * square, tall and wide, in fp32 and fp64. Dependent calls in one stream, start to start by stamps
 * of both clocks, behind a hold; leading dimensions are the matrices' own rows. cold = 0: the same
 * matrix in every call, which L2 holds as far as it can; cold = 1: calls go through a pool of
 * matrices of eight L2s and more, so that each finds its own in DRAM. Matrices of two L2s and more
 * are taken through the pool only: they are cold either way.
 *
 * What can fool it: code loaded at first use (every shape runs once before); a pool that L2 holds
 * in part (it is cyclic and far larger); zeros (all data are random; a small alpha keeps them
 * finite). The vectors are warm in either state, as a panel's are.
 *
 * Unit: seconds per call. */
#include "lib/base/base.h"
#include "factor/calibration/blas_rate.h"
#include "gemv_rate.h"

#include "factor/kernels/gemv/gemv.h"

#include <stdlib.h>

enum kind { GEMV_N, GEMV_T, GER, OWN_N, OWN_T, KINDS };

enum { LISTED = 12, LARGEST = 32768, CHECKED_M = 96, CHECKED_N = 64, WORK_BYTES = 16 << 20 };

static const double small = 1e-6;

struct bench {
	struct blas_rate rate;
	char *pool; /* on the device */
	int64_t pool_bytes, next;
	void *x, *y; /* on the device, LARGEST doubles each */
	void *work;  /* of our own gemv: its counters are zero */
	uint64_t seed;
};

struct operation {
	struct bench *bench;
	enum kind kind;
	bool twice, cold;
	int m, n;
};

static const char *const kind_name[] = {"gemv_n", "gemv_t", "ger", "own_gemv_n", "own_gemv_t"};

static int64_t matrix_bytes(const struct operation *o)
{
	return (int64_t)o->m * o->n * (o->twice ? 8 : 4);
}

/* ---- the calls ---- */

/* The matrix of this call: the first of the pool, or the one after the last call's. */
static void *next_matrix(const struct operation *o)
{
	struct bench *bench = o->bench;
	const int64_t bytes = matrix_bytes(o);
	if (!o->cold || bench->next + bytes > bench->pool_bytes)
		bench->next = 0;
	void *matrix = bench->pool + bench->next;
	bench->next += bytes;
	return matrix;
}

static bool transposed(enum kind kind)
{
	return kind == GEMV_T || kind == OWN_T;
}

static void put_own(const struct operation *o, const void *a)
{
	const struct bench *d = o->bench;
	const struct gemv_call call = {.precision = o->twice ? DOUBLE : SINGLE,
	        .transposed = transposed(o->kind),
	        .m = o->m,
	        .n = o->n,
	        .alpha = small,
	        .a = a,
	        .lda = o->m,
	        .x = d->x,
	        .incx = 1,
	        .beta = 1,
	        .y = d->y,
	        .incy = 1};
	const struct gemv_plan plan = gemv_plan(&call, &d->rate.gpu);
	if (gemv_work(&plan, call.precision) > WORK_BYTES)
		msg_die(EXIT_MEASURE_FAILED, "our gemv of %d x %d needs more workspace", o->m,
		        o->n);
	GPU(gemv_tuned(&call, &plan, d->work, d->rate.stream));
}

static void put(void *context)
{
	const struct operation *o = context;
	const struct bench *d = o->bench;
	const cublasHandle_t blas = d->rate.blas;
	const cublasOperation_t op = transposed(o->kind) ? CUBLAS_OP_T : CUBLAS_OP_N;
	const double one = 1;
	const float one_s = 1, small_s = (float)small;
	void *a = next_matrix(o);
	if (o->kind == OWN_N || o->kind == OWN_T)
		put_own(o, a);
	else if (o->kind == GER && o->twice)
		BLAS(cublasDger(blas, o->m, o->n, &small, d->x, 1, d->y, 1, a, o->m));
	else if (o->kind == GER)
		BLAS(cublasSger(blas, o->m, o->n, &small_s, d->x, 1, d->y, 1, a, o->m));
	else if (o->twice)
		BLAS(cublasDgemv(blas, op, o->m, o->n, &small, a, o->m, d->x, 1, &one, d->y, 1));
	else
		BLAS(cublasSgemv(
		        blas, op, o->m, o->n, &small_s, a, o->m, d->x, 1, &one_s, d->y, 1));
}

/* ---- data ---- */

static void fill(const struct bench *bench, bool twice)
{
	void *data[] = {bench->pool, bench->x, bench->y};
	const int64_t bytes[] = {bench->pool_bytes, LARGEST * 8, LARGEST * 8};
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		if (twice)
			gpu_fill_double(data[i], bytes[i] / 8, bench->seed + i, bench->rate.stream);
		else
			gpu_fill_float(data[i], bytes[i] / 4, bench->seed + i, bench->rate.stream);
}

static void open_bench(struct bench *bench, struct probe_run *run, int64_t largest)
{
	size_t unused, total;
	blas_rate_open(&bench->rate, run);
	bench->seed = 3 * (uint64_t)run->common.seed;
	const int64_t least = 8 * bench->rate.gpu.l2_bytes, wanted = largest * largest * 8;
	bench->pool_bytes = wanted;
	GPU(cudaMemGetInfo(&unused, &total));
	while (bench->pool_bytes > (int64_t)(unused / 2))
		bench->pool_bytes /= 4;
	if (bench->pool_bytes < wanted)
		msg_warn("only %zu bytes of GPU memory are free: the largest matrices are left out",
		        unused);
	if (bench->pool_bytes < least)
		bench->pool_bytes = least;
	if (bench->pool_bytes > (int64_t)(unused / 2))
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop what uses it", unused);
	GPU(cudaMalloc((void **)&bench->pool, (size_t)bench->pool_bytes));
	GPU(cudaMalloc(&bench->x, LARGEST * 8));
	GPU(cudaMalloc(&bench->y, LARGEST * 8));
	GPU(cudaMalloc(&bench->work, WORK_BYTES));
	GPU(cudaMemset(bench->work, 0, GEMV_COUNTERS));
	GPU(cudaDeviceSynchronize());
}

static void close_bench(struct bench *bench)
{
	GPU(cudaFree(bench->pool));
	GPU(cudaFree(bench->x));
	GPU(cudaFree(bench->y));
	GPU(cudaFree(bench->work));
	blas_rate_close(&bench->rate);
}

/* ---- correctness ---- */

static double *fetch(const struct bench *bench, bool twice, const void *from, size_t count)
{
	double *to = xmalloc(count * sizeof *to);
	float *single = xmalloc(count * sizeof *single);
	GPU(cudaStreamSynchronize(bench->rate.stream));
	GPU(cudaMemcpy(twice ? (void *)to : single, from,
	        count * (twice ? sizeof *to : sizeof *single), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < count && !twice; i++)
		to[i] = single[i];
	free(single);
	return to;
}

/* The largest deviation of an element from the host's result. */
static double deviation(
        enum kind kind, const double *a, const double *x, const double *y, const double *got)
{
	const int m = CHECKED_M, n = CHECKED_N;
	const int rows = transposed(kind) ? n : m, columns = kind == GER ? n : 1;
	double worst = 0;
	for (int j = 0; j < columns; j++)
		for (int i = 0; i < rows; i++) {
			double sum = kind == GER ? x[i] * y[j] : 0;
			for (int l = 0; kind != GER && l < (transposed(kind) ? m : n); l++)
				sum += (transposed(kind) ? a[l + i * m] : a[i + l * m]) * x[l];
			const double old = kind == GER ? a[i + j * m] : y[i];
			const double off = fabs(got[i + j * m] - (old + small * sum));
			worst = isnan(off) ? INFINITY : fmax(worst, off);
		}
	return worst;
}

static bool is_correct(struct bench *bench, enum kind kind, bool twice)
{
	enum { COUNT = CHECKED_M * CHECKED_N };
	struct operation o = {bench, kind, twice, false, CHECKED_M, CHECKED_N};
	double *a = fetch(bench, twice, bench->pool, COUNT);
	double *x = fetch(bench, twice, bench->x, CHECKED_M);
	double *y = fetch(bench, twice, bench->y, CHECKED_M);
	put(&o);
	double *got = kind == GER ? fetch(bench, twice, bench->pool, COUNT)
	                          : fetch(bench, twice, bench->y, CHECKED_M);
	const double worst = deviation(kind, a, x, y, got);
	free(a);
	free(x);
	free(y);
	free(got);
	return worst <= (twice ? 4e-16 : 2e-7);
}

static bool verify(struct bench *bench, bool twice, bool report)
{
	bool correct = true;
	for (enum kind kind = GEMV_N; kind < KINDS; kind++) {
		const bool right = is_correct(bench, kind, twice);
		correct = correct && right;
		if (report || !right)
			fprintf(right ? stdout : stderr, "%s_%s: %s\n", kind_name[kind],
			        twice ? "d" : "s",
			        right ? "correct" : "differs from the host's result");
	}
	return correct;
}

static bool check(struct probe_run *run)
{
	struct bench bench = {0};
	bool correct = true;
	open_bench(&bench, run, 1024);
	for (int twice = 0; twice < 2; twice++) {
		fill(&bench, twice);
		correct = verify(&bench, twice, true) && correct;
	}
	close_bench(&bench);
	return correct;
}

/* ---- the sweep ---- */

static void measure_state(struct operation *o, bool cold)
{
	struct bench *bench = o->bench;
	const struct arg args[] = {{"m", o->m}, {"n", o->n}, {"cold", cold}};
	char *series = xasprintf("%s_%s", kind_name[o->kind], o->twice ? "d" : "s");
	o->cold = cold;
	bench->next = 0;
	blas_rate_measure(&bench->rate, put, o, 0, series, args, ARRAY_LEN(args));
	free(series);
}

static void measure_shape(struct operation *o)
{
	const int64_t bytes = matrix_bytes(o);
	if (bytes > o->bench->pool_bytes)
		return;
	if (bytes < 2 * o->bench->rate.gpu.l2_bytes)
		measure_state(o, false);
	measure_state(o, true);
}

/* The sides of the grid, and squares between them. */
static const int sides[] = {32, 128, 512, 2048, 8192, 32768};
static const int squares[] = {1024, 4096, 16384};

static void measure_kind(struct bench *bench, enum kind kind, bool twice)
{
	const bool quick = bench->rate.run->common.quick;
	const size_t step = quick ? 2 : 1;
	for (size_t i = 0; i < ARRAY_LEN(sides); i += step)
		for (size_t j = 0; j < ARRAY_LEN(sides); j += step) {
			struct operation o = {bench, kind, twice, false, sides[i], sides[j]};
			measure_shape(&o);
		}
	for (size_t i = 0; !quick && i < ARRAY_LEN(squares); i++) {
		struct operation o = {bench, kind, twice, false, squares[i], squares[i]};
		measure_shape(&o);
	}
}

static void measure(struct probe_run *run)
{
	struct bench bench = {0};
	open_bench(&bench, run, LARGEST);
	for (int twice = 0; twice < 2; twice++) {
		const double begun = clock_now();
		fill(&bench, twice);
		if (!verify(&bench, twice, false))
			msg_die(EXIT_MEASURE_FAILED, "the results are something else: none kept");
		for (enum kind kind = GEMV_N; kind < KINDS; kind++)
			measure_kind(&bench, kind, twice);
		msg_note("%s took %.2f s", twice ? "fp64" : "fp32", clock_now() - begun);
	}
	close_bench(&bench);
}

static const char *const columns[] = {"m", "n", "cold"};

const struct probe gemv_rate_probe = {
        .name = "gemv_rate",
        .question = "How long do the library's gemv and ger, and our own gemv, take against shape?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .seconds = 1.6,
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .check = check,
        .fit = gemv_rate_fit,
};
