/* SPDX-License-Identifier: MIT */
/* The blocked factorizations on the cuda executor: backward errors against LAPACK's on the same
 * matrix, estimated with random vectors in double (so that large matrices can be checked), pivots,
 * info, NaN, and the same bits on repetition. */
#include "factor_test.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/potrf.h"

#include <lapacke.h>
#include <time.h>

enum { VECTORS = 2 };
enum operation { LU, QR, CHOLESKY };
static const char *const operation_name[] = {"getrf", "geqrf", "potrf"};

struct problem {
	enum operation operation;
	enum uplo uplo;
	enum precision precision;
	int64_t m, n, lda;
	void *before, *after, *tau;
	int *ipiv, info;
	double seconds;
};

static int64_t steps(const struct problem *p)
{
	return p->m < p->n ? p->m : p->n;
}

static size_t bytes_of(const struct problem *p)
{
	return (size_t)(p->lda * p->n * precision_bytes(p->precision));
}

static void problem_open(struct problem *p)
{
	p->lda = p->m + (p->m % 3);
	p->before = xmalloc(bytes_of(p) + 1);
	p->after = xmalloc(bytes_of(p) + 1);
	p->tau = xcalloc((size_t)steps(p) + 1, sizeof(double));
	p->ipiv = xcalloc((size_t)steps(p) + 1, sizeof *p->ipiv);
	matrix_fill(p->before, p->lda, p->m, p->n, p->precision, MATRIX_RANDOM, 5);
	for (int64_t j = 0; p->operation == CHOLESKY && j < p->n; j++)
		for (int64_t i = j; i < p->n; i++) {
			double x = get(p->before, i + j * p->lda, p->precision);
			x = i == j ? 2 * sqrt((double)p->n) + x : x;
			put(p->before, i + j * p->lda, p->precision, x);
			put(p->before, j + i * p->lda, p->precision, x);
		}
}

static void problem_close(struct problem *p)
{
	free(p->before);
	free(p->after);
	free(p->tau);
	free(p->ipiv);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- runs ---- */

struct memory {
	struct matrix whole, a, tau;
	struct pivots pivots;
	void *work;
};

static int64_t work_bytes(
        struct executor *e, const struct plan *plan, const struct problem *p, struct matrix a)
{
	return p->operation == LU   ? getrf_work(e, plan, a)
	       : p->operation == QR ? geqrf_work(e, plan, a)
	                            : potrf_work(e, plan, p->uplo, a);
}

static bool memory_open(
        struct executor *e, const struct plan *plan, const struct problem *p, struct memory *m)
{
	int64_t k = steps(p), word = precision_bytes(p->precision);
	void *integers = NULL;

	*m = (struct memory){.whole = {NULL, 0, p->lda, p->n, p->lda, p->precision},
	        .tau = {NULL, 0, k, 1, k, p->precision}};
	m->a = matrix_view(m->whole, 0, 0, p->m, p->n);
	int64_t bytes = work_bytes(e, plan, p, m->a);
	bool ok = bytes >= 0 && e->ops->alloc(e, (int64_t)bytes_of(p), &m->whole.data) &&
	          e->ops->alloc(e, k * word, &m->tau.data) &&
	          e->ops->alloc(e, (k + 1) * (int64_t)sizeof(int), &integers) &&
	          e->ops->alloc(e, bytes, &m->work);
	m->a.data = m->whole.data;
	m->pivots = (struct pivots){integers, k};
	return ok;
}

static void memory_close(struct executor *e, struct memory *m)
{
	e->ops->release(e, m->whole.data);
	e->ops->release(e, m->tau.data);
	e->ops->release(e, m->pivots.data);
	e->ops->release(e, m->work);
}

static bool factorize(struct executor *e, const struct plan *plan, const struct problem *p,
        const struct memory *m)
{
	switch (p->operation) {
	case LU:
		return getrf(e, plan, m->a, m->work, m->pivots);
	case QR:
		return geqrf(e, plan, m->a, m->tau, m->work);
	default:
		return potrf(e, plan, p->uplo, m->a, m->work, m->pivots.data);
	}
}

static bool run(struct executor *e, const struct plan *plan, struct problem *p)
{
	struct memory m;
	bool good = memory_open(e, plan, p, &m) && e->ops->upload(e, p->before, p->lda, m.whole) &&
	            e->ops->sync(e);
	double start = now();

	good = good && factorize(e, plan, p, &m) && e->ops->sync(e);
	p->seconds = now() - start;
	good = good && e->ops->download(e, m.whole, p->after, p->lda) &&
	       e->ops->download(e, m.tau, p->tau, m.tau.ld);
	if (good && p->operation != QR)
		good = e->ops->read_pivots(e,
		        p->operation == LU ? m.pivots : (struct pivots){m.pivots.data, 0}, p->ipiv,
		        &p->info);
	e->ops->sync(e);
	memory_close(e, &m);
	return good;
}

static void lapack(struct problem *p)
{
	lapack_int m = (lapack_int)p->m, n = (lapack_int)p->n, lda = (lapack_int)p->lda;
	char uplo = p->uplo == LOWER ? 'L' : 'U';
	bool single = p->precision == SINGLE;

	memcpy(p->after, p->before, bytes_of(p));
	switch (p->operation) {
	case LU:
		p->info = single ? LAPACKE_sgetrf(LAPACK_COL_MAJOR, m, n, p->after, lda, p->ipiv)
		                 : LAPACKE_dgetrf(LAPACK_COL_MAJOR, m, n, p->after, lda, p->ipiv);
		break;
	case QR:
		p->info = single ? LAPACKE_sgeqrf(LAPACK_COL_MAJOR, m, n, p->after, lda, p->tau)
		                 : LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, p->after, lda, p->tau);
		break;
	case CHOLESKY:
		p->info = single ? LAPACKE_spotrf(LAPACK_COL_MAJOR, uplo, n, p->after, lda)
		                 : LAPACKE_dpotrf(LAPACK_COL_MAJOR, uplo, n, p->after, lda);
	}
}

