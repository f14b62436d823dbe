/* SPDX-License-Identifier: MIT */
/* libfathom_cusolver.so on a GPU: this program is linked with cuSOLVER, starts itself again with
 * the library preloaded, and checks the numbers of each call that libfathom answers, and who
 * answered. */
#include "cusolver_client_test.h"

#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <unistd.h>

static long long (*answered)(const char *), (*passed_on)(const char *);
static bool with_qr; /* libfathom has QR on this GPU */

static const char *form(bool wide)
{
	return wide ? "64-bit" : "legacy";
}

/* ---- LU ---- */

/* Pivots on the host as int. */
static int *pivots_of(const void *device, int64_t count, bool wide)
{
	int64_t *longs = on_host(count * (int64_t)sizeof *longs);
	int *ints = on_host(count * (int64_t)sizeof *ints);

	to_host(wide ? (void *)longs : (void *)ints, device,
	        count * (int64_t)(wide ? sizeof *longs : sizeof *ints));
	for (int64_t i = 0; wide && i < count; i++)
		ints[i] = (int)longs[i];
	return ints;
}

static void check_lu(int64_t m, int64_t n, enum precision p, int kind, int want, bool wide)
{
	struct pair a = pair_new(m, n, p, kind);
	int64_t k = min_int64(m, n);
	void *ipiv = on_device(NULL, k * 8);
	int *info = new_info();
	struct panel_check check = {0};
	bool good = call_getrf(&a, ipiv, info, wide);
	void *result = pair_result(&a);

	check_panel(a.host, a.ld, result, a.ld, m, k, pivots_of(ipiv, k, wide), p, &check);
	ok(good && check.passed && int_on_host(info) == want &&
	                matrix_padding_intact(result, a.ld, m, n, p),
	        "%s %cgetrf %" PRId64 " x %" PRId64 ": ratio %.3g, info %d", form(wide), p, m, n,
	        check.ratio, int_on_host(info));
	release();
}

static void check_lu_solve(
        int64_t n, int64_t nrhs, enum precision p, cublasOperation_t trans, bool wide)
{
	struct pair a = pair_new(n, n, p, TEST_CONDITION_2), b = pair_random(n, nrhs, p, 5);
	void *ipiv = on_device(NULL, n * 8);
	int *info = new_info(), *solved = new_info();
	bool good =
	        call_getrf(&a, ipiv, info, wide) && call_getrs(&a, trans, ipiv, &b, solved, wide);
	double ratio = solve_ratio(&a, trans == CUBLAS_OP_N ? CblasNoTrans : CblasTrans, &b);

	ok(good && ratio < CHECK_THRESHOLD && int_on_host(solved) == 0,
	        "%s %cgetrs n %" PRId64 ", nrhs %" PRId64 ", trans %d: ratio %.3g", form(wide), p,
	        n, nrhs, (int)trans, ratio);
	release();
}

/* ---- Cholesky ---- */

static void check_cholesky(int64_t n, enum precision p, cublasFillMode_t uplo, int bad, bool wide)
{
	struct pair a = definite(n, p, bad), b = pair_random(n, 3, p, 5);
	int *info = new_info(), *solved = new_info();
	bool good = call_potrf(&a, uplo, info, wide) &&
	            (bad || (call_potrs(&a, uplo, &b, solved, wide) && int_on_host(solved) == 0));
	double ratio = bad ? 0 : solve_ratio(&a, CblasNoTrans, &b);

	ok(good && ratio < CHECK_THRESHOLD && int_on_host(info) == bad,
	        "%s %cpotrf, potrs n %" PRId64 ", uplo %d: ratio %.3g, info %d", form(wide), p, n,
	        (int)uplo, ratio, int_on_host(info));
	release();
}

/* ---- QR ---- */

