/* SPDX-License-Identifier: MIT */
/* On a GPU every kernel of the matrix product agrees with sums in (long) double precision on the
 * host, element by element within the rounding bound k eps sum |a||b|: all transposes, tile edges,
 * odd leading dimensions and addresses, splits of k, triangles. Memory around C keeps its content,
 * a NaN in C is overwritten when beta is 0, and the same call gives the same bits. */
#include "factor/kernels/gemm/gemm.h"
#include "lib/device/gpu.h"
#include "tests/tap.h"

#ifndef FATHOM_CUDA

int main(void)
{
	skip_all("built without the CUDA Toolkit");
}

#else

#include "tests/algorithms/matrix_kinds.h"
#include "tests/algorithms/uniform.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>

struct shape {
	int64_t m, n, k;
};

static const struct shape shapes[] = {
        {1, 1, 1},
        {3, 5, 2},
        {64, 64, 16},
        {127, 129, 15},
        {128, 128, 64},
        {129, 127, 17},
        {257, 31, 100},
        {33, 300, 33},
        {200, 200, 0},
        {300, 260, 130},
        {17, 19, 1000},
        {70, 33, 9001},
        {640, 512, 70},
};

/* How a matrix lies in memory: elements before it, and below each of its columns. */
struct layout {
	int64_t before, padding;
};

static const struct layout layouts[] = {{0, 0}, {4, 8}, {1, 0}, {0, 3}};

struct scalars {
	double alpha, beta;
};

enum { WORK_BYTES = 16 << 20 }; /* of splits of k */

static const struct scalars scalars[] = {{-1, 1}, {0.75, 0}, {1.5, -0.5}, {0, 2}, {0, 0}};

/* A matrix on the host and on the device, with its surroundings. */
struct array {
	enum precision precision;
	int64_t m, n, ld, before, count;
	void *host, *device;
};

/* Rounded to the precision, so that both sides work on the same numbers. */
static double next_value(enum precision precision)
{
	const double x = uniform();

	return precision == SINGLE ? (double)(float)x : x;
}

static size_t array_bytes(const struct array *a)
{
	return (size_t)(a->count * precision_bytes(a->precision));
}

static struct array array_new(enum precision precision, int64_t m, int64_t n, struct layout layout)
{
	struct array a = {.precision = precision,
	        .m = m,
	        .n = n,
	        .ld = m + layout.padding,
	        .before = layout.before};
	a.ld = layout.padding % 4 == 0 && layout.before % 4 == 0 ? (a.ld + 3) / 4 * 4 : a.ld;
	a.ld = a.ld < 1 ? 1 : a.ld;
	a.count = a.before + a.ld * n + 8;
	a.host = xmalloc(array_bytes(&a));
	GPU(cudaMalloc(&a.device, array_bytes(&a)));
	for (int64_t i = 0; i < a.count; i++)
		put(a.host, i, precision, NAN);
	return a;
}

static void array_free(struct array *a)
{
	free(a->host);
	GPU(cudaFree(a->device));
}

static void *array_start(const struct array *a)
{
	return (char *)a->device + a->before * precision_bytes(a->precision);
}

static void array_upload(const struct array *a)
{
	GPU(cudaMemcpy(a->device, a->host, array_bytes(a), cudaMemcpyHostToDevice));
}

/* The operands of one shape as op(A) and op(B), their product and the sum of the magnitudes. */
struct reference {
	enum precision precision;
	struct shape s;
	double *a, *b, *c;
	long double *product, *magnitude;
};

static struct reference reference_new(enum precision precision, struct shape s)
{
	struct reference r = {.precision = precision, .s = s};
	const size_t size = sizeof *r.a;
	r.a = xmalloc((size_t)(s.m * s.k + 1) * size);
	r.b = xmalloc((size_t)(s.k * s.n + 1) * size);
	r.c = xmalloc((size_t)(s.m * s.n) * size);
	r.product = xmalloc((size_t)(s.m * s.n) * sizeof *r.product);
	r.magnitude = xmalloc((size_t)(s.m * s.n) * sizeof *r.magnitude);
	for (int64_t i = 0; i < s.m * s.k; i++)
		r.a[i] = next_value(precision);
	for (int64_t i = 0; i < s.k * s.n; i++)
		r.b[i] = next_value(precision);
	for (int64_t i = 0; i < s.m * s.n; i++) {
		r.c[i] = next_value(precision);
		r.product[i] = r.magnitude[i] = 0;
	}
	for (int64_t j = 0; j < s.n; j++)
		for (int64_t l = 0; l < s.k; l++)
			for (int64_t i = 0; i < s.m; i++) {
				const long double x =
				        (long double)r.a[i + l * s.m] * r.b[l + j * s.k];
				r.product[i + j * s.m] += x;
				r.magnitude[i + j * s.m] += fabsl(x);
			}
	return r;
}