/* ---- backward errors by vectors ---- */

/* y += T x, the part of the matrix on, above (upper) or below the diagonal, rows x columns, with a
 * unit diagonal or its own */
static void add_part(const struct problem *p, enum uplo uplo, bool unit, int64_t rows,
        int64_t columns, const double *x, double *y)
{
	for (int64_t j = 0; j < columns; j++) {
		int64_t first = uplo == LOWER ? j : 0, last = uplo == LOWER ? rows : j + 1;
		for (int64_t i = first; i < last && i < rows; i++)
			y[i] += (i == j && unit ? 1 : get(p->after, i + j * p->lda, p->precision)) *
			        x[j];
	}
}

static void dot_part(const struct problem *p, enum uplo uplo, const double *x, double *y)
{
	for (int64_t j = 0; j < p->n; j++) {
		int64_t first = uplo == LOWER ? j : 0, last = uplo == LOWER ? p->n : j + 1;
		for (int64_t i = first; i < last; i++)
			y[j] += get(p->after, i + j * p->lda, p->precision) * x[i];
	}
}

/* The factors times x, with LU's rows in the matrix's own order. */
static void factors_times(const struct problem *p, const double *x, double *y)
{
	int64_t k = steps(p);
	double *middle = xcalloc((size_t)(p->m + p->n), sizeof *middle);

	if (p->operation == CHOLESKY) {
		if (p->uplo == LOWER) {
			dot_part(p, LOWER, x, middle);
			add_part(p, LOWER, false, p->n, p->n, middle, y);
		} else {
			add_part(p, UPPER, false, p->n, p->n, x, middle);
			dot_part(p, UPPER, middle, y);
		}
	} else if (p->operation == LU) {
		add_part(p, UPPER, false, k, p->n, x, middle);
		add_part(p, LOWER, true, p->m, k, middle, y);
		for (int64_t i = k - 1; i >= 0; i--) {
			double kept = y[i];
			y[i] = y[p->ipiv[i] - 1];
			y[p->ipiv[i] - 1] = kept;
		}
	} else {
		add_part(p, UPPER, false, k, p->n, x, y);
		for (int64_t i = k - 1; i >= 0; i--) {
			double sum = y[i], tau = get(p->tau, i, p->precision);
			for (int64_t r = i + 1; r < p->m; r++)
				sum += get(p->after, r + i * p->lda, p->precision) * y[r];
			y[i] -= tau * sum;
			for (int64_t r = i + 1; r < p->m; r++)
				y[r] -= tau * sum * get(p->after, r + i * p->lda, p->precision);
		}
	}
	free(middle);
}

