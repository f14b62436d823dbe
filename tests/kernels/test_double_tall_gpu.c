/* SPDX-License-Identifier: MIT */
/* V^T C and C += alpha V W of tall matrices in double precision, against sums on the host: every
 * kernel, tails of rows and columns, columns of any alignment, few blocks; few roundings of the sum
 * of magnitudes; the same bits again; memory around the results is not written; NaN stays in its
 * column or row. */
#include "tests/executors/executor_memory.h"

#include "factor/kernels/gemm/double_tall.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>

static const struct {
	int64_t k, n, rows;
	int blocks;
} shapes[] = {
        {1, 1, 1, 132},
        {64, 64, 32, 132},
        {64, 64, 20001, 132},
        {61, 63, 4099, 132},
        {64, 31, 1001, 16},
        {33, 65, 3000, 132},
        {64, 192, 9000, 132},
        {128, 2, 20001, 132},
        {100, 64, 1027, 7},
        {128, 128, 20000, 132},
        {127, 129, 5001, 16},
        {128, 448, 4098, 132},
        {65, 128, 333, 1},
        {256, 256, 16000, 132},
};

/* In roundings of the sum of magnitudes. Up to 4000 terms are added one after the other. */
static const double most_roundings = 40;

/* All of p after V^T C on the device, by way of memory of NaN; the caller frees it. */
static double *product(struct executor *e, const struct block *v, const struct block *c,
        const struct block *p, int blocks)
{
	const struct double_tall_plan plan = double_tall_plan_make(v->a.n, c->a.n, v->a.m, blocks);
	void *work = NULL;

	block_upload(e, p);
	GPU(cudaMalloc(&work, DOUBLE_TALL_SCRATCH));
	GPU(cudaMemset(work, 0xff, DOUBLE_TALL_SCRATCH));
	GPU(cudaDeviceSynchronize());
	GPU(double_tall(&plan, v->a, c->a, p->a, work, NULL));
	GPU(cudaDeviceSynchronize());
	GPU(cudaFree(work));
	return block_download(e, p);
}

/* All of c after C += alpha V W; the caller frees it. */
static double *updated(struct executor *e, double alpha, const struct block *v,
        const struct block *w, const struct block *c, int blocks)
{
	const struct double_tall_plan plan =
	        double_tall_update_plan_make(v->a.n, c->a.n, v->a.m, blocks);

	block_upload(e, c);
	GPU(cudaDeviceSynchronize());
	GPU(double_tall_update(&plan, alpha, v->a, w->a, c->a, NULL));
	GPU(cudaDeviceSynchronize());
	return block_download(e, c);
}

/* Reports `got` and `again`, two results in all of c's memory. */
static void report(const char *what, const struct block *c, const struct block *want,
        const struct block *size, double alpha, double beta, const double *got, const double *again,
        const struct block *v, enum place place)
{
	const double worst = block_error(c, WHOLE, alpha, want, size, beta, got) / 0x1p-53;
	const bool same = memcmp(got, again, (size_t)(c->all.m * c->all.n) * sizeof *got) == 0;

	if (!ok(worst <= most_roundings && same,
	            "%s: %" PRId64 " and %" PRId64 " columns of %" PRId64 " rows%s", what, v->a.n,
	            c->a.n, v->a.m, place_name[place]))
		diag("error %.3g repeats %d", worst, same);
}

static void check_product(
        struct executor *e, int64_t k, int64_t n, int64_t rows, int blocks, enum place place)
{
	struct block v = block_placed(e, DOUBLE, rows, k, ALIGNED),
	             c = block_placed(e, DOUBLE, rows, n, place),
	             p = block_poisoned(e, DOUBLE, k, n), want = block_new(e, DOUBLE, k, n),
	             size = block_new(e, DOUBLE, k, n), now = p;
	double *got = product(e, &v, &c, &p, blocks), *again = product(e, &v, &c, &p, blocks);

	block_product(1, &v, TRANSPOSED, &c, PLAIN, 0, &want);
	block_magnitude(&v, TRANSPOSED, &c, PLAIN, &size);
	report("V^T C", &p, &want, &size, 1, 0, got, again, &v, place);
	free(got);
	free(again);
	*element(&c, rows - 1, n / 2) = NAN;
	block_upload(e, &c);
	now.x = product(e, &v, &c, &p, blocks);
	ok(isnan(*element(&now, k - 1, n / 2)) && (n == 1 || !isnan(*element(&now, 0, 0))),
	        "NaN in the column that has one");
	free(now.x);
	blocks_free(e);
}

static void check_update(
        struct executor *e, int64_t k, int64_t n, int64_t rows, int blocks, enum place place)
{
	const double alpha = place == CUT ? 0.5 : -1;
	struct block v = block_placed(e, DOUBLE, rows, k, place == CUT ? CUT : ALIGNED),
	             c = block_placed(e, DOUBLE, rows, n, place), w = block_new(e, DOUBLE, k, n),
	             want = block_new(e, DOUBLE, rows, n), size = block_new(e, DOUBLE, rows, n),
	             now = c;
	double *got = updated(e, alpha, &v, &w, &c, blocks),
	       *again = updated(e, alpha, &v, &w, &c, blocks);

	block_product(1, &v, PLAIN, &w, PLAIN, 0, &want);
	block_magnitude(&v, PLAIN, &w, PLAIN, &size);
	report("C += V W", &c, &want, &size, alpha, 1, got, again, &v, place);
	free(got);
	free(again);
	*element(&v, rows - 1, k / 2) = NAN;
	block_upload(e, &v);
	now.x = updated(e, alpha, &v, &w, &c, blocks);
	ok(isnan(*element(&now, rows - 1, n - 1)) && (rows == 1 || !isnan(*element(&now, 0, 0))),
	        "NaN in the row that has one");
	free(now.x);
	blocks_free(e);
}

int main(void)
{
	static const enum place places[] = {ALIGNED, CUT, ODD_COLUMNS, CUT_ODD_COLUMNS};
	struct executor *e = cuda_or_skip();
	struct fault fault;
	struct gpu gpu;

	if (!gpu_open(&gpu, "0", &fault) || !double_tall_has(gpu.code, gpu.shared_per_block))
		skip_all("this device has no such kernels");
	for (size_t i = 0; i < ARRAY_LEN(shapes) * ARRAY_LEN(places); i++) {
		const size_t s = i / ARRAY_LEN(places);
		const enum place place = places[i % ARRAY_LEN(places)];

		check_product(e, shapes[s].k, shapes[s].n, shapes[s].rows, shapes[s].blocks, place);
		if (shapes[s].k <= DOUBLE_TALL_SIDE)
			check_update(e, shapes[s].k, shapes[s].n, shapes[s].rows, shapes[s].blocks,
			        place);
	}
	executor_free(e);
	return finish();
}
