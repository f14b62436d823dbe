/* SPDX-License-Identifier: MIT */
#include "product.h"

static struct matrix shape(int64_t m, int64_t n, enum precision precision)
{
	enum { ALIGNED = 32 };

	return (struct matrix){
	        NULL, 0, m, n, (m + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED, precision};
}

struct product_data product_shapes(const struct product *p)
{
	const bool transposed = p->gemv && p->trans == TRANSPOSED;
	struct matrix a = shape(p->m, p->gemv ? p->n : p->k, p->precision);

	a.ld = p->lda ? p->lda : a.ld;
	return (struct product_data){.a = a,
	        .b = p->gemv ? shape(transposed ? p->m : p->n, 1, p->precision)
	                     : shape(p->k, p->n, p->precision),
	        .c = shape(transposed ? p->n : p->m, p->gemv ? 1 : p->n, p->precision)};
}

bool product_run(
        struct executor *e, const struct product *p, const struct product_data *d, int64_t calls)
{
	bool ok = true;

	e->blas_only = p->blas_only;
	for (int64_t i = 0; i < calls && ok; i++)
		ok = p->gemv ? ex_gemv(e, p->trans, PRODUCT_ALPHA, d->a, d->b, 1, d->c)
		             : ex_gemm(e, PLAIN, PLAIN, PRODUCT_ALPHA, d->a, d->b, 1, d->c);
	e->blas_only = false;
	return ok;
}

static double bytes_of(struct matrix a)
{
	return (double)a.m * (double)a.n * (double)precision_bytes(a.precision);
}

double product_bytes(const struct product *p)
{
	const struct product_data d = product_shapes(p);

	return bytes_of(d.a) + bytes_of(d.b) + bytes_of(d.c);
}

double product_flops(const struct product *p)
{
	return 2 * (double)p->m * (double)p->n * (p->gemv ? 1 : (double)p->k);
}
