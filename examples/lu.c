/* SPDX-License-Identifier: MIT */
/* Solves A x = b on the GPU with libfathom. A is random and b the sum of its columns, so that x is
 * all ones. */
#include <fathom.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static double a[N * N], b[N];

/* Device memory, a copy of what is at `host` unless that is NULL. */
static void *on_device(const void *host, int64_t bytes)
{
	void *data = NULL;

	if (cudaMalloc(&data, (size_t)bytes) != cudaSuccess ||
	        (host && cudaMemcpy(data, host, (size_t)bytes, cudaMemcpyHostToDevice) !=
	                         cudaSuccess)) {
		fprintf(stderr, "no %lld bytes of GPU memory\n", (long long)bytes);
		exit(1);
	}
	return data;
}

int main(void)
{
	struct fathom *handle;
	int info = -1;
	if (fathom_create(&handle) != FATHOM_OK) {
		fprintf(stderr, "%s\n", fathom_error(NULL));
		return 77;
	}
	for (int i = 0; i < N * N; i++) {
		a[i] = (double)rand() / RAND_MAX;
		b[i % N] += a[i];
	}
	double *device_a = on_device(a, sizeof a), *device_b = on_device(b, sizeof b);
	int *ipiv = on_device(NULL, N * sizeof *ipiv), *device_info = on_device(NULL, sizeof info);

	int64_t bytes = fathom_dgetrf_work(handle, N, N, N);
	void *work = on_device(NULL, bytes);
	fathom_dgetrf(handle, N, N, device_a, N, ipiv, work, bytes, device_info);
	fathom_dgetrs(handle, 'N', N, 1, device_a, N, ipiv, device_b, N);
	if (fathom_finish(handle) != FATHOM_OK) {
		fprintf(stderr, "%s\n", fathom_error(handle));
		return 1;
	}
	if (cudaMemcpy(&info, device_info, sizeof info, cudaMemcpyDeviceToHost) != cudaSuccess ||
	        cudaMemcpy(b, device_b, sizeof b, cudaMemcpyDeviceToHost) != cudaSuccess)
		return 1;
	printf("info %d, x from %.3f to %.3f\n", info, b[0], b[N - 1]);
	fathom_destroy(handle); /* and cudaFree of the rest */
	return 0;
}
