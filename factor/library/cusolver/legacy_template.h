/* SPDX-License-Identifier: MIT */
/* cuSOLVER's legacy calls of one precision. Included once with REAL float and once with REAL
 * double; PRECISION says the same, NAME(x) gives cuSOLVER's name and CALL(x) its number. */

/* The workspace in elements, cuSOLVER's on entry. An int may be too small for libfathom's: then
 * calls will be passed on. */
static void NAME(_widen)(const struct request *r, int *lwork)
{
	const int64_t size = (int64_t)sizeof(REAL);
	int64_t elements = (request_bytes(r, *lwork * size) + size - 1) / size;

	if (elements <= INT32_MAX)
		*lwork = (int)elements;
}

cusolverStatus_t NAME(getrf_bufferSize)(
        cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, int *lwork)
{
	cusolverStatus_t status = REAL_CALL(NAME(getrf_bufferSize), handle, m, n, a, lda, lwork);
	struct request r = {.call = CALL(getrf),
	        .operation = GETRF,
	        .precision = PRECISION,
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .lda = lda};

	if (status != CUSOLVER_STATUS_SUCCESS)
		return status;
	NAME(_widen)(&r, lwork);
	promise_note(PRECISION, m, n, lda, *lwork * (int64_t)sizeof(REAL));
	return status;
}

cusolverStatus_t NAME(getrf)(
        cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, REAL *work, int *ipiv, int *info)
{
	struct request r = {.call = CALL(getrf),
	        .operation = GETRF,
	        .precision = PRECISION,
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .a = a,
	        .lda = lda,
	        .pivots_out = ipiv,
	        .work = work,
	        .work_bytes = promise_bytes(PRECISION, m, n, lda),
	        .info = info};

	return request_answer(&r) ? r.status
	                          : REAL_CALL(NAME(getrf), handle, m, n, a, lda, work, ipiv, info);
}

cusolverStatus_t NAME(getrs)(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs,
        const REAL *a, int lda, const int *ipiv, REAL *b, int ldb, int *info)
{
	struct request r = {.call = CALL(getrs),
	        .operation = GETRS,
	        .precision = PRECISION,
	        .handle = handle,
	        .trans = letter_of_trans(trans),
	        .m = n,
	        .n = nrhs,
	        .factors = a,
	        .ldf = lda,
	        .pivots = ipiv,
	        .a = b,
	        .lda = ldb,
	        .info = info};

	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(NAME(getrs), handle, trans, n, nrhs, a, lda, ipiv, b, ldb, info);
}

cusolverStatus_t NAME(geqrf_bufferSize)(
        cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, int *lwork)
{
	cusolverStatus_t status = REAL_CALL(NAME(geqrf_bufferSize), handle, m, n, a, lda, lwork);
	struct request r = {.call = CALL(geqrf),
	        .operation = GEQRF,
	        .precision = PRECISION,
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .lda = lda};

	if (status == CUSOLVER_STATUS_SUCCESS)
		NAME(_widen)(&r, lwork);
	return status;
}

cusolverStatus_t NAME(geqrf)(cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, REAL *tau,
        REAL *work, int lwork, int *info)
{
	struct request r = {.call = CALL(geqrf),
	        .operation = GEQRF,
	        .precision = PRECISION,
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .a = a,
	        .lda = lda,
	        .tau_out = tau,
	        .work = work,
	        .work_bytes = lwork * (int64_t)sizeof(REAL),
	        .info = info};

	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(NAME(geqrf), handle, m, n, a, lda, tau, work, lwork, info);
}

cusolverStatus_t NAME(orgqr_bufferSize)(cusolverDnHandle_t handle, int m, int n, int k,
        const REAL *a, int lda, const REAL *tau, int *lwork)
{
	cusolverStatus_t status =
	        REAL_CALL(NAME(orgqr_bufferSize), handle, m, n, k, a, lda, tau, lwork);
	struct request r = {.call = CALL(orgqr),
	        .operation = ORGQR,
	        .precision = PRECISION,
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .k = k,
	        .lda = lda};

	if (status == CUSOLVER_STATUS_SUCCESS)
		NAME(_widen)(&r, lwork);
	return status;
}

