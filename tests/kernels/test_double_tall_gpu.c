/* SPDX-License-Identifier: MIT */
/* V^T C and C += alpha V W of tall matrices in double precision, against sums on the host: every
 * kernel, tails of rows and columns, columns of any alignment, few blocks; few roundings of the sum
 * of magnitudes; the same bits again; memory around the results is not written; NaN stays in its
 * column or row. And the update that leaves C^T C. */
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

/* Updates with C^T C. */
enum { GRAM_COLUMNS = 64, GRAM_TILES = 20, GRAM_WORDS = GRAM_TILES * 128 };
static const struct {
	int64_t k, n, rows;
	int blocks;
} grams[] = {
        {64, 64, 20001, 132},
        {64, 66, 4100, 33},
        {64, 128, 3333, 7},
        {128, 64, 20000, 132},
        {128, 33, 1027, 16},
        {32, 61, 1001, 132},
        {96, 1, 97, 3},
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

/* The word's place in C^T C: tiles of 16 x 8 on and above the diagonal. */
static void gram_place(int word, int *i, int *j)
{
	static const int first[] = {0, 8, 14, 18, GRAM_TILES};
	const int lane = word % 32, x = word / 32 % 4, tile = word / 128;
	int p = 0;

	while (tile >= first[p + 1])
		p++;
	*i = 16 * p + x / 2 * 8 + lane / 4;
	*j = 8 * (2 * p + tile - first[p]) + 2 * (lane % 4) + x % 2;
}

/* All of c after the update with C^T C, and the sums of all teams, in memory of NaN before; the
 * caller frees both. */
static double *updated_gram(struct executor *e, const struct block *v, const struct block *w,
        const struct block *c, int teams, double **sums)
{
	const struct double_tall_plan plan = double_tall_gram_plan_make(v->a.n, c->a.n, teams);
	const size_t bytes = (size_t)teams * GRAM_WORDS * sizeof(double);
	void *gram = NULL;

	block_upload(e, c);
	GPU(cudaMalloc(&gram, bytes));
	GPU(cudaMemset(gram, 0xff, bytes));
	GPU(cudaDeviceSynchronize());
	GPU(double_tall_update_gram(&plan, -1, v->a, w->a, c->a, v->a.n, gram, NULL));
	GPU(cudaDeviceSynchronize());
	*sums = xmalloc(bytes);
	GPU(cudaMemcpy(*sums, gram, bytes, cudaMemcpyDeviceToHost));
	GPU(cudaFree(gram));
	return block_download(e, c);
}

/* Largest error of the sums over the teams, in products of the norms of the updated columns, which
 * `got` has. The rows above the panel must not be among them. */
static double gram_error(
        const struct block *c, double *got, int64_t skipped, const double *sums, int teams)
{
	struct block now = *c;
	const int64_t n = c->a.n < GRAM_COLUMNS ? c->a.n : GRAM_COLUMNS;
	double norm[GRAM_COLUMNS] = {0}, worst = 0;

	now.x = got;
	for (int64_t j = 0; j < n; j++)
		for (int64_t r = skipped; r < c->a.m; r++)
			norm[j] += *element(&now, r, j) * *element(&now, r, j);
	for (int word = 0; word < GRAM_WORDS; word++) {
		double sum = 0, want = 0;
		int i, j;
		gram_place(word, &i, &j);
		const bool inside = i < n && j < n;
		for (int t = 0; t < teams; t++)
			sum += sums[(size_t)t * GRAM_WORDS + word];
		for (int64_t r = skipped; inside && r < c->a.m; r++)
			want += *element(&now, r, i) * *element(&now, r, j);
		const double off = fabs(sum - want) / (inside ? sqrt(norm[i] * norm[j]) : 1);
		worst = off <= worst ? worst : off;
	}
	return worst;
}

/* The update that also leaves C^T C: C has the bits of the update alone, and the sums are those of
 * the rows below V's first ones. */
static void check_gram(
        struct executor *e, int64_t k, int64_t n, int64_t rows, int teams, enum place place)
{
	struct block v = block_placed(e, DOUBLE, rows, k, place == CUT ? CUT : ALIGNED),
	             c = block_placed(e, DOUBLE, rows, n, place), w = block_new(e, DOUBLE, k, n);
	const size_t bytes = (size_t)(c.all.m * c.all.n) * sizeof(double),
	             all = (size_t)teams * GRAM_WORDS * sizeof(double);
	double *sums, *sums_again;
	double *plain = updated(e, -1, &v, &w, &c, teams);
	double *got = updated_gram(e, &v, &w, &c, teams, &sums);
	double *again = updated_gram(e, &v, &w, &c, teams, &sums_again);
	const double worst = gram_error(&c, got, k, sums, teams);
	const bool same = memcmp(got, plain, bytes) == 0,
	           repeats = memcmp(sums, sums_again, all) == 0 && memcmp(got, again, bytes) == 0;

	if (!ok(worst < 1e-13 && same && repeats,
	            "C += V W with C^T C: %" PRId64 " and %" PRId64 " columns of %" PRId64
	            " rows%s",
	            k, n, rows, place_name[place]))
		diag("error %.3g, C as without it %d, repeats %d", worst, same, repeats);
	free(plain);
	free(got);
	free(again);
	free(sums);
	free(sums_again);
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
	for (size_t i = 0; i < ARRAY_LEN(grams) * ARRAY_LEN(places); i++) {
		const size_t s = i / ARRAY_LEN(places);

		check_gram(e, grams[s].k, grams[s].n, grams[s].rows, grams[s].blocks,
		        places[i % ARRAY_LEN(places)]);
	}
	executor_free(e);
	return finish();
}
