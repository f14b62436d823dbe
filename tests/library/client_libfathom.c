/* SPDX-License-Identifier: MIT */
/* libfathom on host memory, by LAPACKE, for tests of the client library. Matrices of 13 columns are
 * refused, LU of 17 columns fails, 19 columns need a workspace of 2 GiB. STANDIN_NO_HANDLE: there
 * are no handles. */
#include "factor/library/fathom.h"

#include <lapacke.h>
#include <stdlib.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct fathom {
	struct CUstream_st *stream;
	int busy;
};

static int live, clashes;
static struct CUstream_st *last_stream;

/* Handles that exist; calls that met another call of their handle; the stream set last. */
FATHOM_PUBLIC int standin_live(void);
FATHOM_PUBLIC int standin_clashes(void);
FATHOM_PUBLIC struct CUstream_st *standin_stream(void);

int standin_live(void)
{
	return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

int standin_clashes(void)
{
	return __atomic_load_n(&clashes, __ATOMIC_SEQ_CST);
}

struct CUstream_st *standin_stream(void)
{
	return last_stream;
}

/* ---- handles ---- */

enum fathom_status fathom_create(struct fathom **handle)
{
	*handle = getenv("STANDIN_NO_HANDLE") ? NULL : calloc(1, sizeof **handle);
	if (!*handle)
		return FATHOM_NOT_POSSIBLE;
	__atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
	return FATHOM_OK;
}

void fathom_destroy(struct fathom *handle)
{
	__atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
	free(handle);
}

const char *fathom_error(const struct fathom *handle)
{
	return handle ? "the stand-in refuses" : "out of device memory";
}

enum fathom_status fathom_finish(struct fathom *handle)
{
	return getenv("STANDIN_GONE") ? FATHOM_NOT_POSSIBLE : FATHOM_OK;
}

enum fathom_status fathom_set_stream(struct fathom *handle, struct CUstream_st *stream)
{
	handle->stream = stream;
	last_stream = stream;
	return FATHOM_OK;
}

/* ---- calls ---- */

/* The workspace has to be as large and as aligned as libfathom asks; it is overwritten. */
static int usable(void *work, int64_t bytes, int64_t needed)
{
	unsigned char *byte = work;

	if ((uintptr_t)work % 256 || bytes < needed)
		return 0;
	for (int64_t i = 0; i < needed; i++)
		byte[i] = 0xee;
	return 1;
}

static enum fathom_status result(struct fathom *handle, int64_t n, int failed)
{
	if (__atomic_exchange_n(&handle->busy, 1, __ATOMIC_SEQ_CST))
		__atomic_add_fetch(&clashes, 1, __ATOMIC_SEQ_CST);
	usleep(20); /* time for another call to come */
	__atomic_store_n(&handle->busy, 0, __ATOMIC_SEQ_CST);
	return failed < 0 || n == 13 ? FATHOM_BAD_ARGUMENT : n == 17 ? FATHOM_FAILED : FATHOM_OK;
}

#define WORK(n) ((n) == 13 ? -1 : (n) == 19 ? INT64_C(1) << 31 : 4096 + 8 * (int64_t)(n))

#define CALLS(L, REAL)                                                                             \
	int64_t fathom_##L##getrf_work(struct fathom *h, int64_t m, int64_t n, int64_t lda)        \
	{                                                                                          \
		return WORK(n);                                                                    \
	}                                                                                          \
	enum fathom_status fathom_##L##getrf(struct fathom *h, int64_t m, int64_t n, REAL *a,      \
	        int64_t lda, int *ipiv, void *work, int64_t bytes, int *info)                      \
	{                                                                                          \
		if (!usable(work, bytes, WORK(n)))                                                 \
			return FATHOM_BAD_ARGUMENT;                                                \
		*info = LAPACKE_##L##getrf(LAPACK_COL_MAJOR, (int)m, (int)n, a, (int)lda, ipiv);   \
		return result(h, n, *info);                                                        \
	}                                                                                          \
	enum fathom_status fathom_##L##getrs(struct fathom *h, char trans, int64_t n,              \
	        int64_t nrhs, const REAL *a, int64_t lda, const int *ipiv, REAL *b, int64_t ldb)   \
	{                                                                                          \
		return result(h, n,                                                                \
		        LAPACKE_##L##getrs(LAPACK_COL_MAJOR, trans, (int)n, (int)nrhs, a,          \
		                (int)lda, ipiv, b, (int)ldb));                                     \
	}                                                                                          \
	int64_t fathom_##L##geqrf_work(struct fathom *h, int64_t m, int64_t n, int64_t lda)        \
	{                                                                                          \
		return WORK(n);                                                                    \
	}                                                                                          \
	enum fathom_status fathom_##L##geqrf(struct fathom *h, int64_t m, int64_t n, REAL *a,      \
	        int64_t lda, REAL *tau, void *work, int64_t bytes)                                 \
	{                                                                                          \
		if (!usable(work, bytes, WORK(n)))                                                 \
			return FATHOM_BAD_ARGUMENT;                                                \
		return result(h, n,                                                                \
		        LAPACKE_##L##geqrf(LAPACK_COL_MAJOR, (int)m, (int)n, a, (int)lda, tau));   \
	}                                                                                          \
	int64_t fathom_##L##orgqr_work(                                                            \
	        struct fathom *h, int64_t m, int64_t n, int64_t k, int64_t lda)                    \
	{                                                                                          \
		return WORK(n);                                                                    \
	}                                                                                          \
	enum fathom_status fathom_##L##orgqr(struct fathom *h, int64_t m, int64_t n, int64_t k,    \
	        REAL *a, int64_t lda, const REAL *tau, void *work, int64_t bytes)                  \
	{                                                                                          \
		if (!usable(work, bytes, WORK(n)))                                                 \
			return FATHOM_BAD_ARGUMENT;                                                \
		return result(h, n,                                                                \
		        LAPACKE_##L##orgqr(                                                        \
		                LAPACK_COL_MAJOR, (int)m, (int)n, (int)k, a, (int)lda, tau));      \
	}                                                                                          \
	int64_t fathom_##L##ormqr_work(struct fathom *h, char side, char trans, int64_t m,         \
	        int64_t n, int64_t k, int64_t lda, int64_t ldc)                                    \
	{                                                                                          \
		return WORK(n);                                                                    \
	}                                                                                          \
	enum fathom_status fathom_##L##ormqr(struct fathom *h, char side, char trans, int64_t m,   \
	        int64_t n, int64_t k, const REAL *a, int64_t lda, const REAL *tau, REAL *c,        \
	        int64_t ldc, void *work, int64_t bytes)                                            \
	{                                                                                          \
		if (!usable(work, bytes, WORK(n)))                                                 \
			return FATHOM_BAD_ARGUMENT;                                                \
		return result(h, n,                                                                \
		        LAPACKE_##L##ormqr(LAPACK_COL_MAJOR, side, trans, (int)m, (int)n, (int)k,  \
		                a, (int)lda, tau, c, (int)ldc));                                   \
	}                                                                                          \
	int64_t fathom_##L##potrf_work(struct fathom *h, char uplo, int64_t n, int64_t lda)        \
	{                                                                                          \
		return WORK(n);                                                                    \
	}                                                                                          \
	enum fathom_status fathom_##L##potrf(struct fathom *h, char uplo, int64_t n, REAL *a,      \
	        int64_t lda, void *work, int64_t bytes, int *info)                                 \
	{                                                                                          \
		if (!usable(work, bytes, WORK(n)))                                                 \
			return FATHOM_BAD_ARGUMENT;                                                \
		*info = LAPACKE_##L##potrf(LAPACK_COL_MAJOR, uplo, (int)n, a, (int)lda);           \
		return result(h, n, *info);                                                        \
	}                                                                                          \
	enum fathom_status fathom_##L##potrs(struct fathom *h, char uplo, int64_t n, int64_t nrhs, \
	        const REAL *a, int64_t lda, REAL *b, int64_t ldb)                                  \
	{                                                                                          \
		return result(h, n,                                                                \
		        LAPACKE_##L##potrs(LAPACK_COL_MAJOR, uplo, (int)n, (int)nrhs, a, (int)lda, \
		                b, (int)ldb));                                                     \
	}

CALLS(s, float)
CALLS(d, double)
