/* SPDX-License-Identifier: MIT */
/* Costs of the device's products: in the rows of surfaces, beside and beyond them; ours and the
 * library's, in rounds of tiles, with long and short columns, beside others' work; symmetric
 * updates and solves; the host's time to queue them. */
#include "cost_lines.h"

#include "factor/kernels/gemm/half_update.h"

/* 100 multiprocessors and what calls of the library have besides their surfaces. */
static struct profile *library_profile(void)
{
	struct profile *p = profile_new();

	ADD(p, 0, {"gpu.launch.dependent", 1e-7}, {"gpu.launch.enqueue", 1e-7},
	        {"gpu.cublas.level2", 1e-7}, {"gpu.gemm.?.peak", 1e-7}, {"gpu.sm.count", 100});
	return p;
}

/* By the synthetic profile: 2.75 us to queue a call and 5 to wait. */
static const struct line library_lines[] = {
        {"time: gemm 4096 1024 256", 2.75 + 2.0 * 4096 * 1024 * 256 / 1e7 + 5, "gemm"},
        {"gemm tn 64 1000 8192", 2.0 * 64 * 1000 * 8192 / 1e7, "gemm along columns"},
        {"gemm tn 1000 64 8192", 2.0 * 64 * 1000 * 8192 / 1e7, "along many columns"},
        {"syrk 3000 3000 200", 3000.0 * 3000 * 200 / 1e7, "syrk"},
        {"trsm 256 3000", 256.0 * 256 * 3000 / 1e7, "trsm from the left"},
        {"trsm right diag 256 3000", 256.0 * 256 * 3000 / 1e7, "trsm from the right"},
        {"time: gemv 3000 3000", 2.75 + 9e6 / 1e7 + 5, "gemv in L2"},
        {"gemv tn 5000 5000", 2 * 25e6 / 1e7, "gemv out of DRAM"},
        {"gemm 1 1 1", 2 * 32 * 32 * 32 / 1e7,
                "smaller than the smallest measured costs what that does"},
        {"beyond: gemm 1 1 1", 0, "and is no extrapolation"},
        {"+gpu.trsm_few.s[m=512/2048,n=1/256]", 1e-7, "m"},
        {"trsm diag 1024 8", 102.4, "trsm of few right-hand sides"},
        {"trsm 512 128", 512.0 * 512 * 128 / 1e7, "LU's have no diagonal"}};

/* 12800 x 12800 is 100 rounds of 128 x 128 tiles, 1280 x 1280 one; a round takes 10 k ns. */
static const struct line rounds_lines[] = {
        {"+gpu.gemm.d[m=1280/12800,n=1280/12800,k=512:2048:2]", 1e-8 / (1280. * 1280), "mnk"},
        {"+gpu.syrk.d[n=1280/12800,k=512:2048:2]", 6e-15, "nnk"},
        {"gemm nt d 2560 2560 1024", 40.96, "tiles that fill their rounds", 1e-2},
        {"share: gemm nt d 2560 2560 1024", 1, "and the machine"},
        {"gemm nt d 2562 2560 1024", 51.2, "a few more take another round", 1e-2},
        {"share: gemm nt d 2562 2560 1024", 420. / 500,
                "which leaves others most of its multiprocessors"},
        {"syrk d 5120 5120 1024", 2 * 2560. * 2560 * 1024 * 6e-9 + 40.96,
                "a large triangle: two halves and the product between", 1e-3},
        {"+gpu.gemm_nt.d[m=1280/12800,n=1280/12800,k=1024]", 1024. * 1.1e-8 / (1280. * 1280), "mn"},
        {"gemm nt d 2562 2560 1024", 56.32, "as measured for these tiles, where they are", 1e-2},
        {"gemm nt d 2562 1024 1024", 22.528, "of fewer columns than measured, too", 1e-2}};

/* mnk ps, with an odd number of rows twice that; our own ones of fp32 half of it. V^T C: mnk fs by
 * the library, half of that by our own kernels. */