/* norm_F(factors - A) / (norm_F(A) eps), the former estimated. */
static double backward(const struct problem *p)
{
	double *x = xmalloc((size_t)p->n * sizeof *x), error = 0, norm = 0;

	for (int64_t i = 0; p->operation == LU && i < steps(p); i++)
		if (p->ipiv[i] <= i || p->ipiv[i] > p->m)
			return NAN;
	for (int v = 0; v < VECTORS; v++) {
		double *y = xcalloc((size_t)p->m, sizeof *y);
		for (int64_t j = 0; j < p->n; j++)
			x[j] = test_random((uint64_t)v + 40, j) < 0 ? -1 : 1;
		factors_times(p, x, y);
		for (int64_t j = 0; j < p->n; j++)
			for (int64_t i = 0; i < p->m; i++) {
				double a = get(p->before, i + j * p->lda, p->precision);
				y[i] -= a * x[j];
				norm += v == 0 ? a * a : 0;
			}
		error += pow(norm_frobenius(y, p->m), 2) / VECTORS;
		free(y);
	}
	free(x);
	return sqrt(error / norm) / unit_roundoff(p->precision);
}

static double largest_multiplier(const struct problem *p)
{
	double largest = 0;

	for (int64_t j = 0; j < steps(p); j++)
		for (int64_t i = j + 1; i < p->m; i++)
			largest = worse(largest, fabs(get(p->after, i + j * p->lda, p->precision)));
	return largest;
}

/* ---- tests ---- */

static const int64_t by_64[] = {64}, by_128[] = {128}, by_256[] = {256},
                     falling[] = {256, 128, 128, 64};

static const struct plan plans[] = {
        {false, "persistent", by_64, 1, 64, 0, 0},
        {false, "persistent", by_128, 1, 32, 0, 1},
        {false, "persistent", by_256, 1, 64, 64, 1},
        {false, "persistent", falling, 4, 64, 32, 1},
        {false, "fused", by_128, 1, 64, 0, 1},
        {true, NULL, by_128, 1, 64, 0, 0},
        {true, NULL, by_128, 1, 64, 64, 1},
        {true, NULL, falling, 4, 128, 0, 1},
};

static const struct {
	int64_t m, n;
} shapes[] = {{1, 1}, {63, 63}, {65, 65}, {257, 257}, {300, 129}, {129, 300}, {1000, 1000}};

/* Twice LAPACK's, and what an estimate by two vectors is off by; below two roundings it is luck. */
static const char *verdict(struct problem *p, double reference)
{
	double error = backward(p);

	if (!(error <= fmax(2.25 * reference, 2 * TEST_ROUNDING))) {
		diag("backward error %.3g eps, LAPACK's %.3g", error, reference);
		return "backward error too large";
	}
	if (p->operation == LU && !(largest_multiplier(p) <= 1))
		return "multipliers larger than 1";
	return p->operation != QR && p->info != 0 ? "info" : NULL;
}

static double lapack_error(const struct problem *p)
{
	struct problem reference = *p;

	reference.after = xmalloc(bytes_of(p) + 1);
	reference.tau = xcalloc((size_t)steps(p) + 1, sizeof(double));
	reference.ipiv = xcalloc((size_t)steps(p) + 1, sizeof *p->ipiv);
	lapack(&reference);
	double error = backward(&reference);
	free(reference.after);
	free(reference.tau);
	free(reference.ipiv);
	return error;
}

/* The executor may lack the QR panel: then its plans are left out, and said so. */
static bool absent(struct executor *e)
{
	return strstr(e->fault.text, "no QR panel") != NULL;
}

