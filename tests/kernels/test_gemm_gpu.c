/* SPDX-License-Identifier: MIT */
/* On a GPU every kernel of the matrix product agrees with sums in (long) double precision on the
 * host, element by element within the rounding bound k eps sum |a||b|: all transposes, tile edges,
 * odd leading dimensions and addresses, splits of k, triangles. Memory around C keeps its content,
 * a NaN in C is overwritten when beta is 0, and the same call gives the same bits. */
#include "tests/executors/executor_memory.h"

#include "factor/kernels/gemm/gemm.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>

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

struct scalars {
	double alpha, beta;
};

/* In a small run instead of them: several tiles of most kernels, both triangles, splits of k. */
static const struct shape small_shape = {140, 140, 70};

enum { WORK_BYTES = 16 << 20 }; /* of splits of k */

static const struct scalars scalars[] = {{-1, 1}, {0.75, 0}, {1.5, -0.5}, {0, 2}, {0, 0}};

/* The operands of one product, it and the sum of its terms' magnitudes on the host. */
struct reference {
	enum place place;
	struct block a, b, c, poisoned, product, magnitude;
};

static struct reference reference_new(
        struct executor *e, enum precision p, struct shape s, bool ta, bool tb, enum place place)
{
	struct reference r = {place, block_placed(e, p, ta ? s.k : s.m, ta ? s.m : s.k, place),
	        block_placed(e, p, tb ? s.n : s.k, tb ? s.k : s.n, place),
	        block_placed(e, p, s.m, s.n, place), block_placed(e, p, s.m, s.n, place),
	        block_new(e, DOUBLE, s.m, s.n), block_new(e, DOUBLE, s.m, s.n)};

	block_set(&r.poisoned, NAN);
	block_product(1, &r.a, ta, &r.b, tb, 0, &r.product);
	block_magnitude(&r.a, ta, &r.b, tb, &r.magnitude);
	return r;
}

static struct gemm_problem problem_of(const struct reference *r, bool ta, bool tb)
{
	return (struct gemm_problem){r->a.a.precision, ta, tb, GEMM_WHOLE, r->c.a.m, r->c.a.n,
	        ta ? r->a.a.m : r->a.a.n, r->a.a.ld, r->b.a.ld, r->c.a.ld};
}

/* In units of its bound. In double precision the reference is rounded as often. */
static double worst_error(const struct reference *r, const struct gemm_problem *p, struct scalars x,
        const struct block *c, const double *got)
{
	static const enum uplo parts[] = {
	        [GEMM_WHOLE] = WHOLE, [GEMM_LOWER] = LOWER, [GEMM_UPPER] = UPPER};
	const double roundings = (double)(p->k + 3) * (p->precision == DOUBLE ? 2 : 1);

	return block_error(c, parts[p->part], x.alpha, &r->product, &r->magnitude, x.beta, got) /
	       (roundings * unit_roundoff(p->precision));
}

/* C after one call. */
static double *call(struct executor *e, const struct gemm_problem *p, const struct gemm_plan *plan,
        struct scalars x, const struct reference *r, const struct block *c, int *error)
{
	void *work = NULL;

	block_upload(e, c);
	if (plan->work_bytes) {
		GPU(cudaMalloc(&work, (size_t)plan->work_bytes));
		GPU(cudaMemset(work, 0xff, (size_t)plan->work_bytes));
	}
	GPU(cudaDeviceSynchronize());
	*error = gemm_launch(p, plan, x.alpha, matrix_address(r->a.a), matrix_address(r->b.a),
	        x.beta, matrix_address(c->a), work, NULL);
	GPU(cudaDeviceSynchronize());
	GPU(cudaFree(work));
	return block_download(e, c);
}

