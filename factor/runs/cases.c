/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "../../lib/msg.h"
#include "../model/model_transfer.h"
#include "../model/plan_choice.h"
#include "../plan_default.h"
#include "whole.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rectangle of shapes: every m with every n, for one executor and precision. Lists end with 0. */
struct grid {
	const char *executor;
	enum precision precision;
	int64_t m[10], n[4];
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

/* Shapes whose phases are timed one by one: small, middle and large, single precision. */
static bool has_phases(const struct grid *grid, int64_t m, int64_t n)
{
	return grid->precision == SINGLE && n == 48 && (m == 750 || m == 6000 || m == 48000);
}

struct list {
	struct panel_case *cases;
	size_t count;
};

static void list_add(struct list *list, struct panel_case row)
{
	list->cases = xrealloc(list->cases, (list->count + 1) * sizeof *list->cases);
	list->cases[list->count++] = row;
}

static void add_shape(struct list *list, const struct grid *grid, int64_t m, int64_t n)
{
	bool cuda = strcmp(grid->executor, "cuda") == 0;
	struct panel_case row = {.operation = "panel_getrf",
	        .executor = grid->executor,
	        .precision = grid->precision,
	        .m = m,
	        .n = n,
	        .phases = has_phases(grid, m, n)};

	for (const char *const *v = cuda ? cuda_variants : host_variants; *v; v++) {
		row.variant = *v;
		list_add(list, row);
	}
	if (cuda) {
		row.operation = "ger";
		row.variant = "cublas";
		row.phases = false;
		list_add(list, row);
	}
}

size_t cases_holdout(const char *executor, bool quick, struct panel_case **cases)
{
	const struct grid *grids = quick ? few : full;
	size_t count = quick ? ARRAY_LEN(few) : ARRAY_LEN(full);
	struct list list = {0};

	for (size_t g = 0; g < count; g++) {
		if (strcmp(grids[g].executor, executor) != 0)
			continue;
		for (const int64_t *n = grids[g].n; *n; n++)
			for (const int64_t *m = grids[g].m; *m; m++)
				add_shape(&list, &grids[g], *m, *n);
	}
	*cases = list.cases;
	return list.count;
}

/* ---- the documented sizes ---- */

static const int64_t panel_rows[] = {1024, 4096, 16384, 65536}, panel_columns[] = {32, 64};
static const char *const operations[] = {"getrf", "geqrf", "potrf"};

/* What LAWN 202 measures by itself, at its sizes and at this day's. */
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

enum {
	SMALLEST = 256,
	LARGEST = 32768,
	ON_HOST = 8192,
	SPLIT_ROWS = 2048,
	SPLIT_COLUMNS = 512,
	FROM_HOST_SMALLEST = 2048 /* where the way there and back is worth looking at */
};

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
	/* columns that Gram-Schmidt has before it */
	static const int64_t remaining[] = {
	        6144, 4096, 3072, 2048, 1536, 1024, 768, 512, 384, 256, 192, 128, 96, 64, 32, 16};
	static const int64_t errors[] = {256, 1024, 4096, 8192}; /* the last one LAWN 202's */
	struct shapes s = {0};

	for (size_t c = 0; c < ARRAY_LEN(panel_columns); c++)
		for (size_t r = 0; r < ARRAY_LEN(panel_rows); r++)
			shapes_add(&s, "panel_getrf", SINGLE, panel_rows[r], panel_columns[c]);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		shapes_add(&s, parts[i].operation, SINGLE, parts[i].m, parts[i].n);
	add_products(&s);
	for (int64_t n = SMALLEST; n <= LARGEST; n *= 2)
		for (size_t p = 0; p < ARRAY_LEN(both); p++)
			for (size_t o = 0; o < ARRAY_LEN(operations); o++)
				shapes_add(&s, operations[o], both[p], n, n);
	add_others(&s);
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		shapes_add(&s, "lawn_errors", SINGLE, errors[i], errors[i]);
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

/* Rows of the columns of each of QR's panels; of Cholesky's, the squares on the diagonal, the rows
 * are the columns. */
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

/* ---- plans ---- */

static struct result row_of(const struct bench_shape *shape, const char *executor, enum math math,
        const struct plan *plan)
{
	struct whole whole = {.uplo = LOWER};
	struct result row = {.precision = shape->precision,
	        .math = math,
	        .m = shape->m,
	        .n = shape->n,
	        .nb = plan->widths[0],
	        .residual = NAN,
	        .orthogonality = NAN};

	snprintf(row.operation, sizeof row.operation, "%s", shape->operation);
	snprintf(row.variant, sizeof row.variant, "%s", plan->hybrid ? "hybrid" : "gpu");
	snprintf(row.executor, sizeof row.executor, "%s", executor);
	results_options(row.options, executor, NULL, 2);
	operation_find(results_factorization(shape->operation), &whole.operation);
	if (whole.operation == POTRF)
		results_option_add(row.options, "uplo", "l");
	whole_plan_text(&whole, plan, row.plan);
	return row;
}

/* Blocks of Cholesky go with a panel on the device as whole panels, with one on the host by
 * inverses. */
static struct result uniform(const struct bench_shape *shape, const char *executor, bool hybrid,
        enum math math, int64_t nb)
{
	bool cholesky = strcmp(results_factorization(shape->operation), "potrf") == 0;
	int64_t leaf = cholesky ? 128 : 64;
	const struct plan plan = {.hybrid = hybrid,
	        .panel = "persistent",
	        .widths = &nb,
	        .count = 1,
	        .leaf = leaf < nb ? leaf : nb,
	        .inverse = cholesky && hybrid ? 128 : 0,
	        .lookahead = 1};

