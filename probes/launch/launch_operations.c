/* SPDX-License-Identifier: MIT */
/* Operations of the launch probe: kernels, graphs, events, copies, calls of cuBLAS, and round trips
 * of them. */
#include "launch_internal.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <math.h>
#include <stdlib.h>

/* ---- calls of cuBLAS ---- */

static void check_blas(cublasStatus_t status, const char *call)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, cublasGetStatusString(status));
}
#define BLAS(call) check_blas(call, #call)

static void launch_scal(struct launch *launch)
{
	const float minus = -1;
	BLAS(cublasSscal(launch->blas, N, &minus, launch->x, 1));
}

static void launch_swap(struct launch *launch)
{
	BLAS(cublasSswap(launch->blas, N, launch->x, 1, launch->y, 1));
}

static void launch_ger(struct launch *launch)
{
	const float alpha = 1e-6f;
	BLAS(cublasSger(launch->blas, N, N, &alpha, launch->x, 1, launch->y, 1, launch->matrix, N));
}

static void multiply(struct launch *launch, cublasOperation_t operation)
{
	const float alpha = 1e-6f, beta = 1;
	BLAS(cublasSgemv(launch->blas, operation, N, N, &alpha, launch->matrix, N, launch->x, 1,
	        &beta, launch->y, 1));
}

static void launch_gemv(struct launch *launch)
{
	multiply(launch, CUBLAS_OP_N);
}

static void launch_gemv_t(struct launch *launch)
{
	multiply(launch, CUBLAS_OP_T);
}

/* A tall matrix of N columns. Transposed, the library divides the sums, and adds up their parts by
 * another kernel. iamax's vector is only read. */
static void multiply_tall(struct launch *launch, cublasOperation_t operation)
{
	const float alpha = 1e-6f, beta = 1;
	const int rows = launch->subject->argument[0];
	const bool plain = operation == CUBLAS_OP_N;
	BLAS(cublasSgemv(launch->blas, operation, rows, N, &alpha, launch->matrix, rows,
	        plain ? launch->x : launch->z, 1, &beta, plain ? launch->product : launch->y, 1));
}

static void launch_gemv_rows(struct launch *launch)
{
	multiply_tall(launch, CUBLAS_OP_N);
}

static void launch_gemv_t_rows(struct launch *launch)
{
	multiply_tall(launch, CUBLAS_OP_T);
}

/* A different size at each call, as in a factorization: the library chooses a kernel by the size.
 */
static int next_size(struct launch *launch)
{
	return N * (SIZES - launch->products++ % SIZES);
}

/* Updates n rows and n columns with N reflectors. */
static void launch_gemm(struct launch *launch)
{
	const float alpha = 1e-6f, beta = 1;
	const int n = next_size(launch);
	BLAS(cublasSgemm(launch->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, N, &alpha, launch->strip,
	        SIZES * N, launch->z, N, &beta, launch->matrix, SIZES * N));
}

/* V^T C of N reflectors of length n with n columns. */
static void launch_gemm_t(struct launch *launch)
{
	const float alpha = 1e-6f, beta = 1;
	const int n = next_size(launch);
	BLAS(cublasSgemm(launch->blas, CUBLAS_OP_T, CUBLAS_OP_N, N, n, n, &alpha, launch->strip,
	        SIZES * N, launch->matrix, SIZES * N, &beta, launch->product, N));
}

/* The same in double precision, where the library chooses by other rules, also for odd sizes. */
static void double_product(struct launch *launch, int n)
{
	const double alpha = 1e-6, beta = 1;
	const int side = SIZES * N;
	double *strip = launch->doubles + side * side;
	BLAS(cublasDgemm(launch->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, N, &alpha, strip, side,
	        strip + side * N, N, &beta, launch->doubles, side));
}

static void double_product_t(struct launch *launch, int n)
{
	const double alpha = 1e-6, beta = 1;
	const int side = SIZES * N;
	double *strip = launch->doubles + side * side;
	BLAS(cublasDgemm(launch->blas, CUBLAS_OP_T, CUBLAS_OP_N, N, n, n, &alpha, strip, side,
	        launch->doubles, side, &beta, strip + side * N, N));
}

