/* SPDX-License-Identifier: MIT */
/* The work of cuBLAS's products and triangular solves. What kernels the library takes is not
 * documented: here it computes tiles of C, the largest that keep all multiprocessors busy. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "lib/base/precision.h"

struct library_product {
	enum precision precision;
	enum work_pipe pipe;
	double m, n, k, count; /* count: products in one call */
	bool triangle;         /* only the lower one of C */
	bool old;              /* C's elements are added to */
	int sms;               /* multiprocessors to use */
	double tile;           /* side of a tile, one a multiprocessor at a time; 0: not known */
};

/* Fills in one work, or two where the library splits k, and returns their number. */
size_t library_product_work(const struct library_product *product, struct kernel_work *work);

/* A triangular solve of order m for n right-hand sides: blocks on the diagonal, and products with
 * the rest on the pipe. */
size_t library_solve_work(enum precision precision, enum work_pipe pipe, double m, double n,
        int sms, struct kernel_work *work);
