/* SPDX-License-Identifier: MIT */
/* libfathom as a guest in other programs: threads with handles of their own, captures of other
 * streams, contexts and green contexts of the caller, devices that are reset, leading dimensions
 * that no kernel counts to. */
#include "tests/tap.h"

#include "factor/library/fathom.h"
#include "lib/device/driver.h"
#include "lib/device/gpu.h"
#include "lib/base/random.h"

#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, SMALL_GREEN = 16 };

/* ---- a system of equations, solved in a stream ---- */

struct system {
	int64_t n;
	float *a, *b; /* on the host */
	float *device_a, *device_b;
	void *work;
	int64_t bytes;
	int *ipiv, *info;
};

static float random_of(uint64_t *state)
{
	return (float)((double)(random_next(state) >> 40) / (1 << 23) - 1);
}

/* Symmetric with a dominant diagonal: for LU and Cholesky. */
static struct system system_new(struct fathom *h, int64_t n, uint64_t seed)
{
	struct system s = {.n = n};
	const size_t square = (size_t)(n * n) * sizeof(float);

	s.a = malloc(square);
	s.b = malloc((size_t)n * sizeof(float));
	for (int64_t j = 0; j < n; j++) {
		for (int64_t i = j; i < n; i++)
			s.a[i + j * n] = s.a[j + i * n] =
			        random_of(&seed) + (i == j ? (float)(2 * n) : 0);
		s.b[j] = random_of(&seed);
	}
	s.bytes = fathom_sgetrf_work(h, n, n, n) + fathom_spotrf_work(h, 'L', n, n) + 256;
	GPU(cudaMalloc((void **)&s.device_a, square));
	GPU(cudaMalloc((void **)&s.device_b, (size_t)n * sizeof(float)));
	GPU(cudaMalloc(&s.work, (size_t)s.bytes));
	GPU(cudaMalloc((void **)&s.ipiv, (size_t)n * sizeof(int)));
	GPU(cudaMalloc((void **)&s.info, sizeof(int)));
	return s;
}

static void system_free(struct system *s)
{
	free(s->a);
	free(s->b);
	GPU(cudaFree(s->device_a));
	GPU(cudaFree(s->device_b));
	GPU(cudaFree(s->work));
	GPU(cudaFree(s->ipiv));
	GPU(cudaFree(s->info));
}

static void system_send(const struct system *s, cudaStream_t stream)
{
	GPU(cudaMemcpyAsync(s->device_a, s->a, (size_t)(s->n * s->n) * sizeof(float),
	        cudaMemcpyHostToDevice, stream));
	GPU(cudaMemcpyAsync(
	        s->device_b, s->b, (size_t)s->n * sizeof(float), cudaMemcpyHostToDevice, stream));
	GPU(cudaStreamSynchronize(stream));
}

static bool system_solve(const struct system *s, struct fathom *h, bool cholesky)
{
	const int64_t n = s->n;
	const bool good = cholesky ? fathom_spotrf(h, 'L', n, s->device_a, n, s->work, s->bytes,
	                                     s->info) == FATHOM_OK &&
	                                     fathom_spotrs(h, 'L', n, 1, s->device_a, n,
	                                             s->device_b, n) == FATHOM_OK
	                           : fathom_sgetrf(h, n, n, s->device_a, n, s->ipiv, s->work,
	                                     s->bytes, s->info) == FATHOM_OK &&
	                                     fathom_sgetrs(h, 'N', n, 1, s->device_a, n, s->ipiv,
	                                             s->device_b, n) == FATHOM_OK;
	if (!good)
		diag("%s", fathom_error(h));
	return good;
}

/* norm(b - A x) / (n norm(A) norm(x) eps), in the largest norms */
static double system_ratio(const struct system *s, cudaStream_t stream)
{
	const int64_t n = s->n;
	float *x = malloc((size_t)n * sizeof *x);
	double rest = 0, largest = 0;

	GPU(cudaMemcpyAsync(x, s->device_b, (size_t)n * sizeof *x, cudaMemcpyDeviceToHost, stream));
	GPU(cudaStreamSynchronize(stream));
	for (int64_t i = 0; i < n; i++) {
		double sum = s->b[i];
		for (int64_t j = 0; j < n; j++)
			sum -= (double)s->a[j + i * n] * (double)x[j];
		rest = isnan(sum) ? INFINITY : fmax(rest, fabs(sum));
		largest = fmax(largest, fabs((double)x[i]));
	}
	free(x);
	return rest / (3.0 * (double)n * largest * 0x1p-24 * (double)n);
}