static const struct line gemm_lines[] = {
        {"+gpu.gemm.d[m=256/4096,n=256/4096,k=64/256]", 1e-12, "mnk"},
        {"+gpu.gemm_odd.d[m=256/4096,n=256/4096,k=64/256]", 2e-12, "mnk"},
        {"+gpu.own_gemm.s[m=256/4096,n=256/4096,k=64/256]", 5e-13, "mnk"},
        {"gemm d 2000 1000 100", 200, "a product"},
        {"gemm d 2001 1000 100", 2 * 200.1, "one of an odd number of rows"},
        {"gemm d 2000 1000 1000", 2000, "one deeper than measured: in a straight line"},
        {"beyond: gemm d 2000 1000 1000", 1, "which is an extrapolation"},
        {"gemm d 8192 1024 256", 8192 * 1024 * 256e-6 - 0.1,
                "a wider one: the rate of the widest, once it has begun"},
        {"gemm 2048 1024 100", 2048 * 1024 * 112 * 5e-7,
                "our own goes through whole steps of depth"},
        {"+gpu.gemm.s[m=256/4096,n=256/4096,k=64/256]", 1e-12, "mnk"},
        {"gemm 2049 1024 100", 2049 * 1024 * 100e-6, "the library's where columns are unaligned"},
        {"+gpu.gemm_unaligned.s[m=256/4096,n=256/4096,k=64/256]", 15e-13, "mnk"},
        {"gemm 2049 1024 100", 2049 * 1024 * 150e-6, "as measured for these"},
        {"gemm off 2048 1024 100", 2048 * 1024 * 100e-6,
                "where only C's are, the library reads as if aligned"},
        {"+gpu.gemm_unaligned.d[m=256/4096,n=256/4096,k=64/256]", 5e-13, "mnk"},
        {"gemm d 2001 1000 100", 2 * 200.1, "which is never faster than aligned"},
        {"+gpu.gemm_tn.s[m=64/256,n=64:1024:4,k=4096/65536]", 1e-15, "mnk"},
        {"+gpu.own_gemm_tn.s[m=64/256,n=64:1024:4,k=4096/65536]", 5e-16, "mnk"},
        {"gemm tn 64 128 20000", 64 * 128 * 2e4 * 5e-10,
                "few columns and many rows: by our own kernels"},
        {"gemm tn 512 64 20000", 64 * 512 * 2e4 * 5e-10, "whichever has more columns"},
        {"gemm tn 64 72 65536", 64 * 128 * 65536 * 5e-10, "72 columns are one tile of 128"},
        {"gemm tn 72 64 65536", 64 * 128 * 65536 * 5e-10, "and 72 rows"},
        {"gemm tn 64 128 4096", 64 * 128 * 4096 * 5e-10, "of enough rows"},
        {"gemm tn 64 128 3102", 64 * 128 * 4096 * 1e-9,
                "of fewer than 100 / 132 of 4096 by the library", 1e-2},
        {"gemm tn 64 1024 16383", 64 * 1024 * 16383e-9,
                "of more columns than a sixteenth of the rows, too", 1e-2},
        {"+gpu.gemm.d[m=65536,n=256,k=32/128/512]", 3e-13 * 65536 * 256, "k"},
        {"gemm d 16384 4096 256", 4 * 4096. * 4096 * 256e-6 - 0.3,
                "rows that are known for few columns only are none of a wide one"}};

static const struct line syrk_lines[] = {{"+gpu.own_syrk.s[n=256/4096,k=64:1024:4]", 1e-8, "k"},
        {"share: syrk 1500 1500 512", 0.75, "24 x 24 tiles of 64 rows in 400 places", 1e-6},
        {"share: syrk 3000 3000 512", 1, "more tiles than places take all"},
        {"+gpu.gemm.d[m=256/4096,n=256/4096,k=64/256]", 1e-12, "mnk"},
        {"+gpu.gemm_odd.d[m=256/4096,n=256/4096,k=64/256]", 2e-12, "mnk"},
        {"+gpu.syrk.d[n=256/4096,k=64/256]", 6e-13, "nnk"},
        {"syrk d 2000 2000 200", 480, "a symmetric update"},
        {"syrk d 2001 2001 200", 2 * 2001 * 2001 * 200 * 6e-7,
                "of odd order: as much slower as products"},
        {"+gpu.own_syrk.d[n=256/4096,k=64:1024:4]", 1e-8, "k"},
        {"syrk d 300 300 1000", 10, "a small one of any depth by our own kernel"},
        {"syrk d 100 100 300", 3, "which takes no less time for a smaller one"},
        {"syrk d 301 301 1000", 10, "as long off boundaries of 16 bytes where that is all"},
        {"+gpu.own_syrk_unaligned.d[n=256/4096,k=64/1024]", 3e-8, "k"},
        {"syrk d 301 301 1000", 30, "else as much longer as measured"},
        {"syrk d 300 300 1000", 10, "which it is not on them"},
        {"syrk d 1000 1000 300", 180, "a large deep one by the library's"},
        {"+gpu.gemm_unaligned.d[m=256/4096,n=256/4096,k=64/256]", 4e-12, "mnk"},
        {"syrk d 1001 1001 300", 4 * 1001. * 1001 * 300 * 6e-7,
                "off boundaries of 16 bytes as much slower as products"}};

