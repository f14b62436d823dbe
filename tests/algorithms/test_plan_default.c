/* SPDX-License-Identifier: MIT */
/* The default plans: accepted by every algorithm at any shape, and within the rules they state. */
#include "tests/tap.h"

#include "factor/validation/cases.h"
#include "factor/validation/whole.h"
#include "lib/base/msg.h"

#include <inttypes.h>

static const int64_t shapes[][2] = {{0, 0}, {0, 9}, {9, 0}, {1, 1}, {1, 50}, {50, 1}, {63, 65},
        {64, 64}, {1000, 1000}, {5555, 3000}, {3000, 5555}, {1000000, 50}, {50, 1000000},
        {20000, 20000}};

static int64_t work_of(struct executor *e, enum operation operation, struct matrix a, bool hybrid)
{
	const struct whole whole = {.operation = operation, .uplo = LOWER, .math = e->math};
	struct default_plan chosen;

	plan_default(e, operation, a.m, a.n, a.precision, hybrid, &chosen);
	if (operation == POTRF)
		a.m = a.n = a.ld = a.n > 0 ? a.n : 1;
	return whole_work(e, &whole, &chosen.plan, a);
}

static void check_accepted(struct executor *e, enum operation operation)
{
	int64_t refused = 0;

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int hybrid = 0; hybrid < 2; hybrid++)
			for (int d = 0; d < 2; d++) {
				int64_t m = shapes[i][0], n = shapes[i][1];
				struct matrix a = {NULL, 0, m, n, m + 1, d ? DOUBLE : SINGLE};
				if (work_of(e, operation, a, hybrid) >= 0)
					continue;
				refused++;
				diag("%" PRId64 " x %" PRId64 ": %s", m, n, e->fault.text);
			}
	ok(refused == 0, "operation %d: plans for all shapes are accepted", operation);
}

static int64_t width_of(struct executor *e, enum operation operation, int64_t block, int64_t n)
{
	struct default_plan chosen;

	plan_default(e, operation, n, n, SINGLE, false, &chosen);
	return plan_width(&chosen.plan, block, n);
}

/* A panel is on chip while the executor says that it fits: here up to so many columns. */
static int64_t most_columns;

static bool fits(struct executor *e, struct matrix a)
{
	(void)e;
	return a.n <= most_columns;
}

/* Leaf and first width (0: any) of default plans. */
struct expected {
	enum operation operation;
	int64_t m, n;
	enum precision precision;
	int64_t leaf, width;
	const char *what;
};

static void check_plans(struct executor *e, const struct expected *all, size_t count)
{
	for (const struct expected *x = all; x < all + count; x++) {
		struct default_plan chosen;
		plan_default(e, x->operation, x->m, x->n, x->precision, false, &chosen);
		ok(chosen.plan.leaf == x->leaf && (!x->width || chosen.plan.widths[0] == x->width),
		        "%s %" PRId64 " x %" PRId64 " %c, leaf %d, width %d: %s",
		        operation_name[x->operation], x->m, x->n, x->precision,
		        (int)chosen.plan.leaf, (int)chosen.plan.widths[0], x->what);
	}
}

static void check_panels(struct executor *e)
{
	static const struct expected all[] = {
	        {GETRF, 16384, 256, SINGLE, 128, 128,
	                "wider leaves and blocks where all panels are of many multiprocessors"},
	        {GETRF, 16384, 16384, SINGLE, 64, 0, "not where the last are one cluster's"},
	        {GETRF, 16384, 16384, DOUBLE, 32, 0, "half as wide there in double precision"},
	        {GETRF, 4096, 4096, DOUBLE, 64, 0, "but where one cluster holds all"},
	        {GETRF, 16384, 256, DOUBLE, 64, 0, "or none"},
	        {GETRF, 16384, 64, SINGLE, 32, 128,
	                "half as wide where one cluster holds half of a lone panel"},
	        {GETRF, 16385, 64, SINGLE, 128, 0, "not where that is longer"},
	        {GETRF, 4096, 64, DOUBLE, 64, 0, "or all of it fits"}};
	const struct executor_ops *whole = e->ops;
	struct executor_ops some = *whole;
	struct default_plan chosen;

	e->ops = &some;
	some.resident_fits = fits;
	most_columns = INT64_MAX;
	check_plans(e, all, ARRAY_LEN(all));
	e->math = MATH_3XTF32;
	plan_default(e, GETRF, 16384, 16384, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 128 && chosen.plan.widths[chosen.plan.count - 1] == 64,
	        "wider leaves, not blocks, beside products by 3xTF32");
	plan_default(e, GETRF, 16384, 256, SINGLE, false, &chosen);
	ok(chosen.plan.widths[0] == 128,
	        "no narrow block before products too small for split operands");
	e->math = MATH_FP32;
	most_columns = 32;
	plan_default(e, GETRF, 9000, 9000, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 32 && strcmp(chosen.plan.panel, "persistent") == 0,
	        "the widest leaf that stays on chip");
	most_columns = 0;
	plan_default(e, GETRF, 9000, 9000, SINGLE, false, &chosen);
	ok(strcmp(chosen.plan.panel, "fused") == 0, "two kernels a column where none fits");
	plan_default(e, GETRF, 9000, 9000, SINGLE, true, &chosen);
	ok(!chosen.plan.panel && chosen.plan.hybrid, "panels on the host need no variant");
	e->ops = whole;
}

