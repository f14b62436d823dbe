/* SPDX-License-Identifier: MIT */
/* The client's calls in one precision. Included once with REAL float and once with REAL double;
 * NAME(x) gives the name of a function here, DN(x) cuSOLVER's function, PRECISION its type. */

static void NAME(fill)(REAL *a)
{
	for (int j = 0; j < N; j++)
		for (int i = 0; i < LD; i++)
			a[i + j * LD] = i < N ? (REAL)entry(i, j) : -77;
}

/* B := A times X, whose columns hold small whole numbers; then whether a solution is that X. */
static void NAME(right_side)(REAL *b)
{
	for (int k = 0; k < NRHS; k++)
		for (int i = 0; i < N; i++) {
			double sum = 0;
			for (int j = 0; j < N; j++)
				sum += entry(i, j) * (j % 5 + k);
			b[i + k * LD] = (REAL)sum;
		}
}

static int NAME(is_solution)(const REAL *x)
{
	double largest = 0;

	for (int k = 0; k < NRHS; k++)
		for (int i = 0; i < N; i++)
			largest = fmax(largest, fabs((double)x[i + k * LD] - (i % 5 + k)));
	return largest < (sizeof(REAL) == 4 ? 1e-4 : 1e-12);
}

static int NAME(padding_kept)(const REAL *a)
{
	for (int j = 0; j < N; j++)
		for (int i = N; i < LD; i++)
			if (a[i + j * LD] != -77)
				return 0;
	return 1;
}

/* Columns of Q are orthonormal. */
static int NAME(is_orthogonal)(const REAL *q)
{
	double largest = 0;

	for (int j = 0; j < N; j++)
		for (int k = 0; k <= j; k++) {
			double sum = j == k ? -1 : 0;
			for (int i = 0; i < N; i++)
				sum += (double)q[i + j * LD] * (double)q[i + k * LD];
			largest = fmax(largest, fabs(sum));
		}
	return largest < (sizeof(REAL) == 4 ? 1e-5 : 1e-13);
}

/* ---- the legacy calls ---- */

