/* SPDX-License-Identifier: MIT */
/* libfathom where columns are so far apart that a matrix spans more than 2^31 elements: the same
 * bits as where they follow each other. */
#include "fathom_test.h"

enum { N = 1000, CLOSE = 1008, FAR = 2200000, NARROW = 64 };

static void *source; /* N x N, on the host, columns one behind the other */

/* Symmetric, the diagonal larger by `shift`. */
static void fill_source(enum precision p, double shift)
{
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++) {
			const int64_t element = i < j ? i + j * N : j + i * N;
			put(source, i + j * N, p, test_random(7, element) + (i == j ? shift : 0));
		}
}

static void *columns_apart(enum precision p, int64_t ld)
{
	const size_t word = (size_t)precision_bytes(p), pitch = (size_t)ld * word;
	void *a = on_device(NULL, (int64_t)pitch * N);

	GPU(cudaMemcpy2D(a, pitch, source, N * word, N * word, N, cudaMemcpyHostToDevice));
	return a;
}

/* ---- operations on a, an N x N matrix on the device; other: N * NARROW elements there ---- */

typedef bool operation_on(enum precision p, void *a, int64_t ld, void *other);

static bool lu(enum precision p, void *a, int64_t ld, void *other)
{
	const int64_t bytes = CALL(p, getrf_work, N, N, ld);
	void *work = on_device(NULL, bytes);
	int *ipiv = other;
	return done(CALL(p, getrf, N, N, a, ld, ipiv, work, bytes, ipiv + N));
}

static bool qr(enum precision p, void *a, int64_t ld, void *other)
{
	const int64_t bytes = CALL(p, geqrf_work, N, N, ld);
	void *work = on_device(NULL, bytes);
	return done(CALL(p, geqrf, N, N, a, ld, other, work, bytes));
}

static bool cholesky(enum precision p, char uplo, void *a, int64_t ld, void *other)
{
	const int64_t bytes = CALL(p, potrf_work, uplo, N, ld);
	void *work = on_device(NULL, bytes);
	return done(CALL(p, potrf, uplo, N, a, ld, work, bytes, other));
}

static bool lower(enum precision p, void *a, int64_t ld, void *other)
{
	return cholesky(p, 'L', a, ld, other);
}

static bool upper(enum precision p, void *a, int64_t ld, void *other)
{
	return cholesky(p, 'U', a, ld, other);
}

/* As C, and as A. */
static bool products(enum precision p, void *a, int64_t ld, void *other)
{
	void *narrow = on_device(source, N * NARROW * precision_bytes(p));
	return done(CALL(p, gemm, 'N', 'T', N, N, NARROW, -1, narrow, N, narrow, N, 1, a, ld)) &&
	       done(CALL(p, gemm, 'T', 'N', N, NARROW, N, 1, a, ld, narrow, N, 0, other, N));
}

static bool by_vectors(enum precision p, void *a, int64_t ld, void *other)
{
	void *x = on_device(source, N * precision_bytes(p));
	return done(CALL(p, gemv, 'N', N, N, 1, a, ld, x, 1, 0, other, 1)) &&
	       done(CALL(p, gemv, 'T', N, N, 1, a, ld, x, 1, 1, other, 1));
}

/* ---- comparison ---- */

/* What it makes of a and of zeros: both behind each other, for free(). NULL: it failed. */
static void *result_of(operation_on *operation, enum precision p, int64_t ld)
{
	const size_t word = (size_t)precision_bytes(p), square = N * N * word,
	             rest = N * NARROW * word;
	char *result = xmalloc(square + rest);
	void *a = columns_apart(p, ld), *other = on_device(NULL, (int64_t)rest);

	GPU(cudaMemset(other, 0, rest));
	const bool good = operation(p, a, ld, other);
	GPU(cudaMemcpy2D(
	        result, N * word, a, (size_t)ld * word, N * word, N, cudaMemcpyDeviceToHost));
	to_host(result + square, other, (int64_t)rest);
	release();
	if (good)
		return result;
	free(result);
	return NULL;
}

static void check(const char *name, operation_on *operation, enum precision p, double shift)
{
	const size_t bytes = N * (N + NARROW) * (size_t)precision_bytes(p);

	fill_source(p, shift);
	void *close = result_of(operation, p, CLOSE), *far = result_of(operation, p, FAR);
	ok(close && far && memcmp(close, far, bytes) == 0, "%c %s, lda %d", p, name, FAR);
	free(close);
	free(far);
}

static bool enough_memory(enum precision p)
{
	const size_t needed = (size_t)N * FAR * (size_t)precision_bytes(p) + ((size_t)1 << 30);
	size_t available, total;

	GPU(cudaMemGetInfo(&available, &total));
	return available >= needed;
}

int main(void)
{
	if (test_small())
		skip_all("a small run has no matrices of 2^31 elements");
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	source = xmalloc(N * N * sizeof(double));
	for (int d = 0; d < 2; d++) {
		const enum precision p = d ? DOUBLE : SINGLE;
		if (!enough_memory(p)) {
			skip("matrices of more than 2^31 elements", "too little memory is free");
			continue;
		}
		check("getrf", lu, p, 0);
		check("potrf, lower", lower, p, N);
		check("potrf, upper", upper, p, N);
		check("gemm", products, p, 0);
		check("gemv", by_vectors, p, 0);
		if (qr_possible())
			check("geqrf", qr, p, 0);
		else
			skip("geqrf", fathom_error(handle));
	}
	free(source);
	fathom_destroy(handle);
	return finish();
}
