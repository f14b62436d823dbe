/* SPDX-License-Identifier: MIT */
/* Costs of the device's products beside and beyond the rows of surfaces: ours and the library's,
 * in rounds of tiles, with long and short columns, beside others' work; symmetric updates; what the
 * host takes to queue them. */
#include "cost_test.h"

static void add_product(struct profile *p, const char *name, double m, double n, double k, double s)
{
	const struct parameter_spec spec = {name, "s", "synthetic", "surface", 0, 0};
	const struct arg args[] = {{"m", m}, {"n", n}, {"k", k}};

	profile_add(p, &spec, args, 3, (struct estimate){s, 0.9 * s, 1.1 * s, 30}, false);
}

/* Sizes from `first` to `last`, each `step` times the one before. */
typedef struct {
	double first, last, step;
} axis;

/* A grid of products that take m n k times `each` seconds. */
static void add_products(
        struct profile *p, const char *name, axis rows, axis columns, axis depths, double each)
{
	for (double m = rows.first; m <= rows.last; m *= rows.step)
		for (double n = columns.first; n <= columns.last; n *= columns.step)
			for (double k = depths.first; k <= depths.last; k *= depths.step)
				add_product(p, name, m, n, k, m * n * k * each);
}

static double gemm(struct cost_reader *r, int64_t m, int64_t n, int64_t k, enum precision precision)
{
	const struct matrix c = {NULL, 0, m, n, m, precision};
	const struct cost cost = cost_gemm(r, PLAIN, PLAIN, c, k);

	return sum(&cost);
}

static void add_syrk(struct profile *p, const char *name, double n, double k, double s)
{
	const struct parameter_spec spec = {name, "s", "synthetic", "surface", 0, 0};
	const struct arg args[] = {{"n", n}, {"k", k}};

	profile_add(p, &spec, args, 2, (struct estimate){s, 0.9 * s, 1.1 * s, 30}, false);
}

static double syrk(struct cost_reader *r, int64_t n, int64_t k)
{
	const struct cost cost = cost_syrk(r, (struct matrix){NULL, 0, n, n, n, DOUBLE}, k);

	return sum(&cost);
}

/* 100 multiprocessors and what calls of the library have besides their surfaces. */
static struct profile *library_profile(void)
{
	static const char *const scalars[] = {"gpu.launch.dependent", "gpu.launch.enqueue",
	        "gpu.cublas.level2", "gpu.gemm.d.peak", "gpu.gemm.s.peak"};
	struct profile *p = profile_new();

	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		add_scalar(p, scalars[i], 1e-7);
	add_scalar(p, "gpu.sm.count", 100);
	return p;
}

static double product_abt(struct cost_reader *r, int64_t m, int64_t n, int64_t k, double *share)
{
	const struct matrix c = {NULL, 0, m, n, m, DOUBLE};
	const struct cost cost = cost_gemm(r, PLAIN, TRANSPOSED, c, k);

	*share = cost.share;
	return sum(&cost);
}

/* 12800 x 12800 is 100 rounds of 128 x 128 tiles, 1280 x 1280 one; a round takes 10 k ns. */
static void test_rounds(struct profile *p, struct cost_reader *r)
{
	static const double sides[] = {1280, 12800};
	double share;

	for (int i = 0; i < 4; i++)
		for (double k = 512; k <= 2048; k *= 2)
			add_product(p, "gpu.gemm.d", sides[i / 2], sides[i % 2], k,
			        sides[i / 2] * sides[i % 2] / (1280. * 1280) * k * 1e-8);
	for (double n = 1280; n <= 12800; n *= 10)
		for (double k = 512; k <= 2048; k *= 2)
			add_syrk(p, "gpu.syrk.d", n, k, n * n * k * 6e-15);
	cost_reader_start(r, p);
	const double four = product_abt(r, 2560, 2560, 1024, &share);
	is_real(four, 4 * 1024e-8, 1e-2, "tiles that fill their rounds");
	is_real(share, 1, 1e-9, "and the machine");
	is_real(product_abt(r, 2562, 2560, 1024, &share), 5 * 1024e-8, 1e-2,
	        "a few more take another round");
	is_real(share, 420. / 500, 1e-9, "which leaves others most of its multiprocessors");
	const double triangle = 2560. * 2560 * 1024 * 6e-15;
	is_real(syrk(r, 5120, 1024), 2 * triangle + four, 1e-9,
	        "a large triangle: two halves and the product between");
	for (int i = 0; i < 4; i++)
		add_product(p, "gpu.gemm_nt.d", sides[i / 2], sides[i % 2], 1024,
		        sides[i / 2] * sides[i % 2] / (1280. * 1280) * 1024e-8 * 1.1);
	cost_reader_start(r, p);
	is_real(product_abt(r, 2562, 2560, 1024, &share), 5 * 1024e-8 * 1.1, 1e-2,
	        "as measured for these tiles, where they are");
	is_real(product_abt(r, 2562, 1024, 1024, &share), 2 * 1024e-8 * 1.1, 1e-2,
	        "of fewer columns than measured, too");
}