static void reference_free(struct reference *r)
{
	free(r->a);
	free(r->b);
	free(r->c);
	free(r->product);
	free(r->magnitude);
}

/* rows x columns values, in the array as they are or transposed. */
static void place(const struct array *to, const double *from, int64_t rows, int64_t columns, bool t)
{
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			put(to->host, to->before + (t ? j + i * to->ld : i + j * to->ld),
			        to->precision, from[i + j * rows]);
}

static bool is_computed(enum gemm_part part, int64_t i, int64_t j)
{
	return part == GEMM_WHOLE || (part == GEMM_LOWER ? i >= j : i <= j);
}

/* Largest error in units of its bound; infinite where C's surroundings changed. */
static double worst_error(const struct reference *r, enum gemm_part part, struct scalars x,
        const struct array *c, const void *got)
{
	const int64_t bytes = precision_bytes(r->precision);
	const double eps = r->precision == SINGLE ? FLT_EPSILON : DBL_EPSILON;
	const struct shape s = r->s;
	double worst = 0;
	for (int64_t at = 0; at < c->count; at++) {
		const int64_t i = at < c->before ? -1 : (at - c->before) % c->ld;
		const int64_t j = at < c->before ? -1 : (at - c->before) / c->ld;
		if (i < 0 || i >= s.m || j >= s.n || !is_computed(part, i, j)) {
			if (memcmp((const char *)got + at * bytes,
			            (const char *)c->host + at * bytes, (size_t)bytes) != 0)
				return INFINITY;
			continue;
		}
		const int64_t e = i + j * s.m;
		const double old = x.beta != 0 ? x.beta * r->c[e] : 0;
		const long double want = x.alpha * r->product[e] + old;
		const double bound = (double)(s.k + 3) * eps / 2 *
		                     (fabs(x.alpha) * (double)r->magnitude[e] + fabs(old));
		const double error = (double)fabsl(get(got, at, r->precision) - want);
		if (!(error <= bound))
			worst = fmax(worst, isnan(error) || bound <= 0 ? INFINITY : error / bound);
	}
	return worst;
}

/* One call; the result in got, c->count elements. */
static int call(const struct gemm_problem *p, const struct gemm_plan *plan, struct scalars x,
        const struct array *a, const struct array *b, const struct array *c, void *got)
{
	void *work = NULL;
	array_upload(c);
	if (plan->work_bytes) {
		GPU(cudaMalloc(&work, (size_t)plan->work_bytes));
		GPU(cudaMemset(work, 0xff, (size_t)plan->work_bytes));
	}
	const int error = gemm_launch(p, plan, x.alpha, array_start(a), array_start(b), x.beta,
	        array_start(c), work, NULL);
	GPU(cudaDeviceSynchronize());
	GPU(cudaMemcpy(got, c->device, array_bytes(c), cudaMemcpyDeviceToHost));
	GPU(cudaFree(work));
	return error;
}

static bool check(const struct reference *r, struct gemm_problem p, const struct gemm_plan *plan,
        const struct array *a, const struct array *b, struct layout layout, struct scalars x)
{
	const struct shape s = r->s;
	struct array c = array_new(r->precision, s.m, s.n, layout);
	void *got = xmalloc(array_bytes(&c)), *again = xmalloc(array_bytes(&c));

	p.ldc = c.ld;
	if (x.beta != 0)
		place(&c, r->c, s.m, s.n, false);
	int error = call(&p, plan, x, a, b, &c, got);
	double worst = worst_error(r, p.part, x, &c, got);
	error = error ? error : call(&p, plan, x, a, b, &c, again);
	const bool repeats = memcmp(got, again, array_bytes(&c)) == 0;
	const bool good = !error && worst <= 1 && repeats;
	if (!good)
		diag("%c %" PRId64 " x %" PRId64 " x %" PRId64
		     " %c%c part %d shape %d splits %d ld "
		     "%" PRId64 " %" PRId64 " %" PRId64 " before %" PRId64
		     " alpha %g beta %g: cuda error %d, error/bound %.3g, repeats %d",
		        (char)r->precision, s.m, s.n, s.k, p.ta ? 'T' : 'N', p.tb ? 'T' : 'N',
		        p.part, plan->shape, plan->splits, p.lda, p.ldb, p.ldc, layout.before,
		        x.alpha, x.beta, error, worst, repeats);
	free(got);
	free(again);
	array_free(&c);
	return good;
}

