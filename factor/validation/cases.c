/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "lib/base/msg.h"

#include <string.h>

/* Every m with every n, for one executor and precision. Lists end with 0. */
enum { MOST_M = 10, MOST_N = 4 };
struct grid {
	const char *executor;
	enum precision precision;
	int64_t m[MOST_M], n[MOST_N];
};

static const struct grid full[] = {
        {"cuda", SINGLE, {300, 750, 1500, 3000, 6000, 12000, 24000, 48000, 90000}, {24, 48, 96}},
        {"cuda", DOUBLE, {750, 3000, 12000, 48000}, {24, 48, 96}},
        {"host", SINGLE, {300, 750, 1500, 3000, 6000, 12000}, {24, 48, 96}},
        {"host", DOUBLE, {750, 3000, 12000}, {24, 48, 96}}};

static const struct grid few[] = {{"cuda", SINGLE, {750, 6000, 48000}, {48}},
        {"cuda", DOUBLE, {6000}, {48}}, {"host", SINGLE, {750, 6000}, {48}},
        {"host", DOUBLE, {3000}, {48}}};

static const char *const cuda_variants[] = {
        "blas", "optimized", "fused", "persistent", "host", NULL};
static const char *const host_variants[] = {"blas", "host", NULL};

enum { MOST_CASES = ARRAY_LEN(full) * MOST_M * MOST_N * ARRAY_LEN(cuda_variants) };

/* Shapes whose phases are timed separately. */
static bool has_phases(const struct grid *grid, int64_t m, int64_t n)
{
	return grid->precision == SINGLE && n == 48 && (m == 750 || m == 6000 || m == 48000);
}

/* The variants of a shape; on the GPU the rank-1 update, too. Returns the new count. */
static size_t add_shape(
        struct panel_case *cases, size_t count, const struct grid *grid, int64_t m, int64_t n)
{
	bool cuda = strcmp(grid->executor, "cuda") == 0;

	for (const char *const *v = cuda ? cuda_variants : host_variants; *v; v++)
		cases[count++] = (struct panel_case){"panel_getrf", *v, grid->executor,
		        grid->precision, m, n, has_phases(grid, m, n)};
	if (cuda)
		cases[count++] = (struct panel_case){
		        "ger", "cublas", grid->executor, grid->precision, m, n, false};
	return count;
}

size_t cases_holdout(const char *executor, bool quick, struct panel_case **cases)
{
	const struct grid *grids = quick ? few : full;
	size_t count = 0;

	*cases = xmalloc(MOST_CASES * sizeof **cases);
	for (size_t g = 0; g < (quick ? ARRAY_LEN(few) : ARRAY_LEN(full)); g++) {
		if (strcmp(grids[g].executor, executor) != 0)
			continue;
		for (const int64_t *n = grids[g].n; *n; n++)
			for (const int64_t *m = grids[g].m; *m; m++)
				count = add_shape(*cases, count, &grids[g], *m, *n);
	}
	return count;
}

/* ---- the documented sizes ---- */

static const int64_t panel_rows[] = {1024, 4096, 16384, 65536}, panel_columns[] = {32, 64};
static const char *const operations[] = {"getrf", "geqrf", "potrf"};

/* The single operations of LAWN 202, at its sizes and larger. */
static const struct bench_shape parts[] = {{"gemm", SINGLE, 1024, 1024},
        {"gemm", SINGLE, 4096, 4096}, {"gemm", SINGLE, 8192, 8192}, {"transpose", SINGLE, 1024, 64},
        {"transpose", SINGLE, 1024, 1024}, {"transpose", SINGLE, 4096, 4096},
        {"transpose", SINGLE, 16384, 64}, {"transpose", SINGLE, 16384, 16384},
        {"laswp", SINGLE, 1024, 1024}, {"laswp", SINGLE, 4096, 4096}, {"laswp", SINGLE, 8192, 8192},
        {"laswp", SINGLE, 16384, 16384}, {"trsm", SINGLE, 64, 1024}, {"trsm", SINGLE, 64, 4096},
        {"trsm", SINGLE, 64, 16384}, {"trsm", SINGLE, 128, 4096}, {"syrk", SINGLE, 1024, 64},
        {"syrk", SINGLE, 1024, 1024}, {"syrk", SINGLE, 2048, 64}, {"syrk", SINGLE, 2048, 2048},
        {"syrk", SINGLE, 4096, 64}, {"syrk", SINGLE, 4096, 4096}, {"syrk", SINGLE, 8192, 64},
        {"syrk", SINGLE, 8192, 8192}, {"trmm", SINGLE, 1024, 1024}, {"trmm", SINGLE, 2048, 2048},
        {"trmm", SINGLE, 4096, 4096}};

