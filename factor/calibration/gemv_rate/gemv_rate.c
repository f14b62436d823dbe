/* SPDX-License-Identifier: MIT */
/* Question: how long do the library's gemv (N and T) and ger, and our own gemv, take against shape?
 *
 * Method: calls at powers of two, square, tall and wide, in fp32 and fp64, follow each other in one
 * stream behind a hold, timed from start to start by stamps of both clocks. cold = 0: the same
 * matrix in every call. cold = 1: the calls go through a pool of matrices of at least eight L2s,
 * which leaves each in DRAM. Matrices of at least two L2s are measured only from the pool: they are
 * always cold.
 *
 * What can fool it: code loaded at first use (every shape runs once before); a pool that L2 holds
 * in part (it is cyclic and far larger); zeros (all data are random; a small alpha keeps them
 * finite). The vectors are warm in either state, as a panel's are. Leading dimensions are the
 * matrices' rows.
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
static const enum precision precisions[] = {SINGLE, DOUBLE};

struct bench {
	struct blas_rate rate;
	char *pool; /* on the device */
	int64_t pool_bytes, next;
	void *x, *y; /* on the device, LARGEST doubles each */
	void *work;  /* of our own gemv; its counters must be zero */
};

struct operation {
	struct bench *bench;
	enum kind kind;
	enum precision precision;
	bool cold;
	int m, n;
};

static const char *const kind_name[] = {"gemv_n", "gemv_t", "ger", "own_gemv_n", "own_gemv_t"};

static int64_t matrix_bytes(const struct operation *o)
{
	return (int64_t)o->m * o->n * precision_bytes(o->precision);
}

/* ---- the calls ---- */

/* The matrix of this call: the first of the pool, or the one after the last cold call's, also of
 * another shape: L2 may hold what that shape's calls began with. */
static void *next_matrix(const struct operation *o)
{
	struct bench *bench = o->bench;
	const int64_t bytes = matrix_bytes(o);
	if (!o->cold)
		return bench->pool;
	if (bench->next + bytes > bench->pool_bytes)
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
	const struct gemv_call call = {.precision = o->precision,
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
	const struct gemv_plan plan = gemv_plan(&call, &d->rate.tuning);
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
	else if (o->kind == GER && o->precision == DOUBLE)
		BLAS(cublasDger(blas, o->m, o->n, &small, d->x, 1, d->y, 1, a, o->m));
	else if (o->kind == GER)
		BLAS(cublasSger(blas, o->m, o->n, &small_s, d->x, 1, d->y, 1, a, o->m));
	else if (o->precision == DOUBLE)
		BLAS(cublasDgemv(blas, op, o->m, o->n, &small, a, o->m, d->x, 1, &one, d->y, 1));
	else
		BLAS(cublasSgemv(
		        blas, op, o->m, o->n, &small_s, a, o->m, d->x, 1, &one_s, d->y, 1));
}

/* ---- data ---- */

static void fill(const struct bench *bench, enum precision precision)
{
	void *data[] = {bench->pool, bench->x, bench->y};
	const int64_t bytes[] = {bench->pool_bytes, LARGEST * 8, LARGEST * 8};
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		blas_rate_fill(
		        &bench->rate, precision, data[i], bytes[i] / precision_bytes(precision), i);
}

static void open_bench(struct bench *bench, struct probe_run *run, int64_t largest)
{
	blas_rate_open(&bench->rate, run);
	bench->pool_bytes = blas_rate_memory(largest * largest * 8, 8 * bench->rate.gpu.l2_bytes);
	bench->pool = blas_rate_room(bench->pool_bytes);
	bench->x = blas_rate_room(LARGEST * 8);
	bench->y = blas_rate_room(LARGEST * 8);
	bench->work = blas_rate_room(WORK_BYTES);
}

static void close_bench(struct bench *bench)
{
	void *const pieces[] = {bench->pool, bench->x, bench->y, bench->work};

	blas_rate_release(&bench->rate, pieces, ARRAY_LEN(pieces));
	blas_rate_close(&bench->rate);
}

/* ---- correctness ---- */

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

static bool is_correct(struct bench *bench, enum kind kind, enum precision precision)
{
	enum { COUNT = CHECKED_M * CHECKED_N };
	struct operation o = {bench, kind, precision, false, CHECKED_M, CHECKED_N};
	double *a = blas_rate_fetch(&bench->rate, precision, bench->pool, COUNT);
	double *x = blas_rate_fetch(&bench->rate, precision, bench->x, CHECKED_M);
	double *y = blas_rate_fetch(&bench->rate, precision, bench->y, CHECKED_M);
	put(&o);
	double *got = kind == GER ? blas_rate_fetch(&bench->rate, precision, bench->pool, COUNT)
	                          : blas_rate_fetch(&bench->rate, precision, bench->y, CHECKED_M);
	const double worst = deviation(kind, a, x, y, got);
	free(a);
	free(x);
	free(y);
	free(got);
	return worst <= (precision == DOUBLE ? 4e-16 : 2e-7);
}

static bool verify(struct bench *bench, enum precision precision, bool report)
{
	bool correct = true;
	for (enum kind kind = GEMV_N; kind < KINDS; kind++) {
		const bool right = is_correct(bench, kind, precision);
		correct = correct && right;
		if (report || !right)
			fprintf(right ? stdout : stderr, "%s_%c: %s\n", kind_name[kind], precision,
			        right ? "correct" : "differs from the host's result");
	}
	return correct;
}

static bool check(struct probe_run *run)
{
	struct bench bench = {0};
	bool correct = true;
	open_bench(&bench, run, 1024);
	for (size_t i = 0; i < ARRAY_LEN(precisions); i++) {
		fill(&bench, precisions[i]);
		correct = verify(&bench, precisions[i], true) && correct;
	}
	close_bench(&bench);
	return correct;
}

/* ---- the sweep ---- */

static void measure_state(struct operation *o, bool cold)
{
	struct bench *bench = o->bench;
	const struct arg args[] = {{"m", o->m}, {"n", o->n}, {"cold", cold}};
	o->cold = cold;
	blas_rate_point(
	        &bench->rate, put, o, kind_name[o->kind], o->precision, args, ARRAY_LEN(args));
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

static void measure_kind(struct bench *bench, enum kind kind, enum precision precision)
{
	const bool quick = bench->rate.run->common.quick;
	const size_t step = quick ? 2 : 1;
	for (size_t i = 0; i < ARRAY_LEN(sides); i += step)
		for (size_t j = 0; j < ARRAY_LEN(sides); j += step) {
			struct operation o = {bench, kind, precision, false, sides[i], sides[j]};
			measure_shape(&o);
		}
	for (size_t i = 0; !quick && i < ARRAY_LEN(squares); i++) {
		struct operation o = {bench, kind, precision, false, squares[i], squares[i]};
		measure_shape(&o);
	}
}

static void measure(struct probe_run *run)
{
	struct bench bench = {0};
	open_bench(&bench, run, LARGEST);
	for (size_t i = 0; i < ARRAY_LEN(precisions); i++) {
		const enum precision precision = precisions[i];
		const double begun = clock_now();
		fill(&bench, precision);
		if (!verify(&bench, precision, false))
			msg_die(EXIT_MEASURE_FAILED,
			        "a result differs from the host's: nothing is recorded");
		for (enum kind kind = GEMV_N; kind < KINDS; kind++)
			measure_kind(&bench, kind, precision);
		msg_note("%s took %.2f s", precision == DOUBLE ? "fp64" : "fp32",
		        clock_now() - begun);
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
