/* SPDX-License-Identifier: MIT */
/* LAWN 202's kernels on a GPU. The vector-thread products against sums in double precision on the
 * host, element by element within the rounding bound: block edges, lda > m, a poisoned C, memory
 * around C, NaN in A, the same bits on repetition. The kernel without prefetches computes the same;
 * the kernel without fetches only has to end and to stay within C. The forms of sections 4.2 and
 * 4.3: block-triangular A, B and C, with NaN where nothing is to be read and C above its diagonal
 * left alone; k in parts, more than there are, in poisoned work memory. The row swaps, in both
 * layouts, against row swaps on the host. */
#include "tests/tap.h"

#include "factor/papers/gemm_volkov.h"
#include "factor/papers/laswp_volkov.h"
#include "lib/base/msg.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>
#include <float.h>

/* The next number in [-1, 1) of one sequence (xorshift64). */
static double uniform(void)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-52 - 1;
}

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

static float next_value(void)
{
	return (float)uniform();
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

/* Whether A or op(B), when one of them is triangular, has something at l for element (i, j). */
static bool has_term(enum volkov_shape shape, int i, int j, int l)
{
	switch (shape) {
	case VOLKOV_A_LOWER:
		return l <= i;
	case VOLKOV_A_UPPER:
		return l >= i;
	case VOLKOV_B_LOWER:
		return l >= j;
	case VOLKOV_B_UPPER:
		return l <= j;
	default:
		return true;
	}
}

/* alpha op(A) op(B) + beta C of one element, in double; *bound: of its rounding. */
static double expected(const struct volkov_call *p, const struct array *a, const struct array *b,
        const struct array *c, int i, int j, double *bound)
{
	double sum = 0, magnitude = 0;

	for (int l = 0; l < p->k && p->alpha != 0; l++) {
		if (!has_term(p->shape, i, j, l))
			continue;
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

/* Whether `got` is the product, NaN where the product is NaN, and C's surroundings are as before;
 * `surroundings`: only the surroundings count. */
static bool agrees(const struct volkov_call *p, const struct array *a, const struct array *b,
        const struct array *c, const float *got, bool surroundings)
{
	const bool triangle = p->shape == VOLKOV_C_FOLDED || p->shape == VOLKOV_C_EXIT;

	for (size_t at = 0; at < c->count; at++) {
		const int i = (int)(at % (size_t)c->ld), j = (int)(at / (size_t)c->ld);
		double bound;
		if (i >= c->m || j >= c->n || (triangle && j > i)) {
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
	void *work = NULL;
	bool good = true;

	const size_t work_bytes = (size_t)(p.splits > 1 ? p.splits * p.m * p.n : 0) * sizeof *got;
	if (work_bytes)
		GPU(cudaMalloc(&work, work_bytes));
	p.work = work;
	p.a = a->device;
	p.b = b->device;
	p.c = c->device;
	p.lda = a->ld;
	p.ldb = b->ld;
	p.ldc = c->ld;
	for (int run = 0; run < 2; run++) {
		upload(c);
		if (work)
			GPU(cudaMemset(work, 0xff, work_bytes)); /* NaN */
		good &= gemm_volkov(&p, NULL) == 0;
		GPU(cudaDeviceSynchronize());
		GPU(cudaMemcpy(to[run], c->device, c->count * sizeof *got, cudaMemcpyDeviceToHost));
	}
	const bool any = p.without == VOLKOV_NO_FETCH;
	good &= any || memcmp(got, again, c->count * sizeof *got) == 0;
	good &= agrees(&p, a, b, c, got, any);
	GPU(cudaFree(work));
	free(got);
	free(again);
	return good;
}

/* A, B and C of a product, and a C of NaN. */
struct operands {
	struct array a, b, c, poison;
};

static struct operands operands_new(struct shape s, bool tb)
{
	return (struct operands){.a = array_new(s.m, s.k, true),
	        .b = array_new(tb ? s.n : s.k, tb ? s.k : s.n, true),
	        .c = array_new(s.m, s.n, true),
	        .poison = array_new(s.m, s.n, false)};
}

static void operands_free(struct operands *o)
{
	array_free(&o->a);
	array_free(&o->b);
	array_free(&o->c);
	array_free(&o->poison);
}

/* The product in one form and with every pair of scalars; prints the scalars of wrong results. */
static bool check_scalars(struct shape s, struct volkov_call p, const struct operands *o)
{
	bool good = true;

	p.m = s.m;
	p.n = s.n;
	p.k = s.k;
	for (size_t x = 0; x < ARRAY_LEN(scalars); x++) {
		if (!test_turn(x, 2))
			continue;
		p.alpha = scalars[x].alpha;
		p.beta = scalars[x].beta;
		const bool one = check(p, &o->a, &o->b, p.beta == 0 ? &o->poison : &o->c);
		if (!one)
			diag("%s without %d, shape %d, %d splits, alpha %g beta %g",
			        p.tb ? "A B^T" : "A B", p.without, p.shape, p.splits,
			        (double)p.alpha, (double)p.beta);
		good &= one;
	}
	return good;
}

/* ---- products ---- */

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

/* The forms of one shape of triangle, with every scalar, lda > m and a poisoned C. */
static void test_forms(
        struct shape s, const struct volkov_call *form, size_t forms, const char *what)
{
	const enum volkov_shape shape = form->shape;

	for (int tb = 0; tb < 2; tb++) {
		struct operands o = operands_new(s, tb);
		bool good = true;
		if (shape == VOLKOV_A_LOWER || shape == VOLKOV_A_UPPER)
			make_triangle(&o.a, shape == VOLKOV_A_LOWER, false, 64);
		if (shape == VOLKOV_B_LOWER || shape == VOLKOV_B_UPPER)
			make_triangle(&o.b, shape == VOLKOV_B_LOWER, tb, 16);
		for (size_t i = 0; i < forms; i++) {
			struct volkov_call call = form[i];
			call.tb = tb;
			good &= check_scalars(s, call, &o);
		}
		ok(good, "%d x %d x %d %s: %s", s.m, s.n, s.k, tb ? "A B^T" : "A B", what);
		operands_free(&o);
	}
}

static void test_triangles(struct shape s)
{
	for (int shape = VOLKOV_C_FOLDED; shape < VOLKOV_SHAPES; shape++)
		test_forms(s, &(struct volkov_call){.shape = (enum volkov_shape)shape}, 1,
		        shape_name[shape]);
}

static const struct volkov_call ways[VOLKOV_WAYS] = {{.without = VOLKOV_COMPLETE},
        {.without = VOLKOV_NO_PREFETCH}, {.without = VOLKOV_NO_FETCH}};
static const struct volkov_call splits[] = {{.splits = 1}, {.splits = 2}, {.splits = 3},
        {.splits = 4}, {.splits = 5}, {.splits = 6}, {.splits = 7}, {.splits = 8}, {.splits = 9},
        {.splits = 50}};

static void test_splits(struct shape s)
{
	test_forms(s, splits, ARRAY_LEN(splits), "k in 1 to 9 and 50 parts");
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

/* ---- row swaps ---- */

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
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		if (!test_turn(i, 5))
			continue;
		test_forms(shapes[i], ways, VOLKOV_WAYS, "every way");
		test_splits(shapes[i]);
		test_triangles(shapes[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(triangles); i++)
		if (test_turn(i, 2))
			test_triangles(triangles[i]);
	test_splits((struct shape){96, 40, 300});
	test_nan();
	test_refusals();
	for (int by_row = 0; by_row < 2; by_row++) {
		test_exchanges(200, 131, 64, by_row);
		test_exchanges(64, 1, 64, by_row);
		test_exchanges(70, 65, 1, by_row);
		test_exchanges(5, 3, 0, by_row);
	}
	return finish();
}