	return row_of(shape, executor, math, &plan);
}

struct result cases_panel(const struct bench_shape *shape, bool hybrid)
{
	return uniform(shape, "cuda", hybrid, MATH_FP32, shape->n);
}

bool cases_travels(const struct bench_shape *shape)
{
	return shape->m == shape->n && shape->n >= FROM_HOST_SMALLEST;
}

struct result cases_from_host(const struct profile *profile, const struct result *resident)
{
	struct result row = *resident;
	const bool triangle = profile && strcmp(row.operation, "potrf") == 0;
	const int64_t piece = triangle ? model_triangle_width(profile, row.n, row.precision) : 0;
	char columns[24];

	results_option_add(row.options, "from", "host");
	snprintf(columns, sizeof columns, "%" PRId64, piece);
	if (piece)
		results_option_add(row.options, "piece", columns);
	return row;
}

bool cases_split(const struct bench_shape *shape)
{
	return shape->precision == SINGLE && shape->m >= SPLIT_ROWS && shape->n >= SPLIT_COLUMNS;
}

bool cases_priced(const struct profile *profile, enum math math)
{
	static const char *const name[MATHS] = {
	        [MATH_3XTF32] = "gpu.gemm.tf32", [MATH_3XFP16] = "gpu.half_gemm.s"};
	double low, high;

	return !name[math] || profile_range(profile, name[math], "n", &low, &high);
}

/* Of very many blocks none is the best, nor of fewer than 4; and the host's panels are not as wide
 * as the device's, where blocks of 32 took 1.3 to 1.9 times as long as the best (n = 1000, 3000).
 */
static bool worth_trying(int64_t columns, bool hybrid, int64_t width)
{
	const int64_t most = hybrid ? 400 : 96;
	const int64_t narrowest = hybrid ? 32 : 64, widest = hybrid ? 256 : 1024;

	return columns <= most * width && width >= narrowest && width <= widest &&
	       (width <= 128 || 4 * width <= columns);
}

size_t cases_plans(const struct bench_shape *shape, const char *executor, enum math math,
        struct result *row, size_t most)
{
	static const int64_t widths[] = {32, 64, 128, 256, 512, 1024};
	int64_t k = shape->m < shape->n ? shape->m : shape->n;
	size_t count = 0;

	if (strcmp(executor, "cuda") != 0) {
		row[0] = uniform(shape, executor, true, math, k < 128 ? k : 128);
		return 1;
	}
	for (int hybrid = 0; hybrid < (math == MATH_FP32 ? 2 : 1); hybrid++)
		for (size_t w = 0; w < ARRAY_LEN(widths) && count < most; w++)
			if (worth_trying(k, hybrid, widths[w]))
				row[count++] = uniform(shape, executor, hybrid, math, widths[w]);
	return count;
}

static struct plan_choice *choice_of(
        const struct profile *profile, const struct bench_shape *shape, bool hybrid, enum math math)
{
	struct plan_choice *choice = xmalloc(sizeof *choice);
	struct plan_fixed fixed = plan_free;
	const struct factor_question asked = {.operation = shape->operation,
	        .m = shape->m,
	        .n = shape->n,
	        .precision = shape->precision,
	        .uplo = LOWER,
	        .math = math};

	fixed.hybrid = hybrid;
	if (plan_choose(profile, &asked, &fixed, choice))
		return choice;
	free(choice);
	return NULL;
}

bool cases_chosen(const struct profile *profile, const struct bench_shape *shape, bool hybrid,
        enum math math, struct result *row)
{
	struct plan_choice *choice = choice_of(profile, shape, hybrid, math);

	if (!choice)
		return false;
	*row = row_of(shape, "cuda", math, &choice->plan);
	if (choice->plan.count > 1 && !strstr(row->plan, "widths="))
		row->nb = choice->uniform;
	results_option_add(row->options, "plan", "chosen");
	free(choice);
	return true;
}

struct result cases_default(struct executor *e, const struct bench_shape *shape)
{
	enum operation operation = GETRF;
	struct default_plan plan;

	operation_find(shape->operation, &operation);
	plan_default(e, operation, shape->m, shape->n, shape->precision, false, &plan);
	struct result row = row_of(shape, "cuda", MATH_FP32, &plan.plan);
	results_option_add(row.options, "plan", "default");
	return row;
}

int64_t cases_single_width(const struct profile *profile, const struct result *chosen)
{
	const struct bench_shape shape = {
	        chosen->operation, chosen->precision, chosen->m, chosen->n};
	struct plan_choice *choice =
	        choice_of(profile, &shape, strcmp(chosen->variant, "hybrid") == 0, chosen->math);
	int64_t width = choice ? choice->uniform : 0;

	free(choice);
	return width;
}
