/* SPDX-License-Identifier: MIT */
/* LU panels in registers, of one cluster and of many multiprocessors, against the panel in shared
 * memory, which other tests compare with LAPACK: the same bits in factors, pivots and info, nothing
 * beside the panel touched, on random, tied, singular, tiny, infinite and NaN matrices at the edges
 * of blocks, clusters and widths. */
#include "tests/tap.h"

#ifndef FATHOM_CUDA
int main(void)
{
	skip_all("built without the CUDA Toolkit");
}
#else

#include "tests/algorithms/matrix_kinds.h"
#include "tests/algorithms/uniform.h"

#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "factor/kernels/lu/panel_kernels.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 65536, MOST_COLUMNS = 128, PADDING = 5, POISON = 0xee };

enum form { CLUSTER, GRID, FORMS };
static const char *const form_name[FORMS] = {"cluster", "grid"};

enum content { RANDOM, TIED, ZERO_COLUMN, LOW_RANK, TINY, INFINITE, NOT_A_NUMBER, CONTENTS };
static const char *const content_name[CONTENTS] = {"random", "many ties", "a zero column",
        "of low rank", "subnormal", "with an infinity", "with a NaN"};

struct bench {
	struct gpu gpu;
	void *exchange;
	int64_t exchange_bytes;
	struct {
		void *a;
		int *pivots;
	} known, tried;
	void *work;
	uint32_t tag;
	int *error;
};

static double element(
        enum content content, enum precision p, int64_t m, int64_t n, int64_t i, int64_t j)
{
	const double x = uniform();
	switch (content) {
	case TIED:
		return floor(3 * x);
	case ZERO_COLUMN:
		return j == n / 2 ? 0 : x;
	case LOW_RANK:
		return i > n / 2 ? 0 : x;
	case TINY:
		return x * (p == SINGLE ? 1e-38 : 1e-308);
	case INFINITE:
		return i == m / 3 && j == 0 ? INFINITY : x;
	case NOT_A_NUMBER:
		return i == m / 2 && j == n / 2 ? NAN : x;
	default:
		return x;
	}
}