/* mnk ps, of 1024 rows three times that; with an odd number of rows, known at the ends alone, twice
 * that. */
static const struct line odd_lines[] = {{"+gpu.gemm.d[m=256/4096,n=1024,k=64/256]", 1e-12, "mnk"},
        {"+gpu.gemm.d[m=1024,n=1024,k=64/256]", 3e-12, "mnk"},
        {"+gpu.gemm_odd.d[m=256/4096,n=1024,k=64/256]", 2e-12, "mnk"},
        {"gemm d 1023 1024 128", 2 * 3 * 1023 * 1024 * 128e-6,
                "an odd number of rows between those known goes as even ones do", 1e-2},
        {"gemm d 257 1024 128", 2 * 257 * 1024 * 128e-6, "and is itself by those", 1e-2}};

/* V^T C of 1024 rows by one block in 58 us, of 4096 by many in 10; other products take 8. */
static const struct line short_lines[] = {{"+gpu.gemm_tn.d[m=32/64,n=32/64,k=1024]", 58e-6},
        {"+gpu.gemm_tn.d[m=32/64,n=32/64,k=4096]", 10e-6},
        {"+gpu.gemm.d[m=32/64,n=32/64,k=64:1024:4]", 8e-6},
        {"gemm tn d 32 32 4096", 10, "V^T C as measured"},
        {"gemm tn d 32 32 512", 0.1 + 57.9 / 2, "half of the first rows take half"},
        {"gemm tn d 32 32 128", 8, "but no less than other products"},
        {"+gpu.gemm_tn_odd.d[m=32/64,n=32/64,k=127/2047]", 30e-6},
        {"gemm tn d 32 32 129", 30, "one of an odd number of terms as measured"},
        {"gemm tn d 32 32 130", 8, "which one more is not,"},
        {"gemm d 32 32 129", 8, "nor are products A B"},
        {"gemm tn d 32 32 8193", 30, "and more of them take no less"}};

/* V^T C of an odd number of terms: one tile of C by all blocks in turn takes 44 us, two take 26,
 * four 15; a depth of 512 has another kernel, which takes 6. */
static const struct line turns_lines[] = {{"+gpu.gemm.d[m=32/512,n=8/512,k=63/511]", 4e-6},
        {"+gpu.gemm_tn_odd.d[m=64,n=64,k=127/255]", 44e-6},
        {"+gpu.gemm_tn_odd.d[m=64,n=128,k=127/255]", 26e-6},
        {"+gpu.gemm_tn_odd.d[m=128,n=64,k=127/255]", 26e-6},
        {"+gpu.gemm_tn_odd.d[m=128,n=128,k=127/255]", 15e-6},
        {"+gpu.gemm_tn_odd.d[m=64/128,n=64/128,k=511]", 6e-6},
        {"gemm tn d 77 77 201", 15, "C cuts four tiles"}, {"gemm tn d 65 64 201", 26, "or two"},
        {"gemm tn d 33 40 201", 44, "or one"},
        {"gemm tn d 64 64 383", 25, "between two kernels: the mean over where the library changes"},
        {"gemm tn d 64 13 201", 4, "few columns: as of an even depth where no rows know more"},
        {"+gpu.gemm_tn_odd.d[m=64/128,n=16,k=127/255]", 9e-6},
        {"+gpu.gemm_tn_odd.d[m=64/128,n=16,k=511]", 6e-6},
        {"gemm tn d 64 13 201", 9, "else as measured"},
        {"gemm tn d 33 40 201", 44, "which more columns are not"}};