static double product_atb(struct cost_reader *r, int64_t m, int64_t n, int64_t k)
{
	const struct matrix c = {NULL, 0, m, n, m, SINGLE};
	const struct cost cost = cost_gemm(r, TRANSPOSED, PLAIN, c, k);

	return sum(&cost);
}

/* V^T C: mnk fs by the library, half of that by our own kernels. */
static void test_tall(struct profile *p, struct cost_reader *r)
{
	const axis rows = {64, 256, 4}, columns = {64, 1024, 4}, depth = {4096, 65536, 16};

	add_products(p, "gpu.gemm_tn.s", rows, columns, depth, 1e-15);
	add_products(p, "gpu.own_gemm_tn.s", rows, columns, depth, 5e-16);
	cost_reader_start(r, p);
	is_real(product_atb(r, 64, 128, 20000), 64 * 128 * 2e4 * 5e-16, 1e-9,
	        "few columns and many rows: by our own kernels");
	is_real(product_atb(r, 512, 64, 20000), 64 * 512 * 2e4 * 5e-16, 1e-9,
	        "whichever has more columns");
	is_real(product_atb(r, 64, 72, 65536), 64 * 128 * 65536 * 5e-16, 1e-9,
	        "72 columns are one tile of 128");
	is_real(product_atb(r, 72, 64, 65536), 64 * 128 * 65536 * 5e-16, 1e-9, "and 72 rows");
	is_real(product_atb(r, 64, 128, 4096), 64 * 128 * 4096 * 5e-16, 1e-9, "from 4096 rows on");
	is_real(product_atb(r, 64, 128, 4095), 64 * 128 * 4096 * 1e-15, 1e-2,
	        "of fewer rows by the library");
	is_real(product_atb(r, 64, 1024, 16383), 64 * 1024 * 16383e-15, 1e-2,
	        "of more columns than a sixteenth of the rows, too");
}