/* Figure 5 of LAWN 202: orders of C in products with k = 1024. */
static const int64_t small_orders[] = {
        64, 128, 192, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048};

/* Figure 6: square products up to the first, thin ones, with k = 64, up to the second. */
enum { THIN_SMALLEST = 256, SQUARE_LARGEST = 8192, THIN_LARGEST = 16384, THIN_K = 64 };

enum { SMALLEST = 256, LARGEST = 32768, ON_HOST = 8192, KIND_SIZE = 2048 };

struct shapes {
	struct bench_shape *shape;
	size_t count;
};

static void shapes_add(
        struct shapes *s, const char *operation, enum precision precision, int64_t m, int64_t n)
{
	s->shape = xrealloc(s->shape, (s->count + 1) * sizeof *s->shape);
	s->shape[s->count++] = (struct bench_shape){operation, precision, m, n};
}

static const enum precision both[] = {SINGLE, DOUBLE};

static void add_squares(struct shapes *s, const int64_t *n, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t p = 0; p < ARRAY_LEN(both); p++)
			for (size_t o = 0; o < ARRAY_LEN(operations); o++)
				shapes_add(s, operations[o], both[p], n[i], n[i]);
}

/* Squares that are no powers of two, tall and skinny matrices. */
static void add_others(struct shapes *s)
{
	static const int64_t odd[] = {1000, 3000, 5555},
	                     more[] = {300, 700, 1500, 6500, 10007, 20000};
	static const int64_t tall[][2] = {{16384, 256}, {65536, 256}, {65536, 1024}};
	static const int64_t tall_qr[][2] = {
	        {16384, 64}, {16384, 128}, {65536, 64}, {65536, 128}, {131072, 512}, {1000000, 64}};

	add_squares(s, odd, ARRAY_LEN(odd));
	for (size_t t = 0; t < ARRAY_LEN(tall); t++)
		for (size_t p = 0; p < ARRAY_LEN(both); p++)
			for (size_t o = 0; o < 2; o++)
				shapes_add(s, operations[o], both[p], tall[t][0], tall[t][1]);
	for (size_t t = 0; t < ARRAY_LEN(tall_qr); t++)
		shapes_add(s, "geqrf", SINGLE, tall_qr[t][0], tall_qr[t][1]);
	add_squares(s, more, ARRAY_LEN(more));
}

static void add_products(struct shapes *s)
{
	for (size_t i = 0; i < ARRAY_LEN(small_orders); i++)
		shapes_add(s, "small_gemm", SINGLE, small_orders[i], small_orders[i]);
	for (int64_t n = THIN_SMALLEST; n <= SQUARE_LARGEST; n *= 2)
		shapes_add(s, "thin_gemm", SINGLE, n, n);
	for (int64_t n = THIN_SMALLEST; n <= THIN_LARGEST; n *= 2)
		shapes_add(s, "thin_gemm", SINGLE, n, THIN_K);
}