static bool solves(struct fathom *h, int64_t n, bool cholesky, cudaStream_t stream)
{
	struct system s = system_new(h, n, (uint64_t)n);

	system_send(&s, stream);
	const bool good = system_solve(&s, h, cholesky) && fathom_finish(h) == FATHOM_OK;
	const double ratio = good ? system_ratio(&s, stream) : INFINITY;
	if (!(ratio < 10))
		diag("n = %" PRId64 ": residual %g, %s", n, ratio, fathom_error(h));
	system_free(&s);
	return ratio < 10;
}

/* ---- threads ---- */

static void *thread_run(void *failures)
{
	static const int64_t sizes[] = {96, 500, 2000, 31, 1200};
	struct fathom *h;
	struct system s[5];
	cudaStream_t stream;
	int failed = 0;

	if (fathom_create(&h) != FATHOM_OK) {
		*(int *)failures = 1;
		return NULL;
	}
	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	failed += fathom_set_stream(h, stream) != FATHOM_OK;
	for (int i = 0; i < 5; i++)
		s[i] = system_new(h, test_at_most(sizes[i], 300), (uint64_t)i);
	for (int round = 0; round < test_at_most(300, 5); round++)
		failed += !system_solve(&s[round % 5], h, round % 3 != 0);
	for (int i = 0; i < 5; i++) {
		system_send(&s[i], stream);
		failed += !system_solve(&s[i], h, i % 2) || fathom_finish(h) != FATHOM_OK ||
		          !(system_ratio(&s[i], stream) < 10);
		system_free(&s[i]);
	}
	fathom_destroy(h);
	GPU(cudaStreamDestroy(stream));
	*(int *)failures = failed;
	return NULL;
}

static void check_threads(void)
{
	pthread_t thread[THREADS];
	int failures[THREADS], failed = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, thread_run, &failures[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		failed += failures[i];
	}
	ok(failed == 0, "%d threads with handles of their own: %d calls failed", THREADS, failed);
}

/* ---- captures of others ---- */

static void check_capture(enum cudaStreamCaptureMode mode, const char *name)
{
	cudaStream_t x, y;
	cudaGraph_t graph = NULL;
	struct fathom *h, *inside = NULL;
	char *byte;

	GPU(cudaMalloc((void **)&byte, 16));
	GPU(cudaStreamCreate(&x));
	GPU(cudaStreamCreateWithFlags(&y, cudaStreamNonBlocking));
	fathom_create(&h);
	fathom_set_stream(h, y);
	struct system s = system_new(h, 700, 5);
	system_send(&s, y);
	GPU(cudaStreamBeginCapture(x, mode));
	GPU(cudaMemsetAsync(byte, 1, 16, x));
	const bool solved = system_solve(&s, h, false) && fathom_finish(h) == FATHOM_OK;
	const bool created = fathom_create(&inside) == FATHOM_OK;
	if (!created)
		diag("%s", fathom_error(NULL));
	const bool moved = created && fathom_set_stream(inside, y) == FATHOM_OK;
	GPU(cudaMemsetAsync(byte, 2, 16, x));
	const bool captured = cudaStreamEndCapture(x, &graph) == cudaSuccess && graph;
	cudaGetLastError();
	ok(solved && system_ratio(&s, y) < 10, "%s capture of another stream: a call is right",
	        name);
	ok(created && moved && solves(inside, 300, false, y),
	        "%s capture of another stream: a handle made meanwhile works", name);
	ok(captured, "%s capture of another stream: it goes on", name);
	if (graph)
		GPU(cudaGraphDestroy(graph));
	fathom_destroy(inside);
	fathom_destroy(h);
	system_free(&s);
	GPU(cudaStreamDestroy(x));
	GPU(cudaStreamDestroy(y));
	GPU(cudaFree(byte));
}

/* ---- contexts ---- */

/* A context of the caller's is current before and after each call, and holds all that the handle
 * makes. */
static void check_context(void)
{
	const PFN_cuCtxCreate_v3020 create =
	        (PFN_cuCtxCreate_v3020)driver_function("cuCtxCreate", 3020);
	const PFN_cuCtxDestroy_v4000 destroy =
	        (PFN_cuCtxDestroy_v4000)driver_function("cuCtxDestroy", 4000);
	CUcontext first = driver_context(), own = NULL;
	struct fathom *h = NULL;

	if (create(&own, 0, 0) != CUDA_SUCCESS) {
		skip("contexts of the caller", "no second context here");
		return;
	}
	const bool created = fathom_create(&h) == FATHOM_OK;
	ok(created && driver_context() == own, "fathom_create leaves the caller's context current");
	ok(created && solves(h, 400, false, NULL) && driver_context() == own,
	        "a handle works in the caller's context");
	driver_set_context(first);
	ok(fathom_finish(h) == FATHOM_OK && driver_context() == first,
	        "calls from another context leave that one current");
	fathom_destroy(h);
	ok(driver_context() == first, "and so does fathom_destroy");
	destroy(own);
	driver_set_context(first);
}