/* mnk ps, with an odd number of rows twice that; our own ones of fp32 half of it. */
static void test_gemm(struct profile *p, struct cost_reader *r)
{
	const axis side = {256, 4096, 16}, depth = {64, 256, 4};

	add_products(p, "gpu.gemm.d", side, side, depth, 1e-12);
	add_products(p, "gpu.gemm_odd.d", side, side, depth, 2e-12);
	add_products(p, "gpu.own_gemm.s", side, side, depth, 5e-13);
	cost_reader_start(r, p);
	is_real(gemm(r, 2000, 1000, 100, DOUBLE), 2e8 * 1e-12, 1e-9, "a product");
	is_real(gemm(r, 2001, 1000, 100, DOUBLE), 2 * 2.001e8 * 1e-12, 1e-9,
	        "one of an odd number of rows");
	is_real(gemm(r, 2000, 1000, 1000, DOUBLE), 2e9 * 1e-12, 1e-9,
	        "one deeper than measured: in a straight line");
	ok(r->model.extrapolated, "which is an extrapolation");
	is_real(gemm(r, 8192, 1024, 256, DOUBLE), 8192 * 1024 * 256e-12 - 1e-7, 1e-9,
	        "a wider one: the rate of the widest, once it has begun");
	is_real(gemm(r, 2048, 1024, 100, SINGLE), 2048 * 1024 * 112.0 * 5e-13, 1e-9,
	        "our own goes through whole steps of depth");
	add_product(p, "gpu.gemm_nt.d", 1024, 1024, 768, 1e-4);
	cost_reader_start(r, p);
	static const char *const axes[] = {"m", "n", "k"};
	const double lone[] = {1024, 1024, 768}, longer[] = {2048, 1024, 768};
	cost_surface(r, "gpu.gemm_nt.d", axes, lone, 3);
	ok(!r->model.extrapolated, "a row that is alone stands for itself");
	cost_surface(r, "gpu.gemm_nt.d", axes, longer, 3);
	ok(r->model.extrapolated, "and for more as a guess");
	test_tall(p, r);
	for (double n = 256; n <= 4096; n *= 16)
		for (double k = 64; k <= 256; k *= 4)
			add_syrk(p, "gpu.syrk.d", n, k, n * n * k * 6e-13);
	cost_reader_start(r, p);
	is_real(syrk(r, 2000, 200), 8e8 * 6e-13, 1e-9, "a symmetric update");
	is_real(syrk(r, 2001, 200), 2 * 2001 * 2001 * 200 * 6e-13, 1e-9,
	        "of odd order: as much slower as products");
	for (double n = 256; n <= 4096; n *= 16)
		for (double k = 64; k <= 1024; k *= 4)
			add_syrk(p, "gpu.own_syrk.d", n, k, k * 1e-8);
	cost_reader_start(r, p);
	is_real(syrk(r, 300, 1000), 1e-5, 1e-9, "a small one of any depth by our own kernel");
	is_real(syrk(r, 100, 300), 3e-6, 1e-9, "which takes no less time for a smaller one");
	is_real(syrk(r, 1000, 300), 3e8 * 6e-13, 1e-9, "a large deep one by the library's");
	for (double k = 32; k <= 512; k *= 4)
		add_product(p, "gpu.gemm.d", 65536, 256, k, 65536 * 256 * k * 3e-13);
	cost_reader_start(r, p);
	is_real(gemm(r, 16384, 4096, 256, DOUBLE), 4 * 4096 * 4096 * 256e-12 - 3e-7, 1e-9,
	        "rows that are known for few columns only are none of a wide one");
	const struct matrix square = {NULL, 0, 2048, 2048, 2048, DOUBLE};
	const double plain = cost_gemm(r, PLAIN, PLAIN, square, 256).block_lifetime;
	is_real(cost_gemm(r, PLAIN, TRANSPOSED, square, 256).block_lifetime / plain, 0.5, 1e-9,
	        "tiles in double precision, one at a time, keep their places half as long");
}

/* mnk ps, of 1024 rows three times that; with an odd number of rows, known at the ends alone, twice
 * that. */
static void test_odd(struct profile *p, struct cost_reader *r)
{
	for (double m = 256; m <= 4096; m *= 4)
		for (double k = 64; k <= 256; k *= 4) {
			const double time = m * 1024 * k * 1e-12;
			add_product(p, "gpu.gemm.d", m, 1024, k, m == 1024 ? 3 * time : time);
			if (m != 1024)
				add_product(p, "gpu.gemm_odd.d", m, 1024, k, 2 * time);
		}
	cost_reader_start(r, p);
	is_real(gemm(r, 1023, 1024, 128, DOUBLE), 2 * 3 * 1023 * 1024 * 128e-12, 1e-2,
	        "an odd number of rows between those known goes as even ones do");
	is_real(gemm(r, 257, 1024, 128, DOUBLE), 2 * 257 * 1024 * 128e-12, 1e-2,
	        "and is itself by those");
}

static double product_tall(struct cost_reader *r, int64_t k)
{
	const struct cost cost =
	        cost_gemm(r, TRANSPOSED, PLAIN, (struct matrix){NULL, 0, 32, 32, 32, DOUBLE}, k);

	return sum(&cost);
}