static void launch_gemm_d(struct launch *launch)
{
	double_product(launch, next_size(launch));
}

static void launch_gemm_t_d(struct launch *launch)
{
	double_product_t(launch, next_size(launch));
}

static void launch_gemm_odd_d(struct launch *launch)
{
	double_product(launch, next_size(launch) - 1);
}

static void launch_gemm_t_odd_d(struct launch *launch)
{
	double_product_t(launch, next_size(launch) - 1);
}

static void launch_nrm2(struct launch *launch)
{
	float norm = 0;
	BLAS(cublasSnrm2(launch->blas, N, launch->z, 1, &norm));
	if (!(norm > 0))
		msg_die(EXIT_MEASURE_FAILED, "cublasSnrm2 of a random vector is %g", (double)norm);
}

static void launch_nrm2_length(struct launch *launch)
{
	const int n = launch->subject->argument[0] / (int)sizeof(float);
	float norm = 0;
	BLAS(cublasSnrm2(launch->blas, n, launch->z, 1, &norm));
	if (!(norm > 0))
		msg_die(EXIT_MEASURE_FAILED, "cublasSnrm2 of %d random elements is %g", n,
		        (double)norm);
}

static const int searched[LENGTHS] = {N, 1024, 4096, 16384, LONGEST};

static void launch_iamax(struct launch *launch)
{
	const int n = launch->subject->argument[0] / (int)sizeof(float);
	int found = 0, i = 0;
	while (i < LENGTHS - 1 && searched[i] != n)
		i++;
	BLAS(cublasIsamax(launch->blas, n, launch->z, 1, &found));
	if (found != launch->largest[i])
		msg_die(EXIT_MEASURE_FAILED,
		        "cublasIsamax found element %d of %d where %d is the largest", found, n,
		        launch->largest[i]);
}

static void find_largest(struct launch *launch)
{
	float *z = xmalloc(LONGEST * sizeof *z);
	GPU(cudaMemcpyAsync(
	        z, launch->z, LONGEST * sizeof *z, cudaMemcpyDeviceToHost, launch->stream));
	GPU(cudaStreamSynchronize(launch->stream));
	for (int l = 0, i = 0, largest = 0; l < LENGTHS; l++) {
		for (; i < searched[l]; i++)
			if (fabsf(z[i]) > fabsf(z[largest]))
				largest = i;
		launch->largest[l] = largest + 1;
	}
	free(z);
}

void launch_blas_open(struct launch *launch, uint64_t seed)
{
	enum {
		WORKSPACE = 32 << 20,
		SIDE = SIZES * N,
		PRODUCTS = SIDE * SIDE + 2 * SIDE * N,
		ELEMENTS = 2 * N + LONGEST + PRODUCTS
	};
	GPU(cudaMalloc((void **)&launch->x, ELEMENTS * sizeof(float)));
	GPU(cudaMalloc((void **)&launch->doubles, PRODUCTS * sizeof(double)));
	GPU(cudaMemsetAsync(launch->doubles, 0, PRODUCTS * sizeof(double), launch->stream));
	GPU(cudaMalloc(&launch->blas_workspace, WORKSPACE));
	launch->y = launch->x + N;
	launch->z = launch->y + N;
	launch->matrix = launch->z + LONGEST;
	launch->strip = launch->matrix + SIDE * SIDE;
	launch->product = launch->strip + SIDE * N;
	gpu_fill_float(launch->x, ELEMENTS, seed, launch->stream);
	find_largest(launch);

	BLAS(cublasCreate(&launch->blas));
	BLAS(cublasSetStream(launch->blas, launch->stream));
	BLAS(cublasSetWorkspace(launch->blas, launch->blas_workspace, WORKSPACE));
	BLAS(cublasSetPointerMode(launch->blas, CUBLAS_POINTER_MODE_HOST));
}

void launch_blas_close(struct launch *launch)
{
	BLAS(cublasDestroy(launch->blas));
	GPU(cudaFree(launch->blas_workspace));
	GPU(cudaFree(launch->doubles));
	GPU(cudaFree(launch->x));
}

