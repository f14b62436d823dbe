/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "lib/base/msg.h"
#include "factor/algorithms/plan_default.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/model/predictions/model_transfer.h"
#include "whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every m with every n, for one executor and precision. Lists end with 0. */
enum { MOST_M = 10, MOST_N = 4 };
static const struct grid {
	bool quick;
	const char *executor;
	enum precision precision;
	int64_t m[MOST_M], n[MOST_N];
} grids[] = {{false, "cuda", SINGLE, {300, 750, 1500, 3000, 6000, 12000, 24000, 48000, 90000},
                     {24, 48, 96}},
        {false, "cuda", DOUBLE, {750, 3000, 12000, 48000}, {24, 48, 96}},
        {false, "host", SINGLE, {300, 750, 1500, 3000, 6000, 12000}, {24, 48, 96}},
        {false, "host", DOUBLE, {750, 3000, 12000}, {24, 48, 96}},
        {true, "cuda", SINGLE, {750, 6000, 48000}, {48}}, {true, "cuda", DOUBLE, {6000}, {48}},
        {true, "host", SINGLE, {750, 6000}, {48}}, {true, "host", DOUBLE, {3000}, {48}}};

/* On the GPU the last one is the rank-1 update. */
static const char *const cuda_variants[] = {
        "blas", "optimized", "fused", "persistent", "host", "cublas", NULL};
static const char *const host_variants[] = {"blas", "host", NULL};

enum { MOST_CASES = ARRAY_LEN(grids) * MOST_M * MOST_N * ARRAY_LEN(cuda_variants) };

static const enum precision precisions[] = {SINGLE, DOUBLE};

/* Some shapes' phases are timed separately. */
static size_t add_shape(
        struct panel_case *cases, size_t count, const struct grid *grid, int64_t m, int64_t n)
{
	const bool cuda = strcmp(grid->executor, "cuda") == 0;
	const bool phases =
	        grid->precision == SINGLE && n == 48 && (m == 750 || m == 6000 || m == 48000);

	for (const char *const *v = cuda ? cuda_variants : host_variants; *v; v++) {
		const bool ger = strcmp(*v, "cublas") == 0;
		cases[count++] = (struct panel_case){ger ? "ger" : "panel_getrf", *v,
		        grid->executor, grid->precision, m, n, phases && !ger};
	}
	return count;
}

static size_t drawn_panels(const struct draw *draw, const char *executor, struct panel_case *cases)
{
	struct drawn_shape shape[DRAW_SHAPES];
	size_t count = 0;

	for (size_t p = 0; p < ARRAY_LEN(precisions); p++) {
		const struct grid grid = {.executor = executor, .precision = precisions[p]};
		const size_t shapes =
		        draw_shapes(draw, "panel_getrf", executor, precisions[p], shape);
		for (size_t i = 0; i < shapes; i++)
			count = add_shape(cases, count, &grid, shape[i].m, shape[i].n);
	}
	return count;
}

size_t cases_holdout(
        const char *executor, bool quick, const struct draw *draw, struct panel_case **cases)
{
	size_t count = 0;

	*cases = xmalloc(MOST_CASES * sizeof **cases);
	if (draw)
		return drawn_panels(draw, executor, *cases);
	for (const struct grid *g = grids; g < grids + ARRAY_LEN(grids); g++)
		if (g->quick == quick && strcmp(g->executor, executor) == 0)
			for (const int64_t *n = g->n; *n; n++)
				for (const int64_t *m = g->m; *m; m++)
					count = add_shape(*cases, count, g, *m, *n);
	return count;
}

/* ---- lists of shapes ---- */

/* Every size, in every precision ("sd"), with every operation. Lists end with 0; a size without n
 * is square. */
enum { MOST_SIZES = 18 };
struct family {
	const char *operations[3], *precisions;
	int64_t size[MOST_SIZES][2];
};

static size_t add_size(
        struct bench_shape **shapes, size_t count, const struct family *f, const int64_t size[2])
{
	for (const char *p = f->precisions; *p; p++)
		for (size_t o = 0; o < ARRAY_LEN(f->operations) && f->operations[o]; o++) {
			*shapes = xrealloc(*shapes, (count + 1) * sizeof **shapes);
			(*shapes)[count++] =
			        (struct bench_shape){f->operations[o], *p == 's' ? SINGLE : DOUBLE,
			                size[0], size[1] ? size[1] : size[0], 0};
		}
	return count;
}

