/* SPDX-License-Identifier: MIT */
/* Costs of updates by 3xFP16: their tiles counted one by one, and whole rounds of them. */
#include "tests/tap.h"

#include "factor/model/cost/cost_blocks.h"
#include "factor/kernels/gemm/half_update.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

static const double us = 1e-6;

enum { MULTIPROCESSORS = 100 };

/* ---- tiles ---- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Whether the tile has an element of that part. */
static bool has_some(enum uplo part, int64_t m, int64_t n, int64_t i, int64_t j)
{
	const int64_t last_i = least(i + HALF_TILE_ROWS, m) - 1,
	              last_j = least(j + HALF_TILE_COLUMNS, n) - 1;

	return part == WHOLE || (part == LOWER ? last_i >= j : last_j >= i);
}

static int64_t counted(enum uplo part, int64_t m, int64_t n)
{
	int64_t tiles = 0;

	for (int64_t j = 0; j < n; j += HALF_TILE_COLUMNS)
		for (int64_t i = 0; i < m; i += HALF_TILE_ROWS)
			tiles += has_some(part, m, n, i, j);
	return tiles;
}

static void test_tiles(void)
{
	static const int64_t sizes[] = {
	        1, 127, 128, 129, 191, 192, 193, 384, 385, 1000, 2336, 5299};
	bool good = true;

	for (size_t a = 0; a < ARRAY_LEN(sizes); a++)
		for (size_t b = 0; b <= a; b++) {
			const int64_t more = sizes[a], less = sizes[b];
			good = good &&
			       half_update_tiles(LOWER, more, less) == counted(LOWER, more, less) &&
			       half_update_tiles(UPPER, less, more) == counted(UPPER, less, more) &&
			       half_update_tiles(WHOLE, less, more) == counted(WHOLE, less, more);
		}
	ok(good, "tiles of triangles, trapezoids and rectangles");
}

/* ---- costs ---- */

static void add(struct profile *p, const char *name, const struct arg *at, size_t count, double v)
{
	const struct parameter_spec spec = {name, "s", "synthetic", "surface", 0, 0};

	profile_add(p, &spec, at, count, (struct estimate){v, 0.9 * v, 1.1 * v, 30}, false);
}

static double rounds(enum uplo part, int64_t m, int64_t n)
{
	return ceil((double)half_update_tiles(part, m, n) / MULTIPROCESSORS);
}

/* A round takes 10 us, beside other kernels 12; a launch nothing. */
static struct profile *new_profile(void)
{
	static const char *const names[2][2] = {{"gpu.half_syrk.s", "gpu.half_gemm.s"},
	        {"gpu.half_syrk_shared.s", "gpu.half_gemm_shared.s"}};
	struct profile *p = profile_new();

	for (int shared = 0; shared < 2; shared++)
		for (int whole = 0; whole < 2; whole++)
			for (int64_t n = 1024; n <= 8192; n *= 2)
				for (int64_t k = 64; k <= 256; k *= 2) {
					const struct arg at[] = {
					        {"n", (double)n}, {"k", (double)k}};
					add(p, names[shared][whole], at, 2,
					        (10 + 2 * shared) * us *
					                rounds(whole ? WHOLE : LOWER, n, n));
				}
	add(p, "gpu.sm.count", NULL, 0, MULTIPROCESSORS);
	add(p, "gpu.launch.dependent", NULL, 0, 0);
	add(p, "gpu.cublas.level2", NULL, 0, us);
	add(p, "gpu.half_gemm.s.peak", NULL, 0, 1e14);
	return p;
}

static double update(struct cost_reader *r, enum uplo part, int64_t m, int64_t n)
{
	const struct matrix c = {NULL, 0, m, n, m, SINGLE};
	const struct cost cost = cost_half_update(r, part, c, 256);

	return cost.term[TERM_LAUNCH] + cost.term[TERM_ARITHMETIC];
}

static void test_rounds(struct cost_reader *r)
{
	is_real(update(r, LOWER, 2048, 2048), 10 * us * rounds(LOWER, 2048, 2048), 1e-9,
	        "a triangle that is measured");
	is_real(update(r, LOWER, 2100, 2100), 10 * us * rounds(LOWER, 2100, 2100), 1e-9,
	        "the next larger one, another round");
	is_real(update(r, LOWER, 3600, 2000), 10 * us * rounds(LOWER, 3600, 2000), 1e-9,
	        "a trapezoid");
	is_real(update(r, UPPER, 2000, 3600), 10 * us * rounds(UPPER, 2000, 3600), 1e-9,
	        "an upper one");
	is_real(update(r, WHOLE, 6000, 700), 10 * us * rounds(WHOLE, 6000, 700), 1e-9,
	        "a rectangle");
	ok(!r->model.extrapolated, "all of them within the surfaces");
	is_real(update(r, LOWER, 20000, 20000), 10 * us * rounds(LOWER, 20000, 20000), 1e-9,
	        "one larger than measured");
	ok(r->model.extrapolated, "which is an extrapolation");
}

/* What others leave is no whole round. */
static void test_beside(struct cost_reader *r)
{
	r->shares = true;
	is_real(update(r, LOWER, 4096, 4096), 12 * us * rounds(LOWER, 4096, 4096), 1e-9,
	        "beside other kernels by the surface of that");
	ok(update(r, LOWER, 2100, 2100) < 12 * us * rounds(LOWER, 2100, 2100),
	        "between its rows not by rounds");
	is_real(update(r, WHOLE, 32768, HALF_TILE_COLUMNS + 64),
	        update(r, WHOLE, 32768, 2 * HALF_TILE_COLUMNS), 0.1,
	        "two tiles across take as long, however many of the second one's columns there "
	        "are");
	r->shares = false;
}

int main(void)
{
	struct profile *p = new_profile();
	struct cost_reader *r = xmalloc(sizeof *r);

	cost_reader_start(r, p);
	test_tiles();
	test_rounds(r);
	test_beside(r);
	free(r);
	profile_free(p);
	return finish();
}