static const double flag_timeout = 2;

void launch_one(struct launch *launch)
{
	launch_null(launch->word, 1, launch->stream);
}

void launch_grid(struct launch *launch)
{
	launch_null(launch->word, launch->subject->argument[0], launch->stream);
}

static void driver_launch(struct launch *launch)
{
	void *arguments[] = {&launch->word};
	GPU(launch->driver_launch(launch->driver_kernel, 1, 1, 1, LAUNCH_THREADS, 1, 1, 0,
	        launch->stream, arguments, NULL));
}

static void cooperative_launch(struct launch *launch)
{
	launch_cooperative(launch->word, launch->gpu.sm_count, launch->stream);
}

static void argument_launch(struct launch *launch)
{
	launch_argument(launch->word, launch->subject->argument[0], launch->stream);
}

static void overlapped_launch(struct launch *launch)
{
	launch_overlapped(launch->word, launch->stream);
}

static void turn_launch(struct launch *launch)
{
	launch_turns(launch->word, LAUNCH_TURNS * launch->gpu.sm_count,
	        launch->subject->argument[0], launch->stream);
}

static void graph_launch(struct launch *launch)
{
	GPU(cudaGraphLaunch(launch->graph, launch->stream));
}

static void event_record(struct launch *launch)
{
	GPU(cudaEventRecord(launch->event[0], launch->stream));
}

/* A kernel and a timed event. */
static void event_mark(struct launch *launch)
{
	launch_one(launch);
	GPU(cudaEventRecord(launch->mark, launch->stream));
}

/* A kernel in one stream, and the other stream waits for its end; the next hop goes back. */
static void event_wait(struct launch *launch)
{
	cudaStream_t stream[] = {launch->stream, launch->other};
	int here = launch->stream_wait, there = !here;
	launch_null(launch->word, 1, stream[here]);
	GPU(cudaEventRecord(launch->event[here], stream[here]));
	GPU(cudaStreamWaitEvent(stream[there], launch->event[here], 0));
	launch->stream_wait = there;
}

static void small_copy(struct launch *launch)
{
	GPU(cudaMemcpyAsync(launch->copied, launch->word, sizeof *launch->copied,
	        cudaMemcpyDeviceToHost, launch->stream));
}