/* Adds to `count` shapes. */
static size_t list(
        struct bench_shape **shapes, size_t count, const struct family *family, size_t families)
{
	if (count == 0)
		*shapes = NULL;
	for (const struct family *f = family; f < family + families; f++)
		for (size_t i = 0; i < MOST_SIZES && f->size[i][0]; i++)
			count = add_size(shapes, count, f, f->size[i]);
	return count;
}

#define WHOLE_MATRICES                                                                             \
	{                                                                                          \
		"getrf", "geqrf", "potrf"                                                          \
	}

/* ---- the documented sizes ---- */

enum { ON_HOST = 8192 };

/* Panels; the single operations of LAWN 202 at its sizes and larger (small_gemm: its Figure 5,
 * orders of C in products with k = 1024; thin_gemm: its Figure 6, square products and thin ones;
 * scopy: words and stride); whole factorizations. */
static const struct family documented[] = {
        {{"panel_getrf"}, "s",
                {{1024, 32}, {4096, 32}, {16384, 32}, {65536, 32}, {1024, 64}, {4096, 64},
                        {16384, 64}, {65536, 64}}},
        {{"gemm"}, "s", {{1024}, {4096}, {8192}}},
        {{"transpose"}, "s", {{1024, 64}, {1024}, {4096}, {16384, 64}, {16384}}},
        {{"scopy"}, "s", {{1 << 18, 1}, {1 << 18, 8}, {1 << 18, 512}}},
        {{"laswp"}, "s", {{1024}, {4096}, {8192}, {16384}}},
        {{"trsm"}, "s", {{64, 1024}, {64, 4096}, {64, 16384}, {128, 4096}}},
        {{"syrk"}, "s",
                {{1024, 64}, {1024}, {2048, 64}, {2048}, {4096, 64}, {4096}, {8192, 64}, {8192}}},
        {{"trmm"}, "s", {{1024}, {2048}, {4096}}},
        {{"small_gemm"}, "s",
                {{64}, {128}, {192}, {256}, {384}, {512}, {640}, {768}, {1024}, {1280}, {1536},
                        {2048}}},
        {{"thin_gemm"}, "s", {{256}, {512}, {1024}, {2048}, {4096}, {8192}}},
        {{"thin_gemm"}, "s",
                {{256, 64}, {512, 64}, {1024, 64}, {2048, 64}, {4096, 64}, {8192, 64},
                        {16384, 64}}},
        {WHOLE_MATRICES, "sd",
                {{32}, {64}, {128}, {256}, {512}, {1024}, {2048}, {4096}, {8192}, {16384},
                        {32768}}}};

/* Squares that are no powers of two, tall and skinny matrices. */
static const struct family others[] = {{WHOLE_MATRICES, "sd", {{1000}, {3000}, {5555}}},
        {{"getrf", "geqrf"}, "sd",
                {{16384, 256}, {65536, 256}, {65536, 1024}, {40009, 96}, {50021, 77},
                        {200003, 130}}},
        {{"geqrf"}, "sd",
                {{8192, 32}, {11111, 72}, {16384, 64}, {16384, 128}, {65536, 64}, {65536, 128},
                        {131072, 512}, {1000000, 64}}},
        {WHOLE_MATRICES, "sd", {{300}, {700}, {1500}, {6500}, {10007}, {20000}}}};

/* LAWN 202's errors are of 8192. gramschmidt: 8192 x 512 is of conditions. gram_kernels: n columns
 * are left; few rows are of the blocked update. widths: the host has the first two. */
