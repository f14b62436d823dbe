/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "../lib/msg.h"

#include <stdlib.h>
#include <string.h>

const struct bench_shape cases_bench[] = {{1024, 32}, {4096, 32}, {16384, 32}, {65536, 32},
        {1024, 64}, {4096, 64}, {16384, 64}, {65536, 64}, {0, 0}};

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