static void check_qr(int64_t m, int64_t n, enum precision p, bool wide)
{
	int64_t k = min_int64(m, n), word = precision_bytes(p);
	struct pair a = pair_new(m, n, p, MATRIX_RANDOM), r = pair_new(m, n, p, TEST_ZERO);
	void *tau_device = on_device(NULL, k * word), *tau = on_host(k * word);
	int *info = new_info();
	bool good = call_geqrf(&a, tau_device, info, wide);
	void *qr = pair_result(&a);

	to_host(tau, tau_device, k * word);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i <= j && i < m; i++)
			put(r.host, i + j * r.ld, p, get(qr, i + j * a.ld, p));
	good = good && LAPACK(p, ormqr, 'L', 'N', (int)m, (int)n, (int)k, qr, (int)a.ld, tau,
	                       r.host, (int)r.ld) == 0;
	double ratio = difference(&a, r.host, a.host);
	ok(good && ratio < CHECK_THRESHOLD && int_on_host(info) == 0 &&
	                matrix_padding_intact(qr, a.ld, m, n, p),
	        "%s %cgeqrf %" PRId64 " x %" PRId64 ": ratio %.3g", form(wide), p, m, n, ratio);
	release();
}

static void check_apply(int64_t m, int64_t n, int64_t k, enum precision p, cublasSideMode_t side,
        cublasOperation_t trans)
{
	struct pair tau, a = reflectors(side == CUBLAS_SIDE_LEFT ? m : n, k, p, &tau);
	struct pair c = pair_random(m, n, p, 9);
	int *info = new_info(), lwork = 0;
	bool good = fine(LEGACY(p, ormqr_bufferSize, side, trans, (int)m, (int)n, (int)k, a.device,
	        (int)a.ld, tau.device, c.device, (int)c.ld, &lwork));

	good = good && fine(LEGACY(p, ormqr, side, trans, (int)m, (int)n, (int)k, a.device,
	                       (int)a.ld, tau.device, c.device, (int)c.ld,
	                       odd_room(lwork * precision_bytes(p), p), lwork, info));
	void *got = pair_result(&c);
	good = good && LAPACK(p, ormqr, side == CUBLAS_SIDE_LEFT ? 'L' : 'R',
	                       trans == CUBLAS_OP_N ? 'N' : 'T', (int)m, (int)n, (int)k, a.host,
	                       (int)a.ld, tau.host, c.host, (int)c.ld) == 0;
	double ratio = difference(&c, got, c.host);
	ok(good && ratio < CHECK_THRESHOLD && int_on_host(info) == 0,
	        "%cormqr %" PRId64 " x %" PRId64 ", k %" PRId64 ", side %d, trans %d: ratio %.3g",
	        p, m, n, k, (int)side, (int)trans, ratio);
	release();
}

static void check_form(int64_t m, int64_t n, int64_t k, enum precision p)
{
	struct pair tau, v = reflectors(m, k, p, &tau), q = pair_random(m, n, p, 3);
	int *info = new_info(), lwork = 0;

	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < m; i++)
			put(q.host, i + j * q.ld, p, get(v.host, i + j * v.ld, p));
	GPU(cudaMemcpy(q.device, q.host, (size_t)q.bytes, cudaMemcpyHostToDevice));
	bool good = fine(LEGACY(p, orgqr_bufferSize, (int)m, (int)n, (int)k, q.device, (int)q.ld,
	                    tau.device, &lwork)) &&
	            fine(LEGACY(p, orgqr, (int)m, (int)n, (int)k, q.device, (int)q.ld, tau.device,
	                    odd_room(lwork * precision_bytes(p), p), lwork, info));
	void *got = pair_result(&q);
	good = good && LAPACK(p, orgqr, (int)m, (int)n, (int)k, q.host, (int)q.ld, tau.host) == 0;
	double ratio = difference(&q, got, q.host);
	ok(good && ratio < CHECK_THRESHOLD && int_on_host(info) == 0,
	        "%corgqr %" PRId64 " x %" PRId64 ", k %" PRId64 ": ratio %.3g", p, m, n, k, ratio);
	release();
}