static const struct family errors_and_gram[] = {
        {{"lawn_errors"}, "s", {{256}, {1024}, {4096}, {8192}}}, {{"kind_errors"}, "s", {{2048}}},
        {{"gramschmidt"}, "s", {{1024}, {2048}, {4096}, {8192}, {16384}}},
        {{"gramschmidt"}, "d", {{1024}, {2048}, {4096}, {8192}}},
        {{"gramschmidt"}, "s", {{8192, 512}}},
        {{"gram_kernels"}, "s",
                {{8192}, {8192, 6144}, {8192, 4096}, {8192, 3072}, {8192, 2048}, {8192, 1536},
                        {8192, 1024}, {8192, 768}, {8192, 512}, {8192, 384}, {8192, 256},
                        {8192, 192}, {8192, 128}, {8192, 96}, {8192, 64}, {8192, 32}, {8192, 16}}},
        {{"gram_kernels"}, "s",
                {{256, 8192}, {512, 8192}, {1024, 8192}, {2048, 8192}, {4096, 8192}}},
        {{"widths"}, "s", {{256}, {512}, {1024}, {2048}, {4096}, {8192}}}};

static const struct family largest_first[] = {
        {WHOLE_MATRICES, "s",
                {{32768}, {16384}, {8192}, {4096}, {2048}, {1024}, {512}, {256}, {128}, {64},
                        {32}}},
        {WHOLE_MATRICES, "d",
                {{32768}, {16384}, {8192}, {4096}, {2048}, {1024}, {512}, {256}, {128}, {64},
                        {32}}}};

size_t cases_bench(struct bench_shape **shapes)
{
	size_t count = list(shapes, 0, documented, ARRAY_LEN(documented));

	count = list(shapes, count, others, ARRAY_LEN(others));
	return list(shapes, count, errors_and_gram, ARRAY_LEN(errors_and_gram));
}

size_t cases_largest_first(struct bench_shape **shapes)
{
	size_t count = list(shapes, 0, largest_first, ARRAY_LEN(largest_first));

	return list(shapes, count, others, ARRAY_LEN(others));
}

bool cases_on_host(const struct bench_shape *shape)
{
	return shape->m <= ON_HOST;
}

/* ---- hold-out of whole factorizations and of panels ---- */

static size_t drawn(const struct draw *draw, const char *const *operations, size_t count,
        struct bench_shape **shapes)
{
	struct drawn_shape shape[DRAW_SHAPES];
	size_t all = 0;

	*shapes = xcalloc(count * ARRAY_LEN(precisions) * DRAW_SHAPES, sizeof **shapes);
	for (size_t o = 0; o < count; o++)
		for (size_t p = 0; p < ARRAY_LEN(precisions); p++) {
			const size_t some =
			        draw_shapes(draw, operations[o], "cuda", precisions[p], shape);
			for (size_t i = 0; i < some; i++)
				(*shapes)[all++] = (struct bench_shape){operations[o],
				        precisions[p], shape[i].m, shape[i].n,
				        draw_lda(draw, shape[i].m, shape[i].n)};
		}
	return all;
}

size_t cases_whole(bool quick, const struct draw *draw, struct bench_shape **shapes)
{
	static const char *const operations[] = WHOLE_MATRICES;
	static const struct family some[] = {{WHOLE_MATRICES, "s", {{3000}}}};
	static const struct family all[] = {
	        {WHOLE_MATRICES, "s", {{1000}, {3000}, {5555}, {10007}, {20000}}},
	        {WHOLE_MATRICES, "d", {{1000}, {3000}, {5555}, {10007}}},
	        {{"geqrf"}, "s", {{30000, 500}, {100000, 200}}}};

	if (draw)
		return drawn(draw, operations, ARRAY_LEN(operations), shapes);
	return quick ? list(shapes, 0, some, ARRAY_LEN(some))
	             : list(shapes, 0, all, ARRAY_LEN(all));
}