/* The host's time to queue a product; V^T C by 3xTF32: the product and the kernel behind it. */
static const struct line queue_lines[] = {{"+gpu.gemm.d[m=256/1024,n=256/1024,k=64]", 20e-6},
        {"+gpu.own_gemm.s[m=256/1024,n=256/1024,k=64]", 20e-6},
        {"enqueue: gemm d 512 512 64", 0.1, "as level 2 where that is all"},
        {"+gpu.cublas.gemm", 9e-6}, {"+gpu.cublas.gemm_t", 12e-6},
        {"enqueue: gemm d 512 512 64", 9, "else as the library's products"},
        {"enqueue: gemm tn d 512 512 64", 12, "transposed ones"}, {"+gpu.cublas.gemm_t.d", 15e-6},
        {"enqueue: gemm tn d 512 512 64", 15, "and those in double precision"},
        {"enqueue: gemm d 512 512 64", 9, "which others are not"},
        {"+gpu.cublas.gemm_t_odd.d", 25e-6},
        {"enqueue: gemm tn d 512 512 65", 25, "and of an odd number of terms"},
        {"enqueue: gemm 1024 1024 64", 0.1, "and ours as a kernel"},
        {"+gpu.tf32_tall.s[m=64/128,n=256/1024,k=1024/16384]", 30e-6},
        {"tall 64 512 4096", 30, "two kernels take what both were measured to"},
        {"enqueue: tall 64 512 4096", 0.2, "the host queues both"},
        {"first: tall 64 512 4096", 0.1, "the device begins with the first"},
        {"further: tall 64 512 4096", 1, "and one is behind it"}};

/* V^T C of 64 columns and 4096 of V, of an inner dimension of which V's would have to be four times
 * as long for it to be tall: by whichever surface is sooner. */
static const struct line few_columns_lines[] = {
        {"+gpu.gemm.d[m=1024/4096,n=64/256,k=512/1024]", 1e-12, "mnk"},
        {"gemm tn d 4096 64 8192", 4096. * 64 * 8192e-6, "few columns: as A B where that is all",
                1e-3},
        {"+gpu.gemm_tn.d[m=64/256,n=1024/4096,k=4096/16384]", 0.4e-12, "mnk"},
        {"gemm tn d 4096 64 8192", 4096. * 64 * 8192 * 0.4e-6,
                "as a tall product where that is sooner", 1e-3},
        {"gemm d 4096 64 8192", 4096. * 64 * 8192e-6, "but A B never", 1e-3}};

/* T^T (V^T C): where the surface of V^T C begins with as few terms. */
static const struct line few_terms_lines[] = {
        {"+gpu.gemm.s[m=64/4096,n=64/1024,k=64/1024]", 1e-12, "mnk"},
        {"+gpu.gemm_tn.s[m=64/256,n=64/1024,k=1024/16384]", 3e-12, "mnk"},
        {"gemm tn 128 128 128", 128. * 128 * 128e-6, "few terms: as A B where that is all"},
        {"+gpu.gemm_tn.s[m=64/256,n=64/1024,k=64]", 3e-12, "mnk"},
        {"gemm tn 128 128 128", 128. * 128 * 128 * 3e-6, "else as measured"},
        {"gemm tn 512 128 128", 512. * 128 * 128e-6, "but for more rows of C"},
        {"gemm 128 128 128", 128. * 128 * 128e-6, "and A B as ever"}};

/* Squares in one call, measured to take three times as long as one product of as many columns. */
static const struct line squares_lines[] = {
        {"+gpu.gemm.tf32[m=256/1024,n=1024/16384,k=768]", 1e-11, "mn"},
        {"squares 512 8192 768", 512 * 8192e-5, "as one product where that is all", 1e-6},
        {"+gpu.gemm_batched.tf32[m=256/1024,n=1024/8192,k=768]", 3e-11, "mn"},
        {"squares 512 8192 768", 512 * 8192 * 3e-5, "else as squares", 1e-6},
        {"squares 512 16384 768", 512 * 16384 * 3e-5, "twice as many take twice that", 1e-3},
        {"+gpu.gemm_shared.tf32[m=256/1024,n=1024/16384,k=768]", 2e-11, "mn"},
        {"squares shared 512 8192 768", 512 * 8192 * 6e-5,
                "beside a panel as much longer as one product", 1e-6}};

