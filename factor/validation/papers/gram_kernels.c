/* SPDX-License-Identifier: MIT */
#include "gram_kernels.h"
#include "factor/validation/predicted.h"

#include "lib/base/msg.h"
#include "factor/model/predictions/model_gram_schmidt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *operation;
	enum gram_step step;
} operations[] = {{"gram_dots", GRAM_DOTS}, {"gram_update", GRAM_UPDATE},
        {"gram_fused", GRAM_FUSED}, {"gram_apply", GRAM_UPDATE}};
enum { DOTS, UPDATE, FUSED, APPLY, OPERATIONS };

static const char *const variants[] = {[GRAM_OWN] = "own",
        [GRAM_DIRECT] = "direct",
        [GRAM_SHARED] = "shared",
        [GRAM_WIDE] = "wide",
        [GRAM_ATOMIC] = "atomic"};

/* ---- rows ---- */

static int operation_of(const struct result *row)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (strcmp(row->operation, operations[i].operation) == 0)
			return i;
	return OPERATIONS;
}

bool results_is_gram_kernel(const struct result *row)
{
	return operation_of(row) < OPERATIONS;
}

static struct gram_shape shape_of(const struct result *row)
{
	struct gram_shape shape = {GRAM_OWN, 0, 0};
	char text[16] = "";

	for (int v = GRAM_DIRECT; v <= GRAM_ATOMIC; v++)
		if (strcmp(row->variant, variants[v]) == 0)
			shape.access = (enum gram_access)v;
	if (results_option(row->options, "shape", text, sizeof text) &&
	        sscanf(text, "%dx%d", &shape.nx, &shape.ny) != 2)
		shape.access = GRAM_OWN;
	return shape;
}

struct gram_kernel gram_kernel_of(const struct result *row)
{
	return (struct gram_kernel){.step = operations[operation_of(row)].step,
	        .shape = shape_of(row),
	        .k = row->k,
	        .single = strcmp(row->variant, "single") == 0,
	        .precision = row->precision,
	        .m = row->m,
	        .n = row->n,
	        .calls = results_calls(row)};
}

/* ---- lists ---- */

struct list {
	struct results rows;
	int64_t m, n;
};

/* Calls for a run of about a millisecond; more than MOST are not worth queueing. */
static int64_t calls_of(const struct gram_kernel *kernel)
{
	enum { MOST = 64 };
	static const double bytes = 4e9, flops = 1e10; /* of a run */
	double most = fmin(bytes / gram_kernel_bytes(kernel), flops / gram_kernel_flops(kernel));

	return (int64_t)fmax(2, fmin(most, MOST));
}

static void add(
        struct list *list, int operation, const char *variant, int64_t k, struct gram_shape shape)
{
	struct result row = result_new(
	        operations[operation].operation, variant, "cuda", SINGLE, list->m, list->n);
	char text[16];

	row.k = k;
	if (shape.access != GRAM_OWN) {
		snprintf(text, sizeof text, "%dx%d", shape.nx, shape.ny);
		results_option_add(row.options, "shape", text);
	}
	struct gram_kernel kernel = gram_kernel_of(&row);
	snprintf(row.plan, sizeof row.plan, "calls=%" PRId64, calls_of(&kernel));
	results_add(&list->rows, &row);
}

static void add_shaped(struct list *list, int operation, enum gram_access access, int nx, int ny)
{
	add(list, operation, variants[access], 0, (struct gram_shape){access, nx, ny});
}

/* All powers of two that fit into a block of threads. */
static void add_all_shapes(struct list *list)
{
	for (int operation = DOTS; operation <= UPDATE; operation++)
		for (int access = GRAM_DIRECT; access <= GRAM_WIDE; access++)
			for (int nx = 32; nx <= SHAPED_THREADS; nx *= 2)
				for (int ny = 1; nx * ny <= SHAPED_THREADS; ny *= 2)
					add_shaped(
					        list, operation, (enum gram_access)access, nx, ny);
}

/* One column a block: a tree there, atomic additions here. */
static void add_atomic(struct list *list)
{
	for (int nx = 32; nx <= SHAPED_THREADS; nx *= 2)
		add_shaped(list, DOTS, GRAM_ATOMIC, nx, 1);
}

static void add_own(struct list *list)
{
	for (int operation = DOTS; operation <= FUSED; operation++)
		add(list, operation, variants[GRAM_OWN], 0, (struct gram_shape){GRAM_OWN, 0, 0});
}

static void add_apply(struct list *list, int64_t k)
{
	add(list, APPLY, "single", k, (struct gram_shape){GRAM_OWN, 0, 0});
	add(list, APPLY, "together", k, (struct gram_shape){GRAM_OWN, 0, 0});
}

enum { DRAWN_LEAST = 8, DRAWN_MORE = 57 }; /* columns that are applied: 8 to 64 */

