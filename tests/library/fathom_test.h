/* SPDX-License-Identifier: MIT */
/* Shared by the tests of libfathom: matrices on host and device, problems ready to be called. */
#pragma once

#include "tests/algorithms/factor_test.h"

#include "factor/validation/check.h"
#include "factor/library/fathom.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <lapacke.h>

/* The call of the precision, with the handle in scope. */
#define CALL(p, name, ...)                                                                         \
	((p) == SINGLE ? fathom_s##name(handle, __VA_ARGS__) : fathom_d##name(handle, __VA_ARGS__))
#define LAPACK(p, name, ...)                                                                       \
	((p) == SINGLE ? LAPACKE_s##name(LAPACK_COL_MAJOR, __VA_ARGS__)                            \
	               : LAPACKE_d##name(LAPACK_COL_MAJOR, __VA_ARGS__))

static _Thread_local struct fathom *handle;

/* ---- memory ---- */

/* Memory of a check, which release() frees. A program that frees its memory itself does not call
 * release(). */
static struct {
	void *data;
	bool on_device;
} * owned;
static size_t owned_count;

static inline void *own(void *data, bool on_device)
{
	owned = xrealloc(owned, (owned_count + 1) * sizeof *owned);
	owned[owned_count].data = data;
	owned[owned_count++].on_device = on_device;
	return data;
}

static inline void *on_host(int64_t bytes)
{
	return own(xmalloc((size_t)bytes + 1), false);
}

static inline void release(void)
{
	while (owned_count > 0) {
		void *data = owned[--owned_count].data;
		if (owned[owned_count].on_device)
			GPU(cudaFree(data));
		else
			free(data);
	}
}

static inline void *on_device(const void *host, int64_t bytes)
{
	void *data;

	GPU(cudaMalloc(&data, (size_t)bytes + 1));
	GPU(host ? cudaMemcpy(data, host, (size_t)bytes, cudaMemcpyHostToDevice)
	         : cudaMemset(data, 0xff, (size_t)bytes));
	return own(data, true);
}

static inline void to_host(void *host, const void *device, int64_t bytes)
{
	GPU(cudaMemcpy(host, device, (size_t)bytes, cudaMemcpyDeviceToHost));
}

static inline int int_on_host(const int *device)
{
	int value;

	to_host(&value, device, sizeof value);
	return value;
}

/* A matrix on the host, and its copy on the device. */
struct pair {
	enum precision p;
	int64_t m, n, ld, bytes;
	void *host, *device;
};

static inline struct pair pair_of(void *host, int64_t ld, int64_t m, int64_t n, enum precision p)
{
	struct pair a = {p, m, n, ld, ld * n * precision_bytes(p), host, NULL};

	a.device = on_device(host, a.bytes);
	return a;
}

static inline struct pair pair_new(int64_t m, int64_t n, enum precision p, int kind)
{
	int64_t ld = m + 3;

	return pair_of(own(test_matrix(ld, m, n, p, kind), false), ld, m, n, p);
}

static inline struct pair pair_random(int64_t m, int64_t n, enum precision p, uint64_t seed)
{
	int64_t ld = m + 1;
	void *host = on_host(ld * n * precision_bytes(p));

	for (int64_t i = 0; i < ld * n; i++)
		put(host, i, p, test_random(seed, i));
	return pair_of(host, ld, m, n, p);
}

/* A copy of the device's matrix. */
static inline void *pair_result(const struct pair *a)
{
	void *result = on_host(a->bytes);

	to_host(result, a->device, a->bytes);
	return result;
}

static inline void pair_free(struct pair *a)
{
	free(a->host);
	GPU(cudaFree(a->device));
}

static inline double *doubles(const struct pair *a, const void *elements)
{
	return own(to_doubles(elements, a->ld, a->m, a->n, a->p), false);
}

static inline bool done(enum fathom_status status)
{
	if (status != FATHOM_OK)
		diag("%s: %s", fathom_status_text(status), fathom_error(handle));
	return status == FATHOM_OK && fathom_finish(handle) == FATHOM_OK;
}

/* ---- measures ---- */

/* Largest difference of two results, over the largest magnitude of the wanted result, over n eps.
 */
static inline double difference(const struct pair *a, const void *got, const void *want)
{
	double *x = doubles(a, got), *y = doubles(a, want), norm = norm_max(y, a->m * a->n);

	for (int64_t i = 0; i < a->m * a->n; i++)
		x[i] -= y[i];
	return test_ratio(
	        norm_max(x, a->m * a->n), a->m > a->n ? a->m : a->n, norm, unit_roundoff(a->p));
}

/* norm1(B - op(A) X) / (n norm1(A) norm1(X) eps) for square A */
static inline double solve_ratio(const struct pair *a, CBLAS_TRANSPOSE trans, const struct pair *b)
{
	void *result = pair_result(b);
	double *matrix = doubles(a, a->host), *x = doubles(b, result), *rest = doubles(b, b->host);

	multiply(trans, CblasNoTrans, b->m, b->n, b->m, -1, matrix, x, 1, rest);
	return test_ratio(norm_one(rest, b->m, b->n), b->m,
	        norm_one(matrix, b->m, b->m) * norm_one(x, b->m, b->n), unit_roundoff(b->p));
}

/* ---- problems ---- */

struct lu {
	struct pair a;
	int *ipiv, *info;
	void *work;
	int64_t bytes;
};

static inline struct lu lu_new(struct pair a, bool rows)
{
	struct lu s = {.a = a};

	s.bytes = rows ? CALL(a.p, getrf_rows_work, a.n, a.m, a.ld)
	               : CALL(a.p, getrf_work, a.m, a.n, a.ld);
	s.ipiv = on_device(NULL, (a.m < a.n ? a.m : a.n) * (int64_t)sizeof(int));
	s.info = on_device(NULL, sizeof(int));
	s.work = on_device(NULL, s.bytes);
	return s;
}

static inline enum fathom_status lu_call(struct lu *s, bool rows)
{
	struct pair *a = &s->a;

	return rows ? CALL(a->p, getrf_rows, a->n, a->m, a->device, a->ld, s->ipiv, s->work,
	                      s->bytes, s->info)
	            : CALL(a->p, getrf, a->m, a->n, a->device, a->ld, s->ipiv, s->work, s->bytes,
	                      s->info);
}

static inline void lu_free(struct lu *s)
{
	pair_free(&s->a);
	GPU(cudaFree(s->ipiv));
	GPU(cudaFree(s->info));
	GPU(cudaFree(s->work));
}

/* X X^T + n I, whose leading minors from `bad` on are not positive (0: all are) */
static inline struct pair definite(int64_t n, enum precision p, int64_t bad)
{
	struct pair a = pair_random(n, n, p, 17);
	double *x = doubles(&a, a.host), *c = own(xcalloc((size_t)(n * n + 1), sizeof *c), false);

	multiply(CblasNoTrans, CblasTrans, n, n, n, 1, x, x, 0, c);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			put(a.host, i + j * a.ld, p,
			        c[i + j * n] + (i == j ? (double)n * (j + 1 == bad ? -9 : 1) : 0));
	GPU(cudaMemcpy(a.device, a.host, (size_t)a.bytes, cudaMemcpyHostToDevice));
	return a;
}

/* Whether geqrf exists on this GPU; else the handle's error says why. */
static inline bool qr_possible(void)
{
	struct pair a = pair_new(8, 4, SINGLE, MATRIX_RANDOM);
	int64_t bytes = fathom_sgeqrf_work(handle, 8, 4, a.ld);
	void *work = on_device(NULL, bytes), *tau = on_device(NULL, 4 * sizeof(float));
	bool possible = fathom_sgeqrf(handle, 8, 4, a.device, a.ld, tau, work, bytes) == FATHOM_OK;

	release();
	return possible;
}

/* LAPACKE's factorization of a random m x k matrix, in both places. */
static inline struct pair reflectors(int64_t m, int64_t k, enum precision p, struct pair *tau)
{
	struct pair a = pair_random(m, k, p, 23);

	*tau = pair_random(k, 1, p, 1);
	LAPACK(p, geqrf, (int)m, (int)k, a.host, (int)a.ld, tau->host);
	GPU(cudaMemcpy(a.device, a.host, (size_t)a.bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemcpy(tau->device, tau->host, (size_t)tau->bytes, cudaMemcpyHostToDevice));
	return a;
}