/* Our own products, beside others' work three times as long where that is measured. Where C cuts
 * tiles off they take 7 us more, measured up to 4000 rows and beyond these too; where that is not
 * measured, as long as whole ones. */
static const struct line own_lines[] = {
        {"+gpu.own_gemm.s[m=128:131072:32,n=8:2048:16,k=64]", 1e-11, "mn"},
        {"+gpu.own_gemm_shared.s[m=128/4096,n=128/2048,k=64]", 3e-11, "mn"},
        {"gemm shared 1024 512 64", 1024 * 512 * 3e-5, "a product beside others", 1e-6},
        {"gemm shared 65536 32 64", 65536 * 32 * 3e-5,
                "a longer one of fewer columns: as much slower", 1e-6},
        {"gemm 65536 72 64", 65536 * 96 * 1e-5, "72 columns are three tiles of 32", 1e-6},
        {"+gpu.own_gemm_edge.s[m=100/4000,n=128/256,k=64]", 1e-11, "mn", 7e-6},
        {"gemm 3200 512 64", 3200 * 512 * 1e-5, "whole tiles", 1e-6},
        {"gemm 4000 128 64", 4000 * 128 * 1e-5 + 7, "cut ones", 1e-3},
        {"gemm 60000 128 64", 60000 * 128 * 1e-5 + 7, "in longer products as much longer", 1e-3}};

/* Tiles in double precision, one at a time, keep their places half as long. */
static void test_lifetimes(void)
{
	struct profile *p = synthetic_blocks();
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	is_real(answer(e, "lifetime: gemm nt d 2048 2048 256") /
	                answer(e, "lifetime: gemm d 2048 2048 256"),
	        0.5, 1e-9, "tiles one at a time keep their places half as long");
	executor_free(e);
	profile_free(p);
}

/* ---- 3xFP16: 10 us for a round of tiles, one on each of 100 multiprocessors, beside others 12 */

static double rounds(enum uplo part, int64_t m, int64_t n)
{
	return ceil((double)half_update_tiles(part, m, n) / 100);
}

static double rounds_of_stairs(int64_t m, int64_t n)
{
	const struct stairs stairs = {STAIRS_WIDTH, STAIRS_STEP};

	return ceil((double)half_stairs_tiles(stairs, m, n) / 100);
}

static struct profile *half_profile(void)
{
	struct profile *p = profile_new();
	char name[64];

	ADD(p, 0, {"gpu.launch.dependent", 0}, {"gpu.cublas.level2", 1e-6}, {"gpu.sm.count", 100});
	for (int way = 0; way < 4; way++)
		for (int64_t n = 1024; n <= 8192; n *= 2) {
			const bool whole = way & 1, shared = way & 2;
			snprintf(name, sizeof name, "gpu.half_%s%s.s[n=%d,k=64:256:2]",
			        whole ? "gemm" : "syrk", shared ? "_shared" : "", (int)n);
			add_written(p, name,
			        (10 + 2 * shared) * 1e-6 * rounds(whole ? WHOLE : LOWER, n, n), 0);
		}
	return p;
}

static void test_halves(void)
{
	const struct line lines[] = {{"half triangle 2048 2048 256", 10 * rounds(LOWER, 2048, 2048),
	                                     "a triangle that is measured"},
	        {"half triangle 2100 2100 256", 10 * rounds(LOWER, 2100, 2100),
	                "the next larger one, another round"},
	        {"half triangle 3600 2000 256", 10 * rounds(LOWER, 3600, 2000), "a trapezoid"},
	        {"half upper 2000 3600 256", 10 * rounds(UPPER, 2000, 3600), "an upper one"},
	        {"half 6000 700 256", 10 * rounds(WHOLE, 6000, 700), "a rectangle"},
	        {"beyond: half 6000 700 256", 0, "within the surfaces"},
	        {"half triangle 20000 20000 256", 10 * rounds(LOWER, 20000, 20000),
	                "one larger than measured"},
	        {"stairs 5000 2400 256", 10 * rounds_of_stairs(5000, 2400), "stairs"},
	        {"stairs 30000 15000 256", 10 * rounds_of_stairs(30000, 15000), "larger ones"},
	        {"beyond: half triangle 20000 20000 256", 1, "which is an extrapolation"},
	        {"half triangle shared 4096 4096 256", 12 * rounds(LOWER, 4096, 4096),
	                "beside other kernels by the surface of that"}};
	struct profile *p = half_profile();
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	ok(answer(e, "half triangle shared 2100 2100 256") < 12 * rounds(LOWER, 2100, 2100),
	        "between its rows not by rounds");
	is_real(answer(e, "half shared 32768 256 256"), answer(e, "half shared 32768 384 256"), 0.1,
	        "two tiles across take as long, however many columns the second one has");
	executor_free(e);
	PLAY(p, lines);
}