/* ---- streams ---- */

/* The matrix arrives in the stream after a held moment, the factorization follows it there, and the
 * stream is destroyed before the next one is used. */
static void check_streams(void)
{
	bool good = true;

	for (int round = 0; round < 3; round++) {
		struct pair a = definite(300, DOUBLE, 0), b = pair_random(300, 2, DOUBLE, 5);
		struct gpu_hold *hold = gpu_hold_new();
		int *info = new_info(), *solved = new_info();
		void *source = on_device(a.host, a.bytes);
		cudaStream_t stream;

		GPU(cudaMemset(a.device, 0, (size_t)a.bytes));
		GPU(cudaDeviceSynchronize());
		GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		good = fine(cusolverDnSetStream(solver, stream)) && good;
		gpu_hold_start(hold, stream);
		GPU(cudaMemcpyAsync(
		        a.device, source, (size_t)a.bytes, cudaMemcpyDeviceToDevice, stream));
		gpu_hold_release(hold);
		good = call_potrf(&a, CUBLAS_FILL_MODE_LOWER, info, round % 2) && good;
		good = call_potrs(&a, CUBLAS_FILL_MODE_LOWER, &b, solved, round % 2) && good;
		GPU(cudaStreamSynchronize(stream));
		good = gpu_hold_ok(hold) && int_on_host(info) == 0 && int_on_host(solved) == 0 &&
		       solve_ratio(&a, CblasNoTrans, &b) < CHECK_THRESHOLD && good;
		GPU(cudaStreamDestroy(stream));
		gpu_hold_free(hold);
		release();
	}
	good = fine(cusolverDnSetStream(solver, NULL)) && good;
	ok(good, "calls follow what is in their stream; streams may be destroyed after a call");
}

/* ---- what is passed on ---- */

static void check_passed(void)
{
	struct pair a = pair_new(200, 200, SINGLE, TEST_CONDITION_2);
	void *room = on_device(NULL, 1 << 24), *ipiv = on_device(NULL, 200 * 8);
	int *info = new_info(), lwork = 0;
	long long before = passed_on(NULL), calls = answered(NULL);
	size_t bytes = 0, host = 0;
	cudaStream_t stream;
	cudaGraph_t graph = NULL;

	GPU(cudaMemset(room, 0, 1 << 24));
	cusolverDnSgetrf_bufferSize(solver, 200, 200, a.device, (int)a.ld, &lwork);
	ok(fine(cusolverDnSgetrf(solver, 200, 200, a.device, (int)a.ld, room, NULL, info)) &&
	                int_on_host(info) == 0 && passed_on("cusolverDnSgetrf") > 0,
	        "LU without pivots is cuSOLVER's");
	ok(fine(cusolverDnXgetrf_bufferSize(
	           solver, NULL, 50, 50, CUDA_C_32F, room, 50, CUDA_C_32F, &bytes, &host)) &&
	                fine(cusolverDnXgetrf(solver, NULL, 50, 50, CUDA_C_32F, room, 50, ipiv,
	                        CUDA_C_32F, (char *)room + (1 << 20), bytes, on_host((int64_t)host),
	                        host, info)) &&
	                passed_on("cusolverDnXgetrf") > 0,
	        "complex numbers are cuSOLVER's");
	cusolverDnSgeqrf(
	        solver, 200, 200, a.device, (int)a.ld, (float *)room + 1000, room, 1, info);
	ok(passed_on("cusolverDnSgeqrf") > 0, "so is too little workspace");
	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	cusolverDnSetStream(solver, stream);
	GPU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	cusolverDnDgeqrf_bufferSize(solver, 100, 100, room, 100, &lwork);
	cusolverDnDgeqrf(solver, 100, 100, room, 100, (double *)room + 20000,
	        (double *)room + 30000, lwork, info);
	cudaStreamEndCapture(stream, &graph);
	if (graph)
		GPU(cudaGraphDestroy(graph));
	cudaGetLastError();
	cusolverDnSetStream(solver, NULL);
	GPU(cudaStreamDestroy(stream));
	ok(passed_on("cusolverDnDgeqrf") > 0, "and a stream under capture");
	ok(passed_on(NULL) == before + 4 && answered(NULL) == calls, "all of them were counted");
	release();
}

