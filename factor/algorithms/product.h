/* SPDX-License-Identifier: MIT */
/* One matrix product many times in a row: C += alpha A B, or y += alpha op(A) x. The calls queue
 * up: their start and the wait at the end show only when the product itself takes no longer. */
#pragma once

#include "factor/executors/executor.h"

/* gemm: A is m x k, B k x n, C m x n. gemv: A is m x n, op its transpose or not. */
struct product {
	bool gemv, blas_only; /* blas_only: as in struct executor */
	enum trans trans;     /* of gemv */
	enum precision precision;
	int64_t m, n, k;
	int64_t lda; /* of A; 0: aligned */
	int64_t calls;
};

/* The operands; vectors are matrices of one column. */
struct product_data {
	struct matrix a, b, c;
};

/* Small, so that repeated updates stay finite. */
#define PRODUCT_ALPHA 1e-3

/* The shapes without memory; columns start aligned to lines of 128 bytes, and lda > m,
 * but for an A with its own lda. */
struct product_data product_shapes(const struct product *product);

/* Puts `calls` products into the current queue; does not wait. */
bool product_run(struct executor *e, const struct product *product, const struct product_data *data,
        int64_t calls);

/* Bytes of A, B and C, and multiplications and additions of one call. */
double product_bytes(const struct product *product);
double product_flops(const struct product *product);
