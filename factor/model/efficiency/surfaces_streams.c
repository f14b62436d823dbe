/* SPDX-License-Identifier: MIT */
/* Surfaces of kernels that stream: vectors, matrices by vectors, row swaps, Gram-Schmidt. */
#include "factor/kernels/gemv/gemv_work.h"
#include "library_work.h"
#include "surface_work.h"

#include <string.h>

static bool ends_in(const char *name, const char *end)
{
	const size_t length = strlen(name), part = strlen(end);

	return length >= part && strcmp(name + length - part, end) == 0;
}

static size_t own_gemv(const struct surface_point *p, struct kernel_work *work)
{
	const struct gemv_call call = {.precision = p->precision,
	        .transposed = ends_in(p->name, ".t"),
	        .m = (int64_t)p->at[0],
	        .n = (int64_t)p->at[1],
	        .alpha = 1,
	        .lda = (int64_t)p->at[0],
	        .incx = 1,
	        .incy = 1};

	gemv_tuned_work(&call, p->tuning, p->at[2] > 0, work);
	return 1;
}

static size_t gemv(const struct surface_point *p, struct kernel_work *work)
{
	library_sweep_work(p->precision, p->at[0], p->at[1], false, p->at[2] > 0, work);
	return 1;
}

static size_t ger(const struct surface_point *p, struct kernel_work *work)
{
	library_sweep_work(p->precision, p->at[0], p->at[1], true, p->at[2] > 0, work);
	return 1;
}

const struct surface surfaces_streams[] = {{"gpu.own_gemv.?.?", {"m", "n", "cold"}, own_gemv},
        {"gpu.gemv.?.?", {"m", "n", "cold"}, gemv}, {"gpu.ger.?", {"m", "n", "cold"}, ger},
        {NULL, {NULL}, NULL}};
