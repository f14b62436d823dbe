/* SPDX-License-Identifier: MIT */
/* Kernels whose blocks wait for each other, when a block gives up. The test sets the error word,
 * which all blocks read, from outside at any moment. The kernel has to end at once and without a
 * fault, it touches nothing beside its matrix, and the next kernel gives the usual bits. */
#include "tests/tap.h"

#ifndef FATHOM_CUDA
int main(void)
{
	skip_all("built without the CUDA Toolkit");
}
#else

#include "matrix_kinds.h"
#include "uniform.h"

#include "lib/host/clock.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "factor/kernels/qr/panel_geqrf.h"
#include "factor/kernels/lu/panel_kernels.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 40000, MOST_COLUMNS = 128, PADDING = 5, POISON = 0xee, MOMENTS = 60 };

/* Seconds within which a kernel has to end, beyond its usual time. Waiting blocks read the error
 * word every 1024 polls; the limit of a wait is a second. */
static const double ENDS = 0.2;

enum form { LU_CLUSTER, LU_GRID, QR_CLUSTER, QR_RESIDENT, QR_COLUMNS, FORMS };

/* fits: NULL when all do; work: NULL for the error word alone. */
static const struct {
	const char *name;
	bool (*fits)(enum precision, int64_t m, int64_t n);
	int64_t (*work)(enum precision, int64_t m, int64_t n);
} forms[FORMS] = {
        {"LU, a cluster", panel_cluster_fits, NULL},
        {"LU, many multiprocessors", panel_grid_fits, NULL},
        {"QR, a cluster", panel_geqrf_cluster_fits, panel_geqrf_cluster_work},
        {"QR, many multiprocessors", panel_geqrf_resident_fits, panel_geqrf_resident_work},
        {"QR, in memory", NULL, panel_geqrf_columns_work},
};

struct shape {
	int64_t m, n;
};

static const struct shape shapes[] = {
        {300, 32},
        {1000, 64},
        {4001, 33},
        {3000, 128},
        {8190, 64},
        {16000, 64},
        {40000, 31},
};

struct bench {
	struct gpu gpu;
	void *given, *a, *tau, *work, *slots; /* work: its first word is the kernels' error word */
	int64_t work_bytes;
	int *pivots;
	uint32_t tag;
	cudaStream_t stream, other;
	uint32_t *one; /* pinned */
};

static int64_t leading(struct shape s)
{
	return s.m + PADDING;
}

static size_t bytes_of(enum precision p, struct shape s)
{
	return (size_t)(leading(s) * s.n * precision_bytes(p));
}

/* A random panel with poison beside it. */
static void fill(struct bench *b, enum precision p, struct shape s)
{
	unsigned char *host = xmalloc(bytes_of(p, s));
	memset(host, POISON, bytes_of(p, s));
	for (int64_t j = 0; j < s.n; j++)
		for (int64_t i = 0; i < s.m; i++)
			put(host, i + j * leading(s), p, uniform());
	GPU(cudaMemcpy(b->given, host, bytes_of(p, s), cudaMemcpyHostToDevice));
	free(host);
}

/* Factorizes the given panel; returns without waiting. */
static void start(struct bench *b, enum form form, enum precision p, struct shape s)
{
	int *error = b->work;
	const int64_t lda = leading(s);
	GPU(cudaMemcpyAsync(b->a, b->given, bytes_of(p, s), cudaMemcpyDeviceToDevice, b->stream));
	GPU(cudaStreamSynchronize(b->stream));
	switch (form) {
	case LU_CLUSTER:
		GPU(panel_cluster(p, b->a, lda, s.m, s.n, b->pivots, error, b->stream));
		break;
	case LU_GRID:
		GPU(panel_grid(
		        p, b->a, lda, s.m, s.n, b->pivots, b->slots, b->tag, error, b->stream));
		b->tag += (uint32_t)s.n;
		break;
	case QR_CLUSTER:
		GPU(panel_geqrf_cluster_unless(
		        NULL, p, b->a, lda, s.m, s.n, b->tau, NULL, b->work, b->stream));
		break;
	case QR_RESIDENT:
		GPU(panel_geqrf_resident_unless(
		        NULL, p, b->a, lda, s.m, s.n, b->tau, false, b->work, b->stream));
		break;
	default:
		GPU(panel_geqrf_columns_unless(
		        NULL, p, b->a, lda, s.m, s.n, b->tau, b->work, b->stream));
	}
}

static void clear(struct bench *b)
{
	GPU(cudaMemsetAsync(b->work, 0, (size_t)b->work_bytes, b->stream));
}