/* The headers of CUDA 12.4 do not name it. */
typedef CUresult (*green_stream_new)(CUstream *, CUgreenCtx, unsigned, int);

static void check_green_stream(void)
{
	const PFN_cuDeviceGetDevResource_v12040 get =
	        (PFN_cuDeviceGetDevResource_v12040)driver_function("cuDeviceGetDevResource", 12040);
	const PFN_cuDevSmResourceSplitByCount_v12040 split =
	        (PFN_cuDevSmResourceSplitByCount_v12040)driver_function(
	                "cuDevSmResourceSplitByCount", 12040);
	const PFN_cuDevResourceGenerateDesc_v12040 describe =
	        (PFN_cuDevResourceGenerateDesc_v12040)driver_function(
	                "cuDevResourceGenerateDesc", 12040);
	const PFN_cuGreenCtxCreate_v12040 create =
	        (PFN_cuGreenCtxCreate_v12040)driver_function("cuGreenCtxCreate", 12040);
	const green_stream_new stream_new =
	        (green_stream_new)driver_function("cuGreenCtxStreamCreate", 12050);
	const PFN_cuGreenCtxDestroy_v12040 destroy =
	        (PFN_cuGreenCtxDestroy_v12040)driver_function("cuGreenCtxDestroy", 12040);
	CUdevResource all, part, rest;
	CUdevResourceDesc description;
	CUgreenCtx green;
	CUstream stream;
	unsigned groups = 1;
	struct fathom *h = NULL;

	if (!get || !split || !describe || !create || !stream_new || !destroy ||
	        get(0, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
	        split(&part, &groups, &all, &rest, 0, SMALL_GREEN) != CUDA_SUCCESS ||
	        describe(&description, &part, 1) != CUDA_SUCCESS ||
	        create(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS) {
		skip("streams of green contexts", "the driver has none");
		return;
	}
	stream_new(&stream, green, CU_STREAM_NON_BLOCKING, 0);
	const bool followed =
	        fathom_create(&h) == FATHOM_OK && fathom_set_stream(h, stream) == FATHOM_OK;
	ok(driver_stream_sms(stream) == (int)part.sm.smCount,
	        "the stream of a green context has its %u multiprocessors", part.sm.smCount);
	ok(followed && solves(h, 1500, false, stream) && solves(h, 1500, true, stream) &&
	                solves(h, 6000, false, stream),
	        "LU and Cholesky in the stream of a green context");
	fathom_destroy(h);
	destroy(green);
}

/* ---- leading dimensions ---- */

static void check_leading_dimension(void)
{
	const int64_t ld = INT64_C(2147483712);
	struct fathom *h;
	int *ipiv;

	fathom_create(&h);
	GPU(cudaMalloc((void **)&ipiv, 64));
	float *data = (float *)(void *)ipiv; /* never read */
	ok(fathom_sgetrf_work(h, 100, 4, ld) == -1 &&
	                fathom_sgetrs(h, 'N', 4, 1, data, ld, ipiv, data, 4) ==
	                        FATHOM_BAD_ARGUMENT &&
	                fathom_sgetrs(h, 'N', 4, 1, data, 4, ipiv, data, ld) ==
	                        FATHOM_BAD_ARGUMENT &&
	                fathom_sgemv(h, 'N', 4, 4, 1, data, ld, data, 1, 0, data, 1) ==
	                        FATHOM_BAD_ARGUMENT,
	        "a leading dimension over 2^31 - 1 is refused by every call: %s", fathom_error(h));
	GPU(cudaFree(ipiv));
	fathom_destroy(h);
}

/* ---- reset ---- */

static void check_reset(void)
{
	struct fathom *h, *after;

	fathom_create(&h);
	GPU(cudaDeviceReset());
	ok(fathom_finish(h) != FATHOM_OK, "after a reset a call says so: %s", fathom_error(h));
	fathom_destroy(h);
	ok(fathom_create(&after) == FATHOM_OK && solves(after, 1000, false, NULL) &&
	                solves(after, 1000, true, NULL),
	        "a handle made after a reset works");
	fathom_destroy(after);
}

int main(void)
{
	struct fathom *h;

	if (fathom_create(&h) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	fathom_destroy(h);
	check_threads();
	check_capture(cudaStreamCaptureModeGlobal, "global");
	check_capture(cudaStreamCaptureModeThreadLocal, "thread-local");
	check_capture(cudaStreamCaptureModeRelaxed, "relaxed");
	check_context();
	check_green_stream();
	check_leading_dimension();
	check_reset();
	return finish();
}