/* Both copies; memory beside the panel is poison. */
static void fill(
        struct bench *b, enum content content, enum precision p, int64_t m, int64_t n, int64_t lda)
{
	const size_t bytes = (size_t)(lda * n * precision_bytes(p));
	unsigned char *host = xmalloc(bytes);
	memset(host, POISON, bytes);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(host, i + j * lda, p, element(content, p, m, n, i, j));
	GPU(cudaMemcpy(b->known.a, host, bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemcpy(b->tried.a, host, bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemset(b->known.pivots, POISON, (size_t)(n + 1) * sizeof(int)));
	GPU(cudaMemset(b->tried.pivots, POISON, (size_t)(n + 1) * sizeof(int)));
	free(host);
}

static bool run_known(struct bench *b, enum precision p, int64_t m, int64_t n, int64_t lda)
{
	struct panel_geometry geometry;
	if (!panel_geometry(
	            m, n, precision_bytes(p), b->gpu.sm_count, b->gpu.shared_per_block, &geometry))
		return false;
	GPU(cudaMemset(b->exchange, 0, (size_t)b->exchange_bytes));
	GPU(panel_resident(p, b->known.a, lda, m, n, &geometry,
	        exchange_layout(b->exchange, geometry.blocks, panel_resident_words(p, n), 1),
	        b->known.pivots, NULL));
	return true;
}

/* NaNs of any payload are equal. */
static bool same(const void *left, const void *right, enum precision p, int64_t words)
{
	for (int64_t i = 0; i < words; i++) {
		const size_t at = (size_t)(i * precision_bytes(p));
		const char *x = (const char *)left + at, *y = (const char *)right + at;
		const bool nan = isnan(get(left, i, p)) && isnan(get(right, i, p));
		if (!nan && memcmp(x, y, (size_t)precision_bytes(p)) != 0)
			return false;
	}
	return true;
}

static bool agree(struct bench *b, enum precision p, int64_t n, int64_t lda)
{
	const size_t bytes = (size_t)(lda * n * precision_bytes(p));
	void *known = xmalloc(bytes), *tried = xmalloc(bytes);
	int pivots[2][MOST_COLUMNS + 1], error = 0;
	const size_t pivot_bytes = (size_t)(n + 1) * sizeof(int);
	GPU(cudaMemcpy(known, b->known.a, bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(tried, b->tried.a, bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(pivots[0], b->known.pivots, pivot_bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(pivots[1], b->tried.pivots, pivot_bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(&error, b->error, sizeof error, cudaMemcpyDeviceToHost));
	const bool right = same(known, tried, p, lda * n) &&
	                   memcmp(pivots[0], pivots[1], pivot_bytes) == 0 && error == 0;
	free(known);
	free(tried);
	return right;
}

static bool fits(enum form form, enum precision p, int64_t m, int64_t n)
{
	return form == CLUSTER ? panel_cluster_fits(p, m, n) : panel_grid_fits(p, m, n);
}

static void run_tried(
        struct bench *b, enum form form, enum precision p, int64_t m, int64_t n, int64_t lda)
{
	if (form == CLUSTER)
		GPU(panel_cluster(p, b->tried.a, lda, m, n, b->tried.pivots, b->error, NULL));
	else
		GPU(panel_grid(p, b->tried.a, lda, m, n, b->tried.pivots, b->work, b->tag, b->error,
		        NULL));
	b->tag += (uint32_t)n;
}

static void test_shape(struct bench *b, enum form form, enum precision p, int64_t m, int64_t n)
{
	const int64_t lda = m + PADDING;
	for (int content = RANDOM; content < (m > 3000 ? 1 : CONTENTS); content++) {
		fill(b, content, p, m, n, lda);
		const bool taken = run_known(b, p, m, n, lda);
		run_tried(b, form, p, m, n, lda);
		GPU(cudaDeviceSynchronize());
		ok(taken && agree(b, p, n, lda), "%s, %c %" PRId64 " x %" PRId64 " %s",
		        form_name[form], p, m, n, content_name[content]);
	}
}

static void test_precision(struct bench *b, enum form form, enum precision p)
{
	static const int64_t m[] = {1, 2, 33, 64, 100, 129, 255, 256, 257, 512, 513, 1000, 2049,
	        4095, 4096, 4097, 8192, 8193, 12345, 16384, 32769, 65536};
	static const int64_t n[] = {1, 2, 3, 17, 31, 32, 33, 64, 65, 100, 127, 128};
	for (size_t i = 0; i < ARRAY_LEN(m); i++)
		for (size_t k = 0; k < ARRAY_LEN(n); k++)
			if (n[k] <= m[i] && (m[i] <= 3000 || n[k] % 32 <= 1) &&
			        fits(form, p, m[i], n[k]))
				test_shape(b, form, p, m[i], n[k]);
}

static void test_limits(void)
{
	for (int64_t n = 16; n <= 128; n *= 2) {
		const int64_t most = panel_cluster_rows(n, 4);
		ok(panel_cluster_fits(SINGLE, most, n) && !panel_cluster_fits(SINGLE, most + 1, n),
		        "%" PRId64 " rows of %" PRId64 " columns are the most in single precision",
		        most, n);
	}
	ok(!panel_cluster_fits(DOUBLE, 128, 65), "a row of 65 doubles is too long");
	ok(!panel_cluster_fits(SINGLE, 200, 129), "a row of 129 is too long");
}

int main(void)
{
	struct bench b = {0};
	struct fault fault;
	if (!gpu_open(&b.gpu, "0", &fault))
		skip_all(fault.text);
	if (!panel_cluster_fits(SINGLE, 256, 32))
		skip_all("this GPU has no clusters of 16 blocks");
	const size_t bytes = (MOST_ROWS + PADDING) * MOST_COLUMNS * sizeof(double);
	b.exchange_bytes =
	        exchange_bytes(b.gpu.sm_count, panel_resident_words(DOUBLE, MOST_COLUMNS));
	GPU(cudaMalloc(&b.exchange, (size_t)b.exchange_bytes));
	GPU(cudaMalloc(&b.known.a, bytes));
	GPU(cudaMalloc(&b.tried.a, bytes));
	GPU(cudaMalloc((void **)&b.known.pivots, (MOST_COLUMNS + 1) * sizeof(int)));
	GPU(cudaMalloc((void **)&b.tried.pivots, (MOST_COLUMNS + 1) * sizeof(int)));
	GPU(cudaMalloc((void **)&b.error, sizeof *b.error));
	GPU(cudaMemset(b.error, 0, sizeof *b.error));
	GPU(cudaMalloc(&b.work, (size_t)panel_grid_work()));
	GPU(cudaMemset(b.work, 0, (size_t)panel_grid_work()));
	b.tag = 1;
	test_limits();
	for (int form = CLUSTER; form < FORMS; form++) {
		test_precision(&b, form, SINGLE);
		test_precision(&b, form, DOUBLE);
	}
	return finish();
}
#endif