size_t cases_panels(bool quick, const struct draw *draw, struct bench_shape **shapes)
{
	static const char *const operations[] = {"panel_geqrf", "panel_potrf"};
	static const struct family some[] = {{{"panel_geqrf"}, "s", {{3000, 48}}},
	        {{"panel_potrf"}, "s", {{96}}}, {{"panel_geqrf"}, "d", {{3000, 48}}},
	        {{"panel_potrf"}, "d", {{96}}}};
	static const struct family all[] = {
	        {{"panel_geqrf"}, "s",
	                {{300, 24}, {750, 24}, {3000, 24}, {12000, 24}, {48000, 24}, {90000, 24},
	                        {300, 48}, {750, 48}, {3000, 48}, {12000, 48}, {48000, 48},
	                        {90000, 48}, {300, 96}, {750, 96}, {3000, 96}, {12000, 96},
	                        {48000, 96}, {90000, 96}}},
	        {{"panel_potrf"}, "s", {{24}, {48}, {96}, {200}, {350}}},
	        {{"panel_geqrf"}, "d",
	                {{300, 48}, {750, 48}, {3000, 48}, {12000, 48}, {48000, 48}, {90000, 48}}},
	        {{"panel_potrf"}, "d", {{24}, {48}, {96}, {200}, {350}}}};

	if (draw)
		return drawn(draw, operations, ARRAY_LEN(operations), shapes);
	return quick ? list(shapes, 0, some, ARRAY_LEN(some))
	             : list(shapes, 0, all, ARRAY_LEN(all));
}

/* ---- plans, as rows without results ---- */

enum { SPLIT_ROWS = 2048, SPLIT_COLUMNS = 512, FROM_HOST_SMALLEST = 32 };

static struct result row_of(const struct bench_shape *shape, const char *executor, enum math math,
        const struct plan *plan)
{
	struct whole whole = {.uplo = LOWER};
	struct result row = result_new(shape->operation, plan->hybrid ? "hybrid" : "gpu", executor,
	        shape->precision, shape->m, shape->n);

	row.math = math;
	row.nb = plan->widths[0];
	operation_find(results_factorization(shape->operation), &whole.operation);
	if (whole.operation == POTRF)
		results_option_add(row.options, "uplo", "l");
	whole_plan_text(&whole, plan, row.plan);
	return row;
}

/* Cholesky's blocks are whole panels on the device; with panels on the host they use inverses. */
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

struct result cases_width(const struct bench_shape *shape, bool hybrid, int64_t nb)
{
	return uniform(shape, "cuda", hybrid, MATH_FP32, nb);
}

bool cases_transfers(const struct bench_shape *shape)
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

bool cases_estimated(const struct profile *profile, enum math math)
{
	static const char *const name[MATHS] = {
	        [MATH_3XTF32] = "gpu.gemm.tf32", [MATH_3XFP16] = "gpu.half_gemm.s"};
	double low, high;

	return !name[math] || profile_range(profile, name[math], "n", &low, &high);
}

/* Plans of very many blocks or of fewer than 4 wide ones are never the best; panels on the host are
 * narrower than on the device. */
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

struct factor_question cases_question(const struct bench_shape *shape, enum math math)
{
	return (struct factor_question){.operation = shape->operation,
	        .m = shape->m,
	        .n = shape->n,
	        .ld = shape->ld,
	        .precision = shape->precision,
	        .uplo = LOWER,
	        .math = math};
}

static struct plan_choice *choice_of(
        const struct profile *profile, const struct bench_shape *shape, bool hybrid, enum math math)
{
	struct plan_choice *choice = xmalloc(sizeof *choice);
	struct plan_fixed fixed = plan_free;
	const struct factor_question asked = cases_question(shape, math);

	fixed.hybrid = hybrid;
	if (plan_choose(profile, &asked, &fixed, choice))
		return choice;
	free(choice);
	return NULL;
}

bool cases_model_plan(const struct profile *profile, const struct bench_shape *shape, bool hybrid,
        enum math math, struct result *row)
{
	struct plan_choice *choice = choice_of(profile, shape, hybrid, math);

	if (!choice)
		return false;
	*row = row_of(shape, "cuda", math, &choice->plan);
	if (choice->plan.count > 1 && !strstr(row->plan, "widths="))
		row->nb = choice->uniform;
	results_option_add(row->options, "plan", "model");
	if (choice->by_rule)
		results_by_rule_set(row);
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
	        chosen->operation, chosen->precision, chosen->m, chosen->n, result_lda(chosen)};
	struct plan_choice *choice =
	        choice_of(profile, &shape, strcmp(chosen->variant, "hybrid") == 0, chosen->math);
	int64_t width = choice ? choice->uniform : 0;

	free(choice);
	return width;
}
