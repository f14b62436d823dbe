/* SPDX-License-Identifier: MIT */
/* Accuracy of the factorizations by split operands, against single precision alone. Matrices of one
 * sign count: the tensor cores truncate sums, so that errors of sums of one sign add up instead of
 * cancelling. The error is that of the product of the factors times a random vector, an estimate of
 * Frobenius's norm. Printed beside it: the same for a vector of ones, where errors of one sign show
 * most. */
#include "tests/tap.h"

#include "factor/library/fathom.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const double most_ratio = 2; /* of the error to single precision's */

enum operation { CHOLESKY, LU, QR, OPERATIONS };
static const char *const operation_name[] = {"Cholesky", "LU", "QR"};

enum kind { POSITIVE, SIGNED, DOMINANT, GRAM, KINDS };
static const char *const kind_name[] = {
        "uniform(0, 1)", "uniform(-1, 1)", "uniform(0, 1) + 2n on the diagonal", "Gram"};

/* ---- matrices ---- */

static double uniform(uint64_t seed, uint64_t i)
{
	uint64_t x = (seed << 40) + i + 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* Gram matrices are made of few columns, and regular by what is added to the diagonal. */
static float *matrix_new(int64_t n, enum kind kind)
{
	enum { COLUMNS = 24 };
	float *a = malloc((size_t)(n * n) * sizeof *a);
	double *x = malloc((size_t)(n * COLUMNS) * sizeof *x);

	for (int64_t i = 0; i < n * COLUMNS; i++)
		x[i] = uniform(9, (uint64_t)i);
#pragma omp parallel for schedule(dynamic, 16)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++) {
			const bool symmetric = kind >= DOMINANT;
			const int64_t r = symmetric && i < j ? j : i,
			              c = symmetric && i < j ? i : j;
			double value = uniform(3, (uint64_t)(r + c * n));
			if (kind == SIGNED)
				value = 2 * value - 1;
			if (kind == GRAM) {
				value = 0;
				for (int k = 0; k < COLUMNS; k++)
					value += x[i * COLUMNS + k] * x[j * COLUMNS + k];
			}
			if (symmetric && i == j)
				value += kind == GRAM ? COLUMNS : 2 * (double)n;
			a[i + j * n] = (float)value;
		}
	free(x);
	return a;
}

/* ---- factors times vectors ---- */

/* y = T x or T^T x for one triangle of f; unit: with ones on the diagonal */
static void triangle(const float *f, int64_t n, bool lower, bool unit, bool transposed, double *x)
{
	double *y = calloc((size_t)n, sizeof *y);

	if (transposed) {
#pragma omp parallel for schedule(dynamic, 64)
		for (int64_t j = 0; j < n; j++) {
			double sum = unit ? x[j] : (double)f[j + j * n] * x[j];
			for (int64_t i = lower ? j + 1 : 0; i < (lower ? n : j); i++)
				sum += (double)f[i + j * n] * x[i];
			y[j] = sum;
		}
	} else {
		for (int64_t j = 0; j < n; j++) {
			y[j] += unit ? x[j] : (double)f[j + j * n] * x[j];
			for (int64_t i = lower ? j + 1 : 0; i < (lower ? n : j); i++)
				y[i] += (double)f[i + j * n] * x[j];
		}
	}
	memcpy(x, y, (size_t)n * sizeof *x);
	free(y);
}

static void multiply(const float *a, int64_t n, bool transposed, double *x)
{
	double *y = calloc((size_t)n, sizeof *y);

	for (int64_t j = 0; j < n; j++) {
		double sum = 0;
		for (int64_t i = 0; i < n; i++)
			if (transposed)
				sum += (double)a[i + j * n] * x[i];
			else
				y[i] += (double)a[i + j * n] * x[j];
		if (transposed)
			y[j] = sum;
	}
	memcpy(x, y, (size_t)n * sizeof *x);
	free(y);
}

/* norm(A x - F x) / norm(A x) for the factors F; of QR the same for A^T A and R^T R. */
static double error_of(enum operation operation, const float *a, const float *f, const int *ipiv,
        int64_t n, bool ones)
{
	double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
	double rest = 0, norm = 0;

	for (int64_t i = 0; i < n; i++)
		x[i] = y[i] = ones ? 1 : 2 * uniform(5, (uint64_t)i) - 1;
	multiply(a, n, false, x);
	if (operation == CHOLESKY) {
		triangle(f, n, true, false, true, y);
		triangle(f, n, true, false, false, y);
	} else if (operation == LU) {
		triangle(f, n, false, false, false, y);
		triangle(f, n, true, true, false, y);
		for (int64_t i = n; i-- > 0;) {
			const double swapped = y[i];
			y[i] = y[ipiv[i] - 1];
			y[ipiv[i] - 1] = swapped;
		}
	} else {
		multiply(a, n, true, x);
		triangle(f, n, false, false, false, y);
		triangle(f, n, false, false, true, y);
	}
	for (int64_t i = 0; i < n; i++) {
		rest += (x[i] - y[i]) * (x[i] - y[i]);
		norm += x[i] * x[i];
	}
	free(x);
	free(y);
	return sqrt(rest / norm);
}

