/* SPDX-License-Identifier: MIT */
/* LAWN 202's kernels on a GPU. The vector-thread products against sums in double precision on the
 * host, element by element within the rounding bound: block edges, lda > m, a poisoned C, what lies
 * around it, NaN in A, the same bits on repetition. The kernel without prefetches computes the
 * same; the one without fetches only has to end and to stay within C. The row interchanges, in both
 * layouts, against exchanges on the host. */
#include "../factor/cuda/gemm_volkov.h"
#include "../factor/cuda/laswp_volkov.h"
#include "../lib/gpu.h"
#include "tap.h"

#ifndef FATHOM_CUDA

int main(void)
{
	skip_all("built without the CUDA Toolkit");
}

#else

#include "../lib/msg.h"

#include <cuda_runtime_api.h>
#include <float.h>

struct shape {
	int m, n, k;
};

static const struct shape shapes[] = {{1, 1, 1}, {64, 16, 16}, {64, 16, 4}, {63, 15, 15},
        {65, 17, 17}, {129, 47, 33}, {200, 100, 64}, {3, 300, 7}, {300, 2, 130}, {70, 20, 0},
        {257, 129, 51}};

struct scalars {
	float alpha, beta;
};

static const struct scalars scalars[] = {{1, 1}, {-0.75f, 0}, {1.5f, -0.5f}, {0, 2}, {0, 0}};

enum { PADDING = 5 };

/* A matrix with PADDING rows below each of its columns and a column more, all NaN at first. */
struct array {
	int m, n, ld;
	size_t count;
	float *host;
	void *device;
};

static uint64_t state = 20080513;

static float next_value(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (float)((double)(int64_t)(state >> 11) / (double)(1ll << 52) - 1);
}

static void upload(const struct array *a)
{
	GPU(cudaMemcpy(a->device, a->host, a->count * sizeof *a->host, cudaMemcpyHostToDevice));
}

static struct array array_new(int m, int n, bool filled)
{
	struct array a = {.m = m, .n = n, .ld = m + PADDING};

	a.count = (size_t)a.ld * (size_t)(n + 1);
	a.host = xmalloc(a.count * sizeof *a.host);
	for (size_t i = 0; i < a.count; i++)
		a.host[i] = NAN;
	for (int j = 0; j < n && filled; j++)
		for (int i = 0; i < m; i++)
			a.host[i + j * a.ld] = next_value();
	GPU(cudaMalloc(&a.device, a.count * sizeof *a.host));
	upload(&a);
	return a;
}

static void array_free(struct array *a)
{
	free(a->host);
	GPU(cudaFree(a->device));
}

/* alpha op(A) op(B) + beta C of one element, in double; *bound: of its rounding. */
static double expected(const struct volkov_call *p, const struct array *a, const struct array *b,
        const struct array *c, int i, int j, double *bound)
{
	double sum = 0, magnitude = 0;

	for (int l = 0; l < p->k && p->alpha != 0; l++) {
		const double x = (double)a->host[i + l * a->ld] *
		                 (double)(p->tb ? b->host[j + l * b->ld] : b->host[l + j * b->ld]);
		sum += x;
		magnitude += fabs(x);
	}
	const double old = p->beta != 0 ? (double)p->beta * (double)c->host[i + j * c->ld] : 0;
	*bound = ((double)p->k + 3) * FLT_EPSILON / 2 *
	         (fabs((double)p->alpha) * magnitude + fabs(old));
	return (double)p->alpha * sum + old;
}

/* Whether `got` is the product, NaN where that is, and C's surroundings are as they were;
 * `surroundings`: only those count. */
static bool agrees(const struct volkov_call *p, const struct array *a, const struct array *b,
        const struct array *c, const float *got, bool surroundings)
{
	for (size_t at = 0; at < c->count; at++) {
		const int i = (int)(at % (size_t)c->ld), j = (int)(at / (size_t)c->ld);
		double bound;
		if (i >= c->m || j >= c->n) {
			if (memcmp(&got[at], &c->host[at], sizeof *got) != 0)
				return false;
			continue;
		}
		if (surroundings)
			continue;
		const double want = expected(p, a, b, c, i, j, &bound);
		if (isnan(want) ? !isnan(got[at]) : !(fabs((double)got[at] - want) <= bound))
			return false;
	}
	return true;
}

/* The product of a fresh copy of C, twice: the same bits, and right. */
static bool check(
        struct volkov_call p, const struct array *a, const struct array *b, const struct array *c)
{
	float *got = xmalloc(c->count * sizeof *got), *again = xmalloc(c->count * sizeof *again);
	float *to[] = {got, again};
	bool good = true;

	p.a = a->device;
	p.b = b->device;
	p.c = c->device;
	p.lda = a->ld;
	p.ldb = b->ld;
	p.ldc = c->ld;
	for (int run = 0; run < 2; run++) {
		upload(c);
		good &= gemm_volkov(&p, NULL) == 0;
		GPU(cudaDeviceSynchronize());
		GPU(cudaMemcpy(to[run], c->device, c->count * sizeof *got, cudaMemcpyDeviceToHost));
	}
	const bool any = p.without == VOLKOV_NO_FETCH;
	good &= any || memcmp(got, again, c->count * sizeof *got) == 0;
	good &= agrees(&p, a, b, c, got, any);
	free(got);
	free(again);
	return good;
}

static void test_shape(struct shape s)
{
	for (int tb = 0; tb < 2; tb++) {
		struct array a = array_new(s.m, s.k, true);
		struct array b = array_new(tb ? s.n : s.k, tb ? s.k : s.n, true);
		struct array c = array_new(s.m, s.n, true), poison = array_new(s.m, s.n, false);
		struct volkov_call p = {.tb = tb, .m = s.m, .n = s.n, .k = s.k};
		bool good = true, whole;
		for (size_t x = 0; x < ARRAY_LEN(scalars); x++)
			for (int way = 0; way < VOLKOV_WAYS; way++) {
				p.without = (enum volkov_without)way;
				p.alpha = scalars[x].alpha;
				p.beta = scalars[x].beta;
				whole = check(p, &a, &b, p.beta == 0 ? &poison : &c);
				if (!whole)
					diag("way %d, alpha %g beta %g", way, (double)p.alpha,
					        (double)p.beta);
				good &= whole;
			}
		ok(good, "%d x %d x %d %s: every way and scalar, lda > m, C poisoned", s.m, s.n,
		        s.k, tb ? "A B^T" : "A B");
		array_free(&a);
		array_free(&b);
		array_free(&c);
		array_free(&poison);
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

/* Rows of a matrix, or of the transpose of what lies there. */
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
