/* SPDX-License-Identifier: MIT */
/* The inside of Gram-Schmidt: one process, and its forms (gram_schmidt_forms.c). */
#pragma once

#include "gram_schmidt.h"

struct gram_process {
	struct executor *e;
	struct matrix a, r;
	int64_t nb, k; /* k: columns that become orthonormal */
	struct gram_shape shape;
	int *info;
	struct matrix norms; /* of A's columns, squares (n x 1) */
	void *pass;          /* workspace of the passes */
	int64_t bytes;
	/* orthogonalize */
	int64_t basis;
	struct matrix again; /* coefficients of the second pass (basis + n x nb) */
	struct matrix r1, r2, norms2;
};

/* The forms of gram_schmidt_kernels.h; false with the executor's fault. */
bool gram_run_blas(struct gram_process *);
bool gram_run_kernels(struct gram_process *);
bool gram_run_shaped(struct gram_process *);
bool gram_run_fused(struct gram_process *);
bool gram_run_blocked(struct gram_process *);
bool gram_run_block(struct gram_process *);
bool gram_run_twice(struct gram_process *); /* also against a basis */