static void test_shape(struct executor *e, struct problem p)
{
	problem_open(&p);
	double reference = lapack_error(&p);

	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		char name[100];
		snprintf(name, sizeof name, "%c%s%s %d x %d, plan %d", p.precision,
		        operation_name[p.operation],
		        p.operation == CHOLESKY && p.uplo == UPPER ? " upper" : "", (int)p.m,
		        (int)p.n, (int)i);
		e->fault.text[0] = '\0';
		bool good = run(e, &plans[i], &p);
		if (!good && absent(e)) {
			skip(name, e->fault.text);
			continue;
		}
		const char *wrong = good ? verdict(&p, reference) : e->fault.text;
		void *first = test_copy(p.after, p.lda, p.n, p.precision);
		if (!wrong && (!run(e, &plans[i], &p) || memcmp(first, p.after, bytes_of(&p)) != 0))
			wrong = "not the same bits again";
		free(first);
		if (wrong)
			diag("%s", wrong);
		ok(!wrong, "%s", name);
	}
	problem_close(&p);
}

static void test_shapes(struct executor *e, enum precision precision)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct problem p = {.precision = precision, .m = shapes[i].m, .n = shapes[i].n};
		p.operation = LU;
		test_shape(e, p);
		p.operation = QR;
		test_shape(e, p);
		p.operation = CHOLESKY;
		if (p.m != p.n)
			continue;
		test_shape(e, p);
		p.uplo = UPPER;
		test_shape(e, p);
	}
}

/* NaN in the middle: it ends, and is not lost; a zero column and a negative pivot are reported. */
static void test_exceptions(struct executor *e)
{
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		for (int kind = 0; kind < 3; kind++) {
			struct problem p = {.precision = SINGLE, .m = 300, .n = 300};
			p.operation = kind == 2 ? CHOLESKY : LU;
			problem_open(&p);
			float *a = p.before;
			for (int64_t r = 0; kind == 1 && r < 300; r++)
				a[r + 150 * p.lda] = 0;
			if (kind != 1)
				a[150 + 150 * p.lda] = kind == 0 ? NAN : -1;
			bool good = run(e, &plans[i], &p);
			bool lost = true;
			for (int64_t l = 0; l < p.lda * 300; l++)
				lost = lost && !(l % p.lda < 300 && isnan(((float *)p.after)[l]));
			good = good && (kind == 0 ? !lost : p.info == 151);
			if (!good)
				diag("%s, info %d", e->fault.text, p.info);
			ok(good, "plan %zu: %s", i,
			        kind == 0   ? "NaN stays"
			        : kind == 1 ? "info of a zero column"
			                    : "info of a negative pivot");
			problem_close(&p);
		}
}

/* One large case each, and its time for the reader. */
static void test_large(struct executor *e, enum operation operation, int64_t n)
{
	static const int large[] = {1, 2, 3, 6};
	struct problem p = {.operation = operation, .precision = SINGLE, .m = n, .n = n};

	problem_open(&p);
	double reference = lapack_error(&p);
	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		e->fault.text[0] = '\0';
		const struct plan *plan = &plans[large[i]];
		if (!run(e, plan, &p) || !run(e, plan, &p)) {
			if (absent(e))
				skip(operation_name[operation], e->fault.text);
			else
				ok(false, "%s", e->fault.text);
			continue;
		}
		double flops = pow((double)n, 3) *
		               (operation == LU          ? 2.0
		                       : operation == QR ? 4.0
		                                         : 1.0) /
		               3;
		const char *wrong = verdict(&p, reference);
		ok(!wrong, "s%s %d, plan %d: %.2f ms, %.0f Gflop/s", operation_name[operation],
		        (int)n, large[i], p.seconds * 1e3, flops / p.seconds / 1e9);
	}
	problem_close(&p);
}

int main(void)
{
	struct fault fault;
	struct executor *e = executor_cuda_new("0", &fault);

	if (!e)
		skip_all(fault.text);
	test_shapes(e, SINGLE);
	test_shapes(e, DOUBLE);
	test_exceptions(e);
	test_large(e, LU, 4096);
	test_large(e, QR, 2048);
	test_large(e, CHOLESKY, 4096);
	executor_free(e);
	return finish();
}