static void check_others(struct executor *e)
{
	static const struct expected all[] = {
	        {GEQRF, 60000, 500, SINGLE, 64, 64, "in single precision at least four blocks"},
	        {GEQRF, 60000, 500, DOUBLE, 64, 0, "no narrower leaves for tall panels"},
	        {GEQRF, 10000, 10000, DOUBLE, 64, 0, "nor for squares"},
	        {GEQRF, 60000, 1000, SINGLE, 64, 128,
	                "wider blocks than a square of as many columns has"},
	        {POTRF, 2048, 2048, SINGLE, 128, 256, "last blocks"},
	        {POTRF, 2048, 2048, DOUBLE, 128, 128, "narrower ones in double precision"},
	        {POTRF, 10007, 10007, DOUBLE, 64, 2048,
	                "and wider first ones, of narrower leaves"}};
	struct default_plan tall, low;

	check_plans(e, all, ARRAY_LEN(all));
	for (enum operation operation = GETRF; operation <= GEQRF; operation++) {
		plan_default(e, operation, 65536, 256, DOUBLE, false, &tall);
		plan_default(e, operation, 16384, 256, DOUBLE, false, &low);
		ok(tall.plan.lookahead == 0 && low.plan.lookahead == 1,
		        "%s: no look-ahead where panels have the device",
		        operation_name[operation]);
	}
}

/* What is left is a multiple of what a block has, as long as there are enough of them. */
static void check_sequence(struct executor *e)
{
	struct default_plan chosen;
	int64_t left = 20000, wider = 0, few = 0;

	plan_default(e, GEQRF, left, left, SINGLE, false, &chosen);
	for (int64_t i = 0; i < chosen.plan.count; i++) {
		const int64_t width = chosen.plan.widths[i];
		wider += i > 0 && width > chosen.plan.widths[i - 1];
		few += width > 64 && left < 28 * width;
		left -= width;
	}
	ok(wider == 0 && few == 0 && left <= 0 && left > -64,
	        "blocks get narrower to the right, each a 28th of what is left or 64");
	plan_default(e, GEQRF, 3000000, 2000000, SINGLE, false, &chosen);
	ok(chosen.plan.count == 1 && chosen.plan.widths[0] == 512,
	        "one width where there are very many");
	plan_default(e, POTRF, 4096, 4096, DOUBLE, true, &chosen);
	ok(chosen.plan.inverse == PLAN_INVERSE_MAX, "Cholesky with the host's panels by inverses");
}

/* Whether the first block alone is narrower than the one after it, and blocks cover all columns. */
static bool begins_with(struct executor *e, int64_t width, int64_t n, enum precision precision)
{
	struct default_plan chosen;
	const struct plan *plan = &chosen.plan;
	bool grows = false;

	plan_default(e, GETRF, n, n, precision, false, &chosen);
	for (int64_t i = 2; i < plan->count; i++)
		grows |= plan->widths[i] > plan->widths[i - 1];
	return plan->widths[0] == width && plan->widths[1] > width &&
	       plan_blocks(plan, n) == plan->count && !grows;
}

static void check_narrow_first(struct executor *e)
{
	struct default_plan chosen;

	for (e->math = MATH_3XTF32; e->math < MATHS; e->math++)
		ok(begins_with(e, 32, 3000, SINGLE) && begins_with(e, 32, 5555, SINGLE) &&
		                begins_with(e, 64, 32768, SINGLE) &&
		                !begins_with(e, 64, 32768, DOUBLE),
		        "LU%s: the first block is narrow, and no other", math_title[e->math]);
	e->math = MATH_3XFP16;
	plan_default(e, GETRF, 3000000, 2000000, SINGLE, false, &chosen);
	ok(chosen.plan.count == 2 && chosen.plan.widths[0] == 64 && chosen.plan.widths[1] == 256,
	        "also before one width for very many columns");
	e->math = MATH_FP32;
	ok(!begins_with(e, 64, 32768, SINGLE), "not in fp32");
}

