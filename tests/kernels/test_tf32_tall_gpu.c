/* SPDX-License-Identifier: MIT */
/* V^T C by 3xTF32 with its operands split on the way, against sums in double precision: every tail
 * of rows and columns, rows in parts, fewer blocks than pieces; few roundings of the sum of
 * magnitudes, sums of one sign included, whose parts all are cut off to one side; the same bits
 * again; memory between columns is not written; NaN spreads. */
#include "tests/tap.h"

#ifndef FATHOM_CUDA
int main(void)
{
	skip_all("built without the CUDA Toolkit");
}
#else

#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "factor/kernels/gemm/tf32_tall.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>

struct shape {
	int64_t k, n, rows, ldv, ldc;
	int blocks;
};

static const struct shape shapes[] = {
        {1, 1, 1, 4, 4, 132},
        {64, 256, 32, 32, 32, 132},
        {61, 257, 33, 36, 40, 132},
        {65, 300, 1001, 1004, 1024, 132},
        {130, 520, 4099, 4128, 4100, 116},
        {64, 1000, 2048, 2048, 2048, 7},
        {100, 127, 20001, 20004, 20008, 132},
        {64, 200, 9000, 9000, 9004, 132},
        {128, 256, 3000, 3000, 3000, 16},
        {256, 256, 16000, 16384, 16000, 132},
        {128, 128, 20000, 20000, 20000, 132},
};

enum { PADDING = 3 };

/* Errors that the tests of products allow, in roundings of the sum of magnitudes. */
static const double most_roundings = 8;

static float *numbers(int64_t count, bool positive, uint64_t seed)
{
	float *x = xmalloc((size_t)count * sizeof *x);

	for (int64_t i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		x[i] = (float)(seed >> 40) * 0x1p-24f - (positive ? 0 : 0.5f);
	}
	return x;
}

static void *on_device(const void *data, int64_t bytes)
{
	void *to = NULL;

	GPU(cudaMalloc(&to, (size_t)bytes));
	if (data)
		GPU(cudaMemcpy(to, data, (size_t)bytes, cudaMemcpyHostToDevice));
	else
		GPU(cudaMemset(to, 0xff, (size_t)bytes));
	return to;
}

/* V^T C on the device, into and by way of memory of NaN; the caller frees it. */
static float *product(const struct shape *s, const float *v, const float *c)
{
	const int64_t ld = s->k + PADDING, count = ld * s->n;
	const struct tf32_tall_plan plan = tf32_tall_plan_make(s->k, s->n, s->rows, s->blocks);
	float *p = xmalloc((size_t)count * sizeof *p);

	memset(p, 0xff, (size_t)count * sizeof *p);
	void *dv = on_device(v, s->ldv * s->k * 4), *dc = on_device(c, s->ldc * s->n * 4);
	void *dp = on_device(p, count * 4), *work = on_device(NULL, TF32_TALL_SCRATCH);
	GPU(tf32_tall(&plan, (struct matrix){dv, 0, s->rows, s->k, s->ldv, SINGLE},
	        (struct matrix){dc, 0, s->rows, s->n, s->ldc, SINGLE},
	        (struct matrix){dp, 0, s->k, s->n, ld, SINGLE}, work, NULL));
	GPU(cudaDeviceSynchronize());
	GPU(cudaMemcpy(p, dp, (size_t)count * sizeof *p, cudaMemcpyDeviceToHost));
	GPU(cudaFree(dv));
	GPU(cudaFree(dc));
	GPU(cudaFree(dp));
	GPU(cudaFree(work));
	return p;
}

/* The largest of some columns' errors, in roundings of the sum of magnitudes. */
static double error_of(const struct shape *s, const float *v, const float *c, const float *p)
{
	const double eps = 0x1p-24;
	double worst = 0;

	for (int64_t j = 0; j < s->n; j += j < 8 || j > s->n - 8 ? 1 : 41)
		for (int64_t i = 0; i < s->k; i += i < 4 || i > s->k - 4 ? 1 : 7) {
			double sum = 0, size = 0;
			for (int64_t r = 0; r < s->rows; r++) {
				const double term = (double)v[r + i * s->ldv] * c[r + j * s->ldc];
				sum += term;
				size += fabs(term);
			}
			const double off = fabs(sum - p[i + j * (s->k + PADDING)]) / (size * eps);
			worst = off <= worst ? worst : off;
		}
	return worst;
}

static bool padding_intact(const struct shape *s, const float *p)
{
	for (int64_t j = 0; j < s->n; j++)
		for (int64_t i = s->k; i < s->k + PADDING; i++)
			if (!isnan(p[i + j * (s->k + PADDING)]))
				return false;
	return true;
}

static void check(const struct shape *s, bool positive)
{
	float *v = numbers(s->ldv * s->k, positive, 1), *c = numbers(s->ldc * s->n, positive, 2);
	float *p = product(s, v, c), *again = product(s, v, c);
	const double worst = error_of(s, v, c, p);
	const bool same = memcmp(p, again, (size_t)((s->k + PADDING) * s->n) * sizeof *p) == 0;

	if (!ok(worst <= most_roundings && same && padding_intact(s, p),
	            "%" PRId64 " and %" PRId64 " columns of %" PRId64 " rows, %s", s->k, s->n,
	            s->rows, positive ? "of one sign" : "of both signs"))
		diag("error %.3g repeats %d", worst, same);
	c[s->ldc * (s->n / 2)] = NAN;
	float *with_nan = product(s, v, c);
	ok(isnan(with_nan[(s->k + PADDING) * (s->n / 2)]) && (s->n == 1 || !isnan(with_nan[0])),
	        "NaN in the column that has one");
	free(v);
	free(c);
	free(p);
	free(again);
	free(with_nan);
}

int main(void)
{
	struct fault fault;
	struct gpu gpu;
	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	if (!gpu.warpgroups)
		skip_all("this device has no such kernel");

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int positive = 0; positive < 2; positive++)
			check(&shapes[i], positive);
	return finish();
}
#endif