/* Some of the best, and some of their neighbours. */
static const int few[][2] = {
        {32, 8}, {32, 32}, {64, 8}, {128, 2}, {128, 8}, {256, 1}, {256, 4}, {512, 1}, {1024, 1}};

/* The paper's kernels of one shape that do the same column by column. */
static void add_few_rows(struct list *list)
{
	enum { THREADS = 256, COLUMNS = 32 };

	for (int operation = DOTS; operation <= UPDATE; operation++)
		for (int access = GRAM_DIRECT; access <= GRAM_WIDE; access++)
			add_shaped(list, operation, (enum gram_access)access, THREADS, 1);
	add_apply(list, COLUMNS);
}

size_t gram_kernels_documented(int64_t m, int64_t n, bool all, struct result **rows)
{
	struct list list = {.m = m, .n = n};

	if (m < n)
		add_few_rows(&list);
	if (all) {
		add_all_shapes(&list);
		add_atomic(&list);
		for (int64_t k = 16; k <= 64; k *= 2)
			add_apply(&list, k);
	}
	for (size_t s = 0; s < ARRAY_LEN(few) && !all && m >= n; s++)
		add_shaped(&list, UPDATE, GRAM_WIDE, few[s][0], few[s][1]);
	add_own(&list);
	*rows = list.rows.row;
	return list.rows.count;
}

/* Our kernels, and of the paper's each access with one shape of block. */
static void add_drawn(const struct draw *draw, struct list *list)
{
	struct drawn_shape shape[DRAW_SHAPES];
	const size_t count = draw_shapes(draw, operations[DOTS].operation, "cuda", SINGLE, shape);

	for (size_t i = 0; i < count; i++) {
		const int *block = few[draw_index(draw, shape[i].m, shape[i].n, 0, ARRAY_LEN(few))];
		list->m = shape[i].m;
		list->n = shape[i].n;
		for (int operation = DOTS; operation <= UPDATE; operation++)
			for (int access = GRAM_DIRECT; access <= GRAM_WIDE; access++)
				add_shaped(list, operation, (enum gram_access)access, block[0],
				        block[1]);
		add_own(list);
		add_apply(list, DRAWN_LEAST + draw_index(draw, list->m, list->n, 1, DRAWN_MORE));
	}
}

size_t gram_kernels_held_out(bool quick, const struct draw *draw, struct result **rows)
{
	static const int64_t sizes[][2] = {{3000, 1500}, {6000, 10000}};
	struct list list = {0};

	if (draw)
		add_drawn(draw, &list);
	for (size_t i = quick; i < ARRAY_LEN(sizes) && !draw; i++) {
		list.m = sizes[i][0];
		list.n = sizes[i][1];
		for (int operation = DOTS; operation <= UPDATE; operation++)
			for (int access = GRAM_DIRECT; access <= GRAM_WIDE; access++)
				for (size_t s = 0; s < ARRAY_LEN(few); s++)
					add_shaped(&list, operation, (enum gram_access)access,
					        few[s][0], few[s][1]);
		add_own(&list);
		add_apply(&list, 24);
	}
	*rows = list.rows.row;
	return list.rows.count;
}

/* ---- predictions ---- */

bool gram_kernel_predict(const struct profile *profile, int level, struct result *row)
{
	const struct gram_kernel kernel = gram_kernel_of(row);
	struct prediction made = {0};

	return predicted_fill(
	        row, &made, model_gram_kernel_predict(profile, &kernel, level, &made));
}

size_t predict_gram_kernels(
        struct results *results, const struct profile *profile, bool quick, const struct draw *draw)
{
	struct result *rows;
	size_t count = gram_kernels_held_out(quick, draw, &rows);

	return predicted_all(results, profile, rows, count, gram_kernel_predict);
}

/* ---- text ---- */

static bool is_measured(const struct result *row)
{
	return results_is_gram_kernel(row) && strcmp(row->executor, "model") != 0 &&
	       row->seconds.value > 0;
}

/* No other shape of the same kernel is faster. */
static bool is_fastest(const struct results *results, const struct result *row)
{
	for (const struct result *r = results->row; r < results->row + results->count; r++)
		if (is_measured(r) && result_same_problem(r, row) &&
		        strcmp(r->variant, row->variant) == 0 && r->k == row->k &&
		        r->seconds.value < row->seconds.value)
			return false;
	return is_measured(row);
}

void gram_kernels_print(const struct results *results, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		if (!is_fastest(results, row))
			continue;
		if (!any)
			fprintf(out,
			        "\nGram-Schmidt's kernels, by the fastest blocks of threads\n");
		any = true;
		const struct gram_kernel kernel = gram_kernel_of(row);
		fprintf(out,
		        "%-11s %-8s %6" PRId64 " %6" PRId64 " %3" PRId64
		        " %-20s %10.2f us %7.0f GB/s\n",
		        row->operation, row->variant, row->m, row->n, row->k, row->options,
		        row->seconds.value * 1e6,
		        gram_kernel_bytes(&kernel) / row->seconds.value * 1e-9);
	}
}
