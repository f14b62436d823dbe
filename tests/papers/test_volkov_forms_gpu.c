/* SPDX-License-Identifier: MIT */
/* The vector-thread products' forms of LAWN 202, sections 4.2 and 4.3, on a GPU, against the host:
 * block-triangular A, B and C, with NaN where nothing is to be read and C above its diagonal left
 * alone; k in parts, more than there are, in poisoned work memory; block edges, lda > m, a poisoned
 * C, the same bits on repetition. */
#include "tests/tap.h"

#ifndef FATHOM_CUDA

int main(void)
{
	skip_all("built without the CUDA Toolkit");
}

#else

#include "volkov_test.h"

/* More for block triangles: squares, odd and even numbers of blocks. */
static const struct shape triangles[] = {
        {64, 64, 64}, {128, 128, 30}, {131, 131, 131}, {200, 200, 200}, {320, 310, 40}};

static const char *const shape_name[VOLKOV_SHAPES] = {"full", "lower C, folded",
        "lower C, early exit", "lower A", "upper A", "lower op(B)", "upper op(B)"};

/* Makes x, or its transpose, a triangle: beyond the diagonal zeros in the squares along it, NaN
 * elsewhere. */
static void make_triangle(struct array *x, bool lower, bool transposed, int side)
{
	for (int j = 0; j < x->n; j++)
		for (int i = 0; i < x->m; i++) {
			const int row = transposed ? j : i, column = transposed ? i : j;
			if (lower ? column > row : column < row)
				x->host[i + j * x->ld] = row / side == column / side ? 0 : NAN;
		}
	upload(x);
}

static void test_triangle(struct shape s, enum volkov_shape shape)
{
	bool good = true;

	for (int tb = 0; tb < 2; tb++) {
		struct operands o = operands_new(s, tb);
		if (shape == VOLKOV_A_LOWER || shape == VOLKOV_A_UPPER)
			make_triangle(&o.a, shape == VOLKOV_A_LOWER, false, 64);
		if (shape == VOLKOV_B_LOWER || shape == VOLKOV_B_UPPER)
			make_triangle(&o.b, shape == VOLKOV_B_LOWER, tb, 16);
		good &= check_scalars(s, (struct volkov_call){.tb = tb, .shape = shape}, &o);
		operands_free(&o);
	}
	ok(good, "%d x %d x %d, %s", s.m, s.n, s.k, shape_name[shape]);
}

static void test_splits(struct shape s)
{
	static const int splits[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 50};

	for (int tb = 0; tb < 2; tb++) {
		struct operands o = operands_new(s, tb);
		bool good = true;
		for (size_t i = 0; i < ARRAY_LEN(splits); i++)
			good &= check_scalars(
			        s, (struct volkov_call){.tb = tb, .splits = splits[i]}, &o);
		ok(good, "%d x %d x %d %s: k in 1 to 9 and 50 parts", s.m, s.n, s.k,
		        tb ? "A B^T" : "A B");
		operands_free(&o);
	}
}

/* What has no kernel is refused. */
static void test_refusals(void)
{
	struct volkov_call p = {.m = 64, .n = 16, .k = 16, .alpha = 1, .shape = VOLKOV_A_LOWER};

	p.without = VOLKOV_NO_FETCH;
	ok(gemm_volkov(&p, NULL) != 0, "no triangles without fetches");
	p.without = VOLKOV_COMPLETE;
	p.splits = 2;
	ok(gemm_volkov(&p, NULL) != 0, "no triangles in parts");
	p.shape = VOLKOV_FULL;
	p.without = VOLKOV_NO_PREFETCH;
	ok(gemm_volkov(&p, NULL) != 0, "no parts without prefetches");
}

int main(void)
{
	struct fault fault;
	struct gpu gpu;

	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	for (int shape = VOLKOV_C_FOLDED; shape < VOLKOV_SHAPES; shape++) {
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			test_triangle(shapes[i], (enum volkov_shape)shape);
		for (size_t i = 0; i < ARRAY_LEN(triangles); i++)
			test_triangle(triangles[i], (enum volkov_shape)shape);
	}
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		test_splits(shapes[i]);
	test_splits((struct shape){96, 40, 300});
	test_refusals();
	return finish();
}

#endif
