/* SPDX-License-Identifier: MIT */
/* cuSOLVER's calls, each with its workspace, for the test of the client library. */
#pragma once

#include "fathom_test.h"

#include <cusolverDn.h>

static cusolverDnHandle_t solver;

/* cuSOLVER's legacy call of the precision. */
#define LEGACY(p, name, ...)                                                                       \
	((p) == SINGLE ? cusolverDnS##name(solver, __VA_ARGS__)                                    \
	               : cusolverDnD##name(solver, __VA_ARGS__))

static inline cudaDataType type_of(enum precision p)
{
	return p == SINGLE ? CUDA_R_32F : CUDA_R_64F;
}

static inline bool fine(cusolverStatus_t status)
{
	if (status != CUSOLVER_STATUS_SUCCESS)
		diag("status %d", (int)status);
	return status == CUSOLVER_STATUS_SUCCESS;
}

/* Device memory that begins at an odd element: clients' workspaces may. */
static inline void *odd_room(int64_t bytes, enum precision p)
{
	return (char *)on_device(NULL, bytes + precision_bytes(p)) + precision_bytes(p);
}

static inline int *new_info(void)
{
	int *info = on_device(NULL, sizeof *info);

	GPU(cudaMemset(info, 0x7f, sizeof *info));
	return info;
}

/* ---- one call with its workspace; wide: the 64-bit call ---- */

static inline bool call_getrf(struct pair *a, void *ipiv, int *info, bool wide)
{
	const enum precision p = a->p;
	const int m = (int)a->m, n = (int)a->n, ld = (int)a->ld;
	size_t bytes = 0, host = 0;
	int lwork = 0;

	if (wide)
		return fine(cusolverDnXgetrf_bufferSize(solver, NULL, m, n, type_of(p), a->device,
		               ld, type_of(p), &bytes, &host)) &&
		       fine(cusolverDnXgetrf(solver, NULL, m, n, type_of(p), a->device, ld, ipiv,
		               type_of(p), odd_room((int64_t)bytes, p), bytes,
		               on_host((int64_t)host), host, info));
	return fine(LEGACY(p, getrf_bufferSize, m, n, a->device, ld, &lwork)) &&
	       fine(LEGACY(p, getrf, m, n, a->device, ld, odd_room(lwork * precision_bytes(p), p),
	               ipiv, info));
}

static inline bool call_getrs(const struct pair *a, cublasOperation_t trans, const void *ipiv,
        struct pair *b, int *info, bool wide)
{
	const enum precision p = a->p;
	const int n = (int)a->n, nrhs = (int)b->n, ld = (int)a->ld, ldb = (int)b->ld;

	if (wide)
		return fine(cusolverDnXgetrs(solver, NULL, trans, n, nrhs, type_of(p), a->device,
		        ld, ipiv, type_of(p), b->device, ldb, info));
	return fine(LEGACY(p, getrs, trans, n, nrhs, a->device, ld, ipiv, b->device, ldb, info));
}

static inline bool call_potrf(struct pair *a, cublasFillMode_t uplo, int *info, bool wide)
{
	const enum precision p = a->p;
	const int n = (int)a->n, ld = (int)a->ld;
	size_t bytes = 0, host = 0;
	int lwork = 0;

	if (wide)
		return fine(cusolverDnXpotrf_bufferSize(solver, NULL, uplo, n, type_of(p),
		               a->device, ld, type_of(p), &bytes, &host)) &&
		       fine(cusolverDnXpotrf(solver, NULL, uplo, n, type_of(p), a->device, ld,
		               type_of(p), odd_room((int64_t)bytes, p), bytes,
		               on_host((int64_t)host), host, info));
	return fine(LEGACY(p, potrf_bufferSize, uplo, n, a->device, ld, &lwork)) &&
	       fine(LEGACY(p, potrf, uplo, n, a->device, ld,
	               odd_room(lwork * precision_bytes(p), p), lwork, info));
}

static inline bool call_potrs(
        const struct pair *a, cublasFillMode_t uplo, struct pair *b, int *info, bool wide)
{
	const enum precision p = a->p;
	const int n = (int)a->n, nrhs = (int)b->n, ld = (int)a->ld, ldb = (int)b->ld;

	if (wide)
		return fine(cusolverDnXpotrs(solver, NULL, uplo, n, nrhs, type_of(p), a->device, ld,
		        type_of(p), b->device, ldb, info));
	return fine(LEGACY(p, potrs, uplo, n, nrhs, a->device, ld, b->device, ldb, info));
}

static inline bool call_geqrf(struct pair *a, void *tau, int *info, bool wide)
{
	const enum precision p = a->p;
	const int m = (int)a->m, n = (int)a->n, ld = (int)a->ld;
	size_t bytes = 0, host = 0;
	int lwork = 0;

	if (wide)
		return fine(cusolverDnXgeqrf_bufferSize(solver, NULL, m, n, type_of(p), a->device,
		               ld, type_of(p), tau, type_of(p), &bytes, &host)) &&
		       fine(cusolverDnXgeqrf(solver, NULL, m, n, type_of(p), a->device, ld,
		               type_of(p), tau, type_of(p), odd_room((int64_t)bytes, p), bytes,
		               on_host((int64_t)host), host, info));
	return fine(LEGACY(p, geqrf_bufferSize, m, n, a->device, ld, &lwork)) &&
	       fine(LEGACY(p, geqrf, m, n, a->device, ld, tau,
	               odd_room(lwork * precision_bytes(p), p), lwork, info));
}
