/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "../lib/msg.h"
#include "whole.h"

#include <inttypes.h>
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

enum { SMALLEST = 256, LARGEST = 32768, ON_HOST = 4096 };

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

size_t cases_bench(struct bench_shape **shapes)
{
	static const enum precision both[] = {SINGLE, DOUBLE};
	static const int64_t tall[][2] = {{16384, 256}, {65536, 256}, {65536, 1024}};
	struct shapes s = {0};

	for (size_t c = 0; c < ARRAY_LEN(panel_columns); c++)
		for (size_t r = 0; r < ARRAY_LEN(panel_rows); r++)
			shapes_add(&s, "panel_getrf", SINGLE, panel_rows[r], panel_columns[c]);
	for (int64_t n = SMALLEST; n <= LARGEST; n *= 2)
		for (size_t p = 0; p < ARRAY_LEN(both); p++)
			for (size_t o = 0; o < ARRAY_LEN(operations); o++)
				shapes_add(&s, operations[o], both[p], n, n);
	for (size_t t = 0; t < ARRAY_LEN(tall); t++)
		for (size_t p = 0; p < ARRAY_LEN(both); p++)
			for (size_t o = 0; o < 2; o++)
				shapes_add(&s, operations[o], both[p], tall[t][0], tall[t][1]);
	*shapes = s.shape;
	return s.count;
}

bool cases_on_host(const struct bench_shape *shape)
{
	return shape->m <= ON_HOST;
}

/* ---- plans ---- */

static struct factor_case case_of(
        const struct bench_shape *shape, const char *variant, bool hybrid, int64_t nb)
{
	struct factor_case one = {.variant = variant, .nb = nb};
	struct whole whole = {.uplo = LOWER};
	bool cholesky = strcmp(shape->operation, "potrf") == 0;
	struct plan plan = {.hybrid = hybrid,
	        .panel = "persistent",
	        .leaf = cholesky ? 128 : 64,
	        .inverse = 128,
	        .lookahead = 1};

	operation_find(shape->operation, &whole.operation);
	if (plan.leaf > nb)
		plan.leaf = nb;
	whole_plan_text(&whole, &plan, one.plan, sizeof one.plan);
	return one;
}

size_t cases_plans(
        const struct bench_shape *shape, bool cuda, struct factor_case *cases, size_t most)
{
	static const int64_t widths[] = {64, 128, 256, 512, 1024};
	int64_t k = shape->m < shape->n ? shape->m : shape->n;
	size_t count = 0;

	if (!cuda) {
		cases[0] = case_of(shape, "hybrid", true, k < 128 ? k : 128);
		return 1;
	}
	for (int hybrid = 0; hybrid < 2; hybrid++)
		for (size_t w = 0; w < ARRAY_LEN(widths) && count < most; w++) {
			/* Between 4 and 128 blocks, and not fewer than one: others are never the
			 * best. */
			bool extreme = k > 128 * widths[w] || (w > 1 && 4 * widths[w] > k);
			if (!extreme)
				cases[count++] = case_of(
				        shape, hybrid ? "hybrid" : "gpu", hybrid, widths[w]);
		}
	return count;
}