static int64_t work_for(const struct reference *r, int splits)
{
	const int64_t ld = (r->s.m + 3) / 4 * 4;

	return splits > 1 ? splits * ld * r->s.n * precision_bytes(r->precision) : 0;
}

/* Every kernel, with one part of k and several, and the plan made for the problem; scalars take
 * turns. */
static bool check_plans(const struct reference *r, struct gemm_problem p, const struct array *a,
        const struct array *b, struct layout layout)
{
	static size_t turn;
	bool good = true;

	const bool single = r->precision == SINGLE;
	for (int shape = single ? 0 : GEMM_DOUBLE; shape < (single ? GEMM_DOUBLE : GEMM_SHAPES);
	        shape++) {
		const struct gemm_geometry *g = &gemm_geometry[shape];
		for (int splits = 1; splits <= 3; splits += 2) {
			const struct gemm_plan plan = {
			        shape, splits, work_for(r, splits), turn / ARRAY_LEN(scalars) % 2};
			if ((p.part != GEMM_WHOLE && g->rows != g->columns) ||
			        (splits - 1) * g->depth >= r->s.k + (splits == 1))
				continue;
			good &= check(
			        r, p, &plan, a, b, layout, scalars[turn++ % ARRAY_LEN(scalars)]);
		}
	}
	const struct gemm_plan plan = gemm_plan_make(&p, 132, WORK_BYTES);
	return good & check(r, p, &plan, a, b, layout, scalars[turn++ % ARRAY_LEN(scalars)]);
}

static void test_shape(enum precision precision, struct shape s)
{
	struct reference r = reference_new(precision, s);
	for (int op = 0; op < 4; op++) {
		const bool ta = op & 1, tb = op & 2;
		bool good = true;
		for (size_t l = 0; l < ARRAY_LEN(layouts); l++) {
			struct array a =
			        array_new(precision, ta ? s.k : s.m, ta ? s.m : s.k, layouts[l]);
			struct array b =
			        array_new(precision, tb ? s.n : s.k, tb ? s.k : s.n, layouts[l]);
			place(&a, r.a, s.m, s.k, ta);
			place(&b, r.b, s.k, s.n, tb);
			array_upload(&a);
			array_upload(&b);
			struct gemm_problem p = {
			        precision, ta, tb, GEMM_WHOLE, s.m, s.n, s.k, a.ld, b.ld, 0};
			good &= check_plans(&r, p, &a, &b, layouts[l]);
			for (p.part = GEMM_LOWER; p.part <= GEMM_UPPER; p.part++)
				good &= (p.part == GEMM_LOWER ? s.m < s.n : s.m > s.n) ||
				        check_plans(&r, p, &a, &b, layouts[l]);
			array_free(&a);
			array_free(&b);
		}
		ok(good,
		        "%c %" PRId64 " x %" PRId64 " x %" PRId64 " %c%c: every kernel, layout, "
		        "scalar; padding; bits repeat",
		        (char)precision, s.m, s.n, s.k, ta ? 'T' : 'N', tb ? 'T' : 'N');
	}
	reference_free(&r);
}

/* A triangle of many tiles, and with others below it: every tile is visited once. */
static void test_large_triangle(enum precision precision, int64_t n)
{
	struct reference r = reference_new(precision, (struct shape){2500, n, 3});
	const struct layout tight = {0, 0};
	struct array a = array_new(precision, 2500, 3, tight),
	             b = array_new(precision, n, 3, tight);
	bool good = true;
	place(&a, r.a, 2500, 3, false);
	place(&b, r.b, 3, n, true);
	array_upload(&a);
	array_upload(&b);
	for (enum gemm_part part = GEMM_WHOLE; part <= (n == 2500 ? GEMM_UPPER : GEMM_LOWER);
	        part++) {
		const struct gemm_problem p = {
		        precision, false, true, part, 2500, n, 3, a.ld, b.ld, 0};
		good &= check_plans(&r, p, &a, &b, tight);
	}
	ok(good, "%c 2500 x %" PRId64 " x 3: whole and triangles of many bands of tiles",
	        (char)precision, n);
	array_free(&a);
	array_free(&b);
	reference_free(&r);
}

static void test_precision(enum precision precision)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		test_shape(precision, shapes[i]);
	test_large_triangle(precision, 2500);
	test_large_triangle(precision, 2499);
	test_large_triangle(precision, 700);
}

int main(void)
{
	struct fault fault;
	struct gpu gpu;
	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	test_precision(SINGLE);
	if (gemm_has(DOUBLE, gpu.code, gpu.shared_per_block))
		test_precision(DOUBLE);
	else
		skip("double precision", "this device has no kernels for it");
	return finish();
}

#endif