static void null_sync(struct launch *launch)
{
	launch_one(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

/* A kernel, then a copy of its result: includes the hand-over from multiprocessors to copy engine.
 */
static void copy_sync(struct launch *launch)
{
	launch_one(launch);
	small_copy(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

static void access_launch(struct launch *launch)
{
	launch_access(launch->word, launch->nodes, ACCESS_BLOCKS, launch->subject->argument[0],
	        launch->stream);
}

/* A kernel that outlasts the host's calls, and perhaps a copy. */
static void running_sync(struct launch *launch)
{
	access_launch(launch);
	if (launch->copies)
		small_copy(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

static void graph_sync(struct launch *launch)
{
	graph_launch(launch);
	GPU(cudaStreamSynchronize(launch->stream));
}

static void event_sync(struct launch *launch)
{
	event_record(launch);
	GPU(cudaEventSynchronize(launch->event[0]));
}

static void flag_sync(struct launch *launch)
{
	unsigned value = *launch->flag + 1;
	double start = clock_now();
	launch_flag(launch->flag, value, launch->stream);
	while (*launch->flag != value)
		if (clock_now() - start > flag_timeout)
			msg_die(EXIT_MEASURE_FAILED,
			        "the flag written by a kernel did not reach the host within %g s",
			        flag_timeout);
}

const struct subject launch_subject[] = {
        {"enqueue", HOST_SHARE, launch_one, .kernels = 1},
        {"enqueue_driver", HOST_SHARE, driver_launch, .kernels = 1},
        {"enqueue_cooperative", HOST_SHARE, cooperative_launch, 1, .need = COOPERATIVE},
        {"enqueue_pdl", HOST_SHARE, overlapped_launch, 1, .need = OVERLAP},
        {"argument", HOST_SHARE, argument_launch, 1, .argument_name = "bytes",
                .argument = {8, 256, 1024, 4000}},
        {"graph", HOST_SHARE, graph_launch, .kernels = 1},
        {"event_record", HOST_SHARE, event_record, .kernels = 0},
        {"copy_enqueue", HOST_SHARE, small_copy, .kernels = 0},
        {"scal", HOST_SHARE, launch_scal, .kernels = 0},
        {"swap", HOST_SHARE, launch_swap, .kernels = 0},
        {"ger", HOST_SHARE, launch_ger, .kernels = 0},
        {"gemv", HOST_SHARE, launch_gemv, .kernels = 0},
        {"gemv_t", HOST_SHARE, launch_gemv_t, .kernels = 0},
        {"gemv_rows", HOST_SHARE, launch_gemv_rows, 0, .argument_name = "rows",
                .argument = {32, 512, 1024, 2048, 8192}},
        {"gemv_t_rows", HOST_SHARE, launch_gemv_t_rows, 0, .argument_name = "rows",
                .argument = {32, 512, 1024, 2048, 8192}},
        {"gemm", HOST_SHARE, launch_gemm, .kernels = 0},
        {"gemm_t", HOST_SHARE, launch_gemm_t, .kernels = 0},
        {"gemm_d", HOST_SHARE, launch_gemm_d, .kernels = 0},
        {"gemm_t_d", HOST_SHARE, launch_gemm_t_d, .kernels = 0},
        {"gemm_odd_d", HOST_SHARE, launch_gemm_odd_d, .kernels = 0},
        {"gemm_t_odd_d", HOST_SHARE, launch_gemm_t_odd_d, .kernels = 0},
        {"dependent", DEVICE_SHARE, launch_one, .kernels = 1},
        {"cooperative", DEVICE_SHARE, cooperative_launch, 1, .need = COOPERATIVE},
        {"pdl", DEVICE_SHARE, overlapped_launch, 1, .need = OVERLAP},
        {"event_wait", DEVICE_SHARE, event_wait, .kernels = 1},
        {"event_mark", DEVICE_SHARE, event_mark, .kernels = 1},
        {"scal_device", DEVICE_SHARE, launch_scal, .kernels = 0},
        {"swap_device", DEVICE_SHARE, launch_swap, .kernels = 0},
        {"ger_device", DEVICE_SHARE, launch_ger, .kernels = 0},
        {"access", DEVICE_SHARE, access_launch, 1, .argument_name = "accesses",
                .argument = {1, 2, 4, 8}},
        {"turn", DEVICE_SHARE, turn_launch, 1, .argument_name = "threads",
                .argument = {32, 256, 512, 1024}},
        {"graph_node", CHAIN, NULL, .kernels = 1},
        {"stream", RUNNING, launch_one, .kernels = 1},
        {"sync", ROUND_TRIP, null_sync, .kernels = 1},
        {"copy_sync", ROUND_TRIP, copy_sync, .kernels = 1},
        {"copy_running", COPY, running_sync, 1, .argument_name = "accesses", .argument = {64}},
        {"graph_sync", ROUND_TRIP, graph_sync, .kernels = 1},
        {"event_sync", ROUND_TRIP, event_sync, .kernels = 0},
        {"flag_sync", ROUND_TRIP, flag_sync, .kernels = 0},
        {"iamax", ROUND_TRIP, launch_iamax, 0, .argument_name = "bytes",
                .argument = {N * sizeof(float), 1024 * sizeof(float), 4096 * sizeof(float),
                        16384 * sizeof(float), LONGEST * sizeof(float)}},
        {"nrm2", ROUND_TRIP, launch_nrm2, .kernels = 0},
        {"nrm2_length", ROUND_TRIP, launch_nrm2_length, 0, .argument_name = "bytes",
                .argument = {N * sizeof(float), 1024 * sizeof(float), 2048 * sizeof(float),
                        4096 * sizeof(float), LONGEST * sizeof(float)}},
};

const size_t launch_subject_count = ARRAY_LEN(launch_subject);
