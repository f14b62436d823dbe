/* SPDX-License-Identifier: MIT */
/* On a GPU both gemv variants agree with a product in double precision on the host: N and T, both
 * precisions, sizes around the tiles, leading dimensions and addresses of every alignment, vectors
 * in columns and in rows, alpha and beta of 0 and 1. beta = 0 overwrites NaN, alpha = 0 reads
 * nothing of A. A NaN in A or x reaches exactly the elements that depend on it. Memory between and
 * beside y is not written. A repetition gives the same bits. */
#include "tests/executors/executor_memory.h"

#ifdef FATHOM_CUDA
#include "factor/kernels/gemv/gemv.h"
#include "factor/papers/kerr_kernels.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>

static const int64_t shapes[][2] = {{1, 1}, {1, 500}, {500, 1}, {2, 3}, {3, 2}, {31, 33}, {64, 64},
        {127, 129}, {128, 128}, {129, 127}, {512, 512}, {513, 511}, {1000, 1003}, {1001, 1000},
        {100, 20000}, {103, 20001}, {20000, 100}, {20001, 103}, {3, 100000}, {100000, 3},
        {100000, 16}, {2049, 2047}, {2048, 2048}, {3001, 1555}};
enum { NAN_SHAPE = 7 };

static const double scalars[][2] = {{1, 0}, {-0.5, 1}, {2, -0.75}, {0, 3}, {0, 0}};

/* How the work is split. */
enum cut { AS_PLANNED, SPLIT_5, KERR, CUTS };
static const char *const cut_name[] = {"planned", "5 splits", "kerr"};

enum { WORK = 64 << 20 };
static struct gpu gpu;
static void *work;

/* op(A) x: x and y are columns, or rows, whose elements are ld apart. */
struct product {
	struct block a, x, y;
	bool transposed, x_row, y_row;
};

static struct block vector_new(struct executor *e, enum precision p, int64_t length, bool row)
{
	return row ? block_new(e, p, 1, length) : block_new(e, p, length, 1);
}

static struct product product_new(struct executor *e, enum precision p, const int64_t *shape,
        bool transposed, enum place place, bool x_row, bool y_row)
{
	const int64_t m = shape[0], n = shape[1];

	return (struct product){block_placed(e, p, m, n, place),
	        vector_new(e, p, transposed ? m : n, x_row),
	        vector_new(e, p, transposed ? n : m, y_row), transposed, x_row, y_row};
}

static void launch(const struct product *p, const double *scalar, enum cut cut)
{
	const struct matrix *a = &p->a.a;
	const struct gemv_call call = {a->precision, p->transposed, a->m, a->n, scalar[0],
	        matrix_address(*a), a->ld, matrix_address(p->x.a), p->x_row ? p->x.a.ld : 1,
	        scalar[1], matrix_address(p->y.a), p->y_row ? p->y.a.ld : 1};
	const struct tuning tuning = tuning_for(tuning_device_of(&gpu));
	struct gemv_plan plan = gemv_plan(&call, &tuning);

	if (cut == SPLIT_5)
		plan.splits = plan.tiles <= GEMV_MAX_SPLIT_TILES ? 5 : 1;
	if (cut == KERR)
		GPU(kerr_gemv(&call, NULL));
	else if (gemv_work(&plan, call.precision) <= WORK)
		GPU(gemv_tuned(&call, &plan, work, NULL));
}

/* All of y after the product. */
static double *run(struct executor *e, const struct product *p, const double *scalar, enum cut cut)
{
	block_upload(e, &p->y);
	GPU(cudaDeviceSynchronize());
	launch(p, scalar, cut);
	GPU(cudaDeviceSynchronize());
	return block_download(e, &p->y);
}

/* The worst error over the rounding bound of any order of summation (at most 1). Infinite when NaNs
 * are at wrong places, or when memory between the elements changed. */
static double worst_error(
        struct executor *e, const struct product *p, const double *scalar, const double *got)
{
	const enum trans ta = p->transposed ? TRANSPOSED : PLAIN,
	                 turned = p->transposed ? PLAIN : TRANSPOSED,
	                 tx = p->x_row ? TRANSPOSED : PLAIN, xt = p->x_row ? PLAIN : TRANSPOSED;
	const double terms = (double)(p->transposed ? p->a.a.m : p->a.a.n);
	/* sums of partial sums: far fewer roundings in a row than terms */
	const double bound = 4 * unit_roundoff(p->y.a.precision) * (sqrt(terms) + 8);
	struct block exact = block_new(e, DOUBLE, p->y.a.m, p->y.a.n),
	             size = block_new(e, DOUBLE, p->y.a.m, p->y.a.n);

	block_set(&exact, 0);
	block_set(&size, 0);
	if (scalar[0] != 0 && p->y_row) {
		block_product(1, &p->x, xt, &p->a, turned, 0, &exact);
		block_magnitude(&p->x, xt, &p->a, turned, &size);
	} else if (scalar[0] != 0) {
		block_product(1, &p->a, ta, &p->x, tx, 0, &exact);
		block_magnitude(&p->a, ta, &p->x, tx, &size);
	}
	return block_error(&p->y, WHOLE, scalar[0], &exact, &size, scalar[1], got) / bound;
}

static void check(
        struct executor *e, struct product p, const double *scalar, enum cut cut, const char *nan)
{
	const int64_t m = p.a.a.m, n = p.a.a.n, terms = p.transposed ? m : n;

