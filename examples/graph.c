/* SPDX-License-Identifier: MIT */
/* Solves A x = b again and again for new numbers in the same GPU memory: libfathom's calls are
 * captured once as a CUDA graph, which then is launched instead of them. A is random and b the sum
 * of its columns, so that x is all ones. */
#include <fathom.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, ROUNDS = 20 };

static struct fathom *handle;
static cudaStream_t stream;
static double a[N * N], b[N], *device_a, *device_b;
static int *ipiv, *info;
static void *work;
static int64_t bytes;

static void check(int good, const char *why)
{
	if (!good) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
}

static void cuda(cudaError_t error)
{
	check(error == cudaSuccess, cudaGetErrorString(error));
}

static void solve(void)
{
	check(fathom_dgetrf(handle, N, N, device_a, N, ipiv, work, bytes, info) == FATHOM_OK &&
	                fathom_dgetrs(handle, 'N', N, 1, device_a, N, ipiv, device_b, N) ==
	                        FATHOM_OK,
	        fathom_error(handle));
}

static cudaGraphExec_t capture(void)
{
	cudaGraphExec_t graph;
	cudaGraph_t captured;

	cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	solve();
	cuda(cudaStreamEndCapture(stream, &captured));
	cuda(cudaGraphInstantiateWithFlags(&graph, captured, 0));
	cuda(cudaGraphDestroy(captured));
	return graph;
}

/* Milliseconds on the GPU for a new A and b, by calls where graph is NULL. */
static float solve_new(cudaGraphExec_t graph, cudaEvent_t begin, cudaEvent_t end)
{
	float time;

	for (int i = 0; i < N * N; i++) {
		a[i] = (double)rand() / RAND_MAX;
		b[i % N] = (i < N ? 0 : b[i % N]) + a[i];
	}
	cuda(cudaMemcpyAsync(device_a, a, sizeof a, cudaMemcpyHostToDevice, stream));
	cuda(cudaMemcpyAsync(device_b, b, sizeof b, cudaMemcpyHostToDevice, stream));
	cuda(cudaEventRecord(begin, stream));
	if (graph)
		cuda(cudaGraphLaunch(graph, stream));
	else
		solve();
	cuda(cudaEventRecord(end, stream));
	cuda(cudaMemcpyAsync(b, device_b, sizeof b, cudaMemcpyDeviceToHost, stream));
	check(fathom_finish(handle) == FATHOM_OK, fathom_error(handle));
	cuda(cudaEventElapsedTime(&time, begin, end));
	return time;
}

int main(void)
{
	float calls = 0, graphs = 0;
	cudaEvent_t begin, end;

	if (fathom_create(&handle) != FATHOM_OK) {
		fprintf(stderr, "%s\n", fathom_error(NULL));
		return 77;
	}
	bytes = fathom_dgetrf_work(handle, N, N, N);
	cuda(cudaMalloc((void **)&device_a, sizeof a));
	cuda(cudaMalloc((void **)&device_b, sizeof b));
	cuda(cudaMalloc((void **)&ipiv, N * sizeof *ipiv));
	cuda(cudaMalloc((void **)&info, sizeof *info));
	cuda(cudaMalloc(&work, (size_t)bytes));
	cuda(cudaEventCreate(&begin));
	cuda(cudaEventCreate(&end));
	cuda(cudaStreamCreate(&stream)); /* the default stream can't be captured */
	check(fathom_set_stream(handle, stream) == FATHOM_OK, fathom_error(handle));

	solve_new(NULL, begin, end); /* loads the kernels */
	cudaGraphExec_t graph = capture();
	solve_new(graph, begin, end);
	for (int i = 0; i < ROUNDS; i++) {
		calls += solve_new(NULL, begin, end) / ROUNDS;
		graphs += solve_new(graph, begin, end) / ROUNDS;
	}
	printf("x from %.3f to %.3f, %.3f ms by calls, %.3f ms as a graph\n", b[0], b[N - 1], calls,
	        graphs);
	cuda(cudaGraphExecDestroy(graph));
	fathom_destroy(handle); /* and cudaStreamDestroy, cudaFree of the rest */
	return 0;
}
