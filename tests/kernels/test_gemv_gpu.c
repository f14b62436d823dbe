/* SPDX-License-Identifier: MIT */
/* On a GPU both gemv variants agree with a product in double precision on the host: N and T, both
 * precisions, sizes around the tiles, leading dimensions and addresses of every alignment,
 * increments, alpha and beta of 0 and 1. beta = 0 overwrites NaN, alpha = 0 reads nothing of A. A
 * NaN in A or x reaches exactly the elements that depend on it. Memory between and beside y is not
 * written. A repetition gives the same bits. */
#include "factor/kernels/gemv/gemv.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "tests/tap.h"
#include "tests/algorithms/uniform.h"

#ifdef FATHOM_CUDA
#include <cuda_runtime_api.h>

#include <inttypes.h>

struct shape {
	int64_t m, n, padding, offset, incx, incy;
};

static const struct shape shapes[] = {
        {1, 1, 0, 0, 1, 1},
        {1, 500, 3, 0, 2, 1},
        {500, 1, 0, 1, 1, 3},
        {2, 3, 0, 3, 1, 1},
        {3, 2, 1, 2, 2, 2},
        {31, 33, 1, 0, 1, 1},
        {64, 64, 0, 0, 1, 1},
        {127, 129, 1, 1, 1, 1},
        {128, 128, 4, 2, 1, 2},
        {129, 127, 3, 3, 3, 1},
        {512, 512, 0, 0, 1, 1},
        {513, 511, 3, 0, 1, 1},
        {1000, 1003, 0, 1, 1, 1},
        {1000, 1003, 2, 0, 2, 2},
        {100, 20000, 0, 0, 1, 1},
        {103, 20001, 5, 2, 1, 1},
        {20000, 100, 0, 3, 1, 1},
        {20001, 103, 1, 0, 1, 1},
        {3, 100000, 1, 0, 1, 1},
        {100000, 3, 0, 1, 1, 1},
        {100000, 16, 0, 0, 1, 1},
        {2049, 2047, 7, 5, 1, 1},
        {2048, 2048, 0, 0, 1, 1},
        {3001, 1555, 1, 0, 1, 1},
};

static const double scalars[][2] = {{1, 0}, {-0.5, 1}, {2, -0.75}, {0, 3}, {0, 0}};

/* How the work is split. */
enum cut { AS_PLANNED, SPLIT_5, KERR, CUTS };
static const char *const cut_name[] = {"planned", "5 splits", "kerr"};

struct bench {
	struct gpu gpu;
	void *a, *x, *y, *work;    /* on the device */
	double *ha, *hx, *hy;      /* on the host, as stored there */
	double *got, *again, *sum; /* results; sum of magnitudes that rounding is relative to */
};

enum { MATRIX = 5 << 20, VECTOR = 1 << 20, WORK = 64 << 20 };

static void put(void *device, const double *host, int64_t count, enum precision precision)
{
	float *single = xmalloc((size_t)count * sizeof *single);
	for (int64_t i = 0; i < count; i++)
		single[i] = (float)host[i];
	GPU(cudaMemcpy(device, precision == SINGLE ? (const void *)single : host,
	        (size_t)(count * precision_bytes(precision)), cudaMemcpyHostToDevice));
	free(single);
}