/* ---- threads ---- */

enum { THREADS = 4, TIMES = 5 };

struct thread_case {
	int n;
	double *host, *result;
	bool same;
};

/* The same bits in each of a thread's own calls. */
static void *thread_main(void *data)
{
	struct thread_case *t = data;
	const size_t bytes = (size_t)t->n * (size_t)t->n * sizeof(double);
	cusolverDnHandle_t mine;
	double *a, *work, *got = malloc(bytes);
	int *ipiv, *info, lwork = 0;

	t->same = cusolverDnCreate(&mine) == CUSOLVER_STATUS_SUCCESS;
	cusolverDnDgetrf_bufferSize(mine, t->n, t->n, NULL, t->n, &lwork);
	GPU(cudaMalloc((void **)&a, bytes));
	GPU(cudaMalloc((void **)&work, (size_t)lwork * sizeof(double)));
	GPU(cudaMalloc((void **)&ipiv, (size_t)t->n * sizeof(int)));
	GPU(cudaMalloc((void **)&info, sizeof(int)));
	for (int i = 0; i < TIMES; i++) {
		GPU(cudaMemcpy(a, t->host, bytes, cudaMemcpyHostToDevice));
		t->same = cusolverDnDgetrf(mine, t->n, t->n, a, t->n, work, ipiv, info) ==
		                  CUSOLVER_STATUS_SUCCESS &&
		          t->same;
		GPU(cudaMemcpy(i ? got : t->result, a, bytes, cudaMemcpyDeviceToHost));
		t->same = t->same && (i == 0 || memcmp(got, t->result, bytes) == 0);
	}
	cusolverDnDestroy(mine);
	cudaFree(a);
	cudaFree(work);
	cudaFree(ipiv);
	cudaFree(info);
	free(got);
	return NULL;
}

static void check_threads(void)
{
	struct thread_case cases[THREADS];
	pthread_t threads[THREADS];
	long long before = answered("cusolverDnDgetrf");
	bool same = true;

	for (int i = 0; i < THREADS; i++) {
		const int64_t n = 300 + 111 * i, bytes = n * n * 8;
		cases[i] = (struct thread_case){(int)n, on_host(bytes), on_host(bytes), false};
		for (int64_t j = 0; j < n * n; j++)
			cases[i].host[j] = test_random(31 + (uint64_t)i, j);
		pthread_create(&threads[i], NULL, thread_main, &cases[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		same = same && cases[i].same;
	}
	ok(same && answered("cusolverDnDgetrf") == before + THREADS * TIMES,
	        "%d threads with handles of their own get the same bits each time", THREADS);
	release();
}

/* ---- all ---- */

static void check_precision(enum precision p, bool wide)
{
	static const int64_t shapes[][2] = {{1, 1}, {9, 1}, {1, 9}, {63, 64}, {65, 65}, {301, 200},
	        {200, 301}, {1031, 1031}, {2050, 2050}};
	static const int64_t orders[] = {1, 64, 129, 601, 2049};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		if (!test_fits(shapes[i][0], shapes[i][1]))
			continue;
		check_lu(shapes[i][0], shapes[i][1], p, MATRIX_RANDOM, 0, wide);
		check_qr(shapes[i][0], shapes[i][1], p, wide);
	}
	check_lu(400, 400, p, MATRIX_ZERO_MIDDLE, 201, wide);
	check_lu(400, 300, p, MATRIX_ZERO_LAST, 300, wide);
	check_lu_solve(300, 7, p, CUBLAS_OP_N, wide);
	check_lu_solve(301, 1, p, CUBLAS_OP_T, wide);
	check_lu_solve(65, 3, p, CUBLAS_OP_C, wide);
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		if (!test_fits(orders[i], orders[i]))
			continue;
		check_cholesky(orders[i], p, CUBLAS_FILL_MODE_LOWER, 0, wide);
		check_cholesky(orders[i], p, CUBLAS_FILL_MODE_UPPER, 0, wide);
	}
	check_cholesky(400, p, CUBLAS_FILL_MODE_LOWER, 250, wide);
	check_cholesky(400, p, CUBLAS_FILL_MODE_UPPER, 400, wide);
}

