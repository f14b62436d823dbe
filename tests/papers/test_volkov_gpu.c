/* SPDX-License-Identifier: MIT */
/* LAWN 202's kernels on a GPU. The vector-thread products against sums in double precision on the
 * host, element by element within the rounding bound: block edges, lda > m, a poisoned C, memory
 * around C, NaN in A, the same bits on repetition. The kernel without prefetches computes the same;
 * the kernel without fetches only has to end and to stay within C. The row swaps, in both layouts,
 * against row swaps on the host. */
#include "factor/papers/laswp_volkov.h"
#include "tests/tap.h"

#ifndef FATHOM_CUDA

int main(void)
{
	skip_all("built without the CUDA Toolkit");
}

#else

#include "volkov_test.h"

static void test_shape(struct shape s)
{
	for (int tb = 0; tb < 2; tb++) {
		struct operands o = operands_new(s, tb);
		bool good = true;
		for (int way = 0; way < VOLKOV_WAYS; way++)
			good &= check_scalars(s,
			        (struct volkov_call){.tb = tb, .without = (enum volkov_without)way},
			        &o);
		ok(good, "%d x %d x %d %s: every way and scalar, lda > m, C poisoned", s.m, s.n,
		        s.k, tb ? "A B^T" : "A B");
		operands_free(&o);
	}
}

/* A NaN in A reaches its row of C and no other; alpha = 0 does not look at it. */
static void test_nan(void)
{
	struct array a = array_new(100, 40, true), b = array_new(30, 40, true);
	struct array c = array_new(100, 30, true);
	struct volkov_call p = {.tb = true, .m = 100, .n = 30, .k = 40, .alpha = 1, .beta = 1};

	a.host[99 + 38 * a.ld] = a.host[3 + 2 * a.ld] = NAN;
	upload(&a);
	ok(check(p, &a, &b, &c), "NaN in A: two rows of C");
	p.without = VOLKOV_NO_PREFETCH;
	ok(check(p, &a, &b, &c), "and without prefetches");
	p.alpha = 0;
	ok(check(p, &a, &b, &c), "alpha = 0 leaves A unread");
	p.m = 0;
	ok(gemm_volkov(&p, NULL) == 0, "no rows, no work");
	array_free(&a);
	array_free(&b);
	array_free(&c);
}

/* Row swaps of a matrix, or of its transpose. */
static void test_exchanges(int m, int n, int count, bool by_row)
{
	struct array a = by_row ? array_new(n, m, true) : array_new(m, n, true);
	const int row_step = by_row ? a.ld : 1, column_step = by_row ? 1 : a.ld;
	float *got = xmalloc(a.count * sizeof *got);
	int ipiv[LASWP_VOLKOV_MOST];

	for (int i = 0; i < count; i++)
		ipiv[i] = i + 1 + (int)((next_value() + 1) / 2 * (float)(m - i - 1));
	const int error = laswp_volkov(a.device, n, row_step, column_step, ipiv, count, NULL);
	GPU(cudaDeviceSynchronize());
	GPU(cudaMemcpy(got, a.device, a.count * sizeof *got, cudaMemcpyDeviceToHost));
	for (int i = 0; i < count; i++)
		for (int j = 0; j < n; j++) {
			float *x = &a.host[i * row_step + j * column_step];
			float *y = &a.host[(ipiv[i] - 1) * row_step + j * column_step];
			const float kept = *x;
			*x = *y;
			*y = kept;
		}
	ok(!error && memcmp(got, a.host, a.count * sizeof *got) == 0,
	        "%d interchanges in %d x %d, %s-major", count, m, n, by_row ? "row" : "column");
	free(got);
	array_free(&a);
}

int main(void)
{
	struct fault fault;
	struct gpu gpu;

	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		test_shape(shapes[i]);
	test_nan();
	for (int by_row = 0; by_row < 2; by_row++) {
		test_exchanges(200, 131, 64, by_row);
		test_exchanges(64, 1, 64, by_row);
		test_exchanges(70, 65, 1, by_row);
		test_exchanges(5, 3, 0, by_row);
	}
	return finish();
}

#endif
