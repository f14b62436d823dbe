/* SPDX-License-Identifier: MIT */
/* Shared by the changes of a QR factorization by serial libraries. */
#pragma once

#include "factor/algorithms/qr_update_internal.h"
#include "factor/executors/workspace.h"
#include "qr_update_serial.h"

struct serial {
	struct executor *e;
	struct qr_factors *f;
	struct update update; /* checks and moves */
	/* qrupdate: R with the rows that it needs, without Q with the right-hand sides as further
	 * columns. LAPACK: R transposed, so that rows are contiguous */
	struct matrix r;
	struct matrix sides; /* right-hand sides of the matrix; LAPACK: Q^T U, or T of blocks */
	struct matrix line;  /* two columns of workspace */
	int64_t bytes;
};

/* Allocate the workspace of a change. */
void serial_qrupdate_workspace(struct serial *, struct workspace *);
void serial_lapack_workspace(struct serial *, struct workspace *);

/* Whether qrupdate is here; false with a fault that says how to install it. */
bool serial_qrupdate_open(struct fault *fault);

/* c := op(a) b on the BLAS's one thread; ex_gemm takes all for large products. */
void serial_gemm(enum trans trans, struct matrix a, struct matrix b, struct matrix c);

/* The changes by enum qr_change, after update_take_operands; they leave f->m and f->n. */
typedef bool serial_change(struct serial *);
extern serial_change *const serial_qrupdate[], *const serial_lapack[];

static inline float *serial_at(struct matrix a, int64_t i, int64_t j)
{
	return (float *)matrix_address(a) + i + j * a.ld;
}
