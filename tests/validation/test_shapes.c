/* SPDX-License-Identifier: MIT */
/* Which cases are measured together, and in which order. */
#include "tests/tap.h"

#include "factor/programs/shapes.h"

#include <stdio.h>
#include <string.h>

enum { SHAPES = 20 };

static struct result row_of(const char *operation, const char *variant, int64_t n, double seconds)
{
	struct result row = {.precision = SINGLE, .m = n, .n = n, .seconds = {.value = seconds}};

	snprintf(row.operation, sizeof row.operation, "%s", operation);
	snprintf(row.variant, sizeof row.variant, "%s", variant);
	strcpy(row.executor, "cuda");
	return row;
}

static void test_same(void)
{
	const struct result lu = row_of("getrf", "gpu", 1000, 1),
	                    other = row_of("getrf", "hybrid", 1000, 2),
	                    larger = row_of("getrf", "gpu", 2000, 3),
	                    qr = row_of("geqrf", "gpu", 1000, 4);
	struct result bound = row_of("getrf", "gpu", 1000, 5);
	struct shape shape[5];
	size_t count = 0;

	strcpy(bound.options, "level=0");
	count = shapes_add(shape, count, &lu);
	count = shapes_add(shape, count, &larger);
	count = shapes_add(shape, count, &other);
	count = shapes_add(shape, count, &bound);
	count = shapes_add(shape, count, &qr);
	ok(count == 3, "two plans of one size are a shape, another size and QR are others");
	is_real(shape[0].seconds, 3, 1e-12, "which takes what both do; a bound is not run");
}

/* Of 20 shapes two take more than a twentieth of the time. */
static void test_order(void)
{
	struct result row[SHAPES];
	struct shape shape[SHAPES];
	size_t count = 0, moved = 0;

	for (int i = 0; i < SHAPES; i++) {
		row[i] = row_of("getrf", "gpu", 1000 + i, i == 3 ? 7 : i == 5 ? 4 : 0.01);
		count = shapes_add(shape, count, &row[i]);
	}
	shapes_order(shape, count, 1, 100);
	ok(shape[SHAPES - 1].row->n == 1003, "the longest is the last one");
	ok(shape[SHAPES - 2].row->n == 1005, "the next before it");
	for (int i = 0; i < SHAPES - 2; i++)
		moved += shape[i].row->n != 1000 + i;
	ok(moved > SHAPES / 2, "the others in random order");
}

int main(void)
{
	test_same();
	test_order();
	return finish();
}
