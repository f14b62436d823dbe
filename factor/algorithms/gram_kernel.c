/* SPDX-License-Identifier: MIT */
#include "gram_kernel.h"

#include "gram_schmidt.h"

static struct matrix columns(int64_t m, int64_t n, enum precision precision)
{
	enum { ALIGNED = 32 };

	return (struct matrix){NULL, 0, m, n, (m + ALIGNED - 1) / ALIGNED * ALIGNED, precision};
}

struct gram_kernel_data gram_kernel_shapes(const struct gram_kernel *kernel)
{
	const int64_t n = kernel->k + kernel->n, rows = kernel->k > 0 ? kernel->k : 2;

	return (struct gram_kernel_data){.a = columns(kernel->m, n, kernel->precision),
	        .r = {NULL, 0, rows, n, rows, kernel->precision},
	        .norms = {NULL, 0, n, 1, n, kernel->precision}};
}

/* The columns before the k-th when there are some, else all. */
static struct gram_schmidt pass_of(
        const struct gram_kernel *kernel, const struct gram_kernel_data *d)
{
	const int64_t n = kernel->k > 0 ? kernel->k : kernel->n;

	return (struct gram_schmidt){.a = matrix_view(d->a, 0, 0, kernel->m, n),
	        .r = matrix_view(d->r, 0, 0, d->r.m, n),
	        .norms = matrix_view(d->norms, 0, 0, n, 1),
	        .info = d->info,
	        .work = d->work,
	        .shape = kernel->shape};
}

bool gram_kernel_before(
        struct executor *e, const struct gram_kernel *kernel, const struct gram_kernel_data *d)
{
	const struct gram_schmidt g = pass_of(kernel, d);

	if (!ex_column_norms(e, g.a, g.norms))
		return false;
	if (kernel->k > 0)
		return ex_gram_panel(e, &g);
	if (kernel->step == GRAM_DOTS)
		return true;
	return ex_gram_dots(e, &g, 0) &&
	       (kernel->shape.access == GRAM_OWN || ex_gram_scale(e, &g, 0));
}

/* Fused passes go through the columns forwards and backwards in turn, as in the process. */
static bool run_one(struct executor *e, const struct gram_kernel *kernel,
        const struct gram_kernel_data *d, int64_t i)
{
	const struct gram_schmidt g = pass_of(kernel, d);
	const int64_t k = kernel->k;

	if (k > 0)
		return ex_gram_apply(e, g.a, matrix_view(d->r, 0, k, k, kernel->n),
		        matrix_view(d->a, 0, k, kernel->m, kernel->n), kernel->single);
	if (kernel->step == GRAM_DOTS)
		return ex_gram_dots(e, &g, 0);
	return kernel->step == GRAM_FUSED ? ex_gram_fused(e, &g, i & 1) : ex_gram_update(e, &g, 0);
}

bool gram_kernel_run(struct executor *e, const struct gram_kernel *kernel,
        const struct gram_kernel_data *d, int64_t calls)
{
	bool ok = kernel->k == 0 || gram_apply_fits(e, d->a);

	for (int64_t i = 0; i < calls && ok; i++)
		ok = run_one(e, kernel, d, i);
	return ok;
}

/* The fused pass leaves the next column to the pass after it. */
bool gram_kernel_after(
        struct executor *e, const struct gram_kernel *kernel, const struct gram_kernel_data *d)
{
	const struct gram_schmidt g = pass_of(kernel, d);

	if (kernel->k > 0 || kernel->step == GRAM_UPDATE)
		return true;
	if (kernel->step == GRAM_FUSED)
		return ex_gram_update(e, &g, 1);
	return (kernel->shape.access == GRAM_OWN || ex_gram_scale(e, &g, 0)) &&
	       ex_gram_update(e, &g, 0);
}

double gram_kernel_bytes(const struct gram_kernel *kernel)
{
	const double column = (double)kernel->m * (double)precision_bytes(kernel->precision);

	if (kernel->k > 0)
		return 2 * column * (double)kernel->n;
	return kernel->step == GRAM_DOTS ? column * (double)kernel->n
	                                 : 2 * column * (double)(kernel->n - 1);
}

double gram_kernel_flops(const struct gram_kernel *kernel)
{
	const double one = 2 * (double)kernel->m * (double)kernel->n;

	if (kernel->k > 0)
		return 2 * one * (double)kernel->k;
	return kernel->step == GRAM_FUSED ? 2 * one : one;
}
