/* SPDX-License-Identifier: MIT */
/* LU panels in registers, of one cluster and of many multiprocessors, against the panel in shared
 * memory, which other tests compare with LAPACK: the same bits in factors, pivots and info, nothing
 * beside the panel touched, on random, tied, singular, tiny, infinite and NaN matrices at the edges
 * of blocks, clusters and widths. */
#include "tests/tap.h"

#include "panel_forms.h"

enum { PADDING = 5 };

static const int kinds[] = {MATRIX_RANDOM, MATRIX_TIES, MATRIX_ZERO_MIDDLE, TEST_LAST_HALF_ZERO,
        MATRIX_TINY, TEST_INF_MIDDLE, MATRIX_NAN_MIDDLE};

/* NaNs of any payload are equal. */
static bool same(const void *left, const void *right, enum precision p, int64_t words)
{
	for (int64_t i = 0; i < words; i++) {
		const size_t at = (size_t)(i * precision_bytes(p));
		const char *x = (const char *)left + at, *y = (const char *)right + at;
		const bool nan = isnan(get(left, i, p)) && isnan(get(right, i, p));
		if (!nan && memcmp(x, y, (size_t)precision_bytes(p)) != 0)
			return false;
	}
	return true;
}

static void test_kind(struct panel_device *d, enum panel_form form, enum precision p,
        const struct shape *s, int kind)
{
	const int64_t lda = panel_lda(s);
	void *a0 = test_matrix(lda, s->m, s->n, p, kind);
	int error;

	panel_give(d, form, p, s, a0);
	struct result known = panel_factorize(d, LU_SHARED, p, s, 0);
	struct result tried = panel_factorize(d, form, p, s, 0);
	GPU(cudaMemcpy(&error, d->work, sizeof error, cudaMemcpyDeviceToHost));
	ok(error == 0 && same(known.a, tried.a, p, lda * s->n) &&
	                memcmp(known.tau, tried.tau, known.tau_bytes) == 0 &&
	                matrix_padding_intact(tried.a, lda, s->m, s->n, p),
	        "%s, %c %" PRId64 " x %" PRId64 " %s", panel_form_name[form], p, s->m, s->n,
	        test_kind_name(kind));
	free(a0);
	result_free(&known);
	result_free(&tried);
}

/* In a small run one panel for each kernel: three widths, and numbers of rows that take more and
 * more rows of a thread and warps of a block (factor/kernels/lu/panel_geometry.h). */
static bool of_this_run(int64_t m, int64_t n)
{
	return !test_small() || ((n == 32 || n == 33 || n == 65) &&
	                                (m == 257 || m == 2049 || m == 8192 || m == 12345));
}

static void test_precision(struct panel_device *d, enum panel_form form, enum precision p)
{
	static const int64_t m[] = {1, 2, 33, 64, 100, 129, 255, 256, 257, 512, 513, 1000, 2049,
	        4095, 4096, 4097, 8192, 8193, 12345, 16384, 32769, 65536};
	static const int64_t n[] = {1, 2, 3, 17, 31, 32, 33, 64, 65, 100, 127, 128};
	const int64_t all_kinds = test_at_most(3000, 257); /* up to so many rows */

	for (size_t i = 0; i < ARRAY_LEN(m) * ARRAY_LEN(n); i++) {
		const struct shape s = {m[i / ARRAY_LEN(n)], n[i % ARRAY_LEN(n)], PADDING};
		if (s.n > s.m || (s.m > 3000 && s.n % 32 > 1) || !panel_fits(form, p, s.m, s.n) ||
		        !of_this_run(s.m, s.n))
			continue;
		for (size_t k = 0; k < (s.m > all_kinds ? 1 : ARRAY_LEN(kinds)); k++)
			test_kind(d, form, p, &s, kinds[k]);
	}
}

static void test_limits(void)
{
	for (int64_t n = 16; n <= 128; n *= 2) {
		const int64_t most = panel_cluster_rows(n, 4);
		ok(panel_cluster_fits(SINGLE, most, n) && !panel_cluster_fits(SINGLE, most + 1, n),
		        "%" PRId64 " rows of %" PRId64 " columns are the most in single precision",
		        most, n);
	}
	ok(!panel_cluster_fits(DOUBLE, 128, 65), "a row of 65 doubles is too long");
	ok(!panel_cluster_fits(SINGLE, 200, 129), "a row of 129 is too long");
}

int main(void)
{
	struct panel_device d = panel_device_open();

	if (!panel_cluster_fits(SINGLE, 256, 32))
		skip_all("this GPU has no clusters of 16 blocks");
	test_limits();
	for (enum panel_form form = LU_CLUSTER; form <= LU_GRID; form++) {
		test_precision(&d, form, SINGLE);
		test_precision(&d, form, DOUBLE);
	}
	return finish();
}