/* The benchmark's row of it says all of it. */
static void check_row(struct executor *e)
{
	const struct bench_shape shape = {"geqrf", SINGLE, 30000, 20000, 0};
	const struct result row = cases_default(e, &shape);
	struct whole_plan *read = xmalloc(sizeof *read);
	struct default_plan chosen;
	int64_t other = 0, j = 0;

	plan_default(e, GEQRF, shape.m, shape.n, SINGLE, false, &chosen);
	whole_plan_parse(row.plan, false, row.nb, read);
	for (int64_t i = 0; j < shape.n; i++) {
		const int64_t width = plan_width(&chosen.plan, i, shape.n - j);
		other += plan_width(&read->plan, i, shape.n - j) != width;
		j += width;
	}
	ok(results_option(row.options, "plan", NULL, 0) && other == 0 &&
	                read->plan.leaf == chosen.plan.leaf &&
	                read->plan.lookahead == chosen.plan.lookahead,
	        "the benchmark's row of it: %s", row.plan);
	free(read);
}

/* Panels by the Gram matrix in double precision are a part of the plan. */
static void check_gram(struct executor *e)
{
	const struct whole whole_matrix = {.operation = GEQRF}, lu = {.operation = GETRF};
	struct whole_plan *read = xmalloc(sizeof *read);
	char text[WHOLE_PLAN_TEXT];
	struct default_plan chosen, few;

	plan_default(e, GEQRF, 60000, 500, DOUBLE, false, &chosen);
	ok(plan_by_gram(&chosen.plan), "tall panels in double precision are by the Gram matrix");
	plan_default(e, GEQRF, 2048, 500, DOUBLE, false, &few);
	ok(!plan_by_gram(&few.plan), "panels of few rows are not");
	const struct tuning_device device = e->tuning.device;
	e->tuning.device.code = 75;
	plan_default(e, GEQRF, 60000, 500, DOUBLE, false, &few);
	ok(!plan_by_gram(&few.plan) && few.plan.leaf == 32,
	        "nor is any without its code: narrower leaves for tall panels");
	e->tuning.device = device;
	e->tuning.device.capability = 89;
	plan_default(e, GEQRF, 60000, 500, DOUBLE, false, &few);
	ok(!plan_by_gram(&few.plan), "nor where no tensor cores compute in double precision");
	e->tuning.device = device;
	whole_plan_text(&whole_matrix, &chosen.plan, text);
	whole_plan_parse(text, false, 64, read);
	ok(strstr(text, "panel=gram") && plan_by_gram(&read->plan), "and plans say so: %s", text);
	chosen.plan.panel = "persistent";
	whole_plan_text(&whole_matrix, &chosen.plan, text);
	ok(!strstr(text, "panel="), "other panels are not of QR");
	whole_plan_text(&lu, &chosen.plan, text);
	ok(strstr(text, "panel=persistent"), "but of LU");
	free(read);
}

/* A last block of few columns joins the one before, in tall matrices alone. */
static void check_joined(struct executor *e)
{
	struct default_plan tall, wider, square;

	plan_default(e, GEQRF, 200003, 130, DOUBLE, false, &tall);
	ok(tall.plan.count == 1 && tall.widths[0] == 130, "130 tall columns are one block");
	plan_default(e, GEQRF, 200003, 200, DOUBLE, false, &wider);
	ok(wider.widths[0] < 200, "200 are not");
	plan_default(e, GEQRF, 1026, 1026, DOUBLE, false, &square);
	ok(square.widths[0] % 64 == 0 && square.widths[square.plan.count - 1] % 64 == 0,
	        "nor are a square's last two columns part of a block");
}

int main(void)
{
	struct fault fault;
	struct executor *e = executor_host_new(&fault);

	for (enum operation operation = GETRF; operation <= POTRF; operation++)
		check_accepted(e, operation);
	ok(width_of(e, GETRF, 0, 500) == 64 && width_of(e, GETRF, 0, 8192) == 256 &&
	                width_of(e, GETRF, 0, 90000) == 512,
	        "LU: a part of the columns, from 64 to 512");
	ok(width_of(e, POTRF, 0, 500) == 128 && width_of(e, POTRF, 0, 1536) == 128 &&
	                width_of(e, POTRF, 0, 5000) == 512,
	        "Cholesky: a larger part, from 128");
	e->math = MATH_3XFP16;
	ok(width_of(e, GETRF, 1, 90000) == 256 && width_of(e, GEQRF, 0, 90000) == 256 &&
	                width_of(e, POTRF, 0, 90000) == 256,
	        "narrower ones where updates are by split operands");
	e->math = MATH_FP32;
	check_narrow_first(e);
	check_sequence(e);
	check_row(e);
	check_gram(e);
	check_joined(e);
	check_others(e);
	check_panels(e);
	executor_free(e);
	return finish();
}
