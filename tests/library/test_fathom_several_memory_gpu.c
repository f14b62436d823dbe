/* SPDX-License-Identifier: MIT */
/* fathom_mg.h where one GPU, the last one, has no memory left: the call fails and says why, on all
 * GPUs; with the memory back another group solves the same system. */
#include "tests/tap.h"

#include "factor/library/fathom_mg.h"
#include "lib/base/msg.h"
#include "lib/device/gpu.h"
#include "lib/host/clock.h"

#include <cuda_runtime_api.h>
#include <math.h>

enum { N = 1500, NB = 128, MOST = 8, CHUNKS = 256 };

static const struct fathom_mg_matrix matrix = {.m = N, .n = N, .nb = NB, .lld = N},
                                     right = {.m = N, .n = 1, .nb = 1, .lld = N};

static struct fathom_mg *group_of(int count)
{
	int devices[MOST];
	struct fathom_mg *g = NULL;

	for (int i = 0; i < count; i++)
		devices[i] = i;
	if (fathom_mg_create(&g, count, devices) != FATHOM_OK)
		diag("%s", fathom_mg_error(NULL));
	return g;
}

/* A x = b with x of ones, of a matrix with a large diagonal. */
static void fill_system(float *a, float *b)
{
	for (int j = 0; j < N; j++) {
		double sum = 0;
		for (int i = 0; i < N; i++) {
			a[j + (size_t)i * N] = i == j ? N : (float)((i * 7 + j * 13) % 11 - 5) / 8;
			sum += (double)a[j + (size_t)i * N];
		}
		b[j] = (float)sum;
	}
}

static enum fathom_status solve(struct fathom_mg *g, const float *a, const float *b,
        float *const part_a[], float *const part_b[], float *x)
{
	static int ipiv[N];
	int info;
	enum fathom_status status = fathom_mg_sscatter(g, a, N, &matrix, part_a);

	if (status == FATHOM_OK)
		status = fathom_mg_sscatter(g, b, N, &right, part_b);
	if (status == FATHOM_OK)
		status = fathom_mg_sgetrf(g, &matrix, part_a, ipiv, &info);
	if (status == FATHOM_OK)
		status = fathom_mg_sgetrs(g, 'N', &matrix, part_a, ipiv, &right, part_b);
	return status == FATHOM_OK ? fathom_mg_sgather(g, &right, part_b, x, N) : status;
}

/* All memory of the current GPU, in pieces down to 64 KiB. Returns their number. */
static int take_all(void **chunk)
{
	size_t bytes = 0, total;
	int count = 0;

	GPU(cudaMemGetInfo(&bytes, &total));
	while (bytes >= 65536 && count < CHUNKS)
		if (cudaMalloc(&chunk[count], bytes) == cudaSuccess)
			count++;
		else
			bytes /= 2;
	cudaGetLastError();
	return count;
}

int main(void)
{
	float *a = xmalloc((size_t)N * N * sizeof *a), *b = xmalloc(N * sizeof *b),
	      *x = xmalloc(N * sizeof *x), *part_a[MOST], *part_b[MOST];
	void *chunk[CHUNKS];
	int count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
		skip_all("no GPU");
	if (test_small())
		skip_all("it takes the memory of programs beside it");
	count = count < MOST ? count : MOST;
	struct fathom_mg *g = group_of(count);
	if (!ok(g != NULL, "a group of %d", count))
		return finish();
	fill_system(a, b);
	for (int i = 0; i < count; i++) {
		GPU(cudaSetDevice(i));
		GPU(cudaMalloc((void **)&part_a[i],
		        (size_t)(fathom_mg_columns(g, &matrix, i) + 1) * N * sizeof **part_a));
		GPU(cudaMalloc((void **)&part_b[i], N * sizeof **part_b));
	}
	GPU(cudaSetDevice(count - 1));
	const int chunks = take_all(chunk);
	const double start = clock_now();
	const enum fathom_status status = solve(g, a, b, part_a, part_b, x);
	const double seconds = clock_now() - start;
	ok(status == FATHOM_FAILED && strstr(fathom_mg_error(g), "memory"),
	        "without memory on the last GPU a call fails: %s", fathom_mg_error(g));
	ok(seconds < 30, "within %.1f s", seconds);
	fathom_mg_destroy(g);
	GPU(cudaSetDevice(count - 1));
	for (int i = 0; i < chunks; i++)
		GPU(cudaFree(chunk[i]));

	double worst = INFINITY;
	g = group_of(count);
	if (g && solve(g, a, b, part_a, part_b, x) == FATHOM_OK) {
		worst = 0;
		for (int i = 0; i < N; i++)
			worst = fmax(worst, fabs((double)x[i] - 1));
	}
	ok(worst < 1e-4, "with the memory back another group solves the system: error %.2g", worst);
	fathom_mg_destroy(g);
	free(a);
	free(b);
	free(x);
	return finish();
}
