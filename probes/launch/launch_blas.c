/* SPDX-License-Identifier: MIT */
/* Calls of cuBLAS as operations of the launch probe. */
#include "launch_internal.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

static void check_blas(cublasStatus_t status, const char *call)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, cublasGetStatusString(status));
}
#define BLAS(call) check_blas(call, #call)

void launch_scal(struct launch *launch)
{
	const float minus = -1;
	BLAS(cublasSscal(launch->blas, N, &minus, launch->x, 1));
}

void launch_swap(struct launch *launch)
{
	BLAS(cublasSswap(launch->blas, N, launch->x, 1, launch->y, 1));
}

void launch_ger(struct launch *launch)
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

void launch_gemv(struct launch *launch)
{
	multiply(launch, CUBLAS_OP_N);
}

void launch_gemv_t(struct launch *launch)
{
	multiply(launch, CUBLAS_OP_T);
}

/* A different size at each call, as in a factorization: the library chooses a kernel by the size.
 */
static int next_size(struct launch *launch)
{
	return N * (SIZES - launch->products++ % SIZES);
}

/* Updates n rows and n columns with N reflectors. */
void launch_gemm(struct launch *launch)
{
	const float alpha = 1e-6f, beta = 1;
	const int n = next_size(launch);
	BLAS(cublasSgemm(launch->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, N, &alpha, launch->strip,
	        SIZES * N, launch->z, N, &beta, launch->matrix, SIZES * N));
}

/* V^T C of N reflectors of length n with n columns. */
void launch_gemm_t(struct launch *launch)
{
	const float alpha = 1e-6f, beta = 1;
	const int n = next_size(launch);
	BLAS(cublasSgemm(launch->blas, CUBLAS_OP_T, CUBLAS_OP_N, N, n, n, &alpha, launch->strip,
	        SIZES * N, launch->matrix, SIZES * N, &beta, launch->product, N));
}

void launch_nrm2(struct launch *launch)
{
	float norm = 0;
	BLAS(cublasSnrm2(launch->blas, N, launch->z, 1, &norm));
	if (!(norm > 0))
		msg_die(EXIT_MEASURE_FAILED, "cublasSnrm2 of a random vector is %g", (double)norm);
}

static const int searched[LENGTHS] = {N, 1024, 4096, 16384, LONGEST};

void launch_iamax(struct launch *launch)
{
	const int n = launch->argument / (int)sizeof(float);
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
		ELEMENTS = 2 * N + LONGEST + SIDE * SIDE + 2 * SIDE * N
	};
	GPU(cudaMalloc((void **)&launch->x, ELEMENTS * sizeof(float)));
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
	GPU(cudaFree(launch->x));
}
