/* SPDX-License-Identifier: MIT */
/* Solves A x = b on the GPU with libfathom. A is random and b the sum of its columns, so that x is
 * all ones. Here memory is managed, which host and device see; any device memory will do. */
#include <fathom.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static void *memory(int64_t bytes)
{
	void *data = NULL;

	cudaMallocManaged(&data, (size_t)bytes, cudaMemAttachGlobal);
	return data;
}

int main(void)
{
	struct fathom *handle;
	if (fathom_create(&handle) != FATHOM_OK) {
		fprintf(stderr, "%s\n", fathom_error(NULL));
		return 77;
	}
	double *a = memory(N * N * sizeof *a), *b = memory(N * sizeof *b);
	int *ipiv = memory(N * sizeof *ipiv), *info = memory(sizeof *info);
	for (int i = 0; i < N * N; i++) {
		a[i] = (double)rand() / RAND_MAX;
		b[i % N] = (i < N ? 0 : b[i % N]) + a[i];
	}

	int64_t bytes = fathom_dgetrf_work(handle, N, N, N);
	void *work = memory(bytes);
	fathom_dgetrf(handle, N, N, a, N, ipiv, work, bytes, info);
	fathom_dgetrs(handle, 'N', N, 1, a, N, ipiv, b, N);
	if (fathom_finish(handle) != FATHOM_OK) {
		fprintf(stderr, "%s\n", fathom_error(handle));
		return 1;
	}
	printf("info %d, x from %.3f to %.3f\n", *info, b[0], b[N - 1]);
	fathom_destroy(handle); /* and cudaFree of the rest */
	return 0;
}