size_t cases_bench(struct bench_shape **shapes)
{
	/* columns that are left in Gram-Schmidt */
	static const int64_t remaining[] = {
	        6144, 4096, 3072, 2048, 1536, 1024, 768, 512, 384, 256, 192, 128, 96, 64, 32, 16};
	static const int64_t errors[] = {256, 1024, 4096, 8192}; /* LAWN 202: 8192 */
	struct shapes s = {0};

	for (size_t c = 0; c < ARRAY_LEN(panel_columns); c++)
		for (size_t r = 0; r < ARRAY_LEN(panel_rows); r++)
			shapes_add(&s, "panel_getrf", SINGLE, panel_rows[r], panel_columns[c]);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		shapes_add(&s, parts[i].operation, SINGLE, parts[i].m, parts[i].n);
	add_products(&s);
	for (int64_t n = SMALLEST; n <= LARGEST; n *= 2)
		add_squares(&s, &n, 1);
	add_others(&s);
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		shapes_add(&s, "lawn_errors", SINGLE, errors[i], errors[i]);
	shapes_add(&s, "kind_errors", SINGLE, KIND_SIZE, KIND_SIZE);
	for (size_t p = 0; p < ARRAY_LEN(both); p++)
		for (int64_t n = 1024; n <= (both[p] == SINGLE ? 16384 : 8192); n *= 2)
			shapes_add(&s, "gramschmidt", both[p], n, n);
	shapes_add(&s, "gramschmidt", SINGLE, 8192, 512); /* of conditions */
	shapes_add(&s, "gram_kernels", SINGLE, 8192, 8192);
	for (size_t i = 0; i < ARRAY_LEN(remaining); i++)
		shapes_add(&s, "gram_kernels", SINGLE, 8192, remaining[i]);
	*shapes = s.shape;
	return s.count;
}

size_t cases_largest_first(struct bench_shape **shapes)
{
	struct shapes s = {0};

	for (size_t p = 0; p < ARRAY_LEN(both); p++)
		for (int64_t n = LARGEST; n >= SMALLEST; n /= 2)
			for (size_t o = 0; o < ARRAY_LEN(operations); o++)
				shapes_add(&s, operations[o], both[p], n, n);
	add_others(&s);
	*shapes = s.shape;
	return s.count;
}

bool cases_on_host(const struct bench_shape *shape)
{
	return shape->m <= ON_HOST;
}

/* ---- hold-out of whole factorizations ---- */

struct square {
	enum precision precision;
	int64_t n;
};

size_t cases_whole(bool quick, struct bench_shape **shapes)
{
	static const struct square all[] = {{SINGLE, 1000}, {SINGLE, 3000}, {SINGLE, 5555},
	        {SINGLE, 10007}, {SINGLE, 20000}, {DOUBLE, 1000}, {DOUBLE, 3000}, {DOUBLE, 5555},
	        {DOUBLE, 10007}};
	static const struct square some[] = {{SINGLE, 3000}};
	static const int64_t tall[][2] = {{30000, 500}, {100000, 200}};
	const struct square *squares = quick ? some : all;
	struct shapes s = {0};

	for (size_t i = 0; i < (quick ? ARRAY_LEN(some) : ARRAY_LEN(all)); i++)
		for (size_t o = 0; o < ARRAY_LEN(operations); o++)
			shapes_add(&s, operations[o], squares[i].precision, squares[i].n,
			        squares[i].n);
	for (size_t t = 0; t < ARRAY_LEN(tall) && !quick; t++)
		shapes_add(&s, "geqrf", SINGLE, tall[t][0], tall[t][1]);
	*shapes = s.shape;
	return s.count;
}

size_t cases_panels(bool quick, struct bench_shape **shapes)
{
	enum { USUAL = 48, MIDDLE = 3000 };
	static const int64_t rows[] = {300, 750, MIDDLE, 12000, 48000, 90000},
	                     columns[] = {24, USUAL, 96}, squares[] = {24, 48, 96, 200, 350};
	struct shapes s = {0};

	for (size_t p = 0; p < ARRAY_LEN(both); p++) {
		for (size_t c = 0; c < ARRAY_LEN(columns); c++)
			for (size_t r = 0; r < ARRAY_LEN(rows); r++)
				if ((columns[c] == USUAL || (both[p] == SINGLE && !quick)) &&
				        (rows[r] == MIDDLE || !quick))
					shapes_add(&s, "panel_geqrf", both[p], rows[r], columns[c]);
		for (size_t i = 0; i < ARRAY_LEN(squares); i++)
			if (!quick || squares[i] == 96)
				shapes_add(&s, "panel_potrf", both[p], squares[i], squares[i]);
	}
	*shapes = s.shape;
	return s.count;
}