cusolverStatus_t NAME(orgqr)(cusolverDnHandle_t handle, int m, int n, int k, REAL *a, int lda,
        const REAL *tau, REAL *work, int lwork, int *info)
{
	struct request r = {.call = CALL(orgqr),
	        .operation = ORGQR,
	        .precision = PRECISION,
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .k = k,
	        .a = a,
	        .lda = lda,
	        .tau = tau,
	        .work = work,
	        .work_bytes = lwork * (int64_t)sizeof(REAL),
	        .info = info};

	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(NAME(orgqr), handle, m, n, k, a, lda, tau, work, lwork, info);
}

cusolverStatus_t NAME(ormqr_bufferSize)(cusolverDnHandle_t handle, cublasSideMode_t side,
        cublasOperation_t trans, int m, int n, int k, const REAL *a, int lda, const REAL *tau,
        const REAL *c, int ldc, int *lwork)
{
	cusolverStatus_t status = REAL_CALL(
	        NAME(ormqr_bufferSize), handle, side, trans, m, n, k, a, lda, tau, c, ldc, lwork);
	struct request r = {.call = CALL(ormqr),
	        .operation = ORMQR,
	        .precision = PRECISION,
	        .handle = handle,
	        .side = letter_of_side(side),
	        .trans = letter_of_trans(trans),
	        .m = m,
	        .n = n,
	        .k = k,
	        .ldf = lda,
	        .lda = ldc};

	if (status == CUSOLVER_STATUS_SUCCESS)
		NAME(_widen)(&r, lwork);
	return status;
}

cusolverStatus_t NAME(ormqr)(cusolverDnHandle_t handle, cublasSideMode_t side,
        cublasOperation_t trans, int m, int n, int k, const REAL *a, int lda, const REAL *tau,
        REAL *c, int ldc, REAL *work, int lwork, int *info)
{
	struct request r = {.call = CALL(ormqr),
	        .operation = ORMQR,
	        .precision = PRECISION,
	        .handle = handle,
	        .side = letter_of_side(side),
	        .trans = letter_of_trans(trans),
	        .m = m,
	        .n = n,
	        .k = k,
	        .factors = a,
	        .ldf = lda,
	        .tau = tau,
	        .a = c,
	        .lda = ldc,
	        .work = work,
	        .work_bytes = lwork * (int64_t)sizeof(REAL),
	        .info = info};

	return request_answer(&r) ? r.status
	                          : REAL_CALL(NAME(ormqr), handle, side, trans, m, n, k, a, lda,
	                                    tau, c, ldc, work, lwork, info);
}

cusolverStatus_t NAME(potrf_bufferSize)(
        cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, REAL *a, int lda, int *lwork)
{
	cusolverStatus_t status = REAL_CALL(NAME(potrf_bufferSize), handle, uplo, n, a, lda, lwork);
	struct request r = {.call = CALL(potrf),
	        .operation = POTRF,
	        .precision = PRECISION,
	        .handle = handle,
	        .uplo = letter_of_uplo(uplo),
	        .m = n,
	        .n = n,
	        .lda = lda};

	if (status == CUSOLVER_STATUS_SUCCESS)
		NAME(_widen)(&r, lwork);
	return status;
}

cusolverStatus_t NAME(potrf)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, REAL *a,
        int lda, REAL *work, int lwork, int *info)
{
	struct request r = {.call = CALL(potrf),
	        .operation = POTRF,
	        .precision = PRECISION,
	        .handle = handle,
	        .uplo = letter_of_uplo(uplo),
	        .m = n,
	        .n = n,
	        .a = a,
	        .lda = lda,
	        .work = work,
	        .work_bytes = lwork * (int64_t)sizeof(REAL),
	        .info = info};

	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(NAME(potrf), handle, uplo, n, a, lda, work, lwork, info);
}

cusolverStatus_t NAME(potrs)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
        const REAL *a, int lda, REAL *b, int ldb, int *info)
{
	struct request r = {.call = CALL(potrs),
	        .operation = POTRS,
	        .precision = PRECISION,
	        .handle = handle,
	        .uplo = letter_of_uplo(uplo),
	        .m = n,
	        .n = nrhs,
	        .factors = a,
	        .ldf = lda,
	        .a = b,
	        .lda = ldb,
	        .info = info};

	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(NAME(potrs), handle, uplo, n, nrhs, a, lda, b, ldb, info);
}
