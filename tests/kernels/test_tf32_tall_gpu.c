/* SPDX-License-Identifier: MIT */
/* V^T C by 3xTF32 with its operands split on the way, against sums in double precision: every tail
 * of rows and columns, rows in parts, fewer blocks than pieces; few roundings of the sum of
 * magnitudes, sums of one sign included, whose parts all are cut off to one side; the same bits
 * again; memory between columns is not written; NaN spreads. */
#include "tests/executors/executor_memory.h"

#include "factor/kernels/gemm/tf32_tall.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>

static const struct {
	int64_t k, n, rows;
	int blocks;
} shapes[] = {
        {1, 1, 1, 132},
        {64, 256, 32, 132},
        {61, 257, 33, 132},
        {65, 300, 1001, 132},
        {130, 520, 4099, 116},
        {64, 1000, 2048, 7},
        {100, 127, 20001, 132},
        {64, 200, 9000, 132},
        {128, 256, 3000, 16},
        {256, 256, 16000, 132},
        {128, 128, 20000, 132},
};

/* Errors that the tests of products allow, in roundings of the sum of magnitudes. */
static const double most_roundings = 10;

/* All of p after V^T C on the device, by way of memory of NaN; the caller frees it. */
static double *product(struct executor *e, const struct block *v, const struct block *c,
        const struct block *p, int blocks)
{
	const struct tf32_tall_plan plan = tf32_tall_plan_make(v->a.n, c->a.n, v->a.m, blocks);
	void *work = NULL;

	block_upload(e, p);
	GPU(cudaMalloc(&work, TF32_TALL_SCRATCH));
	GPU(cudaMemset(work, 0xff, TF32_TALL_SCRATCH));
	GPU(cudaDeviceSynchronize());
	GPU(tf32_tall(&plan, v->a, c->a, p->a, work, NULL));
	GPU(cudaDeviceSynchronize());
	GPU(cudaFree(work));
	return block_download(e, p);
}

static void check(struct executor *e, int64_t k, int64_t n, int64_t rows, int blocks, bool positive)
{
	struct block v = block_placed(e, SINGLE, rows, k, ALIGNED),
	             c = block_placed(e, SINGLE, rows, n, ALIGNED),
	             p = block_poisoned(e, SINGLE, k, n), want = block_new(e, SINGLE, k, n),
	             size = block_new(e, SINGLE, k, n), now = p;

	for (int64_t i = 0; positive && i < v.all.m * v.all.n; i++)
		v.x[i] = fabs(v.x[i]);
	for (int64_t i = 0; positive && i < c.all.m * c.all.n; i++)
		c.x[i] = fabs(c.x[i]);
	block_upload(e, &v);
	block_upload(e, &c);
	now.x = product(e, &v, &c, &p, blocks);
	double *again = product(e, &v, &c, &p, blocks);
	block_product(1, &v, TRANSPOSED, &c, PLAIN, 0, &want);
	block_magnitude(&v, TRANSPOSED, &c, PLAIN, &size);
	const double worst = block_error(&p, WHOLE, 1, &want, &size, 0, now.x) / 0x1p-24;
	const bool same = memcmp(now.x, again, (size_t)(p.all.m * p.all.n) * sizeof *again) == 0;

	if (!ok(worst <= most_roundings && same,
	            "%" PRId64 " and %" PRId64 " columns of %" PRId64 " rows, %s", k, n, rows,
	            positive ? "of one sign" : "of both signs"))
		diag("error %.3g repeats %d", worst, same);
	free(now.x);
	*element(&c, 0, n / 2) = NAN;
	block_upload(e, &c);
	now.x = product(e, &v, &c, &p, blocks);
	ok(isnan(*element(&now, 0, n / 2)) && (n == 1 || !isnan(*element(&now, 0, 0))),
	        "NaN in the column that has one");
	free(now.x);
	free(again);
	blocks_free(e);
}

int main(void)
{
	struct executor *e = cuda_or_skip();
	struct fault fault;
	struct gpu gpu;

	if (!gpu_open(&gpu, "0", &fault) || !gpu.warpgroups)
		skip_all("this device has no such kernel");
	for (size_t i = 0; i < 2 * ARRAY_LEN(shapes); i++)
		check(e, shapes[i / 2].k, shapes[i / 2].n, shapes[i / 2].rows, shapes[i / 2].blocks,
		        i % 2);
	executor_free(e);
	return finish();
}