static void get(double *host, const void *device, int64_t count, enum precision precision)
{
	float *single = xmalloc((size_t)count * sizeof *single);
	GPU(cudaMemcpy(precision == SINGLE ? (void *)single : host, device,
	        (size_t)(count * precision_bytes(precision)), cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < count && precision == SINGLE; i++)
		host[i] = single[i];
	free(single);
}

static void fill(double *data, int64_t count, enum precision precision)
{
	for (int64_t i = 0; i < count; i++)
		data[i] = precision == SINGLE ? (float)uniform() : uniform();
}

static struct gemv_plan plan_of(const struct gemv_call *call, const struct gpu *gpu, enum cut cut)
{
	struct gemv_plan plan = gemv_plan(call, gpu);
	if (cut == SPLIT_5)
		plan.splits = plan.tiles <= GEMV_MAX_SPLIT_TILES ? 5 : 1;
	return plan;
}

static void run(
        struct bench *b, const struct gemv_call *call, enum cut cut, int64_t count, double *result)
{
	const struct gemv_plan plan = plan_of(call, &b->gpu, cut);
	put(b->y, b->hy, count, call->precision);
	if (cut == KERR)
		GPU(gemv_kerr(call, NULL));
	else if (gemv_work(&plan, call->precision) <= WORK)
		GPU(gemv_tuned(call, &plan, b->work, NULL));
	GPU(cudaDeviceSynchronize());
	get(result, b->y, count, call->precision);
}

/* y in fp64, and sum_j |a_ij x_j| of each element. a, x, y as the call has them, on the host. */
static void reference(const struct gemv_call *c, const double *a, const double *x, const double *y0,
        double *y, double *sum)
{
	const int64_t length = c->transposed ? c->n : c->m;
	for (int64_t i = 0; i < length; i++)
		y[i] = sum[i] = 0;
	for (int64_t j = 0; j < c->n && c->alpha != 0; j++)
		for (int64_t i = 0; i < c->m; i++) {
			const int64_t to = c->transposed ? j : i, from = c->transposed ? i : j;
			const double value = a[i + j * c->lda] * x[from * c->incx];
			y[to] += value;
			sum[to] += fabs(value);
		}
	for (int64_t i = 0; i < length; i++) {
		const double old = c->beta == 0 ? 0 : c->beta * y0[i * c->incy];
		sum[i] = fabs(c->alpha) * sum[i] + fabs(old);
		y[i] = (c->alpha == 0 ? 0 : c->alpha * y[i]) + old;
	}
}

static bool same_bits(const double *a, const double *b, int64_t count)
{
	return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

/* The worst error over the rounding bound of any order of summation (at most 1). Infinite when NaNs
 * are at wrong places, or when memory between the elements changed. */
static double worst_error(const struct bench *b, const struct gemv_call *c, const double *want,
        const double *sum, int64_t count)
{
	const int64_t length = c->transposed ? c->n : c->m, terms = c->transposed ? c->m : c->n;
	const double eps = c->precision == SINGLE ? 0x1p-24 : 0x1p-53;
	/* sums of partial sums: far fewer roundings in a row than terms */
	const double bound = 4 * eps * (sqrt((double)terms) + 8);
	double worst = 0;
	for (int64_t i = 0; i < count; i++) {
		const double got = b->got[i];
		if (i % c->incy != 0 || i / c->incy >= length) {
			if (memcmp(&got, &b->hy[i], sizeof got) != 0 &&
			        !(isnan(got) && isnan(b->hy[i])))
				return INFINITY;
			continue;
		}
		const double right = want[i / c->incy];
		if (isnan(right) != isnan(got))
			return INFINITY;
		if (!isnan(right))
			worst = fmax(
			        worst, fabs(got - right) / (bound * sum[i / c->incy] + 1e-300));
	}
	return worst;
}

static void check(struct bench *b, const struct shape *s, enum precision precision, bool transposed,
        const double *scalar, enum cut cut, const char *nan)
{
	const int64_t lda = s->m + s->padding, length = transposed ? s->n : s->m;
	const int64_t terms = transposed ? s->m : s->n, bytes = precision_bytes(precision);
	const int64_t count = length * s->incy + 40, matrix = lda * s->n + s->offset;
	const struct gemv_call call = {precision, transposed, s->m, s->n, scalar[0],
	        (char *)b->a + s->offset * bytes, lda, b->x, s->incx, scalar[1], b->y, s->incy};
	/* elements that must not be read are NaN */
	for (int64_t i = 0; i < count; i++)
		if (scalar[1] == 0 || i % s->incy != 0 || i / s->incy >= length)
			b->hy[i] = NAN;
		else
			b->hy[i] = precision == SINGLE ? (float)uniform() : uniform();
	fill(b->hx, terms * s->incx, precision);
	for (int64_t i = 0; i < terms * s->incx; i++)
		if (i % s->incx != 0)
			b->hx[i] = NAN;
	fill(b->ha, matrix, precision);
	for (int64_t i = 0; i < matrix; i++)
		if (i < s->offset || (i - s->offset) % lda >= s->m || scalar[0] == 0)
			b->ha[i] = NAN;
	if (strcmp(nan, "A") == 0)
		b->ha[s->offset + s->m / 2 + s->n / 3 * lda] = NAN;
	if (strcmp(nan, "x") == 0)
		b->hx[terms / 2 * s->incx] = NAN;
	put(b->a, b->ha, matrix, precision);
	put(b->x, b->hx, terms * s->incx, precision);
	double *want = xmalloc((size_t)length * sizeof *want);
	reference(&call, b->ha + s->offset, b->hx, b->hy, want, b->sum);
	run(b, &call, cut, count, b->got);
	run(b, &call, cut, count, b->again);
	const double error = worst_error(b, &call, want, b->sum, count);
	const bool repeats = same_bits(b->got, b->again, count);
	if (!ok(error <= 1 && repeats,
	            "%s %cgemv %c %" PRId64 " x %" PRId64 " +%" PRId64 " @%" PRId64 " inc %" PRId64
	            " %" PRId64 " alpha %g beta %g%s%s",
	            cut_name[cut], precision, transposed ? 't' : 'n', s->m, s->n, s->padding,
	            s->offset, s->incx, s->incy, scalar[0], scalar[1], *nan ? " NaN in " : "", nan))
		diag("error %.3g of the bound, repeats %d", error, repeats);
	free(want);
}

/* m = 0 or n = 0: y stays. */
static void check_empty(struct bench *b, bool transposed, int64_t m, int64_t n)
{
	struct gemv_call call = {SINGLE, transposed, m, n, 1, b->a, 8, b->x, 1, 0, b->y, 1};
	for (int64_t i = 0; i < 16; i++)
		b->hy[i] = 3;
	run(b, &call, AS_PLANNED, 16, b->got);
	run(b, &call, KERR, 16, b->again);
	ok(same_bits(b->got, b->hy, 16) && same_bits(b->again, b->hy, 16),
	        "%" PRId64 " x %" PRId64 " %s leaves y alone", m, n, transposed ? "T" : "N");
}

/* Products that each read the result before, launched one behind the other, against the same
 * products with a wait after each: overlapping launches must not change the result. */
static void check_chain(struct bench *b, enum precision precision, int64_t m, int64_t n)
{
	enum { LINKS = 24 };
	struct gemv_call call = {precision, false, m, n, 0.1, b->a, m, b->x, 1, 0.5, b->y, 1};
	fill(b->ha, m * n, precision);
	put(b->a, b->ha, m * n, precision);
	fill(b->hx, n, precision);
	fill(b->hy, m, precision);
	for (int wait = 0; wait < 2; wait++) {
		put(b->x, b->hx, n, precision);
		put(b->y, b->hy, m, precision);
		for (int i = 0; i < LINKS; i++) {
			call.transposed = i % 2;
			call.x = call.transposed ? b->y : b->x;
			call.y = call.transposed ? b->x : b->y;
			call.alpha = 1 / sqrt((double)(call.transposed ? m : n));
			const struct gemv_plan plan =
			        plan_of(&call, &b->gpu, i % 3 ? AS_PLANNED : SPLIT_5);
			GPU(gemv_tuned(&call, &plan, b->work, NULL));
			if (wait)
				GPU(cudaDeviceSynchronize());
		}
		GPU(cudaDeviceSynchronize());
		get(wait ? b->again : b->got, b->y, m, precision);
	}
	ok(same_bits(b->got, b->again, m), "a chain of products %c %" PRId64 " x %" PRId64,
	        precision, m, n);
}

static void open_bench(struct bench *b, const struct gpu *gpu)
{
	*b = (struct bench){.gpu = *gpu};
	GPU(cudaMalloc(&b->a, (size_t)MATRIX * 8));
	GPU(cudaMalloc(&b->x, (size_t)VECTOR * 8));
	GPU(cudaMalloc(&b->y, (size_t)VECTOR * 8));
	GPU(cudaMalloc(&b->work, WORK));
	GPU(cudaMemset(b->work, 0, WORK));
	b->ha = xmalloc((size_t)MATRIX * 8);
	double **vectors[] = {&b->hx, &b->hy, &b->got, &b->again, &b->sum};
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
		*vectors[i] = xmalloc((size_t)VECTOR * 8);
}

static void check_all(struct bench *b)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int mode = 0; mode < 4; mode++)
			for (int cut = 0; cut < CUTS; cut++) {
				const enum precision precision = mode & 1 ? DOUBLE : SINGLE;
				const double *scalar =
				        scalars[(i + (size_t)(mode + cut)) % ARRAY_LEN(scalars)];
				check(b, &shapes[i], precision, mode & 2, scalar, (enum cut)cut,
				        "");
			}
	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		for (int mode = 0; mode < 4; mode++)
			for (int cut = 0; cut < CUTS; cut++)
				for (int nan = 0; nan < 2; nan++)
					check(b, &shapes[7], mode & 1 ? DOUBLE : SINGLE, mode & 2,
					        scalars[i], (enum cut)cut,
					        scalars[i][0] == 0 ? ""
					        : nan              ? "x"
					                           : "A");
}

int main(void)
{
	struct fault fault;
	struct gpu gpu;
	struct bench b;
	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	open_bench(&b, &gpu);
	check_all(&b);
	for (int transposed = 0; transposed < 2; transposed++) {
		check_empty(&b, transposed, 0, 4);
		check_empty(&b, transposed, 4, 0);
	}
	for (int d = 0; d < 2; d++) {
		check_chain(&b, d ? DOUBLE : SINGLE, 2000, 2000);
		check_chain(&b, d ? DOUBLE : SINGLE, 300, 5000);
	}
	return finish();
}
#else
int main(void)
{
	skip_all("fathom was built without the CUDA Toolkit");
}
#endif
