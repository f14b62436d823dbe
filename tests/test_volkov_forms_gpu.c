/* SPDX-License-Identifier: MIT */
/* The vector-thread products' forms of LAWN 202, sections 4.2 and 4.3, on a GPU, against the host:
 * block-triangular A, B and C, with NaN where nothing is to be read and C above its diagonal left
 * alone; k in parts, more than there are, in poisoned work memory; block edges, lda > m, a poisoned
 * C, the same bits on repetition. */
#include "tap.h"

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

/* Makes x, or the transpose of what lies there, a triangle: beyond the diagonal zeros in the
 * squares along it, NaN elsewhere. */
static void make_triangle(struct array *x, bool lower, bool turned, int side)
{
	for (int j = 0; j < x->n; j++)
		for (int i = 0; i < x->m; i++) {
			const int row = turned ? j : i, column = turned ? i : j;
			if (lower ? column > row : column < row)
				x->host[i + j * x->ld] = row / side == column / side ? 0 : NAN;
		}
	upload(x);
}

static void test_triangle(struct shape s, enum volkov_shape shape)
{
	bool good = true, one;

	for (int tb = 0; tb < 2; tb++) {
		struct array a = array_new(s.m, s.k, true);
		struct array b = array_new(tb ? s.n : s.k, tb ? s.k : s.n, true);
		struct array c = array_new(s.m, s.n, true), poison = array_new(s.m, s.n, false);
		if (shape == VOLKOV_A_LOWER || shape == VOLKOV_A_UPPER)
			make_triangle(&a, shape == VOLKOV_A_LOWER, false, 64);
		if (shape == VOLKOV_B_LOWER || shape == VOLKOV_B_UPPER)
			make_triangle(&b, shape == VOLKOV_B_LOWER, tb, 16);
		for (size_t x = 0; x < ARRAY_LEN(scalars); x++) {
			const struct volkov_call p = {.tb = tb,
			        .m = s.m,
			        .n = s.n,
			        .k = s.k,
			        .alpha = scalars[x].alpha,
			        .beta = scalars[x].beta,
			        .shape = shape};
			one = check(p, &a, &b, p.beta == 0 ? &poison : &c);
			if (!one)
				diag("%s alpha %g beta %g", tb ? "A B^T" : "A B", (double)p.alpha,
				        (double)p.beta);
			good &= one;
		}
		array_free(&a);
		array_free(&b);
		array_free(&c);
		array_free(&poison);
	}
	ok(good, "%d x %d x %d, %s", s.m, s.n, s.k, shape_name[shape]);
}

static void test_splits(struct shape s)
{
	static const int splits[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 50};

	for (int tb = 0; tb < 2; tb++) {
		struct array a = array_new(s.m, s.k, true);
		struct array b = array_new(tb ? s.n : s.k, tb ? s.k : s.n, true);
		struct array c = array_new(s.m, s.n, true), poison = array_new(s.m, s.n, false);
		bool good = true, one;
		for (size_t x = 0; x < ARRAY_LEN(scalars); x++)
			for (size_t i = 0; i < ARRAY_LEN(splits); i++) {
				const struct volkov_call p = {.tb = tb,
				        .m = s.m,
				        .n = s.n,
				        .k = s.k,
				        .alpha = scalars[x].alpha,
				        .beta = scalars[x].beta,
				        .splits = splits[i]};
				one = check(p, &a, &b, p.beta == 0 ? &poison : &c);
				if (!one)
					diag("%d splits, alpha %g beta %g", p.splits,
					        (double)p.alpha, (double)p.beta);
				good &= one;
			}
		ok(good, "%d x %d x %d %s: k in 1 to 9 and 50 parts", s.m, s.n, s.k,
		        tb ? "A B^T" : "A B");
		array_free(&a);
		array_free(&b);
		array_free(&c);
		array_free(&poison);
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
