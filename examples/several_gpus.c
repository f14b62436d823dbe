/* SPDX-License-Identifier: MIT */
/* Solves A x = b on all GPUs of this process with libfathom. A is random and b the sum of its
 * columns, so that x is all ones. */
#include <fathom_mg.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2000, NB = 256, MOST = 16 };

static double a[N * N], b[N];
static int ipiv[N];

static void check(enum fathom_status status, const struct fathom_mg *group)
{
	if (status == FATHOM_OK)
		return;
	fprintf(stderr, "%s\n", fathom_mg_error(group));
	exit(status == FATHOM_NOT_POSSIBLE ? 77 : 1);
}

/* Memory for the rank's columns of a matrix on GPU `rank`. */
static double *columns(
        const struct fathom_mg *group, const struct fathom_mg_matrix *matrix, int rank)
{
	size_t count = (size_t)(fathom_mg_columns(group, matrix, rank) * matrix->lld);
	void *data = NULL;

	if (cudaSetDevice(rank) != cudaSuccess ||
	        cudaMalloc(&data, (count + 1) * sizeof(double)) != cudaSuccess) {
		fprintf(stderr, "no memory on GPU %d\n", rank);
		exit(1);
	}
	return data;
}

int main(void)
{
	const struct fathom_mg_matrix matrix = {.m = N, .n = N, .nb = NB, .lld = N};
	const struct fathom_mg_matrix right = {.m = N, .n = 1, .nb = 1, .lld = N};
	double *device_a[MOST], *device_b[MOST];
	int devices[MOST], count = 0, info = -1;
	struct fathom_mg *group;

	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
		fprintf(stderr, "no GPU\n");
		return 77;
	}
	count = count < MOST ? count : MOST;
	for (int i = 0; i < count; i++)
		devices[i] = i;
	check(fathom_mg_create(&group, count, devices), NULL);
	for (int i = 0; i < N * N; i++) {
		a[i] = (double)rand() / RAND_MAX;
		b[i % N] += a[i];
	}
	for (int i = 0; i < count; i++) {
		device_a[i] = columns(group, &matrix, i);
		device_b[i] = columns(group, &right, i);
	}
	check(fathom_mg_dscatter(group, a, N, &matrix, device_a), group);
	check(fathom_mg_dscatter(group, b, N, &right, device_b), group);
	check(fathom_mg_dgetrf(group, &matrix, device_a, ipiv, &info), group);
	check(fathom_mg_dgetrs(group, 'N', &matrix, device_a, ipiv, &right, device_b), group);
	check(fathom_mg_dgather(group, &right, device_b, b, N), group);
	printf("info %d, x from %.3f to %.3f, %d GPUs\n", info, b[0], b[N - 1], count);
	fathom_mg_destroy(group); /* and cudaFree of the rest */
	return 0;
}