static void NAME(legacy_calls)(cusolverDnHandle_t h)
{
	REAL a[LD * N], b[LD * NRHS], tau[N], *room = malloc(ROOM * sizeof *room);
	REAL *work = room + 1; /* not aligned */
	int ipiv[N], info = -1, lwork = 0;

	NAME(fill)(a);
	NAME(right_side)(b);
	DN(getrf_bufferSize)(h, N, N, a, LD, &lwork);
	check(lwork > 1 && lwork < ROOM, "getrf's workspace");
	check(DN(getrf)(h, N, N, a, LD, work, ipiv, &info) == CUSOLVER_STATUS_SUCCESS && info == 0,
	        "getrf");
	check(DN(getrs)(h, CUBLAS_OP_N, N, NRHS, a, LD, ipiv, b, LD, &info) ==
	                        CUSOLVER_STATUS_SUCCESS &&
	                info == 0 && NAME(is_solution)(b),
	        "getrs");
	check(NAME(padding_kept)(a), "LU keeps what is below the matrix");
	NAME(right_side)(b); /* of A^T, which is A */
	DN(getrs)(h, CUBLAS_OP_C, N, NRHS, a, LD, ipiv, b, LD, &info);
	check(NAME(is_solution)(b), "getrs with C");
	memset(a, 0, sizeof a);
	DN(getrf)(h, N, N, a, LD, work, ipiv, &info);
	check(info == 1, "getrf of zeros");

	NAME(fill)(a);
	NAME(right_side)(b);
	DN(potrf_bufferSize)(h, CUBLAS_FILL_MODE_UPPER, N, a, LD, &lwork);
	check(DN(potrf)(h, CUBLAS_FILL_MODE_UPPER, N, a, LD, work, lwork, &info) ==
	                        CUSOLVER_STATUS_SUCCESS &&
	                info == 0,
	        "potrf");
	check(DN(potrs)(h, CUBLAS_FILL_MODE_UPPER, N, NRHS, a, LD, b, LD, &info) ==
	                        CUSOLVER_STATUS_SUCCESS &&
	                info == 0 && NAME(is_solution)(b),
	        "potrs");
	NAME(fill)(a);
	a[4 + 4 * LD] = -1;
	DN(potrf)(h, CUBLAS_FILL_MODE_LOWER, N, a, LD, work, lwork, &info);
	check(info == 5, "potrf of a matrix that is not positive definite");

	NAME(fill)(a);
	DN(geqrf_bufferSize)(h, N, N, a, LD, &lwork);
	info = -1;
	check(DN(geqrf)(h, N, N, a, LD, tau, work, lwork, &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0,
	        "geqrf");
	NAME(right_side)(b);
	DN(ormqr_bufferSize)
	(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, N, NRHS, N, a, LD, tau, b, LD, &lwork);
	info = -1;
	check(DN(ormqr)(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, N, NRHS, N, a, LD, tau, b, LD, work,
	              lwork, &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0,
	        "ormqr");
	for (int k = 0; k < NRHS; k++)
		for (int i = N - 1; i >= 0; i--) {
			double sum = (double)b[i + k * LD];
			for (int j = i + 1; j < N; j++)
				sum -= (double)a[i + j * LD] * (double)b[j + k * LD];
			b[i + k * LD] = (REAL)(sum / (double)a[i + i * LD]);
		}
	check(NAME(is_solution)(b), "R X = Q^T B");
	DN(orgqr_bufferSize)(h, N, N, N, a, LD, tau, &lwork);
	info = -1;
	check(DN(orgqr)(h, N, N, N, a, LD, tau, work, lwork, &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0 && NAME(is_orthogonal)(a),
	        "orgqr");
	free(room);
}

/* ---- the 64-bit calls ---- */

static void NAME(wide_calls)(cusolverDnHandle_t h)
{
	const cudaDataType type = PRECISION;
	REAL a[LD * N], b[LD * NRHS], tau[N];
	size_t bytes = 0, host = 0, room = ROOM * sizeof(REAL);
	char *place = malloc(room), *work = place + 4;
	int64_t ipiv[N];
	int info = -1;

	NAME(fill)(a);
	NAME(right_side)(b);
	memset(ipiv, 0xff, sizeof ipiv);
	THE(cusolverDnXgetrf_bufferSize)(h, NULL, N, N, type, a, LD, type, &bytes, &host);
	check(bytes > 8 && bytes + 4 < room && host == 16, "Xgetrf's workspaces");
	check(THE(cusolverDnXgetrf)(h, NULL, N, N, type, a, LD, ipiv, type, work, bytes, NULL, 0,
	              &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0,
	        "Xgetrf");
	for (int i = 0; i < N; i++)
		check(ipiv[i] > i && ipiv[i] <= N, "pivots of 64 bits");
	check(THE(cusolverDnXgetrs)(h, NULL, CUBLAS_OP_N, N, NRHS, type, a, LD, ipiv, type, b, LD,
	              &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0 && NAME(is_solution)(b),
	        "Xgetrs");

	NAME(fill)(a);
	NAME(right_side)(b);
	THE(cusolverDnXpotrf_bufferSize)
	(h, NULL, CUBLAS_FILL_MODE_LOWER, N, type, a, LD, type, &bytes, &host);
	check(THE(cusolverDnXpotrf)(h, NULL, CUBLAS_FILL_MODE_LOWER, N, type, a, LD, type, work,
	              bytes, NULL, 0, &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0,
	        "Xpotrf");
	check(THE(cusolverDnXpotrs)(h, NULL, CUBLAS_FILL_MODE_LOWER, N, NRHS, type, a, LD, type, b,
	              LD, &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0 && NAME(is_solution)(b),
	        "Xpotrs");

	NAME(fill)(a);
	THE(cusolverDnXgeqrf_bufferSize)
	(h, NULL, N, N, type, a, LD, type, tau, type, &bytes, &host);
	info = -1;
	check(THE(cusolverDnXgeqrf)(h, NULL, N, N, type, a, LD, type, tau, type, work, bytes, NULL,
	              0, &info) == CUSOLVER_STATUS_SUCCESS &&
	                info == 0 && fabs((double)tau[0]) > 1,
	        "Xgeqrf");

	/* Those of earlier toolkits. */
	NAME(fill)(a);
	NAME(right_side)(b);
	THE(cusolverDnGetrf_bufferSize)(h, NULL, N, N, type, a, LD, type, &bytes);
	THE(cusolverDnGetrf)(h, NULL, N, N, type, a, LD, ipiv, type, work, bytes, &info);
	THE(cusolverDnGetrs)
	(h, NULL, CUBLAS_OP_T, N, NRHS, type, a, LD, ipiv, type, b, LD, &info);
	check(info == 0 && NAME(is_solution)(b), "Getrf, Getrs");
	NAME(fill)(a);
	NAME(right_side)(b);
	THE(cusolverDnPotrf_bufferSize)
	(h, NULL, CUBLAS_FILL_MODE_UPPER, N, type, a, LD, type, &bytes);
	THE(cusolverDnPotrf)
	(h, NULL, CUBLAS_FILL_MODE_UPPER, N, type, a, LD, type, work, bytes, &info);
	THE(cusolverDnPotrs)
	(h, NULL, CUBLAS_FILL_MODE_UPPER, N, NRHS, type, a, LD, type, b, LD, &info);
	check(info == 0 && NAME(is_solution)(b), "Potrf, Potrs");
	NAME(fill)(a);
	tau[0] = 0;
	THE(cusolverDnGeqrf_bufferSize)(h, NULL, N, N, type, a, LD, type, tau, type, &bytes);
	THE(cusolverDnGeqrf)
	(h, NULL, N, N, type, a, LD, type, tau, type, work, bytes, &info);
	check(info == 0 && fabs((double)tau[0]) > 1, "Geqrf");
	free(place);
}

/* ---- calls that reach cuSOLVER ---- */

/* devInfo of an LU of n columns, or minus the status. */
static int NAME(lu)(cusolverDnHandle_t h, int n)
{
	REAL a[LD * N], *work = malloc(ROOM * sizeof *work);
	int ipiv[N], info = -1, lwork;

	NAME(fill)(a);
	DN(getrf_bufferSize)(h, n, n, a, LD, &lwork);
	cusolverStatus_t status = DN(getrf)(h, n, n, a, LD, work, ipiv, &info);
	free(work);
	return status == CUSOLVER_STATUS_SUCCESS ? info : -(int)status;
}

static void NAME(passed_calls)(cusolverDnHandle_t h)
{
	const cudaDataType type = PRECISION, other = CUDA_C_32F;
	REAL a[LD * N], b[LD * NRHS], tau[N], work[ROOM];
	int64_t wide[N];
	int ipiv[N], info, lwork = ROOM;
	size_t room = sizeof work, bytes, host;

	NAME(fill)(a);
	NAME(fill)(work);
#define REACHES(what, call)                                                                        \
	(info = 0, check((call) == CUSOLVER_STATUS_SUCCESS && info == PASSED, what))
	REACHES("getrf without a query of its workspace",
	        DN(getrf)(h, N, N - 1, a, LD, work, ipiv, &info));
	DN(getrf_bufferSize)(h, N, N, a, LD, &lwork);
	lwork = ROOM;
	REACHES("getrf without pivots", DN(getrf)(h, N, N, a, LD, work, NULL, &info));
	REACHES("getrs without pivots",
	        DN(getrs)(h, CUBLAS_OP_N, N, NRHS, a, LD, NULL, b, LD, &info));
	REACHES("getrs of an unknown trans",
	        DN(getrs)(h, (cublasOperation_t)9, N, NRHS, a, LD, ipiv, b, LD, &info));
	REACHES("geqrf of no columns", DN(geqrf)(h, N, 0, a, LD, tau, work, lwork, &info));
	REACHES("geqrf with too little workspace", DN(geqrf)(h, N, N, a, LD, tau, work, 1, &info));
	REACHES("geqrf without a workspace", DN(geqrf)(h, N, N, a, LD, tau, NULL, lwork, &info));
	REACHES("orgqr that libfathom refuses",
	        DN(orgqr)(h, N, 13, 13, a, LD, tau, work, lwork, &info));
	REACHES("ormqr with C", DN(ormqr)(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, N, NRHS, N, a, LD, tau,
	                                b, LD, work, lwork, &info));
	REACHES("potrf of an unknown triangle",
	        DN(potrf)(h, (cublasFillMode_t)2, N, a, LD, work, lwork, &info));
	REACHES("potrs of an unknown triangle",
	        DN(potrs)(h, (cublasFillMode_t)2, N, NRHS, a, LD, b, LD, &info));
	check(DN(potrf)(h, CUBLAS_FILL_MODE_LOWER, N, a, LD, work, lwork, NULL) ==
	                CUSOLVER_STATUS_SUCCESS,
	        "potrf without devInfo");
	REACHES("Xgetrf of complex numbers", THE(cusolverDnXgetrf)(h, NULL, N, N, other, a, LD,
	                                             wide, other, work, room, NULL, 0, &info));
	REACHES("Xgetrf that computes in another type",
	        THE(cusolverDnXgetrf)(
	                h, NULL, N, N, type, a, LD, wide, other, work, room, NULL, 0, &info));
	REACHES("Xgetrf without pivots", THE(cusolverDnXgetrf)(h, NULL, N, N, type, a, LD, NULL,
	                                         type, work, room, NULL, 0, &info));
	REACHES("Xgetrs of two types", THE(cusolverDnXgetrs)(h, NULL, CUBLAS_OP_N, N, NRHS, type, a,
	                                       LD, wide, other, b, LD, &info));
	REACHES("Xgeqrf with another type of tau",
	        THE(cusolverDnXgeqrf)(
	                h, NULL, N, N, type, a, LD, other, tau, type, work, room, NULL, 0, &info));
	REACHES("Xpotrf with too little workspace",
	        THE(cusolverDnXpotrf)(h, NULL, CUBLAS_FILL_MODE_LOWER, N, type, a, LD, type, work,
	                8, NULL, 0, &info));
	THE(cusolverDnXpotrf_bufferSize)
	(h, NULL, CUBLAS_FILL_MODE_LOWER, N, other, a, LD, other, &bytes, &host);
	check(bytes == 8, "the workspace of complex numbers is cuSOLVER's");
#undef REACHES
}