	/* elements that must not be read are NaN */
	if (scalar[0] == 0)
		block_set(&p.a, NAN);
	if (scalar[1] == 0)
		block_set(&p.y, NAN);
	if (strcmp(nan, "A") == 0)
		*element(&p.a, m / 2, n / 3) = NAN;
	if (strcmp(nan, "x") == 0)
		*element(&p.x, p.x_row ? 0 : terms / 2, p.x_row ? terms / 2 : 0) = NAN;
	block_upload(e, &p.a);
	block_upload(e, &p.x);
	double *got = run(e, &p, scalar, cut), *again = run(e, &p, scalar, cut);
	const double error = worst_error(e, &p, scalar, got);
	const bool repeats = memcmp(got, again, (size_t)(p.y.all.m * p.y.all.n) * sizeof *got) == 0;
	if (!ok(error <= 1 && repeats,
	            "%s %cgemv %c %" PRId64 " x %" PRId64 " lda %" PRId64 " x in a %s, y in a %s, "
	            "alpha %g beta %g%s%s",
	            cut_name[cut], p.a.a.precision, p.transposed ? 't' : 'n', m, n, p.a.a.ld,
	            p.x_row ? "row" : "column", p.y_row ? "row" : "column", scalar[0], scalar[1],
	            *nan ? " NaN in " : "", nan))
		diag("error %.3g of the bound, repeats %d", error, repeats);
	free(got);
	free(again);
	blocks_free(e);
}

/* m = 0 or n = 0: y stays. */
static void check_empty(struct executor *e, bool transposed, int64_t m, int64_t n)
{
	static const double one[] = {1, 0};
	struct product p =
	        product_new(e, SINGLE, (const int64_t[]){4, 4}, transposed, ANYWHERE, false, false);

	p.a.a = matrix_view(p.a.a, 0, 0, m, n);
	free(run(e, &p, one, AS_PLANNED));
	free(run(e, &p, one, KERR));
	ok(block_holds(e, &p.y, 0), "%" PRId64 " x %" PRId64 " %s leaves y alone", m, n,
	        transposed ? "T" : "N");
	blocks_free(e);
}

/* Products that each read the result before, launched one behind the other, against the same
 * products with a wait after each: overlapping launches must not change the result. */
static void check_chain(struct executor *e, enum precision precision, int64_t m, int64_t n)
{
	enum { LINKS = 24 };
	struct product p =
	        product_new(e, precision, (const int64_t[]){m, n}, false, ANYWHERE, false, false);
	struct product back = {p.a, p.y, p.x, true, false, false};
	double *got[2];

	for (int wait = 0; wait < 2; wait++) {
		block_upload(e, &p.x);
		block_upload(e, &p.y);
		GPU(cudaDeviceSynchronize());
		for (int i = 0; i < LINKS; i++) {
			const double scalar[] = {1 / sqrt((double)(i % 2 ? m : n)), 0.5};
			launch(i % 2 ? &back : &p, scalar, i % 3 ? AS_PLANNED : SPLIT_5);
			if (wait)
				GPU(cudaDeviceSynchronize());
		}
		GPU(cudaDeviceSynchronize());
		got[wait] = block_download(e, &p.y);
	}
	ok(memcmp(got[0], got[1], (size_t)(p.y.all.m * p.y.all.n) * sizeof *got[0]) == 0,
	        "a chain of products %c %" PRId64 " x %" PRId64, precision, m, n);
	free(got[0]);
	free(got[1]);
	blocks_free(e);
}

/* All shapes, whose places and scalars take turns; one shape with all scalars and a NaN. A small
 * run leaves out large squares, whose kernels other shapes have. */
static void check_all(struct executor *e, enum precision p, bool transposed, enum cut cut)
{
	static const char *const nans[] = {"A", "x"};
	const size_t turn = (size_t)cut + 2 * transposed + (p == DOUBLE);

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		if (test_small() && shapes[i][0] > 2000 && shapes[i][1] > 2000)
			continue;
		check(e,
		        product_new(e, p, shapes[i], transposed, (enum place)((i + turn) % PLACES),
		                i % 3 == 1, i % 5 == 2),
		        scalars[(i + turn) % ARRAY_LEN(scalars)], cut, "");
	}
	for (size_t i = 0; i < 2 * ARRAY_LEN(scalars); i++)
		check(e,
		        product_new(e, p, shapes[NAN_SHAPE], transposed, ODD_COLUMNS, false, false),
		        scalars[i / 2], cut, scalars[i / 2][0] == 0 ? "" : nans[i % 2]);
}

int main(void)
{
	struct executor *e = cuda_or_skip();
	struct fault fault;

	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	GPU(cudaMalloc(&work, WORK));
	GPU(cudaMemset(work, 0, WORK));
	for (int mode = 0; mode < 4; mode++)
		for (enum cut cut = AS_PLANNED; cut < CUTS; cut++)
			check_all(e, mode & 1 ? DOUBLE : SINGLE, mode & 2, cut);
	for (int transposed = 0; transposed < 2; transposed++) {
		check_empty(e, transposed, 0, 4);
		check_empty(e, transposed, 4, 0);
	}
	for (int d = 0; d < 2; d++) {
		if (test_fits(2000, 2000))
			check_chain(e, d ? DOUBLE : SINGLE, 2000, 2000);
		check_chain(e, d ? DOUBLE : SINGLE, 300, 5000);
	}
	executor_free(e);
	return finish();
}
#else
int main(void)
{
	skip_all("fathom was built without the CUDA Toolkit");
}
#endif