static bool check(struct executor *e, const struct reference *r, struct gemm_problem p,
        const struct gemm_plan *plan, struct scalars x)
{
	const struct block *c = x.beta == 0 ? &r->poisoned : &r->c;
	int errors[2];

	p.ldc = c->a.ld;
	double *got = call(e, &p, plan, x, r, c, &errors[0]),
	       *again = call(e, &p, plan, x, r, c, &errors[1]);
	const double worst = worst_error(r, &p, x, c, got);
	const bool repeats = memcmp(got, again, (size_t)(c->all.m * c->all.n) * sizeof *got) == 0;
	const bool good = !errors[0] && !errors[1] && worst <= 1 && repeats;
	if (!good)
		diag("%c %" PRId64 " x %" PRId64 " x %" PRId64
		     " %c%c part %d shape %d splits %d ld %" PRId64 " %" PRId64 " %" PRId64
		     "%s alpha %g beta %g: cuda error %d, error/bound %.3g, repeats %d",
		        (char)p.precision, p.m, p.n, p.k, p.ta ? 'T' : 'N', p.tb ? 'T' : 'N',
		        p.part, plan->shape, plan->splits, p.lda, p.ldb, p.ldc,
		        place_name[r->place], x.alpha, x.beta, errors[0], worst, repeats);
	free(got);
	free(again);
	return good;
}

/* Every kernel, with one part of k and several, and the plan made for the problem; scalars take
 * turns. */
static bool check_plans(struct executor *e, const struct reference *r, struct gemm_problem p)
{
	static size_t turn;
	const bool single = p.precision == SINGLE;
	const int64_t sums = (p.m + 3) / 4 * 4 * p.n * precision_bytes(p.precision);
	bool good = true;

	for (int shape = single ? 0 : GEMM_DOUBLE; shape < (single ? GEMM_DOUBLE : GEMM_SHAPES);
	        shape++) {
		const struct gemm_geometry *g = &gemm_geometry[shape];
		for (int splits = 1; splits <= 3; splits += 2) {
			const struct gemm_plan plan = {shape, splits,
			        splits > 1 ? splits * sums : 0, turn / ARRAY_LEN(scalars) % 2};
			if ((p.part != GEMM_WHOLE && g->rows != g->columns) ||
			        (splits - 1) * g->depth >= p.k + (splits == 1))
				continue;
			good &= check(e, r, p, &plan, scalars[turn++ % ARRAY_LEN(scalars)]);
		}
	}
	const struct gemm_plan plan = gemm_plan_make(&p, &tuning_hopper, WORK_BYTES);
	return good & check(e, r, p, &plan, scalars[turn++ % ARRAY_LEN(scalars)]);
}

static bool check_place(struct executor *e, enum precision precision, struct shape s, bool ta,
        bool tb, enum place place)
{
	const struct reference r = reference_new(e, precision, s, ta, tb, place);
	struct gemm_problem p = problem_of(&r, ta, tb);
	bool good = true;

	for (p.part = GEMM_WHOLE; p.part <= GEMM_UPPER; p.part++)
		if (p.part == GEMM_WHOLE || (p.part == GEMM_LOWER ? s.m >= s.n : s.m <= s.n))
			good &= check_plans(e, &r, p);
	blocks_free(e);
	return good;
}

static void test_shape(struct executor *e, enum precision precision, struct shape s)
{
	for (int op = 0; op < 4; op++) {
		bool good = true;
		for (enum place place = ANYWHERE; place < PLACES; place++)
			good &= check_place(e, precision, s, op & 1, op & 2, place);
		ok(good,
		        "%c %" PRId64 " x %" PRId64 " x %" PRId64 " %c%c: every kernel, layout, "
		        "scalar; padding; bits repeat",
		        (char)precision, s.m, s.n, s.k, op & 1 ? 'T' : 'N', op & 2 ? 'T' : 'N');
	}
}

static void test_precision(struct executor *e, enum precision precision)
{
	/* triangles of many tiles, and with others below them: every tile is visited once */
	static const int64_t bands[] = {2500, 2499, 700};

	if (test_small()) {
		test_shape(e, precision, small_shape);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		test_shape(e, precision, shapes[i]);
	for (size_t i = 0; i < ARRAY_LEN(bands); i++)
		ok(check_place(
		           e, precision, (struct shape){2500, bands[i], 3}, false, true, ALIGNED),
		        "%c 2500 x %" PRId64 " x 3: whole and triangles of many bands of tiles",
		        (char)precision, bands[i]);
}

int main(void)
{
	struct executor *e = cuda_or_skip();
	struct fault fault;
	struct gpu gpu;

	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	test_precision(e, SINGLE);
	if (gemm_has(DOUBLE, gpu.code, gpu.shared_per_block))
		test_precision(e, DOUBLE);
	else
		skip("double precision", "this device has no kernels for it");
	executor_free(e);
	return finish();
}
