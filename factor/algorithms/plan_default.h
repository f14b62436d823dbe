/* SPDX-License-Identifier: MIT */
/* The default plan: block sizes from the geometry of the matrix, without a model of the machine. */
#pragma once

#include "plan.h"

enum operation { GETRF, GEQRF, POTRF, OPERATION_COUNT };

/* The plan points to the widths beside it: use it in place, do not copy it. */
enum { DEFAULT_WIDTHS = 1024 };
struct default_plan {
	struct plan plan;
	int64_t widths[DEFAULT_WIDTHS];
};

/* Widest leaf of LU on the device. */
enum { DEFAULT_LU_LEAF = 128 };

/* Most columns of the first block: few in LU by split operands. */
int64_t plan_first_most(const struct executor *, enum operation operation, int64_t m, int64_t n,
        enum precision precision);

/* The plan of an m x n matrix. hybrid: panels on the host CPU. The executor says which LU panels
 * fit on chip. */
void plan_default(struct executor *, enum operation operation, int64_t m, int64_t n,
        enum precision precision, bool hybrid, struct default_plan *);