static void check_reflectors(enum precision p)
{
	check_apply(200, 30, 100, p, CUBLAS_SIDE_LEFT, CUBLAS_OP_N);
	check_apply(201, 31, 101, p, CUBLAS_SIDE_LEFT, CUBLAS_OP_T);
	check_apply(30, 200, 100, p, CUBLAS_SIDE_RIGHT, CUBLAS_OP_N);
	check_apply(31, 201, 101, p, CUBLAS_SIDE_RIGHT, CUBLAS_OP_T);
	check_form(300, 200, 200, p);
	check_form(301, 150, 77, p);
}

/* Every call that libfathom has on this GPU was answered at least once. */
static void check_counts(void)
{
	static const char *const names[] = {"Sgetrf", "Sgetrs", "Sgeqrf", "Sorgqr", "Sormqr",
	        "Spotrf", "Spotrs", "Dgetrf", "Dgetrs", "Dgeqrf", "Dorgqr", "Dormqr", "Dpotrf",
	        "Dpotrs", "Xgetrf", "Xgetrs", "Xgeqrf", "Xpotrf", "Xpotrs"};
	char name[40];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!with_qr && strstr(names[i], "geqrf"))
			continue;
		snprintf(name, sizeof name, "cusolverDn%s", names[i]);
		ok(answered(name) > 0, "%s: %lld answered, %lld passed on", name, answered(name),
		        passed_on(name));
	}
}

/* Starts the program again with the library, which stands two folders above it. */
static void start_again(void)
{
	char path[4096], library[4200];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	int devices = 0;

	if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
		skip_all("no GPU");
	if (length < 0)
		skip_all("the program does not find itself");
	path[length] = '\0';
	snprintf(library, sizeof library, "%s/../../libfathom_cusolver.so", dirname(path));
	if (access(library, R_OK) != 0)
		skip_all("there is no libfathom_cusolver.so");
	const char *others = getenv("LD_PRELOAD"); /* a sanitizer's */
	setenv("LD_PRELOAD", others && *others ? xasprintf("%s:%s", library, others) : library, 1);
	setenv("FATHOM_TEST_PRELOADED", "1", 1);
	execl("/proc/self/exe", "test_cusolver_client_gpu", (char *)NULL);
	skip_all("the program does not start again");
}

int main(void)
{
	if (!getenv("FATHOM_TEST_PRELOADED"))
		start_again();
	*(void **)&answered = dlsym(RTLD_DEFAULT, "fathom_cusolver_answered");
	*(void **)&passed_on = dlsym(RTLD_DEFAULT, "fathom_cusolver_passed");
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	with_qr = qr_possible();
	fathom_destroy(handle);
	if (!ok(answered && passed_on, "the library is loaded") ||
	        !ok(fine(cusolverDnCreate(&solver)), "a handle"))
		return finish();
	for (int d = 0; d < 2; d++) {
		check_precision(d ? DOUBLE : SINGLE, false);
		check_precision(d ? DOUBLE : SINGLE, true);
		check_reflectors(d ? DOUBLE : SINGLE);
	}
	ok(!with_qr || passed_on(NULL) == 0, "libfathom answered all of them");
	check_streams();
	check_passed();
	check_threads();
	check_counts();
	ok(fine(cusolverDnDestroy(solver)), "the handle is destroyed");
	return finish();
}
