/* SPDX-License-Identifier: MIT */
/* The default plans: accepted by every algorithm at any shape, and within the rules they state. */
#include "tests/tap.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/potrf.h"
#include "factor/validation/cases.h"
#include "factor/validation/whole.h"
#include "factor/algorithms/solve.h"
#include "lib/base/msg.h"

#include <inttypes.h>

static const int64_t shapes[][2] = {{0, 0}, {0, 9}, {9, 0}, {1, 1}, {1, 50}, {50, 1}, {63, 65},
        {64, 64}, {1000, 1000}, {5555, 3000}, {3000, 5555}, {1000000, 50}, {50, 1000000},
        {20000, 20000}};

static int64_t work_of(struct executor *e, enum operation operation, struct matrix a, bool hybrid)
{
	struct default_plan chosen;

	plan_default(e, operation, a.m, a.n, a.precision, hybrid, &chosen);
	switch (operation) {
	case GETRF:
		return getrf_work(e, &chosen.plan, a);
	case GEQRF:
		return geqrf_work(e, &chosen.plan, a);
	default:
		a.m = a.n = a.ld = a.n > 0 ? a.n : 1;
		return potrf_work(e, &chosen.plan, LOWER, a);
	}
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

static int64_t width_of(struct executor *e, enum operation operation, int64_t n)
{
	struct default_plan chosen;

	plan_default(e, operation, n, n, SINGLE, false, &chosen);
	return plan_width(&chosen.plan, 0, n);
}

/* A panel is on chip while the executor says that it fits; the stand-in fits up to 32 columns. */
static bool fits_32(struct executor *e, struct matrix a)
{
	(void)e;
	return a.n <= 32;
}

static bool fits_any(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return true;
}

static bool fits_none(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return false;
}

static void check_panels(struct executor *e)
{
	const struct executor_ops *whole = e->ops;
	struct executor_ops some = *whole;
	struct default_plan chosen;

	e->ops = &some;
	some.resident_fits = fits_any;
	plan_default(e, GETRF, 16384, 256, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 128 && chosen.plan.widths[0] == 128,
	        "LU: wider leaves and blocks where all panels are of many multiprocessors");
	plan_default(e, GETRF, 16384, 16384, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 64, "not where the last ones are one cluster's");
	plan_default(e, GETRF, 16384, 16384, DOUBLE, false, &chosen);
	ok(chosen.plan.leaf == 32, "half as wide there in double precision");
	plan_default(e, GETRF, 4096, 4096, DOUBLE, false, &chosen);
	ok(chosen.plan.leaf == 64, "but where one cluster holds all");
	plan_default(e, GETRF, 16384, 256, DOUBLE, false, &chosen);
	ok(chosen.plan.leaf == 64, "or none");
	plan_default(e, GETRF, 16384, 64, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 32 && plan_blocks(&chosen.plan, 64) == 1,
	        "half as wide where one cluster holds half of a lone panel");
	plan_default(e, GETRF, 16385, 64, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 128, "not where that is longer");
	plan_default(e, GETRF, 4096, 64, DOUBLE, false, &chosen);
	ok(chosen.plan.leaf == 64, "or all of it fits");
	e->math = MATH_3XTF32;
	plan_default(e, GETRF, 16384, 16384, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 128 && chosen.plan.widths[chosen.plan.count - 1] == 64,
	        "wider leaves, not blocks, beside products by 3xTF32");
	e->math = MATH_FP32;
	some.resident_fits = fits_32;
	plan_default(e, GETRF, 9000, 9000, SINGLE, false, &chosen);
	ok(chosen.plan.leaf == 32 && strcmp(chosen.plan.panel, "persistent") == 0,
	        "the widest leaf that stays on chip");
	some.resident_fits = fits_none;
	plan_default(e, GETRF, 9000, 9000, SINGLE, false, &chosen);
	ok(strcmp(chosen.plan.panel, "fused") == 0, "two kernels a column where none fits");
	plan_default(e, GETRF, 9000, 9000, SINGLE, true, &chosen);
	ok(!chosen.plan.panel && chosen.plan.hybrid, "panels on the host need no variant");
	e->ops = whole;
}

static void check_qr_leaf(struct executor *e)
{
	struct default_plan low, tall, square;

	plan_default(e, GEQRF, 60000, 500, SINGLE, false, &low);
	plan_default(e, GEQRF, 60000, 500, DOUBLE, false, &tall);
	ok(low.plan.leaf == 64 && tall.plan.leaf == 32, "QR: narrower leaves for tall panels");
	plan_default(e, GEQRF, 10000, 10000, DOUBLE, false, &tall);
	plan_default(e, GEQRF, 16384, 16384, DOUBLE, false, &square);
	ok(tall.plan.leaf == 32 && square.plan.leaf == 64,
	        "or where one cluster holds most of those only");
	ok(low.plan.widths[0] == 64, "in single precision at least four blocks");
	plan_default(e, GEQRF, 60000, 1000, SINGLE, false, &low);
	ok(low.plan.widths[0] == 128, "and wider ones than a square of as many columns has");
}

static void check_tall(struct executor *e)
{
	struct default_plan tall, low;

	for (int operation = GETRF; operation <= GEQRF; operation++) {
		plan_default(e, (enum operation)operation, 65536, 256, DOUBLE, false, &tall);
		plan_default(e, (enum operation)operation, 16384, 256, DOUBLE, false, &low);
		ok(tall.plan.lookahead == 0 && low.plan.lookahead == 1,
		        "operation %d: no look-ahead where panels have the device", operation);
	}
}

static void check_potrf_double(struct executor *e)
{
	struct default_plan single, small, large;

	plan_default(e, POTRF, 2048, 2048, SINGLE, false, &single);
	plan_default(e, POTRF, 2048, 2048, DOUBLE, false, &small);
	plan_default(e, POTRF, 10007, 10007, DOUBLE, false, &large);
	ok(single.plan.widths[0] == 256 && small.plan.widths[0] == 128,
	        "Cholesky: narrower last blocks in double precision");
	ok(small.plan.leaf == 128 && large.plan.leaf == 64 && large.plan.widths[0] == 2048,
	        "and wider first ones, of narrower leaves");
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

/* The benchmark's row of it says all of it. */
static void check_row(struct executor *e)
{
	const struct bench_shape shape = {"geqrf", SINGLE, 30000, 20000};
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

int main(void)
{
	struct fault fault;
	struct executor *e = executor_host_new(&fault);

	for (enum operation operation = GETRF; operation <= POTRF; operation++)
		check_accepted(e, operation);
	ok(width_of(e, GETRF, 500) == 64 && width_of(e, GETRF, 8192) == 256 &&
	                width_of(e, GETRF, 90000) == 512,
	        "LU: a part of the columns, from 64 to 512");
	ok(width_of(e, POTRF, 500) == 128 && width_of(e, POTRF, 1536) == 128 &&
	                width_of(e, POTRF, 5000) == 512,
	        "Cholesky: a larger part, from 128");
	e->math = MATH_3XFP16;
	ok(width_of(e, GETRF, 90000) == 256 && width_of(e, GEQRF, 90000) == 256 &&
	                width_of(e, POTRF, 90000) == 256,
	        "narrower ones where updates are by split operands");
	e->math = MATH_FP32;
	check_sequence(e);
	check_row(e);
	check_qr_leaf(e);
	check_tall(e);
	check_potrf_double(e);
	check_panels(e);
	executor_free(e);
	return finish();
}