/* ---- a factorization ---- */

struct factors {
	float *device, *host, *tau;
	int *device_ipiv, *ipiv, *info;
};

static bool factorize(struct fathom *h, enum operation operation, enum fathom_math math,
        const float *a, int64_t n, struct factors *f)
{
	const size_t bytes = (size_t)(n * n) * sizeof(float);
	void *work = NULL;
	bool good = fathom_set_math(h, math) == FATHOM_OK;
	const int64_t room = operation == CHOLESKY ? fathom_spotrf_work(h, 'L', n, n)
	                     : operation == LU     ? fathom_sgetrf_work(h, n, n, n)
	                                           : fathom_sgeqrf_work(h, n, n, n);

	if (!good || room < 0)
		return false;
	GPU(cudaMalloc(&work, (size_t)room + 1));
	GPU(cudaMemcpy(f->device, a, bytes, cudaMemcpyHostToDevice));
	good = (operation == CHOLESKY ? fathom_spotrf(h, 'L', n, f->device, n, work, room, f->info)
	               : operation == LU ? fathom_sgetrf(h, n, n, f->device, n, f->device_ipiv,
	                                           work, room, f->info)
	                                 : fathom_sgeqrf(h, n, n, f->device, n, f->tau, work,
	                                           room)) == FATHOM_OK &&
	       fathom_finish(h) == FATHOM_OK;
	GPU(cudaMemcpy(f->host, f->device, bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(f->ipiv, f->device_ipiv, (size_t)n * sizeof(int), cudaMemcpyDeviceToHost));
	GPU(cudaFree(work));
	return good;
}

static void check(struct fathom *h, enum operation operation, enum kind kind, int64_t n)
{
	static const enum fathom_math math[] = {
	        FATHOM_MATH_FP32, FATHOM_MATH_3XTF32, FATHOM_MATH_3XFP16};
	static const char *const math_name[] = {"fp32", "3xTF32", "3xFP16"};
	float *a = matrix_new(n, kind);
	struct factors f = {.host = malloc((size_t)(n * n) * sizeof(float)),
	        .ipiv = malloc((size_t)n * sizeof(int))};
	double strict[2] = {0};

	GPU(cudaMalloc((void **)&f.device, (size_t)(n * n) * sizeof(float)));
	GPU(cudaMalloc((void **)&f.tau, (size_t)n * sizeof(float)));
	GPU(cudaMalloc((void **)&f.device_ipiv, (size_t)n * sizeof(int)));
	GPU(cudaMalloc((void **)&f.info, sizeof(int)));
	for (size_t i = 0; i < ARRAY_LEN(math); i++) {
		if (!factorize(h, operation, math[i], a, n, &f)) {
			skip(math_name[i], fathom_error(h));
			continue;
		}
		double error[2];
		for (int ones = 0; ones < 2; ones++)
			error[ones] = error_of(operation, a, f.host, f.ipiv, n, ones);
		if (i == 0)
			memcpy(strict, error, sizeof strict);
		else
			ok(error[0] <= most_ratio * strict[0],
			        "%s of %" PRId64 ", %s, by %s: %.2f (random) and %.2f (ones) times "
			        "fp32's error",
			        operation_name[operation], n, kind_name[kind], math_name[i],
			        error[0] / strict[0], error[1] / strict[1]);
	}
	GPU(cudaFree(f.device));
	GPU(cudaFree(f.tau));
	GPU(cudaFree(f.device_ipiv));
	GPU(cudaFree(f.info));
	free(f.host);
	free(f.ipiv);
	free(a);
}

int main(void)
{
	static const int64_t usual[] = {3001, 6007}, full[] = {9001, 12345, 20000, 32768};
	const bool all = getenv("FATHOM_TEST_FULL") != NULL;
	const int64_t *sizes = all ? full : usual;
	struct fathom *h;

	if (fathom_create(&h) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	for (size_t i = 0; i < (all ? ARRAY_LEN(full) : ARRAY_LEN(usual)); i++)
		for (int operation = 0; operation < OPERATIONS; operation++)
			for (int kind = 0; kind < KINDS; kind++)
				if ((operation == CHOLESKY) == (kind >= DOMINANT))
					check(h, (enum operation)operation, (enum kind)kind,
					        sizes[i]);
	fathom_destroy(h);
	return finish();
}