/* The whole panel with its surroundings. */
static void *result(const struct bench *b, enum precision p, struct shape s)
{
	void *host = xmalloc(bytes_of(p, s));
	GPU(cudaMemcpy(host, b->a, bytes_of(p, s), cudaMemcpyDeviceToHost));
	return host;
}

static bool padding_untouched(const unsigned char *a, enum precision p, struct shape s)
{
	const int64_t word = precision_bytes(p);
	for (int64_t j = 0; j < s.n; j++)
		for (int64_t k = s.m * word; k < leading(s) * word; k++)
			if (a[j * leading(s) * word + k] != POISON)
				return false;
	return true;
}

/* Sets the error word `delay` seconds after the kernel has been asked for; its longest time till
 * the end in *longest. False when the kernel was gone before that. */
static bool disturb(struct bench *b, enum form form, enum precision p, struct shape s, double delay,
        double *longest)
{
	clear(b);
	start(b, form, p, s);
	const double from = clock_now();
	while (clock_now() - from < delay)
		;
	const bool runs = cudaStreamQuery(b->stream) == cudaErrorNotReady;
	GPU(cudaMemcpyAsync(b->work, b->one, sizeof *b->one, cudaMemcpyHostToDevice, b->other));
	const double set = clock_now();
	GPU(cudaStreamSynchronize(b->stream));
	GPU(cudaStreamSynchronize(b->other));
	if (clock_now() - set > *longest)
		*longest = clock_now() - set;
	return runs;
}

static void test_shape(struct bench *b, enum form form, enum precision p, struct shape s)
{
	if (forms[form].fits && !forms[form].fits(p, s.m, s.n))
		return;
	double longest = 0;
	int met = 0;
	bool beside = true;
	b->work_bytes = forms[form].work ? forms[form].work(p, s.m, s.n) : (int64_t)sizeof *b->one;
	GPU(cudaMalloc(&b->work, (size_t)b->work_bytes));
	fill(b, p, s);
	clear(b);
	start(b, form, p, s);
	GPU(cudaStreamSynchronize(b->stream));
	const double from = clock_now();
	clear(b);
	start(b, form, p, s);
	GPU(cudaStreamSynchronize(b->stream));
	const double alone = clock_now() - from;
	void *before = result(b, p, s);
	for (int i = 0; i < MOMENTS; i++) {
		met += disturb(b, form, p, s, alone * i / MOMENTS, &longest);
		if (i % 16 == 0) {
			void *a = result(b, p, s);
			beside = beside && padding_untouched(a, p, s);
			free(a);
		}
	}
	clear(b);
	start(b, form, p, s);
	GPU(cudaStreamSynchronize(b->stream));
	void *after = result(b, p, s);
	if (!ok(longest < alone + ENDS && beside && memcmp(before, after, bytes_of(p, s)) == 0,
	            "%s, %c %" PRId64 " x %" PRId64 ": ends, and the next kernel is right",
	            forms[form].name, p, s.m, s.n))
		diag("%.0f ms till the end, %s, the next one %s", longest * 1e3,
		        beside ? "nothing beside it touched" : "something beside it was touched",
		        memcmp(before, after, bytes_of(p, s)) ? "differs" : "is the same");
	ok(met > 0, "%d of %d moments were while it ran (%.0f us with copies)", met, MOMENTS,
	        alone * 1e6);
	GPU(cudaFree(b->work));
	free(before);
	free(after);
}

static void open_bench(struct bench *b)
{
	const struct shape largest = {MOST_ROWS, MOST_COLUMNS};
	const size_t bytes = bytes_of(DOUBLE, largest);
	GPU(cudaMalloc(&b->given, bytes));
	GPU(cudaMalloc(&b->a, bytes));
	GPU(cudaMalloc(&b->tau, MOST_COLUMNS * sizeof(double)));
	GPU(cudaMalloc((void **)&b->pivots, (MOST_COLUMNS + 1) * sizeof(int)));
	GPU(cudaMalloc(&b->slots, (size_t)panel_grid_work()));
	GPU(cudaMemset(b->slots, 0, (size_t)panel_grid_work()));
	GPU(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
	GPU(cudaStreamCreateWithFlags(&b->other, cudaStreamNonBlocking));
	GPU(cudaMallocHost((void **)&b->one, sizeof *b->one));
	*b->one = 1;
	b->tag = 1;
}

int main(void)
{
	struct bench b = {0};
	struct fault fault;
	if (!gpu_open(&b.gpu, "0", &fault))
		skip_all(fault.text);
	open_bench(&b);
	for (int form = 0; form < FORMS; form++)
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
			test_shape(&b, form, SINGLE, shapes[i]);
			test_shape(&b, form, DOUBLE, shapes[i]);
		}
	return finish();
}
#endif