/* The tiles of every part, counted one by one. */
static void test_tiles(void)
{
	static const int64_t sizes[] = {1, 127, 128, 129, 191, 192, 193, 384, 385, 1000, 5299};
	bool good = true;

	for (size_t a = 0; a < ARRAY_LEN(sizes); a++)
		for (size_t b = 0; b <= a; b++) {
			const int64_t m = sizes[a], n = sizes[b];
			int64_t lower = 0, upper = 0, whole = 0;
			for (int64_t j = 0; j < n; j += HALF_TILE_COLUMNS)
				for (int64_t i = 0; i < m; i += HALF_TILE_ROWS)
					lower += min_int64(i + HALF_TILE_ROWS, m) - 1 >= j;
			for (int64_t j = 0; j < m; j += HALF_TILE_COLUMNS)
				for (int64_t i = 0; i < n; i += HALF_TILE_ROWS, whole++)
					upper += min_int64(j + HALF_TILE_COLUMNS, m) - 1 >= i;
			good = good && half_update_tiles(LOWER, m, n) == lower &&
			       half_update_tiles(UPPER, n, m) == upper &&
			       half_update_tiles(WHOLE, n, m) == whole;
		}
	ok(good, "tiles of triangles, trapezoids and rectangles");
}

/* The tiles of stairs with an element in them, and the elements, counted one by one. */
static bool stairs_right(struct stairs s, int64_t m, int64_t n)
{
	const int64_t down = (m + HALF_TILE_ROWS - 1) / HALF_TILE_ROWS;
	int64_t tiles = 0, elements = 0;

	for (int64_t first = 0; first < n; first += HALF_TILE_COLUMNS)
		for (int64_t tile = 0; tile < down; tile++) {
			const int64_t row = min_int64((tile + 1) * HALF_TILE_ROWS, m) - 1;
			bool any = false;
			for (int64_t j = first; j < min_int64(first + HALF_TILE_COLUMNS, n); j++)
				any = any || row >= j / s.width * s.step + j % s.width;
			tiles += any;
		}
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j / s.width * s.step + j % s.width; i < m; i++)
			elements++;
	return half_stairs_tiles(s, m, n) == tiles &&
	       stairs_elements(s, m, n) == (double)elements - (double)n / 2;
}

static void test_stairs(void)
{
	static const int64_t widths[] = {1, 40, 128, 192, 250, 700, 3000};
	bool good = true;

	for (size_t w = 0; w < ARRAY_LEN(widths); w++)
		for (int ranks = 1; ranks <= 8; ranks += ranks)
			for (int64_t m = 1; m < 3000; m += 271) {
				const struct stairs s = {widths[w], widths[w] * ranks};
				int64_t n = 0; /* all columns that begin above the last row */
				while (stairs_top(s, n) < m)
					n++;
				good = good && stairs_right(s, m, n) && stairs_right(s, m, n / 2);
			}
	ok(good, "tiles and elements of stairs");
	ok(half_stairs_tiles((struct stairs){1000, 1000}, 1000, 777) ==
	                half_update_tiles(LOWER, 1000, 777),
	        "one block is a trapezoid");
}

int main(void)
{
	PLAY(synthetic_blocks(), library_lines);
	PLAY(library_profile(), rounds_lines);
	PLAY(library_profile(), gemm_lines);
	PLAY(library_profile(), syrk_lines);
	PLAY(library_profile(), odd_lines);
	PLAY(library_profile(), turns_lines);
	PLAY(library_profile(), short_lines);
	PLAY(library_profile(), queue_lines);
	PLAY(library_profile(), few_columns_lines);
	PLAY(library_profile(), few_terms_lines);
	PLAY(library_profile(), squares_lines);
	PLAY(library_profile(), own_lines);
	test_lifetimes();
	test_halves();
	test_tiles();
	test_stairs();
	return finish();
}
