/* SPDX-License-Identifier: MIT */
/* Applies blocks of reflectors (reflectors.h) whose rows are divided over a grid's process rows. */
#pragma once

#include "grid.h"
#include "factor/algorithms/reflectors.h"

/* Room for V^T C of every process row, and for its product with T. */
struct divided_work {
	struct matrix products, scaled;
};

/* For at most n reflectors and `columns` columns of C. */
struct divided_work divided_work_workspace(const struct grid *, struct workspace *, int64_t n,
        int64_t columns, enum precision precision);

/* C := op(H) C by this rank's rows of V and of C, and all of T. Every rank of a process column
 * calls this with as many columns; all add the products in the same order. */
bool divided_apply(struct executor *, const struct grid *, enum trans trans, struct reflectors r,
        struct divided_work work, struct matrix c, int64_t block);
