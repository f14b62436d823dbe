/* SPDX-License-Identifier: MIT */
/* Shared by the tests of LAWN 202's kernels: matrices in host and device memory with NaN around
 * them, and the vector-thread product against sums in double precision on the host. */
#pragma once

#include "factor/papers/gemm_volkov.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "tests/tap.h"
#include "tests/algorithms/uniform.h"

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