/* V^T C of 1024 rows by one block in 58 us, of 4096 by many in 10; other products take 8. */
static void test_short(struct profile *p, struct cost_reader *r)
{
	for (int i = 0; i < 4; i++) {
		const double m = i / 2 ? 64 : 32, n = i % 2 ? 64 : 32;
		add_product(p, "gpu.gemm_tn.d", m, n, 1024, 58e-6);
		add_product(p, "gpu.gemm_tn.d", m, n, 4096, 10e-6);
		for (double k = 64; k <= 1024; k *= 4)
			add_product(p, "gpu.gemm.d", m, n, k, 8e-6);
	}
	cost_reader_start(r, p);
	is_real(product_tall(r, 4096), 10e-6, 1e-9, "V^T C as measured");
	is_real(product_tall(r, 512), 0.1e-6 + 57.9e-6 / 2, 1e-9,
	        "half of the first rows take half");
	is_real(product_tall(r, 128), 8e-6, 1e-9, "but no less than other products");
}

static double queued(struct cost_reader *r, enum trans ta, int64_t side, enum precision precision)
{
	return cost_gemm(r, ta, PLAIN, (struct matrix){NULL, 0, side, side, side, precision}, 64)
	        .enqueue;
}

/* What the host takes to queue a product. */
static void test_queue(struct profile *p, struct cost_reader *r)
{
	for (int i = 0; i < 8; i++)
		add_product(p, i < 4 ? "gpu.gemm.d" : "gpu.own_gemm.s", i / 2 % 2 ? 1024 : 256,
		        i % 2 ? 1024 : 256, 64, 20e-6);
	cost_reader_start(r, p);
	is_real(queued(r, PLAIN, 512, DOUBLE), 1e-7, 1e-9, "as level 2 where that is all");
	add_scalar(p, "gpu.cublas.gemm", 9e-6);
	add_scalar(p, "gpu.cublas.gemm_t", 12e-6);
	cost_reader_start(r, p);
	is_real(queued(r, PLAIN, 512, DOUBLE), 9e-6, 1e-9, "else as the library's products");
	is_real(queued(r, TRANSPOSED, 512, DOUBLE), 12e-6, 1e-9, "transposed ones");
	is_real(queued(r, PLAIN, 1024, SINGLE), 1e-7, 1e-9, "and ours as a kernel");
}

/* V^T C by 3xTF32 on the way: the product and the kernel behind it. */
static void test_two_kernels(struct profile *p, struct cost_reader *r)
{
	const struct matrix c = {NULL, 0, 64, 512, 64, SINGLE};

	for (int i = 0; i < 8; i++)
		add_product(p, "gpu.tf32_tall.s", i / 4 ? 128 : 64, i / 2 % 2 ? 1024 : 256,
		        i % 2 ? 16384 : 1024, 30e-6);
	cost_reader_start(r, p);
	const struct cost cost = cost_gemm_tall(r, c, 4096);
	is_real(sum(&cost), 30e-6, 1e-9, "two kernels take what both were measured to");
	is_real(cost.enqueue, 2e-7, 1e-9, "the host queues both");
	is_real(cost.first, 1e-7, 1e-9, "the device begins with the first");
	ok(cost.further == 1, "and one is behind it");
}

/* V^T C of 64 columns and 4096 of V, of an inner dimension of which V's would have to be four times
 * as long for it to be tall: by whichever surface is sooner. */
static void test_few_columns(struct profile *p, struct cost_reader *r)
{
	const struct matrix c = {NULL, 0, 4096, 64, 4096, DOUBLE};

	add_products(p, "gpu.gemm.d", (axis){1024, 4096, 4}, (axis){64, 256, 4},
	        (axis){512, 1024, 2}, 1e-12);
	cost_reader_start(r, p);
	struct cost cost = cost_gemm(r, TRANSPOSED, PLAIN, c, 8192);
	is_real(sum(&cost), 4096. * 64 * 8192 * 1e-12, 1e-3,
	        "few columns: as A B where that is all");
	add_products(p, "gpu.gemm_tn.d", (axis){64, 256, 4}, (axis){1024, 4096, 4},
	        (axis){4096, 16384, 4}, 0.4e-12);
	cost_reader_start(r, p);
	cost = cost_gemm(r, TRANSPOSED, PLAIN, c, 8192);
	is_real(sum(&cost), 4096. * 64 * 8192 * 0.4e-12, 1e-3,
	        "as a tall product where that is sooner");
	cost = cost_gemm(r, PLAIN, PLAIN, c, 8192);
	is_real(sum(&cost), 4096. * 64 * 8192 * 1e-12, 1e-3, "but A B never");
}

