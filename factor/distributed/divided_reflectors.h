/* SPDX-License-Identifier: MIT */
/* Sums of products over the process rows of a grid, and blocks of reflectors (reflectors.h) whose
 * rows are divided over these. All ranks add in the same order. */
#pragma once

#include "grid.h"
#include "factor/algorithms/reflectors.h"

/* Room for V^T C of every process row, and for as much again. */
struct divided_work {
	struct matrix products, scaled;
};

/* For at most n columns of V and `columns` columns of C. */
struct divided_work divided_work_workspace(const struct grid *, struct workspace *, int64_t n,
        int64_t columns, enum precision precision);

/* Makes V^T C by this rank's rows, and gathers those of all process rows. Every rank of a process
 * column calls this with as many columns. divided_product: of a process row. */
bool divided_products(struct executor *, const struct grid *, struct matrix v, struct matrix c,
        struct divided_work work, int64_t block);
struct matrix divided_product(struct divided_work work, int row, int64_t n, int64_t columns);

/* C := op(H) C by this rank's rows of V and of C, and all of T. */
bool divided_apply(struct executor *, const struct grid *, enum trans trans, struct reflectors r,
        struct divided_work work, struct matrix c, int64_t block);