static double squares(struct cost_reader *r, int64_t order, int64_t columns)
{
	const struct matrix c = {NULL, 0, order, columns, order, SINGLE};
	const struct cost cost = cost_gemm_tf32(r, c, 768, true);
	return sum(&cost);
}

/* Squares in one call, measured to take three times as long as one product of as many columns. */
static void test_squares(struct profile *p, struct cost_reader *r)
{
	add_products(p, "gpu.gemm.tf32", (axis){256, 1024, 4}, (axis){1024, 16384, 16},
	        (axis){768, 768, 2}, 1e-11 / 768);
	cost_reader_start(r, p);
	is_real(squares(r, 512, 8192), 512 * 8192 * 1e-11, 1e-6,
	        "as one product where that is all");
	add_products(p, "gpu.gemm_batched.tf32", (axis){256, 1024, 4}, (axis){1024, 8192, 8},
	        (axis){768, 768, 2}, 3e-11 / 768);
	cost_reader_start(r, p);
	is_real(squares(r, 512, 8192), 512 * 8192 * 3e-11, 1e-6, "else as squares");
	is_real(squares(r, 512, 16384), 512 * 16384 * 3e-11, 1e-3, "twice as many take twice that");
	add_products(p, "gpu.gemm_shared.tf32", (axis){256, 1024, 4}, (axis){1024, 16384, 16},
	        (axis){768, 768, 2}, 2e-11 / 768);
	cost_reader_start(r, p);
	r->shares = true;
	is_real(squares(r, 512, 8192), 512 * 8192 * 6e-11, 1e-6,
	        "beside a panel as much longer as one product");
}

/* Our own products, beside others' work three times as long where that is measured. */
static void test_beside(struct profile *p, struct cost_reader *r)
{
	for (double m = 128; m <= 131072; m *= 32)
		for (double n = 8; n <= 2048; n *= 16) {
			add_product(p, "gpu.own_gemm.s", m, n, 64, m * n * 1e-11);
			if (m <= 4096 && n >= 128)
				add_product(p, "gpu.own_gemm_shared.s", m, n, 64, m * n * 3e-11);
		}
	cost_reader_start(r, p);
	r->shares = true;
	is_real(gemm(r, 1024, 512, 64, SINGLE), 1024 * 512 * 3e-11, 1e-6,
	        "a product beside others");
	is_real(gemm(r, 65536, 32, 64, SINGLE), 65536 * 32 * 3e-11, 1e-6,
	        "a longer one of fewer columns: as much slower");
	ok(r->shares, "which others still are");
}

/* Where C cuts tiles off they take 7 us more, measured up to 4000 rows and beyond these too; where
 * that is not measured, as long as whole ones. */
static void test_cut(struct profile *p, struct cost_reader *r)
{
	add_products(p, "gpu.own_gemm.s", (axis){128, 131072, 32}, (axis){8, 2048, 16},
	        (axis){64, 64, 2}, 1e-11 / 64);
	cost_reader_start(r, p);
	is_real(gemm(r, 65536, 72, 64, SINGLE), 65536 * 96 * 1e-11, 1e-6,
	        "72 columns are three tiles of 32");
	for (double m = 100; m <= 4000; m *= 40)
		for (double n = 128; n <= 256; n *= 2)
			add_product(p, "gpu.own_gemm_edge.s", m, n, 64, m * n * 1e-11 + 7e-6);
	cost_reader_start(r, p);
	is_real(gemm(r, 3200, 512, 64, SINGLE), 3200 * 512 * 1e-11, 1e-6, "whole tiles");
	is_real(gemm(r, 4000, 128, 64, SINGLE), 4000 * 128 * 1e-11 + 7e-6, 1e-3, "cut ones");
	is_real(gemm(r, 60000, 128, 64, SINGLE), 60000 * 128 * 1e-11 + 7e-6, 1e-3,
	        "in longer products as much longer");
}

int main(void)
{
	static cost_test *const tests[] = {test_rounds, test_gemm, test_odd, test_short, test_queue,
	        test_two_kernels, test_few_columns, test_squares, test_beside, test_cut};
	run_cost_tests(library_profile, tests, ARRAY_LEN(tests));
	return finish();
}
